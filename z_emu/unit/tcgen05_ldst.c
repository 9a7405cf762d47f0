/* tcgen05_ldst.c: tcgen05.ld and st between registers and tensor memory, and the waits for them.
 *
 * Modelled: all shapes and counts, packing. A warp reaches its own quarter of the lanes. A load reads, and fills its
 * registers, some cycles later; until then they hold poison. Whoever reads such a register before wait::ld waits for its
 * load, as the ISA promises; that is said once in a launch, for it orders nothing else. Whoever writes one is at fault.
 * A store takes its registers at once and writes later.
 * A register whose whole row of cells nothing has written is a fault; where only some lanes were, the others read poison.
 * PTX ISA: "Tensor Memory and Register Load/Store Instructions". */
#include "tcgen05.h"
#include "tcgen05_layout.h"
#include "../core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 60, PER_REGISTER = 2 };  /* cycles */

/* One load or store under way. */
struct tc_load {
    struct tc_load *next;       /* loads of the same warp */
    struct warp *w;
    const struct instr *in;
    struct frame *frame;
    struct tmem_access *access[2];
    uint32_t naccesses;
    enum tc_shape shape;
    uint32_t n;                 /* registers */
    uint32_t addr, half, per;   /* columns that go into one register: 2 when packed */
    uint64_t issued, end;       /* cycles */
    uint32_t unused;            /* registers that nothing has read */
    bool finished;
    uint32_t value[][WARP];     /* stores */
};

static enum tc_shape shape_of(const struct instr *in)
{
    return has_mod(in, M_s32x32b) ? TC_32X32B : has_mod(in, M_s16x64b) ? TC_16X64B : has_mod(in, M_s16x128b) ? TC_16X128B :
           has_mod(in, M_s16x256b) ? TC_16X256B : TC_16X32BX2;
}

static bool is_reduced(const struct instr *in) { return in->op == OP_TCGEN05_LD_RED; }
static bool is_packed(const struct instr *in) { return has_mod(in, M_pack_16b) || has_mod(in, M_unpack_16b); }

/* ---------------------------------------------------------------- issue */

/* The address is the same in all lanes, and in the warp's quarter. */
static bool check_address(struct warp *w, const struct instr *in, const struct operand *o, enum tc_shape shape, uint32_t *at)
{
    uint64_t addr[WARP];
    mem_addresses(w, o, addr);
    uint32_t first = w->id % 4 * 32, lanes = tc_shape_lanes(shape);
    *at = (uint32_t)addr[0];
    if (w->cta->cluster_rank & 1 && tmem_lane(*at) / TMEM_LANES == 1)
        *at -= TMEM_LANES << 16;    /* the pair's lanes counted through, as in the ISA's picture of layout A: kernels that do
                                       so are right on a chip */
    uint32_t lane = tmem_lane(*at);
    if (warp_live(w) != UINT32_MAX)
        return fault(w, in, -1, FAULT_NOT_CONVERGED, "all 32 threads of the warp must execute it; lanes 0x%08x are there", warp_live(w)), false;
    for (int i = 1; i < WARP; i++)
        if (addr[i] != addr[0])
            return fault(w, in, i, FAULT_BAD_OPERAND, "taddr is 0x%x, and 0x%x in lane 0", (uint32_t)addr[i], *at), false;
    if (lane >= first && lane < first + 32 && (lane - first) % lanes == 0)
        return true;
    fault(w, in, -1, FAULT_TMEM, "taddr 0x%x names lane %u; warp %u reaches lanes %u to %u, so that it must be %u%s", *at, lane, w->id, first,
          first + 31, first, lanes == 16 ? " or 16 more" : "");
    return false;
}

/* The one or two parts that it touches. */
static uint32_t parts_of(const struct tc_load *l, struct tmem_part part[2])
{
    uint32_t column = tmem_column(l->addr), columns = tc_shape_columns(l->shape, l->n) * l->per;
    part[0] = tmem_part(tmem_lane(l->addr), tc_shape_lanes(l->shape), column, columns);
    part[1] = part[0];
    part[1].column = (uint16_t)(column + l->half);
    return l->shape == TC_16X32BX2 ? 2 : 1;
}

