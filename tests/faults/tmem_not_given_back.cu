/* The CTA exits and keeps its columns.
 *
 * target: 100a
 * says: given back before the CTA exits
 * says: has exited without giving back 64 columns of tensor memory from 0 on
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    to[threadIdx.x] = acc;
#ifdef FIXED
    close_tile(acc);
#endif
}

ONE_CTA(gemm)
