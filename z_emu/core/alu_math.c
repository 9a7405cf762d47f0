/* alu_math.c: division, roots and the functions of the special function unit (MUFU).
 *
 * Equal to the chip bit for bit: div, rcp and sqrt with a rounding modifier.
 * Not bit for bit, because the chip interpolates in tables that are not public: div.approx, div.full, rcp.approx,
 * sqrt.approx, rsqrt, sin, cos, lg2, ex2, tanh in every type. Their special values (zeros, infinities, NaN,
 * subnormals, .ftz) are the chip's, because the steps that the chip takes around the table look-up are taken here too;
 * the table look-up itself is a result near to the correctly rounded one, inside the error bounds of the ISA. */
#include "core/alu_fp.h"

/* ---------------------------------------------------------------- functions, in f64, without branches */

/* x rounded to an integral value, for |x| < 2^51. */
static inline double integral(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* 2^x for |x| < 1000: relative error below 2^-31. */
static inline double exp2_f64(double x)
{
    double n = integral(x), f = (x - n) * 0x1.62e42fefa39efp-1;     /* ln 2 */
    double series = 1 + f * (1 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 +
                    f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320))))))));
    return series * f64_of((uint64_t)((int64_t)n + 1023) << 52);
}

/* log2 of a normal positive f32: e + log2 m, 1/sqrt 2 < m < sqrt 2. */
static inline double log2_f64(float x)
{
    uint32_t u = f32_bits(x), shifted = u + 0x3f800000 - 0x3f3504f3;
    int32_t e = (int32_t)(shifted >> 23) - 127;
    double m = f32_of(u - ((uint32_t)e << 23)), z = (m - 1) / (m + 1), s = z * z;
    double series = 1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11)))));
    return e + 0x1.71547652b82fep1 * z * series;                    /* 2 / ln 2 */
}

/* sin(2 pi x). */
static inline double sin_turns(double x)
{
    double r = x - integral(x), magnitude = r < 0 ? -r : r;
    double folded = magnitude > 0.25 ? 0.5 - magnitude : magnitude, t = folded * 0x1.921fb54442d18p2, s = t * t;
    double series = t * (1 - s * (1.0 / 6 - s * (1.0 / 120 - s * (1.0 / 5040 - s * (1.0 / 362880 -
                    s * (1.0 / 39916800 - s * (1.0 / 6227020800.0 - s * (1.0 / 1307674368000.0))))))));
    return r < 0 ? -series : series;
}

/* ---------------------------------------------------------------- the unit: it flushes subnormals on both sides */

static inline float unit(float x) { return canonical(flush(x)); }
static inline float sign_bit_of(float x) { return f32_of(f32_bits(x) & 0x80000000); }

static inline float mufu_rcp(float x) { return unit(1.0f / flush(x)); }
static inline float mufu_sqrt(float x) { return unit(__builtin_sqrtf(flush(x))); }
static inline float mufu_rsq(float x)
{
    float y = flush(x);
    return unit((float)(1.0 / __builtin_sqrt((double)y)));          /* of -0: -infinity */
}
static inline float mufu_lg2(float x)
{
    float y = flush(x);
    float special = y == 0 ? -__builtin_inff() : y > 0 ? y : f32_of(NAN_F32);      /* y: +infinity or NaN */
    bool normal = y > 0 && y < __builtin_inff();
    return unit(normal ? (float)log2_f64(normal ? y : 1) : special);
}
static inline float mufu_ex2(float x)
{
    float y = flush(x), limited = y > 200 ? 200 : y < -200 ? -200 : y == y ? y : 0;
    return unit(y == y ? (float)exp2_f64(limited) : y);
}
/* Of x turns. Far out, an f32 is a whole number of turns. */
static inline float mufu_sin(float x)
{
    bool near = x < 0x1p30f && x > -0x1p30f, nan = x - x != 0;
    float y = near && x != 0 ? (float)sin_turns(near ? x : 0) : sign_bit_of(x);
    return canonical(nan ? f32_of(NAN_F32) : y);
}
static inline float mufu_cos(float x)
{
    bool near = x < 0x1p30f && x > -0x1p30f, nan = x - x != 0;
    float y = near ? (float)sin_turns((near ? (double)x : 0) + 0.25) : 1;
    return canonical(nan ? f32_of(NAN_F32) : y);
}
/* Small values, subnormals too, are handed through. */
static inline float mufu_tanh(float x)
{
    float limited = x > 12 ? 12 : x < -12 ? -12 : x == x ? x : 0;
    double e = exp2_f64((double)limited * 0x1.71547652b82fep1);     /* e^2x */
    float y = (float)((e - 1) / (e + 1));
    bool small = x < 0x1p-12f && x > -0x1p-12f;
    return canonical(small || x != x ? x : y);
}

