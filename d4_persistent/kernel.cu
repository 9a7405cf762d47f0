/* d4_persistent: pairs of CTAs that take one 256x256 tile after another; a tile is stored while the next is multiplied.
 *
 * New here: cluster launch control: asking for the next tile            (ask_tiles, next_tile)
 *           two accumulators, one multiplied into, one stored           (mma_tiles, store_tiles)
 *           C has shared memory of its own, two boxes of it             (store_tile)
 * From:     d3_2cta     Chapter: docs/d4_persistent.md
 * Run:      make d4 && ./d4/run
 */
#include <cuda_fp16.h>
#include "z_cluster.h"
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tma.h"
#include "z_tmem.h"

/* ------------------------------------------------------------------ shapes */

enum {
    PAIR = 2,           /* CTAs that multiply together; the one of rank 0 leads */
    TILE_M = 128,       /* outputs of a CTA: rows … */
    TILE_N = 256,       /* … and columns */
    TILE_K = 64,        /* products between two barriers; 64 halves of a row are one 128-byte line */
    LOAD_N = TILE_N / PAIR,     /* columns of B that a CTA loads, for both */
    STAGES = 6,
    ACCUMULATORS = 2,
    ANSWERS = 2,        /* tiles that are asked for ahead */
    MMA_K = 16,         /* products of one tcgen05.mma, whose outputs are the tile */
    STORE_WARPS = 4,    /* warps 0 to 3: a thread for every row of C, which is a lane of tensor memory */
    LOAD_WARP = 4,
    MMA_WARP = 5,
    ASK_WARP = 6,
    THREADS = 7 * 32,
    CHUNK = 8,          /* halves in 16 bytes */
    BOX_N = 64,         /* columns of C that are stored together: as wide as the swizzle … */
    BUFFERS = 2,        /* … through two buffers in turn */
    GROUP_M = 8         /* pairs one below the other that multiply at a time */
};

/* What is multiplied: fp16 into fp32, both operands K-major. */
constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor({
    .kind = TCGEN05_F16, .cta_group = PAIR, .m = PAIR * TILE_M, .n = TILE_N,
    .a_type = TCGEN05_A_F16, .b_type = TCGEN05_A_F16, .d_type = TCGEN05_D_F32 });
static_assert(INSTRUCTION, "the tensor core has no such instruction");

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    alignas(1024) half a[STAGES][TILE_M * TILE_K];
    alignas(1024) half b[STAGES][LOAD_N * TILE_K];
    alignas(1024) half c[BUFFERS][TILE_M * BOX_N];
    uint4 answer[ANSWERS];              /* which tile is next */
    mbarrier full[STAGES];              /* a[stage] and b[stage] have landed in both CTAs; the leader's is used */
    mbarrier empty[STAGES];             /* … have been multiplied */
    mbarrier acc_ready[ACCUMULATORS];   /* all products are in the accumulator */
    mbarrier acc_empty[ACCUMULATORS];   /* … which has been read, in both CTAs; the leader's is used */
    mbarrier answered[ANSWERS];         /* the answer is here */
    mbarrier heard[ANSWERS];            /* … and everybody in both CTAs has read it; the leader's is used */
    uint32_t acc_tmem;                  /* where the accumulators are */
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Starts to fill a stage with the products from k0 on; what is outside the matrices becomes zero, which adds nothing
 * to any sum, and counts as bytes all the same. One thread of each CTA; all bytes go to the leader's barrier. */
static __device__ void load_tile(struct smem *smem, int stage, const CUtensorMap *a_map, const CUtensorMap *b_map,
                                 int m0, int n0, int k0)
{
    if (cluster_ctarank() == 0)
        mbarrier_arrive_expect_tx(&smem->full[stage], PAIR * (sizeof smem->a[stage] + sizeof smem->b[stage]));
    const uint32_t full = mapa_shared_cluster(&smem->full[stage], 0);
    cp_async_bulk_tensor_2d_shared_global_cta_group_2(smem->a[stage], a_map, k0, m0, full);
    cp_async_bulk_tensor_2d_shared_global_cta_group_2(smem->b[stage], b_map, k0, n0 + cluster_ctarank() * LOAD_N, full);
}

/* Starts the products of a tile, in both CTAs. They run on after this returns; `done` completes, in both, when they
 * are done. One thread, of the leader. */
static __device__ void mma_tile(uint32_t acc_tmem, const half *a_tile, const half *b_tile, int enable_input_d,
                                mbarrier *done)
{
    const uint64_t a_desc = tcgen05_descriptor_128b(shared_address(a_tile));
    const uint64_t b_desc = tcgen05_descriptor_128b(shared_address(b_tile));
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        const uint64_t along_k = kk * sizeof(half) / 16;
        tcgen05_mma_f16<PAIR>(acc_tmem, a_desc + along_k, b_desc + along_k, INSTRUCTION, kk == 0 ? enable_input_d : 1);
    }
    tcgen05_commit_multicast<PAIR>(done, 0b11);
}

