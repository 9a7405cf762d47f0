/* z_check.h: inputs whose right answer is known to the bit, and the check of that answer. Host C only, no CUDA.
 *
 * A and B hold small integers, drawn so that the absolute values of the products of any one output sum to at
 * most 2048. fp16 holds every integer up to 2048 exactly, so every partial sum is exact in fp32, and in fp16
 * too, in whatever order a kernel adds: a right result is right to the bit, and the check is equality. There is
 * no tolerance to hide an error in.
 *
 * In this file: 1 host memory   2 fp16   3 random numbers and inputs   4 guards   5 the check of a gemm
 *               6 its two ways   7 the check of a vector
 */
#ifndef Z_CHECK_H
#define Z_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ 1 host memory */

/* realloc that does not fail; from NULL it is malloc. */
static inline void *reallocate(void *memory, size_t bytes)
{
    memory = realloc(memory, bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "out of host memory: %zu bytes\n", bytes);
        exit(3);
    }
    return memory;
}

static inline void *allocate(size_t bytes) { return reallocate(NULL, bytes); }
static inline void *allocate_zeros(size_t bytes) { return memset(allocate(bytes), 0, bytes); }

/* ------------------------------------------------------------------ 2 fp16 */

typedef uint16_t half;              /* its bits; what device code calls half */

static inline float half_to_float(half h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    float value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf((float)fraction, -24);
    else
        value = ldexpf((float)(fraction | 1024), exponent - 25);
    return h & 0x8000 ? -value : value;
}

/* Rounds to nearest, ties to even. */
static inline half half_from_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    const half sign = (half)(bits >> 16 & 0x8000);
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
        return sign | 0x7E00;                                   /* NaN */
    if (magnitude >= 0x477FF000)
        return sign | 0x7C00;                                   /* 65520 and more: infinity */
    if (magnitude < 0x38800000)                                 /* below 2^-14: a multiple of 2^-24 */
        return sign | (half)lrintf(ldexpf(fabsf(f), 24));
    const uint32_t odd = magnitude >> 13 & 1;
    return sign | (half)((magnitude + 0xFFF + odd - 0x38000000) >> 13);
}

/* ------------------------------------------------------------------ 3 random numbers and inputs */

/* 64 random bits for each index: numbers do not depend on the order in which they are drawn. Steele's
 * splitmix64. */
static inline uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * 0xD1342543DE82EF95 + (index + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

enum {
    EXACT_MAX = 2048,               /* fp16 holds all integers up to here */
    A_MAX = 3, B_MAX = 2,
    A_ROW_MAX = EXACT_MAX / B_MAX,  /* what the absolute values of a row of A may sum to */
    A_ROW_NONZERO = 400             /* how many of a row's elements are not zero, on average: 800 of the 1024 */
};

/* A: ±1, ±2 or ±3; in rows longer than 400 all but about 400 of the elements are zero, at random places. A row
 * stops at its budget, so the bound on the sums holds for certain, not on average; few rows ever meet it. */
static inline int8_t *integers_a(int m, int k, uint64_t seed)
{
    int8_t *a = allocate((size_t)m * k);
    const uint64_t keep = k <= A_ROW_NONZERO ? UINT32_MAX : (uint64_t)UINT32_MAX * A_ROW_NONZERO / (uint64_t)k;
    for (int row = 0; row < m; row++) {
        int budget = A_ROW_MAX;
        for (int col = 0; col < k; col++) {
            const size_t at = (size_t)row * k + col;
            const uint64_t bits = random_bits(seed, at);
            int magnitude = (uint32_t)bits <= keep ? 1 + (int)((bits >> 32 & 0xFFFF) % A_MAX) : 0;
            magnitude = magnitude < budget ? magnitude : budget;
            budget -= magnitude;
            a[at] = (int8_t)(bits >> 63 ? -magnitude : magnitude);
        }
    }
    return a;
}

/* B: ±1 or ±2, nowhere zero, so that no product is lost. */
static inline int8_t *integers_b(int n, int k, uint64_t seed)
{
    const size_t count = (size_t)n * k;
    int8_t *b = allocate(count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = random_bits(~seed, i);
        const int magnitude = 1 + (int)(bits & 1);
        b[i] = (int8_t)(bits >> 63 ? -magnitude : magnitude);
    }
    return b;
}

/* Scales for the columns of C: 1/4, 1/2, 1, 2, 4 or minus that. What is exact stays exact when it is multiplied by
 * one of them. */
static inline float *powers_of_two(int count, uint64_t seed)
{
    float *scale = allocate((size_t)count * sizeof *scale);
    for (int i = 0; i < count; i++) {
        const uint64_t bits = random_bits(seed + 17, (uint64_t)i);
        scale[i] = ldexpf(bits >> 63 ? -1 : 1, (int)((bits & 0xFFFF) % 5) - 2);
    }
    return scale;
}

enum { SUM_MAX = 1 << 24 };         /* fp32 holds all integers up to here */

/* Numbers to be summed up: integers from 1 up, none of which can be lost without a trace, that sum to at most sum_max.
 * Of more numbers than that most have to be zero. */
static inline float *floats_to_sum(size_t count, size_t sum_max, uint64_t seed)
{
    float *x = allocate(count * sizeof *x);
    const uint64_t most = count < sum_max / 1000 ? 1000 : count <= sum_max ? sum_max / count : 1;
    const uint64_t keep = count <= sum_max ? UINT32_MAX : (uint64_t)UINT32_MAX * (sum_max / 2) / count;
    size_t budget = sum_max;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = random_bits(seed, i);
        size_t value = (uint32_t)bits <= keep ? 1 + (bits >> 32) % most : 0;
        value = value < budget ? value : budget;
        budget -= value;
        x[i] = (float)value;
    }
    return x;
}