static struct tc_load *begin(struct warp *w, const struct instr *in, const struct operand *regs, const struct operand *at,
                             const struct operand *half, bool write)
{
    enum tc_shape shape = shape_of(in);
    const struct tc_user u = { w, in, -1, write ? TC_ST : TC_LD };
    struct tmem_part part[2];
    uint32_t addr;
    if (!check_address(w, in, at, shape, &addr))
        return NULL;
    struct tc_load *l = calloc(1, sizeof *l + regs->n * sizeof l->value[0]);
    if (!l)
        abort();
    *l = (struct tc_load){ .w = w, .in = in, .frame = w->cur->frame, .shape = shape, .n = regs->n, .addr = addr,
                           .half = half->kind == O_NONE ? 0 : (uint32_t)half->imm, .per = is_packed(in) ? 2 : 1 };
    for (uint32_t i = 0, n = parts_of(l, part); i < n; i++)
        if (!tmem_owned(&u, w->cta, part[i].column, part[i].columns, "the access") || !tmem_ordered(&u, w->cta, part[i], write)) {
            free(l);
            return NULL;
        }
    return l;
}

/* Notes what it touches until cycle `end`. */
static void note(struct tc_load *l, enum tc_kind kind, uint64_t end)
{
    const struct tc_user u = { l->w, l->in, -1, kind };
    struct tmem_part part[2];
    l->naccesses = parts_of(l, part);
    l->issued = l->w->now;
    l->end = end;
    for (uint32_t i = 0; i < l->naccesses; i++)
        l->access[i] = tmem_begin(&u, l->w->cta, part[i], kind == TC_ST, end);
}

