/* A relaxed barrier stands between the warps' loads and the warp that gives the columns back. It says that all have come, not
 * that what they did is over: that, the wait for the loads says, and it must come first.
 *
 * target: 100a
 * says: the tcgen05.ld at .*wait::ld must come between
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    if (threadIdx.x == 0) {
        multiply(&tile, acc, TILE_N);
        tcgen05_commit<1>(&tile.done);
    }
    wait_parity(&tile.done, 0);
    tcgen05_fence_after_thread_sync();
    uint32_t r[8];
    tcgen05_ld_32x32b_x8(r, my_lanes(acc));
#ifdef FIXED
    tcgen05_wait_ld();
#endif
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x < 32)
        tcgen05_dealloc<1>(acc, COLUMNS);               // here
#ifndef FIXED
    tcgen05_wait_ld();
#endif
    to[threadIdx.x] = r[3];
}

ONE_CTA(gemm)
