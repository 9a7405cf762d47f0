/* core/race.c: who is ordered after whom. The hooks that barriers, fences and warps' own accesses call; those of the
 * asynchronous units are in race_async.c; all end in race_shadow.c. None does anything while a cluster is not watched: it
 * has no shared memory, or EMU_RACES=0.
 *
 * A release hands the warp's clock to a barrier and raises the warp's time, so that what it does next is not covered. An
 * acquire takes over what has been handed there. Atomics and strong accesses do both, by address: more order than the
 * ISA promises for the weakest of them, never less.
 * PTX ISA: "Memory Consistency Model"; "Causality order", "Proxies". */
#include "race.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

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
        r->agent[i] = (struct race_agent){ .kind = AGENT_WARP, .rank = (uint8_t)(i / nwarp), .index = i % nwarp };
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
    clock_free(&r->arrived), clock_free(&r->met), clock_free(&r->exited), clock_free(&r->came), clock_free(&r->gone);
    free(r->agent), free(r->warp), free(r->barrier), free(r);
    g->races = NULL;
}

/* Times or epochs have come to their end. Everything is forgotten, and they start from 1: what conflicts with an access
 * before this moment goes unnoticed, once in millions. */
__attribute__((cold)) void race_begin_again(struct races *r)
{
    r->full = false, r->time = 1, r->generation++;
    for (uint32_t i = 0; i < r->ncta * r->nwarp; i++) {
        struct racer *me = &r->warp[i];
        clock_clear(&me->now), clock_clear(&me->fenced), clock_clear(&me->relaxed);
        clock_set(&me->now, i, 1);
        me->floor = 0, me->handed = false;
    }
    for (uint32_t i = 0; i < r->nagents; i++)
        r->agent[i].base = r->agent[i].latest;
    for (uint32_t c = 0; c < r->ncta; c++) {
        for (uint32_t id = 0; id < 16; id++)
            clock_clear(&r->barrier[c][id]);
        if (r->shadow[c].cta)
            shadow_forget(&r->shadow[c]);
    }
    for (uint32_t i = 0; i <= RACE_BUCKETS; i++)
        clock_clear(&r->bucket[i]);
    clock_clear(&r->arrived), clock_clear(&r->met), clock_clear(&r->exited), clock_clear(&r->came), clock_clear(&r->gone);
}

uint32_t race_new_agent(struct races *r, enum agent_kind kind, uint32_t rank, uint32_t index)
{
    if (r->nagents == UINT16_MAX) {
        say("more than %u mbarriers and warps in a cluster: it is not watched for races any longer", UINT16_MAX);
        r->off = true;
        return 0;
    }
    if (r->nagents == r->room) {
        r->room *= 2;
        if (!(r->agent = realloc(r->agent, r->room * sizeof *r->agent)))
            abort();
    }
    r->agent[r->nagents] = (struct race_agent){ .kind = (uint8_t)kind, .rank = (uint8_t)rank, .index = index };
    return r->nagents++;
}

/* ---------------------------------------------------------------- release and acquire */

static void next_time(struct races *r)
{
    r->full |= ++r->time >= TIMES - 2;
}

/* What the warp does from now on must be later than what it has handed on. */
void race_raise(struct races *r, struct racer *me)
{
    if (!me->handed)
        return;
    me->handed = false;
    if (clock_v(&me->now, me->agent) == r->time)
        next_time(r);
    clock_set(&me->now, me->agent, r->time);
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
        race_release(racer_of(r, w), &r->barrier[w->cta->cluster_rank][id], false);
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
        race_acquire(me, b, false);
        if (waiting == live)
            me->floor = r->time;
    }
    clock_clear(b);
    if (waiting == live)
        next_time(r);
}

void race_cluster_arrive(struct warp *w, bool relaxed)
{
    struct races *r = watched(w->cta);
    if (!r)
        return;
    race_release(racer_of(r, w), &r->arrived, relaxed);
    if (relaxed)
        clock_join(&r->came, &racer_of(r, w)->now);
}

void race_cluster_done(struct cluster *g)
{
    if (!g->races)
        return;
    clock_join(&g->races->arrived, &g->races->exited);
    clock_join(&g->races->met, &g->races->arrived);
    clock_join(&g->races->gone, &g->races->came);
}

void race_cluster_wait(struct warp *w, bool relaxed)
{
    struct races *r = watched(w->cta);
    if (!r)
        return;
    race_acquire(racer_of(r, w), &r->met, relaxed);
    clock_join(&shadow_of(r, w->cta)->observed, &r->gone);
}

/* Barriers count those who have exited as having come. */
void race_exit(struct warp *w)
{
    struct races *r = watched(w->cta);
    if (r)
        race_release(racer_of(r, w), &r->exited, false);
}

/* ---------------------------------------------------------------- a warp's own accesses */

bool race_access_by(struct races *r, struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at,
                    uint32_t bytes, bool write, bool looks)
{
    struct racer *me = racer_of(r, w);
    race_raise(r, me);
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &me->now, .agent = me->agent,
                             .epoch = clock_v(&me->now, me->agent), .write = write, .looks = looks };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

bool race_access(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes, bool write)
{
    struct races *r = watched(w->cta);
    return !r || race_access_by(r, w, in, lane, owner, at, bytes, write, false);
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
    race_acquire(racer_of(r, w), &r->bucket[RACE_BUCKETS], false);
    race_release(racer_of(r, w), &r->bucket[RACE_BUCKETS], false);
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
        race_acquire(me, &r->bucket[__builtin_ctzll(b)], false);
    if (!strong)
        race_raise(r, me);
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
        race_release(me, &r->bucket[__builtin_ctzll(b)], false);
    return ok;
}
