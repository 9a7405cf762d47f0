/* spin.c: hangs of those who do not sleep. A thread that spins on memory which nobody will write again waits as
 * much as one that sleeps on a barrier, and a grid barrier among more CTAs than fit is as dead.
 *
 * A split that stops very often (loads and tests that may be part of a spin) is watched now and then: when it comes
 * back to the same instruction with the same registers and has written nothing on its way, it will do so for ever,
 * unless somebody else changes what it reads. When that is true of everyone who does not sleep, on all host threads,
 * and stays true while each of them goes round again, and the host waits, it is a hang. A time-out plays no part in the
 * proof, but where there are several host threads they are given time to begin. A loop that reads the clock, counts,
 * stores, or reads memory that the host can write is never taken for a hang. */
#include "core.h"

/* Seconds that a host thread must have been stuck when there are several: one that has yet to be given work by the
 * system looks idle. */
static const double SETTLE = 0.5;

enum { WATCH_EVERY = 256,       /* stops between two looks at a split */
       GIVE_UP = 4096 };        /* instructions after which a watched split has not come back */

/* ---------------------------------------------------------------- what leaves no trace but in registers */

static bool reads_clock(const struct instr *in)
{
    const struct operand *a = &in->opnd[1];
    return in->op == OP_MOV && a->kind == O_SREG && a->imm >= SREG_CLOCK && a->imm <= SREG_GLOBALTIMER_HI;
}

/* Loads from memory that the host sees may change without anybody here. */
static bool host_may_write(struct warp *w, const struct instr *in, const struct operand *o)
{
    uint64_t addr[WARP];
    if (in->space != SP_GLOBAL && in->space != SP_GENERIC)
        return false;
    mem_addresses(w, o, addr);
    FOR_LANES(lane, w->cur->mask) {
        const struct alloc *a = mem_find(w->cta->launch->gpu, addr[lane]);
        if (a && a->visible_to_host)
            return true;
    }
    return false;
}

static bool leaves_no_trace(struct warp *w, const struct instr *in)
{
    switch (in->op) {
    case OP_LD:
    case OP_ATOM:               /* whatever it changes shows in the register that holds the old value */
    case OP_ATOM_CAS:
        return !host_may_write(w, in, &in->opnd[1]);
    case OP_BRA:
    case OP_BRX:
    case OP_NANOSLEEP:
    case OP_BAR_WARP_SYNC:
    case OP_SHFL:
    case OP_MEMBAR:
    case OP_FENCE:
    case OP_MBARRIER_TEST_WAIT:
    case OP_MBARRIER_TEST_WAIT_PARITY:
    case OP_MBARRIER_TRY_WAIT:
    case OP_MBARRIER_TRY_WAIT_PARITY:
        return true;
    default:
        return op_cost((enum op)in->op) <= COST_MUFU && !reads_clock(in);
    }
}

/* ---------------------------------------------------------------- watching a split */

static uint64_t hash_registers(const struct split *s)
{
    const uint64_t *at = (const uint64_t *)s->frame->regs, *end = at + s->frame->func->const_row / 8;
    uint64_t h = s->mask * 0x9e3779b97f4a7c15u + s->pc;
    for (; at < end; at++)
        h = (h ^ *at) * 0x100000001b3u + (h >> 29);
    return h | 1;
}

static void unwatch(struct split *s)
{
    s->watch = (struct watch){ .stops = s->watch.stops };
}

/* The running split stops. A stop at the watched instruction with the same registers as before: it goes in circles. */
void spin_stop(struct split *s)
{
    struct watch *v = &s->watch;
    v->stops++;
    if (!v->hash) {
        if (v->stops % WATCH_EVERY == 0)
            *v = (struct watch){ .stops = v->stops, .hash = hash_registers(s), .pc = s->pc };
        return;
    }
    if (s->pc != v->pc)
        return;
    v->circles = hash_registers(s) == v->hash;
    v->steps = 0;
    if (!v->circles)
        unwatch(s);
}

/* A split is watched for as long as it leaves no trace. */
int step_split(struct warp *w, struct split *s, uint64_t limit)
{
    int status;
    do {
        if (w->held && (status = held_allows(w, s)) != X_NEXT)
            return status;
        if (s->watch.hash && s->pc != s->rpc &&
            (!leaves_no_trace(w, &s->frame->func->code[s->pc]) || ++s->watch.steps > GIVE_UP))
            unwatch(s);
        status = run_split(w, s, w->now + 1);
    } while ((status == X_NEXT || status == X_JUMP) && w->cur == s && s->state == S_READY && s->wake_at <= w->now &&
             w->now < limit);
    return status;
}

/* ---------------------------------------------------------------- is it all of them? */

static bool cta_stuck(const struct cta *c)
{
    if (c->events)
        return false;
    for (uint32_t i = 0; i < c->nwarp; i++)
        for (const struct split *s = c->warp[i].splits; s; s = s->next) {
            bool asleep = (s->state == S_SLEEP && s->wake_at == NEVER) || s->state == S_WARP;
            if (!asleep && !s->watch.circles)
                return false;
        }
    return true;
}

static bool all_stuck(const struct worker *k)
{
    for (uint32_t i = 0; i < k->nsms; i++)
        for (uint32_t j = 0; k->sm[i]->nctas && j < MAX_CTAS; j++)
            if (k->sm[i]->cta[j] && !cta_stuck(k->sm[i]->cta[j]))
                return false;
    return k->resident && !k->dead && k->gpu->host_waits;
}

/* Have the other host threads been stuck through `rounds` more rounds than at the last count? Keeps count. */
static bool others_stuck(struct worker *k, uint32_t rounds)
{
    bool all = true;
    for (uint32_t i = 0; i < k->gpu->njobs; i++) {
        struct worker *other = &k->gpu->worker[i];
        uint32_t n = atomic_load(&other->stuck);
        bool idle = atomic_load(&other->clock) == FAR;
        if (other != k && !idle && (!n || n < k->others[i] + rounds))
            all = false;
        if (!n && !idle)
            k->others[i] = UINT32_MAX / 2;      /* count anew when it is stuck again */
        else if (k->others[i] == UINT32_MAX / 2)
            k->others[i] = n;
    }
    return all;
}

/* After each round of a host thread. True: nobody will ever go on. */
bool spin_hangs(struct worker *k)
{
    enum { ROUNDS = 3 };
    if (!all_stuck(k)) {
        atomic_store(&k->stuck, 0);
        for (uint32_t i = 0; i < k->gpu->njobs; i++)
            k->others[i] = UINT32_MAX / 2;
        return false;
    }
    uint32_t mine = atomic_fetch_add(&k->stuck, 1) + 1;
    if (mine == 1)
        k->stuck_since = host_seconds();
    return others_stuck(k, ROUNDS) && mine > 2 * ROUNDS &&
           (k->gpu->njobs == 1 || host_seconds() - k->stuck_since > SETTLE);
}
