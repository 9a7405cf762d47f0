/* form.c: an opcode as written ("ld.global.nc.v4.f32") -> the rows of the table it fits, with the
 * fields that its modifiers set. Each distinct opcode of a module is decoded once. */
#include <ctype.h>
#include <string.h>
#include "ptx.h"

enum field { FIELD_none, FIELD_type, FIELD_space, FIELD_rnd, FIELD_cmp, FIELD_boolop, FIELD_mode, FIELD_sem, FIELD_scope,
             FIELD_cache, FIELD_vec, FIELD_layout, FIELD_flags, FIELD_shape };

static const struct { uint8_t field; uint32_t value; } effect[M_COUNT] = {
#define MOD(id, text, field, value) [M_##id] = { FIELD_##field, (uint32_t)(value) },
#include "modifiers.def"
#undef MOD
};

static const enum cost costs[OP_COUNT] = {
#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) [OP_##id] = cost,
#include "instructions.def"
#undef INSTR
};

enum cost op_cost(enum op op)
{
    return costs[op];
}

bool has_mod(const struct instr *in, enum mod m)
{
    for (int i = 0; i < in->nmod; i++)
        if (in->mod[i] == m)
            return true;
    return false;
}

/* "100f" on sm_103a: the same tens. 'a' code runs on that very chip only. */
bool target_has(const char *target, uint32_t cc, char suffix)
{
    if (!*target)
        return true;
    for (const char *t = target; *t; t += strspn(t, " ")) {
        uint32_t need = 0;
        for (; isdigit((unsigned char)*t); t++)
            need = need * 10 + (uint32_t)(*t - '0');
        if (*t == 'a' ? cc == need && suffix == 'a' :
            *t == 'f' ? cc / 10 == need / 10 && cc >= need && (suffix == 'a' || suffix == 'f') : cc >= need)
            return true;
        t += *t == 'a' || *t == 'f';
    }
    return false;
}

/* ---- setting fields */

static bool set_once(uint16_t *field, enum mod m)
{
    if (*field)
        return false;
    *field = (uint16_t)m;
    return true;
}

static bool set_space(struct instr *in, uint32_t space, bool *had)
{
    if (!had[0]) {
        had[0] = true;
        in->space = (uint8_t)space;
    } else if (!had[1]) {
        had[1] = true;
        in->space2 = (uint8_t)space;
    } else {
        return false;
    }
    return true;
}

/* False when the field has been set before. */
static bool set_field(struct instr *in, enum mod m, bool *had_space)
{
    uint32_t value = effect[m].value;
    switch ((enum field)effect[m].field) {
    case FIELD_none: return true;
    case FIELD_type: in->type[in->ntype++] = (uint8_t)value; return true;
    case FIELD_space: return set_space(in, value, had_space);
    case FIELD_rnd: return set_once(&in->rnd, m);
    case FIELD_cmp: return set_once(&in->cmp, m);
    case FIELD_boolop: return set_once(&in->boolop, m);
    case FIELD_mode: return set_once(&in->mode, m);
    case FIELD_sem: return set_once(&in->sem, m);
    case FIELD_scope: return set_once(&in->scope, m);
    case FIELD_cache: return set_once(&in->cache, m);
    case FIELD_layout: in->layout[in->nlayout++] = (uint16_t)m; return true;
    case FIELD_vec: in->vec = (uint8_t)value; return true;
    case FIELD_flags: in->flags |= value; return true;
    case FIELD_shape: return true;
    }
    return true;
}

/* m16n8k16, m8n8: fills the three sizes. */
static bool parse_shape(const char *s, size_t len, uint16_t size[3])
{
    static const char letters[] = "mnk";
    const char *end = s + len;
    int i = 0;
    for (; s < end && i < 3; i++) {
        if (*s++ != letters[i] || s == end || !isdigit((unsigned char)*s))
            return false;
        uint32_t n = 0;
        for (; s < end && isdigit((unsigned char)*s); s++)
            n = n * 10 + (uint32_t)(*s - '0');
        if (n == 0 || n > 4096)
            return false;
        size[i] = (uint16_t)n;
    }
    return s == end && i >= 2;
}

