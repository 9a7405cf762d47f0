/* mbarrier.c: barriers in shared memory, which threads and asynchronous copies arrive at.
 *
 * Modelled: phase, pending and expected arrivals and the transaction count, to the letter; arrivals from other CTAs of the
 * cluster, which waiters there hear of later; state tokens; cp.async.mbarrier.arrive, which arrives when the copies have landed.
 * A phase is complete when no arrival is pending and the transaction count is zero; waiters go on a little later.
 * The counts are kept beside the CTA. Its eight bytes of shared memory hold the same in the form of a token, so that a
 * store over a live mbarrier, which the ISA leaves undefined, is noticed at its next use.
 * try_wait suspends until the phase is complete, without the system's time limit; with a time of its own it ends then.
 * Not modelled: .scope (memory is always in order here; .sem tells the race detector what is ordered).
 * PTX ISA: "Parallel Synchronization and Communication Instructions: mbarrier". */
#include "mbarrier.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum {
    COUNT_MAX = (1 << 20) - 1,  /* of arrivals; of transactions, to either side */
    RELEASE = 20,               /* cycles from the completion of a phase until its waiters go on */
    REMOTE = 200,               /* cycles that an arrival takes to another CTA of the cluster */
    BYTES = 8
};

struct mbarrier {
    struct mbarrier *next;      /* of the same CTA */
    struct cta *cta;
    uint32_t at;                /* shared address, without a rank */
    uint32_t phase;             /* completed phases */
    uint32_t pending, expected; /* arrivals: of this phase, of each later one */
    int32_t tx;                 /* bytes still to come; negative when they came before they were announced */
    uint32_t from[16];          /* arrivals in this phase, by the CTA that made them */
    uint64_t latest;            /* cycle of the latest of what this phase has had: what comes from another CTA is later */
    uint64_t completed;         /* … and of the phase before this one: until then nobody knows that it is complete */
    bool dead;                  /* invalidated; kept, for copies that are under way may still come to it */
    struct race_point *race;    /* who is ordered before those that wait for it; NULL: nobody watches */
};

struct cta *mbarrier_cta(const struct mbarrier *b) { return b->cta; }
struct race_point *mbarrier_race(const struct mbarrier *b) { return b->race; }

/* ---------------------------------------------------------------- the eight bytes
 * bits 1-20 -expected, 21-41 tx, 43-62 -pending, 63 phase: as others found it on the chip. No program may rely on it. */

static uint64_t token(const struct mbarrier *b)
{
    return (uint64_t)(b->phase & 1) << 63 | (uint64_t)(-b->pending & COUNT_MAX) << 43 |
           (uint64_t)((uint32_t)b->tx & 0x1fffff) << 21 | (uint64_t)(-b->expected & COUNT_MAX) << 1;
}

static uint32_t token_phase(uint64_t token) { return (uint32_t)(token >> 63); }
static uint32_t token_pending(uint64_t token) { return -(uint32_t)(token >> 43) & COUNT_MAX; }

static uint8_t *bytes_of(const struct mbarrier *b) { return b->cta->smem + b->at - b->cta->memory->smem_reserved; }

static void show(const struct mbarrier *b)
{
    uint64_t bits = token(b);
    memcpy(bytes_of(b), &bits, BYTES);
}

static bool overwritten(const struct mbarrier *b)
{
    uint64_t bits = token(b);
    return memcmp(bytes_of(b), &bits, BYTES) != 0;
}

/* ---------------------------------------------------------------- finding one */

/* The mbarrier that is or once was there. */
static struct mbarrier *remembered(const struct cta *c, uint32_t at)
{
    struct mbarrier *b = c->mbarriers;
    while (b && b->at != at)
        b = b->next;
    return b;
}

static struct mbarrier *find(const struct cta *c, uint32_t at)
{
    struct mbarrier *b = remembered(c, at);
    return b && !b->dead ? b : NULL;
}

