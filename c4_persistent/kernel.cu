/* c4_persistent: c3's clusters; a tile is stored while the next one is multiplied, and the next begins where the last ended.
 *
 * New here: sums are rounded and set aside                (round_tile)
 *           and stored, box by box, between products      (mma_tiles)
 *           every other tile goes backwards along k       (load_tiles)
 * From:     c3_cluster     Next: d1_tcgen05 (from c1)     Chapter: docs/c4_persistent.md
 * Run:      make c4 && ./c4/run
 */
#include <cuda_fp16.h>
#include "z_cluster.h"
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
    CLUSTER = 2,        /* CTAs whose tiles lie one below the other … */
    SHARE_N = TILE_N / CLUSTER,     /* … and columns of B that each of them fetches for all */
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
    BUFFERS = 2,        /* … through two buffers in turn … */
    BOXES = TILE_N / BOX_N,     /* … until the row is complete */
    GROUP_M = 8         /* clusters one below the other that are multiplied together */
};

/* What a thread holds of its warpgroup's outputs. */
typedef float accumulators[MMA_M * MMA_N / 128];

/* The same, rounded, two in a register. */
typedef uint32_t results[MMA_M * MMA_N / 128 / 2];

static __device__ int warpgroup_row(void) { return threadIdx.x / 128 * MMA_M; }

struct tile { int m0, n0; };

static __host__ __device__ int cluster_tiles(int m, int n)
{
    return tiles_to_cover(m, CLUSTER * TILE_M) * tiles_to_cover(n, TILE_N);
}

/* Where this CTA's part of the cluster's tile `index` lies. Tiles are numbered in bands of GROUP_M, column by column, to
 * the right in one band and back in the next: those that are multiplied at one time make up a square rather than a
 * stripe, so they read fewer rows of A and B between them, and L2 has to be filled less often. */
static __device__ struct tile tile_of(int index, int m, int n)
{
    const int rows = tiles_to_cover(m, CLUSTER * TILE_M), cols = tiles_to_cover(n, TILE_N);
    const int band = index / (GROUP_M * cols), within = index % (GROUP_M * cols);
    const int height = min(GROUP_M, rows - band * GROUP_M);
    const int row = band * GROUP_M + within % height, col = within / height;
    return { (row * CLUSTER + (int)cluster_ctarank()) * TILE_M, (band % 2 ? cols - 1 - col : col) * TILE_N };
}

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    alignas(1024) half a[STAGES][TILE_M * TILE_K];
    alignas(1024) half b[STAGES][TILE_N * TILE_K];
    alignas(1024) half c[CONSUMER_WARPS][BUFFERS][WARP_M * BOX_N];
    mbarrier full[STAGES];          /* a[stage] and b[stage] have landed */
    mbarrier empty[STAGES];         /* all consumers of the cluster have read them */
};

/* ------------------------------------------------------------------ load_tile, mma_tile, store_tile */

/* Starts to fill a stage with the products from k0 on; what is outside the matrices becomes zero, which adds nothing
 * to any sum, and counts as bytes all the same. The columns of B come in two shares, one from each CTA of the cluster.
 * One thread. */
static __device__ void load_tile(struct smem *smem, int stage, const CUtensorMap *a_map, const CUtensorMap *b_map,
                                 int m0, int n0, int k0)
{
    mbarrier_arrive_expect_tx(&smem->full[stage], sizeof smem->a[stage] + sizeof smem->b[stage]);
    cp_async_bulk_tensor_2d_shared_global(smem->a[stage], a_map, k0, m0, &smem->full[stage]);
    const int share = cluster_ctarank() * SHARE_N;
    cp_async_bulk_tensor_2d_shared_global_multicast(smem->b[stage] + share * TILE_K, b_map, k0, n0 + share,
                                                    &smem->full[stage], (1 << CLUSTER) - 1);
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

/* After this the accumulators are free for the next tile. */
static __device__ void round_tile(results c, const accumulators acc)
{
#pragma unroll
    for (int i = 0; i < MMA_M * MMA_N / 128; i += 2)
        c[i / 2] = pair(acc[i], acc[i + 1]);
}

/* 64 columns of a warp's rows. stmatrix hands over 16 at a time, four registers of a thread. */
static __device__ void put_box(half *box, const uint32_t *c)
{
#pragma unroll
    for (int col = 0; col < BOX_N; col += 16, c += 4) {
        const uint32_t chunk = (col + ldmatrix_a_col(laneid())) / CHUNK;
        stmatrix_sync_aligned_m8n8_x4_shared_b16(shared_address(box) + chunk_128b(ldmatrix_a_row(laneid()), chunk), c);
    }
}

/* Each warp stores its own rows, box by box, through a piece of shared memory that only it uses: no other warp need be
 * waited for. */
static __device__ void store_box(half *box, const uint32_t *c, const CUtensorMap *c_map, int m0, int n0)
{
    cp_async_bulk_wait_group_read<BUFFERS - 1>();   /* what was in the buffer has been read … */
    __syncwarp();                                   /* … as lane 0 knows, which stored it */
    put_box(box, c);
    fence_proxy_async_shared_cta();     /* what this thread wrote, for the copy engine to see */
    __syncwarp();
    if (laneid() == 0)
        cp_async_bulk_tensor_2d_global_shared(c_map, n0, m0 + threadIdx.x / 32 * WARP_M, box);
    cp_async_bulk_commit_group();
}

/* Stores the boxes from `first` to before `last`. Unrolled, since registers have no index. */
static __device__ void store_boxes(struct smem *smem, const results c, const CUtensorMap *c_map, struct tile tile,
                                   int first, int last)
{
#pragma unroll
    for (int box = 0; box < BOXES; box++)
        if (first <= box && box < last)
            store_box(smem->c[threadIdx.x / 32][box % BUFFERS], c + box * BOX_N / 4, c_map, tile.m0,
                      tile.n0 + box * BOX_N);
}

/* ------------------------------------------------------------------ the two roles: load_tiles, mma_tiles */

/* The producer: one thread, always as far ahead as there are empty stages, and on to the next tile. Phase 0 of a full
 * barrier is the first filling, phase 0 of an empty one its release; hence the producer waits for the phase before,
 * which on a fresh barrier counts as complete.
 *
 * Every other tile is multiplied from the end of k to its beginning. What the tile before used last, the same rows of A
 * above all, is still in L2 then; the beginning has often been driven out. */
static __device__ void load_tiles(struct smem *smem, const CUtensorMap *a_map, const CUtensorMap *b_map, int m, int n,
                                  int k)
{
    const int last_k0 = (tiles_to_cover(k, TILE_K) - 1) * TILE_K;
    int stage = 0, phase = 0;
    bool backwards = false;
    for (int index = blockIdx.x / CLUSTER; index < cluster_tiles(m, n); index += gridDim.x / CLUSTER) {
        const struct tile tile = tile_of(index, m, n);
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            wait_parity(&smem->empty[stage], phase ^ 1);
            load_tile(smem, stage, a_map, b_map, tile.m0, tile.n0, backwards ? last_k0 - k0 : k0);
            stage = (stage + 1) % STAGES;
            phase ^= stage == 0;
        }
        backwards = !backwards;
    }
}

