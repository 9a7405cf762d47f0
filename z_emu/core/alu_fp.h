/* alu_fp.h: the floating-point pieces that handlers are made of, each without a branch so that loops over
 * lanes vectorise: NaNs as the chip writes them, flushing, 16-bit formats. */
#ifndef Z_EMU_ALU_FP_H
#define Z_EMU_ALU_FP_H

#include "core/alu.h"
#include "core/alu_soft.h"

/* What a rounding modifier of the instruction stands for; none is .rn. */
static inline enum rounding rounding_of(const struct instr *in)
{
    switch (in->rnd) {
    case M_rz: case M_rzi: return ROUND_ZERO;
    case M_rm: case M_rmi: return ROUND_DOWN;
    case M_rp: case M_rpi: return ROUND_UP;
    case M_rna: return ROUND_AWAY;
    default: return ROUND_NEAREST;
    }
}

static inline uint32_t f32_bits(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static inline float f32_of(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static inline uint64_t f64_bits(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static inline double f64_of(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

/* Arithmetic in f32, f16 and bf16 forgets what a NaN carried. */
enum { NAN_F32 = 0x7fffffff, NAN_F16 = 0x7fff, NAN_BF16 = 0x7fff };
static inline float canonical(float x) { return x == x ? x : f32_of(NAN_F32); }

/* Arithmetic in f64 hands on a NaN among its sources, made quiet, and has one of its own for invalid operations. Of several
 * it takes the first here; callers name them in the chip's order (seen on an H200): b, a for sums and products, b, c, a for
 * fma. */
#define NAN_F64 0xfff8000000000000ull
static inline double nan_of(double a, double b, double c)
{
    double x = a != a ? a : b != b ? b : c;
    return x != x ? f64_of(f64_bits(x) | 1ull << 51) : f64_of(NAN_F64);
}
static inline double result_f64(double x, double a, double b, double c) { return x == x ? x : nan_of(a, b, c); }

/* .ftz: subnormals become zeros of the same sign. */
static inline float flush(float x)
{
    uint32_t u = f32_bits(x);
    return f32_of(u & 0x7f800000 ? u : u & 0x80000000);
}
static inline uint16_t flush_f16(uint16_t h) { return h & 0x7c00 ? h : h & 0x8000; }
/* .ftz of a result: the chip looks at it rounded to 24 bits as if exponents went on below, so what lies a step below the least
 * normal number becomes zero even where f32, whose subnormals are coarser, rounds it up to that number (seen on an H200).
 * `rest` is the exact value less x; `kept`: how far below that number a value may be and still be rounded up to it. */
#define KEPT_NEAREST 0x1p-151
#define KEPT_DIRECTED 0x1.fffffffffffffp-151    /* less than a whole step */
static inline float flush_result(float x, double rest, double kept)
{
    bool below = (x == 0x1p-126f && rest < -kept) || (x == -0x1p-126f && rest > kept);
    return below ? f32_of(f32_bits(x) & 0x80000000) : flush(x);
}

/* .sat: to [+0, 1], NaN to +0. */
static inline float saturate(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }

/* ---- f16 and bf16 */

static inline float f32_of_f16(uint16_t h)
{
    uint32_t magnitude = h & 0x7fff, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t finite = f32_bits(f32_of(magnitude << 13) * 0x1p112f);     /* moves the exponent's bias; exact */
    uint32_t u = magnitude < 0x7c00 ? finite : 0x7f800000;
    return f32_of(magnitude > 0x7c00 ? (uint32_t)NAN_F32 : u | sign);
}

static inline uint16_t f16_of_f32(float x)
{
    uint32_t u = f32_bits(x), magnitude = u & 0x7fffffff, sign = u >> 16 & 0x8000;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t subnormal = f32_bits(f32_of(magnitude) + 0.5f) - 0x3f000000;   /* 0.5f has f16's smallest step as its own */
    uint32_t h = magnitude < 0x38800000 ? subnormal : magnitude < 0x47800000 ? normal : 0x7c00;
    return (uint16_t)(magnitude > 0x7f800000 ? (uint32_t)NAN_F16 : h | sign);
}

static inline float f32_of_bf16(uint16_t h) { return f32_of((uint32_t)h << 16); }

static inline uint16_t bf16_of_f32(float x)
{
    uint32_t u = f32_bits(x);
    uint32_t h = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? (uint32_t)NAN_BF16 : h);
}

/* A sum rounded to odd: what is lost leaves its trace in the lowest bit, so that a later rounding to a format of
 * at least two bits less is the only one that counts. */
static inline float sum_odd_f32(float a, float b)
{
    float s = a + b, b_part = s - a, lost = (a - (s - b_part)) + (b - b_part);
    uint32_t u = f32_bits(s);
    uint32_t odd = (lost > 0) == (s > 0) ? u + 1 : u - 1;
    return f32_of((lost > 0 || lost < 0) && !(u & 1) ? odd : u);
}

static inline double sum_odd_f64(double a, double b)
{
    double s = a + b, b_part = s - a, lost = (a - (s - b_part)) + (b - b_part);
    uint64_t u = f64_bits(s);
    uint64_t odd = (lost > 0) == (s > 0) ? u + 1 : u - 1;
    return f64_of((lost > 0 || lost < 0) && !(u & 1) ? odd : u);
}

/* A double rounded to odd in f32. */
static inline float f32_odd_of_f64(double x)
{
    float near = (float)x;
    uint32_t u = f32_bits(near);
    uint32_t odd = ((double)near < x) == (x > 0) ? u + 1 : u - 1;
    return f32_of((double)near != x && x == x && !(u & 1) ? odd : u);
}

/* Fused multiply-add. Without the instruction: a product of two f32 is exact in f64. */
static inline float fma_f32(float a, float b, float c)
{
#ifdef __FP_FAST_FMAF
    return __builtin_fmaf(a, b, c);
#else
    return (float)sum_odd_f64((double)a * b, c);
#endif
}

#endif