/* Checks a shared address; the CTA it lies in and its offset there. NULL after a fault. */
static struct cta *locate(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, bool remote,
                          uint32_t *at)
{
    enum space shared = remote || space == SP_GENERIC ? SP_SHARED_CLUSTER : SP_SHARED_CTA;
    uint64_t low = space == SP_GENERIC ? addr - w->cta->memory->base : addr;
    struct cta *owner;
    if (space == SP_GENERIC && low >= WINDOW) {
        fault(w, in, lane, FAULT_MBARRIER, "0x%llx is not an address of shared memory", (unsigned long long)addr);
        return NULL;
    }
    if (!mem_at(w, in, lane, shared, low, BYTES, BYTES, A_ANY))
        return NULL;
    owner = shared_owner(w->cta, shared, (uint32_t)low);
    *at = (uint32_t)low & 0xffffff;
    if (owner != w->cta && !remote) {
        fault(w, in, lane, FAULT_MBARRIER, "the mbarrier belongs to CTA rank %u of the cluster: others may only arrive, "
              "expect_tx and complete_tx there", owner->cluster_rank);
        return NULL;
    }
    return owner;
}

struct mbarrier *mbarrier_at(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, bool remote)
{
    uint32_t at;
    struct cta *owner = locate(w, in, lane, space, addr, remote, &at);
    struct mbarrier *b = owner ? find(owner, at) : NULL;
    if (owner && !b)
        fault(w, in, lane, FAULT_MBARRIER, "there is no mbarrier at shared address 0x%x: mbarrier.init has not been executed on it",
              at);
    else if (b && overwritten(b))
        fault(w, in, lane, FAULT_MBARRIER, "something has written over the mbarrier at shared address 0x%x since it was initialised",
              at);
    else if (b && race_point_use(w, in, lane, b->race))
        return b;
    return NULL;
}

/* ---------------------------------------------------------------- what happens to one */

/* Who is to blame when a count leaves its range: the instruction, or hardware acting later. */
struct blame { struct warp *w; const struct instr *in; int lane; };

static const char INVALIDATED[] = "it was invalidated while something was still to arrive";

static bool bad_count(const struct mbarrier *b, const struct blame *who, const char *what)
{
    if (who)
        fault(who->w, who->in, who->lane, FAULT_MBARRIER, "the mbarrier at shared address 0x%x: %s (phase %u, %u of %u arrivals "
              "pending, %d bytes to come)", b->at, what, b->phase, b->pending, b->expected, b->tx);
    else
        fault_launch(b->cta->launch, FAULT_MBARRIER, "the mbarrier at shared address 0x%x of CTA (%u,%u,%u): %s (phase %u, %u of %u "
                     "arrivals pending, %d bytes to come)", b->at, b->cta->id[0], b->cta->id[1], b->cta->id[2], what, b->phase,
                     b->pending, b->expected, b->tx);
    return false;
}

static void settle(struct mbarrier *b, uint64_t now)
{
    if (b->latest < now)
        b->latest = now;
    if (b->pending == 0 && b->tx == 0) {
        b->phase++;
        b->pending = b->expected;
        memset(b->from, 0, sizeof b->from);
        b->completed = b->latest;
        b->latest = 0;
        race_point_phase(b->race);
        split_wake(b->cta, b, b->completed + RELEASE);
    }
    show(b);
}

static bool change_tx(struct mbarrier *b, int64_t by, uint64_t now, const struct blame *who)
{
    int64_t tx = b->tx + by;
    if (b->dead)
        return bad_count(b, who, INVALIDATED);
    if (tx > COUNT_MAX || tx < -COUNT_MAX)
        return bad_count(b, who, "its transaction count leaves the range of 20 bits");
    b->tx = (int32_t)tx;
    if (by < 0)
        settle(b, now);
    else
        show(b);
    return true;
}