/* ---- matching */

struct match { const char *bad; const char *why; const struct mod_entry *missing; };    /* where a row failed */

static bool takes(const struct mod_entry *e, enum mod m)
{
    return e->set[m / 64] >> m % 64 & 1;
}

static bool takes_types(const struct mod_entry *e)
{
    for (enum mod m = M_NONE + 1; m < M_COUNT; m++)
        if (effect[m].field == FIELD_type && takes(e, m))
            return true;
    return false;
}

/* The entry that m is for. Types come in the order of their entries: cvt.f16x2.e4m3x2 is not cvt.e4m3x2.f16x2. */
static int unused_entry(const struct row *r, uint32_t used, enum mod m)
{
    bool is_type = effect[m].field == FIELD_type;
    int first = 0;
    for (int i = 0; is_type && i < r->nentry; i++)
        if (used >> i & 1 && takes_types(&r->entry[i]))
            first = i + 1;
    for (int i = first; i < r->nentry; i++)
        if (!(used >> i & 1) && takes(&r->entry[i], m))
            return i;
    return -1;
}

static bool match_word(const struct row *r, const char *w, size_t len, struct instr *in, uint16_t *list, uint32_t *used,
                       bool *had_space, struct match *at)
{
    uint16_t size[3] = { 0 };
    enum mod m = mod_by_text(w, len);
    bool shape = !m && parse_shape(w, len, size);
    if (shape)
        m = M_shape;
    at->bad = w;
    if (!m) {
        at->why = "is not a modifier that the emulator knows";
        return false;
    }
    int entry = -1;
    enum mod any = m;
    for (; m && entry < 0; m = entry < 0 ? mod_next(m) : m)
        entry = unused_entry(r, *used, m);
    if (entry < 0) {
        bool again = false;
        for (m = any; m; m = mod_next(m))
            again |= unused_entry(r, 0, m) >= 0;
        at->why = again ? "cannot stand twice" : "is not allowed here";
        return false;
    }
    *used |= 1u << entry;
    if (!set_field(in, m, had_space)) {
        at->why = "contradicts a modifier before it";
        return false;
    }
    if (shape) {
        in->shape_m = size[0];
        in->shape_n = size[1];
        in->shape_k = size[2];
    }
    list[in->nmod++] = (uint16_t)m;
    return true;
}

/* Matches the words behind the mnemonic against one row. */
static bool match_row(const struct row *r, const char *text, size_t len, struct instr *in, uint16_t *list, struct match *at)
{
    const char *end = text + len, *w = text + strlen(r->mnemonic);
    uint32_t used = 0;
    bool had_space[2] = { false, false };
    *in = (struct instr){ .op = r->op, .vec = 1, .guard = ROW_NONE };
    while (w < end) {
        w++;                    /* the dot */
        const char *dot = w;
        while (dot < end && *dot != '.')
            dot++;
        if (in->nmod == MAX_ENTRY || in->ntype == 6 || in->nlayout == 2) {
            enum mod m = mod_by_text(w, (size_t)(dot - w));
            if (in->nmod == MAX_ENTRY || (in->ntype == 6 && effect[m].field == FIELD_type) ||
                (in->nlayout == 2 && effect[m].field == FIELD_layout)) {
                *at = (struct match){ .bad = w, .why = "is one too many" };
                return false;
            }
        }
        if (!match_word(r, w, (size_t)(dot - w), in, list, &used, had_space, at))
            return false;
        w = dot;
    }
    for (int i = 0; i < r->nentry; i++)
        if (r->entry[i].required && !(used >> i & 1)) {
            *at = (struct match){ .bad = end, .why = "is missing", .missing = &r->entry[i] };
            return false;
        }
    return true;
}

/* ---- errors */

