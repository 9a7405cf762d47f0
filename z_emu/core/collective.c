/* collective.c: what the lanes of a warp do together: bar.warp.sync, vote, match, redux, elect, shfl.
 *
 * The lanes that `membermask` names come together first (warp_converge). Lanes of one split may name
 * different masks, a group each; groups then execute one after the other. */
#include "core.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- coming together */

/* Lanes of the mask that name the same members as its first lane. */
static uint32_t same_members(const uint32_t *row, uint32_t mask)
{
    uint32_t first = row[__builtin_ctz(mask)], same = 0;
    FOR_LANES(lane, mask)
        same |= (uint32_t)(row[lane] == first) << lane;
    return same;
}

/* Brings the group of the first lane together: then *mask is that group, *members its live members, and X_NEXT
 * is returned. Otherwise return what it returns. Lanes of other groups execute the instruction by themselves. */
static int come_together(struct warp *w, const struct instr *in, const struct operand *o, uint32_t *mask,
                         uint32_t *members)
{
    const uint32_t *row = ROW(w, o, uint32_t);
    uint32_t same = o->flags & O_CONST ? *mask : same_members(row, *mask);
    *members = row[__builtin_ctz(*mask)];
    uint32_t outside = same & ~*members;
    if (outside)
        return fault(w, in, __builtin_ctz(outside), FAULT_BAD_OPERAND, "this lane is not in its own member mask 0x%08x",
                     *members);
    if (same != *mask) {
        uint32_t here = (uint32_t)(in - in->func->code);
        split_goto(w, split_divide(w, *mask & ~same, here + 1), here);
        *mask = same;
    }
    *members &= warp_live(w);
    return warp_converge(w, in, *members, mask) ? X_NEXT : X_RETRY;
}

/* bar.warp.sync alone may be executed at different places by the lanes that meet: whoever comes last frees
 * those who wait elsewhere. */
static bool free_others(struct warp *w, uint32_t members)
{
    uint32_t here = w->cur->mask;
    for (struct split *s = w->splits; s; s = s->next)
        if (s->state == S_WARP && s->members == members && s->frame->func->code[s->pc].op == OP_BAR_WARP_SYNC)
            here |= s->mask;
    if (members & ~here)
        return false;
    for (struct split *s = w->splits; s; s = s->next)
        if (s->state == S_WARP && s->members == members && s->frame->func->code[s->pc].op == OP_BAR_WARP_SYNC) {
            s->state = S_READY;
            s->wake_at = w->now;
            s->wait_what = NULL;
            s->pc++;
        }
    return true;
}

static int exec_bar_warp_sync(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint32_t *row = ROW(w, &in->opnd[0], uint32_t);
    uint32_t members = row[__builtin_ctz(mask)] & warp_live(w);
    if (w->cur->mask == mask && (in->opnd[0].flags & O_CONST) && (members & ~mask) && free_others(w, members))
        return X_NEXT;
    return come_together(w, in, &in->opnd[0], &mask, &members);
}

exec_fn *pick_BAR_WARP_SYNC(struct instr *in) { return (void)in, exec_bar_warp_sync; }

/* ---------------------------------------------------------------- vote */

static uint32_t predicate(struct warp *w, const struct operand *o)
{
    return o->flags & O_NOT ? ~PRED(w, o) : PRED(w, o);
}

static void set_predicate(struct warp *w, uint32_t row, uint32_t mask, uint32_t value)
{
    uint32_t *p = (uint32_t *)(w->regs + row);
    *p = (*p & ~mask) | (value & mask);
}

static void set_all(struct warp *w, const struct operand *d, uint32_t mask, uint32_t value)
{
    if (d->kind != O_REG)
        return;
    uint32_t *row = ROW(w, d, uint32_t);
    FOR_LANES(lane, mask)
        row[lane] = value;
}

#define TOGETHER(o) \
    uint32_t members; \
    int status = come_together(w, in, o, &mask, &members); \
    if (status != X_NEXT) \
        return status

static int exec_vote(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[2]);
    uint32_t yes = predicate(w, &in->opnd[1]) & mask;
    bool result = has_mod(in, M_all) ? yes == mask : has_mod(in, M_any) ? yes != 0 : yes == 0 || yes == mask;
    set_predicate(w, in->opnd[0].row, mask, result ? UINT32_MAX : 0);
    return X_NEXT;
}

