/* cvt.c: cvt between any two of the plain types, u8 … s64, f16, bf16, f32, f64, in any rounding.
 *
 * Here a value is taken apart into a number and put together again in the other type, lane by lane: plain and
 * complete. The forms that programs use most have loops that vectorise, in cvt_common.c and cvt_int.c. */
#include "core/cvt.h"

const struct format *format_of(enum type t)
{
    switch (t) {
    case T_F16: case T_F16X2: return &format_f16;
    case T_BF16: case T_BF16X2: return &format_bf16;
    case T_TF32: return &format_tf32;
    case T_F32: return &format_f32;
    case T_F64: return &format_f64;
    case T_E4M3: case T_E4M3X2: case T_E4M3X4: return &format_e4m3;
    case T_E5M2: case T_E5M2X2: case T_E5M2X4: return &format_e5m2;
    case T_E2M3: case T_E2M3X2: case T_E2M3X4: return &format_e2m3;
    case T_E3M2: case T_E3M2X2: case T_E3M2X4: return &format_e3m2;
    case T_E2M1: case T_E2M1X2: case T_E2M1X4: return &format_e2m1;
    default: return NULL;
    }
}

uint32_t int_bits(enum type t)
{
    switch (t) {
    case T_U8: case T_S8: return 8;
    case T_U16: case T_S16: return 16;
    case T_U32: case T_S32: return 32;
    case T_U64: case T_S64: return 64;
    default: return 0;
    }
}

static uint64_t low_bits(uint64_t x, uint32_t bits) { return bits == 64 ? x : x & ((1ull << bits) - 1); }
static uint64_t sign_extended(uint64_t x, uint32_t bits) { return (uint64_t)((int64_t)(x << (64 - bits)) >> (64 - bits)); }

uint64_t read_lane(struct warp *w, const struct operand *o, uint32_t i, enum type t)
{
    uint64_t code = 0;
    memcpy(&code, w->regs + o->row + i * o->width, o->width < 8 ? o->width : 8);
    uint32_t bytes = type_bytes(t);
    return bytes ? low_bits(code, bytes * 8) : code;
}

/* A destination wider than the type is filled up with the sign of a signed integer, else with zeros. */
void write_lane(struct warp *w, const struct operand *o, uint32_t i, enum type t, uint64_t code)
{
    if (is_signed_int(t)) code = sign_extended(code, int_bits(t));
    uint8_t *to = w->regs + o->row + i * o->width;
    memcpy(to, &code, o->width < 8 ? o->width : 8);
    if (o->width == 16) memset(to + 8, is_signed_int(t) && code >> 63 ? 0xff : 0, 8);
}

/* ---------------------------------------------------------------- one value */

/* The number that a code of the type stands for; .ftz flushes f32, but not on its way to f16 (seen on an H200: .rp makes the
 * least f16 of a subnormal). */
static struct num number_of(const struct instr *in, enum type t, uint64_t code)
{
    uint32_t bits = int_bits(t);
    if (bits) {
        bool negative = is_signed_int(t) && code >> (bits - 1) & 1;
        return num_from_int(negative, negative ? 0 - sign_extended(code, bits) : code);
    }
    if (t == T_F32 && in->type[0] != T_F16 && in->flags & F_FTZ) code = f32_bits(flush(f32_of((uint32_t)code)));
    return num_decode(format_of(t), code);
}

/* NaN is 0 as an integer, but the topmost bit where 64 bits have a part in it. */
static uint64_t to_integer(const struct instr *in, enum type to, enum type from, struct num x)
{
    uint32_t bits = int_bits(to);
    uint64_t nan = from == T_F64 || bits == 64 ? 1ull << (bits - 1) : 0;
    return low_bits(num_to_int(x, rounding_of(in), is_signed_int(to), (int)bits, nan), bits);
}

uint64_t encode(const struct instr *in, const struct format *f, struct num x)
{
    if (in->flags & F_RELU && x.negative && x.kind != NUM_NAN) x = (struct num){NUM_ZERO, false, 0, 0};
    return num_encode(f, x, rounding_of(in), in->flags & F_SATFINITE);
}

/* .sat, on a code: to [+0, 1]. Codes of positive numbers are in order. */
static uint64_t saturated(const struct format *f, uint64_t code)
{
    uint64_t sign = 1ull << (f->bits - 1), one = (uint64_t)f->bias << f->mantissa;
    if (code & sign || code > f->inf) return 0;
    return code > one ? one : code;
}

/* A NaN on its way to or from f64 keeps its sign and what it carries, as far as there is room, and is made quiet; but .ftz
 * forgets them first. Seen on an H200. */
static uint64_t nan_with_f64(const struct instr *in, enum type to, enum type from, uint64_t code)
{
    const struct format *t = format_of(to), *f = format_of(from);
    if (from == T_F32 && in->flags & F_FTZ) code = NAN_F32;
    uint64_t sign = code >> (f->bits - 1), fraction = low_bits(code, f->mantissa) << (52 - f->mantissa);
    return sign << (t->bits - 1) | t->inf | 1ull << (t->mantissa - 1) | fraction >> (52 - t->mantissa);
}

static bool rounds_to_integral(const struct instr *in)
{
    return in->rnd == M_rni || in->rnd == M_rzi || in->rnd == M_rmi || in->rnd == M_rpi;
}

uint64_t convert(const struct instr *in, enum type to, enum type from, uint64_t code)
{
    struct num x = number_of(in, from, code);
    if (int_bits(to)) return to_integer(in, to, from, x);
    if (rounds_to_integral(in)) x = num_integral(x, rounding_of(in));

    const struct format *f = format_of(to);
    uint64_t result = encode(in, f, x);
    if (x.kind == NUM_NAN && (to == T_F64 || from == T_F64)) result = nan_with_f64(in, to, from, code);
    if (to == T_F32 && in->flags & F_FTZ) result = f32_bits(flush(f32_of((uint32_t)result)));
    return in->flags & F_SAT ? saturated(f, result) : result;
}

static int cvt_any(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type to = in->type[0], from = in->type[1];
    FOR_LANES(i, mask)
        write_lane(w, &in->opnd[0], i, to, convert(in, to, from, read_lane(w, &in->opnd[1], i, from)));
    return X_NEXT;
}

/* ---------------------------------------------------------------- picker */

/* Whether a rounding modifier of the right kind is there, or rightly missing. */
static bool rounding_fits(const struct instr *in)
{
    enum type to = in->type[0], from = in->type[1];
    bool to_int = int_bits(to), from_int = int_bits(from);
    if (to_int) return rounds_to_integral(in);
    if (from_int) return in->rnd != M_NONE && !rounds_to_integral(in);
    if (rounds_to_integral(in)) return format_of(to)->bits == format_of(from)->bits;
    return true;        /* a missing one counts as .rn: where nothing is lost it plays no part */
}

exec_fn *pick_CVT(struct instr *in)
{
    enum type to = in->type[0], from = in->type[1];
    if (!all_rows(in)) return NULL;
    if (int_bits(to) && int_bits(from)) return pick_cvt_int(in);

    bool relu_fits = from == T_F32 && (to == T_F16 || to == T_BF16);
    bool ftz_fits = from == T_F32 || to == T_F32;
    if (!only_flags(in, F_SAT | (ftz_fits ? F_FTZ : 0) | (relu_fits ? F_RELU | F_SATFINITE : 0))) return NULL;
    if (!rounding_fits(in)) return NULL;
    exec_fn *common = pick_cvt_common(in);
    return common ? common : cvt_any;
}