static inline void halves_from_integers(half *out, const int8_t *in, size_t count)
{
    half table[256];
    for (int i = 0; i < 256; i++)
        table[i] = half_from_float((float)(int8_t)i);
    for (size_t i = 0; i < count; i++)
        out[i] = table[(uint8_t)in[i]];
}

/* N(0, 1), by Box and Muller: what kernels are timed on, since power depends on how many bits flip. */
static inline void halves_normal(half *out, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i += 2) {
        const uint64_t bits = random_bits(seed, i);
        const float radius = sqrtf(-2 * logf(((float)(uint32_t)(bits >> 40) + 1) * 0x1p-24f));
        const float angle = (float)(uint32_t)(bits & 0xFFFFFF) * (6.28318531f * 0x1p-24f);
        out[i] = half_from_float(radius * cosf(angle));
        if (i + 1 < count)
            out[i + 1] = half_from_float(radius * sinf(angle));
    }
}

/* ------------------------------------------------------------------ 4 guards
 *
 * The output lies between two guards. Before the kernel runs, the output is filled with POISON, which as fp16
 * and as fp32 is a NaN, and the guards with GUARD_BYTE: what was not written, and what was written where it
 * should not be, shows.
 */

enum { GUARD_BYTES = 64 * 1024, GUARD_BYTE = 0xA5, POISON_BYTE = 0xFF, POISON_HALF = 0xFFFF };

/* Offset of the first byte changed in either guard around `bytes` of output (negative: before it); 0 if there
 * is none. */
