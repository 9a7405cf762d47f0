/* tcgen05_mma.c: tcgen05.mma, mma.sp, mma.ws, mma.ws.sp: what a thread says, checked, and when it is done.
 *
 * Modelled: all kinds, shapes, types and layouts of D; A from shared or tensor memory. One instruction keeps the pipe for N/2
 * cycles (at least 48; N/4 when a pair computes 128 rows): the rate that others measured on a B200 for all kinds, and their
 * latencies. Collector hints change nothing.
 * K = 96 (sm_103a) is taken to keep the pipe as long as K = 64.
 * PTX ISA: "TensorCore 5th Generation of MMA Instructions". */
#include "tcgen05_mma.h"
#include "mma.h"
#include "../core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LATENCY = 136, PAIR_LATENCY = 170, LEAST = 48, TC_CHUNKS = TC_MOST_N * TC_ROW_BYTES / SMEM_CHUNK };

struct smem_tile tc_tile(const struct tc_mma *m, bool b)
{
    enum type t = b ? m->id.b : m->id.a;
    uint32_t bytes = mma_bits(t) > 8 ? mma_bits(t) / 8 : 1;             /* narrow ones count as bytes along k */
    uint32_t row = b ? tc_row_bytes(m) : tc_a_bytes(m);
    return (struct smem_tile){ .rows = b ? m->id.n / m->form.group + tc_shift(m) : tc_rows(m), .k = row / bytes, .bytes = bytes,
                               .mn_major = b ? m->id.transpose_b : m->id.transpose_a };
}

/* ---------------------------------------------------------------- checks */

static bool bad(const struct tc_mma *m, enum fault_id id, const char *what, uint64_t bits, const char *why)
{
    fault(m->op.user.w, m->op.user.in, m->op.user.lane, id, "%s, 0x%llx: %s", what, (unsigned long long)bits, why);
    return false;
}

/* "Valid Combinations of Type-Size, Major-ness and Swizzling". */
static const char *wrong_swizzle(const struct smem_desc *d, const struct smem_tile *t, enum type type)
{
    bool narrow = type == T_E2M3 || type == T_E3M2 || type == T_E2M1;
    if (t->mn_major && narrow)
        return "elements of 4 and 6 bits must lie along K";
    if (t->mn_major && type == T_TF32 && !d->units_of_32)
        return "tf32 that is transposed needs the 128-byte swizzle with 32-byte atomicity (mode 1)";
    if (t->mn_major && type != T_TF32 && d->units_of_32)
        return "a transposed matrix has the 128-byte swizzle with 32-byte atomicity (mode 1) for tf32 alone";
    if (!t->mn_major && d->units_of_32)
        return "the 128-byte swizzle with 32-byte atomicity (mode 1) is for transposed tf32 alone";
    return NULL;
}

static bool check_descriptor(const struct tc_mma *m, bool b)
{
    uint64_t bits = b ? m->b_desc : m->a_desc;
    const struct smem_desc d = smem_desc_tcgen05(bits);
    const struct smem_tile t = tc_tile(m, b);
    const char *what = b ? "the descriptor of B" : "the descriptor of A";
    uint32_t lo = m->op.cta->memory->smem_reserved, hi = lo + m->op.cta->smem_bytes;
    char buf[200];
    const char *wrong = smem_desc_wrong(bits, &d, &t, buf, sizeof buf);
    if (!wrong)
        wrong = wrong_swizzle(&d, &t, b ? m->id.b : m->id.a);
    if (wrong)
        return bad(m, FAULT_BAD_OPERAND, what, bits, wrong);
    smem_desc_note(m->op.user.w, m->op.user.in, b ? "B" : "A", &d);
    struct smem_extent e = smem_extent(&d, &t);
    if (e.lo >= lo && e.hi <= hi)
        return true;
    snprintf(buf, sizeof buf, "the tile (start 0x%x, leading offset %u, stride offset %u, swizzle %u) covers 0x%x to 0x%x; the CTA's shared "
             "memory is 0x%x to 0x%x", d.start, d.lbo, d.sbo, d.span, e.lo, e.hi, lo, hi);
    return bad(m, FAULT_OUT_OF_BOUNDS, what, bits, buf);
}

