/* floats.cu: exact f32 and f64 arithmetic in every rounding, with .ftz and .sat. */
#define B32(F, op) F(op ".f32 %0, %1, %2;", f32, f32, f32, none)
#define B64(F, op) F(op ".f64 %0, %1, %2;", f64, f64, f64, none)
#define T32(F, op) F(op ".f32 %0, %1, %2, %3;", f32, f32, f32, f32)
#define T64(F, op) F(op ".f64 %0, %1, %2, %3;", f64, f64, f64, f64)
#define U32(F, op) F(op ".f32 %0, %1;", f32, f32, none, none)
#define U64(F, op) F(op ".f64 %0, %1;", f64, f64, none, none)
#define ROUNDINGS(M, F, op) M(F, op ".rn") M(F, op ".rz") M(F, op ".rm") M(F, op ".rp")
#define FTZ_SAT(M, F, op) M(F, op) M(F, op ".ftz") M(F, op ".sat") M(F, op ".ftz.sat")
#define VARIANTS(M, F, op) FTZ_SAT(M, F, op ".rn") FTZ_SAT(M, F, op ".rz") FTZ_SAT(M, F, op ".rm") FTZ_SAT(M, F, op ".rp")
#define FTZ(M, F, op) M(F, op) M(F, op ".ftz")
#define FTZ_ROUNDINGS(M, F, op) FTZ(M, F, op ".rn") FTZ(M, F, op ".rz") FTZ(M, F, op ".rm") FTZ(M, F, op ".rp")
#define MINMAX(F, op) FTZ(B32, F, op) FTZ(B32, F, op ".NaN") B32(F, op ".xorsign.abs") B32(F, op ".ftz.NaN.xorsign.abs") B64(F, op)
#define TEST(F, op) F("{.reg .pred p; testp." op ".f32 p, %1; selp.u32 %0, 1, 0, p;}", u32, f32, none, none) \
    F("{.reg .pred p; testp." op ".f64 p, %1; selp.u32 %0, 1, 0, p;}", u32, f64, none, none)

#define FORMS(F)                                                                                             \
    FTZ_SAT(B32, F, "add") FTZ_SAT(B32, F, "sub") FTZ_SAT(B32, F, "mul") B64(F, "add") B64(F, "sub") B64(F, "mul") \
    VARIANTS(B32, F, "add") VARIANTS(B32, F, "sub") VARIANTS(B32, F, "mul") VARIANTS(T32, F, "fma")           \
    T32(F, "mad.rn") T32(F, "mad.rz.ftz.sat") T64(F, "mad.rp")                                                \
    ROUNDINGS(B64, F, "add") ROUNDINGS(B64, F, "sub") ROUNDINGS(B64, F, "mul") ROUNDINGS(T64, F, "fma")       \
    FTZ_ROUNDINGS(B32, F, "div") ROUNDINGS(B64, F, "div") FTZ_ROUNDINGS(U32, F, "rcp") ROUNDINGS(U64, F, "rcp") \
    FTZ_ROUNDINGS(U32, F, "sqrt") ROUNDINGS(U64, F, "sqrt") FTZ(U32, F, "abs") FTZ(U32, F, "neg")             \
    U64(F, "abs") U64(F, "neg") MINMAX(F, "min") MINMAX(F, "max") B32(F, "copysign") B64(F, "copysign")       \
    TEST(F, "finite") TEST(F, "infinite") TEST(F, "number") TEST(F, "notanumber") TEST(F, "normal") TEST(F, "subnormal")

#include "conformance.h"
