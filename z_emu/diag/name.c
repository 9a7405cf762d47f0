/* name.c: C++ names as people write them. Reads as much of the Itanium mangling as is needed to find the
 * names in it; arguments are dropped, template arguments skipped. */
#include "diag.h"

#include <ctype.h>
#include <string.h>

struct reader { const char *at; char *out; size_t len, room; };

static bool put(struct reader *r, const char *s, size_t n)
{
    if (r->len + n + 1 > r->room)
        return false;
    memcpy(r->out + r->len, s, n);
    r->len += n;
    r->out[r->len] = 0;
    return true;
}

/* <length><characters>; "_GLOBAL__N…" is an anonymous namespace and adds nothing. */
static bool source_name(struct reader *r, bool behind_another)
{
    size_t n = 0;
    while (isdigit((unsigned char)*r->at))
        n = n * 10 + (size_t)(*r->at++ - '0');
    if (!n || strlen(r->at) < n)
        return false;
    const char *name = r->at;
    r->at += n;
    if (n > 9 && !strncmp(name, "_GLOBAL__", 9))
        return true;
    return (!behind_another || !r->len || put(r, "::", 2)) && put(r, name, n);
}

/* I … E, with others inside. Names are skipped by their length: their letters are no code. */
static bool skip_arguments(struct reader *r)
{
    for (int depth = 0; *r->at;) {
        if (isdigit((unsigned char)*r->at)) {
            size_t n = 0;
            while (isdigit((unsigned char)*r->at))
                n = n * 10 + (size_t)(*r->at++ - '0');
            if (strlen(r->at) < n)
                return false;
            r->at += n;
            continue;
        }
        if (*r->at == 'L') {                            /* a literal: type, digits, E */
            r->at += strcspn(r->at, "E");
            r->at += *r->at == 'E';
            continue;
        }
        depth += strchr("INXJ", *r->at) != NULL;
        if (*r->at++ == 'E' && --depth == 0)
            return true;
    }
    return false;
}

/* N [qualifiers] names E */
static bool nested_name(struct reader *r)
{
    r->at++;
    while (*r->at && strchr("rVKRO", *r->at))
        r->at++;
    while (*r->at && *r->at != 'E') {
        bool ok = *r->at == 'I' ? skip_arguments(r) : isdigit((unsigned char)*r->at) ? source_name(r, true) : false;
        if (!ok)
            return false;
    }
    return *r->at++ == 'E';
}

static bool encoding(struct reader *r)
{
    if (*r->at == 'L')
        r->at++;                                        /* internal linkage */
    if (*r->at == 'N')
        return nested_name(r);
    return isdigit((unsigned char)*r->at) && source_name(r, false);
}

/* Z <function> E <name>: a variable inside a function, "tile of transpose". The function's arguments end at an E. */
static bool local_name(struct reader *r)
{
    struct reader function = *r;
    const char *end = NULL;
    function.at++;
    char outer[256];
    function.out = outer;
    function.room = sizeof outer;
    if (!encoding(&function))
        return false;
    for (const char *e = function.at; (e = strchr(e, 'E')); e++)
        if (isdigit((unsigned char)e[1]))
            end = e + 1;
    if (!end)
        return false;
    r->at = end;
    return source_name(r, false) && put(r, " of ", 4) && put(r, outer, strlen(outer));
}

const char *plain_name(const char *name, char *buf, size_t len)
{
    struct reader r = { name + 2, buf, 0, len };
    if (strncmp(name, "_Z", 2))
        return name;
    bool ok = *r.at == 'Z' ? local_name(&r) : encoding(&r);
    return ok && r.len ? buf : name;
}
