/* comparisons.cu: setp, set, selp, slct. */
#define SETP(F, op, k) F("{.reg .pred p; setp." op " p, %1, %2; selp.u32 %0, 1, 0, p;}", u32, k, k, none)
#define SETP2(F, op, k) F("{.reg .pred p, q, r; setp.ne.u32 r, %3, 0; setp." op " p|q, %1, %2, r; .reg .u32 x, y; " \
                          "selp.u32 x, 1, 0, p; selp.u32 y, 2, 0, q; or.b32 %0, x, y;}", u32, k, k, flag)
#define SET(F, op, D, k) F("set." op " %0, %1, %2;", D, k, k, none)
#define ORDER(M, F, t, k) M(F, "eq." #t, k) M(F, "ne." #t, k) M(F, "lt." #t, k) M(F, "le." #t, k) M(F, "gt." #t, k) M(F, "ge." #t, k)
#define UNSIGNED(M, F, t, k) ORDER(M, F, t, k) M(F, "lo." #t, k) M(F, "ls." #t, k) M(F, "hi." #t, k) M(F, "hs." #t, k)
#define FLOAT(M, F, t, k) ORDER(M, F, t, k) M(F, "equ." #t, k) M(F, "neu." #t, k) M(F, "ltu." #t, k) M(F, "leu." #t, k) \
    M(F, "gtu." #t, k) M(F, "geu." #t, k) M(F, "num." #t, k) M(F, "nan." #t, k)
#define COMBINED(F, t, k) SETP2(F, "lt.and." #t, k) SETP2(F, "ge.or." #t, k) SETP2(F, "ne.xor." #t, k)
#define HALF2(F, cmp, t) F("{.reg .pred p, q; setp." cmp "." #t " p|q, %1, %2; .reg .u32 x, y; " \
                           "selp.u32 x, 1, 0, p; selp.u32 y, 2, 0, q; or.b32 %0, x, y;}", u32, t, t, none)
#define HALVES2(F, t) HALF2(F, "eq", t) HALF2(F, "ne", t) HALF2(F, "lt", t) HALF2(F, "ge", t) HALF2(F, "neu", t) HALF2(F, "leu", t) HALF2(F, "nan", t) HALF2(F, "num", t)
#define SETS(F, t, k) SET(F, "lt.u32." #t, u32, k) SET(F, "ge.s32." #t, u32, k) SET(F, "ne.f32." #t, f32, k)
#define SELP(F, t, k) F("{.reg .pred p; setp.ne.u32 p, %3, 0; selp." #t " %0, %1, %2, p;}", k, k, k, flag)
#define SLCT(F, t, k) F("slct." #t ".s32 %0, %1, %2, %3;", k, k, k, u32) F("slct." #t ".f32 %0, %1, %2, %3;", k, k, k, f32)

#define FORMS(F)                                                                                              \
    UNSIGNED(SETP, F, u16, u16) UNSIGNED(SETP, F, u32, u32) UNSIGNED(SETP, F, u64, u64) ORDER(SETP, F, s16, u16) \
    ORDER(SETP, F, s32, u32) ORDER(SETP, F, s64, u64) SETP(F, "eq.b16", u16) SETP(F, "ne.b32", u32) SETP(F, "eq.b64", u64) \
    FLOAT(SETP, F, f32, f32) FLOAT(SETP, F, f64, f64) FLOAT(SETP, F, f16, f16) FLOAT(SETP, F, bf16, bf16)     \
    SETP(F, "eq.ftz.f32", f32) SETP(F, "ltu.ftz.f32", f32) SETP(F, "ge.ftz.f16", f16)                         \
    COMBINED(F, u32, u32) COMBINED(F, s64, u64) COMBINED(F, s16, u16) COMBINED(F, f32, f32) COMBINED(F, f64, f64) \
    HALVES2(F, f16x2) HALVES2(F, bf16x2) HALF2(F, "lt.ftz", f16x2)                                            \
    SETS(F, u16, u16) SETS(F, s16, u16) SETS(F, u32, u32) SETS(F, s32, u32) SETS(F, u64, u64) SETS(F, s64, u64) \
    SETS(F, f32, f32) SETS(F, f64, f64) SET(F, "eq.u32.f16", u32, f16) SET(F, "leu.ftz.u32.f32", u32, f32)    \
    SET(F, "lt.f16.f16", f16, f16) SET(F, "nan.bf16.bf16", bf16, bf16) SET(F, "ge.f16x2.f16x2", u32, f16x2)   \
    SET(F, "neu.bf16x2.bf16x2", u32, bf16x2) SET(F, "gt.u32.f16x2", u32, f16x2) SET(F, "ltu.u16.f16", u16, f16) \
    SELP(F, b16, u16) SELP(F, u32, u32) SELP(F, s64, u64) SELP(F, f32, f32) SELP(F, f64, f64)                 \
    SLCT(F, b16, u16) SLCT(F, u32, u32) SLCT(F, s64, u64) SLCT(F, f32, f32) SLCT(F, f64, f64)                 \
    F("slct.ftz.u32.f32 %0, %1, %2, %3;", u32, u32, u32, f32)

#include "conformance.h"
