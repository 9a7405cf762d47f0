/* mma_numbers.c: the number formats of the matrix instructions, unpacked to f32 and packed again.
 *
 * Modelled: f16, bf16, tf32 (its low 13 bits do not count), e4m3, e5m2, e2m3, e3m2, e2m1 (packed in 4 bits, or in
 * the container that .kind::f8f6f4 wants), ue8m0, ue4m3, integers of 4 and 8 bits.
 */
#include "mma.h"

#include <math.h>
#include <string.h>

#define UNLIMITED INFINITY
static const struct mma_number numbers[T_COUNT] = {
    /*             bits width exp frac  inf    emin   scale     limit */
    [T_F16] = { 16, 16, 5, 10, true,  -14, 0x1p112f, 0x1p16f },
    [T_BF16] = { 16, 16, 8,  7, true, -126, 1,        INFINITY },
    [T_TF32] = { 32, 32, 8, 10, true, -126, 1,        INFINITY },
    [T_E5M2] = {  8,  8, 5,  2, true,  -14, 0x1p112f, 0x1p16f },
    [T_E4M3] = {  8,  8, 4,  3, false,  -6, 0x1p120f, 480 },
    [T_E3M2] = {  8,  6, 3,  2, false,  -2, 0x1p124f, UNLIMITED },
    [T_E2M3] = {  8,  6, 2,  3, false,   0, 0x1p126f, UNLIMITED },
    [T_E2M1] = {  4,  4, 2,  1, false,   0, 0x1p126f, UNLIMITED },
    [MMA_E2M1_BYTE] = {  8,  6, 2,  1, false,   0, 0x1p126f, UNLIMITED },
};

const struct mma_number *mma_number(enum type t) { return numbers[t].bits ? &numbers[t] : NULL; }

static bool is_signed(enum type t) { return t == T_S8 || t == T_S4; }

uint32_t mma_bits(enum type t)
{
    switch (t) {
    case T_U8: case T_S8: return 8;
    case T_U4: case T_S4: return 4;
    case T_B1: return 1;
    case T_F32: case T_S32: return 32;
    case T_F64: return 64;
    default: return numbers[t].bits;
    }
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

/* Sign to bit 31, lowest bit of the exponent to 23. The mask takes out copies of the sign that the shift leaves. */
static inline float unpack(const struct mma_number *f, uint32_t word, int at)
{
    uint32_t top = word << (32 - f->width - at);
    uint32_t fields = ((1u << (f->exponent + f->fraction)) - 1) << (23 - f->fraction);
    return float_of((uint32_t)((int32_t)top >> (8 - f->exponent)) & (0x80000000u | fields)) * f->scale;
}

static inline float unpack_integer(uint32_t word, int at, int bits, bool is_signed)
{
    uint32_t top = word << (32 - bits - at);
    return is_signed ? (float)((int32_t)top >> (32 - bits)) : (float)(top >> (32 - bits));
}

void mma_decode_row(enum type t, const uint32_t *row, float (*to)[WARP])
{
    int bits = (int)mma_bits(t);
    for (int i = 0; i < 32 / bits; i++) {
        if (numbers[t].bits) {
            const struct mma_number f = numbers[t];
            for (int lane = 0; lane < WARP; lane++)
                to[i][lane] = unpack(&f, row[lane], bits * i);
        } else {
            bool s = is_signed(t);
            for (int lane = 0; lane < WARP; lane++)
                to[i][lane] = unpack_integer(row[lane], bits * i, bits, s);
        }
    }
}

/* A loop for each width of element, so that each becomes vector code. */
#define DECODE(word_type, index, at)                                                             \
    for (int i = 0; i < n; i++) {                                                                \
        uint32_t word = ((const word_type *)from)[index];                                        \
        to[i] = f.bits ? unpack(&f, word, at) : unpack_integer(word, at, bits, s);               \
    }

void mma_decode(enum type t, const void *from, float *to, int n)
{
    int bits = (int)mma_bits(t);
    const struct mma_number f = numbers[t];
    bool s = is_signed(t);
    if (bits == 32)
        DECODE(uint32_t, i, 0)
    else if (bits == 16)
        DECODE(uint16_t, i, 0)
    else if (bits == 8)
        DECODE(uint8_t, i, 0)
    else
        DECODE(uint8_t, i / 2, 4 * (i % 2))
}

float mma_special(const struct mma_number *f, float v)
{
    if (!(fabsf(v) >= f->limit))
        return v;           /* NaN of bf16 and tf32 takes this way as well */
    if (f->has_infinity && fabsf(v) == f->limit)
        return copysignf(INFINITY, v);
    return NAN;
}

/* Both lie at or above 2^16, infinity with a fraction of zero: f32's exponent makes of them what they are. */
void mma_special_halves(float *v, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t bits = bits_of(v[i]);
        v[i] = float_of(bits | ((bits & 0x7fffffff) >= 0x47800000 ? 0x7f800000 : 0));
    }
}

float mma_scale_value(enum type t, uint32_t byte)
{
    byte &= 0xff;
    if (t == T_UE8M0)
        return byte == 0xff ? NAN : ldexpf(1, (int)byte - 127);
    return (byte & 0x7f) == 0x7f ? NAN : unpack(&numbers[T_E4M3], byte & 0x7f, 0);
}

/* f16 has f32's fields with another bias, so that a multiplication by 2^-112 (exact, as v is) lines them up. */
uint16_t mma_half_bits(float v)
{
    uint16_t sign = (uint16_t)(bits_of(v) >> 16 & 0x8000);
    if (isnan(v))
        return 0x7fff;
    if (isinf(v))
        return sign | 0x7c00;
    return sign | (uint16_t)(bits_of(fabsf(v) * 0x1p-112f) >> 13);
}
