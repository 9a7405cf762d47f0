/* R9: a tile is read before all warps have filled it: the first __syncthreads() is missing. The values happen to be the
 * right ones, for warp 1 writes first.
 *
 * says: two accesses to the same shared memory
 * says: writes shared memory .* through the generic proxy
 * says: warp [01] of CTA \(0,0,0\) (read|wrote) it through the generic proxy, and nothing orders the two
 * says: hint: __syncthreads
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void reverse(int *to)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    tile[threadIdx.x] += 1;                     // here
#ifdef FIXED
    __syncthreads();
#endif
    to[threadIdx.x] = tile[63 - threadIdx.x];   // here
}

int main(void)
{
    reverse<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
