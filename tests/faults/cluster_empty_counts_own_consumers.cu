/* Tiles are multicast to both CTAs of a cluster, so a stage is empty when the consumers of both have read it. Here the
 * barrier expects them all, but each consumer tells only its own CTA.
 *
 * says: always be able to go on
 * says: mbarrier 0x400: phase 0 is not complete: 1 of 2 arrivals pending
 * says: CTA \(0,0,0\), rank 0 of its cluster
 * says: CTA \(1,0,0\), rank 1 of its cluster
 * says: has arrived so far: 1 from CTA rank 0
 * says: cudaErrorLaunchFailure
 */
#include "cluster.h"

__global__ void __cluster_dims__(2, 1, 1) ring(int *to)
{
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned empty = shared_address(&barrier);
    if (threadIdx.x == 0)
        mbarrier_init(empty, 2);
    __syncthreads();
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 32) {            /* the consumer */
#ifdef FIXED
        arrive_at(in_cta(empty, 1 - rank_in_cluster()));
#endif
        arrive_at(in_cta(empty, rank_in_cluster()));
    }
    if (threadIdx.x == 0)               /* the producer */
        asm volatile("{ .reg .pred done;\n"
                     "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
                     "@!done bra again; }" :: "r"(empty) : "memory");   // here
    to[blockIdx.x * 64 + threadIdx.x] = 1;
    __syncwarp();
    cluster_arrive();
    cluster_wait();
}

int main(void)
{
    ring<<<2, 64>>>(device_array<int>(128));
    return outcome();
}
