/* warp.c: the interpreter loop, and a warp as a list of splits.
 *
 * A divergent branch cuts the running split in two, which meet again at the branch's immediate
 * post-dominator (a `join`). Whoever comes there first waits for the others, but not for ever: its
 * patience ends, it goes on alone, and the lanes of a warp thus make progress independently, as the
 * chip promises since Volta. Ready splits of one frame that stand at the same pc become one again.
 *
 * Modelled: one split of a warp issues at a time. Not modelled: register dependences between
 * instructions (an instruction costs its issue cycles, no more). */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- frames */

/* Addresses of local memory among the constants are relative to the frame's first byte. */
static void place_locals(struct frame *f)
{
    const struct func *fn = f->func;
    for (uint32_t i = 0; i < fn->nconst_local; i++) {
        const struct constant *c = &fn->constant[i];
        const uint8_t *image = fn->const_image + (c->row - fn->const_row);
        for (int lane = 0; lane < WARP; lane++) {
            if (c->width == 8)
                ((uint64_t *)(f->regs + c->row))[lane] = ((const uint64_t *)image)[lane] + f->local_base;
            else
                ((uint32_t *)(f->regs + c->row))[lane] = ((const uint32_t *)image)[lane] + f->local_base;
        }
    }
}

/* In a cluster an address of shared memory names its CTA: the rank stands in its bits 24 and up. */
static void place_shared(struct frame *f, uint32_t rank)
{
    const struct func *fn = f->func;
    if (f->rank == rank)
        return;
    f->rank = rank;
    for (uint32_t i = fn->nconst_local; i < fn->nconstant; i++) {
        const struct constant *c = &fn->constant[i];
        const uint8_t *image = fn->const_image + (c->row - fn->const_row);
        if (!c->sym || c->sym->kind != SYM_VAR || c->sym->space != SP_SHARED_CTA)
            continue;
        for (int lane = 0; lane < WARP; lane++) {
            if (c->width == 8)
                ((uint64_t *)(f->regs + c->row))[lane] = ((const uint64_t *)image)[lane] + ((uint64_t)rank << 24);
            else
                ((uint32_t *)(f->regs + c->row))[lane] = ((const uint32_t *)image)[lane] + (rank << 24);
        }
    }
}

static struct frame *frame_alloc(const struct func *f)
{
    size_t size = sizeof(struct frame) + f->frame_bytes;
    struct frame *fr = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!fr)
        abort();
    memset(fr, 0, sizeof *fr);
    fr->func = f;
    memcpy(fr->regs + f->const_row, f->const_image, f->frame_bytes - f->const_row);
    return fr;
}

struct frame *frame_new(const struct cta *c, const struct func *f, struct frame *parent, uint32_t local_base)
{
    struct frame **at = &c->sm->spare_frame;
    while (*at && (*at)->func != f)
        at = &(*at)->parent;
    struct frame *fr = *at;
    if (fr)
        *at = fr->parent;
    else
        fr = frame_alloc(f);
    memset(fr->regs, 0xa5, f->const_row);       /* junk: a register that nothing set shows */
    fr->parent = parent;
    fr->refs = 1;
    fr->local_base = local_base;
    place_locals(fr);
    place_shared(fr, c->cluster_rank);
    return fr;
}

void frame_release(struct sm *sm, struct frame *f)
{
    while (f && --f->refs == 0) {
        struct frame *parent = f->parent;
        free(f->stack);
        f->stack = NULL;
        f->parent = sm->spare_frame;
        sm->spare_frame = f;
        f = parent;
    }
}

/* ---------------------------------------------------------------- splits and joins */

static void set_rpc(struct split *s)
{
    s->rpc = s->join && s->join->frame == s->frame ? s->join->pc : NO_RPC;
}

static void make_ready(struct split *s, uint64_t when)
{
    s->state = S_READY;
    s->wake_at = when;
    s->wait_for = NULL;
    s->wait_what = NULL;
}

static struct split *split_new(struct warp *w, const struct split *like, uint32_t mask)
{
    struct sm *sm = w->cta->sm;
    struct split *s = sm->spare_split;
    if (s)
        sm->spare_split = s->next;
    else if (!(s = malloc(sizeof *s)))
        abort();
    *s = *like;
    s->mask = mask;
    s->next = NULL;
    s->frame->refs++;
    make_ready(s, w->now);
    struct split **end = &w->splits;
    while (*end)
        end = &(*end)->next;
    *end = s;
    return s;
}

