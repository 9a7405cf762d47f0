/* The copy stopped one element short: only the last thread reads what nothing wrote.
 *
 * says: written before it is read
 * says: lane 31
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];    // here
}

int main(void)
{
    enum { N = 64 };
    int host[N] = { 0 };
    int *from = device_array<int>(N);
#ifdef FIXED
    size_t size = sizeof host;
#else
    size_t size = sizeof host - sizeof host[0];
#endif
    cudaMemcpy(from, host, size, cudaMemcpyHostToDevice);
    copy<<<1, N>>>(device_array<int>(N), from);
    return outcome();
}
