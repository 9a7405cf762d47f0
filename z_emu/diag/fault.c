/* fault.c: reports a broken rule: which, where (kernel, CTA, warp, lane, source line), the PTX and what its operands
 * were, what the caller found, and what to do about it. The first fault of a launch ends it; later ones
 * are counted. */
#include "diag.h"

#include <string.h>

static const struct { const char *name; int cuda_error; const char *rule; } faults[FAULT_COUNT] = {
#define FAULT(id, cuda_error, rule) [FAULT_##id] = { #id, cuda_error, rule },
#include "faults.def"
#undef FAULT
};

static const char *hint_of(enum fault_id id)
{
    switch (id) {
    case FAULT_OUT_OF_BOUNDS:
        return "compare the index with the size of the allocation; does a guard such as `if (i < n)` lack?";
    case FAULT_NULL_POINTER:
        return "was the pointer ever set, and was the error of its allocation checked?";
    case FAULT_HOST_POINTER:
        return "use cudaMalloc and copy to it first, or cudaMallocManaged, for what a kernel reads and writes";
    case FAULT_USE_AFTER_FREE:
        return "the pointer outlived its memory: free it after the kernel has finished";
    case FAULT_MISALIGNED:
        return "a vector access needs an address that is a multiple of its own size, not of the element's";
    case FAULT_UNINITIALIZED:
        return "nothing wrote these bytes since they were allocated: copy or set them first, or order the write before "
               "this read";
    case FAULT_NOT_CONVERGED:
        return "move it to where all lanes of the warp come by together, out of the branch that only some take";
    case FAULT_STACK:
        return "is a recursion without end? else raise cudaLimitStackSize";
    default:
        return NULL;
    }
}

/* ---------------------------------------------------------------- operands */

static void report_bits(struct report *r, const uint8_t *row, uint32_t width, int lane, enum type t)
{
    uint64_t bits = 0;
    if (width == 0) {
        report(r, "%s", *(const uint32_t *)row >> lane & 1 ? "true" : "false");
        return;
    }
    memcpy(&bits, row + (size_t)lane * width, width > 8 ? 8 : width);
    if (t == T_F32 && width == 4) {
        float f;
        memcpy(&f, &bits, 4);
        report(r, "%g (0x%08x)", (double)f, (uint32_t)bits);
    } else if (t == T_F64 && width == 8) {
        double d;
        memcpy(&d, &bits, 8);
        report(r, "%g", d);
    } else if (width == 8) {
        report(r, "0x%llx", (unsigned long long)bits);
    } else {
        report(r, "%lld (0x%llx)", (long long)(width == 4 ? (int32_t)bits : (int16_t)bits), (unsigned long long)bits);
    }
}

static void report_operand(struct report *r, const uint8_t *regs, const struct operand *o, const char *name, int lane,
                           enum type t)
{
    if (o->kind == O_REG) {
        report(r, "%s = ", name);
        report_bits(r, regs + o->row, o->width, lane, t);
        report(r, "   ");
    } else if (o->kind == O_MEM && o->row != ROW_NONE) {
        uint64_t at = 0;
        memcpy(&at, regs + o->row + (size_t)lane * o->width, o->width == 4 ? 4 : 8);
        report(r, "[%s] = 0x%llx", name, (unsigned long long)at + (uint64_t)o->imm);
        if (o->imm)
            report(r, " (register 0x%llx, offset %lld)", (unsigned long long)at, (long long)o->imm);
        report(r, "   ");
    } else if (o->kind == O_VEC) {
        char element[32];
        for (uint32_t i = 0; i < o->n && i < 8; i++) {
            snprintf(element, sizeof element, "%s.%u", name, i);
            report_operand(r, regs, &o->elem[i], element, lane, t);
        }
    }
}

/* What it reads; what it would have written says nothing yet. */
static void report_operands(struct report *r, const struct warp *w, const struct instr *in, int lane)
{
    size_t begin = r->len;
    report(r, "      ");
    size_t before = r->len;
    for (uint32_t i = 0; i < in->nopnd; i++) {
        const char *name = operand_name((enum op)in->op, i);
        if (name && name[0] != 'd' && in->op != OP_CALL)
            report_operand(r, w->regs, &in->opnd[i], name, lane,
                           in->ntype ? (enum type)in->type[in->ntype - 1] : T_NONE);
    }
    while (r->len > before && r->s[r->len - 1] == ' ')
        r->len--;
    if (r->len == before)
        r->len = begin;
    else
        report(r, "\n");
}

/* ---------------------------------------------------------------- reports */

