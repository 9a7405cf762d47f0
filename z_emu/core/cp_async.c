/* core/cp_async.c: cp.async, copies from global to shared memory that the warp does not wait for.
 *
 * Modelled: the addresses are checked at issue; the bytes are read, and appear in shared memory, together at a
 * later cycle: a latency as of memory, behind what the SM's path to L2 (64 bytes a cycle) has yet to bring.
 * Until then readers find what was there before, poison if nothing was. Groups are counted per thread.
 * Not modelled: caches, so .ca and .cg take the same time; order between the lanes of one instruction.
 * PTX ISA: "Data Movement and Conversion Instructions: cp.async", "…: cp.async.wait_group / wait_all". */
#include <stdlib.h>

#include "core/core.h"
#include "core/memory.h"

struct copy {                   /* what one cp.async does for those of its lanes that are in the same group */
    struct copy *next;
    struct cp_async *state;
    uint64_t when;              /* lands */
    uint32_t mask;
    uint32_t whole;             /* lanes that take all bytes from their source */
    uint32_t group;             /* of these lanes */
    uint32_t size;
    uint8_t from[WARP];         /* bytes that come from the source; zeros behind them */
    uint64_t dst[WARP], src[WARP];      /* host addresses */
    uint64_t shadow;            /* add to dst */
};

struct cp_async {               /* of one warp */
    uint32_t closed[WARP];      /* groups that the lane has committed: the number of the open one */
    struct copy *flying;        /* newest first */
    struct copy *spare;
};

static struct cp_async *state_of(struct warp *w)
{
    if (!w->cp_async && !(w->cp_async = calloc(1, sizeof *w->cp_async)))
        abort();
    return w->cp_async;
}

static struct copy *copy_new(struct cp_async *s)
{
    struct copy *c = s->spare;
    if (c)
        s->spare = c->next;
    else if (!(c = malloc(sizeof *c)))
        abort();
    c->state = s;
    return c;
}

static void copy_drop(struct copy *c)
{
    c->next = c->state->spare;
    c->state->spare = c;
}

static void free_list(struct copy *c)
{
    for (struct copy *next; c; c = next)
        next = c->next, free(c);
}

void cp_async_close(struct warp *w)
{
    if (!w->cp_async)
        return;
    free_list(w->cp_async->flying);
    free_list(w->cp_async->spare);
    free(w->cp_async);
    w->cp_async = NULL;
}

/* ---------------------------------------------------------------- landing */

static void land_lane(const struct copy *c, uint32_t lane)
{
    uint8_t *dst = (uint8_t *)(uintptr_t)c->dst[lane];
    memcpy(dst, (const uint8_t *)(uintptr_t)c->src[lane], c->from[lane]);
    memset(dst + c->from[lane], 0, c->size - c->from[lane]);
    memset(dst + c->shadow, 1, c->size);
}

static inline void land_whole(const struct copy *c, uint32_t lanes, uint32_t size)
{
    FOR_LANES(i, lanes) {
        uint8_t *dst = (uint8_t *)(uintptr_t)c->dst[i];
        memcpy(dst, (const uint8_t *)(uintptr_t)c->src[i], size);
        memset(dst + c->shadow, 1, size);
    }
}

static void land_bytes(const struct copy *c)
{
    uint32_t whole = c->whole & c->mask;
    switch (c->size) {
    case 4:  land_whole(c, whole, 4); break;
    case 8:  land_whole(c, whole, 8); break;
    default: land_whole(c, whole, 16); break;
    }
    FOR_LANES(i, c->mask & ~c->whole) land_lane(c, i);
}

static void land(struct cta *cta, void *arg, uint64_t now)
{
    struct copy *c = arg, **at = &c->state->flying;
    (void)cta, (void)now;
    land_bytes(c);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    copy_drop(c);
}

/* ---------------------------------------------------------------- cp.async */

/* c->from: all bytes, src-size, or none where ignore-src is true; and c->whole. */
static bool source_bytes(struct warp *w, const struct instr *in, uint32_t mask, struct copy *c)
{
    const struct operand *o = &in->opnd[3];
    uint32_t ignore = 0;
    c->whole = mask;
    if (o->kind == O_NONE)
        return true;
    if (o->width == 0)
        ignore = o->flags & O_NOT ? ~PRED(w, o) : PRED(w, o);
    FOR_LANES(i, mask) {
        uint32_t n = o->width ? ROW(w, o, uint32_t)[i] : ignore >> i & 1 ? 0 : c->size;
        if (n > c->size) {
            fault(w, in, (int)i, FAULT_BAD_OPERAND, "src-size is %u, more than the %u bytes of the copy", n, c->size);
            return false;
        }
        c->from[i] = (uint8_t)n;
        c->whole &= ~((uint32_t)(n != c->size) << i);
    }
    return true;
}

/* Host addresses of the sources. Lanes that copy nothing may have any address. */
static bool sources(struct warp *w, const struct instr *in, uint32_t mask, struct copy *c)
{
    uint64_t addr[WARP];
    struct reach r;
    if (c->whole && !reach(w, in, &in->opnd[1], c->whole, SP_GLOBAL, c->size, c->size, A_READ | A_ASYNC, &r))
        return false;
    if (c->whole)
        memcpy(c->src, r.at, sizeof c->src);
    if (c->whole == mask)
        return true;
    mem_addresses(w, &in->opnd[1], addr);
    FOR_LANES(i, mask & ~c->whole) {
        c->src[i] = c->dst[i];
        if (c->from[i] && !(c->src[i] = (uintptr_t)mem_at(w, in, (int)i, SP_GLOBAL, addr[i], c->from[i], c->size,
                                                          A_READ | A_ASYNC)))
            return false;
    }
    return true;
}

