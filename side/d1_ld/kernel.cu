/* d1_ld: d1 with every shape of tcgen05.ld in its epilogue, and a clock beside them.
 *
 * New here: the shapes and repetitions of tcgen05.ld; a kernel for each    (load_columns, gemm)
 *           which output a register is, from z_layout.h                    (store_tile)
 * From:     d1_tcgen05     Chapter: docs/d1_ld.md
 * Run:      make side/d1_ld && ./side/d1_ld/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tma.h"
#include "z_tmem.h"

/* ------------------------------------------------------------------ shapes */

enum {
    TILE_M = 128,       /* outputs of a CTA: rows … */
    TILE_N = 256,       /* … and columns */
    TILE_K = 64,        /* products between two barriers; 64 halves of a row are one 128-byte line */
    STAGES = 4,
    MMA_K = 16,         /* products of one tcgen05.mma, whose outputs are the tile */
    THREADS = 128,      /* a thread for every row of C, which is a lane of tensor memory */
    CHUNK = 8,          /* halves in 16 bytes */
    BOX_N = 64          /* columns of C that are stored together: as wide as the swizzle */
};

/* What is multiplied: fp16 into fp32, both operands K-major. */
constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor({
    .kind = TCGEN05_F16, .cta_group = 1, .m = TILE_M, .n = TILE_N,
    .a_type = TCGEN05_A_F16, .b_type = TCGEN05_A_F16, .d_type = TCGEN05_D_F32 });
static_assert(INSTRUCTION, "the tensor core has no such instruction");

/* ------------------------------------------------------------------ shared memory */

/* Rows of 128 bytes, as they come from global memory, their chunks swizzled. */
struct smem {
    union {
        struct {
            alignas(1024) half a[STAGES][TILE_M * TILE_K];
            alignas(1024) half b[STAGES][TILE_N * TILE_K];
        };
        alignas(1024) half c[TILE_N / BOX_N][TILE_M * BOX_N];   /* once there is nothing to multiply any more */
    };
    mbarrier full[STAGES];          /* a[stage] and b[stage] have landed */
    mbarrier empty[STAGES];         /* … have been multiplied */
    mbarrier acc_ready;             /* all products are in the accumulator */
    uint32_t acc_tmem;              /* where it is */
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

/* Starts the products of a tile. They run on after this returns; `done` completes when they are done. One thread. */
static __device__ void mma_tile(uint32_t acc_tmem, const half *a_tile, const half *b_tile, int enable_input_d,
                                mbarrier *done)
{
    const uint64_t a_desc = tcgen05_descriptor_128b(shared_address(a_tile));
    const uint64_t b_desc = tcgen05_descriptor_128b(shared_address(b_tile));
#pragma unroll
    for (int kk = 0; kk < TILE_K; kk += MMA_K) {
        const uint64_t along_k = kk * sizeof(half) / 16;
        tcgen05_mma_f16<1>(acc_tmem, a_desc + along_k, b_desc + along_k, INSTRUCTION, kk == 0 ? enable_input_d : 1);
    }
    tcgen05_commit<1>(done);
}

/* Loads `columns` columns of as many lanes as the shape has, from taddr on, with one instruction. */
template <enum tmem_shape shape, int columns>
static __device__ void load_columns(uint32_t *r, uint32_t taddr)
{
    if constexpr (shape == TMEM_32X32B) {
        if constexpr (columns == 8) tcgen05_ld_32x32b_x8(r, taddr);
        if constexpr (columns == 32) tcgen05_ld_32x32b_x32(r, taddr);
        if constexpr (columns == 64) tcgen05_ld_32x32b_x64(r, taddr);
    } else if constexpr (shape == TMEM_16X64B) {
        if constexpr (columns == 8) tcgen05_ld_16x64b_x4(r, taddr);
        if constexpr (columns == 32) tcgen05_ld_16x64b_x16(r, taddr);
        if constexpr (columns == 64) tcgen05_ld_16x64b_x32(r, taddr);
    } else if constexpr (shape == TMEM_16X128B) {
        if constexpr (columns == 8) tcgen05_ld_16x128b_x2(r, taddr);
        if constexpr (columns == 32) tcgen05_ld_16x128b_x8(r, taddr);
        if constexpr (columns == 64) tcgen05_ld_16x128b_x16(r, taddr);
    } else if constexpr (shape == TMEM_16X256B) {
        if constexpr (columns == 8) tcgen05_ld_16x256b_x1(r, taddr);
        if constexpr (columns == 32) tcgen05_ld_16x256b_x4(r, taddr);
        if constexpr (columns == 64) tcgen05_ld_16x256b_x8(r, taddr);
    } else {                            /* lanes 0-15 take the lower half of the columns, lanes 16-31 the upper one */
        if constexpr (columns == 8) tcgen05_ld_16x32bx2_x4<4>(r, taddr);
        if constexpr (columns == 32) tcgen05_ld_16x32bx2_x16<16>(r, taddr);
        if constexpr (columns == 64) tcgen05_ld_16x32bx2_x32<32>(r, taddr);
    }
}

/* Through shared memory, where the operands were: nobody may need them any more. While the copy engine stores one box,
 * the next is filled, output by output, since what a thread holds need not be neighbours. Returns the cycles that the
 * warp took for loading. */
template <enum tmem_shape shape, int columns>
static __device__ int store_tile(struct smem *smem, uint32_t acc_tmem, const CUtensorMap *c_map, int m0, int n0)
{
    enum { LANES = shape == TMEM_32X32B ? 32 : 16, REGISTERS = columns * LANES / 32 };
    const int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 32;    /* a warp reaches 32 lanes: its rows */
    const int right = shape == TMEM_16X32BX2 ? lane / 16 * (columns / 2) : 0;
    int cycles = 0;
    for (int col0 = 0; col0 < TILE_N; col0 += columns) {
        half *box = smem->c[col0 / BOX_N];
        for (int row = row0; row < row0 + 32; row += LANES) {
            uint32_t acc[REGISTERS];
            const long long before = clock64();
            load_columns<shape, columns>(acc, acc_tmem + tmem_address(row, col0));
            tcgen05_wait_ld();          /* only now do the registers hold it */
            cycles += (int)(clock64() - before);
            for (int i = 0; i < REGISTERS; i++) {
                const int col = col0 + tmem_ld_col(shape, lane, i) + right, chunk = col % BOX_N / CHUNK;
                const int at = chunk_128b(row + tmem_ld_lane(shape, lane, i), chunk) / sizeof(half) + col % CHUNK;
                box[at] = __float2half(__uint_as_float(acc[i]));
            }
        }

        if ((col0 + columns) % BOX_N != 0)
            continue;
        fence_proxy_async_shared_cta();     /* what this thread wrote, for the copy engine to see */
        __syncthreads();
        if (threadIdx.x == 0) {
            cp_async_bulk_tensor_2d_global_shared(c_map, n0 + col0 / BOX_N * BOX_N, m0, box);
            cp_async_bulk_commit_group();
        }
    }
    if (threadIdx.x == 0)
        cp_async_bulk_wait_group_read<0>();     /* shared memory must stay until then */
    return cycles;
}

/* ------------------------------------------------------------------ kernel */

/* C = A * B^T: A is m x k, B is n x k, C is m x n, all row-major. m and n are in the maps. */
template <enum tmem_shape shape, int columns>
__global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
     const __grid_constant__ CUtensorMap c_map, int k, int *cycles_gmem)
{
    extern __shared__ struct smem smem[];
    const int m0 = blockIdx.y * TILE_M;
    const int n0 = blockIdx.x * TILE_N;
    const int warp = threadIdx.x / 32;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(&smem->full[stage], 1);
            mbarrier_init(&smem->empty[stage], 1);
        }
        mbarrier_init(&smem->acc_ready, 1);
        fence_mbarrier_init_release_cluster();
        for (int stage = 0; stage < STAGES - 1 && stage * TILE_K < k; stage++)
            load_tile(smem, stage, &a_map, &b_map, m0, n0, stage * TILE_K);
    }
    if (warp == 1)
        tcgen05_alloc<1>(&smem->acc_tmem, TILE_N);
    __syncthreads();                /* from here on all may wait at the barriers, and know where the accumulator is */
    const uint32_t acc_tmem = smem->acc_tmem;

    if (threadIdx.x == 0) {
        int stage = 0, phase = 0, free_stage = STAGES - 1, free_phase = 1;
        for (int k0 = 0; k0 < k; k0 += TILE_K) {
            wait_parity(&smem->full[stage], phase);
            tcgen05_fence_after_thread_sync();
            mma_tile(acc_tmem, smem->a[stage], smem->b[stage], k0 != 0, &smem->empty[stage]);

            if (k0 + (STAGES - 1) * TILE_K < k) {
                wait_parity(&smem->empty[free_stage], free_phase);  /* the tile before this one */
                load_tile(smem, free_stage, &a_map, &b_map, m0, n0, k0 + (STAGES - 1) * TILE_K);
            }
            free_stage = stage;
            free_phase = phase;
            stage = (stage + 1) % STAGES;
            phase ^= stage == 0;
        }
        tcgen05_commit<1>(&smem->acc_ready);
    }

    wait_parity(&smem->acc_ready, 0);   /* operands are done with, too: C takes their place */
    tcgen05_fence_after_thread_sync();
    const int cycles = store_tile<shape, columns>(smem, acc_tmem, &c_map, m0, n0);
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
        *cycles_gmem = cycles;
    if (warp == 1)
        tcgen05_dealloc<1>(acc_tmem, TILE_N);
}

