/* alu_half.c: f16 and bf16 and pairs of them: add sub mul fma abs neg. min and max are in alu_minmax.c.
 *
 * A row of pairs is 64 values side by side. Sums and products are worked out in f32, whose 24 bits are enough for
 * the second rounding to do no harm (twice 11 bits and two more); a fused multiply-add needs the odd rounding. */
#include "core/alu_f16.h"

enum { MOST = 2 * WARP };

static inline bool is_nan_f16(uint16_t h) { return (h & 0x7fff) > 0x7c00; }
static inline bool is_nan_bf16(uint16_t h) { return (h & 0x7fff) > 0x7f80; }

/* Fused multiply-add: the product is exact, in f32 for f16 and in f64 for bf16. */
static void fma_f16(uint16_t *d, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    float x[MOST], y[MOST], z[MOST];
    widen_f16(x, a, n);
    widen_f16(y, b, n);
    widen_f16(z, c, n);
    for (int i = 0; i < n; i++) x[i] = sum_odd_f32(x[i] * y[i], z[i]);
    narrow_f16(d, x, n);
}
static void fma_bf16(uint16_t *d, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    double sum[MOST];
    for (int i = 0; i < n; i++)
        sum[i] = sum_odd_f64((double)f32_of_bf16(a[i]) * (double)f32_of_bf16(b[i]), (double)f32_of_bf16(c[i]));
    for (int i = 0; i < n; i++) d[i] = bf16_of_f32(f32_odd_of_f64(sum[i]));
}

#define ARITHMETIC(name, operator)                                                                              \
    static void name##_f16(uint16_t *d, const uint16_t *a, const uint16_t *b, int n)                            \
    {                                                                                                           \
        float x[MOST], y[MOST];                                                                                 \
        widen_f16(x, a, n);                                                                                     \
        widen_f16(y, b, n);                                                                                     \
        for (int i = 0; i < n; i++) x[i] = x[i] operator y[i];                                                  \
        narrow_f16(d, x, n);                                                                                    \
    }                                                                                                           \
    static void name##_bf16(uint16_t *d, const uint16_t *a, const uint16_t *b, int n)                           \
    {                                                                                                           \
        for (int i = 0; i < n; i++) d[i] = bf16_of_f32(f32_of_bf16(a[i]) operator f32_of_bf16(b[i]));           \
    }
ARITHMETIC(add, +)
ARITHMETIC(sub, -)
ARITHMETIC(mul, *)

/* ---------------------------------------------------------------- modifiers, on whole rows */

static void flush_row(uint16_t *h, int n)
{
    for (int i = 0; i < n; i++) h[i] = flush_f16(h[i]);
}

/* As flush_result, with 11 bits. Sums are exact there. */
static void flush_results(const struct instr *in, uint16_t *d, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    float x[MOST], y[MOST], z[MOST], r[MOST];
    widen_f16(x, a, n);
    widen_f16(y, b, n);
    widen_f16(z, c, n);
    widen_f16(r, d, n);
    for (int i = 0; i < n && in->op != OP_HADD && in->op != OP_HSUB; i++) {
        double rest = (double)x[i] * y[i] + ((in->op == OP_HMUL ? 0 : (double)z[i]) - r[i]);
        if ((r[i] == 0x1p-14f && rest < -0x1p-26) || (r[i] == -0x1p-14f && rest > 0x1p-26))
            d[i] &= 0x8000;
    }
    flush_row(d, n);
}

/* .sat: to [+0, 1], NaN to +0. */
static void saturate_row(uint16_t *h, int n)
{
    for (int i = 0; i < n; i++) h[i] = is_nan_f16(h[i]) || h[i] & 0x8000 ? 0 : h[i] > 0x3c00 ? 0x3c00 : h[i];
}

/* .relu: to [+0, infinity], NaN stays. */
static void relu_row(uint16_t *h, int n)        /* NaN has been made 0x7fff */
{
    for (int i = 0; i < n; i++) h[i] = h[i] & 0x8000 ? 0 : h[i];
}

/* .oob: +0 where an operand is the NaN that a tensor copy fills in for what lies outside the tensor. Its code is
 * the one that tensor copies were seen to write; that fma looks for the same is not proven. */
enum { OUTSIDE_NAN = 0x7ff7 };
static void out_of_bounds_row(uint16_t *d, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    for (int i = 0; i < n; i++) d[i] = a[i] == OUTSIDE_NAN || b[i] == OUTSIDE_NAN || c[i] == OUTSIDE_NAN ? 0 : d[i];
}

/* ---------------------------------------------------------------- handlers */

struct rows {
    uint16_t *d;
    const uint16_t *a, *b, *c;
    uint32_t width;
    int n;
};

static struct rows rows_of(struct warp *w, const struct instr *in)
{
    struct rows r = {.width = in->opnd[0].width, .n = (int)(WARP * in->opnd[0].width / 2)};
    r.d = ROW(w, &in->opnd[0], uint16_t);
    r.a = ROW(w, &in->opnd[1], uint16_t);
    r.b = in->nopnd > 2 ? ROW(w, &in->opnd[2], uint16_t) : r.a;
    r.c = in->nopnd > 3 ? ROW(w, &in->opnd[3], uint16_t) : r.a;
    return r;
}

