/* Code for sm_90a, whose wgmma an A100 does not have.
 *
 * env: EMU_DEVICE=a100
 * env_fixed: EMU_DEVICE=h200
 * says: sm_90a
 * says: cudaErrorNoKernelImageForDevice|cudaErrorInvalidPtx|cudaErrorUnsupportedPtxVersion|cudaErrorInvalidKernelImage
 */
#include "fault.h"

__global__ void fence(void)
{
#ifndef FIXED
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

int main(void)
{
    fence<<<1, 128>>>();
    return outcome();
}
