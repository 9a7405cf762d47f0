/* One warpgroup gives up too few registers for what the two others ask for.
 *
 * says: always be able to go on
 * says: register pool: .*warp 11 asks for 2304 \(it has 168 registers per thread and wants 240\)
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

#ifdef FIXED
#define KEPT "24"
#else
#define KEPT "40"
#endif

__global__ void __launch_bounds__(384, 1) roles(int *to)
{
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 " KEPT ";");
    else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");       // here
    to[threadIdx.x] = 1;
}

int main(void)
{
    roles<<<1, 384>>>(device_array<int>(384));
    return outcome();
}
