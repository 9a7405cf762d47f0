/* tma_cluster.cu: copies within a cluster: boxes and runs of bytes that go to several CTAs at once, into another CTA's shared
 * memory from global memory and from shared memory, and reductions there. */
#include "tma.h"

#include <cooperative_groups.h>

enum { TILE = 4096, WORDS = TILE / 8 };

__device__ static inline unsigned mapped(unsigned address, unsigned rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

#define SEND(op) asm volatile(op " [%0], [%1], %2, [%3];" :: "r"(there), "r"(from), "r"(bytes), "r"(there_bar) : "memory")
#define REDUCTION "cp.reduce.async.bulk.shared::cluster.shared::cta." COMPLETE

/* Operations 0 to 9 send this CTA's `from` to the next CTA's `to`; the rest load from global memory. */
__device__ static inline void act(int op, const CUtensorMap *map, const uint64_t *gmem, unsigned from, unsigned to, unsigned bar,
                                  unsigned bytes, unsigned rank, unsigned next)
{
    unsigned there = mapped(to, next), there_bar = mapped(bar, next);
    unsigned short all = 0xf, even = 0x5, mine = 1 << next;
    const int c = 16 * (int)rank, r = (int)rank - 1;
    switch (op) {
    case 0: SEND("cp.async.bulk.shared::cluster.shared::cta." COMPLETE); break;
    case 1: SEND(REDUCTION ".add.u32"); break;
    case 2: SEND(REDUCTION ".add.s32"); break;
    case 3: SEND(REDUCTION ".add.u64"); break;
    case 4: SEND(REDUCTION ".min.u32"); break;
    case 5: SEND(REDUCTION ".max.s32"); break;
    case 6: SEND(REDUCTION ".inc.u32"); break;
    case 7: SEND(REDUCTION ".dec.u32"); break;
    case 8: SEND(REDUCTION ".and.b32"); break;
    case 9: SEND(REDUCTION ".xor.b32"); break;
    case 10: asm volatile("cp.async.bulk.shared::cluster.global." COMPLETE " [%0], [%1], %2, [%3];"
                          :: "r"(there), "l"(gmem + 2 * rank), "r"(bytes), "r"(there_bar) : "memory"); break;
    case 11: asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global." COMPLETE " [%0], [%1, {%2, %3}], [%4];"
                          :: "r"(there), "l"(map), "r"(c), "r"(r), "r"(there_bar) : "memory"); break;
    /* One CTA's copy to a set of them. */
    case 12: if (rank == 1)
                 asm volatile("cp.async.bulk.shared::cluster.global." COMPLETE ".multicast::cluster [%0], [%1], %2, [%3], %4;"
                              :: "r"(to), "l"(gmem), "r"(bytes), "r"(bar), "h"(all) : "memory"); break;
    case 13: if (rank == 2)
                 asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global." COMPLETE ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                              :: "r"(to), "l"(map), "r"(c), "r"(r), "r"(bar), "h"(all) : "memory"); break;
    case 14: if (rank < 2)      /* the even CTAs from rank 0, the odd ones from rank 1 */
                 asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global." COMPLETE ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                              :: "r"(to), "l"(map), "r"(c), "r"(r), "r"(bar), "h"((unsigned short)(even << rank)) : "memory"); break;
    case 15: asm volatile("cp.async.bulk.shared::cluster.global." COMPLETE ".multicast::cluster [%0], [%1], %2, [%3], %4;"
                          :: "r"(to), "l"(gmem + 2 * rank), "r"(bytes), "r"(bar), "h"(mine) : "memory"); break;
    }
}

__global__ void __cluster_dims__(4, 1, 1) run(const __grid_constant__ CUtensorMap map, int op, const uint64_t *gmem, uint64_t *out)
{
    __shared__ alignas(1024) uint64_t from[WORDS];
    __shared__ alignas(1024) uint64_t to[WORDS];
    __shared__ alignas(8) uint64_t full;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    unsigned rank = cluster.block_rank(), bar = smem_address(&full);
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) {
        from[i] = gmem[i + WORDS * rank];
        to[i] = gmem[WORDS * rank + (i * 5 + 1) % WORDS];
    }
    fence_async();
    if (threadIdx.x == 0) {
        barrier_init(bar, 1);
        barrier_expect(bar, TILE);
    }
    cluster.sync();
    if (threadIdx.x == 0)
        act(op, &map, gmem, smem_address(from), smem_address(to), bar, TILE, rank, (rank + 1) % 4);
    bool done = barrier_wait(bar);
    cluster.sync();
    uint64_t *mine = out + (WORDS + 1) * rank;
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
        mine[i] = to[i];
    mine[WORDS] = done;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "copy", "add.u32", "add.s32", "add.u64", "min.u32", "max.s32", "inc.u32", "dec.u32", "and.b32",
        "xor.b32", "bytes to the next CTA", "box to the next CTA", "bytes to all", "box to all", "boxes to every other", "bytes to one of the set" };
    const size_t n = 4 * (WORDS + 1);
    tensor t;
    t.dim[0] = 128, t.dim[1] = 40, t.box[0] = 64, t.box[1] = 32, t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    uint64_t *gmem = device_words(4 * TILE + 64, 3), *out = device_words(8 * n, 0);
    CUtensorMap map = t.map(gmem);
    for (int op = 0; op < 16; op++) {
        run<<<4, 128>>>(map, op, gmem, out);
        CHECKED(cudaGetLastError());
        values words = host_words(out, n);
        if (verbose(argc, argv))
            print_words(names[op], words);
        print_results(names[op], words.data(), words.size());
    }
    return 0;
}
