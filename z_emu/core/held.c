/* held.c: registers that asynchronous hardware goes on using after an instruction was issued, until a wait for it.
 *
 * A warp that has begun to use such instructions is run one instruction at a time, and what each is about to read or write is
 * looked up here. So a missing wait is found from the order of a warp's own instructions, whether or not the hardware
 * happened to be done. Where the ISA has the reader wait by itself (tcgen05.ld), it does so here. It is remembered, too, who
 * wrote such a register last: some hardware wants a fence behind that.
 * Functions that the kernel calls have registers of their own and are not looked at.
 */
#include "core.h"
#include "../ptx/ptx.h"

#include <stdlib.h>

enum { CELL = 64 };     /* rows of 32-bit registers begin at multiples of it, and no two in one */

struct held {
    const struct frame *frame;
    uint64_t step, fenced;              /* instructions looked at; the number of the last fence, 0: none */
    uint32_t n, room;
    struct held_register *reg;
    uint16_t *slot;                     /* by row / CELL: index + 1 into reg; 0: not such a register */
};

/* ---------------------------------------------------------------- which registers there are */

static void on_register(void *ctx, uint32_t *row, uint8_t access)
{
    struct held *h = ctx;
    (void)access;
    if (*row >= h->frame->func->const_row || h->slot[*row / CELL])
        return;
    if (h->n == h->room) {
        h->room = h->room ? 2 * h->room : 64;
        h->reg = realloc(h->reg, h->room * sizeof *h->reg);
        if (!h->reg)
            abort();
    }
    h->reg[h->n] = (struct held_register){ .row = *row };
    h->slot[*row / CELL] = (uint16_t)++h->n;
}

static bool is_asynchronous(const struct instr *in)
{
    const struct row *row = row_of((enum op)in->op);
    for (uint32_t i = 0; i < in->nopnd; i++)
        if (row->spec[i].async)
            return true;
    return false;
}

static void collect(struct held *h)
{
    const struct func *f = h->frame->func;
    for (uint32_t pc = 0; pc < f->ninstr; pc++) {
        const struct row *row = row_of((enum op)f->code[pc].op);
        for (uint32_t i = 0; i < f->code[pc].nopnd; i++)
            if (row->spec[i].async)
                each_reg_of(&f->code[pc].opnd[i], on_register, h);
    }
}

static void forget(struct held *h)
{
    free(h->slot);
    free(h->reg);
    h->slot = NULL;
    h->reg = NULL;
    h->n = h->room = 0;
}

/* The warp's, for the function that it is in. */
static struct held *held_of(struct warp *w)
{
    struct held *h = w->held;
    if (h && h->frame == w->cur->frame)
        return h;
    if (!h && !(h = w->held = calloc(1, sizeof *h)))
        abort();
    forget(h);
    h->frame = w->cur->frame;
    h->slot = calloc(h->frame->func->frame_bytes / CELL + 1, sizeof *h->slot);
    if (!h->slot)
        abort();
    collect(h);
    return h;
}

void held_free(struct warp *w)
{
    if (w->held)
        forget(w->held);
    free(w->held);
    w->held = NULL;
}

static struct held_register *find(const struct held *h, uint32_t row)
{
    uint32_t slot = row < h->frame->func->const_row ? h->slot[row / CELL] : 0;
    return slot && h->reg[slot - 1].row == row ? &h->reg[slot - 1] : NULL;
}

struct held_register *held_register(struct warp *w, uint32_t row) { return find(held_of(w), row); }

/* ---------------------------------------------------------------- fences and waits */

void held_fence(struct warp *w)
{
    struct held *h = held_of(w);
    h->fenced = ++h->step;
}

bool held_fenced(struct warp *w) { return w->held && w->held->fenced; }

const struct instr *held_unfenced(struct warp *w, const struct held_register *r)
{
    return r->written > w->held->fenced ? r->writer : NULL;
}

void held_release(struct warp *w, uint64_t groups)
{
    struct held *h = w->held;
    for (uint32_t i = 0; h && i < h->n; i++)
        if (h->reg[i].group < groups)
            h->reg[i].how = HELD_NOT;
}

/* ---------------------------------------------------------------- what an instruction is about to touch */

/* "d" for what the table calls "xd": read and written. */
static const char *operand_letter(const struct instr *in, uint32_t i)
{
    const char *name = operand_name((enum op)in->op, i);
    return name[0] == 'x' && name[1] ? name + 1 : name;
}

