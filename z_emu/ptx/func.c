/* func.c: functions, scopes and statements. */
#include <string.h>
#include <ctype.h>
#include "ptx.h"

/* ---------------------------------------------------------------- scopes */

void scope_open(struct parser *p)
{
    uint32_t cap = p->scope_cap;
    p->scope_parent = arena_grow(p->arena, p->scope_parent, p->nscope, &cap, sizeof *p->scope_parent);
    cap = p->scope_cap;
    p->scope_local = arena_grow(p->arena, p->scope_local, p->nscope, &cap, sizeof *p->scope_local);
    cap = p->scope_cap;
    p->scope_entities = arena_grow(p->arena, p->scope_entities, p->nscope, &cap, sizeof *p->scope_entities);
    p->scope_cap = cap;
    p->scope_parent[p->nscope] = p->scope;
    p->scope_local[p->nscope] = p->local_top;
    p->scope_entities[p->nscope] = NULL;
    p->scope = p->nscope++;
}

/* The names of the scope mean again what they meant before; its local memory is free again. */
void scope_close(struct parser *p)
{
    for (struct entity *e = p->scope_entities[p->scope]; e; e = e->sibling)
        e->name->bound = e->outer;
    p->local_top = p->scope_local[p->scope];
    p->scope = p->scope_parent[p->scope];
}

struct entity *declare(struct parser *p, struct name *n, enum entity_kind kind, const char *at)
{
    if (n->bound && n->bound->scope == p->scope)
        ptx_fail(p, at, "'%s' is declared twice", n->text);
    struct entity *e = NEW(p, struct entity);
    e->kind = (uint8_t)kind;
    e->name = n;
    e->scope = p->scope;
    e->outer = n->bound;
    e->sibling = p->scope_entities[p->scope];
    p->scope_entities[p->scope] = e;
    n->bound = e;
    return e;
}

/* ---------------------------------------------------------------- statements */

static void parse_label(struct parser *p, struct token name)
{
    advance(p);
    advance(p);
    if (is_dot(p, "branchtargets") || is_dot(p, "callprototype") || is_dot(p, "calltargets")) {
        parse_list(p, name.name, name.s);
        return;
    }
    for (struct label *l = name.name->label; l; l = l->next)
        if (l->scope == p->scope)
            ptx_fail(p, name.s, "label '%s' stands twice", name.name->text);
    struct label *l = NEW(p, struct label);
    *l = (struct label){ p->ncode, p->scope, name.name->label, name.s };
    if (!name.name->label)
        PUSH(p, p->labelled, p->nlabelled, p->labelled_cap) = name.name;
    name.name->label = l;
}

size_t opcode_len(const char *s)
{
    const char *c = s;
    while (isalnum((unsigned char)*c) || *c == '_' || *c == '.' || (c[0] == ':' && c[1] == ':') || (*c == ':' && c[-1] == ':'))
        c++;
    return (size_t)(c - s);
}

static uint32_t parse_guard(struct parser *p, uint8_t *negated)
{
    if (!take(p, '@'))
        return ROW_NONE;
    *negated = take(p, '!');
    struct token t = p->tok;
    need(p, TOK_WORD, "a predicate register");
    struct entity *e = t.name->bound;
    if (!e || e->kind != E_REG || e->n || p->vreg[e->vreg].width != 0)
        ptx_fail(p, t.s, "'%s' is no predicate register", t.name->text);
    return e->vreg;
}

static void parse_instr(struct parser *p)
{
    const char *at = p->tok.s;
    uint8_t negated = 0;
    uint32_t guard = parse_guard(p, &negated);
    if (p->tok.kind != TOK_WORD)
        ptx_fail(p, p->tok.s, "an instruction is expected here");
    const char *text = p->tok.s;
    size_t len = opcode_len(text);
    const struct form *form = form_of(p, text, len);
    p->cur = text + len;
    advance(p);

    struct instr proto = form->cand[0].proto;
    proto.guard = guard;
    proto.guard_neg = negated;
    if (proto.op == OP_CALL) {
        parse_call(p, &proto, at);
    } else if (proto.op == OP_BRX) {
        parse_brx(p, &proto, at);
    } else {
        struct arg args[MAX_SPEC];
        uint32_t n = 0;
        while (p->tok.kind != ';') {
            if (n == MAX_SPEC)
                ptx_fail(p, p->tok.s, "too many operands");
            parse_arg(p, &args[n++]);
            if (!take(p, ','))
                break;
        }
        if (p->tok.kind != ';')
            ptx_fail(p, p->tok.s, "',' or ';' is expected here");
        uint32_t c = 0;
        while (c + 1 < form->n && !args_fit(&form->cand[c], args, n))
            c++;
        proto = form->cand[c].proto;
        proto.guard = guard;
        proto.guard_neg = negated;
        if (proto.op == OP_RET)
            emit_results(p, at);
        build_operands(p, &proto, form->cand[c].row, args, n);
        emit(p, &proto, at);
    }
    need(p, ';', "';'");
}

