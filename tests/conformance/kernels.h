/* conformance/kernels.h: runs a list of kernels, each kernel(in, out) on a grid of its own shape, and prints one line for
 * each: its name, the number of results, their hash, some of them. `program NAME` prints all results of that kernel.
 */
#ifndef CONFORMANCE_KERNELS_H
#define CONFORMANCE_KERNELS_H

#include "conformance.h"

typedef const uint32_t *source;
typedef uint64_t *sink;

struct test {
    const char *name;
    void (*kernel)(source, sink);
    dim3 grid, block, cluster;      /* cluster.x == 0: launched without the attribute */
};

enum { INPUTS = 1 << 16, RESULTS = 1 << 16 };

__device__ static inline uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ static inline uint32_t cta(void) { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }

/* One more result into a sum that shows every bit of all of them. */
__device__ static inline uint64_t stir(uint64_t sum, uint64_t result)
{
    uint64_t x = (sum ^ result) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 29) + 1;
}

/* The thread's number in the grid. */
__device__ static inline uint32_t place(void) { return cta() * blockDim.x + threadIdx.x; }

static void launch(const test &t, source in, sink out)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = t.cluster.x, attribute.val.clusterDim.y = t.cluster.y, attribute.val.clusterDim.z = t.cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = t.grid, config.blockDim = t.block;
    config.attrs = &attribute, config.numAttrs = t.cluster.x > 0;
    if (t.cluster.x * t.cluster.y * t.cluster.z > 8)
        CHECKED(cudaFuncSetAttribute(t.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CHECKED(cudaLaunchKernelEx(&config, t.kernel, in, out));
}

/* Results are those up to the last that is not 0. */
static int run_tests(int argc, char **argv, const test *tests, size_t n)
{
    uint32_t *in;
    uint64_t *out;
    std::vector<uint32_t> numbers;
    for (int i = 0; i < INPUTS; i++)
        numbers.push_back((uint32_t)random_bits(i));
    CHECKED(cudaMalloc(&in, INPUTS * sizeof *in));
    CHECKED(cudaMalloc(&out, RESULTS * sizeof *out));
    CHECKED(cudaMemcpy(in, numbers.data(), INPUTS * sizeof *in, cudaMemcpyHostToDevice));
    for (size_t k = 0; k < n; k++) {
        CHECKED(cudaMemset(out, 0, RESULTS * sizeof *out));
        launch(tests[k], in, out);
        values results(RESULTS);
        CHECKED(cudaMemcpy(results.data(), out, RESULTS * sizeof *out, cudaMemcpyDeviceToHost));
        while (!results.empty() && results.back() == 0)
            results.pop_back();
        print_results(tests[k].name, results.data(), results.size());
        for (size_t i = 0; argc > 1 && strcmp(argv[1], tests[k].name) == 0 && i < results.size(); i++)
            printf("%zu: %llx\n", i, (unsigned long long)results[i]);
    }
    return 0;
}

#define RUN_TESTS(tests) int main(int argc, char **argv) { return run_tests(argc, argv, tests, sizeof tests / sizeof *tests); }

/* ---------------------------------------------------------------- clusters */
__device__ static inline uint32_t cluster_rank(void) { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ static inline uint32_t cluster_size(void) { uint32_t n; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n)); return n; }

/* Shared address of the same place in CTA `rank` of the cluster. */
__device__ static inline uint32_t map_rank(uint32_t address, uint32_t rank)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__device__ static inline void cluster_sync(void)
{
    __syncwarp();       /* .aligned: the lanes come together */
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* ---------------------------------------------------------------- mbarriers */
__device__ static inline void mbarrier_init(uint32_t bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" :: "r"(bar), "r"(count) : "memory");
}

__device__ static inline void wait_parity(uint32_t bar, uint32_t parity)
{
    uint32_t over = 0;
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(bar), "r"(parity) : "memory");
}

#endif
