/* conformance.h: runs PTX instructions one form at a time and prints what they yield, so that a chip's output
 * (tests/golden/, made by `make golden`) can be compared with the emulator's. A program is a list of forms:
 *
 *     #define FORMS(F) F("add.u32 %0, %1, %2;", u32, u32, u32, none) …
 *     #include "conformance.h"
 *
 * %0 is the result, %1 to %3 are the operands; the kinds after the text say which values they take: those of a table
 * of edge cases, crossed, then a fixed pseudo-random stream. One line is printed for each form: its text, the
 * number of results, their hash, the first of them. `program N` prints all results of form N with their operands.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECKED(call) checked(call, #call)
static inline void checked(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/* ---------------------------------------------------------------- hash, random numbers, one line per form */
static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 30; x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27; x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t random_bits(uint64_t i) { return mix((i + 1) * 0x9e3779b97f4a7c15u); }

static inline void print_results(const char *text, const uint64_t *results, size_t n)
{
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++)
        hash = mix(hash ^ results[i]) + i;
    printf("%s  %zu %016llx", text, n, (unsigned long long)hash);
    for (size_t i = 0; i < n && i < 4; i++)
        printf(" %llx", (unsigned long long)results[i * (n / 4 ? n / 4 : 1)]);
    printf("\n");
}

/* ---------------------------------------------------------------- kinds of operands */
typedef std::vector<uint64_t> values;

static inline values edges_u16() { return { 0, 1, 2, 3, 7, 8, 15, 16, 17, 0x7f, 0x80, 0xff, 0x100, 0x5555, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff }; }
static inline values edges_u32() { return { 0, 1, 2, 3, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x55555555, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001, 0xfedcba98, 0xfffffffe, 0xffffffff }; }
static inline values edges_u64() { return { 0, 1, 2, 3, 63, 64, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x5555555555555555, 0x123456789abcdef0, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xfedcba9876543210, 0xffffffff00000000, 0xfffffffffffffffe, 0xffffffffffffffff }; }
static inline values edges_count() { return { 0, 1, 2, 7, 8, 15, 16, 17, 30, 31, 32, 33, 47, 63, 64, 65, 127, 128, 255, 256, 0x120, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff }; }
static inline values edges_place() { return { 0, 1, 2, 7, 8, 15, 16, 17, 24, 30, 31 }; }
static inline values edges_f16() { return { 0, 0x8000, 1, 0x8001, 0x200, 0x3ff, 0x83ff, 0x400, 0x8400, 0x401, 0x1000, 0x3555, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x4000, 0x4200, 0x6400, 0x6bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7fff, 0xffff }; }
static inline values edges_bf16() { return { 0, 0x8000, 1, 0x8001, 0x40, 0x7f, 0x807f, 0x80, 0x8080, 0x81, 0x2000, 0x3eab, 0x3f00, 0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x4000, 0x4040, 0x4b00, 0x6000, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0, 0x7fff, 0xffff }; }
static inline values edges_f32() { return { 0, 0x80000000, 1, 0x80000001, 0x400000, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x800001, 0x1000000, 0x33800000, 0x3eaaaaab, 0x3f000000, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x3fc00000, 0x40000000, 0x40200000, 0x40490fdb, 0x4b000000, 0x4b7fffff, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x5f000000, 0x7effffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc12345, 0x7fffffff }; }
static inline values edges_f64() { return { 0, 0x8000000000000000, 1, 0x8000000000000001, 0x8000000000000, 0xfffffffffffff, 0x10000000000000, 0x8010000000000000, 0x10000000000001, 0x20000000000000, 0x3690000000000000, 0x36a0000000000001, 0x3810000000000000, 0x3ca0000000000000, 0x3fd5555555555555, 0x3fe0000000000000, 0x3fefffffffffffff, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001, 0x3ff0000010000000, 0x3ff8000000000000, 0x4000000000000000, 0x4004000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x7fe0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 0xfff8123456789abc }; }
static inline values pairs(const values &one)
{
    values result;
    for (size_t i = 0; i < one.size(); i++)
        result.push_back(one[i] | one[(i * 7 + 3) % one.size()] << 16);
    return result;
}
static inline values without_zero(values all) { all.erase(all.begin()); return all; }
static inline values edges_f16x2() { return pairs(edges_f16()); }
static inline values edges_bf16x2() { return pairs(edges_bf16()); }
static inline values edges_nz16() { return without_zero(edges_u16()); }
static inline values edges_nz32() { return without_zero(edges_u32()); }
static inline values edges_nz64() { return without_zero(edges_u64()); }
static inline values edges_flag() { return { 0, 1 }; }
static inline values edges_none() { return { 0 }; }
static inline values edges_fp8x2() { values all; for (int i = 0; i < 256; i++) all.push_back(i | (i * 37 + 5 & 255) << 8); return all; }

