/* wgmma.c: wgmma.mma_async, fence, commit_group, wait_group: who issues a multiplication, and when it is done.
 *
 * Modelled: a warpgroup is four consecutive warps of a CTA from a multiple of four on; each issues for itself; the
 * multiplication starts when the fourth has. One runs at a time on an SM, max(n/2 + 1, n/4 + 17) cycles each, and is done
 * some cycles later; shared memory is read and the accumulators are written then, all at once. Until then the
 * accumulators' registers hold poison. Found and named: accumulators read or written before the wait, registers of A written
 * before it (core/held.c), a fence left out before the first multiplication or behind new values in its registers, a
 * multiplication of another shape on accumulators in flight, warps that disagree.
 * PTX ISA: "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". */
#include "wgmma.h"
#include "mma.h"
#include "../core/core.h"

#include <stdlib.h>
#include <string.h>

enum { ALL_WARPS = (1 << WG_WARPS) - 1, LATENCY = 46 };         /* cycles from the last product to a wait that ends */

static void *make(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p)
        abort();
    return p;
}

/* NULL after a fault: the warp is in no whole warpgroup. */
static struct warpgroup *group_of(struct warp *w, const struct instr *in)
{
    struct cta *c = w->cta;
    uint32_t first = w->id & ~(WG_WARPS - 1u), n = (c->nwarp + WG_WARPS - 1) / WG_WARPS;
    if (first + WG_WARPS > c->nwarp) {
        fault(w, in, -1, FAULT_NOT_CONVERGED, "a warpgroup is four consecutive warps; warp %u of a CTA of %u is in none",
              w->id, c->nwarp);
        return NULL;
    }
    if (!c->warpgroups) {
        c->warpgroups = make(n * sizeof *c->warpgroups);
        for (uint32_t i = 0; i < n; i++)
            c->warpgroups[i] = (struct warpgroup){ .cta = c, .first = i * WG_WARPS };
    }
    return &c->warpgroups[first / WG_WARPS];
}

static uint32_t rank_of(const struct warp *w) { return w->id % WG_WARPS; }

static void drop(struct warpgroup *g, struct multiplication *m)
{
    for (uint32_t i = 0; i < WG_WARPS; i++)
        if (m->frame[i])
            frame_release(g->cta->sm, m->frame[i]);
    race_issue_end(&m->ordered);
    if (m->acc && --m->acc->refs == 0)
        free(m->acc);
    free(m);
}

void wgmma_close(struct cta *c)
{
    for (uint32_t i = 0; c->warpgroups && i < c->nwarp / WG_WARPS; i++) {
        struct warpgroup *g = &c->warpgroups[i];
        for (struct multiplication *m = g->oldest, *next; m; m = next) {
            next = m->next;
            drop(g, m);
        }
    }
    free(c->warpgroups);
    c->warpgroups = NULL;
}

/* ---------------------------------------------------------------- the end of a multiplication */

static void done(struct cta *c, void *arg, uint64_t now)
{
    struct multiplication *m = arg;
    struct warpgroup *g = m->group;
    if (!c->launch->fault && wg_multiply(m) && m->acc->refs == 1)
        accumulator_store(m->acc);
    g->oldest = m->next;
    if (!g->oldest)
        g->newest = NULL;
    drop(g, m);
    split_wake(c, g, now);
}

/* ---------------------------------------------------------------- its start */

/* Do the registers of D belong to this accumulator? */
static bool same_registers(const struct accumulator *acc, const struct multiplication *m)
{
    const struct operand *d = &m->in->opnd[WG_D];
    if (acc->n != m->in->shape_n || acc->type != m->in->type[0])
        return false;
    for (uint32_t i = 0; i < WG_WARPS; i++)
        for (uint32_t r = 0; r < acc->regs; r++)
            if (acc->row[i][r] != (uint32_t *)(m->frame[i]->regs + d->elem[r].row))
                return false;
    return true;
}

