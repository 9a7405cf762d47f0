/* A consumer tells the other CTA that a stage is free, but that CTA has exited.
 *
 * says: the CTA of rank 0 has exited
 * says: cudaErrorIllegalAddress
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
    if (rank_in_cluster() == 1) {
        __nanosleep(2000);
        if (threadIdx.x == 0)
            arrive_at(in_cta(empty, 0));                            // here
    }
    to[blockIdx.x * 32 + threadIdx.x] = 1;
#ifdef FIXED
    __syncwarp();
    cluster_arrive();                   /* nobody leaves before the last arrival */
    cluster_wait();
#endif
}

int main(void)
{
    last_stage<<<2, 32>>>(device_array<int>(64));
    return outcome();
}
