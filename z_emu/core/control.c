/* control.c: branches, calls, returns, the end of threads. */
#include "core.h"

#include <string.h>

/* ---------------------------------------------------------------- branches */

/* The lanes of mask go to `target`, the others of the split on. */
static int branch(struct warp *w, const struct instr *in, uint32_t mask, uint32_t target)
{
    struct split *s = w->cur;
    if (mask == s->mask) {
        s->pc = target;
        return X_NEXT;
    }
    split_goto(w, split_divide(w, mask, in->rpc), target);
    return X_NEXT;
}

static int exec_bra(struct warp *w, const struct instr *in, uint32_t mask)
{
    return branch(w, in, mask, (uint32_t)in->opnd[0].imm);
}

exec_fn *pick_BRA(struct instr *in)
{
    return in->opnd[0].kind == O_LABEL ? exec_bra : NULL;
}

static int exec_brx(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint32_t *index = ROW(w, &in->opnd[0], uint32_t);
    const struct operand *targets = &in->opnd[1];
    while (mask) {                              /* a group of lanes per target */
        uint32_t lane = (uint32_t)__builtin_ctz(mask), i = index[lane], group = 0;
        if (i >= targets->n)
            return fault(w, in, (int)lane, FAULT_BAD_OPERAND, "index %u of a branch with %u targets", i, targets->n);
        FOR_LANES(l, mask)
            group |= (uint32_t)(index[l] == i) << l;
        branch(w, in, group, (uint32_t)targets->elem[i].imm);
        mask &= ~group;
    }
    return X_NEXT;
}

exec_fn *pick_BRX(struct instr *in)
{
    (void)in;
    return exec_brx;
}

/* ---------------------------------------------------------------- calls
 * Parameters lie in local memory. A function's frame begins where its caller's ends; its inputs stand at
 * param[i].offset, its results at ret[i].offset. */

static uint8_t *local_at(const struct warp *w, int lane, uint32_t offset, uint8_t **init)
{
    const struct cta *c = w->cta;
    size_t at = ((size_t)w->id * WARP + (uint32_t)lane) * c->local_bytes + offset;
    *init = c->local_init + at;
    return c->local + at;
}

static void copy_slot(struct warp *w, uint32_t mask, uint32_t dst, uint32_t src, uint32_t bytes)
{
    FOR_LANES(lane, mask) {
        uint8_t *to_init, *from_init, *to = local_at(w, (int)lane, dst, &to_init);
        const uint8_t *from = local_at(w, (int)lane, src, &from_init);
        memcpy(to, from, bytes);
        memcpy(to_init, from_init, bytes);
    }
}

static uint32_t frame_end(const struct frame *f)
{
    return f->local_base + (f->func->local_bytes + 15) / 16 * 16;
}

/* All of the running split enters f. */
static int enter(struct warp *w, const struct instr *in, const struct func *f)
{
    struct split *s = w->cur;
    struct frame *caller = s->frame;
    uint32_t base = frame_end(caller);
    char name[256];
    uint32_t need = f->local_bytes > 16 ? f->local_bytes : 16;      /* at least something: recursion must end */
    uint32_t room = stack_room(w, s->mask);
    if (base + need > room)
        return fault(w, in, __builtin_ctz(s->mask), FAULT_STACK,
                     "%s needs %u bytes more than the %u there are per thread", plain_name(f->name, name, sizeof name),
                     base + need - room, room);
    mem_poison_local(w, s->mask, base, f->local_bytes);
    const struct operand *args = &in->opnd[1];
    for (uint32_t i = 0; args->kind == O_VEC && i < args->n && i < f->nparam; i++)
        copy_slot(w, s->mask, base + f->param[i].offset, caller->local_base + (uint32_t)args->elem[i].imm,
                  f->param[i].size);
    struct frame *callee = frame_new(w->cta, f, caller, base);
    callee->return_pc = s->pc;
    split_enter(w, s, callee);
    s->pc = 0;
    return X_JUMP;
}

/* What the system provides gets its arguments laid out one behind the other, as the callee would see them. */
static int call_system(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct func *f = in->opnd[0].sym->func;
    const struct operand *args = &in->opnd[1], *rets = &in->opnd[2];
    struct slots slots = { .base = w->cur->frame->local_base };
    for (uint32_t i = 0; args->kind == O_VEC && i < args->n && i < MAX_SLOTS; i++)
        slots.arg[slots.nargs++] = (uint32_t)args->elem[i].imm;
    if (rets->kind == O_VEC && rets->n)
        slots.ret = (uint32_t)rets->elem[0].imm;
    return syscall_find(f->name)(w, in, mask, &slots);
}

