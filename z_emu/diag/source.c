/* source.c: source lines for people. The .cu file is read when it is still where the compiler saw it, or in the
 * current directory; without it the line's number has to do. */
#include "diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void report(struct report *r, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap);
    if (r->len + n + 1 > r->room) {
        r->room = (r->len + n + 1) * 2;
        if (!(r->s = realloc(r->s, r->room)))
            abort();
    }
    vsnprintf(r->s + r->len, n + 1, fmt, again);
    r->len += n;
    va_end(again);
    va_end(ap);
}

void report_end(struct report *r)
{
    fflush(stdout);
    if (r->s)
        fwrite(r->s, 1, r->len, stderr);
    free(r->s);
    *r = (struct report){ 0 };
}

static const char *file_of(const struct instr *in, uint16_t file)
{
    return file < in->func->module->nfile ? in->func->module->file[file] : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *source_place(const struct instr *in, char *buf, size_t len)
{
    const char *file = NULL;
    uint32_t line = ptx_line_of(in, &file);
    if (line && file)
        snprintf(buf, len, "%s:%u", base_name(file), line);
    else
        snprintf(buf, len, "line %u of the PTX of %s", in->ptx_line, in->func->name);
    return buf;
}

/* Line `number` of a file, without its end, into buf; false: there is no such file or line. */
static bool read_line(const char *path, uint32_t number, char *buf, int len)
{
    FILE *f = fopen(path, "r");
    if (!f)
        f = fopen(base_name(path), "r");
    bool ok = false, begin = true;
    for (uint32_t at = 0; f && at <= number && fgets(buf, len, f); begin = strchr(buf, '\n') != NULL) {
        at += begin;
        ok = at == number && begin;
        if (ok)
            break;
    }
    if (f)
        fclose(f);
    if (ok)
        buf[strcspn(buf, "\r\n")] = 0;
    return ok;
}

static void report_line(struct report *r, const char *path, uint32_t number, uint32_t column, const char *indent)
{
    char line[512];
    if (!read_line(path, number, line, sizeof line))
        return;
    size_t at = column ? column - 1 : strspn(line, " \t");
    report(r, "%s%6u | %s\n%s       | ", indent, number, line, indent);
    for (size_t i = 0; i < at && line[i]; i++)
        report(r, "%c", line[i] == '\t' ? '\t' : ' ');
    report(r, "^\n");
}

void report_source(struct report *r, const struct instr *in, const char *indent)
{
    char place[256];
    report(r, "%sat %s\n", indent, source_place(in, place, sizeof place));
    const struct loc *l = in->loc;
    if (!l || !l->line) {
        const char *file = NULL;
        uint32_t line = ptx_line_of(in, &file);
        if (line && file)
            report_line(r, file, line, 0, indent);
        return;
    }
    for (; l; l = l->inlined_at) {              /* from the innermost function out to the kernel */
        const char *file = file_of(in, l->file);
        if (!file)
            continue;
        if (l != in->loc || l->line != in->line)
            report(r, "%s%s %s:%u\n", indent, l == in->loc ? "that is," : "inlined into", base_name(file), l->line);
        report_line(r, file, l->line, l->column, indent);
    }
}
