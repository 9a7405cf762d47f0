/* alu_soft.h: floating point worked out in integers: exact, then rounded once, in any format and direction.
 *
 * Slow and plain. Handlers use it for what the host's arithmetic does not offer: directed rounding, the formats
 * of 4 to 19 bits, stochastic rounding. */
#ifndef Z_EMU_ALU_SOFT_H
#define Z_EMU_ALU_SOFT_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 uint128_t;

/* Nearest even, toward zero, down, up, nearest with ties away from zero. */
enum rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY };

struct format {
    uint8_t bits, mantissa;     /* width, and stored mantissa bits */
    int bias;
    uint64_t max;               /* code of the largest finite number */
    uint64_t inf;               /* code of infinity, 0 when there is none */
    uint64_t nan;               /* the NaN that arithmetic gives, 0 when there is none */
};
extern const struct format format_f16, format_bf16, format_tf32, format_f32, format_f64;
extern const struct format format_e4m3, format_e5m2, format_e2m3, format_e3m2, format_e2m1;

/* A number: (-1)^negative * significand * 2^exponent. Finite ones have their top bit at NUM_TOP. The lowest bit
 * stands also for everything below it that was cut off (it is sticky). */
enum num_kind { NUM_ZERO, NUM_FINITE, NUM_INF, NUM_NAN };
enum { NUM_TOP = 125 };
struct num {
    enum num_kind kind;
    bool negative;
    int exponent;
    uint128_t significand;
};

struct num num_decode(const struct format *f, uint64_t code);
struct num num_from_int(bool negative, uint64_t magnitude);
struct num num_mul(struct num a, struct num b);
/* The rounding only decides the sign of an exact zero. */
struct num num_add(struct num a, struct num b, enum rounding r);
struct num num_div(struct num a, struct num b);
struct num num_sqrt(struct num a);

/* One operation on codes of the format, rounded once. SOFT_RCP and SOFT_SQRT take a alone. */
enum soft_op { SOFT_ADD, SOFT_SUB, SOFT_MUL, SOFT_FMA, SOFT_DIV, SOFT_RCP, SOFT_SQRT };
uint64_t soft(const struct format *f, enum soft_op op, uint64_t a, uint64_t b, uint64_t c, enum rounding r);

/* The code of x rounded to the format. Where the format cannot say infinity, or saturate is set, overflow and
 * infinity give the largest finite number. */
uint64_t num_encode(const struct format *f, struct num x, enum rounding r, bool saturate);
/* Stochastic: random is added below the last kept bit, its top bit (of `count`) next to it; a carry rounds up. */
uint64_t num_encode_random(const struct format *f, struct num x, uint32_t random, int count, bool saturate);
/* The nearest integer in that direction, clamped to an integer type of so many bits; NaN gives `nan`. */
uint64_t num_to_int(struct num x, enum rounding r, bool is_signed, int bits, uint64_t nan);
/* x rounded to an integral value. */
struct num num_integral(struct num x, enum rounding r);

#endif