/* The lanes of mask call f; others of the split meet them behind the call. */
static int call(struct warp *w, const struct instr *in, uint32_t mask, const struct func *f)
{
    struct split *s = w->cur;
    uint32_t after = s->pc;
    if (mask != s->mask)
        split_goto(w, split_divide(w, s->mask & ~mask, after), after);
    return enter(w, in, f);
}

static int exec_call(struct warp *w, const struct instr *in, uint32_t mask)
{
    return call(w, in, mask, in->opnd[0].sym->func);
}

/* Lanes with the first lane's target call it. The others come back to this instruction on their own. */
static int exec_call_indirect(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint64_t *target = ROW(w, &in->opnd[0], uint64_t);
    uint32_t lane = (uint32_t)__builtin_ctz(mask), group = 0, here = (uint32_t)(in - in->func->code);
    const struct func *f = func_at(w->cta->launch->gpu, target[lane]);
    if (!f)
        return fault(w, in, (int)lane, FAULT_BAD_OPERAND, "0x%llx is not the address of a function",
                     (unsigned long long)target[lane]);
    if (f->is_extern || f->is_kernel)
        return fault(w, in, (int)lane, FAULT_BAD_OPERAND, "%s cannot be called through a pointer", f->name);
    FOR_LANES(l, mask)
        group |= (uint32_t)(target[l] == target[lane]) << l;
    if (group != mask)
        split_goto(w, split_divide(w, mask & ~group, here + 1), here);
    return call(w, in, group, f);
}

exec_fn *pick_CALL(struct instr *in)
{
    const struct operand *target = &in->opnd[0];
    if (target->kind == O_REG)
        return target->width == 8 ? exec_call_indirect : NULL;
    if (target->kind != O_FUNC || !target->sym->func)
        return NULL;
    if (!target->sym->func->is_extern)
        return exec_call;
    return syscall_find(target->sym->func->name) ? call_system : NULL;
}

/* The running split, all of it, leaves its function. */
static int leave(struct warp *w)
{
    struct split *s = w->cur;
    struct frame *f = s->frame, *caller = f->parent;
    const struct func *fn = f->func;
    const struct operand *rets = &caller->func->code[f->return_pc - 1].opnd[2];
    for (uint32_t i = 0; rets->kind == O_VEC && i < rets->n && i < fn->nret; i++)
        copy_slot(w, s->mask, caller->local_base + (uint32_t)rets->elem[i].imm, f->local_base + fn->ret[i].offset,
                  fn->ret[i].size);
    s->pc = f->return_pc;
    caller->refs++;
    split_enter(w, s, caller);
    frame_release(w->cta->sm, f);
    return X_JUMP;
}

/* A divergent return waits, at the end of the function, for all who entered it together. */
static int exec_ret(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in;
    return split_return(w, mask) ? X_NEXT : leave(w);
}

static int exec_exit(struct warp *w, const struct instr *in, uint32_t mask)
{
    return bulk_exit(w, in, mask) && race_exit_cta(w, in, mask) ? split_exit(w, mask) : X_FAULT;
}

exec_fn *pick_RET(struct instr *in)
{
    return in->func->is_kernel ? exec_exit : exec_ret;
}

exec_fn *pick_EXIT(struct instr *in)
{
    (void)in;
    return exec_exit;
}

/* ---------------------------------------------------------------- traps and pauses */

static int exec_trap(struct warp *w, const struct instr *in, uint32_t mask)
{
    return fault(w, in, __builtin_ctz(mask), FAULT_TRAP, "%s",
                 in->op == OP_BRKPT ? "a breakpoint, and no debugger" : "the kernel asked for it");
}

exec_fn *pick_TRAP(struct instr *in)
{
    (void)in;
    return exec_trap;
}

exec_fn *pick_BRKPT(struct instr *in)
{
    (void)in;
    return exec_trap;
}

/* Sleeps for the longest of the lanes' times. The chip may sleep between 0 and twice as long. */
static int exec_nanosleep(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint32_t *t = ROW(w, &in->opnd[0], uint32_t);
    uint64_t longest = 0;
    FOR_LANES(lane, mask)
        longest = t[lane] > longest ? t[lane] : longest;
    uint64_t cycles = longest * gpu_device(w->cta->launch->gpu)->clock_khz / 1000000;
    split_block(w, NULL, w->now + latency(w->cta, cycles), "nanosleep");
    return X_JUMP;
}

exec_fn *pick_NANOSLEEP(struct instr *in)
{
    (void)in;
    return exec_nanosleep;
}

/* Profiler events are counted by no one here. */
static int exec_pmevent(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
    return X_NEXT;
}

exec_fn *pick_PMEVENT(struct instr *in)
{
    (void)in;
    return exec_pmevent;
}
