/* An arrival at an mbarrier that has not been initialised.
 *
 * says: initialised once
 * says: mbarrier.init has not been executed
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void arrives(int *to)
{
    __shared__ alignas(8) unsigned long long full;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&full);
#ifdef FIXED
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
#endif
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");    // here
    to[0] = 1;
}

int main(void)
{
    arrives<<<1, 1>>>(device_array<int>(1));
    return outcome();
}