static bool arrive(struct mbarrier *b, uint32_t count, uint64_t now, const struct blame *who)
{
    if (b->dead)
        return bad_count(b, who, INVALIDATED);
    if (count < 1 || count > b->pending)
        return bad_count(b, who, count ? "more arrivals than are pending" : "an arrival must count at least 1");
    b->pending -= count;
    if (who)
        b->from[who->w->cta->cluster_rank] += count;
    settle(b, now);
    return true;
}

void mbarrier_complete_tx(struct mbarrier *b, uint32_t bytes, uint64_t now)
{
    race_point_landed(b->race);
    change_tx(b, -(int64_t)bytes, now, NULL);
}
void mbarrier_arrive(struct mbarrier *b, uint32_t count, uint64_t now) { arrive(b, count, now, NULL); }

void mbarriers_close(struct cta *c)
{
    for (struct mbarrier *b = c->mbarriers, *next; b; b = next) {
        next = b->next;
        race_point_free(b->race);
        free(b);
    }
    c->mbarriers = NULL;
}

/* ---------------------------------------------------------------- init, inval */

static int init(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        uint32_t at, count = ROW(w, &in->opnd[1], uint32_t)[i];
        struct cta *c = locate(w, in, (int)i, in->space, addr[i], false, &at);
        struct mbarrier *b;
        if (!c)
            return X_FAULT;
        if (count < 1 || count > COUNT_MAX)
            return fault(w, in, (int)i, FAULT_MBARRIER, "an arrival count of %u: it must be 1 to %d", count, COUNT_MAX);
        if (find(c, at))
            return fault(w, in, (int)i, FAULT_MBARRIER, "there is a live mbarrier at shared address 0x%x already: "
                         "mbarrier.inval comes first", at);
        if (!(b = remembered(c, at))) {
            if (!(b = malloc(sizeof *b)))
                abort();
            b->race = race_point_new(c, at);
            b->next = c->mbarriers;
            c->mbarriers = b;
        }
        *b = (struct mbarrier){ .next = b->next, .cta = c, .at = at, .pending = count, .expected = count, .race = b->race };
        if (!mem_at(w, in, (int)i, SP_SHARED_CTA, at, BYTES, BYTES, A_WRITE))
            return X_FAULT;
        show(b);
    }
    return X_NEXT;
}

/* Its bytes hold nothing afterwards. */
static int inval(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        struct mbarrier *b = mbarrier_at(w, in, (int)i, in->space, addr[i], false);
        if (!b || !race_access(w, in, (int)i, w->cta, b->at, BYTES, true))
            return X_FAULT;
        memset(bytes_of(b), POISON, BYTES);
        memset(w->cta->smem_init + b->at - w->cta->memory->smem_reserved, 0, BYTES);
        b->dead = true;
    }
    return X_NEXT;
}

exec_fn *pick_MBARRIER_INIT(struct instr *in) { (void)in; return init; }
exec_fn *pick_MBARRIER_INVAL(struct instr *in) { (void)in; return inval; }

/* ---------------------------------------------------------------- arrive, expect_tx, complete_tx */

enum action { ARRIVE = 1, DROP = 2, EXPECT_TX = 4, COMPLETE_TX = 8, NO_COMPLETE = 16 };

/* One lane's operation. In another CTA it is done at once, as every access to memory is, but waiters there hear of it
 * later. */
struct request { struct mbarrier *b; uint8_t action; uint32_t count, tx; };

static bool perform(const struct request *r, uint64_t now, const struct blame *who)
{
    struct mbarrier *b = r->b;
    if (r->action & EXPECT_TX && !change_tx(b, r->tx, now, who))
        return false;
    if (r->action & COMPLETE_TX && !change_tx(b, -(int64_t)r->tx, now, who))
        return false;
    if (r->action & NO_COMPLETE && r->count >= b->pending && b->tx == 0)
        return bad_count(b, who, "an arrival with .noComplete completes the phase");
    if (r->action & DROP) {
        if (r->count > b->expected)
            return bad_count(b, who, "more arrivals are dropped than are expected");
        b->expected -= r->count;
    }
    return !(r->action & ARRIVE) || arrive(b, r->count, now, who);
}

