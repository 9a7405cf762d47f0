/* a2_smem: one 128x128 tile per CTA, staged through shared memory; each thread keeps 8x8 outputs in registers.
 *
 * New here: shared memory, the barrier                    (load_tile, gemm)
 *           a tile in registers                           (mma_tile)
 * From:     a1_naive     Next: b2_wmma     Chapter: docs/a2_smem.md
 * Run:      make a2 && ./a2/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 128,       /* outputs of a CTA: rows … */
    TILE_N = 128,       /* … and columns */
    TILE_K = 16,        /* products between two loads; 16 halves of a row are one 32-byte sector */
    THREAD_M = 8,       /* outputs of a thread */
    THREAD_N = 8,
    THREADS = TILE_M / THREAD_M * (TILE_N / THREAD_N),
    PAD = 4             /* keeps rows 16-byte aligned, but shifts them against the banks */
};

/* Rows and columns of a thread come in groups of four neighbours, which are one 16-byte read. */
static __device__ int thread_row(int i) { return threadIdx.x / 16 * 4 + i % 4 + i / 4 * (TILE_M / 2); }
static __device__ int thread_col(int j) { return threadIdx.x % 16 * 4 + j % 4 + j / 4 * (TILE_N / 2); }

/* ------------------------------------------------------------------ shared memory */

/* Transposed, k outermost: the rows that a thread needs for one k lie side by side. And as float: converted
 * once here, not by each of the 16 threads that read it. */
struct smem {
    alignas(16) float a[TILE_K][TILE_M + PAD];
    alignas(16) float b[TILE_K][TILE_N + PAD];
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Copies 128 rows from (row0, k0) on; what is outside the matrix becomes zero, which adds nothing to any sum. */
static __device__ void load_tile(float tile[TILE_K][TILE_M + PAD], const half *gmem, int row0, int k0, int rows, int k)
{
    const int col = threadIdx.x % TILE_K;
    for (int i = 0; i < TILE_M; i += THREADS / TILE_K) {
        const int row = i + threadIdx.x / TILE_K;
        const bool inside = row0 + row < rows && k0 + col < k;
        tile[col][row] = inside ? __half2float(gmem[(size_t)(row0 + row) * k + k0 + col]) : 0;
    }
}

/* 16 values read give 64 products: shared memory alone could not feed one product per two reads. */
static __device__ void mma_tile(float acc[THREAD_M][THREAD_N], const struct smem &smem)
{
    for (int kk = 0; kk < TILE_K; kk++) {
        float a[THREAD_M], b[THREAD_N];
        for (int i = 0; i < THREAD_M; i++)
            a[i] = smem.a[kk][thread_row(i)];
        for (int j = 0; j < THREAD_N; j++)
            b[j] = smem.b[kk][thread_col(j)];
        for (int i = 0; i < THREAD_M; i++)
            for (int j = 0; j < THREAD_N; j++)
                acc[i][j] += a[i] * b[j];
    }
}

static __device__ void store_tile(half *c_gmem, const float acc[THREAD_M][THREAD_N], int m0, int n0, int m, int n)
{
    for (int i = 0; i < THREAD_M; i++)
        for (int j = 0; j < THREAD_N; j++) {
            const int row = m0 + thread_row(i), col = n0 + thread_col(j);
            if (row < m && col < n)
                c_gmem[(size_t)row * n + col] = __float2half(acc[i][j]);
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

    float acc[THREAD_M][THREAD_N] = {};
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
