/* tcgen05_mma.h: one tcgen05.mma, between its issue (tcgen05_mma.c) and its end (tcgen05_multiply.c). */
#ifndef Z_EMU_TCGEN05_MMA_H
#define Z_EMU_TCGEN05_MMA_H

#include "smem_desc.h"
#include "tcgen05.h"
#include "tcgen05_idesc.h"
#include "tcgen05_layout.h"

enum { TC_MOST_M = 128, TC_MOST_N = 256, TC_A_BYTES = 32, TC_ROW_BYTES = 64 };  /* of a CTA; of a row of A as stored, and spread out */

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
    uint64_t zero_mask;                 /* .ws: columns of B that count as zero */
};

static inline uint32_t tc_rows(const struct tc_mma *m) { return m->id.m / m->form.group; }      /* of one CTA */
static inline struct cta *tc_cta(const struct tc_mma *m, uint32_t r)    /* the even or the odd one of the pair */
{
    return m->form.group == 1 ? m->op.cta : m->op.cta->cluster[(m->op.cta->cluster_rank & ~1u) + r];
}
/* The tile of A or B in the shared memory of one CTA. */
struct smem_tile tc_tile(const struct tc_mma *m, bool b);
/* D = A * B (+ D). False after a fault was reported. */
bool tc_multiply(struct tc_op *op);

#endif
