/* cvt_narrow.c: cvt to and from packed values: two f16 or bf16 from f32, tf32, and the formats of 4, 6 and 8 bits
 * (e4m3 e5m2 e2m3 e3m2 e2m1, the scale ue8m0, the fixed-point s2f6), with stochastic rounding.
 *
 * Unproven, for want of a chip to ask: which random bits which element gets in the forms with four elements, and all
 * of s2f6. */
#include "core/cvt.h"

/* ---------------------------------------------------------------- one element */

/* A power of two, rounded up or toward zero; the sign does not count. */
static uint32_t encode_ue8m0(const struct instr *in, struct num x)
{
    uint32_t beyond = in->flags & F_SATFINITE ? 0xfe : 0xff;
    if (x.kind == NUM_NAN) return 0xff;
    if (x.kind == NUM_INF) return beyond;
    if (x.kind == NUM_ZERO) return 0;
    bool power_of_two = x.significand == (uint128_t)1 << NUM_TOP;
    int code = x.exponent + NUM_TOP + 127 + (in->rnd == M_rp && !power_of_two);
    return code < 0 ? 0 : code > 0xfe ? beyond : (uint32_t)code;
}

static struct num decode_ue8m0(uint32_t code)
{
    if (code == 0xff) return (struct num){NUM_NAN, false, 0, 0};
    struct num one = num_from_int(false, 1);
    one.exponent += (int)code - 127;
    return one;
}

/* 64ths, in a signed byte. */
static uint32_t encode_s2f6(const struct instr *in, struct num x)
{
    if (in->flags & F_RELU && x.negative && x.kind != NUM_NAN) return 0;
    x.exponent += 6;
    return num_to_int(x, ROUND_NEAREST, true, 8, 127) & 0xff;
}

static struct num decode_s2f6(uint32_t code)
{
    int8_t value = (int8_t)code;
    struct num x = num_from_int(value < 0, (uint64_t)(value < 0 ? -value : value));
    x.exponent -= 6;
    return x;
}

static uint32_t encode_element(const struct instr *in, enum type packed, struct num x)
{
    if (packed == T_UE8M0X2) return encode_ue8m0(in, x);
    if (packed == T_S2F6X2) return encode_s2f6(in, x);
    return (uint32_t)encode(in, format_of(packed), x);
}

static struct num decode_element(enum type packed, uint32_t code)
{
    if (packed == T_UE8M0X2) return decode_ue8m0(code);
    if (packed == T_S2F6X2) return decode_s2f6(code);
    return num_decode(format_of(packed), code & ((1u << format_of(packed)->bits) - 1));
}

/* Bits from one element to the next. */
static uint32_t spacing(enum type packed)
{
    switch (packed) {
    case T_F16X2: case T_BF16X2: return 16;
    case T_E2M1X2: case T_E2M1X4: return 4;
    default: return 8;
    }
}

/* ---------------------------------------------------------------- from f32, two at a time */

static struct num num_of_f32(float x) { return num_decode(&format_f32, f32_bits(x)); }

/* The scale is the operand behind the sources, where there is one. */
static bool has_scale(const struct instr *in, int nsources)
{
    return in->nopnd > nsources + 1 && in->opnd[nsources + 1].kind == O_REG;
}

/* The scale for element k, 1 when there is none. */
static struct num scale_of(struct warp *w, const struct instr *in, int nsources, uint32_t lane, int k)
{
    if (!has_scale(in, nsources)) return num_from_int(false, 1);
    return decode_ue8m0(ROW(w, &in->opnd[nsources + 1], uint16_t)[lane] >> 8 * k & 0xff);
}

static struct num scaled_down(struct num x, struct num scale)
{
    return scale.kind == NUM_NAN ? scale : num_div(x, scale);
}

/* a in the upper element, b in the lower. */
static int cvt_pair(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type packed = in->type[0];
    const float *a = ROW(w, &in->opnd[1], float), *b = ROW(w, &in->opnd[2], float);
    FOR_LANES(i, mask) {
        uint32_t high = encode_element(in, packed, scaled_down(num_of_f32(a[i]), scale_of(w, in, 2, i, 1)));
        uint32_t low = encode_element(in, packed, scaled_down(num_of_f32(b[i]), scale_of(w, in, 2, i, 0)));
        write_lane(w, &in->opnd[0], i, packed, high << spacing(packed) | low);
    }
    return X_NEXT;
}

