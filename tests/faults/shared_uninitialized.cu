/* Half of the tile is filled, all of it is read.
 *
 * says: written before it is read
 * says: shared
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void reverse(int *to)
{
    __shared__ int tile[64];
#ifndef FIXED
    if (threadIdx.x < 32)
#endif
        tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x];   // here
}

int main(void)
{
    reverse<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
