/* fragments.h: which element of a matrix each lane of a warp holds, and where.
 *
 * Pure functions of a lane and an element number, written from the tables of the ISA's "Matrix Fragments for
 * mma…", "Matrix fragments for multiply-accumulate operation with sparse matrix A", "Block Scaling for mma.sync",
 * "ldmatrix", "stmatrix" and "movmatrix". Element i of a lane is counted over its registers from the lowest bit
 * up: with two elements to a register, element 3 is the high half of register 1.
 *
 * A lane is seen as (group, quad): group = lane / 4 is its row, quad = lane % 4 its place in the row.
 * Everything but mma.m8n8k4 on f16 has one scheme: a register holds `per` elements that are neighbours along k,
 * the four lanes of a row make 4 * per of them, and further registers go down (rows 8..15) first, then right.
 */
#ifndef Z_EMU_FRAGMENTS_H
#define Z_EMU_FRAGMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct place { int row, col; };

/* ---- mma.m16n8k* and mma.m8n8k* */

/* A, m x k: `per` elements in a register. m = 8 has one register, m = 16 pairs of them. */
static inline struct place fragment_a(int lane, int i, int m, int per)
{
    int reg = i / per, halves = m / 8;
    return (struct place){ .row = lane / 4 + 8 * (reg % halves),
                           .col = (reg / halves) * 4 * per + (lane % 4) * per + i % per };
}

/* B, k x n, n = 8: as A's rows, turned over. */
static inline struct place fragment_b(int lane, int i, int per)
{
    return (struct place){ .row = (i / per) * 4 * per + (lane % 4) * per + i % per, .col = lane / 4 };
}

/* C and D, m x 8: neighbours in pairs, then rows 8..15. */
static inline struct place fragment_c(int lane, int i)
{
    return (struct place){ .row = lane / 4 + 8 * (i / 2), .col = (lane % 4) * 2 + i % 2 };
}

/* ---- wmma: the ISA leaves its fragments open. They are here what chips from sm_80 on have (the loads that ptxas
 * makes of wmma.load show it): mma fragments side by side. One of A and B is cut into fragments of A's kind (`tall`
 * of them, 16 rows each), the other into fragments of B's kind (`flat`, 8 columns each); C is tall x flat fragments.
 * In m8n32k16 the roles are turned: B's columns are the rows, C is held transposed. f16 A and B have 8 registers
 * whatever the shape; those too many repeat the first. */

struct wmma_cut { int m, k, tall, flat; bool turned; };         /* m: rows of a tall fragment, 16 or 8 */
enum wmma_matrix { WMMA_A, WMMA_B, WMMA_C };

static inline struct place wmma_turn(const struct wmma_cut *c, struct place p)
{
    return c->turned ? (struct place){ p.col, p.row } : p;
}

/* Element i of a lane; `per` elements in a register (of C: 1 or 2, which changes nothing). */
static inline struct place wmma_fragment(const struct wmma_cut *c, enum wmma_matrix matrix, int lane, int i, int per)
{
    int each;
    struct place p;
    if (matrix == WMMA_C) {
        each = c->m / 4;
        p = fragment_c(lane, i % each);
        if (c->tall > 1)
            p.row += c->m * (i / each);
        else
            p.col += 8 * (i / each);
    } else if ((matrix == WMMA_A) != c->turned) {
        each = c->m * c->k / 32;
        p = fragment_a(lane, i % each, c->m, per);
        p.row += c->m * (i / each);
    } else {
        each = 8 * c->k / 32;
        p = fragment_b(lane, i % each, per);
        p.col += 8 * (i / each);
    }
    return wmma_turn(c, p);
}

/* ---- mma.m8n8k4 on f16: four multiplications at once, each by eight lanes */

static inline int fragment_884_which(int lane) { return lane % 16 / 4; }

static inline struct place fragment_884_a(int lane, int i, bool col_major)
{
    int high = lane < 16 ? 0 : 4;
    return col_major ? (struct place){ i % 4 + high, lane % 4 } : (struct place){ lane % 4 + high, i };
}

