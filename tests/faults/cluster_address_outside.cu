/* An address of shared memory is moved on by one CTA too many.
 *
 * says: in a CTA of rank 2: this cluster has 2
 * says: cudaErrorIllegalAddress
 */
#include "cluster.h"

__global__ void __cluster_dims__(2, 1, 1) neighbour(int *to)
{
    __shared__ int mine;
    mine = (int)blockIdx.x;
    cluster_arrive();
    cluster_wait();
#ifdef FIXED
    const unsigned next = (rank_in_cluster() + 1) % 2;
#else
    const unsigned next = rank_in_cluster() + 1;
#endif
    int got;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(in_cta(shared_address(&mine), 0) + (next << 24)) : "memory");       // here
    cluster_arrive();
    cluster_wait();
    to[blockIdx.x] = got;
}

int main(void)
{
    neighbour<<<2, 1>>>(device_array<int>(2));
    return outcome();
}
