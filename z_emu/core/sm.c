/* sm.c: one streaming multiprocessor. A discrete-event loop: of the next event and the warp that can
 * issue first, the earlier one happens. A warp then runs for a quantum on its sub-core, whose other
 * warps wait that long. Also here: CTAs coming and going. */
#include "core.h"
#include "../unit/mbarrier.h"
#include "../unit/setmaxnreg.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- resources */

uint32_t cta_warps(const struct launch *l)
{
    return (l->block[0] * l->block[1] * l->block[2] + WARP - 1) / WARP;
}

/* Shared memory as the chip accounts for it: what the kernel names, plus the system's share, in steps of 128. */
uint32_t cta_smem(const struct gpu *g, const struct func *f, uint32_t dyn_smem)
{
    return (f->shared_bytes + dyn_smem + g->device->smem_reserved + 127) / 128 * 128;
}

/* Registers are handed out per warp, in steps of 256. */
uint32_t cta_regs(const struct func *f, uint32_t threads)
{
    uint32_t regs = f->regs ? f->regs : 32;
    return (threads + WARP - 1) / WARP * ((regs * WARP + 255) / 256 * 256);
}

bool sm_has_room(const struct sm *sm, const struct launch *l)
{
    const struct device *d = sm->gpu->device;
    uint32_t warps = cta_warps(l);
    return sm->nctas < d->ctas_per_sm && sm->threads + warps * WARP <= d->threads_per_sm &&
           sm->regs + cta_regs(l->func, warps * WARP) <= d->regs_per_sm &&
           sm->smem + cta_smem(sm->gpu, l->func, l->dyn_smem) <= d->smem_per_sm;
}

static void account(struct sm *sm, const struct cta *c, bool in)
{
    const struct launch *l = c->launch;
    uint32_t threads = c->nwarp * WARP, sign = in ? 1 : UINT32_MAX;
    sm->nctas += sign;
    sm->nwarps += sign * c->nwarp;
    sm->threads += sign * threads;
    sm->regs += sign * cta_regs(l->func, threads);
    sm->smem += sign * cta_smem(sm->gpu, l->func, l->dyn_smem);
    if (c->ncluster > 1)
        sm->nclustered += sign;
}

/* ---------------------------------------------------------------- CTAs */

void cluster_origin(const struct launch *l, uint64_t cluster, uint32_t id[3])
{
    uint32_t nx = l->grid[0] / l->cluster[0], ny = l->grid[1] / l->cluster[1];
    uint32_t at[3] = { (uint32_t)(cluster % nx), (uint32_t)(cluster / nx % ny), (uint32_t)(cluster / nx / ny) };
    for (int i = 0; i < 3; i++)
        id[i] = at[i] * l->cluster[i];
}

static void place_id(struct cta *c, uint64_t cluster)
{
    const struct launch *l = c->launch;
    uint32_t rank = c->cluster_rank, inside[3] = { rank % l->cluster[0], rank / l->cluster[0] % l->cluster[1],
                                                   rank / l->cluster[0] / l->cluster[1] };
    cluster_origin(l, cluster, c->id);
    for (int i = 0; i < 3; i++)
        c->id[i] += inside[i];
    c->linear = c->id[0] + (uint64_t)l->grid[0] * (c->id[1] + (uint64_t)l->grid[1] * c->id[2]);
}

static void *must_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p)
        abort();
    return p;
}

static void alloc_memory(struct cta *c)
{
    const struct launch *l = c->launch;
    c->smem_bytes = l->func->shared_bytes + l->dyn_smem;
    c->smem = must_alloc(c->smem_bytes + 16);
    c->smem_init = must_alloc(c->smem_bytes + 16);
    c->local_bytes = (func_stack(l->gpu, l->func) + 15) / 16 * 16;
    size_t local = (size_t)c->local_bytes * c->nwarp * WARP;
    c->local = must_alloc(local + 16);
    c->local_init = must_alloc(local + 16);
    mem_poison_cta(c);
    race_cta(c);
}

static void place_warps(struct cta *c)
{
    struct sm *sm = c->sm;
    uint32_t threads = c->launch->block[0] * c->launch->block[1] * c->launch->block[2], slot = 0;
    for (uint32_t i = 0; i < c->nwarp; i++) {
        while (sm->warp[slot])
            slot++;
        uint32_t lanes = threads - i * WARP;
        struct warp *w = &c->warp[i];
        w->slot = slot;
        sm->warp[slot] = w;
        warp_start(w, c, i, lanes >= WARP ? UINT32_MAX : (1u << lanes) - 1);
        sm->key[slot] = latency(c, 1) + sm->now;        /* a seed staggers the start */
    }
}

