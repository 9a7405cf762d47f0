/* Clusters of 1 to 16 CTAs in every direction: special registers, addresses of shared memory in other CTAs, accesses of
 * every width to it, atomic operations there, and the cluster's barrier in all its forms. */
#include "kernels.h"

/* ---------------------------------------------------------------- special registers */

#define READ(n, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); out[cta() * 16 + n] = v + 1

__global__ void special(source, sink out)
{
    uint32_t v;
    if (threadIdx.x != 0)
        return;
    READ(0, "clusterid.x");         READ(1, "clusterid.y");         READ(2, "clusterid.z");
    READ(3, "nclusterid.x");        READ(4, "nclusterid.y");        READ(5, "nclusterid.z");
    READ(6, "cluster_ctaid.x");     READ(7, "cluster_ctaid.y");     READ(8, "cluster_ctaid.z");
    READ(9, "cluster_nctaid.x");    READ(10, "cluster_nctaid.y");   READ(11, "cluster_nctaid.z");
    READ(12, "cluster_ctarank");    READ(13, "cluster_nctarank");
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v));
    out[cta() * 16 + 14] = v + 1;
    out[cta() * 16 + 15] = cta() + 1;
}

__global__ void __cluster_dims__(2, 2, 1) special_by_itself(source, sink out)
{
    if (threadIdx.x == 0)
        out[cta()] = 1 + cluster_rank() + 16 * cluster_size();
}

/* ---------------------------------------------------------------- addresses */

__device__ static uint32_t spaces(const void *p)
{
    uint32_t d = 0;
    asm volatile("{ .reg .pred p;\n"
                 "isspacep.shared p, %1; @p or.b32 %0, %0, 1;\n"
                 "isspacep.shared::cta p, %1; @p or.b32 %0, %0, 2;\n"
                 "isspacep.shared::cluster p, %1; @p or.b32 %0, %0, 4;\n"
                 "isspacep.global p, %1; @p or.b32 %0, %0, 8;\n"
                 "isspacep.local p, %1; @p or.b32 %0, %0, 16; }" : "+r"(d) : "l"(p));
    return d;
}

/* Own and others' shared memory, as shared and as generic addresses; global and local memory. */
__global__ void addresses(source in, sink out)
{
    __shared__ uint32_t box[128];
    uint32_t t = threadIdx.x, rank = (cluster_rank() + t) % cluster_size(), local[4], r32, r64, value, space_value;
    uint64_t there, converted;
    box[t] = in[place()];
    local[t & 3] = t;
    cluster_sync();
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&box[t]), "r"(rank));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(r64) : "l"(there));
    uint32_t shared = map_rank(shared_address(&box[t]), rank);
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r32) : "r"(shared));
    asm volatile("{ .reg .u64 a; cvt.u64.u32 a, %1; cvta.shared::cluster.u64 %0, a; }" : "=l"(converted) : "r"(shared));
    asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(there) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(space_value) : "r"(shared) : "memory");
    out[place() * 2] = value + ((uint64_t)(value == space_value) << 32) + ((uint64_t)(converted == there) << 33);
    out[place() * 2 + 1] = 1 + r32 + 16 * r64 + 256 * spaces(&box[t]) + 8192 * spaces((void *)there) + (spaces(in) << 18) +
                           (spaces(&local[t & 3]) << 23);
    cluster_sync();
}

/* ---------------------------------------------------------------- loads and stores of every width */

#define LOAD(type, reg, C) { reg v; asm volatile("ld.shared::cluster." type " %0, [%1];" : C(v) : "r"(from + 16 * t) : "memory"); sum = sum * 31 + (uint64_t)v; }

