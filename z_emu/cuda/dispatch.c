/* dispatch.c: one thread takes tasks from the streams and has them done.
 *
 * Nothing begins when it is queued. Work begins when the host waits for something, or when it has queued nothing for a
 * while: so a program with one host thread gets the same schedule each time it runs, however fast the machine is. What
 * may run side by side then does: the dispatcher starts all kernels that are ready, lets the gpu run until one ends,
 * and looks again.
 *
 * A task is ready when it heads its stream and, between the legacy default stream and the blocking streams, no older
 * task is unfinished on the other side. A kernel launched as a programmatic dependent is ready, too, when all kernels in
 * front of it run and have let their dependents start; they are then its prerequisites, for griddepcontrol.wait.
 *
 * Each stream also has a modelled time. A task begins at the latest time among its predecessors and ends its own
 * duration later: a kernel's cycles, a copy's bytes over the bus.
 */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SECONDS = 60 };     /* how long a program that ends is kept waiting for kernels that it did not wait for */
enum { QUEUE_LIMIT = 4096 };    /* tasks; a program that queues more than that is running, not preparing */
static const double LAUNCH_NS = 1240;           /* from one kernel's end to the next one's first instruction */

_Thread_local bool in_host_function;
static pthread_t thread;

static double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + t.tv_nsec * 1e-9;
}

/* How long the host may be busy elsewhere before its work begins. Long when the run shall be the same each time. */
static double patience(void)
{
    const char *jobs = getenv("EMU_JOBS");
    return jobs && !strcmp(jobs, "1") ? 0.5 : 0.02;
}

/* ---------------------------------------------------------------- what is ready? */

static bool wait_value_holds(const struct value_task *v)
{
    uint64_t now = 0;
    if (!mem_to_host(ctx.gpu, &now, v->addr, v->bytes))
        return true;
    switch (v->condition & 3) {
    case 0: return v->bytes == 4 ? (int32_t)(now - v->value) >= 0 : (int64_t)(now - v->value) >= 0;
    case 1: return now == v->value;
    case 2: return (now & v->value) != 0;
    default: return (~(now | v->value) & (v->bytes == 4 ? UINT32_MAX : UINT64_MAX)) != 0;
    }
}

/* Everything in front of c in its stream runs, and has let its dependents start. */
static bool overtakes(const struct command *c)
{
    const struct kernel_task *k = &c->task.kernel;
    bool may = c->task.kind == TASK_KERNEL ? k->programmatic && !k->cooperative : c->task.kind == TASK_RECORD && c->task.event.programmatic;
    for (const struct command *p = c->stream->head; may && p != c; p = p->next)
        may = p->finished || p->passable || (p->launch && p->launch->triggered);
    return may;
}

static bool is_ready(const struct command *c)
{
    const struct stream *s = c->stream;
    if (c != s->head && !overtakes(c))
        return false;
    if (c->begun || (c->task.kind == TASK_WAIT && !c->task.event.moment->done))
        return false;
    if (c->task.kind == TASK_WAIT_VALUE && !wait_value_holds(&c->task.value))
        return false;
    for (const struct stream *t = ctx.streams; t && (s->legacy || s->blocking); t = t->next)
        if (t != s && t->head && t->head->sequence < c->sequence && (s->legacy ? t->blocking : t->legacy))
            return false;
    return true;
}

static struct command *next_ready(void)
{
    struct command *best = NULL;
    for (struct stream *s = ctx.streams; s; s = s->next)
        for (struct command *c = s->head; c && (!best || c->sequence < best->sequence); c = c->next) {
            if (is_ready(c))
                best = c;
            if (!c->begun && !c->passable)
                break;
        }
    return best;
}

static double cycles_ns(uint64_t cycles) { return cycles * 1e6 / ctx.device->clock_khz; }

/* When the last kernel in front of c that still runs let its dependents start; 0: none does. */
static double trigger_time(const struct command *c)
{
    double ns = 0;
    for (const struct command *p = c->stream->head; p != c; p = p->next)
        if (p->launch)
            ns = MAX(ns, p->start_ns + LAUNCH_NS + cycles_ns(p->launch->trigger_cycle - p->launch->start_cycle));
    return ns;
}

static double start_time(const struct command *c)
{
    double ns = MAX(MAX(c->stream->ns, c->not_before), trigger_time(c));
    if (c->task.kind == TASK_WAIT)
        ns = MAX(ns, c->task.event.moment->ns);
    for (const struct stream *t = ctx.streams; t; t = t->next)
        if (t != c->stream && (c->stream->legacy ? t->blocking : c->stream->blocking && t->legacy))
            ns = MAX(ns, t->ns);
    return ns;
}

