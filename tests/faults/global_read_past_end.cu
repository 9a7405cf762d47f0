/* The last thread reads the element after an array's last.
 *
 * says: inside one allocation
 * says: kernel .*copy
 * says: thread.*100|lane 4
 * says: 400 bytes
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void copy(float *to, const float *from, int n)
{
    int i = threadIdx.x;
#ifdef FIXED
    if (i < n)
#else
    if (i <= n)
#endif
        to[i] = from[i];    // here
}

int main(void)
{
    enum { N = 100 };
    copy<<<1, 128>>>(device_array<float>(2 * N), device_zeros<float>(N), N);
    return outcome();
}
