/* An 8-byte load from shared memory at an odd element.
 *
 * says: multiple of
 * says: shared
 * says: cudaErrorMisalignedAddress
 */
#include "fault.h"

__global__ void load(double *to, int first)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = 0;
    __syncwarp();
    to[threadIdx.x / 2] = *reinterpret_cast<double *>(&tile[first + threadIdx.x / 2 * 2]);  // here
}

int main(void)
{
#ifdef FIXED
    int first = 2;
#else
    int first = 1;
#endif
    load<<<1, 32>>>(device_array<double>(32), first);
    return outcome();
}
