/* async_store.c: st.async, red.async and st.bulk.
 *
 * Modelled: a store or reduction to shared memory of the cluster arrives at a later cycle, and then completes its bytes on
 * an mbarrier of the same CTA. The .release forms reach global memory later, too. st.bulk writes zeros, at once.
 * Refused by the ISA and reported here: a destination and an mbarrier in different CTAs, red.async to the CTA's own memory,
 * st.async in a cluster of one CTA.
 * Not modelled: .mmio, .scope (memory is always in order here).
 * PTX ISA: "Data Movement and Conversion Instructions: st.async", "…: st.bulk", "Parallel Synchronization and
 * Communication Instructions: red.async". */
#include <stdlib.h>

#include "core/memory.h"
#include "unit/mbarrier.h"

enum { REMOTE = 200,            /* cycles to another CTA of the cluster */
       MOST_BYTES = 16, BULK_MOST = 16777216 };

/* One lane's store, under way. */
struct parcel {
    const struct instr *in;
    struct cta *to;             /* NULL: to global memory */
    struct mbarrier *bar;
    uint8_t *at, *written;      /* written: a byte per byte; NULL: nobody keeps count */
    uint32_t bytes;
    uint8_t value[MOST_BYTES];
};

static struct parcel *parcel_new(const struct instr *in)
{
    struct parcel *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->in = in;
    return p;
}

/* ---------------------------------------------------------------- what arrives */

static bool is_reduction(const struct instr *in) { return in->op == OP_RED_ASYNC || in->op == OP_RED_ASYNC_RELEASE; }

#define WORD_OPS(m, b)                                                  \
    case M_inc:    return m >= b ? 0 : m + 1;                           \
    case M_dec:    return m == 0 || m > b ? b : m - 1;                  \
    case M_op_and: return m & b;                                        \
    case M_op_or:  return m | b;                                        \
    case M_op_xor: return m ^ b;

static uint32_t reduced(const struct instr *in, uint32_t m, uint32_t b)
{
    bool is_signed = in->type[0] == T_S32, less = is_signed ? (int32_t)b < (int32_t)m : b < m;
    switch (in->mode) {
    WORD_OPS(m, b)
    case M_min: return less ? b : m;
    case M_max: return less ? m : b;
    default:    return m + b;
    }
}

static void reduce(const struct parcel *p)
{
    uint64_t m = 0, b = 0;
    memcpy(&b, p->value, p->bytes);
    if (!p->to && p->bytes == 8)
        __atomic_fetch_add((uint64_t *)(void *)p->at, b, __ATOMIC_SEQ_CST);
    else if (!p->to)
        __atomic_fetch_add((uint32_t *)(void *)p->at, (uint32_t)b, __ATOMIC_SEQ_CST);
    else {
        memcpy(&m, p->at, p->bytes);
        m = p->bytes == 8 ? m + b : reduced(p->in, (uint32_t)m, (uint32_t)b);
        memcpy(p->at, &m, p->bytes);
    }
}

static bool still_there(const struct parcel *p)
{
    char place[256];
    if (!p->to || !p->to->over)
        return true;
    fault_launch(p->to->launch, FAULT_CLUSTER, "the store of %s comes to CTA (%u,%u,%u), rank %u of its cluster, which has exited",
                 source_place(p->in, place, sizeof place), p->to->id[0], p->to->id[1], p->to->id[2], p->to->cluster_rank);
    return false;
}

static void arrive(struct cta *c, void *arg, uint64_t now)
{
    struct parcel *p = arg;
    (void)c;
    if (still_there(p)) {
        if (is_reduction(p->in))
            reduce(p);
        else
            memcpy(p->at, p->value, p->bytes);
        if (p->written)
            memset(p->written, 1, p->bytes);
        if (p->bar)
            mbarrier_complete_tx(p->bar, p->bytes, now);
    }
    free(p);
}

/* ---------------------------------------------------------------- to shared memory */

/* The CTA that a checked address lies in. */
static struct cta *owner_of(const struct warp *w, const struct instr *in, uint64_t addr)
{
    return shared_owner(w->cta, SP_SHARED_CLUSTER, (uint32_t)(in->space == SP_GENERIC ? addr - w->cta->memory->base : addr));
}

static bool in_window(struct warp *w, const struct instr *in, int lane, uint64_t addr)
{
    if (in->space != SP_GENERIC || addr - w->cta->memory->base < WINDOW)
        return true;
    fault(w, in, lane, FAULT_BAD_OPERAND, "0x%llx is not an address of shared memory", (unsigned long long)addr);
    return false;
}

static bool fits(struct warp *w, const struct instr *in, int lane, const struct parcel *p)
{
    const char *why = mbarrier_cta(p->bar) != p->to          ? "the mbarrier is not in the CTA that the bytes go to"
                      : is_reduction(in) && p->to == w->cta  ? "red.async is for the memory of another CTA of the cluster"
                      : w->cta->ncluster < 2                 ? "st.async is for clusters of several CTAs; this one is alone"
                                                             : NULL;
    if (why)
        fault(w, in, lane, FAULT_BAD_OPERAND, "%s", why);
    return !why;
}