HANDLER2(f16x2_rn, uint32_t, float, float, (uint32_t)f16_of_f32(a) << 16 | f16_of_f32(b))
HANDLER2(bf16x2_rn, uint32_t, float, float, (uint32_t)bf16_of_f32(a) << 16 | bf16_of_f32(b))

exec_fn *pick_CVT_PACK2(struct instr *in)
{
    if (!all_rows(in)) return NULL;
    if (in->flags || in->rnd != M_rn) return cvt_pair;
    return in->type[0] == T_F16X2 ? f16x2_rn : bf16x2_rn;
}

/* ---------------------------------------------------------------- stochastic rounding */

static int cvt_pair_random(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct format *f = format_of(in->type[0]);
    int count = 23 - f->mantissa;                   /* random bits: as many as are cut off */
    bool relu = in->flags & F_RELU, saturate = in->flags & F_SATFINITE;
    const float *source[2] = {ROW(w, &in->opnd[2], float), ROW(w, &in->opnd[1], float)};
    const uint32_t *random = ROW(w, &in->opnd[3], uint32_t);
    FOR_LANES(i, mask) {
        uint32_t result = 0;
        for (int k = 0; k < 2; k++) {
            uint32_t bits = random[i] >> 16 * k & ((1u << count) - 1);
            uint32_t code = (uint32_t)num_encode_random(f, num_of_f32(source[k][i]), bits, count, saturate);
            bool negative = code & 0x8000;
            result |= (relu && negative ? 0 : code) << 16 * k;
        }
        write_lane(w, &in->opnd[0], i, in->type[0], result);
    }
    return X_NEXT;
}
exec_fn *pick_CVT_PACK2_RS(struct instr *in) { return all_rows(in) ? cvt_pair_random : NULL; }

/* Element k of four: 16 random bits for each pair of bytes, or 8 for each of the 4-bit elements. */
static uint32_t random_for(enum type packed, uint32_t random, int k)
{
    if (packed != T_E2M1X4) return random >> (k >= 2 ? 16 : 0) & 0xffff;
    int byte = (k & 1) * 2 + (k >= 2);
    return random >> 8 * byte & 0xff;
}

static int cvt_four_random(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type packed = in->type[0];
    const struct format *f = format_of(packed);
    const struct operand *source = in->opnd[1].elem;
    int count = packed == T_E2M1X4 ? 8 : 16;
    FOR_LANES(i, mask) {
        uint32_t result = 0, random = ROW(w, &in->opnd[2], uint32_t)[i];
        for (int k = 0; k < 4; k++) {
            struct num x = num_of_f32(ROW(w, &source[3 - k], float)[i]);
            if (in->flags & F_RELU && x.negative && x.kind != NUM_NAN) x = num_from_int(false, 0);
            uint32_t code = (uint32_t)num_encode_random(f, x, random_for(packed, random, k), count, true);
            result |= code << spacing(packed) * (uint32_t)k;
        }
        write_lane(w, &in->opnd[0], i, packed, result);
    }
    return X_NEXT;
}

exec_fn *pick_CVT_NARROW_RS(struct instr *in)
{
    const struct operand *v = &in->opnd[1];
    if (v->kind != O_VEC || v->n != 4) return NULL;
    for (int k = 0; k < 4; k++)
        if (v->elem[k].kind != O_REG || v->elem[k].flags & (O_NOT | O_NEG)) return NULL;
    return in->opnd[0].kind == O_REG && in->opnd[2].kind == O_REG ? cvt_four_random : NULL;
}

/* ---------------------------------------------------------------- 4, 6 and 8 bits */

/* Rounding and .satfinite that the destination type wants. */
static bool narrow_form_fits(const struct instr *in, enum type from, int nsources)
{
    bool scale = has_mod(in, M_scaled_n2_ue8m0), with_scale = has_scale(in, nsources);
    switch (in->type[0]) {
    case T_UE8M0X2: return in->rnd != M_rn && from != T_F16X2 && !scale && !with_scale && !(in->flags & F_RELU);
    case T_S2F6X2: return in->rnd == M_rn && from != T_F16X2 && in->flags & F_SATFINITE && scale == with_scale;
    default: return in->rnd == M_rn && in->flags & F_SATFINITE && !scale && !with_scale;
    }
}