/* Half of the random numbers are any bits; of floats the other half is near 1, so that roundings and cancellation occur. */
static inline uint64_t near_one(uint64_t bits, int exponent_bits, int fraction_bits)
{
    uint64_t one = ((1ull << (exponent_bits - 1)) - 1) << fraction_bits;
    uint64_t fraction = bits & ((1ull << fraction_bits) - 1), sign = bits >> 63;
    return (one + fraction + (bits >> 54 & 7) * (1ull << fraction_bits) - (4ull << fraction_bits)) | sign << (exponent_bits + fraction_bits);
}
static inline uint64_t any_or_near_one(uint64_t i, int e, int f) { return i & 1 ? near_one(random_bits(i), e, f) : random_bits(i); }
static inline uint64_t random_u16(uint64_t i) { return random_bits(i) & 0xffff; }
static inline uint64_t random_u32(uint64_t i) { return (uint32_t)random_bits(i) >> (random_bits(i) >> 32 & (i & 1 ? 31 : 0)); }
static inline uint64_t random_u64(uint64_t i) { return random_bits(i) >> (mix(random_bits(i)) & (i & 1 ? 63 : 0)); }
static inline uint64_t random_count(uint64_t i) { return random_bits(i) & 127; }
static inline uint64_t random_place(uint64_t i) { return random_bits(i) & 31; }
static inline uint64_t random_f16(uint64_t i) { return any_or_near_one(i, 5, 10) & 0xffff; }
static inline uint64_t random_bf16(uint64_t i) { return any_or_near_one(i, 8, 7) & 0xffff; }
static inline uint64_t random_f32(uint64_t i) { return (uint32_t)any_or_near_one(i, 8, 23); }
static inline uint64_t random_f64(uint64_t i) { return any_or_near_one(i, 11, 52); }
static inline uint64_t random_f16x2(uint64_t i) { return random_f16(i) | random_f16(mix(i) | (i & 1)) << 16; }
static inline uint64_t random_bf16x2(uint64_t i) { return random_bf16(i) | random_bf16(mix(i) | (i & 1)) << 16; }
static inline uint64_t random_nz16(uint64_t i) { return random_u16(i) | 1; }
static inline uint64_t random_nz32(uint64_t i) { return random_u32(i) | 1; }
static inline uint64_t random_nz64(uint64_t i) { return random_u64(i) | 1; }
static inline uint64_t random_flag(uint64_t i) { return random_bits(i) & 1; }
static inline uint64_t random_none(uint64_t) { return 0; }
static inline uint64_t random_fp8x2(uint64_t i) { return random_bits(i) & 0xffff; }

struct kind { values edges; uint64_t (*random)(uint64_t); };

enum { RANDOM = 2048, MOST = 20000 };

/* All combinations of edges (of long tables, beyond MOST combinations, a fixed selection), then random operands. */
static inline void make_operands(const kind *kinds, values *operands)
{
    size_t na = kinds[0].edges.size(), nb = kinds[1].edges.size(), nc = kinds[2].edges.size(), all = na * nb * nc;
    size_t n = all < MOST ? all : MOST;
    for (size_t i = 0; i < n; i++) {
        size_t at = all < MOST ? i : random_bits(i) % all;
        operands[0].push_back(kinds[0].edges[at % na]);
        operands[1].push_back(kinds[1].edges[at / na % nb]);
        operands[2].push_back(kinds[2].edges[at / na / nb]);
    }
    for (size_t i = 0; i < RANDOM; i++)
        for (int k = 0; k < 3; k++)
            operands[k].push_back(kinds[k].random(i + k * 1000003));
}

