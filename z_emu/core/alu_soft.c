/* alu_soft.c: floating point worked out in integers. See alu_soft.h. */
#include "core/alu_soft.h"

#define IEEE(bits, mantissa, bias)                                                                              \
    {bits, mantissa, bias, ((1ull << ((bits) - 1)) - (1ull << (mantissa))) - 1,                                 \
     (1ull << ((bits) - 1)) - (1ull << (mantissa)), (1ull << ((bits) - 1)) - 1}

const struct format format_f16 = IEEE(16, 10, 15);
const struct format format_bf16 = IEEE(16, 7, 127);
const struct format format_f32 = IEEE(32, 23, 127);
const struct format format_e5m2 = IEEE(8, 2, 15);
/* tf32 lies in the upper 19 bits of a register; here it is those 19 bits. */
const struct format format_tf32 = IEEE(19, 10, 127);
const struct format format_f64 = {64, 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff8000000000000};
const struct format format_e4m3 = {8, 3, 7, 0x7e, 0, 0x7f};
const struct format format_e2m3 = {6, 3, 1, 0x1f, 0, 0};
const struct format format_e3m2 = {6, 2, 3, 0x1f, 0, 0};
const struct format format_e2m1 = {4, 1, 1, 0x7, 0, 0};

static int top_bit(uint128_t x)     /* x != 0 */
{
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/* Shifts right; what falls off is kept as the lowest bit. */
static uint128_t shift_sticky(uint128_t x, int n)
{
    if (n <= 0) return x;
    if (n > 127) return x != 0;
    return x >> n | ((x & (((uint128_t)1 << n) - 1)) != 0);
}

static struct num normalized(bool negative, int exponent, uint128_t significand)
{
    if (!significand) return (struct num){NUM_ZERO, negative, 0, 0};
    int shift = NUM_TOP - top_bit(significand);
    significand = shift >= 0 ? significand << shift : shift_sticky(significand, -shift);
    return (struct num){NUM_FINITE, negative, exponent - shift, significand};
}

struct num num_from_int(bool negative, uint64_t magnitude)
{
    return normalized(negative, 0, magnitude);
}

struct num num_decode(const struct format *f, uint64_t code)
{
    bool negative = code >> (f->bits - 1) & 1;
    uint64_t magnitude = code & ((1ull << (f->bits - 1)) - 1);
    if (f->inf && magnitude == f->inf) return (struct num){NUM_INF, negative, 0, 0};
    if (magnitude > f->max) return (struct num){NUM_NAN, negative, 0, 0};
    uint64_t fraction = magnitude & ((1ull << f->mantissa) - 1);
    int biased = (int)(magnitude >> f->mantissa);
    if (biased)
        fraction |= 1ull << f->mantissa;
    else
        biased = 1;
    return normalized(negative, biased - f->bias - f->mantissa, fraction);
}

/* ---------------------------------------------------------------- arithmetic */

static const struct num not_a_number = {NUM_NAN, false, 0, 0};

struct num num_mul(struct num a, struct num b)
{
    bool negative = a.negative != b.negative;
    if (a.kind == NUM_NAN || b.kind == NUM_NAN) return not_a_number;
    if (a.kind == NUM_INF || b.kind == NUM_INF) {
        if (a.kind == NUM_ZERO || b.kind == NUM_ZERO) return not_a_number;
        return (struct num){NUM_INF, negative, 0, 0};
    }
    if (a.kind == NUM_ZERO || b.kind == NUM_ZERO) return (struct num){NUM_ZERO, negative, 0, 0};
    /* Sources have at most 53 bits, so their upper 64 hold them whole. */
    enum { CUT = NUM_TOP - 63 };
    uint128_t product = (uint128_t)(uint64_t)(a.significand >> CUT) * (uint64_t)(b.significand >> CUT);
    return normalized(negative, a.exponent + b.exponent + 2 * CUT, product);
}

/* Adds finite numbers of which a is the larger in magnitude. */
static struct num add_finite(struct num a, struct num b, enum rounding r)
{
    uint128_t small = shift_sticky(b.significand, a.exponent - b.exponent);
    if (a.negative == b.negative) return normalized(a.negative, a.exponent, a.significand + small);
    uint128_t difference = a.significand - small;
    return normalized(difference ? a.negative : r == ROUND_DOWN, a.exponent, difference);
}

static bool magnitude_less(struct num a, struct num b)
{
    return a.exponent != b.exponent ? a.exponent < b.exponent : a.significand < b.significand;
}

struct num num_add(struct num a, struct num b, enum rounding r)
{
    if (a.kind == NUM_NAN || b.kind == NUM_NAN) return not_a_number;
    if (a.kind == NUM_INF && b.kind == NUM_INF && a.negative != b.negative) return not_a_number;
    if (a.kind == NUM_INF) return a;
    if (b.kind == NUM_INF) return b;
    if (a.kind == NUM_ZERO && b.kind == NUM_ZERO) {
        if (a.negative != b.negative) a.negative = r == ROUND_DOWN;
        return a;
    }
    if (a.kind == NUM_ZERO) return b;
    if (b.kind == NUM_ZERO) return a;
    return magnitude_less(a, b) ? add_finite(b, a, r) : add_finite(a, b, r);
}

struct num num_div(struct num a, struct num b)
{
    bool negative = a.negative != b.negative;
    if (a.kind == NUM_NAN || b.kind == NUM_NAN || (a.kind == b.kind && a.kind != NUM_FINITE)) return not_a_number;
    if (a.kind == NUM_INF || b.kind == NUM_ZERO) return (struct num){NUM_INF, negative, 0, 0};
    if (a.kind == NUM_ZERO || b.kind == NUM_INF) return (struct num){NUM_ZERO, negative, 0, 0};
    uint128_t divisor = b.significand >> (NUM_TOP - 63);
    uint128_t quotient = a.significand / divisor;
    quotient = quotient << 1 | (a.significand % divisor != 0);
    return normalized(negative, a.exponent - b.exponent - (NUM_TOP - 63) - 1, quotient);
}

/* The largest r with r * r <= x. */
static uint64_t integer_sqrt(uint128_t x)
{
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t candidate = root | 1ull << bit;
        if ((uint128_t)candidate * candidate <= x) root = candidate;
    }
    return root;
}

