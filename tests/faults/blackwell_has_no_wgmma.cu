/* Code for sm_90a, whose wgmma a B200 has given up.
 *
 * env: EMU_DEVICE=b200
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
