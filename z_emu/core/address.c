/* core/address.c: instructions about addresses and about caches: cvta, isspacep, mapa, getctarank; prefetch,
 * applypriority, discard, createpolicy.
 *
 * Generic addresses (core/memory.h): global, const and param memory are where they are; shared and local memory
 * have a window each. Caches are not modelled, so hints do nothing; discard makes its bytes unwritten again. */
#include "core/memory.h"

enum { RANK_SHIFT = 24 };
#define OFFSET_IN_CTA 0xffffffu

static bool is_row(const struct operand *o, uint32_t width) { return o->kind == O_REG && o->width == width; }

/* ---------------------------------------------------------------- cvta */

/* What a generic address has more than one of the space. */
static uint64_t window_of(const struct warp *w, enum space space)
{
    const struct memory *m = w->cta->memory;
    switch (space) {
    case SP_SHARED_CTA:
    case SP_SHARED_CLUSTER: return m->base;
    case SP_LOCAL:          return m->base + WINDOW;
    case SP_PARAM:          return w->cta->launch->params ? w->cta->launch->params->addr : 0;
    default:                return 0;
    }
}

/* A shared address without a rank is this CTA's; its generic address names the CTA. */
static int cvta(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t *d = ROW(w, &in->opnd[0], uint64_t);
    const uint64_t *a = ROW(w, &in->opnd[1], uint64_t), window = window_of(w, in->space);
    const uint64_t rank = in->space == SP_SHARED_CTA ? (uint64_t)w->cta->cluster_rank << RANK_SHIFT : 0;
    for (int i = 0; i < WARP; i++)
        d[i] = mask >> i & 1 ? window + (a[i] | rank) : d[i];
    return X_NEXT;
}

static int cvta_to(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t *d = ROW(w, &in->opnd[0], uint64_t);
    const uint64_t *a = ROW(w, &in->opnd[1], uint64_t), window = window_of(w, in->space);
    for (int i = 0; i < WARP; i++)
        d[i] = mask >> i & 1 ? a[i] - window : d[i];
    return X_NEXT;
}

static bool converts(const struct instr *in)
{
    return in->type[0] == T_U64 && is_row(&in->opnd[0], 8) && is_row(&in->opnd[1], 8);
}

exec_fn *pick_CVTA(struct instr *in) { return converts(in) ? cvta : NULL; }
exec_fn *pick_CVTA_TO(struct instr *in) { return converts(in) ? cvta_to : NULL; }

/* ---------------------------------------------------------------- isspacep */

static bool in_space(const struct warp *w, enum space space, uint64_t addr)
{
    const struct memory *m = w->cta->memory;
    const uint64_t behind = addr - m->base;
    const uint32_t rank = (uint32_t)(behind >> RANK_SHIFT);
    const bool window = behind < 2 * WINDOW;
    const struct alloc *a = window ? NULL : granule_at(m, addr);
    switch (space) {
    case SP_SHARED_CTA:     return behind < WINDOW && rank == w->cta->cluster_rank;
    case SP_SHARED_CLUSTER: return behind < WINDOW && rank < w->cta->ncluster;
    case SP_LOCAL:          return window && behind >= WINDOW;
    case SP_CONST:          return a && a->space == SP_CONST;
    case SP_PARAM:          return a && a == w->cta->launch->params;
    default:                return !window && !(a && a->space == SP_CONST);
    }
}

static int isspacep(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint64_t *a = ROW(w, &in->opnd[1], uint64_t);
    uint32_t p = 0;
    FOR_LANES(i, mask) p |= (uint32_t)in_space(w, in->space, a[i]) << i;
    uint32_t *d = &PRED(w, &in->opnd[0]);
    *d = (*d & ~mask) | p;
    return X_NEXT;
}

exec_fn *pick_ISSPACEP(struct instr *in)
{
    return is_row(&in->opnd[0], 0) && is_row(&in->opnd[1], 8) ? isspacep : NULL;
}

/* ---------------------------------------------------------------- mapa, getctarank */