struct num num_sqrt(struct num a)
{
    if (a.kind == NUM_NAN || a.kind == NUM_ZERO) return a.kind == NUM_NAN ? not_a_number : a;
    if (a.negative) return not_a_number;
    if (a.kind == NUM_INF) return a;
    if (a.exponent & 1) {
        a.significand <<= 1;
        a.exponent -= 1;
    }
    uint128_t root = integer_sqrt(a.significand);
    root = root << 1 | (root * root != a.significand);
    return normalized(false, a.exponent / 2 - 1, root);
}

/* ---------------------------------------------------------------- rounding */

/* Whether to add one to what is kept, when `rest` of 1 << width units is cut off. width <= 127. */
static bool rounds_up(bool negative, bool odd, uint128_t rest, int width, enum rounding r)
{
    uint128_t half = (uint128_t)1 << (width - 1);
    switch (r) {
    case ROUND_NEAREST: return rest > half || (rest == half && odd);
    case ROUND_AWAY: return rest >= half;
    case ROUND_DOWN: return rest && negative;
    case ROUND_UP: return rest && !negative;
    default: return false;
    }
}

/* How many low bits of a finite x the format does not keep: more when x is subnormal there. At most 127: an x for which it
 * would be more is far below the smallest step, and is shifted down to it. */
static int bits_cut(const struct format *f, struct num *x)
{
    int exponent = x->exponent + NUM_TOP, least = 1 - f->bias;
    int cut = NUM_TOP - f->mantissa + (exponent < least ? least - exponent : 0);
    if (cut > 127) x->significand = shift_sticky(x->significand, cut - 127);
    return cut < 127 ? cut : 127;
}

/* Magnitude code from the kept bits, which include the leading one: a carry moves into the exponent by itself. */
static uint64_t magnitude_code(const struct format *f, struct num x, uint64_t kept)
{
    int exponent = x.exponent + NUM_TOP, least = 1 - f->bias;
    if (exponent < least) return kept;
    return ((uint64_t)(exponent - least) << f->mantissa) + kept;
}

