/* Kernels from the host's side: attributes, occupancy, dynamic shared memory, launch attributes, clusters, cooperative
 * groups, printf. */
#include "api.h"
#include <cooperative_groups.h>
#include <string>
#include <unistd.h>
namespace cg = cooperative_groups;

__global__ void sum_dynamic(int *out, int n)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        int t = 0;
        for (int i = 0; i < n; i += n / 16)
            t += s[i];
        *out = t;
    }
}

__global__ void __launch_bounds__(128) bounded(int *out) { out[threadIdx.x] = 1; }

struct big { int before[3]; double d; char c; short tail[5]; };
__global__ void many_parameters(char a, double b, big c, short d, int *out, float4 e)
{
    *out = a + (int)b + c.before[2] + (int)c.d + c.c + c.tail[4] + d + (int)e.w;
}

__global__ void cluster_rank(int *out)
{
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0)
        out[blockIdx.x] = c.block_rank() * 100 + c.num_blocks();
}

__global__ void __cluster_dims__(2, 1, 1) own_cluster(int *out) { if (threadIdx.x == 0) out[blockIdx.x] = cg::this_cluster().block_rank(); }

__global__ void grid_sum(int *part, int *out)
{
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0)
        part[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int t = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            t += part[i];
        *out = t;
    }
    grid.sync();
    if (threadIdx.x == 0)
        part[blockIdx.x] = *out;
}

__global__ void warp_sums(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = threadIdx.x;
    for (int i = 4; i; i /= 2)
        v += tile.shfl_down(v, i);
    if (tile.thread_rank() == 0)
        out[threadIdx.x / 8] = v;
    cg::coalesced_group g = cg::coalesced_threads();
    if (g.thread_rank() == 0)
        atomicAdd(&out[8], (int)g.size());
}

__global__ void print(int n) { printf("block %d thread %u of %s: %5.2f %llx\n", blockIdx.x, threadIdx.x, "print", n + 0.25, 0x123456789abcull); }

template <typename T, int N> __global__ void fill_with(T *p, T value) { if (threadIdx.x < N) p[threadIdx.x] = value; }

static int *cells(int n)
{
    int *p = nullptr;
    OK(cudaMallocManaged(&p, n * sizeof *p));
    memset(p, 0, n * sizeof *p);
    return p;
}

