/* The commit arrives at one barrier, and another is waited for.
 *
 * target: 100a
 * says: always be able to go on
 * says: phase 0 is not complete: 1 of 1 arrivals pending, 0 bytes still expected; 128 threads wait
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    if (threadIdx.x == 0) {
        multiply(&tile, acc, TILE_N);
#ifdef FIXED
        tcgen05_commit<1>(&tile.done);
#else
        tcgen05_commit<1>(&tile.other);
#endif
    }
    wait_parity(&tile.done, 0);                         // here
    to[threadIdx.x] = 0;
    close_tile(acc);
}

ONE_CTA(gemm)
