/* a1_persistent: as many CTAs as the GPU holds at a time, each of which computes one tile after the other.
 *
 * New here: a grid of the GPU's size, not the problem's   (launch_gemm)
 *           a tile scheduler                              (gemm)
 * From:     a1_naive     Next: side/a1_grouped     Chapter: docs/a1_persistent.md
 * Run:      make side/a1_persistent && ./side/a1_persistent/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 32,        /* outputs of a tile, one per thread: rows … */
    TILE_N = 8,         /* … and columns. A warp has 4 x 8 of them, so it reads few rows of A and of B at a time */
    TILE_K = 1,         /* products between two loads */
    THREADS = TILE_M * TILE_N
};

/* ------------------------------------------------------------------ shared memory */

/* None yet: only the caches know that a neighbour has just read the same row. */

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* One element of a row-major matrix with k columns. */
static __device__ float load_tile(const half *gmem, int row, int k0, int k)
{
    return __half2float(gmem[(size_t)row * k + k0]);
}

static __device__ void mma_tile(float &acc, float a, float b)
{
    acc += a * b;
}

static __device__ void store_tile(half *c_gmem, float acc, int row, int col, int n)
{
    c_gmem[(size_t)row * n + col] = __float2half(acc);
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. */
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k)
{
    const int tiles_n = tiles_to_cover(n, TILE_N), tiles = tiles_to_cover(m, TILE_M) * tiles_n;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / tiles_n * TILE_M + threadIdx.x / TILE_N;
        const int col = tile % tiles_n * TILE_N + threadIdx.x % TILE_N;
        if (row >= m || col >= n)       /* tiles at the edge stick out of C */
            continue;

        float acc = 0;
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            const float a = load_tile(a_gmem, row, k0, k);
            const float b = load_tile(b_gmem, col, k0, k);
            mma_tile(acc, a, b);
        }

        store_tile(c_gmem, acc, row, col, n);
    }
}

/* ------------------------------------------------------------------ launcher */

/* How many CTAs the GPU holds at a time. */
static int resident_ctas(void)
{
    int device, sms = 0, per_sm = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, gemm, THREADS, 0);
    return sms * per_sm;
}

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    const int tiles = tiles_to_cover(n, TILE_N) * tiles_to_cover(m, TILE_M), ctas = resident_ctas();
    gemm<<<tiles < ctas ? tiles : ctas, THREADS, 0, stream>>>(a_gmem, b_gmem, c_gmem, m, n, k);
    return cudaGetLastError();
}
