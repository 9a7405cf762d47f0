/* stream.c: streams are queues of tasks. Which task may begin is decided in dispatch.c. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

static _Thread_local struct { struct stream *stream; uint64_t generation; } mine;

struct stream *stream_new_locked(unsigned int flags, int priority)
{
    static uint64_t ids;
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->flags = flags;
    s->blocking = !(flags & cudaStreamNonBlocking);
    s->priority = MAX(-5, MIN(priority, 0));
    s->id = ++ids;
    s->ns = ctx.host_ns;
    s->next = ctx.streams;
    return ctx.streams = s;
}

static struct stream *legacy_stream(void)
{
    if (!ctx.legacy && (ctx.legacy = stream_new_locked(0, 0)))
        ctx.legacy->legacy = true;
    return ctx.legacy;
}

static struct stream *thread_stream(void)
{
    if (!mine.stream || mine.generation != ctx.generation) {
        mine.stream = stream_new_locked(0, 0);
        mine.generation = ctx.generation;
    }
    return mine.stream;
}

struct stream *stream_find(CUstream handle)
{
    if (!handle || handle == cudaStreamLegacy)
        return legacy_stream();
    if (handle == cudaStreamPerThread)
        return thread_stream();
    struct stream *s = ctx.streams;
    while (s && s != (struct stream *)handle)
        s = s->next;
    return s && !s->dying && !s->internal ? s : NULL;
}

CUstream own_stream(CUstream s)
{
    return s ? s : cudaStreamPerThread;
}

int stream_new(CUstream *out, unsigned int flags, int priority)
{
    if (flags & ~(unsigned)cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    lock();
    *out = (CUstream)stream_new_locked(flags, priority);
    unlock();
    return *out ? 0 : cudaErrorMemoryAllocation;
}

void stream_delete_locked(struct stream *s)
{
    struct stream **at = &ctx.streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    while (s->head) {
        struct command *c = s->head;
        s->head = c->next;
        task_free(&c->task);
        free(c);
    }
    overlap_drop(s->overlap);
    free(s->after);
    free(s);
}

/* What is queued still runs; the stream goes when it is empty (wait_locked has emptied it here). */
int stream_free(CUstream handle)
{
    lock();
    struct stream *s = handle == cudaStreamLegacy || handle == cudaStreamPerThread ? NULL : stream_find(handle);
    bool origin = s && s->capture && s->capture->origin == s;
    int error = !s || !handle ? cudaErrorInvalidResourceHandle : origin ? cudaErrorStreamCaptureUnsupported : 0;
    if (!error) {
        s->dying = true;
        wait_locked(s, s->last_queued);
        stream_delete_locked(s);
    }
    unlock();
    return error;
}

void stream_drop_all(void)
{
    while (ctx.streams)
        stream_delete_locked(ctx.streams);
    ctx.legacy = NULL;
    ctx.queued = 0;
}

int stream_sync(CUstream handle)
{
    lock();
    struct stream *s = stream_find(handle);
    int error = !s ? cudaErrorInvalidResourceHandle : s->capture ? cudaErrorStreamCaptureUnsupported : 0;
    if (!error)
        wait_locked(s, s->last_queued);
    error = error ? error : ctx.sticky;
    unlock();
    return error;
}

int stream_query(CUstream handle)
{
    lock();
    struct stream *s = stream_find(handle);
    int error = !s ? cudaErrorInvalidResourceHandle : s->capture ? cudaErrorStreamCaptureUnsupported : ctx.sticky;
    if (!error && s->head)
        error = cudaErrorNotReady;
    ctx.idle_since = 0;                 /* whoever polls wants the work to begin */
    pthread_cond_broadcast(&ctx.changed);
    unlock();
    return error;
}

int device_sync(void)
{
    lock();
    bool refused = capturing_globally();
    if (!refused)
        wait_locked(NULL, ctx.sequence);
    int error = ctx.sticky;
    unlock();
    return refused ? cudaErrorStreamCaptureUnsupported : error;
}

int stream_wait_event(CUstream stream, CUevent handle)
{
    lock();
    struct stream *s = stream_find(stream);
    struct event *e = event_find(handle);
    int error = !s || !e ? cudaErrorInvalidResourceHandle : 0;
    if (!error && e->capture) {
        error = capture_wait_locked(s, e);
    } else if (!error && s->capture) {
        error = cudaErrorStreamCaptureIsolation;
    } else if (!error && e->moment) {
        struct task t = {.kind = TASK_WAIT, .event = {.moment = moment_hold(e->moment)}};
        enqueue_locked(s, &t);
    }
    unlock();
    return error;
}

int stream_info(CUstream handle, unsigned int *flags, int *priority, unsigned long long *id)
{
    lock();
    struct stream *s = stream_find(handle);
    if (s && flags)
        *flags = s->flags;
    if (s && priority)
        *priority = s->priority;
    if (s && id)
        *id = s->id;
    unlock();
    return s ? 0 : cudaErrorInvalidResourceHandle;
}

int stream_attribute(CUstream handle, int id, cudaLaunchAttributeValue *get, const cudaLaunchAttributeValue *set)
{
    lock();
    struct stream *s = stream_find(handle);
    int error = !s ? cudaErrorInvalidResourceHandle : (unsigned)id >= sizeof s->attribute / sizeof *s->attribute
                                                    ? cudaErrorInvalidValue : 0;
    if (!error && set)
        s->attribute[id] = *set;
    if (!error && get) {
        *get = s->attribute[id];
        if (id == cudaLaunchAttributePriority)
            get->priority = s->priority;
    }
    unlock();
    return error;
}
