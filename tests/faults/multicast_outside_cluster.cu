/* A multicast to ranks 0 and 2 in a cluster of two CTAs.
 *
 * says: an operand must be in the range
 * says: the mask 0x5 names CTA rank 2, but the cluster has 2 CTAs
 * says: cudaErrorIllegalInstruction
 */
#include "tensor_map.h"

#include <cooperative_groups.h>

#ifdef FIXED
enum { MASK = 0x3 };
#else
enum { MASK = 0x5 };
#endif

__global__ void __cluster_dims__(2, 1, 1) load(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) unsigned short tile[TILE_ROWS * TILE_COLS];
    __shared__ alignas(8) unsigned long long full;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    expect(smem(&full), sizeof tile);
    cluster.sync();
    if (cluster.block_rank() == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1, {%2, %3}], [%4], %5;"
                     :: "r"(smem(tile)), "l"(&map), "r"(0), "r"(0), "r"(smem(&full)), "h"((unsigned short)MASK) : "memory");     // here
    wait(smem(&full));
}

int main(void)
{
    load<<<2, 1>>>(matrix_map().encode(matrix()));
    return outcome();
}
