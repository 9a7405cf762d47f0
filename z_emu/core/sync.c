/* sync.c: bar and barrier (named barriers of a CTA), barrier.cluster.
 *
 * A warp arrives as a whole: when all its live lanes stand at the barrier it counts 32 threads, whatever
 * the number of lanes. Without a thread count a barrier expects every warp that has not exited, so warps
 * that exit release who waited for them alone. A waiting split stands behind its instruction; whoever
 * completes the barrier writes the results of .red into the waiters' registers and wakes them. */
#include "core.h"
#include "../unit/setmaxnreg.h"

enum { RELEASE = 20 };          /* cycles from the last arrival until waiters go on */

static const char *const barrier_name[16] = {
    "barrier 0", "barrier 1", "barrier 2", "barrier 3", "barrier 4", "barrier 5", "barrier 6", "barrier 7",
    "barrier 8", "barrier 9", "barrier 10", "barrier 11", "barrier 12", "barrier 13", "barrier 14", "barrier 15"
};

/* ---------------------------------------------------------------- arrival and completion */

static uint32_t live_threads(const struct cta *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nwarp; i++)
        n += warp_live(&c->warp[i]) ? WARP : 0;
    return n;
}

static void write_result(const struct barrier *b, struct split *s)
{
    const struct instr *in = &s->frame->func->code[s->pc - 1];
    const struct operand *d = &in->opnd[0];
    uint8_t *row = s->frame->regs + d->row;
    if (in->ntype == 0 || d->kind != O_REG)     /* .sync has no type */
        return;
    if (in->type[0] != T_PRED) {
        FOR_LANES(lane, s->mask)
            ((uint32_t *)row)[lane] = b->red_popc;
    } else {
        bool value = has_mod(in, M_op_and) ? b->red_and : b->red_or;
        uint32_t *p = (uint32_t *)row;
        *p = value ? *p | s->mask : *p & ~s->mask;
    }
}

static void complete(struct cta *c, struct barrier *b, uint64_t now)
{
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < c->nwarp; i++)
        for (struct split *s = c->warp[i].splits; s; s = s->next)
            if (s->state == S_SLEEP && s->wait_for == b) {
                write_result(b, s);
                waiting |= 1ull << i;
            }
    race_barrier_done(c, (uint32_t)(b - c->barrier), waiting);
    *b = (struct barrier){ .phase = b->phase + 1, .red_and = 1 };
    split_wake(c, b, now + RELEASE);
}

static void check_complete(struct cta *c, struct barrier *b, uint64_t now)
{
    uint32_t expected = b->expected ? b->expected : live_threads(c);
    if (b->arrived && b->arrived >= expected)
        complete(c, b, now);
}

/* Lanes of w stand at barrier `id`; once all its live lanes do, the warp has arrived. */
static void arrive(struct warp *w, uint32_t id, uint32_t lanes)
{
    struct barrier *b = &w->cta->barrier[id];
    w->barrier_lanes[id] |= lanes;
    if (warp_live(w) & ~w->barrier_lanes[id])
        return;
    w->barrier_lanes[id] = 0;
    b->arrived += WARP;
    race_barrier_arrive(w, id);
    check_complete(w->cta, b, w->now);
}

/* ---------------------------------------------------------------- the instructions */

static uint32_t whole(const struct cta *c, uint32_t count) { return count ? count : c->nwarp * WARP; }

/* Operands a (and b) must be the same in all lanes that execute it together, b a multiple of 32 and the
 * same for all who use the barrier. */
static bool check_operands(struct warp *w, const struct instr *in, uint32_t mask, uint32_t id, uint32_t count)
{
    struct barrier *b = &w->cta->barrier[id & 15];
    int lane = __builtin_ctz(mask);
    if (id > 15)
        fault(w, in, lane, FAULT_BARRIER, "barrier %u: a CTA has barriers 0 to 15", id);
    else if (count % WARP)
        fault(w, in, lane, FAULT_BARRIER, "barrier %u: %u threads is not a multiple of %d", id, count, WARP);
    else if (count > w->cta->nwarp * WARP)
        fault(w, in, lane, FAULT_BARRIER, "barrier %u: %u threads, but the CTA has %u", id, count,
              w->cta->nwarp * WARP);
    else if (b->arrived && b->expected != count && whole(w->cta, b->expected) != whole(w->cta, count))
        fault(w, in, lane, FAULT_BARRIER, "barrier %u: a count of %u threads here, of %u where others have arrived%s",
              id, count, b->expected, b->expected && count ? "" : " (0: all threads of the CTA)");
    else
        return true;
    return false;
}

