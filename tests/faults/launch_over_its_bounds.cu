/* 1024 threads of a kernel whose __launch_bounds__ promise at most 128.
 *
 * says: 1024 threads
 * says: 128
 * says: cudaErrorLaunchOutOfResources|cudaErrorInvalidConfiguration
 */
#include "fault.h"

#ifdef FIXED
enum { THREADS = 128 };
#else
enum { THREADS = 1024 };
#endif

__global__ void __launch_bounds__(128) bounded(int *to)
{
    to[threadIdx.x] = 1;
}

int main(void)
{
    bounded<<<1, THREADS>>>(device_array<int>(1024));
    return outcome();
}
