/* call.c: calls, indirect branches, and parameters that are registers.
 *
 * Parameters live in local memory (emu.h, struct symbol). A call names slots of the caller's frame; register
 * arguments are stored to a slot before the call and register results loaded from one after it, so that
 * the core knows one kind of parameter only. */
#include <string.h>
#include "ptx.h"

/* ---------------------------------------------------------------- register <-> slot */

static void slot_move(struct parser *p, bool load, struct operand reg, uint64_t offset, const struct instr *guard, const char *at)
{
    static const char *const text[2][17] = {
        { [2] = "st.local.b16", [4] = "st.local.b32", [8] = "st.local.b64", [16] = "st.local.b128" },
        { [2] = "ld.local.b16", [4] = "ld.local.b32", [8] = "ld.local.b64", [16] = "ld.local.b128" },
    };
    const char *op = text[load][reg.width];
    const struct candidate *c = &form_of(p, op, strlen(op))->cand[0];
    struct instr in = c->proto;
    if (guard) {
        in.guard = guard->guard;
        in.guard_neg = guard->guard_neg;
    }
    in.nopnd = c->row->nspec;
    in.opnd = NEWS(p, struct operand, c->row->nspec);
    for (uint32_t i = 0; i < in.nopnd; i++)
        in.opnd[i].pair_row = ROW_NONE;
    reg.pair_row = ROW_NONE;
    in.opnd[load ? 0 : 1] = reg;
    in.opnd[load ? 1 : 0] = (struct operand){ .kind = O_MEM, .width = 4, .flags = O_UNIFORM, .imm = (int64_t)offset,
                                              .row = constant_row(p, 4, 0, NULL, true), .pair_row = ROW_NONE };
    emit(p, &in, at);
}

static struct operand reg_operand(const struct parser *p, uint32_t vreg)
{
    return (struct operand){ .kind = O_REG, .width = p->vreg[vreg].width, .row = vreg };
}

void load_parameters(struct parser *p, const char *at)
{
    for (uint32_t i = 0; p->reg_param && i < p->f->nparam; i++) {
        uint32_t vreg = p->reg_param[p->f->nret + i];
        if (vreg != ROW_NONE)
            slot_move(p, true, reg_operand(p, vreg), p->f->param[i].offset, NULL, at);
    }
}

void emit_results(struct parser *p, const char *at)
{
    for (uint32_t i = 0; p->reg_param && i < p->f->nret; i++)
        if (p->reg_param[i] != ROW_NONE)
            slot_move(p, false, reg_operand(p, p->reg_param[i]), p->f->ret[i].offset, NULL, at);
}

/* ---------------------------------------------------------------- call */

static uint32_t parse_arguments(struct parser *p, struct arg **list)
{
    uint32_t n = 0, cap = 0;
    need(p, '(', "'('");
    while (p->tok.kind != ')') {
        struct arg a;
        parse_arg(p, &a);
        PUSH(p, *list, n, cap) = a;
        if (n > 4096)
            ptx_fail(p, a.at, "too many arguments");
        if (!take(p, ','))
            break;
    }
    need(p, ')', "')'");
    return n;
}

/* A new slot for a register or a literal that is passed. */
static uint64_t new_slot(struct parser *p, uint32_t size)
{
    struct symbol s = { .size = size, .align = size };
    local_place(p, &s);
    return s.addr;
}

/* The slot of one argument or result. `want`: the parameter it goes to; NULL: not known. */
static struct operand slot_of(struct parser *p, const struct arg *a, const struct param *want, bool result, const char *at)
{
    struct operand o = { .kind = O_SLOT, .pair_row = ROW_NONE, .row = ROW_NONE };
    uint32_t size;
    if (a->kind == A_SYM && a->sym->space == SP_LOCAL) {
        size = (uint32_t)a->sym->size;
        o.imm = (int64_t)a->sym->addr;
    } else if (a->kind == A_REG && p->vreg[a->vreg].width) {
        size = p->vreg[a->vreg].width;
        o.imm = (int64_t)new_slot(p, size);
        if (!result)
            slot_move(p, false, reg_operand(p, a->vreg), (uint64_t)o.imm, NULL, at);
    } else if (a->kind == A_IMM && !result && want && type_bytes(want->type) <= 8) {
        uint64_t bits;
        if (!value_as(a->v, want->type, &bits))
            ptx_fail(p, a->at, "this literal cannot stand for a .%s", type_name(want->type));
        struct operand reg = { .kind = O_REG, .flags = O_CONST, .width = (uint8_t)reg_width(want->type) };
        reg.row = constant_row(p, reg.width, bits, NULL, false);
        size = reg.width;
        o.imm = (int64_t)new_slot(p, size);
        slot_move(p, false, reg, (uint64_t)o.imm, NULL, at);
    } else {
        ptx_fail(p, a->at, "an argument is a .param variable, a register or a literal");
    }
    if (want && size != want->size && !(want->size == 1 && size == 2))
        ptx_fail(p, a->at, "this has %u bytes, parameter '%s' has %u", size, want->name, want->size);
    o.n = (uint16_t)(want ? want->size : size);
    return o;
}

