/* An instruction that does not exist: refused when the module is loaded, by name and line.
 *
 * says: frobnicate
 * says: unknown_instruction
 * says: cudaErrorInvalidPtx|cudaErrorInvalidKernelImage|cudaErrorNoKernelImageForDevice
 */
#include "fault.h"

__global__ void load(int *to)
{
    int value = threadIdx.x;
#ifndef FIXED
    asm volatile("frobnicate.b32 %0, %0;" : "+r"(value));
#endif
    to[threadIdx.x] = value;
}

int main(void)
{
    load<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
