/* mma_lossless.c: products and sums of which nothing is ever cut off: integers and other numbers with few bits, which is
 * what programs check themselves with. Any order of plain multiplications and additions then yields the chip's bits, and the
 * compiler may use all of the host's vector unit.
 */
#include "mma.h"

#include <string.h>

enum { FEW = 4 };       /* rows at a time: as many independent sums as keep the host's adders busy */

/* A row of outputs as one value, so that the four rows' sums stay in the host's registers. */
typedef float lanes_f __attribute__((vector_size(4 * LANES)));
typedef int32_t lanes_i __attribute__((vector_size(4 * LANES)));

static int32_t bits_of(float f)
{
    int32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static float float_of(int32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static float power(int e) { return float_of((e + 127) << 23); }

/* ---------------------------------------------------------------- may it be used? */

struct mma_range mma_range_of(const float *v, int n)
{
    struct mma_range r = { 0, UINT32_MAX, 0 };
    for (int i = 0; i < n; i++) {
        int32_t bits = bits_of(v[i]) & 0x7fffffff;
        uint32_t less = (uint32_t)bits - 1;         /* zero becomes the largest of all */
        r.max = r.max > bits ? r.max : bits;
        r.min = r.min < less ? r.min : less;
        r.ones |= bits;
    }
    r.min += 1;
    return r;
}

float mma_largest(const struct mma_range *r) { return float_of(r->max); }
int mma_top_exponent(const struct mma_range *r) { return r->max ? (r->max >> 23) - 127 : 0; }
int mma_low_exponent(const struct mma_range *r) { return r->max ? (int)(r->min >> 23) - 127 : 0; }

/* Every number is a multiple of 2^(top exponent - span). */
static int span_of(const struct mma_range *r)
{
    int32_t ones = r->ones & 0x7fffff;
    return mma_top_exponent(r) - mma_low_exponent(r) + (ones ? 23 - __builtin_ctz((unsigned)ones) : 0);
}

/* The unit 2^u that makes plain f32 arithmetic exact.
 *
 * Let x be multiples of 2^(X-sx) below 2^(X+1), y the same with Y and sy, u = X+Y-sx-sy. A product is a multiple
 * of 2^u below 2^(u+sx+sy+2), the sum of k of them is below 2^(u+23) if sx+sy+2+log2(k) <= 23. If C too is a
 * multiple of 2^u below 2^(u+23) (c_allows), every partial sum in any order is a multiple of 2^u of at most
 * 24 bits: f32 holds it. Nor does alignment cut anything off: the largest exponent E is at most the larger of X+Y
 * and C's (a zero's -126 plus X is not larger, as Y > -126), so that E-F <= u if sx+sy <= F and C < 2^(u+F+1). */
float mma_lossless_unit(const struct mma_block *b, const struct mma_range *x, const struct mma_range *y, int low)
{
    int span = span_of(x) + span_of(y), products = 32 - __builtin_clz((unsigned)b->k - 1);
    int u = mma_top_exponent(x) + mma_top_exponent(y) - span;
    bool sums_fit = span + 2 + products <= 23 && span <= b->how->fraction;
    return sums_fit && u >= low ? power(u) : 0;
}

/* Are all of these multiples of the unit, below 2^bits of them? Added to a number whose last bit is worth one unit, a
 * multiple of it comes back unchanged. NaN is larger than any limit. */
static bool c_allows(const lanes_f *c, float unit, int bits)
{
    const float shifter = 0x1.8p23f * unit;
    const int32_t limit = bits_of(power(bits) * unit);
    lanes_i wrong = { 0 };
    for (int r = 0; r < FEW; r++) {
        lanes_f back = c[r] + shifter - shifter;
        lanes_i size = (lanes_i)c[r] & 0x7fffffff;
        wrong |= size ^ ((lanes_i)back & 0x7fffffff);
        wrong |= (limit - 1 - size) >> 31;      /* all ones when the size is at least the limit */
    }
    int32_t any = 0;
    for (int l = 0; l < LANES; l++)
        any |= wrong[l];
    return !any;
}

/* ---------------------------------------------------------------- sums */

static inline void add_products(lanes_f *sum, const float *x, const float (*y)[LANES], int k)
{
    lanes_f s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (int i = 0; i < k; i++) {
        lanes_f v;
        memcpy(&v, y[i], sizeof v);
        s0 += v * x[i];
        s1 += v * x[k + i];
        s2 += v * x[2 * k + i];
        s3 += v * x[3 * k + i];
    }
    sum[0] = s0, sum[1] = s1, sum[2] = s2, sum[3] = s3;
}

void mma_four_rows(const float *x, const float (*y)[LANES], int k, const float (*c)[LANES], float (*d)[LANES])
{
    lanes_f sum[FEW];
    memcpy(sum, c, sizeof sum);
    for (int r = 0; r < FEW; r++)
        sum[r] += 0.0f;         /* -0 + 0 is +0 */
    add_products(sum, x, y, k);
    memcpy(d, sum, sizeof sum);
}

static void round_row(enum mma_round round, float *d)
{
    double total[LANES];
    for (int l = 0; l < LANES; l++)
        total[l] = d[l];
    mma_finish(total, round, d);
}

bool mma_lossless_rows(const struct mma_block *b, int row, float unit)
{
    lanes_f sum[FEW] = { { 0 } };
    for (int r = 0; b->c && r < FEW; r++)
        memcpy(&sum[r], b->c + (size_t)(row + r) * b->stride, sizeof sum[r]);
    if (b->c && !c_allows(sum, unit, b->how->fraction < 22 ? b->how->fraction + 1 : 23))
        return false;
    for (int r = 0; r < FEW; r++)
        sum[r] += 0.0f;
    add_products(sum, b->x + row * b->k, b->y, b->k);
    for (int r = 0; r < FEW; r++) {
        float *d = b->d + (size_t)(row + r) * b->stride;
        memcpy(d, &sum[r], sizeof sum[r]);
        if (b->how->round != MMA_TO_F32)
            round_row(b->how->round, d);
    }
    return true;
}
