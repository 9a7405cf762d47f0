/* bulk.c: cp.async.bulk between global and shared memory, and the groups that its stores are waited for in.
 *
 * Modelled: a load lands at a later cycle, then completes its bytes on the mbarrier of each CTA it went to; a store reads
 * its source at a later cycle (wait_group.read) and has written at one later still (wait_group). Groups are per thread.
 * Not modelled: the proxies, whose missing fences go unnoticed. Refused: shared to shared memory, .cp_mask, reductions.
 * PTX ISA: "Data Movement and Conversion Instructions: Bulk copy". */
#include "bulk.h"

#include <stdlib.h>

enum { BYTES_PER_CYCLE = 64, READ_LATENCY = 100, GRAIN = 16 };

struct bulk { uint32_t closed[WARP]; struct bulk_copy *flying; };       /* of one warp */

static void *need(void *p) { if (!p) abort(); return p; }

static struct bulk *state_of(struct warp *w)
{
    if (!w->bulk)
        w->bulk = need(calloc(1, sizeof *w->bulk));
    return w->bulk;
}

struct bulk_copy *bulk_new(uint32_t bytes)
{
    struct bulk_copy *c = need(calloc(1, sizeof *c));
    c->bytes = bytes;
    c->box = need(calloc(1, bytes + 1));
    return c;
}

void bulk_drop(struct bulk_copy *c)
{
    free(c->piece);
    free(c->box);
    free(c);
}

void bulk_close(struct warp *w)
{
    if (!w->bulk)
        return;
    for (struct bulk_copy *c = w->bulk->flying, *next; c; c = next)
        next = c->next, bulk_drop(c);
    free(w->bulk);
    w->bulk = NULL;
}

bool bulk_piece(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t addr, uint32_t bytes,
                uint32_t at, enum access how)
{
    uint8_t *host = mem_at(w, in, lane, SP_GLOBAL, addr, bytes, 1, how);
    struct alloc *a = host ? mem_find(w->cta->launch->gpu, addr) : NULL;
    if (!host)
        return false;
    if (c->npieces == c->room) {
        c->room = c->room ? 2 * c->room : 4;
        c->piece = need(realloc(c->piece, c->room * sizeof *c->piece));
    }
    c->piece[c->npieces++] = (struct piece){ host, a && a->init ? a->init + (addr - a->addr) : NULL, at, bytes };
    return true;
}

/* ---------------------------------------------------------------- the shared side */

/* Where a swizzle puts the byte of this shared address: the numbers are those of CUtensorMapSwizzle. */
static uint32_t swizzled(uint32_t a, uint32_t swizzle)
{
    switch (swizzle) {
    case 1: return a ^ (a >> 3 & 0x10);
    case 2: return a ^ (a >> 3 & 0x30);
    case 3: return a ^ (a >> 3 & 0x70);
    case 4: return a ^ (a >> 2 & 0x60);
    case 5: return a ^ (a >> 2 & 0x60) ^ (a >> 4 & 8);
    case 6: return a ^ (a >> 1 & 0x40);
    default: return a;
    }
}

static void to_shared(const struct bulk_copy *c)
{
    for (uint32_t i = 0; i < c->bytes; i += 8) {
        uint32_t at = swizzled(c->at + i, c->swizzle) - c->cta->memory->smem_reserved;
        memcpy(c->cta->smem + at, c->box + i, 8);
        memset(c->cta->smem_init + at, 1, 8);
    }
}

static void from_shared(const struct bulk_copy *c)
{
    for (uint32_t i = 0; i < c->bytes; i += 8)
        memcpy(c->box + i, c->cta->smem + swizzled(c->at + i, c->swizzle) - c->cta->memory->smem_reserved, 8);
}

/* Swizzled boxes reach over whole periods, so the least unit that must lie in the allocation is rounded up to one. */
static bool shared_side(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, enum space space, uint64_t addr,
                        enum access how)
{
    static const uint32_t align[] = { GRAIN, 256, 512, 1024, 1024, 1024, 1024 };
    if (c->swizzle && addr % align[c->swizzle])
        return fault(w, in, lane, FAULT_BAD_OPERAND, "the shared address 0x%llx is not a multiple of %u, the period of its swizzle",
                     (unsigned long long)addr, align[c->swizzle]), false;
    uint32_t span = c->swizzle ? (c->bytes + 127) / 128 * 128 : c->bytes;
    if (!mem_at(w, in, lane, space, addr, span, GRAIN, how))
        return false;
    c->cta = shared_owner(w->cta, space, (uint32_t)addr);
    c->at = (uint32_t)addr & 0xffffff;
    return true;
}

/* ---------------------------------------------------------------- loads */

static void land(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    (void)cta;
    for (uint32_t i = 0; i < c->npieces; i++)
        memcpy(c->box + c->piece[i].at, c->piece[i].global, c->piece[i].bytes);
    to_shared(c);
    mbarrier_complete_tx(c->bar, c->bytes, now);
    bulk_drop(c);
}

static struct bulk_copy *same_source(const struct bulk_copy *c)
{
    struct bulk_copy *d = bulk_new(c->bytes);
    uint8_t *box = d->box;
    *d = *c;
    d->box = memcpy(box, c->box, c->bytes);
    d->piece = need(malloc((c->room + 1) * sizeof *d->piece));
    if (c->npieces)
        memcpy(d->piece, c->piece, c->npieces * sizeof *d->piece);
    return d;
}

