/* tma_strides.cu: tensor loads in tile mode that take every second, third, … element of a dimension: boxes inside the
 * tensor and over its edges, and box sizes that the stride does not divide. */
#include "tma.h"

static tensor tensor_of(unsigned rank, unsigned step, unsigned odd)
{
    static const unsigned spans[] = { 64, 32, 64, 128 };
    tensor t;
    t.rank = rank, t.swizzle = (CUtensorMapSwizzle)(step % 4), t.padding = 16;
    t.dim[0] = 83, t.box[0] = spans[step % 4] / 2;
    for (unsigned d = 1; d < rank; d++) {
        t.dim[d] = 9 + d, t.step[d] = d % 2 ? step : (step + 1) / 2;
        t.box[d] = 2 * t.step[d] + odd;
    }
    return t;
}

static void series(const char *name, const tensor &t, bool show)
{
    uint64_t *gmem = device_words(t.bytes(), t.rank);
    CUtensorMap map = t.map(gmem);
    values all;
    for (int start = -3; start < 12; start += 2) {
        values words = load(t, map, place{ { 8 * start, start, start / 2, start, start / 2 } }, (t.box_bytes() + 127) / 128 * 128 + 128);
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
    for (unsigned odd = 0; odd < 2; odd++)
        for (unsigned rank = 2; rank <= 5; rank++)
            for (unsigned step = 2; step <= 8; step++) {
                snprintf(name, sizeof name, "%ud, element strides %u and %u, boxes of two strides%s", rank, step, (step + 1) / 2,
                         odd ? " and one" : "");
                series(name, tensor_of(rank, step, odd), verbose(argc, argv));
            }
    return 0;
}
