/* c2_pipeline: c1's tile; a producer keeps the copies coming, two warpgroups do nothing but multiply.
 *
 * New here: a ring of stages, full and empty in turn      (load_tiles, mma_tiles)
 *           registers go from the producer to the consumers (gemm)
 *           warps store their rows without each other     (store_tile)
 * From:     c1_wgmma     Next: c3_cluster     Chapter: docs/c2_pipeline.md
 * Run:      make c2 && ./c2/run
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
    TILE_K = 64,        /* products of a stage; 64 halves of a row are one 128-byte line */
    STAGES = 4,
    MMA_M = 64,         /* outputs of a warpgroup, all of them those of one wgmma; and its products */
    MMA_N = TILE_N,
    MMA_K = 16,
    CONSUMER_WARPS = TILE_M / MMA_M * 4,        /* warpgroups 0 and 1 … */
    PRODUCER_WARP = CONSUMER_WARPS,             /* … and 2, all of it, since warpgroups give registers away as a whole */
    THREADS = (CONSUMER_WARPS + 4) * 32,
    CONSUMER_REGISTERS = 232,   /* of a thread: 256 * 232 + 128 * 40 = 384 * 168, which they start with */
    PRODUCER_REGISTERS = 40,
    CHUNK = 8,          /* halves in 16 bytes */
    WARP_M = 16,        /* rows of C that a warp holds and stores … */
    BOX_N = 64,         /* … this many columns at a time: as wide as the swizzle … */
    BUFFERS = 2,        /* … through this many buffers */
    GROUP_M = 16        /* tiles one below the other that are multiplied together */
};

/* What a thread holds of its warpgroup's outputs. */
typedef float accumulators[MMA_M * MMA_N / 128];

static __device__ int warpgroup_row(void) { return threadIdx.x / 128 * MMA_M; }

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    alignas(1024) half a[STAGES][TILE_M * TILE_K];
    alignas(1024) half b[STAGES][TILE_N * TILE_K];
    alignas(1024) half c[CONSUMER_WARPS][BUFFERS][WARP_M * BOX_N];
    mbarrier full[STAGES];          /* a[stage] and b[stage] have landed */
    mbarrier empty[STAGES];         /* all consumers have read them */
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

/* Two neighbours in a row of C, as stmatrix takes them. */
static __device__ uint32_t pair(float acc0, float acc1)
{
    const half2 halves = __floats2half2_rn(acc0, acc1);
    return *(const uint32_t *)&halves;
}

/* 64 columns of a warp's rows. stmatrix hands over 16 at a time, eight sums of a thread. */
static __device__ void put_box(half *box, const float *acc)
{
#pragma unroll
    for (int col = 0; col < BOX_N; col += 16, acc += 8) {
        const uint32_t r[4] = { pair(acc[0], acc[1]), pair(acc[2], acc[3]), pair(acc[4], acc[5]), pair(acc[6], acc[7]) };
        const uint32_t chunk = (col + ldmatrix_a_col(laneid())) / CHUNK;
        stmatrix_sync_aligned_m8n8_x4_shared_b16(shared_address(box) + chunk_128b(ldmatrix_a_row(laneid()), chunk), r);
    }
}

/* Each warp stores its own rows, two boxes at a time, through a piece of shared memory that only it uses: no other warp
 * need be waited for. */
static __device__ void store_tile(struct smem *smem, const accumulators acc, const CUtensorMap *c_map, int m0, int n0)
{
    half (*c)[WARP_M * BOX_N] = smem->c[threadIdx.x / 32];
    m0 += threadIdx.x / 32 * WARP_M;
#pragma unroll
    for (int col = 0; col < TILE_N; col += BUFFERS * BOX_N) {
        cp_async_bulk_wait_group_read<0>();     /* what was in the buffers has been read … */
        __syncwarp();                           /* … as lane 0 knows, which stored it */
        for (int i = 0; i < BUFFERS; i++)
            put_box(c[i], acc + (col + i * BOX_N) / 2);

        fence_proxy_async_shared_cta();     /* what this thread wrote, for the copy engine to see */
        __syncwarp();
        for (int i = 0; i < BUFFERS && laneid() == 0; i++)
            cp_async_bulk_tensor_2d_global_shared(c_map, n0 + col + i * BOX_N, m0, c[i]);
        cp_async_bulk_commit_group();
    }
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

/* A consumer warpgroup: goes at its own pace. While it waits for its products and fetches the next, the tensor cores
 * have those of the other one. */
static __device__ void mma_tiles(accumulators acc, struct smem *smem, int k)
{
    int stage = 0, phase = 0;
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        wait_parity(&smem->full[stage], phase);
        mma_tile(acc, smem->a[stage], smem->b[stage], k0 != 0);
        wgmma_wait_group<0>();      /* the tensor cores have read the stage */
        if (laneid() == 0)
            mbarrier_arrive(&smem->empty[stage]);
        stage = (stage + 1) % STAGES;
        phase ^= stage == 0;
    }
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. m and n are in the maps. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, int k)
{
    extern __shared__ struct smem smem[];
    const int m0 = (blockIdx.z * gridDim.x + blockIdx.x) * TILE_M;
    const int n0 = blockIdx.y * TILE_N;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&smem->full[stage], 1);
            mbarrier_init(&smem->empty[stage], CONSUMER_WARPS);
        }
        fence_mbarrier_init_release_cluster();
    }
    __syncthreads();                /* from here on all may use the barriers */

    if (threadIdx.x / 32 >= PRODUCER_WARP) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (threadIdx.x / 32 == PRODUCER_WARP && elect_sync(0xffffffff))
            load_tiles(smem, &a_map, &b_map, m0, n0, k);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        accumulators acc;
        mma_tiles(acc, smem, k);
        store_tile(smem, acc, &c_map, m0, n0);
    }
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    CUtensorMap a_map, b_map, c_map;
    cudaError_t error;
    if ((error = tensor_map_2d(&a_map, a_gmem, m, k, TILE_M, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&b_map, b_gmem, n, k, TILE_N, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&c_map, c_gmem, m, n, WARP_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)))
        return error;

    /* CTAs start in the order x, y, z. The 132 that run together make up a square rather than a stripe: so they read
     * fewer rows of A and B between them, and L2 has to be filled less often. */
    const int tiles_m = tiles_to_cover(m, TILE_M), groups = tiles_to_cover(tiles_m, GROUP_M);
    const dim3 grid(tiles_to_cover(tiles_m, groups), tiles_to_cover(n, TILE_N), groups);
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(a_map, b_map, c_map, k);
    return cudaGetLastError();      /* of either call */
}
