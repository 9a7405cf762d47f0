/* parse.c: a PTX file: .version, .target, variables, functions, and what surrounds them. */
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

/* ---- .version 9.0  .target sm_90a  .address_size 64 */

static void parse_version(struct parser *p)
{
    const char *at = p->cur;
    at += strspn(at, " \t");
    char *end;
    unsigned long major = strtoul(at, &end, 10), minor = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
    advance(p);
    if (p->tok.kind != TOK_FLOAT && p->tok.kind != TOK_INT)
        ptx_fail(p, p->tok.s, "a version such as 9.0 is expected here");
    if (major < 1 || major > 9)
        ptx_fail(p, at, "PTX version %lu.%lu is not known; 1.0 to 9.x are", major, minor);
    advance(p);
    p->m->version = (uint32_t)(major * 10 + minor);
}

static void parse_target(struct parser *p)
{
    advance(p);
    do {
        struct token t = p->tok;
        need(p, TOK_WORD, "a target such as sm_90a");
        if (strncmp(t.name->text, "sm_", 3) == 0) {
            char *end;
            p->m->target = (uint32_t)strtoul(t.name->text + 3, &end, 10);
            p->m->target_suffix = *end;
            if (p->m->target < 10 || p->m->target > 999 || (*end && *end != 'a' && *end != 'f') || (*end && end[1]))
                ptx_fail(p, t.s, "'%s' is no target", t.name->text);
        } else if (strcmp(t.name->text, "texmode_independent") != 0 && strcmp(t.name->text, "texmode_unified") != 0 &&
                   strcmp(t.name->text, "debug") != 0 && strcmp(t.name->text, "map_f64_to_f32") != 0) {
            ptx_fail(p, t.s, "'%s' is no target", t.name->text);
        }
    } while (take(p, ','));
}

static void parse_address_size(struct parser *p)
{
    advance(p);
    const char *at = p->tok.s;
    if (parse_int(p) != 64)
        ptx_fail(p, at, "only 64-bit addresses are emulated");
}

/* ---- other directives */

/* .section .debug_str { … } */
static void skip_section(struct parser *p)
{
    advance(p);
    if (p->tok.kind != TOK_DOT && p->tok.kind != TOK_WORD && p->tok.kind != TOK_STRING)
        ptx_fail(p, p->tok.s, "the name of a section is expected here");
    advance(p);
    if (p->tok.kind != '{')
        ptx_fail(p, p->tok.s, "'{' is expected here");
    skip_braces(p);
}

/* .alias name, of; */
static void parse_alias(struct parser *p)
{
    advance(p);
    struct token name = p->tok;
    need(p, TOK_WORD, "the name of a function");
    need(p, ',', "','");
    struct token of = p->tok;
    need(p, TOK_WORD, "the name of a function");
    struct entity *a = name.name->bound, *b = of.name->bound;
    if (!a || a->kind != E_SYMBOL || a->sym->kind != SYM_FUNC || !b || b->kind != E_SYMBOL || b->sym->kind != SYM_FUNC)
        ptx_fail(p, name.s, "an alias needs two declared functions");
    if (!a->sym->func->is_extern)
        ptx_fail(p, name.s, "'%s' has a body and cannot be an alias", name.name->text);
    for (uint32_t i = 0; i < p->m->nfunc; i++)
        if (p->m->func[i] == a->sym->func)
            p->m->func[i] = p->m->func[--p->m->nfunc];
    a->sym->func = b->sym->func;
    need(p, ';', "';'");
}

/* Addresses of functions that turned out to be aliases. */
static void resolve_aliases(struct parser *p)
{
    for (uint32_t i = 0; i < p->m->nfunc; i++)
        for (uint32_t c = 0; c < p->m->func[i]->nconstant; c++) {
            struct constant *con = &p->m->func[i]->constant[c];
            if (con->sym && con->sym->kind == SYM_FUNC)
                con->sym = con->sym->func->sym;
        }
    for (uint32_t i = 0; i < p->m->nvar; i++)
        for (int r = 0; r < p->m->var[i]->nreloc; r++) {
            struct symbol **s = &p->m->var[i]->reloc[r].sym;
            *s = (*s)->kind == SYM_FUNC ? (*s)->func->sym : *s;
        }
}

static bool is_space(const struct parser *p)
{
    return is_dot(p, "global") || is_dot(p, "const") || is_dot(p, "shared") || is_dot(p, "local");
}

