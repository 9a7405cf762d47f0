/* alu_double.c: f64: add sub mul fma mad in every rounding. */
#include "core/alu_fp.h"

static inline double rounded(enum soft_op op, double a, double b, double c, enum rounding r)
{
    return f64_of(soft(&format_f64, op, f64_bits(a), f64_bits(b), f64_bits(c), r));
}

static inline double fma_f64(double a, double b, double c)
{
#ifdef __FP_FAST_FMA
    return __builtin_fma(a, b, c);
#else
    return rounded(SOFT_FMA, a, b, c, ROUND_NEAREST);
#endif
}

HANDLER2(add_rn, double, double, double, result_f64(a + b, b, a, a))
HANDLER2(sub_rn, double, double, double, result_f64(a - b, b, a, a))
HANDLER2(mul_rn, double, double, double, result_f64(a * b, b, a, a))
HANDLER3(fma_rn, double, double, double, double, result_f64(fma_f64(a, b, c), b, c, a))
HANDLER2(add_directed, double, double, double, result_f64(rounded(SOFT_ADD, a, b, b, rounding_of(in)), b, a, a))
HANDLER2(sub_directed, double, double, double, result_f64(rounded(SOFT_SUB, a, b, b, rounding_of(in)), b, a, a))
HANDLER2(mul_directed, double, double, double, result_f64(rounded(SOFT_MUL, a, b, b, rounding_of(in)), b, a, a))
HANDLER3(fma_directed, double, double, double, double, result_f64(rounded(SOFT_FMA, a, b, c, rounding_of(in)), b, c, a))

exec_fn *pick_f64(struct instr *in)
{
    bool directed = rounding_of(in) != ROUND_NEAREST;
    if (!all_rows(in) || in->flags) return NULL;
    switch (in->op) {
    case OP_FADD: return directed ? add_directed : add_rn;
    case OP_FSUB: return directed ? sub_directed : sub_rn;
    case OP_FMUL: return directed ? mul_directed : mul_rn;
    default: return directed ? fma_directed : fma_rn;
    }
}
