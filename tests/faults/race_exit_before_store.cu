/* A CTA exits before the bulk store has read its source: another CTA may be given that shared memory.
 *
 * says: exits, and its store
 * says: hint: .*cp.async.bulk.wait_group.read
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_tma.h"

__global__ void copy_out(int *to)
{
    __shared__ alignas(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk_global_shared(to, tile, sizeof tile);     // here
        cp_async_bulk_commit_group();
#ifdef FIXED
        cp_async_bulk_wait_group_read<0>();
#endif
    }
}

int main(void)
{
    copy_out<<<1, 64>>>(device_array<int>(64));
    return outcome();
}