/* .visible .entry …, .extern .func …, .weak .global … */
static void parse_declaration(struct parser *p)
{
    bool is_extern = false;
    while (is_dot(p, "visible") || is_dot(p, "weak") || is_dot(p, "extern") || is_dot(p, "common")) {
        is_extern |= is_dot(p, "extern");
        advance(p);
    }
    if (is_dot(p, "entry") || is_dot(p, "func"))
        parse_function(p);
    else if (is_space(p))
        parse_var(p, is_extern);
    else if (is_dot(p, "tex") || is_dot(p, "surf") || is_dot(p, "texref"))
        ptx_fail(p, p->tok.s, "textures and surfaces are not emulated");
    else if (p->tok.kind == TOK_DOT)
        ptx_fail(p, p->tok.s, "unknown directive .%.*s", (int)p->tok.len, p->tok.s);
    else
        ptx_fail(p, p->tok.s, "a directive is expected here");
}

static void parse_top(struct parser *p)
{
    if (is_dot(p, "version"))
        parse_version(p);
    else if (is_dot(p, "target"))
        parse_target(p);
    else if (is_dot(p, "address_size"))
        parse_address_size(p);
    else if (is_dot(p, "file"))
        parse_file_directive(p);
    else if (is_dot(p, "loc"))
        parse_loc(p);
    else if (is_dot(p, "section"))
        skip_section(p);
    else if (is_dot(p, "alias"))
        parse_alias(p);
    else if (is_dot(p, "pragma"))
        skip_pragma(p);
    else if (!take(p, ';'))
        parse_declaration(p);
}

/* Who calls a function that was set aside cannot run either. */
static void spread_refusals(struct parser *p)
{
    bool more = true;
    while (more) {
        more = false;
        for (struct fn *f = p->fns; f; f = f->next)
            for (struct reach *r = f->reach; r && !f->func.refused; r = r->next)
                if (r->callee && r->callee->refused) {
                    f->func.refused = r->callee->refused;
                    more = true;
                }
    }
}

/* The first refusal, if it leaves no kernel. */
static const char *refused_all(const struct module *m)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < m->nfunc; i++) {
        if (m->func[i]->is_kernel && !m->func[i]->refused)
            return NULL;
        first = first ? first : m->func[i]->refused;
    }
    return first;
}

static void parse_module(struct parser *p)
{
    advance(p);
    if (!is_dot(p, "version"))
        ptx_fail(p, p->tok.s, ".version must come first");
    while (p->tok.kind != TOK_END) {
        if (!p->m->target && !is_dot(p, "version") && !is_dot(p, "target"))
            ptx_fail(p, p->tok.s, ".target must follow .version");
        parse_top(p);
    }
    if (!p->m->target)
        ptx_fail(p, p->tok.s, ".target is missing");
    resolve_aliases(p);
    spread_refusals(p);
    layout_shared(p);
}

/* What does not fit the stack frame of a setjmp lives in the arena. */
static struct module *parse(const char *name, const char *text, size_t len, char *err, size_t errlen, bool share_rows,
                            bool usable_only, bool compiled)
{
    jmp_buf on_error;
    struct arena *arena = arena_new();
    struct parser *p = arena_alloc(arena, sizeof *p);
    p->arena = arena;
    p->m = NEW(p, struct module);
    p->m->arena = arena;
    p->m->name = p->name = arena_text(arena, name, strlen(name));
    p->m->text = p->cur = arena_text(arena, text, len);
    p->end = p->cur + strlen(p->cur);    /* fatbins pad a text with zeros */
    p->line = 1;
    p->err = err;
    p->errlen = errlen;
    p->on_error = &on_error;
    p->share_rows = share_rows;
    p->usable_only = usable_only;
    p->compiled = compiled;
    if (errlen)
        err[0] = 0;
    if (setjmp(on_error)) {
        arena_free(arena);
        return NULL;
    }
    scope_open(p);              /* the module: scope 0 */
    p->scope = 0;
    parse_module(p);
    return p->m;
}

struct module *parse_text(const char *name, const char *text, size_t len, char *err, size_t errlen, bool share_rows)
{
    return parse(name, text, len, err, errlen, share_rows, false, false);
}

struct module *ptx_parse_usable(const char *name, const char *text, size_t len, char *err, size_t errlen, bool compiled)
{
    struct module *m = parse(name, text, len, err, errlen, true, true, compiled);
    const char *why = m ? refused_all(m) : NULL;
    if (m)
        snprintf(err, errlen, "%s", why ? why : "");
    if (why)
        ptx_free(m);
    return why ? NULL : m;
}

struct module *ptx_parse(const char *name, const char *text, size_t len, char *err, size_t errlen)
{
    return parse_text(name, text, len, err, errlen, true);
}