/* ---------------------------------------------------------------- f32: the scaling that the chip does around the unit */

static inline bool is_small(float x) { return (f32_bits(x) & 0x7fffffff) < 0x00800000; }
static inline bool is_large(float x) { return (f32_bits(x) & 0x7fffffff) > 0x7e800000 && x == x; }     /* > 2^126 */

static inline float rcp_approx(float x)
{
    float scale = is_large(x) ? 0.25f : is_small(x) ? 0x1p24f : 1.0f;
    return canonical(scale * mufu_rcp(x * scale));
}
static inline float div_approx(float a, float b)
{
    float scale = is_small(b) ? 0x1p24f : 1.0f;
    return canonical(a * scale * mufu_rcp(b * scale));
}
static inline float div_full(float a, float b)
{
    float scale = is_large(b) ? 0.25f : is_small(b) ? 0x1p24f : 1.0f;
    return canonical(a * scale * mufu_rcp(b * scale));
}
static inline float div_full_ftz(float a, float b)
{
    float scale = is_large(b) ? 0.25f : 1.0f;
    return canonical(flush(flush(flush(a) * scale) * mufu_rcp(b * scale)));
}
static inline float sqrt_approx(float x)
{
    bool small = is_small(x);
    return canonical(mufu_sqrt(small ? x * 0x1p24f : x) * (small ? 0x1p-12f : 1.0f));
}
static inline float rsqrt_approx(float x)
{
    bool small = is_small(x);
    return canonical(mufu_rsq(small ? x * 0x1p24f : x) * (small ? 0x1p12f : 1.0f));
}
static inline float lg2_approx(float x)
{
    bool small = is_small(x);
    return canonical(mufu_lg2(small ? x * 0x1p24f : x) - (small ? 24.0f : 0.0f));
}
static inline float ex2_approx(float x)
{
    bool low = x < -126;
    float y = mufu_ex2(low ? x * 0.5f : x);
    return canonical(low ? y * y : y);
}
/* Radians to turns, toward zero. */
static inline float turns(float x)
{
    double exact = (double)x * 0x1.45f306p-3f;
    float near = (float)exact;
    bool beyond = (exact < 0 ? -exact : exact) < (double)(near < 0 ? -near : near);
    return f32_of(f32_bits(near) - beyond);
}

#define F32_1(name, expr) HANDLER1(name, float, float, expr)
#define F32_2(name, expr) HANDLER2(name, float, float, float, expr)
F32_1(rcp_approx_f32, rcp_approx(a))
F32_1(rcp_approx_ftz_f32, mufu_rcp(a))
F32_1(sqrt_approx_f32, sqrt_approx(a))
F32_1(sqrt_approx_ftz_f32, mufu_sqrt(a))
F32_1(rsqrt_approx_f32, rsqrt_approx(a))
F32_1(rsqrt_approx_ftz_f32, mufu_rsq(a))
F32_1(lg2_f32, lg2_approx(a))
F32_1(lg2_ftz_f32, mufu_lg2(a))
F32_1(ex2_f32, ex2_approx(a))
F32_1(ex2_ftz_f32, mufu_ex2(a))
F32_1(sin_f32, mufu_sin(turns(a)))
F32_1(sin_ftz_f32, unit(mufu_sin(flush(turns(flush(a))))))
F32_1(cos_f32, mufu_cos(turns(a)))
F32_1(cos_ftz_f32, unit(mufu_cos(flush(turns(flush(a))))))
F32_1(tanh_f32, mufu_tanh(a))
F32_2(div_approx_f32, div_approx(a, b))
F32_2(div_approx_ftz_f32, canonical(flush(flush(a) * mufu_rcp(b))))
F32_2(div_full_f32, div_full(a, b))
F32_2(div_full_ftz_f32, div_full_ftz(a, b))

