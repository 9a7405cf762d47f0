/* A histogram's bin number is one too large.
 *
 * says: inside one allocation
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void histogram(int *bins, int nbins)
{
#ifdef FIXED
    int bin = threadIdx.x % nbins;
#else
    int bin = threadIdx.x % (nbins + 1);
#endif
    atomicAdd(&bins[bin], 1);   // here
}

int main(void)
{
    enum { BINS = 8 };
    histogram<<<1, 32>>>(device_zeros<int>(BINS), BINS);
    return outcome();
}
