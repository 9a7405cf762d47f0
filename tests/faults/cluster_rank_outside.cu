/* A CTA asks for the shared memory of a CTA that its cluster does not have.
 *
 * says: asks for CTA rank 2 of a cluster of 2
 * says: cudaErrorIllegalInstruction
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
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(in_cta(shared_address(&mine), next)) : "memory");       // here
    cluster_arrive();
    cluster_wait();
    to[blockIdx.x] = got;
}

int main(void)
{
    neighbour<<<2, 1>>>(device_array<int>(2));
    return outcome();
}
