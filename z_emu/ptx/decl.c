/* decl.c: registers, variables and their initialisers, parameters. */
#include <string.h>
#include "ptx.h"

enum { MAX_REGS = 1 << 20 };
static const uint64_t MAX_BYTES = 1ull << 40;

/* ---- types */

static enum type dot_type(const struct parser *p)
{
    if (p->tok.kind == TOK_DOT)
        for (int t = T_PRED; t < T_COUNT; t++)
            if (is_dot(p, type_name((enum type)t)))
                return (enum type)t;
    return T_NONE;
}

bool is_type(const struct parser *p)
{
    return dot_type(p) != T_NONE;
}

enum type parse_type(struct parser *p)
{
    enum type t = dot_type(p);
    if (t == T_NONE)
        ptx_fail(p, p->tok.s, "a type is expected here");
    advance(p);
    return t;
}

uint32_t reg_width(enum type t)
{
    uint32_t bytes = type_bytes(t);
    return t == T_PRED ? 0 : bytes < 2 ? 2 : bytes;
}

/* ---- registers */

uint32_t new_vreg(struct parser *p, enum type t, struct name *n)
{
    if (p->nvreg == MAX_REGS)
        ptx_fail(p, p->tok.s, "a function can have %d registers", MAX_REGS);
    PUSH(p, p->vreg, p->nvreg, p->vreg_cap) = (struct vreg){ (uint8_t)reg_width(t), (uint8_t)t, n, ROW_NONE };
    return p->nvreg - 1;
}

static void declare_reg(struct parser *p, struct name *n, enum type t, int vec, const char *at)
{
    struct entity *e = declare(p, n, E_REG, at);
    e->n = (uint8_t)vec;
    e->vreg = p->nvreg;
    for (int i = 0; i < (vec ? vec : 1); i++)
        new_vreg(p, t, n);
}

/* %r<100>: %r0 to %r99. */
static void declare_range(struct parser *p, struct name *n, enum type t, int vec, const char *at)
{
    char text[300];
    uint64_t count = p->tok.i;
    need(p, TOK_INT, "a number of registers");
    need(p, '>', "'>'");
    if (count > MAX_REGS)
        ptx_fail(p, at, "the number of registers must be 0 to %d", MAX_REGS);
    if (n->len > 256)
        ptx_fail(p, at, "this name is too long");
    for (uint64_t i = 0; i < count; i++) {
        int len = snprintf(text, sizeof text, "%s%d", n->text, (int)i);
        declare_reg(p, intern(p, text, (size_t)len), t, vec, at);
    }
}

static int parse_vec(struct parser *p)
{
    return take_dot(p, "v2") ? 2 : take_dot(p, "v4") ? 4 : take_dot(p, "v8") ? 8 : 0;
}

void parse_reg(struct parser *p)
{
    advance(p);
    int vec = parse_vec(p);
    enum type t = parse_type(p);
    if (t != T_PRED && (type_bytes(t) == 0 || type_bytes(t) > 16))
        ptx_fail(p, p->tok.s, "a register cannot have type .%s", type_name(t));
    do {
        struct token name = p->tok;
        need(p, TOK_WORD, "the name of a register");
        if (take(p, '<'))
            declare_range(p, name.name, t, vec, name.s);
        else
            declare_reg(p, name.name, t, vec, name.s);
    } while (take(p, ','));
    need(p, ';', "';'");
}

/* ---- variables */

struct symbol *new_symbol(struct parser *p, struct name *n, enum symbol_kind kind, const char *at)
{
    struct entity *old = n->bound;
    /* A module-scope name may be declared again: a prototype, then the definition. */
    if (old && old->scope == p->scope && old->kind == E_SYMBOL && p->scope == 0 && old->sym->kind == kind)
        return old->sym;
    struct entity *e = declare(p, n, E_SYMBOL, at);
    e->sym = NEW(p, struct symbol);
    e->sym->name = n->text;
    e->sym->kind = kind;
    e->sym->align = 1;
    return e->sym;
}

void local_place(struct parser *p, struct symbol *s)
{
    uint64_t at = (p->local_top + (uint64_t)s->align - 1) / s->align * s->align;
    if (at + s->size > 1 << 24)
        ptx_fail(p, p->tok.s, "local memory of a function cannot exceed 16 MB");
    s->space = SP_LOCAL;
    s->addr = at;
    p->local_top = (uint32_t)(at + s->size);
    if (p->local_top > p->f->local_bytes)
        p->f->local_bytes = p->local_top;
}

static uint32_t parse_align(struct parser *p)
{
    const char *at = p->tok.s;
    int64_t align = parse_int(p);
    if (align < 1 || align > 1 << 20 || (align & (align - 1)))
        ptx_fail(p, at, "an alignment must be a power of two");
    return (uint32_t)align;
}