static uint64_t overflow_code(const struct format *f, bool negative, enum rounding r, bool saturate)
{
    bool stays_finite = r == ROUND_ZERO || (r == ROUND_DOWN && !negative) || (r == ROUND_UP && negative);
    return !f->inf || saturate || stays_finite ? f->max : f->inf;
}

static uint64_t with_sign(const struct format *f, bool negative, uint64_t magnitude)
{
    return magnitude | (uint64_t)negative << (f->bits - 1);
}

uint64_t num_encode(const struct format *f, struct num x, enum rounding r, bool saturate)
{
    if (x.kind == NUM_NAN) return f->nan ? f->nan : f->max;
    if (x.kind == NUM_ZERO) return with_sign(f, x.negative, 0);
    if (x.kind == NUM_INF) return with_sign(f, x.negative, f->inf && !saturate ? f->inf : f->max);
    int cut = bits_cut(f, &x);
    uint64_t kept = (uint64_t)(x.significand >> cut);
    uint128_t rest = x.significand & (((uint128_t)1 << cut) - 1);
    uint64_t code = magnitude_code(f, x, kept + rounds_up(x.negative, kept & 1, rest, cut, r));
    if (x.exponent + NUM_TOP > f->bias + 1 || code > f->max) code = overflow_code(f, x.negative, r, saturate);
    return with_sign(f, x.negative, code);
}

uint64_t num_encode_random(const struct format *f, struct num x, uint32_t random, int count, bool saturate)
{
    if (x.kind != NUM_FINITE) return num_encode(f, x, ROUND_ZERO, saturate);
    int cut = bits_cut(f, &x);
    uint64_t kept = (uint64_t)(x.significand >> cut);
    uint128_t rest = x.significand & (((uint128_t)1 << cut) - 1);
    bool carry = (rest + ((uint128_t)random << (cut - count))) >> cut;
    uint64_t code = magnitude_code(f, x, kept + carry);
    if (x.exponent + NUM_TOP > f->bias + 1 || code > f->max) code = overflow_code(f, x.negative, ROUND_AWAY, saturate);
    return with_sign(f, x.negative, code);
}

struct num num_integral(struct num x, enum rounding r)
{
    if (x.kind != NUM_FINITE || x.exponent >= 0) return x;
    int cut = -x.exponent < 127 ? -x.exponent : 127;
    uint128_t kept = x.significand >> cut, rest = x.significand & (((uint128_t)1 << cut) - 1);
    return normalized(x.negative, 0, kept + rounds_up(x.negative, kept & 1, rest, cut, r));
}

uint64_t num_to_int(struct num x, enum rounding r, bool is_signed, int bits, uint64_t nan)
{
    uint64_t most = is_signed ? (1ull << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    uint64_t least = is_signed ? most + 1 : 0;      /* magnitude of the smallest */
    if (x.kind == NUM_NAN) return nan;
    x = num_integral(x, r);
    if (x.kind == NUM_ZERO) return 0;
    uint64_t limit = x.negative ? least : most, magnitude = limit;
    if (x.kind == NUM_FINITE && x.exponent <= -(NUM_TOP - 63)) {
        magnitude = (uint64_t)(x.significand >> -x.exponent);
        if (magnitude > limit) magnitude = limit;
    }
    return x.negative ? -magnitude : magnitude;
}

uint64_t soft(const struct format *f, enum soft_op op, uint64_t a, uint64_t b, uint64_t c, enum rounding r)
{
    struct num x = num_decode(f, a), y = num_decode(f, b), result;
    switch (op) {
    case SOFT_SUB: y.negative = !y.negative; /* fall through */
    case SOFT_ADD: result = num_add(x, y, r); break;
    case SOFT_MUL: result = num_mul(x, y); break;
    case SOFT_FMA: result = num_add(num_mul(x, y), num_decode(f, c), r); break;
    case SOFT_DIV: result = num_div(x, y); break;
    case SOFT_RCP: result = num_div(num_from_int(false, 1), x); break;
    default: result = num_sqrt(x); break;
    }
    return num_encode(f, result, r, false);
}
