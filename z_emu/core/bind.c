/* bind.c: makes a parsed module ready to run on one gpu: a handler and an issue cost for every instruction,
 * addresses for variables and functions, values for constants. What the emulator, or this chip, does not
 * know is refused here, by name and line, before anything has run. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) pick_fn pick_##id;
#include "../ptx/instructions.def"
#undef INSTR

static const struct { pick_fn *pick; uint8_t cost; } rows[OP_COUNT] = {
#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) [OP_##id] = { pick_##id, cost },
#include "../ptx/instructions.def"
#undef INSTR
};

/* ---------------------------------------------------------------- instructions */

static bool refuse(const struct instr *in, char *err, size_t errlen, const char *why)
{
    char text[256];
    const char *file = NULL;
    uint32_t line = ptx_line_of(in, &file);
    int n = snprintf(err, errlen, "%s, line %u of the PTX", in->func->module->name, in->ptx_line);
    if (line && n >= 0 && (size_t)n < errlen)
        n += snprintf(err + n, errlen - (size_t)n, " (%s:%u)", file, line);
    if (n >= 0 && (size_t)n < errlen)
        snprintf(err + n, errlen - (size_t)n, ": %s\n    %s", why, instr_text(in, text, sizeof text));
    return false;
}

/* Loads and atomics that others' writes are awaited with: the split is away until the answer is there. */
static bool stalls(const struct instr *in)
{
    switch (in->op) {
    case OP_LD:
        return (in->flags & (F_VOLATILE | F_MMIO)) || in->sem == M_relaxed || in->sem == M_acquire;
    case OP_ATOM:
    case OP_ATOM_CAS:
        return true;
    default:
        return false;
    }
}

static bool bind_instr(const struct gpu *g, struct instr *in, char *err, size_t errlen)
{
    char why[160];
    in->cost = g->device->cost[rows[in->op].cost];
    in->exec = rows[in->op].pick ? rows[in->op].pick(in) : NULL;
    if (!in->exec) {
        snprintf(why, sizeof why, "this form of '%s' is not known to the emulator", op_mnemonic(in->op));
        return refuse(in, err, errlen, why);
    }
    exec_fn *wrapper = in->flags & F_ALIGNED ? exec_aligned : stalls(in) ? exec_stall : NULL;
    if (wrapper) {
        in->inner = in->exec;
        in->exec = wrapper;
    }
    return true;
}

/* ---------------------------------------------------------------- variables */

static bool place_variable(struct gpu *g, const struct module *m, struct symbol *v, char *err, size_t errlen)
{
    char what[300], name[256];
    if (v->space != SP_GLOBAL && v->space != SP_CONST)
        return true;
    if (v->is_extern) {
        snprintf(err, errlen, "%s: nothing defines the extern variable %s", m->name, v->name);
        return false;
    }
    const char *kind = v->space == SP_CONST ? "__constant__" : v->managed ? "__managed__" : "__device__";
    snprintf(what, sizeof what, "%s %s", kind, plain_name(v->name, name, sizeof name));
    size_t size = v->size ? v->size : 1;
    struct alloc *a = v->managed ? mem_alloc_host(g, size, what) : mem_alloc(g, size, what);
    if (!a || !mem_fill(g, a->addr, 0, 1, size)) {          /* without an initialiser it is zero */
        snprintf(err, errlen, "%s: no memory for %s, %zu bytes", m->name, v->name, size);
        return false;
    }
    if (v->init)
        mem_to_device(g, a->addr, v->init, v->size);
    v->addr = a->addr;
    return true;
}

/* Address of a symbol as a number in a register: shared variables lie behind the system's share. */
static uint64_t symbol_address(const struct gpu *g, const struct symbol *s, bool generic)
{
    uint64_t addr = s->addr;
    if (s->kind == SYM_VAR && s->space == SP_SHARED_CTA)
        addr += g->device->smem_reserved + (generic ? va_shared(g) : 0);
    if (s->kind == SYM_VAR && s->space == SP_LOCAL && generic)
        addr += va_local(g);
    return addr;
}

/* Names inside an initialiser. */
static void relocate_variable(struct gpu *g, const struct symbol *v)
{
    for (int i = 0; i < v->nreloc; i++) {
        uint64_t value = symbol_address(g, v->reloc[i].sym, v->reloc[i].generic) + (uint64_t)v->reloc[i].addend;
        mem_to_device(g, v->addr + v->reloc[i].offset, &value, v->reloc[i].bytes);
    }
}

