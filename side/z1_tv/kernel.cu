/* z1_tv: which thread holds which element of D in which register: one product on each tensor core that the device has.
 *
 * New here: a product whose values say where they belong   (a_value, b_value)
 *           one program with code for several chips        (the #if of the kernels)
 * From:     b2_wmma     Next: c1_wgmma, d1_tcgen05     Chapter: docs/z1_tv.md
 * Run:      make side/z1_tv && ./side/z1_tv/run
 */
#include <cuda_fp16.h>
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tmem.h"
#include "z_wgmma.h"

/* ------------------------------------------------------------------ shapes */

enum {
    K = 16,                     /* products of one instruction, on all three */
    ROW_BYTES = K * sizeof(half),
    CORE_ROWS = 8,              /* rows that lie together as descriptors count them */
    WARP = 32, WARPGROUP = 128,
    MMA_REGISTERS = 4,          /* 16 x 8 outputs, of 32 threads */
    WGMMA_M = 64, WGMMA_N = 64, WGMMA_REGISTERS = WGMMA_M * WGMMA_N / WARPGROUP,
    TCGEN05_M = 128, TCGEN05_N = 64, TCGEN05_REGISTERS = TCGEN05_M * TCGEN05_N / WARPGROUP,
    STEP = 256                  /* of the values from row to row: more than there are columns */
};

constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor({
    .kind = TCGEN05_F16, .cta_group = 1, .m = TCGEN05_M, .n = TCGEN05_N,
    .a_type = TCGEN05_A_F16, .b_type = TCGEN05_A_F16, .d_type = TCGEN05_D_F32 });
static_assert(INSTRUCTION, "the tensor core has no such instruction");

/* ------------------------------------------------------------------ inputs, outputs */

/* Row m of A is m, 1, 0, 0, …; column n of B is 256, n, 0, 0, …: their product is 256 m + n. */
static __device__ int a_value(int m, int k) { return k == 0 ? m : k == 1 ? 1 : 0; }
static __device__ int b_value(int n, int k) { return k == 0 ? STEP : k == 1 ? n : 0; }

static __device__ uint32_t pair(int low, int high)
{
    return __half_as_ushort(__int2half_rn(low)) | (uint32_t)__half_as_ushort(__int2half_rn(high)) << 16;
}

/* Rows of A, or columns of B, into shared memory as the copy engine would leave them. A tile begins at a multiple of the
 * swizzle's period. The whole CTA. Not every chip's kernels need it. */
[[maybe_unused]] static __device__ void fill_tile(half *tile, int rows, int (*value)(int, int))
{
    for (int i = threadIdx.x; i < rows * K; i += blockDim.x)
        tile[swizzle_32b(i * sizeof(half)) / sizeof(half)] = __int2half_rn(value(i / K, i % K));
}

/* What this thread holds, register by register. */
static __device__ void put(float *values_gmem, const float *d, int registers)
{
#pragma unroll
    for (int r = 0; r < registers; r++)
        values_gmem[threadIdx.x * registers + r] = d[r];
}

/* ------------------------------------------------------------------ kernels
 *
 * A kernel is compiled once for each chip; where the chip has no such tensor core nothing is left of it, and nobody
 * launches it.
 */

/* One warp; a register holds two neighbours along k. */
extern "C" __global__ void __launch_bounds__(WARP)
mma_sync_values(float *values_gmem)
{
    const int lane = threadIdx.x;
    const float zero[MMA_REGISTERS] = { 0, 0, 0, 0 };
    uint32_t a[4], b[2];
    float d[MMA_REGISTERS];
    for (int i = 0; i < 4; i++) {
        const int m = mma_m16n8k16_a_row(lane, 2 * i), k = mma_m16n8k16_a_col(lane, 2 * i);
        a[i] = pair(a_value(m, k), a_value(m, k + 1));
    }
    for (int i = 0; i < 2; i++) {
        const int n = mma_m16n8k16_b_col(lane, 2 * i), k = mma_m16n8k16_b_row(lane, 2 * i);
        b[i] = pair(b_value(n, k), b_value(n, k + 1));
    }
    mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(d, a, b, zero);
    put(values_gmem, d, MMA_REGISTERS);
}

