/* R9: a tile is filled again while others still read it: the second __syncthreads() is missing.
 *
 * says: two accesses to the same shared memory
 * says: it (writes|reads) shared memory .* through the generic proxy
 * says: warp [01] of CTA \(0,0,0\) (read|wrote) it through the generic proxy, and nothing orders the two
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void sums(int *to)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        tile[threadIdx.x] = round;              // here
        __syncthreads();
        sum += tile[63 - threadIdx.x];          // here
#ifdef FIXED
        __syncthreads();
#endif
    }
    to[threadIdx.x] = sum;
}

int main(void)
{
    sums<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
