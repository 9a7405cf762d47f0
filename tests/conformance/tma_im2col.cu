/* tma_im2col.cu: tensor loads in im2col mode, 3 to 5 dimensions: filters of several sizes with padding, dilation and
 * stride, every tap of them, columns that wrap from row to row and from image to image, and run past the last image; and
 * stores of such columns. */
#include "tma.h"

/* A convolution: size of the image, of the filter, its padding, dilation, stride; `dims` of each. */
struct filter { unsigned rank; int size[3], taps[3], pad[3], dilation[3], step[3]; unsigned pixels; };

static const struct filter filters[] = {
    { 4, { 9, 7 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 64 },
    { 4, { 9, 7 }, { 3, 3 }, { 0, 0 }, { 1, 1 }, { 1, 1 }, 40 },
    { 4, { 8, 8 }, { 3, 2 }, { 1, 0 }, { 2, 3 }, { 1, 1 }, 56 },
    { 4, { 9, 8 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, 32 },
    { 4, { 10, 9 }, { 1, 1 }, { 0, 0 }, { 1, 1 }, { 3, 2 }, 48 },
    { 3, { 19 }, { 5 }, { 2 }, { 1 }, { 1 }, 64 },
    { 3, { 20 }, { 3 }, { 1 }, { 3 }, { 4 }, 24 },
    { 5, { 5, 4, 3 }, { 3, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, 96 },
    { 5, { 6, 5, 4 }, { 2, 3, 2 }, { 0, 1, 1 }, { 2, 1, 1 }, { 2, 1, 2 }, 33 },
};

static tensor tensor_of(const filter &f, unsigned swizzle)
{
    static const unsigned channels[] = { 24, 16, 32, 64 };
    tensor t;
    t.rank = f.rank, t.swizzle = (CUtensorMapSwizzle)swizzle, t.channels = channels[swizzle], t.pixels = f.pixels;
    t.dim[0] = 72, t.dim[f.rank - 1] = 3;
    for (unsigned d = 1; d + 1 < f.rank; d++) {
        t.dim[d] = f.size[d - 1], t.step[d] = f.step[d - 1];
        t.lower[d - 1] = -f.pad[d - 1];
        t.upper[d - 1] = f.pad[d - 1] - (f.taps[d - 1] - 1) * f.dilation[d - 1];
    }
    return t;
}

/* Every tap of the filter; the base is somewhere in the image that `image` names. */
static void series(const char *name, const filter &f, unsigned swizzle, bool show)
{
    tensor t = tensor_of(f, swizzle);
    uint64_t *gmem = device_words(t.bytes(), f.rank);
    CUtensorMap map = t.map(gmem);
    values all;
    for (int image = -1; image < 4; image++)
        for (int tap = 0; tap < f.taps[0] * (f.rank > 3 ? f.taps[1] : 1) * (f.rank > 4 ? f.taps[2] : 1); tap++) {
            place at = {};
            int left = tap;
            at.c[0] = image * 8, at.c[f.rank - 1] = image;
            for (unsigned d = 0; d + 2 < f.rank; d++) {
                at.c[d + 1] = t.lower[d] + f.step[d] * ((tap + image + 1) % 2);
                at.offset[d] = left % f.taps[d] * f.dilation[d];
                left /= f.taps[d];
            }
            values words = load(t, map, at, (t.box_bytes() + 127) / 128 * 128 + 128);
            append(&all, words);
            if (show)
                print_words("column", words);
        }
    print_results(name, all.data(), all.size());
    CHECKED(cudaFree(gmem));
}

#undef C3
#undef C4
#undef C5
#define C3 "{%2, %3, %4}"
#define C4 "{%2, %3, %4, %5}"
#define C5 "{%2, %3, %4, %5, %6}"
#define STORE(d, kind) asm volatile(kind ".im2col_no_offs.bulk_group [%0, " C##d "], [%1];" \
    :: "l"(&map), "r"(smem_address(tile)), "r"(at.c[0]), "r"(at.c[1]), "r"(at.c[2]), "r"(at.c[3]), "r"(at.c[4]) : "memory")

__global__ void run_store(const __grid_constant__ CUtensorMap map, unsigned rank, bool reduce, place at, const uint64_t *from)
{
    __shared__ alignas(1024) uint64_t tile[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        tile[i] = from[i];
    fence_async();
    __syncthreads();
    if (threadIdx.x)
        return;
    switch (rank + (reduce ? 10 : 0)) {
    case 3: STORE(3, "cp.async.bulk.tensor.3d.global.shared::cta"); break;
    case 4: STORE(4, "cp.async.bulk.tensor.4d.global.shared::cta"); break;
    case 5: STORE(5, "cp.async.bulk.tensor.5d.global.shared::cta"); break;
    case 13: STORE(3, "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add"); break;
    case 14: STORE(4, "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add"); break;
    case 15: STORE(5, "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add"); break;
    }
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

/* The bounding box of a store is the image, or part of it. */
static void store_series(unsigned rank, bool reduce, bool show)
{
    tensor t;
    t.type = CU_TENSOR_MAP_DATA_TYPE_UINT32, t.element = 4;
    t.rank = rank, t.channels = 32, t.pixels = 50, t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    t.dim[0] = 40, t.dim[1] = 6, t.dim[2] = 5, t.dim[3] = 4, t.dim[rank - 1] = 3;
    for (unsigned d = 0; d + 2 < rank; d++)
        t.lower[d] = d % 2, t.upper[d] = -1;
    uint64_t *from = device_words(8192, 9);
    values all;
    for (int image = 0; image < 3; image++) {
        uint64_t *gmem = device_words(t.bytes(), 10);
        place at = {};
        at.c[0] = image * 4, at.c[1] = 2, at.c[rank - 1] = image;
        if (rank > 3)
            at.c[2] = 1;
        run_store<<<1, 128>>>(t.map(gmem), rank, reduce, at, from);
        CHECKED(cudaGetLastError());
        append(&all, host_words(gmem, t.bytes() / 8));
        CHECKED(cudaFree(gmem));
    }
    char name[60];
    snprintf(name, sizeof name, "%s, %ud", reduce ? "add" : "store", rank);
    if (show)
        print_words(name, all);
    print_results(name, all.data(), all.size());
    CHECKED(cudaFree(from));
}

int main(int argc, char **argv)
{
    char name[60];
    for (unsigned i = 0; i < sizeof filters / sizeof filters[0]; i++)
        for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
            snprintf(name, sizeof name, "filter %u, %ud, swizzle %u", i, filters[i].rank, swizzle);
            series(name, filters[i], swizzle, verbose(argc, argv));
        }
    for (unsigned rank = 3; rank <= 5; rank++)
        for (int reduce = 0; reduce < 2; reduce++)
            store_series(rank, reduce, verbose(argc, argv));
    return 0;
}
