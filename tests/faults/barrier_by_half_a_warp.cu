/* The halves of a warp come to different barrier instructions; __syncthreads is .aligned, so the whole warp must come
 * to the same one.
 *
 * says: \.aligned
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void halves(int *to)
{
    __shared__ int last;
#ifdef FIXED
    __syncthreads();
    last = threadIdx.x;
#else
    if (threadIdx.x < 16) {
        asm volatile("barrier.sync.aligned 0;" ::: "memory");   // here
        last = threadIdx.x;
    } else {
        asm volatile("barrier.sync.aligned 0;" ::: "memory");
        last = threadIdx.x + 1;
    }
#endif
    to[threadIdx.x] = last;
}

int main(void)
{
    halves<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
