/* core/race.c: who is ordered after whom. The hooks that barriers, fences and the asynchronous units call, and those of
 * memory accesses, which end in race_shadow.c. None does anything while a cluster is not watched: it has no shared memory,
 * or EMU_RACES=0.
 *
 * A release hands the warp's clock to a barrier and raises the warp's time, so that what it does next is not covered. An
 * acquire takes over what has been handed there. Atomics and strong accesses do both, by address: more order than the
 * ISA promises for the weakest of them, never less.
 * PTX ISA: "Memory Consistency Model"; "Causality order", "Proxies". */
#include "race.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { MBARRIER_BYTES = 8 };

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- clusters come and go */

void race_open(struct cluster *g, uint32_t nwarp, uint32_t smem_bytes)
{
    if (!g->launch->gpu->races || !smem_bytes || g->n * nwarp >= UINT16_MAX)
        return;
    struct races *r = g->races = need(1, sizeof *r);
    *r = (struct races){ .launch = g->launch, .ncta = g->n, .nwarp = nwarp, .time = 1 };
    r->nagents = g->n * nwarp;
    r->room = r->nagents + 16;
    r->agent = need(r->room, sizeof *r->agent);
    r->warp = need(r->nagents, sizeof *r->warp);
    r->barrier = need(g->n, sizeof *r->barrier);
    for (uint32_t i = 0; i < r->nagents; i++) {
        r->agent[i] = (struct race_agent){ AGENT_WARP, (uint8_t)(i / nwarp), i % nwarp };
        r->warp[i].agent = i;
        clock_set(&r->warp[i].now, i, 1);
    }
}

void race_cta(struct cta *c)
{
    struct races *r = c->group->races;
    if (r && shadow_open(&r->shadow[c->cluster_rank], r, c, c->smem_bytes))
        c->races = r;
}

void race_close(struct cluster *g)
{
    struct races *r = g->races;
    if (!r)
        return;
    for (uint32_t i = 0; i < r->ncta * r->nwarp; i++)
        clock_free(&r->warp[i].now), clock_free(&r->warp[i].fenced), clock_free(&r->warp[i].relaxed);
    for (uint32_t c = 0; c < r->ncta; c++) {
        for (uint32_t id = 0; id < 16; id++)
            clock_free(&r->barrier[c][id]);
        shadow_close(&r->shadow[c]);
    }
    for (uint32_t i = 0; i <= RACE_BUCKETS; i++)
        clock_free(&r->bucket[i]);
    clock_free(&r->arrived), clock_free(&r->met), clock_free(&r->exited);
    free(r->agent), free(r->warp), free(r->barrier), free(r);
    g->races = NULL;
}

/* NULL: not watched. */
static inline struct races *watched(const struct cta *c) { return c->races && !c->races->off ? c->races : NULL; }

static struct racer *racer_of(struct races *r, const struct warp *w)
{
    return &r->warp[w->cta->cluster_rank * r->nwarp + w->id];
}

static uint32_t new_agent(struct races *r, enum agent_kind kind, uint32_t rank, uint32_t index)
{
    if (r->nagents == UINT16_MAX) {
        r->off = true;
        return 0;
    }
    if (r->nagents == r->room) {
        r->room *= 2;
        if (!(r->agent = realloc(r->agent, r->room * sizeof *r->agent)))
            abort();
    }
    r->agent[r->nagents] = (struct race_agent){ (uint8_t)kind, (uint8_t)rank, index };
    return r->nagents++;
}

/* ---------------------------------------------------------------- release and acquire */

/* What the warp does from now on must be later than what it has handed on. */
static void raise_time(struct races *r, struct racer *me)
{
    if (!me->handed)
        return;
    me->handed = false;
    if (clock_v(&me->now, me->agent) == r->time && ++r->time == TIMES)
        r->off = true;
    clock_set(&me->now, me->agent, r->time);
}

/* A relaxed arrival hands on only what stood before the warp's last fence. */
static void release(struct racer *me, struct race_clock *to, bool relaxed)
{
    clock_join(to, relaxed ? &me->fenced : &me->now);
    me->handed = true;
}

/* …and a relaxed wait has its effect at the next fence. */
static void acquire(struct racer *me, const struct race_clock *from, bool relaxed)
{
    clock_join(relaxed ? &me->relaxed : &me->now, from);
}

