/* setmaxnreg.c: warps give registers to a pool of their CTA and take others from it.
 *
 * Modelled: a CTA's registers are its share at launch, the same for every warp; the pool is empty then. .dec puts a warp's
 * surplus into the pool at once, .inc waits until the pool has what the warp lacks. Every warp of a warpgroup executes the
 * same setmaxnreg, and none a second one before all have executed the first: whatever breaks that is reported.
 * As for ptxas, the instruction has no effect in a kernel whose register count at entry is not fixed by its launch bounds
 * (threads and CTAs per SM) or .maxnreg.
 * Not modelled: what the registers held; registers of warps that have exited do not come back before the CTA ends.
 * PTX ISA: "Miscellaneous Instructions: setmaxnreg". */
#include "setmaxnreg.h"

#include <stdlib.h>

enum { GROUP = 4 };             /* warps of a warpgroup */

struct registers {
    uint32_t free;              /* registers in the pool */
    struct owner {
        uint32_t owned;         /* per thread */
        uint32_t times;         /* setmaxnreg instructions that it has executed, or waits in */
        uint32_t wants;         /* while it waits: per thread; else 0 */
        const struct instr *last;
    } warp[];
};

static struct registers *registers_of(struct cta *c)
{
    if (c->registers)
        return c->registers;
    struct registers *r = c->registers = calloc(1, sizeof *r + c->nwarp * sizeof r->warp[0]);
    if (!r)
        abort();
    for (uint32_t i = 0; i < c->nwarp; i++)
        r->warp[i].owned = (c->launch->func->regs + 7) / 8 * 8;
    return r;
}

void registers_close(struct cta *c)
{
    free(c->registers);
    c->registers = NULL;
}

/* ---------------------------------------------------------------- all warps of a warpgroup execute the same */

static const char *action(const struct instr *in) { return in->op == OP_SETMAXNREG_INC ? "inc" : "dec"; }
static uint32_t count(const struct instr *in) { return (uint32_t)in->opnd[0].imm; }
static bool same(const struct instr *a, const struct instr *b) { return a->op == b->op && count(a) == count(b); }
static bool gone(const struct warp *w) { return w->exited == w->born; }

/* Warp w comes to `in`: do its siblings fit? */
static bool siblings_agree(struct warp *w, const struct instr *in)
{
    const struct registers *r = w->cta->registers;
    const struct owner *me = &r->warp[w->id];
    for (uint32_t i = w->id / GROUP * GROUP; i < w->cta->nwarp && i < (w->id / GROUP + 1) * GROUP; i++) {
        const struct owner *other = &r->warp[i];
        if (gone(&w->cta->warp[i]) && other->times <= me->times)
            return fault(w, in, -1, FAULT_REGISTERS, "warp %u of its warpgroup has exited and will not execute it", i), false;
        if (other->times < me->times)
            return fault(w, in, -1, FAULT_REGISTERS, "this warp's setmaxnreg number %u, but warp %u of its warpgroup has executed "
                         "%u: the warpgroup must synchronise before the next one", me->times + 1, i, other->times), false;
        if (other->times == me->times + 1 && !same(other->last, in))
            return fault(w, in, -1, FAULT_REGISTERS, "warp %u of its warpgroup executed setmaxnreg.%s %u instead", i,
                         action(other->last), count(other->last)), false;
    }
    return true;
}

void registers_exited(struct warp *w)
{
    const struct registers *r = w->cta->registers;
    for (uint32_t i = w->id / GROUP * GROUP; r && i < w->cta->nwarp && i < (w->id / GROUP + 1) * GROUP; i++)
        if (r->warp[i].times > r->warp[w->id].times) {
            fault(w, r->warp[i].last, -1, FAULT_REGISTERS, "warp %u executed it, but warp %u of the same warpgroup has exited "
                  "without", i, w->id);
            return;
        }
}

/* ---------------------------------------------------------------- the instruction */

/* Is the number of registers at entry known to the compiler? */
static bool bounded(const struct func *f)
{
    return f->maxnreg || (f->minnctapersm && (f->maxntid[0] || f->reqntid[0]));
}

static bool begin(struct warp *w, const struct instr *in)
{
    struct owner *me = &w->cta->registers->warp[w->id];
    bool inc = in->op == OP_SETMAXNREG_INC;
    if (!siblings_agree(w, in))
        return false;
    if (inc ? me->owned > count(in) : me->owned < count(in))
        return fault(w, in, -1, FAULT_REGISTERS, "setmaxnreg.%s to %u registers per thread, but this warp has %u", action(in),
                     count(in), me->owned), false;
    me->times++;
    me->last = in;
    me->wants = count(in);
    return true;
}

static int set(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)mask;
    if (!bounded(w->cta->launch->func))
        return X_NEXT;
    struct registers *r = registers_of(w->cta);
    struct owner *me = &r->warp[w->id];
    if (!me->wants && !begin(w, in))
        return X_FAULT;
    if (me->wants > me->owned && (me->wants - me->owned) * WARP > r->free)
        return split_sleep(w, r, UINT64_MAX, "%u registers more per thread", me->wants - me->owned);
    r->free += (me->owned - me->wants) * WARP;      /* wraps around when it takes some */
    me->owned = me->wants;
    me->wants = 0;
    split_wake(w->cta, r, w->now + 1);
    return X_NEXT;
}

static exec_fn *pick(const struct instr *in)
{
    const struct operand *n = &in->opnd[0];
    return n->flags & O_CONST && n->imm >= 24 && n->imm <= 256 && n->imm % 8 == 0 ? set : NULL;
}

exec_fn *pick_SETMAXNREG_INC(struct instr *in) { return pick(in); }
exec_fn *pick_SETMAXNREG_DEC(struct instr *in) { return pick(in); }

/* ---------------------------------------------------------------- for the hang ledger */

/* Warps of its warpgroup that have not executed the setmaxnreg in which warp `id` waits. */
static size_t describe_absent(const struct cta *c, uint32_t id, char *text, size_t len)
{
    const struct owner *o = c->registers->warp;
    size_t n = 0;
    for (uint32_t i = 0; i < c->nwarp && n < len; i++)
        for (uint32_t j = i / GROUP * GROUP; j < c->nwarp && j < (i / GROUP + 1) * GROUP; j++)
            if (i != id && o[j].times > o[i].times) {
                n += (size_t)snprintf(text + n, len - n, "; warp %u has not executed the setmaxnreg.%s %u of its warpgroup", i,
                                      action(o[j].last), count(o[j].last));
                break;
            }
    return n;
}

bool registers_describe(const struct cta *c, char *text, size_t len)
{
    const struct registers *r = c->registers;
    size_t n = 0;
    uint32_t waiting = 0;
    for (uint32_t i = 0; r && i < c->nwarp && n < len; i++)
        if (r->warp[i].wants)
            n += (size_t)snprintf(text + n, len - n, "%s warp %u asks for %u (it has %u registers per thread and wants %u)",
                                  waiting++ ? "," : "register pool: ", i, (r->warp[i].wants - r->warp[i].owned) * WARP,
                                  r->warp[i].owned, r->warp[i].wants);
    if (waiting && n < len)
        n += (size_t)snprintf(text + n, len - n, "; %u free", r->free);
    if (waiting && n < len)
        describe_absent(c, UINT32_MAX, text + n, len - n);
    return waiting;
}
