/* z_layout.h: where an element lies. Pure functions of plain numbers, for host C and for device code alike.
 *
 * In this file: 1 counting tiles   2 the XOR swizzles of shared memory   3 fragments of mma.sync
 *               4 addresses for ldmatrix   5 wgmma: matrix descriptors, the accumulator
 *               6 tcgen05: matrix and instruction descriptors   7 tensor memory: accumulators, loads, scales
 *
 * tests/unit/test_layout.c checks each of them against tables written out by hand.
 */
#ifndef Z_LAYOUT_H
#define Z_LAYOUT_H

#include <stdint.h>

#ifdef __CUDACC__
#define LAYOUT_FN static inline constexpr __host__ __device__
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

/* ------------------------------------------------------------------ 6 tcgen05: matrix and instruction descriptors
 *
 * The matrix descriptor is wgmma's with other bits at the top:
 *
 *     bits 13:0   start address / 16
 *     bits 29:16  leading byte offset / 16        bits 45:32  stride byte offset / 16
 *     bits 48:46  always 1
 *     bits 51:49  base offset: 0 when the tile starts at a multiple of the swizzle's period
 *     bit  52     leading offset is an absolute address (sm_103a alone)
 *     bits 63:61  swizzle, below
 *
 * PTX ISA: "Shared memory descriptor" of tcgen05.
 */

enum tcgen05_swizzle {
    TCGEN05_SWIZZLE_NONE = 0,
    TCGEN05_SWIZZLE_128B_ATOM_32B = 1,  /* chunks of 32 bytes change places instead of 16; tf32, transposed, alone */
    TCGEN05_SWIZZLE_128B = 2,
    TCGEN05_SWIZZLE_64B = 4,
    TCGEN05_SWIZZLE_32B = 6
};

/* As wgmma_descriptor. */
LAYOUT_FN uint64_t tcgen05_descriptor(uint32_t start, uint32_t leading, uint32_t stride, enum tcgen05_swizzle swizzle)
{
    return (uint64_t)(start >> 4 & 0x3fff) | (uint64_t)(leading >> 4 & 0x3fff) << 16 |
           (uint64_t)(stride >> 4 & 0x3fff) << 32 | (uint64_t)1 << 46 | (uint64_t)swizzle << 61;
}

/* Rows of 128 bytes, K-major, swizzled, the tile at a multiple of 1024 bytes. */
LAYOUT_FN uint64_t tcgen05_descriptor_128b(uint32_t start)
{
    return tcgen05_descriptor(start, 0, 8 * 128, TCGEN05_SWIZZLE_128B);
}

/* The instruction descriptor: what is multiplied. A builder gives 0, which is no valid descriptor, when a field is
 * out of range or the tensor core does not do the combination; where all is constant, static_assert that it is not
 * 0. Names of the types are per kind, since the same number means another type in another kind. PTX ISA:
 * "Instruction descriptor", "Matrix Shape". */

enum tcgen05_kind { TCGEN05_F16, TCGEN05_TF32, TCGEN05_F8F6F4, TCGEN05_I8 };
enum tcgen05_type {
    TCGEN05_A_F16 = 0, TCGEN05_A_BF16 = 1,                                      /* kind f16 */
    TCGEN05_A_TF32 = 2,                                                         /* kind tf32 */
    TCGEN05_A_E4M3 = 0, TCGEN05_A_E5M2 = 1, TCGEN05_A_E2M3 = 3, TCGEN05_A_E3M2 = 4, TCGEN05_A_E2M1 = 5,    /* f8f6f4 */
    TCGEN05_A_U8 = 0, TCGEN05_A_S8 = 1,                                         /* kind i8 */
    TCGEN05_D_F16 = 0, TCGEN05_D_F32 = 1, TCGEN05_D_S32 = 2
};

/* What an initialiser does not name is 0: C says so of itself, C++ compilers warn unless told. */
#ifdef __cplusplus
#define UNLESS_NAMED_0 = 0
#else
#define UNLESS_NAMED_0
#endif

