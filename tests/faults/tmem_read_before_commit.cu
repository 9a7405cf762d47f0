/* The accumulator is loaded while the multiplication still writes it: nobody waits on the barrier that the commit arrives at.
 *
 * target: 100a
 * says: left alone until they have been waited for
 * says: it reads columns 0 to 63, which the tcgen05.mma at
 * says: tcgen05.commit, and a wait on the mbarrier
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    if (threadIdx.x == 0) {
        multiply(&tile, acc, TILE_N);                   // here
        tcgen05_commit<1>(&tile.done);
    }
    __syncthreads();
#ifdef FIXED
    wait_parity(&tile.done, 0);
#endif
    tcgen05_fence_after_thread_sync();
    uint32_t r[8];
    tcgen05_ld_32x32b_x8(r, my_lanes(acc));             // here
    tcgen05_wait_ld();
    for (int i = 0; i < 8; i++)
        to[threadIdx.x * 8 + i] = r[i];
    close_tile(acc);
}

ONE_CTA(gemm)
