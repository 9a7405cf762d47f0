/* tma_tile.cu: tensor loads in tile mode: every rank, element size and swizzle, with boxes that lie inside the tensor,
 * hang over each of its edges, or miss it; zeros for what is outside. */
#include "tma.h"

static const CUtensorMapDataType types[] = { CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                             CU_TENSOR_MAP_DATA_TYPE_UINT64 };
static const unsigned spans[] = { 64, 32, 64, 128 };       /* bytes across a box, by swizzle; none: any */

static tensor tensor_of(unsigned rank, unsigned size, unsigned swizzle)
{
    tensor t;
    t.type = types[size], t.element = 1 << size, t.rank = rank, t.swizzle = (CUtensorMapSwizzle)swizzle;
    for (unsigned d = 0; d < 5; d++) {
        t.dim[d] = d < rank ? (d ? 9 - d : 160 / t.element + 3) : 1;
        t.box[d] = d < rank ? (d ? (d < 3 ? 5 : 2) : spans[swizzle] / t.element) : 1;
    }
    t.padding = 16;
    return t;
}

/* Coordinates: in each dimension inside, over the low edge, over the high edge, or outside; all at once, and one by one. */
static place place_of(const tensor &t, unsigned which)
{
    place p = {};
    for (unsigned d = 0; d < t.rank; d++) {
        int step = d ? 1 : 16 / t.element, choice = which < 4 ? which : (which - 4) / 4 == d ? which % 4 : 0;
        int inside = step, low = -step, high = ((int)t.dim[d] - 1) / step * step, outside = high + (int)t.box[d] + step;
        p.c[d] = choice == 0 ? inside : choice == 1 ? low : choice == 2 ? high : outside;
    }
    return p;
}

static void series(const char *name, const tensor &t, bool show)
{
    uint64_t *gmem = device_words(t.bytes(), 1000 * t.rank + t.element);
    CUtensorMap map = t.map(gmem);
    values all;
    for (unsigned which = 0; which < 4 + 4 * t.rank; which++) {
        values words = load(t, map, place_of(t, which), (t.box_bytes() + 127) / 128 * 128 + 128);
        append(&all, words);
        if (show)
            print_words("box", words);
    }
    print_results(name, all.data(), all.size());
    CHECKED(cudaFree(gmem));
}

int main(int argc, char **argv)
{
    char name[100];
    for (unsigned rank = 1; rank <= 5; rank++)
        for (unsigned size = 0; size < 4; size++)
            for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
                tensor t = tensor_of(rank, size, swizzle);
                snprintf(name, sizeof name, "%ud, %u bytes, swizzle %u", rank, t.element, swizzle);
                series(name, t, verbose(argc, argv));
            }
    return 0;
}