struct tcgen05_instruction {
    enum tcgen05_kind kind;
    int cta_group;                  /* 1, or 2 for a pair */
    int m, n;                       /* of D, over both CTAs of a pair */
    int a_type, b_type, d_type;
    int negate_a UNLESS_NAMED_0, negate_b UNLESS_NAMED_0;       /* 1: the operand's sign is turned; not for i8 */
    int a_mn_major UNLESS_NAMED_0, b_mn_major UNLESS_NAMED_0;   /* 1: memory runs along M, N and not along K */
    int sparse UNLESS_NAMED_0, selector UNLESS_NAMED_0;         /* A is half zeros; which metadata */
    int saturate UNLESS_NAMED_0;    /* i8: D stays within int32 instead of wrapping */
    int ws UNLESS_NAMED_0;          /* for tcgen05.mma.ws … */
    int ws_max_shift UNLESS_NAMED_0;        /* … 0, 1, 2, 3: no shift, up to 8, 16, 32 columns */
};

LAYOUT_FN int tcgen05_shape_valid(struct tcgen05_instruction i)
{
    if (i.ws)
        return i.cta_group == 1 && (i.m == 32 || i.m == 64 || i.m == 128) &&
               (i.n == 64 || i.n == 128 || (i.n == 256 && !i.sparse));
    const int pair = i.cta_group == 2;
    const int step = i.kind == TCGEN05_I8 && (pair || i.n > 32) ? 16 << pair : 8 << pair;
    return (pair || i.cta_group == 1) && (i.m == 64 << pair || i.m == 128 << pair) && i.n >= step && i.n <= 256 &&
           i.n % step == 0;
}

LAYOUT_FN int tcgen05_f8f6f4_type(int type) { return type >= 0 && type <= 5 && type != 2; }

LAYOUT_FN int tcgen05_types_valid(struct tcgen05_instruction i)
{
    switch (i.kind) {
    case TCGEN05_F16:
        return (i.a_type | i.b_type) >> 1 == 0 &&
               (i.d_type == TCGEN05_D_F32 || (i.d_type == TCGEN05_D_F16 && !i.a_type && !i.b_type));
    case TCGEN05_TF32:
        return i.a_type == TCGEN05_A_TF32 && i.b_type == TCGEN05_A_TF32 && i.d_type == TCGEN05_D_F32;
    case TCGEN05_F8F6F4:
        return tcgen05_f8f6f4_type(i.a_type) && tcgen05_f8f6f4_type(i.b_type) &&
               (i.d_type == TCGEN05_D_F32 || i.d_type == TCGEN05_D_F16);
    default:
        return (i.a_type | i.b_type) >> 1 == 0 && i.d_type == TCGEN05_D_S32 && !i.negate_a && !i.negate_b;
    }
}

LAYOUT_FN uint32_t tcgen05_instruction_descriptor(struct tcgen05_instruction i)
{
    const int flags = i.negate_a | i.negate_b | i.a_mn_major | i.b_mn_major | i.sparse | i.saturate;
    if (!tcgen05_shape_valid(i) || !tcgen05_types_valid(i) || flags >> 1 || i.selector >> 2 || i.ws_max_shift >> 2 ||
        (i.selector && !i.sparse) || (i.saturate && i.kind != TCGEN05_I8) || (i.ws_max_shift && !i.ws))
        return 0;
    return (uint32_t)i.selector | (uint32_t)i.sparse << 2 | (uint32_t)i.saturate << 3 | (uint32_t)i.d_type << 4 |
           (uint32_t)i.a_type << 7 | (uint32_t)i.b_type << 10 | (uint32_t)i.negate_a << 13 |
           (uint32_t)i.negate_b << 14 | (uint32_t)i.a_mn_major << 15 | (uint32_t)i.b_mn_major << 16 |
           (uint32_t)(i.n / 8) << 17 | (uint32_t)(i.m / 16) << 24 | (uint32_t)i.ws_max_shift << 30;
}

/* The same with block scales. */
enum tcgen05_scaled_kind { TCGEN05_MXF8F6F4, TCGEN05_MXF4, TCGEN05_MXF4NVF4 };
enum tcgen05_scale_type { TCGEN05_SCALE_UE4M3 = 0, TCGEN05_SCALE_UE8M0 = 1 };
enum { TCGEN05_MX_E2M1 = 1 };       /* the number of e2m1 in kinds mxf4 and mxf4nvf4 */

