/* event.c: events, and the moments that they stand for.
 *
 * Recording an event puts a fresh moment into the stream; whoever waits for the event from then on holds that moment, even if
 * the event is recorded again. A moment's time is modelled: cudaEventElapsedTime tells what the modelled chip would
 * need, not how long the emulator took.
 */
#include "cuda_emu.h"
#include <stdlib.h>

struct moment *moment_new(void)
{
    struct moment *m = calloc(1, sizeof *m);
    if (m)
        m->refs = 1;
    return m;
}

struct moment *moment_hold(struct moment *m)
{
    __atomic_fetch_add(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void moment_drop(struct moment *m)
{
    if (m && __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(m);
}

struct event *event_find(CUevent handle)
{
    struct event *e = ctx.events;
    while (e && e != (struct event *)handle)
        e = e->next;
    return e;
}

int event_new(CUevent *out, unsigned int flags)
{
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return cudaErrorMemoryAllocation;
    e->flags = flags;
    lock();
    e->next = ctx.events;
    ctx.events = e;
    unlock();
    *out = (CUevent)e;
    return 0;
}

static void event_release(struct event *e)
{
    struct event **at = &ctx.events;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    moment_drop(e->moment);
    free(e->after);
    free(e);
}

int event_free(CUevent handle)
{
    lock();
    struct event *e = event_find(handle);
    if (e)
        event_release(e);
    unlock();
    return e ? 0 : cudaErrorInvalidResourceHandle;
}

void event_drop_all(void)
{
    while (ctx.events)
        event_release(ctx.events);
}

static int record(CUevent handle, CUstream stream, unsigned int flags, bool programmatic)
{
    lock();
    struct event *e = event_find(handle);
    struct stream *s = stream_find(stream);
    int error = !e || !s ? cudaErrorInvalidResourceHandle : 0;
    if (!error && s->capture && !(flags & cudaEventRecordExternal)) {
        error = capture_record_locked(s, e);
    } else if (!error) {
        struct task t = {.kind = TASK_RECORD, .event = {.event = e, .moment = moment_new(), .programmatic = programmatic}};
        moment_drop(e->moment);
        e->moment = moment_hold(t.event.moment);
        e->capture = NULL;
        if (s->capture)
            error = capture_task_locked(s, &t);
        else
            enqueue_locked(s, &t);
    }
    unlock();
    return error;
}

int event_record(CUevent handle, CUstream stream, unsigned int flags) { return record(handle, stream, flags, false); }
int event_record_programmatic(CUevent handle, CUstream stream) { return record(handle, stream, 0, true); }

/* A moment, held; NULL: the event was never recorded, and so counts as complete. */
static int event_moment(CUevent handle, struct moment **m)
{
    struct event *e = event_find(handle);
    *m = e && e->moment ? moment_hold(e->moment) : NULL;
    return !e ? cudaErrorInvalidResourceHandle : e->capture ? cudaErrorCapturedEvent : 0;
}

int event_query(CUevent handle)
{
    struct moment *m;
    lock();
    int error = event_moment(handle, &m);
    if (!error && m && !m->done)
        error = cudaErrorNotReady;
    ctx.idle_since = 0;                 /* whoever polls wants the work to begin */
    pthread_cond_broadcast(&ctx.changed);
    moment_drop(m);
    unlock();
    return error;
}

int event_sync(CUevent handle)
{
    struct moment *m;
    lock();
    int error = event_moment(handle, &m);
    if (!error && m && !moment_wait_locked(m))
        error = ctx.sticky;
    moment_drop(m);
    unlock();
    return error ? error : ctx.sticky;
}

int event_elapsed(float *ms, CUevent from, CUevent to)
{
    struct moment *a = NULL, *b = NULL;
    lock();
    int error = event_moment(from, &a);
    if (!error)
        error = event_moment(to, &b);
    if (!error && ((event_find(from)->flags | event_find(to)->flags) & cudaEventDisableTiming))
        error = cudaErrorInvalidResourceHandle;
    if (!error && (!a || !b))
        error = cudaErrorInvalidResourceHandle;
    if (!error && (!a->done || !b->done))
        error = cudaErrorNotReady;
    if (!error)
        *ms = (float)((b->ns - a->ns) / 1e6);
    moment_drop(a);
    moment_drop(b);
    unlock();
    return error;
}
