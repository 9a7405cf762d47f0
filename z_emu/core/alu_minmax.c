/* alu_minmax.c: min and max of floating-point numbers of every type, of two and of three.
 *
 * A NaN loses against a number; with .NaN it wins. -0 counts as less than +0. The NaN that comes out is the one that
 * arithmetic gives. .xorsign: magnitudes are compared, and the sign is the xor of both. */
#include "core/alu_f16.h"

/* Makes for one format: less(), and best(), which is min or max of two. `U` is its code, as an unsigned integer. */
#define MINMAX(name, U, S, SIGN, INF, NAN_OF)                                                              \
    static inline bool name##_is_nan(U x) { return (x & (U)~(SIGN)) > (INF); }                             \
    /* Numbers in order as signed integers. */                                                                  \
    static inline S name##_order(U x) { return (S)(x & (SIGN) ? (x ^ (U)~(SIGN)) : x); }                        \
    static inline U name##_best(U a, U b, bool want_max, bool nan_wins)                                         \
    {                                                                                                           \
        bool a_nan = name##_is_nan(a), b_nan = name##_is_nan(b);                                                \
        bool first = want_max ? name##_order(a) > name##_order(b) : name##_order(a) < name##_order(b);          \
        U number = a_nan ? b : b_nan ? a : first ? a : b;                                                       \
        return (nan_wins ? a_nan | b_nan : a_nan & b_nan) ? (NAN_OF) : number;                                  \
    }                                                                                                           \
    static inline U name##_modified(U a, U b, bool want_max, uint32_t flags)                                    \
    {                                                                                                           \
        U sign = flags & F_XORSIGN ? (a ^ b) & (SIGN) : 0;                                                      \
        if (flags & F_ABS) a &= (U)~(SIGN), b &= (U)~(SIGN);                                                    \
        U best = name##_best(a, b, want_max, flags & F_NAN);                                                    \
        return name##_is_nan(best) ? best : best | sign;                                                        \
    }
MINMAX(f16, uint16_t, int16_t, 0x8000, 0x7c00, NAN_F16)
MINMAX(bf16, uint16_t, int16_t, 0x8000, 0x7f80, NAN_BF16)
MINMAX(f32, uint32_t, int32_t, 0x80000000, 0x7f800000, NAN_F32)
MINMAX(f64, uint64_t, int64_t, 1ull << 63, 0x7ff0000000000000, b | 1ull << 51)     /* the second NaN, made quiet */

static inline uint32_t flush_f32(uint32_t u) { return f32_bits(flush(f32_of(u))); }

/* The common forms, with the host's comparisons. Equal values may be zeros of different signs: or-ing the bits gives the
 * lesser, and-ing them the greater. */
static inline uint32_t min_f32(float a, float b)
{
    uint32_t x = f32_bits(a), y = f32_bits(b), number = a == b ? x | y : a < b ? x : y;
    return a != a ? b != b ? (uint32_t)NAN_F32 : y : b != b ? x : number;
}
static inline uint32_t max_f32(float a, float b)
{
    uint32_t x = f32_bits(a), y = f32_bits(b), number = a == b ? x & y : a > b ? x : y;
    return a != a ? b != b ? (uint32_t)NAN_F32 : y : b != b ? x : number;
}
HANDLER2(min_plain_f32, uint32_t, float, float, min_f32(a, b))
HANDLER2(max_plain_f32, uint32_t, float, float, max_f32(a, b))
HANDLER2(min_f64, uint64_t, uint64_t, uint64_t, f64_best(a, b, false, false))
HANDLER2(max_f64, uint64_t, uint64_t, uint64_t, f64_best(a, b, true, false))

/* f32 with modifiers. */
static inline uint32_t any_f32(uint32_t a, uint32_t b, bool want_max, uint32_t flags)
{
    return flags & F_FTZ ? f32_modified(flush_f32(a), flush_f32(b), want_max, flags) : f32_modified(a, b, want_max, flags);
}
HANDLER2(min_any_f32, uint32_t, uint32_t, uint32_t, any_f32(a, b, false, flags))
HANDLER2(max_any_f32, uint32_t, uint32_t, uint32_t, any_f32(a, b, true, flags))
HANDLER3(min3_f32, uint32_t, uint32_t, uint32_t, uint32_t, any_f32(any_f32(a, b, false, flags), c, false, flags))
HANDLER3(max3_f32, uint32_t, uint32_t, uint32_t, uint32_t, any_f32(any_f32(a, b, true, flags), c, true, flags))

