/* Rank 1 says that a stage is free, but nobody waits for that: rank 0 may have exited when its barrier hears of it.
 *
 * says: RACE
 * says: with this thread the CTA exits, and its shared memory is gone. warp 0 of CTA \(1,0,0\) arrives at an mbarrier there
 * says: hint: the cluster's barrier
 * says: cudaErrorLaunchFailure
 */
#include "cluster.h"

__global__ void __cluster_dims__(2, 1, 1) last_stage(int *to)
{
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned empty = shared_address(&barrier);
    if (threadIdx.x == 0)
        mbarrier_init(empty, 1);
    cluster_arrive();
    cluster_wait();
    if (rank_in_cluster() == 0)
        __nanosleep(2000);
    else if (threadIdx.x == 0)
        arrive_at(in_cta(empty, 0));                            // here
    to[blockIdx.x * 32 + threadIdx.x] = 1;
#ifdef FIXED
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed;");            /* the last arrival is there: this needs no release */
    cluster_wait();
#endif
}

int main(void)
{
    last_stage<<<2, 32>>>(device_array<int>(64));
    return outcome();
}
