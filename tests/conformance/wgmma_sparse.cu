/* wgmma_sparse.cu: sparse A: every type, some n, each value of the selector, A from shared memory and from registers. */
#define SP(F, n, k, types, list, registers, d, a, b, sparsity, selector, ss, rs) F("m64n" #n k types " selector " selector, GROUP( \
    MULTIPLY("wgmma.mma_async.sp", "m64n" #n k types, list, A_DESCRIPTOR, ", " METADATA ", " selector, ss)           \
    MULTIPLY("wgmma.mma_async.sp", "m64n" #n k types, list, A_REGISTERS, ", " METADATA ", " selector, rs)), n, registers, d, a, b, sparsity)
#define HALVES(F, n, full, half, selector)                                                                            \
    SP(F, n, "k32", ".f32.f16.f16", full, n / 2, f32, f16, f16, 0, selector, ", 1, 1, 0, 0", ", 1, 1, 0")             \
    SP(F, n, "k32", ".f16.f16.f16", half, n / 4, f16, f16, f16, 0, selector, ", 1, 1, 0, 0", ", 1, 1, 0")             \
    SP(F, n, "k32", ".f32.bf16.bf16", full, n / 2, f32, bf16, bf16, 0, selector, ", 1, 1, 0, 0", ", 1, 1, 0")         \
    SP(F, n, "k16", ".f32.tf32.tf32", full, n / 2, f32, tf32, tf32, 1, selector, ", 1, 1", ", 1, 1")
#define FP8(F, n, full, half, a, b) SP(F, n, "k64", ".f32." #a "." #b, full, n / 2, f32, a, b, 0, "0", ", 1, 1", ", 1, 1") \
    SP(F, n, "k64", ".f16." #a "." #b, half, n / 4, f16, a, b, 0, "0", ", 1, -1", ", -1, 1")
#define BYTES(F, n, full, a, b, sat) SP(F, n, "k64", ".s32." #a "." #b sat, full, n / 2, s32, a, b, 0, "0", "", "")
#define ALL(n, full, half, F) HALVES(F, n, full, half, "0") HALVES(F, n, full, half, "1")                             \
    FP8(F, n, full, half, e4m3, e4m3) FP8(F, n, full, half, e4m3, e5m2) FP8(F, n, full, half, e5m2, e4m3) FP8(F, n, full, half, e5m2, e5m2) \
    BYTES(F, n, full, s8, s8, "") BYTES(F, n, full, s8, u8, ".satfinite") BYTES(F, n, full, u8, s8, "") BYTES(F, n, full, u8, u8, ".satfinite")
/* A and B the other way, B alone, negated. */
#define TURNED(F, name, types, list, registers, d, t, a, tail) F(name, GROUP(                                         \
    MULTIPLY("wgmma.mma_async.sp", "m64n64k32" types, list, a, ", " METADATA ", 0", tail)), 64, registers, d, t, t, 0)
#define WAYS(F, types, list, registers, d, t) TURNED(F, types " MN-major A", types, list, registers, d, t, A_DESCRIPTOR, ", 1, 1, 1, 0") \
    TURNED(F, types " MN-major B", types, list, registers, d, t, A_DESCRIPTOR, ", -1, 1, 0, 1")                      \
    TURNED(F, types " both MN-major", types, list, registers, d, t, A_DESCRIPTOR, ", 1, -1, 1, 1")                   \
    TURNED(F, types " A in registers, MN-major B", types, list, registers, d, t, A_REGISTERS, ", -1, -1, 1")
#define FULL64 TENS3 ", " TO2(3)
#define HALF64 TENS1 ", " TO6(1)
#define WGMMA_FORMS(F) ALL(8, TO4(), TO2(), F) ALL(24, TENS1 ", " TO2(1), TO6(), F) ALL(64, FULL64, HALF64, F) ALL(128, TENS6 ", " TO4(6), FULL64, F) \
    HALVES(F, 256, TENS12 ", " TO8(12), TENS6 ", " TO4(6), "1") FP8(F, 256, TENS12 ", " TO8(12), TENS6 ", " TO4(6), e4m3, e5m2) \
    FP8(F, 40, TENS2, TO10(), e4m3, e5m2) BYTES(F, 224, TENS11 ", " TO2(11), s8, u8, "") BYTES(F, 256, TENS12 ", " TO8(12), s8, s8, "") \
    BYTES(F, 240, TENS12, u8, u8, "") WAYS(F, ".f32.f16.f16", FULL64, 32, f32, f16) WAYS(F, ".f16.f16.f16", HALF64, 16, f16, f16) \
    WAYS(F, ".f32.bf16.bf16", FULL64, 32, f32, bf16)
#include "wgmma.h"

int main(int argc, char **argv)
{
    const int sorts[] = { INTEGERS, MODERATE, ANY_BITS, SPREAD, CANCELLATION, BOUNDARY, SUBNORMAL };
    run_sorts(argc, argv, sorts, SORTS, 2);
    return 0;
}
