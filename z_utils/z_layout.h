/* z_layout.h: where an element lies. Pure functions of plain numbers, for host C and for device code alike.
 *
 * In this file: 1 counting tiles   2 the XOR swizzles of shared memory   3 fragments of mma.sync
 *               4 addresses for ldmatrix   5 wgmma: matrix descriptors, the accumulator
 *
 * tests/unit/test_layout.c checks each of them against tables written out by hand.
 */
#ifndef Z_LAYOUT_H
#define Z_LAYOUT_H

#include <stdint.h>

#ifdef __CUDACC__
#define LAYOUT_FN static inline __host__ __device__
#else
#define LAYOUT_FN static inline
#endif

/* ------------------------------------------------------------------ 1 counting tiles */

/* Tiles of `size` that cover `count` elements, the last one perhaps in part. For count >= 1; cannot overflow. */
LAYOUT_FN int tiles_to_cover(int count, int size) { return (count - 1) / size + 1; }

/* ------------------------------------------------------------------ 2 the XOR swizzles of shared memory
 *
 * Shared memory has 32 banks of 4 bytes, so a 128-byte row covers every bank once, and the 16-byte chunks of
 * one column all lie in the same four banks: reading a column of 8 chunks, as ldmatrix does, takes eight turns
 * instead of one. A swizzle renames the chunks within each row by the row's number, so that a column visits all
 * banks:
 *
 *            chunk 0  1  2  3  4  5  6  7      each row of 128 bytes holds 8 chunks of 16;
 *     row 0:       0  1  2  3  4  5  6  7      the table says where chunk c of row r is kept:
 *     row 1:       1  0  3  2  5  4  7  6      at c ^ r. Reading down any column of the table
 *     row 2:       2  3  0  1  6  7  4  5      gives eight different places.
 *     row 3:       3  2  1  0  7  6  5  4
 *       ...
 *
 * The functions map byte address to byte address. They are what the copy engine and the tensor cores apply to
 * the address itself, hence the tile must start at a multiple of the period, else offset and address give
 * different answers. Each is its own inverse. Rows are as wide as the name says. PTX ISA: "Tensor swizzling
 * modes".
 */

/* Rows of 128 bytes, period 1024: address bits 6:4 ^= bits 9:7. */
LAYOUT_FN uint32_t swizzle_128b(uint32_t address) { return address ^ ((address >> 3) & 0x70); }

/* The same by row and chunk, for a tile of 128-byte rows whose chunks we place ourselves: byte offset from the
 * tile's start. Equal to swizzle_128b(row * 128 + chunk * 16), but the compiler sees better what is constant. */
LAYOUT_FN uint32_t chunk_128b(uint32_t row, uint32_t chunk) { return row * 128 + (chunk ^ row % 8) * 16; }

/* Rows of 64 bytes, period 512: bits 5:4 ^= bits 8:7. Two rows share a line of all banks, hence a number per
 * two rows. */
LAYOUT_FN uint32_t swizzle_64b(uint32_t address) { return address ^ ((address >> 3) & 0x30); }

/* Rows of 32 bytes, period 256: bit 4 ^= bit 7. Four rows share a line. */
LAYOUT_FN uint32_t swizzle_32b(uint32_t address) { return address ^ ((address >> 3) & 0x10); }

/* ------------------------------------------------------------------ 3 fragments of mma.sync
 *
 * mma.sync.m16n8k16 multiplies A (16x16) by B (16x8) into C (16x8); the 32 lanes of a warp hold them together.
 * Element i of a lane's fragment is at (row, col) of the matrix; 16-bit elements sit two to a register, i even
 * in the low half. Within each 8x8 block, lane l holds columns 2*(l % 4) and +1 of row l / 4:
 *
 *               col 0   1   2   3   4   5   6   7
 *     row 0:    lane 0  0   1   1   2   2   3   3
 *     row 1:         4  4   5   5   6   6   7   7
 *       ...
 *     row 7:        28 28  29  29  30  30  31  31
 *
 * PTX ISA: "Matrix Fragments for mma.m16n8k16 with floating point type".
 */

/* A, i = 0..7: blocks in the order top left, bottom left, top right, bottom right. */
LAYOUT_FN int mma_m16n8k16_a_row(int lane, int i) { return lane / 4 + 8 * (i / 2 % 2); }
LAYOUT_FN int mma_m16n8k16_a_col(int lane, int i) { return lane % 4 * 2 + i % 2 + 8 * (i / 4); }

