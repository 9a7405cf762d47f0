/* Code for sm_100a, whose tensor memory an RTX 5090 does not have, Blackwell though it is.
 *
 * target: 100a
 * env: EMU_DEVICE=rtx5090
 * env_fixed: EMU_DEVICE=b200
 * says: sm_100a
 * says: cudaErrorNoKernelImageForDevice|cudaErrorInvalidPtx|cudaErrorUnsupportedPtxVersion|cudaErrorInvalidKernelImage
 */
#include "tcgen05_tile.h"

__global__ void gemm(uint32_t *to)
{
    __shared__ uint32_t taddr;
    if (threadIdx.x < 32) {
        tcgen05_alloc<1>(&taddr, 64);
        tcgen05_dealloc<1>(taddr, 64);
    }
    to[threadIdx.x] = 0;
}

ONE_CTA(gemm)
