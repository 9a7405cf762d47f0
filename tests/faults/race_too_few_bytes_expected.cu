/* The full barrier does not count the bytes of the copy, so its phase is over before they have come.
 *
 * says: it reads shared memory .* through the generic proxy
 * says: the copy that completes on mbarrier 0x[0-9a-f]+ of CTA \(0,0,0\) wrote it through the async proxy, and nothing orders
 * says: let its expect_tx count all bytes
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_tma.h"

__global__ void fetch(int *to, const int *from)
{
    __shared__ alignas(128) int stage[64];
    __shared__ mbarrier full;
    stage[threadIdx.x] = 7;
    fence_proxy_async_shared_cta();
    if (threadIdx.x == 0)
        mbarrier_init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk_shared_global(stage, from, sizeof stage, &full);      // here
#ifdef FIXED
        mbarrier_arrive_expect_tx(&full, sizeof stage);
#else
        mbarrier_arrive(&full);
#endif
    }
    wait_parity(&full, 0);
    to[threadIdx.x] = stage[threadIdx.x];       // here
}

int main(void)
{
    fetch<<<1, 64>>>(device_array<int>(64), device_zeros<int>(64));
    return outcome();
}