/* As on the chip, a fault ends all that runs: a dependent grid would only trip over what the first one left undone. */
static void cancel_others(struct launch *l)
{
    for (struct launch *x = l->gpu->launches; x; x = x->next)
        if (x != l && !x->done && !x->fault) {
            x->fault = FAULT_CANCELLED;
            x->cuda_error = l->cuda_error;
        }
}

static bool first_fault(struct launch *l, enum fault_id id)
{
    pthread_mutex_lock(&l->gpu->lock);
    bool first = l->fault == FAULT_NONE;
    if (first) {
        l->fault = id;
        l->cuda_error = faults[id].cuda_error;
        cancel_others(l);
    }
    l->faults++;
    pthread_mutex_unlock(&l->gpu->lock);
    return first;
}

static void report_head(struct report *r, enum fault_id id)
{
    char name[64];
    size_t i = 0;
    for (; faults[id].name[i] && i + 1 < sizeof name; i++)
        name[i] = faults[id].name[i] == '_' ? ' ' : faults[id].name[i];
    name[i] = 0;
    report(r, "z_emu: %s: %s\n", name, faults[id].rule);
}

static void report_thread(struct report *r, const struct warp *w, int lane)
{
    const struct cta *c = w->cta;
    const uint32_t *b = c->launch->block;
    uint32_t thread = w->id * WARP + (uint32_t)(lane < 0 ? 0 : lane);
    char name[256];
    report(r, "   kernel %s, CTA (%u,%u,%u)", plain_name(c->launch->func->name, name, sizeof name), c->id[0], c->id[1],
           c->id[2]);
    if (lane < 0)
        report(r, ", warp %u", w->id);
    else
        report(r, ", thread (%u,%u,%u): warp %u, lane %d", thread % b[0], thread / b[0] % b[1], thread / b[0] / b[1],
               w->id, lane);
    report(r, ", cycle %llu\n", (unsigned long long)(w->now - c->launch->start_cycle));
}

enum { SHOWN_CALLS = 8 };

static void report_calls(struct report *r, const struct frame *f)
{
    char place[256], name[256];
    int depth = 0;
    for (; f && f->parent; f = f->parent, depth++) {
        if (depth < SHOWN_CALLS)
            report(r, "   in %s, called at %s\n", plain_name(f->func->name, name, sizeof name),
                   source_place(&f->parent->func->code[f->return_pc - 1], place, sizeof place));
    }
    if (depth > SHOWN_CALLS)
        report(r, "   and %d calls further out\n", depth - SHOWN_CALLS);
}

static int report_fault(struct warp *w, const struct instr *in, int lane, enum fault_id id, const char *what,
                        const struct instr *other, const char *hint)
{
    struct report r = { 0 };
    char text[256];
    report_head(&r, id);
    report_thread(&r, w, lane);
    if (in) {
        report_source(&r, in, "   ");
        report(&r, "   %s;\n", instr_text(in, text, sizeof text));
        if (w->cur)
            report_operands(&r, w, in, lane < 0 ? 0 : lane);
    }
    if (w->cur)
        report_calls(&r, w->cur->frame);
    report(&r, "   %s\n", what);
    if (other) {
        report_source(&r, other, "   ");
        report(&r, "   %s;\n", instr_text(other, text, sizeof text));
    }
    if (hint)
        report(&r, "   hint: %s\n", hint);
    report_end(&r);
    return X_FAULT;
}

int fault(struct warp *w, const struct instr *in, int lane, enum fault_id id, const char *fmt, ...)
{
    char what[1024];
    if (!first_fault(w->cta->launch, id))
        return X_FAULT;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return report_fault(w, in, lane, id, what, NULL, hint_of(id));
}

int fault_between(struct warp *w, const struct instr *in, int lane, enum fault_id id, const char *what,
                  const struct instr *other, const char *hint)
{
    return first_fault(w->cta->launch, id) ? report_fault(w, in, lane, id, what, other, hint) : X_FAULT;
}

void fault_launch(struct launch *l, enum fault_id id, const char *fmt, ...)
{
    struct report r = { 0 };
    char what[16384], name[256];
    if (!first_fault(l, id))
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    report_head(&r, id);
    report(&r, "   kernel %s, grid (%u,%u,%u), block (%u,%u,%u)\n%s\n", plain_name(l->func->name, name, sizeof name),
           l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], what);
    report_end(&r);
}

void say(const char *fmt, ...)
{
    struct report r = { 0 };
    char what[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    report(&r, "z_emu: %s\n", what);
    report_end(&r);
}
