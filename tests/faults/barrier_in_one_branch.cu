/* Two roles wait for each other at different barriers: __syncthreads stands in one role's branch only.
 *
 * says: always be able to go on
 * says: barrier 0
 * says: 32 of 64 threads
 * says: barrier 1
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void roles(int *to)
{
    if (threadIdx.x < 32) {
        to[threadIdx.x] = 1;
#ifdef FIXED
        asm volatile("barrier.sync 1, 64;" ::: "memory");
#else
        __syncthreads();                                    // here
#endif
    } else {
        to[threadIdx.x] = 2;
        asm volatile("barrier.sync 1, 64;" ::: "memory");   // here
    }
}

int main(void)
{
    roles<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