#if defined FORMS && !defined CONFORMANCE_MMA_H     /* matrix instructions have a frame of their own */
/* ---------------------------------------------------------------- the forms */
#define REG_u16 uint16_t
#define IN_u16 "h"
#define REG_u32 uint32_t
#define IN_u32 "r"
#define REG_u64 uint64_t
#define IN_u64 "l"
#define REG_nz16 uint16_t
#define IN_nz16 "h"
#define REG_nz32 uint32_t
#define IN_nz32 "r"
#define REG_nz64 uint64_t
#define IN_nz64 "l"
#define REG_count uint32_t
#define IN_count "r"
#define REG_place uint32_t
#define IN_place "r"
#define REG_f16 uint16_t
#define IN_f16 "h"
#define REG_bf16 uint16_t
#define IN_bf16 "h"
#define REG_f16x2 uint32_t
#define IN_f16x2 "r"
#define REG_bf16x2 uint32_t
#define IN_bf16x2 "r"
#define REG_f32 uint32_t
#define IN_f32 "r"
#define REG_f64 uint64_t
#define IN_f64 "l"
#define REG_flag uint32_t
#define IN_flag "r"
#define REG_none uint32_t
#define IN_none "r"
#define REG_fp8x2 uint16_t
#define IN_fp8x2 "h"

#define KIND(name) { edges_##name(), random_##name }

struct form { const char *text; kind kinds[3]; };

#define FORM_ROW(text, D, A, B, C) { text, { KIND(A), KIND(B), KIND(C) } },
#define FORM_CASE(text, D, A, B, C)                                                                          \
    case __COUNTER__ - first_form: {                                                                         \
        REG_##D d;                                                                                           \
        asm volatile(text : "=" IN_##D(d) : IN_##A((REG_##A)a[i]), IN_##B((REG_##B)b[i]), IN_##C((REG_##C)c[i])); \
        out[i] = d;                                                                                          \
        break;                                                                                               \
    }

/* PTX at the kernel's start: variables that all forms share. */
#ifndef DECLARE
#define DECLARE ""
#endif

enum { first_form = __COUNTER__ + 1 };

__global__ void run_form(int form, int n, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    asm volatile(DECLARE);
    switch (form) {
        FORMS(FORM_CASE)
    }
}

static values run(int number, const values *operands)
{
    size_t n = operands[0].size();
    uint64_t *device[4];
    for (int k = 0; k < 4; k++)
        CHECKED(cudaMalloc(&device[k], n * sizeof(uint64_t)));
    for (int k = 0; k < 3; k++)
        CHECKED(cudaMemcpy(device[k], operands[k].data(), n * sizeof(uint64_t), cudaMemcpyHostToDevice));
    run_form<<<(n + 127) / 128, 128>>>(number, n, device[0], device[1], device[2], device[3]);
    CHECKED(cudaGetLastError());
    values results(n);
    CHECKED(cudaMemcpy(results.data(), device[3], n * sizeof(uint64_t), cudaMemcpyDeviceToHost));
    for (int k = 0; k < 4; k++)
        CHECKED(cudaFree(device[k]));
    return results;
}

#ifndef JUDGE
#define JUDGE(form, operands, results) print_results((form).text, (results).data(), (results).size())
#endif

int main(int argc, char **argv)
{
    const form forms[] = { FORMS(FORM_ROW) };
    int only = argc > 1 ? atoi(argv[1]) : -1, number = 0;
    for (const form &f : forms) {
        if (only < 0 || only == number) {
            values operands[3];
            make_operands(f.kinds, operands);
            values results = run(number, operands);
            JUDGE(f, operands, results);
            for (size_t i = 0; only >= 0 && i < results.size(); i++)
                printf("%llx %llx %llx: %llx\n", (unsigned long long)operands[0][i], (unsigned long long)operands[1][i],
                       (unsigned long long)operands[2][i], (unsigned long long)results[i]);
        }
        number++;
    }
    return 0;
}
#endif
#endif
