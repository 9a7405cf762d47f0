/* A barrier's thread count must be a multiple of the warp size.
 *
 * says: multiple of the warp size
 * says: 48
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void wait(int threads)
{
    asm volatile("barrier.sync 1, %0;" ::"r"(threads) : "memory");      // here
}

int main(void)
{
#ifdef FIXED
    wait<<<1, 64>>>(64);
#else
    wait<<<1, 64>>>(48);
#endif
    return outcome();
}
