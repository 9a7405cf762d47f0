/* The columns of a load are written again before tcgen05.wait::ld. All its registers have been used, but that orders no
 * accesses to tensor memory.
 *
 * target: 100a
 * says: left alone until they have been waited for
 * says: writes columns 0 to 7, which the tcgen05.ld
 * says: tcgen05.wait::ld must come between
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
    for (int i = 0; i < 8; i++)
        to[8 * threadIdx.x + i] = r[i]++;
    tcgen05_st_32x32b_x8(my_lanes(acc), r);             // here
    tcgen05_wait_st();
    close_tile(acc);
}

ONE_CTA(gemm)
