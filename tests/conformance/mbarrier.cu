/* mbarriers: long sequences of operations, each followed by what it shows (pending counts, parities, states); operations
 * from other CTAs; rings of phases between warps; arrivals of asynchronous copies. */
#include "kernels.h"

/* ---------------------------------------------------------------- the operations */
#define STATE(text, n) asm volatile(text : "=l"(state) : "r"(bar), "r"(n) : "memory")
#define EFFECT(text, n) asm volatile(text :: "r"(bar), "r"(n) : "memory")

__device__ static uint32_t pending(uint64_t state)
{
    uint32_t count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

/* Bit 0: what parity 0 finds, bit 1: parity 1, bits 2 and 3: the same by try_wait, which may say no only while it is so. */
__device__ static uint32_t parities(uint32_t bar)
{
    uint32_t d = 0;
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; @p or.b32 %0, %0, 1;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1; @p or.b32 %0, %0, 2;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 10; @p or.b32 %0, %0, 4;\n"
                 "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], 1, 10; @p or.b32 %0, %0, 8; }"
                 : "+r"(d) : "r"(bar) : "memory");
    return d;
}

__device__ static uint32_t over(uint32_t bar, uint64_t state)
{
    uint32_t d = 0;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2; @p or.b32 %0, %0, 1;\n"
                 "mbarrier.try_wait.shared::cta.b64 p, [%1], %2, 10; @p or.b32 %0, %0, 2; }" : "+r"(d) : "r"(bar), "l"(state) : "memory");
    return d;
}

/* ---------------------------------------------------------------- a random walk through everything that is allowed
 * A model of the barrier (what the ISA says of its counts) keeps the walk in bounds; the barrier itself is what is printed. */
struct model { uint32_t expected, pending; int32_t tx; uint32_t phase; };

__device__ static void settle(model *m)
{
    if (m->pending == 0 && m->tx == 0)
        m->pending = m->expected, m->phase++;
}

enum { ARRIVE, ARRIVE_N, NO_COMPLETE, ARRIVE_TX, DROP, DROP_N, DROP_NO_COMPLETE, DROP_TX, EXPECT, COMPLETE, ACTIONS };

/* The next action: its number and its operand, so that the model stays legal. */
__device__ static uint32_t choose(const model *m, uint32_t random, uint32_t *n)
{
    uint32_t action = random % ACTIONS, most = m->pending;
    bool drops = action >= DROP && action <= DROP_TX, whole = action == NO_COMPLETE || action == DROP_NO_COMPLETE;
    if (drops && m->expected < 3)
        action -= DROP, drops = false, whole = action == NO_COMPLETE;
    if (drops && most > m->expected - 1)
        most = m->expected - 1;
    if (whole && most == m->pending)
        most--;
    if ((action < EXPECT && (m->pending == 0 || most == 0)) || (action == EXPECT && m->tx > 900000))
        action = m->tx == 0 && m->pending ? ARRIVE : COMPLETE;
    *n = random >> 8;
    if (m->tx < 0 && m->pending == 1) { /* the last arrival must not come while bytes are ahead of their expect_tx */
        *n = -m->tx;
        return EXPECT;
    }
    if (m->tx < 0 && action < EXPECT && most == m->pending)
        most--;
    if (action == ARRIVE_TX || action == DROP_TX || action == EXPECT)
        *n = *n % 4096;
    else if (action == COMPLETE)        /* ahead of the expect_tx only while arrivals are pending */
        *n = m->pending ? (m->tx > 0 ? m->tx : *n % 100) : (*n & 1 ? m->tx : (m->tx + 1) / 2);
    else
        *n = most ? 1 + *n % most : 1;
    return action;
}

__device__ static void follow(model *m, uint32_t action, uint32_t n)
{
    bool tx = action == ARRIVE_TX || action == DROP_TX, one = action == ARRIVE || action == DROP || tx;
    if (tx || action == EXPECT)
        m->tx += n;
    if (action == COMPLETE)
        m->tx -= n;
    if (action >= DROP && action <= DROP_TX)
        m->expected -= one ? 1 : n;
    if (action < EXPECT)
        m->pending -= one ? 1 : n;
    settle(m);
}