/* A consumer warpgroup: goes at its own pace. While it waits for its products and fetches the next, the tensor cores
 * have those of the other one. Meanwhile it stores the tile before, one box with every other stage, so that each has
 * been read before the buffer is needed again. There is time for that, but not for much more: the other warpgroup's
 * products of one stage. */
static __device__ void mma_tiles(struct smem *smem, const CUtensorMap *c_map, int m, int n, int k)
{
    accumulators acc;
    results c;
    struct tile tile;               /* where c belongs … */
    int done = 0, stored = BOXES;   /* … its number, and how many of its boxes are under way */
    int stage = 0, phase = 0;
    for (int index = blockIdx.x / CLUSTER; index < cluster_tiles(m, n); index += gridDim.x / CLUSTER) {
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            wait_parity(&smem->full[stage], phase);
            mma_tile(acc, smem->a[stage], smem->b[stage], k0 != 0);
            if (k0 == 0)
                tile = tile_of(done, m, n);     /* divisions take time: here the tensor cores are busy meanwhile */
            else if (stored < BOXES && k0 % (2 * TILE_K) != 0) {
                store_boxes(smem, c, c_map, tile, stored, stored + 1);
                stored++;
            }
            wgmma_wait_group<0>();      /* the tensor cores have read the stage: both CTAs may write there again */
            if (laneid() < CLUSTER)
                mbarrier_arrive_shared_cluster(mapa_shared_cluster(&smem->empty[stage], laneid()));
            stage = (stage + 1) % STAGES;
            phase ^= stage == 0;
        }
        store_boxes(smem, c, c_map, tile, stored, BOXES);       /* what a short k left no time for */
        round_tile(c, acc);
        done = index;
        stored = 0;
    }
    store_boxes(smem, c, c_map, tile_of(done, m, n), stored, BOXES);
    cp_async_bulk_wait_group_read<0>();     /* shared memory must stay until then */
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. */
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, int m, int n, int k)
{
    extern __shared__ struct smem smem[];
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&smem->full[stage], 1);
            mbarrier_init(&smem->empty[stage], CLUSTER * CONSUMER_WARPS);
        }
        fence_mbarrier_init_release_cluster();
    }
    barrier_cluster_arrive_relaxed_aligned();
    barrier_cluster_wait_acquire_aligned();     /* from here on all of the cluster may use the barriers */

    if (threadIdx.x / 32 >= PRODUCER_WARP) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (threadIdx.x / 32 == PRODUCER_WARP && elect_sync(0xffffffff))
            load_tiles(smem, &a_map, &b_map, m, n, k);
        __syncwarp();
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        mma_tiles(smem, &c_map, m, n, k);
    }

    barrier_cluster_arrive_relaxed_aligned();
    barrier_cluster_wait_acquire_aligned();     /* nobody arrives here any more: this CTA's memory may go */
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_gemm(const half *a_gmem, const half *b_gmem, half *c_gmem, int m, int n, int k,
                                   cudaStream_t stream)
{
    CUtensorMap a_map, b_map, c_map;
    cudaError_t error;
    int device, sms;
    if ((error = tensor_map_2d(&a_map, a_gmem, m, k, TILE_M, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&b_map, b_gmem, n, k, SHARE_N, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&c_map, c_gmem, m, n, WARP_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = cudaGetDevice(&device)) ||
        (error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)))
        return error;

    /* As many clusters as find room, but not more than are done in as many rounds: the others would only use power. */
    const int rounds = tiles_to_cover(cluster_tiles(m, n), sms / CLUSTER);
    const int clusters = tiles_to_cover(cluster_tiles(m, n), rounds);
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<clusters * CLUSTER, THREADS, sizeof(struct smem), stream>>>(a_map, b_map, c_map, m, n, k);
    return cudaGetLastError();      /* of either call */
}