static exec_fn *pick(struct instr *in, exec_fn *f64, exec_fn *plain, exec_fn *any)
{
    if (!all_rows(in)) return NULL;
    if (in->type[0] == T_F64) return in->flags ? NULL : f64;
    if (in->flags & F_XORSIGN && !(in->flags & F_ABS)) return NULL;
    return in->flags ? any : plain;
}
exec_fn *pick_FMIN(struct instr *in) { return pick(in, min_f64, min_plain_f32, min_any_f32); }
exec_fn *pick_FMAX(struct instr *in) { return pick(in, max_f64, max_plain_f32, max_any_f32); }
exec_fn *pick_FMIN3(struct instr *in) { return pick(in, NULL, min3_f32, min3_f32); }
exec_fn *pick_FMAX3(struct instr *in) { return pick(in, NULL, max3_f32, max3_f32); }

/* f16 and bf16: 32 or 64 side by side. Without modifiers they are compared in f32. */
static int plain_halves(struct warp *w, const struct instr *in, uint32_t mask)
{
    float x[2 * WARP], y[2 * WARP];
    uint16_t result[2 * WARP];
    const uint16_t *a = ROW(w, &in->opnd[1], uint16_t), *b = ROW(w, &in->opnd[2], uint16_t);
    bool f16 = in->type[0] == T_F16 || in->type[0] == T_F16X2;
    int n = (int)(WARP * in->opnd[0].width / 2);
    if (f16) {
        widen_f16(x, a, n);
        widen_f16(y, b, n);
    } else {
        for (int i = 0; i < n; i++) x[i] = f32_of_bf16(a[i]);
        for (int i = 0; i < n; i++) y[i] = f32_of_bf16(b[i]);
    }
    if (in->op == OP_HMAX)
        for (int i = 0; i < n; i++) x[i] = f32_of(max_f32(x[i], y[i]));
    else
        for (int i = 0; i < n; i++) x[i] = f32_of(min_f32(x[i], y[i]));
    if (f16)
        narrow_f16(result, x, n);
    else
        for (int i = 0; i < n; i++) result[i] = (uint16_t)(f32_bits(x[i]) >> 16);
    store_row(ROW(w, &in->opnd[0], uint16_t), result, in->opnd[0].width, mask);
    return X_NEXT;
}

static int halves(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint16_t result[2 * WARP];
    const uint16_t *a = ROW(w, &in->opnd[1], uint16_t), *b = ROW(w, &in->opnd[2], uint16_t);
    bool want_max = in->op == OP_HMAX, f16 = in->type[0] == T_F16 || in->type[0] == T_F16X2;
    int n = (int)(WARP * in->opnd[0].width / 2);
    uint32_t flags = in->flags;
    if (!f16)
        for (int i = 0; i < n; i++) result[i] = bf16_modified(a[i], b[i], want_max, flags);
    else if (flags & F_FTZ)
        for (int i = 0; i < n; i++) result[i] = f16_modified(flush_f16(a[i]), flush_f16(b[i]), want_max, flags);
    else
        for (int i = 0; i < n; i++) result[i] = f16_modified(a[i], b[i], want_max, flags);
    store_row(ROW(w, &in->opnd[0], uint16_t), result, in->opnd[0].width, mask);
    return X_NEXT;
}

static exec_fn *pick_halves(struct instr *in)
{
    bool f16 = in->type[0] == T_F16 || in->type[0] == T_F16X2;
    bool both_or_none = !(in->flags & F_XORSIGN) == !(in->flags & F_ABS);
    if (!all_rows(in) || !both_or_none || (!f16 && in->flags & F_FTZ)) return NULL;
    return in->flags ? halves : plain_halves;
}
exec_fn *pick_HMIN(struct instr *in) { return pick_halves(in); }
exec_fn *pick_HMAX(struct instr *in) { return pick_halves(in); }