/* One in flight, or NULL. */
static struct accumulator *flying(const struct multiplication *m)
{
    for (const struct multiplication *o = m->group->oldest; o != m; o = o->next)
        if (o->acc && same_registers(o->acc, m))
            return o->acc;
    return NULL;
}

static uint64_t duration(const struct instr *in)
{
    uint32_t n = in->shape_n, most = n / 2 + 1, least = n / 4 + 17;
    return most > least ? most : least;
}

static void start(struct multiplication *m, uint64_t now)
{
    struct warpgroup *g = m->group;
    struct sm *sm = g->cta->sm;
    m->acc = flying(m);
    if (!m->acc) {
        m->acc = make(sizeof *m->acc);
        accumulator_load(m->acc, m);
    }
    m->acc->refs++;
    sm->tensor_free = (sm->tensor_free > now ? sm->tensor_free : now) + duration(m->in);
    uint64_t end = sm->tensor_free + latency(g->cta, LATENCY);
    g->last_end = end > g->last_end ? end : g->last_end;
    event_at(g->cta, g->last_end, done, m);
}

/* ---------------------------------------------------------------- issue */

/* The first that this warp has not issued yet, or a new one. */
static struct multiplication *next_of(struct warpgroup *g, const struct instr *in, uint32_t rank)
{
    struct multiplication *m = g->oldest;
    while (m && m->arrived >> rank & 1)
        m = m->next;
    if (m)
        return m;
    m = make(sizeof *m);
    m->group = g;
    m->in = in;
    m->a_in_registers = in->opnd[WG_A].kind == O_VEC;
    if (g->newest)
        g->newest->next = m;
    else
        g->oldest = m;
    return g->newest = m;
}

/* Of the lanes that have not exited. */
static bool uniform(struct warp *w, const struct instr *in, int which, uint64_t *value)
{
    const uint64_t *row = ROW(w, &in->opnd[which], uint64_t);
    const uint32_t live = warp_live(w);
    *value = row[__builtin_ctz(live)];
    for (int lane = 0; lane < WARP; lane++)
        if (live >> lane & 1 && row[lane] != *value) {
            fault(w, in, lane, FAULT_BAD_OPERAND, "the descriptor of %s differs between lanes", which == WG_A ? "A" : "B");
            return false;
        }
    return true;
}

static bool check_descriptor(struct warp *w, const struct instr *in, bool b, uint64_t bits)
{
    struct smem_desc d = smem_desc_wgmma(bits);
    struct smem_tile t = wg_tile(in, b);
    uint32_t lo = gpu_device(w->cta->launch->gpu)->smem_reserved, hi = lo + w->cta->smem_bytes;
    char buf[200];
    const char *wrong = smem_desc_wrong(bits, &d, &t, buf, sizeof buf);
    if (wrong) {
        fault(w, in, -1, FAULT_BAD_OPERAND, "the descriptor of %s, 0x%llx: %s", b ? "B" : "A",
              (unsigned long long)bits, wrong);
        return false;
    }
    smem_desc_note(w, in, b ? "B" : "A", &d);
    struct smem_extent e = smem_extent(&d, &t);
    if (e.lo >= lo && e.hi <= hi)
        return true;
    fault(w, in, -1, FAULT_OUT_OF_BOUNDS, "the tile of %s (start 0x%x, leading offset %u, stride offset %u, swizzle %u) "
          "covers 0x%x to 0x%x; the CTA's shared memory is 0x%x to 0x%x", b ? "B" : "A", d.start, d.lbo, d.sbo, d.span, e.lo, e.hi, lo, hi);
    return false;
}

/* scale-d must be the same in all lanes. */
static bool read_scale(struct warp *w, const struct instr *in, bool *keep)
{
    const struct operand *o = wg_operand(in, WG_SCALE);
    uint32_t p = o->flags & O_NOT ? ~PRED(w, o) : PRED(w, o), live = warp_live(w);
    *keep = p & live;
    if ((p & live) == 0 || (p & live) == live)
        return true;
    fault(w, in, -1, FAULT_BAD_OPERAND, "scale-d is true in lanes 0x%08x only", p & live);
    return false;
}

