/* core/stack.c: alloca, stacksave, stackrestore.
 *
 * Frames fill a thread's local memory from its first byte up (core/control.c); what alloca gives comes from the
 * end down. Each frame that allocates keeps its lanes' stack pointers, so that they are restored when it returns. */
#include <stdlib.h>

#include "core/core.h"
#include "core/memory.h"

/* The innermost frame that has moved its stack pointers: they hold for the running one too. NULL: none has. */
static const struct frame *last_moved(const struct warp *w)
{
    const struct frame *f = w->cur->frame;
    while (f && !f->stack)
        f = f->parent;
    return f;
}

static uint32_t top_of(const struct warp *w, uint32_t lane)
{
    const struct frame *f = last_moved(w);
    return f ? f->stack[lane] : w->cta->local_bytes;
}

uint32_t stack_room(const struct warp *w, uint32_t mask)
{
    const struct frame *f = last_moved(w);
    uint32_t least = w->cta->local_bytes;
    FOR_LANES(i, f ? mask : 0)
        least = f->stack[i] < least ? f->stack[i] : least;
    return least;
}

static uint32_t *own_stack(struct warp *w)
{
    struct frame *f = w->cur->frame;
    if (!f->stack) {
        uint32_t *stack = malloc(WARP * sizeof *stack);
        if (!stack)
            abort();
        for (uint32_t i = 0; i < WARP; i++)
            stack[i] = top_of(w, i);
        f->stack = stack;
    }
    return f->stack;
}

static uint64_t row_get(const struct warp *w, const struct operand *o, uint32_t lane)
{
    return o->width == 8 ? ROW(w, o, uint64_t)[lane] : ROW(w, o, uint32_t)[lane];
}

static void row_set(struct warp *w, const struct operand *o, uint32_t lane, uint64_t value)
{
    memcpy(w->regs + o->row + lane * o->width, &value, o->width);
}

static int alloca_lanes(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t *top = own_stack(w);
    const struct frame *f = w->cur->frame;
    const uint64_t floor = f->local_base + f->func->local_bytes;
    const uint64_t align = in->opnd[2].kind != O_NONE && in->opnd[2].imm > 8 ? (uint64_t)in->opnd[2].imm : 8;
    FOR_LANES(i, mask) {
        uint64_t size = row_get(w, &in->opnd[1], i), at = (top[i] - size) & ~(align - 1);
        if (size > top[i] || at < floor)
            return fault(w, in, (int)i, FAULT_STACK, "asks for %llu bytes of the stack, which has %llu left",
                         (unsigned long long)size, (unsigned long long)(top[i] > floor ? top[i] - floor : 0));
        mem_poison_local(w, 1u << i, (uint32_t)at, (uint32_t)size);
        top[i] = (uint32_t)at;
        row_set(w, &in->opnd[0], i, at);
    }
    return X_NEXT;
}

static int stacksave(struct warp *w, const struct instr *in, uint32_t mask)
{
    FOR_LANES(i, mask) row_set(w, &in->opnd[0], i, top_of(w, i));
    return X_NEXT;
}

static int stackrestore(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint32_t *top = own_stack(w);
    FOR_LANES(i, mask) {
        uint64_t to = row_get(w, &in->opnd[0], i);
        if (to < top[i] || to > w->cta->local_bytes)
            return fault(w, in, (int)i, FAULT_STACK, "0x%llx is no stack pointer that stacksave gave",
                         (unsigned long long)to);
        top[i] = (uint32_t)to;
    }
    return X_NEXT;
}

static bool is_word(const struct operand *o) { return o->kind == O_REG && (o->width == 4 || o->width == 8); }

exec_fn *pick_ALLOCA(struct instr *in)
{
    const struct operand *align = &in->opnd[2];
    bool power = align->kind == O_NONE ||
                 (align->flags & O_CONST && align->imm > 0 && !(align->imm & (align->imm - 1)));
    return is_word(&in->opnd[0]) && is_word(&in->opnd[1]) && power ? alloca_lanes : NULL;
}

exec_fn *pick_STACKSAVE(struct instr *in) { return is_word(&in->opnd[0]) ? stacksave : NULL; }
exec_fn *pick_STACKRESTORE(struct instr *in) { return is_word(&in->opnd[0]) ? stackrestore : NULL; }
