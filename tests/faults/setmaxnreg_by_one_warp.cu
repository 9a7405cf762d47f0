/* Only the warp that produces gives its registers away; the other three of its warpgroup keep theirs.
 *
 * says: all warps of a warpgroup execute the same setmaxnreg
 * says: warp 0 executed it, but warp [123] of the same warpgroup has exited without
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void __launch_bounds__(384, 1) roles(int *to)
{
    if (threadIdx.x < 128) {
#ifndef FIXED
        if (threadIdx.x >= 32)
            return;
#endif
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");        // here
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 168;");
    }
    to[threadIdx.x] = 1;
}

int main(void)
{
    roles<<<1, 384>>>(device_array<int>(384));
    return outcome();
}