/* B, i = 0..3: two blocks along k. The block is held transposed: a lane's pair runs down a column. */
LAYOUT_FN int mma_m16n8k16_b_row(int lane, int i) { return lane % 4 * 2 + i % 2 + 8 * (i / 2); }
LAYOUT_FN int mma_m16n8k16_b_col(int lane, int i) { (void)i; return lane / 4; }

/* C and D, i = 0..3, 32 bits each: two blocks, top and bottom. */
LAYOUT_FN int mma_m16n8k16_c_row(int lane, int i) { return lane / 4 + 8 * (i / 2); }
LAYOUT_FN int mma_m16n8k16_c_col(int lane, int i) { return lane % 4 * 2 + i % 2; }

/* ------------------------------------------------------------------ 4 addresses for ldmatrix
 *
 * ldmatrix.x4 reads four 8x8 blocks; lane l gives the address of row l % 8 of block l / 8, and receives from
 * block j, in register j, the two elements that the picture above shows. Which blocks, in which order, is up to
 * the addresses. Rows and columns are counted in elements of 16 bits from the corner of the 16x16 patch.
 */

/* A patch of A, 16 rows (m) by 16 columns (k): the four registers are the A fragment of one mma.m16n8k16. */
LAYOUT_FN int ldmatrix_a_row(int lane) { return lane % 16; }
LAYOUT_FN int ldmatrix_a_col(int lane) { return lane / 16 * 8; }

/* A patch of B kept as rows of n, 16 rows (n) by 16 columns (k): registers 0 and 1 are the B fragment of
 * columns 0-7 of the product, registers 2 and 3 that of columns 8-15. No .trans: rows of n are columns of B
 * already. */
LAYOUT_FN int ldmatrix_b_row(int lane) { return lane % 8 + lane / 16 * 8; }
LAYOUT_FN int ldmatrix_b_col(int lane) { return lane / 8 % 2 * 8; }

/* ------------------------------------------------------------------ 5 wgmma: matrix descriptors, the accumulator
 *
 * A descriptor tells wgmma where an operand lies in shared memory. It lies in "core matrices" of 8 rows of 16
 * bytes; the descriptor has the address of the first and the distances to the next ones. In the K-major layout
 * with the 128-byte swizzle, which is what the TMA leaves of rows of 64 halves, 8 rows of 128 bytes follow each
 * other, and the next 8 rows come 1024 bytes later:
 *
 *     bits 13:0   start address / 16
 *     bits 29:16  leading byte offset / 16: from one core matrix to the next along k where that is not fixed by
 *                 the swizzle; with a swizzle, K-major, it is not used
 *     bits 45:32  stride byte offset / 16: from 8 rows to the next 8
 *     bits 51:49  base offset: 0 when the tile starts at a multiple of the swizzle's period
 *     bits 63:62  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
 *
 * To go on along k within the swizzle's width, add the bytes to the start address: the XOR is applied to the
 * address that comes out. PTX ISA: "Matrix Descriptor Format" of wgmma.
 */

enum wgmma_swizzle { WGMMA_SWIZZLE_NONE = 0, WGMMA_SWIZZLE_128B = 1, WGMMA_SWIZZLE_64B = 2, WGMMA_SWIZZLE_32B = 3 };

/* start: an address in shared memory, a multiple of 16; the offsets are in bytes, multiples of 16 below 2^18. */
LAYOUT_FN uint64_t wgmma_descriptor(uint32_t start, uint32_t leading, uint32_t stride, enum wgmma_swizzle swizzle)
{
    return (uint64_t)(start >> 4 & 0x3fff) | (uint64_t)(leading >> 4 & 0x3fff) << 16 |
           (uint64_t)(stride >> 4 & 0x3fff) << 32 | (uint64_t)swizzle << 62;
}

/* Rows of 128 bytes, K-major, swizzled, the tile at a multiple of 1024 bytes. */
LAYOUT_FN uint64_t wgmma_descriptor_128b(uint32_t start)
{
    return wgmma_descriptor(start, 0, 8 * 128, WGMMA_SWIZZLE_128B);
}

/* Where element i of a thread's accumulators lies in D (64 x N): thread 0..127 of the warpgroup, i = 0..N/2-1. A warp
 * holds 16 rows, each 8 columns of them as mma.sync does. PTX ISA: "Register Fragments and Shared Memory Matrix
 * Layouts" of wgmma, "Matrix fragment D". */
LAYOUT_FN int wgmma_d_row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2); }
LAYOUT_FN int wgmma_d_col(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

#endif
