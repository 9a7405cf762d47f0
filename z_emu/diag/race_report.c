/* race_report.c: two accesses to shared memory that are not ordered: who did what, where, and what would order them. */
#include "diag.h"
#include "../core/race.h"

static const char *proxy_of(const struct races *r, uint32_t agent)
{
    enum agent_kind k = (enum agent_kind)r->agent[agent].kind;
    return k == AGENT_WARP || k == AGENT_CP_ASYNC ? "generic" : "async";
}

/* "warp 3 of CTA (1,0,0)". A copy onto an mbarrier is known by that, not by who issued it. */
static void who_text(const struct races *r, uint32_t agent, char *buf, size_t len)
{
    const struct race_agent *a = &r->agent[agent];
    const uint32_t *id = r->shadow[a->rank].cta->id;
    switch ((enum agent_kind)a->kind) {
    case AGENT_WARP:
        snprintf(buf, len, "warp %u of CTA (%u,%u,%u)", a->index, id[0], id[1], id[2]);
        break;
    case AGENT_CP_ASYNC:
        snprintf(buf, len, "a cp.async of warp %u of CTA (%u,%u,%u)", a->index, id[0], id[1], id[2]);
        break;
    case AGENT_BULK:
        snprintf(buf, len, "a bulk store of warp %u of CTA (%u,%u,%u)", a->index, id[0], id[1], id[2]);
        break;
    case AGENT_WGMMA:
        snprintf(buf, len, "a wgmma of warps %u-%u of CTA (%u,%u,%u)", a->index, a->index + 3, id[0], id[1], id[2]);
        break;
    case AGENT_TCGEN05:
        snprintf(buf, len, "a tcgen05 instruction of warp %u of CTA (%u,%u,%u)", a->index, id[0], id[1], id[2]);
        break;
    case AGENT_MBARRIER:
        snprintf(buf, len, "the copy that completes on mbarrier 0x%x of CTA (%u,%u,%u)", a->index, id[0], id[1], id[2]);
        break;
    }
}

/* Ordered, but the async proxy has not been told. */
static bool lacks_fence(const struct race_access *x, const struct race_other *o)
{
    enum agent_kind k = (enum agent_kind)x->s->races->agent[o->agent].kind;
    return x->async && o->write && (k == AGENT_WARP || k == AGENT_CP_ASYNC) && o->epoch <= clock_v(x->clock, o->agent);
}

static bool is_mbarrier(const struct instr *in)
{
    return in && in->op >= OP_MBARRIER_INIT && in->op <= OP_MBARRIER_INVAL;
}

/* What would order them, judged by the one that came first. */
static const char *hint(const struct race_access *x, const struct race_other *o, const struct instr *first)
{
    const struct race_agent *a = &x->s->races->agent[o->agent];
    bool remote = a->rank != x->w->cta->cluster_rank;
    if (lacks_fence(x, o))
        return "whoever wrote executes fence.proxy.async after it, before the barrier that lets the asynchronous unit start";
    if (is_mbarrier(first) && o->write)
        return remote ? "after mbarrier.init: fence.mbarrier_init, then the cluster's barrier, before another CTA uses it"
                      : "after mbarrier.init: __syncthreads() before another warp uses it";
    if (x->write && x->async && (a->kind == AGENT_WARP || a->kind == AGENT_MBARRIER))
        return "who refills waits until those who read, in every CTA that it writes to, have said so at a barrier (the stage's "
               "\"empty\" mbarrier)";
    switch ((enum agent_kind)a->kind) {
    case AGENT_CP_ASYNC:
        return "the warp that copies waits with cp.async.wait_group, then a barrier tells the others";
    case AGENT_BULK:
        return "the thread that stores commits its group and executes cp.async.bulk.wait_group.read before the memory is used "
               "again, and a barrier tells the other warps";
    case AGENT_WGMMA:
        return "wait for the multiplication with wgmma.wait_group before the memory is given away, and say so through a barrier";
    case AGENT_TCGEN05:
        return "tcgen05.commit to an mbarrier and wait for it before the memory is used";
    case AGENT_MBARRIER:
        if (clock_v(x->clock, o->agent))
            return "either this waits too little: for the phase of the mbarrier that the copy completes on, whose expect_tx counts all "
                   "bytes; or the copy was begun too early, before what was there had been read (the stage's \"empty\" mbarrier)";
        return "wait for the phase of the mbarrier that the copy completes on, and let its expect_tx count all bytes";
    case AGENT_WARP:
        break;
    }
    return remote ? "the cluster's barrier, or an mbarrier, between the two" : "__syncthreads(), or another barrier that both warps take part in, between the two";
}

