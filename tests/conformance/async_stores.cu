/* st.async of every type and vector, red.async of every operation and type: to the next CTA's memory, waited for by its
 * mbarrier. */
#include "kernels.h"

#define TX ".shared::cluster.mbarrier::complete_tx::bytes"

/* Sets up `bar` of this CTA to wait for `bytes`, and names what is in the next CTA. */
struct ends { uint32_t bar, there_bar, there; };

__device__ static ends begin(uint64_t *barrier, void *box, uint32_t bytes)
{
    ends e = { shared_address(barrier), 0, 0 };
    uint32_t next = (cluster_rank() + 1) % cluster_size();
    if (threadIdx.x == 0) {
        mbarrier_init(e.bar, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(e.bar), "r"(bytes) : "memory");
    }
    e.there_bar = map_rank(e.bar, next);
    e.there = map_rank(shared_address(box), next);
    cluster_sync();
    return e;
}

/* ---------------------------------------------------------------- st.async */

__global__ void stores(source in, sink out)
{
    __shared__ uint64_t barrier;
    __shared__ alignas(16) uint64_t box[64][16];
    uint32_t t = threadIdx.x, v = in[place()];
    uint64_t w = (uint64_t)v << 32 | in[place() + 1], sum = 1;
    for (int i = 0; i < 16; i++)
        box[t][i] = 0;
    ends e = begin(&barrier, box, 64 * 104);
    uint32_t at = e.there + ((t * 5 + 1) & 63) * 128;
    asm volatile("st.async.weak" TX ".b32 [%0], %2, [%1];\n"
                 "st.async" TX ".u32 [%0+4], %2, [%1];\n"
                 "st.async" TX ".b64 [%0+8], %3, [%1];\n"
                 "st.async" TX ".v2.b32 [%0+16], {%2, %2}, [%1];\n"
                 "st.async" TX ".v2.s64 [%0+32], {%3, %3}, [%1];\n"
                 "st.async" TX ".v4.u32 [%0+48], {%2, %2, %2, %2}, [%1];\n"
                 "st.async" TX ".s32 [%0+64], %2, [%1];\n"
                 "st.async" TX ".u64 [%0+72], %3, [%1];\n"
                 "st.async" TX ".s64 [%0+80], %3, [%1];\n" :: "r"(at), "r"(e.there_bar), "r"(v), "l"(w) : "memory");
    asm volatile("st.async" TX ".f32 [%0+92], %2, [%1];\n"
                 "st.async" TX ".v2.f32 [%0+96], {%2, %2}, [%1];\n"
                 "st.async" TX ".f64 [%0+104], %3, [%1];\n"
                 "st.async.weak" TX ".v2.b32 [%0+112], {%4, %4}, [%1];\n"
                 :: "r"(at), "r"(e.there_bar), "f"(__uint_as_float(v & 0x7f7fffff)), "d"(__longlong_as_double((long long)(w & 0x7fefffffffffffff))),
                 "r"(v + 1) : "memory");
    wait_parity(e.bar, 0);
    for (int i = 0; i < 16; i++)
        sum = stir(sum, box[t][i]);
    out[place()] = sum;
    cluster_sync();
}

/* By generic addresses, a phase after another. */
__global__ void generic_stores(source in, sink out)
{
    __shared__ uint64_t barrier;
    __shared__ uint32_t box[4][64];
    uint32_t t = threadIdx.x, v = in[place()], next = (cluster_rank() + 1) % cluster_size();
    uint64_t there, there_bar;
    ends e = begin(&barrier, box, 256);
    for (uint32_t phase = 0; phase < 4; phase++) {
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&box[phase][t]), "r"(next));
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there_bar) : "l"(&barrier), "r"(next));
        asm volatile("st.async.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" :: "l"(there), "r"(v), "l"(there_bar) : "memory");
        wait_parity(e.bar, phase & 1);
        v = v * 7 + box[phase][t ^ 9];
        __syncthreads();
        if (t == 0 && phase < 3)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(e.bar) : "memory");
        cluster_sync();
    }
    out[place()] = v + 1ull;
}

/* ---------------------------------------------------------------- red.async: 64 threads to one word */

#define REDUCTION(name, op, type, C, first, value)                                                                              \
    __global__ void name(source in, sink out)                                                                                   \
    {                                                                                                                           \
        __shared__ uint64_t barrier;                                                                                            \
        __shared__ type box[2];                                                                                                 \
        uint32_t t = threadIdx.x, x = in[place()];                                                                              \
        if (t < 2)                                                                                                              \
            box[t] = (type)(first);                                                                                             \
        ends e = begin(&barrier, box, 64 * sizeof(type));                                                                       \
        asm volatile("red.async.relaxed.cluster" TX "." op " [%0], %1, [%2];"                                                   \
                     :: "r"(e.there + (t & 1) * (uint32_t)sizeof(type)), C((type)(value)), "r"(e.there_bar) : "memory");        \
        wait_parity(e.bar, 0);                                                                                                  \
        if (t < 2)                                                                                                              \
            out[2 * cta() + t] = 1 + (uint64_t)box[t];                                                                          \
        cluster_sync();                                                                                                         \
    }

REDUCTION(add_u32, "add.u32", uint32_t, "r", in[cta()], x)
REDUCTION(add_s32, "add.s32", uint32_t, "r", in[cta()], x)
REDUCTION(add_u64, "add.u64", uint64_t, "l", in[cta()], (uint64_t)x << 20)
REDUCTION(min_u32, "min.u32", uint32_t, "r", in[cta()], x)
REDUCTION(min_s32, "min.s32", uint32_t, "r", in[cta()], x)
REDUCTION(max_u32, "max.u32", uint32_t, "r", in[cta()], x)
REDUCTION(max_s32, "max.s32", uint32_t, "r", in[cta()], x)
REDUCTION(and_b32, "and.b32", uint32_t, "r", ~0u, x | in[t] | in[t + 64] | in[t + 128] | in[t + 192])
REDUCTION(or_b32, "or.b32", uint32_t, "r", 0, x & in[t] & in[t + 64] & in[t + 128] & in[t + 192])
REDUCTION(xor_b32, "xor.b32", uint32_t, "r", in[cta()], x)
REDUCTION(inc_u32, "inc.u32", uint32_t, "r", 5 + cta(), 6 + cta() % 3)
REDUCTION(dec_u32, "dec.u32", uint32_t, "r", 50 - 3 * cta(), 9 + cta() % 3)
REDUCTION(inc_from_above, "inc.u32", uint32_t, "r", 1000, 10 + cta() % 3)
REDUCTION(dec_from_above, "dec.u32", uint32_t, "r", 1000, 7 + cta() % 3)

#define IN_CLUSTERS(kernel) { #kernel " of 2", kernel, 4, 64, 2 }, { #kernel " of 3", kernel, 6, 64, 3 }, { #kernel " of 8", kernel, 8, 64, 8 }

static const test tests[] = {
    IN_CLUSTERS(stores), IN_CLUSTERS(generic_stores), IN_CLUSTERS(add_u32), IN_CLUSTERS(add_s32), IN_CLUSTERS(add_u64),
    IN_CLUSTERS(min_u32), IN_CLUSTERS(min_s32), IN_CLUSTERS(max_u32), IN_CLUSTERS(max_s32), IN_CLUSTERS(and_b32), IN_CLUSTERS(or_b32),
    IN_CLUSTERS(xor_b32), IN_CLUSTERS(inc_u32), IN_CLUSTERS(dec_u32), IN_CLUSTERS(inc_from_above), IN_CLUSTERS(dec_from_above),
};

RUN_TESTS(tests)
