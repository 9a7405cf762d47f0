/* build.c: operands as written -> operands as the instruction's row of the table wants them. Literals and
 * addresses become constant rows here. */
#include <string.h>
#include "ptx.h"

/* ---------------------------------------------------------------- constants */

/* One row for each distinct constant of a function. */
uint32_t constant_row(struct parser *p, uint8_t width, uint64_t bits, struct symbol *sym, bool local)
{
    enum { SLOTS = sizeof p->con_hash / sizeof *p->con_hash };
    uint64_t h = (bits ^ (uintptr_t)sym ^ width * 977u ^ local * 77u) * 0x9E3779B97F4A7C15ull;
    uint32_t slot = (uint32_t)(h >> 40) % SLOTS;
    /* con_hash holds the latest constant of the slot, con.row the one before (both + 1). */
    for (uint32_t i = p->con_hash[slot]; i; i = p->con[i - 1].row) {
        const struct constant *c = &p->con[i - 1];
        if (c->width == width && c->bits[0] == bits && c->sym == sym && p->con_local[i - 1] == local)
            return (i - 1) | ROW_CONST;
    }
    PUSH(p, p->con, p->ncon, p->con_cap) =
        (struct constant){ .row = p->con_hash[slot], .width = width, .bits = { bits, 0 }, .sym = sym };
    PUSH(p, p->con_local, p->nconl, p->conl_cap) = local;
    p->con_hash[slot] = p->ncon;
    return (p->ncon - 1) | ROW_CONST;
}

static void reaches(struct parser *p, struct func *callee, struct symbol *shared)
{
    for (struct reach *r = p->fn->reach; r; r = r->next)
        if (r->callee == callee && r->shared == shared)
            return;
    struct reach *r = NEW(p, struct reach);
    *r = (struct reach){ callee, shared, p->fn->reach };
    p->fn->reach = r;
}

void use_symbol(struct parser *p, struct symbol *s)
{
    if (s->kind == SYM_FUNC)
        FN(s->func)->address_taken = true;
    else if (s->space == SP_SHARED_CTA)
        reaches(p, NULL, s);
}

void use_function(struct parser *p, struct func *f)
{
    reaches(p, f, NULL);
}

/* The address of a symbol (+ offset) as a constant of `width` bytes. */
static uint32_t address_constant(struct parser *p, struct symbol *s, uint64_t offset, uint8_t width)
{
    use_symbol(p, s);
    if (s->space == SP_LOCAL)
        return constant_row(p, width, s->addr + offset, NULL, true);
    if (s->space == SP_PARAM)
        return constant_row(p, width, s->addr + offset, NULL, false);
    return constant_row(p, width, offset, s, false);
}

/* ---------------------------------------------------------------- what the row demands */

/* The type a literal takes and a register's width is checked against. `n`: elements it is divided among. */
static enum type wanted_type(const struct instr *in, const struct spec *s)
{
    enum type last = in->ntype ? (enum type)in->type[in->ntype - 1] : T_B32;
    switch ((enum spec_type)s->rule) {
    case ST_FIXED: return (enum type)s->type;
    case ST_NTH: return s->type < in->ntype ? (enum type)in->type[s->type] : T_B32;
    case ST_FRAG: return in->type[0] == T_F64 ? T_F64 : T_B32;
    case ST_WIDE:
        return last == T_U16 ? T_U32 : last == T_S16 ? T_S32 : last == T_U32 ? T_U64 : last == T_S32 ? T_S64 : last;
    default: return last;
    }
}

static enum type bits_type(uint32_t bytes)
{
    return bytes == 1 ? T_B8 : bytes == 2 ? T_B16 : bytes == 4 ? T_B32 : bytes == 8 ? T_B64 : T_B128;
}

struct want {
    enum type type;
    uint8_t width, access;
    bool wider, unchecked, in_vector;
    const struct spec *spec;
};

