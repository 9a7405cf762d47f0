/* A consumer reads a stage without waiting for the full barrier of the second filling: it finds what the first one left.
 *
 * says: it reads shared memory .* through the generic proxy
 * says: the copy that completes on mbarrier 0x[0-9a-f]+ of CTA \(0,0,0\) wrote it through the async proxy, and nothing orders
 * says: hint: .*for the phase of the mbarrier that the copy completes on
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_tma.h"

__global__ void second(int *to, const int *from)
{
    __shared__ alignas(128) int stage[64];
    __shared__ mbarrier full;
    if (threadIdx.x == 0)
        mbarrier_init(&full, 1);
    __syncthreads();
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(&full, sizeof stage);
            cp_async_bulk_shared_global(stage, from + 64 * round, sizeof stage, &full);     // here
        }
#ifndef FIXED
        if (round == 0)
#endif
            wait_parity(&full, round & 1);
        __syncthreads();
    }
    to[threadIdx.x] = stage[threadIdx.x];       // here
}

int main(void)
{
    second<<<1, 64>>>(device_array<int>(64), device_zeros<int>(128));
    return outcome();
}
