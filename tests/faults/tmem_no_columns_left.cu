/* Two warps each want all of tensor memory, and meet at a barrier before either gives it back.
 *
 * target: 100a
 * says: always be able to go on
 * says: tensor memory: columns 0 to 511 belong to CTA \(0,0,0\)
 * says: wait for tcgen05.alloc of 512 columns
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ uint32_t taddr[4];
    const int warp = threadIdx.x / 32;
    if (warp < 2)
        tcgen05_alloc<1>(&taddr[warp], 512);            // here
#ifdef FIXED
    if (warp < 2)
        tcgen05_dealloc<1>(taddr[warp], 512);
    __syncthreads();
#else
    __syncthreads();
    if (warp < 2)
        tcgen05_dealloc<1>(taddr[warp], 512);
#endif
    to[threadIdx.x] = 0;
}

ONE_CTA(gemm)