static void list_words(char *buf, size_t size, const struct mod_entry *e, uint32_t n)
{
    size_t at = 0;
    buf[0] = 0;
    for (int m = 1; m < M_COUNT && at + 40 < size; m++)
        for (uint32_t i = 0; i < n; i++)
            if (e[i].set[m / 64] >> m % 64 & 1) {
                at += (size_t)snprintf(buf + at, size - at, "%s.%s", at ? " " : "", mod_text((enum mod)m));
                break;
            }
}

static void refuse(struct parser *p, const struct row *r, const char *text, size_t len, const struct match *at)
{
    char words[300];
    p->unknown_form = p->compiled;
    if (at->missing) {
        list_words(words, sizeof words, at->missing, 1);
        ptx_fail(p, text, "%.*s lacks a modifier: one of %s", (int)len, text, words);
    }
    size_t n = 0;
    while (at->bad + n < text + len && at->bad[n] != '.')
        n++;
    list_words(words, sizeof words, r->entry, r->nentry);
    ptx_fail(p, at->bad, ".%.*s %s; %s allows %s", (int)n, at->bad, at->why, r->mnemonic, *words ? words : "no modifiers");
}

/* The rows with the longest mnemonic that begins the text. */
static const struct row *find_rows(struct parser *p, const char *text, size_t len)
{
    const struct row *best = NULL;
    for (size_t n = 1; n <= len; n++)
        if (n == len || text[n] == '.') {
            const struct row *r = row_by_mnemonic(text, n);
            if (r)
                best = r;
        }
    if (!best) {
        p->unknown_form = p->compiled;
        static const char *const textures[] = { "tex.", "tld4.", "txq.", "suld.", "sust.", "sured.", "suq." };
        for (size_t i = 0; i < sizeof textures / sizeof *textures; i++)
            if (strncmp(text, textures[i], strlen(textures[i])) == 0) {
                p->unknown_form = true;
                ptx_fail(p, text, "textures and surfaces are not emulated: '%.*s'", (int)len, text);
            }
        ptx_fail(p, text, "unknown instruction '%.*s'", (int)len, text);
    }
    return best;
}

static const struct form *decode(struct parser *p, struct form *f)
{
    const struct row *first = find_rows(p, f->text, f->len), *closest = first, *elsewhere = NULL;
    struct match best = { 0 };
    uint32_t cap = 0;
    for (const struct row *r = first; r; r = r->next) {
        struct instr in;
        uint16_t list[MAX_ENTRY];
        struct match at = { 0 };
        if (!match_row(r, f->text, f->len, &in, list, &at)) {
            if (at.bad > best.bad) {
                best = at;
                closest = r;
            }
            continue;
        }
        if (!target_has(r->target, p->m->target, p->m->target_suffix)) {
            elsewhere = r;
            continue;
        }
        uint16_t *mods = NEWS(p, uint16_t, in.nmod + 1u);
        memcpy(mods, list, in.nmod * sizeof *mods);
        in.mod = mods;
        PUSH(p, f->cand, f->n, cap) = (struct candidate){ r, in };
    }
    if (f->n)
        return f;
    if (elsewhere) {
        p->unknown_form = p->compiled;
        char suffix[2] = { p->m->target_suffix, 0 };
        ptx_fail(p, f->text, "%s needs .target sm_%s; this module is for sm_%u%s", elsewhere->mnemonic, elsewhere->target,
             p->m->target, suffix);
    }
    refuse(p, closest, f->text, f->len, &best);
    return NULL;
}

const struct form *form_of(struct parser *p, const char *text, size_t len)
{
    uint32_t h = 0;
    for (size_t i = 0; i < len; i++)
        h = h * 31 + (uint8_t)text[i];
    struct form **slot = &p->forms[(h ^ h >> 10) % (sizeof p->forms / sizeof *p->forms)];
    for (struct form *f = *slot; f; f = f->next)
        if (f->len == len && memcmp(f->text, text, len) == 0)
            return f;
    struct form *f = NEW(p, struct form);
    f->text = text;
    f->len = (uint32_t)len;
    decode(p, f);
    f->next = *slot;
    *slot = f;
    return f;
}
