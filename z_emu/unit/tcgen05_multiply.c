/* tcgen05_multiply.c: one tcgen05.mma: A and B out of shared and tensor memory, the product, D in tensor memory.
 *
 * Modelled, to the bit of what was measured on chips (mma_math.c): 25 bits below the largest term for all floating-point
 * kinds but mxf4 and mxf4nvf4 (tcgen05_scale.c). Each CTA of a pair has its half of the rows of A and D, and half of the columns of B, which both need whole.
 * PTX ISA: "Data Path Layout Organization", "Packing formats of elements in Tensor and Shared memory". */
#include "tcgen05_mma.h"
#include "mma.h"
#include "../core/memory.h"

#include <string.h>

enum { FRACTION = 25 };

/* ---------------------------------------------------------------- A and B */

bool tc_unwritten(const struct tc_mma *m, const char *what, const char *where, uint32_t at)
{
    fault(m->op.user.w, m->op.user.in, m->op.user.lane, FAULT_UNINITIALIZED, "%s has %s 0x%x, which nothing has written", what, where, at);
    return false;
}

static bool is_narrow(enum type t) { return t == T_E2M3 || t == T_E3M2 || t == T_E2M1; }

void tc_widen(enum type t, uint8_t *bytes, size_t n)
{
    uint32_t bits = t == T_E2M1 ? 4 : 6, shift = t == T_E2M1 ? 2 : 0;
    for (uint8_t *chunk = bytes; chunk < bytes + n; chunk += SMEM_CHUNK) {
        uint8_t from[SMEM_CHUNK + 1] = { 0 };
        memcpy(from, chunk, SMEM_CHUNK);
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t at = i * bits, word = from[at / 8] | (uint32_t)from[at / 8 + 1] << 8;
            chunk[i] = (uint8_t)((word >> at % 8 & ((1u << bits) - 1)) << shift);
        }
    }
}

enum type tc_container(const struct tc_mma *m, enum type t)
{
    return t == T_E2M1 && m->form.kind < TC_MXF4 ? (enum type)MMA_E2M1_BYTE : t;
}

/* A tile out of the shared memory of CTA r, to rows without gaps. */
static bool gather(const struct tc_mma *m, uint32_t r, bool b, uint8_t *to)
{
    const struct cta *c = tc_cta(m, r);
    const struct smem_desc d = smem_desc_tcgen05(b ? m->b_desc : m->a_desc);
    const struct smem_tile t = tc_tile(m, b);
    enum type type = b ? m->id.b : m->id.a;
    uint32_t reserved = c->memory->smem_reserved, at = 0;
    if (!smem_gather(&d, &t, c->smem - reserved, c->smem_init - reserved, to, &at))
        return tc_unwritten(m, b ? "the tile of B" : "the tile of A", "a byte of shared memory at", at);
    if (is_narrow(type) && m->form.kind < TC_MXF4)
        tc_widen(type, to, (size_t)t.rows * t.k);
    return true;
}

/* A out of the tensor memory of CTA r. Where a row's products are computed in several quarters of the lanes, each of them has
 * a copy of the row. */
static bool take_a(const struct tc_mma *m, uint32_t r, uint8_t *to)
{
    const struct tmem *t = tmem_of(tc_cta(m, r)->sm);
    uint32_t column = tmem_column(m->a), bytes = tc_a_bytes(m);
    for (uint32_t row = 0; row < tc_rows(m); row++, to += bytes) {
        uint32_t lane = tmem_lane(m->a) + tc_row_lane(m->layout, row);
        for (uint32_t copy = 0; copy < m->layout.pieces; copy++, lane += m->layout.apart) {
            if (memchr(&t->written[lane][column], 0, bytes / 4))
                return tc_unwritten(m, "A", "a word of tensor memory at", lane << 16 | column);
            if (copy && memcmp(to, &t->cell[lane][column], bytes))
                return fault(m->op.user.w, m->op.user.in, m->op.user.lane, FAULT_TCGEN05, "row %u of A must lie in lane %u as it does in "
                             "lane %u: D takes %u pieces in layout %c", row, lane, lane - m->layout.apart * copy, m->layout.pieces,
                             m->layout.id), false;
            memcpy(to, &t->cell[lane][column], bytes);
        }
    }
    return true;
}

