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
 * says it in vectors, for inputs with sane exponents. `mma_four_rows` only multiplies and adds, where it can be
 * shown that nothing is ever cut off (integers, mostly). mma_block picks.
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

static void finish(const double *total, enum mma_round round, float *d)
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
    finish(total, b->how->round, d);
    for (int l = 0; bad && l < LANES; l++)
        if (a.bad[l])
            d[l] = dot(b, row, l, c[l]);
}

/* ---- where nothing is cut off */

/* Of the magnitudes of some numbers: the largest and the least that is not zero, and all their fraction bits. */
struct range { int32_t max; uint32_t min; int32_t ones; };

static struct range range_of(const float *v, int n)
{
    struct range r = { 0, UINT32_MAX, 0 };
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

static int top_exponent(const struct range *r) { return r->max ? (r->max >> 23) - 127 : 0; }
static int low_exponent(const struct range *r) { return r->max ? (int)(r->min >> 23) - 127 : 0; }

/* Every number is a multiple of 2^(top_exponent - span). */
static int span_of(const struct range *r)
{
    int32_t ones = r->ones & 0x7fffff;
    return top_exponent(r) - low_exponent(r) + (ones ? 23 - __builtin_ctz((unsigned)ones) : 0);
}

/* Whether aligned_row may be used at all. */
static bool is_sane(const struct mma_block *b, const struct range *x, const struct range *y)
{
    return float_of(x->max) < b->xf->limit && float_of(y->max) < b->yf->limit &&
           low_exponent(x) > -126 && low_exponent(y) > -126 &&
           low_exponent(x) + low_exponent(y) >= LOW && top_exponent(x) + top_exponent(y) <= HIGH;
}

/* The unit 2^u that makes plain f32 arithmetic exact, or 0.
 *
 * Let x be multiples of 2^(X-sx) below 2^(X+1), y the same with Y and sy, u = X+Y-sx-sy. A product is a multiple
 * of 2^u below 2^(u+sx+sy+2), the sum of k of them is below 2^(u+23) if sx+sy+2+log2(k) <= 23. If C too is a
 * multiple of 2^u below 2^(u+23) (rows_are_exact), every partial sum in any order is a multiple of 2^u of at most
 * 24 bits: f32 holds it. Nor does alignment cut anything off: the largest exponent E is at most the larger of X+Y
 * and C's (a zero's -126 plus X is not larger, as Y > -126), so that E-F <= u if sx+sy <= F and C < 2^(u+F+1). */
static float exact_unit(const struct mma_block *b, const struct range *x, const struct range *y)
{
    int span = span_of(x) + span_of(y), products = 32 - __builtin_clz((unsigned)b->k - 1);
    int X = top_exponent(x), Y = top_exponent(y), u = X + Y - span;
    bool sums_fit = span + 2 + products <= 23 && span <= b->how->fraction;
    return sums_fit && u >= LOW ? power(u) : 0;
}

/* C of four rows: multiples of the unit, below 2^bits of it. (One so small that it underflows here passes too: next to
 * any product f32 drops it, as alignment would.) */
static bool rows_are_exact(const float *restrict c, float per_unit, int bits)
{
    int32_t limit = bits_of(power(bits)), odd = 0;
    for (int i = 0; i < 4 * LANES; i++) {
        float units = c[i] * per_unit;
        int32_t size = bits_of(units) & 0x7fffffff;     /* NaN's is the largest */
        int32_t inside = size & ((size - limit) >> 31);         /* 0 when it is too large */
        odd |= bits_of((float)(int32_t)float_of(inside)) ^ size;
    }
    return !odd;
}

/* STEP products of one row, added to each lane. */
static inline void add_exact(float *restrict sum, const float *restrict x, const float (*restrict y)[LANES])
{
    for (int l = 0; l < LANES; l++) {
        float s = sum[l];
        for (int i = 0; i < STEP; i++)
            s += x[i] * y[i][l];
        sum[l] = s;
    }
}

void mma_four_rows(const float *x, const float (*y)[LANES], int k, const float (*c)[LANES], float (*d)[LANES])
{
    float sum[4][LANES];
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < LANES; l++)
            sum[r][l] = c[r][l] + 0.0f;         /* -0 + 0 is +0 */
    for (int i = 0; i < k; i += STEP)
        for (int r = 0; r < 4; r++)
            add_exact(sum[r], x + r * k + i, y + i);
    memcpy(d, sum, sizeof sum);
}

/* ---- which of the three */

/* Rows `row` to row + 3, C and D in order. */
struct four { float c[4][LANES], d[4][LANES]; };

static void load_rows(const struct mma_block *b, int row, int n, struct four *f)
{
    memset(f->c, 0, sizeof f->c);
    for (int r = 0; b->c && r < n; r++)
        memcpy(f->c[r], b->c + (size_t)(row + r) * b->stride, sizeof f->c[r]);
}

static void store_rows(const struct mma_block *b, int row, int n, const struct four *f)
{
    for (int r = 0; r < n; r++)
        memcpy(b->d + (size_t)(row + r) * b->stride, f->d[r], sizeof f->d[r]);
}

static void round_rows(struct four *f, int n, enum mma_round round)
{
    for (int r = 0; r < n && round != MMA_TO_F32; r++) {
        double total[LANES];
        for (int l = 0; l < LANES; l++)
            total[l] = f->d[r][l];
        finish(total, round, f->d[r]);
    }
}

static void dot_rows(const struct mma_block *b, int row, int n, struct four *f)
{
    for (int r = 0; r < n; r++)
        for (int l = 0; l < LANES; l++)
            f->d[r][l] = dot(b, row + r, l, f->c[r][l]);
}

void mma_block(const struct mma_block *b)
{
    struct range x = range_of(b->x, b->rows * b->k), y = range_of(b->y[0], b->k * LANES);
    bool sane = is_sane(b, &x, &y), scaled = b->xscale || b->yscale, have_ye = false;
    float unit = sane && !scaled ? exact_unit(b, &x, &y) : 0;
    int bits = b->how->fraction < 22 ? b->how->fraction + 1 : 23;
    int32_t ye[MMA_K][LANES];
    struct four f;
    for (int row = 0; row < b->rows; row += 4) {
        int n = b->rows - row < 4 ? b->rows - row : 4;
        load_rows(b, row, n, &f);
        if (!sane) {
            dot_rows(b, row, n, &f);
        } else if (unit && n == 4 && rows_are_exact(f.c[0], 1 / unit, bits)) {
            mma_four_rows(b->x + row * b->k, b->y, b->k, f.c, f.d);
            round_rows(&f, n, b->how->round);
        } else {
            if (!have_ye)
                lane_exponents(b, ye);
            have_ye = true;
            for (int r = 0; r < n; r++)
                aligned_row(b, row + r, ye, f.c[r], f.d[r]);
        }
        store_rows(b, row, n, &f);
    }
}
