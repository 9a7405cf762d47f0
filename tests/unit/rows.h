/* rows.h: checks register allocation by other means than its own: plain iterated bit sets over single instructions.
 * A text is parsed twice, once with a row for every register; where a register is written, no other register that
 * is still needed may have the same row. */
#ifndef TESTS_UNIT_ROWS_H
#define TESTS_UNIT_ROWS_H

#include <stdlib.h>
#include <string.h>
#include "ptx/ptx.h"

struct touch { uint32_t id, row; uint8_t access; };     /* id: its row in the program where none are shared */
struct touches { struct touch t[700]; uint32_t n, other; };

static void note_id(void *ctx, uint32_t *row, uint8_t access)
{
    struct touches *t = ctx;
    t->t[t->n++] = (struct touch){ *row, 0, access };
}

static void note_row(void *ctx, uint32_t *row, uint8_t access)
{
    struct touches *t = ctx;
    (void)access;
    t->t[t->other++].row = *row;
}

/* Operands of instruction pc that are registers, in both programs. */
static void touched(const struct func *apart, const struct func *shared, uint32_t pc, struct touches *t)
{
    t->n = t->other = 0;
    each_reg(&apart->code[pc], note_id, t);
    each_reg(&shared->code[pc], note_row, t);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->t[i].id < apart->const_row)
            t->t[n++] = t->t[i];
    t->n = n;
}

struct rows_check {
    const struct func *apart, *shared;
    uint32_t words, *row_of;            /* per id / 4 */
    uint64_t *live;                     /* at the start of each instruction */
};

static uint64_t *live_at(struct rows_check *c, uint32_t pc)
{
    return c->live + (size_t)pc * c->words;
}

static void merge(uint64_t *to, const uint64_t *from, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        to[i] |= from[i];
}

/* What is needed behind instruction pc. */
static void live_behind(struct rows_check *c, uint32_t pc, uint64_t *out)
{
    const struct instr *in = &c->apart->code[pc];
    memset(out, 0, 8 * c->words);
    bool leaves = in->op == OP_RET || in->op == OP_EXIT || in->op == OP_TRAP || in->op == OP_BRA || in->op == OP_BRX;
    if (in->op == OP_BRA)
        merge(out, live_at(c, (uint32_t)in->opnd[0].imm), c->words);
    for (uint32_t i = 0; in->op == OP_BRX && i < in->opnd[1].n; i++)
        merge(out, live_at(c, (uint32_t)in->opnd[1].elem[i].imm), c->words);
    if (!leaves || in->guard != ROW_NONE)
        merge(out, live_at(c, pc + 1), c->words);
}

static bool find_live(struct rows_check *c, uint32_t pc, uint64_t *out)
{
    struct touches t;
    touched(c->apart, c->shared, pc, &t);
    live_behind(c, pc, out);
    for (uint32_t i = 0; i < t.n; i++)
        if ((t.t[i].access & ACC_WRITE) && c->apart->code[pc].guard == ROW_NONE)
            out[t.t[i].id / 4 / 64] &= ~(1ull << t.t[i].id / 4 % 64);
    for (uint32_t i = 0; i < t.n; i++)
        if (t.t[i].access & ACC_READ)
            out[t.t[i].id / 4 / 64] |= 1ull << t.t[i].id / 4 % 64;
    if (memcmp(out, live_at(c, pc), 8 * c->words) == 0)
        return false;
    memcpy(live_at(c, pc), out, 8 * c->words);
    return true;
}

/* Number of writes that would destroy something at instruction pc. */
static int clobbers(struct rows_check *c, uint32_t pc, uint64_t *out)
{
    struct touches t;
    int bad = 0, results = 0;
    touched(c->apart, c->shared, pc, &t);
    live_behind(c, pc, out);
    for (uint32_t i = 0; i < t.n; i++) {
        bad += c->row_of[t.t[i].id / 4] != t.t[i].row;
        results += (t.t[i].access & ACC_WRITE) != 0;
    }
    for (uint32_t i = 0; i < t.n; i++) {
        if (!(t.t[i].access & ACC_WRITE))
            continue;
        for (uint32_t u = 0; u < c->words * 64; u++)
            bad += (out[u / 64] >> u % 64 & 1) && u != t.t[i].id / 4 && c->row_of[u] == t.t[i].row;
        for (uint32_t j = 0; j < t.n && results > 1; j++)
            bad += t.t[j].id != t.t[i].id && t.t[j].row == t.t[i].row;
    }
    return bad;
}

static int wrong_rows_of(const struct func *apart, const struct func *shared)
{
    struct rows_check c = { apart, shared, apart->const_row / 4 / 64 + 1, NULL, NULL };
    struct touches t;
    int bad = 0;
    if (apart->ninstr != shared->ninstr)
        return 1;
    c.row_of = malloc(c.words * 64 * sizeof *c.row_of);
    memset(c.row_of, 0xFF, c.words * 64 * sizeof *c.row_of);
    c.live = calloc((size_t)c.words * (apart->ninstr + 1), 8);
    uint64_t *out = calloc(c.words, 8);
    for (uint32_t pc = 0; pc < apart->ninstr; pc++) {
        touched(apart, shared, pc, &t);
        for (uint32_t i = 0; i < t.n; i++)
            c.row_of[t.t[i].id / 4] = t.t[i].row;
    }
    for (bool changed = true; changed; ) {
        changed = false;
        for (uint32_t pc = apart->ninstr; pc-- > 0; )
            changed |= find_live(&c, pc, out);
    }
    for (uint32_t pc = 0; pc < apart->ninstr; pc++)
        bad += clobbers(&c, pc, out);
    free(out);
    free(c.live);
    free(c.row_of);
    return bad;
}

/* Writes that would destroy something in the whole text; -1: it does not parse. */
static int wrong_rows(const char *text)
{
    char err[1000];
    struct module *apart = parse_text("rows", text, strlen(text), err, sizeof err, false);
    struct module *shared = parse_text("rows", text, strlen(text), err, sizeof err, true);
    int bad = apart && shared ? 0 : -1;
    for (uint32_t i = 0; bad >= 0 && i < shared->nfunc; i++)
        if (shared->func[i]->ninstr)
            bad += wrong_rows_of(apart->func[i], shared->func[i]);
    if (bad < 0)
        puts(err);
    ptx_free(apart);
    ptx_free(shared);
    return bad;
}

#endif
