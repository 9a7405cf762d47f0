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
void mma_special_halves(float *v, int n);               /* the same for n decoded f16: what C and D need */
/* mxf4, mxf4nvf4 (mma_scale.c): an output, row `row` of y against x, k products each, a pair of factors for each of `parts` equal
 * parts of k; `scale`: the factors' type. */
float mma_fp4_output(const float *x, const float (*y)[LANES], int row, int k, int parts, const float *sa, const float *sb,
                     enum type scale, float c);
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
    const struct mma_range *xrange; /* of x, when it is known already */
};
int32_t mma_add_s32(int32_t c, int64_t sum, bool saturate);
void mma_block(const struct mma_block *b);

float mma_nearest_half(double v);
/* LANES sums, rounded. */
void mma_finish(const double *total, enum mma_round round, float *d);

/* ---- where nothing is cut off (mma_lossless.c) */
/* Of the magnitudes of some numbers, as bits of f32: the largest, the least that is not zero, all their fraction bits. */
struct mma_range { int32_t max; uint32_t min; int32_t ones; };
struct mma_range mma_range_of(const float *v, int n);
float mma_largest(const struct mma_range *r);
int mma_top_exponent(const struct mma_range *r);        /* 0 when all are zero */
int mma_low_exponent(const struct mma_range *r);
/* The unit that makes plain f32 arithmetic right to the bit for these factors, at least 2^low; 0: there is none. */
float mma_lossless_unit(const struct mma_block *b, const struct mma_range *x, const struct mma_range *y, int low);
/* Rows `row` to row + 3 with that unit. False, and nothing is done, when their C does not allow it. */
bool mma_lossless_rows(const struct mma_block *b, int row, float unit);
/* d = c + x * y in f32, for inputs that make that exact. Four rows of k, k rows of lanes. */
void mma_four_rows(const float *x, const float (*y)[LANES], int k, const float (*c)[LANES], float (*d)[LANES]);

/* One output's terms, significand * 2^(exponent - point), added up as `how` says (step aside). */
struct mma_terms { int n; int64_t significand[MMA_K + 1]; int exponent[MMA_K + 1], point[MMA_K + 1]; };
void mma_add_term(struct mma_terms *t, int64_t significand, int point, int exponent);
void mma_add_c(struct mma_terms *t, float c);
float mma_sum_of(const struct mma_terms *t, const struct mma_how *how);

/* ---- sparse A (mma_sparse.c) */
/* Half of each `size` neighbours is stored, in pieces of `run`: two 2-bit numbers for two pieces. tf32 has one piece
 * of two halves. */
struct mma_chunk { int size, run; bool wide; };
struct mma_chunk mma_chunk_of(enum type a);
/* Of the four lanes of a group, those that give the metadata; the selector says which. */
int mma_metadata_lanes(const struct mma_chunk *c, int k);
/* The four bits for one chunk are two numbers, of which the ISA allows not all. */
bool mma_metadata_valid(uint32_t bits, const struct mma_chunk *c, bool ordered);
/* Column, within its chunk, of the i-th element that is stored. */
int mma_chunk_column(uint32_t bits, const struct mma_chunk *c, int i);

/* What differs between chips: the last row of the table whose cc is not above the chip's (mma_chip.c). */
enum mma_fp8 { FP8_NONE, FP8_NATIVE, FP8_THROUGH_F16 };
struct mma_chip {
    uint32_t cc;
    uint8_t fraction;           /* bits below the largest term, all types but fp8 */
    bool halves;                /* the longest k is added in two steps */
    uint8_t fp8, fp8_fraction;
};
const struct mma_chip *mma_chip(const struct warp *w);

/* ---- one instruction's operands (mma_operands.c) */

enum { MMA_ELEMENTS = 16 * MMA_K };

/* The steps in which an instruction adds up its k products, and where they end up. */
struct mma_chain {
    struct mma_how how;         /* step: products in a step, as they are; padded for mma_block */
    int steps, padded;
    bool by_element;            /* the first step takes the lower elements of every register (fp8 through f16) */
    bool apart;                 /* the steps start from zero, C is added last, rounded to nearest */
};
struct mma_chain mma_chain(const struct mma_chip *chip, enum type a, enum type d, int k, int products);

/* A warp's matrices, unpacked: A's rows are the lanes of mma_block, B's columns its rows. */
struct mma_matrices {
    float x[8 * MMA_K];                 /* by step, column, k */
    float y[MMA_K][LANES];              /* by step, k; row */
    float c[8][LANES], d[8][LANES];     /* column, row */
};

/* The register rows of an operand, vector or single; at most `max`. Returns how many it has. */
int mma_registers(struct warp *w, const struct operand *o, uint32_t **reg, int max);
static inline bool mma_has_registers(const struct operand *o, int n) { return o->kind == O_VEC ? o->n == n : n == 1; }
void mma_load_a(uint32_t *const *reg, enum type t, int m, int k, const struct mma_chain *chain,
                struct mma_matrices *to);
void mma_load_b(uint32_t *const *reg, enum type t, int k, const struct mma_chain *chain, struct mma_matrices *to);
void mma_load_c(uint32_t *const *reg, enum type t, int m, struct mma_matrices *to);
void mma_store_d(uint32_t *const *reg, enum type t, int m, const struct mma_matrices *from, uint32_t mask);
/* What sparse and scaled forms have besides; as in struct mma_block. */
struct mma_extra { const uint8_t (*absent)[LANES]; const int32_t *xscale, *yscale; };
/* D = A * B + C along the chain. extra: NULL, nothing. */
void mma_run(const struct mma_chain *chain, enum type a, enum type b, struct mma_matrices *m,
             const struct mma_extra *extra);

#endif