/* .attribute(.managed), .attribute(.unified(1, 2)) */
static void parse_attribute(struct parser *p, struct symbol *s)
{
    need(p, '(', "'('");
    if (take_dot(p, "managed"))
        s->managed = true;
    else
        ptx_fail(p, p->tok.s, "this attribute is not known; .managed is");
    need(p, ')', "')'");
}

struct shape { uint64_t dim[8]; int ndim; enum type type; uint32_t elem; };    /* elem: bytes, vectors included */

/* [4][8], [] */
static void parse_dims(struct parser *p, struct shape *sh, struct symbol *s)
{
    s->size = sh->elem;
    while (take(p, '[')) {
        const char *at = p->tok.s;
        if (sh->ndim == 8)
            ptx_fail(p, at, "more than 8 dimensions");
        uint64_t n = p->tok.kind == ']' ? 0 : (uint64_t)parse_int(p);
        need(p, ']', "']'");
        if (n > MAX_BYTES || s->size * (n ? n : 1) > MAX_BYTES)
            ptx_fail(p, at, "this array is too large");
        sh->dim[sh->ndim++] = n;
        s->size *= n;
    }
}

/* ---- initialisers */

struct init { struct symbol *s; struct shape *sh; uint8_t *bytes; uint64_t pos, cap; uint32_t reloc_cap; };

/* name, name+4, generic(name): at `in`'s place an address. `shift`: of which only a byte is kept. */
static void init_address(struct parser *p, struct init *in, int shift)
{
    struct symbol *s = in->s;
    bool generic = take_word(p, "generic");
    if (generic)
        need(p, '(', "'('");
    struct token name = p->tok;
    need(p, TOK_WORD, "a number or a name");
    if (!name.name->bound || name.name->bound->kind != E_SYMBOL)
        ptx_fail(p, name.s, "'%s' has not been declared", name.name->text);
    if (generic)
        need(p, ')', "')'");
    int64_t addend = p->tok.kind == '+' || p->tok.kind == '-' ? parse_int(p) : 0;
    struct symbol *target = name.name->bound->sym;
    if (target->kind == SYM_FUNC)
        FN(target->func)->address_taken = true;
    s->reloc = arena_grow(p->arena, s->reloc, (uint32_t)s->nreloc, &in->reloc_cap, sizeof *s->reloc);
    s->reloc[s->nreloc].offset = in->pos;
    s->reloc[s->nreloc].sym = target;
    s->reloc[s->nreloc].addend = addend;
    s->reloc[s->nreloc].bytes = (uint8_t)type_bytes(in->sh->type);
    s->reloc[s->nreloc].shift = (uint8_t)shift;
    s->reloc[s->nreloc].generic = generic;
    s->nreloc++;
}

/* Room for `bytes` at the current place of an array whose size may still be open. */
static uint8_t *init_room(struct parser *p, struct init *in, const char *at)
{
    uint64_t need = in->pos + type_bytes(in->sh->type);
    if (in->s->size && need > in->s->size)
        ptx_fail(p, at, "more initial values than the variable has elements");
    if (need > in->cap) {
        uint64_t cap = need * 2 < 256 ? 256 : need * 2;
        if (in->s->size)
            cap = in->s->size;
        uint8_t *bigger = NEWS(p, uint8_t, cap);
        if (in->cap)
            memcpy(bigger, in->bytes, in->cap);
        in->bytes = bigger;
        in->cap = cap;
    }
    return in->bytes + in->pos;
}

/* 0xFF00(name): one byte of an address. */
static int mask_shift(struct parser *p, uint64_t mask, const char *at)
{
    int shift = mask ? __builtin_ctzll(mask) : 0;
    if (shift % 8 || mask >> shift != 0xFF)
        ptx_fail(p, at, "the mask of an address must select one byte");
    return shift;
}

static void init_element(struct parser *p, struct init *in)
{
    const char *at = p->tok.s;
    uint8_t *to = init_room(p, in, at);
    if (p->tok.kind == TOK_WORD && strcmp(p->tok.name->text, "WARP_SZ") != 0) {
        if (type_bytes(in->sh->type) != 8 && type_bytes(in->sh->type) != 4)
            ptx_fail(p, at, "an address needs 8 bytes");
        init_address(p, in, 0);
    } else if (p->tok.kind == TOK_INT && peek_char(p) == '(') {
        int shift = mask_shift(p, p->tok.i, at);
        advance(p);
        advance(p);
        init_address(p, in, shift);
        need(p, ')', "')'");
    } else {
        uint64_t bits;
        if (!value_as(parse_value(p), in->sh->type, &bits))
            ptx_fail(p, at, "this value cannot initialise a .%s", type_name(in->sh->type));
        memcpy(to, &bits, type_bytes(in->sh->type));
    }
    in->pos += type_bytes(in->sh->type);
}

