/* regalloc.c: registers -> rows of the frame. nvcc's PTX gives every value a register of its own, thousands of
 * them; a frame small enough for the host's caches is what keeps emulation fast.
 *
 * Liveness is the ordinary, per-thread one: backwards along the edges of the control-flow graph. From it each
 * register gets one interval of the linear code that covers every place where it is live; registers whose
 * intervals do not overlap may share a row.
 *
 * Why that is right although the lanes of a warp take different paths and one frame holds them all: a row is
 * 32 separate cells, and an instruction writes the cells of its active lanes only. What happens to a cell is
 * therefore what its own lane does, in the order in which that lane does it, and that order is a path through
 * the graph. A lane that waits elsewhere, with another value live in the same row, is not active, so its cell is
 * not touched. The cases where a lane's cell is not its own affair:
 *
 *   - A guarded instruction writes only where the guard holds: it does not end the life of the old value
 *     (it is no "kill"), so the old value's interval runs through it.
 *   - shfl, vote, match, redux, mma, ldmatrix read other lanes' cells, but of lanes that execute the same
 *     instruction at the same time, where the source is live by the same argument. What they would read of a
 *     lane that is inactive or gone is undefined in the ISA too.
 *   - Instructions whose operands the hardware uses after they were issued ("~" in instructions.def: wgmma,
 *     tcgen05.ld and .st): the matching wait counts as a use of all their registers, so nothing else moves in
 *     before it. In a function without such a wait they keep their rows to its end.
 *   - A call has a frame of its own; the caller's rows are not touched.
 *
 * An instruction may read and write the same row (d takes over the row of an operand that dies there), except
 * that with several results all operands stay clear of all results, since one result is written before the
 * other. */
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

/* ---------------------------------------------------------------- visiting operands */

static void visit_operand(struct operand *o, uint8_t access, reg_fn *fn, void *ctx)
{
    if (o->kind == O_MEM)
        access = ACC_READ;
    if (o->kind == O_REG || o->kind == O_MEM)
        fn(ctx, &o->row, access);
    if (o->kind == O_MEM || o->kind == O_VEC)
        for (uint32_t i = 0; i < o->n; i++)
            visit_operand(&o->elem[i], access, fn, ctx);
    if (o->pair_row != ROW_NONE)
        fn(ctx, &o->pair_row, ACC_WRITE);
}

void each_reg(struct instr *in, reg_fn *fn, void *ctx)
{
    const struct row *row = row_of((enum op)in->op);
    if (in->guard != ROW_NONE)
        fn(ctx, &in->guard, ACC_READ);
    for (uint32_t i = 0; i < in->nopnd; i++)
        if (in->op != OP_CALL || in->opnd[i].kind == O_REG)
            visit_operand(&in->opnd[i], row->spec[i].access, fn, ctx);
}

void each_reg_of(struct operand *o, reg_fn *fn, void *ctx) { visit_operand(o, 0, fn, ctx); }

/* ---------------------------------------------------------------- liveness */

struct seen { uint32_t block, next; };          /* a list of blocks per register */
struct life {
    uint32_t start, end;        /* 2 * pc where read, 2 * pc + 1 where written */
    uint32_t killed_in;         /* last block that surely writes it, + 1 */
    uint32_t exposed_in;        /* last block that reads it before that, + 1 */
    uint32_t kills, exposed;    /* lists of all such blocks; 0 ends them */
};
struct live {
    struct parser *p;
    struct life *life;
    struct seen *seen; uint32_t nseen, seen_cap;
    uint32_t pc, block, results;
    bool guarded;
    uint32_t *async, nasync, async_cap;         /* registers that "~" instructions use */
    bool waits;                                 /* there is an instruction that waits for those */
};

static void extend(struct life *l, uint32_t at)
{
    if (at < l->start)
        l->start = at;
    if (at > l->end)
        l->end = at;
}

static uint32_t remember(struct live *v, uint32_t block, uint32_t list)
{
    PUSH(v->p, v->seen, v->nseen, v->seen_cap) = (struct seen){ block, list };
    return v->nseen;            /* index + 1 */
}

static void note_read(struct live *v, uint32_t reg)
{
    struct life *l = &v->life[reg];
    extend(l, 2 * v->pc + (v->results > 1));
    if (l->killed_in == v->block + 1 || l->exposed_in == v->block + 1)
        return;
    l->exposed_in = v->block + 1;
    l->exposed = remember(v, v->block, l->exposed);
}

static void on_read(void *ctx, uint32_t *row, uint8_t access)
{
    struct live *v = ctx;
    if (!(*row & ROW_CONST) && (access & ACC_READ))
        note_read(v, *row);
}

static void on_write(void *ctx, uint32_t *row, uint8_t access)
{
    struct live *v = ctx;
    if ((*row & ROW_CONST) || !(access & ACC_WRITE))
        return;
    struct life *l = &v->life[*row];
    extend(l, 2 * v->pc + 1);
    if (v->guarded || l->killed_in == v->block + 1)
        return;
    l->killed_in = v->block + 1;
    l->kills = remember(v, v->block, l->kills);
}

