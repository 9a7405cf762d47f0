/* ldmatrix.c: matrices between shared memory and fragments: ldmatrix, stmatrix, movmatrix.
 *
 * Modelled: every shape, count and format of "ldmatrix", "stmatrix" and "movmatrix"; addresses are checked (16-byte
 * aligned, inside the CTA's shared memory, written before they are read). Where the elements go: fragments.h.
 * Not modelled: bank conflicts.
 */
#include "mma.h"
#include "fragments.h"

#include <string.h>

enum { ROW_BYTES = 16, SHARED_WINDOW_BITS = 32 };

/* Lanes that give row addresses: 8 or 16 for each matrix. */
static uint32_t address_lanes(int rows) { return rows == WARP ? UINT32_MAX : (1u << rows) - 1; }

/* A generic address must lie in shared memory. */
static bool all_shared(struct warp *w, const struct instr *in, uint32_t lanes, const uint64_t addr[WARP])
{
    if (in->space != SP_GENERIC)
        return true;
    uint64_t window = va_shared(w->cta->launch->gpu);
    FOR_LANES(lane, lanes)
        if ((addr[lane] - window) >> SHARED_WINDOW_BITS) {
            fault(w, in, (int)lane, FAULT_BAD_OPERAND, "the address 0x%llx is not in shared memory",
                  (unsigned long long)addr[lane]);
            return false;
        }
    return true;
}

/* Host addresses of the matrix rows that the first `rows` lanes point to. */
static bool find_rows(struct warp *w, const struct instr *in, const struct operand *o, int rows, uint32_t bytes,
                      enum access how, uint8_t *at[WARP])
{
    uint64_t addr[WARP];
    uint32_t lanes = address_lanes(rows);
    mem_addresses(w, o, addr);
    if (!all_shared(w, in, lanes, addr))
        return false;
    if (bytes == ROW_BYTES)
        return mem_lanes(w, in, lanes, in->space, addr, bytes, ROW_BYTES, how, at);
    FOR_LANES(lane, lanes) {
        at[lane] = mem_at(w, in, (int)lane, in->space, addr[lane], bytes, ROW_BYTES, how);
        if (!at[lane])
            return false;
    }
    return true;
}

static void store_registers(struct warp *w, const struct operand *o, int n, uint32_t (*value)[WARP], uint32_t mask)
{
    uint32_t *reg[4];
    mma_registers(w, o, reg, 4);
    for (int i = 0; i < n; i++) {
        if (mask == UINT32_MAX)
            memcpy(reg[i], value[i], sizeof value[i]);
        else
            FOR_LANES(lane, mask)
                reg[i][lane] = value[i][lane];
    }
}

/* ---- 8x8 matrices of 16-bit elements: a row is 16 bytes, held by four lanes */

/* Element (row, col) changes places with (col, row). */
static void transpose_8x8(uint32_t *to, const uint32_t *from)
{
    uint16_t in[64], out[64];
    memcpy(in, from, sizeof in);
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++)
            out[8 * row + col] = in[8 * col + row];
    memcpy(to, out, sizeof out);
}

static int ldmatrix_8x8(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint8_t *at[WARP];
    uint32_t value[4][WARP];
    int n = in->vec;
    if (!find_rows(w, in, &in->opnd[1], 8 * n, ROW_BYTES, A_READ, at))
        return X_FAULT;
    for (int i = 0; i < n; i++)
        for (int row = 0; row < 8; row++)
            memcpy(value[i] + 4 * row, at[8 * i + row], ROW_BYTES);
    for (int i = 0; i < n && (in->flags & F_TRANS); i++)
        transpose_8x8(value[i], value[i]);
    store_registers(w, &in->opnd[0], n, value, mask);
    return X_NEXT;
}

static int stmatrix_8x8(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint8_t *at[WARP];
    uint32_t *reg[4], value[WARP];
    (void)mask;
    mma_registers(w, &in->opnd[1], reg, 4);
    if (!find_rows(w, in, &in->opnd[0], 8 * in->vec, ROW_BYTES, A_WRITE, at))
        return X_FAULT;
    for (int i = 0; i < in->vec; i++) {
        memcpy(value, reg[i], sizeof value);
        if (in->flags & F_TRANS)
            transpose_8x8(value, value);
        for (int row = 0; row < 8; row++)
            memcpy(at[8 * i + row], value + 4 * row, ROW_BYTES);
    }
    return X_NEXT;
}

