/* There are sixteen barriers, 0 to 15.
 *
 * says: barrier 16
 * says: barriers 0 to 15
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void wait(int barrier)
{
    asm volatile("barrier.sync %0, 32;" ::"r"(barrier) : "memory");     // here
}

int main(void)
{
#ifdef FIXED
    wait<<<1, 32>>>(15);
#else
    wait<<<1, 32>>>(16);
#endif
    return outcome();
}
