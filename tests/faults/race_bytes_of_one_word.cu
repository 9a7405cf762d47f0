/* Two warps write neighbouring bytes: no race. Two of them write the same byte, and not the same value: a race.
 *
 * says: it writes shared memory .* through the generic proxy
 * says: warp 0 of CTA \(0,0,0\) wrote it
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

__global__ void flags(int *to)
{
    __shared__ unsigned char flag[8];
    const int warp = threadIdx.x / 32;
#ifdef FIXED
    flag[warp] = warp;
#else
    flag[warp / 2] = warp;                      // here
#endif
    __syncthreads();
    to[threadIdx.x] = flag[0];
}

int main(void)
{
    flags<<<1, 128>>>(device_array<int>(128));
    return outcome();
}
