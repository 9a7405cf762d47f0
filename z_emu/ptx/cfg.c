/* cfg.c: basic blocks, and where the lanes that a branch parts meet again.
 *
 * That place is the immediate post-dominator of the branch's block. Edges to a block that only ends the
 * thread (ret, exit, trap) do not count where there is another way: lanes that leave never come back, so
 * that `if (x) { if (y) return; a(); } b();` meets at b() although not every path goes there. */
#include <string.h>
#include "ptx.h"

static bool ends_block(const struct instr *in)
{
    return in->op == OP_BRA || in->op == OP_BRX || in->op == OP_RET || in->op == OP_EXIT || in->op == OP_TRAP;
}

static uint32_t count_blocks(struct parser *p, struct cfg *g, uint32_t n)
{
    bool *leader = NEWS(p, bool, n + 1);
    leader[0] = true;
    for (uint32_t i = 0; i < p->nfix; i++)
        leader[p->fix[i].op->imm] = true;
    for (uint32_t i = 0; i < n; i++)
        if (ends_block(&p->f->code[i]))
            leader[i + 1] = true;
    g->block_of = NEWS(p, uint32_t, n + 1);
    uint32_t b = 0;
    for (uint32_t i = 0; i < n; i++) {
        b += leader[i];
        g->block_of[i] = b - 1;
    }
    g->block_of[n] = b;
    return b;
}

static void add_edge(struct cfg *g, struct block *b, uint32_t pc)
{
    uint32_t to = g->block_of[pc];
    if (to >= g->n)
        return;
    for (uint32_t i = 0; i < b->nsucc; i++)
        if (b->succ[i] == to)
            return;
    b->succ[b->nsucc++] = to;
    g->block[to].npred++;
}

static void add_edges(struct parser *p, struct cfg *g, struct block *b)
{
    const struct instr *last = &p->f->code[b->end - 1];
    const struct operand *targets = last->op == OP_BRX ? &last->opnd[1] : NULL;
    b->succ = NEWS(p, uint32_t, targets ? targets->n + 1u : 2u);
    if (last->op == OP_BRA)
        add_edge(g, b, (uint32_t)last->opnd[0].imm);
    for (uint32_t i = 0; targets && i < targets->n; i++)
        add_edge(g, b, (uint32_t)targets->elem[i].imm);
    if (!ends_block(last) || last->guard != ROW_NONE)
        add_edge(g, b, b->end);
    b->exits = b->nsucc == 0;
    b->only_exits = b->exits && b->end - b->first == 1;
}

void cfg_build(struct parser *p, struct cfg *g)
{
    uint32_t n = p->f->ninstr;
    g->n = count_blocks(p, g, n);
    g->block = NEWS(p, struct block, g->n);
    for (uint32_t i = 0; i < n; i++)
        g->block[g->block_of[i]].end = i + 1;
    for (uint32_t b = 1; b < g->n; b++)
        g->block[b].first = g->block[b - 1].end;
    for (uint32_t b = 0; b < g->n; b++)
        add_edges(p, g, &g->block[b]);
    for (uint32_t b = 0; b < g->n; b++) {
        g->block[b].pred = NEWS(p, uint32_t, g->block[b].npred);
        g->block[b].npred = 0;
    }
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t i = 0; i < g->block[b].nsucc; i++) {
            struct block *to = &g->block[g->block[b].succ[i]];
            to->pred[to->npred++] = b;
        }
}

/* ---------------------------------------------------------------- post-dominators
 * Iterated over the reversed graph in its reverse postorder; node g->n is the common exit. */

struct order { uint32_t *number, *node, n; };  /* number: postorder + 1 in the reversed graph, 0 not reached */

static bool counts(const struct cfg *g, const struct block *from, uint32_t to)
{
    if (!g->block[to].only_exits)
        return true;
    for (uint32_t i = 0; i < from->nsucc; i++)
        if (!g->block[from->succ[i]].only_exits)
            return false;
    return true;
}

static void visit(const struct cfg *g, struct order *o, uint32_t start, uint32_t *stack, uint32_t *at)
{
    uint32_t depth = 0;
    stack[depth++] = start;
    o->number[start] = UINT32_MAX;      /* being visited */
    while (depth) {
        uint32_t b = stack[depth - 1];
        const struct block *blk = &g->block[b];
        if (at[b] < blk->npred) {
            uint32_t q = blk->pred[at[b]++];
            if (!o->number[q] && counts(g, &g->block[q], b)) {
                o->number[q] = UINT32_MAX;
                stack[depth++] = q;
            }
        } else {
            o->node[o->n++] = b;
            o->number[b] = o->n;
            depth--;
        }
    }
}

static uint32_t intersect(const struct cfg *g, const struct order *o, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a != b && (a == g->n ? UINT32_MAX : o->number[a]) < (b == g->n ? UINT32_MAX : o->number[b]))
            a = g->block[a].ipdom;
        while (a != b && (b == g->n ? UINT32_MAX : o->number[b]) < (a == g->n ? UINT32_MAX : o->number[a]))
            b = g->block[b].ipdom;
    }
    return a;
}

static bool update(const struct cfg *g, const struct order *o, uint32_t b, const bool *root)
{
    enum { UNKNOWN = UINT32_MAX };
    struct block *blk = &g->block[b];
    uint32_t best = root[b] ? g->n : UNKNOWN;
    for (uint32_t i = 0; i < blk->nsucc; i++) {
        uint32_t s = blk->succ[i];
        if (!counts(g, blk, s) || g->block[s].ipdom == UNKNOWN)
            continue;
        best = best == UNKNOWN ? s : intersect(g, o, best, s);
    }
    if (best == blk->ipdom)
        return false;
    blk->ipdom = best;
    return true;
}

void cfg_reconverge(struct parser *p, struct cfg *g)
{
    struct order o = { NEWS(p, uint32_t, g->n), NEWS(p, uint32_t, g->n), 0 };
    uint32_t *stack = NEWS(p, uint32_t, g->n + 1), *at = NEWS(p, uint32_t, g->n);
    bool *root = NEWS(p, bool, g->n);
    for (uint32_t b = 0; b < g->n; b++) {
        g->block[b].ipdom = UINT32_MAX;
        if (g->block[b].exits) {
            root[b] = true;
            visit(g, &o, b, stack, at);
        }
    }
    for (uint32_t b = g->n; b-- > 0; )  /* loops without an exit end, for our purpose, at their last block */
        if (!o.number[b]) {
            root[b] = true;
            visit(g, &o, b, stack, at);
        }
    for (bool changed = true; changed; ) {
        changed = false;
        for (uint32_t i = g->n; i-- > 0; )
            changed |= update(g, &o, o.node[i], root);
    }
    for (uint32_t i = 0; i < p->f->ninstr; i++) {
        uint32_t d = g->block[g->block_of[i]].ipdom;
        p->f->code[i].rpc = d >= g->n ? p->f->ninstr : g->block[d].first;
    }
}
