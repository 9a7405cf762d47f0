/* The array is freed before the kernel that reads it is launched.
 *
 * says: [Ff]reed
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];    // here
}

int main(void)
{
    int *from = device_zeros<int>(32), *to = device_array<int>(32);
#ifndef FIXED
    cudaFree(from);
#endif
    copy<<<1, 32>>>(to, from);
    return outcome();
}
