/* tmem_order.c: in what order tensor memory is accessed, and what is not in order.
 *
 * Nearly all that touches tensor memory goes on by itself. What a thread puts through one pipe (mma, cp, shift) comes to pass
 * in the order of issue; all else must be waited for: mma, cp and shift with a commit and its mbarrier, ld with wait::ld, st
 * with wait::st. Each access to a part of the memory is remembered, under way or over, and each new one is held against those
 * it overlaps, unless both read: is it ordered behind their ends (core/race.c says who is ordered behind whom), whether or not
 * they happen to be over? A tcgen05.fence that lacks, and a pair that gives columns back before either knows of the other's
 * loads, are said once in a launch, and no fault: kernels that do so are known to run right on chips.
 * PTX ISA: "Memory Consistency Model for 5th generation of TensorCore operations". */
#include "tcgen05.h"

#include <stdlib.h>

static const char *const names[] = { [TC_MMA] = "tcgen05.mma", [TC_CP] = "tcgen05.cp", [TC_SHIFT] = "tcgen05.shift",
                                     [TC_LD] = "tcgen05.ld", [TC_ST] = "tcgen05.st", [TC_DEALLOC] = "tcgen05.dealloc" };

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

/* Do they follow each other in the pipe, if the one is issued behind the other? One mma behind another only on the very same
 * accumulator; what one has written another may not take as its A. */
static bool pipelined(const struct tmem_access *a, const struct tc_user *u, struct tmem_part part, bool write)
{
    if (!in_pipe(a->kind) || !in_pipe(u->kind))
        return false;
    if (a->kind == TC_MMA && u->kind == TC_MMA && a->write)
        return write && same_part(a->part, part);
    return !(a->kind == TC_CP && u->kind == TC_SHIFT);
}

/* ---------------------------------------------------------------- what is said */

static void describe(const struct tc_user *u, const struct tmem_access *a, char *buf, size_t len)
{
    char place[128], who[40];
    snprintf(who, sizeof who, a->lane < 0 ? "warp %u" : "warp %u, lane %d", a->warp, a->lane);
    snprintf(buf, len, "the %s at %s (%s%s)", names[a->kind], source_place(a->in, place, sizeof place),
             a->cta == u->w->cta ? "" : "peer CTA, ", who);
}

static bool conflict(const struct tc_user *u, const struct tmem_access *a, bool write, const char *cure)
{
    char what[240];
    describe(u, a, what, sizeof what);
    fault(u->w, u->in, u->lane, FAULT_TCGEN05, "it %s columns %u to %u, which %s %s. %s", write ? "writes" : "reads", a->part.column,
          a->part.column + a->part.columns - 1, what, a->finished ? a->write ? "has written" : "has read" : a->write ? "still writes" : "still reads",
          cure);
    return false;
}

static const char *cure_of(const struct tmem_access *a)
{
    switch (a->kind) {
    case TC_LD: return "tcgen05.wait::ld must come between, and a barrier if it is another warp's";
    case TC_ST: return "tcgen05.wait::st must come between, and a barrier if it is another warp's";
    default: return "Its end has not been waited for: tcgen05.commit, and a wait on the mbarrier that it arrives at";
    }
}

static void note_fence(const struct tc_user *u, const char *what, const char *fence)
{
    struct launch *l = u->w->cta->launch;
    char place[128], name[256];
    if (__atomic_exchange_n(&l->fence_noted, true, __ATOMIC_RELAXED))
        return;
    say("note: kernel %s, CTA (%u,%u,%u): no tcgen05.fence::%s between %s and the %s at %s; the ISA asks for one",
        plain_name(l->func->name, name, sizeof name), u->w->cta->id[0], u->w->cta->id[1], u->w->cta->id[2], fence, what, names[u->kind],
        source_place(u->in, place, sizeof place));
}

void tmem_note_pair(const struct warp *w, const struct instr *dealloc, const char *what)
{
    const struct launch *l = w->cta->launch;
    char place[128], name[256];
    if (__atomic_exchange_n(&w->cta->launch->pair_noted, true, __ATOMIC_RELAXED))
        return;
    say("note: kernel %s: the pair's columns are given back at %s, and no barrier of the cluster says that %s is over. The ISA leaves "
        "open whether tcgen05.dealloc waits for the peer; here it does",
        plain_name(l->func->name, name, sizeof name), source_place(dealloc, place, sizeof place), what);
}