static uint64_t address_in(const struct warp *w, const struct operand *o, uint32_t lane)
{
    return o->width == 8 ? ROW(w, o, uint64_t)[lane] : ROW(w, o, uint32_t)[lane];
}

static int mapa(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0], *a = &in->opnd[1];
    const uint64_t window = in->space == SP_GENERIC ? w->cta->memory->base : 0;
    FOR_LANES(i, mask) {
        uint32_t rank = ROW(w, &in->opnd[2], uint32_t)[i];
        uint64_t at = (((address_in(w, a, i) - window) & OFFSET_IN_CTA) | (uint64_t)rank << RANK_SHIFT) + window;
        if (rank >= w->cta->ncluster)
            return fault(w, in, (int)i, FAULT_BAD_OPERAND, "asks for CTA rank %u of a cluster of %u", rank,
                         w->cta->ncluster);
        memcpy(w->regs + d->row + i * d->width, &at, d->width);
    }
    return X_NEXT;
}

static int getctarank(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint64_t window = in->space == SP_GENERIC ? w->cta->memory->base : 0;
    FOR_LANES(i, mask)
        ROW(w, &in->opnd[0], uint32_t)[i] = (uint32_t)((address_in(w, &in->opnd[1], i) - window) >> RANK_SHIFT);
    return X_NEXT;
}

static bool is_address(const struct instr *in, const struct operand *o)
{
    return o->kind == O_REG && o->width == type_bytes(in->type[0]) && (o->width == 8 || in->space != SP_GENERIC);
}

exec_fn *pick_MAPA(struct instr *in)
{
    return is_address(in, &in->opnd[0]) && is_address(in, &in->opnd[1]) && is_row(&in->opnd[2], 4) ? mapa : NULL;
}

exec_fn *pick_GETCTARANK(struct instr *in)
{
    return is_row(&in->opnd[0], 4) && is_address(in, &in->opnd[1]) ? getctarank : NULL;
}

/* ---------------------------------------------------------------- caches */

static int nothing(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
    return X_NEXT;
}

exec_fn *pick_PREFETCH(struct instr *in) { (void)in; return nothing; }
exec_fn *pick_PREFETCH_TENSORMAP(struct instr *in) { (void)in; return nothing; }
exec_fn *pick_PREFETCHU(struct instr *in) { (void)in; return nothing; }

enum { LINE = 128 };

static int applypriority(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct reach r;
    return reach(w, in, &in->opnd[0], mask, in->space, LINE, LINE, A_READ | A_ANY, &r) ? X_NEXT : X_FAULT;
}

static int discard(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct memory *m = w->cta->memory;
    uint64_t addr[WARP];
    struct reach r;
    if (!reach(w, in, &in->opnd[0], mask, in->space, LINE, LINE, A_WRITE | A_LATER, &r))
        return X_FAULT;
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        struct alloc *a = granule_at(m, addr[i]);
        if (a)                              /* host memory keeps its bytes, as well it may */
            alloc_unwrite(m, a, addr[i] - a->addr, LINE);
    }
    return X_NEXT;
}

static bool takes_a_line(const struct instr *in)
{
    return in->opnd[0].kind == O_MEM && in->opnd[1].flags & O_CONST && in->opnd[1].imm == LINE;
}

exec_fn *pick_APPLYPRIORITY(struct instr *in) { return takes_a_line(in) ? applypriority : NULL; }
exec_fn *pick_DISCARD(struct instr *in) { return takes_a_line(in) ? discard : NULL; }

/* A policy is opaque: any number will do. */
static int createpolicy(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t *d = ROW(w, &in->opnd[0], uint64_t);
    FOR_LANES(i, mask) d[i] = (uint64_t)1 << 60;
    return X_NEXT;
}

static exec_fn *pick_policy(const struct instr *in)
{
    return is_row(&in->opnd[0], 8) ? createpolicy : NULL;
}

exec_fn *pick_CREATEPOLICY_RANGE(struct instr *in) { return pick_policy(in); }
exec_fn *pick_CREATEPOLICY_FRACTIONAL(struct instr *in) { return pick_policy(in); }
exec_fn *pick_CREATEPOLICY_CVT(struct instr *in) { return pick_policy(in); }
