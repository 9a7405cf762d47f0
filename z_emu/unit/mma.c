/* mma.c: mma.sync on floating-point types of up to 32 bits.
 *
 * Modelled: all shapes and types of "Multiply-and-Accumulate Instruction: mma", the result to the bit (mma_math.c).
 * m8n8k4 on f16 has k = 4 in one step up to sm_75. For later chips ptxas makes of it a routine of f32 multiplications
 * and additions, whose order and roundings are those of its code.
 */
#include "mma_form.h"
#include "fragments.h"

#include <math.h>
#include <string.h>

exec_fn *pick_MMA(struct instr *in)
{
    const struct mma_form *f = mma_form(in, false);
    in->plan = f;
    if (!f || (in->rnd && f->types != MMA_F64))
        return NULL;
    switch (f->types) {
    case MMA_F64: return mma_double;
    case MMA_INT8: case MMA_INT4: return mma_integer;
    default: return f->m == 8 ? mma_884 : mma_float;
    }
}

int mma_float(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    enum type a = mma_container(f->types, in->type[1]), b = mma_container(f->types, in->type[2]), d = in->type[0];
    struct mma_chain chain = mma_chain(mma_chip(w), a, d, f->k, f->k);
    struct mma_matrices m;
    struct mma_regs r;
    mma_operands(w, in, &r);
    mma_load_a(r.a, a, f->m, f->k, &chain, &m);
    mma_load_b(r.b, b, f->k, &chain, &m);
    mma_load_c(r.c, d, f->m, &m);
    mma_run(&chain, a, b, &m, NULL);
    mma_store_d(r.d, d, f->m, &m, mask);
    return X_NEXT;
}

/* ---- m8n8k4 on f16: four multiplications, each by eight lanes; A and B in either order */

static float element(uint32_t *const *reg, enum type t, int lane, int i)
{
    float v;
    if (t == T_F32)
        memcpy(&v, &reg[i][lane], 4);
    else
        mma_decode(T_F16, (const uint16_t *)&reg[i / 2][lane] + i % 2, &v, 1);
    return v;
}

static void load_884(const struct instr *in, const struct mma_regs *r, int which, struct mma_matrices *m)
{
    memset(m, 0, sizeof *m);
    for (int lane = 0; lane < WARP; lane++) {
        if (fragment_884_which(lane) != which)
            continue;
        for (int i = 0; i < 4; i++) {
            struct place a = fragment_884_a(lane, i, in->layout[0] == M_col);
            struct place b = fragment_884_b(lane, i, in->layout[1] == M_col);
            m->y[a.col][a.row] = element(r->a, T_F16, lane, i);
            m->x[b.col * 8 + b.row] = element(r->b, T_F16, lane, i);
        }
        for (int i = 0; i < 8; i++) {
            struct place c = fragment_884_c(lane, i, in->type[3] == T_F32);
            m->c[c.col][c.row] = element(r->c, in->type[3], lane, i);
            if (in->type[3] == T_F16)
                mma_special_halves(&m->c[c.col][c.row], 1);
        }
    }
}

static void store_884(const struct instr *in, const struct mma_regs *r, int which, const struct mma_matrices *m,
                      uint32_t mask)
{
    bool f32 = in->type[0] == T_F32;
    FOR_LANES(lane, mask) {
        if (fragment_884_which((int)lane) != which)
            continue;
        for (int i = 0; i < 8; i++) {
            struct place d = fragment_884_c((int)lane, i, f32);
            uint16_t half = mma_half_bits(m->d[d.col][d.row]);
            if (f32)
                memcpy(&r->d[i][lane], &m->d[d.col][d.row], 4);
            else
                memcpy((uint16_t *)&r->d[i / 2][lane] + i % 2, &half, 2);
        }
    }
}

/* x and y: four factors each, y's with a stride of LANES. */
static float routine_884(const float *x, const float *y, float c, enum type d)
{
    if (d == T_F32)
        return c + fmaf(x[3], y[3 * LANES], fmaf(x[2], y[2 * LANES], fmaf(x[1], y[LANES], fmaf(x[0], y[0], 0))));
    float low = fmaf(x[1], y[LANES], x[0] * y[0]), high = fmaf(x[3], y[3 * LANES], x[2] * y[2 * LANES]);
    float sum = (c + low) + high;
    return copysignf(mma_nearest_half(sum), sum);       /* -0 too */
}

static void run_routine(struct mma_matrices *m, enum type d)
{
    static const union { uint32_t bits; float f; } not_a_number = { 0x7fffffff };
    mma_special_halves(m->x, 8 * 8);
    mma_special_halves(m->y[0], 4 * LANES);
    for (int n = 0; n < 8; n++)
        for (int row = 0; row < 8; row++) {
            float v = routine_884(m->x + 8 * n, m->y[0] + row, m->c[n][row], d);
            m->d[n][row] = v == v ? v : not_a_number.f;
        }
}

int mma_884(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct mma_chain chain = mma_chain(mma_chip(w), T_F16, in->type[0], 4, 4);
    struct mma_matrices m[4];
    struct mma_regs r;
    mma_operands(w, in, &r);
    for (int which = 0; which < 4; which++) {
        load_884(in, &r, which, &m[which]);
        if (mma_chip(w)->cc >= 80)
            run_routine(&m[which], in->type[0]);
        else
            mma_run(&chain, T_F16, T_F16, &m[which], NULL);
    }
    for (int which = 0; which < 4; which++)
        store_884(in, &r, which, &m[which], mask);
    return X_NEXT;
}