const char *held_name(const struct held_register *r, char *buf, size_t len)
{
    const struct instr *by = r->holder;
    snprintf(buf, len, "?");
    for (uint32_t i = 0; i < by->nopnd; i++)
        for (uint32_t e = 0; e < (by->opnd[i].kind == O_VEC ? by->opnd[i].n : 1u); e++) {
            const struct operand *o = by->opnd[i].kind == O_VEC ? &by->opnd[i].elem[e] : &by->opnd[i];
            if (o->kind != O_REG || o->row != r->row)
                continue;
            if (o == &by->opnd[i])
                snprintf(buf, len, "%s", operand_letter(by, i));
            else
                snprintf(buf, len, "%s.%u", operand_letter(by, i), e);
        }
    return buf;
}

int held_fault(struct warp *w, const struct instr *in, const struct held_register *r, bool writes)
{
    char place[128], name[32];
    return fault(w, in, -1, r->fault, "this %s register %s of the %s at %s, which %s it and has not been waited for",
                 writes ? "writes" : "reads", held_name(r, name, sizeof name), op_mnemonic((enum op)r->holder->op),
                 source_place(r->holder, place, sizeof place), r->how == HELD_WRITTEN ? "writes" : "reads");
}

struct look { struct warp *w; const struct instr *in; int status; bool moves, writes_held; };

static void note_write(struct look *l, struct held_register *r)
{
    r->written = l->moves ? 0 : l->w->held->step;
    r->writer = l->in;
}

/* Reads come first, in whatever order the operands stand: they may free what the instruction writes. */
static void on_access(void *ctx, uint32_t *row, uint8_t access)
{
    struct look *l = ctx;
    struct held_register *r = find(l->w->held, *row);
    if (!r || l->status != X_NEXT)
        return;
    if (r->how == HELD_WRITTEN && access != ACC_WRITE) {
        l->status = r->used ? r->used(l->w, l->in, r) : held_fault(l->w, l->in, r, false);
        r->how = l->status == X_NEXT ? HELD_NOT : r->how;
    }
    if ((access & ACC_WRITE) && r->how == HELD_NOT)
        note_write(l, r);
    l->writes_held |= (access & ACC_WRITE) && r->how != HELD_NOT;
}

static void on_late_write(void *ctx, uint32_t *row, uint8_t access)
{
    struct look *l = ctx;
    struct held_register *r = find(l->w->held, *row);
    if (!r || !(access & ACC_WRITE) || l->status != X_NEXT)
        return;
    if (r->how != HELD_NOT)
        l->status = held_fault(l->w, l->in, r, true);
    note_write(l, r);
}

/* Compilers put constants and copies into registers anywhere before they are used, behind a fence as well; ptxas moves them
 * out of the way. (The row may have been another register's until then.) */
static bool is_move(const struct instr *in) { return in->op == OP_MOV && in->opnd[1].kind == O_REG; }

static bool is_skipped(const struct split *s, const struct instr *in)
{
    if (in->guard == ROW_NONE)
        return false;
    uint32_t p = *(const uint32_t *)(s->frame->regs + in->guard);
    return !(s->mask & (in->guard_neg ? ~p : p));
}

/* What an instruction reads besides the registers that its unit looks at. */
static void look_beside(struct look *l)
{
    struct instr *in = (struct instr *)l->in;
    const struct row *row = row_of((enum op)in->op);
    for (uint32_t i = 0; i < in->nopnd; i++)
        if (!row->spec[i].async)
            each_reg_of(&in->opnd[i], on_access, l);
}

/* May the split execute its next instruction? X_FAULT: a fault was reported; X_RETRY: not yet, it sleeps. */
int held_allows(struct warp *w, const struct split *s)
{
    if (s->frame != w->held->frame || s->pc == s->rpc)
        return X_NEXT;
    const struct instr *in = &s->frame->func->code[s->pc];
    if (is_skipped(s, in))
        return X_NEXT;
    struct look l = { w, in, X_NEXT, is_move(in), false };
    if (is_asynchronous(in)) {
        look_beside(&l);
        return l.status;
    }
    w->held->step++;
    each_reg((struct instr *)in, on_access, &l);
    if (l.writes_held)
        each_reg((struct instr *)in, on_late_write, &l);
    return l.status;
}
