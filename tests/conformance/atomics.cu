/* atomics.cu: atom and red, one thread on each address: the old value, then what memory holds afterwards. */
#include <cstdint>
__device__ uint64_t scratch[1 << 15];       /* a word for each thread of a launch */

#define DECLARE ".shared .align 8 .b64 words[128];"
/* Before: [a] holds %1. */
#define IN_GLOBAL "{.reg .b64 a; .reg .b32 i, j; mov.u32 i, %%ctaid.x; mov.u32 j, %%tid.x; mad.lo.u32 i, i, 128, j; " \
    "mov.u64 a, scratch; mad.wide.u32 a, i, 8, a; "
#define IN_SHARED "{.reg .b32 a, i; mov.u32 i, %%tid.x; mov.u32 a, words; mad.lo.u32 a, i, 8, a; "
/* Results: the old value; memory after atom; memory after red. */
#define OLD(F, at, space, bits, op, t, k) \
    F(at "st." space "." bits " [a], %1; atom." space "." op "." t " %0, [a], %2;}", k, k, k, none)
#define AFTER(F, at, space, bits, op, t, k) \
    F(at ".reg ." bits " x; st." space "." bits " [a], %1; atom." space "." op "." t " x, [a], %2; ld." space "." bits " %0, [a];}", k, k, k, none)
#define REDUCE(F, at, space, bits, op, t, k) \
    F(at "st." space "." bits " [a], %1; red." space "." op "." t " [a], %2; ld." space "." bits " %0, [a];}", k, k, k, none)
#define CAS(F, at, space, bits, k) \
    F(at "st." space "." bits " [a], %1; atom." space ".cas." bits " %0, [a], %2, %3;}", k, k, k, k) \
    F(at ".reg ." bits " x; st." space "." bits " [a], %1; atom." space ".cas." bits " x, [a], %2, %3; ld." space "." bits " %0, [a];}", k, k, k, k)
#define EXCHANGE(F, at, space, bits, t, k) OLD(F, at, space, bits, "exch", t, k) AFTER(F, at, space, bits, "exch", t, k)
#define EACH(F, ...) OLD(F, __VA_ARGS__) AFTER(F, __VA_ARGS__) REDUCE(F, __VA_ARGS__)
#define MINMAX(F, at, space, bits, t, k) EACH(F, at, space, bits, "min", t, k) EACH(F, at, space, bits, "max", t, k)
#define LOGIC(F, at, space, t, k) EACH(F, at, space, t, "and", t, k) EACH(F, at, space, t, "or", t, k) EACH(F, at, space, t, "xor", t, k)
#define IN_SPACE(F, at, space) \
    EACH(F, at, space, "b32", "add", "u32", u32) EACH(F, at, space, "b32", "add", "s32", u32) EACH(F, at, space, "b64", "add", "u64", u64) \
    EACH(F, at, space, "b32", "add", "f32", f32) EACH(F, at, space, "b64", "add", "f64", f64) \
    EACH(F, at, space, "b16", "add.noftz", "f16", f16) EACH(F, at, space, "b16", "add.noftz", "bf16", bf16) \
    EACH(F, at, space, "b32", "add.noftz", "f16x2", f16x2) EACH(F, at, space, "b32", "add.noftz", "bf16x2", bf16x2) \
    EACH(F, at, space, "b32", "inc", "u32", u32) EACH(F, at, space, "b32", "dec", "u32", u32) \
    MINMAX(F, at, space, "b32", "u32", u32) MINMAX(F, at, space, "b32", "s32", u32) \
    MINMAX(F, at, space, "b64", "u64", u64) MINMAX(F, at, space, "b64", "s64", u64) \
    LOGIC(F, at, space, "b32", u32) LOGIC(F, at, space, "b64", u64) \
    EXCHANGE(F, at, space, "b32", "b32", u32) EXCHANGE(F, at, space, "b64", "b64", u64) \
    CAS(F, at, space, "b16", u16) CAS(F, at, space, "b32", u32) CAS(F, at, space, "b64", u64)
/* Vectors, in global memory alone: the old values, then memory. */
#define VECTOR(F, op, t, part, all, k) \
    F(IN_GLOBAL ".reg ." part " p, q, x, y; st.global." all " [a], %1; mov." all " {p, q}, %2; atom.global." op ".v2." t \
      " {x, y}, [a], {p, q}; mov." all " %0, {x, y};}", k, k, k, none) \
    F(IN_GLOBAL ".reg ." part " p, q; st.global." all " [a], %1; mov." all " {p, q}, %2; red.global." op ".v2." t \
      " [a], {p, q}; ld.global." all " %0, [a];}", k, k, k, none)
#define HALVES(F, t, k) VECTOR(F, "add.noftz", t, "b16", "b32", k) VECTOR(F, "min.noftz", t, "b16", "b32", k) VECTOR(F, "max.noftz", t, "b16", "b32", k)

#define FORMS(F) IN_SPACE(F, IN_GLOBAL, "global") IN_SPACE(F, IN_SHARED, "shared") \
    HALVES(F, "f16", f16x2) HALVES(F, "bf16", bf16x2) VECTOR(F, "add", "f32", "f32", "b64", u64)

/* The lines start at the instruction. */
#define JUDGE(form, operands, results) \
    print_results(strstr((form).text, "red.") ? strstr((form).text, "red.") : strstr((form).text, "atom."), (results).data(), (results).size())
#include "conformance.h"