static int movmatrix(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t *from[1], value[1][WARP];
    mma_registers(w, &in->opnd[1], from, 1);
    transpose_8x8(value[0], from[0]);
    store_registers(w, &in->opnd[0], 1, value, mask);
    return X_NEXT;
}

exec_fn *pick_MOVMATRIX(struct instr *in)
{
    return mma_has_registers(&in->opnd[0], 1) && mma_has_registers(&in->opnd[1], 1) ? movmatrix : NULL;
}

/* ---- matrices of bytes, 16 to a row; fewer bits in memory are widened */

/* Element `col` of a row of `bits`-bit elements. */
static uint8_t narrow_element(const uint8_t *row, int col, int bits)
{
    uint32_t word = 0;
    int first = col * bits;
    memcpy(&word, row + first / 8, first / 8 + 1 < 2 * bits ? 2 : 1);
    return (uint8_t)(word >> first % 8 & ((1u << bits) - 1));
}

static int ldmatrix_bytes(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint8_t *at[WARP];
    uint32_t value[4][WARP];
    bool tall = in->shape_m == 16;
    int bits = in->type[in->ntype - 1] == T_B4X16_P64 ? 4 : in->type[in->ntype - 1] == T_B6X16_P32 ? 6 : 8;
    int n = in->vec, rows = tall ? 16 : 8;
    if (!find_rows(w, in, &in->opnd[1], rows * n, (uint32_t)(2 * bits), A_READ, at))
        return X_FAULT;
    for (int i = 0; i < n; i++)
        for (int row = 0; row < rows; row++)
            for (int col = 0; col < 16; col++) {
                struct byte_place p = tall ? matrix_16x16_trans(row, col) : matrix_8x16(row, col);
                ((uint8_t *)&value[(tall ? 2 * i : i) + p.reg][p.lane])[p.byte] =
                    narrow_element(at[rows * i + row], col, bits);
            }
    store_registers(w, &in->opnd[0], tall ? 2 * n : n, value, mask);
    return X_NEXT;
}

static int stmatrix_bytes(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint8_t *at[WARP];
    uint32_t *reg[4];
    (void)mask;
    mma_registers(w, &in->opnd[1], reg, 4);
    if (!find_rows(w, in, &in->opnd[0], 8 * in->vec, ROW_BYTES, A_WRITE, at))
        return X_FAULT;
    for (int i = 0; i < in->vec; i++)
        for (int row = 0; row < 8; row++)
            for (int col = 0; col < 16; col++) {
                struct byte_place p = matrix_16x8_trans(row, col);
                at[8 * i + row][col] = ((const uint8_t *)&reg[i][p.lane])[p.byte];
            }
    return X_NEXT;
}

/* ---- forms */

static bool family_100(const struct instr *in)
{
    const struct module *m = in->func->module;
    return m->target >= 100 && m->target_suffix;
}

exec_fn *pick_LDMATRIX(struct instr *in)
{
    bool bytes = in->type[0] == T_B8, tall = in->shape_m == 16;
    if (bytes != tall || (tall && (!(in->flags & F_TRANS) || in->vec == 4 || !family_100(in))))
        return NULL;
    if (!mma_has_registers(&in->opnd[0], tall ? 2 * in->vec : in->vec))
        return NULL;
    return tall ? ldmatrix_bytes : ldmatrix_8x8;
}

exec_fn *pick_LDMATRIX_FMT(struct instr *in)
{
    bool tall = in->shape_m == 16, trans = in->flags & F_TRANS;
    if (tall != trans || (tall && in->vec == 4) || !mma_has_registers(&in->opnd[0], tall ? 2 * in->vec : in->vec))
        return NULL;
    return ldmatrix_bytes;
}

exec_fn *pick_STMATRIX(struct instr *in)
{
    bool bytes = in->type[0] == T_B8, tall = in->shape_m == 16;
    if (bytes != tall || (tall && (!(in->flags & F_TRANS) || !family_100(in))))
        return NULL;
    if (!mma_has_registers(&in->opnd[1], in->vec))
        return NULL;
    return tall ? stmatrix_bytes : stmatrix_8x8;
}