static void check_width(struct parser *p, const struct instr *in, const struct want *w, uint32_t width, const char *at)
{
    if (w->unchecked || width == w->width)
        return;
    if (w->wider && width > w->width && width <= 8 && w->width)
        return;
    ptx_fail(p, at, "%s needs %s%s of %u bits for '%s', this has %u", op_mnemonic(in->op), w->width ? "a register" : "a predicate",
         w->wider ? " at least" : "", w->width ? 8u * w->width : 1, w->spec->name, width ? 8 * width : 1);
}

/* ---------------------------------------------------------------- operands */

static void build_register(struct parser *p, struct instr *in, struct operand *o, const struct arg *a, const struct want *w)
{
    uint8_t width = p->vreg[a->vreg].width;
    check_width(p, in, w, width, a->at);
    o->kind = O_REG;
    o->row = a->vreg;
    o->width = width;
    o->flags = a->flags;
    o->select = a->select;
}

static void build_literal(struct parser *p, struct operand *o, const struct arg *a, const struct want *w)
{
    uint64_t bits;
    if (w->access & ACC_WRITE)
        ptx_fail(p, a->at, "a literal cannot be written to");
    if (!value_as(a->v, w->type, &bits) || w->width > 8)
        ptx_fail(p, a->at, "this literal cannot stand for a .%s", type_name(w->type));
    o->kind = O_REG;
    o->width = w->width;
    o->flags = O_CONST;
    o->row = constant_row(p, w->width, bits, NULL, false);
    o->imm = (int64_t)(w->type == T_PRED ? bits & 1 : a->v.is_float ? bits : a->v.bits);
}

static void build_symbol(struct parser *p, struct operand *o, const struct arg *a, const struct want *w)
{
    if (w->access & ACC_WRITE)
        ptx_fail(p, a->at, "'%s' is no register", a->sym->name);
    if (w->width != 4 && w->width != 8)
        ptx_fail(p, a->at, "an address needs 32 or 64 bits");
    o->kind = O_REG;
    o->width = w->width;
    o->flags = O_CONST;
    o->row = address_constant(p, a->sym, a->v.bits, w->width);
}

/* Only mov reads special registers: before another instruction a mov is put in. */
static void build_special(struct parser *p, struct instr *in, struct operand *o, const struct arg *a, const struct want *w)
{
    uint32_t width = sreg_width(a->sreg);
    if (w->access & ACC_WRITE)
        ptx_fail(p, a->at, "a special register cannot be written to");
    struct operand source = { .kind = O_SREG, .width = (uint8_t)width, .imm = a->sreg, .pair_row = ROW_NONE };
    if (!(a->sreg == SREG_GRIDID && w->width == 4 && in->op == OP_MOV))    /* had 32 bits once */
        check_width(p, in, w, width, a->at);
    if (in->op == OP_MOV) {
        *o = source;
        return;
    }
    enum type t = width ? bits_type(width) : T_PRED;
    struct operand *opnd = NEWS(p, struct operand, 2);
    uint32_t temp = new_vreg(p, t, NULL);
    opnd[0] = (struct operand){ .kind = O_REG, .width = (uint8_t)width, .row = temp, .pair_row = ROW_NONE };
    opnd[1] = source;
    const char *text = width == 0 ? "mov.pred" : width == 4 ? "mov.b32" : "mov.b64";
    struct instr mov = form_of(p, text, strlen(text))->cand[0].proto;
    mov.opnd = opnd;
    mov.nopnd = 2;
    emit(p, &mov, a->at);
    o->kind = O_REG;
    o->width = (uint8_t)width;
    o->row = temp;
}