/* The lane that matrices in tensor memory begin at: 0, or 16 in layouts that use half of the lanes. */
static bool check_lane(const struct tc_mma *m, const char *what, uint32_t addr, bool like_d)
{
    uint32_t lane = tmem_lane(addr), d = tmem_lane(m->d);
    char why[120];
    if (lane == 0 && (!like_d || d == 0))
        return true;
    if (like_d && m->layout.spread && (lane == 0 || lane == 16) && lane == d)
        return true;
    if (like_d && m->layout.spread)
        snprintf(why, sizeof why, "its lane must be 0 or 16, and that of D (%u)", d);
    else
        snprintf(why, sizeof why, "its lane must be 0");
    return bad(m, FAULT_TMEM, what, addr, why);
}

/* One matrix in the tensor memory of all its CTAs. */
static bool use_tmem(struct tc_mma *m, const char *what, uint32_t addr, uint32_t columns, bool like_d, bool write)
{
    struct tmem_part part = tmem_part(0, TMEM_LANES, tmem_column(addr), columns);
    if (!check_lane(m, what, addr, like_d))
        return false;
    if (like_d && m->layout.spread)
        part.rows = tmem_lane(addr) ? 0xaa : 0x55;
    for (uint32_t r = 0; r < m->form.group; r++)
        if (!tmem_owned(&m->op.user, tc_cta(m, r), part.column, part.columns, what) || !tc_access(&m->op, tc_cta(m, r), part, write))
            return false;
    return true;
}

/* A tile in shared memory, written before in each of the CTAs, for the async proxy to see. */
static bool use_smem(const struct tc_mma *m, bool b)
{
    uint32_t chunk[TC_CHUNKS];
    if (!check_descriptor(m, b))
        return false;
    const struct smem_desc d = smem_desc_tcgen05(b ? m->b_desc : m->a_desc);
    const struct smem_tile t = tc_tile(m, b);
    const struct tc_user *u = &m->op.user;
    uint32_t n = smem_chunks(&d, &t, chunk);
    tmem_check_wait(u);
    for (uint32_t r = 0; r < m->form.group; r++)
        if (!race_tile(u->w, u->in, RACE_TCGEN05, race_commits(u->w), NULL, tc_cta(m, r), chunk, n))
            return false;
    return true;
}

static bool use_operands(struct tc_mma *m)
{
    if (m->form.a_in_tmem ? !use_tmem(m, "A", m->a, tc_a_bytes(m) / 4, true, false) : !use_smem(m, false))
        return false;
    if (m->form.sparse && !use_tmem(m, "the sparsity metadata", (m->meta & 0xffff0000) | tc_meta_column(m), tc_meta_columns(m), true, false))
        return false;
    if (m->form.scales && (!use_tmem(m, "scale-A", m->sfa, tc_scale_columns(m, false), false, false) ||
                           !use_tmem(m, "scale-B", m->sfb, tc_scale_columns(m, true), false, false)))
        return false;
    return use_smem(m, true) && use_tmem(m, "D", m->d, m->id.n / m->layout.pieces, true, true);
}

/* "Zero-Column Mask Descriptor". */
static bool check_zeros(const struct tc_mma *m)
{
    char why[120];
    if (m->zeros >> 62 || m->zeros >> 36 & 7)
        return bad(m, FAULT_BAD_OPERAND, "the zero-column mask descriptor", m->zeros, "its bits 36 to 38, 62 and 63 must be zero");
    if (tc_shift(m) <= m->id.max_shift)
        return true;
    snprintf(why, sizeof why, "it shifts by %u columns; the instruction descriptor allows %u", tc_shift(m), m->id.max_shift);
    return bad(m, FAULT_BAD_OPERAND, "the zero-column mask descriptor", m->zeros, why);
}

