/* split.c: frames, and a warp as a list of splits.
 *
 * A divergent branch cuts the running split in two, which meet again at the branch's immediate
 * post-dominator (a `join`). Whoever comes there first waits for the others, but not for ever: its
 * patience ends, it goes on alone, and the lanes of a warp thus make progress independently, as the
 * chip promises since Volta. Ready splits of one frame that stand at the same pc become one again. */
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
    memset(fr->regs, 0xff, f->const_row);       /* poison, NaN as a float: a register that nothing set shows */
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

void split_ready(struct split *s, uint64_t when)
{
    s->state = S_READY;
    s->wake_at = when;
    s->wait_for = NULL;
    s->wait_what = NULL;
}

struct split *split_new(struct warp *w, const struct split *like, uint32_t mask)
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
    s->watch = (struct watch){ 0 };
    s->frame->refs++;
    split_ready(s, w->now);
    struct split **end = &w->splits;
    while (*end)
        end = &(*end)->next;
    *end = s;
    return s;
}

void split_unlink(struct warp *w, struct split *s)
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
    split_ready(s, w->now);
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

void join_abandon(struct warp *w, struct split *s)
{
    struct join *j = s->join;
    j->waiter = NULL;
    j->mask &= ~s->mask;
    join_pass(w, s);
    w->patience = w->patience / 2 > PATIENCE_LEAST ? w->patience / 2 : PATIENCE_LEAST;
}

void join_arrive(struct warp *w, struct split *s)
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

void split_merge(struct warp *w, struct split *into, struct split *from)
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
            split_ready(t, w->now);
    barrier_exited(w, mask);
    return X_JUMP;
}

/* All splits of a warp that is killed. */
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