__global__ void loads(source in, sink out)
{
    __shared__ alignas(16) uint32_t box[4 * 128];
    uint32_t t = threadIdx.x;
    for (int i = 0; i < 4; i++)
        box[4 * t + i] = in[4 * place() + i];
    cluster_sync();
    uint64_t sum = 0, x, y;
    uint32_t a, b, c, d;
    for (uint32_t rank = 0; rank < cluster_size(); rank++) {
        uint32_t from = map_rank(shared_address(box), rank);
        LOAD("u8", uint32_t, "=r") LOAD("s8", int32_t, "=r") LOAD("u16", uint32_t, "=r") LOAD("s16", int32_t, "=r") LOAD("b32", uint32_t, "=r")
        LOAD("s32", int64_t, "=l") LOAD("u64", uint64_t, "=l") LOAD("relaxed.cluster.u32", uint32_t, "=r")
        LOAD("acquire.cluster.b64", uint64_t, "=l") LOAD("volatile.u16", uint32_t, "=r")
        asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from + 16 * t) : "memory");
        sum = sum * 31 + a + 3ull * b + 5ull * c + 7ull * d;
        asm volatile("ld.shared::cluster.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "r"(from + 16 * t) : "memory");
        sum = sum * 31 + x + 3 * y;
        asm volatile("ld.shared::cluster.v2.u16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(from + 16 * t + 4) : "memory");
        sum = sum * 31 + a + 3 * b;
    }
    out[place()] = sum;
    cluster_sync();
}

__global__ void stores(source in, sink out)
{
    __shared__ alignas(16) uint64_t box[128][8];
    uint32_t t = threadIdx.x, v = in[place()], n = cluster_size();
    uint64_t w = (uint64_t)v << 32 | in[place() + 1];
    for (int i = 0; i < 8; i++)
        box[t][i] = 0;
    cluster_sync();
    uint32_t to = map_rank(shared_address(box[(t * 5 + 3) % 128]), (cluster_rank() + t) % n);
    asm volatile("st.shared::cluster.u8 [%0+1], %1;\nst.shared::cluster.u16 [%0+2], %1;\nst.shared::cluster.u32 [%0+4], %1;\n"
                 "st.shared::cluster.u64 [%0+8], %2;\nst.shared::cluster.v2.u64 [%0+16], {%2, %2};\nst.shared::cluster.v4.u32 [%0+32], {%1, %1, %1, %1};\n"
                 "st.relaxed.cluster.shared::cluster.u32 [%0+48], %1;\nst.release.cluster.shared::cluster.u32 [%0+52], %1;\n"
                 "st.volatile.shared::cluster.u64 [%0+56], %2;" :: "r"(to), "r"(v), "l"(w) : "memory");
    cluster_sync();
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++)
        sum = stir(sum, box[t][i]);
    out[place()] = sum;
}

/* ---------------------------------------------------------------- atomic operations on the next CTA's memory
 * Each word belongs to one thread, so that the old values are certain; then sums by all threads. */

#define ATOM32(op, ...) { uint32_t d; asm volatile("atom.shared::cluster." op " %0, [%1], %2" __VA_ARGS__ ";" : "=r"(d) : "r"(at), "r"(v) : "memory"); sum = stir(sum, d); at += 8; }
#define ATOM64(op, ...) { uint64_t d; asm volatile("atom.shared::cluster." op " %0, [%1], %2" __VA_ARGS__ ";" : "=l"(d) : "r"(at), "l"(w) : "memory"); sum = stir(sum, d); at += 8; }
#define RED32(op) { asm volatile("red.relaxed.cluster.shared::cluster." op " [%0], %1;" :: "r"(at), "r"(v) : "memory"); at += 8; }
#define RED64(op) { asm volatile("red.relaxed.cluster.shared::cluster." op " [%0], %1;" :: "r"(at), "l"(w) : "memory"); at += 8; }

enum { WORDS = 48 };

__global__ void atomics(source in, sink out)
{
    __shared__ uint64_t box[32][WORDS];
    uint32_t t = threadIdx.x, v = in[place()] & 0x7fffffff;
    uint64_t w = (uint64_t)v << 31 | in[place() + 7], sum = 1;
    for (int i = 0; i < WORDS; i++)
        box[t][i] = (uint64_t)in[place() + 11 * i] << 32 | (in[place() + 13 * i] & 0x3fffffff);
    cluster_sync();
    uint32_t at = map_rank(shared_address(box[t]), (cluster_rank() + 1) % cluster_size());
    ATOM32("add.u32") ATOM32("add.s32") ATOM32("min.u32") ATOM32("min.s32") ATOM32("max.u32") ATOM32("max.s32") ATOM32("and.b32")
    ATOM32("or.b32") ATOM32("xor.b32") ATOM32("exch.b32") ATOM32("inc.u32") ATOM32("dec.u32") ATOM32("cas.b32", ", 77")
    ATOM64("add.u64") ATOM64("min.u64") ATOM64("min.s64") ATOM64("max.u64") ATOM64("max.s64") ATOM64("and.b64") ATOM64("or.b64")
    ATOM64("xor.b64") ATOM64("exch.b64") ATOM64("cas.b64", ", 78") ATOM32("acq_rel.cluster.add.u32") ATOM32("relaxed.gpu.exch.b32")
    RED32("add.u32") RED32("add.s32") RED32("min.u32") RED32("min.s32") RED32("max.u32") RED32("max.s32") RED32("and.b32") RED32("or.b32")
    RED32("xor.b32") RED32("inc.u32") RED32("dec.u32") RED64("add.u64") RED64("min.u64") RED64("min.s64") RED64("max.u64") RED64("max.s64")
    RED64("and.b64") RED64("or.b64") RED64("xor.b64")
    cluster_sync();
    out[2 * place()] = sum;
    for (int i = 0; i < WORDS; i++)
        sum = stir(sum, box[t][i]);
    out[2 * place() + 1] = sum;
}

