/* clc.c: cluster launch control: a running cluster takes the place of one that has not begun.
 *
 * Modelled: a request takes the next cluster of its own grid that has not begun, if there is one, at a later cycle; that
 * cluster is then never launched. The answer, 16 bytes, goes to the CTA or to all of its cluster, through the asynchronous
 * proxy, and completes 16 bytes on an mbarrier of each. Found and named: asking again after an answer that nothing is left was
 * read; reading coordinates out of such an answer, or out of what is none; a peer that has exited.
 * The bytes of an answer are the emulator's own: no program may read them but with query_cancel.
 * PTX ISA: "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel". */
#include "../core/core.h"
#include "../core/memory.h"
#include "mbarrier.h"

#include <stdlib.h>

enum { LATENCY = 400,           /* cycles until the answer is there */
       ANSWER = 16 };

struct answer { uint32_t x; uint16_t y, z; uint32_t unused, mark; };
#define TAKEN 0x434c4331u       /* marks of answers: a cluster was taken, nothing is left */
#define NOTHING 0x434c4330u

/* One request under way. */
struct request {
    struct warp *w;
    const struct instr *in;
    int lane;
    uint32_t n;                 /* CTAs that hear of it */
    struct { struct cta *cta; uint8_t *at, *written; struct mbarrier *bar; } to[MAX_CLUSTER];
    struct answer answer;
};

/* ---------------------------------------------------------------- try_cancel */

/* The next cluster of the launch that has not begun; it counts as begun and finished. */
static struct answer take_cluster(struct launch *l)
{
    struct gpu *g = l->gpu;
    uint32_t first[3] = { 0, 0, 0 };
    pthread_mutex_lock(&g->lock);
    bool left = l->dispatched < l->clusters && !l->fault;
    if (left) {
        cluster_origin(l, l->dispatched++, first);
        l->finished++;
    }
    pthread_mutex_unlock(&g->lock);
    return (struct answer){ first[0], (uint16_t)first[1], (uint16_t)first[2], 0, left ? TAKEN : NOTHING };
}

/* One CTA hears of it. A peer does a little later, on its own SM's clock. */
struct letter { struct answer answer; uint8_t *at, *written; struct mbarrier *bar; };

static void deliver(struct cta *c, void *arg, uint64_t now)
{
    struct letter *letter = arg;
    if (c->over && !c->launch->fault)
        fault_launch(c->launch, FAULT_CLUSTER, "an answer of clusterlaunchcontrol.try_cancel comes to CTA (%u,%u,%u), which has exited",
                     c->id[0], c->id[1], c->id[2]);
    if (!c->launch->fault) {
        memcpy(letter->at, &letter->answer, ANSWER);
        memset(letter->written, 1, ANSWER);
        mbarrier_complete_tx(letter->bar, ANSWER, now);
    }
    free(letter);
}

static void decide(struct cta *c, void *arg, uint64_t now)
{
    struct request *r = arg;
    const struct answer answer = take_cluster(c->launch);
    for (uint32_t i = 0; i < r->n; i++) {
        struct letter *letter = malloc(sizeof *letter);
        if (!letter)
            abort();
        *letter = (struct letter){ answer, r->to[i].at, r->to[i].written, r->to[i].bar };
        event_at(r->to[i].cta, now + (r->to[i].cta == c ? 0 : latency(c, LATENCY / 4)), deliver, letter);
    }
    free(r);
}

/* A CTA of the cluster that the answer goes to, at the offsets that the addresses have. */
static bool add_receiver(struct request *r, uint32_t rank, uint64_t addr, uint64_t bar)
{
    struct cta *c = r->w->cta->cluster[rank];
    enum space space = SP_SHARED_CLUSTER;
    uint64_t high = (uint64_t)rank << 24;
    if (c->over)
        return fault(r->w, r->in, r->lane, FAULT_CLUSTER, "CTA rank %u of the cluster has exited", rank), false;
    uint8_t *at = mem_at(r->w, r->in, r->lane, space, (addr & 0xffffff) | high, ANSWER, ANSWER, A_WRITE | A_LATER);
    struct mbarrier *b = at ? mbarrier_at(r->w, r->in, r->lane, space, (bar & 0xffffff) | high, true) : NULL;
    if (!b || !race_copy_in(r->w, r->in, r->lane, c, (uint32_t)addr, ANSWER, mbarrier_race(b), true))
        return false;
    r->to[r->n].cta = c;
    r->to[r->n].at = at;
    r->to[r->n].written = c->smem_init + (at - c->smem);
    r->to[r->n++].bar = b;
    return true;
}

