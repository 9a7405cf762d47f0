/* wgmma_sparse.c: wgmma.mma_async.sp, where half of A is known to be zero and is not stored.
 *
 * Modelled: all shapes and types. A is spread out to its full width, 16 rows at a time; what is not stored takes no part in
 * the sum, not even as a zero. Metadata is read when the multiplication is issued; what the ISA calls invalid is a fault.
 * PTX ISA: "Sparse matrix storage", "Matrix fragments for warpgroup-level multiply-accumulate operation with sparse matrix A". */
#include "fragments.h"
#include "mma.h"
#include "wgmma.h"

#include <string.h>

enum { WARP_ROWS = 16, MOST_K = WG_SPARSE_K_BYTES };

static int k_of(const struct instr *in) { return WG_SPARSE_K_BYTES * 8 / (int)mma_bits(in->type[1]); }

/* The four bits for one chunk of a row of the warp. */
static uint32_t bits_of(const struct instr *in, const struct mma_chunk *c, const uint32_t *metadata, int row, int chunk, int *lane)
{
    struct metadata_place p = metadata_place(row, chunk, k_of(in) / c->size, (int)wg_selector(in), c->wide);
    *lane = p.lane;
    return metadata[p.lane] >> p.shift & 15;
}

bool wg_check_metadata(struct warp *w, const struct instr *in, const uint32_t *metadata)
{
    struct mma_chunk c = mma_chunk_of(in->type[1]);
    uint32_t choices = 4 / (uint32_t)mma_metadata_lanes(&c, k_of(in));
    if (wg_selector(in) >= choices) {
        fault(w, in, -1, FAULT_BAD_OPERAND, "the sparsity selector is %u, and must be below %u", wg_selector(in), choices);
        return false;
    }
    for (int row = 0; row < WARP_ROWS; row++)
        for (int chunk = 0; chunk < k_of(in) / c.size; chunk++) {
            int lane;
            uint32_t bits = bits_of(in, &c, metadata, row, chunk, &lane);
            if (mma_metadata_valid(bits, &c, false))
                continue;
            fault(w, in, lane, FAULT_BAD_OPERAND, "metadata 0x%x for row %d, columns %d to %d is not valid", bits,
                  row + WARP_ROWS * (int)(w->id % WG_WARPS), chunk * c.size, chunk * c.size + c.size - 1);
            return false;
        }
    return true;
}

/* One warp's rows of A, side by side: what is stored goes to its column. */
struct spread { float y[MOST_K][LANES]; uint8_t absent[MOST_K][LANES]; };

static void spread_rows(const struct multiplication *m, int rank, const uint8_t *a, struct spread *to)
{
    const struct instr *in = m->in;
    struct mma_chunk c = mma_chunk_of(in->type[1]);
    int stored = k_of(in) / 2, each = c.size / 2, lane;
    memset(to->y, 0, sizeof to->y);
    memset(to->absent, 1, sizeof to->absent);
    for (int row = 0; row < WARP_ROWS; row++) {
        float element[MOST_K / 2];
        mma_decode(in->type[1], a + (rank * WARP_ROWS + row) * WG_K_BYTES, element, stored);
        for (int i = 0; i < stored; i++) {
            uint32_t bits = bits_of(in, &c, m->metadata[rank], row, i / each, &lane);
            int column = i / each * c.size + mma_chunk_column(bits, &c, i % each);
            to->y[column][row] = element[i];
            to->absent[column][row] = 0;
        }
    }
}

/* Sums of 64 products of two 8-bit numbers: f32 has them exactly. */
static void add_integers(struct multiplication *m, const float *x, const struct spread *a, int32_t *d)
{
    static const float zero[4][LANES];
    float sum[4][LANES];
    for (uint32_t col = 0; col < m->acc->n; col += 4) {
        mma_four_rows(x + col * MOST_K, a->y, MOST_K, zero, sum);
        for (int c = 0; c < 4; c++)
            for (int row = 0; row < LANES; row++) {
                int32_t *at = &d[(col + (uint32_t)c) * WG_M + (uint32_t)row];
                *at = mma_add_s32(m->keep ? *at : 0, (int32_t)sum[c][row], m->in->flags & F_SATFINITE);
            }
    }
}

static void add_floats(struct multiplication *m, const float *x, const struct spread *a, float *d)
{
    struct mma_how how = wg_how(m->in);
    mma_block(&(struct mma_block){ .k = k_of(m->in), .rows = (int)m->acc->n, .x = x, .y = a->y, .c = m->keep ? d : NULL, .d = d,
                                   .stride = WG_M, .xf = mma_number(m->in->type[2]), .yf = mma_number(m->in->type[1]),
                                   .how = &how, .absent = a->absent });
}

void wg_multiply_sparse(struct multiplication *m, const uint8_t *a, const uint8_t *b)
{
    float x[WG_N * MOST_K];
    struct spread rows;
    mma_decode(m->in->type[2], b, x, (int)m->acc->n * k_of(m->in));
    for (int rank = 0; rank < WG_WARPS; rank++) {
        spread_rows(m, rank, a, &rows);
        if (m->in->type[0] == T_S32)
            add_integers(m, x, &rows, m->acc->s + rank * WARP_ROWS);
        else
            add_floats(m, x, &rows, m->acc->f + rank * WARP_ROWS);
    }
}
