/* a0_reduce: the sum of a vector: of a thread, a warp, a CTA, a cluster, the grid.
 *
 * New here: shuffles                                      (warp_sum)
 *           a cluster, and a look into its CTAs' memory   (vector_sum)
 *           a launch with attributes                      (launch_vector_sum)
 * From:     a0_vector_add     Chapter: docs/a0_reduce.md
 * Run:      make side/a0_reduce && ./side/a0_reduce/run
 */
#include "z_cluster.h"
#include "z_layout.h"

/* ------------------------------------------------------------------ shapes */

enum {
    CHUNK = 4,          /* floats in a 16-byte access, the widest there is for one thread */
    THREADS = 256,      /* in a block */
    WARPS = THREADS / 32,
    BLOCK = THREADS * CHUNK
};

/* ------------------------------------------------------------------ shared memory */

struct smem {
    float warp[WARPS];  /* the sum of each warp … */
    float cta;          /* … and of all of them, for the cluster */
};

/* ------------------------------------------------------------------ thread_sum, warp_sum */

/* Every thread of the grid takes a chunk, then the one that lies a whole grid further on, to the end. */
static __device__ float thread_sum(const float *x_gmem, int n)
{
    float sum = 0;
    int i = blockIdx.x * BLOCK + threadIdx.x * CHUNK;
#pragma unroll 4
    for (; i + CHUNK <= n; i += gridDim.x * BLOCK) {
        const float4 x = *(const float4 *)(x_gmem + i);
        sum += (x.x + x.y) + (x.z + x.w);
    }

    /* The last chunk may be cut short; it is one thread's. */
    for (; i < n; i++)
        sum += x_gmem[i];
    return sum;
}

/* The sum over the warp, in every lane: after each step a lane has the sum of twice as many. */
static __device__ float warp_sum(float sum)
{
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    return sum;
}

/* ------------------------------------------------------------------ kernel */

extern "C" __global__ void __launch_bounds__(THREADS)
vector_sum(const float *x_gmem, float *sum_gmem, int n)
{
    __shared__ struct smem smem;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    float sum = warp_sum(thread_sum(x_gmem, n));
    if (lane == 0)
        smem.warp[warp] = sum;
    __syncthreads();                    /* every warp's sum is there */

    if (warp == 0) {
        sum = warp_sum(lane < WARPS ? smem.warp[lane] : 0);
        if (lane == 0)
            smem.cta = sum;
    }
    cluster_sync();                     /* every CTA's sum is there */

    if (cluster_ctarank() == 0 && warp == 0) {
        sum = warp_sum(lane < cluster_nctarank() ? ld_shared_cluster_f32(mapa_shared_cluster(&smem.cta, lane)) : 0);
        if (lane == 0)
            atomicAdd(sum_gmem, sum);
    }
    cluster_sync();                     /* nobody leaves while its sum may still be read */
}

/* ------------------------------------------------------------------ launcher */

/* As many clusters as the GPU holds at a time, each as large as it allows: eight CTAs, or one if it has no clusters. */
extern "C" cudaError_t launch_vector_sum(const float *x_gmem, float *sum_gmem, int n, cudaStream_t stream)
{
    int cluster = 1, clusters = 1;
    cudaLaunchAttribute size = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &size;
    cudaOccupancyMaxPotentialClusterSize(&cluster, vector_sum, &config);

    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = { (unsigned)cluster, 1, 1 };
    config.numAttrs = 1;
    config.gridDim = cluster;
    cudaOccupancyMaxActiveClusters(&clusters, vector_sum, &config);

    const int needed = tiles_to_cover(n, BLOCK * cluster);
    config.gridDim = cluster * (needed < clusters ? needed : clusters);
    cudaMemsetAsync(sum_gmem, 0, sizeof *sum_gmem, stream);
    return cudaLaunchKernelEx(&config, vector_sum, x_gmem, sum_gmem, n);
}