static void build_value(struct parser *p, struct instr *in, struct operand *o, const struct arg *a, const struct want *w)
{
    switch ((enum arg_kind)a->kind) {
    case A_REG: build_register(p, in, o, a, w); return;
    case A_IMM: build_literal(p, o, a, w); return;
    case A_SYM: build_symbol(p, o, a, w); return;
    case A_SREG: build_special(p, in, o, a, w); return;
    case A_SINK:
        if (!(w->access & ACC_WRITE) && !(in->op == OP_ST && w->in_vector))    /* a gap in what is stored */
            ptx_fail(p, a->at, "'_' stands only for something that is written");
        o->kind = O_SINK;
        o->width = w->width;
        return;
    default: ptx_fail(p, a->at, "%s cannot stand here", a->kind == A_NAME ? a->name->text : "this operand");
    }
}

static void build_vector(struct parser *p, struct instr *in, struct operand *o, const struct arg *a, struct want w)
{
    o->kind = O_VEC;
    o->n = (uint16_t)a->n;
    w.in_vector = true;
    o->elem = NEWS(p, struct operand, a->n);
    if (w.spec->rule == ST_PACK) {
        uint32_t total = type_bytes(w.type);
        if (a->n == 0 || total % a->n || total / a->n == 0)
            ptx_fail(p, a->at, "a .%s cannot be divided among %u elements", type_name(w.type), a->n);
        w.type = bits_type(total / a->n);
        w.width = (uint8_t)reg_width(w.type);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        o->elem[i].pair_row = ROW_NONE;
        if (a->elem[i].has_pair)
            ptx_fail(p, a->elem[i].at, "'|' cannot stand in a vector");
        build_value(p, in, &o->elem[i], &a->elem[i], &w);
    }
}

static void build_coordinates(struct parser *p, struct instr *in, struct operand *o, const struct arg *a)
{
    static const struct spec spec = { .name = "coordinate" };
    struct want w = { .type = T_B32, .width = 4, .access = ACC_READ, .spec = &spec };
    if (!a->n)
        return;
    o->n = (uint16_t)a->n;
    o->elem = NEWS(p, struct operand, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
        o->elem[i].pair_row = ROW_NONE;
        build_value(p, in, &o->elem[i], &a->elem[i], &w);
    }
}

static bool same_space(enum space written, enum space declared)
{
    bool shared = written == SP_SHARED_CTA || written == SP_SHARED_CLUSTER;
    return written == declared || (shared && declared == SP_SHARED_CTA);
}

/* [variable + imm]: the space is the variable's; an offset known now needs no row of its own. The first
 * two addresses of an instruction go with its first and second space. */
static void build_variable(struct parser *p, struct instr *in, struct operand *o, const struct arg *a)
{
    struct symbol *s = a->base->sym;
    int before = 0;
    for (struct operand *q = in->opnd; q < o; q++)
        before += q->kind == O_MEM;
    if (s->kind == SYM_FUNC)
        ptx_fail(p, a->at, "'%s' is a function, not a variable", s->name);
    if (before < 2 && !a->n) {
        uint8_t *space = before ? &in->space2 : &in->space;
        if (*space == SP_GENERIC || (*space == SP_PARAM && s->space == SP_LOCAL))
            *space = (uint8_t)s->space;
        if (!same_space((enum space)*space, s->space))
            ptx_fail(p, a->at, "'%s' is in .%s", s->name, space_name(s->space));
    }
    o->flags |= O_UNIFORM;
    o->imm = (int64_t)a->v.bits;
    use_symbol(p, s);
    if (s->space == SP_LOCAL || s->space == SP_PARAM) {
        o->imm += (int64_t)s->addr;
        o->width = 4;
        o->row = constant_row(p, 4, 0, NULL, s->space == SP_LOCAL);
    } else {
        o->width = s->space == SP_SHARED_CTA ? 4 : 8;
        o->row = constant_row(p, o->width, 0, s, false);
    }
}

