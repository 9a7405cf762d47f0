/* mma_sparse.c: mma.sp, where half of A is known to be zero and is not stored.
 *
 * Modelled: all shapes and types of "Multiply-and-Accumulate Instruction: mma.sp / mma.sp::ordered_metadata". A is
 * spread out to its full width; what is not stored takes no part in the sum, not even as a zero. Metadata that the
 * ISA calls invalid is a fault.
 */
#include "mma_form.h"
#include "fragments.h"

#include <string.h>

struct mma_chunk mma_chunk_of(enum type a)
{
    switch (mma_bits(a)) {
    case 4: return (struct mma_chunk){ 8, 2, true };
    case 8: return (struct mma_chunk){ 4, 1, true };
    case 16: return (struct mma_chunk){ 4, 1, false };
    default: return (struct mma_chunk){ 2, 1, false };
    }
}

int mma_metadata_lanes(const struct mma_chunk *c, int k) { return k / c->size / 4; }

bool mma_metadata_valid(uint32_t bits, const struct mma_chunk *c, bool ordered)
{
    uint32_t first = bits & 3, second = bits >> 2;
    if (c->size == 2)
        return bits == 4 || bits == 14;
    return ordered ? first < second : first != second;
}

int mma_chunk_column(uint32_t bits, const struct mma_chunk *c, int i)
{
    if (c->size == 2)
        return (int)(bits & 3) / 2;
    return (int)(bits >> 2 * (i / c->run) & 3) * c->run + i % c->run;
}

int mma_place(const struct mma_chain *chain, int k, int k_all)
{
    return chain->by_element ? k / 4 % 2 * (k_all / 2) + k / 8 * 4 + k % 4 : k;
}

/* One register of A: each lane's elements go to where the metadata says. */
struct spread {
    struct warp *w;
    const struct instr *in;
    const struct mma_chain *chain;
    int k;
    const uint32_t *metadata;
    int selector;
};

static bool spread_lane(const struct spread *s, const struct mma_chunk *c, int reg, int lane, float (*element)[WARP],
                        struct mma_matrices *m, uint8_t (*absent)[LANES])
{
    int per = 32 / (int)mma_bits(mma_container(((const struct mma_form *)s->in->plan)->types, s->in->type[1]));
    int row = lane / 4 + 8 * (reg % 2), first = (reg / 2 * 4 + lane % 4) * 2 * per, stored = c->size / 2;
    for (int i = 0; i < per; i++) {
        int chunk = first / c->size + i / stored;
        struct metadata_place p = metadata_place(row, chunk, s->k / c->size, s->selector, c->wide);
        uint32_t bits = s->metadata[p.lane] >> p.shift & 15;
        if (!mma_metadata_valid(bits, c, s->in->op != OP_MMA_SP)) {
            fault(s->w, s->in, p.lane, FAULT_BAD_OPERAND, "metadata 0x%x for row %d, columns %d to %d is not valid",
                  bits, row, chunk * c->size, chunk * c->size + c->size - 1);
            return false;
        }
        int place = mma_place(s->chain, chunk * c->size + mma_chunk_column(bits, c, i % stored), s->k);
        m->y[place][row] = element[i][lane];
        absent[place][row] = 0;
    }
    return true;
}

bool mma_load_sparse_a(struct warp *w, const struct instr *in, uint32_t *const *reg, const struct mma_chain *chain,
                       struct mma_matrices *m, uint8_t (*absent)[LANES])
{
    const struct mma_form *f = in->plan;
    enum type t = mma_container(f->types, in->type[1]);
    struct mma_chunk c = mma_chunk_of(t);
    struct spread s = { w, in, chain, f->k, ROW(w, &in->opnd[4], uint32_t), (int)ROW(w, &in->opnd[5], uint32_t)[0] };
    float element[8][WARP];
    if (s.selector < 0 || s.selector >= 4 / mma_metadata_lanes(&c, f->k)) {
        fault(w, in, -1, FAULT_BAD_OPERAND, "the sparsity selector is %d, and must be below %d", s.selector,
              4 / mma_metadata_lanes(&c, f->k));
        return false;
    }
    memset(m->y, 0, (size_t)f->k * sizeof m->y[0]);
    memset(absent, 1, (size_t)f->k * sizeof absent[0]);
    for (int r = 0; r < 16 * f->k / 2 * (int)mma_bits(t) / 32 / WARP; r++) {
        mma_decode_row(t, reg[r], element);
        for (int lane = 0; lane < WARP; lane++)
            if (!spread_lane(&s, &c, r, lane, element, m, absent))
                return false;
    }
    return true;
}

void mma_load_b_by_place(uint32_t *const *reg, enum type t, int k, const struct mma_chain *chain,
                         struct mma_matrices *m)
{
    float element[8][WARP];
    int per = 32 / (int)mma_bits(t), each = k / chain->steps;
    for (int r = 0; r < k / 4 / per; r++) {
        mma_decode_row(t, reg[r], element);
        for (int lane = 0; lane < WARP; lane++)
            for (int i = 0; i < per; i++) {
                struct place p = fragment_b(lane, r * per + i, per);
                int place = mma_place(chain, p.row, k);
                m->x[(place / each * 8 + p.col) * each + place % each] = element[i][lane];
            }
    }
}

/* ---- handlers */

static int sparse_float(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    enum type a = mma_container(f->types, in->type[1]), b = mma_container(f->types, in->type[2]), d = in->type[0];
    struct mma_chain chain = mma_chain(mma_chip(w), a, d, f->k, f->k / 2);
    struct mma_matrices m;
    struct mma_regs r;
    uint8_t absent[MMA_K][LANES];
    mma_operands(w, in, &r);
    if (!mma_load_sparse_a(w, in, r.a, &chain, &m, absent))
        return X_FAULT;
    mma_load_b_by_place(r.b, b, f->k, &chain, &m);
    mma_load_c(r.c, d, 16, &m);
    mma_run(&chain, a, b, &m, &(struct mma_extra){ .absent = absent });
    mma_store_d(r.d, d, 16, &m, mask);
    return X_NEXT;
}

static int sparse_integer(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct mma_form *f = in->plan;
    struct mma_chain chain = { .how = { .step = f->k }, .steps = 1, .padded = f->k };
    struct mma_matrices m;
    struct mma_regs r;
    uint8_t absent[MMA_K][LANES];
    int32_t value[4][WARP];
    mma_operands(w, in, &r);
    if (!mma_load_sparse_a(w, in, r.a, &chain, &m, absent))
        return X_FAULT;
    mma_load_b_by_place(r.b, in->type[2], f->k, &chain, &m);
    mma_sum(f->k, &m);
    mma_add_sums(&m, r.c, 16, in->flags & F_SATFINITE, value);
    mma_store_s32(r.d, 4, value, mask);
    return X_NEXT;
}

exec_fn *pick_MMA_SP(struct instr *in)
{
    const struct mma_form *f = mma_form(in, true);
    in->plan = f;
    if (!f)
        return NULL;
    return f->types == MMA_INT8 || f->types == MMA_INT4 ? sparse_integer : sparse_float;
}

exec_fn *pick_MMA_SP_ORDERED(struct instr *in) { return pick_MMA_SP(in); }