static bool place_variables(struct gpu *g, struct module *m, char *err, size_t errlen)
{
    for (uint32_t i = 0; i < m->nvar; i++)
        if (!place_variable(g, m, m->var[i], err, errlen))
            return false;
    for (uint32_t i = 0; i < m->nvar; i++)
        if (m->var[i]->space == SP_GLOBAL || m->var[i]->space == SP_CONST)
            relocate_variable(g, m->var[i]);
    for (uint32_t i = 0; i < m->nvar; i++) {
        struct alloc *a = m->var[i]->space == SP_CONST ? mem_find(g, m->var[i]->addr) : NULL;
        if (a) {
            a->read_only = true;
            a->space = SP_CONST;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- constants and functions */

static void fill_row(uint8_t *row, const struct constant *c, const uint64_t bits[2])
{
    if (c->width == 0)
        *(uint32_t *)row = bits[0] & 1 ? UINT32_MAX : 0;
    else
        for (int lane = 0; lane < WARP; lane++)
            memcpy(row + lane * c->width, bits, c->width);
}

static void fill_constants(const struct gpu *g, struct func *f)
{
    uint32_t bytes = f->frame_bytes - f->const_row;
    free(f->const_image);
    f->const_image = calloc(1, bytes ? bytes : 1);
    if (!f->const_image)
        abort();
    for (uint32_t i = 0; i < f->nconstant; i++) {
        const struct constant *c = &f->constant[i];
        uint64_t bits[2] = { c->bits[0], c->bits[1] };
        if (c->sym)
            bits[0] += symbol_address(g, c->sym, c->generic);
        fill_row(f->const_image + (c->row - f->const_row), c, bits);
    }
}

static void register_functions(struct gpu *g, struct module *m)
{
    struct func **code = realloc(g->code, (g->ncode + m->nfunc) * sizeof *code);
    if (!code)
        abort();
    g->code = code;
    for (uint32_t i = 0; i < m->nfunc; i++) {
        if (m->func[i]->sym)
            m->func[i]->sym->addr = CODE_BASE + 16 * (uint64_t)g->ncode;
        g->code[g->ncode++] = m->func[i];
    }
}

struct func *func_at(const struct gpu *g, uint64_t addr)
{
    uint64_t index = (addr - CODE_BASE) / 16;
    return addr >= CODE_BASE && addr % 16 == 0 && index < g->ncode ? g->code[index] : NULL;
}

/* ---------------------------------------------------------------- stacks */

enum { MAX_DEPTH = 64 };

/* .local bytes of f and the deepest chain of direct calls below it; *open when the chain has no end that
 * the text tells: recursion, a call through a pointer, alloca. */
static uint32_t chain_bytes(const struct func *f, uint32_t depth, bool *open)
{
    uint32_t deepest = 0;
    if (depth == MAX_DEPTH) {
        *open = true;
        return 0;
    }
    for (uint32_t i = 0; i < f->ninstr && !*open; i++) {
        const struct instr *in = &f->code[i];
        *open |= in->op == OP_ALLOCA;
        if (in->op != OP_CALL)
            continue;
        const struct func *callee = in->opnd[0].kind == O_FUNC ? in->opnd[0].sym->func : NULL;
        if (!callee)
            *open = true;
        else if (!callee->is_extern) {
            uint32_t below = chain_bytes(callee, depth + 1, open);
            deepest = below > deepest ? below : deepest;
        }
    }
    return (f->local_bytes + 15) / 16 * 16 + deepest;
}

/* The chip keeps parameters in registers, where here they are in local memory: so the limit is taken twice. */
uint32_t func_stack(const struct gpu *g, const struct func *f)
{
    return f->stack_bytes == UINT32_MAX ? (f->local_bytes + 15) / 16 * 16 + 2 * g->stack_limit : f->stack_bytes;
}

/* ---------------------------------------------------------------- modules */

static bool bind_func(struct gpu *g, struct func *f, char *err, size_t errlen)
{
    for (uint32_t i = 0; i < f->ninstr; i++)
        if (!bind_instr(g, &f->code[i], err, errlen))
            return false;
    fill_constants(g, f);
    bool open = false;
    f->stack_bytes = chain_bytes(f, 0, &open);
    if (open)
        f->stack_bytes = UINT32_MAX;
    return true;
}

static const char *target_name(const struct module *m)
{
    static _Thread_local char name[16];
    snprintf(name, sizeof name, "sm_%u%.1s", m->target, &m->target_suffix);
    return name;
}

static bool check_target(const struct gpu *g, const struct module *m, char *err, size_t errlen)
{
    if (device_runs(g->device, m->target, m->target_suffix))
        return true;
    snprintf(err, errlen, "%s is for %s, which %s (compute capability %u.%u) does not run", m->name, target_name(m),
             g->device->name, g->device->cc / 10, g->device->cc % 10);
    return false;
}

bool gpu_load(struct gpu *g, struct module *m, char *err, size_t errlen)
{
    struct module **list = realloc(g->module, (g->nmodules + 1) * sizeof *list);
    if (!list)
        abort();
    g->module = list;
    if (!check_target(g, m, err, errlen))
        return false;
    register_functions(g, m);
    g->module[g->nmodules++] = m;
    bool ok = place_variables(g, m, err, errlen);
    for (uint32_t i = 0; ok && i < m->nfunc; i++)
        ok = bind_func(g, m->func[i], err, errlen);
    race_number_sites(m);
    if (!ok)
        gpu_unload(g, m);
    return ok;
}

/* Frames of the module's functions that are kept for reuse must go before its functions do. */
static void drop_frames(struct sm *sm, const struct module *m)
{
    for (struct frame **at = &sm->spare_frame; *at;) {
        struct frame *f = *at;
        if (f->func->module == m) {
            *at = f->parent;
            free(f);
        } else {
            at = &f->parent;
        }
    }
}

void gpu_unload(struct gpu *g, struct module *m)
{
    for (uint32_t i = 0; i < g->device->sms; i++)
        drop_frames(&g->sm[i], m);
    for (uint32_t i = 0; i < m->nvar; i++)
        if (m->var[i]->addr && (m->var[i]->space == SP_GLOBAL || m->var[i]->space == SP_CONST)) {
            mem_free(g, m->var[i]->addr);
            m->var[i]->addr = 0;
        }
    for (uint32_t i = 0; i < m->nfunc; i++) {
        free(m->func[i]->const_image);
        m->func[i]->const_image = NULL;
    }
    race_forget_sites(m);
    for (uint32_t i = 0; i < g->ncode; i++)     /* addresses are not used again */
        if (g->code[i] && g->code[i]->module == m)
            g->code[i] = NULL;
    for (uint32_t i = 0; i < g->nmodules; i++)
        if (g->module[i] == m)
            g->module[i--] = g->module[--g->nmodules];
}