/* ---------------------------------------------------------------- from begin to end */

/* The head of a stream leaves it. */
static void leave(struct command *c, double ns)
{
    struct stream *s = c->stream;
    s->ns = MAX(s->ns, ns);
    s->head = c->next;
    if (!s->head)
        s->tail = NULL;
    s->last_done = c->sequence;
    ctx.queued--;
    task_free(&c->task);
    free(c);
}

static void moment_comes(struct moment *m, double ns)
{
    if (m->done)
        return;
    m->ns = ns;
    m->done = true;
}

/* Whoever waited for a moment that a kernel gave before its end depends on that kernel. */
static void inherit(struct stream *s, struct launch *l)
{
    if (l && s->nprerequisites < MAX_PREREQUISITES)
        s->prerequisite[s->nprerequisites++] = l;
}

/* In its turn: a task that ended ahead of one in front of it stays until that has ended. */
static void end(struct command *c, double ns)
{
    struct stream *s = c->stream;
    c->finished = true;
    c->end_ns = ns;
    if (c->task.kind == TASK_RECORD)
        moment_comes(c->task.event.moment, ns);
    if (c->task.kind == TASK_WAIT)
        inherit(s, c->task.event.moment->launch);
    while (s->head && s->head->finished)
        leave(s->head, s->head->end_ns);
    pthread_cond_broadcast(&ctx.changed);
}

static void drop_prerequisite(struct stream *s, const struct launch *l)
{
    for (uint32_t i = 0; i < s->nprerequisites; i++)
        if (s->prerequisite[i] == l)
            s->prerequisite[i--] = s->prerequisite[--s->nprerequisites];
}

/* A launch that is over is nobody's prerequisite any more. */
static void forget_launch(const struct launch *l)
{
    for (struct stream *s = ctx.streams; s; s = s->next) {
        drop_prerequisite(s, l);
        for (struct command *c = s->head; c; c = c->next)
            if ((c->task.kind == TASK_RECORD || c->task.kind == TASK_WAIT) && c->task.event.moment->launch == l)
                c->task.event.moment->launch = NULL;
    }
    for (struct event *e = ctx.events; e; e = e->next)
        if (e->moment && e->moment->launch == l)
            e->moment->launch = NULL;
}

/* After a fault nothing else runs: every queued task counts as done, and every later call returns the error. */
static void fail(int error)
{
    if (!ctx.sticky)
        ctx.sticky = error;
    for (struct stream *s = ctx.streams; s; s = s->next)
        while (s->head && !(s->head->begun && s->head->launch))
            end(s->head, s->ns);
}

/* Kernels in front of c that still run, and those that events let its stream overtake. */
static void set_prerequisites(struct command *c)
{
    struct launch *l = c->launch;
    for (uint32_t i = 0; i < c->stream->nprerequisites; i++)
        l->prerequisite[l->nprerequisites++] = c->stream->prerequisite[i];
    for (const struct command *p = c->stream->head; p != c; p = p->next)
        if (p->launch && l->nprerequisites < MAX_PREREQUISITES)
            l->prerequisite[l->nprerequisites++] = p->launch;
}

/* The next command that is no graph's own record. */
static const struct command *behind(const struct command *c)
{
    do
        c = c->next;
    while (c && c->passable);
    return c;
}

static bool is_programmatic(const struct command *c)
{
    return c->task.kind == TASK_KERNEL ? c->task.kernel.programmatic : c->task.kind == TASK_RECORD && c->task.event.programmatic;
}

/* Whoever may overlap with c's kernel has its accesses watched, and so has c's. */
static void watch_overlaps(struct command *c)
{
    struct launch *l = c->launch;
    const struct command *next = behind(c);
    for (uint32_t i = 0; i < l->nprerequisites; i++) {
        overlap_watch(l->prerequisite[i]);
        overlap_pair(l->prerequisite[i]->overlap, l);
    }
    if (c->task.kernel.programmatic && c->stream->overlap)
        overlap_pair(c->stream->overlap, l);
    if (next && is_programmatic(next) && overlap_possible(l->func))
        overlap_watch(l);
}

static void forget_overlap(struct stream *s)
{
    overlap_drop(s->overlap);
    s->overlap = NULL;
}

/* c's kernel is over. A dependent that has not begun yet might have: what it does is held against c all the same. */
static void keep_overlap(struct command *c)
{
    const struct command *next = behind(c);
    if (!c->launch->triggered || (next && next->begun))
        return;
    forget_overlap(c->stream);
    c->stream->overlap = overlap_hold(c->launch->overlap);
}

