/* control.cu: who runs what, and in which order: divergence, calls, predicates, barriers, mbarriers, clusters.
 * A kernel takes one number for each thread and leaves one result; all results are fixed by the rules of the language. */
#include "conformance.h"

typedef const uint32_t *source;
typedef uint64_t *sink;

__device__ static int place(void) { return blockIdx.x * blockDim.x + threadIdx.x; }

/* ---------------------------------------------------------------- divergence */
__global__ void nested_ifs(source in, sink out)
{
    uint32_t x = in[place()], d = 1;
    if (x & 1) {
        d = d * 3 + 1;
        if (x & 2) {
            d = d * 5 + 2;
            if (x & 4)
                d ^= x;
            else
                d += threadIdx.x;
        } else if (x & 8)
            d = d * 7 + 3;
    } else if (x & 16)
        d = __popc(x) * 11;
    else
        d = ~x;
    out[place()] = d * 31 + __popc(__ballot_sync(~0u, x & 1));
}

__global__ void loops(source in, sink out)
{
    uint32_t x = in[place()], d = 0;
    for (uint32_t i = 0; i < (x & 63); i++)
        for (uint32_t j = i; j < (x >> 8 & 15); j++)
            d = d * 33 + (i ^ j);
    while (x > 1) {
        x = x & 1 ? x / 3 : x / 2;
        d += x;
    }
    out[place()] = d;
}

__global__ void break_continue(source in, sink out)
{
    uint32_t x = in[place()], d = 0;
    for (uint32_t i = 0; i < 100; i++) {
        x = x * 1664525 + 1013904223;
        if (x >> 28 == 3)
            continue;
        for (uint32_t j = 0;; j++) {
            if (j == (x >> 26 & 7))
                break;
            d = d * 5 + j;
        }
        if (x >> 27 == 29)
            break;
        d += i;
    }
    out[place()] = d;
}

__global__ void early_return(source in, sink out)
{
    uint32_t x = in[place()];
    out[place()] = 1;
    if (threadIdx.x % 3 == 0)
        return;
    out[place()] = 2;
    for (uint32_t i = 0; i < 20; i++)
        if ((x >> i & 3) == 3) {
            out[place()] = 100 + i;
            return;
        }
    out[place()] = __popc(x);
}

__global__ void dense_switch(source in, sink out)
{
    uint32_t x = in[place()], d = x;
    for (int round = 0; round < 4; round++)
        switch (d % 11) {
        case 0: d = d * 3 + 1; break;
        case 1: d ^= 0x5555; break;
        case 2: d += 77; /* and on */
        case 3: d = __brev(d); break;
        case 4: d = d / 7; break;
        case 5: d -= x; break;
        case 6: d = __popc(d) + x; break;
        case 8: d = ~d; /* and on */
        case 9: d = d >> 3 | d << 29; break;
        default: d += 1;
        }
    out[place()] = d;
}

__global__ void brx(source in, sink out)
{
    uint32_t d = 5, x = in[place()];
    asm volatile("{.reg .b32 i; and.b32 i, %1, 3;\n"
                 "targets: .branchtargets zero, one, two, one;\n"
                 "brx.idx i, targets;\n"
                 "zero: mov.u32 %0, 100; bra done;\n"
                 "one: add.u32 %0, %0, i;\n"
                 "two: mul.lo.u32 %0, %0, 7;\n"
                 "done: }" : "+r"(d) : "r"(x));
    out[place()] = d;
}

/* A lane writes what another lane of its warp waits for: needs lanes to make headway on their own. */
__global__ void handshake(source in, sink out)
{
    __shared__ volatile uint32_t box[256];
    box[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x & 1) {
        while (!box[threadIdx.x - 1])
            ;
        out[place()] = box[threadIdx.x - 1] * 2;
    } else {
        box[threadIdx.x] = in[place()] | 1;
        out[place()] = 3;
    }
}

