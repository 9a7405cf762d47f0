/* a2_ring: a2's tiles, but four warps only load and eight only multiply; they meet at barriers for each stage.
 *
 * New here: producer and consumer warps                   (gemm)
 *           mbarriers, a ring of stages                   (load_tiles, mma_tiles)
 * From:     a2_smem     Chapter: docs/a2_ring.md
 * Run:      make side/a2_ring && ./side/a2_ring/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"
#include "z_mbarrier.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 128,       /* outputs of a CTA: rows … */
    TILE_N = 128,       /* … and columns */
    TILE_K = 16,        /* products of a stage; 16 halves of a row are one 32-byte sector */
    STAGES = 2,
    THREAD_M = 8,       /* outputs of a thread */
    THREAD_N = 8,
    CONSUMERS = TILE_M / THREAD_M * (TILE_N / THREAD_N),        /* threads 0 to 255 … */
    PRODUCERS = 128,                                            /* … and 256 to 383 */
    THREADS = CONSUMERS + PRODUCERS,
    PAD = 4             /* keeps rows 16-byte aligned, but shifts them against the banks */
};

/* Rows and columns of a thread come in groups of four neighbours, which are one 16-byte read. */
static __device__ int thread_row(int i) { return threadIdx.x / 16 * 4 + i % 4 + i / 4 * (TILE_M / 2); }
static __device__ int thread_col(int j) { return threadIdx.x % 16 * 4 + j % 4 + j / 4 * (TILE_N / 2); }

/* ------------------------------------------------------------------ shared memory */

/* Transposed, k outermost: the rows that a thread needs for one k lie side by side. And as float: converted
 * once here, not by each of the 16 threads that read it. */
struct smem {
    alignas(16) float a[STAGES][TILE_K][TILE_M + PAD];
    alignas(16) float b[STAGES][TILE_K][TILE_N + PAD];
    mbarrier full[STAGES];          /* all producers have written a[stage] and b[stage] */
    mbarrier empty[STAGES];         /* all consumers have read them */
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Copies 128 rows from (row0, k0) on; what is outside the matrix becomes zero, which adds nothing to any sum. */
static __device__ void load_tile(float tile[TILE_K][TILE_M + PAD], const half *gmem, int row0, int k0, int rows, int k)
{
    const int thread = threadIdx.x - CONSUMERS, col = thread % TILE_K;
    for (int i = 0; i < TILE_M; i += PRODUCERS / TILE_K) {
        const int row = i + thread / TILE_K;
        const bool inside = row0 + row < rows && k0 + col < k;
        tile[col][row] = inside ? __half2float(gmem[(size_t)(row0 + row) * k + k0 + col]) : 0;
    }
}

/* 16 values read give 64 products: shared memory alone could not feed one product per two reads. */
static __device__ void mma_tile(float acc[THREAD_M][THREAD_N], const struct smem &smem, int stage)
{
    for (int kk = 0; kk < TILE_K; kk++) {
        float a[THREAD_M], b[THREAD_N];
        for (int i = 0; i < THREAD_M; i++)
            a[i] = smem.a[stage][kk][thread_row(i)];
        for (int j = 0; j < THREAD_N; j++)
            b[j] = smem.b[stage][kk][thread_col(j)];
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

/* ------------------------------------------------------------------ the two roles: load_tiles, mma_tiles */

/* A producer: fills the stages in turn, each as soon as it is empty. Phase 0 of a full barrier is the first filling,
 * phase 0 of an empty one its release; hence the producer waits for the phase before, which on a fresh barrier counts
 * as complete. */
static __device__ void load_tiles(struct smem &smem, const half *a_gmem, const half *b_gmem, int m0, int n0, int m,
                                  int n, int k)
{
    int stage = 0, phase = 0;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem.empty[stage], phase ^ 1);
        load_tile(smem.a[stage], a_gmem, m0, k0, m, k);
        load_tile(smem.b[stage], b_gmem, n0, k0, n, k);
        mbarrier_arrive(&smem.full[stage]);     /* what this thread wrote is there */
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
    }
}

/* A consumer: multiplies the stages in turn, each as soon as it is full. */
static __device__ void mma_tiles(float acc[THREAD_M][THREAD_N], struct smem &smem, int k)
{
    int stage = 0, phase = 0;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem.full[stage], phase);
        mma_tile(acc, smem, stage);
        mbarrier_arrive(&smem.empty[stage]);    /* this thread does not read it any more */
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
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

    if (threadIdx.x == 0)
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&smem.full[stage], PRODUCERS);
            mbarrier_init(&smem.empty[stage], CONSUMERS);
        }
    __syncthreads();                /* from here on all may use the barriers */

    if (threadIdx.x >= CONSUMERS) {
        load_tiles(smem, a_gmem, b_gmem, m0, n0, m, n, k);
        return;
    }
    float acc[THREAD_M][THREAD_N] = {};
    mma_tiles(acc, smem, k);
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
