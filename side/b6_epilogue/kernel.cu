/* b6_epilogue: b5, and each column of C multiplied by a scale of its own before it is stored.
 *
 * New here: arithmetic on the accumulators, where they are        (scale_tile)
 * From:     b5_tma     Chapter: docs/b6_epilogue.md
 * Run:      make side/b6_epilogue && ./side/b6_epilogue/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tma.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 128,       /* outputs of a CTA: rows … */
    TILE_N = 128,       /* … and columns */
    TILE_K = 64,        /* products between two barriers; 64 halves of a row are one 128-byte line */
    STAGES = 3,
    WARP_M = 64,        /* outputs of a warp */
    WARP_N = 64,
    MMA_M = 16,         /* outputs of one mma.sync, and its products */
    MMA_N = 8,
    MMA_K = 16,
    THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32,
    CHUNK = 8,          /* halves in 16 bytes */
    BOX_N = 64          /* columns of C that are stored together: as wide as the swizzle */
};

/* What a thread holds of its warp's outputs: four of each mma tile. */
typedef float accumulators[WARP_M / MMA_M][WARP_N / MMA_N][4];

static __device__ int warp_row(void) { return threadIdx.x / 32 / (TILE_N / WARP_N) * WARP_M; }
static __device__ int warp_col(void) { return threadIdx.x / 32 % (TILE_N / WARP_N) * WARP_N; }

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

/* ------------------------------------------------------------------ load_tile, mma_tile, scale_tile, store_tile */

/* Starts to fill a stage with the products from k0 on; what is outside the matrices becomes zero, which adds nothing
 * to any sum, and counts as bytes all the same. One thread. */
static __device__ void load_tile(struct smem *smem, int stage, const CUtensorMap *a_map, const CUtensorMap *b_map,
                                 int m0, int n0, int k0)
{
    mbarrier_arrive_expect_tx(&smem->full[stage], sizeof smem->a[stage] + sizeof smem->b[stage]);
    cp_async_bulk_tensor_2d_shared_global(smem->a[stage], a_map, k0, m0, &smem->full[stage]);
    cp_async_bulk_tensor_2d_shared_global(smem->b[stage], b_map, k0, n0, &smem->full[stage]);
}

/* 8 ldmatrix feed 32 mma.sync: a fragment of A serves all of the warp's columns, one of B all of its rows. */
static __device__ void mma_tile(accumulators acc, const half *a_tile, const half *b_tile)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        uint32_t a[WARP_M / MMA_M][4], b[WARP_N / MMA_N][2];
        for (int i = 0; i < WARP_M / MMA_M; i++) {
            const int row = warp_row() + i * MMA_M + ldmatrix_a_row(lane), col = kk + ldmatrix_a_col(lane);
            ldmatrix_sync_aligned_m8n8_x4_shared_b16(a[i], shared_address(a_tile) + chunk_128b(row, col / CHUNK));
        }
        for (int j = 0; j < WARP_N / MMA_N; j += 2) {           /* two fragments at a time */
            const int row = warp_col() + j * MMA_N + ldmatrix_b_row(lane), col = kk + ldmatrix_b_col(lane);
            ldmatrix_sync_aligned_m8n8_x4_shared_b16(b[j], shared_address(b_tile) + chunk_128b(row, col / CHUNK));
        }
        for (int i = 0; i < WARP_M / MMA_M; i++)
            for (int j = 0; j < WARP_N / MMA_N; j++)
                mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(acc[i][j], a[i], b[j], acc[i][j]);
    }
}

/* Of each 16 x 8 tile a thread has four outputs: 0 and 2 in one column, 1 and 3 in the next. The same two columns in all
 * rows of tiles, so each scale is read once. Columns past the end are not stored. */
static __device__ void scale_tile(accumulators acc, const float *scale_gmem, int n0, int n)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < WARP_N / MMA_N; j++)
        for (int e = 0; e < 2; e++) {
            const int col = n0 + warp_col() + j * MMA_N + mma_m16n8k16_c_col(lane, e);
            const float scale = col < n ? scale_gmem[col] : 0;
            for (int i = 0; i < WARP_M / MMA_M; i++) {
                acc[i][j][e] *= scale;
                acc[i][j][e + 2] *= scale;
            }
        }
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
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < WARP_M / MMA_M; i++)
#pragma unroll
        for (int j = 0; j < WARP_N / MMA_N; j++)
            for (int e = 0; e < 4; e += 2)
                put_pair(smem, warp_row() + i * MMA_M + mma_m16n8k16_c_row(lane, e),
                         warp_col() + j * MMA_N + mma_m16n8k16_c_col(lane, e), acc[i][j][e], acc[i][j][e + 1]);

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

/* C = A * B^T, column j times scale[j]: A is m x k, B is n x k, C is m x n, all row-major. m is in the maps. */
extern "C" __global__ void __launch_bounds__(THREADS, 2)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, const float *scale_gmem, int n, int k)
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

    accumulators acc = {};
    int stage = 0, phase = 0, free_stage = STAGES - 1;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem->full[stage], phase);
        __syncthreads();            /* nobody reads the tile before it any more */
        mma_tile(acc, smem->a[stage], smem->b[stage]);

        if (threadIdx.x == 0 && k0 + (STAGES - 1) * TILE_K < k)
            load_tile(smem, free_stage, &a_map, &b_map, m0, n0, k0 + (STAGES - 1) * TILE_K);
        free_stage = stage;
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
    }

    __syncthreads();                /* nobody reads operands any more: C takes their place */
    scale_tile(acc, scale_gmem, n0, n);
    store_tile(smem, acc, &c_map, m0, n0);
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, const float *scale_gmem,
                                   int m, int n, int k, cudaStream_t stream)
{
    CUtensorMap a_map, b_map, c_map;
    cudaError_t error;
    if ((error = tensor_map_2d(&a_map, a_gmem, m, k, TILE_M, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&b_map, b_gmem, n, k, TILE_N, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&c_map, c_gmem, m, n, TILE_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)))
        return error;

    const dim3 grid(tiles_to_cover(n, TILE_N), tiles_to_cover(m, TILE_M));
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(a_map, b_map, c_map, scale_gmem, n, k);
    return cudaGetLastError();      /* of either call */
}
