/* ledger.c: the hang report. Nothing can run and nothing is under way: per CTA, the barriers that are half full and
 * what every warp waits for, and where. Warps in the same situation share a line. */
#include "diag.h"
#include "../unit/mbarrier.h"
#include "../unit/setmaxnreg.h"

#include <string.h>

enum { MAX_CTAS_SHOWN = 4 };

static bool spins(const struct split *s)
{
    return s->watch.circles && !(s->state == S_SLEEP && s->wake_at == NEVER);
}

/* Where it stands, or the instruction of its circle that it was watched at. */
static uint32_t place_in_code(const struct split *s)
{
    return spins(s) ? s->watch.pc : s->pc;
}

/* A split waits behind its instruction (a named barrier) or at it; one that spins has stopped behind it. */
static const struct instr *waits_at(const struct split *s)
{
    const struct func *f = s->frame->func;
    if (spins(s) && s->state != S_SLEEP)
        return &f->code[s->watch.pc - 1];
    bool behind = s->state == S_SLEEP && s->wait_what && !strncmp(s->wait_what, "barrier ", 8);
    uint32_t pc = behind ? s->pc - 1 : s->pc;
    return &f->code[pc < f->ninstr ? pc : f->ninstr - 1];
}

static bool same_situation(const struct warp *a, const struct warp *b)
{
    const struct split *s = a->splits, *t = b->splits;
    if (a->exited != b->exited || a->born != b->born)
        return false;
    for (; s && t; s = s->next, t = t->next)
        if (place_in_code(s) != place_in_code(t) || spins(s) != spins(t) || s->mask != t->mask ||
            s->frame->func != t->frame->func || s->state != t->state ||
            strcmp(s->wait_what ? s->wait_what : "", t->wait_what ? t->wait_what : ""))
            return false;
    return !s && !t;
}

static void report_split(struct report *r, const struct warp *w, const struct split *s)
{
    char text[200];
    const struct instr *in = waits_at(s);
    if (s->mask != (w->born & ~w->exited))
        report(r, "         lanes 0x%08x", s->mask);
    else
        report(r, "         all lanes");
    instr_text(in, text, sizeof text);
    if (spins(s))
        report(r, " spin, and nobody is left to change what they read: %s;\n", text);
    else
        report(r, " wait for %s: %s;\n", s->wait_what ? s->wait_what : "nothing known", text);
    report_source(r, in, "         ");
}

static void report_warps(struct report *r, const struct cta *c)
{
    for (uint32_t i = 0, last; i < c->nwarp; i = last + 1) {
        const struct warp *w = &c->warp[i];
        for (last = i; last + 1 < c->nwarp && same_situation(w, &c->warp[last + 1]);)
            last++;
        if (last > i)
            report(r, "      warps %u-%u:", i, last);
        else
            report(r, "      warp %u:", i);
        if (!w->splits) {
            report(r, " exited\n");
            continue;
        }
        if (w->exited)
            report(r, " (lanes 0x%08x have exited)", w->exited);
        report(r, "\n");
        for (const struct split *s = w->splits; s; s = s->next)
            report_split(r, w, s);
    }
}

static void report_barriers(struct report *r, const struct cta *c)
{
    for (uint32_t id = 0; id < 16; id++) {
        const struct barrier *b = &c->barrier[id];
        uint32_t expected = b->expected, partly = 0;
        for (uint32_t i = 0; i < c->nwarp; i++) {
            partly += c->warp[i].barrier_lanes[id] != 0;
            expected += !b->expected && warp_live(&c->warp[i]) ? WARP : 0;
        }
        if (b->arrived || partly)
            report(r, "      barrier %u: %u of %u threads have arrived (completed %u times before)%s\n", id, b->arrived,
                   expected, b->phase, partly ? "; a warp arrives when all its lanes have" : "");
    }
}

static void report_cluster(struct report *r, const struct cta *c)
{
    const struct cluster *g = c->group;
    if (!g->arrived || c->cluster_rank)
        return;
    uint32_t arrived[MAX_CLUSTER] = { 0 }, live[MAX_CLUSTER] = { 0 }, all = 0;
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t j = 0; j < g->cta[i]->nwarp; j++) {
            const struct warp *w = &g->cta[i]->warp[j];
            arrived[i] += (uint32_t)__builtin_popcount(w->cluster_arrived);
            live[i] += (uint32_t)__builtin_popcount(warp_live(w));
            all += (uint32_t)__builtin_popcount(warp_live(w));
        }
    report(r, "      the cluster's barrier: %u of %u threads have arrived", g->arrived, all);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->cta[i]->over)
            report(r, "; CTA rank %u: exited", i);
        else if (arrived[i] < live[i])
            report(r, "; CTA rank %u: %u of %u", i, arrived[i], live[i]);
    report(r, "\n");
}

static void report_mbarriers(struct report *r, const struct cta *c)
{
    char text[600];
    for (uint32_t nth = 0; mbarrier_describe(c, nth, text, sizeof text); nth++)
        report(r, "      %s\n", text);
}

static void report_registers(struct report *r, const struct cta *c)
{
    char text[1200];
    if (registers_describe(c, text, sizeof text))
        report(r, "      %s\n", text);
}

static void report_tmem(struct report *r, const struct cta *c)
{
    char text[300];
    for (uint32_t nth = 0; tmem_describe(c->sm, nth, text, sizeof text); nth++)
        report(r, "      %s\n", text);
}

static void report_cta(struct report *r, const struct cta *c)
{
    report(r, "   CTA (%u,%u,%u)", c->id[0], c->id[1], c->id[2]);
    if (c->ncluster > 1)
        report(r, ", rank %u of its cluster", c->cluster_rank);
    report(r, ":\n");
    report_barriers(r, c);
    report_cluster(r, c);
    report_mbarriers(r, c);
    report_registers(r, c);
    report_tmem(r, c);
    report_warps(r, c);
}

void ledger_print(struct launch *l, struct sm **sm, uint32_t nsms)
{
    struct report r = { 0 };
    uint32_t n = 0, per_cluster = l->cluster[0] * l->cluster[1] * l->cluster[2];
    report(&r, "   nothing can run, and nothing is under way that could change that\n");
    for (uint32_t i = 0; i < nsms; i++)
        for (uint32_t j = 0; j < MAX_CTAS; j++) {
            const struct cta *c = sm[i]->cta[j];
            if (c && c->launch == l && n++ < MAX_CTAS_SHOWN)
                report_cta(&r, c);
        }
    if (n > MAX_CTAS_SHOWN)
        report(&r, "   and %u more CTAs\n", n - MAX_CTAS_SHOWN);
    if (l->dispatched < l->clusters)
        report(&r, "   %llu of the grid's %llu CTAs have not begun: they wait until others exit and leave them room\n",
               (unsigned long long)((l->clusters - l->dispatched) * per_cluster),
               (unsigned long long)(l->clusters * per_cluster));
    fault_launch(l, FAULT_HANG, "%.*s", (int)r.len - 1, r.s);
    r.len = 0;
    report_end(&r);
}