struct tcgen05_scaled_instruction {
    enum tcgen05_scaled_kind kind;
    int cta_group, m, n;
    int a_type, b_type;             /* mxf8f6f4: as in f8f6f4; else TCGEN05_MX_E2M1 */
    enum tcgen05_scale_type scale_type;
    int a_scale_id UNLESS_NAMED_0, b_scale_id UNLESS_NAMED_0;   /* which byte of the column has the first factor; four
                                                                   bits: 0 or 2 */
    int negate_a UNLESS_NAMED_0, negate_b UNLESS_NAMED_0;
    int a_mn_major UNLESS_NAMED_0, b_mn_major UNLESS_NAMED_0;
    int sparse UNLESS_NAMED_0;
    int k96 UNLESS_NAMED_0;         /* 1: K is 96 and not 64; four bits, dense, .block16 or .block32, sm_103a. Factors for 32 of
                                       K begin at any byte, those for 16 at 0 or 2 */
};

/* K = 96: no M of 128 for a pair, N in steps of 16. */
LAYOUT_FN int tcgen05_k96_valid(struct tcgen05_scaled_instruction i)
{
    return i.kind != TCGEN05_MXF8F6F4 && !i.sparse && i.m == 128 * i.cta_group && i.n % 16 == 0;
}

LAYOUT_FN uint32_t tcgen05_scaled_instruction_descriptor(struct tcgen05_scaled_instruction i)
{
    const int pair = i.cta_group == 2, four_bits = i.kind != TCGEN05_MXF8F6F4;
    const int step = 8 << pair, flags = i.negate_a | i.negate_b | i.a_mn_major | i.b_mn_major | i.sparse | i.k96;
    const int ids = i.a_scale_id | i.b_scale_id, even_ids = four_bits && !(i.k96 && i.scale_type == TCGEN05_SCALE_UE8M0);
    const int shape = (pair || i.cta_group == 1) && (i.m == 128 || (pair && i.m == 256)) && i.n >= step && i.n <= 256 &&
                      i.n % step == 0 && !(pair && i.sparse && i.m != 256);
    const int types = four_bits ? i.a_type == TCGEN05_MX_E2M1 && i.b_type == TCGEN05_MX_E2M1
                                : tcgen05_f8f6f4_type(i.a_type) && tcgen05_f8f6f4_type(i.b_type);
    const int scales = i.scale_type == TCGEN05_SCALE_UE8M0 ||
                       (i.scale_type == TCGEN05_SCALE_UE4M3 && i.kind == TCGEN05_MXF4NVF4);
    const int k_major = !i.a_mn_major && !i.b_mn_major;
    if (!shape || !types || !scales || flags >> 1 || ids >> 2 || (even_ids && ids & 1) || (four_bits && !k_major) ||
        (i.k96 && !tcgen05_k96_valid(i)))
        return 0;
    return (uint32_t)i.sparse << 2 | (uint32_t)i.b_scale_id << 4 | (uint32_t)i.a_type << 7 | (uint32_t)i.b_type << 10 |
           (uint32_t)i.negate_a << 13 | (uint32_t)i.negate_b << 14 | (uint32_t)i.a_mn_major << 15 |
           (uint32_t)i.b_mn_major << 16 | (uint32_t)(i.n / 8) << 17 | (uint32_t)i.scale_type << 23 |
           (uint32_t)(i.m / 128) << 27 | (uint32_t)i.a_scale_id << 29 | (uint32_t)i.k96 << 31;
}

/* ------------------------------------------------------------------ 7 tensor memory: accumulators, loads, scales
 *
 * Where element (m, n) of D lies, by the letters that the ISA gives the layouts. cta is its rank in the pair, lane
 * and col count from D's address.
 *
 *     A   pair, M = 256           rows 0-127 in the first CTA, 128-255 in the second
 *     B   pair, M = 128           64 rows in each; the upper half of N sits in lanes 64-127
 *     C   pair, M = 128, sparse   64 rows in each, spread as in F
 *     D   one CTA, M = 128        row m is lane m
 *     E   .ws, M = 64             the upper half of N sits in lanes 64-127
 *     F   one CTA, M = 64         rows 16 i to 16 i + 15 in lanes 32 i to 32 i + 15
 *     G   .ws, M = 32             each quarter of N sits in a quarter of the lanes
 *
 * PTX ISA: "Data Path Layout".
 */

enum tmem_layout { TMEM_A, TMEM_B, TMEM_C, TMEM_D, TMEM_E, TMEM_F, TMEM_G };
struct tmem_place { int cta, lane, col; };

