/* Every warp loads lanes 0 to 31, which only the first of four reaches.
 *
 * target: 100a
 * says: a quarter of its lanes to each warp
 * says: warp 1 reaches lanes 32 to 63
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
#ifdef FIXED
    tcgen05_ld_32x32b_x8(r, my_lanes(acc));
#else
    if (threadIdx.x / 32 == 1)
        tcgen05_ld_32x32b_x8(r, acc);                   // here
#endif
    tcgen05_wait_ld();
    to[threadIdx.x] = r[3];
    close_tile(acc);
}

ONE_CTA(gemm)
