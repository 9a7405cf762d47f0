/* mma_tile.c: tiles of any size, for the units that multiply out of shared and tensor memory.
 *
 * A tile is cut into blocks of LANES columns and ROWS rows; a block's B is turned so that columns lie side by side. Turning
 * costs more than unpacking, so a tile with many rows and few columns is faster than the other way round.
 */
#include "mma.h"

#include <string.h>

enum { ROWS = 256, STEP_MAX = 64, STEPS_MAX = 4 };

/* A row of k elements starts at a + row * bytes. */
struct operand_rows { const uint8_t *at; enum type type; int k; size_t bytes; };

static struct operand_rows rows_of(const void *at, enum type t, int k)
{
    return (struct operand_rows){ at, t, k, (size_t)k * mma_bits(t) / 8 };
}

static int step_at(int k0, int k) { return k - k0 < STEP_MAX ? k - k0 : STEP_MAX; }
static int padded(int k) { return (k + 7) / 8 * 8; }

/* `step` elements from k0 on of rows row…row + n - 1, to rows of padded(step) floats. */
static void unpack_rows(const struct operand_rows *o, int row, int n, int k0, int step, float *to)
{
    int wide = padded(step);
    const uint8_t *from = o->at + (size_t)row * o->bytes + (size_t)k0 * mma_bits(o->type) / 8;
    if (wide == step && o->k == step) {
        mma_decode(o->type, from, to, n * step);
        return;
    }
    memset(to, 0, (size_t)(n * wide) * sizeof *to);
    for (int r = 0; r < n; r++)
        mma_decode(o->type, from + (size_t)r * o->bytes, to + r * wide, step);
}

/* The same for n <= LANES rows of B, turned. Lanes that are not there are zero. */
static void unpack_lanes(const struct operand_rows *o, int row, int n, int k0, int step, float (*to)[LANES])
{
    float flat[LANES * STEP_MAX];
    int wide = padded(step);
    memset(to, 0, (size_t)wide * sizeof *to);
    unpack_rows(o, row, n, k0, step, flat);
    for (int l = 0; l < n; l++)
        for (int i = 0; i < wide; i++)
            to[i][l] = flat[l * wide + i];
}

static void copy_lanes(float *to, size_t to_stride, const float *from, size_t from_stride, int rows, int lanes)
{
    for (int r = 0; r < rows; r++)
        memcpy(to + (size_t)r * to_stride, from + (size_t)r * from_stride, (size_t)lanes * sizeof *to);
}

/* A block with fewer than LANES columns takes the way through one that has them all; c and d point at its corner. */
static void narrow_block(struct mma_block *block, int lanes, const float *c, float *d, size_t stride)
{
    float narrow[ROWS * LANES];
    memset(narrow, 0, (size_t)block->rows * LANES * sizeof *narrow);
    if (c)
        copy_lanes(narrow, LANES, c, stride, block->rows, lanes);
    block->c = block->d = narrow;
    block->stride = LANES;
    mma_block(block);
    copy_lanes(d, stride, narrow, LANES, block->rows, lanes);
}

/* One step of k for block->rows rows, all columns. */
static void step_rows(const struct mma_block *rows, const struct operand_rows *b, int n, int k0, const float *c, float *d, size_t stride)
{
    float y[STEP_MAX][LANES];
    struct mma_block block = *rows;
    block.y = y;
    for (int n0 = 0; n0 < n; n0 += LANES) {
        int lanes = n - n0 < LANES ? n - n0 : LANES;
        unpack_lanes(b, n0, lanes, k0, block.how->step, y);
        if (lanes < LANES) {
            narrow_block(&block, lanes, c ? c + n0 : NULL, d + n0, stride);
            continue;
        }
        block.c = c ? c + n0 : NULL;
        block.d = d + n0;
        block.stride = stride;
        mma_block(&block);
    }
}

void mma_tile_f32(const void *a, enum type atype, const void *b, enum type btype, const float *c, float *d,
                  size_t stride, int m, int n, int k, const struct mma_how *how)
{
    struct operand_rows arows = rows_of(a, atype, k), brows = rows_of(b, btype, k);
    float x[ROWS * STEP_MAX];
    struct mma_range range;
    struct mma_block block = { .k = padded(how->step), .x = x, .xrange = &range, .how = how,
                               .xf = mma_number(atype), .yf = mma_number(btype) };
    for (int m0 = 0; m0 < m; m0 += ROWS)
        for (int k0 = 0; k0 < k; k0 += how->step) {
            const float *from = k0 ? d : c;
            size_t corner = (size_t)m0 * stride;
            block.rows = m - m0 < ROWS ? m - m0 : ROWS;
            unpack_rows(&arows, m0, block.rows, k0, how->step, x);
            range = mma_range_of(x, block.rows * block.k);
            step_rows(&block, &brows, n, k0, from ? from + corner : NULL, d + corner, stride);
        }
}

int32_t mma_add_s32(int32_t c, int64_t sum, bool saturate)
{
    int64_t v = c + sum;
    if (saturate)
        return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
    return (int32_t)(uint32_t)(uint64_t)v;
}

/* Sums of STEP_MAX products of two 8-bit numbers stay below 2^24, so f32 has them exactly. */
static void add_integer_rows(const float *x, const float (*y)[LANES], int k, int64_t (*total)[LANES])
{
    static const float zero[4][LANES];
    float sum[4][LANES];
    mma_four_rows(x, y, k, zero, sum);
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < LANES; l++)
            total[r][l] += (int32_t)sum[r][l];
}

void mma_tile_s32(const void *a, enum type atype, const void *b, enum type btype, const int32_t *c, int32_t *d,
                  size_t stride, int m, int n, int k, bool saturate)
{
    struct operand_rows arows = rows_of(a, atype, k), brows = rows_of(b, btype, k);
    float x[4 * STEP_MAX], y[STEPS_MAX][STEP_MAX][LANES];
    for (int n0 = 0; n0 < n; n0 += LANES) {
        int lanes = n - n0 < LANES ? n - n0 : LANES;
        for (int k0 = 0; k0 < k; k0 += STEP_MAX)
            unpack_lanes(&brows, n0, lanes, k0, step_at(k0, k), y[k0 / STEP_MAX]);
        for (int m0 = 0; m0 < m; m0 += 4) {
            int64_t total[4][LANES] = { { 0 } };
            int rows = m - m0 < 4 ? m - m0 : 4;
            for (int k0 = 0; k0 < k; k0 += STEP_MAX) {
                memset(x, 0, sizeof x);
                unpack_rows(&arows, m0, rows, k0, step_at(k0, k), x);
                add_integer_rows(x, y[k0 / STEP_MAX], padded(step_at(k0, k)), total);
            }
            for (int r = 0; r < rows; r++)
                for (int l = 0; l < lanes; l++) {
                    size_t at = (size_t)(m0 + r) * stride + (size_t)(n0 + l);
                    d[at] = mma_add_s32(c ? c[at] : 0, total[r][l], saturate);
                }
        }
    }
}