bool race_report(const struct race_access *x, const struct race_other *o)
{
    const struct races *r = x->s->races;
    const struct instr *first = race_site_instr(r->launch, o->site);
    const uint32_t *id = x->s->cta->id;
    char who[120], what[700];
    who_text(r, o->agent, who, sizeof who);
    uint32_t at = o->at + gpu_device(r->launch->gpu)->smem_reserved;
    snprintf(what, sizeof what, "it %s shared memory at 0x%x of CTA (%u,%u,%u) through the %s proxy. %s %s it through the %s proxy, and %s%s",
             x->write ? "writes" : "reads", at, id[0], id[1], id[2], x->async ? "async" : "generic", who,
             o->write ? "wrote" : "read", proxy_of(r, o->agent),
             lacks_fence(x, o) ? "no proxy fence (fence.proxy.async) stands between them" : "nothing orders the two",
             first ? ":" : " (its place in the program is not known)");
    what[sizeof what - 1] = 0;
    fault_between(x->w, x->in, x->lane, FAULT_RACE, what, first, hint(x, o, first));
    return false;
}

void race_exit_early(struct warp *w, const struct instr *in, int lane, const struct instr *store)
{
    fault_between(w, in, lane, FAULT_RACE, "the thread exits, and its store may not have read shared memory yet, which then belongs to others:",
                  store, "the thread that stores commits its group and executes cp.async.bulk.wait_group.read 0 before it exits");
}

/* Two grids of which one may begin before the other has ended (core/overlap.c). */
void report_overlap(struct warp *w, const struct instr *in, int lane, bool dependent, bool writes, const char *place,
                    const char *other_kernel, bool wrote, const struct instr *other)
{
    char what[700];
    if (dependent)
        snprintf(what, sizeof what, "it %s %s, before its griddepcontrol.wait. Kernel %s, on which it depends, %s them, and nothing orders "
                 "the two:", writes ? "writes" : "reads", place, other_kernel, wrote ? "wrote" : "read");
    else
        snprintf(what, sizeof what, "it %s %s. Kernel %s, which depends on this one and may begin before its end, %s them before its "
                 "griddepcontrol.wait, and nothing orders the two:", writes ? "writes" : "reads", place, other_kernel,
                 wrote ? "wrote" : "read");
    what[sizeof what - 1] = 0;
    fault_between(w, in, lane, FAULT_DEPENDENCE, what, other,
                  "the dependent kernel executes griddepcontrol.wait (cudaGridDependencySynchronize) before it touches what the one in "
                  "front of it writes, and before it writes what that one touches");
}

bool race_report_exit(struct warp *w, const struct instr *in, int lane, const struct races *r, uint32_t agent,
                      const struct race_visit *v, bool arrival)
{
    char who[120], what[400];
    who_text(r, agent, who, sizeof who);
    const bool work = r->agent[agent].kind != AGENT_WARP;
    const struct instr *first = race_site_instr(r->launch, v->site);
    snprintf(what, sizeof what, "with this thread the CTA exits, and its shared memory is gone. %s %s, and nothing says that this is "
             "over%s", who, arrival ? "arrives at an mbarrier there" : v->write ? "writes it" : "reads it",
             first ? ":" : " (its place in the program is not known)");
    fault_between(w, in, lane, FAULT_RACE, what, first,
                  work ? "before the CTA exits, a thread of it waits for the mbarrier, or the groups, by which the end of this is known"
                       : "the cluster's barrier, or an mbarrier that the other CTA arrives at behind this, before the CTA exits");
    return false;
}
