/* tcgen05_cp.c: tcgen05.cp from shared to tensor memory, and tcgen05.shift within it.
 *
 * Modelled: all shapes, multicast to pairs of warps' lanes and to all four, decompression. With cta_group::2 each CTA's tensor
 * memory is filled from its own shared memory, with the same descriptor; the ISA does not say so, but mma reads A and B that
 * way. A shift moves lanes 0 to 30 of a group of 32 to the next higher one each; lane 0 keeps what it has, until a copy of shape
 * 4x256b, which writes every 32nd lane, puts something new there.
 * PTX ISA: "Tensor Memory Data Movement Instructions". */
#include "mma.h"
#include "tcgen05_mma.h"
#include "../core/memory.h"

#include <string.h>

enum { LATENCY = 60, SHIFT_COLUMNS = 8, SHIFT_BUSY = 16, MOST_BYTES = 4096 };

/* Rows of the matrix, its columns of 32 bits, and which lanes a row goes to: lane(row) and `copies` others, `apart` from it. */
struct cp_shape { uint32_t rows, columns, copies, apart; };

static struct cp_shape shape_of(const struct instr *in)
{
    if (has_mod(in, M_s128x256b))
        return (struct cp_shape){ 128, 8, 1, 0 };
    if (has_mod(in, M_s128x128b))
        return (struct cp_shape){ 128, 4, 1, 0 };
    if (has_mod(in, M_s4x256b))
        return (struct cp_shape){ 4, 8, 1, 0 };
    if (has_mod(in, M_s64x128b))
        return (struct cp_shape){ 64, 4, 2, has_mod(in, M_warpx2_02_13) ? 64 : 32 };
    return (struct cp_shape){ 32, 4, 4, 32 };
}

/* The first lane of a row: 02_13 has rows 0-31 in quarters 0 and 2, 01_23 in quarters 0 and 1. */
static uint32_t lane_of(struct cp_shape s, uint32_t row)
{
    if (s.rows == 4)
        return 32 * row;
    return s.rows == 64 && s.apart == 32 ? row % 32 + row / 32 * 64 : row;
}

struct copy {
    struct tc_op op;
    struct cp_shape shape;
    uint64_t desc;
    uint32_t to;                /* tensor memory */
};

static struct cta *cta_of(const struct tc_op *op, uint32_t r) { return r ? tc_peer(op->cta) : op->cta; }

static struct smem_tile tile_of(const struct copy *c)
{
    return (struct smem_tile){ .rows = c->shape.rows, .k = 4 * c->shape.columns, .bytes = 1 };
}

/* ---------------------------------------------------------------- cp */

static bool read_source(const struct copy *c, const struct cta *cta, uint8_t *bytes)
{
    const struct tc_user *u = &c->op.user;
    const struct smem_desc d = smem_desc_tcgen05(c->desc);
    const struct smem_tile t = tile_of(c);
    uint32_t reserved = cta->memory->smem_reserved, at = 0;
    if (!smem_gather(&d, &t, cta->smem - reserved, cta->smem_init - reserved, bytes, &at))
        return fault(u->w, u->in, u->lane, FAULT_UNINITIALIZED, "nothing has written the byte of shared memory at 0x%x, which it copies", at), false;
    if (has_mod(u->in, M_b4x16_p64))
        tc_widen(T_E2M1, bytes, (size_t)t.rows * t.k);
    if (has_mod(u->in, M_b6x16_p32))
        tc_widen(T_E2M3, bytes, (size_t)t.rows * t.k);
    return true;
}

static bool copy(struct tc_op *op)
{
    const struct copy *c = (const struct copy *)op;
    uint32_t column = tmem_column(c->to), n = c->shape.columns;
    uint8_t bytes[MOST_BYTES];
    for (uint32_t r = 0; r < op->group; r++) {
        struct tmem *t = tmem_of(cta_of(op, r)->sm);
        if (!read_source(c, cta_of(op, r), bytes))
            return false;
        for (uint32_t row = 0; row < c->shape.rows; row++)
            for (uint32_t i = 0; i < c->shape.copies; i++) {
                uint32_t lane = tmem_lane(c->to) + lane_of(c->shape, row) + i * c->shape.apart;
                memcpy(&t->cell[lane][column], bytes + (size_t)row * n * 4, n * 4);
                memset(&t->written[lane][column], 1, n);
            }
    }
    return true;
}

/* Written before, for the async proxy to see. */
static bool source_ordered(const struct copy *c)
{
    uint32_t chunk[MOST_BYTES / SMEM_CHUNK];
    const struct tc_user *u = &c->op.user;
    const struct smem_desc d = smem_desc_tcgen05(c->desc);
    const struct smem_tile t = tile_of(c);
    uint32_t n = smem_chunks(&d, &t, chunk);
    for (uint32_t r = 0; r < c->op.group; r++)
        if (!race_tile(u->w, u->in, RACE_TCGEN05, race_commits(u->w), NULL, cta_of(&c->op, r), chunk, n))
            return false;
    return true;
}

