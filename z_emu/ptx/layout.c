/* layout.c: shared memory. Each static .shared variable gets one offset, the same in every kernel that reaches it (a
 * function called by two kernels has its addresses once). A variable lies behind all earlier ones of any
 * kernel that it shares with, so kernels that have nothing in common do not add up. Dynamic shared memory
 * begins behind the kernel's static memory. */
#include "ptx.h"

struct layout {
    struct parser *p;
    uint32_t stamp;
    struct fn **kernel; uint32_t nkernel, cap;
};

typedef void reach_fn(struct layout *l, struct fn *kernel, struct fn *where, struct symbol *s, void *ctx);

/* Calls `found` for each shared variable that a kernel reaches, itself or through what it calls. */
static void walk(struct layout *l, struct fn *kernel, struct fn *fn, reach_fn *found, void *ctx, uint32_t depth)
{
    if (fn->visited == l->stamp || depth > 10000)
        return;
    fn->visited = l->stamp;
    for (struct reach *r = fn->reach; r; r = r->next) {
        if (r->shared)
            found(l, kernel, fn, r->shared, ctx);
        if (r->callee)
            walk(l, kernel, FN(r->callee->sym->func), found, ctx, depth + 1);
    }
    if (fn->calls_indirect)
        for (struct fn *t = l->p->fns; t; t = t->next)
            if (t->address_taken)
                walk(l, kernel, t, found, ctx, depth + 1);
}

static void reached(struct layout *l, struct fn *kernel, reach_fn *found, void *ctx)
{
    l->stamp++;
    walk(l, kernel, kernel, found, ctx, 0);
}

/* ---- static variables */

struct user { struct fn *kernel; struct user *next; };
struct use { struct symbol *s; struct user *users; struct use *next; };
struct uses { struct use *first, **last; };

static void note_use(struct layout *l, struct fn *kernel, struct fn *where, struct symbol *s, void *ctx)
{
    struct uses *u = ctx;
    (void)where;
    if (s->is_extern) {
        kernel->func.dynamic_shared = true;
        return;
    }
    struct use *e = u->first;
    while (e && e->s != s)
        e = e->next;
    if (!e) {
        e = NEW(l->p, struct use);
        e->s = s;
        *u->last = e;
        u->last = &e->next;
    }
    struct user *k = NEW(l->p, struct user);
    *k = (struct user){ kernel, e->users };
    e->users = k;
}

static void place_static(struct layout *l)
{
    struct uses u = { .last = &u.first };
    for (uint32_t i = 0; i < l->nkernel; i++)
        reached(l, l->kernel[i], note_use, &u);
    for (struct use *e = u.first; e; e = e->next) {
        uint64_t at = 0;
        for (struct user *k = e->users; k; k = k->next)
            if (k->kernel->func.shared_bytes > at)
                at = k->kernel->func.shared_bytes;
        at = (at + e->s->align - 1) / e->s->align * e->s->align;
        e->s->addr = at;
        for (struct user *k = e->users; k; k = k->next)
            k->kernel->func.shared_bytes = at + e->s->size > UINT32_MAX ? UINT32_MAX : (uint32_t)(at + e->s->size);
    }
}

/* ---- dynamic shared memory */

static void raise_offset(struct layout *l, struct fn *kernel, struct fn *where, struct symbol *s, void *ctx)
{
    bool *changed = ctx;
    (void)l;
    if (!s->is_extern)
        return;
    uint32_t align = s->align < 16 ? 16 : s->align;
    uint32_t need = kernel->dyn_offset > kernel->func.shared_bytes ? kernel->dyn_offset : kernel->func.shared_bytes;
    if (where->dyn_offset > need)
        need = where->dyn_offset;
    need = (need + align - 1) / align * align;
    *changed |= need != kernel->dyn_offset || need != where->dyn_offset;
    kernel->dyn_offset = where->dyn_offset = need;
}

/* Functions that name dynamic shared memory tie the kernels that call them together: raised until all agree. */
static void place_dynamic(struct layout *l)
{
    for (bool changed = true; changed; ) {
        changed = false;
        for (uint32_t i = 0; i < l->nkernel; i++)
            if (l->kernel[i]->func.dynamic_shared)
                reached(l, l->kernel[i], raise_offset, &changed);
    }
    for (struct fn *f = l->p->fns; f; f = f->next) {
        for (uint32_t i = 0; i < f->func.nconstant; i++) {
            struct constant *c = &f->func.constant[i];
            if (c->sym && c->sym->space == SP_SHARED_CTA && c->sym->is_extern)
                c->bits[0] += f->dyn_offset;
        }
        if (f->func.dynamic_shared)
            f->func.shared_bytes = f->dyn_offset;
    }
}

void layout_shared(struct parser *p)
{
    struct layout l = { .p = p };
    for (uint32_t i = 0; i < p->m->nfunc; i++)
        if (p->m->func[i]->is_kernel && !p->m->func[i]->is_extern)
            PUSH(p, l.kernel, l.nkernel, l.cap) = FN(p->m->func[i]);
    place_static(&l);
    place_dynamic(&l);
}
