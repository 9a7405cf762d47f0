/* table.c: instructions.def, modifiers.def and groups.def, compiled once into rows that a parser can match. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

struct mod_info { const char *text; };
static const struct mod_info mods[M_COUNT] = {
#define MOD(id, text, field, value) [M_##id] = { text },
#include "modifiers.def"
#undef MOD
};

static const struct { const char *id; enum mod m; } mod_ids[] = {
#define MOD(id, text, field, value) { #id, M_##id },
#include "modifiers.def"
#undef MOD
};

static const struct { const char *name, *words; } groups[] = {
#define GROUP(name, words) { #name, words },
#include "groups.def"
#undef GROUP
};

static const struct { const char *mnemonic, *modifiers, *operands, *target; } source[OP_COUNT] = {
#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) [OP_##id] = { mnemonic, modifiers, operands, target },
#include "instructions.def"
#undef INSTR
};

enum { HASH = 1024 };
static struct row rows[OP_COUNT];
static const struct row *row_hash[HASH];        /* by mnemonic: the first row of each */
static const struct row *row_chain[OP_COUNT];
static enum mod mod_hash[HASH], mod_chain[M_COUNT], same_text[M_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t hash(const char *s, size_t len)
{
    uint32_t h = 5381;
    while (len--)
        h = h * 33 ^ (uint8_t)*s++;
    return (h ^ h >> 10) & (HASH - 1);
}

static bool same(const char *word, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(word, text, len) == 0;
}

/* A mistake in the tables themselves. */
static void __attribute__((noreturn)) table_error(const char *what, const char *word, size_t len)
{
    fprintf(stderr, "z_emu: instruction table: %s '%.*s'\n", what, (int)len, word);
    abort();
}

/* ---- modifiers */

static void index_mods(void)
{
    for (int m = M_COUNT - 1; m > M_NONE; m--) {
        uint32_t h = hash(mods[m].text, strlen(mods[m].text));
        mod_chain[m] = mod_hash[h];
        mod_hash[h] = (enum mod)m;
        for (int o = m + 1; o < M_COUNT && !same_text[m]; o++)
            if (strcmp(mods[o].text, mods[m].text) == 0)
                same_text[m] = (enum mod)o;
    }
}

static void add_word(struct mod_entry *e, const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof mod_ids / sizeof *mod_ids; i++)
        if (same(word, len, mod_ids[i].id)) {
            e->set[mod_ids[i].m / 64] |= 1ull << mod_ids[i].m % 64;
            return;
        }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (same(word, len, groups[i].name)) {
            for (const char *w = groups[i].words; *w; w += strspn(w, " ")) {
                size_t n = strcspn(w, " ");
                add_word(e, w, n);
                w += n;
            }
            return;
        }
    if (len > 1 && word[0] == 'm' && strspn(word + 1, "0123456789") > 0) {
        e->set[M_shape / 64] |= 1ull << M_shape % 64;
        return;
    }
    table_error("unknown modifier", word, len);
}

static void compile_modifiers(struct row *r, const char *text)
{
    for (const char *w = text; *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        if (r->nentry == MAX_ENTRY)
            table_error("too many modifiers for", r->mnemonic, strlen(r->mnemonic));
        struct mod_entry *e = &r->entry[r->nentry++];
        e->required = w[len - 1] == '!';
        for (const char *alt = w, *end = w + len - e->required; alt < end; ) {
            size_t n = strcspn(alt, "|! ");
            add_word(e, alt, n);
            alt += n + 1;
        }
        r->has_vec |= e->set[M_v2 / 64] >> M_v2 % 64 & 1;
        w += len;
    }
}

/* ---- operands */

static enum type type_by_name(const char *s, size_t len)
{
    for (int t = T_NONE + 1; t < T_COUNT; t++)
        if (same(s, len, type_name((enum type)t)))
            return (enum type)t;
    table_error("unknown type", s, len);
}

static void compile_rule(struct spec *s, const char *rule, size_t len)
{
    if (len == 2 && rule[0] == 't' && rule[1] >= '0' && rule[1] <= '9') {
        s->rule = ST_NTH;
        s->type = (uint8_t)(rule[1] - '0');
    } else if (same(rule, len, "wide")) {
        s->rule = ST_WIDE;
    } else if (same(rule, len, "pack")) {
        s->rule = ST_PACK;
    } else if (same(rule, len, "frag")) {
        s->rule = ST_FRAG;
    } else {
        s->rule = ST_FIXED;
        s->type = (uint8_t)type_by_name(rule, len);
    }
}