/* ---------------------------------------------------------------- calls */
__device__ __noinline__ uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ uint32_t odd(uint32_t n);
__device__ __noinline__ uint32_t even(uint32_t n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ uint32_t odd(uint32_t n) { return n == 0 ? 0 : even(n - 1); }
struct three { uint64_t a; uint16_t b; float c; };
__device__ __noinline__ three shuffled(three t, uint8_t k) { return { t.a * k + t.b, (uint16_t)(t.b ^ k), t.c * 2 + k }; }

__global__ void recursion(source in, sink out)
{
    uint32_t x = in[place()];
    out[place()] = fibonacci(x % 13) * 2 + even(x >> 8 & 15);
}

__global__ void structures(source in, sink out)
{
    uint32_t x = in[place()];
    three t = shuffled({ x, (uint16_t)(x >> 5), (float)(x & 255) }, (uint8_t)x);
    out[place()] = t.a * 65536 + t.b + (uint64_t)t.c;
}

typedef uint32_t function(uint32_t, uint32_t);
__device__ __noinline__ uint32_t plus(uint32_t a, uint32_t b) { return a + b; }
__device__ __noinline__ uint32_t minus(uint32_t a, uint32_t b) { return a - b; }
__device__ __noinline__ uint32_t times(uint32_t a, uint32_t b) { return a * b; }
__device__ __noinline__ uint32_t turned(uint32_t a, uint32_t b) { return b & 1 ? a << 1 | a >> 31 : plus(b, a); }
__device__ function *const functions[] = { plus, minus, times, turned };

__global__ void function_pointers(source in, sink out)
{
    uint32_t x = in[place()], d = x;
    for (int i = 0; i < 16; i++)
        d = functions[x >> 2 * i & 3](d, i);
    out[place()] = d;
}

struct shape { __device__ virtual uint32_t area(uint32_t x) const { return x; } };
struct square : shape { __device__ uint32_t area(uint32_t x) const override { return x * x; } };
struct strip : shape { __device__ uint32_t area(uint32_t x) const override { return x * 3; } };

__global__ void virtual_functions(source in, sink out)
{
    shape plain;
    square squared;
    strip long_one;
    uint32_t x = in[place()];
    const shape *which = x % 3 == 0 ? &plain : x % 3 == 1 ? (const shape *)&squared : &long_one;
    out[place()] = which->area(x & 0xffff);
}

__global__ void predicates(source in, sink out)
{
    uint32_t x = in[place()], d = 7;
    asm volatile("{.reg .pred p, q, r; setp.lt.u32 p|q, %1, 0x80000000; and.pred r, p, q;\n"
                 "@p add.u32 %0, %0, 1; @!p add.u32 %0, %0, 2; @q mul.lo.u32 %0, %0, 3; @r mov.u32 %0, 0;\n"
                 "setp.gt.and.s32 r, %1, %0, p; @r xor.b32 %0, %0, %1; selp.u32 %0, %0, %1, !q;\n"
                 "@!p bra skip; add.u32 %0, %0, 1000; skip: }" : "+r"(d) : "r"(x));
    out[place()] = d;
}

/* ---------------------------------------------------------------- barriers */
__global__ void barrier_popc(source in, sink out)
{
    uint32_t d, e;
    asm volatile("{.reg .pred p; setp.gt.u32 p, %2, 0x40000000; bar.red.popc.u32 %0, 0, p;\n"
                 "barrier.cta.red.popc.u32 %1, 3, 128, !p; }" : "=r"(d), "=r"(e) : "r"(in[place()]));
    out[place()] = d * 1000 + e;
}

__global__ void barrier_and_or(source in, sink out)
{
    uint32_t d = 0;
    asm volatile("{.reg .pred p, q, r; setp.gt.u32 p, %1, 0x40000000; setp.ne.u32 q, %1, %1;\n"
                 "bar.red.and.pred r, 0, p; @r or.b32 %0, %0, 1; bar.red.or.pred r, 0, p; @r or.b32 %0, %0, 2;\n"
                 "bar.red.and.pred r, 1, !q; @r or.b32 %0, %0, 4; bar.red.or.pred r, 1, q; @r or.b32 %0, %0, 8; }"
                 : "+r"(d) : "r"(in[place()]));
    out[place()] = d;
}

/* Two warps of the four produce and arrive, the other two wait and read; then two pairs meet by themselves. */
__global__ void barrier_counts(source in, sink out)
{
    __shared__ uint32_t box[128], pairs[128];
    uint32_t t = threadIdx.x, d = 0;
    if (t < 64) {
        box[t] = in[place()];
        asm volatile("barrier.cta.arrive 2, 128;" ::: "memory");
    } else {
        asm volatile("barrier.cta.sync 2, 128;" ::: "memory");
        d = box[127 - t];
    }
    pairs[t] = d + t;
    asm volatile("bar.sync %0, 64;" :: "r"(4 + t / 64) : "memory");
    out[place()] = d * 3 + pairs[t ^ 32];
}

/* Threads that have returned count no more. */
__global__ void barrier_after_return(source in, sink out)
{
    __shared__ uint32_t box[128];
    box[threadIdx.x] = in[place()];
    out[place()] = 0;
    if (threadIdx.x >= 96)
        return;
    __syncthreads();
    out[place()] = box[95 - threadIdx.x];
}

__global__ void warp_barriers(source in, sink out)
{
    __shared__ volatile uint32_t box[128];
    uint32_t t = threadIdx.x, lane = t % 32, d = 0;
    box[t] = in[place()];
    __syncwarp();
    if (lane < 16) {
        uint32_t other = box[t ^ 15];
        asm volatile("bar.warp.sync 0xffff;" ::: "memory");
        box[t] = other * 5 + lane;
        asm volatile("bar.warp.sync 0xffff;" ::: "memory");
        d = box[t ^ 1];
    } else {        /* the other half meets by itself, and more often */
        for (int step = 8; step; step /= 2) {
            uint32_t other = box[t ^ step];
            asm volatile("bar.warp.sync 0xffff0000;" ::: "memory");
            box[t] = box[t] + other * 3;
            asm volatile("bar.warp.sync 0xffff0000;" ::: "memory");
        }
        d = box[t];
    }
    __syncwarp();
    out[place()] = d + box[t ^ 31];
}

/* ---------------------------------------------------------------- mbarriers: what each step shows */
__device__ static uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

#define BAR(text) asm volatile(text :: "r"(bar) : "memory")
#define STATE(text) asm volatile(text : "=l"(state) : "r"(bar) : "memory")

__device__ static uint32_t pending(uint64_t state)
{
    uint32_t count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

/* Bit 0: phase 0 is over as seen by parity 0; bit 1: by parity 1; bit 2: the phase of the state is over. */
__device__ static uint32_t tests(uint32_t bar, uint64_t state)
{
    uint32_t d = 0;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; @p or.b32 %0, %0, 1;\n"
                 "mbarrier.test_wait.parity.shared.b64 p, [%1], 1; @p or.b32 %0, %0, 2;\n"
                 "mbarrier.test_wait.shared.b64 p, [%1], %2; @p or.b32 %0, %0, 4; }" : "+r"(d) : "r"(bar), "l"(state) : "memory");
    return d;
}

__global__ void mbarrier_steps(source, sink out)
{
    __shared__ uint64_t barrier;
    uint32_t bar = shared_address(&barrier), n = 0;
    uint64_t state;
    if (threadIdx.x != 0)
        return;
#define NOTE(what) out[n++] = (what) * 1000ull + tests(bar, state)
    BAR("mbarrier.init.shared.b64 [%0], 3;");
    STATE("mbarrier.arrive.shared.b64 %0, [%1];");                          NOTE(pending(state));
    STATE("mbarrier.arrive.shared.b64 %0, [%1];");                          NOTE(pending(state));
    STATE("mbarrier.arrive.shared.b64 %0, [%1];");                          NOTE(pending(state));   /* over */
    STATE("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;");            NOTE(pending(state));
    STATE("mbarrier.arrive_drop.shared.b64 %0, [%1];");                     NOTE(pending(state));   /* over; 2 from now */
    STATE("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 48;");            NOTE(pending(state));
    STATE("mbarrier.arrive.shared.b64 %0, [%1];");                          NOTE(pending(state));   /* bytes to come */
    BAR("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 32;");      NOTE(0);
    BAR("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 16;");      NOTE(0);                /* over */
    BAR("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8;");         NOTE(0);
    STATE("mbarrier.arrive.shared.b64 %0, [%1], 2;");                       NOTE(pending(state));
    BAR("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 8;");       NOTE(0);                /* over */
    BAR("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 64;");      NOTE(0);                /* ahead of its expect_tx */
    STATE("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 64;");            NOTE(pending(state));
    STATE("mbarrier.arrive_drop.expect_tx.shared.b64 %0, [%1], 0;");        NOTE(pending(state));   /* over; 1 from now */
    STATE("mbarrier.arrive.shared.b64 %0, [%1];");                          NOTE(pending(state));   /* over */
    BAR("mbarrier.inval.shared.b64 [%0];");
    BAR("mbarrier.init.shared.b64 [%0], 1048575;");
    STATE("mbarrier.arrive.shared.b64 %0, [%1], 1000;");                    NOTE(pending(state));
}

/* All threads arrive and wait, four phases long, and read what another wrote. */
__global__ void mbarrier_phases(source in, sink out)
{
    __shared__ uint64_t barrier;
    __shared__ uint32_t box[2][128];
    uint32_t bar = shared_address(&barrier), t = threadIdx.x, d = in[place()];
    if (t == 0)
        BAR("mbarrier.init.shared.b64 [%0], 128;");
    __syncthreads();
    for (uint32_t phase = 0; phase < 4; phase++) {
        box[phase & 1][t] = d;
        BAR("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }");
        uint32_t over = 0;
        while (!over)
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(over) : "r"(bar), "r"(phase & 1) : "memory");
        d = d * 3 + box[phase & 1][(t * 5 + phase) & 127];
    }
    out[place()] = d;
}

