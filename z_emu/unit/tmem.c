/* tmem.c: tensor memory: tcgen05.alloc, dealloc, relinquish_alloc_permit.
 *
 * Modelled: every SM has 512 columns for the CTAs that are on it. An allocation takes the first free run whose start is a
 * multiple of its size, or waits for one; with cta_group::2 the CTAs of a pair take the same columns at once, and give them
 * back at once. Fresh columns hold poison. Found and named: sizes, growing allocations, allocating after relinquishing,
 * columns given back twice, in part, by another CTA, while something still uses them, or not at all.
 * Not modelled: how long an allocation takes; which of several waiting CTAs the chip serves first.
 * PTX ISA: "Tensor Memory", "Tensor Memory Allocation and Management Instructions". */
#include "tcgen05.h"
#include "../core/memory.h"

#include <stdlib.h>
#include <string.h>

struct tmem *tmem_of(struct sm *sm)
{
    if (!sm->tmem && !(sm->tmem = calloc(1, sizeof *sm->tmem)))
        abort();
    return sm->tmem;
}

void tmem_close(struct sm *sm)
{
    struct tmem *m = sm->tmem;
    for (struct tmem_access *a = m ? m->accesses : NULL, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    free(m);
}

static const char *cta_name(const struct cta *c, char *buf, size_t len)
{
    snprintf(buf, len, "CTA (%u,%u,%u)", c->id[0], c->id[1], c->id[2]);
    return buf;
}

bool tmem_owned(const struct tc_user *u, const struct cta *c, uint32_t column, uint32_t columns, const char *what)
{
    const struct tmem *m = tmem_of(c->sm);
    char name[200], place[128];
    uint32_t end = column + columns;
    if (end > TMEM_COLUMNS) {
        fault(u->w, u->in, u->lane, FAULT_TMEM, "%s needs columns %u to %u; there are %d", what, column, end - 1, TMEM_COLUMNS);
        return false;
    }
    for (uint32_t i = column / TMEM_UNIT; i * TMEM_UNIT < end; i++) {
        if (m->unit[i].owner == c && m->unit[i].given_back && (u->kind == TC_LD || u->kind == TC_ST)) {
            snprintf(name, sizeof name, "the access at %s", source_place(u->in, place, sizeof place));
            tmem_note_pair(u->w, m->unit[i].given_back, name);
        } else if (m->unit[i].owner == c && m->unit[i].given_back && u->kind != TC_DEALLOC) {
            fault(u->w, u->in, u->lane, FAULT_TMEM, "%s needs columns %u to %u; the peer CTA gives them back at %s, for both of the pair", what,
                  column, end - 1, source_place(m->unit[i].given_back, place, sizeof place));
            return false;
        }
        if (m->unit[i].owner == c)
            continue;
        uint32_t bad = i * TMEM_UNIT > column ? i * TMEM_UNIT : column;
        if (m->unit[i].owner)
            fault(u->w, u->in, u->lane, FAULT_TMEM, "%s needs columns %u to %u; column %u belongs to %s, which allocated it at %s", what,
                  column, end - 1, bad, cta_name(m->unit[i].owner, name, sizeof name), source_place(m->unit[i].by, place, sizeof place));
        else
            fault(u->w, u->in, u->lane, FAULT_TMEM, "%s needs columns %u to %u; column %u is not allocated", what, column, end - 1, bad);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- the pool */

static bool is_free(const struct tmem *m, uint32_t first, uint32_t units)
{
    for (uint32_t i = first; i < first + units; i++)
        if (m->unit[i].owner)
            return false;
    return true;
}

/* A run that is free here and there (both the same: one SM); TMEM_UNITS: there is none. */
static uint32_t find_run(const struct tmem *a, const struct tmem *b, uint32_t units)
{
    uint32_t first = 0;
    while (first < TMEM_UNITS && !(is_free(a, first, units) && is_free(b, first, units)))
        first += units;
    return first;
}

static void take(struct cta *c, const struct instr *in, uint32_t first, uint32_t units)
{
    struct tmem *m = tmem_of(c->sm);
    for (uint32_t i = first; i < first + units; i++) {
        m->unit[i].owner = c;
        m->unit[i].first = first;
        m->unit[i].units = units;
        m->unit[i].by = in;
        m->unit[i].given_back = NULL;
    }
    for (uint32_t lane = 0; lane < TMEM_LANES; lane++) {
        memset(&m->cell[lane][first * TMEM_UNIT], POISON, units * TMEM_UNIT * sizeof m->cell[0][0]);
        memset(&m->written[lane][first * TMEM_UNIT], 0, units * TMEM_UNIT);
    }
}

static void give_back(struct sm *sm, uint32_t first, uint32_t units, uint64_t now)
{
    struct tmem *m = tmem_of(sm);
    for (uint32_t i = first; i < first + units; i++)
        m->unit[i].owner = NULL;
    for (uint32_t i = 0; i < MAX_CTAS; i++)
        if (sm->cta[i])
            split_wake(sm->cta[i], m, now);
}

/* ---------------------------------------------------------------- alloc */

/* The same value in all lanes that have not exited; the last warp of a block may be a part of one. */
static bool uniform(struct warp *w, const struct instr *in, const struct operand *o, const char *what, uint32_t *value)
{
    const uint32_t *row = ROW(w, o, uint32_t), live = warp_live(w);
    *value = row[__builtin_ctz(live)];
    for (int lane = 0; lane < WARP; lane++)
        if (live >> lane & 1 && row[lane] != *value)
            return fault(w, in, lane, FAULT_BAD_OPERAND, "%s differs between lanes", what), false;
    return true;
}

static bool is_size(struct warp *w, const struct instr *in, uint32_t columns)
{
    if (columns >= TMEM_UNIT && columns <= TMEM_COLUMNS && !(columns & (columns - 1)))
        return true;
    fault(w, in, -1, FAULT_TMEM, "%u columns: it must be 32, 64, 128, 256 or 512", columns);
    return false;
}

static bool may_alloc(struct warp *w, const struct instr *in, const struct tcgen05 *s, uint32_t columns)
{
    if (!is_size(w, in, columns))
        return false;
    if (s->relinquished)
        fault(w, in, -1, FAULT_TMEM, "the CTA has given up the right to allocate: tcgen05.relinquish_alloc_permit was executed");
    else if (s->columns && columns > s->columns)
        fault(w, in, -1, FAULT_TMEM, "%u columns after an allocation of %u: they must not grow within a CTA", columns, s->columns);
    else
        return true;
    return false;
}

/* The address goes to shared memory. */
static int hand_out(struct warp *w, const struct instr *in, struct tcgen05 *s, uint32_t column, uint32_t columns)
{
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    uint8_t *to = mem_at(w, in, 0, (enum space)in->space, addr[0], 4, 4, A_WRITE);
    if (!to)
        return X_FAULT;
    memcpy(to, &column, 4);
    s->columns = columns;
    return X_NEXT;
}

static int wait_for_columns(struct warp *w, uint32_t columns)
{
    return split_sleep(w, tmem_of(w->cta->sm), UINT64_MAX, "tcgen05.alloc of %u columns", columns);
}

/* Both CTAs of a pair must have come; the second one acts for both. */
static int alloc_pair(struct warp *w, const struct instr *in, struct tcgen05 *s, uint32_t columns)
{
    struct cta *peer = tc_peer(w->cta);
    struct tc_meeting *mine = &s->alloc, *theirs = &tc_state(peer)->alloc;
    uint32_t units = columns / TMEM_UNIT;
    if (mine->met) {
        mine->met = false;
        return hand_out(w, in, s, mine->column, columns);
    }
    *mine = (struct tc_meeting){ .waits = true, .columns = columns };
    if (!theirs->waits)
        return split_sleep(w, tmem_of(w->cta->sm), UINT64_MAX, "tcgen05.alloc with the peer CTA");
    if (theirs->columns != columns)
        return fault(w, in, -1, FAULT_TMEM, "%u columns, and %u in the peer CTA", columns, theirs->columns);
    uint32_t first = find_run(tmem_of(w->cta->sm), tmem_of(peer->sm), units);
    if (first == TMEM_UNITS)
        return wait_for_columns(w, columns);
    take(w->cta, in, first, units);
    take(peer, in, first, units);
    mine->waits = theirs->waits = false;
    theirs->met = true;
    theirs->column = first * TMEM_UNIT;
    split_wake(peer, tmem_of(peer->sm), w->now);
    return hand_out(w, in, s, first * TMEM_UNIT, columns);
}

static int alloc(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tcgen05 *s = tc_group_state(w, in, -1);
    struct tmem *m = tmem_of(w->cta->sm);
    uint32_t columns, first;
    (void)mask;
    if (!s || !uniform(w, in, &in->opnd[1], "nCols", &columns) || !may_alloc(w, in, s, columns))
        return X_FAULT;
    if (s->group == 2)
        return alloc_pair(w, in, s, columns);
    if ((first = find_run(m, m, columns / TMEM_UNIT)) == TMEM_UNITS)
        return wait_for_columns(w, columns);
    take(w->cta, in, first, columns / TMEM_UNIT);
    return hand_out(w, in, s, first * TMEM_UNIT, columns);
}

/* ---------------------------------------------------------------- dealloc, relinquish_alloc_permit */

/* Is that one of this CTA's allocations, and all of it? */
static bool is_allocation(struct warp *w, const struct instr *in, uint32_t addr, uint32_t columns)
{
    const struct tmem *m = tmem_of(w->cta->sm);
    uint32_t column = tmem_column(addr), first = column / TMEM_UNIT;
    const struct tc_user u = { w, in, -1, TC_DEALLOC };
    if (tmem_lane(addr) || column % TMEM_UNIT)
        return fault(w, in, -1, FAULT_TMEM, "0x%x is not the address of an allocation", addr), false;
    if (!is_size(w, in, columns) || !tmem_owned(&u, w->cta, column, 1, "giving them back"))
        return false;
    if (m->unit[first].first == first && m->unit[first].units * TMEM_UNIT == columns)
        return true;
    fault(w, in, -1, FAULT_TMEM, "%u columns from %u on; the allocation there has %u from %u on", columns, column,
          m->unit[first].units * TMEM_UNIT, m->unit[first].first * TMEM_UNIT);
    return false;
}

/* The columns are given back in both CTAs of a pair, which must be done with them: neither an access there that this warp
 * does not know the end of, nor any later one. For loads and stores that is noted (tmem_order.c). PTX ISA: "Issue
 * Granularity". */
static bool peer_is_done(struct warp *w, const struct instr *in, uint32_t column, uint32_t columns)
{
    const struct cta *peer = tc_peer(w->cta);
    const struct tc_user u = { w, in, -1, TC_DEALLOC };
    struct tmem *m = tmem_of(peer->sm);
    if (!tmem_ordered(&u, peer, tmem_part(0, TMEM_LANES, column, columns), true))
        return false;
    for (uint32_t i = column / TMEM_UNIT; i < (column + columns) / TMEM_UNIT; i++)
        if (m->unit[i].owner == peer)
            m->unit[i].given_back = in;
    return true;
}

/* With a peer: neither goes on before the other has come. The ISA leaves open whether it waits, so that no program may
 * count on it not to. */
static int meet_to_dealloc(struct warp *w, struct tcgen05 *s)
{
    struct cta *peer = tc_peer(w->cta);
    struct tc_meeting *mine = &s->dealloc, *theirs = &tc_state(peer)->dealloc;
    if (mine->met) {
        mine->met = false;
        return X_NEXT;
    }
    if (!theirs->waits) {
        mine->waits = true;
        return split_sleep(w, mine, UINT64_MAX, "tcgen05.dealloc with the peer CTA");
    }
    theirs->waits = false;
    theirs->met = true;
    split_wake(peer, theirs, w->now);
    return X_NEXT;
}

static int dealloc(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tcgen05 *s = tc_group_state(w, in, -1);
    uint32_t addr, columns;
    (void)mask;
    if (!s || !uniform(w, in, &in->opnd[0], "taddr", &addr) || !uniform(w, in, &in->opnd[1], "nCols", &columns) ||
        !is_allocation(w, in, addr, columns) || !tmem_forget(w, in, tmem_column(addr), columns))
        return X_FAULT;
    if (s->group == 2 && !s->dealloc.met && !peer_is_done(w, in, tmem_column(addr), columns))
        return X_FAULT;
    if (s->group == 2 && meet_to_dealloc(w, s) == X_RETRY)
        return X_RETRY;
    give_back(w->cta->sm, tmem_column(addr) / TMEM_UNIT, columns / TMEM_UNIT, w->now);
    return X_NEXT;
}

static int relinquish(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct tcgen05 *s = tc_group_state(w, in, -1);
    (void)mask;
    if (!s)
        return X_FAULT;
    s->relinquished = true;
    return X_NEXT;
}

exec_fn *pick_TCGEN05_ALLOC(struct instr *in) { (void)in; return alloc; }
exec_fn *pick_TCGEN05_DEALLOC(struct instr *in) { (void)in; return dealloc; }
exec_fn *pick_TCGEN05_RELINQUISH(struct instr *in) { (void)in; return relinquish; }

/* ---------------------------------------------------------------- the end of a CTA, and the hang ledger */

void tmem_exit(struct cta *c)
{
    struct tmem *m = c->sm->tmem;
    char place[128];
    for (uint32_t i = 0; m && i < TMEM_UNITS; i++) {
        if (m->unit[i].owner != c)
            continue;
        if (!c->launch->fault)
            fault_launch(c->launch, FAULT_TMEM, "CTA (%u,%u,%u) has exited without giving back %u columns of tensor memory from %u on, "
                         "which it allocated at %s: tcgen05.dealloc lacks", c->id[0], c->id[1], c->id[2],
                         m->unit[i].units * TMEM_UNIT, i * TMEM_UNIT, source_place(m->unit[i].by, place, sizeof place));
        give_back(c->sm, m->unit[i].first, m->unit[i].units, c->sm->now);
    }
}

bool tmem_describe(const struct sm *sm, uint32_t nth, char *text, size_t len)
{
    char place[128];
    for (uint32_t i = 0; sm->tmem && i < TMEM_UNITS; i += sm->tmem->unit[i].owner ? sm->tmem->unit[i].units : 1) {
        const struct cta *c = sm->tmem->unit[i].owner;
        if (!c || nth--)
            continue;
        snprintf(text, len, "tensor memory: columns %u to %u belong to CTA (%u,%u,%u), which allocated them at %s", i * TMEM_UNIT,
                 (i + sm->tmem->unit[i].units) * TMEM_UNIT - 1, c->id[0], c->id[1], c->id[2],
                 source_place(sm->tmem->unit[i].by, place, sizeof place));
        return true;
    }
    return false;
}
