/* tmem_order.c: in what order tensor memory is accessed, and what is not in order.
 *
 * Nearly all that touches tensor memory goes on by itself. What a thread puts through one pipe (mma, cp, shift) comes to pass
 * in the order of issue; all else must be waited for: mma, cp and shift with a commit and its mbarrier, ld with wait::ld, st
 * with wait::st. Each access to a part of the memory is remembered, under way or over, and each new one is held against those
 * it overlaps, unless both read.
 * PTX ISA: "Memory Consistency Model for 5th generation of TensorCore operations". */
#include "tcgen05.h"

#include <stdlib.h>

static const char *const names[] = { [TC_MMA] = "tcgen05.mma", [TC_CP] = "tcgen05.cp", [TC_SHIFT] = "tcgen05.shift",
                                     [TC_LD] = "tcgen05.ld", [TC_ST] = "tcgen05.st" };

static bool in_pipe(enum tc_kind k) { return k <= TC_SHIFT; }

static bool overlap(struct tmem_part a, struct tmem_part b)
{
    return a.rows & b.rows && a.column < b.column + b.columns && b.column < a.column + a.columns;
}

static bool covers(struct tmem_part big, struct tmem_part small)
{
    return !(small.rows & ~big.rows) && big.column <= small.column && small.column + small.columns <= big.column + big.columns;
}

static bool same_part(struct tmem_part a, struct tmem_part b) { return covers(a, b) && covers(b, a); }

static bool same_warp(const struct tmem_access *a, const struct tc_user *u)
{
    return a->cta == u->w->cta && a->warp == u->w->id;
}

/* Do they follow each other in the pipe? One mma behind another only on the very same accumulator; what one has written
 * another may not take as its A. */
static bool pipelined(const struct tmem_access *a, const struct tc_user *u, struct tmem_part part, bool write)
{
    if (!in_pipe(a->kind) || !in_pipe(u->kind) || !same_warp(a, u) || a->lane != u->lane)
        return false;
    if (a->kind == TC_MMA && u->kind == TC_MMA && a->write)
        return write && same_part(a->part, part);
    return !(a->kind == TC_CP && u->kind == TC_SHIFT);
}

/* ---------------------------------------------------------------- what is said */

static int conflict(const struct tc_user *u, const struct tmem_access *a, bool write, const char *cure)
{
    char place[128], who[80];
    if (a->lane < 0)
        snprintf(who, sizeof who, "warp %u", a->warp);
    else
        snprintf(who, sizeof who, "warp %u, lane %d", a->warp, a->lane);
    return fault(u->w, u->in, u->lane, FAULT_TCGEN05, "it %s columns that the %s at %s (%s%s) %s: columns %u to %u. %s", write ? "writes" : "reads",
                 names[a->kind], source_place(a->in, place, sizeof place), a->cta == u->w->cta ? "" : "peer CTA, ", who,
                 a->finished ? a->write ? "has written" : "has read" : a->write ? "still writes" : "still reads", a->part.column,
                 a->part.column + a->part.columns - 1, cure);
}

static const char *cure_of(const struct tmem_access *a)
{
    switch (a->kind) {
    case TC_LD: return "tcgen05.wait::ld must come between";
    case TC_ST: return "tcgen05.wait::st must come between";
    default: return "Its end has not been waited for: tcgen05.commit, and a wait on the mbarrier that it arrives at";
    }
}

/* ---------------------------------------------------------------- checks */

bool tmem_ordered(const struct tc_user *u, const struct cta *c, struct tmem_part part, bool write)
{
    for (const struct tmem_access *a = tmem_of(c->sm)->accesses; a; a = a->next) {
        if (!(write || a->write) || !overlap(a->part, part) || pipelined(a, u, part, write))
            continue;
        if (!a->finished || (!in_pipe(a->kind) && !a->waited))
            return conflict(u, a, write, cure_of(a)), false;
    }
    return true;
}

/* ---------------------------------------------------------------- the record */

struct tmem_access *tmem_begin(const struct tc_user *u, const struct cta *c, struct tmem_part part, bool write, uint64_t end)
{
    struct tmem *m = tmem_of(c->sm);
    struct tmem_access *a = malloc(sizeof *a);
    if (!a)
        abort();
    *a = (struct tmem_access){ .next = m->accesses, .part = part, .write = write, .kind = u->kind, .cta = u->w->cta,
                               .warp = u->w->id, .lane = u->lane, .in = u->in, .issued = u->w->now, .end = end };
    return m->accesses = a;
}

/* An older one of the same thread that the newer one says all about. */
static bool superseded(const struct tmem_access *old, const struct tmem_access *by)
{
    return old != by && old->finished && old->kind == by->kind && old->write == by->write && old->cta == by->cta &&
           old->warp == by->warp && old->lane == by->lane && covers(by->part, old->part);
}

void tmem_finish(struct tmem *m, struct tmem_access *a, uint64_t now)
{
    a->finished = true;
    a->end = now;
    for (struct tmem_access **at = &m->accesses; *at;) {
        struct tmem_access *old = *at;
        if (superseded(old, a)) {
            *at = old->next;
            free(old);
        } else {
            at = &old->next;
        }
    }
}

void tmem_waited(struct tmem *m, const struct warp *w, enum tc_kind kind)
{
    for (struct tmem_access *a = m->accesses; a; a = a->next)
        if (a->kind == kind && a->cta == w->cta && a->warp == w->id)
            a->waited = true;
}

bool tmem_forget(struct warp *w, const struct instr *in, uint32_t column, uint32_t columns)
{
    struct tmem *m = tmem_of(w->cta->sm);
    const struct tc_user u = { w, in, -1, TC_ST };
    struct tmem_part all = tmem_part(0, TMEM_LANES, column, columns);
    if (!tmem_ordered(&u, w->cta, all, true))
        return false;
    for (struct tmem_access **at = &m->accesses; *at;) {
        struct tmem_access *a = *at;
        if (overlap(a->part, all)) {
            *at = a->next;
            free(a);
        } else {
            at = &a->next;
        }
    }
    return true;
}
