/* bits.cu: logic, shifts, bit fields, bytes, video instructions.
 *
 * Not here: vshl.clamp.sat, whose results for shifts by 32 and more follow no rule found yet. */
#define LOGIC(F, op) F(op ".b16 %0, %1, %2;", u16, u16, u16, none) F(op ".b32 %0, %1, %2;", u32, u32, u32, none) \
    F(op ".b64 %0, %1, %2;", u64, u64, u64, none)                                                                \
    F("{.reg .pred p, q; setp.lt.u32 p, %1, %2; setp.lt.u32 q, %2, %3; " op ".pred p, p, q; selp.u32 %0, 1, 0, p;}", u32, u32, u32, u32)
#define UNARY(F, op) F(op ".b16 %0, %1;", u16, u16, none, none) F(op ".b32 %0, %1;", u32, u32, none, none)       \
    F(op ".b64 %0, %1;", u64, u64, none, none)
#define SHIFT(F, op, t, k) F(op "." #t " %0, %1, %2;", k, k, count, none)
#define COUNT(F, op, t, k) F(op "." #t " %0, %1;", u32, k, none, none)
#define LOP3(F, lut) F("lop3.b32 %0, %1, %2, %3, " #lut ";", u32, u32, u32, u32)
#define FUNNEL(F, op) F(op ".b32 %0, %1, %2, %3;", u32, u32, u32, count)
#define PRMT(F, mode) F("prmt.b32" mode " %0, %1, %2, %3;", u32, u32, u32, u32)
#define FIELD(F, t, k) F("bfe." #t " %0, %1, %2, %3;", k, k, count, count)
#define EXTEND(F, mode) F("szext." mode ".u32 %0, %1, %2;", u32, u32, count, none) F("szext." mode ".s32 %0, %1, %2;", u32, u32, count, none) \
    F("bmsk." mode ".b32 %0, %1, %2;", u32, count, count, none)
#define VIDEO1(F, op, t) F(op "." t " %0, %1, %2;", u32, u32, u32, none) F(op "." t ".sat %0, %1.b1, %2.h1;", u32, u32, u32, none) \
    F(op "." t ".add %0, %1, %2.b3, %3;", u32, u32, u32, u32) F(op "." t ".max %0, %1.h0, %2.b2, %3;", u32, u32, u32, u32)
#define VIDEO(F, op) VIDEO1(F, op, "u32.u32.u32") VIDEO1(F, op, "s32.s32.s32") VIDEO1(F, op, "s32.u32.s32") VIDEO1(F, op, "u32.s32.u32")
#define SIMD1(F, op, t) F(op "." t " %0, %1, %2, %3;", u32, u32, u32, u32) F(op "." t ".sat %0, %1, %2, %3;", u32, u32, u32, u32) \
    F(op "." t ".add %0, %1, %2, %3;", u32, u32, u32, u32)
#define SIMD(F, op) SIMD1(F, op, "u32.u32.u32") SIMD1(F, op, "s32.s32.s32") SIMD1(F, op, "s32.u32.s32")