static uint32_t total_bytes(const struct copy *c, uint32_t mask)
{
    uint32_t n = (uint32_t)__builtin_popcount(c->whole) * c->size;
    FOR_LANES(i, mask & ~c->whole) n += c->from[i];
    return n;
}

/* Lanes of mask that have the same group open as its first. */
static uint32_t same_group(const struct cp_async *s, uint32_t mask)
{
    uint32_t group = s->closed[__builtin_ctz(mask)], same = 0;
    for (uint32_t i = 0; i < WARP; i++)
        same |= (uint32_t)(s->closed[i] == group) << i;
    return same & mask;
}

static void take_off(struct warp *w, struct copy *c, uint32_t mask, uint64_t when)
{
    struct cp_async *s = c->state;
    c->mask = mask, c->group = s->closed[__builtin_ctz(mask)], c->when = when;
    c->next = s->flying;
    s->flying = c;
    event_at(w->cta, when, land, c);
}

/* Groups that these lanes have closed; as a rule all the same number. */
static uint32_t newest_group(const struct cp_async *s, uint32_t mask)
{
    uint32_t most = 0;
    FOR_LANES(i, mask) most = s->closed[i] > most ? s->closed[i] : most;
    return most;
}

static int cp_async(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct copy *c = copy_new(state_of(w));
    struct reach r;
    c->size = (uint32_t)in->opnd[2].imm;
    if (!source_bytes(w, in, mask, c) ||
        !reach(w, in, &in->opnd[0], mask, SP_SHARED_CTA, c->size, c->size, A_WRITE | A_LATER, &r))
        return copy_drop(c), X_FAULT;
    memcpy(c->dst, r.at, sizeof c->dst);
    c->shadow = r.shadow;
    if (!sources(w, in, mask, c) || !race_copies(w, in, mask, &r, c->size, newest_group(c->state, mask)))
        return copy_drop(c), X_FAULT;
    uint64_t when = copy_arrives(w, total_bytes(c, mask));
    for (uint32_t same; same = same_group(c->state, mask), same != mask; mask &= ~same) {
        struct copy *part = copy_new(c->state);
        memcpy(part, c, sizeof *c);
        take_off(w, part, same, when);
    }
    take_off(w, c, mask, when);
    return X_NEXT;
}

exec_fn *pick_CP_ASYNC(struct instr *in)
{
    const struct operand *size = &in->opnd[2], *src = &in->opnd[3];
    if (in->opnd[0].kind != O_MEM || in->opnd[1].kind != O_MEM || !(size->flags & O_CONST))
        return NULL;
    if (size->imm != 16 && (has_mod(in, M_cg) || (size->imm != 4 && size->imm != 8)))
        return NULL;
    if (src->kind != O_NONE && (src->kind != O_REG || (src->width != 0 && src->width != 4)))
        return NULL;
    return cp_async;
}

/* ---------------------------------------------------------------- groups */

static int commit_group(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct cp_async *s = state_of(w);
    (void)in;
    FOR_LANES(i, mask) s->closed[i]++;
    return X_NEXT;
}

/* Cycle at which the last copy of these lanes lands that belongs to all but the `keep` newest closed groups;
 * 0: none is under way. */
static uint64_t last_landing(const struct cp_async *s, uint32_t mask, uint32_t keep, bool open_too)
{
    uint64_t last = 0;
    for (const struct copy *c = s ? s->flying : NULL; c; c = c->next) {
        if (!(c->mask & mask) || c->when <= last)
            continue;
        FOR_LANES(i, c->mask & mask)
            if (open_too || c->group + keep < s->closed[i])
                last = c->when;
    }
    return last;
}

static int wait_group(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t keep = (uint32_t)in->opnd[0].imm;
    uint64_t until = last_landing(w->cp_async, mask, keep, false);
    if (until)
        return split_sleep(w, w->cp_async, until, "cp.async.wait_group %u", keep);
    uint32_t closed = cp_async_groups(w, mask);
    if (closed > keep)
        race_work_done(w, RACE_CP_ASYNC, closed - keep);
    return X_NEXT;
}

static int wait_all(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t until = last_landing(w->cp_async, mask, 0, true);
    if (until)
        return split_sleep(w, w->cp_async, until, "cp.async.wait_all");
    commit_group(w, in, mask);                  /* what comes now belongs to another group */
    race_work_done(w, RACE_CP_ASYNC, newest_group(w->cp_async, mask));
    return X_NEXT;
}

exec_fn *pick_CP_ASYNC_COMMIT(struct instr *in) { (void)in; return commit_group; }
exec_fn *pick_CP_ASYNC_WAIT(struct instr *in) { return in->opnd[0].flags & O_CONST ? wait_group : NULL; }
exec_fn *pick_CP_ASYNC_WAIT_ALL(struct instr *in) { (void)in; return wait_all; }

uint64_t cp_async_done(const struct warp *w, uint32_t lanes)
{
    return last_landing(w->cp_async, lanes, 0, true);
}

uint32_t cp_async_groups(const struct warp *w, uint32_t lanes)
{
    return w->cp_async ? newest_group(w->cp_async, lanes) : 0;
}

bool cp_async_under_way(const struct cta *c, uint64_t addr, uint32_t size)
{
    uint64_t lo = (uintptr_t)c->smem + (addr & 0xffffff) - c->memory->smem_reserved;
    for (uint32_t i = 0; i < c->nwarp; i++)
        for (const struct copy *f = c->warp[i].cp_async ? c->warp[i].cp_async->flying : NULL; f; f = f->next)
            FOR_LANES(lane, f->mask)
                if (f->dst[lane] < lo + size && lo < f->dst[lane] + f->size)
                    return true;
    return false;
}