/* fp8 without .relu has a fast form: an integer addition rounds what is normal there, a float addition what is not. */
static inline uint32_t fp8_of_f32(float x, int mantissa, int bias, uint32_t max)
{
    uint32_t u = f32_bits(x), magnitude = u & 0x7fffffff, sign = u >> 24 & 0x80;
    uint32_t least_normal = (uint32_t)(128 - bias) << 23;
    uint32_t coarse = (uint32_t)(127 + 24 - bias - mantissa) << 23;
            /* a float whose last place is fp8's smallest step */
    uint32_t half = (1u << (22 - mantissa)) - 1 + (magnitude >> (23 - mantissa) & 1);
    uint32_t normal = (magnitude + half - ((uint32_t)(127 - bias) << 23)) >> (23 - mantissa);
    uint32_t subnormal = f32_bits(f32_of(magnitude) + f32_of(coarse)) - coarse;
    uint32_t code = magnitude < least_normal ? subnormal : magnitude < 0x47800000 ? normal : max;
    return magnitude > 0x7f800000 ? 0x7f : (code < max ? code : max) | sign;
}
static inline uint32_t e4m3_of_f32(float x) { return fp8_of_f32(x, 3, 7, 0x7e); }
static inline uint32_t e5m2_of_f32(float x) { return fp8_of_f32(x, 2, 15, 0x7b); }
static inline float high_half(uint32_t pair) { return f32_of_f16((uint16_t)(pair >> 16)); }
static inline float low_half(uint32_t pair) { return f32_of_f16((uint16_t)pair); }
HANDLER2(e4m3x2_of_f32, uint16_t, float, float, e4m3_of_f32(a) << 8 | e4m3_of_f32(b))
HANDLER2(e5m2x2_of_f32, uint16_t, float, float, e5m2_of_f32(a) << 8 | e5m2_of_f32(b))
HANDLER1(e4m3x2_of_f16x2, uint16_t, uint32_t, e4m3_of_f32(high_half(a)) << 8 | e4m3_of_f32(low_half(a)))
HANDLER1(e5m2x2_of_f16x2, uint16_t, uint32_t, e5m2_of_f32(high_half(a)) << 8 | e5m2_of_f32(low_half(a)))

/* NULL where there is none. */
static exec_fn *fast_narrow(const struct instr *in, exec_fn *e4m3, exec_fn *e5m2)
{
    if (in->flags != F_SATFINITE || in->opnd[0].width != 2) return NULL;
    return in->type[0] == T_E4M3X2 ? e4m3 : in->type[0] == T_E5M2X2 ? e5m2 : NULL;
}

static exec_fn *pick_narrow(struct instr *in)
{
    if (!all_rows(in) || !narrow_form_fits(in, T_F32, 2)) return NULL;
    exec_fn *fast = fast_narrow(in, e4m3x2_of_f32, e5m2x2_of_f32);
    return fast ? fast : cvt_pair;
}
exec_fn *pick_CVT_NARROW(struct instr *in) { return pick_narrow(in); }
exec_fn *pick_CVT_NARROW_100(struct instr *in) { return pick_narrow(in); }

/* From a pair of f16 or bf16. */
static int cvt_halves(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type packed = in->type[0];
    const struct format *source = format_of(in->type[1]);
    FOR_LANES(i, mask) {
        uint32_t result = 0, pair = ROW(w, &in->opnd[1], uint32_t)[i];
        for (int k = 0; k < 2; k++) {
            struct num x = num_decode(source, pair >> 16 * k & 0xffff);
            uint32_t code = encode_element(in, packed, scaled_down(x, scale_of(w, in, 1, i, k)));
            result |= code << spacing(packed) * (uint32_t)k;
        }
        write_lane(w, &in->opnd[0], i, packed, result);
    }
    return X_NEXT;
}

static exec_fn *pick_halves(struct instr *in)
{
    if (!all_rows(in) || !narrow_form_fits(in, in->type[1], 1)) return NULL;
    exec_fn *fast = in->type[1] == T_F16X2 ? fast_narrow(in, e4m3x2_of_f16x2, e5m2x2_of_f16x2) : NULL;
    return fast ? fast : cvt_halves;
}
exec_fn *pick_CVT_NARROW_H(struct instr *in) { return pick_halves(in); }
exec_fn *pick_CVT_NARROW_H_100(struct instr *in) { return pick_halves(in); }

