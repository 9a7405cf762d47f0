/* One CTA waits for the other at the cluster's barrier, which stands at another barrier for ever.
 *
 * says: always be able to go on
 * says: the cluster's barrier: 32 of 96 threads have arrived; CTA rank 1: 0 of 64
 * says: barrier 1: 32 of 64 threads have arrived
 * says: cudaErrorLaunchFailure
 */
#include "cluster.h"

__global__ void __cluster_dims__(2, 1, 1) unequal(int *to)
{
    if (rank_in_cluster() == 0 && threadIdx.x >= 32)
        return;                                         /* threads that have exited are not waited for */
    if (rank_in_cluster() == 1)
        if (threadIdx.x < 32)
            asm volatile("barrier.sync 1, 64;" ::: "memory");           // here
#ifdef FIXED
        else
            asm volatile("barrier.sync 1, 64;" ::: "memory");
#else
        else
            asm volatile("barrier.sync 2, 64;" ::: "memory");           // here
#endif
    cluster_arrive();
    cluster_wait();                                                     // here
    to[blockIdx.x * 64 + threadIdx.x] = 1;
}

int main(void)
{
    unequal<<<2, 64>>>(device_array<int>(128));
    return outcome();
}
