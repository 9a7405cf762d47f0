/* wgmma in a module for plain sm_90: it needs sm_90a.
 *
 * target: 90
 * says: wgmma
 * says: cudaErrorInvalidPtx|cudaErrorInvalidKernelImage|cudaErrorNoKernelImageForDevice
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