/* ---------------------------------------------------------------- clusters */
#define CLUSTER_BARRIER() asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")

__device__ static uint32_t special(void)
{
    uint32_t rank, size, id, clusters;
    asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank; mov.u32 %2, %%clusterid.x; mov.u32 %3, %%nclusterid.x;"
                 : "=r"(rank), "=r"(size), "=r"(id), "=r"(clusters));
    return rank + 16 * size + 256 * id + 4096 * clusters;
}

/* Each CTA reads its neighbour's memory, writes the next but one's, and arrives at an mbarrier of CTA 0. */
__global__ void cluster_memory(source in, sink out)
{
    __shared__ uint32_t box[128], letters[128];
    __shared__ uint64_t barrier;
    uint32_t t = threadIdx.x, bar = shared_address(&barrier), mine, size, read, there, far, over = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(mine), "=r"(size));
    box[t] = in[place()];
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1; fence.mbarrier_init.release.cluster;" :: "r"(bar), "r"(size * 128) : "memory");
    CLUSTER_BARRIER();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(&box[127 - t])), "r"((mine + 1) % size));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(read) : "r"(there) : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(&letters[t])), "r"((mine + 2) % size));
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(read + mine) : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far) : "r"(bar));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(far) : "memory");
    while (mine == 0 && !over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(bar) : "memory");
    CLUSTER_BARRIER();
    out[place()] = read + (uint64_t)letters[t] * 3 + ((uint64_t)special() << 40);
}

