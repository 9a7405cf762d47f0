/* R9: each warp waits for its own copies, and reads those of the other: a barrier is missing behind the wait.
 *
 * says: it reads shared memory .* through the generic proxy
 * says: a cp.async of warp [01] of CTA \(0,0,0\) wrote it through the generic proxy, and nothing orders the two
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"

__global__ void swap(int4 *to, const int4 *from)
{
    __shared__ int4 tile[64];
    tile[threadIdx.x] = make_int4(0, 0, 0, 0);
    __syncthreads();
    cp_async_cg_shared_global_16(shared_address(&tile[threadIdx.x]), from + threadIdx.x, 16);     // here
    cp_async_commit_group();
    cp_async_wait_group<0>();
#ifdef FIXED
    __syncthreads();
#endif
    to[threadIdx.x] = tile[63 - threadIdx.x];   // here
}

int main(void)
{
    swap<<<1, 64>>>(device_array<int4>(64), device_zeros<int4>(64));
    return outcome();
}