static void begin_kernel(struct command *c)
{
    const struct kernel_task *k = &c->task.kernel;
    c->launch = launch_new(ctx.gpu, k->kernel->func, k->grid, k->block, k->cluster, k->dyn_smem, k->params);
    if (!c->launch) {
        end(c, c->start_ns);
        fail(cudaErrorMemoryAllocation);
        return;
    }
    c->launch->user = c;
    c->launch->cooperative = k->cooperative;
    c->launch->explicit_cluster = k->explicit_cluster;
    set_prerequisites(c);
    watch_overlaps(c);
    forget_overlap(c->stream);
    ctx.running++;
    gpu_start(ctx.gpu, c->launch);
}

static void run_host_function(const struct host_task *h)
{
    int status = ctx.sticky;
    unlock();
    in_host_function = true;
    if (h->callback)
        h->callback(h->stream, (cudaError_t)status, h->data);
    else
        h->fn(h->data);
    in_host_function = false;
    lock();
}

/* A programmatic event comes before the kernel in front of it ends. */
static void set_launch(struct command *c)
{
    for (const struct command *p = c->stream->head; p != c; p = p->next)
        c->task.event.moment->launch = p->launch ? p->launch : c->task.event.moment->launch;
}

static void begin(struct command *c)
{
    int error = 0;
    c->begun = true;
    c->start_ns = start_time(c);
    if (ctx.sticky) {
        end(c, c->start_ns);
        return;
    }
    if (c->task.kind != TASK_KERNEL && !c->passable)
        forget_overlap(c->stream);
    int bus = task_bus(&c->task);
    if (bus >= 0)                       /* one copy at a time in each direction */
        c->start_ns = MAX(c->start_ns, ctx.bus_ns[bus]);
    double ns = c->start_ns + task_ns(&c->task);
    if (bus >= 0)
        ctx.bus_ns[bus] = ns;
    switch (c->task.kind) {
    case TASK_KERNEL: begin_kernel(c); return;
    case TASK_COPY: error = task_run_copy(&c->task.copy); break;
    case TASK_FILL: error = task_run_fill(&c->task.fill); break;
    case TASK_HOST: run_host_function(&c->task.host); break;
    case TASK_RECORD: set_launch(c); break;
    case TASK_FREE: buffer_free_locked(c->task.addr); break;
    case TASK_WRITE_VALUE:
        error = mem_to_device(ctx.gpu, c->task.value.addr, &c->task.value.value, c->task.value.bytes) ? 0 : cudaErrorInvalidValue;
        break;
    default: break;
    }
    end(c, ns);
    if (error)
        fail(error);
}

/* A graph's kernels and the launches of another stream run together; whichever ends first is returned. */
static void run_gpu(void)
{
    ctx.in_gpu = true;
    gpu_host_waits(ctx.gpu, ctx.waiters || ctx.stop);
    unlock();
    struct launch *l = gpu_run(ctx.gpu);
    lock();
    ctx.in_gpu = false;
    pthread_cond_broadcast(&ctx.changed);
    if (!l)
        return;
    struct command *c = l->user;
    int error = l->cuda_error;
    syscall_flush(ctx.gpu);
    double ns = c->start_ns + LAUNCH_NS + cycles_ns(l->cycles);
    forget_launch(l);
    keep_overlap(c);
    launch_free(l);
    c->launch = NULL;
    ctx.running--;
    end(c, ns);
    if (error)
        fail(error);
}

/* ---------------------------------------------------------------- the thread */

static bool may_begin(void)
{
    return ctx.running || ctx.waiters || ctx.stop || ctx.queued > QUEUE_LIMIT || host_seconds() - ctx.idle_since > patience();
}