/* ---------------------------------------------------------------- checks */

/* Both are ordered; did the fences stand where they must? Behind what the accessing warp waited for; before what the other
 * warp said when it was done, unless a commit said it. */
static void check_fences(const struct tc_user *u, const struct tmem_access *a, uint64_t since)
{
    if (u->kind == TC_DEALLOC)
        return;
    const struct tc_warp *mine = &tc_state(u->w->cta)->warp[u->w->id], *theirs = &tc_state((struct cta *)a->cta)->warp[a->warp];
    char what[240];
    describe(u, a, what, sizeof what);
    if (mine->after < since)
        note_fence(u, what, "after_thread_sync");
    else if (!same_warp(a, u) && !in_pipe(a->kind) && theirs->before < a->known)
        note_fence(u, what, "before_thread_sync");
}

void tmem_check_wait(const struct tc_user *u)
{
    const struct instr *at;
    char what[160], place[128];
    if (tc_state(u->w->cta)->warp[u->w->id].after >= race_waited(u->w, &at))
        return;
    snprintf(what, sizeof what, "the wait for an mbarrier at %s", source_place(at, place, sizeof place));
    note_fence(u, what, "after_thread_sync");
}

/* A load or store of the peer's warps, which its own dealloc is behind: this one should be, too, but waits for that. */
static bool is_peers(const struct tc_user *u, const struct tmem_access *a)
{
    char what[240];
    if (u->kind != TC_DEALLOC || a->cta == u->w->cta || in_pipe(a->kind))
        return false;
    if (!a->finished || !(a->waited || a->used) || !race_after(u->w, a->done_by)) {
        describe(u, a, what, sizeof what);
        tmem_note_pair(u->w, u->in, what);
    }
    return true;
}

static bool is_behind(const struct tc_user *u, const struct tmem_access *a, struct tmem_part part, bool write)
{
    if (is_peers(u, a))
        return true;
    if (pipelined(a, u, part, write)) {
        if (same_warp(a, u))
            return true;
        if (!race_after(u->w, a->issued_by))
            return conflict(u, a, write, "Another warp has issued it, and no barrier stands between");
        check_fences(u, a, a->issued);
        return true;
    }
    bool gone = a->used && u->kind == TC_DEALLOC;       /* what it has read nobody takes away any more */
    if (!in_pipe(a->kind) && !a->waited && !gone)
        return conflict(u, a, write, cure_of(a));
    if (!in_pipe(a->kind) && same_warp(a, u))
        return true;
    if (!a->finished || !race_after(u->w, a->done_by))
        return conflict(u, a, write, cure_of(a));
    check_fences(u, a, a->end);
    return true;
}

bool tmem_ordered(const struct tc_user *u, const struct cta *c, struct tmem_part part, bool write)
{
    for (const struct tmem_access *a = tmem_of(c->sm)->accesses; a; a = a->next)
        if ((write || a->write) && overlap(a->part, part) && !is_behind(u, a, part, write))
            return false;
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
                               .warp = u->w->id, .lane = u->lane, .in = u->in, .issued = u->w->now, .end = end,
                               .issued_by = race_mark(u->w, false), .done_by = race_mark(u->w, in_pipe(u->kind)) };
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

/* The wait holds the warp up until they are over, so any arrival of its behind the wait is behind their end, a relaxed one
 * too; the fence that lacks is noted as elsewhere. */
void tmem_waited(struct tmem *m, struct warp *w, enum tc_kind kind)
{
    bool waited = false;
    for (struct tmem_access *a = m->accesses; a; a = a->next)
        if (a->kind == kind && a->cta == w->cta && a->warp == w->id && !a->waited) {
            a->waited = true;
            a->known = w->now;
            a->done_by = race_mark(w, false);
            waited = true;
        }
    if (waited)
        race_fence(w, false);
}

void tmem_used(struct tmem *m, struct warp *w, const struct instr *in, uint64_t issued)
{
    for (struct tmem_access *a = m->accesses; a; a = a->next)
        if (a->kind == TC_LD && a->cta == w->cta && a->warp == w->id && a->in == in && a->issued == issued) {
            a->used = true;
            a->done_by = race_mark(w, false);
        }
}

bool tmem_forget(struct warp *w, const struct instr *in, uint32_t column, uint32_t columns)
{
    struct tmem *m = tmem_of(w->cta->sm);
    const struct tc_user u = { w, in, -1, TC_DEALLOC };
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
