/* wgmma_operands.cu: what the operands beside the matrices do: scale-d, negated A and B, transposed A and B, each with A from
 * shared memory and from registers; several multiplications in one group, on one set of accumulators and on two. */
#define ONE(F, name, types, list, registers, d, t, a, tail) F(name, GROUP(MULTIPLY("wgmma.mma_async", "m64n32" types, list, a, "", tail)), \
    32, registers, d, t, t, -1)
#define FULL TENS1 ", " TO6(1)
#define HALF TO8()
#define SIGNS(F, types, list, registers, d, t, a, trans, place)                                                       \
    ONE(F, types place " 1, 1" trans, types, list, registers, d, t, a, ", 1, 1" trans)                                \
    ONE(F, types place " -1, 1" trans, types, list, registers, d, t, a, ", -1, 1" trans)                              \
    ONE(F, types place " 1, -1" trans, types, list, registers, d, t, a, ", 1, -1" trans)                              \
    ONE(F, types place " -1, -1" trans, types, list, registers, d, t, a, ", -1, -1" trans)
#define TURNED(F, types, list, registers, d, t) SIGNS(F, types, list, registers, d, t, A_DESCRIPTOR, ", 0, 0", " shared")   \
    SIGNS(F, types, list, registers, d, t, A_DESCRIPTOR, ", 0, 1", " shared") SIGNS(F, types, list, registers, d, t, A_DESCRIPTOR, ", 1, 0", " shared") \
    SIGNS(F, types, list, registers, d, t, A_DESCRIPTOR, ", 1, 1", " shared") SIGNS(F, types, list, registers, d, t, A_REGISTERS, ", 0", " registers") \
    SIGNS(F, types, list, registers, d, t, A_REGISTERS, ", 1", " registers")
#define STRAIGHT(F, types, list, registers, d, t) SIGNS(F, types, list, registers, d, t, A_DESCRIPTOR, "", " shared") \
    SIGNS(F, types, list, registers, d, t, A_REGISTERS, "", " registers")
#define PLAIN(F, types, t) ONE(F, types " shared", types, FULL, 16, s32, t, A_DESCRIPTOR, "")                         \
    ONE(F, types " registers", types, FULL, 16, s32, t, A_REGISTERS, "")
/* Two rows of accumulators in turns: the lower 16 registers and the next 16. */
#define NEXT "%16, %17, %18, %19, " TENS3_FROM_20
#define TENS3_FROM_20 TO10(2) ", %30, %31"
#define TURN(F, types, d, t, trans) F(types " in turns", GROUP(                                                      \
    MULTIPLY("wgmma.mma_async", "m64n32" types, FULL, A_DESCRIPTOR, "", ", 1, 1" trans)                              \
    MULTIPLY("wgmma.mma_async", "m64n32" types, NEXT, A_DESCRIPTOR, "", ", -1, 1" trans)                             \
    MULTIPLY("wgmma.mma_async", "m64n32" types, FULL, A_DESCRIPTOR, "", ", 1, -1" trans)                             \
    MULTIPLY("wgmma.mma_async", "m64n32" types, FULL, A_DESCRIPTOR, "", ", 1, 1" trans)                              \
    MULTIPLY("wgmma.mma_async", "m64n32" types, NEXT, A_DESCRIPTOR, "", ", 1, 1" trans)), 32, 32, d, t, t, -1)
#define WGMMA_FORMS(F) TURNED(F, "k16.f32.f16.f16", FULL, 16, f32, f16) TURNED(F, "k16.f16.f16.f16", HALF, 8, f16, f16) \
    TURNED(F, "k16.f32.bf16.bf16", FULL, 16, f32, bf16) STRAIGHT(F, "k8.f32.tf32.tf32", FULL, 16, f32, tf32)          \
    STRAIGHT(F, "k32.f32.e4m3.e4m3", FULL, 16, f32, e4m3) STRAIGHT(F, "k32.f16.e5m2.e5m2", HALF, 8, f16, e5m2)        \
    PLAIN(F, "k32.s32.s8.s8", s8) PLAIN(F, "k32.s32.u8.u8.satfinite", u8) PLAIN(F, "k256.s32.b1.b1.and.popc", b1)     \
    TURN(F, "k16.f32.f16.f16", f32, f16, ", 0, 0") TURN(F, "k8.f32.tf32.tf32", f32, tf32, "") TURN(F, "k32.f32.e4m3.e4m3", f32, e4m3, "")
#include "wgmma.h"

int main()
{
    const int sorts[] = { INTEGERS, MODERATE, ANY_BITS };
    for (int number = 0; number < NUMBER_OF_FORMS; number++)
        for (int sort : sorts)
            for (int scale = 0; scale < 2; scale++) {
                if (sort == MODERATE && forms[number].a.exponent == 0)
                    continue;
                printf("%s, scale-d %d: ", sort_names[sort], scale);
                print_words(forms[number].text, run(number, random_input(forms[number], sort, 2), plain_a, plain_b(forms[number]), scale), false);
            }
    return 0;
}
