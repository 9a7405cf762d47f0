/* warp.c: the interpreter loop; how the lanes of a warp sleep, wake and come together.
 *
 * Modelled: one split of a warp issues at a time. Not modelled: register dependences between
 * instructions (an instruction costs its issue cycles, no more). */
#include "core.h"

/* ---------------------------------------------------------------- sleeping and waking */

void split_block(struct warp *w, const void *object, uint64_t until, const char *what)
{
    struct split *s = w->cur;
    s->state = S_SLEEP;
    s->wait_for = object;
    s->wake_at = until;
    s->wait_what = what;
}

int split_sleep(struct warp *w, const void *object, uint64_t until, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->cur->what, sizeof w->cur->what, fmt, ap);
    va_end(ap);
    split_block(w, object, until, w->cur->what);
    return X_RETRY;
}

void split_wake(struct cta *c, const void *object, uint64_t when)
{
    for (uint32_t i = 0; i < c->nwarp; i++) {
        struct warp *w = &c->warp[i];
        bool any = false;
        for (struct split *s = w->splits; s; s = s->next)
            if (s->state == S_SLEEP && s->wait_for == object) {
                split_ready(s, when);
                any = true;
            }
        if (any)
            c->sm->key[w->slot] = warp_key(w);
    }
}

/* ---------------------------------------------------------------- warp-wide instructions */

/* The running split waits at `in` for the rest of `members`. When all splits of the warp wait like
 * this, nobody can come any more. */
static int wait_for_warp(struct warp *w, const struct instr *in, uint32_t members)
{
    struct split *s = w->cur, *other = NULL;
    s->state = S_WARP;
    s->members = members;
    s->wake_at = NEVER;
    s->wait_what = "the rest of its warp";
    for (struct split *t = w->splits; t; t = t->next) {
        if (t->state != S_WARP)
            return X_RETRY;
        if (t != s)
            other = t;
    }
    char place[128];
    if (!other)
        return fault(w, in, __builtin_ctz(s->mask), FAULT_NOT_CONVERGED,
                     "lanes 0x%08x are here, 0x%08x are expected, and none of the others has a way to come", s->mask,
                     members);
    return fault(w, in, __builtin_ctz(s->mask), FAULT_NOT_CONVERGED,
                 "lanes 0x%08x are here, 0x%08x are expected; lanes 0x%08x wait at %s", s->mask, members, other->mask,
                 source_place(&other->frame->func->code[other->pc], place, sizeof place));
}

/* Merges the splits that wait at `in` for the same members into the running one, when all are there. */
static bool gather(struct warp *w, const struct instr *in, uint32_t members)
{
    struct split *s = w->cur, *next;
    uint32_t pc = (uint32_t)(in - s->frame->func->code), here = s->mask;
    for (struct split *t = w->splits; t; t = t->next)
        if (t->state == S_WARP && t->pc == pc && t->frame == s->frame && t->members == members)
            here |= t->mask;
    if (members & ~here)
        return false;
    for (struct split *t = w->splits; t; t = next) {
        next = t->next;
        if (t->state == S_WARP && t->pc == pc && t->frame == s->frame && t->members == members)
            split_merge(w, s, t);
    }
    return true;
}

bool warp_converge(struct warp *w, const struct instr *in, uint32_t members, uint32_t *mask)
{
    struct split *s = w->cur;
    uint32_t pc = (uint32_t)(in - s->frame->func->code);
    members &= warp_live(w);
    if (!(members & ~*mask))
        return true;
    if (*mask != s->mask)                       /* lanes whose guard is false go on */
        split_goto(w, split_divide(w, s->mask & ~*mask, pc + 1), pc + 1);
    if (gather(w, in, members)) {
        *mask = s->mask;
        return true;
    }
    wait_for_warp(w, in, members);
    return false;
}

bool warp_aligned(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t missing = warp_live(w) & ~mask;
    if (!missing)
        return true;
    fault(w, in, __builtin_ctz(missing), FAULT_NOT_CONVERGED, "lanes 0x%08x execute it, lanes 0x%08x do not", mask,
          missing);
    return false;
}

int exec_aligned(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t live = warp_live(w);
    struct split *s = w->cur;
    if (mask == live)
        return in->inner(w, in, mask);
    if (s->mask != live) {                      /* parts of the warp are late, which is no fault yet */
        if (!gather(w, in, live))
            return wait_for_warp(w, in, live);
        mask = s->mask;
        if (in->guard != ROW_NONE) {
            uint32_t p = *(uint32_t *)(w->regs + in->guard);
            mask &= in->guard_neg ? ~p : p;
        }
    }
    if (!mask)
        return X_NEXT;
    return warp_aligned(w, in, mask) ? in->inner(w, in, mask) : X_FAULT;
}

/* Loads and atomics that a thread may spin on: the split is away for as long as the answer takes, so
 * that a spinning lane costs what it costs on the chip and others run meanwhile. */
int exec_stall(struct warp *w, const struct instr *in, uint32_t mask)
{
    int status = in->inner(w, in, mask);
    if (status != X_NEXT)
        return status;
    const struct device *d = gpu_device(w->cta->sm->gpu);
    bool near = in->space == SP_SHARED_CTA || in->space == SP_LOCAL;
    w->cur->wake_at = w->now + latency(w->cta, near ? d->lat_shared : d->lat_l2);
    return X_YIELD;
}

