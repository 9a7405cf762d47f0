/* tcgen05_scale.c: products with block scales: (A * scale-A) * (B * scale-B) + D.
 *
 * Modelled: one factor for a row of A and a column of B (mxf8f6f4), whose exponents join those of the products; two or four
 * along k (mxf4, mxf4nvf4), each for a part of it whose products are added exactly before the factors come in, and the sum is
 * aligned to 35 bits: as measured for the same kinds of mma.sync (mma_scale.c). A factor of NaN makes its row or column NaN.
 * Factors lie in 32 lanes, a word for each row in the column row / 32, and once more in each of the other quarters of the
 * lanes, which is checked. When a pair computes 128 rows (layout B), the factors of the second half of the columns of B are
 * in the upper 64 lanes alone.
 * With K = 96 a row has three or six factors, from the byte on that the id says, and those behind a word's end are in a second
 * word: 4 columns on, 8 for B when N is more than 128, so that a row's factors for a longer K stand in words that far apart.
 * Products of 16 of k are added first, as for K = 64 (inferred).
 * PTX ISA: "Block Scaling for tcgen05.mma.sync". */
#include "tcgen05_mma.h"
#include "mma.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 6, FP8_FRACTION = 25, WORD = 4 };        /* parts of k; factors of a word */

static bool is_split(const struct tc_mma *m, bool b) { return b && m->layout.pieces == 2; }

/* Columns from a row's word of factors to its next. */
static uint32_t next_word(const struct tc_mma *m, bool b) { return b && m->id.n > 128 ? 8 : 4; }

uint32_t tc_scale_columns(const struct tc_mma *m, bool b)
{
    uint32_t rows = b ? m->id.n / (is_split(m, b) ? 2 : 1) : tc_rows(m), last = (b ? m->id.sfb : m->id.sfa) + m->id.factors - 1;
    return (rows + 31) / 32 + last / WORD * next_word(m, b);
}

/* ---------------------------------------------------------------- the factors */

/* Parts of k that are added up before their factors come in. */
static int parts_of(int k) { return k == 96 ? 6 : 4; }

/* One word of a row of A or column of B; its copies must say the same. */
static bool scale_word(const struct tc_mma *m, uint32_t r, bool b, uint32_t row, uint32_t i, uint32_t *word)
{
    const struct tmem *t = tmem_of(tc_cta(m, r)->sm);
    const char *what = b ? "scale-B" : "scale-A";
    uint32_t part = is_split(m, b) ? m->id.n / 2 : TC_MOST_N, in_part = row % part;
    uint32_t first = row / part * 64 + in_part % 32, copies = is_split(m, b) ? 2 : 4;
    uint32_t column = tmem_column(b ? m->sfb : m->sfa) + in_part / 32 + i * next_word(m, b);
    *word = t->cell[first][column];
    for (uint32_t lane = first; lane < first + 32 * copies; lane += 32) {
        if (!t->written[lane][column])
            return tc_unwritten(m, what, "a word of tensor memory at", lane << 16 | column);
        if (t->cell[lane][column] != *word)
            return fault(m->op.user.w, m->op.user.in, m->op.user.lane, FAULT_TCGEN05, "%s must be the same in all quarters of the lanes: column "
                         "%u has 0x%x in lane %u and 0x%x in lane %u", what, column, *word, first, t->cell[lane][column], lane), false;
    }
    return true;
}

/* A factor for each part of k. */
static bool take_scales(const struct tc_mma *m, uint32_t r, bool b, float (*to)[MOST_PARTS], bool *any_nan)
{
    uint32_t rows = b ? m->id.n : tc_rows(m), id = b ? m->id.sfb : m->id.sfa, parts = (uint32_t)parts_of((int)m->id.k);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t word[2];
        for (uint32_t i = 0; i <= (id + m->id.factors - 1) / WORD; i++)
            if (!scale_word(m, r, b, row, i, &word[i]))
                return false;
        for (uint32_t q = 0; q < parts; q++) {
            uint32_t byte = id + q * m->id.factors / parts;
            to[row][q] = mma_scale_value(m->id.scale, word[byte / WORD] >> 8 * (byte % WORD));
            *any_nan |= isnan(to[row][q]);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- products */

/* Everything unpacked: rows of k. */
struct scaled {
    int rows, n, k;
    bool any_nan;               /* among the factors */
    bool plain;                 /* neither there nor in A or B, and no infinity */
    float sa[TC_MOST_M][MOST_PARTS], sb[TC_MOST_N][MOST_PARTS];
    float x[TC_MOST_M * MMA_K], y[TC_MOST_N * MMA_K];           /* as they are */
    float xs[TC_MOST_M * MMA_K], ys[TC_MOST_N * MMA_K];         /* times their factors */
    float turned[MMA_K][LANES];                                 /* LANES columns of y or ys */
};

static void multiply_factors(const float *v, float (*s)[MOST_PARTS], int rows, int k, float *to)
{
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < k; i++)
            to[row * k + i] = v[row * k + i] * s[row][i * parts_of(k) / k];
}

static void turn(struct scaled *s, const float *y, int n0)
{
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < s->k; i++)
            s->turned[i][l] = n0 + l < s->n ? y[(n0 + l) * s->k + i] : 0;
}

