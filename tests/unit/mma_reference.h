/* mma_reference.h: what a tensor core must give, worked out on the numbers' encodings in exact integers, and inputs
 * that are likely to show a difference.
 *
 * The reference knows nothing of f32 unpacking, vectors or fast ways: it takes sign, exponent and fraction from
 * the bits, aligns by dividing 128-bit integers, and rounds with long double.
 */
#ifndef TESTS_MMA_REFERENCE_H
#define TESTS_MMA_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/mma.h"

/* ---- the reference */

struct format { enum type type; int exponent, fraction, bias; bool infinity, nan_only_all_ones; };
static const struct format formats[] = {
    { T_F16, 5, 10, 15, true, false },  { T_BF16, 8, 7, 127, true, false },  { T_TF32, 8, 10, 127, true, false },
    { T_E5M2, 5, 2, 15, true, false },  { T_E4M3, 4, 3, 7, false, true },    { T_E3M2, 3, 2, 3, false, false },
    { T_E2M3, 2, 3, 1, false, false },  { T_E2M1, 2, 1, 1, false, false },   { T_F32, 8, 23, 127, true, false },
};

static inline const struct format *format_of(enum type t)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].type == t)
            return &formats[i];
    abort();
}

enum kind { FINITE, INFINITE, NOT_A_NUMBER };
/* significand * 2^(exponent - fraction) */
struct value { enum kind kind; int sign, exponent; __int128 significand; };

static inline struct value value_of(const struct format *f, uint32_t code)
{
    uint32_t field = code >> f->fraction & ((1u << f->exponent) - 1), fraction = code & ((1u << f->fraction) - 1);
    struct value v = { FINITE, code >> (f->exponent + f->fraction) & 1 ? -1 : 1, 0, 0 };
    bool ones = field == (1u << f->exponent) - 1;
    if (ones && f->infinity)
        v.kind = fraction ? NOT_A_NUMBER : INFINITE;
    if (ones && f->nan_only_all_ones && fraction == (1u << f->fraction) - 1)
        v.kind = NOT_A_NUMBER;
    v.significand = field ? (1 << f->fraction) + (int)fraction : (int)fraction;
    v.exponent = v.significand == 0 ? -126 : field ? (int)field - f->bias : 1 - f->bias;
    return v;
}

static inline uint32_t code_of(float f)
{
    uint32_t code;
    memcpy(&code, &f, 4);
    return code;
}

/* Toward zero to `bits` fraction bits of f32, or to nearest f16. */
static inline float round_reference(long double v, enum mma_round round)
{
    if (v == 0)
        return 0;
    int e;
    frexpl(v, &e);
    e--;
    if (round == MMA_TO_F16) {
        long double quantum = ldexpl(1, (e > -14 ? e : -14) - 10), r = nearbyintl(v / quantum) * quantum;
        return r == 0 ? 0 : fabsl(r) >= 65536 ? (float)copysignl(INFINITY, r) : (float)r;
    }
    long double quantum = ldexpl(1, (e > -126 ? e : -126) - (round == MMA_TO_F32 ? 23 : 13));
    long double r = truncl(v / quantum) * quantum;
    return r == 0 ? 0 : fabsl(r) >= 0x1p128L ? (float)copysignl(INFINITY, r) : (float)r;
}

static inline __int128 power_of_two(int n) { return (__int128)1 << n; }

/* `scale`: an exponent added to every product's. */
static inline float scaled_reference(const struct format *fa, const uint32_t *a, const struct format *fb,
                                     const uint32_t *b, int k, float c, int scale, const struct mma_how *how)
{
    int plus = 0, minus = 0, top = -100000;
    struct value cv = value_of(format_of(T_F32), code_of(c));
    if (cv.kind == NOT_A_NUMBER)
        return NAN;
    if (cv.kind == INFINITE)
        *(cv.sign > 0 ? &plus : &minus) = 1;
    top = cv.exponent;
    for (int i = 0; i < k; i++) {
        struct value x = value_of(fa, a[i]), y = value_of(fb, b[i]);
        if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER)
            return NAN;
        if (x.kind == INFINITE || y.kind == INFINITE) {
            if ((x.kind == FINITE && x.significand == 0) || (y.kind == FINITE && y.significand == 0))
                return NAN;
            *(x.sign * y.sign > 0 ? &plus : &minus) = 1;
        } else if (x.exponent + y.exponent + scale > top) {
            top = x.exponent + y.exponent + scale;
        }
    }
    if (plus || minus)
        return plus && minus ? NAN : plus ? INFINITY : -INFINITY;
    __int128 sum = 0;       /* in units of 2^(top - fraction) */
    for (int i = 0; i <= k; i++) {
        struct value x = cv, y = { FINITE, 1, 0, 1 };
        int point = 23;
        if (i < k) {
            x = value_of(fa, a[i]);
            y = value_of(fb, b[i]);
            x.exponent += scale;
            point = fa->fraction + fb->fraction;
        }
        int down = top - x.exponent - y.exponent + point - how->fraction;
        __int128 term = x.significand * y.significand;
        term = down > 100 ? 0 : down > 0 ? term / power_of_two(down) : term * power_of_two(-down);
        sum += x.sign * y.sign * term;
    }
    return round_reference(ldexpl((long double)sum, top - how->fraction), how->round);
}

