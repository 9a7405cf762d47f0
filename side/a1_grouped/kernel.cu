/* a1_grouped: several products of different sizes in one launch.
 *
 * New here: an array of problems in global memory         (struct problem)
 *           a scheduler that finds a tile's group         (gemm)
 * From:     side/a1_persistent     Chapter: docs/a1_grouped.md
 * Run:      make side/a1_grouped && ./side/a1_grouped/run
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

/* One of the products, C = A * B^T. No size is 0: every group has a tile. */
struct problem {
    const half *a_gmem, *b_gmem;
    half *c_gmem;
    int m, n, k;
};

static __device__ int tiles_in(const struct problem &p)
{
    return tiles_to_cover(p.m, TILE_M) * tiles_to_cover(p.n, TILE_N);
}

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

/* For each problem, A is m x k, B is n x k, C is m x n, all row-major. Tiles are numbered through all groups. */
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(const struct problem *problem_gmem, int groups)
{
    int group = 0, first_tile = 0;      /* the group that the last tile was in, and the number of its first tile */
    for (int tile = blockIdx.x;; tile += gridDim.x) {
        while (tile - first_tile >= tiles_in(problem_gmem[group])) {
            first_tile += tiles_in(problem_gmem[group]);
            if (++group == groups)
                return;
        }

        const struct problem p = problem_gmem[group];
        const int tiles_n = tiles_to_cover(p.n, TILE_N);
        const int row = (tile - first_tile) / tiles_n * TILE_M + threadIdx.x / TILE_N;
        const int col = (tile - first_tile) % tiles_n * TILE_N + threadIdx.x % TILE_N;
        if (row >= p.m || col >= p.n)   /* tiles at the edge stick out of C */
            continue;

        float acc = 0;
        for (int k0 = 0; k0 < p.k; k0 += TILE_K) {
            const float a = load_tile(p.a_gmem, row, k0, p.k);
            const float b = load_tile(p.b_gmem, col, k0, p.k);
            mma_tile(acc, a, b);
        }

        store_tile(p.c_gmem, acc, row, col, p.n);
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

/* The sizes are known to the GPU alone, so the grid is always full; a CTA without a tile leaves at once. */
extern "C" cudaError_t launch_gemm(const struct problem *problem_gmem, int groups, cudaStream_t stream)
{
    gemm<<<resident_ctas(), THREADS, 0, stream>>>(problem_gmem, groups);
    return cudaGetLastError();
}