#define FORMS(F)                                                                                                 \
    LOGIC(F, "and") LOGIC(F, "or") LOGIC(F, "xor") UNARY(F, "not") UNARY(F, "cnot")                              \
    SHIFT(F, "shl", b16, u16) SHIFT(F, "shl", b32, u32) SHIFT(F, "shl", b64, u64) SHIFT(F, "shr", b16, u16)      \
    SHIFT(F, "shr", u16, u16) SHIFT(F, "shr", s16, u16) SHIFT(F, "shr", u32, u32) SHIFT(F, "shr", s32, u32)      \
    SHIFT(F, "shr", u64, u64) SHIFT(F, "shr", s64, u64)                                                          \
    FUNNEL(F, "shf.l.clamp") FUNNEL(F, "shf.l.wrap") FUNNEL(F, "shf.r.clamp") FUNNEL(F, "shf.r.wrap")            \
    COUNT(F, "popc", b32, u32) COUNT(F, "popc", b64, u64) COUNT(F, "clz", b32, u32) COUNT(F, "clz", b64, u64)    \
    COUNT(F, "bfind", u32, u32) COUNT(F, "bfind", s32, u32) COUNT(F, "bfind", u64, u64) COUNT(F, "bfind", s64, u64) \
    COUNT(F, "bfind.shiftamt", u32, u32) COUNT(F, "bfind.shiftamt", s32, u32) COUNT(F, "bfind.shiftamt", u64, u64) \
    COUNT(F, "bfind.shiftamt", s64, u64) F("brev.b32 %0, %1;", u32, u32, none, none) F("brev.b64 %0, %1;", u64, u64, none, none) \
    FIELD(F, u32, u32) FIELD(F, s32, u32) FIELD(F, u64, u64) FIELD(F, s64, u64)                                  \
    F("bfi.b32 %0, %1, %2, %3, 5;", u32, u32, u32, count) F("bfi.b32 %0, %1, %1, 3, %2;", u32, u32, count, none) \
    F("bfi.b32 %0, %1, 0x12345678, %2, %3;", u32, u32, count, count) F("bfi.b64 %0, %1, 0, %2, %3;", u64, u64, count, count) \
    F("bfi.b64 %0, %1, %2, %3, 17;", u64, u64, u64, count) EXTEND(F, "clamp") EXTEND(F, "wrap")                   \
    F("fns.b32 %0, %1, %2, 1;", u32, u32, place, none) F("fns.b32 %0, %1, %2, -2;", u32, u32, place, none)       \
    F("fns.b32 %0, %1, %2, 0;", u32, u32, place, none) F("fns.b32 %0, %1, %2, %3;", u32, u32, place, place)      \
    LOP3(F, 0x00) LOP3(F, 0x80) LOP3(F, 0x1e) LOP3(F, 0x2d) LOP3(F, 0x96) LOP3(F, 0xca) LOP3(F, 0xe8) LOP3(F, 0xfe) LOP3(F, 0xff) \
    F("{.reg .pred p; .reg .b32 x; setp.lt.s32 p, %1, %2; lop3.or.b32 x|p, %1, %2, %3, 0x6a, p; selp.b32 %0, 1, 0, p;}", u32, u32, u32, u32) \
    F("{.reg .pred p; .reg .b32 x; setp.lt.s32 p, %1, %2; lop3.and.b32 x|p, %1, %2, %3, 0x6a, p; selp.b32 %0, x, 3, p;}", u32, u32, u32, u32) \
    PRMT(F, "") PRMT(F, ".f4e") PRMT(F, ".b4e") PRMT(F, ".rc8") PRMT(F, ".ecl") PRMT(F, ".ecr") PRMT(F, ".rc16") \
    VIDEO(F, "vadd") VIDEO(F, "vsub") VIDEO(F, "vabsdiff") VIDEO(F, "vmin") VIDEO(F, "vmax")                      \
    F("vshl.u32.u32.u32.clamp %0, %1, %2;", u32, u32, u32, none)                                                 \
    F("vshl.u32.u32.u32.clamp.add %0, %1, %2.b3, %3;", u32, u32, u32, u32)                                       \
    F("vshl.u32.u32.u32.clamp.max %0, %1.h0, %2.b2, %3;", u32, u32, u32, u32)                                    \
    VIDEO1(F, "vshr", "s32.s32.u32.wrap") F("vset.u32.s32.lt %0, %1, %2;", u32, u32, u32, none) \
    F("vmad.u32.u32.u32 %0, %1.b0, %2.b1, %3;", u32, u32, u32, u32)                                              \
    F("vmad.s32.s32.s32.sat.shr7 %0, %1.h0, %2.h1, %3;", u32, u32, u32, u32)                                     \
    F("vmad.s32.s32.s32.shr15 %0, %1.h0, -%2.h1, %3;", u32, u32, u32, u32)                                       \
    F("vmad.u32.u32.u32.po.shr15 %0, %1.h0, %2.h1, %3;", u32, u32, u32, u32)                                     \
    SIMD(F, "vadd2") SIMD(F, "vsub2") SIMD(F, "vavrg2") SIMD(F, "vabsdiff2") SIMD(F, "vmin2") SIMD(F, "vmax2")    \
    SIMD(F, "vadd4") SIMD(F, "vsub4") SIMD(F, "vavrg4") SIMD(F, "vabsdiff4") SIMD(F, "vmin4") SIMD(F, "vmax4")    \
    F("vset2.u32.s32.lt %0, %1, %2, %3;", u32, u32, u32, u32) F("vset4.s32.u32.ge.add %0, %1, %2, %3;", u32, u32, u32, u32)

#include "conformance.h"
