/* halves.cu: exact arithmetic of f16 and bf16, single and packed. */
#define BINARY(F, op, t) F(op "." #t " %0, %1, %2;", t, t, t, none)
#define TERNARY(F, op, t) F(op "." #t " %0, %1, %2, %3;", t, t, t, t)
#define UNARY(F, op, t) F(op "." #t " %0, %1;", t, t, none, none)
#define HALF(F, op, t) BINARY(F, op, t) BINARY(F, op ".rn", t) BINARY(F, op ".ftz", t) BINARY(F, op ".sat", t) BINARY(F, op ".rn.ftz.sat", t)
#define FMA(F, t) TERNARY(F, "fma.rn", t) TERNARY(F, "fma.rn.ftz", t) TERNARY(F, "fma.rn.sat", t) TERNARY(F, "fma.rn.ftz.sat", t) \
    TERNARY(F, "fma.rn.relu", t) TERNARY(F, "fma.rn.ftz.relu", t)
#define MINMAX(F, op, t) BINARY(F, op, t) BINARY(F, op ".NaN", t) BINARY(F, op ".xorsign.abs", t) BINARY(F, op ".NaN.xorsign.abs", t)
#define ALL(F, t) HALF(F, "add", t) HALF(F, "sub", t) HALF(F, "mul", t) FMA(F, t) MINMAX(F, "min", t) MINMAX(F, "max", t) \
    BINARY(F, "min.ftz", t) BINARY(F, "max.ftz.NaN", t) UNARY(F, "abs", t) UNARY(F, "neg", t) UNARY(F, "abs.ftz", t) UNARY(F, "neg.ftz", t)
#define BRAIN(F, t) BINARY(F, "add.rn", t) BINARY(F, "sub.rn", t) BINARY(F, "mul.rn", t) TERNARY(F, "fma.rn", t) \
    TERNARY(F, "fma.rn.relu", t) MINMAX(F, "min", t) MINMAX(F, "max", t) UNARY(F, "abs", t) UNARY(F, "neg", t)
#define OUT(F, t) TERNARY(F, "fma.rn.oob", t) TERNARY(F, "fma.rn.oob.relu", t)

#define FORMS(F) ALL(F, f16) ALL(F, f16x2) BRAIN(F, bf16) BRAIN(F, bf16x2) OUT(F, f16) OUT(F, f16x2) OUT(F, bf16) OUT(F, bf16x2)

#include "conformance.h"