#define PLAIN(name, call)                                                                                       \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        struct rows r = rows_of(w, in);                                                                         \
        uint16_t result[MOST];                                                                                  \
        call;                                                                                                   \
        store_row(r.d, result, r.width, mask);                                                                  \
        return X_NEXT;                                                                                          \
    }
PLAIN(hadd_f16, add_f16(result, r.a, r.b, r.n))
PLAIN(hsub_f16, sub_f16(result, r.a, r.b, r.n))
PLAIN(hmul_f16, mul_f16(result, r.a, r.b, r.n))
PLAIN(hfma_f16, fma_f16(result, r.a, r.b, r.c, r.n))
PLAIN(hadd_bf16, add_bf16(result, r.a, r.b, r.n))
PLAIN(hsub_bf16, sub_bf16(result, r.a, r.b, r.n))
PLAIN(hmul_bf16, mul_bf16(result, r.a, r.b, r.n))
PLAIN(hfma_bf16, fma_bf16(result, r.a, r.b, r.c, r.n))

static const uint16_t *flushed(uint16_t *copy, const uint16_t *row, int n, bool ftz)
{
    if (!ftz) return row;
    memcpy(copy, row, sizeof *row * (size_t)n);
    flush_row(copy, n);
    return copy;
}

static void operate(const struct instr *in, uint16_t *d, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    bool f16 = in->type[0] == T_F16 || in->type[0] == T_F16X2;
    switch (in->op) {
    case OP_HADD: (f16 ? add_f16 : add_bf16)(d, a, b, n); break;
    case OP_HSUB: (f16 ? sub_f16 : sub_bf16)(d, a, b, n); break;
    case OP_HMUL: (f16 ? mul_f16 : mul_bf16)(d, a, b, n); break;
    default: (f16 ? fma_f16 : fma_bf16)(d, a, b, c, n); break;
    }
}

/* Any form, with every modifier that it has. */
static int any_form(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct rows r = rows_of(w, in);
    uint16_t result[MOST], a[MOST], b[MOST], c[MOST];
    bool ftz = in->flags & F_FTZ;
    const uint16_t *x = flushed(a, r.a, r.n, ftz), *y = flushed(b, r.b, r.n, ftz), *z = flushed(c, r.c, r.n, ftz);
    operate(in, result, x, y, z, r.n);
    if (ftz) flush_results(in, result, x, y, z, r.n);
    if (in->flags & F_SAT) saturate_row(result, r.n);
    if (in->flags & F_RELU) relu_row(result, r.n);
    if (in->flags & F_OOB) out_of_bounds_row(result, r.a, r.b, r.c, r.n);
    store_row(r.d, result, r.width, mask);
    return X_NEXT;
}

/* abs and neg are multiply-adds on the chip: NaNs come out as the one NaN. */
static inline uint16_t with_sign(uint16_t h, bool nan, bool negate)
{
    return nan ? NAN_F16 : negate ? h ^ 0x8000 : h & 0x7fff;
}

static int sign_form(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct rows r = rows_of(w, in);
    uint16_t result[MOST], a[MOST];
    const uint16_t *from = flushed(a, r.a, r.n, in->flags & F_FTZ);
    bool negate = in->op == OP_HNEG, f16 = in->type[0] == T_F16 || in->type[0] == T_F16X2;
    if (f16)
        for (int i = 0; i < r.n; i++) result[i] = with_sign(from[i], is_nan_f16(from[i]), negate);
    else
        for (int i = 0; i < r.n; i++) result[i] = with_sign(from[i], is_nan_bf16(from[i]), negate);
    store_row(r.d, result, r.width, mask);
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

static bool is_bf16(const struct instr *in) { return in->type[0] == T_BF16 || in->type[0] == T_BF16X2; }

/* bf16 knows neither .ftz nor .sat. */
static exec_fn *pick(struct instr *in, uint32_t allowed, exec_fn *f16, exec_fn *bf16)
{
    if (is_bf16(in)) allowed &= F_RELU | F_OOB;
    if (!all_rows(in) || !only_flags(in, allowed) || rounding_of(in) != ROUND_NEAREST) return NULL;
    if (in->flags & F_SAT && in->flags & F_RELU) return NULL;
    return in->flags ? any_form : is_bf16(in) ? bf16 : f16;
}

exec_fn *pick_HADD(struct instr *in) { return pick(in, F_FTZ | F_SAT, hadd_f16, hadd_bf16); }
exec_fn *pick_HSUB(struct instr *in) { return pick(in, F_FTZ | F_SAT, hsub_f16, hsub_bf16); }
exec_fn *pick_HMUL(struct instr *in) { return pick(in, F_FTZ | F_SAT, hmul_f16, hmul_bf16); }
exec_fn *pick_HFMA(struct instr *in) { return pick(in, F_FTZ | F_SAT | F_RELU | F_OOB, hfma_f16, hfma_bf16); }
exec_fn *pick_HABS(struct instr *in) { return pick(in, F_FTZ, sign_form, sign_form) ? sign_form : NULL; }
exec_fn *pick_HNEG(struct instr *in) { return pick(in, F_FTZ, sign_form, sign_form) ? sign_form : NULL; }
