/* tma_narrow.cu: boxes that are narrower than their swizzle, whose rows lie at the swizzle's width; and boxes that do not
 * begin where the swizzle's pattern does. */
#include "tma.h"

int main(int argc, char **argv)
{
    static const unsigned spans[] = { 0, 32, 64, 128 };
    char name[100];
    for (unsigned swizzle = 1; swizzle < 4; swizzle++) {
        tensor t;
        t.swizzle = (CUtensorMapSwizzle)swizzle;
        t.dim[0] = 88, t.dim[1] = 40, t.box[1] = 24;
        uint64_t *gmem = device_words(t.bytes(), swizzle);
        for (unsigned width = 16; width < spans[swizzle]; width += 16) {
            t.box[0] = width / 2;
            values words = load(t, t.map(gmem), place{ { 8, 3 } }, 24 * spans[swizzle] + 128);
            snprintf(name, sizeof name, "swizzle %u, rows of %u bytes", swizzle, width);
            if (verbose(argc, argv))
                print_words(name, words);
            print_results(name, words.data(), words.size());
        }
        t.box[0] = spans[swizzle] / 2;
        for (unsigned skew = 0; skew < 1024; skew += 128) {
            values words = load(t, t.map(gmem), place{ { 8, 3 } }, 24 * spans[swizzle] + 128, skew);
            snprintf(name, sizeof name, "swizzle %u, from %u on", swizzle, skew);
            print_results(name, words.data(), words.size());
        }
    }
    return 0;
}
