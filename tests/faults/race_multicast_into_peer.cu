/* R8: rank 0 multicasts a tile to both CTAs of the cluster, again and again, and waits only for its own consumer before it
 * does: the peer may still read the tile before.
 *
 * says: it writes shared memory .* of CTA \(1,0,0\) through the async proxy
 * says: (warp 1|the copy that completes on mbarrier 0x[0-9a-f]+) of CTA \(1,0,0\) (read|wrote) it through the \w+ proxy, and nothing
 * says: hint: who refills waits until those who read, in every CTA
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_ptx.h"
#include "z_mbarrier.h"
#include "z_cluster.h"

enum { ROUNDS = 4, N = 32 };

#ifdef FIXED
enum { CONSUMERS = 2 };
#else
enum { CONSUMERS = 1 };
#endif

__device__ static void multicast(int *to, const int *from, mbarrier *full)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 :: "r"(shared_address(to)), "l"(from), "r"((int)(N * sizeof *to)), "r"(shared_address(full)), "h"((short)3)
                 : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) sums(int *to, const int *from)
{
    __shared__ alignas(128) int stage[N];
    __shared__ mbarrier full, empty;
    const uint32_t rank = cluster_ctarank();
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init(&empty, CONSUMERS);
        fence_mbarrier_init_release_cluster();
    }
    cluster_sync();
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(&full, sizeof stage);
            if (rank == 0) {
                wait_parity_cluster(&empty, (round & 1) ^ 1);
                multicast(stage, from + round * N, &full);      // here
            }
            wait_parity(&full, round & 1);
        } else if (threadIdx.x >= 32) {
            wait_parity(&full, round & 1);
            sum += stage[threadIdx.x - 32];
            __syncwarp();
            if (laneid() == 0 && rank < CONSUMERS)
                mbarrier_arrive_release_cluster(mapa_shared_cluster(&empty, 0));
        }
    }
    to[blockIdx.x * 64 + threadIdx.x] = sum;
    cluster_sync();
}

int main(void)
{
    sums<<<2, 64>>>(device_array<int>(128), device_zeros<int>(ROUNDS * N));
    return outcome();
}