static void on_count(void *ctx, uint32_t *row, uint8_t access)
{
    struct live *v = ctx;
    (void)row;
    v->results += access >> 1 & 1;
}

static void on_async(void *ctx, uint32_t *row, uint8_t access)
{
    struct live *v = ctx;
    (void)access;
    if (!(*row & ROW_CONST))
        PUSH(v->p, v->async, v->nasync, v->async_cap) = *row;
}

static void collect_async(struct live *v)
{
    struct func *f = v->p->f;
    for (uint32_t pc = 0; pc < f->ninstr; pc++) {
        const struct row *row = row_of((enum op)f->code[pc].op);
        for (uint32_t i = 0; i < row->nspec; i++)
            if (row->spec[i].async)
                visit_operand(&f->code[pc].opnd[i], 0, on_async, v);
    }
}

static void scan(struct live *v, const struct cfg *g)
{
    struct func *f = v->p->f;
    for (v->block = 0; v->block < g->n; v->block++)
        for (v->pc = g->block[v->block].first; v->pc < g->block[v->block].end; v->pc++) {
            struct instr *in = &f->code[v->pc];
            v->guarded = in->guard != ROW_NONE;
            v->results = 0;
            each_reg(in, on_count, v);
            each_reg(in, on_read, v);
            each_reg(in, on_write, v);
            bool waits = row_of((enum op)in->op)->async_wait;
            v->waits |= waits;
            if (waits)
                for (uint32_t i = 0; i < v->nasync; i++)
                    note_read(v, v->async[i]);
        }
}

/* Follows a register backwards from the blocks that need it at their start to those that write it. */
static void spread(struct live *v, const struct cfg *g, uint32_t reg, uint32_t *kill, uint32_t *reached, uint32_t *stack)
{
    struct life *l = &v->life[reg];
    uint32_t depth = 0;
    for (uint32_t k = l->kills; k; k = v->seen[k - 1].next)
        kill[v->seen[k - 1].block] = reg + 1;
    for (uint32_t e = l->exposed; e; e = v->seen[e - 1].next) {
        stack[depth++] = v->seen[e - 1].block;
        reached[v->seen[e - 1].block] = reg + 1;
    }
    while (depth) {
        const struct block *b = &g->block[stack[--depth]];
        extend(l, 2 * b->first);
        for (uint32_t i = 0; i < b->npred; i++) {
            uint32_t q = b->pred[i];
            extend(l, 2 * g->block[q].end - 1);
            if (kill[q] == reg + 1 || reached[q] == reg + 1)
                continue;
            reached[q] = reg + 1;
            stack[depth++] = q;
        }
    }
}

static void find_lives(struct live *v, const struct cfg *g)
{
    uint32_t *kill = NEWS(v->p, uint32_t, g->n), *reached = NEWS(v->p, uint32_t, g->n);
    uint32_t *stack = NEWS(v->p, uint32_t, g->n + 1);
    v->life = NEWS(v->p, struct life, v->p->nvreg + 1);
    for (uint32_t i = 0; i < v->p->nvreg; i++)
        v->life[i].start = UINT32_MAX;
    collect_async(v);
    scan(v, g);
    for (uint32_t i = 0; i < v->p->nvreg; i++)
        if (v->life[i].exposed)
            spread(v, g, i, kill, reached, stack);
    for (uint32_t i = 0; !v->waits && i < v->nasync; i++)
        extend(&v->life[v->async[i]], 2 * v->p->f->ninstr);
}

/* ---------------------------------------------------------------- linear scan */

enum { CLASSES = 5 };
static const uint8_t class_width[CLASSES] = { 16, 8, 4, 2, 0 };

static uint32_t row_bytes(uint8_t width)
{
    return width ? WARP * width : 4;
}

struct span { uint32_t start, end, reg; };
struct heap { uint64_t *key; uint32_t n; };     /* least first */

static void heap_push(struct heap *h, uint64_t key)
{
    uint32_t i = h->n++;
    for (; i && h->key[(i - 1) / 2] > key; i = (i - 1) / 2)
        h->key[i] = h->key[(i - 1) / 2];
    h->key[i] = key;
}