static void compile_operand(struct row *r, const char *w, size_t len)
{
    if (len == 1 && *w == '~') {
        r->async_wait = true;
        return;
    }
    if (r->nspec == MAX_SPEC)
        table_error("too many operands for", r->mnemonic, strlen(r->mnemonic));
    struct spec *s = &r->spec[r->nspec++];
    const char *end = w + len;
    s->kind = *w == '[' ? SPEC_ADDRESS : *w == '{' ? SPEC_VECTOR : SPEC_ANY;
    w += s->kind != SPEC_ANY;
    size_t n = strcspn(w, "]}|?+*~:% ");
    if (n > (size_t)(end - w))
        n = (size_t)(end - w);
    memcpy(s->name, w, n < sizeof s->name - 1 ? n : sizeof s->name - 1);
    s->access = s->kind == SPEC_ADDRESS ? ACC_READ : *w == 'd' ? ACC_WRITE : *w == 'x' ? ACC_READ | ACC_WRITE : ACC_READ;
    if (w[n] == '%' && w + n < end) {
        s->kind = SPEC_CARRY;
        strcpy(s->name, "cc");
        return;
    }
    for (w += n; w < end; w++)
        switch (*w) {
        case ']': case '}': break;
        case '?': s->optional = true; break;
        case '+': s->wider = true; break;
        case '*': s->unchecked = true; break;
        case '~': s->async = true; break;
        case '|':
            s->pair = w[2] == '!' ? 2 : 1;
            w += s->pair;
            break;
        case ':':
            compile_rule(s, w + 1, (size_t)(end - w - 1));
            return;
        default: table_error("odd operand", w, (size_t)(end - w));
        }
}

static void compile_row(enum op op)
{
    struct row *r = &rows[op];
    r->op = op;
    r->mnemonic = source[op].mnemonic;
    r->target = source[op].target;
    compile_modifiers(r, source[op].modifiers);
    for (const char *w = source[op].operands; *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        compile_operand(r, w, len);
        w += len;
    }
}

static void compile(void)
{
    index_mods();
    for (int op = OP_COUNT - 1; op > OP_NONE; op--) {
        compile_row((enum op)op);
        struct row *r = &rows[op];
        size_t len = strlen(r->mnemonic);
        const struct row **slot = &row_hash[hash(r->mnemonic, len)], *old = *slot;
        while (old && strcmp(old->mnemonic, r->mnemonic) != 0)
            old = row_chain[old->op];
        if (old) {              /* take its place at the head of the rows of this mnemonic */
            r->next = old;
            while (*slot != old)
                slot = &row_chain[(*slot)->op];
            row_chain[op] = row_chain[old->op];
        } else {
            row_chain[op] = *slot;
        }
        *slot = r;
    }
}

/* ---- for the parser and everybody */

const struct row *row_of(enum op op)
{
    pthread_once(&once, compile);
    return &rows[op];
}

const struct row *row_by_mnemonic(const char *text, size_t len)
{
    pthread_once(&once, compile);
    for (const struct row *r = row_hash[hash(text, len)]; r; r = row_chain[r->op])
        if (same(text, len, r->mnemonic))
            return r;
    return NULL;
}

enum mod mod_by_text(const char *text, size_t len)
{
    pthread_once(&once, compile);
    for (enum mod m = mod_hash[hash(text, len)]; m; m = mod_chain[m])
        if (same(text, len, mods[m].text))
            return m;
    return M_NONE;
}

enum mod mod_next(enum mod m)
{
    return same_text[m];
}

const char *mod_text(enum mod m)
{
    return m > M_NONE && m < M_COUNT ? mods[m].text : "";
}

const char *op_mnemonic(enum op op)
{
    return op > OP_NONE && op < OP_COUNT ? source[op].mnemonic : "?";
}

const char *operand_name(enum op op, uint32_t i)
{
    const struct row *r = row_of(op);
    return i < r->nspec ? r->spec[i].name : "?";
}
