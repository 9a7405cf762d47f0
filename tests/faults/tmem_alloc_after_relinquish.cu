/* A CTA that has said it will allocate no more does.
 *
 * target: 100a
 * says: the CTA has given up the right to allocate
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ uint32_t taddr[2];
    if (threadIdx.x < 32) {
        tcgen05_alloc<1>(&taddr[0], 64);
#ifdef FIXED
        tcgen05_alloc<1>(&taddr[1], 64);
        tcgen05_relinquish_alloc_permit<1>();
#else
        tcgen05_relinquish_alloc_permit<1>();
        tcgen05_alloc<1>(&taddr[1], 64);                // here
#endif
        tcgen05_dealloc<1>(taddr[0], 64);
        tcgen05_dealloc<1>(taddr[1], 64);
    }
    to[threadIdx.x] = 0;
}

ONE_CTA(gemm)
