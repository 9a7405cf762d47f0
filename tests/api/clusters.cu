/* What the API says about clusters: how many fit, the largest size, sizes that need permission; launch attributes. */
#include "api.h"

__global__ void ranks(unsigned *out)
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    out[blockIdx.x] = rank;
}

static cudaLaunchAttribute cluster_of(unsigned n)
{
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = n, a.val.clusterDim.y = 1, a.val.clusterDim.z = 1;
    return a;
}

static cudaLaunchConfig_t config_of(unsigned grid, unsigned block, cudaLaunchAttribute *attributes, unsigned n)
{
    cudaLaunchConfig_t c = {};
    c.gridDim = grid, c.blockDim = block, c.attrs = attributes, c.numAttrs = n;
    return c;
}

/* Launches clusters of n and looks at every CTA's rank. */
static bool launch(unsigned *out, unsigned n)
{
    unsigned seen[32];
    cudaLaunchAttribute a = cluster_of(n);
    cudaLaunchConfig_t c = config_of(32, 64, &a, 1);
    if (cudaLaunchKernelEx(&c, ranks, out) != cudaSuccess || cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
    for (unsigned i = 0; i < 32; i++)
        if (seen[i] != i % n)
            return false;
    return true;
}

static void sizes(unsigned *out)
{
    int n = 0, before = 1 << 30;
    cudaLaunchAttribute a = cluster_of(16);
    cudaLaunchConfig_t c = config_of(32, 64, &a, 1);
    EXPECT(launch(out, 1) && launch(out, 2) && launch(out, 4) && launch(out, 8));
    OK(cudaOccupancyMaxPotentialClusterSize(&n, (const void *)ranks, &c));
    EXPECT(n == 8);
    GIVES(cudaOccupancyMaxActiveClusters(&n, (const void *)ranks, &c), cudaErrorInvalidClusterSize);
    GIVES(cudaLaunchKernelEx(&c, ranks, out), cudaErrorInvalidClusterSize);
    GIVES(cudaGetLastError(), cudaErrorInvalidClusterSize);
    OK(cudaFuncSetAttribute((const void *)ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    OK(cudaOccupancyMaxPotentialClusterSize(&n, (const void *)ranks, &c));
    EXPECT(n == 16);
    EXPECT(launch(out, 16));
    for (unsigned size = 1; size <= 16; size *= 2) {
        a = cluster_of(size);
        OK(cudaOccupancyMaxActiveClusters(&n, (const void *)ranks, &c));
        EXPECT(n > 0 && n < before);
        before = n;
    }
    a = cluster_of(32);
    EXPECT(cudaLaunchKernelEx(&c, ranks, out) != cudaSuccess && cudaGetLastError() != cudaSuccess);
    a = cluster_of(3);
    EXPECT(cudaLaunchKernelEx(&c, ranks, out) != cudaSuccess && cudaGetLastError() != cudaSuccess);     /* 32 is no multiple */
    EXPECT(launch(out, 2));                     /* none of that is sticky */
}

static void attributes(unsigned *out)
{
    cudaLaunchAttribute a[3] = {};
    cudaLaunchConfig_t c = config_of(32, 64, a, 3);
    a[0].id = cudaLaunchAttributePriority;      /* known, and without effect here */
    a[1].id = cudaLaunchAttributeMemSyncDomain;
    a[2].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
    OK(cudaLaunchKernelEx(&c, ranks, out));
    a[1].id = (cudaLaunchAttributeID)77;        /* unknown: never taken silently */
    GIVES(cudaLaunchKernelEx(&c, ranks, out), cudaErrorInvalidValue);
    GIVES(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaDeviceSynchronize());
}

int main()
{
    unsigned *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    sizes(out);
    attributes(out);
    return report();
}