static void split_unlink(struct warp *w, struct split *s)
{
    struct split **at = &w->splits;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

static void split_remove(struct warp *w, struct split *s)
{
    struct sm *sm = w->cta->sm;
    split_unlink(w, s);
    frame_release(sm, s->frame);
    s->next = sm->spare_split;
    sm->spare_split = s;
    if (w->cur == s)
        w->cur = NULL;
}

static struct join *join_new(struct warp *w, const struct split *s, uint32_t pc)
{
    struct sm *sm = w->cta->sm;
    struct join *j = sm->spare_join;
    if (j)
        sm->spare_join = j->outer;
    else if (!(j = malloc(sizeof *j)))
        abort();
    *j = (struct join){ .pc = pc, .mask = s->mask, .frame = s->frame, .outer = s->join };
    return j;
}

static void join_free(struct warp *w, struct join *j)
{
    j->outer = w->cta->sm->spare_join;
    w->cta->sm->spare_join = j;
}

/* Those who wait at a join go on, as part of the one around it. */
static void join_pass(struct warp *w, struct split *s)
{
    s->join = s->join->outer;
    set_rpc(s);
    make_ready(s, w->now);
    if (s->pc == s->frame->func->ninstr)        /* a divergent return: now all of it can execute the last ret */
        s->pc--;
}

/* All who were to come are there. */
static void join_complete(struct warp *w, struct join *j)
{
    join_pass(w, j->waiter);
    join_free(w, j);
    w->patience = w->patience * 2 < PATIENCE ? w->patience * 2 : PATIENCE;
}

/* The lanes of `mask` will not come to `j`, nor to those around it up to `end`. */
static void join_leave(struct warp *w, struct join *j, const struct join *end, uint32_t mask)
{
    while (j != end) {
        struct join *outer = j->outer;
        j->mask &= ~mask;
        if (!j->mask)
            join_free(w, j);
        else if (j->waiter && j->waiter->mask == j->mask)
            join_complete(w, j);
        j = outer;
    }
}

static void join_abandon(struct warp *w, struct split *s)
{
    struct join *j = s->join;
    j->waiter = NULL;
    j->mask &= ~s->mask;
    join_pass(w, s);
    w->patience = w->patience / 2 > PATIENCE_LEAST ? w->patience / 2 : PATIENCE_LEAST;
}

static void join_arrive(struct warp *w, struct split *s)
{
    struct join *j = s->join;
    if (j->waiter) {
        s->mask |= j->waiter->mask;
        split_remove(w, j->waiter);
    }
    j->waiter = s;
    s->state = S_JOIN;
    s->wake_at = w->now + w->patience;
    if (s->mask == j->mask)
        join_complete(w, j);
}

void split_goto(struct warp *w, struct split *s, uint32_t pc)
{
    s->pc = pc;
    if (pc == s->rpc && s != w->cur)
        join_arrive(w, s);
}

struct split *split_divide(struct warp *w, uint32_t mask, uint32_t meet_pc)
{
    struct split *s = w->cur;
    if (s->rpc != meet_pc) {
        s->join = join_new(w, s, meet_pc);
        s->rpc = meet_pc;
    }
    s->mask &= ~mask;
    return split_new(w, s, mask);
}

static bool join_within(const struct join *j, const struct join *outer)
{
    for (; j != outer; j = j->outer)
        if (!j)
            return false;
    return true;
}

static void split_merge(struct warp *w, struct split *into, struct split *from)
{
    struct join *common = into->join;
    while (!join_within(from->join, common))
        common = common->outer;
    join_leave(w, into->join, common, into->mask);
    join_leave(w, from->join, common, from->mask);
    into->join = common;
    into->mask |= from->mask;
    set_rpc(into);
    split_remove(w, from);
}

/* The join at the end of the running split's function, for all lanes that came in together: outside all other
 * joins of this frame, made when first needed. */
static struct join *return_join(struct warp *w, struct split *s, uint32_t end)
{
    struct join *last = s->join;
    if (!last || last->frame != s->frame) {
        s->join = join_new(w, s, end);
        set_rpc(s);
        return s->join;
    }
    while (last->outer && last->outer->frame == s->frame)
        last = last->outer;
    if (last->pc == end)
        return last;
    struct join *j = join_new(w, s, end);
    j->mask = last->mask;
    j->outer = last->outer;
    return last->outer = j;
}

/* Lanes of the running split return. False when they are all that came in: then they can go. Else they wait at
 * the function's end and will not come to the joins inside it. */
bool split_return(struct warp *w, uint32_t mask)
{
    struct split *s = w->cur, *leaving = s;
    uint32_t end = s->frame->func->ninstr;
    if (mask == s->mask && (!s->join || s->join->frame != s->frame))
        return false;
    struct join *meet = return_join(w, s, end);
    if (mask != s->mask) {
        s->mask &= ~mask;
        leaving = split_new(w, s, mask);
    }
    join_leave(w, leaving->join, meet, mask);
    leaving->join = meet;
    set_rpc(leaving);
    leaving->pc = end;
    if (leaving != s)
        join_arrive(w, leaving);
    return true;
}

void split_enter(struct warp *w, struct split *s, struct frame *f)
{
    s->frame = f;
    set_rpc(s);
    if (s == w->cur)
        w->regs = f->regs;
}

int split_exit(struct warp *w, uint32_t mask)
{
    struct split *s = w->cur;
    w->exited |= mask;
    s->mask &= ~mask;
    join_leave(w, s->join, NULL, mask);
    if (!s->mask)
        split_remove(w, s);
    for (struct split *t = w->splits; t; t = t->next)
        if (t->state == S_WARP)                 /* it may have waited for the lanes that are gone */
            make_ready(t, w->now);
    barrier_exited(w, mask);
    return X_JUMP;
}

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
                make_ready(s, when);
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
        return fault(w, in, __builtin_ctz(s->mask), FAULT_NOT_CONVERGED, "lanes 0x%08x are here, 0x%08x are expected, and none of the others has a way to come",
                     s->mask, members);
    return fault(w, in, __builtin_ctz(s->mask), FAULT_NOT_CONVERGED, "lanes 0x%08x are here, 0x%08x are expected; lanes 0x%08x wait at %s",
                 s->mask, members, other->mask, source_place(&other->frame->func->code[other->pc], place, sizeof place));
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
    fault(w, in, __builtin_ctz(missing), FAULT_NOT_CONVERGED, "lanes 0x%08x execute it, lanes 0x%08x do not", mask, missing);
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
static int run_split(struct warp *w, struct split *s, uint64_t limit)
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
            if (w->cur != s || s->state != S_READY || s->wake_at > w->now)
                break;
            frame = s->frame;
            code = frame->func->code;
            continue;
        }
        if (status == X_RETRY && w->cur == s)
            s->pc = (uint32_t)(in - code);
        break;
    } while (w->now < limit);
    w->executed += executed;
    w->issued += issued;
    return status;
}

