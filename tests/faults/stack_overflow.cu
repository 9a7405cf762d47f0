/* A recursion without an end uses up the thread's stack.
 *
 * says: local memory
 * says: cudaErrorLaunchFailure|cudaErrorIllegalAddress
 */
#include "fault.h"

__device__ __noinline__ int depth(volatile int *stop, int n)
{
    volatile int pad[64];
    pad[n & 63] = n;
    if (*stop == n)
        return pad[n & 63];
    return depth(stop, n + 1) + pad[n & 63];
}

__global__ void dive(int *to, int *stop)
{
    *to = depth(stop, 0);
}

int main(void)
{
    int *stop = device_array<int>(1);
#ifdef FIXED
    cudaMemset(stop, 0, sizeof *stop);
#else
    cudaMemset(stop, 0xff, sizeof *stop);
#endif
    dive<<<1, 1>>>(device_array<int>(1), stop);
    return outcome();
}
