/* The launch asks for less dynamic shared memory than the kernel uses.
 *
 * says: inside one allocation
 * says: shared
 * says: cudaErrorIllegalAddress|cudaErrorLaunchFailure
 */
#include "fault.h"

extern __shared__ int tile[];

__global__ void fill(int *to)
{
    tile[threadIdx.x] = threadIdx.x;    // here
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x ^ 1];
}

int main(void)
{
#ifdef FIXED
    size_t bytes = 256 * sizeof(int);
#else
    size_t bytes = 128 * sizeof(int);
#endif
    fill<<<1, 256, bytes>>>(device_array<int>(256));
    return outcome();
}