static bool address(struct warp *w, const struct instr *in, int lane, struct parcel *p, uint64_t addr, uint64_t bar)
{
    enum access how = (is_reduction(in) ? A_ATOMIC : A_WRITE) | A_LATER;
    if (!in_window(w, in, lane, addr) || !(p->at = mem_at(w, in, lane, in->space, addr, p->bytes, p->bytes, how)))
        return false;
    p->to = owner_of(w, in, addr);
    p->written = p->to->smem_init + (p->at - p->to->smem);
    p->bar = mbarrier_at(w, in, lane, in->space, bar, true);
    return p->bar && fits(w, in, lane, p) &&
           race_copy_in(w, in, lane, p->to, (uint32_t)(p->at - p->to->smem) + w->cta->memory->smem_reserved, p->bytes,
                        mbarrier_race(p->bar), false);
}

/* The bytes of one lane's b. */
static void take_value(struct warp *w, const struct instr *in, uint32_t lane, struct parcel *p)
{
    const struct operand *b = &in->opnd[1], *e = b->kind == O_VEC ? b->elem : b;
    uint32_t n = b->kind == O_VEC ? b->n : 1, size = type_bytes(in->type[0]);
    p->bytes = n * size;
    for (uint32_t i = 0; i < n; i++)
        memcpy(p->value + i * size, w->regs + e[i].row + lane * e[i].width, size);
}

static int send_to_shared(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t addr[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    mem_addresses(w, &in->opnd[2], bar);
    FOR_LANES(i, mask) {
        struct parcel *p = parcel_new(in);
        take_value(w, in, i, p);
        if (!address(w, in, (int)i, p, addr[i], bar[i]))
            return free(p), X_FAULT;
        event_at(p->to, w->now + latency(w->cta, REMOTE), arrive, p);
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- to global memory */

static int send_to_global(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum access how = is_reduction(in) ? A_ATOMIC : A_WRITE;
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        struct parcel *p = parcel_new(in);
        take_value(w, in, i, p);
        if (!(p->at = mem_at(w, in, (int)i, SP_GLOBAL, addr[i], p->bytes, p->bytes, how)))
            return free(p), X_FAULT;
        event_at(w->cta, w->now + latency(w->cta, gpu_device(w->cta->launch->gpu)->lat_l2), arrive, p);
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

static bool operands_ok(const struct instr *in)
{
    const struct operand *b = &in->opnd[1], *e = b->kind == O_VEC ? b->elem : b;
    uint32_t n = b->kind == O_VEC ? b->n : 1, want = in->vec > 1 ? in->vec : 1;
    for (uint32_t i = 0; i < n; i++)
        if (e[i].kind != O_REG || e[i].width < type_bytes(in->type[0]))
            return false;
    return in->opnd[0].kind == O_MEM && n == want && n * type_bytes(in->type[0]) <= MOST_BYTES;
}

exec_fn *pick_ST_ASYNC(struct instr *in) { return operands_ok(in) ? send_to_shared : NULL; }

static bool reduction_ok(enum mod op, enum type t)
{
    switch (op) {
    case M_add:
        return t == T_U32 || t == T_S32 || t == T_U64;
    case M_min:
    case M_max:
        return t == T_U32 || t == T_S32;
    case M_inc:
    case M_dec:
        return t == T_U32;
    default:
        return t == T_B32;
    }
}

exec_fn *pick_RED_ASYNC(struct instr *in)
{
    return operands_ok(in) && reduction_ok((enum mod)in->mode, (enum type)in->type[0]) ? send_to_shared : NULL;
}

/* .mmio is for the whole system. */
static exec_fn *pick_global(const struct instr *in)
{
    return operands_ok(in) && (in->scope == M_sys || !(in->flags & F_MMIO)) ? send_to_global : NULL;
}

exec_fn *pick_ST_ASYNC_RELEASE(struct instr *in) { return pick_global(in); }
exec_fn *pick_RED_ASYNC_RELEASE(struct instr *in) { return pick_global(in); }

/* ---------------------------------------------------------------- st.bulk */

static int st_bulk(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t addr[WARP];
    const struct operand *size = &in->opnd[1];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        uint64_t bytes = size->width == 8 ? ROW(w, size, uint64_t)[i] : ROW(w, size, uint32_t)[i];
        if (bytes % 8 || bytes > BULK_MOST)
            return fault(w, in, (int)i, FAULT_BAD_OPERAND, "the size is %llu: it must be a multiple of 8, at most %d",
                         (unsigned long long)bytes, BULK_MOST);
        if (!in_window(w, in, (int)i, addr[i]))
            return X_FAULT;
        uint8_t *at = bytes ? mem_at(w, in, (int)i, in->space, addr[i], (uint32_t)bytes, 8, A_WRITE) : NULL;
        if (bytes && !at)
            return X_FAULT;
        if (bytes)
            memset(at, 0, bytes);
    }
    return X_NEXT;
}

exec_fn *pick_ST_BULK(struct instr *in)
{
    const struct operand *size = &in->opnd[1], *value = &in->opnd[2];
    bool ok = size->kind == O_REG && (size->width == 4 || size->width == 8) && value->flags & O_CONST && value->imm == 0;
    return ok ? st_bulk : NULL;
}