/* Flips signs. */
static void negate(enum type t, uint8_t *bytes, size_t n)
{
    uint32_t bits = t == T_E2M1 ? 0x88888888 : mma_bits(t) == 32 ? 0x80000000 : mma_bits(t) == 16 ? 0x80008000 :
                    t == T_E2M3 || t == T_E3M2 || t == (enum type)MMA_E2M1_BYTE ? 0x20202020 : 0x80808080;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        word ^= bits;
        memcpy(bytes + i, &word, 4);
    }
}

/* ---------------------------------------------------------------- D */

/* D of one CTA as a plain matrix: in place when a lane holds a row as it is, else a copy. */
struct output {
    struct tmem *t;
    uint32_t *at;
    size_t stride;
    bool copy;
    uint32_t cell[TC_MOST_M * TC_MOST_N];
};

static bool is_disabled(const struct tc_mma *m, uint32_t r, uint32_t lane) { return m->disabled[4 * r + lane / 32] >> lane % 32 & 1; }

/* Calls for each run of columns in a lane. */
typedef bool run_fn(const struct tc_mma *m, struct output *out, uint32_t r, uint32_t lane, uint32_t column, uint32_t n, uint32_t *plain);
static bool each_run(const struct tc_mma *m, struct output *out, uint32_t r, run_fn *fn)
{
    uint32_t n = m->id.n / m->layout.pieces;
    for (uint32_t row = 0; row < tc_rows(m); row++)
        for (uint32_t p = 0; p < m->layout.pieces; p++) {
            uint32_t lane = tmem_lane(m->d) + tc_row_lane(m->layout, row) + p * m->layout.apart;
            if (!fn(m, out, r, lane, tmem_column(m->d), n, out->cell + (size_t)row * m->id.n + p * n))
                return false;
        }
    return true;
}

static bool check_run(const struct tc_mma *m, struct output *out, uint32_t r, uint32_t lane, uint32_t column, uint32_t n, uint32_t *plain)
{
    (void)plain;
    const uint8_t *hole = is_disabled(m, r, lane) ? NULL : memchr(&out->t->written[lane][column], 0, n);
    return !hole || tc_unwritten(m, "D, which enable-input-d adds to,", "a word of tensor memory at",
                              lane << 16 | (uint32_t)(hole - out->t->written[lane]));
}

static bool load_run(const struct tc_mma *m, struct output *out, uint32_t r, uint32_t lane, uint32_t column, uint32_t n, uint32_t *plain)
{
    const uint32_t *from = &out->t->cell[lane][column];
    (void)r;
    if (m->id.d != T_F16) {
        memcpy(plain, from, n * sizeof *plain);
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint16_t half = (uint16_t)from[i];
        float value;
        mma_decode(T_F16, &half, &value, 1);
        mma_special_halves(&value, 1);
        memcpy(&plain[i], &value, 4);
    }
    return true;
}

static bool store_run(const struct tc_mma *m, struct output *out, uint32_t r, uint32_t lane, uint32_t column, uint32_t n, uint32_t *plain)
{
    uint32_t *to = &out->t->cell[lane][column];
    if (is_disabled(m, r, lane))
        return true;
    memset(&out->t->written[lane][column], 1, n);
    if (!out->copy)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        float value;
        memcpy(&value, &plain[i], 4);
        to[i] = m->id.d == T_F16 ? mma_half_bits(value) : plain[i];
    }
    return true;
}

static bool any_disabled(const struct tc_mma *m)
{
    uint32_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= m->disabled[i];
    return any;
}

static bool open_output(const struct tc_mma *m, struct output *out, uint32_t r)
{
    out->t = tmem_of(tc_cta(m, r)->sm);
    out->copy = m->layout.pieces > 1 || m->layout.spread || m->id.d == T_F16 || any_disabled(m);
    out->at = out->copy ? out->cell : &out->t->cell[0][tmem_column(m->d)];
    out->stride = out->copy ? m->id.n : TMEM_COLUMNS;
    if (m->keep && !each_run(m, out, r, check_run))
        return false;
    if (m->keep && out->copy)
        each_run(m, out, r, load_run);
    return true;
}

/* D * 2^-scale_d, which f32 has exactly unless it is subnormal. */
static void scale_down(const struct tc_mma *m, struct output *out)
{
    uint32_t bits = (127 - m->scale_d) << 23;
    float factor;
    memcpy(&factor, &bits, 4);
    for (uint32_t row = 0; row < tc_rows(m); row++)
        for (uint32_t col = 0; col < m->id.n; col++)
            ((float *)out->at)[row * out->stride + col] *= factor;
}

