/* operand.c: operands as they are written, before the instruction table says what they are for. */
#include <string.h>
#include <ctype.h>
#include "ptx.h"

static const struct { const char *name; enum type type; } sregs[SREG_COUNT] = {
#define SREG(id, text, type) [SREG_##id] = { text, type },
#include "../core/sregs.def"
#undef SREG
};

uint32_t sreg_width(enum sreg s)
{
    return reg_width(sregs[s].type);
}

/* %tid.x: the component is part of the name. */
static enum sreg special_register(struct parser *p, struct token *t)
{
    char name[40];
    bool component = *p->cur == '.';
    size_t n = t->len;
    if (component)
        for (n++; isalnum((unsigned char)t->s[n]); n++)
            ;
    if (n >= sizeof name)
        return SREG_NONE;
    memcpy(name, t->s, n);
    name[n] = 0;
    for (int s = 1; s < SREG_COUNT; s++)
        if (strcmp(sregs[s].name, name) == 0) {
            advance(p);
            if (component)
                advance(p);
            return (enum sreg)s;
        }
    return SREG_NONE;
}

/* .b3210, .h10: the digits, lowest first, 4 bits each; how many in bits 27:24; bit 28 for halves. */
static uint32_t parse_select(struct parser *p)
{
    const char *s = p->tok.s;
    uint32_t n = p->tok.len - 1, digits = 0;
    if ((*s != 'b' && *s != 'h') || n < 1 || n > 4)
        ptx_fail(p, s, ".%.*s selects nothing of a register", (int)p->tok.len, s);
    for (uint32_t i = 1; i <= n; i++) {
        if (s[i] < '0' || s[i] > '7')
            ptx_fail(p, s, ".%.*s selects nothing of a register", (int)p->tok.len, s);
        digits = digits << 4 | (uint32_t)(s[i] - '0');
    }
    advance(p);
    return digits | n << 24 | (uint32_t)(*s == 'h') << 28;
}

/* v.x, or all of v as a vector. */
static void vector_register(struct parser *p, struct arg *a, const struct entity *e)
{
    if (p->tok.kind == TOK_DOT) {
        static const char names[] = "xyzwrgba";
        const char *c = p->tok.len == 1 ? strchr(names, *p->tok.s) : NULL;
        uint32_t i = c ? (uint32_t)(c - names) & 3 : 99;
        if (i >= e->n)
            ptx_fail(p, p->tok.s, "'%s' has no component .%.*s", e->name->text, (int)p->tok.len, p->tok.s);
        advance(p);
        a->vreg = e->vreg + i;
        return;
    }
    a->kind = A_VEC;
    a->n = e->n;
    a->elem = NEWS(p, struct arg, e->n);
    for (uint32_t i = 0; i < e->n; i++)
        a->elem[i] = (struct arg){ .kind = A_REG, .vreg = e->vreg + i, .at = a->at };
}

static void register_arg(struct parser *p, struct arg *a, const struct entity *e)
{
    bool adjacent = *p->cur == '.';
    a->kind = A_REG;
    a->vreg = e->vreg;
    advance(p);
    if (e->n)
        vector_register(p, a, e);
    else if (adjacent && p->tok.kind == TOK_DOT)
        a->select = parse_select(p);
}

static void name_arg(struct parser *p, struct arg *a)
{
    struct token t = p->tok;
    struct entity *e = t.name->bound;
    if (e && e->kind == E_REG) {
        register_arg(p, a, e);
        return;
    }
    if (*t.s == '%' && (a->sreg = special_register(p, &t)) != SREG_NONE) {
        a->kind = A_SREG;
        return;
    }
    if (t.len == 1 && *t.s == '_') {
        a->kind = A_SINK;
        advance(p);
        return;
    }
    if (strcmp(t.name->text, "WARP_SZ") == 0) {
        a->kind = A_IMM;
        a->v = parse_value(p);
        return;
    }
    if (*t.s == '%')
        ptx_fail(p, t.s, "'%s' is not declared", t.name->text);
    advance(p);
    if (e && e->kind == E_SYMBOL) {
        a->kind = A_SYM;
        a->sym = e->sym;
        if (p->tok.kind == '+' || p->tok.kind == '-')
            a->v.bits = (uint64_t)parse_int(p);
        return;
    }
    a->kind = A_NAME;           /* a label, or the name of a list */
    a->name = t.name;
}

