/* H8: each CTA of a pair loads its rows of A and half of B; the leader's barrier is told to expect all of B from each.
 *
 * target: 100a
 * says: always be able to go on
 * says: phase 0 is not complete: 0 of 1 arrivals pending, 2048 bytes still expected
 * says: cudaErrorLaunchFailure
 */
#include "tensor_map.h"
#include "z_cluster.h"
#include "z_tma.h"

enum { PAIR = 2, TILE_BYTES = TILE_ROWS * TILE_COLS * 2 };

#ifdef FIXED
enum { HALVES = 1 };
#else
enum { HALVES = PAIR };
#endif

__global__ void __cluster_dims__(PAIR, 1, 1) gemm(const __grid_constant__ CUtensorMap map, unsigned short *to)
{
    __shared__ alignas(1024) unsigned short a[TILE_BYTES / 2], half_b[TILE_BYTES / 2];
    __shared__ mbarrier full;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init_release_cluster();
    }
    cluster_sync();
    if (threadIdx.x == 0) {
        const uint32_t leaders = mapa_shared_cluster(&full, 0);
        if (cluster_ctarank() == 0)
            mbarrier_arrive_expect_tx(&full, PAIR * (TILE_BYTES + HALVES * TILE_BYTES));
        cp_async_bulk_tensor_2d_shared_global_cta_group_2(a, &map, 0, 0, leaders);
        cp_async_bulk_tensor_2d_shared_global_cta_group_2(half_b, &map, TILE_COLS, 0, leaders);
        if (cluster_ctarank() == 0)
            wait_parity_cluster(&full, 0);                          // here
        to[blockIdx.x] = 0;
    }
    cluster_sync();
}

int main(void)
{
    gemm<<<PAIR, 32>>>(matrix_map().encode(matrix()), device_array<unsigned short>(PAIR));
    return outcome();
}
