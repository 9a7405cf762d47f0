/* wgmma_shapes.cu: every n of the 16- and 32-bit types: a product with A from shared memory, then one with A from registers
 * added to it. */
#define PAIR(F, n, k, types, list, registers, d, t, ss, rs) F("m64n" #n k types, GROUP(                                          \
    MULTIPLY("wgmma.mma_async", "m64n" #n k types, list, A_DESCRIPTOR, "", ss)                                      \
    MULTIPLY("wgmma.mma_async", "m64n" #n k types, list, A_REGISTERS, "", rs)), n, registers, d, t, t, -1)
#define HALVES(n, full, half, F) PAIR(F, n, "k16", ".f32.f16.f16", full, n / 2, f32, f16, ", 1, 1, 0, 0", ", 1, 1, 0") \
    PAIR(F, n, "k16", ".f16.f16.f16", half, n / 4, f16, f16, ", 1, 1, 0, 0", ", 1, 1, 0")                             \
    PAIR(F, n, "k16", ".f32.bf16.bf16", full, n / 2, f32, bf16, ", 1, 1, 0, 0", ", 1, 1, 0")                          \
    PAIR(F, n, "k8", ".f32.tf32.tf32", full, n / 2, f32, tf32, ", 1, 1", ", 1, 1")
#define WGMMA_FORMS(F) EACH_N(HALVES, F)
#include "wgmma.h"

int main(int argc, char **argv)
{
    const int sorts[] = { INTEGERS, MODERATE };
    run_sorts(argc, argv, sorts, 2, 1);
    return 0;
}