static bool check_source(const struct copy *c)
{
    const struct tc_user *u = &c->op.user;
    const struct smem_desc d = smem_desc_tcgen05(c->desc);
    const struct smem_tile t = tile_of(c);
    uint32_t lo = c->op.cta->memory->smem_reserved, hi = lo + c->op.cta->smem_bytes;
    char buf[200];
    const char *wrong = smem_desc_wrong(c->desc, &d, &t, buf, sizeof buf);
    struct smem_extent e = smem_extent(&d, &t);
    smem_desc_note(u->w, u->in, "the copy", &d);
    if (wrong)
        fault(u->w, u->in, u->lane, FAULT_BAD_OPERAND, "the descriptor 0x%llx: %s", (unsigned long long)c->desc, wrong);
    else if (e.lo < lo || e.hi > hi)
        fault(u->w, u->in, u->lane, FAULT_OUT_OF_BOUNDS, "the matrix (start 0x%x, leading offset %u, stride offset %u, swizzle %u) covers 0x%x "
              "to 0x%x; the CTA's shared memory is 0x%x to 0x%x", d.start, d.lbo, d.sbo, d.span, e.lo, e.hi, lo, hi);
    else
        return source_ordered(c);
    return false;
}

/* What it writes, in all CTAs. */
static bool use_target(struct tc_op *op, uint32_t addr, uint32_t lanes, uint32_t columns)
{
    struct tmem_part part = tmem_part(tmem_lane(addr), lanes, tmem_column(addr), columns);
    for (uint32_t r = 0; r < op->group; r++)
        if (!tmem_owned(&op->user, cta_of(op, r), part.column, columns, "the target") || !tc_access(op, cta_of(op, r), part, true))
            return false;
    return true;
}

static bool issue_copy(struct warp *w, const struct instr *in, int lane, uint32_t to)
{
    struct copy *c = tc_op_new(w, in, lane, TC_CP, sizeof *c);
    c->op.work = copy;
    c->shape = shape_of(in);
    c->to = to;
    c->desc = ROW(w, &in->opnd[1], uint64_t)[lane];
    bool ok = tc_group_state(w, in, lane) && check_source(c);
    if (ok && tmem_lane(to) >= (c->shape.rows == 4 ? 32 : 1))
        ok = (fault(w, in, lane, FAULT_TMEM, "taddr 0x%x: its lane must be %s", to, c->shape.rows == 4 ? "below 32" : "0"), false);
    if (ok && use_target(&c->op, to & ~0x1f0000u, TMEM_LANES, c->shape.columns)) {
        tc_start(&c->op, c->shape.rows * c->shape.columns / 32, LATENCY);
        return true;
    }
    tc_drop(&c->op);
    return false;
}

static int cp(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t to[WARP];
    mem_addresses(w, &in->opnd[0], to);
    FOR_LANES(i, mask)
        if (!issue_copy(w, in, (int)i, (uint32_t)to[i]))
            return X_FAULT;
    return X_NEXT;
}

/* 64x128b needs one of the pairings, 32x128b all four warps, the others none. */
exec_fn *pick_TCGEN05_CP(struct instr *in)
{
    bool pairs = has_mod(in, M_warpx2_02_13) || has_mod(in, M_warpx2_01_23), all = has_mod(in, M_warpx4);
    bool to = has_mod(in, M_b8x16), from = has_mod(in, M_b6x16_p32) || has_mod(in, M_b4x16_p64);
    return to == from && pairs == has_mod(in, M_s64x128b) && all == has_mod(in, M_s32x128b) ? cp : NULL;
}

/* ---------------------------------------------------------------- shift */

static bool shift(struct tc_op *op)
{
    const struct copy *c = (const struct copy *)op;
    uint32_t first = tmem_lane(c->to), column = tmem_column(c->to);
    for (uint32_t r = 0; r < op->group; r++) {
        struct tmem *t = tmem_of(cta_of(op, r)->sm);
        for (uint32_t lane = first + 31; lane > first; lane--) {
            memcpy(&t->cell[lane][column], &t->cell[lane - 1][column], SHIFT_COLUMNS * 4);
            memcpy(&t->written[lane][column], &t->written[lane - 1][column], SHIFT_COLUMNS);
        }
    }
    return true;
}

static int tcgen05_shift(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t to[WARP];
    mem_addresses(w, &in->opnd[0], to);
    FOR_LANES(i, mask) {
        struct copy *c = tc_op_new(w, in, (int)i, TC_SHIFT, sizeof *c);
        uint32_t lane = tmem_lane((uint32_t)to[i]);
        c->op.work = shift;
        c->to = (uint32_t)to[i];
        bool ok = tc_group_state(w, in, (int)i);
        if (ok && (lane % 32 || lane >= TMEM_LANES))
            ok = (fault(w, in, (int)i, FAULT_TMEM, "taddr 0x%x: its lane must be a multiple of 32 below 128", c->to), false);
        if (!ok || !use_target(&c->op, c->to, WARP, SHIFT_COLUMNS)) {
            tc_drop(&c->op);
            return X_FAULT;
        }
        tc_start(&c->op, SHIFT_BUSY, LATENCY);
    }
    return X_NEXT;
}

exec_fn *pick_TCGEN05_SHIFT(struct instr *in) { (void)in; return tcgen05_shift; }
