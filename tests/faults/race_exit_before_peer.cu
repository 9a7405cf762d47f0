/* Two CTAs look into each other's memory, and each exits when it is through. That the other one is through, too, is luck.
 *
 * says: RACE
 * says: with this thread the CTA exits, and its shared memory is gone. warp 0 of CTA \(1,0,0\) reads it
 * says: hint: the cluster's barrier
 * says: cudaErrorLaunchFailure
 */
#include "cluster.h"

__global__ void __cluster_dims__(2, 1, 1) look(int *to)
{
    __shared__ int box[32];
    box[threadIdx.x] = threadIdx.x;
    cluster_arrive();
    cluster_wait();
    int seen;
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(seen)
                 : "r"(in_cta(shared_address(&box[threadIdx.x]), rank_in_cluster() ^ 1)) : "memory");     // here
    to[blockIdx.x * 32 + threadIdx.x] = seen;
    if (rank_in_cluster() == 0)
        __nanosleep(2000);
#ifdef FIXED
    __syncwarp();
    cluster_arrive();                   /* both have seen what they wanted to */
    cluster_wait();
#else
    else
        __nanosleep(4000);
#endif
}

int main(void)
{
    look<<<2, 32>>>(device_array<int>(64));
    return outcome();
}
