/* A 16-byte load begins inside an array and ends past it; another array is there, that has no part in it.
 *
 * says: inside one allocation
 * says: kernel copy
 * says: the last 12 of them past the end of cudaMalloc of 4004 bytes
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void copy(float4 *to, const float4 *from, int n)
{
    int i = threadIdx.x;
#ifdef FIXED
    if (4 * i + 4 <= n)
#else
    if (4 * i < n)
#endif
        to[i] = from[i];    // here
}

int main(void)
{
    enum { N = 1001 };
    const float *from = device_zeros<float>(N);
    copy<<<1, 256>>>((float4 *)device_array<float>(2 * N), (const float4 *)from, N);
    return outcome();
}
