/* b2_wmma: one 128x128 tile per CTA, multiplied by tensor cores; each warp keeps 64x64 outputs in registers.
 *
 * New here: ldmatrix, mma.sync.m16n8k16                   (mma_tile)
 *           swizzled tiles, filled by cp.async            (load_tile)
 *           three stages: copy two ahead, multiply one    (gemm)
 * From:     a2_smem     Next: b5_tma     Chapter: docs/b2_wmma.md
 * Run:      make b2 && ./b2/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"
#include "z_ptx.h"

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
    CHUNK = 8           /* halves in 16 bytes */
};

/* What a thread holds of its warp's outputs: four of each mma tile. */
typedef float accumulators[WARP_M / MMA_M][WARP_N / MMA_N][4];

static __device__ int warp_row(void) { return threadIdx.x / 32 / (TILE_N / WARP_N) * WARP_M; }
static __device__ int warp_col(void) { return threadIdx.x / 32 % (TILE_N / WARP_N) * WARP_N; }

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    alignas(1024) half a[STAGES][TILE_M * TILE_K];
    alignas(1024) half b[STAGES][TILE_N * TILE_K];
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* For rows that are not 16-byte aligned. Not inlined, lest it take registers from the fast path. */
static __device__ __noinline__ void load_tile_by_element(half *tile, const half *gmem, int row0, int k0, int rows,
                                                         int k)
{
    const int col = threadIdx.x % TILE_K;
    for (int i = 0; i < TILE_M; i += THREADS / TILE_K) {
        const int row = i + threadIdx.x / TILE_K;
        const bool inside = row0 + row < rows && k0 + col < k;
        half *element = tile + chunk_128b(row, col / CHUNK) / sizeof(half) + col % CHUNK;
        *element = inside ? gmem[(size_t)(row0 + row) * k + k0 + col] : half(0);
    }
}

/* Starts to copy 128 rows from (row0, k0) on; what is outside the matrix becomes zero, which adds nothing to
 * any sum. */
static __device__ void load_tile(half *tile, const half *gmem, int row0, int k0, int rows, int k)
{
    if (k % CHUNK != 0)
        return load_tile_by_element(tile, gmem, row0, k0, rows, k);

    enum { ROWS = THREADS / (TILE_K / CHUNK) };                 /* copied at a time, eight threads to a row */
    const int row = threadIdx.x / (TILE_K / CHUNK), chunk = threadIdx.x % (TILE_K / CHUNK);
    const half *source = gmem + (size_t)(row0 + row) * k + k0 + chunk * CHUNK;
    const int rows_left = k0 + chunk * CHUNK < k ? rows - row0 - row : 0;
#pragma unroll
    for (int i = 0; i < TILE_M; i += ROWS, source += ROWS * (size_t)k)
        cp_async_cg_shared_global_16(shared_address(tile) + chunk_128b(row + i, chunk), source, i < rows_left ? 16 : 0);
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

/* One 4-byte store if rows start at multiples of 4 bytes, that is if n is even; then no pair is cut short. */
static __device__ void store_pair(half *c, float acc0, float acc1, int n, int col)
{
    if (n % 2 == 0) {
        *(half2 *)c = __floats2half2_rn(acc0, acc1);
        return;
    }
    c[0] = __float2half(acc0);
    if (col + 1 < n)
        c[1] = __float2half(acc1);
}

static __device__ void store_tile(half *c_gmem, const accumulators acc, int m0, int n0, int m, int n)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < WARP_M / MMA_M; i++)
#pragma unroll
        for (int j = 0; j < WARP_N / MMA_N; j++)
            for (int e = 0; e < 4; e += 2) {                    /* two neighbours in a row */
                const int row = m0 + warp_row() + i * MMA_M + mma_m16n8k16_c_row(lane, e);
                const int col = n0 + warp_col() + j * MMA_N + mma_m16n8k16_c_col(lane, e);
                if (row < m && col < n)
                    store_pair(c_gmem + (size_t)row * n + col, acc[i][j][e], acc[i][j][e + 1], n, col);
            }
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. */
extern "C" __global__ void __launch_bounds__(THREADS, 2)
gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k)
{
    extern __shared__ struct smem smem[];
    const int m0 = blockIdx.y * TILE_M;
    const int n0 = blockIdx.x * TILE_N;

    for (int stage = 0; stage < STAGES - 1; stage++) {
        load_tile(smem->a[stage], a_gmem, m0, stage * TILE_K, m, k);
        load_tile(smem->b[stage], b_gmem, n0, stage * TILE_K, n, k);
        cp_async_commit_group();
    }

    accumulators acc = {};
    int stage = 0, free_stage = STAGES - 1;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        cp_async_wait_group<STAGES - 2>();
        __syncthreads();            /* the tile is complete, and nobody reads the one before it any more */
        mma_tile(acc, smem->a[stage], smem->b[stage]);

        /* After the products, so that the tensor cores do not wait until the copies are issued. */
        load_tile(smem->a[free_stage], a_gmem, m0, k0 + (STAGES - 1) * TILE_K, m, k);
        load_tile(smem->b[free_stage], b_gmem, n0, k0 + (STAGES - 1) * TILE_K, n, k);
        cp_async_commit_group();
        free_stage = stage;
        stage = (stage + 1) % STAGES;
    }

    store_tile(c_gmem, acc, m0, n0, m, n);
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    const dim3 grid(tiles_to_cover(n, TILE_N), tiles_to_cover(m, TILE_M));
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(a_gmem, b_gmem, c_gmem, m, n, k);
    return cudaGetLastError();      /* of either call */
}