void skip_pragma(struct parser *p)
{
    advance(p);
    do
        need(p, TOK_STRING, "a string");
    while (take(p, ','));
    need(p, ';', "';'");
}

static void parse_statement(struct parser *p)
{
    p->statement_line = p->tok_line;
    if (p->tok.kind == TOK_WORD && peek_char(p) == ':')
        parse_label(p, p->tok);
    else if (p->tok.kind == TOK_WORD || p->tok.kind == '@')
        parse_instr(p);
    else if (is_dot(p, "loc"))
        parse_loc(p);
    else if (is_dot(p, "reg"))
        parse_reg(p);
    else if (is_dot(p, "local") || is_dot(p, "shared") || is_dot(p, "param") || is_dot(p, "global") || is_dot(p, "const"))
        parse_var(p, false);
    else if (is_dot(p, "pragma"))
        skip_pragma(p);
    else if (is_dot(p, "file"))
        parse_file_directive(p);
    else if (!take(p, ';'))
        ptx_fail(p, p->tok.s, "an instruction or a directive is expected here");
}

static void parse_body(struct parser *p)
{
    const char *open = p->tok.s;
    uint32_t base = p->scope;
    need(p, '{', "'{'");
    scope_open(p);
    while (p->scope != base) {
        if (p->tok.kind == TOK_END)
            ptx_fail(p, open, "this { has no }");
        if (p->tok.kind == '{') {
            scope_open(p);
            advance(p);
        } else if (p->tok.kind == '}') {
            scope_close(p);
            advance(p);
        } else {
            parse_statement(p);
        }
    }
}

/* ---------------------------------------------------------------- labels */

static bool in_scope(const struct parser *p, uint32_t outer, uint32_t inner)
{
    while (inner != outer && inner)
        inner = p->scope_parent[inner];
    return inner == outer;
}

/* The label of that name in the innermost scope around the branch. */
static const struct label *find_label(struct parser *p, const struct fixup *f)
{
    const struct label *best = NULL;
    for (const struct label *l = f->name->label; l; l = l->next)
        if (in_scope(p, l->scope, f->scope) && (!best || in_scope(p, best->scope, l->scope)))
            best = l;
    if (!best)
        ptx_fail(p, f->at, "there is no label '%s' here", f->name->text);
    return best;
}

static void resolve_labels(struct parser *p)
{
    for (uint32_t i = 0; i < p->nfix; i++)
        p->fix[i].op->imm = find_label(p, &p->fix[i])->pc;
    for (uint32_t i = 0; i < p->nlabelled; i++)
        p->labelled[i]->label = NULL;
}

/* ---------------------------------------------------------------- functions */

static void begin_function(struct parser *p, struct func *f)
{
    p->f = f;
    p->fn = FN(f);
    p->ncode = p->nvreg = p->ncon = p->nconl = p->nfix = p->nlabelled = p->nlocs = 0;
    p->main_file = 0;
    p->loc = NULL;
    p->carry = ROW_NONE;
    memset(p->con_hash, 0, sizeof p->con_hash);
}

/* A ret or exit at the end, if control could run past it. */
static void close_code(struct parser *p)
{
    const struct instr *last = p->ncode ? &p->code[p->ncode - 1] : NULL;
    bool label_at_end = false;
    for (uint32_t i = 0; i < p->nfix; i++)
        label_at_end |= p->fix[i].op->imm == p->ncode;
    if (last && last->guard == ROW_NONE && (last->op == OP_RET || last->op == OP_EXIT) && !label_at_end)
        return;
    const char *text = "ret";
    struct instr ret = form_of(p, text, strlen(text))->cand[0].proto;
    emit_results(p, p->tok.s);
    emit(p, &ret, text);
}

static void finish_function(struct parser *p)
{
    struct func *f = p->f;
    resolve_labels(p);
    close_code(p);
    f->code = NEWS(p, struct instr, p->ncode);
    f->ninstr = p->ncode;
    memcpy(f->code, p->code, p->ncode * sizeof *f->code);
    for (uint32_t i = 0; i < f->ninstr; i++)
        f->code[i].func = f;
    struct cfg g;
    cfg_build(p, &g);
    cfg_reconverge(p, &g);
    allocate_rows(p, &g);
    p->f = NULL;
    p->fn = NULL;
}

static uint32_t parse_dim3(struct parser *p, uint32_t dim[3])
{
    uint32_t n = 0;
    do {
        const char *at = p->tok.s;
        int64_t v = parse_int(p);
        if (n == 3 || v < 1 || v > UINT32_MAX)
            ptx_fail(p, at, "up to three positive numbers are expected here");
        dim[n++] = (uint32_t)v;
    } while (take(p, ','));
    for (uint32_t i = n; i < 3; i++)
        dim[i] = 1;
    return n;
}