/* Operands: the state, if the action is an arrival; the address; the count of arrivals or of bytes. */
static inline int operate(struct warp *w, const struct instr *in, uint32_t mask, uint8_t action)
{
    const struct operand *d = &in->opnd[0], *a = &in->opnd[action & ARRIVE ? 1 : 0], *n = a + 1;
    const bool counts_bytes = action & (EXPECT_TX | COMPLETE_TX), returns = action & ARRIVE && d->kind == O_REG;
    uint64_t addr[WARP];
    mem_addresses(w, a, addr);
    FOR_LANES(i, mask) {
        const uint32_t given = n->kind == O_NONE ? 1 : ROW(w, n, uint32_t)[i];
        const struct blame who = { w, in, (int)i };
        struct request r = { NULL, action, counts_bytes ? 1 : given, counts_bytes ? given : 0 };
        r.b = mbarrier_at(w, in, (int)i, in->space, addr[i], !returns && !(action & NO_COMPLETE));
        if (!r.b)
            return X_FAULT;
        if (action & ARRIVE)
            race_point_arrive(w, in, r.b->race, in->sem == M_relaxed);
        if (returns)
            ROW(w, d, uint64_t)[i] = token(r.b);
        if (!perform(&r, w->now + (r.b->cta == w->cta ? 0 : latency(w->cta, REMOTE)), &who))
            return X_FAULT;
    }
    return X_NEXT;
}

#define OPERATION(ID, ACTION)                                                                          \
    static int exec_##ID(struct warp *w, const struct instr *in, uint32_t mask)                        \
    {                                                                                                  \
        return operate(w, in, mask, ACTION);                                                           \
    }                                                                                                  \
    exec_fn *pick_##ID(struct instr *in)                                                               \
    {                                                                                                  \
        bool remote = in->space == SP_SHARED_CLUSTER;                                                  \
        return remote && ((ACTION) & ARRIVE) && in->opnd[0].kind != O_SINK ? NULL : exec_##ID;         \
    }

OPERATION(MBARRIER_EXPECT_TX, EXPECT_TX)
OPERATION(MBARRIER_COMPLETE_TX, COMPLETE_TX)
OPERATION(MBARRIER_ARRIVE, ARRIVE)
OPERATION(MBARRIER_ARRIVE_EXPECT_TX, ARRIVE | EXPECT_TX)
OPERATION(MBARRIER_ARRIVE_NOCOMPLETE, ARRIVE | NO_COMPLETE)
OPERATION(MBARRIER_DROP, ARRIVE | DROP)
OPERATION(MBARRIER_DROP_EXPECT_TX, ARRIVE | DROP | EXPECT_TX)
OPERATION(MBARRIER_DROP_NOCOMPLETE, ARRIVE | DROP | NO_COMPLETE)

static int pending_count(struct warp *w, const struct instr *in, uint32_t mask)
{
    FOR_LANES(i, mask)
        ROW(w, &in->opnd[0], uint32_t)[i] = token_pending(ROW(w, &in->opnd[1], uint64_t)[i]);
    return X_NEXT;
}

exec_fn *pick_MBARRIER_PENDING_COUNT(struct instr *in) { (void)in; return pending_count; }

/* ---------------------------------------------------------------- cp.async.mbarrier.arrive */

static void arrive_later(struct cta *c, void *arg, uint64_t now)
{
    (void)c;
    mbarrier_arrive(arg, 1, now);
}

