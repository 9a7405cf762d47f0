/* R3: a producer fills a stage again without waiting until it has been read: it does not look at the empty barrier.
 *
 * says: the (generic|async) proxy. (warp [12]|the copy that completes on mbarrier 0x[0-9a-f]+) of CTA \(0,0,0\) (read|wrote) it
 * says: and nothing orders the two
 * says: hint: .*the stage's "empty" mbarrier
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_tma.h"

enum { ROUNDS = 8, N = 64 };

__global__ void sums(int *to, const int *from)
{
    __shared__ alignas(128) int stage[N];
    __shared__ mbarrier full, empty;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init(&empty, 2);
        fence_mbarrier_init_release_cluster();
    }
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x == 0) {
#ifdef FIXED
            wait_parity(&empty, (round & 1) ^ 1);
#endif
            mbarrier_arrive_expect_tx(&full, sizeof stage);
            cp_async_bulk_shared_global(stage, from + round * N, sizeof stage, &full);      // here
#ifndef FIXED
            wait_parity(&full, round & 1);      /* the data has come; it has not been read */
#endif
        } else if (threadIdx.x >= 32) {
            wait_parity(&full, round & 1);
            sum += stage[threadIdx.x - 32];     // here
            __syncwarp();
            if (laneid() == 0)
                mbarrier_arrive(&empty);
        }
    }
    to[threadIdx.x] = sum;
}

int main(void)
{
    sums<<<1, 96>>>(device_array<int>(96), device_zeros<int>(ROUNDS * N));
    return outcome();
}
