/* alu_float.c: f32 and pairs of f32: add sub mul fma mad, abs neg, testp copysign, and the mixed forms that widen
 * f16 and bf16 sources. f64 is in alu_double.c, division and roots in alu_math.c, min and max in alu_minmax.c.
 *
 * The common forms (nearest, with or without .ftz) are loops that vectorise; directed rounding goes lane by lane
 * through alu_soft.c. */
#include "core/alu_fp.h"

/* What the chip does to a result: one NaN for all, .ftz, .sat. */
static inline float finished(float x, uint32_t flags)
{
    if (flags & F_FTZ) x = flush(x);
    return flags & F_SAT ? saturate(x) : canonical(x);
}

static inline float rounded(enum soft_op op, float a, float b, float c, enum rounding r)
{
    return f32_of((uint32_t)soft(&format_f32, op, f32_bits(a), f32_bits(b), f32_bits(c), r));
}

static inline float nearest(enum soft_op op, float a, float b, float c)
{
    switch (op) {
    case SOFT_ADD: return a + b;
    case SOFT_SUB: return a - b;
    case SOFT_MUL: return a * b;
    default: return fma_f32(a, b, c);
    }
}

/* Any form: every flag and rounding, n values. */
static void any_form(const struct instr *in, enum soft_op op, float *d, const float *a, const float *b, const float *c,
                     int n)
{
    enum rounding r = rounding_of(in);
    bool ftz = in->flags & F_FTZ;
    for (int i = 0; i < n; i++) {
        float x = ftz ? flush(a[i]) : a[i], y = ftz ? flush(b[i]) : b[i], z = ftz ? flush(c[i]) : c[i];
        float result = r == ROUND_NEAREST ? nearest(op, x, y, z) : rounded(op, x, y, z, r);
        if (ftz && (op == SOFT_MUL || op == SOFT_FMA))
            result = flush_result(result, (double)x * y + ((op == SOFT_FMA ? (double)z : 0) - result),
                                  r == ROUND_NEAREST ? KEPT_NEAREST : KEPT_DIRECTED);
        d[i] = finished(result, in->flags);
    }
}

static enum soft_op operation(const struct instr *in)
{
    switch (in->op) {
    case OP_FADD: case OP_FADD_X2: case OP_FADD_MIXED: return SOFT_ADD;
    case OP_FSUB: case OP_FSUB_X2: case OP_FSUB_MIXED: return SOFT_SUB;
    case OP_FMUL: case OP_FMUL_X2: return SOFT_MUL;
    default: return SOFT_FMA;
    }
}

/* f32, and f32x2 whose row is 64 values. */
static int arithmetic(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t width = in->opnd[0].width;
    float result[2 * WARP];
    const float *a = ROW(w, &in->opnd[1], float), *b = ROW(w, &in->opnd[2], float);
    const float *c = in->nopnd > 3 ? ROW(w, &in->opnd[3], float) : b;
    any_form(in, operation(in), result, a, b, c, (int)(WARP * width / 4));
    store_row(ROW(w, &in->opnd[0], float), result, width, mask);
    return X_NEXT;
}

/* ---------------------------------------------------------------- the common forms */

#define F32_2(name, expr) HANDLER2(name, float, float, float, expr)
#define F32_3(name, expr) HANDLER3(name, float, float, float, float, expr)
F32_2(add_rn, canonical(a + b))
F32_2(sub_rn, canonical(a - b))
F32_2(mul_rn, canonical(a * b))
F32_3(fma_rn, canonical(fma_f32(a, b, c)))
F32_2(add_ftz, canonical(flush(flush(a) + flush(b))))
F32_2(sub_ftz, canonical(flush(flush(a) - flush(b))))
static inline float product_ftz(float a, float b)
{
    float x = a * b;
    return flush_result(x, (double)a * b - x, KEPT_NEAREST);
}
static inline float fma_f32_ftz(float a, float b, float c)
{
    float x = fma_f32(a, b, c);
    return flush_result(x, (double)a * b + ((double)c - x), KEPT_NEAREST);      /* exact where x is that small */
}
F32_2(mul_ftz, canonical(product_ftz(flush(a), flush(b))))
F32_3(fma_ftz, canonical(fma_f32_ftz(flush(a), flush(b), flush(c))))