/* Sums of floating-point numbers: what was there, and what is there then. */
#define FLOAT_SUM(name, op, type, first, value)                                                                         \
    __global__ void name(source in, sink out)                                                                           \
    {                                                                                                                   \
        __shared__ uint64_t box[32];                                                                                    \
        uint32_t t = threadIdx.x, x = in[place()] >> 20;                                                                \
        type old, v = (value);                                                                                          \
        box[t] = (first);                                                                                               \
        cluster_sync();                                                                                                 \
        uint32_t at = map_rank(shared_address(&box[t]), (cluster_rank() + 1) % cluster_size());                         \
        op;                                                                                                             \
        cluster_sync();                                                                                                 \
        out[place()] = old;                                                                                             \
        out[place() + 32 * gridDim.x] = box[t] + 1;                                                                     \
    }
#define ADD32(type) asm volatile("atom.shared::cluster.add." type " %0, [%1], %2;" : "=r"(old) : "r"(at), "r"(v) : "memory")
#define ADD64(type) asm volatile("atom.shared::cluster.add." type " %0, [%1], %2;" : "=l"(old) : "r"(at), "l"(v) : "memory")
FLOAT_SUM(sum_f32, ADD32("f32"), uint32_t, __float_as_uint(1.5f), __float_as_uint(x * 0.375f))
FLOAT_SUM(sum_f64, ADD64("f64"), uint64_t, (uint64_t)__double_as_longlong(0.1), (uint64_t)__double_as_longlong(x * 1.25))
FLOAT_SUM(sum_f16x2, ADD32("noftz.f16x2"), uint32_t, 0x3c003800, 0x38003c01 + (x & 255))
FLOAT_SUM(sum_bf16x2, ADD32("noftz.bf16x2"), uint32_t, 0x3f803e00, 0x3e803f81 + (x & 31))

/* Every thread of the cluster adds to a word of every CTA. */
__global__ void sums(source in, sink out)
{
    __shared__ uint32_t sum[2];
    if (threadIdx.x < 2)
        sum[threadIdx.x] = threadIdx.x;
    cluster_sync();
    for (uint32_t rank = 0; rank < cluster_size(); rank++) {
        uint32_t at = map_rank(shared_address(sum), rank);
        asm volatile("red.shared::cluster.add.u32 [%0], %1;\nred.shared::cluster.max.u32 [%0+4], %1;" :: "r"(at), "r"(in[place()] + rank) : "memory");
    }
    cluster_sync();
    out[place()] = (uint64_t)sum[1] << 32 | sum[0];
}

/* ---------------------------------------------------------------- barriers */

/* Values wander round the cluster, one CTA a phase. The halves of a warp come to the barrier apart from each other. */
#define WANDER(name, ARRIVE, WAIT)                                                                                      \
    __global__ void name(source in, sink out)                                                                           \
    {                                                                                                                   \
        __shared__ uint32_t box[2][128];                                                                                \
        uint32_t t = threadIdx.x, v = in[place()], next = (cluster_rank() + 1) % cluster_size();                        \
        for (uint32_t phase = 0; phase < 9; phase++) {                                                                  \
            uint32_t to = map_rank(shared_address(&box[phase & 1][t]), next);                                           \
            asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(to), "r"(v) : "memory");                             \
            ARRIVE;                                                                                                     \
            uint32_t meanwhile = v * 3 + phase;                                                                         \
            WAIT;                                                                                                       \
            v = box[phase & 1][t ^ 1] + meanwhile;                                                                      \
        }                                                                                                               \
        cluster_sync();                                                                                                 \
        out[place()] = v + 1ull;                                                                                        \
    }