void race_fence(struct warp *w, bool proxy)
{
    struct races *r = watched(w->cta);
    if (!r)
        return;
    struct racer *me = racer_of(r, w);
    clock_join(&me->now, &me->relaxed);
    if (proxy)
        clock_fence(&me->now);
    clock_copy(&me->fenced, &me->now);
    me->handed = true;
}

/* ---------------------------------------------------------------- barriers of a CTA and of a cluster */

void race_barrier_arrive(struct warp *w, uint32_t id)
{
    struct races *r = watched(w->cta);
    if (r)
        release(racer_of(r, w), &r->barrier[w->cta->cluster_rank][id], false);
}

/* When all warps have met, whatever any of them has done to the CTA's memory is ordered for all of them. */
void race_barrier_done(struct cta *c, uint32_t id, uint64_t waiting)
{
    struct races *r = watched(c);
    uint64_t live = 0;
    if (!r)
        return;
    for (uint32_t i = 0; i < c->nwarp; i++)
        live |= (uint64_t)(warp_live(&c->warp[i]) != 0) << i;
    struct race_clock *b = &r->barrier[c->cluster_rank][id];
    clock_join(b, &r->exited);
    for (uint32_t i = 0; i < c->nwarp; i++) {
        struct racer *me = racer_of(r, &c->warp[i]);
        if (!(waiting >> i & 1))
            continue;
        acquire(me, b, false);
        if (waiting == live)
            me->floor = r->time;
    }
    clock_clear(b);
    if (waiting == live && ++r->time == TIMES)
        r->off = true;
}

void race_cluster_arrive(struct warp *w, bool relaxed)
{
    struct races *r = watched(w->cta);
    if (r)
        release(racer_of(r, w), &r->arrived, relaxed);
}

void race_cluster_done(struct cluster *g)
{
    if (!g->races)
        return;
    clock_join(&g->races->arrived, &g->races->exited);
    clock_join(&g->races->met, &g->races->arrived);
}

void race_cluster_wait(struct warp *w, bool relaxed)
{
    struct races *r = watched(w->cta);
    if (r)
        acquire(racer_of(r, w), &r->met, relaxed);
}

/* Barriers count those who have exited as having come. */
void race_exit(struct warp *w)
{
    struct races *r = watched(w->cta);
    if (r)
        release(racer_of(r, w), &r->exited, false);
}

/* ---------------------------------------------------------------- mbarriers
 * Copies that complete on one are numbered; a phase tells those who wait for it of all copies, if none is still on its
 * way: then the bytes that it expected were fewer than were coming. */

struct race_point {
    struct race_clock arrived, done;    /* who has arrived up to now; up to the last phase that is complete */
    struct cta *cta;
    uint32_t at, agent;                 /* agent 0: none yet */
    uint32_t user, user_time;           /* warp that used it last, and when */
    uint32_t copies, settled, flying;   /* begun; begun when none was on its way for the last time; on their way */
};

struct race_point *race_point_new(struct cta *c, uint32_t at)
{
    if (!watched(c))
        return NULL;
    struct race_point *p = need(1, sizeof *p);
    p->cta = c, p->at = at;
    return p;
}

void race_point_free(struct race_point *p)
{
    if (!p)
        return;
    clock_free(&p->arrived), clock_free(&p->done);
    free(p);
}

bool race_point_use(struct warp *w, const struct instr *in, int lane, struct race_point *p)
{
    struct races *r = watched(w->cta);
    if (!r || !p)
        return true;
    const struct racer *me = racer_of(r, w);
    if (p->user == me->agent && p->user_time == clock_v(&me->now, me->agent) && !me->handed)
        return true;                    /* so have the lanes before this one */
    if (!race_access(w, in, lane, p->cta, p->at, MBARRIER_BYTES, false))
        return false;
    p->user = me->agent, p->user_time = clock_v(&me->now, me->agent);
    return true;
}

void race_point_arrive(struct warp *w, struct race_point *p, bool relaxed)
{
    struct races *r = watched(w->cta);
    if (r && p)
        release(racer_of(r, w), &p->arrived, relaxed);
}

void race_point_landed(struct race_point *p)
{
    if (!p)
        return;
    if (p->flying && --p->flying == 0)
        p->settled = p->copies;
}

