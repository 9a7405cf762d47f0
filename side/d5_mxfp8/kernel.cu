/* d5_mxfp8: d4 on fp8 whose every 32 elements along K share a factor; the tensor core multiplies by it.
 *
 * New here: factors in tensor memory, copied there from shared memory    (scale_tile)
 *           mma with block scales                                        (mma_tile)
 *           operands of one byte, rows padded to 16 of them              (operand_map)
 * From:     d4_persistent     Chapter: docs/d5_mxfp8.md
 * Run:      make side/d5_mxfp8 && ./side/d5_mxfp8/run
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
    TILE_N = 192,       /* … and columns; with 256 the accumulators would leave no tensor memory for the factors */
    TILE_K = 128,       /* products between two barriers; 128 bytes of a row are one line */
    LOAD_N = TILE_N / PAIR,     /* columns of B that a CTA loads, for both */
    STAGES = 6,
    ACCUMULATORS = 2,
    ANSWERS = 2,        /* tiles that are asked for ahead */
    MMA_K = 32,         /* products of one tcgen05.mma, whose outputs are the tile; they share their factors */
    FACTOR_ROWS = 128,  /* rows whose factors for TILE_K products lie together … */
    FACTOR_BYTES = FACTOR_ROWS * TILE_K / MMA_K,        /* … in so many bytes … */
    FACTOR_COLUMNS = FACTOR_ROWS / 32,                  /* … and so many columns of tensor memory */
    B_FACTORS = 2,      /* groups of rows of B that a tile may touch: 192 rows from the start or the middle of one */
    STAGE_COLUMNS = (1 + B_FACTORS) * FACTOR_COLUMNS,   /* those of A come first */
    TMEM_COLUMNS = 512, /* the accumulators, then the factors of each stage */
    STORE_WARPS = 4,    /* warps 0 to 3: a thread for every row of C, which is a lane of tensor memory */
    LOAD_WARP = 4,
    MMA_WARP = 5,
    ASK_WARP = 6,
    THREADS = 7 * 32,
    CHUNK = 8,          /* halves in 16 bytes */
    BOX_N = 64,         /* columns of C that are stored together: as wide as the swizzle … */
    BUFFERS = 3,        /* … through three buffers in turn, as many as a tile has boxes */
    GROUP_M = 8         /* pairs one below the other that multiply at a time */
};

/* What is multiplied: e4m3 into fp32, both operands K-major, the factors in byte `block` of their words. */
static constexpr __host__ __device__ uint32_t instruction(int block)
{
    return tcgen05_scaled_instruction_descriptor({
        .kind = TCGEN05_MXF8F6F4, .cta_group = PAIR, .m = PAIR * TILE_M, .n = TILE_N,
        .a_type = TCGEN05_A_E4M3, .b_type = TCGEN05_A_E4M3, .scale_type = TCGEN05_SCALE_UE8M0,
        .a_scale_id = block, .b_scale_id = block });
}
static_assert(instruction(0) && instruction(TILE_K / MMA_K - 1), "the tensor core has no such instruction");
static_assert(ACCUMULATORS * TILE_N + STAGES * STAGE_COLUMNS <= TMEM_COLUMNS, "tensor memory is too small");

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    alignas(1024) uint8_t a[STAGES][TILE_M * TILE_K];
    alignas(1024) uint8_t b[STAGES][LOAD_N * TILE_K];
    alignas(1024) half c[BUFFERS][TILE_M * BOX_N];
    struct {
        alignas(128) uint8_t a[FACTOR_BYTES];
        uint8_t b[B_FACTORS][FACTOR_BYTES];     /* of all columns: each CTA computes its rows of all of them */
    } factors[STAGES];
    uint4 answer[ANSWERS];              /* which tile is next */
    mbarrier full[STAGES];              /* a, b and factors[stage] have landed in both CTAs; the leader's is used */
    mbarrier empty[STAGES];             /* … have been multiplied */
    mbarrier acc_ready[ACCUMULATORS];   /* all products are in the accumulator */
    mbarrier acc_empty[ACCUMULATORS];   /* … which has been read, in both CTAs; the leader's is used */
    mbarrier answered[ANSWERS];         /* the answer is here */
    mbarrier heard[ANSWERS];            /* … and everybody in both CTAs has read it; the leader's is used */
    uint32_t acc_tmem;                  /* where the accumulators are */
};