static int exponent_of(float scale) { return isnan(scale) ? 0 : ilogbf(scale); }

static float not_a_number(void)
{
    const uint32_t bits = 0x7fffffff;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* mxf8f6f4, LANES columns, the long way. */
static void align_columns(struct scaled *s, struct mma_block *block, int n0)
{
    int32_t xscale[TC_MOST_M], yscale[LANES] = { 0 };
    for (int row = 0; row < s->rows; row++)
        xscale[row] = exponent_of(s->sa[row][0]);
    for (int l = 0; l < LANES && n0 + l < s->n; l++)
        yscale[l] = exponent_of(s->sb[n0 + l][0]);
    turn(s, s->y, n0);
    block->x = s->x;
    block->xscale = xscale;
    block->yscale = yscale;
    mma_block(block);
    for (int row = 0; row < s->rows && s->any_nan; row++)
        for (int l = 0; l < LANES && n0 + l < s->n; l++)
            if (isnan(s->sa[row][0]) || isnan(s->sb[n0 + l][0]))
                block->d[row * LANES + l] = not_a_number();
}

/* mxf4, mxf4nvf4, LANES columns, the long way. */
static void sum_columns(struct scaled *s, enum type scale, const struct mma_block *block, int n0)
{
    turn(s, s->y, n0);
    for (int row = 0; row < s->rows; row++)
        for (int l = 0; l < LANES && n0 + l < s->n; l++)
            block->d[row * LANES + l] = mma_fp4_output(s->x + row * s->k, s->turned, l, s->k, parts_of(s->k), s->sa[row],
                                                       s->sb[n0 + l], scale, block->c ? block->c[row * LANES + l] : 0);
}

/* Where nothing is cut off, plain arithmetic is right to the bit. */
static bool add_columns(struct scaled *s, struct mma_block *block, int n0)
{
    turn(s, s->ys, n0);
    block->x = s->xs;
    struct mma_range x = mma_range_of(s->xs, s->rows * s->k), y = mma_range_of(s->turned[0], s->k * LANES);
    bool small = s->plain && mma_largest(&x) < 0x1p60f && mma_largest(&y) < 0x1p60f;
    float unit = small ? mma_lossless_unit(block, &x, &y, -100) : 0;
    if (unit == 0)
        return false;
    for (int row = 0; row < s->rows; row += 4)
        if (!mma_lossless_rows(block, row, unit))
            return false;
    return true;
}

static bool is_below(const float *v, int n, const struct mma_number *f)
{
    struct mma_range r = mma_range_of(v, n);
    return mma_largest(&r) < f->limit;
}

static bool unpack(const struct tc_mma *m, uint32_t r, const uint8_t *a, const uint8_t *b, struct scaled *s)
{
    s->rows = (int)tc_rows(m), s->n = (int)m->id.n, s->k = (int)m->id.k;
    s->any_nan = false;
    if (!take_scales(m, r, false, s->sa, &s->any_nan) || !take_scales(m, r, true, s->sb, &s->any_nan))
        return false;
    mma_decode(tc_container(m, m->id.a), a, s->x, s->rows * s->k);
    mma_decode(tc_container(m, m->id.b), b, s->y, s->n * s->k);
    s->plain = !s->any_nan && is_below(s->x, s->rows * s->k, mma_number(tc_container(m, m->id.a))) &&
               is_below(s->y, s->n * s->k, mma_number(tc_container(m, m->id.b)));
    multiply_factors(s->x, s->sa, s->rows, s->k, s->xs);
    multiply_factors(s->y, s->sb, s->n, s->k, s->ys);
    return true;
}

bool tc_scaled_product(const struct tc_mma *m, uint32_t r, const uint8_t *a, const uint8_t *b, const float *c, float *d, size_t stride)
{
    static _Thread_local struct scaled s;
    const struct mma_how how = { FP8_FRACTION, (int)m->id.k, MMA_TO_F32 };
    float before[TC_MOST_M * LANES], after[TC_MOST_M * LANES];
    if (!unpack(m, r, a, b, &s))
        return false;
    for (int n0 = 0; n0 < s.n; n0 += LANES) {
        size_t lanes = (size_t)(s.n - n0 < LANES ? s.n - n0 : LANES) * sizeof *d;
        memset(before, 0, sizeof before);
        for (int row = 0; c && row < s.rows; row++)
            memcpy(before + row * LANES, c + (size_t)row * stride + n0, lanes);
        struct mma_block block = { .k = s.k, .rows = s.rows, .y = s.turned, .c = before, .d = after, .stride = LANES,
                                   .xf = mma_number(tc_container(m, m->id.a)), .yf = mma_number(tc_container(m, m->id.b)), .how = &how };
        if (!add_columns(&s, &block, n0)) {
            if (m->form.kind == TC_MXF8F6F4)
                align_columns(&s, &block, n0);
            else
                sum_columns(&s, m->id.scale, &block, n0);
        }
        for (int row = 0; row < s.rows; row++)
            memcpy(d + (size_t)row * stride + n0, after + row * LANES, lanes);
    }
    return true;
}
