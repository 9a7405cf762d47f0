/* ptx_dump.c: ptx_dump FILE.ptx [function]: prints what the parser made of a file. With --docs: the page of
 * docs/ that the instruction table yields (make docs/instructions.md). */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../ptx.h"

/* ---------------------------------------------------------------- a module */

static void print_row(uint8_t width, uint8_t flags, uint32_t row)
{
    if (flags & O_NOT)
        putchar('!');
    if (flags & O_NEG)
        putchar('-');
    printf("%s%u+%u", flags & O_CONST ? "c" : width ? "r" : "p", width * 8u, row);
}

static void print_operand(const struct operand *o)
{
    switch ((enum operand_kind)o->kind) {
    case O_NONE: printf("."); break;
    case O_REG:
        print_row(o->width, o->flags, o->row);
        if (o->flags & O_CONST)
            printf("(%lld)", (long long)o->imm);
        break;
    case O_MEM: printf("[r%u+%u %+lld", o->width * 8u, o->row, (long long)o->imm); break;
    case O_VEC: printf("{"); break;
    case O_LABEL: printf("-> %lld", (long long)o->imm); break;
    case O_SLOT: printf("slot %lld:%u", (long long)o->imm, o->n); break;
    case O_FUNC: case O_SYMBOL: printf("%s", o->sym->name); break;
    case O_SREG: printf("sreg %lld", (long long)o->imm); break;
    case O_SINK: printf("_"); break;
    }
    if (o->kind == O_VEC || o->kind == O_MEM)
        for (uint32_t i = 0; i < o->n; i++) {
            if (i || o->kind == O_MEM)
                printf(", ");
            print_operand(&o->elem[i]);
        }
    if (o->kind == O_VEC || o->kind == O_MEM)
        printf(o->kind == O_VEC ? "}" : "]");
    if (o->pair_row != ROW_NONE)
        printf("|p+%u", o->pair_row);
}

static void print_instr(const struct func *f, uint32_t pc)
{
    char text[400];
    const struct instr *in = &f->code[pc];
    const char *file;
    uint32_t line = ptx_line_of(in, &file);
    printf("%5u  ", pc);
    if (in->guard != ROW_NONE)
        printf("@%sp+%u ", in->guard_neg ? "!" : "", in->guard);
    printf("%s", op_mnemonic((enum op)in->op));
    for (int i = 0; i < in->nmod; i++)
        if (in->mod[i] == M_shape)
            printf(".m%un%uk%u", in->shape_m, in->shape_n, in->shape_k);
        else
            printf(".%s", mod_text((enum mod)in->mod[i]));
    for (int i = 0; i < in->nopnd; i++) {
        printf(i ? ", " : " ");
        print_operand(&in->opnd[i]);
    }
    if (in->op == OP_BRA || in->op == OP_BRX)
        printf("  meet at %u", in->rpc);
    printf("    // %s:%u ptx %u: %s\n", file ? file : "", line, in->ptx_line, instr_text(in, text, sizeof text));
}

static void print_func(const struct func *f)
{
    printf("\n%s %s: %u instructions, frame %u (registers %u), regs %u, params %u, results %u, local %u, shared %u%s\n",
           f->is_kernel ? "kernel" : f->is_extern ? "extern" : "function", f->name, f->ninstr, f->frame_bytes, f->const_row, f->regs,
           f->param_bytes, f->ret_bytes, f->local_bytes, f->shared_bytes, f->dynamic_shared ? " + dynamic" : "");
    for (uint32_t i = 0; i < f->nparam; i++)
        printf("    param %s: .%s %u bytes at %u\n", f->param[i].name, type_name(f->param[i].type), f->param[i].size, f->param[i].offset);
    for (uint32_t i = 0; i < f->nconstant; i++)
        printf("    const row %u: %u bits %#llx%s%s%s\n", f->constant[i].row, f->constant[i].width * 8u,
               (unsigned long long)f->constant[i].bits[0], f->constant[i].sym ? " + " : "",
               f->constant[i].sym ? f->constant[i].sym->name : "", i < f->nconst_local ? " in local memory" : "");
    for (uint32_t pc = 0; pc < f->ninstr; pc++)
        print_instr(f, pc);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    *len = text ? fread(text, 1, (size_t)n, f) : 0;
    fclose(f);
    return text;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* -q: one line per file. */
static int dump(const char *path, const char *only, bool quiet)
{
    char err[2000];
    size_t len;
    char *text = read_file(path, &len);
    if (!text) {
        fprintf(stderr, "cannot read %s\n", path);
        return 2;
    }
    double start = now();
    struct module *m = ptx_parse(path, text, len, err, sizeof err);
    free(text);
    if (!m) {
        fprintf(stderr, "%s\n", err);
        return 1;
    }
    uint32_t instrs = 0;
    for (uint32_t i = 0; i < m->nfunc; i++)
        instrs += m->func[i]->ninstr;
    if (quiet)
        printf("%s: %u functions, %u variables, %u instructions, %.1f ms\n", path, m->nfunc, m->nvar, instrs, 1e3 * (now() - start));
    for (uint32_t i = 0; i < m->nvar && !quiet; i++)
        printf("%s %s: %llu bytes, align %u%s%s\n", space_name(m->var[i]->space), m->var[i]->name,
               (unsigned long long)m->var[i]->size, m->var[i]->align, m->var[i]->init ? ", initialised" : "",
               m->var[i]->is_extern ? ", extern" : "");
    for (uint32_t i = 0; i < m->nfunc && !quiet; i++)
        if (!only || strcmp(m->func[i]->name, only) == 0)
            print_func(m->func[i]);
    ptx_free(m);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--docs") == 0) {
        print_instruction_page(stdout);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "-q") == 0) {
        int worst = 0;
        for (int i = 2; i < argc; i++) {
            int rc = dump(argv[i], NULL, true);
            worst = rc > worst ? rc : worst;
        }
        return worst;
    }
    if (argc < 2 || argc > 3) {
        fputs("usage: ptx_dump FILE.ptx [function] | -q FILE.ptx... | --docs\n", stderr);
        return 2;
    }
    return dump(argv[1], argc > 2 ? argv[2] : NULL, false);
}
