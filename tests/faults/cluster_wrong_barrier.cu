/* The consumer's arrivals go to a barrier that nobody waits for, while the producer waits for another.
 *
 * says: always be able to go on
 * says: mbarrier 0x400: phase 0 is not complete: 1 of 1 arrivals pending
 * says: mbarrier 0x408: phase 1: completed 1 times?, and nobody waits for it
 * says: cudaErrorLaunchFailure
 */
#include "cluster.h"

#ifdef FIXED
#define TOLD 0
#else
#define TOLD 1
#endif

__global__ void __cluster_dims__(2, 1, 1) stages(int *to)
{
    __shared__ alignas(8) unsigned long long empty[2];
    if (threadIdx.x < 2)
        mbarrier_init(shared_address(&empty[threadIdx.x]), 1);
    __syncwarp();
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0) {
        arrive_at(in_cta(shared_address(&empty[TOLD]), 1 - rank_in_cluster()));
        asm volatile("{ .reg .pred done;\n"
                     "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
                     "@!done bra again; }" :: "r"(shared_address(&empty[0])) : "memory");   // here
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait();
    to[blockIdx.x * 32 + threadIdx.x] = 1;
}

int main(void)
{
    stages<<<2, 32>>>(device_array<int>(64));
    return outcome();
}