/* The handler for f32: the fast one where the form allows it. f64 has its own. */
static exec_fn *pick(struct instr *in, exec_fn *plain, exec_fn *ftz)
{
    if (in->type[0] == T_F64) return pick_f64(in);
    if (!all_rows(in) || !only_flags(in, F_FTZ | F_SAT)) return NULL;
    if (rounding_of(in) != ROUND_NEAREST || in->flags & F_SAT) return arithmetic;
    return in->flags & F_FTZ ? ftz : plain;
}

exec_fn *pick_FADD(struct instr *in) { return pick(in, add_rn, add_ftz); }
exec_fn *pick_FSUB(struct instr *in) { return pick(in, sub_rn, sub_ftz); }
exec_fn *pick_FMUL(struct instr *in) { return pick(in, mul_rn, mul_ftz); }
exec_fn *pick_FFMA(struct instr *in) { return pick(in, fma_rn, fma_ftz); }
exec_fn *pick_FMAD(struct instr *in) { return pick(in, fma_rn, fma_ftz); }

/* Pairs: 64 values side by side. */
#define PAIRS(name, expr)                                                                                       \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        float result[2 * WARP];                                                                                 \
        const float *a_row = ROW(w, &in->opnd[1], float), *b_row = ROW(w, &in->opnd[2], float);                 \
        const float *c_row = in->nopnd > 3 ? ROW(w, &in->opnd[3], float) : b_row;                               \
        for (int i = 0; i < 2 * WARP; i++) {                                                                    \
            float a = a_row[i], b = b_row[i], c = c_row[i];                                                     \
            (void)c;                                                                                            \
            result[i] = canonical(expr);                                                                        \
        }                                                                                                       \
        store_row(ROW(w, &in->opnd[0], float), result, 8, mask);                                                \
        return X_NEXT;                                                                                          \
    }
PAIRS(add_pairs, a + b)
PAIRS(sub_pairs, a - b)
PAIRS(mul_pairs, a * b)
PAIRS(fma_pairs, fma_f32(a, b, c))

static exec_fn *pick_pairs(struct instr *in, exec_fn *plain)
{
    if (!all_rows(in) || !only_flags(in, F_FTZ)) return NULL;
    return rounding_of(in) == ROUND_NEAREST && !in->flags ? plain : arithmetic;
}

exec_fn *pick_FADD_X2(struct instr *in) { return pick_pairs(in, add_pairs); }
exec_fn *pick_FSUB_X2(struct instr *in) { return pick_pairs(in, sub_pairs); }
exec_fn *pick_FMUL_X2(struct instr *in) { return pick_pairs(in, mul_pairs); }
exec_fn *pick_FFMA_X2(struct instr *in) { return pick_pairs(in, fma_pairs); }

/* ---------------------------------------------------------------- mixed: 16-bit sources */

static void widen_row(float *to, const uint16_t *from, enum type t)
{
    if (t == T_F16)
        LANES to[i] = f32_of_f16(from[i]);
    else
        LANES to[i] = f32_of_bf16(from[i]);
}

static int mixed(struct warp *w, const struct instr *in, uint32_t mask)
{
    float a[WARP], b[WARP], result[WARP];
    const float *last = ROW(w, &in->opnd[in->nopnd - 1], float);
    widen_row(a, ROW(w, &in->opnd[1], uint16_t), in->type[1]);
    if (in->op == OP_FFMA_MIXED) widen_row(b, ROW(w, &in->opnd[2], uint16_t), in->type[1]);
    any_form(in, operation(in), result, a, in->op == OP_FFMA_MIXED ? b : last, last, WARP);
    store_row(ROW(w, &in->opnd[0], float), result, 4, mask);
    return X_NEXT;
}

