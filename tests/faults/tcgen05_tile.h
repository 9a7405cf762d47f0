/* tcgen05_tile.h: what the programs of tests/faults about tensor memory share: one 128 x 64 product of fp16 ones, k = 16, by
 * one CTA of 128 threads. */
#ifndef TCGEN05_TILE_H
#define TCGEN05_TILE_H

#include <cuda_fp16.h>
#include "fault.h"
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tmem.h"

enum { TILE_M = 128, TILE_N = 64, LINE = 64, COLUMNS = 64 };    /* LINE: halves in a row of 128 bytes */

struct tile {
    alignas(1024) half a[TILE_M * LINE];
    alignas(1024) half b[TILE_N * LINE];
    mbarrier done, other;
    uint32_t taddr;
};

static __device__ void fill(struct tile *tile)
{
    for (int i = threadIdx.x; i < (TILE_M + TILE_N) * LINE; i += blockDim.x)
        tile->a[i] = __float2half(1);                           /* b lies behind a */
}

/* Operands, barriers, COLUMNS columns; returns their address. */
static __device__ uint32_t open_tile(struct tile *tile)
{
    fill(tile);
    fence_proxy_async_shared_cta();
    if (threadIdx.x == 0) {
        mbarrier_init(&tile->done, 1);
        mbarrier_init(&tile->other, 1);
        fence_mbarrier_init_release_cluster();
    }
    if (threadIdx.x < 32)
        tcgen05_alloc<1>(&tile->taddr, COLUMNS);
    tcgen05_fence_before_thread_sync();
    __syncthreads();
    tcgen05_fence_after_thread_sync();
    return tile->taddr;
}

/* One thread. */
static __device__ void multiply(struct tile *tile, uint32_t acc, int n)
{
    const uint32_t idesc = 1u << 4 | (uint32_t)n / 8 << 17 | TILE_M / 16 << 24;
    tcgen05_mma_f16<1>(acc, tcgen05_descriptor_128b(shared_address(tile->a)), tcgen05_descriptor_128b(shared_address(tile->b)), idesc, 0);
}

static __device__ uint32_t my_lanes(uint32_t acc) { return acc + (threadIdx.x / 32 * 32 << 16); }

static __device__ void close_tile(uint32_t acc)
{
    tcgen05_fence_before_thread_sync();
    __syncthreads();
    if (threadIdx.x < 32)
        tcgen05_dealloc<1>(acc, COLUMNS);
}

#define ONE_CTA(kernel)                                                                                             \
    int main(void)                                                                                                  \
    {                                                                                                               \
        kernel<<<1, 128>>>(device_array<uint32_t>(128 * TILE_N));                                                   \
        return outcome();                                                                                           \
    }

#endif
