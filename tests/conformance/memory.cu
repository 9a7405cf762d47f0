/* memory.cu: ld and st of every width, in every space; vectors; parameters; cp.async. */
#include <cstdint>
__device__ uint64_t scratch[1 << 16];       /* two words for each thread of a launch */
__constant__ uint64_t table[32] = {
    0x0123456789abcdef, 0xfedcba9876543210, 0x80, 0x7f, 0x8000, 0x7fff, 0x80000000, 0x7fffffff, 0x8000000000000000, 0x7fffffffffffffff,
    0xffffffffffffffff, 0x00ff00ff00ff00ff, 0xff00ff00ff00ff00, 0x8081828384858687, 0xc0c1c2c3c4c5c6c7, 0x0102040810204080,
};
struct mixed { int8_t a; uint16_t b; int32_t c; uint64_t d; int8_t e[3]; };
extern "C" __device__ __noinline__ uint64_t sum_of(mixed m) { return m.a + 3 * m.b + 5 * (int64_t)m.c + 7 * m.d + 11 * m.e[0] + 13 * m.e[2]; }
/* What only asm names must be named once in C too. */
extern "C" __global__ void keep(mixed m, int i) { scratch[i] = sum_of(m) + table[i]; }

/* a: the thread's 16 bytes. */
#define INDEX "mov.u32 i, %%ctaid.x; mov.u32 j, %%tid.x; mad.lo.u32 i, i, 128, j; "
#define GLOBAL "{.reg .b64 a; .reg .b32 i, j; " INDEX "mov.u64 a, scratch; mad.wide.u32 a, i, 16, a; "
#define DECLARE ".shared .align 16 .b64 words[256];"
#define SHARED "{.reg .b32 a, i; mov.u32 i, %%tid.x; mov.u32 a, words; mad.lo.u32 a, i, 16, a; "
#define LOCAL "{.reg .b64 a; .local .align 16 .b64 mine[2]; mov.u64 a, mine; "
#define GENERIC_GLOBAL "{.reg .b64 a; .reg .b32 i, j; " INDEX "mov.u64 a, scratch; mad.wide.u32 a, i, 16, a; cvta.global.u64 a, a; "
#define GENERIC_SHARED "{.reg .b64 a; .reg .b32 i; mov.u32 i, %%tid.x; mov.u64 a, words; mad.wide.u32 a, i, 16, a; cvta.shared.u64 a, a; "
#define GENERIC_LOCAL "{.reg .b64 a; .local .align 16 .b64 mine[2]; mov.u64 a, mine; cvta.local.u64 a, a; "

#define LOAD(F, at, s, t, off, d) F(at "st" s ".b64 [a], %1; st" s ".b64 [a+8], %2; ld" s "." t " %0, [a" off "];}", d, u64, u64, none)
#define STORE(F, at, s, t, off, k) F(at "st" s ".b64 [a], %1; st" s "." t " [a" off "], %2; ld" s ".b64 %0, [a];}", u64, u64, k, none)
#define LOADS(F, at, s) \
    LOAD(F, at, s, "u8", "+7", u16) LOAD(F, at, s, "s8", "+7", u16) LOAD(F, at, s, "u8", "+1", u32) LOAD(F, at, s, "s8", "+1", u32) \
    LOAD(F, at, s, "u8", "+11", u64) LOAD(F, at, s, "s8", "+11", u64) LOAD(F, at, s, "b8", "+2", u64) \
    LOAD(F, at, s, "u16", "+6", u16) LOAD(F, at, s, "u16", "+2", u32) LOAD(F, at, s, "s16", "+2", u32) LOAD(F, at, s, "u16", "+12", u64) \
    LOAD(F, at, s, "s16", "+12", u64) LOAD(F, at, s, "b16", "", u64) LOAD(F, at, s, "u32", "+4", u32) LOAD(F, at, s, "u32", "+4", u64) \
    LOAD(F, at, s, "s32", "+4", u64) LOAD(F, at, s, "b32", "+12", u64) LOAD(F, at, s, "s64", "+8", u64)
#define STORES(F, at, s) \
    STORE(F, at, s, "u8", "+7", u16) STORE(F, at, s, "s8", "+1", u32) STORE(F, at, s, "b8", "+2", u64) STORE(F, at, s, "u16", "+6", u16) \
    STORE(F, at, s, "s16", "+2", u32) STORE(F, at, s, "b16", "", u64) STORE(F, at, s, "u32", "+4", u32) STORE(F, at, s, "s32", "", u64)
