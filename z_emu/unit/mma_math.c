/* mma_math.c: what a tensor core adds up, to the bit.
 *
 * Modelled: one fused step D = C + sum of k products, as measured on chips (bit-accurate models of them are public;
 * the ISA leaves all of this unspecified):
 *   1. A product's exponent is the sum of its factors' exponents, its significand (in [1, 4) for normal numbers) is
 *      not normalised. Subnormals keep the format's least exponent; zero counts as exponent -126.
 *   2. All terms, C among them, are aligned to the largest exponent and truncated toward zero to `fraction` bits.
 *   3. The sum of these integers is exact. It is then truncated to f32 (or to 13 bits of fraction), or rounded to
 *      nearest even for f16. A sum of zero is +0, overflow is infinity.
 *   4. NaN, infinity times zero and opposite infinities give the one NaN, 0x7fffffff.
 *
 * Three ways to the same bits: `dot` says it in integers, one output at a time, for every input. `aligned_row`
 * says it in vectors, for inputs with sane exponents. mma_lossless.c only multiplies and adds, where it can be shown
 * that nothing is ever cut off (integers, mostly). mma_block picks.
 */
#include "mma.h"

#include <math.h>
#include <string.h>

enum { STEP = 8,                /* products summed in 32 bits: 8 * 2^27 < 2^31 */
       ZERO_EXPONENT = -126,
       LOW = -100, HIGH = 110 };        /* exponents of products and of C that aligned_row can take */

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

static int at_least(int a, int b) { return a > b ? a : b; }

/* ---- in integers: the definition */

/* m * 2^exponent toward zero, with `fraction` bits of fraction. */
static float toward_zero(int64_t m, int exponent, int fraction)
{
    if (m == 0)
        return 0;
    uint64_t size = (uint64_t)(m < 0 ? -m : m);
    int top = 63 - __builtin_clzll(size) + exponent;
    if (top > 127)
        return m < 0 ? -INFINITY : INFINITY;
    int lowest = at_least(top, -126) - fraction;        /* exponent of the last bit that stays */
    int shift = lowest - exponent;
    size = shift > 63 ? 0 : shift > 0 ? size >> shift : size << -shift;
    float f = ldexpf((float)size, lowest);
    return m < 0 && size ? -f : f;
}

/* m * 2^exponent to the nearest f16, ties to even. */
static float to_half(int64_t m, int exponent)
{
    if (m == 0)
        return 0;
    uint64_t size = (uint64_t)(m < 0 ? -m : m);
    int top = 63 - __builtin_clzll(size) + exponent;
    if (top > 16)
        return m < 0 ? -INFINITY : INFINITY;
    int lowest = at_least(top, -14) - 10, shift = lowest - exponent;
    if (shift > 63)
        return 0;
    if (shift > 0) {
        uint64_t rest = size & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        size >>= shift;
        size += rest > half || (rest == half && (size & 1));
    } else {
        size <<= -shift;
    }
    float f = ldexpf((float)size, lowest);
    f = f >= 65536 ? INFINITY : f;
    return m < 0 && size ? -f : f;
}

static float rounded(int64_t m, int exponent, enum mma_round round)
{
    if (round == MMA_TO_F16)
        return to_half(m, exponent);
    return toward_zero(m, exponent, round == MMA_TO_F32 ? 23 : 13);
}

/* A number as significand * 2^(exponent - 23). */
struct parts { int64_t significand; int exponent; };

static struct parts parts_of(float v, int emin)
{
    if (v == 0)
        return (struct parts){ 0, ZERO_EXPONENT };
    int e = at_least(ilogbf(v), emin);
    return (struct parts){ (int64_t)ldexpf(v, 23 - e), e };
}

/* Toward zero, v * 2^-shift. */
static int64_t shifted(int64_t v, int shift)
{
    if (shift <= 0)
        return v * (1ll << -shift);
    if (shift > 62)
        return 0;
    return v < 0 ? -(-v >> shift) : v >> shift;
}

void mma_add_term(struct mma_terms *t, int64_t significand, int point, int exponent)
{
    t->significand[t->n] = significand;
    t->point[t->n] = point;
    t->exponent[t->n++] = exponent;
}

void mma_add_c(struct mma_terms *t, float c)
{
    struct parts p = parts_of(c, -126);
    mma_add_term(t, p.significand, 23, p.exponent);
}

float mma_sum_of(const struct mma_terms *t, const struct mma_how *how)
{
    int top = t->exponent[0];
    for (int i = 1; i < t->n; i++)
        top = at_least(top, t->exponent[i]);
    int64_t sum = 0;
    for (int i = 0; i < t->n; i++)
        sum += shifted(t->significand[i], t->point[i] - how->fraction + top - t->exponent[i]);
    return rounded(sum, top - how->fraction, how->round);
}