/* What is copied, where it lies in global memory. */
struct maps { CUtensorMap a, b, c, a_factors, b_factors; };

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Starts to fill a stage with the products from k0 on; what is outside the matrices becomes zero, which adds nothing
 * to any sum, and counts as bytes all the same. One thread of each CTA; all bytes go to the leader's barrier. */
static __device__ void load_tile(struct smem *smem, int stage, const struct maps *maps, int m0, int n0, int k0)
{
    if (cluster_ctarank() == 0)
        mbarrier_arrive_expect_tx(&smem->full[stage], PAIR * (sizeof smem->a[stage] + sizeof smem->b[stage] +
                                                              sizeof smem->factors[stage]));
    const uint32_t full = mapa_shared_cluster(&smem->full[stage], 0);
    const int b_row = n0 + cluster_ctarank() * LOAD_N, factor_col = k0 / TILE_K * (FACTOR_BYTES / sizeof(half));
    cp_async_bulk_tensor_2d_shared_global_cta_group_2(smem->a[stage], &maps->a, k0, m0, full);
    cp_async_bulk_tensor_2d_shared_global_cta_group_2(smem->b[stage], &maps->b, k0, b_row, full);
    cp_async_bulk_tensor_2d_shared_global_cta_group_2(smem->factors[stage].a, &maps->a_factors, factor_col,
                                                      m0 / FACTOR_ROWS, full);
    cp_async_bulk_tensor_2d_shared_global_cta_group_2(smem->factors[stage].b, &maps->b_factors, factor_col,
                                                      n0 / FACTOR_ROWS, full);
}

/* Starts to copy the factors of a stage to tensor memory, in both CTAs: those of A, then those of B. What this thread
 * multiplies later finds them there; no wait is needed. One thread, of the leader. */
static __device__ void scale_tile(struct smem *smem, int stage, uint32_t factors_tmem)
{
    const uint32_t start = shared_address(&smem->factors[stage]);
    for (int i = 0; i < 1 + B_FACTORS; i++)     /* 32 lines of 16 bytes; 8 of them make a core matrix of 128 bytes */
        tcgen05_cp_32x128b_warpx4<PAIR>(factors_tmem + i * FACTOR_COLUMNS,
                                        tcgen05_descriptor(start + i * FACTOR_BYTES, 0, 128, TCGEN05_SWIZZLE_NONE));
}

/* Starts the products of a tile, in both CTAs. They run on after this returns; `done` completes, in both, when they
 * are done. One thread, of the leader. */
