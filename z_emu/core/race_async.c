/* core/race_async.c: the race detector's hooks for mbarriers and the asynchronous units: how the end of a copy, a
 * multiplication or a store becomes known, and to whom. */
#include "race.h"
#include "memory.h"

#include <stdlib.h>

enum { MBARRIER_BYTES = 8 };

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- mbarriers
 * Copies that complete on one are numbered; a phase tells those who wait for it of all copies, if none is still on its
 * way: then the bytes that it expected were fewer than were coming. */

struct race_point {
    struct race_clock arrived, done;    /* who has arrived up to now; up to the last phase that is complete */
    struct race_clock came, gone;       /* the same of relaxed arrivals, and all that they did before */
    struct cta *cta;
    uint32_t at, agent;                 /* agent 0: none yet */
    uint32_t user, user_time;           /* warp that used it last, and when */
    uint32_t copies, settled, flying;   /* begun; begun when none was on its way for the last time; on their way */
    uint32_t generation;
};

struct race_point *race_point_new(struct cta *c, uint32_t at)
{
    if (!watched(c))
        return NULL;
    struct race_point *p = need(1, sizeof *p);
    p->cta = c, p->at = at, p->generation = c->races->generation;
    return p;
}

/* What it knows may be older than the numbers. */
static struct races *watched_at(const struct cta *c, struct race_point *p)
{
    struct races *r = p ? watched(c) : NULL;
    if (r && p->generation != r->generation) {
        clock_clear(&p->arrived), clock_clear(&p->done), clock_clear(&p->came), clock_clear(&p->gone);
        p->generation = r->generation, p->user_time = 0;
        p->copies -= p->settled, p->settled = 0;
    }
    return r;
}

void race_point_free(struct race_point *p)
{
    if (!p)
        return;
    clock_free(&p->arrived), clock_free(&p->done), clock_free(&p->came), clock_free(&p->gone);
    free(p);
}

bool race_point_use(struct warp *w, const struct instr *in, int lane, struct race_point *p)
{
    struct races *r = watched_at(w->cta, p);
    if (!r)
        return true;
    const struct racer *me = racer_of(r, w);
    if (p->user == me->agent && p->user_time == clock_v(&me->now, me->agent) && !me->handed)
        return true;                    /* so have the lanes before this one */
    if (!race_access_by(r, w, in, lane, p->cta, p->at, MBARRIER_BYTES, false, true))
        return false;
    p->user = me->agent, p->user_time = clock_v(&me->now, me->agent);
    return true;
}

void race_point_arrive(struct warp *w, const struct instr *in, struct race_point *p, bool relaxed)
{
    struct races *r = watched_at(w->cta, p);
    if (!r)
        return;
    struct racer *me = racer_of(r, w);
    race_release(me, &p->arrived, relaxed);
    if (relaxed)
        clock_join(&p->came, &me->now);
    if (p->cta != w->cta)
        race_visit(shadow_of(r, p->cta), me->agent,
                   (struct race_visit){ clock_v(&me->now, me->agent), in->site, true }, true);
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
    if (!p || !watched_at(p->cta, p))
        return;
    if (p->agent)
        clock_set(&p->arrived, p->agent, p->settled);
    clock_copy(&p->done, &p->arrived);
    clock_join(&p->gone, &p->came);
}

void race_point_wait(struct warp *w, const struct instr *in, struct race_point *p, bool relaxed)
{
    struct races *r = watched_at(w->cta, p);
    if (!r)
        return;
    race_acquire(racer_of(r, w), &p->done, relaxed);
    clock_join(&shadow_of(r, w->cta)->observed, &p->gone);
    racer_of(r, w)->waited = w->now;
    racer_of(r, w)->waited_at = in;
}

uint64_t race_waited(const struct warp *w, const struct instr **at)
{
    struct races *r = watched(w->cta);
    *at = r ? racer_of(r, w)->waited_at : NULL;
    return r ? racer_of(r, w)->waited : 0;
}

/* ---------------------------------------------------------------- asynchronous work in groups */

static uint32_t work_agent(struct races *r, const struct warp *w, enum race_unit unit)
{
    static const enum agent_kind kind[RACE_UNITS] = { AGENT_CP_ASYNC, AGENT_BULK, AGENT_WGMMA, AGENT_TCGEN05 };
    uint32_t index = unit == RACE_WGMMA ? w->id & ~3u : w->id;          /* a warpgroup works as one */
    struct racer *me = &r->warp[w->cta->cluster_rank * r->nwarp + index];
    if (!me->work[unit])
        me->work[unit] = race_new_agent(r, kind[unit], w->cta->cluster_rank, index);
    return me->work[unit];
}

