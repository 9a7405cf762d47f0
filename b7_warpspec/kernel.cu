/* b7_warpspec: b5's tile; one warp only loads, four only multiply, and they meet at barriers for each stage.
 *
 * New here: a producer warp and consumer warps            (gemm)
 *           a ring of stages, full and empty in turn      (load_tiles, mma_tiles)
 * From:     b5_tma     Next: c1_wgmma (from b5 too)     Chapter: docs/b7_warpspec.md
 * Run:      make b7 && ./b7/run
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
    TILE_K = 64,        /* products of a stage; 64 halves of a row are one 128-byte line */
    STAGES = 3,
    WARP_M = 64,        /* outputs of a warp */
    WARP_N = 64,
    MMA_M = 16,         /* outputs of one mma.sync, and its products */
    MMA_N = 8,
    MMA_K = 16,
    CONSUMER_WARPS = TILE_M / WARP_M * (TILE_N / WARP_N),       /* warps 0 to 3 … */
    PRODUCER_WARP = CONSUMER_WARPS,                             /* … and warp 4 */
    THREADS = (CONSUMER_WARPS + 1) * 32,
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
    mbarrier empty[STAGES];         /* all consumers have read them */
};

/* Barrier 1 is the consumers' own: __syncthreads would wait for the producer too, which has gone. */
static __device__ void sync_consumers(void) { bar_sync(1, CONSUMER_WARPS * 32); }

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

/* 8 ldmatrix feed 32 mma.sync: a fragment of A serves all of the warp's columns, one of B all of its rows. Five warps
 * leave a thread fewer registers than four did, so addresses are kept as two numbers: a step along k flips bits of the
 * chunk's number, since tiles start at multiples of the swizzle's period; 16 rows further is 16 * 128 bytes. */
static __device__ void mma_tile(accumulators acc, const half *a_tile, const half *b_tile)
{
    const int lane = threadIdx.x % 32;
    const uint32_t a_smem =
        shared_address(a_tile) + chunk_128b(warp_row() + ldmatrix_a_row(lane), ldmatrix_a_col(lane) / CHUNK);
    const uint32_t b_smem =
        shared_address(b_tile) + chunk_128b(warp_col() + ldmatrix_b_row(lane), ldmatrix_b_col(lane) / CHUNK);
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        uint32_t a[WARP_M / MMA_M][4], b[WARP_N / MMA_N][2];
        const uint32_t k_bytes = kk * sizeof(half);
        for (int i = 0; i < WARP_M / MMA_M; i++)
            ldmatrix_sync_aligned_m8n8_x4_shared_b16(a[i], (a_smem ^ k_bytes) + i * MMA_M * 128);
        for (int j = 0; j < WARP_N / MMA_N; j += 2)             /* two fragments at a time */
            ldmatrix_sync_aligned_m8n8_x4_shared_b16(b[j], (b_smem ^ k_bytes) + j * MMA_N * 128);
        for (int i = 0; i < WARP_M / MMA_M; i++)
            for (int j = 0; j < WARP_N / MMA_N; j++)
                mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(acc[i][j], a[i], b[j], acc[i][j]);
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
    sync_consumers();
    if (threadIdx.x != 0)
        return;
    for (int box = 0; box < TILE_N / BOX_N; box++)
        cp_async_bulk_tensor_2d_global_shared(c_map, n0 + box * BOX_N, m0, smem->c[box]);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group_read<0>();     /* shared memory must stay until then */
}

/* ------------------------------------------------------------------ the two roles: load_tiles, mma_tiles */

/* The producer: one thread, always as far ahead as there are empty stages. Phase 0 of a full barrier is the first
 * filling, phase 0 of an empty one its release; hence the producer waits for the phase before, which on a fresh
 * barrier counts as complete. */
static __device__ void load_tiles(struct smem *smem, const CUtensorMap *a_map, const CUtensorMap *b_map, int m0, int n0,
                                  int k)
{
    int stage = 0, phase = 0;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem->empty[stage], phase ^ 1);
        load_tile(smem, stage, a_map, b_map, m0, n0, k0);
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
    }
}

/* A consumer warp: goes at its own pace. */
static __device__ void mma_tiles(accumulators acc, struct smem *smem, int k)
{
    int stage = 0, phase = 0;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem->full[stage], phase);
        mma_tile(acc, smem->a[stage], smem->b[stage]);
        __syncwarp();               /* all lanes have read */
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&smem->empty[stage]);
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
    }
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. m and n are in the maps. */
extern "C" __global__ void __launch_bounds__(THREADS, 2)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, int k)
{
    extern __shared__ struct smem smem[];
    const int m0 = blockIdx.y * TILE_M;
    const int n0 = blockIdx.x * TILE_N;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&smem->full[stage], 1);
            mbarrier_init(&smem->empty[stage], CONSUMER_WARPS);
        }
        fence_mbarrier_init_release_cluster();
    }
    __syncthreads();                /* from here on all may use the barriers */

    if (threadIdx.x / 32 == PRODUCER_WARP) {
        if (elect_sync(0xffffffff))
            load_tiles(smem, &a_map, &b_map, m0, n0, k);
        return;
    }
    accumulators acc = {};
    mma_tiles(acc, smem, k);

    sync_consumers();               /* nobody reads operands any more: C takes their place */
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
