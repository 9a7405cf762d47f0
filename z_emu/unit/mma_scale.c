/* mma_scale.c: mma.sync with .block_scale, dense and sparse (sm_120).
 *
 * Modelled: .kind::mxf8f6f4 with one scale for a row of A and a column of B, whose exponents join those of the
 * products; .kind::mxf4 and .kind::mxf4nvf4, where the products of a quarter of k are added exactly, that sum is
 * multiplied by the significands of its scales and takes their exponents, and the four sums and C are aligned to 35
 * bits. This is what was measured for dense forms; that sparse ones do the same is inferred. A scale of NaN makes
 * its row or column NaN.
 */
#include "mma_form.h"
#include "fragments.h"

#include <math.h>
#include <string.h>

enum { QUARTERS = 4, FP4_FRACTION = 35 };

/* Scales of the 16 rows of A and the 8 columns of B, one for each quarter of k. */
struct scales { float a[16][QUARTERS], b[8][QUARTERS]; };

static int scale_count(const struct instr *in)
{
    return has_mod(in, M_scale_vec_4X) ? 4 : has_mod(in, M_scale_vec_2X) || in->mode == M_kind_mxf4 ? 2 : 1;
}

/* The selectors {byte-id, thread-id} of A or B. false: a fault was reported. */
static bool select_scales(struct warp *w, const struct instr *in, const struct operand *o, int count, int threads,
                          int *byte, int *thread)
{
    *byte = ROW(w, &o->elem[0], uint16_t)[0];
    *thread = ROW(w, &o->elem[1], uint16_t)[0];
    if (*byte % count == 0 && *byte + count <= 4 && *thread < threads)
        return true;
    fault(w, in, -1, FAULT_BAD_OPERAND,
          "selectors {%d, %d}: the byte must be a multiple of %d below 4, the thread below %d", *byte, *thread, count,
          threads);
    return false;
}

static void take_scales(const struct instr *in, uint32_t word, int byte, int count, float *to)
{
    for (int i = 0; i < QUARTERS; i++)
        to[i] = mma_scale_value(in->type[4], word >> 8 * (byte + i * count / QUARTERS));
}

static bool load_scales(struct warp *w, const struct instr *in, struct scales *s)
{
    const struct operand *o = &in->opnd[in->op == OP_MMA_SP_BLOCK_SCALE ? 6 : 4];
    int count = scale_count(in), byte, thread;
    if (!select_scales(w, in, &o[1], count, 2, &byte, &thread))
        return false;
    for (int row = 0; row < 16; row++)
        take_scales(in, ROW(w, &o[0], uint32_t)[scale_a_lane(row, thread)], byte, count, s->a[row]);
    if (!select_scales(w, in, &o[3], count, 4, &byte, &thread))
        return false;
    for (int col = 0; col < 8; col++)
        take_scales(in, ROW(w, &o[2], uint32_t)[scale_b_lane(col, thread)], byte, count, s->b[col]);
    return true;
}

/* ---- mxf8f6f4 */

static int exponent_of(float scale) { return isnan(scale) ? 0 : ilogbf(scale); }

