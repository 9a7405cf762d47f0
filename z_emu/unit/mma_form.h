/* mma_form.h: a form of mma.sync or mma.sp, which an instruction's `plan` points to. */
#ifndef Z_EMU_MMA_FORM_H
#define Z_EMU_MMA_FORM_H

#include "mma.h"

enum mma_types { MMA_NO_TYPES, MMA_F16, MMA_BF16, MMA_TF32, MMA_F64, MMA_INT8, MMA_INT4, MMA_BIT, MMA_FP8, MMA_F8F6F4,
                 MMA_MXF8F6F4, MMA_MXF4 };

struct mma_form { uint8_t types, m, n; uint16_t k; bool sparse; uint8_t target; };

/* The form of `in`, NULL: there is none such, or not for the module's target. */
const struct mma_form *mma_form(const struct instr *in, bool sparse);
/* Type t as it lies in registers: the f8f6f4 kinds widen e2m1 to a byte. */
enum type mma_container(enum mma_types types, enum type t);

/* Handlers by file; each is for all forms of its types. */
exec_fn mma_float, mma_884;                     /* mma.c */
exec_fn mma_integer, mma_bit, mma_double;       /* mma_exact.c */

/* A form and the warp's operands as register rows. */
struct mma_regs { uint32_t *d[MMA_REGS], *a[MMA_REGS], *b[MMA_REGS], *c[MMA_REGS]; };
static inline void mma_operands(struct warp *w, const struct instr *in, struct mma_regs *r)
{
    mma_registers(w, &in->opnd[0], r->d, MMA_REGS);
    mma_registers(w, &in->opnd[1], r->a, MMA_REGS);
    mma_registers(w, &in->opnd[2], r->b, MMA_REGS);
    mma_registers(w, &in->opnd[3], r->c, MMA_REGS);
}

/* Where column k of A lies among the products, when they are in their own order but for the chain's steps. */
int mma_place(const struct mma_chain *chain, int k, int k_all);
/* A spread out by its metadata, absent[][] set to 1 where nothing was stored; false: a fault was reported. B likewise
 * by places (mma_sparse.c). Both for chains without padding. */
bool mma_load_sparse_a(struct warp *w, const struct instr *in, uint32_t *const *reg, const struct mma_chain *chain,
                       struct mma_matrices *m, uint8_t (*absent)[LANES]);
void mma_load_b_by_place(uint32_t *const *reg, enum type t, int k, const struct mma_chain *chain,
                         struct mma_matrices *m);

/* Products that wmma.mma shares, on register rows (mma_exact.c). */
void mma_sum(int k, struct mma_matrices *m);
void mma_add_sums(const struct mma_matrices *m, uint32_t *const *c, int rows, bool saturate, int32_t (*value)[WARP]);
void mma_store_s32(uint32_t *const *d, int n, int32_t (*value)[WARP], uint32_t mask);
void mma_bit_product(const struct mma_regs *r, int m, int k, bool and, uint32_t mask);
void mma_f64_product(const struct mma_regs *r, int m, int k, enum mod rnd, uint32_t mask);

#endif