void race_point_phase(struct race_point *p)
{
    if (!p)
        return;
    if (p->agent)
        clock_set(&p->arrived, p->agent, p->settled);
    clock_copy(&p->done, &p->arrived);
}

void race_point_wait(struct warp *w, const struct race_point *p, bool relaxed)
{
    struct races *r = watched(w->cta);
    if (r && p) {
        acquire(racer_of(r, w), &p->done, relaxed);
        racer_of(r, w)->waited = w->now;
    }
}

uint64_t race_waited(const struct warp *w)
{
    struct races *r = watched(w->cta);
    return r ? racer_of(r, w)->waited : 0;
}

/* ---------------------------------------------------------------- asynchronous work in groups */

static uint32_t work_agent(struct races *r, const struct warp *w, enum race_unit unit)
{
    static const enum agent_kind kind[RACE_UNITS] = { AGENT_CP_ASYNC, AGENT_BULK, AGENT_WGMMA, AGENT_TCGEN05 };
    uint32_t index = unit == RACE_WGMMA ? w->id & ~3u : w->id;          /* a warpgroup works as one */
    struct racer *me = &r->warp[w->cta->cluster_rank * r->nwarp + index];
    if (!me->work[unit])
        me->work[unit] = new_agent(r, kind[unit], w->cta->cluster_rank, index);
    return me->work[unit];
}

void race_work_done(struct warp *w, enum race_unit unit, uint32_t groups)
{
    struct races *r = watched(w->cta);
    if (r)
        clock_set(&racer_of(r, w)->now, work_agent(r, w, unit), groups);
}

void race_work_arrive(struct warp *w, enum race_unit unit, uint32_t groups, struct race_point *p)
{
    struct races *r = watched(w->cta);
    if (r && p)
        clock_set(&p->arrived, work_agent(r, w, unit), groups);
}

uint32_t race_commits(const struct warp *w)
{
    struct races *r = watched(w->cta);
    return r ? racer_of(r, w)->commits : 0;
}

/* The operations were ordered behind what their thread had seen: so is who hears of their end. */
void race_commit(struct warp *w, struct race_point *p)
{
    struct races *r = watched(w->cta);
    if (!r)
        return;
    race_work_arrive(w, RACE_TCGEN05, ++racer_of(r, w)->commits, p);
    race_point_arrive(w, p, false);
}

struct race_mark race_mark(struct warp *w, bool work)
{
    struct races *r = watched(w->cta);
    if (!r)
        return (struct race_mark){ 0, 0 };
    struct racer *me = racer_of(r, w);
    if (work)
        return (struct race_mark){ work_agent(r, w, RACE_TCGEN05), me->commits + 1 };
    raise_time(r, me);
    return (struct race_mark){ me->agent, clock_v(&me->now, me->agent) };
}

bool race_after(struct warp *w, struct race_mark m)
{
    struct races *r = watched(w->cta);
    return !r || clock_v(&racer_of(r, w)->now, m.agent) >= m.epoch;
}

/* ---------------------------------------------------------------- accesses */

static struct shadow *shadow_of(struct races *r, const struct cta *owner) { return &r->shadow[owner->cluster_rank]; }

static uint32_t offset_in(const struct cta *owner, uint32_t at)
{
    return (at & 0xffffff) - owner->memory->smem_reserved;
}

bool race_access(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes, bool write)
{
    struct races *r = watched(w->cta);
    if (!r)
        return true;
    struct racer *me = racer_of(r, w);
    raise_time(r, me);
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &me->now, .agent = me->agent,
                             .epoch = clock_v(&me->now, me->agent), .write = write };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

static uint64_t buckets_of(const struct reach *a, uint32_t mask)
{
    uint64_t set = 0;
    FOR_LANES(i, mask) set |= 1ull << (a->at[i] >> 4) % RACE_BUCKETS;
    return set;
}

void race_strong_global(struct warp *w)
{
    struct races *r = watched(w->cta);
    if (!r)
        return;
    acquire(racer_of(r, w), &r->bucket[RACE_BUCKETS], false);
    release(racer_of(r, w), &r->bucket[RACE_BUCKETS], false);
}

