/* b2_wmma: one 128x128 tile per CTA, multiplied by the tensor cores; each warp keeps 64x64 outputs in registers.
 *
 * New here: ldmatrix, mma.sync.m16n8k16                   (mma_tile)
 *           swizzled tiles, filled 16 bytes at a time     (load_tile)
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
    TILE_K = 64,        /* products between two loads; 64 halves are the 128 bytes of a swizzled row */
    WARP_M = 64,        /* outputs of a warp */
    WARP_N = 64,
    MMA_M = 16,         /* outputs of one mma.sync, and its products */
    MMA_N = 8,
    MMA_K = 16,
    THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32,
    CHUNK = 8           /* halves in a 16-byte access */
};

/* The accumulators of a thread: its fragments of the mma tiles that make up a warp's 64x64. */
typedef float accumulators[WARP_M / MMA_M][WARP_N / MMA_N][4];

/* First row and column of this warp in the tile. */
static __device__ int warp_row(void) { return threadIdx.x / 32 / (TILE_N / WARP_N) * WARP_M; }
static __device__ int warp_col(void) { return threadIdx.x / 32 % (TILE_N / WARP_N) * WARP_N; }

/* ------------------------------------------------------------------ shared memory */

/* Rows of 64 halves as they come from global memory, chunks swizzled. A swizzle needs its tile aligned to its period. */
struct smem {
    alignas(1024) half a[TILE_M * TILE_K];
    alignas(1024) half b[TILE_N * TILE_K];
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Where element (row, col) of a tile is kept, in bytes from its start. */
static __device__ uint32_t tile_offset(int row, int col)
{
    return swizzle_128b((row * TILE_K + col) * sizeof(half));
}

/* The slow way, for a k whose rows do not start at multiples of 16 bytes. */
static __device__ void load_tile_by_element(half *tile, const half *gmem, int row0, int k0, int rows, int k)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE_M * TILE_K; i += THREADS) {
        const int row = i / TILE_K, col = i % TILE_K;
        const bool inside = row0 + row < rows && k0 + col < k;
        *(half *)((char *)tile + tile_offset(row, col)) = inside ? gmem[(size_t)(row0 + row) * k + k0 + col] : half(0);
    }
}

/* Copies 128 rows from (row0, k0) on; what is outside the matrix becomes zero, which adds nothing to any sum. Eight threads
 * copy a row: full 128-byte lines from global memory, and all banks of shared memory at once. */
static __device__ void load_tile(half *tile, const half *gmem, int row0, int k0, int rows, int k)
{
    if (k % CHUNK != 0)             /* then not every row starts at a multiple of 16 bytes */
        return load_tile_by_element(tile, gmem, row0, k0, rows, k);
    for (int i = 0; i < TILE_M * TILE_K / CHUNK / THREADS; i++) {
        const int chunk = i * THREADS + threadIdx.x;
        const int row = chunk / (TILE_K / CHUNK), col = chunk % (TILE_K / CHUNK) * CHUNK;
        const bool inside = row0 + row < rows && k0 + col < k;
        const uint4 *source = (const uint4 *)(gmem + (size_t)(row0 + row) * k + k0 + col);
        *(uint4 *)((char *)tile + tile_offset(row, col)) = inside ? *source : make_uint4(0, 0, 0, 0);
    }
}

/* 8 ldmatrix feed 32 mma.sync: a fragment of A serves all of the warp's columns, one of B all of its rows. */
static __device__ void mma_tile(accumulators acc, const struct smem &smem)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        uint32_t a[WARP_M / MMA_M][4], b[WARP_N / MMA_N][2];
        for (int i = 0; i < WARP_M / MMA_M; i++)
            ldmatrix_sync_aligned_m8n8_x4_shared_b16(
                a[i], shared_address(smem.a) + tile_offset(warp_row() + i * MMA_M + ldmatrix_a_row(lane), kk + ldmatrix_a_col(lane)));
        for (int j = 0; j < WARP_N / MMA_N; j += 2)     /* two fragments at a time */
            ldmatrix_sync_aligned_m8n8_x4_shared_b16(
                b[j], shared_address(smem.b) + tile_offset(warp_col() + j * MMA_N + ldmatrix_b_row(lane), kk + ldmatrix_b_col(lane)));
        for (int i = 0; i < WARP_M / MMA_M; i++)
            for (int j = 0; j < WARP_N / MMA_N; j++)
                mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(acc[i][j], a[i], b[j], acc[i][j]);
    }
}

static __device__ void store_tile(half *c_gmem, const accumulators acc, int m0, int n0, int m, int n)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < WARP_M / MMA_M; i++)
#pragma unroll
        for (int j = 0; j < WARP_N / MMA_N; j++)
            for (int e = 0; e < 4; e++) {
                const int row = m0 + warp_row() + i * MMA_M + mma_m16n8k16_c_row(lane, e);
                const int col = n0 + warp_col() + j * MMA_N + mma_m16n8k16_c_col(lane, e);
                if (row < m && col < n)
                    c_gmem[(size_t)row * n + col] = __float2half(acc[i][j][e]);
            }
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. */
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k)
{
    __shared__ struct smem smem;
    const int m0 = blockIdx.y * TILE_M;
    const int n0 = blockIdx.x * TILE_N;

    accumulators acc = {};
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        load_tile(smem.a, a_gmem, m0, k0, m, k);
        load_tile(smem.b, b_gmem, n0, k0, n, k);
        __syncthreads();            /* the tile is complete */
        mma_tile(acc, smem);
        __syncthreads();            /* and nobody reads it any more */
    }

    store_tile(c_gmem, acc, m0, n0, m, n);
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    const dim3 grid(tiles_to_cover(n, TILE_N), tiles_to_cover(m, TILE_M));
    gemm<<<grid, THREADS, 0, stream>>>(a_gmem, b_gmem, c_gmem, m, n, k);
    return cudaGetLastError();
}