/* A split whose time has come; timed sleepers wake, waiters whose patience is over leave their join. */
static struct split *pick_split(struct warp *w, bool *others)
{
    struct split *best = NULL, *next;
    *others = false;
    for (struct split *s = w->splits; s; s = next) {
        next = s->next;
        if (s->wake_at > w->now || s->state == S_WARP)
            continue;
        if (s->state == S_SLEEP)
            make_ready(s, w->now);
        else if (s->state == S_JOIN)
            join_abandon(w, s);
        if (!best)
            best = s;
        else if (s->pc == best->pc && s->frame == best->frame)
            split_merge(w, best, s);
        else
            *others = true;
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
        int status = run_split(w, s, until);
        if (status == X_FAULT)
            return;
        if (w->cur != s)
            continue;
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

void warp_free(struct warp *w)
{
    struct sm *sm = w->cta->sm;
    while (w->splits) {
        struct split *s = w->splits;
        struct join *j = s->join, *outer;
        for (; j; j = outer) {                  /* each lane of a killed warp leaves all its joins */
            outer = j->outer;
            j->waiter = NULL;
            j->mask &= ~s->mask;
            if (!j->mask)
                join_free(w, j);
        }
        w->splits = s->next;
        frame_release(sm, s->frame);
        s->next = sm->spare_split;
        sm->spare_split = s;
    }
}