/* Whether `state` is new. */
__device__ static bool perform(uint32_t bar, uint32_t action, uint32_t n, uint64_t &state)
{
    switch (action) {
    case ARRIVE:           STATE("mbarrier.arrive.shared::cta.b64 %0, [%1];", n); return true;
    case ARRIVE_N:         STATE("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;", n); return true;
    case NO_COMPLETE:      STATE("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;", n); return true;
    case ARRIVE_TX:        STATE("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;", n); return true;
    case DROP:             STATE("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];", n); return true;
    case DROP_N:           STATE("mbarrier.arrive_drop.release.cluster.shared::cta.b64 %0, [%1], %2;", n); return true;
    case DROP_NO_COMPLETE: STATE("mbarrier.arrive_drop.noComplete.shared::cta.b64 %0, [%1], %2;", n); return true;
    case DROP_TX:          STATE("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], %2;", n); return true;
    case EXPECT:           EFFECT("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;", n); return false;
    default:               EFFECT("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;", n); return false;
    }
}

__global__ void walk(source in, sink out)
{
    __shared__ uint64_t barrier;
    uint32_t bar = shared_address(&barrier), n, made_in = 0;
    uint64_t state = 0;
    bool any = false;
    for (uint32_t round = 0; round < 8 && threadIdx.x == 0; round++) {
        model m = { 1 + in[round * 31 + cta()] % (round & 1 ? 7 : 60), 0, 0, 0 };
        m.pending = m.expected;
        mbarrier_init(bar, m.expected);
        any = false;
        for (uint32_t step = 0; step < 200; step++) {
            uint32_t before = m.phase, action = choose(&m, in[cta() * 4096 + round * 200 + step], &n);
            if (perform(bar, action, n, state))
                made_in = before, any = true;
            follow(&m, action, n);
            bool known = any && m.phase - made_in <= 1;
            out[(cta() * 8 + round) * 200 + step] = 1 + parities(bar) + 16 * (known ? 4 + over(bar, state) : 0) +
                                                    128 * (known ? pending(state) : 0) + ((uint64_t)action << 32);
        }
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(bar) : "memory");
    }
}

/* ---------------------------------------------------------------- from other CTAs: one operation at a time */
#define REMOTE(text) asm volatile("mbarrier." text :: "r"(there), "r"(n) : "memory"); break

__device__ static void remote_step(uint32_t there, uint32_t step)
{
    uint32_t n = 16 * (1 + step);
    switch (step) {
    case 0: REMOTE("arrive.release.cluster.shared::cluster.b64 _, [%0];");
    case 1: n = 2; REMOTE("arrive.release.cluster.shared::cluster.b64 _, [%0], %1;");
    case 2: REMOTE("arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;");
    case 3: n = 48; REMOTE("complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;");
    case 4: REMOTE("expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;");
    case 5: REMOTE("arrive_drop.release.cluster.shared::cluster.b64 _, [%0];");
    case 6: n = 3; REMOTE("arrive.release.cluster.shared::cluster.b64 _, [%0], %1;");
    case 7: n = 80; REMOTE("complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;");
    case 8: n = 1; REMOTE("arrive_drop.release.cluster.shared::cluster.b64 _, [%0], %1;");
    case 9: n = 32; REMOTE("arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;");
    case 10: n = 32; REMOTE("complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;");
    case 11: n = 64; REMOTE("complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;");
    case 12: n = 64; REMOTE("arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%0], %1;");
    default: break;
    }
}

/* CTA `step` % size does it to the barrier of CTA 0, which then tells what it sees. */
__global__ void remote(source, sink out)
{
    __shared__ uint64_t barrier;
    uint32_t bar = shared_address(&barrier), there = map_rank(bar, 0);
    if (cluster_rank() == 0 && threadIdx.x == 0)
        mbarrier_init(bar, 4);
    cluster_sync();
    for (uint32_t step = 0; step < 13; step++) {
        if (threadIdx.x == 0 && cluster_rank() == step % cluster_size())
            remote_step(there, step);
        cluster_sync();
        if (threadIdx.x == 0 && cluster_rank() == 0)
            out[step] = 16 + parities(bar);
        cluster_sync();
    }
    if (threadIdx.x == 0 && cluster_rank() == 0) {
        uint64_t state;
        STATE("mbarrier.arrive.shared::cta.b64 %0, [%1];", 0);
        out[13] = 1 + pending(state);
    }
}