static inline long long guard_damage(const uint8_t *image, size_t bytes)
{
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        if (image[GUARD_BYTES + bytes + i] != GUARD_BYTE)
            return (long long)(bytes + i);
        if (image[GUARD_BYTES - 1 - i] != GUARD_BYTE)
            return -(long long)i - 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ 5 the check of a gemm */

struct verdict {
    bool pass;
    char method[100];               /* how it was checked */
    char reason[240];               /* what is wrong, when it did not pass */
};

struct gemm_check {
    const int8_t *a, *b;
    int16_t *c;                     /* the result as integers */
    int m, n, k;
    uint64_t seed;
    bool *row_wrong, *col_wrong;
    size_t unwritten, not_integer;
};

enum { NOT_AN_INTEGER = INT16_MIN };

/* NaN, infinities, fractions and what fp16 cannot count exactly are no right answer whatever the question. */
static inline int16_t half_to_integer(half h)
{
    const float value = half_to_float(h);
    return value >= -EXACT_MAX && value <= EXACT_MAX && value == (float)(int)value ? (int16_t)value : NOT_AN_INTEGER;
}

static inline void mark_wrong(struct gemm_check *g, int row, int col)
{
    g->row_wrong[row] = true;
    g->col_wrong[col] = true;
}

static inline void read_result(struct gemm_check *g, const half *c)
{
    int16_t *table = allocate(65536 * sizeof *table);
    for (int i = 0; i < 65536; i++)
        table[i] = half_to_integer((half)i);
    for (int row = 0; row < g->m; row++)
        for (int col = 0; col < g->n; col++) {
            const size_t at = (size_t)row * g->n + col;
            g->c[at] = table[c[at]];
            if (g->c[at] != NOT_AN_INTEGER)
                continue;
            mark_wrong(g, row, col);
            g->unwritten += c[at] == POISON_HALF;
            g->not_integer += c[at] != POISON_HALF;
        }
    free(table);
}

/* The right value of one output. */
static inline int expected(const struct gemm_check *g, int row, int col)
{
    const int8_t *a = g->a + (size_t)row * g->k, *b = g->b + (size_t)col * g->k;
    int sum = 0;
    for (int i = 0; i < g->k; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline void compare_element(struct gemm_check *g, int row, int col)
{
    if (g->c[(size_t)row * g->n + col] != expected(g, row, col))
        mark_wrong(g, row, col);
}

/* How many of `count` flags are set, with the first and the last. */
static inline int count_set(const bool *flag, int count, int *first, int *last)
{
    int set = 0;
    *first = *last = -1;
    for (int i = 0; i < count; i++)
        if (flag[i]) {
            *first = set++ ? *first : i;
            *last = i;
        }
    return set;
}

static inline void value_text(half h, char text[32])
{
    if (h == POISON_HALF)
        strcpy(text, "was never written, should be");
    else if (isnan(half_to_float(h)))
        strcpy(text, "is NaN, not");
    else
        sprintf(text, "is %g, not", half_to_float(h));
}

static inline void describe_wrong(const struct gemm_check *g, const half *c, struct verdict *v)
{
    int row, last_row, col = 0, first_col, last_col;
    const int rows = count_set(g->row_wrong, g->m, &row, &last_row);
    const int cols = count_set(g->col_wrong, g->n, &first_col, &last_col);
    row = row < 0 ? 0 : row;
    while (col < g->n - 1 && g->c[(size_t)row * g->n + col] == expected(g, row, col))
        col++;
    char value[32];
    value_text(c[(size_t)row * g->n + col], value);
    int used = snprintf(v->reason, sizeof v->reason,
                        "c[%d][%d] %s %d; wrong in %d of %d rows (%d to %d) and %d of %d columns (%d to %d)", row, col,
                        value, expected(g, row, col), rows, g->m, row, last_row, cols, g->n, first_col, last_col);
    if (g->unwritten + g->not_integer)
        snprintf(v->reason + used, sizeof v->reason - (size_t)used, "; %zu never written, %zu NaN or no exact integer",
                 g->unwritten, g->not_integer);
}

/* ------------------------------------------------------------------ 6 its two ways: every element, or Freivalds */

enum { FULL_CHECK_PRODUCTS = 1 << 27, SAMPLES = 8 };

static inline void check_every_element(struct gemm_check *g)
{
    for (int row = 0; row < g->m; row++)
        for (int col = 0; col < g->n; col++)
            compare_element(g, row, col);
}

/* The first, the last, and others at random. */
static inline int sample(const struct gemm_check *g, int i, int count)
{
    return i == 0 ? 0 : i == 1 ? count - 1 : (int)(random_bits(g->seed + 7, (uint64_t)i) % (uint64_t)count);
}

static inline void check_samples(struct gemm_check *g)
{
    for (int i = 0; i < SAMPLES; i++) {
        for (int col = 0; col < g->n; col++)
            compare_element(g, sample(g, i, g->m), col);
        for (int row = 0; row < g->m; row++)
            compare_element(g, row, sample(g, i, g->n));
    }
}

/* Freivalds' test. For a vector x of random integers, C x must equal A (B^T x), row by row: three products of a
 * matrix and a vector, instead of one of two matrices, and every element of C takes part. A row with a wrong
 * element passes only if its errors e satisfy e·x = 0; arithmetic is modulo 2^64 and x is uniform there, so an
 * error of less than 2^13 slips through once in 2^51. The same from the left, (u^T A) B^T against u^T C, says
 * which columns are wrong. */
static inline void check_rows_by_freivalds(struct gemm_check *g)
{
    uint64_t *x = allocate((size_t)g->n * sizeof *x);
    uint64_t *y = allocate_zeros((size_t)g->k * sizeof *y);     /* B^T x */
    for (int col = 0; col < g->n; col++) {
        x[col] = random_bits(g->seed + 11, (uint64_t)col);
        for (int i = 0; i < g->k; i++)
            y[i] += x[col] * (uint64_t)g->b[(size_t)col * g->k + i];
    }
    for (int row = 0; row < g->m; row++) {
        uint64_t difference = 0;
        for (int i = 0; i < g->k; i++)
            difference += y[i] * (uint64_t)g->a[(size_t)row * g->k + i];
        for (int col = 0; col < g->n; col++)
            difference -= x[col] * (uint64_t)g->c[(size_t)row * g->n + col];
        g->row_wrong[row] |= difference != 0;
    }
    free(x);
    free(y);
}

static inline void check_columns_by_freivalds(struct gemm_check *g)
{
    uint64_t *y = allocate_zeros((size_t)g->k * sizeof *y);     /* u^T A */
    uint64_t *z = allocate_zeros((size_t)g->n * sizeof *z);     /* u^T C */
    for (int row = 0; row < g->m; row++) {
        const uint64_t u = random_bits(g->seed + 13, (uint64_t)row);
        for (int i = 0; i < g->k; i++)
            y[i] += u * (uint64_t)g->a[(size_t)row * g->k + i];
        for (int col = 0; col < g->n; col++)
            z[col] += u * (uint64_t)g->c[(size_t)row * g->n + col];
    }
    for (int col = 0; col < g->n; col++) {
        for (int i = 0; i < g->k; i++)
            z[col] -= y[i] * (uint64_t)g->b[(size_t)col * g->k + i];
        g->col_wrong[col] |= z[col] != 0;
    }
    free(y);
    free(z);
}

/* C = A B^T, by integers: a is m x k, b is n x k, c is m x n. */
static inline struct verdict check_gemm(const int8_t *a, const int8_t *b, const half *c, int m, int n, int k,
                                        uint64_t seed)
{
    struct verdict v = { .pass = false };
    struct gemm_check g = { .a = a, .b = b, .c = allocate((size_t)m * n * sizeof *g.c), .m = m, .n = n, .k = k,
                            .seed = seed, .row_wrong = allocate_zeros((size_t)m + n) };
    g.col_wrong = g.row_wrong + m;
    read_result(&g, c);
    if ((double)m * n * k <= FULL_CHECK_PRODUCTS) {
        check_every_element(&g);
        snprintf(v.method, sizeof v.method, "each of the %zu elements", (size_t)m * n);
    } else {
        check_samples(&g);
        check_rows_by_freivalds(&g);
        check_columns_by_freivalds(&g);
        snprintf(v.method, sizeof v.method, "Freivalds over all %zu elements, %d rows and %d columns in full",
                 (size_t)m * n, SAMPLES, SAMPLES);
    }
    int first, last;
    v.pass = count_set(g.row_wrong, m + n, &first, &last) == 0;
    if (!v.pass)
        describe_wrong(&g, c, &v);
    free(g.c);
    free(g.row_wrong);
    return v;
}

/* What was there before it was multiplied by a power of two; NaN if there is no such fp16. Poison stays poison. */
static inline half unscaled(half h, float scale)
{
    const half before = half_from_float(half_to_float(h) / scale);
    if (h == POISON_HALF)
        return h;
    return half_to_float(before) * scale == half_to_float(h) ? before : 0x7E00;
}

/* C = A B^T, column j multiplied by scale[j], a power of two. Takes the scales off again: what is reported is the
 * product without them. Overwrites c. */
static inline struct verdict check_scaled_gemm(const int8_t *a, const int8_t *b, const float *scale, half *c, int m, int n,
                                               int k, uint64_t seed)
{
    for (int row = 0; row < m; row++)
        for (int col = 0; col < n; col++)
            c[(size_t)row * n + col] = unscaled(c[(size_t)row * n + col], scale[col]);
    return check_gemm(a, b, c, m, n, k, seed);
}

/* Says of which of several products the verdict is. */
static inline void name_group(struct verdict *v, int group, int groups)
{
    const struct verdict one = *v;
    snprintf(v->method, sizeof v->method, "every element of %d products", groups);
    if (!v->pass)
        snprintf(v->reason, sizeof v->reason, "group %d: %.220s", group, one.reason);
}

/* ------------------------------------------------------------------ 7 the check of a vector */

static inline struct verdict check_vector(const float *got, const float *want, size_t count)
{
    struct verdict v = { .pass = true };
    size_t wrong = 0, first = 0;
    for (size_t i = count; i-- > 0;)
        if (!(got[i] == want[i])) {             /* written so that a NaN is wrong */
            wrong++;
            first = i;
        }
    snprintf(v.method, sizeof v.method, count > 1 ? "each of the %zu elements" : "the one element", count);
    if (wrong) {
        v.pass = false;
        snprintf(v.reason, sizeof v.reason, "element %zu is %g, not %g; %zu of %zu elements are wrong", first,
                 got[first], want[first], wrong, count);
    }
    return v;
}

#endif
