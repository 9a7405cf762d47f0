/* An index runs off a __device__ table.
 *
 * says: inside one allocation
 * says: table
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__device__ int table[10];

__global__ void look_up(int *to, int n)
{
    if (threadIdx.x < n)
        to[threadIdx.x] = table[threadIdx.x];   // here
}

int main(void)
{
#ifdef FIXED
    int n = 10;
#else
    int n = 11;
#endif
    look_up<<<1, 32>>>(device_array<int>(32), n);
    return outcome();
}