/* To a pair of f16 or bf16, the scale multiplied in. */
static int cvt_widen(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type packed = in->type[1];
    const struct format *f = format_of(in->type[0]);
    FOR_LANES(i, mask) {
        uint32_t result = 0, pair = (uint32_t)read_lane(w, &in->opnd[1], i, packed);
        for (int k = 0; k < 2; k++) {
            struct num x = decode_element(packed, pair >> spacing(packed) * (uint32_t)k & 0xff);
            struct num scale = scale_of(w, in, 1, i, k);
            result |= (uint32_t)encode(in, f, num_mul(x, scale)) << 16 * k;
        }
        write_lane(w, &in->opnd[0], i, in->type[0], result);
    }
    return X_NEXT;
}

/* fp8 to f16 has a fast form: e5m2 is the upper byte of an f16; e4m3 has its exponent moved, by a multiplication. */
static inline uint32_t f16_of_e4m3(uint32_t code)
{
    float magnitude = f32_of((code & 0x7f) << 20) * 0x1p120f;
    uint32_t h = f16_of_f32(magnitude) | (code & 0x80) << 8;
    return (code & 0x7f) == 0x7f ? (uint32_t)NAN_F16 : h;
}
static inline uint32_t f16_of_e5m2(uint32_t code) { return (code & 0x7f) > 0x7c ? (uint32_t)NAN_F16 : code << 8; }
HANDLER1(f16x2_of_e4m3x2, uint32_t, uint16_t, f16_of_e4m3(a & 0xff) | f16_of_e4m3(a >> 8) << 16)
HANDLER1(f16x2_of_e5m2x2, uint32_t, uint16_t, f16_of_e5m2(a & 0xff) | f16_of_e5m2(a >> 8) << 16)

static exec_fn *pick_widen(struct instr *in)
{
    bool scale = has_mod(in, M_scaled_n2_ue8m0), with_scale = has_scale(in, 1);
    bool bf16_only = in->type[1] == T_S2F6X2 || in->type[1] == T_UE8M0X2;
    if (!all_rows(in) || scale != with_scale || (scale && in->type[1] != T_S2F6X2)) return NULL;
    if (bf16_only != (in->type[0] == T_BF16X2)) return NULL;
    if (!in->flags && in->opnd[1].width == 2 && in->type[1] == T_E4M3X2) return f16x2_of_e4m3x2;
    if (!in->flags && in->opnd[1].width == 2 && in->type[1] == T_E5M2X2) return f16x2_of_e5m2x2;
    return cvt_widen;
}
exec_fn *pick_CVT_WIDEN(struct instr *in) { return pick_widen(in); }
exec_fn *pick_CVT_WIDEN_100(struct instr *in) { return pick_widen(in); }

/* ---------------------------------------------------------------- tf32: the upper 19 bits of an f32 */

/* Nearest, ties away: an addition and a cut on the chip, which NaNs pass uncut, so that one may turn into infinity. */
static inline uint32_t tf32_away(uint32_t u)
{
    return (u & 0x7fffffff) < 0x7f800000 ? (u + 0x1000) & 0xffffe000 : u & 0xffffe000;
}
static inline uint32_t tf32_away_finite(uint32_t u)
{
    uint32_t t = tf32_away(u);
    return (t & 0x7fffffff) < 0x7f800000 ? t : t - 0x2000;
}
HANDLER1(tf32_rna, uint32_t, uint32_t, tf32_away(a))
HANDLER1(tf32_rna_satfinite, uint32_t, uint32_t, tf32_away_finite(a))
HANDLER1(tf32_any, uint32_t, float, (uint32_t)encode(in, &format_tf32, num_of_f32(a)) << 13)

exec_fn *pick_CVT_TF32(struct instr *in)
{
    if (!all_rows(in)) return NULL;
    if (in->rnd != M_rna) return tf32_any;
    return in->flags & F_RELU ? NULL : in->flags & F_SATFINITE ? tf32_rna_satfinite : tf32_rna;
}
