/* tcgen05_layout.h: where things lie in tensor memory. Pure functions. */
#ifndef Z_EMU_TCGEN05_LAYOUT_H
#define Z_EMU_TCGEN05_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* ---- ld and st: "Matrix fragments for shape …". Register r of thread t, relative to the address. */

enum tc_shape { TC_32X32B, TC_16X64B, TC_16X128B, TC_16X256B, TC_16X32BX2 };
struct tc_place { uint32_t lane, column; };

static inline uint32_t tc_shape_lanes(enum tc_shape s) { return s == TC_32X32B ? 32 : 16; }
/* Registers per repetition; each is `columns * lanes / 32` of them. */
static inline uint32_t tc_shape_registers(enum tc_shape s) { return s == TC_16X256B ? 4 : s == TC_16X128B ? 2 : 1; }
static inline uint32_t tc_shape_columns(enum tc_shape s, uint32_t registers)
{
    return s == TC_32X32B || s == TC_16X32BX2 ? registers : 2 * registers;
}

/* `half`: TC_16X32BX2's immHalfSplitoff. */
static inline struct tc_place tc_register_place(enum tc_shape s, uint32_t t, uint32_t r, uint32_t half)
{
    switch (s) {
    case TC_32X32B: return (struct tc_place){ t, r };
    case TC_16X64B: return (struct tc_place){ t / 4 + 8 * (t & 1), 2 * r + (t >> 1 & 1) };
    case TC_16X128B: return (struct tc_place){ t / 4 + 8 * (r & 1), 4 * (r >> 1) + t % 4 };
    case TC_16X256B: return (struct tc_place){ t / 4 + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (t % 4) + (r & 1) };
    default: return (struct tc_place){ t % 16, r + t / 16 * half };
    }
}

/* ---- the accumulator: "Data Path Layout Organization".
 * A row of D lies in one lane, or in 2 or 4 pieces of neighbouring columns, `apart` lanes from one another. */

struct tc_layout { char id; uint32_t pieces, apart; bool spread; };     /* spread: 16 rows to every 32 lanes */

/* rows: of one CTA. */
static inline struct tc_layout tc_layout(uint32_t m, uint32_t group, bool ws, bool sparse)
{
    if (ws)
        return m == 32 ? (struct tc_layout){ 'G', 4, 32, false } : m == 64 ? (struct tc_layout){ 'E', 2, 64, false } :
                                                                                  (struct tc_layout){ 'D', 1, 0, false };
    if (group == 2)
        return m == 256 ? (struct tc_layout){ 'A', 1, 0, false } : sparse ? (struct tc_layout){ 'C', 1, 0, true } :
                                                                                   (struct tc_layout){ 'B', 2, 64, false };
    return m == 64 ? (struct tc_layout){ 'F', 1, 0, true } : (struct tc_layout){ 'D', 1, 0, false };
}

/* Lane of row m (of this CTA's rows), piece 0. */
static inline uint32_t tc_row_lane(struct tc_layout l, uint32_t m) { return l.spread ? m % 16 + m / 16 * 32 : m; }

#endif
