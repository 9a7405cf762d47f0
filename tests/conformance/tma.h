/* tma.h: what the conformance programs of the copy engine share: tensors in global memory, their maps, and a kernel that
 * loads one box into shared memory and hands back all of that memory. One line is printed for a series of boxes: how many
 * 64-bit words came back, their hash, the first of them. `program -v` prints the words of each box. */
#ifndef CONFORMANCE_TMA_H
#define CONFORMANCE_TMA_H

#include <cuda.h>

#include "conformance.h"

#define COMPLETE "mbarrier::complete_tx::bytes"

/* ---------------------------------------------------------------- maps */
static inline void *driver_function(const char *name)
{
    void *function = NULL;
    cudaDriverEntryPointQueryResult found;
    CHECKED(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    if (!function) {
        printf("%s: not there\n", name);
        exit(1);
    }
    return function;
}

struct tensor {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    unsigned rank = 2, element = 2;         /* bytes */
    cuuint64_t dim[5] = { 1, 1, 1, 1, 1 };
    cuuint64_t padding = 0;                 /* bytes behind each row, beyond the multiple of 16 that it takes */
    cuuint32_t box[5] = { 1, 1, 1, 1, 1 }, step[5] = { 1, 1, 1, 1, 1 };
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    int lower[3] = { 0, 0, 0 }, upper[3] = { 0, 0, 0 };     /* im2col */
    unsigned channels = 0, pixels = 0;                      /* im2col when pixels != 0 */

    cuuint64_t stride(unsigned d) const     /* bytes from one element of dimension d to the next */
    {
        cuuint64_t s = (dim[0] * element + 15) / 16 * 16 + padding;
        for (unsigned i = 1; i < d; i++)
            s *= dim[i];
        return s;
    }
    size_t bytes() const { return rank == 1 ? (dim[0] * element + 15) / 16 * 16 : stride(rank - 1) * dim[rank - 1]; }
    unsigned row() const { return (pixels ? channels : box[0]) * element; }
    unsigned rows() const
    {
        unsigned n = 1;
        for (unsigned d = 1; d < rank; d++)
            n *= (box[d] + step[d] - 1) / step[d];
        return pixels ? pixels : n;
    }
    unsigned box_bytes() const { return rows() * row(); }
    CUresult encode(CUtensorMap *map, void *address) const
    {
        static auto tiled = (decltype(&cuTensorMapEncodeTiled))driver_function("cuTensorMapEncodeTiled");
        static auto im2col = (decltype(&cuTensorMapEncodeIm2col))driver_function("cuTensorMapEncodeIm2col");
        const cuuint64_t strides[4] = { stride(1), stride(2), stride(3), stride(4) };
        return pixels ? im2col(map, type, rank, address, dim, strides, lower, upper, channels, pixels, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill)
                      : tiled(map, type, rank, address, dim, strides, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    }
    CUtensorMap map(void *address) const
    {
        CUtensorMap m;
        CUresult error = encode(&m, address);
        if (error != CUDA_SUCCESS) {
            printf("the map was refused: %d\n", error);
            exit(1);
        }
        return m;
    }
};

/* A tensor's bytes, different from one another, at the start of a buffer of device memory. */
static inline uint64_t *device_words(size_t bytes, uint64_t seed)
{
    values words((bytes + 7) / 8);
    for (size_t i = 0; i < words.size(); i++)
        words[i] = random_bits(seed + i);
    uint64_t *device;
    CHECKED(cudaMalloc(&device, words.size() * 8));
    CHECKED(cudaMemcpy(device, words.data(), words.size() * 8, cudaMemcpyHostToDevice));
    return device;
}

static inline values host_words(const uint64_t *device, size_t n)
{
    values words(n);
    CHECKED(cudaMemcpy(words.data(), device, n * 8, cudaMemcpyDeviceToHost));
    return words;
}

/* ---------------------------------------------------------------- device */
struct place { int c[5]; unsigned short offset[3]; };

__device__ static inline unsigned smem_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ static inline void barrier_init(unsigned bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" :: "r"(bar), "r"(count) : "memory");
}

__device__ static inline void barrier_expect(unsigned bar, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory");
}

/* Waits for phase 0, but not for ever. */
__device__ static inline bool barrier_wait(unsigned bar)
{
    unsigned done = 0;
    for (int i = 0; i < 100 && !done; i++)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 100000; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(bar) : "memory");
    return done;
}

__device__ static inline void fence_async(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

#define C1 "{%3}"
#define C2 "{%3, %4}"
#define C3 "{%3, %4, %5}"
#define C4 "{%3, %4, %5, %6}"
#define C5 "{%3, %4, %5, %6, %7}"
#define TENSOR_LOAD(d, coordinates, mode, info) \
    asm volatile("cp.async.bulk.tensor." #d "d.shared::cluster.global." mode COMPLETE " [%0], [%1, " coordinates "], [%2]" info ";" \
                 :: "r"(dst), "l"(map), "r"(bar), "r"(at.c[0]), "r"(at.c[1]), "r"(at.c[2]), "r"(at.c[3]), "r"(at.c[4]), \
                    "h"(at.offset[0]), "h"(at.offset[1]), "h"(at.offset[2]) : "memory")

__device__ static inline void load_box(unsigned dst, const CUtensorMap *map, unsigned bar, unsigned rank, bool im2col, const place &at)
{
    switch (rank + (im2col ? 10 : 0)) {
    case 1: TENSOR_LOAD(1, C1, "", ""); break;
    case 2: TENSOR_LOAD(2, C2, "", ""); break;
    case 3: TENSOR_LOAD(3, C3, "", ""); break;
    case 4: TENSOR_LOAD(4, C4, "", ""); break;
    case 5: TENSOR_LOAD(5, C5, "", ""); break;
    case 13: TENSOR_LOAD(3, C3, "im2col.", ", {%8}"); break;
    case 14: TENSOR_LOAD(4, C4, "im2col.", ", {%8, %9}"); break;
    case 15: TENSOR_LOAD(5, C5, "im2col.", ", {%8, %9, %10}"); break;
    }
}

/* Everything in `words` words of shared memory, from `skew` bytes after a multiple of 1024 on, goes to `out`, then 1 if
 * the barrier completed. */
__global__ void run_load(const __grid_constant__ CUtensorMap map, unsigned rank, bool im2col, place at, unsigned bytes, unsigned skew,
                         unsigned words, uint64_t *out)
{
    extern __shared__ __align__(1024) uint64_t tile[];
    __shared__ alignas(8) uint64_t full;
    unsigned bar = smem_address(&full);
    uint64_t *start = tile + ((1024 - smem_address(tile) % 1024) % 1024 + skew) / 8;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        start[i] = 0x5555555555555555;
    fence_async();
    if (threadIdx.x == 0)
        barrier_init(bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(bar, bytes);
        load_box(smem_address(start), &map, bar, rank, im2col, at);
    }
    bool done = barrier_wait(bar);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        out[i] = start[i];
    out[words] = done;
}

/* ---------------------------------------------------------------- series of boxes */
enum { SMEM = 40 * 1024 };

static inline bool verbose(int argc, char **argv) { return argc > 1 && !strcmp(argv[1], "-v"); }

/* What a box leaves in `extent` bytes of shared memory. */
static inline values load(const tensor &t, const CUtensorMap &map, const place &at, unsigned extent, unsigned skew = 0, unsigned bytes = 0)
{
    static uint64_t *out = device_words(SMEM + 8, 0);
    run_load<<<1, 128, SMEM>>>(map, t.rank, t.pixels != 0, at, bytes ? bytes : t.box_bytes(), skew, extent / 8, out);
    CHECKED(cudaGetLastError());
    return host_words(out, extent / 8 + 1);
}

static inline void append(values *to, const values &from) { to->insert(to->end(), from.begin(), from.end()); }

static inline void print_words(const char *what, const values &words)
{
    printf("    %s:", what);
    for (size_t i = 0; i < words.size(); i++)
        printf("%s%016llx", i % 8 ? " " : "\n      ", (unsigned long long)words[i]);
    printf("\n");
}

#endif