/* The first warp says what it is; the others must say the same. */
static bool agree(struct warp *w, const struct instr *in, struct multiplication *m, uint64_t a, uint64_t b, bool keep)
{
    if (m->arrived == 0) {
        m->a = a, m->b = b, m->keep = keep;
        return (m->a_in_registers || check_descriptor(w, in, false, a)) && check_descriptor(w, in, true, b);
    }
    char place[128];
    if (m->in != in)
        fault(w, in, -1, FAULT_NOT_CONVERGED, "another warp of the warpgroup issued the wgmma at %s instead",
              source_place(m->in, place, sizeof place));
    else if (m->a != a || m->b != b)
        fault(w, in, -1, FAULT_BAD_OPERAND, "the descriptor of %s is 0x%llx, and 0x%llx in another warp of the warpgroup",
              m->a != a ? "A" : "B", (unsigned long long)(m->a != a ? a : b), (unsigned long long)(m->a != a ? m->a : m->b));
    else if (m->keep != keep)
        fault(w, in, -1, FAULT_BAD_OPERAND, "scale-d is %s, and not so in another warp of the warpgroup", keep ? "true" : "false");
    else
        return true;
    return false;
}

/* May the multiplication have these registers, for reading or for writing? They may be accumulators in flight, if those of
 * one of the same shape; nothing was put into them behind the fence. */
static bool may_hold(struct warp *w, const struct instr *in, const struct operand *o, enum held_how how)
{
    for (uint32_t i = 0; i < o->n; i++) {
        const struct held_register *r = held_register(w, o->elem[i].row);
        const struct instr *writer = held_unfenced(w, r);
        bool follows = how == HELD_WRITTEN && r->how == HELD_WRITTEN && r->holder->shape_n == in->shape_n &&
                       r->holder->type[0] == in->type[0] && r->holder->opnd[WG_D].elem[i].row == r->row;
        if (r->how != HELD_NOT && !follows && (how == HELD_WRITTEN || r->how == HELD_WRITTEN)) {
            held_fault(w, in, r, how == HELD_WRITTEN);
            return false;
        }
        char place[128];
        if (writer) {
            fault(w, in, -1, FAULT_WGMMA, "register %s.%u was written at %s, and no wgmma.fence stands between",
                  how == HELD_WRITTEN ? "d" : "a", i, source_place(writer, place, sizeof place));
            return false;
        }
    }
    return true;
}

static void hold(struct warp *w, const struct instr *in, const struct operand *o, enum held_how how, uint64_t group)
{
    for (uint32_t i = 0; i < o->n; i++) {
        struct held_register *r = held_register(w, o->elem[i].row);
        r->how = (uint8_t)how;
        r->fault = FAULT_WGMMA;
        r->holder = in;
        r->group = group;
    }
}

static bool hold_registers(struct warp *w, const struct multiplication *m, const struct instr *in, uint64_t group)
{
    const struct operand *a = &in->opnd[WG_A], *d = &in->opnd[WG_D];
    if (!may_hold(w, in, d, HELD_WRITTEN) || (m->a_in_registers && !may_hold(w, in, a, HELD_READ)))
        return false;
    hold(w, in, d, HELD_WRITTEN, group);
    if (m->a_in_registers)
        hold(w, in, a, HELD_READ, group);
    return true;
}

static void arrive(struct warp *w, struct multiplication *m, uint32_t rank)
{
    m->arrived |= 1u << rank;
    m->commits[rank] = m->group->commits[rank];
    m->frame[rank] = w->cur->frame;
    m->frame[rank]->refs++;
    if (wg_sparse(m->in))
        memcpy(m->metadata[rank], ROW(w, &m->in->opnd[WG_METADATA], uint32_t), sizeof m->metadata[rank]);
    for (uint32_t r = 0; m->a_in_registers && r < WG_A_REGS; r++)
        memcpy(m->a_regs[rank][r], ROW(w, &m->in->opnd[WG_A].elem[r], uint32_t), sizeof m->a_regs[rank][r]);
}