/* Bytes of one element at nesting level `level`. */
static uint64_t level_bytes(const struct shape *sh, int level)
{
    uint64_t n = sh->elem;
    for (int i = level + 1; i < sh->ndim; i++)
        n *= sh->dim[i];
    return n;
}

static void init_list(struct parser *p, struct init *in, int level)
{
    if (!take(p, '{')) {
        init_element(p, in);
        return;
    }
    if (level > 8)
        ptx_fail(p, p->tok.s, "initial values are nested too deeply");
    uint64_t unit = level < in->sh->ndim ? level_bytes(in->sh, level) : type_bytes(in->sh->type);
    while (p->tok.kind != '}') {
        if (p->tok.kind == '{') {
            uint64_t start = in->pos;
            init_list(p, in, level + 1);
            in->pos = start + unit;
        } else {
            init_element(p, in);
        }
        if (!take(p, ','))
            break;
    }
    need(p, '}', "'}'");
}

static void parse_init(struct parser *p, struct symbol *s, struct shape *sh)
{
    struct init in = { .s = s, .sh = sh };
    const char *at = p->tok.s;
    if (s->space != SP_GLOBAL && s->space != SP_CONST)
        ptx_fail(p, at, "only .global and .const variables have initial values");
    if (type_bytes(sh->type) > 8)
        ptx_fail(p, at, "a .%s cannot have an initial value", type_name(sh->type));
    init_list(p, &in, 0);
    if (!s->size)
        s->size = in.pos;
    if (in.cap < s->size) {
        uint8_t *all = NEWS(p, uint8_t, s->size);
        if (in.pos)
            memcpy(all, in.bytes, in.pos < in.cap ? in.pos : in.cap);
        in.bytes = all;
    }
    s->init = in.bytes;
}

/* ---- declarations */

static enum space space_of(const struct parser *p)
{
    return is_dot(p, "global") ? SP_GLOBAL : is_dot(p, "const") ? SP_CONST : is_dot(p, "local") ? SP_LOCAL :
           is_dot(p, "param") ? SP_PARAM : SP_SHARED_CTA;
}

static void place(struct parser *p, struct symbol *s, bool known)
{
    if (s->space == SP_LOCAL || s->space == SP_PARAM) {
        if (!p->f)
            ptx_fail(p, p->tok.s, "a .%s variable must be declared in a function", space_name(s->space));
        local_place(p, s);
    } else if (!known) {
        PUSH(p, p->m->var, p->m->nvar, p->var_cap) = s;
    }
}

static void declarator(struct parser *p, enum space space, struct symbol attrs, struct shape sh, bool is_extern)
{
    struct token name = p->tok;
    need(p, TOK_WORD, "the name of a variable");
    struct symbol *s = new_symbol(p, name.name, SYM_VAR, name.s);
    bool known = s->align > 1 || s->size;
    if (known && s->space != space)
        ptx_fail(p, name.s, "'%s' was declared in another state space", s->name);
    struct symbol before = *s;
    s->space = space;
    s->managed |= attrs.managed;
    s->align = attrs.align > sh.elem ? attrs.align : sh.elem;
    if (s->align > 16 && attrs.align <= 16)
        s->align = 16;
    parse_dims(p, &sh, s);
    s->is_extern = known ? before.is_extern && is_extern : is_extern;
    if (known && is_extern) {
        s->size = before.size > s->size ? before.size : s->size;
        s->init = before.init;
    }
    if (before.init && p->tok.kind == '=')
        ptx_fail(p, name.s, "'%s' is defined twice", s->name);
    if (take(p, '='))
        parse_init(p, s, &sh);
    if (!s->size && !is_extern && sh.ndim)
        ptx_fail(p, name.s, "'%s' needs a size", s->name);
    place(p, s, known);
}

void parse_var(struct parser *p, bool is_extern)
{
    struct symbol attrs = { .align = 1 };
    struct shape sh = { 0 };
    enum space space = space_of(p);
    advance(p);
    for (;;) {
        if (take_dot(p, "align"))
            attrs.align = parse_align(p);
        else if (take_dot(p, "attribute"))
            parse_attribute(p, &attrs);
        else
            break;
    }
    int vec = parse_vec(p);
    if (is_dot(p, "texref") || is_dot(p, "surfref") || is_dot(p, "samplerref"))
        ptx_fail(p, p->tok.s, "textures and surfaces are not emulated");
    sh.type = parse_type(p);
    sh.elem = type_bytes(sh.type) * (uint32_t)(vec ? vec : 1);
    if (sh.elem == 0)
        ptx_fail(p, p->tok.s, "a variable cannot have type .%s", type_name(sh.type));
    do
        declarator(p, space, attrs, sh, is_extern);
    while (take(p, ','));
    need(p, ';', "';'");
}