static void finish(struct tc_load *l, uint64_t now)
{
    for (uint32_t i = 0; i < l->naccesses; i++)
        tmem_finish(tmem_of(l->w->cta->sm), l->access[i], now);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t end_of(struct warp *w, uint32_t registers, uint64_t *latest)
{
    uint64_t end = w->now + latency(w->cta, FIRST + PER_REGISTER * registers);
    return *latest = later(end, *latest);
}

/* ---------------------------------------------------------------- the cells of a register */

static uint32_t *cell_of(const struct tc_load *l, uint32_t t, uint32_t r, uint8_t **written)
{
    struct tmem *m = tmem_of(l->w->cta->sm);
    struct tc_place p = tc_register_place(l->shape, t, r, l->half / l->per);
    uint32_t lane = tmem_lane(l->addr) + p.lane, column = tmem_column(l->addr) + p.column * l->per;
    *written = &m->written[lane][column];
    return &m->cell[lane][column];
}

/* Fills a register's row; false: no lane of it was ever written. */
static bool load_row(const struct tc_load *l, uint32_t r, uint32_t *row)
{
    bool any = false;
    for (uint32_t t = 0; t < WARP; t++) {
        uint8_t *written;
        const uint32_t *cell = cell_of(l, t, r, &written);
        any |= written[0] | written[l->per - 1];
        row[t] = l->per == 2 ? (cell[0] & 0xffff) | cell[1] << 16 : cell[0];
    }
    return any;
}

static void store_row(const struct tc_load *l, uint32_t r)
{
    for (uint32_t t = 0; t < WARP; t++) {
        uint8_t *written;
        uint32_t *cell = cell_of(l, t, r, &written), value = l->value[r][t];
        cell[0] = l->per == 2 ? value & 0xffff : value;
        written[0] = 1;
        if (l->per == 2) {
            cell[1] = value >> 16;
            written[1] = 1;
        }
    }
}

/* ---------------------------------------------------------------- ld */

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* The less (or the greater) of two, as min.f32 and max.f32 have it: -0 below +0; a NaN loses, or with .NaN wins. */
static uint32_t pick_float(uint32_t a, uint32_t b, bool greater, bool nan_wins)
{
    const uint32_t nan = 0x7fffffff;
    float x = as_float(a), y = as_float(b);
    if (isnan(x) || isnan(y))
        return nan_wins || (isnan(x) && isnan(y)) ? nan : isnan(x) ? b : a;
    if (x == y)
        return (a >> 31) == greater ? b : a;
    return (x > y) == greater ? a : b;
}

static uint32_t reduce(const struct instr *in, uint32_t a, uint32_t b)
{
    bool greater = in->mode == M_max;
    switch (in->type[0]) {
    case T_U32: return (a > b) == greater ? a : b;
    case T_S32: return ((int32_t)a > (int32_t)b) == greater ? a : b;
    default: return pick_float(a, b, greater, in->flags & F_NAN);
    }
}

/* .red: each thread's registers, of which .abs takes the magnitudes, into one. */
static void reduce_rows(const struct tc_load *l)
{
    const struct instr *in = l->in;
    uint32_t *to = (uint32_t *)(l->frame->regs + in->opnd[1].row), keep = in->flags & F_ABS ? 0x7fffffff : UINT32_MAX;
    for (uint32_t t = 0; t < WARP; t++)
        for (uint32_t r = 0; r < l->n; r++) {
            uint32_t value = ((const uint32_t *)(l->frame->regs + in->opnd[0].elem[r].row))[t] & keep;
            to[t] = r ? reduce(in, to[t], value) : value;
        }
}

static void load_done(struct cta *c, void *arg, uint64_t now)
{
    struct tc_load *l = arg;
    l->finished = true;
    finish(l, now);
    for (uint32_t r = 0; r < l->n && !c->launch->fault; r++)
        if (!load_row(l, r, (uint32_t *)(l->frame->regs + l->in->opnd[0].elem[r].row)))
            fault(l->w, l->in, -1, FAULT_UNINITIALIZED, "nothing has written column %u of tensor memory, which register %u is to hold",
                  tmem_column(l->addr) + tc_register_place(l->shape, 0, r, l->half / l->per).column * l->per, r);
    if (is_reduced(l->in) && !c->launch->fault)
        reduce_rows(l);
}

/* ---------------------------------------------------------------- registers that a load has yet to fill */

static void note_use(struct tc_load *l, const struct instr *in, const struct held_register *r)
{
    const struct cta *c = l->w->cta;
    char reg[32], loaded[128], used[128], name[256];
    if (__atomic_exchange_n(&c->launch->load_noted, true, __ATOMIC_RELAXED))
        return;
    say("note: kernel %s, CTA (%u,%u,%u), warp %u: register %s of the %s at %s is used at %s, and no tcgen05.wait::ld stands between. "
        "The use waits for its value, as the ISA promises of true register dependencies; that orders nothing else: the "
        "load's columns, and its other registers, are free behind the wait alone",
        plain_name(c->launch->func->name, name, sizeof name), c->id[0], c->id[1], c->id[2], l->w->id, held_name(r, reg, sizeof reg),
        op_mnemonic((enum op)l->in->op), source_place(l->in, loaded, sizeof loaded), source_place(in, used, sizeof used));
}

/* A true dependency is respected without a wait: "Register dependencies, same thread". */
static int use_register(struct warp *w, const struct instr *in, struct held_register *r)
{
    struct tc_load *l = r->owner;
    note_use(l, in, r);
    if (!l->finished)
        return split_sleep(w, l, later(l->end, w->now + 1), "a register of tcgen05.ld");
    if (--l->unused == 0)
        tmem_used(tmem_of(w->cta->sm), w, l->in, l->issued);
    return X_NEXT;
}

/* A register is the load's until it is waited for, or has been read. */
static bool hold(struct tc_load *l, const struct operand *o)
{
    struct warp *w = l->w;
    const struct instr *in = l->in;
    struct held_register *h = held_register(w, o->row);
    if (h && h->how != HELD_NOT)
        return held_fault(w, in, h, true), false;
    if (h) {
        h->how = HELD_WRITTEN;
        h->fault = FAULT_TCGEN05;
        h->holder = in;
        h->group = 0;
        h->used = use_register;
        h->owner = l;
        l->unused++;
    }
    memset(w->regs + o->row, POISON, WARP * 4);
    return true;
}

static bool hold_registers(struct tc_load *l)
{
    for (uint32_t r = 0; r < l->n; r++)
        if (!hold(l, &l->in->opnd[0].elem[r]))
            return false;
    return !is_reduced(l->in) || hold(l, &l->in->opnd[1]);
}

static int load(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tc_warp *s = &tc_state(w->cta)->warp[w->id];
    const struct operand *at = &in->opnd[is_reduced(in) ? 2 : 1];
    struct tc_load *l = begin(w, in, &in->opnd[0], &at[0], &at[1], false);
    (void)mask;
    if (!l)
        return X_FAULT;
    if (!hold_registers(l)) {
        free(l);
        return X_FAULT;
    }
    uint64_t end = end_of(w, l->n, &s->load_end);
    note(l, TC_LD, end);
    l->frame->refs++;
    l->next = s->loads;
    s->loads = l;
    event_at(w->cta, end, load_done, l);
    return X_JUMP;              /* from here on the warp is looked at one instruction at a time */
}

/* ---------------------------------------------------------------- st */

static void store_done(struct cta *c, void *arg, uint64_t now)
{
    struct tc_load *l = arg;
    for (uint32_t r = 0; r < l->n && !c->launch->fault; r++)
        store_row(l, r);
    finish(l, now);
    c->tcgen05->warp[l->w->id].stores--;
    free(l);
}

static int store(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tc_warp *s = &tc_state(w->cta)->warp[w->id];
    struct tc_load *l = begin(w, in, &in->opnd[2], &in->opnd[0], &in->opnd[1], true);
    (void)mask;
    if (!l)
        return X_FAULT;
    uint64_t end = end_of(w, l->n, &s->store_end);
    note(l, TC_ST, end);
    for (uint32_t r = 0; r < l->n; r++)
        memcpy(l->value[r], ROW(w, &in->opnd[2].elem[r], uint32_t), sizeof l->value[r]);
    s->stores++;
    event_at(w->cta, end, store_done, l);
    return X_NEXT;
}

/* ---------------------------------------------------------------- waits */

static void drop_load(struct tc_load *l)
{
    frame_release(l->w->cta->sm, l->frame);
    free(l);
}

static int wait_load(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tc_warp *s = &tc_state(w->cta)->warp[w->id];
    (void)in, (void)mask;
    if (s->loads && !s->loads->finished)                        /* the latest; they end in order */
        return split_sleep(w, s, later(s->load_end, w->now + 1), "tcgen05.wait::ld");
    for (struct tc_load *l = s->loads, *next; l; l = next) {
        next = l->next;
        drop_load(l);
    }
    s->loads = NULL;
    held_release(w, 1);
    tmem_waited(tmem_of(w->cta->sm), w, TC_LD);
    return X_NEXT;
}

static int wait_store(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tc_warp *s = &tc_state(w->cta)->warp[w->id];
    (void)in, (void)mask;
    if (s->stores)
        return split_sleep(w, s, later(s->store_end, w->now + 1), "tcgen05.wait::st");
    tmem_waited(tmem_of(w->cta->sm), w, TC_ST);
    return X_NEXT;
}

void tc_loads_close(struct cta *c)
{
    for (uint32_t i = 0; i < c->nwarp; i++)
        for (struct tc_load *l = c->tcgen05->warp[i].loads, *next; l; l = next) {
            next = l->next;
            drop_load(l);
        }
}

/* ---------------------------------------------------------------- forms */

static bool has_registers(const struct instr *in, const struct operand *regs, const struct operand *half)
{
    enum tc_shape shape = shape_of(in);
    uint32_t n = in->vec * tc_shape_registers(shape);
    if (regs->kind != O_VEC || regs->n != n || n > 128 || (shape == TC_16X32BX2) != (half->kind != O_NONE) ||
        (half->kind != O_NONE && !(half->flags & O_CONST)))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (regs->elem[i].kind != O_REG)
            return false;
    return true;
}

exec_fn *pick_TCGEN05_LD(struct instr *in) { return has_registers(in, &in->opnd[0], &in->opnd[2]) ? load : NULL; }
exec_fn *pick_TCGEN05_LD_RED(struct instr *in)
{
    bool floats = in->type[0] == T_F32 || !(in->flags & (F_ABS | F_NAN));
    return floats && in->vec > 1 && in->opnd[1].kind == O_REG && has_registers(in, &in->opnd[0], &in->opnd[3]) ? load : NULL;
}
exec_fn *pick_TCGEN05_ST(struct instr *in) { return has_registers(in, &in->opnd[2], &in->opnd[1]) ? store : NULL; }
exec_fn *pick_TCGEN05_WAIT_LD(struct instr *in) { (void)in; return wait_load; }
exec_fn *pick_TCGEN05_WAIT_ST(struct instr *in) { (void)in; return wait_store; }