static void wait_for_work(void)
{
    struct timespec until;
    if (!ctx.queued) {
        pthread_cond_wait(&ctx.changed, &ctx.lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&ctx.changed, &ctx.lock, &until);
}

static void *dispatcher(void *unused)
{
    lock();
    while (!(ctx.stop && !ctx.queued)) {
        struct command *c = !ctx.pausing && may_begin() ? next_ready() : NULL;
        if (c)
            begin(c);
        else if (ctx.running && !ctx.pausing)
            run_gpu();
        else
            wait_for_work();
    }
    unlock();
    return unused;
}

static void start_thread(void)
{
    if (ctx.dispatcher_up)
        return;
    ctx.dispatcher_up = true;
    if (pthread_create(&thread, NULL, dispatcher, NULL)) {
        say("cannot start a thread");
        abort();
    }
}

void dispatch_stop(void)
{
    lock();
    bool up = ctx.dispatcher_up;
    ctx.stop = true;
    pthread_cond_broadcast(&ctx.changed);
    unlock();
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += EXIT_SECONDS;
    if (up && !in_host_function && pthread_timedjoin_np(thread, NULL, &until)) {
        say("the program ends, and work that it did not wait for is still running after %d s: abandoned", EXIT_SECONDS);
        _exit(1);
    }
    lock();
    ctx.dispatcher_up = ctx.stop = false;       /* a later destructor may still queue something */
    if (ctx.queued)
        start_thread();
    if (ctx.gpu)
        syscall_flush(ctx.gpu);
    unlock();
}

/* ---------------------------------------------------------------- what the host does */

struct command *enqueue_locked(struct stream *s, const struct task *t)
{
    struct command *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    *c = (struct command){.stream = s, .sequence = ++ctx.sequence, .task = *t, .not_before = ctx.host_ns};
    if (s->tail)
        s->tail->next = c;
    else
        s->head = c;
    s->tail = c;
    s->last_queued = c->sequence;
    ctx.queued++;
    ctx.idle_since = host_seconds();
    start_thread();
    if (ctx.in_gpu && (s->head == c || overtakes(c)))
        gpu_interrupt(ctx.gpu);
    pthread_cond_broadcast(&ctx.changed);
    return c;
}

static bool streams_done(const struct stream *only, uint64_t sequence)
{
    if (only)
        return only->last_done >= sequence || !only->head;
    for (const struct stream *s = ctx.streams; s; s = s->next)
        if (s->head && s->head->sequence <= sequence)
            return false;
    return true;
}

static double streams_time(const struct stream *only)
{
    double ns = only ? only->ns : 0;
    for (const struct stream *s = ctx.streams; s && !only; s = s->next)
        ns = MAX(ns, s->ns);
    return ns;
}

/* A kernel that spins for ever is known as hanging only while the host can do nothing about it. */
static void wait_begins(void)
{
    ctx.waiters++;
    if (ctx.gpu)
        gpu_host_waits(ctx.gpu, true);
}

static void wait_ends(void)
{
    ctx.waiters--;
    if (ctx.gpu)
        gpu_host_waits(ctx.gpu, ctx.waiters || ctx.stop);
}

void wait_locked(const struct stream *s, uint64_t sequence)
{
    wait_begins();
    pthread_cond_broadcast(&ctx.changed);
    while (!streams_done(s, sequence))
        pthread_cond_wait(&ctx.changed, &ctx.lock);
    wait_ends();
    for (struct stream *t = ctx.streams; t; t = t->next)
        if (!t->head)
            forget_overlap(t);
    ctx.host_ns = MAX(ctx.host_ns, streams_time(s));
}

/* False when a fault came first. */
bool moment_wait_locked(const struct moment *m)
{
    wait_begins();
    pthread_cond_broadcast(&ctx.changed);
    while (!m->done && !ctx.sticky)
        pthread_cond_wait(&ctx.changed, &ctx.lock);
    wait_ends();
    ctx.host_ns = MAX(ctx.host_ns, m->ns);
    return m->done;
}

/* Never called by the dispatcher while it is in gpu_run, and it never waits for itself. */
void pause_gpu_locked(void)
{
    ctx.pausing++;
    while (ctx.in_gpu) {
        struct timespec until;
        gpu_interrupt(ctx.gpu);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&ctx.changed, &ctx.lock, &until);
    }
}

void resume_gpu_locked(void)
{
    ctx.pausing--;
    pthread_cond_broadcast(&ctx.changed);
}

static bool blocking_launches(void)
{
    const char *wish = getenv("CUDA_LAUNCH_BLOCKING");
    return wish && !strcmp(wish, "1");
}

int submit(CUstream handle, struct task *t, bool wait)
{
    bool to_host = false;
    int error = task_copy_check(t);
    if (!error)
        error = task_fill_check(t);
    lock();
    struct stream *s = stream_find(handle);
    if (!error && !s)
        error = cudaErrorInvalidResourceHandle;
    if (!error && s->capture) {
        error = wait ? cudaErrorStreamCaptureUnsupported : capture_task_locked(s, t);
        unlock();
        if (error)
            task_free(t);
        return error;
    }
    if (!error && s->legacy && capturing_globally())
        error = cudaErrorStreamCaptureImplicit;
    unlock();
    if (error) {
        task_free(t);
        return error;
    }
    if (t->kind == TASK_COPY && !wait && task_copy_pageable(t, &to_host))
        task_stage(&t->copy);
    wait = wait || to_host || (t->kind == TASK_KERNEL && blocking_launches());
    lock();
    enqueue_locked(s, t);
    if (wait)
        wait_locked(s, s->last_queued);
    error = ctx.sticky;
    unlock();
    return wait ? error : 0;
}