/* ---------------------------------------------------------------- the loop */

/* Runs the current split until it sleeps, waits, yields, ends or `limit` is reached. */
int run_split(struct warp *w, struct split *s, uint64_t limit)
{
    const struct frame *frame = s->frame;
    const struct instr *code = frame->func->code;
    uint64_t executed = 0, issued = 0;
    int status;
    do {
        if (s->pc == s->rpc) {
            join_arrive(w, s);
            status = X_JUMP;
            if (s->state != S_READY)
                break;
            continue;
        }
        const struct instr *in = code + s->pc;
        uint32_t mask = s->mask;
        w->now += in->cost;
        issued++;
        s->pc++;
        status = X_NEXT;
        if (in->guard != ROW_NONE) {
            uint32_t p = *(const uint32_t *)(frame->regs + in->guard);
            mask &= in->guard_neg ? ~p : p;
            if (!mask)
                continue;
        }
        executed += (uint32_t)__builtin_popcount(mask);
        status = in->exec(w, in, mask);
        if (__builtin_expect(status == X_NEXT, 1))
            continue;
        if (status == X_JUMP) {
            if (w->cur != s || s->state != S_READY || s->wake_at > w->now || w->held)
                break;
            frame = s->frame;
            code = frame->func->code;
            continue;
        }
        if (status == X_RETRY) {                /* it counts when it is done */
            executed -= (uint32_t)__builtin_popcount(mask);
            issued--;
            if (w->cur == s)
                s->pc = (uint32_t)(in - code);
        }
        break;
    } while (w->now < limit);
    w->executed += executed;
    w->issued += issued;
    return status;
}

/* A split whose time has come: the one that has not run for longest, or as the seed has it. Timed sleepers wake,
 * waiters whose patience is over leave their join. */
static struct split *pick_split(struct warp *w, bool *others)
{
    struct split *best = NULL, *next;
    uint64_t *random = &w->cta->sm->random;
    *others = false;
    for (struct split *s = w->splits; s; s = next) {
        next = s->next;
        if (s->wake_at > w->now || s->state == S_WARP)
            continue;
        if (s->state == S_SLEEP)
            split_ready(s, w->now);
        else if (s->state == S_JOIN)
            join_abandon(w, s);
        if (!best)
            best = s;
        else if (s->pc == best->pc && s->frame == best->frame)
            split_merge(w, best, s);
        else {
            *others = true;
            if (*random && random_next(random) & 1)
                best = s;
        }
    }
    return best;
}

/* Patience of those who wait at joins. Each stop of a sibling takes from it: what that waits for may be what the
 * waiter would do next, if it went on alone. It ends soon once no sibling runs. */
static void age_waiters(struct warp *w, bool stopped)
{
    bool running = false, asleep = false;
    for (struct split *s = w->splits; s; s = s->next) {
        running |= s->state == S_READY;
        asleep |= s->state == S_SLEEP;
    }
    for (struct split *s = w->splits; s; s = s->next) {
        if (s->state != S_JOIN)
            continue;
        uint64_t left = s->wake_at > w->now ? s->wake_at - w->now : 0, most = left;
        if (stopped)
            most = left > PATIENCE_STOP ? left - PATIENCE_STOP : 0;
        if (!running)
            most = asleep ? PATIENCE_ASLEEP : 0;
        if (left > most)
            s->wake_at = w->now + most;
    }
}

/* Fairness: who has run goes to the end of the list. */
static void rotate(struct warp *w, struct split *s)
{
    if (!s->next)
        return;
    split_unlink(w, s);
    struct split **end = &w->splits;
    while (*end)
        end = &(*end)->next;
    *end = s;
    s->next = NULL;
}

void warp_run(struct warp *w, uint64_t limit)
{
    while (w->now < limit && w->splits) {
        bool others;
        struct split *s = pick_split(w, &others);
        if (!s)
            return;
        w->cur = s;
        w->regs = s->frame->regs;
        uint64_t until = others && limit - w->now > SPLIT_QUANTUM ? w->now + SPLIT_QUANTUM : limit;
        int status = s->watch.hash || w->held ? step_split(w, s, until) : run_split(w, s, until);
        if (status == X_FAULT)
            return;
        if (w->cur != s)
            continue;
        if (status == X_YIELD || status == X_RETRY)
            spin_stop(s);
        uint64_t back = status == X_YIELD ? w->now + YIELD : w->now;
        if (s->state == S_READY && s->wake_at < back)
            s->wake_at = back;
        if (w->splits->next && (status == X_YIELD || s->state != S_READY))
            age_waiters(w, status == X_YIELD);
        rotate(w, s);
        w->cur = NULL;
    }
}

uint64_t warp_key(const struct warp *w)
{
    uint64_t key = NEVER;
    for (const struct split *s = w->splits; s; s = s->next)
        if (s->wake_at < key)
            key = s->wake_at;
    return key;
}

/* ---------------------------------------------------------------- birth and death */

void warp_start(struct warp *w, struct cta *c, uint32_t id, uint32_t lanes)
{
    w->cta = c;
    w->id = id;
    w->born = lanes;
    w->patience = PATIENCE;
    w->now = c->sm->now;
    struct split first = { .mask = lanes, .rpc = NO_RPC, .frame = frame_new(c, c->launch->func, NULL, 0) };
    split_new(w, &first, lanes);
    first.frame->refs = 1;                      /* the split alone holds it */
}
