/* wmma_mma.c: wmma.mma, as the mma instructions that chips from sm_80 on make of it: m16n8k16 for each pair of a tall
 * and a flat fragment, for tf32 two m16n8k4 one after the other.
 */
#include "wmma.h"

enum { PAIRS = 2 };

/* Registers of the operands of one pair. */
static void cut_registers(const struct wmma_form *f, int pair, int per_tall, int per_flat, const struct mma_regs *all,
                          struct mma_regs *one)
{
    int tall = f->cut.tall > 1 ? pair : 0, flat = f->cut.tall > 1 ? 0 : pair;
    uint32_t *const *tall_regs = f->cut.turned ? all->b : all->a, *const *flat_regs = f->cut.turned ? all->a : all->b;
    for (int i = 0; i < per_tall; i++)
        one->a[i] = tall_regs[tall * per_tall + i];
    for (int i = 0; i < per_flat; i++)
        one->b[i] = flat_regs[flat * per_flat + i];
}

static void cut_accumulators(int pair, int per_c, int per_d, const struct mma_regs *all, struct mma_regs *one)
{
    for (int i = 0; i < per_c; i++)
        one->c[i] = all->c[pair * per_c + i];
    for (int i = 0; i < per_d; i++)
        one->d[i] = all->d[pair * per_d + i];
}

static int pairs_of(const struct wmma_form *f) { return f->cut.tall * f->cut.flat; }

/* ---- floating point */

static struct mma_chain chain_of(const struct warp *w, const struct wmma_form *f, enum type a, enum type d, enum type c)
{
    enum type sum = d == T_F16 && c == T_F16 ? T_F16 : T_F32;
    struct mma_chain chain = mma_chain(mma_chip(w), a, sum, f->k, f->k);
    if (a == T_TF32) {
        chain.steps = 2;
        chain.how.step = 4;
        chain.padded = 8;
    }
    return chain;
}

static int multiply(struct warp *w, const struct instr *in, uint32_t mask, enum type a, enum type d, enum type c)
{
    const struct wmma_form *f = in->plan;
    struct mma_chain chain = chain_of(w, f, a, d, c);
    struct mma_matrices m[PAIRS];
    struct mma_regs all, one[PAIRS];
    int per = 32 / (int)mma_bits(a), pairs = pairs_of(f);
    mma_operands(w, in, &all);
    for (int i = 0; i < pairs; i++) {
        cut_registers(f, i, 16 * f->k / WARP / per, 8 * f->k / WARP / per, &all, &one[i]);
        cut_accumulators(i, c == T_F16 ? 2 : 4, d == T_F16 ? 2 : 4, &all, &one[i]);
        mma_load_a(one[i].a, a, 16, f->k, &chain, &m[i]);
        mma_load_b(one[i].b, a, f->k, &chain, &m[i]);
        mma_load_c(one[i].c, c, 16, &m[i]);
        mma_run(&chain, a, a, &m[i], NULL);
    }
    for (int i = 0; i < pairs; i++) {
        for (int n = 0; d == T_F16 && c == T_F32 && n < 8; n++)
            for (int l = 0; l < LANES; l++)
                m[i].d[n][l] = mma_nearest_half(m[i].d[n][l]);
        mma_store_d(one[i].d, d, 16, &m[i], mask);
    }
    return X_NEXT;
}

static int wmma_f16(struct warp *w, const struct instr *in, uint32_t mask)
{
    return multiply(w, in, mask, T_F16, in->type[0], in->type[1]);
}

static int wmma_wide(struct warp *w, const struct instr *in, uint32_t mask)
{
    return multiply(w, in, mask, in->type[1], T_F32, T_F32);
}

/* ---- integers, bits, f64 */

