/* A grid rounded up to whole blocks writes past the end: the test for the last block was left out.
 *
 * says: inside one allocation
 * says: cudaMalloc
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void fill(float *array, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i < n)
#endif
        array[i] = 1;       // here
}

int main(void)
{
    enum { N = 1000 };
    fill<<<(N + 255) / 256, 256>>>(device_array<float>(N), N);
    return outcome();
}
