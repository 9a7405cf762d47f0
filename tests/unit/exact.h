/* exact.h: an independent view of floating point for tests: a format is the list of its values, and rounding is a
 * search in that list. Sums and products are held exactly, as two numbers of 113 bits. Slow, and unlike the code
 * under test. */
#ifndef TESTS_EXACT_H
#define TESTS_EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if __LDBL_MANT_DIG__ == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

struct layout { int bits, mantissa, bias; bool has_inf, has_nan; uint64_t nan; };
static const struct layout F16 = {16, 10, 15, true, true, 0x7fff}, BF16 = {16, 7, 127, true, true, 0x7fff},
    F32 = {32, 23, 127, true, true, 0x7fffffff}, F64 = {64, 52, 1023, true, true, 0xfff8000000000000},
    TF32 = {19, 10, 127, true, true, 0x3ffff}, E4M3 = {8, 3, 7, false, true, 0x7f}, E5M2 = {8, 2, 15, true, true, 0x7f},
    E2M3 = {6, 3, 1, false, false, 0}, E3M2 = {6, 2, 3, false, false, 0}, E2M1 = {4, 1, 1, false, false, 0};
enum direction { NEAREST, TO_ZERO, DOWN, UP, AWAY };

static inline uint64_t sign_of(const struct layout *f) { return 1ull << (f->bits - 1); }
static inline uint64_t all_ones_exponent(const struct layout *f) { return sign_of(f) - (1ull << f->mantissa); }
/* The largest finite magnitude: e4m3 gives one code to NaN, the formats of 6 and 4 bits none. */
static inline uint64_t largest(const struct layout *f)
{
    return f->has_inf ? all_ones_exponent(f) - 1 : sign_of(f) - 1 - f->has_nan;
}
static inline bool is_nan_code(const struct layout *f, uint64_t c)
{
    uint64_t m = c & (sign_of(f) - 1);
    return f->has_nan && (f->has_inf ? m > all_ones_exponent(f) : m == sign_of(f) - 1);
}
static inline bool is_subnormal_code(const struct layout *f, uint64_t c)
{
    uint64_t m = c & (sign_of(f) - 1);
    return m && m < 1ull << f->mantissa;
}

static inline quad power_of_two(int e)
{
    return (quad)ldexpl(1, e);
}

/* A finite or infinite code's value. */
static inline quad value_of(const struct layout *f, uint64_t c)
{
    uint64_t m = c & (sign_of(f) - 1), fraction = m & ((1ull << f->mantissa) - 1);
    int e = (int)(m >> f->mantissa);
    quad v = e ? (quad)(fraction + (1ull << f->mantissa)) * power_of_two(e - f->bias - f->mantissa)
               : (quad)fraction * power_of_two(1 - f->bias - f->mantissa);
    if (f->has_inf && m == all_ones_exponent(f)) v = (quad)INFINITY;
    return c & sign_of(f) ? -v : v;
}

/* high + low, exactly; low is what the rounding of the sum lost. */
struct exact { quad high, low; };
static inline struct exact exact_sum(quad a, quad b)
{
    volatile quad s = a + b, b_part = s - a;
    return (struct exact){s, s - s == 0 ? (a - (s - b_part)) + (b - b_part) : 0};
}
static inline int compare_exact(struct exact x, quad v)
{
    quad d = x.high - v;
    if (d == 0) d = x.low;
    return d < 0 ? -1 : d > 0;
}

/* The code of the magnitude of x (x > 0) in that direction, by search. Past the largest: one code more. */
static inline uint64_t round_magnitude(const struct layout *f, struct exact x, enum direction dir, bool negative)
{
    uint64_t low = 0, high = largest(f) + 1;                /* value(low) <= x < value(high) */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (compare_exact(x, value_of(f, middle)) >= 0) low = middle;
        else high = middle;
    }
    if (compare_exact(x, value_of(f, low)) == 0) return low;
    /* The next value, were there no end to the format: */
    quad step = low >> f->mantissa ? power_of_two((int)(low >> f->mantissa) - f->bias - f->mantissa) :
        power_of_two(1 - f->bias - f->mantissa);
    quad half = value_of(f, low) + step / 2;
    int to_half = compare_exact(x, half);
    bool past = low == largest(f) && compare_exact(x, value_of(f, low) + step) >= 0;
    switch (dir) {
    case NEAREST: return low + (past || to_half > 0 || (to_half == 0 && low & 1));
    case AWAY: return low + (past || to_half >= 0);
    case TO_ZERO: return low;
    case DOWN: return low + negative;
    default: return low + !negative;
    }
}

/* x, not NaN, in the format. The sign of zero is that of x.high. */
static inline uint64_t round_exact(const struct layout *f, struct exact x, enum direction dir, bool saturate)
{
    bool negative = signbit((double)x.high) != 0;
    if (x.high == 0 && x.low == 0) return negative ? sign_of(f) : 0;
    if (x.high == 0) negative = x.low < 0;
    struct exact magnitude = negative ? (struct exact){-x.high, -x.low} : x;
    bool infinite = magnitude.high - magnitude.high != 0;
    uint64_t code = infinite ? largest(f) + 1 : round_magnitude(f, magnitude, dir, negative);
    if (code > largest(f)) {
        bool stays = dir == TO_ZERO || (dir == DOWN && !negative) || (dir == UP && negative);
        code = !f->has_inf || saturate || (stays && !infinite) ? largest(f) : all_ones_exponent(f);
    }
    return negative ? code | sign_of(f) : code;
}

/* scale times +, -, *, fma of codes. The NaN of f64 is up to the caller. */
static inline uint64_t exact_scaled(const struct layout *f, char op, const uint64_t *s, enum direction dir, int scale)
{
    int n = op == '!' ? 3 : 2;
    for (int i = 0; i < n; i++)
        if (is_nan_code(f, s[i])) return f->nan;
    quad a = value_of(f, s[0]), b = value_of(f, s[1]), first = scale * (op == '!' || op == '*' ? a * b : a);
    quad second = scale * (op == '!' ? value_of(f, s[2]) : op == '*' ? 0 : op == '-' ? -b : b);
    if (first != first) return f->nan;
    if (op == '*') return round_exact(f, (struct exact){first, 0}, dir, false);
    struct exact x = exact_sum(first, second);
    if (x.high != x.high) return f->nan;
    if (x.high == 0 && signbit((double)first) != signbit((double)second)) x.high = dir == DOWN ? -(quad)0 : 0;
    return round_exact(f, x, dir, false);
}
static inline uint64_t exact_arithmetic(const struct layout *f, char op, const uint64_t *s, enum direction dir)
{
    return exact_scaled(f, op, s, dir, 1);
}

/* Whether .ftz makes the result zero: it is below the least normal number when rounded as if exponents went on below,
 * which is what rounding twice the value shows. */
static inline bool exact_vanishes(const struct layout *f, char op, const uint64_t *s, enum direction dir)
{
    return (exact_scaled(f, op, s, dir, 2) & (sign_of(f) - 1)) < (uint64_t)2 << f->mantissa;
}

#endif