static __device__ void mma_tile(uint32_t acc_tmem, const uint8_t *a_tile, const uint8_t *b_tile, uint32_t a_factors_tmem,
                                uint32_t b_factors_tmem, int enable_input_d, mbarrier *done)
{
    const uint64_t a_desc = tcgen05_descriptor_128b(shared_address(a_tile));
    const uint64_t b_desc = tcgen05_descriptor_128b(shared_address(b_tile));
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        const uint64_t along_k = kk / 16;
        tcgen05_mma_mxf8f6f4_block32<PAIR>(acc_tmem, a_desc + along_k, b_desc + along_k, instruction(kk / MMA_K),
                                           a_factors_tmem, b_factors_tmem, kk == 0 ? enable_input_d : 1);
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
static __device__ void load_tiles(struct smem *smem, const struct maps *maps, int k)
{
    struct tile tile = first_tile();
    int stage = 0, phase = 0;
    do {
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            wait_parity(&smem->empty[stage], phase ^ 1);
            load_tile(smem, stage, maps, tile.m0, tile.n0, k0);
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
            const uint32_t a_factors_tmem = acc_tmem + ACCUMULATORS * TILE_N + stage * STAGE_COLUMNS;
            const uint32_t b_factors_tmem = a_factors_tmem + FACTOR_COLUMNS + tmem_scale_col(tile.n0 % FACTOR_ROWS);
            scale_tile(smem, stage, a_factors_tmem);
            mma_tile(acc_tmem + acc * TILE_N, smem->a[stage], smem->b[stage], a_factors_tmem, b_factors_tmem, k0 != 0,
                     &smem->empty[stage]);
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

/* C = A * B^T: A is m x k, B is n x k, each with its factors, C is m x n, all row-major. m and n are in the maps. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(PAIR, 1, 1)
gemm(const __grid_constant__ struct maps maps, int k)
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
        tcgen05_alloc<PAIR>(&smem->acc_tmem, TMEM_COLUMNS);
    __syncthreads();                            /* … and know where the accumulators are */
    const uint32_t acc_tmem = smem->acc_tmem;

    if (warp == LOAD_WARP && elect_sync(~0u)) {
        load_tiles(smem, &maps, k);
    } else if (warp == MMA_WARP && cluster_ctarank() == 0 && elect_sync(~0u)) {
        mma_tiles(smem, acc_tmem, k);
    } else if (warp == ASK_WARP && elect_sync(~0u)) {
        ask_tiles(smem);
    } else if (warp < STORE_WARPS) {
        store_tiles(smem, acc_tmem, &maps.c);
    }
    __syncwarp();                   /* of some warps one thread was at work; the barrier is for whole warps */
    cluster_sync();                 /* both are done with the accumulators, and with each other's memory */
    if (warp == 1)
        tcgen05_dealloc<PAIR>(acc_tmem, TMEM_COLUMNS);
}

/* ------------------------------------------------------------------ launcher */

static cudaError_t operand_map(CUtensorMap *map, const void *gmem, int rows, int k, int box_rows)
{
    const uint64_t row_bytes = (uint64_t)tiles_to_cover(k, 16) * 16;
    return tensor_map_of_rows(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, gmem, rows, k, row_bytes, box_rows, TILE_K,
                              CU_TENSOR_MAP_SWIZZLE_128B);
}

/* A row for each group of rows of the operand. Two factors count as a half, since a box is at most 256 elements wide. */
static cudaError_t factor_map(CUtensorMap *map, const void *gmem, int rows, int k, int groups)
{
    enum { WIDTH = FACTOR_BYTES / sizeof(half) };
    return tensor_map_2d(map, (const half *)gmem, tiles_to_cover(rows, FACTOR_ROWS), tiles_to_cover(k, TILE_K) * WIDTH,
                         groups, WIDTH, CU_TENSOR_MAP_SWIZZLE_NONE);
}

/* Rows of A and B start at multiples of 16 bytes; factors are ordered as z_layout.h's scale_offset says. */
extern "C" cudaError_t launch_gemm(const void *a_gmem, const void *a_factors_gmem, const void *b_gmem,
                                   const void *b_factors_gmem, half *c_gmem, int m, int n, int k, cudaStream_t stream)
{
    struct maps maps;
    cudaError_t error;
    if ((error = operand_map(&maps.a, a_gmem, m, k, TILE_M)) ||
        (error = operand_map(&maps.b, b_gmem, n, k, LOAD_N)) ||
        (error = factor_map(&maps.a_factors, a_factors_gmem, m, k, 1)) ||
        (error = factor_map(&maps.b_factors, b_factors_gmem, n, k, B_FACTORS)) ||
        (error = tensor_map_2d(&maps.c, c_gmem, m, n, TILE_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)))
        return error;

    /* Clusters start, or are taken, in the order x, y, z. Those that run together make up a square rather than a stripe: so they read fewer
     * rows of A and B between them, and L2 has to be filled less often. */
    const int rows = tiles_to_cover(m, PAIR * TILE_M), groups = tiles_to_cover(rows, GROUP_M);
    const dim3 grid(tiles_to_cover(rows, groups) * PAIR, tiles_to_cover(n, TILE_N), groups);
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(maps, k);
    return cudaGetLastError();      /* of either call */
}