/* Output (row, lane). Magnitudes: significands are below 2^24, so products are below 2^48. */
static float dot(const struct mma_block *b, int row, int lane, float c)
{
    struct mma_terms t = { .n = 0 };
    double infinities = 0;      /* no sum of finite numbers reaches infinity in f64 */
    int scale = (b->xscale ? b->xscale[row] : 0) + (b->yscale ? b->yscale[lane] : 0);
    for (int i = 0; i < b->k; i++) {
        if (b->absent && b->absent[i][lane])
            continue;
        float x = mma_special(b->xf, b->x[row * b->k + i]), y = mma_special(b->yf, b->y[i][lane]);
        infinities += (double)x * y;
        if (!isfinite(x) || !isfinite(y))
            continue;
        struct parts px = parts_of(x, b->xf->emin), py = parts_of(y, b->yf->emin);
        mma_add_term(&t, px.significand * py.significand, 46, px.exponent + py.exponent + scale);
    }
    infinities += c;
    if (!isfinite(infinities))
        return isnan(infinities) ? float_of(0x7fffffff) : (float)infinities;
    mma_add_c(&t, c);
    return mma_sum_of(&t, b->how);
}

/* ---- in vectors. Every loop over lanes below is straight code that the compiler vectorises. */

/* Exponents as step 1 wants them. */
static void exponents(const float *v, int32_t *e, int n, int emin)
{
    for (int i = 0; i < n; i++) {
        int32_t bits = bits_of(v[i]) & 0x7fffffff, field = (bits >> 23) - 127;
        field = field > emin ? field : emin;
        e[i] = bits ? field : ZERO_EXPONENT;
    }
}

static void lane_exponents(const struct mma_block *b, int32_t (*ye)[LANES])
{
    exponents(b->y[0], ye[0], b->k * LANES, b->yf->emin);
    for (int i = 0; b->absent && i < b->k; i++)
        for (int l = 0; l < LANES; l++)
            ye[i][l] = b->absent[i][l] ? -1000 : ye[i][l];
}

/* For each lane the largest exponent of STEP products, and what went before. */
static inline void raise_top(int32_t *restrict top, const int32_t *restrict xe, const int32_t (*restrict ye)[LANES])
{
    for (int l = 0; l < LANES; l++) {
        int32_t e = top[l];
        for (int i = 0; i < STEP; i++)
            e = e > xe[i] + ye[i][l] ? e : xe[i] + ye[i][l];
        top[l] = e;
    }
}

/* STEP products, aligned and cut off by the conversion to an integer, added to the total. */
static inline void add_products(double *restrict total, const float *restrict x, const float (*restrict y)[LANES],
                                const float *restrict unit)
{
    for (int l = 0; l < LANES; l++) {
        int32_t sum = 0;
        for (int i = 0; i < STEP; i++)
            sum += (int32_t)(x[i] * y[i][l] * unit[l]);
        total[l] += sum;
    }
}

/* 2^e, for a field that f32 has; 0 and the largest power beyond it. */
static inline float power(int e)
{
    int field = e + 127;
    field = field < 0 ? 0 : field > 254 ? 254 : field;
    return float_of(field << 23);
}

/* Nearest f16, ties to even: adding 1.5 * 2^(52 - 10) times the leading bit's value leaves no lower bits. */
static inline float half_of(double v)
{
    int64_t bits, top;
    memcpy(&bits, &v, 8);
    top = (bits >> 52 & 0x7ff) - 1023;
    top = top > -14 ? top : -14;
    uint64_t magic_bits = (uint64_t)(top + 42 + 1023) << 52 | 1ull << 51;
    double magic;
    memcpy(&magic, &magic_bits, 8);
    float f = (float)(v + magic - magic);
    return f >= 65536 ? INFINITY : f <= -65536 ? -INFINITY : f;
}

float mma_nearest_half(double v) { return half_of(v); }

static inline float cut_off(double v, int64_t mask)
{
    int64_t bits;
    memcpy(&bits, &v, 8);
    bits &= mask;
    memcpy(&v, &bits, 8);
    return (float)v;
}

void mma_finish(const double *total, enum mma_round round, float *d)
{
    int64_t mask = -(1ll << (round == MMA_TO_F32 ? 52 - 23 : 52 - 13));
    if (round == MMA_TO_F16)
        for (int l = 0; l < LANES; l++)
            d[l] = half_of(total[l]);
    else
        for (int l = 0; l < LANES; l++)
            d[l] = cut_off(total[l], mask);
}

/* Where the lanes of one row of outputs align, and what takes their products and C there and back. */
struct alignment {
    int32_t scale[LANES], top[LANES], bad[LANES];
    float unit[LANES], c_unit[LANES], back[LANES], c[LANES];
};

static void set_scale(const struct mma_block *b, int row, struct alignment *a)
{
    memset(a->scale, 0, sizeof a->scale);
    for (int l = 0; b->yscale && l < LANES; l++)
        a->scale[l] = b->yscale[l];
    for (int l = 0; b->xscale && l < LANES; l++)
        a->scale[l] += b->xscale[row];
}