bool race_lanes(struct warp *w, const struct instr *in, uint32_t mask, struct cta *owner, const struct reach *a, uint32_t size,
                enum access how)
{
    struct races *r = watched(w->cta);
    if (!r || how & (A_ASYNC | A_LATER) || !(how & A_ATOMIC) || (how & (A_ATOMIC | A_ANY)) == (A_READ | A_ANY))
        return true;
    struct racer *me = racer_of(r, w);
    const bool strong = how & A_STRONG || (how & A_ATOMIC) == A_ATOMIC;
    uint64_t buckets = strong ? buckets_of(a, mask) : 0;
    for (uint64_t b = buckets; b; b &= b - 1)
        acquire(me, &r->bucket[__builtin_ctzll(b)], false);
    if (!strong)
        raise_time(r, me);
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .clock = &me->now, .agent = me->agent,
                             .epoch = clock_v(&me->now, me->agent), .write = how & A_WRITE,
                             .places = a, .mask = mask, .size = size };
    race_begin(&x);
    bool ok;
    uint64_t base = (uintptr_t)owner->smem;
    if (a->shape == CONSECUTIVE)
        ok = race_range(&x, (uint32_t)(a->at[0] - base), WARP * size);
    else if (a->shape == UNIFORM)
        ok = race_range(&x, (uint32_t)(a->at[0] - base), size);
    else
        ok = race_places(&x, a->at, base, mask, size);
    for (uint64_t b = buckets; b; b &= b - 1)
        release(me, &r->bucket[__builtin_ctzll(b)], false);
    return ok;
}

/* ---------------------------------------------------------------- asynchronous accesses */

bool race_copies(struct warp *w, const struct instr *in, uint32_t mask, const struct reach *a, uint32_t size, uint32_t group)
{
    struct races *r = watched(w->cta);
    if (!r)
        return true;
    struct race_access x = { .s = shadow_of(r, w->cta), .w = w, .in = in, .clock = &racer_of(r, w)->now, .write = true,
                             .agent = work_agent(r, w, RACE_CP_ASYNC), .epoch = group + 1, .exact = true };
    race_begin(&x);
    return race_places(&x, a->at, (uintptr_t)w->cta->smem, mask, size);
}

bool race_work(struct warp *w, const struct instr *in, int lane, enum race_unit unit, uint32_t group, struct cta *owner,
               uint32_t at, uint32_t bytes, bool write)
{
    struct races *r = watched(w->cta);
    if (!r)
        return true;
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &racer_of(r, w)->now,
                             .agent = work_agent(r, w, unit), .epoch = group + 1, .write = write, .async = true, .exact = true };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

bool race_copy_in(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes,
                  struct race_point *p, bool async)
{
    struct races *r = watched(w->cta);
    if (!r || !p)
        return true;
    if (!p->agent)
        p->agent = new_agent(r, AGENT_MBARRIER, p->cta->cluster_rank, p->at);
    p->flying++;
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &racer_of(r, w)->now,
                             .agent = p->agent, .epoch = ++p->copies, .write = true, .async = async, .exact = true };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

bool race_copy_out(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes,
                   struct race_point *p)
{
    struct races *r = watched(w->cta);
    if (!r || !p || !p->agent)
        return true;
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &racer_of(r, w)->now,
                             .agent = p->agent, .epoch = p->copies, .async = true, .exact = true };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

/* ---------------------------------------------------------------- tiles that a tensor core reads */

void race_issue(struct warp *w, struct race_clock **common)
{
    struct races *r = watched(w->cta);
    if (!r)
        return;
    if (*common) {
        clock_meet(*common, &racer_of(r, w)->now);
        return;
    }
    *common = need(1, sizeof **common);
    clock_copy(*common, &racer_of(r, w)->now);
}

void race_issue_end(struct race_clock **common)
{
    if (*common)
        clock_free(*common);
    free(*common);
    *common = NULL;
}

bool race_tile(struct warp *w, const struct instr *in, enum race_unit unit, uint32_t group, const struct race_clock *common,
               struct cta *owner, const uint32_t *chunk, uint32_t n)
{
    struct races *r = watched(w->cta);
    if (!r)
        return true;
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = -1, .clock = common ? common : &racer_of(r, w)->now,
                             .agent = work_agent(r, w, unit), .epoch = group + 1, .async = true, .exact = true };
    race_begin(&x);
    for (uint32_t i = 0; i < n; i++)
        if (!race_granule(&x, offset_in(owner, chunk[i])))
            return false;
    return true;
}