/* ---------------------------------------------------------------- issue */

static uint64_t value64(struct warp *w, const struct operand *o, int lane) { return ROW(w, o, uint64_t)[lane]; }
static uint32_t value32(struct warp *w, const struct operand *o, int lane) { return ROW(w, o, uint32_t)[lane]; }

static uint32_t address(struct warp *w, const struct operand *o, int lane)
{
    uint64_t addr[WARP];
    mem_addresses(w, o, addr);
    return (uint32_t)addr[lane];
}

static bool predicate(struct warp *w, const struct operand *o, int lane)
{
    return (o->flags & O_NOT ? ~PRED(w, o) : PRED(w, o)) >> lane & 1;
}

static bool decode_idesc(struct tc_mma *m, uint32_t bits)
{
    char why[200], text[240];
    if (tc_idesc_decode(&m->form, bits, &m->id, why, sizeof why))
        return true;
    snprintf(text, sizeof text, "%s (M is %u, N is %u)", why, m->id.m, m->id.n);
    return bad(m, FAULT_BAD_OPERAND, "the instruction descriptor", bits, text);
}

/* Operands stand in the order of the table's rows: d, a, b, the metadata of a sparse A, idesc; then
 *     lanes, enable-input-d, scale-input-d        scale-A, scale-B, enable-input-d        .ws: enable-input-d, zeros */
static const struct operand *behind_idesc(const struct instr *in, bool sparse) { return &in->opnd[sparse ? 5 : 4]; }

static bool read_operands(struct tc_mma *m)
{
    struct warp *w = m->op.user.w;
    const struct operand *o = m->op.user.in->opnd, *rest = behind_idesc(m->op.user.in, m->form.sparse);
    int lane = m->op.user.lane;
    m->d = address(w, &o[0], lane);
    if (m->form.a_in_tmem)
        m->a = address(w, &o[1], lane);
    else
        m->a_desc = value64(w, &o[1], lane);
    m->b_desc = value64(w, &o[2], lane);
    m->meta = m->form.sparse ? address(w, &o[3], lane) : 0;
    if (m->form.scales) {
        m->sfa = address(w, &rest[0], lane);
        m->sfb = address(w, &rest[1], lane);
        m->keep = predicate(w, &rest[2], lane);
    } else if (m->form.ws) {
        m->keep = predicate(w, &rest[0], lane);
        m->zeros = rest[1].kind == O_NONE ? 0 : value64(w, &rest[1], lane);
    } else {
        for (uint32_t i = 0; rest[0].kind == O_VEC && i < rest[0].n; i++)
            m->disabled[i] = value32(w, &rest[0].elem[i], lane);
        m->keep = predicate(w, &rest[1], lane);
        m->scale_d = rest[2].kind == O_NONE ? 0 : (uint32_t)rest[2].imm;
    }
    return decode_idesc(m, value32(w, &rest[-1], lane)) && check_zeros(m);
}

/* Cycles in the pipe. */
static uint32_t duration(const struct tc_mma *m)
{
    uint32_t rows = tc_rows(m) < 128 && m->layout.pieces == 1 ? 128 : tc_rows(m), cycles = rows * m->id.n / 256;
    return cycles > LEAST ? cycles : LEAST;
}

static bool issue(struct warp *w, const struct instr *in, int lane)
{
    struct tc_mma *m = tc_op_new(w, in, lane, TC_MMA, sizeof *m);
    m->form = tc_form(in);
    m->op.work = tc_multiply;
    if (tc_group_state(w, in, lane) && read_operands(m)) {
        m->layout = tc_layout(m->id.m, m->form.group, m->form.ws, m->form.sparse);
        if (use_operands(m)) {
            tc_start(&m->op, duration(m), m->form.group == 2 ? PAIR_LATENCY : LATENCY);
            return true;
        }
    }
    tc_drop(&m->op);
    return false;
}

