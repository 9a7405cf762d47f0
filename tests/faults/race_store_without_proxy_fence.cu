/* R1: threads fill a tile, then the copy engine stores it. The barrier is there, the proxy fence is not.
 *
 * says: it reads shared memory .* through the async proxy
 * says: wrote it through the generic proxy, and no proxy fence \(fence.proxy.async\) stands between them
 * says: hint: whoever wrote executes fence.proxy.async
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_tma.h"

__global__ void copy_out(int *to)
{
    __shared__ alignas(128) int tile[64];
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