/* ------------------------------------------------------------------ launcher */

typedef void gemm_kernel(CUtensorMap a_map, CUtensorMap b_map, CUtensorMap c_map, int k, int *cycles_gmem);

#define EACH_WIDTH(shape) { gemm<shape, 8>, gemm<shape, 32>, gemm<shape, 64> }
static gemm_kernel *const kernel[][3] = { EACH_WIDTH(TMEM_32X32B), EACH_WIDTH(TMEM_16X64B), EACH_WIDTH(TMEM_16X128B),
                                          EACH_WIDTH(TMEM_16X256B), EACH_WIDTH(TMEM_16X32BX2) };

/* shape: 0 to 4, in the order of z_layout.h; width: 0 to 2, for 8, 32 or 64 columns at a time. */
extern "C" cudaError_t launch_gemm(int shape, int width, const half *a_gmem, const half *b_gmem, half *c_gmem,
                                   int *cycles_gmem, int m, int n, int k, cudaStream_t stream)
{
    gemm_kernel *const gemm = kernel[shape][width];
    CUtensorMap a_map, b_map, c_map;
    cudaError_t error;
    if ((error = tensor_map_2d(&a_map, a_gmem, m, k, TILE_M, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&b_map, b_gmem, n, k, TILE_N, TILE_K, CU_TENSOR_MAP_SWIZZLE_128B)) ||
        (error = tensor_map_2d(&c_map, c_gmem, m, n, TILE_M, BOX_N, CU_TENSOR_MAP_SWIZZLE_128B)))
        return error;

    const dim3 grid(tiles_to_cover(n, TILE_N), tiles_to_cover(m, TILE_M));
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    gemm<<<grid, THREADS, sizeof(struct smem), stream>>>(a_map, b_map, c_map, k, cycles_gmem);
    return cudaGetLastError();      /* of either call */
}