/* .maxntid 128, .minnctapersm 2, … between the parameters and the body. */
static void parse_performance(struct parser *p, struct func *f)
{
    uint32_t dim[3];
    for (;;) {
        if (take_dot(p, "maxntid"))
            parse_dim3(p, f->maxntid);
        else if (take_dot(p, "reqntid"))
            parse_dim3(p, f->reqntid);
        else if (take_dot(p, "reqnctapercluster"))
            parse_dim3(p, f->reqnctapercluster);
        else if (take_dot(p, "minnctapersm"))
            f->minnctapersm = (uint32_t)parse_int(p);
        else if (take_dot(p, "maxnreg"))
            f->maxnreg = (uint32_t)parse_int(p);
        else if (take_dot(p, "maxnctapersm") || take_dot(p, "maxclusterrank"))
            parse_dim3(p, dim);
        else if (take_dot(p, "explicitcluster") || take_dot(p, "blocksareclusters"))
            f->explicit_cluster = true;
        else if (take_dot(p, "abi_preserve") || take_dot(p, "abi_preserve_control"))
            parse_int(p);
        else if (is_dot(p, "pragma"))
            skip_pragma(p);
        else if (!take_dot(p, "noreturn"))
            return;
    }
}

static struct func *new_func(struct parser *p, struct symbol *s, bool kernel)
{
    if (s->func) {
        if (s->func->is_kernel != kernel)
            ptx_fail(p, p->tok.s, "'%s' was declared as %s", s->name, kernel ? ".func" : ".entry");
        return s->func;
    }
    struct fn *fn = NEW(p, struct fn);
    struct func *f = s->func = &fn->func;
    fn->next = p->fns;
    p->fns = fn;
    f->name = s->name;
    f->module = p->m;
    f->is_kernel = kernel;
    f->is_extern = true;
    f->sym = s;
    s->space = kernel ? SP_NONE : SP_GENERIC;
    PUSH(p, p->m->func, p->m->nfunc, p->func_cap) = f;
    return f;
}

/* In place of a body that cannot run: the registers, labels and code read so far go, and what stays is a trap. */
static void set_aside(struct parser *p)
{
    const char *text = "trap";
    p->f->refused = arena_text(p->arena, p->err, strlen(p->err));
    p->ncode = p->nvreg = p->ncon = p->nconl = p->nfix = 0;
    p->carry = ROW_NONE;
    memset(p->con_hash, 0, sizeof p->con_hash);
    struct instr trap = form_of(p, text, strlen(text))->cand[0].proto;
    trap.guard = ROW_NONE;
    emit(p, &trap, text);
}

/* As parse_body, but an instruction that is not known costs only this function. */
static __attribute__((noinline)) void parse_usable_body(struct parser *p)
{
    jmp_buf here, *const outer = p->on_error;
    const struct token open = p->tok;
    const char *const cur = p->cur;
    const uint32_t line = p->line, tok_line = p->tok_line, base = p->scope;
    p->on_error = &here;
    p->unknown_form = false;
    const bool failed = setjmp(here) != 0;
    if (!failed)
        parse_body(p);
    p->on_error = outer;
    if (!failed)
        return;
    if (!p->unknown_form)
        longjmp(*outer, 1);
    while (p->scope != base)
        scope_close(p);
    p->tok = open;
    p->cur = cur;
    p->line = line;
    p->tok_line = tok_line;
    skip_braces(p);
    set_aside(p);
}

/* Results come before the name, so the header is read into a scratch function first. */
void parse_function(struct parser *p)
{
    bool kernel = is_dot(p, "entry");
    advance(p);
    struct func head = { .is_kernel = kernel };
    begin_function(p, &head);
    p->reg_param = NULL;
    if (is_dot(p, "attribute"))
        ptx_fail(p, p->tok.s, "attributes of functions are not known");
    uint32_t module_scope = p->scope;
    scope_open(p);              /* of the parameters */
    if (p->tok.kind == '(' && !kernel)
        parse_params(p, &head, true);
    struct token name = p->tok;
    need(p, TOK_WORD, "the name of a function");
    uint32_t params_scope = p->scope;
    p->scope = module_scope;
    struct symbol *s = new_symbol(p, name.name, SYM_FUNC, name.s);
    p->scope = params_scope;
    struct func *f = new_func(p, s, kernel);
    if (p->tok.kind == '(')
        parse_params(p, &head, false);
    parse_performance(p, &head);

    bool body = p->tok.kind == '{';
    if (body && !f->is_extern)
        ptx_fail(p, name.s, "'%s' is defined twice", s->name);
    if (body || f->is_extern) {
        head.name = f->name;
        head.module = f->module;
        head.sym = f->sym;
        head.is_extern = !body;
        *f = head;
        s->is_extern = !body;
    }
    if (body) {
        p->f = f;
        p->fn = FN(f);
        p->local_top = f->local_bytes;
        p->statement_line = p->tok_line;
        load_parameters(p, name.s);
        if (p->usable_only)
            parse_usable_body(p);
        else
            parse_body(p);
        finish_function(p);
    } else {
        need(p, ';', "';' or '{'");
        p->f = NULL;
    }
    scope_close(p);
}