/* ---------------------------------------------------------------- the product */

static void multiply(const struct tc_mma *m, struct output *out, const uint8_t *a, const uint8_t *b)
{
    const struct tc_idesc *id = &m->id;
    enum type at = tc_container(m, id->a), bt = tc_container(m, id->b);
    int rows = (int)tc_rows(m), n = (int)id->n, k = (int)id->k;
    if (id->d == T_S32) {
        int32_t *d = (int32_t *)out->at;
        mma_tile_s32(a, at, b, bt, m->keep ? d : NULL, d, out->stride, rows, n, k, id->saturate);
        return;
    }
    struct mma_how how = { FRACTION, k, id->d == T_F16 ? MMA_TO_F16 : MMA_TO_F32 };
    float *d = (float *)out->at;
    mma_tile_f32(a, at, b, bt, m->keep ? d : NULL, d, out->stride, rows, n, k, &how);
}

/* .ws: columns of B from the shift on, some of which count as zero. The mask has a part for each piece of D, made of runs:
 * `used` columns as they are, `zero` columns of zeros, in turn. */
static void mask_b(const struct tc_mma *m, uint8_t *b)
{
    uint32_t bytes = tc_row_bytes(m), part = m->id.n / m->layout.pieces;
    uint32_t zero = (uint32_t)(m->zeros >> 40 & 255) + 1, used = (uint32_t)(m->zeros >> 48 & 255) + 1;
    if (tc_shift(m))
        memmove(b, b + tc_shift(m) * bytes, (size_t)m->id.n * bytes);
    for (uint32_t n = 0; m->zeros >> 39 & 1 && n < m->id.n; n++) {
        uint32_t p = n / part, first = (uint32_t)(m->zeros >> (32 + p) & 1), skip = (uint32_t)(m->zeros >> 8 * p & 255);
        uint32_t at = (n % part + skip + (first ? used : 0)) % (used + zero);
        if (at >= used)
            memset(b + n * bytes, 0, bytes);
    }
}

/* .ashift: each row of A takes the place of the next; the last one's is lost, the first stays. */
static void shift_a(const struct tc_mma *m, uint8_t *a)
{
    memmove(a + TC_A_BYTES, a, (size_t)(tc_rows(m) - 1) * TC_A_BYTES);
}

/* A of CTA r, signs and zeros in their places; `to` has room for twice as much. */
static bool prepare_a(const struct tc_mma *m, uint32_t r, uint8_t *to)
{
    uint8_t stored[TC_MOST_M * TC_A_BYTES];
    uint8_t *at = m->form.sparse ? stored : to;
    if (!(m->form.a_in_tmem ? take_a(m, r, at) : gather(m, r, false, at)))
        return false;
    if (m->form.ashift)
        shift_a(m, at);
    if (m->id.negate_a)
        negate(tc_container(m, m->id.a), at, (size_t)tc_rows(m) * tc_a_bytes(m));
    return !m->form.sparse || tc_spread_a(m, r, stored, to);
}

static bool prepare_b(const struct tc_mma *m, uint8_t *b)
{
    uint32_t share = m->id.n / m->form.group;
    for (uint32_t r = 0; r < m->form.group; r++)
        if (!gather(m, r, true, b + (size_t)r * share * tc_row_bytes(m)))
            return false;
    if (m->zeros)
        mask_b(m, b);
    if (m->id.negate_b)
        negate(tc_container(m, m->id.b), b, (size_t)m->id.n * tc_row_bytes(m));
    return true;
}

bool tc_multiply(struct tc_op *op)
{
    const struct tc_mma *m = (const struct tc_mma *)op;
    _Alignas(64) uint8_t a[TC_MOST_M * TC_ROW_BYTES], b[(TC_MOST_N + TC_MOST_SHIFT) * TC_ROW_BYTES];
    static _Thread_local struct output out;
    if (!prepare_b(m, b))
        return false;
    for (uint32_t r = 0; r < m->form.group; r++) {
        if (!prepare_a(m, r, a) || !open_output(m, &out, r))
            return false;
        if (m->keep && m->scale_d)
            scale_down(m, &out);
        if (!m->form.scales)
            multiply(m, &out, a, b);
        else if (!tc_scaled_product(m, r, a, b, m->keep ? (float *)out.at : NULL, (float *)out.at, out.stride))
            return false;
        each_run(m, &out, r, store_run);
    }
    return true;
}
