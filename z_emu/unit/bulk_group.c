/* bulk_group.c: the groups in which a thread's bulk stores are waited for: cp.async.bulk.commit_group and wait_group.
 *
 * Modelled: groups are per thread; .read waits only until the sources have been read.
 * PTX ISA: "Async-group mechanism", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group". */
#include "bulk.h"

#include <stdlib.h>

struct bulk {                   /* of one warp */
    uint32_t closed[WARP];      /* groups, by lane */
    uint32_t issued[WARP], read[WARP];          /* groups with a store in them; groups whose sources are known to be read */
    const struct instr *last[WARP];             /* its newest store */
    struct bulk_copy *flying;
};

static struct bulk *state_of(struct warp *w)
{
    if (!w->bulk && !(w->bulk = calloc(1, sizeof *w->bulk)))
        abort();
    return w->bulk;
}

void bulk_enlist(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c)
{
    struct bulk *s = state_of(w);
    s->issued[lane] = s->closed[lane] + 1;
    s->last[lane] = in;
    c->warp = w, c->lane = (uint32_t)lane, c->group = s->closed[lane];
    c->next = s->flying;
    s->flying = c;
}

uint32_t bulk_groups(struct warp *w, int lane) { return state_of(w)->closed[lane]; }

void bulk_discharge(struct bulk_copy *c)
{
    struct bulk_copy **at = &c->warp->bulk->flying;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

void bulk_close(struct warp *w)
{
    if (!w->bulk)
        return;
    for (struct bulk_copy *c = w->bulk->flying, *next; c; c = next)
        next = c->next, bulk_drop(c);
    free(w->bulk);
    w->bulk = NULL;
}

static int commit(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct bulk *s = state_of(w);
    (void)in;
    FOR_LANES(i, mask) s->closed[i]++;
    return X_NEXT;
}

static int wait(struct warp *w, const struct instr *in, uint32_t mask)
{
    struct bulk *s = w->bulk;
    uint32_t keep = (uint32_t)in->opnd[0].imm;
    uint64_t until = 0;
    for (const struct bulk_copy *c = s ? s->flying : NULL; c; c = c->next) {
        uint64_t end = in->flags & F_READ ? c->read_when : c->when;
        if (mask >> c->lane & 1 && c->group + keep < s->closed[c->lane] && !(in->flags & F_READ && c->been_read) && end > until)
            until = end;
    }
    if (until)
        return split_sleep(w, s, (until > w->now ? until : w->now) + 1, "cp.async.bulk.wait_group%s %u", in->flags & F_READ ? ".read" : "", keep);
    FOR_LANES(i, s ? mask : 0)
        if (s->closed[i] > keep) {
            s->read[i] = s->closed[i] - keep;
            race_work_done(w, RACE_BULK, s->read[i]);
        }
    return X_NEXT;
}

/* The memory of a CTA that has exited belongs to others. */
bool bulk_exit(struct warp *w, const struct instr *in, uint32_t lanes)
{
    const struct bulk *s = w->bulk;
    FOR_LANES(i, s && w->cta->races ? lanes : 0)
        if (s->issued[i] > s->read[i])
            return race_exit_early(w, in, (int)i, s->last[i]), false;
    return true;
}

exec_fn *pick_BULK_COMMIT(struct instr *in) { (void)in; return commit; }
exec_fn *pick_BULK_WAIT(struct instr *in) { return in->opnd[0].flags & O_CONST ? wait : NULL; }