/* ---- parameters of functions */

/* .ptr .global .align 16: what a pointer points to. */
static void skip_ptr(struct parser *p)
{
    if (!take_dot(p, "ptr"))
        return;
    if (is_dot(p, "global") || is_dot(p, "shared") || is_dot(p, "const") || is_dot(p, "local"))
        advance(p);
    if (take_dot(p, "align"))
        parse_align(p);
}

static void place_param(struct parser *p, struct func *f, struct param *par, struct symbol *s, bool results)
{
    uint32_t *bytes = f->is_kernel ? &f->param_bytes : &f->local_bytes;
    uint64_t at = (*bytes + (uint64_t)par->align - 1) / par->align * par->align;
    if (at + par->size > 32764 + (f->is_kernel ? 0 : 1 << 16))
        ptx_fail(p, p->tok.s, "the parameters are too large");
    par->offset = (uint32_t)at;
    *bytes = (uint32_t)(at + par->size);
    s->addr = at;
    s->size = par->size;
    s->align = par->align;
    s->space = f->is_kernel ? SP_PARAM : SP_LOCAL;
    if (!f->is_kernel)
        *(results ? &f->ret_bytes : &f->param_bytes) += par->size;
}

static void parse_param(struct parser *p, struct func *f, bool results, struct param *par)
{
    bool in_reg = take_dot(p, "reg");
    if (!in_reg && !take_dot(p, "param"))
        ptx_fail(p, p->tok.s, ".param or .reg is expected here");
    if (in_reg && f->is_kernel)
        ptx_fail(p, p->tok.s, "a kernel's parameters are in .param");
    par->align = take_dot(p, "align") ? parse_align(p) : 1;
    if (is_dot(p, "texref") || is_dot(p, "surfref") || is_dot(p, "samplerref"))
        ptx_fail(p, p->tok.s, "textures and surfaces are not emulated");
    int vec = parse_vec(p);
    par->type = parse_type(p);
    skip_ptr(p);
    if (take_dot(p, "align"))
        par->align = parse_align(p);
    struct shape sh = { .type = par->type, .elem = type_bytes(par->type) * (uint32_t)(vec ? vec : 1) };
    struct token name = p->tok;
    need(p, TOK_WORD, "the name of a parameter");
    par->name = name.name->text;
    if (in_reg) {
        struct entity *e = declare(p, name.name, E_REG, name.s);
        e->vreg = new_vreg(p, par->type, name.name);
        par->size = par->type == T_PRED ? 1 : reg_width(par->type);
        p->reg_param[results ? f->nret : f->nret + f->nparam] = e->vreg;
    }
    struct symbol *s = in_reg ? NEW(p, struct symbol) : new_symbol(p, name.name, SYM_PARAM, name.s);
    if (!in_reg) {
        if (sh.elem == 0)
            ptx_fail(p, name.s, "a parameter cannot have type .%s", type_name(par->type));
        parse_dims(p, &sh, s);
        if (s->size > 1 << 16 || (sh.ndim && !s->size))
            ptx_fail(p, name.s, "a parameter needs a size of at most 64 KB");
        par->size = (uint32_t)s->size;
    }
    if (par->type == T_PRED)
        ptx_fail(p, name.s, "a parameter cannot be a predicate");
    uint32_t natural = par->type == T_NONE || in_reg ? par->size : sh.elem;
    if (par->align < natural && natural <= 16 && !(natural & (natural - 1)))
        par->align = natural;
    place_param(p, f, par, s, results);
}

void parse_params(struct parser *p, struct func *f, bool results)
{
    enum { MAX_PARAMS = 4096 };
    uint32_t cap = 0, n = 0;
    struct param *list = NULL;
    need(p, '(', "'('");
    if (!p->reg_param) {
        p->reg_param = NEWS(p, uint32_t, MAX_PARAMS);
        memset(p->reg_param, 0xFF, MAX_PARAMS * sizeof(uint32_t));
    }
    while (p->tok.kind != ')') {
        if (f->nret + f->nparam + 1 >= MAX_PARAMS)
            ptx_fail(p, p->tok.s, "more than %d parameters", MAX_PARAMS - 1);
        parse_param(p, f, results, &PUSH(p, list, n, cap));
        *(results ? &f->nret : &f->nparam) = n;
        *(results ? &f->ret : &f->param) = list;
        if (!take(p, ','))
            break;
    }
    need(p, ')', "')'");
}