static void build_address(struct parser *p, struct instr *in, struct operand *o, const struct arg *a)
{
    o->kind = O_MEM;
    o->imm = (int64_t)a->v.bits;
    build_coordinates(p, in, o, a);
    if (!a->base) {
        o->width = 8;
        o->flags |= O_UNIFORM;
        o->row = constant_row(p, 8, 0, NULL, false);
    } else if (a->base->kind == A_SYM) {
        build_variable(p, in, o, a);
    } else {
        o->width = p->vreg[a->base->vreg].width;
        o->row = a->base->vreg;
        if (o->width != 4 && o->width != 8)
            ptx_fail(p, a->at, "an address is a register of 32 or 64 bits");
    }
}

static void build_label(struct parser *p, struct operand *o, const struct arg *a)
{
    if (a->kind != A_NAME)
        ptx_fail(p, a->at, "a label is expected here");
    o->kind = O_LABEL;
    PUSH(p, p->fix, p->nfix, p->fix_cap) = (struct fixup){ o, a->name, p->scope, a->at };
}

static void build_pair(struct parser *p, struct operand *o, const struct arg *a, const struct spec *s)
{
    o->pair_row = ROW_NONE;
    if (a->has_pair && !s->pair)
        ptx_fail(p, a->at, "no '|' is allowed here");
    if (!a->has_pair && s->pair == 2)
        ptx_fail(p, a->at, "a predicate is missing: %s|p", s->name);
    if (a->has_pair)
        o->pair_row = a->pair;
}

static void build_operand(struct parser *p, struct instr *in, struct operand *o, const struct arg *a, const struct spec *s)
{
    struct want w = { .type = wanted_type(in, s), .wider = s->wider, .unchecked = s->unchecked, .access = s->access, .spec = s };
    w.width = (uint8_t)reg_width(w.type);
    build_pair(p, o, a, s);
    if (in->op == OP_BRA)
        build_label(p, o, a);
    else if (a->kind == A_MEM)
        build_address(p, in, o, a);
    else if (a->kind == A_VEC)
        build_vector(p, in, o, a, w);
    else
        build_value(p, in, o, a, &w);
}

/* ---------------------------------------------------------------- which operand is which */

static bool arg_fits(const struct spec *s, const struct arg *a)
{
    if (s->kind == SPEC_ADDRESS)
        return a->kind == A_MEM;
    if (s->kind == SPEC_VECTOR)
        return a->kind == A_VEC;
    return a->kind != A_MEM;
}

/* A cache policy is there exactly when .L2::cache_hint is. */
static bool is_policy(const struct spec *s)
{
    return strcmp(s->name, "policy") == 0;
}

struct matching { const struct row *row; const struct arg *args; uint32_t nargs; bool hint; int8_t which[MAX_SPEC]; };

/* Assigns operands from the k-th on to specs from the i-th on; optional ones are taken when they fit. */
static bool assign(struct matching *m, uint32_t i, uint32_t k)
{
    if (i == m->row->nspec)
        return k == m->nargs;
    const struct spec *s = &m->row->spec[i];
    bool policy = is_policy(s), may_be = s->kind != SPEC_CARRY && (!policy || m->hint);
    if (may_be && k < m->nargs && arg_fits(s, &m->args[k])) {
        m->which[i] = (int8_t)k;
        if (assign(m, i + 1, k + 1))
            return true;
    }
    m->which[i] = -1;
    return (!may_be || (s->optional && !policy)) && assign(m, i + 1, k);
}

static bool match_args(struct matching *m, const struct row *row, const struct instr *in, const struct arg *args, uint32_t n)
{
    m->row = row;
    m->args = args;
    m->nargs = n;
    m->hint = has_mod(in, M_L2_cache_hint);
    return assign(m, 0, 0);
}

bool args_fit(const struct candidate *c, const struct arg *args, uint32_t nargs)
{
    struct matching m;
    return match_args(&m, c->row, &c->proto, args, nargs);
}