/* The epoch of a group that comes after so many. */
static uint32_t work_epoch(struct races *r, uint32_t agent, uint32_t group)
{
    struct race_agent *a = &r->agent[agent];
    a->latest = group > a->latest ? group : a->latest;
    r->full |= group + 1 - a->base >= TIMES - 2;
    return group + 1 - a->base;
}

static void set_done(struct races *r, struct race_clock *c, uint32_t agent, uint32_t groups)
{
    if (groups > r->agent[agent].base)
        clock_set(c, agent, groups - r->agent[agent].base);
}

void race_work_done(struct warp *w, enum race_unit unit, uint32_t groups)
{
    struct races *r = watched(w->cta);
    if (r)
        set_done(r, &racer_of(r, w)->now, work_agent(r, w, unit), groups);
}

void race_work_arrive(struct warp *w, enum race_unit unit, uint32_t groups, struct race_point *p)
{
    struct races *r = watched_at(w->cta, p);
    if (r)
        set_done(r, &p->arrived, work_agent(r, w, unit), groups);
}

uint32_t race_commits(const struct warp *w)
{
    struct races *r = watched(w->cta);
    return r ? racer_of(r, w)->commits : 0;
}

/* The operations were ordered behind what their thread had seen: so is who hears of their end. */
void race_commit(struct warp *w, const struct instr *in, struct race_point *p)
{
    struct races *r = watched_at(w->cta, p);
    if (!r)
        return;
    struct racer *me = racer_of(r, w);
    uint32_t agent = work_agent(r, w, RACE_TCGEN05), epoch = work_epoch(r, agent, me->commits++);
    clock_set(&p->arrived, agent, epoch);
    race_release(me, &p->arrived, false);
    if (p->cta != w->cta)
        race_visit(shadow_of(r, p->cta), agent, (struct race_visit){ epoch, in->site, true }, true);
}

struct race_mark race_mark(struct warp *w, bool work)
{
    struct races *r = watched(w->cta);
    if (!r)
        return (struct race_mark){ 0, 0, 0 };
    struct racer *me = racer_of(r, w);
    uint32_t agent = work ? work_agent(r, w, RACE_TCGEN05) : me->agent;
    if (work)
        return (struct race_mark){ agent, work_epoch(r, agent, me->commits), r->generation };
    race_raise(r, me);
    return (struct race_mark){ agent, clock_v(&me->now, agent), r->generation };
}

bool race_after(struct warp *w, struct race_mark m)
{
    struct races *r = watched(w->cta);
    return !r || m.generation != r->generation || clock_v(&racer_of(r, w)->now, m.agent) >= m.epoch;
}

/* ---------------------------------------------------------------- asynchronous accesses */

bool race_copies(struct warp *w, const struct instr *in, uint32_t mask, const struct reach *a, uint32_t size, uint32_t group)
{
    struct races *r = watched(w->cta);
    if (!r)
        return true;
    uint32_t agent = work_agent(r, w, RACE_CP_ASYNC);
    struct race_access x = { .s = shadow_of(r, w->cta), .w = w, .in = in, .clock = &racer_of(r, w)->now, .write = true,
                             .agent = agent, .epoch = work_epoch(r, agent, group), .exact = true };
    race_begin(&x);
    return race_places(&x, a->at, (uintptr_t)w->cta->smem, mask, size);
}

bool race_work(struct warp *w, const struct instr *in, int lane, enum race_unit unit, uint32_t group, struct cta *owner,
               uint32_t at, uint32_t bytes, bool write)
{
    struct races *r = watched(w->cta);
    if (!r)
        return true;
    uint32_t agent = work_agent(r, w, unit);
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &racer_of(r, w)->now,
                             .agent = agent, .epoch = work_epoch(r, agent, group), .write = write, .async = true, .exact = true };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

bool race_copy_in(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes,
                  struct race_point *p, bool async)
{
    struct races *r = watched_at(w->cta, p);
    if (!r)
        return true;
    if (!p->agent)
        p->agent = race_new_agent(r, AGENT_MBARRIER, p->cta->cluster_rank, p->at);
    p->flying++;
    r->full |= p->copies + 1 >= TIMES - 2;
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = lane, .clock = &racer_of(r, w)->now,
                             .agent = p->agent, .epoch = ++p->copies, .write = true, .async = async, .exact = true };
    race_begin(&x);
    return race_range(&x, offset_in(owner, at), bytes);
}

bool race_copy_out(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes,
                   struct race_point *p)
{
    struct races *r = watched_at(w->cta, p);
    if (!r || !p->agent)
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
    uint32_t agent = work_agent(r, w, unit);
    struct race_access x = { .s = shadow_of(r, owner), .w = w, .in = in, .lane = -1,
                             .clock = common ? common : &racer_of(r, w)->now, .agent = agent,
                             .epoch = work_epoch(r, agent, group), .async = true, .exact = true };
    race_begin(&x);
    return race_chunks(&x, chunk, owner->memory->smem_reserved, n);
}