static int mma(struct warp *w, const struct instr *in, uint32_t mask)
{
    FOR_LANES(i, mask)
        if (!issue(w, in, (int)i))
            return X_FAULT;
    return X_NEXT;
}

/* ---------------------------------------------------------------- forms */

static bool has_lanes(const struct instr *in, const struct operand *lanes)
{
    return lanes->kind == O_NONE || (lanes->kind == O_VEC && lanes->n == 4 * tc_group(in));
}

static bool has_scale(const struct instr *in, const struct operand *scale)
{
    if (scale->kind == O_NONE)
        return true;
    return (in->mode == M_kind_f16 || in->mode == M_kind_tf32) && scale->flags & O_CONST && scale->imm >= 0 && scale->imm <= 15;
}

/* .kind::i8 is for some chips of the family alone. */
static bool has_kind(const struct instr *in)
{
    const struct module *m = in->func->module;
    return in->mode != M_kind_i8 || target_has("100a 110a", m->target, m->target_suffix);
}

static exec_fn *pick_plain(struct instr *in, bool sparse)
{
    const struct operand *rest = behind_idesc(in, sparse);
    /* what the collector keeps cannot be shifted */
    bool collector = !has_mod(in, M_ashift) || (!has_mod(in, M_collector_a_use) && !has_mod(in, M_collector_a_fill));
    return has_kind(in) && has_lanes(in, &rest[0]) && has_scale(in, &rest[2]) && collector ? mma : NULL;
}

/* "Valid combinations of scale_vectorsize with types and MMA-Kind". */
static exec_fn *pick_scaled(struct instr *in)
{
    bool x1 = has_mod(in, M_scale_vec_1X), x2 = has_mod(in, M_scale_vec_2X), x4 = has_mod(in, M_scale_vec_4X) || has_mod(in, M_block16);
    bool written = x1 || x2 || x4 || has_mod(in, M_block32);
    switch (in->mode) {
    case M_kind_mxf8f6f4: return x2 || x4 ? NULL : mma;
    case M_kind_mxf4: return x1 || x4 ? NULL : mma;
    default: return x1 || !written ? NULL : mma;
    }
}

static exec_fn *pick_ws(struct instr *in) { return has_kind(in) ? mma : NULL; }

exec_fn *pick_TCGEN05_MMA(struct instr *in) { return pick_plain(in, false); }
exec_fn *pick_TCGEN05_MMA_TMEM(struct instr *in) { return pick_plain(in, false); }
exec_fn *pick_TCGEN05_MMA_SP(struct instr *in) { return pick_plain(in, true); }
exec_fn *pick_TCGEN05_MMA_SP_TMEM(struct instr *in) { return pick_plain(in, true); }
exec_fn *pick_TCGEN05_MMA_SCALED(struct instr *in) { return pick_scaled(in); }
exec_fn *pick_TCGEN05_MMA_SCALED_TMEM(struct instr *in) { return pick_scaled(in); }
exec_fn *pick_TCGEN05_MMA_SP_SCALED(struct instr *in) { return pick_scaled(in); }
exec_fn *pick_TCGEN05_MMA_SP_SCALED_TMEM(struct instr *in) { return pick_scaled(in); }
exec_fn *pick_TCGEN05_MMA_WS(struct instr *in) { return pick_ws(in); }
exec_fn *pick_TCGEN05_MMA_WS_TMEM(struct instr *in) { return pick_ws(in); }
exec_fn *pick_TCGEN05_MMA_WS_SP(struct instr *in) { return pick_ws(in); }
exec_fn *pick_TCGEN05_MMA_WS_SP_TMEM(struct instr *in) { return pick_ws(in); }