/* Vectors: the elements of a load, added with different weights; a store, read back in two halves. */
#define SUM4(r) "mad.lo." r " x, y, 3, x; mad.lo." r " x, z, 5, x; mad.lo." r " %0, v, 7, x;}"
#define VECTORS(F, at, s) \
    F(at ".reg .b16 x, y; st" s ".b32 [a], %1; ld" s ".v2.s8 {x, y}, [a+2]; mov.b32 %0, {x, y};}", u32, u32, none, none) \
    F(at ".reg .b32 x, y, z, v; st" s ".b32 [a], %1; ld" s ".v4.s8 {x, y, z, v}, [a]; " SUM4("s32"), u32, u32, none, none) \
    F(at ".reg .b32 x, y, z, v; st" s ".b32 [a], %1; ld" s ".v4.u8 {x, y, z, v}, [a]; " SUM4("s32"), u32, u32, none, none) \
    F(at ".reg .b16 x, y; st" s ".b32 [a], %1; ld" s ".v2.u16 {x, y}, [a]; mov.b32 %0, {y, x};}", u32, u32, none, none) \
    F(at ".reg .b64 x, y, z, v; st" s ".b64 [a], %1; ld" s ".v4.s16 {x, y, z, v}, [a]; " SUM4("s64"), u64, u64, none, none) \
    F(at ".reg .b32 x, y; st" s ".b64 [a], %1; ld" s ".v2.u32 {x, y}, [a]; mov.b64 %0, {y, x};}", u64, u64, none, none) \
    F(at ".reg .b64 x, y, z, v; st" s ".b64 [a], %1; st" s ".b64 [a+8], %2; ld" s ".v4.s32 {x, y, z, v}, [a]; " SUM4("s64"), u64, u64, u64, none) \
    F(at ".reg .b64 x, y; st" s ".b64 [a], %1; st" s ".b64 [a+8], %2; ld" s ".v2.u64 {x, y}, [a]; mad.lo.u64 %0, y, 3, x;}", u64, u64, u64, none) \
    F(at "st" s ".v2.u64 [a], {%1, %2}; ld" s ".b64 %0, [a+8];}", u64, u64, u64, none) \
    F(at "st" s ".v4.u32 [a], {%1, %2, %3, %1}; ld" s ".b64 %0, [a];}", u64, u32, u32, u32) \
    F(at "st" s ".v4.u32 [a], {%1, %2, %3, %1}; ld" s ".b64 %0, [a+8];}", u64, u32, u32, u32) \
    F(at "st" s ".v4.u16 [a], {%1, %2, %3, %1}; ld" s ".b64 %0, [a];}", u64, u16, u16, u16) \
    F(at "st" s ".v4.u8 [a], {%1, %2, %3, %1}; ld" s ".b32 %0, [a];}", u32, u16, u16, u16)
#define IN_SPACE(F, at, s) LOADS(F, at, s) STORES(F, at, s) VECTORS(F, at, s)

/* The constant bank: `place` picks the word. */
#define CONSTANT(F, t, off, d) F("{.reg .b64 a; mov.u64 a, table; mad.wide.u32 a, %1, 8, a; ld.const." t " %0, [a" off "];}", d, place, none, none)
#define CONSTANTS(F) CONSTANT(F, "u8", "+1", u32) CONSTANT(F, "s8", "", u64) CONSTANT(F, "s16", "+2", u32) CONSTANT(F, "u32", "+4", u32) \
    CONSTANT(F, "s32", "+4", u64) CONSTANT(F, "b64", "", u64) \
    F("{.reg .b64 x, y, a; .reg .b32 i; and.b32 i, %1, 30; mov.u64 a, table; mad.wide.u32 a, i, 8, a; " \
      "ld.const.v2.b64 {x, y}, [a]; mad.lo.u64 %0, y, 3, x;}", u64, place, none, none)
/* A struct by value to a function; the kernel's own parameters (n, the number of operands). */
#define PARAMS(F) \
    F("{.param .align 8 .b8 m[24]; .param .b64 r; st.param.b8 [m], %1; st.param.b16 [m+2], %2; st.param.b32 [m+4], %1; st.param.b64 [m+8], %3; " \
      "st.param.b8 [m+16], %2; st.param.b8 [m+17], %1; st.param.b8 [m+18], %3; call (r), sum_of, (m); ld.param.b64 %0, [r];}", u64, u32, u32, u64) \
    F("ld.param.u8 %0, [" KERNEL "_param_1];", u32, none, none, none) F("ld.param.s8 %0, [" KERNEL "_param_1];", u64, none, none, none) \
    F("ld.param.u8 %0, [" KERNEL "_param_1+1];", u32, none, none, none) F("ld.param.s16 %0, [" KERNEL "_param_1];", u32, none, none, none) \
    F("ld.param.u32 %0, [" KERNEL "_param_1];", u64, none, none, none)
#define KERNEL "_Z8run_formiiPKmS0_S0_Pm"

/* cp.async: beyond %3 bytes the copy is zeros; what it does not reach keeps the mark that it had. */
#define COPY(F, op, size, src, off) \
    F(GLOBAL ".reg .b32 s, n; mov.u32 s, words; mad.lo.u32 s, j, 16, s; st.shared.v2.u64 [s], {-1, -1}; and.b32 n, %3, " size "-1; " \
      "st.global.v2.u64 [a], {%1, %2}; " \
      "cp.async." op ".shared.global [s], [a], " size src "; cp.async.wait_all; ld.shared.u64 %0, [s+" off "];}", u64, u64, u64, place)
#define COPIES(F) COPY(F, "ca", "4", "", "0") COPY(F, "ca", "4", ", n", "0") COPY(F, "ca", "8", "", "0") COPY(F, "ca", "8", ", n", "0") \
    COPY(F, "ca", "16", "", "0") COPY(F, "ca", "16", "", "8") COPY(F, "ca", "16", ", n", "0") COPY(F, "ca", "16", ", n", "8") \
    COPY(F, "cg", "16", "", "0") COPY(F, "cg", "16", "", "8") COPY(F, "cg", "16", ", n", "0") COPY(F, "cg", "16", ", n", "8")

#define FORMS(F) IN_SPACE(F, GLOBAL, ".global") IN_SPACE(F, SHARED, ".shared") IN_SPACE(F, LOCAL, ".local") \
    IN_SPACE(F, GENERIC_GLOBAL, "") LOADS(F, GENERIC_SHARED, "") STORES(F, GENERIC_SHARED, "") LOADS(F, GENERIC_LOCAL, "") STORES(F, GENERIC_LOCAL, "") \
    CONSTANTS(F) PARAMS(F) COPIES(F)

#include "conformance.h"
