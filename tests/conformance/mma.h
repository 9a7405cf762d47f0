/* mma.h: matrix instructions, one form at a time. D = A B + C with each matrix in registers of the warp: the operands
 * have fixed numbers, D8 … are the lists of registers. Values come in several sorts, from small integers, which every
 * machine must get right, to those where the order and width of the machine's sums show. */
#ifndef CONFORMANCE_MMA_H
#define CONFORMANCE_MMA_H
#include "conformance.h"

#define D1 "{%0}"
#define D2 "{%0, %1}"
#define D4 "{%0, %1, %2, %3}"
#define D8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define A1 "{%8}"
#define A2 "{%8, %9}"
#define A4 "{%8, %9, %10, %11}"
#define A8 "{%8, %9, %10, %11, %12, %13, %14, %15}"
#define B1 "{%16}"
#define B2 "{%16, %17}"
#define B4 "{%16, %17, %18, %19}"
#define B8 "{%16, %17, %18, %19, %20, %21, %22, %23}"
#define C1 "{%24}"
#define C2 "{%24, %25}"
#define C4 "{%24, %25, %26, %27}"
#define C8 "{%24, %25, %26, %27, %28, %29, %30, %31}"
#define SPARSITY "%32"

enum sort { INTEGERS, MODERATE, ANY_BITS, SPREAD, CANCELLATION, BOUNDARY, SUBNORMAL, SORTS };
static const char *const sort_names[] = { "integers", "moderate", "any bits", "spread", "cancellation", "boundary", "subnormal" };

struct format { int bits, exponent, fraction; };    /* exponent 0: an integer */
static const format f16 = { 16, 5, 10 }, bf16 = { 16, 8, 7 }, tf32 = { 32, 8, 23 }, f32 = { 32, 8, 23 }, f64 = { 64, 11, 52 },
                    e4m3 = { 8, 4, 3 }, e5m2 = { 8, 5, 2 }, s8 = { 8, 0, 0 }, u8 = s8, s4 = { 4, 0, 0 }, u4 = s4, b1 = { 32, 0, 0 }, s32 = { 32, 0, 0 };

/* 2^power with that sign and that fraction, in format f; 0 or the greatest where it has no such exponent. */
static inline uint64_t make_float(format f, bool negative, int power, uint64_t fraction)
{
    int bias = (1 << (f.exponent - 1)) - 1, field = power + bias, top = (1 << f.exponent) - 2;
    fraction &= (1ull << f.fraction) - 1;
    if (field <= 0)
        field = 0, fraction = 0;
    if (field > top)
        field = top;
    return ((uint64_t)negative << f.exponent | field) << f.fraction | fraction;
}

static inline uint64_t small_integer(format f, int value)
{
    int power = 0, magnitude = abs(value);
    while (magnitude >> (power + 1))
        power++;
    return value ? make_float(f, value < 0, power, ((uint64_t)(magnitude - (1 << power)) << f.fraction) >> power) : 0;
}

/* role: 0 for an element of A, 1 of B, 2 of C. */
static inline uint64_t element(format f, int sort, int role, uint64_t r)
{
    uint64_t bits = mix(r + 0x1234567);
    bool negative = r & 1;
    if (f.exponent == 0 || sort == ANY_BITS)
        return sort == INTEGERS && f.bits == 32 ? (bits & 0xffff) - 0x8000 : bits;
    switch (sort) {
    case INTEGERS: return small_integer(f, (int)(bits % 9) - 4);
    case MODERATE: return make_float(f, negative, (int)(r >> 8 & 3) - 2, bits);
    case SPREAD: return make_float(f, negative, (int)(r >> 8 & 63) - 32, bits);
    case CANCELLATION:      /* large terms that cancel, small ones that show what was lost */
        if (role == 1)
            return make_float(f, 0, 0, r >> 9 & 1 ? bits : 0);
        return make_float(f, negative, r >> 8 & 1 ? 7 : -(int)(r >> 10 & 15), r >> 8 & 1 ? 0 : bits);
    case BOUNDARY:          /* one large term in eight, the rest about 2^-20 to 2^-28 of it */
        if (role == 1)
            return make_float(f, 0, 0, 0);
        return make_float(f, negative, (r >> 8 & 7) == 0 ? 12 : -8 - (int)(r >> 12 & 7), r >> 16 & 1 ? bits : 0);
    default:                /* subnormal */
        return ((uint64_t)negative << (f.bits - 1)) | (bits & ((1ull << f.fraction) - 1)) | (role == 1 && r & 2 ? make_float(f, 0, 0, 0) : 0);
    }
}

static inline uint64_t packed(format f, int sort, int role, uint64_t r)
{
    uint64_t word = 0;
    int width = f.bits < 32 ? 32 : f.bits;
    for (int at = 0; at < width; at += f.bits) {
        uint64_t one = element(f, sort, role, random_bits(r * 64 + at));
        word |= (f.bits == 64 ? one : one & ((1ull << f.bits) - 1)) << at;
    }
    return word;
}

