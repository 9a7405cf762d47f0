/* The registers of a load are used before tcgen05.wait::ld.
 *
 * target: 100a
 * says: left alone until they have been waited for
 * says: reads register d.3 of the tcgen05.ld at
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
    tcgen05_ld_32x32b_x8(r, my_lanes(acc));             // here
#ifdef FIXED
    tcgen05_wait_ld();
#endif
    to[threadIdx.x] = r[3];                             // here
    tcgen05_wait_ld();
    close_tile(acc);
}

ONE_CTA(gemm)
