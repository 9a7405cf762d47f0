/* mma.h: what the matrix instructions share among themselves: number formats, one chip's way of adding up, tiles.
 *
 * What wgmma and tcgen05 need besides stands in emu.h (struct mma_how, mma_tile_f32 and its siblings).
 */
#ifndef Z_EMU_MMA_H
#define Z_EMU_MMA_H

#include "../emu.h"

enum { LANES = 16,          /* outputs that are computed side by side */
       MMA_K = 128,         /* most products of one output in one instruction */
       MMA_REGS = 8 };      /* most registers of one operand */

/* ---- number formats (mma_numbers.c) */

/* e2m1 as .kind::f8f6f4 wants it, in bits 5..2 of a byte. T_E2M1 is 4 bits wide. */
enum { MMA_E2M1_BYTE = T_E2M1X4 };

/* A floating-point format, unpacked to f32 by shifting its sign, exponent and fraction to where f32 has them and
 * multiplying by 2^(difference of the biases). That is exact for subnormals too. Infinity and NaN come out as
 * numbers of magnitude `limit` or more: mma_special makes them what they are. */
struct mma_number {
    uint8_t bits;           /* from one element to the next */
    uint8_t width;          /* of the container's low bits, those that hold the element */
    uint8_t exponent, fraction;     /* bits of each */
    bool has_infinity;
    int emin;               /* exponent of the least normal number, and of all subnormals */
    float scale;            /* 2^(127 - bias) */
    float limit;            /* INFINITY when every bit pattern is a number */
};
const struct mma_number *mma_number(enum type t);       /* NULL: not a floating-point format for matrices */
uint32_t mma_bits(enum type t);                         /* of an element in a register or in memory; 0: unknown type */

/* `n` elements of type t, as f32. Integers too: at most 8 bits wide, so exact. */
void mma_decode(enum type t, const void *from, float *to, int n);
/* The elements of a register row, 32 lanes: to[i][lane] is element i of the lane. */
void mma_decode_row(enum type t, const uint32_t *row, float (*to)[WARP]);
float mma_special(const struct mma_number *f, float v); /* v, or the infinity or NaN that it stands for */
float mma_scale_value(enum type t, uint32_t byte);      /* ue8m0, ue4m3 */
uint16_t mma_half_bits(float v);                        /* of a v that f16 can hold exactly */

/* ---- one chip's way of adding up (mma_math.c) */
/* A multiplication unpacked: `rows` rows against LANES lanes, k products each. k is a multiple of 8. */
struct mma_block {
    int k, rows;
    const float *x;                 /* rows of k */
    const float (*y)[LANES];        /* k rows of lanes */
    const float *c;                 /* rows of LANES, `stride` apart; NULL: zeros */
    float *d;
    size_t stride;
    const struct mma_number *xf, *yf;
    const struct mma_how *how;
    const int32_t *xscale, *yscale; /* exponents to add to every product of a row, of a lane; NULL: none */
    const uint8_t (*absent)[LANES]; /* not 0: this element of y is not there (sparse); NULL: all are */
};
int32_t mma_add_s32(int32_t c, int64_t sum, bool saturate);
void mma_block(const struct mma_block *b);
/* d = c + x * y in f32, for inputs that make that exact. Four rows of k, k rows of lanes. */
void mma_four_rows(const float *x, const float (*y)[LANES], int k, const float (*c)[LANES], float (*d)[LANES]);

#endif