static struct operand slots(struct parser *p, const struct arg *list, uint32_t n, const struct param *want, bool result,
                            const char *at)
{
    struct operand o = { .kind = n ? O_VEC : O_NONE, .n = (uint16_t)n, .pair_row = ROW_NONE };
    if (n)
        o.elem = NEWS(p, struct operand, n);
    for (uint32_t i = 0; i < n; i++)
        o.elem[i] = slot_of(p, &list[i], want ? &want[i] : NULL, result, at);
    return o;
}

static struct operand call_target(struct parser *p, const struct arg *a, const struct func **callee)
{
    struct operand o = { .kind = O_REG, .pair_row = ROW_NONE };
    if (a->kind == A_SYM && a->sym->kind == SYM_FUNC) {
        if (a->sym->func->is_kernel)
            ptx_fail(p, a->at, "'%s' is a kernel and cannot be called", a->sym->name);
        o.kind = O_FUNC;
        o.sym = a->sym;
        *callee = a->sym->func;
        use_function(p, a->sym->func);
    } else if (a->kind == A_REG && p->vreg[a->vreg].width == 8) {
        o = reg_operand(p, a->vreg);
        o.pair_row = ROW_NONE;
        p->fn->calls_indirect = true;
    } else {
        ptx_fail(p, a->at, "a call needs a declared function, or a 64-bit register with the address of one");
    }
    return o;
}

static struct operand list_operand(struct parser *p)
{
    struct token t = p->tok;
    need(p, TOK_WORD, "the name of a prototype or of a list of targets");
    if (!t.name->bound || t.name->bound->kind != E_LIST)
        ptx_fail(p, t.s, "'%s' is no .callprototype or .calltargets", t.name->text);
    return (struct operand){ .kind = O_SYMBOL, .pair_row = ROW_NONE, .sym = &t.name->bound->list->sym };
}

/* call (results), target, (arguments), prototype; all but the target may be left out. */
void parse_call(struct parser *p, struct instr *in, const char *at)
{
    struct arg *results = NULL, *args = NULL, target;
    uint32_t nresults = 0, nargs = 0;
    const struct func *callee = NULL;
    if (p->tok.kind == '(') {
        nresults = parse_arguments(p, &results);
        need(p, ',', "','");
    }
    parse_arg(p, &target);
    in->nopnd = 4;
    in->opnd = NEWS(p, struct operand, 4);
    in->opnd[3].pair_row = ROW_NONE;
    in->opnd[0] = call_target(p, &target, &callee);
    bool more = take(p, ',');
    if (more && p->tok.kind == '(') {
        nargs = parse_arguments(p, &args);
        more = take(p, ',');
    }
    if (more)
        in->opnd[3] = list_operand(p);
    else if (!callee)
        ptx_fail(p, target.at, "a call through a register needs a prototype");
    if (callee && (nargs != callee->nparam || nresults != callee->nret))
        ptx_fail(p, target.at, "'%s' takes %u arguments and returns %u; here are %u and %u", callee->name, callee->nparam,
             callee->nret, nargs, nresults);
    in->opnd[1] = slots(p, args, nargs, callee ? callee->param : NULL, false, at);
    in->opnd[2] = slots(p, results, nresults, callee ? callee->ret : NULL, true, at);
    struct instr call = *in;
    emit(p, &call, at);
    for (uint32_t i = 0; i < nresults; i++)
        if (results[i].kind == A_REG)
            slot_move(p, true, reg_operand(p, results[i].vreg), (uint64_t)call.opnd[2].elem[i].imm, &call, at);
}

/* ---------------------------------------------------------------- lists */

/* The token is .branchtargets, .calltargets or .callprototype; `label` names it. */
void parse_list(struct parser *p, struct name *label, const char *at)
{
    struct label_list *list = NEW(p, struct label_list);
    uint32_t cap = 0;
    list->branches = is_dot(p, "branchtargets");
    list->sym.name = label->text;
    list->sym.kind = SYM_OTHER;
    struct entity *e = declare(p, label, E_LIST, at);
    e->list = list;
    bool prototype = is_dot(p, "callprototype");
    advance(p);
    while (prototype && p->tok.kind != ';' && p->tok.kind != TOK_END)
        advance(p);
    while (!prototype && p->tok.kind == TOK_WORD) {
        PUSH(p, list->target, list->n, cap) = p->tok.name;
        advance(p);
        if (!take(p, ','))
            break;
    }
    need(p, ';', "';'");
}

/* brx.idx index, list */
void parse_brx(struct parser *p, struct instr *in, const char *at)
{
    struct arg index;
    parse_arg(p, &index);
    need(p, ',', "','");
    struct token t = p->tok;
    need(p, TOK_WORD, "the name of a .branchtargets list");
    const struct entity *e = t.name->bound;
    if (!e || e->kind != E_LIST || !e->list->branches || !e->list->n)
        ptx_fail(p, t.s, "'%s' is no .branchtargets list", t.name->text);
    build_operands(p, in, row_of(OP_BRX), (struct arg[]){ index, { .kind = A_VEC, .at = t.s } }, 2);
    struct operand *targets = &in->opnd[1];
    targets->n = (uint16_t)e->list->n;
    targets->elem = NEWS(p, struct operand, e->list->n);
    for (uint32_t i = 0; i < e->list->n; i++) {
        targets->elem[i] = (struct operand){ .kind = O_LABEL, .pair_row = ROW_NONE };
        PUSH(p, p->fix, p->nfix, p->fix_cap) = (struct fixup){ &targets->elem[i], e->list->target[i], p->scope, t.s };
    }
    emit(p, in, at);
}
