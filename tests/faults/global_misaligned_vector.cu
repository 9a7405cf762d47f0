/* A 16-byte load from an address that is a multiple of 4 only.
 *
 * says: multiple of
 * says: 16
 * says: cudaErrorMisalignedAddress
 */
#include "fault.h"

__global__ void load(float4 *to, const float *from, int first)
{
    to[threadIdx.x] = reinterpret_cast<const float4 *>(from + first)[threadIdx.x];  // here
}

int main(void)
{
#ifdef FIXED
    int first = 4;
#else
    int first = 1;
#endif
    load<<<1, 4>>>(device_array<float4>(4), device_zeros<float>(32), first);
    return outcome();
}
