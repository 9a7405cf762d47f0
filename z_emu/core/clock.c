/* clock.c: the virtual clock. Each SM has a queue of things that happen at a later cycle, a binary heap
 * ordered by cycle and, within one cycle, by who asked first. EMU_SEED perturbs what things take. */
#include "core.h"

#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
    return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void sift_up(struct event *heap, uint32_t i)
{
    struct event e = heap[i];
    for (; i && before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static void sift_down(struct event *heap, uint32_t n, uint32_t i)
{
    struct event e = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &e))
            break;
        heap[i] = heap[child];
    }
    heap[i] = e;
}

void event_at(struct cta *c, uint64_t when, event_fn *fn, void *arg)
{
    struct event_queue *q = &c->sm->events;
    if (q->n == q->room) {
        q->room = q->room ? q->room * 2 : 64;
        if (!(q->heap = realloc(q->heap, q->room * sizeof *q->heap)))
            abort();
    }
    q->heap[q->n] = (struct event){ when, q->order++, c, fn, arg };
    sift_up(q->heap, q->n++);
    c->events++;
}

uint64_t events_due(const struct sm *sm)
{
    return sm->events.n ? sm->events.heap[0].when : NEVER;
}

void events_run(struct sm *sm)
{
    struct event_queue *q = &sm->events;
    struct event e = q->heap[0];
    q->heap[0] = q->heap[--q->n];
    if (q->n)
        sift_down(q->heap, q->n, 0);
    e.fn(e.cta, e.arg, e.when > sm->now ? e.when : sm->now);
    e.cta->events--;
}

uint64_t random_next(uint64_t *state)           /* xorshift64 */
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* Seeded runs stretch or shorten each latency: mostly a little, now and then a lot. */
uint64_t latency(struct cta *c, uint64_t cycles)
{
    uint64_t *state = &c->sm->random;
    if (!*state)
        return cycles;
    uint64_t r = random_next(state);
    if ((r & 15) == 0)
        return cycles * (2 + (r >> 8) % 8);
    return cycles / 2 + (r >> 8) % (cycles + 1);
}

enum { L2_BYTES_PER_CYCLE = 64 };

uint64_t copy_arrives(struct warp *w, uint32_t bytes)
{
    struct cta *c = w->cta;
    struct sm *sm = c->sm;
    if (sm->copy_free < w->now)
        sm->copy_free = w->now;
    sm->copy_free += bytes / L2_BYTES_PER_CYCLE;
    return sm->copy_free + latency(c, gpu_device(c->launch->gpu)->lat_dram);
}
