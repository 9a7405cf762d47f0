/* The host forgot to fill the array.
 *
 * says: written before it is read
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void copy(float *to, const float *from)
{
    to[threadIdx.x] = from[threadIdx.x];    // here
}

int main(void)
{
    enum { N = 64 };
    float *from = device_array<float>(N);
#ifdef FIXED
    cudaMemset(from, 0, N * sizeof *from);
#endif
    copy<<<1, N>>>(device_array<float>(N), from);
    return outcome();
}