static int exec_ballot(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[2]);
    set_all(w, &in->opnd[0], mask, predicate(w, &in->opnd[1]) & mask);
    return X_NEXT;
}

exec_fn *pick_VOTE(struct instr *in) { return (void)in, exec_vote; }
exec_fn *pick_VOTE_BALLOT(struct instr *in) { return (void)in, exec_ballot; }

static int exec_activemask(struct warp *w, const struct instr *in, uint32_t mask)
{
    set_all(w, &in->opnd[0], mask, mask);
    return X_NEXT;
}

exec_fn *pick_ACTIVEMASK(struct instr *in) { return (void)in, exec_activemask; }

/* ---------------------------------------------------------------- match */

/* Lanes of the mask whose `bytes` at o equal lane `like`'s. */
static uint32_t equal_lanes(struct warp *w, const struct operand *o, uint32_t mask, uint32_t like, uint32_t bytes)
{
    const uint8_t *row = w->regs + o->row;
    uint32_t equal = 0;
    FOR_LANES(lane, mask)
        equal |= (uint32_t)(memcmp(row + lane * bytes, row + like * bytes, bytes) == 0) << lane;
    return equal;
}

static int exec_match_any(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[2]);
    uint32_t bytes = in->opnd[1].width, result[WARP];
    for (uint32_t todo = mask; todo;) {
        uint32_t equal = equal_lanes(w, &in->opnd[1], todo, (uint32_t)__builtin_ctz(todo), bytes);
        FOR_LANES(lane, equal)
            result[lane] = equal;
        todo &= ~equal;
    }
    FOR_LANES(lane, mask)
        ROW(w, &in->opnd[0], uint32_t)[lane] = result[lane];
    return X_NEXT;
}

static int exec_match_all(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[2]);
    bool same = equal_lanes(w, &in->opnd[1], mask, (uint32_t)__builtin_ctz(mask), in->opnd[1].width) == mask;
    set_all(w, &in->opnd[0], mask, same ? mask : 0);
    if (in->opnd[0].pair_row != ROW_NONE)
        set_predicate(w, in->opnd[0].pair_row, mask, same ? UINT32_MAX : 0);
    return X_NEXT;
}

exec_fn *pick_MATCH_ANY(struct instr *in) { return (void)in, exec_match_any; }
exec_fn *pick_MATCH_ALL(struct instr *in) { return (void)in, exec_match_all; }

/* ---------------------------------------------------------------- redux */

