/* Threads write the operands, and the tensor core reads them with no proxy fence between.
 *
 * target: 100a
 * says: fence.proxy.async
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    fill(&tile);
#ifdef FIXED
    fence_proxy_async_shared_cta();
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        multiply(&tile, acc, TILE_N);                   // here
        tcgen05_commit<1>(&tile.done);
    }
    wait_parity(&tile.done, 0);
    to[threadIdx.x] = 0;
    close_tile(acc);
}

ONE_CTA(gemm)
