/* A barrier is used by another warp than the one that initialises it, and nothing makes it wait for that.
 *
 * says: reads shared memory .* through the generic proxy
 * says: warp 0 of CTA \(0,0,0\) wrote it through the generic proxy, and nothing orders the two
 * says: hint: after mbarrier.init: __syncthreads
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_mbarrier.h"

__global__ void arrive(int *to)
{
    __shared__ mbarrier all;
    if (threadIdx.x == 0)
        mbarrier_init(&all, 64);
#ifdef FIXED
    __syncthreads();
#else
    while (clock() < 5000)
        ;                                       /* as good as never too early; but nothing promises it */
#endif
    mbarrier_arrive(&all);
    wait_parity(&all, 0);
    to[threadIdx.x] = 1;
}

int main(void)
{
    arrive<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
