/* c1_wgmma: one 128x256 tile per CTA; two warpgroups multiply, the tensor cores read shared memory themselves.
 *
 * New here: wgmma.mma_async, matrix descriptors           (mma_tile)
 *           products run while the next are issued        (gemm)
 * From:     b5_tma     Next: c2_pipeline     Chapter: docs/c1_wgmma.md
 * Run:      make c1 && ./c1/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tma.h"
#include "z_wgmma.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 128,       /* outputs of a CTA: rows … */
    TILE_N = 256,       /* … and columns */
    TILE_K = 64,        /* products between two barriers; 64 halves of a row are one 128-byte line */
    STAGES = 4,
    MMA_M = 64,         /* outputs of a warpgroup, all of them those of one wgmma; and its products */
    MMA_N = TILE_N,
    MMA_K = 16,
    THREADS = TILE_M / MMA_M * 128,
    CHUNK = 8,          /* halves in 16 bytes */
    BOX_N = 64          /* columns of C that are stored together: as wide as the swizzle */
};

/* What a thread holds of its warpgroup's outputs. */
typedef float accumulators[MMA_M * MMA_N / 128];

static __device__ int warpgroup_row(void) { return threadIdx.x / 128 * MMA_M; }

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    union {
        struct {
            alignas(1024) half a[STAGES][TILE_M * TILE_K];
            alignas(1024) half b[STAGES][TILE_N * TILE_K];
        };
        alignas(1024) half c[TILE_N / BOX_N][TILE_M * BOX_N];   /* once there is nothing to multiply any more */
    };
    mbarrier full[STAGES];          /* a[stage] and b[stage] have landed */
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Starts to fill a stage with the products from k0 on; what is outside the matrices becomes zero, which adds nothing
 * to any sum, and counts as bytes all the same. One thread. */
static __device__ void load_tile(struct smem *smem, int stage, const CUtensorMap *a_map, const CUtensorMap *b_map,
                                 int m0, int n0, int k0)
{
    mbarrier_arrive_expect_tx(&smem->full[stage], sizeof smem->a[stage] + sizeof smem->b[stage]);
    cp_async_bulk_tensor_2d_shared_global(smem->a[stage], a_map, k0, m0, &smem->full[stage]);
    cp_async_bulk_tensor_2d_shared_global(smem->b[stage], b_map, k0, n0, &smem->full[stage]);
}

/* Starts the products of a tile. They run on after this returns, until wgmma_wait_group says that they are done. */
static __device__ void mma_tile(accumulators acc, const half *a_tile, const half *b_tile, int scale_d)
{
    const uint64_t a_desc = wgmma_descriptor_128b(shared_address(a_tile + warpgroup_row() * TILE_K));
    const uint64_t b_desc = wgmma_descriptor_128b(shared_address(b_tile));
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        const uint64_t along_k = kk * sizeof(half) / 16;
        wgmma_mma_async_m64n256k16_f32_f16_f16(acc, a_desc + along_k, b_desc + along_k, kk == 0 ? scale_d : 1);
    }
    wgmma_commit_group();
}

/* Two neighbours in a row of C, into the box that their column belongs to. */
static __device__ void put_pair(struct smem *smem, int row, int col, float acc0, float acc1)
{
    half *box = smem->c[col / BOX_N];
    const uint32_t offset = chunk_128b(row, col % BOX_N / CHUNK) / sizeof(half) + col % CHUNK;
    *(half2 *)(box + offset) = __floats2half2_rn(acc0, acc1);
}

/* Through shared memory, where the operands were: nobody may need them any more. */
static __device__ void store_tile(struct smem *smem, const accumulators acc, const CUtensorMap *c_map, int m0, int n0)
{
    const int thread = threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < MMA_M * MMA_N / 128; i += 2)
        put_pair(smem, warpgroup_row() + wgmma_d_row(thread, i), wgmma_d_col(thread, i), acc[i], acc[i + 1]);

    fence_proxy_async_shared_cta();     /* what this thread wrote, for the copy engine to see */
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int box = 0; box < TILE_N / BOX_N; box++)
        cp_async_bulk_tensor_2d_global_shared(c_map, n0 + box * BOX_N, m0, smem->c[box]);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group_read<0>();     /* shared memory must stay until then */
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. m and n are in the maps. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, int k)
{
    extern __shared__ struct smem smem[];
    const int m0 = blockIdx.y * TILE_M;
    const int n0 = blockIdx.x * TILE_N;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++)
            mbarrier_init(&smem->full[stage], 1);
        fence_mbarrier_init_release_cluster();
        for (int stage = 0; stage < STAGES - 1 && stage * TILE_K < k; stage++)
            load_tile(smem, stage, &a_map, &b_map, m0, n0, stage * TILE_K);
    }
    __syncthreads();                /* from here on all may wait at the barriers */

    accumulators acc;
    int stage = 0, phase = 0, free_stage = STAGES - 1;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem->full[stage], phase);
        mma_tile(acc, smem->a[stage], smem->b[stage], k0 != 0);
        wgmma_wait_group<1>();      /* the products of the tile before it are done … */
        __syncthreads();            /* … in both warpgroups: nobody reads that tile any more */

        if (threadIdx.x == 0 && k0 + (STAGES - 1) * TILE_K < k)
            load_tile(smem, free_stage, &a_map, &b_map, m0, n0, k0 + (STAGES - 1) * TILE_K);
        free_stage = stage;
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
    }

    wgmma_wait_group<0>();
    __syncthreads();                /* nobody reads operands any more: C takes their place */
    store_tile(smem, acc, &c_map, m0, n0);
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    CUtensorMap a_map, b_map, c_map;
    cudaError_t error;
    if ((error = tensor_map_2d(&a_map, a_gmem, m, k, TILE_M, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&b_map, b_gmem, n, k, TILE_N, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&c_map, c_gmem, m, n, TILE_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)))
        return error;

    const dim3 grid(tiles_to_cover(n, TILE_N), tiles_to_cover(m, TILE_M));
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(a_map, b_map, c_map, k);
    return cudaGetLastError();      /* of either call */
}