/* What it reads must have been written before, and seen by the async proxy, for all four warps. */
static bool tile_is_ordered(struct warp *w, const struct multiplication *m, bool b)
{
    uint32_t chunk[WG_N * 2 * WG_K_BYTES / SMEM_CHUNK];       /* twice the k where A is sparse */
    struct smem_desc d = smem_desc_wgmma(b ? m->b : m->a);
    struct smem_tile t = wg_tile(m->in, b);
    uint32_t n = smem_chunks(&d, &t, chunk);
    return race_tile(w, m->in, RACE_WGMMA, (uint32_t)m->commits[0], m->ordered, w->cta, chunk, n);
}

static int mma_async(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct warpgroup *g = group_of(w, in);
    uint32_t rank = rank_of(w);
    uint64_t a = 0, b = 0;
    bool keep;
    (void)mask;
    if (!g)
        return X_FAULT;
    if (!held_fenced(w))
        return fault(w, in, -1, FAULT_WGMMA, "no wgmma.fence was executed before the first multiplication");
    struct multiplication *m = next_of(g, in, rank);
    if ((!m->a_in_registers && in->opnd[WG_A].kind != O_VEC && !uniform(w, in, WG_A, &a)) || !uniform(w, in, WG_B, &b) ||
        !read_scale(w, in, &keep) || !agree(w, in, m, a, b, keep) ||
        (wg_sparse(in) && !wg_check_metadata(w, in, ROW(w, &in->opnd[WG_METADATA], uint32_t))) ||
        !hold_registers(w, m, in, g->commits[rank]))
        return X_FAULT;
    arrive(w, m, rank);
    race_issue(w, &m->ordered);
    if (m->arrived != ALL_WARPS)
        return X_NEXT;
    if (!(m->a_in_registers || tile_is_ordered(w, m, false)) || !tile_is_ordered(w, m, true))
        return X_FAULT;
    start(m, w->now);
    return X_NEXT;
}

/* ---------------------------------------------------------------- fence, commit, wait */

static int fence(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)mask;
    if (!group_of(w, in))
        return X_FAULT;
    held_fence(w);
    return X_JUMP;                      /* from now on, each instruction is looked at */
}

static int commit(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct warpgroup *g = group_of(w, in);
    (void)mask;
    if (!g)
        return X_FAULT;
    g->commits[rank_of(w)]++;
    return X_NEXT;
}

static int wait(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct warpgroup *g = group_of(w, in);
    uint32_t rank = rank_of(w);
    uint64_t keep = (uint64_t)in->opnd[0].imm;
    (void)mask;
    if (!g)
        return X_FAULT;
    const struct multiplication *m = g->oldest;         /* if any is to be waited for, the oldest is */
    if (!m || !(m->arrived >> rank & 1) || m->commits[rank] + keep >= g->commits[rank]) {
        if (g->commits[rank] > keep) {
            race_work_done(w, RACE_WGMMA, (uint32_t)(g->commits[rank] - keep));
            held_release(w, g->commits[rank] - keep);
        }
        return X_NEXT;
    }
    if (m->arrived == ALL_WARPS)
        return split_sleep(w, g, NEVER, "wgmma.wait_group %u", (unsigned)keep);
    return split_sleep(w, g, NEVER, "wgmma.wait_group %u: warps 0x%x of 4 have issued", (unsigned)keep, m->arrived);
}

exec_fn *pick_WGMMA_FENCE(struct instr *in) { (void)in; return fence; }
exec_fn *pick_WGMMA_COMMIT(struct instr *in) { (void)in; return commit; }
exec_fn *pick_WGMMA_WAIT(struct instr *in) { return in->opnd[0].flags & O_CONST && in->opnd[0].imm >= 0 ? wait : NULL; }

