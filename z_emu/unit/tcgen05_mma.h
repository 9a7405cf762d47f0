/* tcgen05_mma.h: one tcgen05.mma, between its issue (tcgen05_mma.c) and its end (tcgen05_multiply.c). */
#ifndef Z_EMU_TCGEN05_MMA_H
#define Z_EMU_TCGEN05_MMA_H

#include "smem_desc.h"
#include "tcgen05.h"
#include "tcgen05_idesc.h"
#include "tcgen05_layout.h"

enum { TC_MOST_M = 128, TC_MOST_N = 256, TC_MOST_SHIFT = 32,    /* of a CTA; columns of B that lie behind them */
       TC_A_BYTES = 32, TC_ROW_BYTES = 64 };        /* of a row of A as stored (48 with K = 96), and the most, spread out */

struct tc_mma {
    struct tc_op op;
    struct tc_form form;
    struct tc_idesc id;
    struct tc_layout layout;
    uint64_t a_desc, b_desc;
    uint32_t d, a, meta, sfa, sfb;      /* addresses in tensor memory */
    bool keep;                          /* enable-input-d */
    uint32_t scale_d;                   /* D counts as D * 2^-scale_d */
    uint32_t disabled[8];               /* lanes of the even CTA, of the odd one */
    uint64_t zeros;                     /* .ws: the zero-column mask descriptor; 0: none */
};

static inline uint32_t tc_rows(const struct tc_mma *m) { return m->id.m / m->form.group; }      /* of one CTA */
static inline struct cta *tc_cta(const struct tc_mma *m, uint32_t r)    /* the even or the odd one of the pair */
{
    return m->form.group == 1 ? m->op.cta : m->op.cta->cluster[(m->op.cta->cluster_rank & ~1u) + r];
}
/* Columns by which B is shifted. */
static inline uint32_t tc_shift(const struct tc_mma *m) { return (uint32_t)(m->zeros >> 56 & 63); }
/* Of a row of A as stored, of B. */
static inline uint32_t tc_a_bytes(const struct tc_mma *m) { return m->id.k == 96 ? SMEM_LONG_ROW : TC_A_BYTES; }
static inline uint32_t tc_row_bytes(const struct tc_mma *m) { return m->form.sparse ? 2 * TC_A_BYTES : tc_a_bytes(m); }
/* The tile of A or B in the shared memory of one CTA. */
struct smem_tile tc_tile(const struct tc_mma *m, bool b);
/* The type that lies in A and B once they are spread out: e2m1 has a byte in some kinds. */
enum type tc_container(const struct tc_mma *m, enum type t);
/* "Optional Decompression": 16 elements of 4 or 6 bits, packed at the start of every 16 bytes, to a byte each. */
void tc_widen(enum type t, uint8_t *bytes, size_t n);
bool tc_unwritten(const struct tc_mma *m, const char *what, const char *where, uint32_t at);    /* a fault; false */

/* Spreads A out by its metadata, rows of 32 bytes to rows of 64 (tcgen05_sparse.c). */
bool tc_spread_a(const struct tc_mma *m, uint32_t r, const uint8_t *from, uint8_t *to);
uint32_t tc_meta_columns(const struct tc_mma *m);
uint32_t tc_meta_column(const struct tc_mma *m);
/* D = (A * SFA) * (B * SFB) + C of the CTA r; c NULL: zero (tcgen05_scale.c). */
bool tc_scaled_product(const struct tc_mma *m, uint32_t r, const uint8_t *a, const uint8_t *b, const float *c, float *d, size_t stride);
uint32_t tc_scale_columns(const struct tc_mma *m, bool b);
/* D = A * B (+ D). False after a fault was reported. */
bool tc_multiply(struct tc_op *op);

#endif