/* One warpgroup. */
extern "C" __global__ void __launch_bounds__(WARPGROUP)
wgmma_values(float *values_gmem)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    alignas(256) __shared__ half a[WGMMA_M * K];
    alignas(256) __shared__ half b[WGMMA_N * K];
    float d[WGMMA_REGISTERS];
    fill_tile(a, WGMMA_M, a_value);
    fill_tile(b, WGMMA_N, b_value);
    fence_proxy_async_shared_cta();     /* what this thread wrote, for the tensor core to see */
    __syncthreads();

    const uint64_t a_desc = wgmma_descriptor(shared_address(a), 0, CORE_ROWS * ROW_BYTES, WGMMA_SWIZZLE_32B);
    const uint64_t b_desc = wgmma_descriptor(shared_address(b), 0, CORE_ROWS * ROW_BYTES, WGMMA_SWIZZLE_32B);
    wgmma_fence();
    wgmma_mma_async_m64n64k16_f32_f16_f16(d, a_desc, b_desc, 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    put(values_gmem, d, WGMMA_REGISTERS);
#endif
}

/* One thread multiplies; four warps load what is then in tensor memory. */
extern "C" __global__ void __launch_bounds__(WARPGROUP)
tcgen05_values(float *values_gmem)
{
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
    alignas(256) __shared__ half a[TCGEN05_M * K];
    alignas(256) __shared__ half b[TCGEN05_N * K];
    __shared__ mbarrier acc_ready;
    __shared__ uint32_t tmem;
    const int warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) {
        mbarrier_init(&acc_ready, 1);
        fence_mbarrier_init_release_cluster();
    }
    if (warp == 0)
        tcgen05_alloc<1>(&tmem, TCGEN05_N);
    fill_tile(a, TCGEN05_M, a_value);
    fill_tile(b, TCGEN05_N, b_value);
    fence_proxy_async_shared_cta();     /* what this thread wrote, for the tensor core to see */
    __syncthreads();
    const uint32_t acc_tmem = tmem;

    if (threadIdx.x == 0) {
        const uint64_t a_desc = tcgen05_descriptor(shared_address(a), 0, CORE_ROWS * ROW_BYTES, TCGEN05_SWIZZLE_32B);
        const uint64_t b_desc = tcgen05_descriptor(shared_address(b), 0, CORE_ROWS * ROW_BYTES, TCGEN05_SWIZZLE_32B);
        tcgen05_mma_f16<1>(acc_tmem, a_desc, b_desc, INSTRUCTION, 0);
        tcgen05_commit<1>(&acc_ready);
    }
    wait_parity(&acc_ready, 0);
    tcgen05_fence_after_thread_sync();

    uint32_t d[TCGEN05_REGISTERS];
    tcgen05_ld_32x32b_x64(d, acc_tmem + tmem_address(warp * 32, 0));    /* a warp reaches its own quarter of the lanes */
    tcgen05_wait_ld();                  /* only now do the registers hold it */
#pragma unroll
    for (int r = 0; r < TCGEN05_REGISTERS; r++)
        values_gmem[threadIdx.x * TCGEN05_REGISTERS + r] = __uint_as_float(d[r]);

    __syncthreads();                    /* all have loaded */
    if (warp == 0)
        tcgen05_dealloc<1>(acc_tmem, TCGEN05_N);
#endif
}

/* ------------------------------------------------------------------ launchers */

extern "C" cudaError_t launch_mma_sync(float *values_gmem, cudaStream_t stream)
{
    mma_sync_values<<<1, WARP, 0, stream>>>(values_gmem);
    return cudaGetLastError();
}

extern "C" cudaError_t launch_wgmma(float *values_gmem, cudaStream_t stream)
{
    wgmma_values<<<1, WARPGROUP, 0, stream>>>(values_gmem);
    return cudaGetLastError();
}

extern "C" cudaError_t launch_tcgen05(float *values_gmem, cudaStream_t stream)
{
    tcgen05_values<<<1, WARPGROUP, 0, stream>>>(values_gmem);
    return cudaGetLastError();
}
