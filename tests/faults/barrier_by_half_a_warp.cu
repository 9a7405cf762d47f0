/* Only the lower half of the warp comes to __syncthreads, which is an .aligned barrier.
 *
 * says: \.aligned
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void half(int *to)
{
    __shared__ int last;
    if (threadIdx.x < 16) {
        last = threadIdx.x;
#ifndef FIXED
        asm volatile("barrier.sync.aligned 0;" ::: "memory");   // here
#endif
        to[threadIdx.x] = last;
    }
#ifdef FIXED
    __syncthreads();
#endif
}

int main(void)
{
    half<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
