/* Two warps give the same columns back.
 *
 * target: 100a
 * says: belongs to the CTA that allocated it
 * says: column 0 is not allocated
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    to[threadIdx.x] = acc;
#ifdef FIXED
    if (threadIdx.x < 32)
#else
    if (threadIdx.x < 64)
#endif
        tcgen05_dealloc<1>(acc, COLUMNS);               // here
}

ONE_CTA(gemm)
