/* a1_clc: a CTA for every tile, of which only the first few ever start: they ask for the tiles of the others.
 *
 * New here: cluster launch control: asking for the next tile   (ask, next_tile)
 *           a grid of the problem's size again                 (launch_gemm)
 * From:     side/a1_persistent     Next: d4_persistent     Chapter: docs/a1_clc.md
 * Run:      make side/a1_clc && ./side/a1_clc/run
 */
#include <cuda_fp16.h>
#include "z_cluster.h"
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 32,        /* outputs of a tile, one per thread: rows … */
    TILE_N = 8,         /* … and columns. A warp has 4 x 8 of them, so it reads few rows of A and of B at a time */
    TILE_K = 1,         /* products between two loads */
    THREADS = TILE_M * TILE_N
};

/* ------------------------------------------------------------------ shared memory */

struct smem {
    uint4 answer;           /* which tile is next */
    mbarrier answered;      /* it has come */
};

/* Asks for the next tile. The answer comes by itself, while this one is computed. One thread. */
static __device__ void ask(struct smem *smem)
{
    mbarrier_arrive_expect_tx(&smem->answered, sizeof smem->answer);
    clusterlaunchcontrol_try_cancel(&smem->answer, &smem->answered);
}

/* Goes on to the tile that was asked for; false if there is none. All threads. */
static __device__ bool next_tile(struct smem *smem, int *tile, int *phase)
{
    uint32_t ctaid[3] = {};
    wait_parity(&smem->answered, *phase);
    const bool more = clusterlaunchcontrol_query_cancel(&smem->answer, ctaid);
    fence_proxy_async_shared_cta();     /* read, before the next answer is written there … */
    __syncthreads();                    /* … by all */
    *tile = ctaid[0];
    *phase ^= 1;
    return more;
}

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
    __shared__ struct smem smem;
    if (threadIdx.x == 0) {
        mbarrier_init(&smem.answered, 1);
        fence_mbarrier_init_release_cluster();
    }
    __syncthreads();

    const int tiles_n = tiles_to_cover(n, TILE_N);
    int tile = blockIdx.x, phase = 0;
    do {
        if (threadIdx.x == 0)
            ask(&smem);

        const int row = tile / tiles_n * TILE_M + threadIdx.x / TILE_N;
        const int col = tile % tiles_n * TILE_N + threadIdx.x % TILE_N;
        if (row < m && col < n) {       /* tiles at the edge stick out of C */
            float acc = 0;
            for (int k0 = 0; k0 < k; k0 += TILE_K) {
                const float a = load_tile(a_gmem, row, k0, k);
                const float b = load_tile(b_gmem, col, k0, k);
                mma_tile(acc, a, b);
            }

            store_tile(c_gmem, acc, row, col, n);
        }
    } while (next_tile(&smem, &tile, &phase));
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    const int tiles = tiles_to_cover(n, TILE_N) * tiles_to_cover(m, TILE_M);
    gemm<<<tiles, THREADS, 0, stream>>>(a_gmem, b_gmem, c_gmem, m, n, k);
    return cudaGetLastError();
}