#define CLUSTER_ASM(text) asm volatile("barrier.cluster." text ";" ::: "memory")
WANDER(wander, CLUSTER_ASM("arrive"), CLUSTER_ASM("wait"))
WANDER(wander_aligned, CLUSTER_ASM("arrive.aligned"), CLUSTER_ASM("wait.aligned"))
WANDER(wander_release, CLUSTER_ASM("arrive.release"), CLUSTER_ASM("wait.acquire"))
WANDER(wander_relaxed, asm volatile("fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;" ::: "memory"), CLUSTER_ASM("wait.acquire.aligned"))
WANDER(wander_apart, if (t & 16) CLUSTER_ASM("arrive"); else CLUSTER_ASM("arrive.release"), if (t & 4) CLUSTER_ASM("wait"); else CLUSTER_ASM("wait.acquire"))

/* Threads that have returned are not waited for. */
__global__ void barrier_after_return(source in, sink out)
{
    __shared__ uint32_t box[128];
    uint32_t t = threadIdx.x, read;
    box[t] = in[place()];
    cluster_sync();
    if (t >= 32 * (1 + cluster_rank() % 3))
        return;
    out[place()] = 1;
    CLUSTER_ASM("arrive");
    CLUSTER_ASM("wait");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(read) : "r"(map_rank(shared_address(&box[127 - t]), cluster_size() - 1)) : "memory");
    out[place()] = read + 2ull;
    CLUSTER_ASM("arrive");
    CLUSTER_ASM("wait");
}

/* ---------------------------------------------------------------- all of them */
#define IN_CLUSTERS(kernel)                                                                                                     \
    { #kernel " of 1", kernel, 4, 128, 1 }, { #kernel " of 2", kernel, 8, 128, 2 }, { #kernel " of 4", kernel, 8, 128, 4 },     \
    { #kernel " of 8", kernel, 16, 128, 8 }, { #kernel " of 16", kernel, 16, 128, 16 }
#define WARP_IN_CLUSTERS(kernel)                                                                                                \
    { #kernel " of 1", kernel, 4, 32, 1 }, { #kernel " of 2", kernel, 8, 32, 2 }, { #kernel " of 3", kernel, 9, 32, 3 },        \
    { #kernel " of 8", kernel, 8, 32, 8 }, { #kernel " of 16", kernel, 16, 32, 16 }

static const test tests[] = {
    { "special without", special, { 4, 2, 2 }, 32, { 0, 0, 0 } }, { "special 1", special, 4, 32, 1 }, { "special 2", special, 8, 32, 2 },
    { "special 1x4", special, { 3, 8, 2 }, 32, { 1, 4, 1 } }, { "special 1x1x4", special, { 3, 2, 8 }, 32, { 1, 1, 4 } },
    { "special 2x2x2", special, { 4, 6, 2 }, 32, { 2, 2, 2 } }, { "special 3", special, { 9, 2, 1 }, 32, 3 },
    { "special 2x3", special, { 4, 6, 1 }, 32, { 2, 3, 1 } }, { "special 8", special, { 16, 3, 1 }, 32, 8 },
    { "special 4x4", special, { 8, 8, 1 }, 32, { 4, 4, 1 } }, { "special 16", special, 32, 32, 16 },
    { "special by itself", special_by_itself, { 4, 4, 1 }, 32, { 0, 0, 0 } },
    IN_CLUSTERS(addresses), IN_CLUSTERS(loads), IN_CLUSTERS(stores), WARP_IN_CLUSTERS(atomics), WARP_IN_CLUSTERS(sum_f32), WARP_IN_CLUSTERS(sum_f64), WARP_IN_CLUSTERS(sum_f16x2),
    WARP_IN_CLUSTERS(sum_bf16x2),
    IN_CLUSTERS(sums), IN_CLUSTERS(wander), IN_CLUSTERS(wander_aligned), IN_CLUSTERS(wander_release), IN_CLUSTERS(wander_relaxed),
    IN_CLUSTERS(wander_apart), IN_CLUSTERS(barrier_after_return),
};

RUN_TESTS(tests)
