/* wgmma_numerics.cu: how a warpgroup's multiplication adds up: values of all sorts, then terms chosen so that the width of
 * the sum, its rounding and what becomes of infinity and NaN can be read from the results.
 *
 * Probes: one row of A each. B's columns are all alike, so that the terms of a row are seen one by one. */
#define FLOAT(F, n, k, types, list, registers, d, a, b, tail) F("m64n" #n k types, GROUP(                             \
    MULTIPLY("wgmma.mma_async", "m64n" #n k types, list, A_DESCRIPTOR, "", tail)), n, registers, d, a, b, -1)
#define FP8(F, a, b) FLOAT(F, 16, "k32", ".f32." #a "." #b, TO8(), 8, f32, a, b, ", 1, 1")                            \
    FLOAT(F, 16, "k32", ".f16." #a "." #b, TO4(), 4, f16, a, b, ", 1, 1")
#define BYTES(F, a, b, sat) FLOAT(F, 16, "k32", ".s32." #a "." #b sat, TO8(), 8, s32, a, b, "")
#define WGMMA_FORMS(F) FLOAT(F, 16, "k16", ".f32.f16.f16", TO8(), 8, f32, f16, f16, ", 1, 1, 0, 0")                   \
    FLOAT(F, 16, "k16", ".f16.f16.f16", TO4(), 4, f16, f16, f16, ", 1, 1, 0, 0")                                      \
    FLOAT(F, 16, "k16", ".f32.bf16.bf16", TO8(), 8, f32, bf16, bf16, ", 1, 1, 0, 0")                                  \
    FLOAT(F, 16, "k8", ".f32.tf32.tf32", TO8(), 8, f32, tf32, tf32, ", 1, 1")                                         \
    FP8(F, e4m3, e4m3) FP8(F, e4m3, e5m2) FP8(F, e5m2, e4m3) FP8(F, e5m2, e5m2)                                       \
    BYTES(F, s8, s8, "") BYTES(F, s8, u8, ".satfinite") BYTES(F, u8, s8, "") BYTES(F, u8, u8, ".satfinite")
#include "wgmma.h"

/* ---- probes */
enum { MOST_TERMS = 32 };
struct probe { const char *name; int terms[MOST_TERMS]; };      /* see term() */
enum { C = 0, FIRST = 1 };      /* terms[0] is the accumulator, the others are products */
/* What a term of a probe is. BIG is 2^top; the small ones are 2^(top - row), times 1.5 in THREE_HALVES. */
enum { NOTHING, BIG, MINUS_BIG, SMALL, MINUS_SMALL, THREE_HALVES, MINUS_THREE_HALVES, INFINITE, MINUS_INFINITE, NOT_A_NUMBER };
static const probe probes[] = {
    { "a small product stays", { NOTHING, BIG, SMALL, MINUS_BIG } },
    { "a small product stays, in any place", { NOTHING, SMALL, NOTHING, BIG, NOTHING, NOTHING, MINUS_BIG } },
    { "a small product stays, last", { NOTHING, BIG, MINUS_BIG, NOTHING, NOTHING, NOTHING, NOTHING, SMALL } },
    { "cut off", { NOTHING, BIG, THREE_HALVES, MINUS_BIG } },
    { "cut off below zero", { NOTHING, BIG, MINUS_THREE_HALVES, MINUS_BIG } },
    { "two small ones", { NOTHING, BIG, SMALL, SMALL, MINUS_BIG } },
    { "beside a large accumulator", { BIG, SMALL, MINUS_BIG } },
    { "beside a large accumulator, cut off", { BIG, THREE_HALVES, MINUS_BIG } },
    { "small accumulator", { SMALL, BIG, MINUS_BIG } },
    { "small accumulator, cut off", { MINUS_THREE_HALVES, BIG, MINUS_BIG } },
    { "the sum's rounding", { NOTHING, BIG, SMALL } },
    { "the sum's rounding, three halves", { NOTHING, BIG, THREE_HALVES } },
    { "the sum's rounding, below", { NOTHING, BIG, MINUS_SMALL } },
    { "the sum's rounding, negative", { NOTHING, MINUS_BIG, MINUS_THREE_HALVES } },
    { "the accumulator's rounding", { BIG, SMALL, SMALL, SMALL } },
    { "a small accumulator's rounding", { THREE_HALVES, BIG } },
    { "accumulator alone", { THREE_HALVES } },
    { "carry", { NOTHING, BIG, BIG, SMALL, SMALL } },
    { "carry, four", { NOTHING, BIG, BIG, BIG, BIG, SMALL } },
    { "infinity", { NOTHING, INFINITE, SMALL } },
    { "infinity against infinity", { NOTHING, INFINITE, MINUS_INFINITE } },
    { "infinity against an infinite accumulator", { MINUS_INFINITE, INFINITE } },
    { "infinite accumulator", { MINUS_INFINITE, BIG } },
    { "NaN", { NOTHING, NOT_A_NUMBER, BIG } },
    { "NaN accumulator", { NOT_A_NUMBER, BIG } },
};
enum { PROBES = sizeof probes / sizeof probes[0] };

static int greatest_power(format f) { return (1 << (f.exponent - 1)) - 1; }

static uint64_t special(format f, int kind)
{
    uint64_t sign = kind == MINUS_INFINITE ? 1ull << (f.bits - 1) : 0, top = ((1ull << f.exponent) - 1) << f.fraction;
    return sign | top | (kind == NOT_A_NUMBER || f.exponent == 4 ? (1ull << f.fraction) - 1 : 0);
}

/* 2^power, as near as the format has it: 1.5 times that and negative ones by kind. Less than the least normal one: zero. */
static uint64_t number(format f, int kind, int power)
{
    bool negative = kind == MINUS_BIG || kind == MINUS_SMALL || kind == MINUS_THREE_HALVES;
    bool half = kind == THREE_HALVES || kind == MINUS_THREE_HALVES;
    if (kind == NOTHING)
        return 0;
    return kind >= INFINITE ? special(f, kind) : make_float(f, negative, power, half ? 1ull << (f.fraction - 1) : 0);
}

static bool is_big(int kind) { return kind == BIG || kind == MINUS_BIG; }
static int top_of(format f, int most) { return greatest_power(f) < most ? greatest_power(f) : most; }

static void put(words &tiles, int word, format f, int row, int k, uint64_t bits)
{
    int byte = row / 8 * 256 + k * f.bits / 8 / 16 * 128 + row % 8 * 16 + k * f.bits / 8 % 16;
    tiles[word + byte / 4] |= (uint32_t)bits << byte % 4 * 8;
}

/* Row r has small terms of 2^(top - shift - r): 2^-r is A's affair, 2^-shift B's and the accumulator's. */
static words probe_input(const wgmma_form &f, const probe &p, int shift)
{
    words in(AT_D + f.registers * THREADS);
    int a_top = top_of(f.a, 8), b_top = top_of(f.b, 6), top = a_top + b_top;
    for (int i = FIRST; i < MOST_TERMS && i * f.a.bits <= 256; i++) {
        int kind = p.terms[i];
        bool whole = is_big(kind) || kind >= INFINITE;
        for (int column = 0; kind != NOTHING && column < f.n; column++)
            put(in, A_WORDS, f.b, column, i - 1, number(f.b, BIG, whole ? b_top : b_top - shift));
        for (int row = 0; row < A_ROWS; row++)
            put(in, 0, f.a, row, i - 1, number(f.a, kind, whole ? a_top : a_top - row));
    }
    for (int i = 0; i < f.registers * THREADS; i++) {
        int row = i % THREADS / 32 * 16 + i % 32 / 4 + 8 * (i / THREADS / (f.d.bits == 16 ? 1 : 2) % 2);
        uint64_t c = number(f.d, p.terms[C], is_big(p.terms[C]) ? top : top - row - shift);
        in[AT_D + i] = (uint32_t)c | (f.d.bits == 16 ? (uint32_t)c << 16 : 0);
    }
    return in;
}

/* The first column, down to the row from which on all are alike. */
static void print_rows(const char *text, const char *name, int shift, const wgmma_form &f, const words &results)
{
    uint32_t column[A_ROWS];
    for (int row = 0; row < A_ROWS; row++) {
        int i = row % 16 / 8 * (f.d.bits == 16 ? 1 : 2), thread = row / 16 * 32 + row % 8 * 4;
        column[row] = results[i * THREADS + thread] & (f.d.bits == 16 ? 0xffff : 0xffffffff);
    }
    int rows = A_ROWS;
    while (rows > 1 && column[rows - 2] == column[rows - 1])
        rows--;
    printf("%s, %s, from 2^-%d on:", text, name, shift);
    for (int row = 0; row < rows; row++)
        printf(" %x", column[row]);
    printf("\n");
}

int main(int argc, char **argv)
{
    const int sorts[] = { INTEGERS, MODERATE, ANY_BITS, SPREAD, CANCELLATION, BOUNDARY, SUBNORMAL };
    run_sorts(argc, argv, sorts, SORTS, 8);
    for (int number = 0; argc == 1 && number < NUMBER_OF_FORMS; number++)
        for (int i = 0; forms[number].a.exponent && i < PROBES; i++)
            for (int shift = 0; shift <= 12; shift += 12)
                print_rows(forms[number].text, probes[i].name, shift, forms[number],
                           run(number, probe_input(forms[number], probes[i], shift), plain_a, plain_b(forms[number]), true));
    return 0;
}
