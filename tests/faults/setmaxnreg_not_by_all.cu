/* Half of a warpgroup keeps its registers and waits for the others, who wait for those registers.
 *
 * says: always be able to go on
 * says: register pool: .*warp 8 asks for
 * says: warp 2 has not executed the setmaxnreg.dec 24 of its warpgroup; warp 3 has not
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void __launch_bounds__(384, 1) roles(int *to)
{
    if (threadIdx.x < 128) {
#ifndef FIXED
        if (threadIdx.x < 64)
#endif
            asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");       // here
    }
    asm volatile("bar.sync 1, 384;" ::: "memory");                  // here
    to[threadIdx.x] = 1;
}

int main(void)
{
    roles<<<1, 384>>>(device_array<int>(384));
    return outcome();
}
