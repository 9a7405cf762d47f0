/* link.c: one PTX text of several, for device code that was compiled in parts (nvcc -rdc=true) and linked.
 *
 * The parts are laid one behind the other under the first one's header. What a part declares as .extern and another
 * part defines is dropped from the declarations.
 */
#include "cuda_emu.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts(const char *s, const char *word)
{
    return !strncmp(s, word, strlen(word));
}

/* The end of a statement that begins at s: behind its ';' (or the end of the text). */
static const char *statement_end(const char *s)
{
    const char *end = strchr(s, ';');
    return end ? end + 1 : s + strlen(s);
}

/* The name that a declaration ".extern .global .align 4 .u32 name[10];" or ".extern .func (…) name (…)" declares. */
static void declared_name(const char *s, const char *end, char *name, size_t len)
{
    bool func = false;
    size_t n = 0;
    name[0] = 0;
    for (const char *at = s; at < end; at++) {
        if (starts(at, ".func"))
            func = true;
        if (*at == '(' && func && !n) {                 /* the results stand before a function's name */
            at = memchr(at, ')', (size_t)(end - at));
            if (!at)
                return;
            continue;
        }
        if (*at == '.') {
            while (at + 1 < end && (isalnum((unsigned char)at[1]) || at[1] == '_'))
                at++;
            continue;
        }
        if (isalpha((unsigned char)*at) || *at == '_' || *at == '$' || *at == '%') {
            for (n = 0; at < end && (isalnum((unsigned char)*at) || strchr("_$%", *at)); at++)
                if (n + 1 < len)
                    name[n++] = *at;
            name[n] = 0;
            return;
        }
    }
}

/* Does any part define the name: does it stand in a line with .visible, .weak or .common? */
static bool defined(char *const *text, size_t n, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < n && len; i++)
        for (const char *at = text[i]; (at = strstr(at, name)); at += len) {
            const char *line = at;
            if (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '$')
                continue;
            while (line > text[i] && line[-1] != '\n' && line[-1] != ';' && line[-1] != '}')
                line--;
            while (isspace((unsigned char)*line))
                line++;
            if (line < at && (starts(line, ".visible") || starts(line, ".weak") || starts(line, ".common")))
                return true;
        }
    return false;
}

static bool header_line(const char *s)
{
    return starts(s, ".version") || starts(s, ".target") || starts(s, ".address_size");
}

char *ptx_link(char *const *text, size_t n, size_t *len)
{
    size_t room = 1;
    char name[1024];
    for (size_t i = 0; i < n; i++)
        room += strlen(text[i]) + 1;
    char *out = malloc(room), *to = out;
    for (size_t i = 0; i < n && out; i++)
        for (const char *line = text[i], *end; *line; line = end) {
            end = line + strcspn(line, "\n");
            end += *end == '\n';
            if (i && header_line(line))
                continue;
            if (starts(line, ".extern")) {
                const char *stop = statement_end(line);
                declared_name(line, stop, name, sizeof name);
                if (defined(text, n, name)) {
                    end = stop;
                    continue;
                }
            }
            memcpy(to, line, (size_t)(end - line));
            to += end - line;
            if (to > out && to[-1] != '\n')
                *to++ = '\n';
        }
    if (out)
        *to = 0;
    *len = (size_t)(to - out);
    return out;
}
