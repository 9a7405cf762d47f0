/* tcgen05_sparse.c: a sparse A: half of its elements are stored, and metadata in tensor memory says which.
 *
 * All kinds have the same rule once it is said of pieces: of every four pieces, two are stored, and four bits of metadata give
 * their places, the first in the low two. A piece is an element of 16 bits, half an element of tf32 (which has its two halves
 * stored or none), an element of 8 bits, or a pair of 4 bits.
 * Where the metadata lies: kinds of 16 and 32 bits have 32 bits for a row, in one column, whose halves lie in two lanes; the
 * selector picks one of two neighbouring columns. Others have 64 bits for a row, in two columns of the row's own lane. The
 * ISA's figures show it; that M = 64 without .ws is spread out as D is follows from "Alignment restriction".
 * PTX ISA: "Sparse Matrices". */
#include "tcgen05_mma.h"
#include "mma.h"

#include <string.h>

static bool is_wide(const struct tc_mma *m) { return m->form.kind == TC_F16 || m->form.kind == TC_TF32; }

uint32_t tc_meta_columns(const struct tc_mma *m) { return is_wide(m) ? 1 : 2; }
uint32_t tc_meta_column(const struct tc_mma *m) { return tmem_column(m->meta) + (is_wide(m) ? m->id.selector : 0); }

/* The metadata of one row, its chunks of four pieces from the lowest bits on. */
static bool row_meta(const struct tc_mma *m, uint32_t r, uint32_t row, uint64_t *meta)
{
    const struct tmem *t = tmem_of(tc_cta(m, r)->sm);
    uint32_t column = tc_meta_column(m), base = tmem_lane(m->meta);
    *meta = 0;
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t lane = base + tc_row_lane(m->layout, row), at = column + half, bits;
        if (is_wide(m)) {
            lane = base + tc_row_lane(m->layout, row / 16 * 16) + row % 8 + 8 * half;
            at = column;
        }
        if (!t->written[lane][at])
            return tc_unwritten(m, "the sparsity metadata", "a word of tensor memory at", lane << 16 | at);
        bits = t->cell[lane][at];
        *meta |= is_wide(m) ? (uint64_t)(bits >> 16 * (row / 8 % 2) & 0xffff) << 16 * half : (uint64_t)bits << 32 * half;
    }
    return true;
}

static bool is_meaningful(const struct tc_mma *m, uint32_t code)
{
    return m->form.kind == TC_TF32 ? code == 0x4 || code == 0xe : 0x7350 >> code & 1;
}

bool tc_spread_a(const struct tc_mma *m, uint32_t r, const uint8_t *from, uint8_t *to)
{
    uint32_t piece = is_wide(m) ? 2 : 1;
    memset(to, 0, (size_t)tc_rows(m) * TC_ROW_BYTES);
    for (uint32_t row = 0; row < tc_rows(m); row++, from += TC_A_BYTES, to += TC_ROW_BYTES) {
        uint64_t meta;
        if (!row_meta(m, r, row, &meta))
            return false;
        for (uint32_t chunk = 0; chunk < TC_ROW_BYTES / (4 * piece); chunk++) {
            uint32_t code = (uint32_t)(meta >> 4 * chunk & 15);
            if (!is_meaningful(m, code))
                return fault(m->op.user.w, m->op.user.in, m->op.user.lane, FAULT_BAD_OPERAND, "the sparsity metadata of row %u has 0x%x for "
                             "its chunk %u, which means nothing", row, code, chunk), false;
            memcpy(to + (4 * chunk + (code & 3)) * piece, from + 2 * chunk * piece, piece);
            memcpy(to + (4 * chunk + (code >> 2)) * piece, from + (2 * chunk + 1) * piece, piece);
        }
    }
    return true;
}
