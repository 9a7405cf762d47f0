/* lex.c: PTX text -> tokens, one at a time. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

/* ---- errors */

uint32_t line_at(const struct parser *p, const char *at, uint32_t *column)
{
    uint32_t line = 1;
    const char *start = p->m->text;
    for (const char *c = start; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    *column = (uint32_t)(at - start) + 1;
    return line;
}

/* " (kernel.cu:12)": the line that the last .loc names; "" if there is none. The .file lines may be still to come. */
static void source_of(const struct parser *p, char *out, size_t size)
{
    struct instr in = { 0 };
    unsigned int n;
    char file[256];
    out[0] = 0;
    if (p->f)
        set_line(p, &in);
    for (const char *c = p->m->text; in.line && (c = strstr(c, ".file")); c++)
        if (sscanf(c, ".file %u \"%255[^\"]", &n, file) == 2 && n == in.file) {
            snprintf(out, size, " (%s:%u)", file, (unsigned int)in.line);
            return;
        }
}

/* name:line:column: message, where in the source, the line, a caret. */
void ptx_fail(struct parser *p, const char *at, const char *fmt, ...)
{
    char what[512], source[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    source_of(p, source, sizeof source);

    uint32_t column, line = line_at(p, at, &column);
    const char *start = at - (column - 1);
    int len = (int)strcspn(start, "\n");
    int from = 0;
    if (len > 160) {            /* a long line: the part around the place */
        from = column > 60 ? (int)column - 60 : 0;
        len = len - from > 160 ? 160 : len - from;
    }
    char pad[256];              /* up to the caret; tabs stay tabs so that it stands right */
    int n = 0;
    for (const char *c = start + from; c < at && n < (int)sizeof pad - 1; c++)
        pad[n++] = *c == '\t' ? '\t' : ' ';
    pad[n] = 0;
    if (p->err && p->errlen)
        snprintf(p->err, p->errlen, "%s:%u:%u: %s%s\n    %.*s\n    %s^", p->name, line, column, what, source, len, start + from, pad);
    longjmp(*p->on_error, 1);
}

/* ---- names */

static uint32_t hash_text(const char *s, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static void grow_names(struct parser *p)
{
    uint32_t cap = p->names_cap ? 4 * p->names_cap : 4096;
    struct name **bigger = NEWS(p, struct name *, cap);
    for (uint32_t i = 0; i < p->names_cap; i++)
        for (struct name *n = p->names[i], *next; n; n = next) {
            next = n->next;
            n->next = bigger[n->hash & (cap - 1)];
            bigger[n->hash & (cap - 1)] = n;
        }
    p->names = bigger;
    p->names_cap = cap;
}

struct name *intern(struct parser *p, const char *s, size_t len)
{
    if (p->nnames >= p->names_cap)
        grow_names(p);
    uint32_t h = hash_text(s, len);
    struct name **slot = &p->names[h & (p->names_cap - 1)];
    for (struct name *n = *slot; n; n = n->next)
        if (n->hash == h && n->len == len && memcmp(n->text, s, len) == 0)
            return n;
    struct name *n = NEW(p, struct name);
    n->text = arena_text(p->arena, s, len);
    n->len = (uint32_t)len;
    n->hash = h;
    n->next = *slot;
    *slot = n;
    p->nnames++;
    return n;
}

/* ---- tokens */

static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void skip_space(struct parser *p)
{
    const char *c = p->cur;
    for (;;) {
        if (*c == '\n') {
            p->line++;
            c++;
        } else if (isspace((unsigned char)*c)) {
            c++;
        } else if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
        } else if (c[0] == '/' && c[1] == '*') {
            const char *open = c;
            for (c += 2; !(c[0] == '*' && c[1] == '/'); c++) {
                if (c >= p->end)
                    ptx_fail(p, open, "this comment does not end");
                p->line += *c == '\n';
            }
            c += 2;
        } else {
            break;
        }
    }
    p->cur = c;
}

/* 0f and 0d: the bits of a float, in hexadecimal. */
static void lex_hex_float(struct parser *p, struct token *t)
{
    int digits = 0, want = (t->s[1] | 32) == 'f' ? 8 : 16;
    const char *c = t->s + 2;
    for (; isxdigit((unsigned char)*c); c++, digits++)
        t->i = t->i << 4 | (uint64_t)(isdigit((unsigned char)*c) ? *c - '0' : (*c | 32) - 'a' + 10);
    if (digits != want)
        ptx_fail(p, t->s, "0%c needs %d hexadecimal digits", t->s[1], want);
    t->kind = TOK_FLOAT;
    t->float_bits = (uint8_t)(4 * want);
    p->cur = c;
}

static void lex_decimal_float(struct parser *p, struct token *t)
{
    char *end;
    double d = strtod(t->s, &end);
    memcpy(&t->i, &d, sizeof d);
    t->kind = TOK_FLOAT;
    p->cur = end;
}

static void lex_number(struct parser *p, struct token *t)
{
    const char *c = t->s;
    char mark = (char)(c[1] | 32);
    if (c[0] == '0' && (mark == 'f' || mark == 'd') && isxdigit((unsigned char)c[2])) {
        lex_hex_float(p, t);
        return;
    }
    int base = c[0] != '0' ? 10 : mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    const char *digits = c + (base == 16 || base == 2 ? 2 : 0);
    const char *run = digits + strspn(digits, "0123456789");
    if (base != 16 && base != 2 &&
        ((run[0] == '.' && isdigit((unsigned char)run[1])) ||
         ((run[0] | 32) == 'e' && (isdigit((unsigned char)run[1]) || run[1] == '-' || run[1] == '+')))) {
        lex_decimal_float(p, t);
        return;
    }
    for (c = digits;; c++) {
        int digit = isdigit((unsigned char)*c) ? *c - '0' : isxdigit((unsigned char)*c) ? (*c | 32) - 'a' + 10 : 99;
        if (digit >= base)
            break;
        if (t->i > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base)
            ptx_fail(p, t->s, "this number does not fit 64 bits");
        t->i = t->i * (uint64_t)base + (uint64_t)digit;
    }
    if (c == digits)
        ptx_fail(p, t->s, "digits are missing");
    if (*c == 'U') {
        t->is_unsigned = true;
        c++;
    }
    if (in_word(*c))
        ptx_fail(p, c, "'%c' cannot stand in a number", *c);
    t->kind = TOK_INT;
    t->is_unsigned |= t->i > INT64_MAX;
    p->cur = c;
}

static void lex_dot(struct parser *p, struct token *t)
{
    const char *c = ++t->s;
    while (in_word(*c) || (c[0] == ':' && c[1] == ':' && in_word(c[2])))
        c += *c == ':' ? 2 : 1;
    t->kind = TOK_DOT;
    t->len = (uint32_t)(c - t->s);
    p->cur = c;
}

void advance(struct parser *p)
{
    skip_space(p);
    struct token t = { .s = p->cur };
    p->tok_line = p->line;
    const char *c = p->cur;
    if (c >= p->end) {
        t.kind = TOK_END;
    } else if (starts_word(*c)) {
        for (c++; in_word(*c); c++)
            ;
        t.kind = TOK_WORD;
        t.len = (uint32_t)(c - t.s);
        t.name = intern(p, t.s, t.len);
        p->cur = c;
    } else if (isdigit((unsigned char)*c)) {
        lex_number(p, &t);
        t.len = (uint32_t)(p->cur - t.s);
    } else if (c[0] == '.' && in_word(c[1])) {
        lex_dot(p, &t);
    } else if (*c == '"') {
        t.s = ++c;
        c += strcspn(c, "\"\n");
        if (*c != '"')
            ptx_fail(p, t.s - 1, "this string does not end on its line");
        t.kind = TOK_STRING;
        t.len = (uint32_t)(c - t.s);
        p->cur = c + 1;
    } else {
        t.kind = (unsigned char)*c;
        t.len = 1;
        p->cur = c + 1;
    }
    p->tok = t;
}

int peek_char(const struct parser *p)
{
    const char *c = p->cur;
    while (isspace((unsigned char)*c))
        c++;
    return (unsigned char)*c;
}

bool take(struct parser *p, int kind)
{
    if (p->tok.kind != kind)
        return false;
    advance(p);
    return true;
}

static bool token_is(const struct parser *p, int kind, const char *word)
{
    return p->tok.kind == kind && p->tok.len == strlen(word) && memcmp(p->tok.s, word, p->tok.len) == 0;
}

bool is_dot(const struct parser *p, const char *word)
{
    return token_is(p, TOK_DOT, word);
}

bool take_dot(struct parser *p, const char *word)
{
    if (!is_dot(p, word))
        return false;
    advance(p);
    return true;
}

bool take_word(struct parser *p, const char *word)
{
    if (!token_is(p, TOK_WORD, word))
        return false;
    advance(p);
    return true;
}

void need(struct parser *p, int kind, const char *what)
{
    if (!take(p, kind))
        ptx_fail(p, p->tok.s, "%s expected here", what);
}

const char *skip_braces(struct parser *p)
{
    const char *open = p->tok.s;
    int depth = 0;
    do {
        depth += p->tok.kind == '{';
        depth -= p->tok.kind == '}';
        if (p->tok.kind == TOK_END)
            ptx_fail(p, open, "this { has no }");
        advance(p);
    } while (depth);
    return open;
}