/* The layout of D for an instruction; .ws with M = 128 is as D. */
LAYOUT_FN enum tmem_layout tmem_layout_of(int m, int cta_group, int sparse, int ws)
{
    if (cta_group == 2)
        return m == 256 ? TMEM_A : sparse ? TMEM_C : TMEM_B;
    if (ws)
        return m == 128 ? TMEM_D : m == 64 ? TMEM_E : TMEM_G;
    return m == 128 ? TMEM_D : TMEM_F;
}

/* size_n: N of the instruction. */
LAYOUT_FN struct tmem_place tmem_place_of(enum tmem_layout layout, int m, int n, int size_n)
{
    const int row = layout == TMEM_A ? m % 128 : m % 64;        /* within a CTA of a pair */
    struct tmem_place place = { 0, m, n };
    switch (layout) {
    case TMEM_A: place.cta = m / 128; place.lane = row; break;
    case TMEM_B: place.cta = m / 64; place.lane = row + n / (size_n / 2) * 64; place.col = n % (size_n / 2); break;
    case TMEM_C: place.cta = m / 64; place.lane = row / 16 * 32 + row % 16; break;
    case TMEM_D: break;
    case TMEM_E: place.lane = m + n / (size_n / 2) * 64; place.col = n % (size_n / 2); break;
    case TMEM_F: place.lane = m / 16 * 32 + m % 16; break;
    case TMEM_G: place.lane = m + n / (size_n / 4) * 32; place.col = n % (size_n / 4); break;
    }
    return place;
}

/* The address of a cell. */
LAYOUT_FN uint32_t tmem_address(int lane, int col) { return (uint32_t)lane << 16 | (uint32_t)col; }

/* tcgen05.ld and .st: register r of the warp's lane `lane` is the cell tmem_ld_lane, tmem_ld_col, counted from the
 * address that the instruction names. For 16x32bx2, lanes 16-31 count from the second address. PTX ISA: "Matrix
 * fragments for shape .32x32b" and those that follow it. */
enum tmem_shape { TMEM_32X32B, TMEM_16X64B, TMEM_16X128B, TMEM_16X256B, TMEM_16X32BX2 };

LAYOUT_FN int tmem_ld_lane(enum tmem_shape shape, int lane, int r)
{
    switch (shape) {
    case TMEM_16X64B: return lane / 4 + lane % 2 * 8;
    case TMEM_16X128B: return lane / 4 + r % 2 * 8;
    case TMEM_16X256B: return lane / 4 + r / 2 % 2 * 8;
    case TMEM_16X32BX2: return lane % 16;
    default: return lane;
    }
}

LAYOUT_FN int tmem_ld_col(enum tmem_shape shape, int lane, int r)
{
    switch (shape) {
    case TMEM_16X64B: return r * 2 + lane / 2 % 2;
    case TMEM_16X128B: return r / 2 * 4 + lane % 4;
    case TMEM_16X256B: return r / 4 * 8 + lane % 4 * 2 + r % 2;
    default: return r;
    }
}

/* Scale factors: four bytes to a 32-bit column, so factor s of row m (of A, or column m of B), 0..3, is byte s of
 * column tmem_scale_col in lane tmem_scale_lane, and the same again in each quarter of the lanes. PTX ISA:
 * "Scale Factor A ID". */
LAYOUT_FN int tmem_scale_lane(int m) { return m % 32; }
LAYOUT_FN int tmem_scale_col(int m) { return m / 32; }

/* The same in global and shared memory: the factors of 128 rows and of four blocks along K lie together, 512 bytes,
 * ordered as tcgen05.cp.32x128b.warpx4 brings them to the places above: 32 lines of 16 bytes, a line for each lane, in it
 * four words, one for each column. Behind them those of the next four blocks; quads: how many fours a row has. The
 * offset in bytes of the factor of a block. cuBLAS has its factors in the same order. */
LAYOUT_FN uint64_t scale_offset(int row, int block, int quads)
{
    const int word = tmem_scale_lane(row % 128) * 4 + tmem_scale_col(row % 128);
    return ((uint64_t)(row / 128) * (uint64_t)quads + (uint64_t)(block / 4)) * 512 + (uint64_t)(word * 4 + block % 4);
}

#endif