typedef uint32_t reduce_fn(uint32_t a, uint32_t b);
static uint32_t reduce_add(uint32_t a, uint32_t b) { return a + b; }
static uint32_t reduce_and(uint32_t a, uint32_t b) { return a & b; }
static uint32_t reduce_or(uint32_t a, uint32_t b) { return a | b; }
static uint32_t reduce_xor(uint32_t a, uint32_t b) { return a ^ b; }
static uint32_t reduce_min_u(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t reduce_max_u(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t reduce_min_s(uint32_t a, uint32_t b) { return (int32_t)a < (int32_t)b ? a : b; }
static uint32_t reduce_max_s(uint32_t a, uint32_t b) { return (int32_t)a > (int32_t)b ? a : b; }

static int reduce_with(struct warp *w, const struct instr *in, uint32_t mask, reduce_fn *fn)
{
    TOGETHER(&in->opnd[2]);
    const uint32_t *a = ROW(w, &in->opnd[1], uint32_t);
    uint32_t value = a[__builtin_ctz(mask)];
    FOR_LANES(lane, mask & (mask - 1))
        value = fn(value, a[lane]);
    set_all(w, &in->opnd[0], mask, value);
    return X_NEXT;
}

#define REDUX(name) static int exec_redux_##name(struct warp *w, const struct instr *in, uint32_t mask) \
    { return reduce_with(w, in, mask, reduce_##name); }
REDUX(add) REDUX(and) REDUX(or) REDUX(xor) REDUX(min_u) REDUX(max_u) REDUX(min_s) REDUX(max_s)

/* Floats in the order that min and max see: -0 below +0. */
static int32_t ordered(uint32_t bits) { return (int32_t)bits < 0 ? (int32_t)(bits ^ 0x7fffffff) : (int32_t)bits; }

static int exec_redux_f32(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[2]);
    const uint32_t *a = ROW(w, &in->opnd[1], uint32_t);
    bool max = has_mod(in, M_max), any_nan = false, any = false;
    uint32_t best = 0;
    FOR_LANES(lane, mask) {
        uint32_t x = in->flags & F_ABS ? a[lane] & 0x7fffffff : a[lane];
        if ((x & 0x7fffffff) > 0x7f800000) {
            any_nan = true;
        } else if (!any || (max ? ordered(x) > ordered(best) : ordered(x) < ordered(best))) {
            best = x;
            any = true;
        }
    }
    set_all(w, &in->opnd[0], mask, !any || (any_nan && (in->flags & F_NAN)) ? 0x7fffffff : best);
    return X_NEXT;
}

exec_fn *pick_REDUX(struct instr *in)
{
    bool is_signed = in->type[0] == T_S32, b32 = in->type[0] == T_B32, min = has_mod(in, M_min),
         max = has_mod(in, M_max);
    if (has_mod(in, M_op_and) || has_mod(in, M_op_or) || has_mod(in, M_op_xor))
        return !b32                    ? NULL
               : has_mod(in, M_op_and) ? exec_redux_and
               : has_mod(in, M_op_or)  ? exec_redux_or
                                       : exec_redux_xor;
    if (in->type[0] == T_F32)
        return (min || max) && target_has("100a 100f", in->func->module->target, in->func->module->target_suffix)
                   ? exec_redux_f32 : NULL;
    if (b32)
        return NULL;
    if (min)
        return is_signed ? exec_redux_min_s : exec_redux_min_u;
    if (max)
        return is_signed ? exec_redux_max_s : exec_redux_max_u;
    return exec_redux_add;
}

/* ---------------------------------------------------------------- elect */

static int exec_elect(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[1]);
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    set_all(w, &in->opnd[0], mask, leader);
    set_predicate(w, in->opnd[0].pair_row, mask, 1u << leader);
    return X_NEXT;
}

exec_fn *pick_ELECT(struct instr *in)
{
    return in->opnd[0].pair_row != ROW_NONE ? exec_elect : NULL;
}

/* ---------------------------------------------------------------- shfl */

/* Source lane of `lane`, and whether it is in range: the ISA's semantics of shfl.sync, word for word. */
static bool source_lane(enum mod mode, int lane, uint32_t b, uint32_t c, int *source)
{
    int bval = b & 31, cval = c & 31, segmask = c >> 8 & 31, j;
    int max_lane = (lane & segmask) | (cval & ~segmask), min_lane = lane & segmask;
    bool in_range;
    switch (mode) {
    case M_up:
        j = lane - bval;
        in_range = j >= max_lane;
        break;
    case M_down:
        j = lane + bval;
        in_range = j <= max_lane;
        break;
    case M_bfly:
        j = lane ^ bval;
        in_range = j <= max_lane;
        break;
    default:
        j = min_lane | (bval & ~segmask);
        in_range = j <= max_lane;
    }
    *source = in_range ? j : lane;
    return in_range;
}

#define JUNK UINT32_MAX          /* what a lane gets from one that does not execute the instruction: a NaN, or -1 */

static int exec_shfl(struct warp *w, const struct instr *in, uint32_t mask)
{
    TOGETHER(&in->opnd[4]);
    const uint32_t *b = ROW(w, &in->opnd[2], uint32_t), *c = ROW(w, &in->opnd[3], uint32_t);
    uint32_t a[WARP], in_range = 0;
    memcpy(a, ROW(w, &in->opnd[1], uint32_t), sizeof a);
    FOR_LANES(lane, mask) {
        int source;
        in_range |= (uint32_t)source_lane((enum mod)in->mode, (int)lane, b[lane], c[lane], &source) << lane;
        if (in->opnd[0].kind == O_REG)
            ROW(w, &in->opnd[0], uint32_t)[lane] = mask >> source & 1 ? a[source] : JUNK;
    }
    if (in->opnd[0].pair_row != ROW_NONE)
        set_predicate(w, in->opnd[0].pair_row, mask, in_range);
    return X_NEXT;
}

exec_fn *pick_SHFL(struct instr *in) { return (void)in, exec_shfl; }