static uint32_t scalar(struct warp *w, const struct operand *o, uint32_t mask)
{
    return o->kind == O_NONE ? 0 : ROW(w, o, uint32_t)[__builtin_ctz(mask)];
}

/* Lanes of the mask whose a and b are those of its first lane. */
static uint32_t same_barrier(struct warp *w, const struct operand *a, const struct operand *b, uint32_t mask)
{
    const uint32_t *id = ROW(w, a, uint32_t), *count = b->kind == O_NONE ? id : ROW(w, b, uint32_t);
    uint32_t first = (uint32_t)__builtin_ctz(mask), same = 0;
    FOR_LANES(lane, mask)
        same |= (uint32_t)(id[lane] == id[first] && count[lane] == count[first]) << lane;
    return same;
}

/* The running split becomes the lanes of mask alone; the rest goes on, or comes back here if it was to
 * execute this as well. Returns the lanes that execute it now. */
static uint32_t separate(struct warp *w, const struct instr *in, const struct operand *a, const struct operand *b,
                         uint32_t mask)
{
    struct split *s = w->cur;
    uint32_t here = (uint32_t)(in - s->frame->func->code), same = same_barrier(w, a, b, mask);
    if (s->mask & ~mask)
        split_goto(w, split_divide(w, s->mask & ~mask, here + 1), here + 1);
    if (mask & ~same)
        split_goto(w, split_divide(w, mask & ~same, here + 1), here);
    return same;
}

static void reduce(struct warp *w, struct barrier *b, const struct operand *c, uint32_t mask)
{
    uint32_t p = (c->flags & O_NOT ? ~PRED(w, c) : PRED(w, c)) & mask;
    b->red_popc += (uint32_t)__builtin_popcount(p);
    b->red_or |= p != 0;
    b->red_and &= p == mask;
}

static int wait_at(struct warp *w, const struct instr *in, uint32_t mask, const struct operand *a,
                   const struct operand *n, const struct operand *c)
{
    if (w->cur->mask != mask || !((a->flags & O_CONST) && (n->kind == O_NONE || (n->flags & O_CONST))))
        mask = separate(w, in, a, n, mask);
    uint32_t id = scalar(w, a, mask), count = scalar(w, n, mask);
    if (!check_operands(w, in, mask, id, count))
        return X_FAULT;
    struct barrier *b = &w->cta->barrier[id];
    b->expected = count;
    if (c)
        reduce(w, b, c, mask);
    split_block(w, b, NEVER, barrier_name[id]);
    arrive(w, id, mask);
    return X_JUMP;
}

static int exec_bar_sync(struct warp *w, const struct instr *in, uint32_t mask)
{
    return wait_at(w, in, mask, &in->opnd[0], &in->opnd[1], NULL);
}

static int exec_bar_red(struct warp *w, const struct instr *in, uint32_t mask)
{
    return wait_at(w, in, mask, &in->opnd[1], &in->opnd[2], &in->opnd[3]);
}

static int exec_bar_arrive(struct warp *w, const struct instr *in, uint32_t mask)
{
    while (mask) {
        uint32_t same = same_barrier(w, &in->opnd[0], &in->opnd[1], mask);
        uint32_t id = scalar(w, &in->opnd[0], same), count = scalar(w, &in->opnd[1], same);
        if (!count)
            return fault(w, in, __builtin_ctz(same), FAULT_BARRIER, "barrier %u: arrive needs a thread count", id);
        if (!check_operands(w, in, same, id, count))
            return X_FAULT;
        w->cta->barrier[id].expected = count;
        arrive(w, id, same);
        mask &= ~same;
    }
    return X_NEXT;
}

static exec_fn *aligned(struct instr *in, exec_fn *fn)  /* bar is barrier.aligned */
{
    in->flags |= F_ALIGNED;
    return fn;
}