/* Rounded as IEEE 754 has it. */
F32_2(div_rn_f32, canonical(a / b))
F32_2(div_rn_ftz_f32, canonical(flush(flush(a) / flush(b))))
F32_1(rcp_rn_f32, canonical(1.0f / a))
F32_1(rcp_rn_ftz_f32, canonical(flush(1.0f / flush(a))))
F32_1(sqrt_rn_f32, canonical(__builtin_sqrtf(a)))
F32_1(sqrt_rn_ftz_f32, canonical(__builtin_sqrtf(flush(a))))

/* ---------------------------------------------------------------- directed rounding and f64 */

static float directed_f32(const struct instr *in, enum soft_op op, float a, float b)
{
    bool ftz = in->flags & F_FTZ;
    if (ftz) a = flush(a), b = flush(b);
    float x = f32_of((uint32_t)soft(&format_f32, op, f32_bits(a), f32_bits(b), 0, rounding_of(in)));
    double rest = op == SOFT_DIV ? (a - (double)x * b) / b : op == SOFT_RCP ? (1 - (double)x * a) / a : 0;
    return ftz ? flush_result(x, rest, 0) : x;  /* no quotient is so near below a power of two that it is kept */
}
static double directed_f64(const struct instr *in, enum soft_op op, double a, double b)
{
    return result_f64(f64_of(soft(&format_f64, op, f64_bits(a), f64_bits(b), 0, rounding_of(in))), a, b, b);
}
F32_2(div_directed_f32, directed_f32(in, SOFT_DIV, a, b))
F32_1(rcp_directed_f32, directed_f32(in, SOFT_RCP, a, a))
F32_1(sqrt_directed_f32, directed_f32(in, SOFT_SQRT, a, a))

#define F64_1(name, expr) HANDLER1(name, double, double, expr)
#define F64_2(name, expr) HANDLER2(name, double, double, double, expr)
F64_2(div_rn_f64, result_f64(a / b, a, b, b))
F64_1(rcp_rn_f64, result_f64(1.0 / a, a, a, a))
F64_1(sqrt_rn_f64, result_f64(__builtin_sqrt(a), a, a, a))
F64_2(div_directed_f64, directed_f64(in, SOFT_DIV, a, b))
F64_1(rcp_directed_f64, directed_f64(in, SOFT_RCP, a, a))
F64_1(sqrt_directed_f64, directed_f64(in, SOFT_SQRT, a, a))
F64_1(rsqrt_f64, result_f64(1.0 / __builtin_sqrt(a), a, a, a))

/* .approx.ftz.f64: only the upper 32 bits of source and result count; the NaN has its own code. */
static inline double upper_half(double x)
{
    uint64_t u = f64_bits(x) & 0xffffffff00000000;
    return f64_of(u & 0x7ff0000000000000 ? u : u & 0x8000000000000000);
}
static inline double gross(double x)
{
    uint64_t rounded = f64_bits(x) + 0x80000000;
    return x == x ? upper_half(f64_of(rounded)) : f64_of(0x7fffffff00000000);
}
F64_1(rcp_gross_f64, gross(1.0 / upper_half(a)))
F64_1(rsqrt_gross_f64, gross(1.0 / __builtin_sqrt(upper_half(a))))

/* ---------------------------------------------------------------- f16 and bf16, 32 or 64 side by side */

static inline uint16_t ex2_of_f16(uint16_t h) { return f16_of_f32(ex2_approx(f32_of_f16(h))); }
static inline uint16_t tanh_of_f16(uint16_t h) { return f16_of_f32(mufu_tanh(f32_of_f16(h))); }
static inline uint16_t ex2_of_bf16(uint16_t h) { return bf16_of_f32(mufu_ex2(f32_of_bf16(h))); }
static inline uint16_t tanh_of_bf16(uint16_t h) { return bf16_of_f32(mufu_tanh(f32_of_bf16(h))); }
#define HALVES(name, fn)                                                                                        \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        uint16_t result[2 * WARP];                                                                              \
        const uint16_t *a = ROW(w, &in->opnd[1], uint16_t);                                                     \
        int n = (int)(WARP * in->opnd[0].width / 2);                                                            \
        for (int i = 0; i < n; i++) result[i] = fn(a[i]);                                                       \
        store_row(ROW(w, &in->opnd[0], uint16_t), result, in->opnd[0].width, mask);                             \
        return X_NEXT;                                                                                          \
    }
