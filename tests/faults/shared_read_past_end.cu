/* A tile of shared memory is one row too small for the index used.
 *
 * says: inside one allocation
 * says: shared
 * says: cudaErrorIllegalAddress|cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void transpose(int *to)
{
    __shared__ int tile[4096];
#ifdef FIXED
    int row = threadIdx.x;
#else
    int row = threadIdx.x + 1;
#endif
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        tile[i] = i;
    __syncthreads();
    to[threadIdx.x] = tile[row * 128 + 127];    // here
}

int main(void)
{
    transpose<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
