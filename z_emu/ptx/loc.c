/* loc.c: .file and .loc: from which line of which source file an instruction comes. */
#include "ptx.h"

/* .file 1 "kernel.cu" {, time, size} */
void parse_file_directive(struct parser *p)
{
    const char *at = p->tok.s;
    advance(p);
    int64_t n = parse_int(p);
    struct token name = p->tok;
    need(p, TOK_STRING, "a file name in quotes");
    while (take(p, ','))
        parse_int(p);
    if (n < 0 || n > 0xFFFF)
        ptx_fail(p, at, "the number of a file must be 0 to 65535");
    while (p->m->nfile <= n)
        PUSH(p, p->m->file, p->m->nfile, p->file_cap) = "";
    p->m->file[n] = arena_text(p->arena, name.s, name.len);
}

/* The .loc line that stands for file, line and column so far in this function: what inlined_at refers to. */
static const struct loc *loc_find(const struct parser *p, uint16_t file, uint32_t line, uint32_t column)
{
    for (uint32_t i = p->nlocs; i > 0 && p->nlocs - i < 4096; i--) {
        const struct loc *l = p->locs[i - 1];
        if (l->file == file && l->line == line && l->column == column)
            return l;
    }
    return NULL;
}

static struct loc *read_loc(struct parser *p)
{
    struct loc *l = NEW(p, struct loc);
    l->file = (uint16_t)parse_int(p);      /* the .file lines may come later */
    l->line = (uint32_t)parse_int(p);
    if (p->tok.kind == TOK_INT)
        l->column = (uint32_t)parse_int(p);
    return l;
}

/* .loc 1 20 5 {, function_name $L__info_string0 {+4}, inlined_at 1 30 3} */
void parse_loc(struct parser *p)
{
    advance(p);
    struct loc *l = read_loc(p);
    while (take(p, ',')) {
        if (take_word(p, "function_name")) {
            l->function = p->tok.kind == TOK_WORD ? p->tok.name->text : NULL;
            need(p, TOK_WORD, "a label");
            if (p->tok.kind == '+')
                parse_int(p);
        } else if (take_word(p, "inlined_at")) {
            struct loc *site = read_loc(p);
            const struct loc *known = loc_find(p, site->file, site->line, site->column);
            l->inlined_at = known ? known : site;
        } else {
            ptx_fail(p, p->tok.s, "function_name or inlined_at is expected here");
        }
    }
    PUSH(p, p->locs, p->nlocs, p->locs_cap) = l;
    if (l->line || !p->loc)     /* line 0: made by the compiler, belongs to what is before it */
        p->loc = l;
    if (!l->inlined_at && !p->main_file)
        p->main_file = l->file;
}


/* The line to show a person: the innermost in the file that the function itself is in. A wrapper inlined
 * from a header thus counts as the line that uses it. */
void set_line(const struct parser *p, struct instr *in)
{
    in->loc = p->loc;
    if (!p->loc)
        return;
    const struct loc *shown = p->loc;
    while (shown->inlined_at && shown->file != p->main_file)
        shown = shown->inlined_at;
    if (shown->file != p->main_file)
        shown = p->loc;
    in->line = shown->line;
    in->file = shown->file;
}
