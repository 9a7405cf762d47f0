/* tcgen05_idesc.h: what an mma instruction and its instruction descriptor say together. */
#ifndef Z_EMU_TCGEN05_IDESC_H
#define Z_EMU_TCGEN05_IDESC_H

#include "../emu.h"

enum tc_mma_kind { TC_F16, TC_TF32, TC_F8F6F4, TC_I8, TC_MXF8F6F4, TC_MXF4, TC_MXF4NVF4 };

/* What the instruction's own words say. */
struct tc_form {
    enum tc_mma_kind kind;
    uint32_t group;             /* CTAs */
    bool ws, sparse, a_in_tmem, ashift;
    uint32_t scales;            /* of a row along k: 1, 2, 4; 0: without scaling */
    bool blocks;                /* said as .block16, .block32 */
    bool k96;                   /* the target has K = 96 */
};
struct tc_form tc_form(const struct instr *in);

/* …and what the descriptor adds. */
struct tc_idesc {
    uint32_t m, n, k;           /* of the whole multiplication, of all CTAs; k counts the zeros of a sparse A too */
    enum type a, b, d;          /* elements; d: T_F32, T_F16, T_S32 */
    enum type scale;            /* T_UE8M0, T_UE4M3 */
    uint32_t factors;           /* of a row along k: 0, 1, 2, 4; with K = 96: 3, 6 */
    bool negate_a, negate_b, transpose_a, transpose_b, saturate;
    uint32_t selector;          /* of the sparsity metadata */
    uint32_t sfa, sfb;          /* which byte of a word the scale factors begin at */
    uint32_t max_shift;         /* .ws: columns */
};

/* Decodes it. False when it is not one for this form: why, as a sentence in `why`. */
bool tc_idesc_decode(const struct tc_form *f, uint32_t bits, struct tc_idesc *d, char *why, size_t len);

#endif
