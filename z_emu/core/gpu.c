/* gpu.c: the whole chip. Its SMs are shared out among host threads (EMU_JOBS); a thread takes clusters
 * from the started launches while its SMs have room, and visits its SMs round robin, a slice of the
 * virtual clock each. Nothing moves outside gpu_run, and with one host thread everything happens on the
 * caller's, in an order that only EMU_SEED changes. */
#define _GNU_SOURCE      /* sched_getaffinity */
#include "core.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- one round of a host thread */

/* The earliest cycle at which something can happen on its SMs; NEVER: nothing can. */
static uint64_t next_cycle(const struct worker *k)
{
    uint64_t next = NEVER;
    for (uint32_t i = 0; i < k->nsms; i++) {
        const struct sm *sm = k->sm[i];
        uint64_t due = events_due(sm);
        next = due < next ? due : next;
        for (uint32_t slot = 0; sm->nwarps && slot < MAX_WARPS; slot++)
            next = sm->key[slot] < next ? sm->key[slot] : next;
    }
    return next;
}

static void kill_faulted(struct worker *k)
{
    for (uint32_t i = 0; i < k->nsms; i++)
        for (uint32_t j = 0; k->sm[i]->nctas && j < MAX_CTAS; j++)
            if (k->sm[i]->cta[j] && k->sm[i]->cta[j]->launch->fault)
                sm_kill(k->sm[i], k->sm[i]->cta[j]->launch);
}

/* Nothing can run, nothing is under way: whoever is resident here waits for ever, unless it is for another grid. False:
 * they all do. */
static bool report_hang(struct worker *k)
{
    bool any = false;
    for (uint32_t i = 0; i < k->nsms; i++)
        for (uint32_t j = 0; j < MAX_CTAS; j++) {
            struct launch *l = k->sm[i]->cta[j] ? k->sm[i]->cta[j]->launch : NULL;
            if (!l || l->fault || waits_for_others(l) || may_be_woken(k))
                continue;
            ledger_print(l, k->sm, k->nsms);
            any = true;
        }
    kill_faulted(k);
    return any;
}

