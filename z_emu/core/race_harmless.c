/* core/race_harmless.c: pairs of writes without an order that no result depends on, and that are not reported:
 * two stores of the same bytes (all warps say `found = true`), and two reductions that arrive by themselves. */
#include "race.h"
#include "memory.h"

static bool is_reduction(const struct instr *in)
{
    return in->op == OP_RED_ASYNC || in->op == OP_BULK_REDUCE_SEND;
}

/* Byte k of what lane `lane` stores. */
static uint8_t stored_byte(const struct warp *w, const struct instr *in, uint32_t lane, uint32_t k)
{
    const struct operand *b = &in->opnd[1];
    uint32_t size = type_bytes((enum type)in->type[0]);
    const struct operand *e = b->kind == O_VEC ? &b->elem[k / size] : b;
    return w->regs[e->row + lane * e->width + k % size];
}

/* Does the store leave the n bytes from `at` on as they are? */
static bool changes_nothing(const struct race_access *x, uint32_t at, uint32_t n)
{
    const struct cta *c = x->s->cta;
    FOR_LANES(i, x->mask) {
        uint32_t begin = (uint32_t)(x->places->at[i] - (uintptr_t)c->smem);
        for (uint32_t k = 0; k < x->size; k++)
            if (begin + k - at < n && c->smem[begin + k] != stored_byte(x->w, x->in, i, k))
                return false;
    }
    return true;
}

bool race_harmless(const struct race_access *x, uint32_t agent, const struct instr *other, uint32_t at, uint32_t n)
{
    if (other && is_reduction(other) && is_reduction(x->in))
        return true;
    bool stores = x->in->op == OP_ST && x->places && x->s->races->agent[agent].kind == AGENT_WARP;
    return x->write && stores && changes_nothing(x, at, n);
}