HALVES(ex2_f16, ex2_of_f16)
HALVES(tanh_f16, tanh_of_f16)
HALVES(ex2_bf16, ex2_of_bf16)
HALVES(tanh_bf16, tanh_of_bf16)

/* ---------------------------------------------------------------- pickers */

/* Handlers of one operation: approx, nearest and directed; with .ftz and without; for both widths. NULL: no such form. */
struct forms {
    exec_fn *approx, *approx_ftz, *rn, *rn_ftz, *directed;
    exec_fn *approx_f64, *approx_ftz_f64, *rn_f64, *directed_f64;
};

static exec_fn *pick(struct instr *in, const struct forms *f)
{
    bool ftz = in->flags & F_FTZ, approx = in->flags & F_APPROX, directed = rounding_of(in) != ROUND_NEAREST;
    if (!all_rows(in) || !only_flags(in, F_FTZ | F_APPROX)) return NULL;
    if (in->type[0] == T_F64) {
        if (approx) return ftz ? f->approx_ftz_f64 : f->approx_f64;
        return ftz ? NULL : directed ? f->directed_f64 : f->rn_f64;
    }
    if (approx) return ftz ? f->approx_ftz : f->approx;
    return directed ? f->directed : ftz ? f->rn_ftz : f->rn;
}

exec_fn *pick_FDIV(struct instr *in)
{
    static const struct forms forms = {
        div_approx_f32, div_approx_ftz_f32, div_rn_f32, div_rn_ftz_f32, div_directed_f32,
        NULL, NULL, div_rn_f64, div_directed_f64};
    if (!(in->flags & F_FULL)) return pick(in, &forms);
    if (!all_rows(in) || !only_flags(in, F_FTZ | F_FULL) || in->type[0] != T_F32) return NULL;
    return in->flags & F_FTZ ? div_full_ftz_f32 : div_full_f32;
}

exec_fn *pick_RCP(struct instr *in)
{
    static const struct forms forms = {
        rcp_approx_f32, rcp_approx_ftz_f32, rcp_rn_f32, rcp_rn_ftz_f32, rcp_directed_f32,
        NULL, rcp_gross_f64, rcp_rn_f64, rcp_directed_f64};
    return pick(in, &forms);
}

exec_fn *pick_SQRT(struct instr *in)
{
    static const struct forms forms = {
        sqrt_approx_f32, sqrt_approx_ftz_f32, sqrt_rn_f32, sqrt_rn_ftz_f32, sqrt_directed_f32,
        NULL, NULL, sqrt_rn_f64, sqrt_directed_f64};
    return pick(in, &forms);
}

exec_fn *pick_RSQRT(struct instr *in)
{
    static const struct forms forms = {.approx = rsqrt_approx_f32, .approx_ftz = rsqrt_approx_ftz_f32,
                                       .approx_f64 = rsqrt_f64, .approx_ftz_f64 = rsqrt_gross_f64};
    return pick(in, &forms);
}

static exec_fn *pick_approx(struct instr *in, exec_fn *plain, exec_fn *ftz)
{
    const struct forms forms = {.approx = plain, .approx_ftz = ftz};
    return pick(in, &forms);
}

exec_fn *pick_SIN(struct instr *in) { return pick_approx(in, sin_f32, sin_ftz_f32); }
exec_fn *pick_COS(struct instr *in) { return pick_approx(in, cos_f32, cos_ftz_f32); }
exec_fn *pick_LG2(struct instr *in) { return pick_approx(in, lg2_f32, lg2_ftz_f32); }

exec_fn *pick_EX2(struct instr *in)
{
    switch (in->type[0]) {
    case T_F16: case T_F16X2: return pick_approx(in, ex2_f16, NULL);
    case T_BF16: case T_BF16X2: return pick_approx(in, NULL, ex2_bf16);
    default: return pick_approx(in, ex2_f32, ex2_ftz_f32);
    }
}

exec_fn *pick_TANH(struct instr *in)
{
    switch (in->type[0]) {
    case T_F16: case T_F16X2: return pick_approx(in, tanh_f16, NULL);
    case T_BF16: case T_BF16X2: return pick_approx(in, tanh_bf16, NULL);
    default: return pick_approx(in, tanh_f32, NULL);
    }
}