/* Its CTAs wait for grids that other host threads run. */
static void idle(struct worker *k)
{
    atomic_store(&k->clock, FAR);
    nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

static void round_of(struct worker *k)
{
    uint64_t slice = SLICE, next = next_cycle(k);
    if (next == NEVER) {
        if (!report_hang(k))
            idle(k);
        return;
    }
    if (k->now < next)
        k->now = next;
    for (uint32_t i = 0; i < k->nsms; i++)
        if (k->sm[i]->nclustered)
            slice = CLUSTER_SLICE;
    for (uint32_t i = 0; i < k->nsms; i++)
        if (k->sm[i]->nctas || k->sm[i]->events.n)
            sm_run(k->sm[i], k->now + slice);
    k->now += slice;
}

/* ---------------------------------------------------------------- clusters come and go */

/* Clusters of `l` that this host thread may hold: its SMs' share of what is unfinished. */
static bool beyond_share(const struct worker *k, const struct launch *l)
{
    uint64_t unfinished = l->clusters - l->finished, sms = k->gpu->device->sms;
    return !l->open && l->held[k - k->gpu->worker] >= (unfinished * k->nsms + sms - 1) / sms;
}

static struct launch *next_launch(struct gpu *g)
{
    struct launch *l = g->launches;
    while (l && (l->dispatched == l->clusters || l->fault))
        l = l->next;
    return l;
}

/* The SM for the next CTA: of those with room, the one with the fewest threads. `n` of them in `taken`
 * are already promised to the same cluster. */
static struct sm *emptiest(const struct worker *k, const struct launch *l, struct sm **taken, uint32_t n)
{
    struct sm *best = NULL;
    uint32_t least = UINT32_MAX, warps = cta_warps(l);
    for (uint32_t i = 0; i < k->nsms; i++) {
        struct sm *sm = k->sm[i];
        struct sm after = { .gpu = sm->gpu, .nctas = sm->nctas, .threads = sm->threads,
                            .regs = sm->regs, .smem = sm->smem };
        for (uint32_t j = 0; j < n; j++)
            if (taken[j] == sm) {
                after.nctas++;
                after.threads += warps * WARP;
                after.regs += cta_regs(l->func, warps * WARP);
                after.smem += cta_smem(sm->gpu, l->func, l->dyn_smem);
            }
        if (after.threads < least && sm_has_room(&after, l)) {
            least = after.threads;
            best = sm;
        }
    }
    return best;
}

/* Takes the next cluster's index when there is room for all of it; the SMs are then in `sm`. */
static struct launch *take_cluster(struct worker *k, struct sm **sm, uint64_t *index)
{
    struct gpu *g = k->gpu;
    pthread_mutex_lock(&g->lock);
    struct launch *l = next_launch(g);
    if (l && beyond_share(k, l))
        l = NULL;
    for (uint32_t i = 0, n = l ? l->cluster[0] * l->cluster[1] * l->cluster[2] : 0; l && i < n; i++)
        if (!(sm[i] = emptiest(k, l, sm, i))) {
            l->open = true;
            l = NULL;
        }
    if (l)
        *index = l->dispatched++;
    pthread_mutex_unlock(&g->lock);
    return l;
}

static void place_cluster(struct worker *k, struct launch *l, struct sm **sm, uint64_t index)
{
    struct cluster *group = calloc(1, sizeof *group);
    if (!group)
        abort();
    group->launch = l;
    group->n = group->live = l->cluster[0] * l->cluster[1] * l->cluster[2];
    race_open(group, cta_warps(l), l->func->shared_bytes + l->dyn_smem);
    k->resident++;
    l->held[k - k->gpu->worker]++;
    for (uint32_t i = 0; i < group->n; i++) {
        uint64_t from = k->now > l->start_cycle ? k->now : l->start_cycle;
        if (sm[i]->now < from)
            sm[i]->now = from;
        group->cta[i] = cta_new(sm[i], l, group, i, index);
    }
}

void worker_dispatch(struct worker *k)
{
    struct sm *sm[MAX_CLUSTER];
    struct launch *l;
    uint64_t index;
    for (uint32_t i = 0; i < k->nsms; i++)
        k->sm[i]->vacated = false;
    while ((l = take_cluster(k, sm, &index)))
        place_cluster(k, l, sm, index);
}

static void launch_done(struct gpu *g, struct launch *l)
{
    l->done = true;
    prerequisite_done(g, l);
    l->cycles = g->clock - l->start_cycle;
    l->seconds = host_seconds() - l->start_seconds;
    g->stop = true;
    char name[256];
    if (g->stats)
        say("%s: %llu thread-instructions, %.3f s, %.3g per second, %llu modelled cycles",
            plain_name(l->func->name, name, sizeof name), (unsigned long long)l->thread_instrs, l->seconds,
            (double)l->thread_instrs / (l->seconds + 1e-9), (unsigned long long)l->cycles);
}

/* A launch that has come to its end. Those that its fault cancelled before they had a CTA have, too. */
static void end_launch(struct gpu *g, struct launch *l)
{
    launch_done(g, l);
    for (struct launch *x = g->launches; x; x = x->next)
        if (x->fault == FAULT_CANCELLED && !x->done && x->finished == x->dispatched)
            launch_done(g, x);
}

/* False while something that one of its CTAs started is still under way. */
static bool cluster_free(struct worker *k, struct cluster *group)
{
    struct gpu *g = k->gpu;
    struct launch *l = group->launch;
    uint64_t end = 0;
    for (uint32_t i = 0; i < group->n; i++) {
        if (group->cta[i]->events)
            return false;
        end = group->cta[i]->sm->now > end ? group->cta[i]->sm->now : end;
    }
    race_close(group);
    for (uint32_t i = 0; i < group->n; i++)
        cta_free(group->cta[i]);
    free(group);
    k->resident--;
    l->held[k - g->worker]--;
    pthread_mutex_lock(&g->lock);
    g->clock = end > g->clock ? end : g->clock;
    l->finished++;
    if (l->finished == (l->fault ? l->dispatched : l->clusters))
        end_launch(g, l);
    pthread_mutex_unlock(&g->lock);
    return true;
}

void cluster_finished(struct worker *k, struct cluster *group)
{
    if (cluster_free(k, group))
        return;
    group->next = k->dead;
    k->dead = group;
}

static void free_dead(struct worker *k)
{
    for (struct cluster **at = &k->dead; *at;) {
        struct cluster *group = *at, *next = group->next;
        if (cluster_free(k, group))
            *at = next;
        else
            at = &group->next;
    }
}

/* ---------------------------------------------------------------- host threads */

static bool work_left(struct gpu *g)
{
    pthread_mutex_lock(&g->lock);
    bool left = next_launch(g) != NULL;
    pthread_mutex_unlock(&g->lock);
    return left;
}

/* Is another host thread so far behind that this one should wait? Clocks may differ by WINDOW, so that who spins on
 * another SM's work does not run away from it. */
static bool ahead(const struct worker *k)
{
    for (uint32_t i = 0; i < k->gpu->njobs; i++)
        if (atomic_load(&k->gpu->worker[i].clock) + WINDOW < k->now)
            return true;
    return false;
}

/* One step of a host thread; false when it has nothing more to do. */
static bool worker_step(struct worker *k)
{
    kill_faulted(k);
    free_dead(k);
    wake_dependents(k);
    worker_dispatch(k);
    atomic_store(&k->clock, k->resident ? k->now : FAR);
    if (k->resident && ahead(k))
        sched_yield();
    else if (k->resident) {
        round_of(k);
        if (spin_hangs(k))
            report_hang(k);
    } else if (work_left(k->gpu))
        nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);    /* until another thread shares its share */
    else
        return false;
    return true;
}