static float not_a_number(void)
{
    const uint32_t bits = 0x7fffffff;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void run_f8f6f4(const struct mma_chain *chain, enum type a, enum type b, const struct scales *s,
                       struct mma_matrices *m, const uint8_t (*absent)[LANES])
{
    int32_t xscale[8], yscale[LANES];
    for (int row = 0; row < 16; row++)
        yscale[row] = exponent_of(s->a[row][0]);
    for (int col = 0; col < 8; col++)
        xscale[col] = exponent_of(s->b[col][0]);
    mma_run(chain, a, b, m, &(struct mma_extra){ absent, xscale, yscale });
    for (int col = 0; col < 8; col++)
        for (int row = 0; row < 16; row++)
            if (isnan(s->a[row][0]) || isnan(s->b[col][0]))
                m->d[col][row] = not_a_number();
}

/* ---- mxf4, mxf4nvf4: x and y hold k in its own order */

/* Scales have at most four bits, e4m3's; subnormals keep its least exponent. */
static void split_scale(float scale, int emin, int64_t *eighths, int *exponent)
{
    int e = scale == 0 ? -126 : ilogbf(scale);
    if (scale != 0 && e < emin)
        e = emin;
    *exponent = e;
    *eighths = scale == 0 ? 0 : (int64_t)ldexpf(scale, 3 - e);
}

float mma_fp4_output(const float *x, const float (*y)[LANES], int row, int k, int parts, const float *sa, const float *sb,
                     enum type scale, float c)
{
    int emin = scale == T_UE4M3 ? -6 : -127;
    struct mma_terms t = { .n = 0 };
    bool any_nan = isnan(c);
    for (int q = 0; q < parts; q++) {
        float sum = 0;
        for (int i = q * k / parts; i < (q + 1) * k / parts; i++)
            sum += x[i] * y[i][row];
        any_nan |= isnan(sa[q]) || isnan(sb[q]);
        if (any_nan)
            return not_a_number();
        int64_t a, b;
        int ea, eb;
        split_scale(sa[q], emin, &a, &ea);
        split_scale(sb[q], emin, &b, &eb);
        mma_add_term(&t, (int64_t)(4 * sum) * a * b, 2 + 3 + 3, ea + eb);
    }
    if (isinf(c))
        return c;
    mma_add_c(&t, c);
    return mma_sum_of(&t, &(struct mma_how){ FP4_FRACTION, 0, MMA_TO_F32 });
}

static void run_fp4(const struct instr *in, int k, const struct scales *s, struct mma_matrices *m)
{
    for (int col = 0; col < 8; col++)
        for (int row = 0; row < 16; row++)
            m->d[col][row] = mma_fp4_output(m->x + col * k, m->y, row, k, QUARTERS, s->a[row], s->b[col], in->type[4],
                                            m->c[col][row]);
}

/* ---- handlers */

/* A dense, k in its own order. */
static void load_a_by_place(uint32_t *const *reg, enum type t, int k, struct mma_matrices *m)
{
    float element[8][WARP];
    int per = 32 / (int)mma_bits(t);
    for (int r = 0; r < 2 * k / 4 / per; r++) {
        mma_decode_row(t, reg[r], element);
        for (int lane = 0; lane < WARP; lane++)
            for (int i = 0; i < per; i++) {
                struct place p = fragment_a(lane, r * per + i, 16, per);
                m->y[p.col][p.row] = element[i][lane];
            }
    }
}

static int block_scale(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    enum type a = mma_container(f->types, in->type[1]), b = mma_container(f->types, in->type[2]);
    struct mma_chain chain = mma_chain(mma_chip(w), a, T_F32, f->k, f->sparse ? f->k / 2 : f->k);
    struct mma_matrices m;
    struct mma_regs r;
    struct scales s;
    uint8_t absent[MMA_K][LANES];
    mma_operands(w, in, &r);
    if (!load_scales(w, in, &s))
        return X_FAULT;
    if (!f->sparse)
        load_a_by_place(r.a, a, f->k, &m);
    else if (!mma_load_sparse_a(w, in, r.a, &chain, &m, absent))
        return X_FAULT;
    mma_load_b_by_place(r.b, b, f->k, &chain, &m);
    mma_load_c(r.c, T_F32, 16, &m);
    if (f->types == MMA_MXF4)
        run_fp4(in, f->k, &s, &m);
    else
        run_f8f6f4(&chain, a, b, &s, &m, f->sparse ? absent : NULL);
    mma_store_d(r.d, T_F32, 16, &m, mask);
    return X_NEXT;
}

/* "Valid combinations of .scale_vec_size and .kind". */
static bool scales_agree(const struct instr *in)
{
    bool written = has_mod(in, M_scale_vec_1X) || has_mod(in, M_scale_vec_2X) || has_mod(in, M_scale_vec_4X);
    int count = scale_count(in);
    switch (in->mode) {
    case M_kind_mxf8f6f4: return in->type[4] == T_UE8M0 && count == 1;
    case M_kind_mxf4: return in->type[4] == T_UE8M0 && count == 2;
    default: return written && (in->type[4] == T_UE8M0 ? count >= 2 : count == 4);
    }
}

static exec_fn *pick(struct instr *in, bool sparse)
{
    const struct mma_form *f = mma_form(in, sparse);
    const struct operand *o = &in->opnd[sparse ? 6 : 4];
    in->plan = f;
    return f && scales_agree(in) && mma_has_registers(&o[1], 2) && mma_has_registers(&o[3], 2) ? block_scale : NULL;
}

exec_fn *pick_MMA_BLOCK_SCALE(struct instr *in) { return pick(in, false); }
exec_fn *pick_MMA_SP_BLOCK_SCALE(struct instr *in) { return pick(in, true); }
