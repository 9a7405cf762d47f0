/* dependents.c: griddepcontrol: grids that start before the ones that they depend on have ended.
 *
 * Modelled: a grid lets its dependents start when each of its CTAs has executed .launch_dependents or exited; .wait sleeps
 * until every prerequisite grid is complete, everything that it began included. Which grids depend on which the runtime
 * says (cuda/dispatch.c). A grid counts as complete for .wait only when those in front of it are, too.
 * PTX ISA: "Parallel Synchronization and Communication Instructions: griddepcontrol". */
#include "core.h"

/* One more of the CTAs has let the dependents go. When it was the last, whoever runs the gpu looks for them. */
void cta_released(struct cta *c, uint64_t now, bool asked)
{
    struct launch *l = c->launch;
    struct gpu *g = l->gpu;
    if (c->released)
        return;
    c->released = true;
    pthread_mutex_lock(&g->lock);
    l->asked |= asked;
    l->trigger_cycle = now > l->trigger_cycle ? now : l->trigger_cycle;
    if (++l->released == l->clusters * c->ncluster && l->asked) {
        l->triggered = true;
        g->stop = true;
    }
    pthread_mutex_unlock(&g->lock);
}

/* Launch `l` is complete. The gpu's lock is held. Counted before, so that nobody takes a grid that has just lost its last
 * prerequisite for one that hangs, and after, so that everybody wakes. */
void prerequisite_done(struct gpu *g, const struct launch *l)
{
    atomic_fetch_add(&g->completions, 1);
    for (struct launch *x = g->launches; x; x = x->next)
        for (uint32_t i = 0; i < x->nprerequisites; i++)
            if (x->prerequisite[i] == l) {
                x->prerequisite[i] = x->prerequisite[x->nprerequisites - 1];
                __atomic_store_n(&x->nprerequisites, x->nprerequisites - 1, __ATOMIC_RELEASE);
                break;
            }
    atomic_fetch_add(&g->completions, 1);
}

/* Those of l's prerequisites that are complete already are none. The lock is held. */
void prerequisites_begin(struct launch *l)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->nprerequisites; i++) {
        struct launch *p = l->prerequisite[i];
        if (p->done)
            continue;
        l->prerequisite[kept++] = p;
        l->start_cycle = p->trigger_cycle > l->start_cycle ? p->trigger_cycle : l->start_cycle;
    }
    l->nprerequisites = kept;
}

/* Splits that wait for a grid look again when one has ended since the last time. */
void wake_dependents(struct worker *k)
{
    uint64_t seen = atomic_load(&k->gpu->completions);
    if (seen == k->completions)
        return;
    k->completions = seen;
    pthread_mutex_lock(&k->gpu->lock);
    uint64_t now = k->gpu->clock;
    pthread_mutex_unlock(&k->gpu->lock);
    for (uint32_t i = 0; i < k->nsms; i++)
        for (uint32_t j = 0; k->sm[i]->nctas && j < MAX_CTAS; j++) {
            struct cta *c = k->sm[i]->cta[j];
            if (c)
                split_wake(c, c->launch, now > k->sm[i]->now ? now : k->sm[i]->now);
        }
}

bool may_be_woken(const struct worker *k) { return atomic_load(&k->gpu->completions) != k->completions; }

bool waits_for_others(const struct launch *l)
{
    return __atomic_load_n(&l->nprerequisites, __ATOMIC_ACQUIRE) > 0;
}

static int launch_dependents(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    cta_released(w->cta, w->now, true);
    return X_NEXT;
}

static int grid_wait(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    struct launch *l = w->cta->launch;
    if (waits_for_others(l))
        return split_sleep(w, l, NEVER, "the kernels in front of it to end");
    overlap_waited(w);
    return X_NEXT;
}

exec_fn *pick_GRID_LAUNCH_DEPENDENTS(struct instr *in) { return (void)in, launch_dependents; }
exec_fn *pick_GRID_WAIT(struct instr *in) { return (void)in, grid_wait; }