/* Each lane arrives once, when the copies it has begun have landed; without .noinc it has added itself to the pending. */
static int copies_arrive(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        struct mbarrier *b = mbarrier_at(w, in, (int)i, in->space, addr[i], false);
        const struct blame who = { w, in, (int)i };
        uint64_t when = cp_async_done(w, 1u << i);
        if (!b)
            return X_FAULT;
        race_work_arrive(w, RACE_CP_ASYNC, cp_async_groups(w, 1u << i) + 1, b->race);
        if (!(in->flags & F_NOINC)) {
            if (b->pending == COUNT_MAX)
                return bad_count(b, &who, "more arrivals than 20 bits can count"), X_FAULT;
            b->pending++;
            show(b);
        }
        event_at(w->cta, when > w->now ? when : w->now + 1, arrive_later, b);
    }
    return X_NEXT;
}

exec_fn *pick_CP_ASYNC_MBARRIER_ARRIVE(struct instr *in) { (void)in; return copies_arrive; }

/* ---------------------------------------------------------------- test_wait, try_wait */

/* Which lanes' phases are complete; *one: the mbarrier of all lanes, NULL when they have several. */
static bool test(struct warp *w, const struct instr *in, uint32_t mask, bool by_parity, uint32_t *complete, struct mbarrier **one)
{
    uint64_t addr[WARP];
    bool same = true;
    mem_addresses(w, &in->opnd[1], addr);
    *complete = 0;
    *one = NULL;
    FOR_LANES(i, mask) {
        struct mbarrier *b = mbarrier_at(w, in, (int)i, in->space, addr[i], false);
        uint32_t parity = by_parity ? ROW(w, &in->opnd[2], uint32_t)[i] : b ? token_phase(ROW(w, &in->opnd[2], uint64_t)[i]) : 0;
        if (!b)
            return false;
        if (parity > 1) {
            fault(w, in, (int)i, FAULT_MBARRIER, "a phase parity of %u: it is 0 or 1", parity);
            return false;
        }
        *complete |= (uint32_t)(parity != (b->phase & 1)) << i;
        if (*complete >> i & 1 && b != *one) {
            w->now = w->now < b->completed ? b->completed : w->now;
            race_point_wait(w, in, b->race, in->sem == M_relaxed);
        }
        same &= !*one || *one == b;
        *one = b;
    }
    *one = same ? *one : NULL;
    return true;
}

static void answer(struct warp *w, const struct instr *in, uint32_t mask, uint32_t complete)
{
    uint32_t *p = &PRED(w, &in->opnd[0]);
    *p = (*p & ~mask) | complete;
}

static inline int test_wait(struct warp *w, const struct instr *in, uint32_t mask, bool by_parity)
{
    uint32_t complete;
    struct mbarrier *b;
    if (!test(w, in, mask, by_parity, &complete, &b))
        return X_FAULT;
    answer(w, in, mask, complete);
    return complete == mask ? X_NEXT : X_YIELD;
}

/* Nanoseconds as cycles, and never none. */
static uint64_t cycles_of(const struct warp *w, uint32_t nanoseconds)
{
    return 1 + (uint64_t)nanoseconds * gpu_device(w->cta->launch->gpu)->clock_khz / 1000000;
}

/* The cycle at which a wait with a time of its own ends: that many nanoseconds after it began. */
static uint64_t deadline(struct warp *w, const struct operand *nanoseconds, uint32_t mask)
{
    struct split *s = w->cur;
    if (nanoseconds->kind == O_NONE)
        return UINT64_MAX;
    if (!s->deadline)
        s->deadline = w->now + cycles_of(w, ROW(w, nanoseconds, uint32_t)[__builtin_ctz(mask)]);
    return s->deadline;
}