/* [base], [base+imm], [imm], [map, {c0, c1}] */
static void address_arg(struct parser *p, struct arg *a)
{
    advance(p);
    a->kind = A_MEM;
    if (p->tok.kind == TOK_WORD && strcmp(p->tok.name->text, "WARP_SZ") != 0) {
        a->base = NEW(p, struct arg);
        a->base->at = p->tok.s;
        name_arg(p, a->base);
        if (a->base->kind == A_SYM) {
            a->v.bits = a->base->v.bits;
            a->base->v.bits = 0;
        } else if (a->base->kind == A_NAME) {
            ptx_fail(p, a->base->at, "'%s' is not declared", a->base->name->text);
        } else if (a->base->kind != A_REG) {
            ptx_fail(p, a->base->at, "an address is a register, a variable or a number");
        } else if (p->tok.kind == '+' || p->tok.kind == '-') {
            a->v.bits = (uint64_t)parse_int(p);
        }
    } else {
        a->v.bits = (uint64_t)parse_int(p);
    }
    if (take(p, ',')) {
        struct arg coords = { .at = p->tok.s };
        parse_arg(p, &coords);
        if (coords.kind == A_VEC) {
            a->n = coords.n;
            a->elem = coords.elem;
        } else {
            a->n = 1;
            a->elem = NEW(p, struct arg);
            a->elem[0] = coords;
        }
    }
    need(p, ']', "']'");
    take_dot(p, "unified");     /* a promise about the address: nothing to do */
}

static void parse_vector(struct parser *p, struct arg *a)
{
    enum { MAX_ELEMENTS = 256 };
    uint32_t cap = 0;
    advance(p);
    a->kind = A_VEC;
    while (p->tok.kind != '}') {
        struct arg e = { .at = p->tok.s };
        if (a->n == MAX_ELEMENTS || p->tok.kind == '{' || p->tok.kind == '[')
            ptx_fail(p, e.at, a->n == MAX_ELEMENTS ? "too many elements" : "a vector has no vectors in it");
        parse_arg(p, &e);
        if (e.kind == A_VEC)
            ptx_fail(p, e.at, "a vector has no vectors in it");
        PUSH(p, a->elem, a->n, cap) = e;
        if (!take(p, ','))
            break;
    }
    need(p, '}', "'}'");
}

/* d|p */
static void parse_pair(struct parser *p, struct arg *a)
{
    struct token t = p->tok;
    need(p, TOK_WORD, "a predicate register or _");
    a->has_pair = true;
    a->pair = ROW_NONE;
    if (t.len == 1 && *t.s == '_')
        return;
    struct entity *e = t.name->bound;
    if (!e || e->kind != E_REG || e->n || p->vreg[e->vreg].width != 0)
        ptx_fail(p, t.s, "'%s' is no predicate register", t.name->text);
    a->pair = e->vreg;
}

void parse_arg(struct parser *p, struct arg *a)
{
    *a = (struct arg){ .at = p->tok.s };
    if (p->tok.kind == '!' && isalpha(peek_char(p)) + (peek_char(p) == '%') + (peek_char(p) == '_') + (peek_char(p) == '$')) {
        advance(p);
        a->flags = O_NOT;
        name_arg(p, a);
        if (a->kind != A_REG || p->vreg[a->vreg].width != 0)
            ptx_fail(p, a->at, "'!' stands before predicate registers only");
    } else if (p->tok.kind == '-' && (isalpha(peek_char(p)) || peek_char(p) == '%')) {
        advance(p);
        a->flags = O_NEG;
        name_arg(p, a);
        if (a->kind != A_REG)
            ptx_fail(p, a->at, "'-' stands before numbers and registers only");
    } else if (p->tok.kind == TOK_WORD) {
        name_arg(p, a);
    } else if (p->tok.kind == '{') {
        parse_vector(p, a);
    } else if (p->tok.kind == '[') {
        address_arg(p, a);
    } else {
        a->kind = A_IMM;
        a->v = parse_value(p);
    }
    if (take(p, '|'))
        parse_pair(p, a);
}
