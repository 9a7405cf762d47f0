/* link.c: one PTX text of several, for device code that was compiled in parts (nvcc -rdc=true) and linked.
 *
 * The parts are laid one behind the other under the first one's header. What one part declares .extern another
 * defines: the parser brings them together. Here names are kept apart that only look the same:
 * a part's own variables and functions are renamed when an earlier part has such a name, source files are
 * renumbered, and a .weak definition that an earlier part has already is left out.
 */
#include "cuda_emu.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct names { char **at; size_t n; };
struct out { char *text; size_t n, room; };

enum linkage { LOCAL, VISIBLE, WEAK, EXTERN, OTHER };  /* OTHER: .version, .file, .section and their like */

struct statement { const char *begin, *end; enum linkage linkage; char name[1024]; };

static void put(struct out *o, const char *s, size_t n)
{
    if (o->n + n + 1 > o->room) {
        o->room = 2 * (o->n + n) + 4096;
        o->text = realloc(o->text, o->room);
    }
    memcpy(o->text + o->n, s, n);
    o->text[o->n += n] = 0;
}

static bool name_in(const struct names *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->n; i++)
        if (strlen(s->at[i]) == len && !memcmp(s->at[i], name, len))
            return true;
    return false;
}

static void name_add(struct names *s, const char *name)
{
    s->at = realloc(s->at, (s->n + 1) * sizeof *s->at);
    s->at[s->n++] = strdup(name);
}

static void names_free(struct names *s)
{
    while (s->n)
        free(s->at[--s->n]);
    free(s->at);
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* Behind white space and comments. */
static const char *skip_blank(const char *s)
{
    for (;;) {
        while (isspace((unsigned char)*s))
            s++;
        if (s[0] == '/' && s[1] == '/')
            s += strcspn(s, "\n");
        else if (s[0] == '/' && s[1] == '*')
            s = strstr(s, "*/") ? strstr(s, "*/") + 2 : s + strlen(s);
        else
            return s;
    }
}

/* Behind the bracket that closes the one at s. */
static const char *skip_brackets(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        if (*s == '"')
            for (s++; *s && *s != '"'; s++)
                s += *s == '\\' && s[1];
        depth += *s == '{' || *s == '(' || *s == '[';
        if (*s == '}' || *s == ')' || *s == ']')
            if (--depth == 0)
                return s + 1;
    }
    return s;
}

static bool word_is(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && !memcmp(s, word, n);
}

/* A line of its own without a semicolon. */
static bool line_directive(const char *s, size_t n)
{
    return word_is(s, n, ".version") || word_is(s, n, ".target") || word_is(s, n, ".address_size") || word_is(s, n, ".file");
}

/* The next statement at module scope: its linkage and the name it declares. */
static bool next_statement(const char *s, struct statement *st)
{
    *st = (struct statement){.begin = skip_blank(s)};
    bool func = false, section = false;
    for (s = st->begin; *s && *s != ';' && *s != '=';) {
        size_t n = 1;
        while (name_char(s[n]))
            n++;
        if (s == st->begin && line_directive(s, n)) {
            st->linkage = OTHER;
            st->end = s + strcspn(s, "\n");
            return true;
        }
        section |= word_is(s, n, ".section") || word_is(s, n, ".pragma");
        func |= word_is(s, n, ".func") || word_is(s, n, ".entry");
        if (word_is(s, n, ".visible") || word_is(s, n, ".common"))
            st->linkage = VISIBLE;
        if (word_is(s, n, ".weak"))
            st->linkage = WEAK;
        if (word_is(s, n, ".extern"))
            st->linkage = EXTERN;
        if (!*st->name && !section && name_char(*s) && !isdigit((unsigned char)*s))
            snprintf(st->name, sizeof st->name, "%.*s", (int)n, s);
        if (*s == '{') {                                /* a body ends the statement */
            st->end = skip_brackets(s);
            st->linkage = section ? OTHER : st->linkage;
            return true;
        }
        s = *s == '(' || *s == '[' ? skip_brackets(s) : *s == '"' ? s + 1 + strcspn(s + 1, "\"") + 1 : s + n;
        s = skip_blank(s);
    }
    for (; *s && *s != ';'; s++)
        if (*s == '{')
            s = skip_brackets(s) - 1;
    st->end = *s ? s + 1 : s;
    if (section || !*st->name)
        st->linkage = OTHER;
    if (func && st->linkage != OTHER)                   /* only declared */
        st->linkage = EXTERN;
    return st->begin < st->end;
}

/* Copies text, renaming what must be renamed and renumbering source files. */
static void put_renamed(struct out *o, const char *s, const char *end, const struct names *rename, size_t part)
{
    char number[40];
    while (s < end) {
        size_t n = 1;
        while (name_char(*s) && s + n < end && name_char(s[n]))
            n++;
        if (*s == '.' && part)
            while (s + n < end && name_char(s[n]))
                n++;
        put(o, s, n);
        if (name_char(*s) && name_in(rename, s, n)) {
            snprintf(number, sizeof number, "$part%zu", part);
            put(o, number, strlen(number));
        }
        bool file = part && (word_is(s, n, ".file") || word_is(s, n, ".loc") || word_is(s, n, "inlined_at"));
        s += n;
        if (file && s < end) {
            char *stop;
            unsigned long index = strtoul(s, &stop, 10);
            snprintf(number, sizeof number, " %lu", index + 1000 * part);
            put(o, number, strlen(number));
            s = stop;
        }
    }
}

char *ptx_link(char *const *text, size_t n, size_t *len)
{
    struct out o = {0};
    struct names all = {0}, weak = {0};
    struct statement st;
    for (size_t part = 0; part < n; part++) {
        struct names rename = {0};
        for (const char *s = text[part]; next_statement(s, &st); s = st.end)
            if (st.linkage == LOCAL && name_in(&all, st.name, strlen(st.name)))
                name_add(&rename, st.name);
        for (const char *s = text[part]; next_statement(s, &st); s = st.end) {
            bool header = st.linkage == OTHER && part && strncmp(st.begin, ".file", 5) && strncmp(st.begin, ".section", 8) &&
                          strncmp(st.begin, ".pragma", 7);
            bool again = st.linkage == WEAK && name_in(&weak, st.name, strlen(st.name));
            if (header || again)
                continue;
            put_renamed(&o, st.begin, st.end, &rename, part);
            put(&o, "\n", 1);
            if (st.linkage == WEAK)
                name_add(&weak, st.name);
            if (st.linkage == LOCAL || st.linkage == WEAK)
                name_add(&all, st.name);
        }
        names_free(&rename);
    }
    names_free(&all);
    names_free(&weak);
    *len = o.n;
    return o.text;
}