static void worker_run(struct worker *k)
{
    pthread_mutex_lock(&k->gpu->lock);
    k->now = k->gpu->clock > k->now ? k->gpu->clock : k->now;
    pthread_mutex_unlock(&k->gpu->lock);
    while (!k->gpu->stop && worker_step(k))
        ;
    atomic_store(&k->clock, FAR);
}

static void *worker_main(void *arg)
{
    struct worker *k = arg;
    struct gpu *g = k->gpu;
    uint64_t seen = 0;
    pthread_mutex_lock(&g->lock);
    for (;;) {
        while (!g->quit && g->run == seen)
            pthread_cond_wait(&g->work, &g->lock);
        if (g->quit)
            break;
        seen = g->run;
        pthread_mutex_unlock(&g->lock);
        worker_run(k);
        pthread_mutex_lock(&g->lock);
        if (--g->busy == 0)
            pthread_cond_signal(&g->idle);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static uint32_t env_number(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && n <= UINT32_MAX)
        return (uint32_t)n;
    say("%s=%s: must be a whole number from 0 to %u; ignored", name, text, UINT32_MAX);
    return otherwise;
}

static uint32_t job_count(const struct device *d)
{
    cpu_set_t cpus;
    uint32_t n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? (uint32_t)CPU_COUNT(&cpus) : 1;
    n = env_number("EMU_JOBS", n);
    uint32_t most = d->sms / MAX_CLUSTER;       /* the largest cluster must fit on one thread's SMs */
    most = most > MAX_JOBS ? MAX_JOBS : most;
    return n < 1 ? 1 : n > most ? most : n;
}

static bool open_workers(struct gpu *g)
{
    g->njobs = job_count(g->device);
    g->sm = calloc(g->device->sms, sizeof *g->sm);
    g->worker = calloc(g->njobs, sizeof *g->worker);
    struct sm **order = calloc(g->device->sms, sizeof *order);
    if (!g->sm || !g->worker || !order)
        return false;
    for (uint32_t k = 0, n = 0; k < g->njobs; k++) {
        struct worker *w = &g->worker[k];
        *w = (struct worker){ .gpu = g, .id = k, .sm = order + n };
        for (uint32_t i = k; i < g->device->sms; i += g->njobs) {
            struct sm *sm = order[n++] = &g->sm[i];
            w->nsms++;
            *sm = (struct sm){ .gpu = g, .worker = w, .id = i };
            sm->random = g->seed ? g->seed * 0x9e3779b97f4a7c15u + i + 1 : 0;
            for (uint32_t slot = 0; slot < MAX_WARPS; slot++)
                sm->key[slot] = NEVER;
        }
        if (k && pthread_create(&w->thread, NULL, worker_main, w))
            return false;
    }
    return true;
}

struct gpu *gpu_open(const struct device *d)
{
    struct gpu *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->device = d;
    g->seed = env_number("EMU_SEED", 0);
    g->stats = (int)env_number("EMU_STATS", 0);
    g->races = env_number("EMU_RACES", 1) != 0;
    g->stack_limit = 1024;
    g->host_waits = true;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->work, NULL);
    pthread_cond_init(&g->idle, NULL);
    g->memory = mem_open(d);
    g->syscalls = syscalls_open();
    if (g->memory && g->syscalls && open_workers(g))
        return g;
    free(g);
    return NULL;
}