/* ---------------------------------------------------------------- which forms there are */

/* n: a multiple of 8; integers skip the odd ones above 24; those of 8 bits end at 224, but for sparse A. */
static bool has_shape(const struct instr *in)
{
    uint32_t n = in->shape_n, bits = mma_bits(in->type[1]), k_bytes = wg_sparse(in) ? WG_SPARSE_K_BYTES : WG_K_BYTES;
    bool whole = in->type[0] != T_S32 || n <= 24 || n % 16 == 0;
    uint32_t most = in->type[0] == T_S32 && bits == 8 && !wg_sparse(in) ? 224 : WG_N;
    return in->shape_m == WG_M && n >= 8 && n % 8 == 0 && n <= most && whole && in->shape_k * bits == k_bytes * 8;
}

static bool has_types(const struct instr *in)
{
    enum type d = in->type[0], a = in->type[1], b = in->type[2];
    bool fp8 = a == T_E4M3 || a == T_E5M2;
    if (d == T_S32)
        return true;
    if (d == T_F16 && a != T_F16 && !fp8)
        return false;
    return fp8 ? b == T_E4M3 || b == T_E5M2 : a == b;
}

static bool is_one_of(const struct operand *o, int64_t x, int64_t y)
{
    return o->flags & O_CONST && (o->imm == x || o->imm == y);
}

/* 16-bit types have imm-trans for what lies in shared memory, others have none; integers have no immediates. */
static bool has_immediates(const struct instr *in, int trans)
{
    bool half = mma_bits(in->type[1]) == 16;
    if (!is_one_of(wg_operand(in, WG_NEGATE_A), 1, -1) || !is_one_of(wg_operand(in, WG_NEGATE_B), 1, -1))
        return false;
    for (int i = WG_TRANS_A; i < WG_TRANS_A + trans; i++)
        if (half ? !is_one_of(wg_operand(in, i), 0, 1) : wg_operand(in, i)->kind != O_NONE)
            return false;
    return true;
}

static exec_fn *pick(struct instr *in, bool registers)
{
    const struct operand *o = in->opnd;
    bool vectors = o[WG_D].kind == O_VEC && o[WG_D].n == wg_registers(in) &&
                   (registers ? o[WG_A].kind == O_VEC && o[WG_A].n == WG_A_REGS : o[WG_A].kind == O_REG);
    if (!has_shape(in) || !has_types(in) || !vectors || o[WG_B].kind != O_REG || wg_operand(in, WG_SCALE)->kind != O_REG)
        return NULL;
    for (uint32_t i = 0; i < o[WG_D].n; i++)
        if (o[WG_D].elem[i].kind != O_REG || o[WG_D].elem[i].flags & O_CONST)
            return NULL;
    if (wg_sparse(in) && (o[WG_METADATA].kind != O_REG || !(o[WG_SELECTOR].flags & O_CONST)))
        return NULL;
    return mma_async;
}

exec_fn *pick_WGMMA(struct instr *in) { return has_immediates(in, 2) ? pick(in, false) : NULL; }
exec_fn *pick_WGMMA_RS(struct instr *in) { return has_immediates(in, 1) ? pick(in, true) : NULL; }
exec_fn *pick_WGMMA_INT(struct instr *in) { return pick(in, false); }
exec_fn *pick_WGMMA_INT_RS(struct instr *in) { return pick(in, true); }
exec_fn *pick_WGMMA_SP(struct instr *in) { return pick_WGMMA(in); }
exec_fn *pick_WGMMA_SP_RS(struct instr *in) { return pick_WGMMA_RS(in); }
exec_fn *pick_WGMMA_SP_INT(struct instr *in) { return pick(in, false); }
exec_fn *pick_WGMMA_SP_INT_RS(struct instr *in) { return pick(in, true); }
exec_fn *pick_WGMMA_BIT(struct instr *in) { return pick(in, false); }
exec_fn *pick_WGMMA_BIT_RS(struct instr *in) { return pick(in, true); }