/* Every thread of the cluster arrives at every CTA's barrier, phase after phase, and reads what others wrote before. */
__global__ void all_to_all(source in, sink out)
{
    __shared__ uint64_t barrier;
    __shared__ uint32_t box[2][64];
    uint32_t bar = shared_address(&barrier), t = threadIdx.x, v = in[place()], n = cluster_size();
    if (t == 0)
        mbarrier_init(bar, n * blockDim.x);
    cluster_sync();
    for (uint32_t phase = 0; phase < 6; phase++) {
        uint32_t to = map_rank(shared_address(&box[phase & 1][t]), (cluster_rank() + phase) % n);
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(to), "r"(v) : "memory");
        for (uint32_t rank = 0; rank < n; rank++)
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(map_rank(bar, rank)) : "memory");
        wait_parity(bar, phase & 1);
        v = v * 5 + box[phase & 1][(t + 7) % blockDim.x];
    }
    out[place()] = v + 1ull;
    cluster_sync();
}

/* ---------------------------------------------------------------- a ring of full and empty barriers between two warps */
__global__ void ring(source in, sink out)
{
    enum { STAGES = 3, ROUNDS = 20 };
    __shared__ uint64_t full[STAGES], empty[STAGES];
    __shared__ uint32_t box[STAGES][32];
    uint32_t lane = threadIdx.x % 32, sum = 1;
    if (threadIdx.x < STAGES) {
        mbarrier_init(shared_address(&full[threadIdx.x]), 32);
        mbarrier_init(shared_address(&empty[threadIdx.x]), 32);
    }
    __syncthreads();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t stage = i % STAGES, phase = i / STAGES & 1;
        uint32_t full_bar = shared_address(&full[stage]), empty_bar = shared_address(&empty[stage]);
        if (threadIdx.x < 32) {
            wait_parity(empty_bar, phase ^ 1);
            box[stage][lane] = in[cta() * 1024 + i * 32 + lane];
            asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" :: "r"(full_bar) : "memory");
        } else {
            wait_parity(full_bar, phase);
            sum = sum * 3 + box[stage][31 - lane];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(empty_bar) : "memory");
        }
    }
    out[place()] = sum;
}

/* Copies arrive when they have landed: counted beforehand (.noinc), or not. */
__global__ void copies(source in, sink out)
{
    __shared__ uint64_t barrier[2];
    __shared__ alignas(16) uint32_t box[2][64];
    uint32_t t = threadIdx.x;
    if (t < 2)
        mbarrier_init(shared_address(&barrier[t]), 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.mbarrier.arrive.noinc.shared::cta.b64 [%2];"
                 :: "r"(shared_address(&box[0][t])), "l"(in + place()), "r"(shared_address(&barrier[0])) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.mbarrier.arrive.shared::cta.b64 [%2];\nmbarrier.arrive.shared::cta.b64 _, [%2];"
                 :: "r"(shared_address(&box[1][t])), "l"(in + place() + 64), "r"(shared_address(&barrier[1])) : "memory");
    wait_parity(shared_address(&barrier[0]), 0);
    wait_parity(shared_address(&barrier[1]), 0);
    out[place()] = 1 + box[0][63 - t] + ((uint64_t)box[1][t ^ 5] << 32);
}

static const test tests[] = {
    { "walk", walk, 6, 32, { 0, 0, 0 } }, { "remote of 2", remote, 2, 32, 2 }, { "remote of 4", remote, 4, 32, 4 },
    { "remote of 8", remote, 8, 32, 8 }, { "all_to_all of 2", all_to_all, 8, 64, 2 }, { "all_to_all of 4", all_to_all, 8, 64, 4 },
    { "all_to_all of 8", all_to_all, 8, 64, 8 }, { "ring", ring, 4, 64, { 0, 0, 0 } }, { "copies", copies, 4, 64, { 0, 0, 0 } },
};

RUN_TESTS(tests)