/* The largest exponent with C; lanes where that is too large or too small are bad. */
static inline void join_c(struct alignment *restrict a, const float *restrict c, int scaled)
{
    for (int l = 0; l < LANES; l++) {
        int32_t field = bits_of(c[l]) >> 23 & 255, ec = (field > 1 ? field : 1) - 127;
        int32_t e = a->top[l] + a->scale[l];
        e = e > ec ? e : ec;
        a->bad[l] = (e > HIGH) | ((e < LOW) & (scaled | ((bits_of(c[l]) & 0x7fffffff) != 0)));
        e = e < LOW ? LOW : e;
        a->top[l] = e > HIGH ? HIGH : e;
    }
}

static inline void set_units(struct alignment *restrict a, const float *restrict c, int fraction)
{
    for (int l = 0; l < LANES; l++) {
        int32_t keep = a->bad[l] - 1;
        a->unit[l] = float_of(bits_of(power(fraction - a->top[l] + a->scale[l])) & keep);
        a->c_unit[l] = power(fraction - a->top[l]);
        a->back[l] = power(a->top[l] - fraction);
        a->c[l] = float_of(bits_of(c[l]) & keep);
    }
}

/* One row of outputs. With the largest exponent at most HIGH and the least unit at 2^(LOW - 25), nothing here
 * leaves the normal numbers of f32, but for what is cut off anyway. Bad lanes are done by `dot`. */
static void aligned_row(const struct mma_block *b, int row, const int32_t (*ye)[LANES], const float *c, float *d)
{
    const float *x = b->x + row * b->k;
    struct alignment a;
    int32_t xe[MMA_K], bad = 0;
    double total[LANES];
    exponents(x, xe, b->k, b->xf->emin);
    set_scale(b, row, &a);
    for (int l = 0; l < LANES; l++)
        a.top[l] = -1000;
    for (int i = 0; i < b->k; i += STEP)
        raise_top(a.top, xe + i, ye + i);
    join_c(&a, c, b->xscale || b->yscale);
    set_units(&a, c, b->how->fraction);
    for (int l = 0; l < LANES; l++)
        total[l] = (double)(int32_t)(a.c[l] * a.c_unit[l]);
    for (int i = 0; i < b->k; i += STEP)
        add_products(total, x + i, b->y + i, a.unit);
    for (int l = 0; l < LANES; l++) {
        total[l] *= (double)a.back[l];
        bad |= a.bad[l];
    }
    mma_finish(total, b->how->round, d);
    for (int l = 0; bad && l < LANES; l++)
        if (a.bad[l])
            d[l] = dot(b, row, l, c[l]);
}

/* ---- which of the three */

static void dot_row(const struct mma_block *b, int row, const float *c, float *d)
{
    for (int l = 0; l < LANES; l++)
        d[l] = dot(b, row, l, c[l]);
}

/* Finite, and no product's exponent beyond what aligned_row can take. */
static bool is_sane(const struct mma_block *b, const struct mma_range *x, const struct mma_range *y)
{
    return mma_largest(x) < b->xf->limit && mma_largest(y) < b->yf->limit &&
           mma_low_exponent(x) > -126 && mma_low_exponent(y) > -126 &&
           mma_low_exponent(x) + mma_low_exponent(y) >= LOW && mma_top_exponent(x) + mma_top_exponent(y) <= HIGH;
}

/* The rows from `row` on that nothing else could take. */
static void any_rows(const struct mma_block *b, int row, int n, const int32_t (*ye)[LANES])
{
    for (int r = row; r < row + n; r++) {
        float c[LANES] = { 0 };
        if (b->c)
            memcpy(c, b->c + (size_t)r * b->stride, sizeof c);
        if (ye)
            aligned_row(b, r, ye, c, b->d + (size_t)r * b->stride);
        else
            dot_row(b, r, c, b->d + (size_t)r * b->stride);
    }
}

void mma_block(const struct mma_block *b)
{
    struct mma_range x = b->xrange ? *b->xrange : mma_range_of(b->x, b->rows * b->k);
    struct mma_range y = mma_range_of(b->y[0], b->k * LANES);
    bool sane = is_sane(b, &x, &y), have_ye = false;
    float unit = sane && !b->xscale && !b->yscale ? mma_lossless_unit(b, &x, &y, LOW) : 0;
    int32_t ye[MMA_K][LANES];
    for (int row = 0; row < b->rows; row += 4) {
        int n = b->rows - row < 4 ? b->rows - row : 4;
        if (unit && n == 4 && mma_lossless_rows(b, row, unit))
            continue;
        if (sane && !have_ye)
            lane_exponents(b, ye);
        have_ye = sane;
        any_rows(b, row, n, sane ? ye : NULL);
    }
}