/* Sleeps only while no lane can go on; lanes with mbarriers of their own ask again and again. */
static inline int try_wait(struct warp *w, const struct instr *in, uint32_t mask, bool by_parity)
{
    uint32_t complete;
    struct mbarrier *b;
    if (!test(w, in, mask, by_parity, &complete, &b))
        return X_FAULT;
    uint64_t until = deadline(w, &in->opnd[3], mask);
    if (!complete && b && until > w->now)
        return split_sleep(w, b, until, "mbarrier 0x%x, phase %u", b->at, b->phase);
    w->cur->deadline = 0;
    answer(w, in, mask, complete);
    return complete == mask ? X_NEXT : X_YIELD;
}

static int exec_test_wait(struct warp *w, const struct instr *in, uint32_t mask) { return test_wait(w, in, mask, false); }
static int exec_test_wait_parity(struct warp *w, const struct instr *in, uint32_t mask) { return test_wait(w, in, mask, true); }
static int exec_try_wait(struct warp *w, const struct instr *in, uint32_t mask) { return try_wait(w, in, mask, false); }
static int exec_try_wait_parity(struct warp *w, const struct instr *in, uint32_t mask) { return try_wait(w, in, mask, true); }

exec_fn *pick_MBARRIER_TEST_WAIT(struct instr *in) { (void)in; return exec_test_wait; }
exec_fn *pick_MBARRIER_TEST_WAIT_PARITY(struct instr *in) { (void)in; return exec_test_wait_parity; }
exec_fn *pick_MBARRIER_TRY_WAIT(struct instr *in) { (void)in; return exec_try_wait; }
exec_fn *pick_MBARRIER_TRY_WAIT_PARITY(struct instr *in) { (void)in; return exec_try_wait_parity; }

/* ---------------------------------------------------------------- for the hang ledger */

static uint32_t waiting_lanes(const struct mbarrier *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->cta->nwarp; i++)
        for (const struct split *s = b->cta->warp[i].splits; s; s = s->next)
            n += s->wait_for == b ? (uint32_t)__builtin_popcount(s->mask) : 0;
    return n;
}

/* Of a cluster: whose arrivals this phase has had. */
static size_t describe_arrivals(const struct mbarrier *b, char *text, size_t len)
{
    size_t n = 0;
    for (uint32_t rank = 0; rank < b->cta->ncluster && b->cta->ncluster > 1 && n < len; rank++)
        if (b->from[rank])
            n += (size_t)snprintf(text + n, len - n, "%s %u from CTA rank %u", n ? "," : "; has arrived so far:", b->from[rank], rank);
    return n < len ? n : len;
}

static void describe_awaited(const struct mbarrier *b, uint32_t waiting, char *text, size_t len)
{
    size_t n = (size_t)snprintf(text, len, "mbarrier 0x%x: phase %u is not complete: %u of %u arrivals pending, %d bytes still expected; "
                                "%u thread%s", b->at, b->phase, b->pending, b->expected, b->tx, waiting, waiting == 1 ? " waits" : "s wait");
    if (n < len)
        n += describe_arrivals(b, text + n, len - n);
    if (n < len && !b->phase && b->pending == b->expected && !b->tx)
        snprintf(text + n, len - n, ". It is new: who is to find it free at first waits for parity 1");
}

/* Something happened to it: does another barrier lack just that? */
static bool used(const struct mbarrier *b) { return !b->dead && (b->phase || b->tx || b->pending != b->expected); }

bool mbarrier_describe(const struct cta *c, uint32_t nth, char *text, size_t len)
{
    for (int idle = 0; idle < 2; idle++)        /* those that somebody waits for come first */
        for (const struct mbarrier *b = c->mbarriers; b; b = b->next) {
            uint32_t waiting = waiting_lanes(b);
            if ((idle ? waiting || !used(b) : !waiting) || nth--)
                continue;
            if (!idle)
                describe_awaited(b, waiting, text, len);
            else
                snprintf(text, len, "mbarrier 0x%x: phase %u: completed %u times, and nobody waits for it; %u of %u arrivals pending, "
                         "%d bytes still expected", b->at, b->phase, b->phase, b->pending, b->expected, b->tx);
            return true;
        }
    return false;
}
