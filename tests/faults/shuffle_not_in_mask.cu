/* A lane takes part in a shuffle whose mask does not name it.
 *
 * says: mask
 * says: cudaErrorLaunchFailure|cudaErrorIllegalInstruction
 */
#include "fault.h"

__global__ void pass(int *to, unsigned mask)
{
    to[threadIdx.x] = __shfl_xor_sync(mask, (int)threadIdx.x, 1);   // here
}

int main(void)
{
#ifdef FIXED
    unsigned mask = 0xffffffff;
#else
    unsigned mask = 0x0000ffff;
#endif
    pass<<<1, 32>>>(device_array<int>(32), mask);
    return outcome();
}