static inline float reference(const struct format *fa, const uint32_t *a, const struct format *fb, const uint32_t *b,
                              int k, float c, const struct mma_how *how)
{
    return scaled_reference(fa, a, fb, b, k, c, 0, how);
}

/* ---- inputs */

static uint64_t state = 88172645463325252ull;
static inline uint32_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}
static inline int below(int n) { return (int)(any() % (uint32_t)n); }

enum input { ANY_BITS, MODERATE, INTEGERS, LARGE_INTEGERS, ALL_LARGEST, HUGE_INTEGERS, POWERS, NEAR_MAX, MOSTLY_ZERO,
             WIDE, INPUTS };
static const char *const input_name[] = { "any bits", "moderate", "integers", "large integers", "all largest",
                                          "huge integers", "powers", "near max", "mostly zero", "wide" };

/* An encoding in format f: exponent e (clamped), fraction bits m. */
static inline uint32_t encode(const struct format *f, int e, uint32_t m)
{
    int field = e + f->bias, most = (1 << f->exponent) - 1 - f->infinity;
    field = field < 0 ? 0 : field > most ? most : field;
    uint32_t code = (uint32_t)below(2) << (f->exponent + f->fraction) | (uint32_t)field << f->fraction |
                    (m & ((1u << f->fraction) - 1));
    return value_of(f, code).kind == FINITE ? code : code - 1;
}

static inline uint32_t encode_integer(const struct format *f, int n)
{
    int e = 0;
    while (n >> (e + 1))
        e++;
    uint32_t top = f->fraction >= e ? (uint32_t)n << (f->fraction - e) : (uint32_t)n >> (e - f->fraction);
    return n == 0 ? 0 : encode(f, e, top);
}

static int largest, largest_c;  /* bits of the integers in a tile: on both sides of where plain f32 sums are exact */

static inline uint32_t make(const struct format *f, enum input in)
{
    switch (in) {
    case ANY_BITS: return any() & (uint32_t)((1ull << (1 + f->exponent + f->fraction)) - 1);
    case MODERATE: return encode(f, below(8) - 6, any());
    case INTEGERS: return encode_integer(f, below(9));
    case LARGE_INTEGERS: return encode_integer(f, below(1 << largest));
    case ALL_LARGEST: return encode_integer(f, (1 << largest) - 1) & ~(1u << (f->exponent + f->fraction));
    case HUGE_INTEGERS:
        return f->exponent < 8 || below(8) ? 0 : encode_integer(f, 1 + below(7)) + (50u << f->fraction);
    case POWERS: return encode(f, below(40) - 20, 0);
    case NEAR_MAX: return encode(f, 0, ~0u - (uint32_t)below(2)) & ~(1u << (f->exponent + f->fraction));
    case MOSTLY_ZERO: return below(8) ? 0 : encode(f, below(30) - 15, any());
    default: return encode(f, below(240) - 120, any());
    }
}

static inline float make_c(enum input in)
{
    float f;
    uint32_t code = make(format_of(T_F32), in);
    if (in == INTEGERS)
        code = encode_integer(format_of(T_F32), below(1 << 20));
    if (in == LARGE_INTEGERS || in == ALL_LARGEST)
        code = encode_integer(format_of(T_F32), (1 << largest_c) - below(2) * below(1 << largest_c) - 1);
    if (in == HUGE_INTEGERS)
        code = largest_c < 16 ? encode(format_of(T_F32), -below(120), any()) : encode(format_of(T_F32), 101, 0);
    memcpy(&f, &code, 4);
    return f;
}

static inline bool same(float got, float want)
{
    return isnan(want) ? code_of(got) == 0x7fffffff : code_of(got) == code_of(want);
}

#endif