/* Eight neighbours in a row of C, into the box that their column belongs to. */
static __device__ void put_chunk(half *box, int row, int col, const uint32_t acc[CHUNK])
{
    alignas(16) half2 pairs[CHUNK / 2];
    for (int i = 0; i < CHUNK; i += 2)
        pairs[i / 2] = __floats2half2_rn(__uint_as_float(acc[i]), __uint_as_float(acc[i + 1]));
    *(uint4 *)(box + chunk_128b(row, col / CHUNK) / sizeof(half)) = *(const uint4 *)pairs;
}

/* Through shared memory. While the copy engine stores one box, the next is filled. Says at acc_empty, the leader's, when
 * the accumulator has been read. */
static __device__ void store_tile(struct smem *smem, uint32_t acc_tmem, const CUtensorMap *c_map, int m0, int n0,
                                  uint32_t acc_empty)
{
    const int row = threadIdx.x;        /* a warp reaches 32 lanes: its rows */
    const uint32_t row_tmem = acc_tmem + tmem_address(row / 32 * 32, 0);
#pragma unroll
    for (int col = 0; col < TILE_N; col += BOX_N) {
        half *box = smem->c[col / BOX_N % BUFFERS];
        uint32_t acc[BOX_N];
        tcgen05_ld_32x32b_x64(acc, row_tmem + col);
        tcgen05_wait_ld();              /* only now do the registers hold it */
        if (col + BOX_N == TILE_N) {
            tcgen05_fence_before_thread_sync();
            mbarrier_arrive_shared_cluster(acc_empty);
        }

        if (threadIdx.x == 0)
            cp_async_bulk_wait_group_read<BUFFERS - 1>();
        bar_sync(1, STORE_WARPS * 32);      /* what was in the buffer has been read */
        for (int i = 0; i < BOX_N; i += CHUNK)
            put_chunk(box, row, i, acc + i);

        fence_proxy_async_shared_cta();     /* what this thread wrote, for the copy engine to see */
        bar_sync(1, STORE_WARPS * 32);
        if (threadIdx.x == 0) {
            cp_async_bulk_tensor_2d_global_shared(c_map, n0 + col, m0, box);
            cp_async_bulk_commit_group();
        }
    }
}

/* ------------------------------------------------------------------ the roles: load_tiles, mma_tiles, store_tiles, ask_tiles */

/* A tile, this CTA's part of it, and where the answer will be that says which one is next. */
struct tile { int m0, n0, answer, phase; };

/* That of the cluster whose first CTA has these coordinates. */
static __device__ void place_tile(struct tile *tile, uint32_t x, uint32_t y, uint32_t z)
{
    tile->m0 = (z * gridDim.x + x + cluster_ctarank()) * TILE_M;
    tile->n0 = y * TILE_N;
}

static __device__ struct tile first_tile(void)
{
    struct tile tile = {};
    place_tile(&tile, blockIdx.x - cluster_ctarank(), blockIdx.y, blockIdx.z);
    return tile;
}

/* Goes on to the next tile; false if there is none. All that take part in the work read every answer. */
static __device__ bool next_tile(struct smem *smem, struct tile *tile)
{
    uint32_t ctaid[3] = {};
    wait_parity_cluster(&smem->answered[tile->answer], tile->phase);
    const bool more = clusterlaunchcontrol_query_cancel(&smem->answer[tile->answer], ctaid);
    fence_proxy_async_shared_cta();     /* it has been read, before the next one is written there */
    mbarrier_arrive_release_cluster(mapa_shared_cluster(&smem->heard[tile->answer], 0));
    place_tile(tile, ctaid[0], ctaid[1], ctaid[2]);
    tile->answer = (tile->answer + 1) % ANSWERS;
    tile->phase ^= tile->answer == 0;
    return more;
}

/* One thread of each CTA, of which the leader's asks for both. It stops when the answer was that nothing is left: nobody
 * may ask after that. */
static __device__ void ask_tiles(struct smem *smem)
{
    struct tile tile = first_tile();
    do {
        if (cluster_ctarank() == 0)
            wait_parity_cluster(&smem->heard[tile.answer], tile.phase ^ 1);
        mbarrier_arrive_expect_tx(&smem->answered[tile.answer], sizeof smem->answer[0]);
        if (cluster_ctarank() == 0)
            clusterlaunchcontrol_try_cancel_multicast(&smem->answer[tile.answer], &smem->answered[tile.answer]);
    } while (next_tile(smem, &tile));
}

/* One thread of each CTA, always as far ahead as there are empty stages, and on to the next tile. Phase 0 of a full
 * barrier is the first filling, phase 0 of an empty one its release; hence it waits for the phase before, which on a fresh
 * barrier counts as complete. */