static bool load_to(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t dst, uint64_t bar, uint64_t when)
{
    enum space space = (enum space)in->space;
    if (!shared_side(w, in, lane, c, space, dst, A_WRITE | A_LATER) ||
        !(c->bar = mbarrier_at(w, in, lane, space, bar, space == SP_SHARED_CLUSTER)))
        return bulk_drop(c), false;
    if (mbarrier_cta(c->bar) != c->cta)
        return fault(w, in, lane, FAULT_BAD_OPERAND, "the mbarrier is not in the CTA that the bytes go to"), bulk_drop(c), false;
    event_at(c->cta, when, land, c);
    return true;
}

int bulk_load(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t dst, uint64_t bar, uint32_t ctas)
{
    uint64_t when = copy_arrives(w, c->bytes);
    if (!has_mod(in, M_multicast_cluster))
        return load_to(w, in, lane, c, dst, bar, when) ? X_NEXT : X_FAULT;
    for (uint64_t rank = 0; rank < 16; rank++)
        if (ctas >> rank & 1 && !load_to(w, in, lane, same_source(c), (dst & 0xffffff) | rank << 24, (bar & 0xffffff) | rank << 24, when))
            return bulk_drop(c), X_FAULT;
    bulk_drop(c);
    return X_NEXT;
}

/* ---------------------------------------------------------------- stores */

static void read_source(struct cta *cta, void *arg, uint64_t now)
{
    (void)cta, (void)now;
    from_shared(arg);
}

static void write_out(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg, **at = &c->warp->bulk->flying;
    (void)cta, (void)now;
    for (const struct piece *p = c->piece; p < c->piece + c->npieces; p++) {
        memcpy(p->global, c->box + p->at, p->bytes);
        if (p->init)
            memset(p->init, 1, p->bytes);
    }
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    bulk_drop(c);
}

int bulk_store(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t src)
{
    struct bulk *s = state_of(w);
    if (!shared_side(w, in, lane, c, SP_SHARED_CTA, src, A_READ | A_ASYNC))
        return bulk_drop(c), X_FAULT;
    c->warp = w, c->lane = (uint32_t)lane, c->group = s->closed[lane];
    c->when = copy_arrives(w, c->bytes) + READ_LATENCY;
    c->read_when = w->now + READ_LATENCY + c->bytes / BYTES_PER_CYCLE;
    c->next = s->flying;
    s->flying = c;
    event_at(c->cta, c->read_when, read_source, c);
    event_at(c->cta, c->when, write_out, c);
    return X_NEXT;
}

/* ---------------------------------------------------------------- cp.async.bulk */

static struct bulk_copy *plain(struct warp *w, const struct instr *in, int lane, uint64_t global, uint32_t bytes, enum access how)
{
    struct bulk_copy *c;
    if (bytes % GRAIN || bytes >= 1 << 20)
        return fault(w, in, lane, FAULT_BAD_OPERAND, "the size is %u: it must be a multiple of 16 below 2^20", bytes), NULL;
    if (!mem_at(w, in, lane, SP_GLOBAL, global, bytes, GRAIN, how))
        return NULL;
    c = bulk_new(bytes);
    return bulk_piece(w, in, lane, c, global, bytes, 0, how) ? c : (bulk_drop(c), NULL);
}

static int load(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t dst[WARP], src[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[1], src);
    mem_addresses(w, &in->opnd[3], bar);
    FOR_LANES(i, mask) {
        struct bulk_copy *c = plain(w, in, (int)i, src[i], ROW(w, &in->opnd[2], uint32_t)[i], A_READ | A_ASYNC);
        uint32_t ctas = has_mod(in, M_multicast_cluster) ? ROW(w, &in->opnd[4], uint16_t)[i] : 0;
        if (!c || bulk_load(w, in, (int)i, c, dst[i], bar[i], ctas) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int store(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t dst[WARP], src[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[1], src);
    FOR_LANES(i, mask) {
        struct bulk_copy *c = plain(w, in, (int)i, dst[i], ROW(w, &in->opnd[2], uint32_t)[i], A_WRITE | A_LATER);
        if (!c || bulk_store(w, in, (int)i, c, src[i]) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

exec_fn *pick_BULK_LOAD(struct instr *in) { (void)in; return load; }
exec_fn *pick_BULK_MULTICAST(struct instr *in) { (void)in; return load; }
exec_fn *pick_BULK_STORE(struct instr *in) { (void)in; return store; }

/* ---------------------------------------------------------------- groups */

static int commit(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct bulk *s = state_of(w);
    (void)in;
    FOR_LANES(i, mask) s->closed[i]++;
    return X_NEXT;
}

static int wait(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct bulk *s = w->bulk;
    uint32_t keep = (uint32_t)in->opnd[0].imm;
    uint64_t until = 0;
    for (const struct bulk_copy *c = s ? s->flying : NULL; c; c = c->next) {
        uint64_t end = in->flags & F_READ ? c->read_when : c->when;
        if (mask >> c->lane & 1 && c->group + keep < s->closed[c->lane] && end >= w->now && end > until)
            until = end;
    }
    return until ? split_sleep(w, s, until + 1, "cp.async.bulk.wait_group %u", keep) : X_NEXT;
}

exec_fn *pick_BULK_COMMIT(struct instr *in) { (void)in; return commit; }
exec_fn *pick_BULK_WAIT(struct instr *in) { return in->opnd[0].flags & O_CONST ? wait : NULL; }
