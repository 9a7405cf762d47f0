/* mma_exact.c: mma.sync on integers, single bits and f64, where the result leaves no choice but the order of f64's
 * additions: a chain of fused multiply-adds from the lowest k up, as measured on chips.
 */
#include "mma_form.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* Any source register may be a destination too: all is computed before the first is stored. */
void mma_store_s32(uint32_t *const *d, int n, int32_t (*value)[WARP], uint32_t mask)
{
    for (int i = 0; i < n; i++)
        FOR_LANES(lane, mask)
            d[i][lane] = (uint32_t)value[i][lane];
}

/* Sums of products, exact in f32, plus C, as D's registers: column 2 * quad + i % 2 of rows 8 * (i / 2) and on. */
void mma_add_sums(const struct mma_matrices *m, uint32_t *const *c, int rows, bool saturate, int32_t (*value)[WARP])
{
    for (int i = 0; i < rows / 4; i++)
        for (int lane = 0; lane < WARP; lane++) {
            float sum = m->d[lane % 4 * 2 + i % 2][lane / 4 + 8 * (i / 2)];
            value[i][lane] = mma_add_s32((int32_t)c[i][lane], (int32_t)sum, saturate);
        }
}

int mma_integer(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    struct mma_chain chain = { .how = { .step = f->k }, .steps = 1, .padded = f->k };
    struct mma_matrices m;
    struct mma_regs r;
    int32_t value[4][WARP];
    mma_operands(w, in, &r);
    mma_load_a(r.a, in->type[1], f->m, f->k, &chain, &m);
    mma_load_b(r.b, in->type[2], f->k, &chain, &m);
    mma_sum(f->k, &m);
    mma_add_sums(&m, r.c, f->m, in->flags & F_SATFINITE, value);
    mma_store_s32(r.d, f->m / 4, value, mask);
    return X_NEXT;
}

/* d = x * y, for integers of 8 bits and k <= MMA_K: at most 128 * 2^16 = 2^23. */
void mma_sum(int k, struct mma_matrices *m)
{
    memset(m->c, 0, sizeof m->c);
    mma_four_rows(m->x, m->y, k, m->c, m->d);
    mma_four_rows(m->x + 4 * k, m->y, k, m->c + 4, m->d + 4);
}

/* ---- single bits */

exec_fn *pick_MMA_BIT(struct instr *in)
{
    const struct mma_form *f = mma_form(in, false);
    in->plan = f;
    bool and = in->mode == M_op_and;
    return f && (!and || in->func->module->target >= 80) ? mma_bit : NULL;
}

/* Register r of A is k-part r / halves of rows 8 * (r % halves)…, 32 bits of k for each lane. */
void mma_bit_product(const struct mma_regs *r, int m, int k, bool and, uint32_t mask)
{
    int32_t value[4][WARP];
    int halves = m / 8, parts = k / 128;
    for (int i = 0; i < m / 4; i++)
        for (int lane = 0; lane < WARP; lane++) {
            int group = lane / 4, col = lane % 4 * 2 + i % 2, sum = 0;
            for (int part = 0; part < parts; part++)
                for (int quad = 0; quad < 4; quad++) {
                    uint32_t a = r->a[part * halves + i / 2][4 * group + quad], b = r->b[part][4 * col + quad];
                    sum += __builtin_popcount(and ? a & b : a ^ b);
                }
            value[i][lane] = mma_add_s32((int32_t)r->c[i][lane], sum, false);
        }
    mma_store_s32(r->d, m / 4, value, mask);
}

int mma_bit(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    struct mma_regs r;
    mma_operands(w, in, &r);
    mma_bit_product(&r, f->m, f->k, in->mode == M_op_and, mask);
    return X_NEXT;
}

/* ---- f64 */

static int rounding_mode(enum mod rnd)
{
    switch (rnd) {
    case M_rz: return FE_TOWARDZERO;
    case M_rm: return FE_DOWNWARD;
    case M_rp: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

/* Out of line, so that no multiply-add moves across the change of rounding mode. */
static __attribute__((noinline)) double chain_of(const double *a, const double *b, double c, int k)
{
    for (int i = 0; i < k; i++)
        c = fma(a[i], b[i], c);
    return c;
}

static void multiply_f64(double (*a)[16], double (*b)[16], double (*value)[WARP], int n, int k)
{
    for (int i = 0; i < n; i++)
        for (int lane = 0; lane < WARP; lane++)
            value[i][lane] = chain_of(a[lane / 4 + 8 * (i / 2)], b[lane % 4 * 2 + i % 2], value[i][lane], k);
}

void mma_f64_product(const struct mma_regs *r, int m, int k, enum mod rnd, uint32_t mask)
{
    double a[16][16], b[8][16], value[4][WARP];
    int halves = m / 8, n = m == 8 ? 2 : 4;
    for (int i = 0; i < halves * k / 4; i++)
        for (int lane = 0; lane < WARP; lane++)
            memcpy(&a[lane / 4 + 8 * (i % halves)][i / halves * 4 + lane % 4], (double *)r->a[i] + lane, 8);
    for (int i = 0; i < k / 4; i++)
        for (int lane = 0; lane < WARP; lane++)
            memcpy(&b[lane / 4][i * 4 + lane % 4], (double *)r->b[i] + lane, 8);
    for (int i = 0; i < n; i++)
        memcpy(value[i], r->c[i], sizeof value[i]);
    int before = fegetround();
    fesetround(rounding_mode(rnd));
    multiply_f64(a, b, value, n, k);
    fesetround(before);
    for (int i = 0; i < n; i++)
        FOR_LANES(lane, mask)
            memcpy((double *)r->d[i] + lane, &value[i][lane], 8);
}

int mma_double(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    struct mma_regs r;
    mma_operands(w, in, &r);
    mma_f64_product(&r, f->m, f->k, in->rnd, mask);
    return X_NEXT;
}