static void __attribute__((noreturn)) refuse_operands(struct parser *p, const struct row *row, bool hint)
{
    char list[200] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < row->nspec && at < sizeof list - 20; i++) {
        const struct spec *s = &row->spec[i];
        if (s->kind == SPEC_CARRY || (is_policy(s) && !hint))
            continue;
        const char *open = s->kind == SPEC_ADDRESS ? "[" : s->kind == SPEC_VECTOR ? "{" : "";
        const char *close = s->kind == SPEC_ADDRESS ? "]" : s->kind == SPEC_VECTOR ? "}" : "";
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s%s%s%s", at ? ", " : "", open, s->name, close,
                               s->optional && !is_policy(s) ? " (optional)" : "");
    }
    ptx_fail(p, p->tok.s, "these operands do not fit %s: it takes %s", row->mnemonic, *list ? list : "none");
}

/* ld.v4 takes four elements, ld takes no vector. */
static void check_vector_size(struct parser *p, const struct instr *in, const struct row *row, const struct arg *args,
                              const int8_t *which)
{
    for (uint32_t i = 0; row->has_vec && i < row->nspec; i++) {
        const struct arg *a = &args[which[i] < 0 ? 0 : which[i]];
        if (which[i] < 0 || a->kind == A_MEM || a->kind == A_SINK || row->spec[i].optional)
            continue;
        if ((a->kind == A_VEC ? a->n : 1) != in->vec || (a->kind == A_VEC && in->vec == 1))
            ptx_fail(p, a->at, in->vec > 1 ? "a vector of %u elements is expected here" : "no vector is allowed here", in->vec);
    }
}

/* What the table cannot say: operands that go with a modifier. */
static void check_form(struct parser *p, const struct instr *in, const struct row *row, const char *at)
{
    for (uint32_t i = 0; in->cmp && i < row->nspec; i++)
        if (row->spec[i].optional && row->spec[i].type == T_PRED && (in->opnd[i].kind != O_NONE) != (in->boolop != M_NONE))
            ptx_fail(p, at, "a third source and a boolean operator (.and .or .xor) go together");
    if ((in->op == OP_LD || in->op == OP_ST) && in->vec * type_bytes(in->type[0]) > 16 && p->m->target < 100)
        ptx_fail(p, at, "an access of more than 16 bytes needs .target sm_100");
}

static uint32_t carry_register(struct parser *p)
{
    if (p->carry == ROW_NONE)
        p->carry = new_vreg(p, T_PRED, NULL);
    return p->carry;
}

void build_operands(struct parser *p, struct instr *in, const struct row *row, struct arg *args, uint32_t nargs)
{
    struct matching m;
    if (!match_args(&m, row, in, args, nargs))
        refuse_operands(p, row, m.hint);
    check_vector_size(p, in, row, args, m.which);
    in->nopnd = row->nspec;
    in->opnd = NEWS(p, struct operand, row->nspec + 1u);
    for (uint32_t i = 0; i < row->nspec; i++)
        in->opnd[i].pair_row = ROW_NONE;
    for (uint32_t i = 0; i < row->nspec; i++) {
        struct operand *o = &in->opnd[i];
        if (row->spec[i].kind == SPEC_CARRY)
            *o = (struct operand){ .kind = O_REG, .row = carry_register(p), .pair_row = ROW_NONE };
        else if (m.which[i] >= 0)
            build_operand(p, in, o, &args[m.which[i]], &row->spec[i]);
    }
    check_form(p, in, row, nargs ? args[0].at : p->tok.s);
    if (in->space == SP_PARAM && !p->f->is_kernel && !has_mod(in, M_param_entry) && row->op != OP_CVTA && row->op != OP_CVTA_TO)
        in->space = SP_LOCAL;
}

struct instr *emit(struct parser *p, const struct instr *proto, const char *at)
{
    struct instr *in = &PUSH(p, p->code, p->ncode, p->code_cap);
    *in = *proto;
    in->text = at;
    in->ptx_line = p->statement_line;
    set_line(p, in);
    return in;
}
