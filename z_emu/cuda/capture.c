/* capture.c: between cudaStreamBeginCapture and EndCapture a stream's tasks become the nodes of a graph. Other streams
 * join when they wait for an event that was recorded in the capture, and must have joined back at its end. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

static struct capture *captures;

static void set_after(struct node ***list, uint32_t *n, struct node *const *nodes, size_t count)
{
    struct node **copy = calloc(MAX(count, 1), sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = nodes[i];
    free(*list);
    *list = copy;
    *n = (uint32_t)count;
}

bool capturing_globally(void)
{
    for (struct capture *c = captures; c; c = c->next)
        if (c->mode == cudaStreamCaptureModeGlobal ||
            (c->mode == cudaStreamCaptureModeThreadLocal && pthread_equal(c->thread, pthread_self())))
            return true;
    return false;
}

int capture_begin(CUstream handle, struct graph *into, struct node *const *dep, size_t ndep, int mode)
{
    static uint64_t ids;
    lock();
    struct stream *s = stream_find(handle);
    struct capture *c = NULL;
    int error = !s ? cudaErrorInvalidResourceHandle : s->legacy ? cudaErrorStreamCaptureUnsupported
              : s->capture ? cudaErrorStreamCaptureUnsupported : (unsigned)mode > cudaStreamCaptureModeRelaxed ? cudaErrorInvalidValue : 0;
    if (!error && (!(c = calloc(1, sizeof *c)) || !(c->graph = into ? into : graph_new())))
        error = cudaErrorMemoryAllocation;
    if (!error) {
        c->origin = s;
        c->mode = mode;
        c->id = ++ids;
        c->thread = pthread_self();
        c->next = captures;
        captures = c;
        s->capture = c;
        set_after(&s->after, &s->nafter, dep, ndep);
    }
    unlock();
    return error;
}

static void leave(struct capture *c)
{
    struct capture **at = &captures;
    for (struct stream *s = ctx.streams; s; s = s->next)
        if (s->capture == c)
            s->capture = NULL;
    for (struct event *e = ctx.events; e; e = e->next)
        if (e->capture == c)
            e->capture = NULL;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

/* Marks n and everything in front of it. */
static void mark_ancestors(struct node *n, uint32_t mark)
{
    if (n->mark == mark)
        return;
    n->mark = mark;
    for (uint32_t i = 0; i < n->ndep; i++)
        mark_ancestors(n->dep[i], mark);
}

static bool all_joined(const struct capture *c)
{
    static uint32_t mark = 16;
    mark++;
    for (uint32_t i = 0; i < c->origin->nafter; i++)
        mark_ancestors(c->origin->after[i], mark);
    for (struct stream *s = ctx.streams; s; s = s->next)
        for (uint32_t i = 0; s->capture == c && i < s->nafter; i++)
            if (s->after[i]->mark != mark)
                return false;
    return true;
}

int capture_end(CUstream handle, struct graph **out)
{
    lock();
    struct stream *s = stream_find(handle);
    struct capture *c = s ? s->capture : NULL;
    int error = !s ? cudaErrorInvalidResourceHandle : !c ? cudaErrorIllegalState : c->origin != s ? cudaErrorStreamCaptureUnmatched : 0;
    if (!error) {
        error = c->invalid ? cudaErrorStreamCaptureInvalidated : all_joined(c) ? 0 : cudaErrorStreamCaptureUnjoined;
        leave(c);
        *out = error ? NULL : c->graph;
        if (error)
            graph_free(c->graph);
        free(c);
    }
    unlock();
    return error;
}

/* The dependencies belong to the stream: they are right until something else is captured. */
int capture_report(CUstream handle, int *status, unsigned long long *id, CUgraph *graph, const CUgraphNode **dep, size_t *ndep)
{
    lock();
    struct stream *s = stream_find(handle);
    struct capture *c = s ? s->capture : NULL;
    *status = !c ? cudaStreamCaptureStatusNone : c->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (c && id)
        *id = c->id;
    if (c && graph)
        *graph = (CUgraph)c->graph;
    if (c && dep)
        *dep = (const CUgraphNode *)s->after;
    if (c && ndep)
        *ndep = s->nafter;
    unlock();
    return s ? 0 : cudaErrorInvalidResourceHandle;
}

int capture_update(CUstream handle, struct node *const *dep, size_t ndep, bool replace)
{
    lock();
    struct stream *s = stream_find(handle);
    int error = !s ? cudaErrorInvalidResourceHandle : !s->capture ? cudaErrorIllegalState : 0;
    if (!error) {
        size_t old = replace ? 0 : s->nafter;
        struct node **all = calloc(old + ndep + 1, sizeof *all);
        memcpy(all, s->after, old * sizeof *all);
        memcpy(all + old, dep, ndep * sizeof *all);
        set_after(&s->after, &s->nafter, all, old + ndep);
        free(all);
    }
    unlock();
    return error;
}

int capture_task_locked(struct stream *s, struct task *t)
{
    if (s->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (t->kind == TASK_FREE)           /* the graph may be launched again: its memory stays until the device is reset */
        t->kind = TASK_FREED;
    struct node *n = graph_add(s->capture->graph, t, s->after, s->nafter);
    if (!n)
        return cudaErrorMemoryAllocation;
    set_after(&s->after, &s->nafter, &n, 1);
    return 0;
}

int capture_record_locked(struct stream *s, struct event *e)
{
    e->capture = s->capture;
    set_after(&e->after, &e->nafter, s->after, s->nafter);
    return 0;
}

int capture_wait_locked(struct stream *s, struct event *e)
{
    if (s->legacy)
        return cudaErrorStreamCaptureImplicit;
    if (s->capture && s->capture != e->capture) {
        s->capture->invalid = e->capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (!s->capture) {
        s->capture = e->capture;
        set_after(&s->after, &s->nafter, e->after, e->nafter);
        return 0;
    }
    struct node **all = calloc(s->nafter + e->nafter + 1, sizeof *all);
    uint32_t n = s->nafter;
    memcpy(all, s->after, n * sizeof *all);
    for (uint32_t i = 0; i < e->nafter; i++) {
        bool known = false;
        for (uint32_t j = 0; j < n; j++)
            known |= all[j] == e->after[i];
        if (!known)
            all[n++] = e->after[i];
    }
    set_after(&s->after, &s->nafter, all, n);
    free(all);
    return 0;
}