static void sm_close(struct sm *sm)
{
    while (sm->spare_frame) {
        struct frame *f = sm->spare_frame;
        sm->spare_frame = f->parent;
        free(f);
    }
    while (sm->spare_split) {
        struct split *s = sm->spare_split;
        sm->spare_split = s->next;
        free(s);
    }
    while (sm->spare_join) {
        struct join *j = sm->spare_join;
        sm->spare_join = j->outer;
        free(j);
    }
    free(sm->spare_rows);
    free(sm->events.heap);
    tmem_close(sm);
}

void gpu_close(struct gpu *g)
{
    pthread_mutex_lock(&g->lock);
    g->quit = true;
    pthread_cond_broadcast(&g->work);
    pthread_mutex_unlock(&g->lock);
    for (uint32_t k = 1; k < g->njobs; k++)
        pthread_join(g->worker[k].thread, NULL);
    for (uint32_t i = 0; i < g->device->sms; i++)
        sm_close(&g->sm[i]);
    syscalls_close(g->syscalls);
    mem_close(g->memory);
    free(g->worker[0].sm);
    free(g->worker);
    free(g->sm);
    free(g->module);
    free(g->code);
    free(g);
}

const struct device *gpu_device(const struct gpu *g) { return g->device; }
struct memory *gpu_memory(const struct gpu *g) { return g->memory; }

/* A launch that is done leaves the list. */
static struct launch *take_done(struct gpu *g)
{
    for (struct launch **at = &g->launches; *at; at = &(*at)->next)
        if ((*at)->done) {
            struct launch *l = *at;
            *at = l->next;
            return l;
        }
    return NULL;
}

/* Wakes the host threads, works along, waits until all have stopped. The lock is held outside. */
static void run_all(struct gpu *g)
{
    g->stop = false;
    g->run++;
    g->busy = g->njobs - 1;
    for (uint32_t k = 0; k < g->njobs; k++)
        atomic_store(&g->worker[k].clock, g->clock);
    pthread_cond_broadcast(&g->work);
    pthread_mutex_unlock(&g->lock);
    worker_run(&g->worker[0]);
    pthread_mutex_lock(&g->lock);
    while (g->busy)
        pthread_cond_wait(&g->idle, &g->lock);
}

struct launch *gpu_run(struct gpu *g)
{
    pthread_mutex_lock(&g->lock);
    struct launch *l = take_done(g);
    if (!l && g->launches && !g->interrupted) {
        run_all(g);
        l = take_done(g);
    }
    g->interrupted = false;
    pthread_mutex_unlock(&g->lock);
    return l;
}

void gpu_interrupt(struct gpu *g)
{
    pthread_mutex_lock(&g->lock);
    g->interrupted = true;
    g->stop = true;
    pthread_mutex_unlock(&g->lock);
}

void gpu_host_waits(struct gpu *g, bool waits)
{
    atomic_store(&g->host_waits, waits);
}

bool gpu_watches_races(const struct gpu *g) { return g->races; }
