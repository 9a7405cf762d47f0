/* A tile of D = A * B by one warpgroup: shared memory filled by ordinary stores with the 128-byte swizzle, then
 * wgmma.mma_async over it; against a product by the host. */
#include "api.h"
#include <cstdint>
#include <cuda_fp16.h>

enum { M = 64, N = 64, K = 64, BLOCKS = 3 };    /* a row of K halves is one span of the swizzle */

/* Element (row, k) of a tile whose rows are 128 bytes: chunks of 16 bytes change places by the row. */
__device__ static int swizzled(int row, int k) { return row * K + ((k / 8 ^ row % 8) * 8 + k % 8); }

__device__ static uint64_t descriptor(const __half *at)
{
    uint64_t start = (uint64_t)__cvta_generic_to_shared(at), stride = 8 * 128;
    return (start & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (stride >> 4) << 32 | (uint64_t)1 << 62;
}

__device__ static void wgmma_m64n64k16(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
                 "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b) : "memory");
}

/* a: M x K, b: N x K, both with k along the rows. */
__global__ void multiply(const __half *a, const __half *b, float *d)
{
    __shared__ __align__(1024) __half a_smem[M * K], b_smem[N * K];
    float acc[32] = {};
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int block = 0; block < BLOCKS; block++) {
        for (int i = threadIdx.x; i < M * K; i += blockDim.x) {
            a_smem[swizzled(i / K, i % K)] = a[i / K * (K * BLOCKS) + block * K + i % K];
            b_smem[swizzled(i / K, i % K)] = b[i / K * (K * BLOCKS) + block * K + i % K];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < K; k += 16)
            wgmma_m64n64k16(acc, descriptor(a_smem + k), descriptor(b_smem + k));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        d[(16 * warp + lane / 4 + 8 * (i / 2 % 2)) * N + 8 * (i / 4) + 2 * (lane % 4) + i % 2] = acc[i];
}

int main(void)
{
    enum { DEPTH = K * BLOCKS };
    __half *a, *b;
    float *d;
    OK(cudaMallocManaged(&a, M * DEPTH * sizeof *a));
    OK(cudaMallocManaged(&b, N * DEPTH * sizeof *b));
    OK(cudaMallocManaged(&d, M * N * sizeof *d));
    for (int i = 0; i < M * DEPTH; i++)
        a[i] = __float2half((float)(i * 7 % 13 - 6)), b[i] = __float2half((float)(i * 5 % 11 - 5));
    multiply<<<1, 128>>>(a, b, d);
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int row = 0; row < M; row++)
        for (int col = 0; col < N; col++) {
            float sum = 0;
            for (int k = 0; k < DEPTH; k++)
                sum += __half2float(a[row * DEPTH + k]) * __half2float(b[col * DEPTH + k]);
            wrong += d[row * N + col] != sum;
        }
    EXPECT(wrong == 0);
    return report();
}