struct cta *cta_new(struct sm *sm, struct launch *l, struct cluster *group, uint32_t rank, uint64_t cluster)
{
    struct cta *c = must_alloc(sizeof *c);
    c->launch = l;
    c->sm = sm;
    c->memory = sm->gpu->memory;
    c->group = group;
    c->cluster = group->cta;
    c->ncluster = group->n;
    c->cluster_rank = rank;
    c->nwarp = c->live_warps = cta_warps(l);
    for (int i = 0; i < 16; i++)
        c->barrier[i].red_and = 1;
    place_id(c, cluster);
    c->warp = must_alloc(c->nwarp * sizeof *c->warp);
    alloc_memory(c);
    account(sm, c, true);
    uint32_t at = 0;
    while (sm->cta[at])
        at++;
    sm->cta[at] = c;
    place_warps(c);
    return c;
}

/* Its warps leave the SM; its memory stays for peers and for what is under way. */
void cta_exit(struct cta *c)
{
    struct sm *sm = c->sm;
    c->over = true;
    cta_released(c, sm->now, false);
    tmem_exit(c);
    for (uint32_t i = 0; i < c->nwarp; i++) {
        struct warp *w = &c->warp[i];
        sm->warp[w->slot] = NULL;
        sm->key[w->slot] = NEVER;
        __atomic_fetch_add(&c->launch->thread_instrs, w->executed, __ATOMIC_RELAXED);
        __atomic_fetch_add(&c->launch->warp_instrs, w->issued, __ATOMIC_RELAXED);
        warp_free(w);
    }
    for (uint32_t i = 0; i < MAX_CTAS; i++)
        if (sm->cta[i] == c)
            sm->cta[i] = NULL;
    account(sm, c, false);
    sm->vacated = true;
    if (--c->group->live == 0)
        cluster_finished(sm->worker, c->group);
}

void cta_free(struct cta *c)
{
    free(c->smem);
    free(c->smem_init);
    free(c->local);
    free(c->local_init);
    for (uint32_t i = 0; i < c->nwarp; i++)
        cp_async_close(&c->warp[i]), bulk_close(&c->warp[i]), held_free(&c->warp[i]);
    mbarriers_close(c);
    wgmma_close(c);
    registers_close(c);
    tcgen05_close(c);
    free(c->warp);
    free(c);
}

void sm_kill(struct sm *sm, struct launch *l)
{
    for (uint32_t i = 0; i < MAX_CTAS; i++)
        if (sm->cta[i] && sm->cta[i]->launch == l)
            cta_exit(sm->cta[i]);
}

/* ---------------------------------------------------------------- the loop */

/* The slot that can issue first, and the cycle. Of several, the one that has been ready for longest; of those
 * the lowest, or as the seed has it. */
static uint32_t pick_warp(struct sm *sm, uint64_t *when)
{
    uint64_t start[MAX_WARPS], best = NEVER, oldest = NEVER;
    uint32_t pick = 0, first = sm->random ? (uint32_t)random_next(&sm->random) % MAX_WARPS : 0;
    for (uint32_t i = 0; i < MAX_WARPS; i++) {
        uint64_t issue = sm->issue_free[i % SUBCORES];
        start[i] = sm->key[i] > issue ? sm->key[i] : issue;
        best = start[i] < best ? start[i] : best;
    }
    for (uint32_t i = 0; i < MAX_WARPS; i++) {
        uint32_t slot = (i + first) % MAX_WARPS;
        if (start[slot] == best && sm->key[slot] < oldest) {
            oldest = sm->key[slot];
            pick = slot;
        }
    }
    *when = best;
    return pick;
}

/* A seed makes quanta and turns short or long. */
static uint64_t around(struct sm *sm, uint64_t cycles)
{
    return sm->random ? 1 + random_next(&sm->random) % (2 * cycles) : cycles;
}

static void run_warp(struct sm *sm, uint32_t slot, uint64_t when, uint64_t until)
{
    struct warp *w = sm->warp[slot];
    struct cta *c = w->cta;
    uint64_t ready = sm->key[slot], limit = when + around(sm, QUANTUM);
    if (w->now < when)
        w->now = when;
    if (w->turn != ready) {
        w->turn = ready;
        w->turn_end = when + around(sm, TURN);
    }
    warp_run(w, limit < until ? limit : until);
    sm->issue_free[slot % SUBCORES] = w->now;
    /* while its turn lasts it keeps its place in the order; its registers are in the host's nearest cache */
    uint64_t next = warp_key(w);
    sm->key[slot] = next <= w->now && w->now < w->turn_end ? ready : next;
    if (c->launch->fault)
        sm_kill(sm, c->launch);
    else if (!w->splits && --c->live_warps == 0)
        cta_exit(c);
}

void sm_run(struct sm *sm, uint64_t until)
{
    for (;;) {
        uint64_t start, due = events_due(sm);
        uint32_t slot = pick_warp(sm, &start);
        uint64_t next = due <= start ? due : start;
        if (next >= until)
            break;
        if (sm->now < next)
            sm->now = next;
        if (due <= start)
            events_run(sm);
        else
            run_warp(sm, slot, start, due < until ? due : until);
        if (sm->vacated)
            worker_dispatch(sm->worker);
    }
    if (sm->now < until)
        sm->now = until;
}

bool sm_blocked(const struct sm *sm)
{
    if (sm->events.n)
        return false;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        if (sm->key[i] != NEVER)
            return false;
    return true;
}
