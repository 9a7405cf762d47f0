/* __trap() ends the launch.
 *
 * says: trap
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void refuse(int n)
{
    if (n > 3)
        __trap();           // here
}

int main(void)
{
#ifdef FIXED
    refuse<<<1, 32>>>(3);
#else
    refuse<<<1, 32>>>(4);
#endif
    return outcome();
}
