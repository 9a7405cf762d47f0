/* integer.cu: integer arithmetic. */
#define BINARY(F, op, t, k) F(op "." #t " %0, %1, %2;", k, k, k, none)
#define INTS(F, op) BINARY(F, op, u16, u16) BINARY(F, op, s16, u16) BINARY(F, op, u32, u32) BINARY(F, op, s32, u32) \
                    BINARY(F, op, u64, u64) BINARY(F, op, s64, u64)
#define TERNARY(F, op, t, k) F(op "." #t " %0, %1, %2, %3;", k, k, k, k)
#define INTS3(F, op) TERNARY(F, op, u16, u16) TERNARY(F, op, s16, u16) TERNARY(F, op, u32, u32) TERNARY(F, op, s32, u32) \
                     TERNARY(F, op, u64, u64) TERNARY(F, op, s64, u64)
/* Division by zero yields what the machine pleases: the divisors are not zero. */
#define DIVIDE(F, op) F(op ".u16 %0, %1, %2;", u16, u16, nz16, none) F(op ".s16 %0, %1, %2;", u16, u16, nz16, none) \
                      F(op ".u32 %0, %1, %2;", u32, u32, nz32, none) F(op ".s32 %0, %1, %2;", u32, u32, nz32, none) \
                      F(op ".u64 %0, %1, %2;", u64, u64, nz64, none) F(op ".s64 %0, %1, %2;", u64, u64, nz64, none)
#define SIGNED(F, op) F(op ".s16 %0, %1;", u16, u16, none, none) F(op ".s32 %0, %1;", u32, u32, none, none) \
                      F(op ".s64 %0, %1;", u64, u64, none, none)
#define WIDE(F, t, k, w) F("mul.wide." #t " %0, %1, %2;", w, k, k, none) F("mad.wide." #t " %0, %1, %2, %3;", w, k, k, w)
/* The carry flag, read back through a second instruction. */
#define CARRY(F, first, second, t, k) F("{.reg ." #t " x; " first "." #t " x, %1, %2; " second "." #t " %0, %3, 0;}", k, k, k, k)
#define CARRIES(F, t, k)                                                                                           \
    CARRY(F, "add.cc", "addc", t, k) CARRY(F, "sub.cc", "subc", t, k) CARRY(F, "add.cc", "subc", t, k)             \
    F("{.reg ." #t " x; add.cc." #t " x, %1, %2; addc.cc." #t " x, %2, %3; addc." #t " %0, x, 0;}", k, k, k, k)     \
    F("{.reg ." #t " x; sub.cc." #t " x, %1, %2; subc.cc." #t " x, %2, %3; subc." #t " %0, x, 0;}", k, k, k, k)     \
    F("{.reg ." #t " x; mad.lo.cc." #t " x, %1, %2, %3; addc." #t " %0, 0, 0;}", k, k, k, k)                        \
    F("{.reg ." #t " x; mad.lo.cc." #t " x, %1, %2, %3; madc.hi." #t " %0, %1, %2, %3;}", k, k, k, k)               \
    F("{.reg ." #t " x; mad.hi.cc." #t " x, %1, %2, %3; madc.lo.cc." #t " x, x, %2, %3; addc." #t " %0, 0, x;}", k, k, k, k)
#define DOTS(F, a, b) F("dp4a." #a "." #b " %0, %1, %2, %3;", u32, u32, u32, u32)                                  \
    F("dp2a.lo." #a "." #b " %0, %1, %2, %3;", u32, u32, u32, u32) F("dp2a.hi." #a "." #b " %0, %1, %2, %3;", u32, u32, u32, u32)
#define PAIR(F, op, t) F(op "." #t " %0, %1, %2;", u32, u32, u32, none)

#define FORMS(F)                                                                                                   \
    INTS(F, "add") INTS(F, "sub") INTS(F, "mul.lo") INTS(F, "mul.hi") INTS3(F, "mad.lo") INTS3(F, "mad.hi")        \
    BINARY(F, "add.sat", s32, u32) BINARY(F, "sub.sat", s32, u32) TERNARY(F, "mad.hi.sat", s32, u32)               \
    WIDE(F, u16, u16, u32) WIDE(F, s16, u16, u32) WIDE(F, u32, u32, u64) WIDE(F, s32, u32, u64)                    \
    BINARY(F, "mul24.lo", u32, u32) BINARY(F, "mul24.lo", s32, u32) BINARY(F, "mul24.hi", u32, u32)                \
    BINARY(F, "mul24.hi", s32, u32) TERNARY(F, "mad24.lo", u32, u32) TERNARY(F, "mad24.lo", s32, u32)              \
    TERNARY(F, "mad24.hi", u32, u32) TERNARY(F, "mad24.hi", s32, u32) TERNARY(F, "mad24.hi.sat", s32, u32)         \
    INTS3(F, "sad") DIVIDE(F, "div") DIVIDE(F, "rem") SIGNED(F, "abs") SIGNED(F, "neg") INTS(F, "min") INTS(F, "max") \
    CARRIES(F, u32, u32) CARRIES(F, s32, u32) CARRIES(F, u64, u64) CARRIES(F, s64, u64)                            \
    PAIR(F, "add", u16x2) PAIR(F, "add", s16x2) PAIR(F, "min", u16x2) PAIR(F, "min", s16x2)                        \
    PAIR(F, "max", u16x2) PAIR(F, "max", s16x2) PAIR(F, "min.relu", s16x2) PAIR(F, "max.relu", s16x2)              \
    PAIR(F, "min.relu", s32) PAIR(F, "max.relu", s32)                                                              \
    DOTS(F, u32, u32) DOTS(F, u32, s32) DOTS(F, s32, u32) DOTS(F, s32, s32)

#include "conformance.h"