static void attributes(void)
{
    cudaFuncAttributes a;
    const char *name;
    OK(cudaFuncGetAttributes(&a, bounded));
    EXPECT(a.maxThreadsPerBlock == 128 && a.numRegs > 0 && a.sharedSizeBytes == 0 && a.binaryVersion == 90);
    OK(cudaFuncGetAttributes(&a, sum_dynamic));
    EXPECT(a.maxThreadsPerBlock == 1024 && a.maxDynamicSharedSizeBytes == 48 * 1024);
    OK(cudaFuncGetName(&name, (const void *)bounded));
    EXPECT(std::string(name).find("bounded") != std::string::npos);
    size_t offset, size;
    OK(cudaFuncGetParamInfo((const void *)many_parameters, 2, &offset, &size));
    EXPECT(offset == 16 && size == sizeof(big));
    GIVES(cudaFuncGetAttributes(&a, (const void *)&a), cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

static void dynamic_shared_memory(void)
{
    int *out = cells(1), n = 50000;
    sum_dynamic<<<1, 128, n * 4>>>(out, n);
    GIVES(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(sum_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
    sum_dynamic<<<1, 128, n * 4>>>(out, n);
    OK(cudaDeviceSynchronize());
    EXPECT(*out == n / 16 * 120);
    GIVES(cudaFuncSetAttribute(sum_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void refused(void)
{
    int *out = cells(1024);
    bounded<<<1, 256>>>(out);
    EXPECT(cudaGetLastError() != cudaSuccess);
    bounded<<<1, 2048>>>(out);
    GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
    bounded<<<0, 32>>>(out);
    GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
    OK(cudaDeviceSynchronize());
    bounded<<<1, 128>>>(out);
    OK(cudaDeviceSynchronize());
    EXPECT(out[127] == 1);
}

static void parameters(void)
{
    int *out = cells(1);
    big b = {{1, 2, 3}, 40.0, 5, {0, 0, 0, 0, 60}};
    many_parameters<<<1, 1>>>(7, 800.0, b, 9, out, make_float4(0, 0, 0, 1000));
    OK(cudaDeviceSynchronize());
    EXPECT(*out == 7 + 800 + 3 + 40 + 5 + 60 + 9 + 1000);
    *out = 0;
    char a = 7;                                 /* the call that <<<...>>> was before CUDA 12.8 */
    double eight_hundred = 800.0;
    short nine = 9;
    float4 e = make_float4(0, 0, 0, 1000);
    void *args[] = {&a, &eight_hundred, &b, &nine, &out, &e};
    OK(cudaLaunchKernel((const void *)many_parameters, dim3(1), dim3(1), args, 0, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*out == 7 + 800 + 3 + 40 + 5 + 60 + 9 + 1000);
    double *d;
    OK(cudaMallocManaged(&d, 32 * sizeof *d));
    fill_with<double, 7><<<1, 32>>>(d, 2.5);
    OK(cudaDeviceSynchronize());
    EXPECT(d[6] == 2.5);
}

static void occupancy(void)
{
    int blocks, block, grid;
    size_t smem;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    EXPECT(blocks == 16);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 100 * 1024));
    EXPECT(blocks == 2);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, sum_dynamic, 0, 0));
    EXPECT(block == 1024 && grid == 132 * 2);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&smem, bounded, 2, 128));
    EXPECT(smem > 100000 && smem < 228 * 1024 / 2);
}

static void clusters(void)
{
    int *out = cells(8), count, size;
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[2] = {};
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = 4;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    a[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[1].val.programmaticStreamSerializationAllowed = 1;
    c.gridDim = 8;
    c.blockDim = 32;
    c.attrs = a;
    c.numAttrs = 2;
    OK(cudaLaunchKernelEx(&c, cluster_rank, out));
    OK(cudaDeviceSynchronize());
    EXPECT(out[0] == 4 && out[3] == 304 && out[4] == 4 && out[7] == 304);
    OK(cudaOccupancyMaxActiveClusters(&count, cluster_rank, &c));
    OK(cudaOccupancyMaxPotentialClusterSize(&size, cluster_rank, &c));
    EXPECT(count > 0 && size == 8);
    own_cluster<<<4, 32>>>(out);
    OK(cudaDeviceSynchronize());
    EXPECT(out[0] == 0 && out[1] == 1 && out[2] == 0 && out[3] == 1);
    c.gridDim = 6;
    EXPECT(cudaLaunchKernelEx(&c, cluster_rank, out) != cudaSuccess);
    cudaGetLastError();
}

static void groups(void)
{
    int *part = cells(64), *out = cells(16), blocks = 40;
    void *args[] = {&part, &out};
    OK(cudaLaunchCooperativeKernel(grid_sum, blocks, 64, args, 0, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*out == blocks * (blocks + 1) / 2 && part[0] == *out && part[blocks - 1] == *out);
    GIVES(cudaLaunchCooperativeKernel(grid_sum, 100000, 64, args, 0, 0), cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    memset(out, 0, 64);
    warp_sums<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    EXPECT(out[0] == 28 && out[7] == 476 && out[8] == 64);
}

static void printing(void)
{
    int pipe_ends[2], saved = dup(1);
    char text[200] = "";
    fflush(stdout);
    if (pipe(pipe_ends) || dup2(pipe_ends[1], 1) < 0)
        exit(1);
    print<<<1, 2>>>(3);
    cudaDeviceSynchronize();
    fflush(stdout);
    dup2(saved, 1);
    EXPECT(read(pipe_ends[0], text, sizeof text - 1) > 0);
    EXPECT(!strcmp(text, "block 0 thread 0 of print:  3.25 123456789abc\nblock 0 thread 1 of print:  3.25 123456789abc\n"));
}

int main()
{
    attributes();
    dynamic_shared_memory();
    refused();
    parameters();
    occupancy();
    clusters();
    groups();
    printing();
    return report();
}
