/* core/race_site.c: numbers for the places in a program that may access shared memory, small enough to be kept with every
 * access. The functions of a module that are no kernels share theirs; each kernel goes on from there. Instructions of one
 * source line have one number. Where there are more places than numbers the rest have 0: their line is not known. */
#include "race.h"

#include <stdlib.h>

static bool may_access(const struct instr *in)
{
    enum cost c = op_cost((enum op)in->op);
    bool elsewhere = in->space == SP_GLOBAL || in->space == SP_LOCAL || in->space == SP_PARAM || in->space == SP_CONST;
    if (c == COST_LDST || c == COST_ATOM)
        return !elsewhere || in->op == OP_CP_ASYNC;
    return c == COST_ASYNC || c == COST_BARRIER;
}

static bool same_place(const struct instr *a, const struct instr *b)
{
    return a->op == b->op && a->line && a->line == b->line && a->file == b->file;
}

/* Numbers from `first` on; how many it took. */
static uint32_t number(struct func *f, uint32_t first, const struct instr ***table, uint32_t n)
{
    for (uint32_t i = 0; i < f->ninstr; i++) {
        struct instr *in = &f->code[i];
        in->site = 0;
        if (!may_access(in))
            continue;
        for (uint32_t k = n; k-- && !in->site;)
            if (same_place((*table)[k], in))
                in->site = (uint16_t)(first + k);
        if (in->site || first + n >= SITES)
            continue;
        if (!(n & (n - 1)) && !(*table = realloc(*table, (n ? 2 * n : 1) * sizeof **table)))
            abort();
        (*table)[n] = in;
        in->site = (uint16_t)(first + n++);
    }
    return n;
}

void race_number_sites(struct module *m)
{
    for (uint32_t i = 0; i < m->nfunc; i++)
        if (!m->func[i]->is_kernel)
            m->nsites = number(m->func[i], 1, &m->site, m->nsites);
    for (uint32_t i = 0; i < m->nfunc; i++)
        if (m->func[i]->is_kernel)
            m->func[i]->nsites = number(m->func[i], 1 + m->nsites, &m->func[i]->site, 0);
}

void race_forget_sites(struct module *m)
{
    free(m->site);
    m->site = NULL, m->nsites = 0;
    for (uint32_t i = 0; i < m->nfunc; i++) {
        free(m->func[i]->site);
        m->func[i]->site = NULL, m->func[i]->nsites = 0;
    }
}

const struct instr *race_site_instr(const struct launch *l, uint32_t site)
{
    const struct func *f = l->func;
    const struct module *m = f->module;
    if (site >= 1 && site <= m->nsites)
        return m->site[site - 1];
    return site > m->nsites && site - m->nsites <= f->nsites ? f->site[site - m->nsites - 1] : NULL;
}
