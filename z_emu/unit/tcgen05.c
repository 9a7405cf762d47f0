/* tcgen05.c: the pipe of the fifth-generation tensor core: operations that a thread starts and that go on by themselves
 * (mma, cp, shift), tcgen05.commit, which makes an mbarrier say when they are done, and the fences.
 *
 * Modelled: one pipe on each SM, which takes one operation after another; an operation of a pair of CTAs takes both pipes.
 * Shared and tensor memory are read, and tensor memory is written, when the operation is done, all at once. A commit
 * arrives when all that its thread has issued before is done. Which access is ordered behind which is watched over
 * (tmem_order.c).
 * Not modelled: that operations without a mutual order could overtake each other.
 * PTX ISA: "TensorCore 5th Generation Async Synchronization Operations", "… Specialized Synchronization Operations". */
#include "tcgen05.h"
#include "mbarrier.h"
#include "../core/memory.h"

#include <stdlib.h>

enum { ARRIVE = 20,             /* cycles from the end of the last operation to the arrival */
       REMOTE = 200 };          /* …and on to another CTA */

static void *make(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- a CTA's state */

struct tcgen05 *tc_state(struct cta *c)
{
    if (!c->tcgen05) {
        c->tcgen05 = make(sizeof *c->tcgen05);
        c->tcgen05->pipe_end = make(c->nwarp * WARP * sizeof *c->tcgen05->pipe_end);
        c->tcgen05->warp = make(c->nwarp * sizeof *c->tcgen05->warp);
    }
    return c->tcgen05;
}

struct tcgen05 *tc_group_state(struct warp *w, const struct instr *in, int lane)
{
    struct cta *c = w->cta;
    struct tcgen05 *s = tc_state(c);
    uint32_t group = tc_group(in);
    char place[128];
    if (group == 2 && (c->cluster_rank ^ 1) >= c->ncluster) {
        fault(w, in, lane, FAULT_TCGEN05, "cta_group::2 is for a pair of CTAs; CTA rank %u of a cluster of %u has no peer", c->cluster_rank,
              c->ncluster);
        return NULL;
    }
    if (group == 2 && tc_peer(c)->over && !s->dealloc.met) {
        fault(w, in, lane, FAULT_TCGEN05, "the peer CTA has exited");
        return NULL;
    }
    if (s->group && s->group != group) {
        fault(w, in, lane, FAULT_TCGEN05, "all tcgen05 instructions of a kernel have the same .cta_group; at %s it was cta_group::%u",
              source_place(s->group_by, place, sizeof place), s->group);
        return NULL;
    }
    s->group = (uint8_t)group;
    s->group_by = in;
    return s;
}

void tcgen05_close(struct cta *c)
{
    if (!c->tcgen05)
        return;
    tc_loads_close(c);
    free(c->tcgen05->pipe_end);
    free(c->tcgen05->warp);
    free(c->tcgen05);
    c->tcgen05 = NULL;
}

/* ---------------------------------------------------------------- operations */

static uint64_t *pipe_end_of(struct warp *w, int lane) { return &tc_state(w->cta)->pipe_end[w->id * WARP + (uint32_t)lane]; }

void *tc_op_new(struct warp *w, const struct instr *in, int lane, enum tc_kind kind, size_t bytes)
{
    struct tc_op *op = make(bytes);
    op->user = (struct tc_user){ w, in, lane, kind };
    op->cta = w->cta;
    op->group = tc_group(in);
    return op;
}

void tc_drop(struct tc_op *op)
{
    for (uint32_t i = 0; i < op->naccesses; i++)
        tmem_finish(op->access[i].tmem, op->access[i].access, op->end);
    free(op);
}

bool tc_access(struct tc_op *op, struct cta *c, struct tmem_part part, bool write)
{
    if (!tmem_ordered(&op->user, c, part, write))
        return false;
    op->access[op->naccesses].tmem = tmem_of(c->sm);
    op->access[op->naccesses++].access = tmem_begin(&op->user, c, part, write, UINT64_MAX);
    return true;
}

static void done(struct cta *c, void *arg, uint64_t now)
{
    struct tc_op *op = arg;
    op->end = now;
    if (!c->launch->fault)
        op->work(op);
    tc_drop(op);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

void tc_start(struct tc_op *op, uint32_t busy, uint32_t latency_cycles)
{
    struct cta *c = op->cta;
    struct sm *sm[2] = { c->sm, op->group == 2 ? tc_peer(c)->sm : c->sm };
    uint64_t *latest = pipe_end_of(op->user.w, op->user.lane);
    uint64_t start = later(op->user.w->now, later(sm[0]->tensor_free, sm[1]->tensor_free));
    uint64_t end = start + busy + latency(c, latency_cycles);
    for (int i = 0; i < 2; i++)
        end = later(end, tmem_of(sm[i])->pipe_end);
    for (int i = 0; i < 2; i++) {
        sm[i]->tensor_free = start + busy;
        tmem_of(sm[i])->pipe_end = end;
    }
    for (uint32_t i = 0; i < op->naccesses; i++)
        op->access[i].access->end = end;
    *latest = later(*latest, end);
    op->end = end;
    event_at(c, end, done, op);
}

/* ---------------------------------------------------------------- commit */

static void arrive(struct cta *c, void *arg, uint64_t now)
{
    (void)c;
    mbarrier_arrive(arg, 1, now);
}

/* The operations' own CTA first: what they have written is there before anybody hears of it. */
static void send(struct cta *c, void *arg, uint64_t now)
{
    struct mbarrier *b = arg;
    if (mbarrier_cta(b) == c)
        mbarrier_arrive(b, 1, now);
    else
        event_at(mbarrier_cta(b), now + latency(c, REMOTE), arrive, b);
}

/* A commit to the mbarrier at this address; `rank` < 0: where the address says, else at the same offset in that CTA. */
static bool commit_to(struct warp *w, const struct instr *in, int lane, uint64_t addr, int rank)
{
    enum space space = (enum space)in->space;
    uint64_t when = later(w->now, *pipe_end_of(w, lane)) + latency(w->cta, ARRIVE);
    if (rank >= 0) {
        addr = ((space == SP_GENERIC ? addr - w->cta->memory->base : addr) & 0xffffff) | (uint64_t)rank << 24;
        space = SP_SHARED_CLUSTER;
    }
    struct mbarrier *b = mbarrier_at(w, in, lane, space, addr, true);
    if (b) {
        race_commit(w, in, mbarrier_race(b));
        event_at(w->cta, when, send, b);
    }
    return b;
}

static int commit(struct warp *w, const struct instr *in, uint32_t mask)
{
    const bool multicast = has_mod(in, M_multicast_cluster);
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        if (!tc_group_state(w, in, (int)i))
            return X_FAULT;
        if (!multicast && !commit_to(w, in, (int)i, addr[i], -1))
            return X_FAULT;
        uint32_t ctas = multicast ? ROW(w, &in->opnd[1], uint16_t)[i] : 0;
        if (ctas >> w->cta->ncluster)
            return fault(w, in, (int)i, FAULT_BAD_OPERAND, "the mask 0x%x names CTAs outside the cluster of %u", ctas, w->cta->ncluster);
        for (int rank = 0; rank < MAX_CLUSTER; rank++)
            if (ctas >> rank & 1 && !commit_to(w, in, (int)i, addr[i], rank))
                return X_FAULT;
    }
    return X_NEXT;
}

exec_fn *pick_TCGEN05_COMMIT(struct instr *in)
{
    return has_mod(in, M_multicast_cluster) == (in->opnd[1].kind != O_NONE) ? commit : NULL;
}

/* ---------------------------------------------------------------- fences */

/* They make a relaxed arrival or wait order what is done in tensor memory. (In shared memory too, here, which is more than the
 * ISA promises.) */
static int fence_before(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    tc_state(w->cta)->warp[w->id].before = w->now;
    race_fence(w, false);
    return X_NEXT;
}

static int fence_after(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    tc_state(w->cta)->warp[w->id].after = w->now;
    race_fence(w, false);
    return X_NEXT;
}

exec_fn *pick_TCGEN05_FENCE_BEFORE(struct instr *in) { (void)in; return fence_before; }
exec_fn *pick_TCGEN05_FENCE_AFTER(struct instr *in) { (void)in; return fence_after; }