static exec_fn *pick_mixed(struct instr *in) { return all_rows(in) && only_flags(in, F_SAT) ? mixed : NULL; }
exec_fn *pick_FADD_MIXED(struct instr *in) { return pick_mixed(in); }
exec_fn *pick_FSUB_MIXED(struct instr *in) { return pick_mixed(in); }
exec_fn *pick_FFMA_MIXED(struct instr *in) { return pick_mixed(in); }

/* ---------------------------------------------------------------- signs and kinds */

/* f32 abs and neg are additions on the chip: a NaN comes out as the one NaN. f64 hands NaNs through. */
static inline float without_sign(float x) { return f32_of(f32_bits(x) & 0x7fffffff); }
static inline float negated(float x) { return f32_of(f32_bits(x) ^ 0x80000000); }
HANDLER1(abs_f32, float, float, canonical(without_sign(a)))
HANDLER1(neg_f32, float, float, canonical(negated(a)))
HANDLER1(abs_ftz, float, float, canonical(without_sign(flush(a))))
HANDLER1(neg_ftz, float, float, canonical(negated(flush(a))))

#define SIGN_F64 (1ull << 63)
static inline bool is_nan_f64(uint64_t u) { return (u & ~SIGN_F64) > 0x7ff0000000000000; }
HANDLER1(abs_f64, uint64_t, uint64_t, is_nan_f64(a) ? a | 1ull << 51 : a & ~SIGN_F64)
HANDLER1(neg_f64, uint64_t, uint64_t, is_nan_f64(a) ? a | 1ull << 51 : a ^ SIGN_F64)

static exec_fn *pick_sign(struct instr *in, exec_fn *f64, exec_fn *f32, exec_fn *ftz)
{
    if (!all_rows(in) || !only_flags(in, F_FTZ)) return NULL;
    if (in->type[0] == T_F64) return in->flags ? NULL : f64;
    return in->flags & F_FTZ ? ftz : f32;
}
exec_fn *pick_FABS(struct instr *in) { return pick_sign(in, abs_f64, abs_f32, abs_ftz); }
exec_fn *pick_FNEG(struct instr *in) { return pick_sign(in, neg_f64, neg_f32, neg_ftz); }

/* The sign of a, the rest of b. */
HANDLER2(copysign_f32, uint32_t, uint32_t, uint32_t, (b & 0x7fffffff) | (a & 0x80000000))
HANDLER2(copysign_f64, uint64_t, uint64_t, uint64_t, (b & ~SIGN_F64) | (a & SIGN_F64))
exec_fn *pick_COPYSIGN(struct instr *in)
{
    return !all_rows(in) ? NULL : in->type[0] == T_F64 ? copysign_f64 : copysign_f32;
}

/* Zero counts as normal. */
static bool has_property(double x, bool subnormal, enum mod property)
{
    bool nan = x != x, infinite = x - x != 0 && !nan;
    switch (property) {
    case M_finite: return !nan && !infinite;
    case M_infinite: return infinite;
    case M_number: return !nan;
    case M_notanumber: return nan;
    case M_normal: return !nan && !infinite && !subnormal;
    default: return subnormal;
    }
}

static int testp(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t bits = 0;
    FOR_LANES(i, mask) {
        bool wide = in->type[0] == T_F64;
        double x = wide ? ROW(w, &in->opnd[1], double)[i] : (double)ROW(w, &in->opnd[1], float)[i];
        double magnitude = x < 0 ? -x : x;
        bool subnormal = magnitude > 0 && magnitude < (wide ? 0x1p-1022 : 0x1p-126);
        bits |= (uint32_t)has_property(x, subnormal, in->mode) << i;
    }
    write_pred(w, in->opnd[0].row, bits, mask);
    return X_NEXT;
}
exec_fn *pick_TESTP(struct instr *in) { return all_rows(in) ? testp : NULL; }