static inline struct place fragment_884_b(int lane, int i, bool col_major)
{
    int high = lane < 16 ? 0 : 4;
    return col_major ? (struct place){ i, lane % 4 + high } : (struct place){ lane % 4, i + high };
}

static inline struct place fragment_884_c(int lane, int i, bool f32)
{
    int high = lane < 16 ? 0 : 4;
    if (!f32)
        return (struct place){ lane % 4 + high, i };
    return (struct place){ (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1) };
}

/* ---- wgmma: 64 rows, 16 for each warp of the group, cut as mma's fragments; D goes on to the right */

static inline struct place wgmma_a(int warp, int lane, int i, int per)
{
    struct place p = fragment_a(lane, i, 16, per);
    p.row += 16 * warp;
    return p;
}

static inline struct place wgmma_d(int warp, int lane, int i)
{
    struct place p = fragment_c(lane, i % 4);
    p.row += 16 * warp;
    p.col += 8 * (i / 4);
    return p;
}

/* ---- sparse A: of every `chunk` neighbours along k half are stored, and two 2-bit numbers say which.
 * f16, bf16 and 8-bit types keep 2 of 4; 4-bit types 2 pairs of 8; tf32 1 of 2, which the two numbers address
 * as if it were two halves. So for all types: 4 bits of metadata a chunk. */

struct metadata_place { int lane, shift; };

/* Where the 4 bits for chunk `c` of row `row` are. `chunks`: in a row (k / chunk size). Few chunks share a
 * register between rows r and r + 8; many take one register a row, then a second pair of lanes. `selector` is
 * the instruction's operand f. The figures show it; that they read as written here follows from the order in
 * which public libraries store metadata, and is unproven on a chip. */
static inline struct metadata_place metadata_place(int row, int c, int chunks, int selector, bool wide)
{
    int group = row % 8, below = row / 8;
    if (wide)       /* 8-bit and 4-bit types: a register is one row's 8 chunks */
        return (struct metadata_place){ 4 * group + 2 * selector + below + 2 * (c / 8), 4 * (c % 8) };
    int lanes = chunks / 4;     /* 16-bit types and tf32: a register is 4 chunks of row r and 4 of row r + 8 */
    return (struct metadata_place){ 4 * group + lanes * selector + c / 4, 16 * below + 4 * (c % 4) };
}

/* ---- scales of mma with .block_scale: the lane that holds those of a row of A, of a column of B */

static inline int scale_a_lane(int row, int thread_id) { return 4 * (row % 8) + 2 * thread_id + row / 8; }
static inline int scale_b_lane(int col, int thread_id) { return 4 * col + thread_id; }

/* ---- ldmatrix, stmatrix, movmatrix: lane and byte of its register where a matrix element lies.
 * A row of 16 bytes is held by four lanes. */

struct byte_place { int lane, reg, byte; };

/* Element (row, col) of an 8x8 matrix of 16-bit elements: its low byte. */
static inline struct byte_place matrix_8x8(int row, int col, bool trans)
{
    int r = trans ? col : row, c = trans ? row : col;
    return (struct byte_place){ 4 * r + c / 2, 0, 2 * (c % 2) };
}

/* Element (row, col) of an 8x16 matrix of bytes. */
static inline struct byte_place matrix_8x16(int row, int col)
{
    return (struct byte_place){ 4 * row + col / 4, 0, col % 4 };
}

/* ldmatrix.m16n16.trans: stored row `row`, byte `col`. Two registers: columns 0..7 and 8..15 as stored. */
static inline struct byte_place matrix_16x16_trans(int row, int col)
{
    return (struct byte_place){ 4 * (col % 8) + row / 4, col / 8, row % 4 };
}

/* stmatrix.m16n8.trans: stored row `row` (0..7), byte `col` (0..15): a C fragment in bytes. */
static inline struct byte_place matrix_16x8_trans(int row, int col)
{
    return (struct byte_place){ 4 * (col % 8) + row / 2, 0, row % 2 + 2 * (col / 8) };
}

#endif