/* The shared address that an operand names in this CTA. */
static bool own_address(struct warp *w, const struct instr *in, int lane, uint64_t *addr)
{
    enum space space = in->space == SP_GENERIC ? SP_SHARED_CLUSTER : SP_SHARED_CTA;
    uint64_t low = in->space == SP_GENERIC ? *addr - w->cta->memory->base : *addr;
    if (low < WINDOW && shared_owner(w->cta, space, (uint32_t)low) == w->cta) {
        *addr = low;
        return true;
    }
    fault(w, in, lane, FAULT_BAD_OPERAND, "0x%llx is not an address of this CTA's shared memory", (unsigned long long)*addr);
    return false;
}

static int try_cancel(struct warp *w, const struct instr *in, uint32_t mask)
{
    const bool all = in->op == OP_CLC_TRY_CANCEL_ALL;
    uint64_t addr[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    mem_addresses(w, &in->opnd[1], bar);
    FOR_LANES(i, mask) {
        if (w->cta->no_more_clusters)
            return fault(w, in, (int)i, FAULT_CLUSTER, "this CTA has read an answer that no cluster is left; asking again is undefined");
        if (!own_address(w, in, (int)i, &addr[i]) || !own_address(w, in, (int)i, &bar[i]))
            return X_FAULT;
        struct request *r = calloc(1, sizeof *r);
        if (!r)
            abort();
        r->w = w, r->in = in, r->lane = (int)i;
        for (uint32_t rank = 0; rank < w->cta->ncluster; rank++)
            if ((all || rank == w->cta->cluster_rank) && !add_receiver(r, rank, addr[i], bar[i])) {
                free(r);
                return X_FAULT;
            }
        event_at(w->cta, w->now + latency(w->cta, LATENCY), decide, r);
    }
    return X_NEXT;
}

exec_fn *pick_CLC_TRY_CANCEL(struct instr *in) { (void)in; return try_cancel; }
exec_fn *pick_CLC_TRY_CANCEL_ALL(struct instr *in) { (void)in; return try_cancel; }

/* ---------------------------------------------------------------- query_cancel */

/* The answer in a lane's register; false after a fault: it is none. */
static bool read_answer(struct warp *w, const struct instr *in, int lane, struct answer *a)
{
    memcpy(a, w->regs + in->opnd[1].row + (size_t)lane * ANSWER, ANSWER);
    if (a->mark == TAKEN || a->mark == NOTHING)
        return true;
    fault(w, in, lane, FAULT_BAD_OPERAND, "the register does not hold an answer of clusterlaunchcontrol.try_cancel: was its mbarrier "
          "waited for?");
    return false;
}

static int is_canceled(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct answer a;
    FOR_LANES(i, mask) {
        if (!read_answer(w, in, (int)i, &a))
            return X_FAULT;
        PRED(w, &in->opnd[0]) = (PRED(w, &in->opnd[0]) & ~(1u << i)) | (uint32_t)(a.mark == TAKEN) << i;
        w->cta->no_more_clusters |= a.mark == NOTHING;
    }
    return X_NEXT;
}

/* d: one register, or four. `first` says which coordinate comes first. */
static int get_ctaid(struct warp *w, const struct instr *in, uint32_t mask, uint32_t first)
{
    const struct operand *d = &in->opnd[0];
    struct answer a;
    FOR_LANES(i, mask) {
        if (!read_answer(w, in, (int)i, &a))
            return X_FAULT;
        if (a.mark == NOTHING)
            return fault(w, in, (int)i, FAULT_BAD_OPERAND, "the answer says that no cluster was taken: it holds no coordinates");
        const uint32_t value[4] = { a.x, a.y, a.z, UINT32_MAX };
        if (d->kind == O_REG)
            ROW(w, d, uint32_t)[i] = value[first];
        for (uint32_t e = 0; d->kind == O_VEC && e < d->n; e++)
            if (d->elem[e].kind == O_REG)
                ROW(w, &d->elem[e], uint32_t)[i] = value[e];
    }
    return X_NEXT;
}

static int get_first(struct warp *w, const struct instr *in, uint32_t mask) { return get_ctaid(w, in, mask, 0); }
static int get_y(struct warp *w, const struct instr *in, uint32_t mask) { return get_ctaid(w, in, mask, 1); }
static int get_z(struct warp *w, const struct instr *in, uint32_t mask) { return get_ctaid(w, in, mask, 2); }

exec_fn *pick_CLC_IS_CANCELED(struct instr *in) { (void)in; return is_canceled; }
exec_fn *pick_CLC_GET_CTAID(struct instr *in) { return in->opnd[0].kind == O_VEC && in->opnd[0].n == 4 ? get_first : NULL; }
exec_fn *pick_CLC_GET_X(struct instr *in) { (void)in; return get_first; }
exec_fn *pick_CLC_GET_Y(struct instr *in) { (void)in; return get_y; }
exec_fn *pick_CLC_GET_Z(struct instr *in) { (void)in; return get_z; }
