/* R1: the proxy fence stands before the writes that it is to make visible.
 *
 * says: no proxy fence \(fence.proxy.async\) stands between them
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_tma.h"

__global__ void copy_out(int *to)
{
    __shared__ alignas(128) int tile[64];
#ifndef FIXED
    fence_proxy_async_shared_cta();
#endif
    tile[threadIdx.x] = threadIdx.x;            // here
#ifdef FIXED
    fence_proxy_async_shared_cta();
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk_global_shared(to, tile, sizeof tile);     // here
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group<0>();
    }
}

int main(void)
{
    copy_out<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