/* Selectors of sparse A: 0: two of four, 1: one of two, 2: pairs, two of four. */
static inline uint32_t selectors(int sparsity, uint64_t r)
{
    const uint32_t two_of_four[] = { 4, 8, 9, 12, 13, 14 }, one_of_two[] = { 4, 14 };
    uint32_t word = 0;
    for (int at = 0; at < 32; at += 4)
        word |= (sparsity == 1 ? one_of_two[random_bits(r + at) % 2] : two_of_four[random_bits(r + at) % 6]) << at;
    return word;
}

#ifdef FORMS        /* else the program has a frame of its own */
struct matrix_form { const char *text; format a, b, c; int sparsity; };
#define MATRIX_ROW(text, a, b, c, sparsity) { text, a, b, c, sparsity },

#define MATRIX_CASE_OF(constraint, text)                                                                              \
    case __COUNTER__ - first_form:                                                                                    \
        asm volatile(text                                                                                             \
            : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3]),                 \
              "+" constraint(d[4]), "+" constraint(d[5]), "+" constraint(d[6]), "+" constraint(d[7])                  \
            : constraint(a[0]), constraint(a[1]), constraint(a[2]), constraint(a[3]), constraint(a[4]), constraint(a[5]), \
              constraint(a[6]), constraint(a[7]), constraint(b[0]), constraint(b[1]), constraint(b[2]), constraint(b[3]), \
              constraint(b[4]), constraint(b[5]), constraint(b[6]), constraint(b[7]), constraint(c[0]), constraint(c[1]), \
              constraint(c[2]), constraint(c[3]), constraint(c[4]), constraint(c[5]), constraint(c[6]), constraint(c[7]), \
              "r"(e));                                                                                                \
        break;
#define MATRIX_CASE(text, a_, b_, c_, sparsity) MATRIX_CASE_OF(MATRIX_REGISTER, text)

enum { REGISTERS = 8, WARPS = 32 };

#ifndef MATRIX_REGISTER
#define MATRIX_REGISTER "r"
#define MATRIX_TYPE uint32_t
#endif

enum { first_form = __COUNTER__ + 1 };

__global__ void run_form(int form, const uint64_t *in, const uint32_t *metadata, uint64_t *out)
{
    int at = blockIdx.x * 32 + threadIdx.x;
    MATRIX_TYPE a[REGISTERS], b[REGISTERS], c[REGISTERS], d[REGISTERS];
    for (int i = 0; i < REGISTERS; i++) {
        memcpy(&a[i], &in[(at * 3 + 0) * REGISTERS + i], sizeof a[i]);
        memcpy(&b[i], &in[(at * 3 + 1) * REGISTERS + i], sizeof b[i]);
        memcpy(&c[i], &in[(at * 3 + 2) * REGISTERS + i], sizeof c[i]);
        d[i] = 0;
    }
    uint32_t e = metadata[at];
    switch (form) {
        FORMS(MATRIX_CASE)
    }
    for (int i = 0; i < REGISTERS; i++) {
        uint64_t word = 0;
        memcpy(&word, &d[i], sizeof d[i]);
        out[at * REGISTERS + i] = word;
    }
}

int main(int argc, char **argv)
{
    const matrix_form forms[] = { FORMS(MATRIX_ROW) };
    enum { LANES = WARPS * 32, IN = LANES * 3 * REGISTERS, OUT = LANES * REGISTERS };
    int only = argc > 1 ? atoi(argv[1]) : -1, line = 0;
    uint64_t *in, *out;
    uint32_t *metadata;
    CHECKED(cudaMalloc(&in, IN * 8));
    CHECKED(cudaMalloc(&out, OUT * 8));
    CHECKED(cudaMalloc(&metadata, LANES * 4));
    for (size_t number = 0; number < sizeof forms / sizeof forms[0]; number++) {
        const matrix_form &f = forms[number];
        for (int sort = 0; sort < SORTS; sort++, line++) {
            if (f.a.exponent == 0 && sort > ANY_BITS)
                break;
            if (only >= 0 && only != line)
                continue;
            values words, results(OUT);
            std::vector<uint32_t> chosen;
            for (int lane = 0; lane < LANES; lane++) {
                for (int i = 0; i < 3 * REGISTERS; i++) {
                    int role = i / REGISTERS;
                    words.push_back(packed(role == 0 ? f.a : role == 1 ? f.b : f.c, sort, role, lane * 64 + i));
                }
                chosen.push_back(selectors(f.sparsity, lane * 1000 + 7));
            }
            CHECKED(cudaMemcpy(in, words.data(), IN * 8, cudaMemcpyHostToDevice));
            CHECKED(cudaMemcpy(metadata, chosen.data(), LANES * 4, cudaMemcpyHostToDevice));
            run_form<<<WARPS, 32>>>(number, in, metadata, out);
            CHECKED(cudaGetLastError());
            CHECKED(cudaMemcpy(results.data(), out, OUT * 8, cudaMemcpyDeviceToHost));
            printf("%s: ", sort_names[sort]);
            print_results(f.text, results.data(), OUT);
            for (int i = 0; only >= 0 && i < OUT; i++)
                printf("%d %d: %llx\n", i / REGISTERS, i % REGISTERS, (unsigned long long)results[i]);
        }
    }
    return 0;
}
#endif
#endif
