/* The second kernel waits before it reads the first one's results, but has by then overwritten what the first one reads.
 *
 * says: DEPENDENCE
 * says: Kernel (halves|doubles)
 * says: kernel (halves|doubles), CTA
 * says: cudaErrorLaunchFailure
 */
#include "pdl.h"

__global__ void halves(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    launch_dependents();
    __nanosleep(20000);                 /* so it reads late */
    to[i] = from[i] / 2;                                                // here
}

__global__ void doubles(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    wait_for_primary();
#endif
    to[i] = -1;                                                         // here
    wait_for_primary();
    to[i] = from[i] * 2;
}

int main(void)
{
    int *a = device_zeros<int>(1024), *b = device_zeros<int>(1024);
    halves<<<8, 128>>>(a, b);
    launch_dependent(doubles, 8, 128, (const int *)b, a);
    return outcome();
}
