/* core/race_clock.c: vector clocks. A clock grows when an agent enters it that it did not know. */
#include "race.h"

#include <stdlib.h>
#include <string.h>

static void grow(struct race_clock *c, uint32_t n)
{
    if (n <= c->n)
        return;
    n = (n + 7) / 8 * 8;
    uint32_t *all = calloc(2 * (size_t)n, sizeof *all);
    if (!all)
        abort();
    if (c->n) {
        memcpy(all, c->v, c->n * sizeof *all);
        memcpy(all + n, c->a, c->n * sizeof *all);
        free(c->v);
    }
    *c = (struct race_clock){ n, all, all + n };
}

static inline uint32_t later(uint32_t x, uint32_t y) { return x > y ? x : y; }

void clock_join(struct race_clock *c, const struct race_clock *with)
{
    grow(c, with->n);
    uint32_t *restrict v = c->v, *restrict a = c->a;
    for (uint32_t i = 0; i < with->n; i++) {
        v[i] = later(v[i], with->v[i]);
        a[i] = later(a[i], with->a[i]);
    }
}

void clock_meet(struct race_clock *c, const struct race_clock *with)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t v = clock_v(with, i), a = clock_a(with, i);
        c->v[i] = c->v[i] < v ? c->v[i] : v;
        c->a[i] = c->a[i] < a ? c->a[i] : a;
    }
}

void clock_copy(struct race_clock *c, const struct race_clock *from)
{
    clock_clear(c);
    clock_join(c, from);
}

void clock_set(struct race_clock *c, uint32_t agent, uint32_t epoch)
{
    grow(c, agent + 1);
    c->v[agent] = later(c->v[agent], epoch);
}

void clock_fence(struct race_clock *c)
{
    memcpy(c->a, c->v, c->n * sizeof *c->a);
}

void clock_clear(struct race_clock *c)
{
    if (c->n)
        memset(c->v, 0, 2 * (size_t)c->n * sizeof *c->v);
}

void clock_free(struct race_clock *c)
{
    free(c->v);
    *c = (struct race_clock){ 0 };
}
