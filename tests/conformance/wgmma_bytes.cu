/* wgmma_bytes.cu: every n of fp8, of bytes and of single bits: a product with A from shared memory, then one with A from
 * registers added to it. */
#define PAIR(F, n, k, types, list, registers, d, a, b, tail) F("m64n" #n k types, GROUP(                              \
    MULTIPLY("wgmma.mma_async", "m64n" #n k types, list, A_DESCRIPTOR, "", tail)                                    \
    MULTIPLY("wgmma.mma_async", "m64n" #n k types, list, A_REGISTERS, "", tail)), n, registers, d, a, b, -1)
#define FP8(F, n, full, half, a, b) PAIR(F, n, "k32", ".f32." #a "." #b, full, n / 2, f32, a, b, ", 1, 1")          \
    PAIR(F, n, "k32", ".f16." #a "." #b, half, n / 4, f16, a, b, ", 1, 1")
#define FLOATS(n, full, half, F) FP8(F, n, full, half, e4m3, e4m3) FP8(F, n, full, half, e4m3, e5m2)                \
    FP8(F, n, full, half, e5m2, e4m3) FP8(F, n, full, half, e5m2, e5m2)
#define BYTES(n, full, half, F) PAIR(F, n, "k32", ".s32.s8.s8", full, n / 2, s32, s8, s8, "")                        \
    PAIR(F, n, "k32", ".s32.s8.u8", full, n / 2, s32, s8, u8, "")                                                   \
    PAIR(F, n, "k32", ".s32.u8.s8.satfinite", full, n / 2, s32, u8, s8, "")                                         \
    PAIR(F, n, "k32", ".s32.u8.u8.satfinite", full, n / 2, s32, u8, u8, "")
#define BITS(n, full, half, F) PAIR(F, n, "k256", ".s32.b1.b1.and.popc", full, n / 2, s32, b1, b1, "")
#define WGMMA_FORMS(F) EACH_N(FLOATS, F) WHOLE_N(BYTES, F) WHOLE_N(BITS, F) WIDE_N(BITS, F)
#include "wgmma.h"

int main(int argc, char **argv)
{
    const int sorts[] = { INTEGERS, MODERATE, ANY_BITS };
    run_sorts(argc, argv, sorts, 3, 1);
    return 0;
}
