/* R7: a tile is written again before the bulk store has read it: nothing waits for its group with .read.
 *
 * says: it writes shared memory .* through the generic proxy
 * says: a bulk store of warp 0 of CTA \(0,0,0\) read it through the async proxy, and nothing orders the two
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
    for (int round = 0; round < 2; round++) {
        tile[threadIdx.x] = round;              // here
        fence_proxy_async_shared_cta();
        __syncthreads();
        if (threadIdx.x == 0) {
            cp_async_bulk_global_shared(to + 64 * round, tile, sizeof tile);    // here
            cp_async_bulk_commit_group();
#ifdef FIXED
            cp_async_bulk_wait_group_read<0>();
#endif
        }
        __syncthreads();
    }
}

int main(void)
{
    copy_out<<<1, 64>>>(device_array<int>(128));
    return outcome();
}
