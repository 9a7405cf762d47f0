/* core/race_exit.c: a CTA's shared memory goes with its last thread. Who else uses it, a warp of another CTA or the hardware, is
 * to be done by then, and the CTA must know: what was used last by each is held against what its threads are ordered after.
 *
 * A relaxed arrival orders nothing of what stands before it, but itself it has been seen; so for arrivals at mbarriers more
 * counts than for accesses: what any wait, relaxed or not, has shown to be over.
 * PTX ISA: "Shared State Space", "mapa", "barrier.cluster". */
#include "race.h"

#include <stdlib.h>
#include <string.h>

static void *more(void *old, size_t had, size_t bytes)
{
    char *p = realloc(old, bytes);
    if (!p)
        abort();
    memset(p + had, 0, bytes - had);
    return p;
}

void race_visit(struct shadow *s, uint32_t agent, struct race_visit v, bool arrival)
{
    if (agent >= s->nvisits) {
        uint32_t n = (agent + 16) / 16 * 16;
        s->access = more(s->access, s->nvisits * sizeof v, n * sizeof v);
        s->arrival = more(s->arrival, s->nvisits * sizeof v, n * sizeof v);
        s->nvisits = n;
    }
    (arrival ? s->arrival : s->access)[agent] = v;
}

static bool are_last(const struct warp *w, uint32_t lanes)
{
    const struct cta *c = w->cta;
    for (uint32_t i = 0; i < c->nwarp; i++)
        if (warp_live(&c->warp[i]) & ~(i == w->id ? lanes : 0))
            return false;
    return true;
}

/* Copies by threads and bulk stores end by themselves, and who exits before his bulk store is told so elsewhere. */
static bool may_outlive(const struct races *r, const struct cta *c, uint32_t agent)
{
    const struct race_agent *a = &r->agent[agent];
    return a->rank != c->cluster_rank || a->kind == AGENT_MBARRIER || a->kind == AGENT_WGMMA || a->kind == AGENT_TCGEN05;
}

static bool all_over(struct warp *w, const struct instr *in, int lane, const struct race_clock *end)
{
    const struct races *r = w->cta->races;
    const struct shadow *s = &r->shadow[w->cta->cluster_rank];
    for (uint32_t i = 0; i < s->nvisits; i++) {
        if (s->access[i].epoch > clock_v(end, i) && may_outlive(r, w->cta, i))
            return race_report_exit(w, in, lane, r, i, &s->access[i], false);
        if (s->arrival[i].epoch > clock_v(end, i) && s->arrival[i].epoch > clock_v(&s->observed, i))
            return race_report_exit(w, in, lane, r, i, &s->arrival[i], true);
    }
    return true;
}

bool race_exit_cta(struct warp *w, const struct instr *in, uint32_t lanes)
{
    struct cta *c = w->cta;
    struct races *r = c->races;
    if (!r || r->off || !r->shadow[c->cluster_rank].nvisits || !are_last(w, lanes))
        return true;
    struct race_clock end = { 0 };
    for (uint32_t i = 0; i < c->nwarp; i++) {
        const struct racer *me = &r->warp[c->cluster_rank * r->nwarp + i];
        clock_join(&end, &me->now);
        clock_join(&end, &me->relaxed);
    }
    bool ok = all_over(w, in, __builtin_ctz(lanes), &end);
    clock_free(&end);
    return ok;
}