static uint64_t heap_pop(struct heap *h)
{
    uint64_t top = h->key[0], last = h->key[--h->n];
    uint32_t i = 0;
    for (uint32_t c; (c = 2 * i + 1) < h->n; i = c) {
        c += c + 1 < h->n && h->key[c + 1] < h->key[c];
        if (h->key[c] >= last)
            break;
        h->key[i] = h->key[c];
    }
    h->key[i] = last;
    return top;
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Rows for one width class, as indices; returns how many there are. */
static uint32_t assign_rows(struct parser *p, struct span *span, uint32_t n)
{
    struct heap busy = { NEWS(p, uint64_t, n + 1), 0 }, idle = { NEWS(p, uint64_t, n + 1), 0 };
    uint32_t rows = 0;
    qsort(span, n, sizeof *span, by_start);
    for (uint32_t i = 0; i < n; i++) {
        while (p->share_rows && busy.n && busy.key[0] >> 32 < span[i].start)
            heap_push(&idle, heap_pop(&busy) & UINT32_MAX);
        uint32_t row = idle.n ? (uint32_t)heap_pop(&idle) : rows++;
        p->vreg[span[i].reg].row = row;
        heap_push(&busy, (uint64_t)span[i].end << 32 | row);
    }
    return rows;
}

static void place_registers(struct live *v)
{
    struct parser *p = v->p;
    struct span *span = NEWS(p, struct span, p->nvreg + 1);
    uint32_t at = 0, words = 0;
    for (int c = 0; c < CLASSES; c++) {
        uint32_t n = 0, bytes = row_bytes(class_width[c]);
        for (uint32_t r = 0; r < p->nvreg; r++)
            if (p->vreg[r].width == class_width[c] && v->life[r].start != UINT32_MAX)
                span[n++] = (struct span){ v->life[r].start, v->life[r].end, r };
        uint32_t rows = assign_rows(p, span, n);
        for (uint32_t i = 0; i < n; i++)
            p->vreg[span[i].reg].row = at + p->vreg[span[i].reg].row * bytes;
        at += rows * bytes;
        words += class_width[c] ? rows * (class_width[c] < 4 ? 1u : class_width[c] / 4u) : 0;
    }
    p->f->const_row = (at + 63) & ~63u;
    p->f->regs = words;
}

/* ---------------------------------------------------------------- constants */

/* Those relative to local memory first, then by width, so that every row is aligned to 64 bytes but predicates. */
static void place_constants(struct parser *p, uint32_t *row_of_con)
{
    struct func *f = p->f;
    uint32_t at = f->const_row;
    f->constant = NEWS(p, struct constant, p->ncon + 1);
    for (int local = 1; local >= 0; local--) {
        for (int c = 0; c < CLASSES; c++)
            for (uint32_t i = 0; i < p->ncon; i++) {
                if (p->con[i].width != class_width[c] || p->con_local[i] != local)
                    continue;
                f->constant[f->nconstant] = p->con[i];
                f->constant[f->nconstant++].row = row_of_con[i] = at;
                at += row_bytes(class_width[c]);
            }
        if (local)
            f->nconst_local = f->nconstant;
    }
    f->frame_bytes = (at + 63) & ~63u;
}

/* ---------------------------------------------------------------- all together */

struct rename { struct parser *p; uint32_t *row_of_con; };

static void on_rename(void *ctx, uint32_t *row, uint8_t access)
{
    struct rename *r = ctx;
    (void)access;
    *row = *row & ROW_CONST ? r->row_of_con[*row & ~ROW_CONST] : r->p->vreg[*row].row;
}

static uint32_t max_threads(const struct func *f)
{
    const uint32_t *dim = f->reqntid[0] ? f->reqntid : f->maxntid;
    uint64_t threads = dim[0] ? (uint64_t)dim[0] * dim[1] * dim[2] : 0;
    return threads <= 1024 ? (uint32_t)threads : 0;
}

/* Registers per thread with which so many CTAs of so many threads fit on an SM, their warps spread over 4 sub-cores. */
static uint32_t register_limit(uint32_t threads, uint32_t ctas)
{
    uint32_t per_subcore = ((threads + 31) / 32 * ctas + 3) / 4, fit = 16384 / (32 * per_subcore) & ~7u;
    return fit < 255 ? fit : 255;
}

/* With setmaxnreg ptxas takes at entry what the bounds allow, up to the largest count that an .inc asks for, if any (as
 * tried with ptxas 13.0). 0: there is no setmaxnreg, or it has no effect. */
static uint32_t registers_at_entry(const struct func *f)
{
    uint32_t most = 0;
    bool any = false;
    for (uint32_t i = 0; i < f->ninstr; i++) {
        const struct instr *in = &f->code[i];
        any |= in->op == OP_SETMAXNREG_INC || in->op == OP_SETMAXNREG_DEC;
        if (in->op == OP_SETMAXNREG_INC && in->opnd[0].imm > most)
            most = (uint32_t)in->opnd[0].imm;
    }
    bool bounded = f->maxnreg || (max_threads(f) && f->minnctapersm);
    return !any || !bounded ? 0 : most ? most : 255;
}

/* An estimate, as ptxas would keep to the launch bounds: used where no cubin says. */
static uint32_t register_estimate(const struct func *f)
{
    uint32_t n = (f->regs + 10 + 7) & ~7u, limit = 255, threads = max_threads(f), entry = registers_at_entry(f);
    if (threads)
        limit = register_limit(threads, f->minnctapersm ? f->minnctapersm : 1);
    if (f->maxnreg && f->maxnreg < limit)
        limit = f->maxnreg;
    n = entry ? entry : n;
    return n < limit ? n : limit < 16 ? 16 : limit;
}

void allocate_rows(struct parser *p, const struct cfg *g)
{
    struct live v = { .p = p };
    struct rename r = { p, NEWS(p, uint32_t, p->ncon + 1) };
    find_lives(&v, g);
    place_registers(&v);
    place_constants(p, r.row_of_con);
    for (uint32_t i = 0; i < p->f->ninstr; i++)
        each_reg(&p->f->code[i], on_rename, &r);
    p->f->regs = register_estimate(p->f);
}