/* Generic addresses: mapa, getctarank, and an atomic sum in CTA 0 from every thread of the cluster. */
__global__ void cluster_generic(source in, sink out)
{
    __shared__ uint32_t sum, own;
    uint64_t there;
    uint32_t rank, other, size, mine;
    asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(mine), "=r"(size));
    if (threadIdx.x == 0)
        sum = 0, own = mine * 1000;
    CLUSTER_BARRIER();
    asm volatile("mapa.u64 %0, %1, 0;" : "=l"(there) : "l"(&sum));
    atomicAdd((uint32_t *)there, in[place()] & 0xffff);
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&own), "r"((mine + threadIdx.x) % size));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(there));
    asm volatile("ld.u32 %0, [%1];" : "=r"(other) : "l"(there) : "memory");
    CLUSTER_BARRIER();
    out[place()] = (uint64_t)sum << 20 | rank << 16 | other;
    CLUSTER_BARRIER();
}

/* ---------------------------------------------------------------- all of them */
struct test { const char *name; void (*kernel)(source, sink); unsigned cluster; };
#define TEST(kernel) { #kernel, kernel, 1 }
static const test all_tests[] = {
    TEST(nested_ifs), TEST(loops), TEST(break_continue), TEST(early_return), TEST(dense_switch), TEST(brx), TEST(handshake),
    TEST(recursion), TEST(structures), TEST(function_pointers), TEST(virtual_functions), TEST(predicates),
    TEST(barrier_popc), TEST(barrier_and_or), TEST(barrier_counts), TEST(barrier_after_return), TEST(warp_barriers),
    TEST(mbarrier_steps), TEST(mbarrier_phases),
    { "cluster_memory of 2", cluster_memory, 2 }, { "cluster_memory of 4", cluster_memory, 4 },
    { "cluster_generic of 2", cluster_generic, 2 }, { "cluster_generic of 4", cluster_generic, 4 },
};

int main(int argc, char **argv)
{
    enum { BLOCKS = 8, THREADS = 128, N = BLOCKS * THREADS };
    std::vector<uint32_t> numbers;
    for (int i = 0; i < N; i++)     /* in every other block all are small, so that some votes are unanimous */
        numbers.push_back((uint32_t)random_bits(i) >> (i / THREADS & 1 ? 4 : 0));
    uint32_t *in;
    uint64_t *out;
    CHECKED(cudaMalloc(&in, N * sizeof *in));
    CHECKED(cudaMalloc(&out, N * sizeof *out));
    CHECKED(cudaMemcpy(in, numbers.data(), N * sizeof *in, cudaMemcpyHostToDevice));
    for (const test &t : all_tests) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = t.cluster, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t launch = {};
        launch.gridDim = t.kernel == mbarrier_steps ? 1 : BLOCKS;
        launch.blockDim = THREADS;
        launch.attrs = &attribute;
        launch.numAttrs = t.cluster > 1;
        CHECKED(cudaMemset(out, 0, N * sizeof *out));
        CHECKED(cudaLaunchKernelEx(&launch, t.kernel, (source)in, (sink)out));
        values results(N);
        CHECKED(cudaMemcpy(results.data(), out, N * sizeof *out, cudaMemcpyDeviceToHost));
        print_results(t.name, results.data(), N);
        for (int i = 0; t.kernel == mbarrier_steps && results[i]; i++)
            printf("  step %d: %llu pending, tests %llu\n", i, (unsigned long long)results[i] / 1000, (unsigned long long)results[i] % 1000);
        if (argc > 1 && strcmp(argv[1], t.name) == 0)
            for (int i = 0; i < N; i++)
                printf("%x: %llx\n", numbers[i], (unsigned long long)results[i]);
    }
    return 0;
}
