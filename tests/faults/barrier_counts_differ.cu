/* Two warps meet at one barrier with different ideas of how many threads it is for.
 *
 * says: the same for all
 * says: 64
 * says: 96
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void meet(int first, int second)
{
    int threads = threadIdx.x < 32 ? first : second;
    asm volatile("barrier.sync 1, %0;" ::"r"(threads) : "memory");      // here
}

int main(void)
{
#ifdef FIXED
    meet<<<1, 64>>>(64, 64);
#else
    meet<<<1, 64>>>(64, 96);
#endif
    return outcome();
}
