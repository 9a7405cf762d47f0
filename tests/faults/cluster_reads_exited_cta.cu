/* A CTA reads another's shared memory, but the other one has exited: nobody holds it until the last read.
 *
 * says: the CTA of rank 0 has exited
 * says: cudaErrorIllegalAddress
 */
#include "cluster.h"

__global__ void __cluster_dims__(2, 1, 1) take(int *to)
{
    __shared__ int mine;
    mine = (int)blockIdx.x + 5;
    cluster_arrive();
    cluster_wait();
    int got = mine;
    if (rank_in_cluster() == 1) {
        __nanosleep(2000);
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(in_cta(shared_address(&mine), 0)) : "memory");     // here
    }
#ifdef FIXED
    cluster_arrive();                   /* nobody leaves before the last read */
    cluster_wait();
#endif
    to[blockIdx.x] = got;
}

int main(void)
{
    take<<<2, 1>>>(device_array<int>(2));
    return outcome();
}