static __device__ void load_tiles(struct smem *smem, const CUtensorMap *a_map, const CUtensorMap *b_map, int k)
{
    struct tile tile = first_tile();
    int stage = 0, phase = 0;
    do {
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            wait_parity(&smem->empty[stage], phase ^ 1);
            load_tile(smem, stage, a_map, b_map, tile.m0, tile.n0, k0);
            stage = (stage + 1) % STAGES;
            phase ^= stage == 0;
        }
    } while (next_tile(smem, &tile));
}

/* One thread, of the leader. It waits for operands, and for an accumulator that has been read, never for products: the
 * tensor core finds the next ones before it is done. */
static __device__ void mma_tiles(struct smem *smem, uint32_t acc_tmem, int k)
{
    struct tile tile = first_tile();
    int stage = 0, phase = 0, acc = 0, acc_phase = 0;
    do {
        wait_parity_cluster(&smem->acc_empty[acc], acc_phase ^ 1);
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            wait_parity(&smem->full[stage], phase);
            tcgen05_fence_after_thread_sync();
            mma_tile(acc_tmem + acc * TILE_N, smem->a[stage], smem->b[stage], k0 != 0, &smem->empty[stage]);
            stage = (stage + 1) % STAGES;
            phase ^= stage == 0;
        }
        tcgen05_commit_multicast<PAIR>(&smem->acc_ready[acc], 0b11);
        acc = (acc + 1) % ACCUMULATORS;
        acc_phase ^= acc == 0;
    } while (next_tile(smem, &tile));
}

/* Four warps of each CTA. */
static __device__ void store_tiles(struct smem *smem, uint32_t acc_tmem, const CUtensorMap *c_map)
{
    struct tile tile = first_tile();
    int acc = 0, acc_phase = 0;
    do {
        wait_parity(&smem->acc_ready[acc], acc_phase);
        tcgen05_fence_after_thread_sync();
        store_tile(smem, acc_tmem + acc * TILE_N, c_map, tile.m0, tile.n0, mapa_shared_cluster(&smem->acc_empty[acc], 0));
        acc = (acc + 1) % ACCUMULATORS;
        acc_phase ^= acc == 0;
    } while (next_tile(smem, &tile));
    if (threadIdx.x == 0)
        cp_async_bulk_wait_group_read<0>();     /* shared memory must stay until then */
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. m and n are in the maps. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(PAIR, 1, 1)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, int k)
{
    extern __shared__ struct smem smem[];
    const int warp = threadIdx.x / 32;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&smem->full[stage], 1);
            mbarrier_init(&smem->empty[stage], 1);
        }
        for (int i = 0; i < ACCUMULATORS; i++) {
            mbarrier_init(&smem->acc_ready[i], 1);
            mbarrier_init(&smem->acc_empty[i], PAIR * STORE_WARPS * 32);
        }
        for (int i = 0; i < ANSWERS; i++) {
            mbarrier_init(&smem->answered[i], 1);
            mbarrier_init(&smem->heard[i], PAIR * (STORE_WARPS * 32 + 2) + 1);      /* all that call next_tile */
        }
        fence_mbarrier_init_release_cluster();
    }
    barrier_cluster_arrive_relaxed_aligned();
    barrier_cluster_wait_acquire_aligned();     /* both CTAs are running; from here on all may wait at the barriers … */
    if (warp == 1)
        tcgen05_alloc<PAIR>(&smem->acc_tmem, ACCUMULATORS * TILE_N);
    __syncthreads();                            /* … and know where the accumulators are */
    const uint32_t acc_tmem = smem->acc_tmem;

    if (warp == LOAD_WARP && elect_sync(~0u)) {
        load_tiles(smem, &a_map, &b_map, k);
    } else if (warp == MMA_WARP && cluster_ctarank() == 0 && elect_sync(~0u)) {
        mma_tiles(smem, acc_tmem, k);
    } else if (warp == ASK_WARP && elect_sync(~0u)) {
        ask_tiles(smem);
    } else if (warp < STORE_WARPS) {
        store_tiles(smem, acc_tmem, &c_map);
    }
    __syncwarp();                   /* of some warps one thread was at work; the barrier is for whole warps */
    cluster_sync();                 /* both are done with the accumulators, and with each other's memory */
    if (warp == 1)
        tcgen05_dealloc<PAIR>(acc_tmem, ACCUMULATORS * TILE_N);
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    CUtensorMap a_map, b_map, c_map;
    cudaError_t error;
    if ((error = tensor_map_2d(&a_map, a_gmem, m, k, TILE_M, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&b_map, b_gmem, n, k, LOAD_N, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&c_map, c_gmem, m, n, TILE_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)))
        return error;

    /* Clusters start, or are taken, in the order x, y, z. Those that run together make up a square rather than a stripe: so they read fewer
     * rows of A and B between them, and L2 has to be filled less often. */
    const int rows = tiles_to_cover(m, PAIR * TILE_M), groups = tiles_to_cover(rows, GROUP_M);
    const dim3 grid(tiles_to_cover(rows, groups) * PAIR, tiles_to_cover(n, TILE_N), groups);
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(a_map, b_map, c_map, k);
    return cudaGetLastError();      /* of either call */
}