static int wmma_integer(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct wmma_form *f = in->plan;
    struct mma_chain chain = { .how = { .step = f->k }, .steps = 1, .padded = f->k };
    struct mma_regs all, one[PAIRS];
    int32_t value[PAIRS][4][WARP];
    int rows = f->cut.m, per = 32 / (int)mma_bits(in->type[1]), pairs = pairs_of(f);
    mma_operands(w, in, &all);
    for (int i = 0; i < pairs; i++) {
        struct mma_matrices m;
        cut_registers(f, i, rows * f->k / WARP / per, 8 * f->k / WARP / per, &all, &one[i]);
        cut_accumulators(i, rows / 4, rows / 4, &all, &one[i]);
        mma_load_a(one[i].a, in->type[1], rows, f->k, &chain, &m);
        mma_load_b(one[i].b, in->type[1], f->k, &chain, &m);
        mma_sum(f->k, &m);
        mma_add_sums(&m, one[i].c, rows, in->flags & F_SATFINITE, value[i]);
    }
    for (int i = 0; i < pairs; i++)
        mma_store_s32(one[i].d, rows / 4, value[i], mask);
    return X_NEXT;
}

static int wmma_bit(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct mma_regs r;
    mma_operands(w, in, &r);
    mma_bit_product(&r, 8, 128, in->mode == M_op_and, mask);
    return X_NEXT;
}

static int wmma_double(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct mma_regs r;
    mma_operands(w, in, &r);
    mma_f64_product(&r, 8, 4, in->rnd, mask);
    return X_NEXT;
}

/* ---- forms */

static bool registers_agree(const struct instr *in, const struct wmma_form *f, enum type a, enum type d, enum type c)
{
    int lane_bits = a == T_F64 ? 64 : 32, wide = f->m * f->n / WARP;
    int na = f->m * f->k * (int)mma_bits(a) / lane_bits / WARP, nb = f->n * f->k * (int)mma_bits(a) / lane_bits / WARP;
    return mma_has_registers(&in->opnd[0], d == T_F16 ? wide / 2 : wide) &&
           mma_has_registers(&in->opnd[1], a == T_F16 ? 8 : na) &&
           mma_has_registers(&in->opnd[2], a == T_F16 ? 8 : nb) &&
           mma_has_registers(&in->opnd[3], c == T_F16 ? wide / 2 : wide);
}

static bool is_row_col(const struct instr *in) { return in->layout[0] == M_row && in->layout[1] == M_col; }

exec_fn *pick_WMMA_MMA(struct instr *in)
{
    const struct wmma_form *f = wmma_form(in, T_F16);
    in->plan = f;
    if (!f || in->rnd || (in->flags & F_SATFINITE) || !registers_agree(in, f, T_F16, in->type[0], in->type[1]))
        return NULL;
    return wmma_f16;
}

exec_fn *pick_WMMA_MMA_TYPED(struct instr *in)
{
    enum type d = in->type[0], a = in->type[1], c = in->type[3];
    const struct wmma_form *f = wmma_form(in, a);
    in->plan = f;
    if (!f || a != in->type[2] || d != c || !registers_agree(in, f, a, d, c))
        return NULL;
    bool is_integer = f->types == MMA_INT8 || f->types == MMA_INT4;
    if ((in->rnd && a != T_F64) || ((in->flags & F_SATFINITE) && !is_integer))
        return NULL;
    if (is_integer)
        return d == T_S32 && (f->types == MMA_INT8 || is_row_col(in)) ? wmma_integer : NULL;
    if (a == T_F64)
        return d == T_F64 ? wmma_double : NULL;
    return d == T_F32 ? wmma_wide : NULL;
}

exec_fn *pick_WMMA_MMA_BIT(struct instr *in)
{
    const struct wmma_form *f = wmma_form(in, T_B1);
    bool and = in->mode == M_op_and;
    if (!f || (and && in->func->module->target < 80) || !is_row_col(in))
        return NULL;
    return registers_agree(in, f, T_B1, T_S32, T_S32) ? wmma_bit : NULL;
}