exec_fn *pick_BAR_SYNC(struct instr *in) { return aligned(in, exec_bar_sync); }
exec_fn *pick_BAR_ARRIVE(struct instr *in) { return aligned(in, exec_bar_arrive); }
exec_fn *pick_BAR_RED(struct instr *in) { return aligned(in, exec_bar_red); }
exec_fn *pick_BAR_RED_POPC(struct instr *in) { return aligned(in, exec_bar_red); }
exec_fn *pick_BAR_CTA_SYNC(struct instr *in) { return aligned(in, exec_bar_sync); }
exec_fn *pick_BAR_CTA_ARRIVE(struct instr *in) { return aligned(in, exec_bar_arrive); }
exec_fn *pick_BAR_CTA_RED(struct instr *in) { return aligned(in, exec_bar_red); }
exec_fn *pick_BAR_CTA_RED_POPC(struct instr *in) { return aligned(in, exec_bar_red); }
exec_fn *pick_BARRIER_SYNC(struct instr *in) { return (void)in, exec_bar_sync; }
exec_fn *pick_BARRIER_ARRIVE(struct instr *in) { return (void)in, exec_bar_arrive; }
exec_fn *pick_BARRIER_RED(struct instr *in) { return (void)in, exec_bar_red; }
exec_fn *pick_BARRIER_RED_POPC(struct instr *in) { return (void)in, exec_bar_red; }
exec_fn *pick_BARRIER_CTA_SYNC(struct instr *in) { return (void)in, exec_bar_sync; }
exec_fn *pick_BARRIER_CTA_ARRIVE(struct instr *in) { return (void)in, exec_bar_arrive; }
exec_fn *pick_BARRIER_CTA_RED(struct instr *in) { return (void)in, exec_bar_red; }
exec_fn *pick_BARRIER_CTA_RED_POPC(struct instr *in) { return (void)in, exec_bar_red; }

/* ---------------------------------------------------------------- barrier.cluster
 * Every thread of the cluster that has not exited arrives once per phase. */

static uint32_t cluster_live(const struct cluster *g)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < g->n; r++)
        for (uint32_t i = 0; i < g->cta[r]->nwarp; i++)
            n += (uint32_t)__builtin_popcount(warp_live(&g->cta[r]->warp[i]));
    return n;
}

static void cluster_check(struct cluster *g, uint64_t now)
{
    if (!g->arrived || g->arrived < cluster_live(g))
        return;
    g->arrived = 0;
    g->phase++;
    race_cluster_done(g);
    for (uint32_t r = 0; r < g->n; r++) {
        struct cta *c = g->cta[r];
        for (uint32_t i = 0; i < c->nwarp; i++) {
            c->warp[i].cluster_passed |= c->warp[i].cluster_arrived;
            c->warp[i].cluster_arrived = 0;
        }
        split_wake(c, g, now + RELEASE);
    }
}

static int exec_cluster_arrive(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct cluster *g = w->cta->group;
    uint32_t again = (w->cluster_arrived | w->cluster_passed) & mask;
    if (again)
        return fault(w, in, __builtin_ctz(again), FAULT_BARRIER,
                     "this thread arrives at the cluster's barrier a second time without waiting");
    w->cluster_arrived |= mask;
    g->arrived += (uint32_t)__builtin_popcount(mask);
    race_cluster_arrive(w, in->sem == M_relaxed);
    cluster_check(g, w->now);
    return X_NEXT;
}

static int exec_cluster_wait(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t without = mask & ~w->cluster_arrived & ~w->cluster_passed;
    if (without)
        return fault(w, in, __builtin_ctz(without), FAULT_BARRIER,
                     "this thread waits at the cluster's barrier without having arrived");
    if (mask & w->cluster_arrived) {
        split_block(w, w->cta->group, NEVER, "the cluster's barrier");
        return X_RETRY;
    }
    w->cluster_passed &= ~mask;
    race_cluster_wait(w, in->sem == M_relaxed);
    return X_NEXT;
}

exec_fn *pick_BARRIER_CLUSTER_ARRIVE(struct instr *in) { return (void)in, exec_cluster_arrive; }
exec_fn *pick_BARRIER_CLUSTER_WAIT(struct instr *in) { return (void)in, exec_cluster_wait; }

/* ---------------------------------------------------------------- exits */

void barrier_exited(struct warp *w, uint32_t lanes)
{
    struct cta *c = w->cta;
    race_exit(w);
    for (uint32_t id = 0; id < 16; id++) {
        struct barrier *b = &c->barrier[id];
        if (w->barrier_lanes[id] && warp_live(w))
            arrive(w, id, 0);                   /* the lanes that are gone may have been the last it waited for */
        else if (b->arrived && !b->expected)
            check_complete(c, b, w->now);
    }
    struct cluster *g = c->group;
    g->arrived -= (uint32_t)__builtin_popcount(w->cluster_arrived & lanes);
    w->cluster_arrived &= ~lanes;
    cluster_check(g, w->now);
    if (!warp_live(w))
        registers_exited(w);
}
