/* conversions.cu: cvt between every two types, with every rounding that it has. */
#define CVT(F, op, D, A) F("cvt" op " %0, %1;", D, A, none, none)
/* Integers to integers: 8-bit values travel in 32-bit registers. */
#define TO_INTS(F, mod, a, k) CVT(F, mod ".u8." #a, u32, k) CVT(F, mod ".s8." #a, u32, k) CVT(F, mod ".u16." #a, u16, k) \
    CVT(F, mod ".s16." #a, u16, k) CVT(F, mod ".u32." #a, u32, k) CVT(F, mod ".s32." #a, u32, k) CVT(F, mod ".u64." #a, u64, k) CVT(F, mod ".s64." #a, u64, k)
#define EACH_INT(M, F, mod) M(F, mod, u8, u32) M(F, mod, s8, u32) M(F, mod, u16, u16) M(F, mod, s16, u16) M(F, mod, u32, u32) \
    M(F, mod, s32, u32) M(F, mod, u64, u64) M(F, mod, s64, u64)
/* .sat is allowed where the result's type does not hold all of the source's values. */
#define SAT(F, t, a, d, k) CVT(F, ".sat." #t "." #a, d, k)
#define SATURATE(F)                                                                                                 \
    SAT(F, s8, u8, u32, u32) SAT(F, u8, s8, u32, u32) SAT(F, u16, s8, u16, u32) SAT(F, u32, s8, u32, u32) SAT(F, u64, s8, u64, u32) \
    SAT(F, u8, u16, u32, u16) SAT(F, s8, u16, u32, u16) SAT(F, s16, u16, u16, u16) SAT(F, u8, s16, u32, u16) SAT(F, s8, s16, u32, u16) \
    SAT(F, u16, s16, u16, u16) SAT(F, u32, s16, u32, u16) SAT(F, u64, s16, u64, u16) SAT(F, u8, u32, u32, u32) SAT(F, s8, u32, u32, u32) \
    SAT(F, u16, u32, u16, u32) SAT(F, s16, u32, u16, u32) SAT(F, s32, u32, u32, u32) SAT(F, u8, s32, u32, u32) SAT(F, s8, s32, u32, u32) \
    SAT(F, u16, s32, u16, u32) SAT(F, s16, s32, u16, u32) SAT(F, u32, s32, u32, u32) SAT(F, u64, s32, u64, u32) SAT(F, u8, u64, u32, u64) \
    SAT(F, s8, u64, u32, u64) SAT(F, u16, u64, u16, u64) SAT(F, s16, u64, u16, u64) SAT(F, u32, u64, u32, u64) SAT(F, s32, u64, u32, u64) \
    SAT(F, s64, u64, u64, u64) SAT(F, u8, s64, u32, u64) SAT(F, s8, s64, u32, u64) SAT(F, u16, s64, u16, u64) SAT(F, s16, s64, u16, u64) \
    SAT(F, u32, s64, u32, u64) SAT(F, s32, s64, u32, u64) SAT(F, u64, s64, u64, u64)
#define FROM_FLOAT(F, mod, a) TO_INTS(F, ".rni" mod, a, a) TO_INTS(F, ".rzi" mod, a, a) TO_INTS(F, ".rmi" mod, a, a) TO_INTS(F, ".rpi" mod, a, a)
/* bf16 has no conversions from and to 8-bit integers. */
#define TO_WIDE_INTS(F, mod, a, k) CVT(F, mod ".u16." #a, u16, k) CVT(F, mod ".s16." #a, u16, k) CVT(F, mod ".u32." #a, u32, k) \
    CVT(F, mod ".s32." #a, u32, k) CVT(F, mod ".u64." #a, u64, k) CVT(F, mod ".s64." #a, u64, k)
#define FROM_BRAIN(F) TO_WIDE_INTS(F, ".rni", bf16, bf16) TO_WIDE_INTS(F, ".rzi", bf16, bf16) TO_WIDE_INTS(F, ".rmi", bf16, bf16) \
    TO_WIDE_INTS(F, ".rpi", bf16, bf16)
#define EACH_WIDE_INT(M, F, mod) M(F, mod, u16, u16) M(F, mod, s16, u16) M(F, mod, u32, u32) M(F, mod, s32, u32) M(F, mod, u64, u64) M(F, mod, s64, u64)
#define TO_FLOAT(F, mod, a, k) CVT(F, mod ".f16." #a, f16, k) CVT(F, mod ".f32." #a, f32, k) CVT(F, mod ".f64." #a, f64, k)
#define TO_BRAIN(F, mod, a, k) CVT(F, mod ".bf16." #a, bf16, k)
#define ROUNDINGS(M, F, ...) M(F, ".rn" __VA_ARGS__) M(F, ".rz" __VA_ARGS__) M(F, ".rm" __VA_ARGS__) M(F, ".rp" __VA_ARGS__)
#define ALL_TO_FLOAT(F, mod) EACH_INT(TO_FLOAT, F, mod)
#define ALL_TO_BRAIN(F, mod) EACH_WIDE_INT(TO_BRAIN, F, mod)
#define NARROW(F, mod) CVT(F, mod ".f32.f64", f32, f64) CVT(F, mod ".f16.f64", f16, f64) CVT(F, mod ".f16.f32", f16, f32)
#define NARROW_FTZ(F, mod) CVT(F, mod ".ftz.f32.f64", f32, f64) CVT(F, mod ".ftz.f16.f32", f16, f32) CVT(F, mod ".ftz.sat.f32.f64", f32, f64) \
    CVT(F, mod ".sat.f32.f64", f32, f64) CVT(F, mod ".sat.f16.f32", f16, f32) CVT(F, mod ".sat.f16.f64", f16, f64)
#define TO_SELF(F, mod) CVT(F, mod ".f16.f16", f16, f16) CVT(F, mod ".f32.f32", f32, f32) CVT(F, mod ".f64.f64", f64, f64) \
    CVT(F, mod ".ftz.f32.f32", f32, f32) CVT(F, mod ".sat.f32.f32", f32, f32) CVT(F, mod ".sat.f64.f64", f64, f64)
#define WIDEN CVT
#define PACK(F, mod) F("cvt" mod " %0, %1, %2;", u32, f32, f32, none)
#define PACKS(F, t) PACK(F, ".rn." t ".f32") PACK(F, ".rz." t ".f32") PACK(F, ".rn.relu." t ".f32") PACK(F, ".rz.relu." t ".f32")
#define FP8(F, t) F("cvt.rn.satfinite." t ".f32 %0, %1, %2;", u16, f32, f32, none) F("cvt.rn.satfinite.relu." t ".f32 %0, %1, %2;", u16, f32, f32, none) \
    F("cvt.rn.satfinite." t ".f16x2 %0, %1;", u16, f16x2, none, none) F("cvt.rn.satfinite.relu." t ".f16x2 %0, %1;", u16, f16x2, none, none) \
    F("cvt.rn.f16x2." t " %0, %1;", u32, fp8x2, none, none) F("cvt.rn.relu.f16x2." t " %0, %1;", u32, fp8x2, none, none)
#define CVT_PACK(F, t) F("cvt.pack.sat." t ".s32 %0, %1, %2;", u32, u32, u32, none)
#define CVT_PACK3(F, t) F("cvt.pack.sat." t ".s32.b32 %0, %1, %2, %3;", u32, u32, u32, u32)

#define FORMS(F)                                                                                                    \
    EACH_INT(TO_INTS, F, "") SATURATE(F)                                                           \
    FROM_FLOAT(F, "", f16) FROM_BRAIN(F) FROM_FLOAT(F, "", f32) FROM_FLOAT(F, "", f64) FROM_FLOAT(F, ".ftz", f32) \
    FROM_FLOAT(F, ".sat", f32)                                                                                      \
    ROUNDINGS(ALL_TO_FLOAT, F) ROUNDINGS(ALL_TO_BRAIN, F)                                                           \
    CVT(F, ".rn.sat.f32.s32", f32, u32) CVT(F, ".rz.sat.f64.u64", f64, u64) CVT(F, ".rn.sat.f16.s32", f16, u32)     \
    ROUNDINGS(NARROW, F) ROUNDINGS(NARROW_FTZ, F) TO_SELF(F, ".rni") TO_SELF(F, ".rzi") TO_SELF(F, ".rmi") TO_SELF(F, ".rpi") \
    WIDEN(F, ".f32.f16", f32, f16) WIDEN(F, ".f64.f16", f64, f16) WIDEN(F, ".f64.f32", f64, f32) WIDEN(F, ".f32.bf16", f32, bf16) \
    WIDEN(F, ".ftz.f32.f16", f32, f16) WIDEN(F, ".ftz.f64.f32", f64, f32) WIDEN(F, ".sat.f32.f16", f32, f16)        \
    WIDEN(F, ".sat.f64.f32", f64, f32) WIDEN(F, ".f64.bf16", f64, bf16) WIDEN(F, ".rn.f16.bf16", f16, bf16)         \
    WIDEN(F, ".rn.bf16.f16", bf16, f16) WIDEN(F, ".rn.bf16.f64", bf16, f64) WIDEN(F, ".rn.bf16.f32", bf16, f32)     \
    WIDEN(F, ".rz.bf16.f32", bf16, f32) WIDEN(F, ".rn.relu.bf16.f32", bf16, f32) WIDEN(F, ".rn.relu.f16.f32", f16, f32) \
    WIDEN(F, ".rz.relu.f16.f32", f16, f32) WIDEN(F, ".rna.tf32.f32", u32, f32) WIDEN(F, ".rn.tf32.f32", u32, f32)   \
    WIDEN(F, ".rz.tf32.f32", u32, f32) WIDEN(F, ".rn.relu.tf32.f32", u32, f32) WIDEN(F, ".rz.relu.tf32.f32", u32, f32) \
    PACKS(F, "f16x2") PACKS(F, "bf16x2") FP8(F, "e4m3x2") FP8(F, "e5m2x2")                                          \
    CVT_PACK(F, "u16") CVT_PACK(F, "s16") CVT_PACK3(F, "u8") CVT_PACK3(F, "s8") CVT_PACK3(F, "u4") CVT_PACK3(F, "s4") \
    CVT_PACK3(F, "u2") CVT_PACK3(F, "s2")

#include "conformance.h"
