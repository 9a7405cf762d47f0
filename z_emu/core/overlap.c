/* overlap.c: a grid that begins before the ones in front of it have ended, and what both do to global memory meanwhile.
 *
 * Modelled: griddepcontrol.wait alone orders a grid behind those it depends on. So while a programmatic pair is at work, both
 * grids' accesses to global memory are remembered by word: the instruction, and which of the word's bytes. An access of the
 * dependent that comes before its wait is held against all of the first grid's, and each of the first grid's against those,
 * whichever happened first, and whether or not the first grid has ended by chance. A thread counts as ordered once it has
 * waited, or comes behind one of its cluster that has (race.c knows that), or has read a flag: strongly, from a word that
 * the other grid wrote strongly, or any word when some thread of its own grid has waited. Prefetches are hints.
 * Not modelled: grids that an event of another stream let start, once the first has ended; more than 16 grids at a time.
 * Nothing of this costs anything while no such pair is at work. Otherwise accesses go lane by lane (access.c).
 * PTX ISA: "Parallel Synchronization and Communication Instructions: griddepcontrol". */
#include "core/memory.h"

#include <stdlib.h>

enum { WORD = 4, MAX_GRIDS = MAX_PREREQUISITES };

/* The last access to a word: the instruction's address, and behind it which bytes, and how. */
#define BYTES_SHIFT 48
#define ENTRY_EARLY ((uint64_t)1 << 52)         /* by a dependent that had not waited */
#define ENTRY_WEAK ((uint64_t)1 << 53)
#define ENTRY_STRONG ((uint64_t)1 << 54)

struct trace {                  /* of one allocation */
    uint64_t addr, words;
    uint64_t *read, *written;   /* an entry for each word; 0: none */
    struct trace *next;
};

struct overlap {                /* what one launch has done */
    uint32_t refs;
    char kernel[200];
    bool waited;                /* some thread of it has */
    struct overlap *side[2][MAX_GRIDS];         /* the grids in front of it, and behind */
    uint32_t n[2];
    struct trace *traces;
};
enum { FRONT, BEHIND };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *need(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- who overlaps whom: told by the dispatcher, while nothing runs */

struct overlap *overlap_hold(struct overlap *o)
{
    if (o)
        o->refs++;
    return o;
}

void overlap_drop(struct overlap *o)
{
    if (!o || --o->refs)
        return;
    for (struct trace *t = o->traces, *next; t; t = next) {
        next = t->next;
        free(t->read);
        free(t->written);
        free(t);
    }
    free(o);
}

void overlap_watch(struct launch *l)
{
    char name[200];
    if (l->overlap || !gpu_watches_races(l->gpu))
        return;
    l->overlap = need(1, sizeof *l->overlap);
    l->overlap->refs = 1;
    snprintf(l->overlap->kernel, sizeof l->overlap->kernel, "%s", plain_name(l->func->name, name, sizeof name));
}

static void add(struct overlap *o, int side, struct overlap *other)
{
    for (uint32_t i = 0; i < o->n[side]; i++)
        if (o->side[side][i] == other)
            return;
    if (o->n[side] < MAX_GRIDS)
        o->side[side][o->n[side]++] = overlap_hold(other);
}

void overlap_pair(struct overlap *front, struct launch *l)
{
    overlap_watch(l);
    if (!front || !l->overlap)
        return;
    add(front, BEHIND, l->overlap);
    add(l->overlap, FRONT, front);
}

/* The launch is over: it touches nothing more, but others may yet touch what it did. */
void overlap_close(struct launch *l)
{
    struct overlap *o = l->overlap;
    for (int side = 0; o && side < 2; side++)
        while (o->n[side])
            overlap_drop(o->side[side][--o->n[side]]);
    overlap_drop(o);
    l->overlap = NULL;
}

static bool has_trigger(const struct func *f)
{
    for (uint32_t i = 0; i < f->ninstr; i++)
        if (f->code[i].op == OP_GRID_LAUNCH_DEPENDENTS)
            return true;
    return false;
}

bool overlap_possible(const struct func *f)
{
    bool possible = has_trigger(f);
    for (uint32_t i = 0; i < f->module->nfunc && !possible; i++)
        possible = !f->module->func[i]->is_kernel && has_trigger(f->module->func[i]);
    return possible;
}

/* ---------------------------------------------------------------- which threads are ordered */

static void order(struct warp *w, int side)
{
    w->ordered[side] = true;
    w->ordered_at[side] = race_mark(w, false);
}

void overlap_waited(struct warp *w)
{
    struct overlap *o = w->cta->launch->overlap;
    if (!o)
        return;
    order(w, FRONT);
    __atomic_store_n(&o->waited, true, __ATOMIC_RELEASE);
}

static bool is_ordered(struct warp *w, int side)
{
    const struct cta *c = w->cta;
    for (uint32_t i = 0; i < c->ncluster && !w->ordered[side]; i++)
        for (uint32_t j = 0; j < c->nwarp; j++) {
            const struct warp *other = &c->cluster[i]->warp[j];
            if (other->ordered[side] && race_after(w, other->ordered_at[side])) {
                order(w, side);
                break;
            }
        }
    return w->ordered[side];
}

/* ---------------------------------------------------------------- one access */

struct touch {
    struct warp *w;
    const struct instr *in;
    int lane;
    const struct alloc *alloc;
    uint64_t addr;
    uint32_t size;
    bool reads, writes, strong;
};

static struct trace *trace_of(struct overlap *o, const struct alloc *a, bool make)
{
    struct trace *t = o->traces;
    while (t && (t->addr != a->addr || t->words != (a->size + WORD - 1) / WORD))
        t = t->next;
    if (t || !make)
        return t;
    t = need(1, sizeof *t);
    *t = (struct trace){ .addr = a->addr, .words = (a->size + WORD - 1) / WORD, .next = o->traces };
    t->read = need(t->words, sizeof *t->read);
    t->written = need(t->words, sizeof *t->written);
    return o->traces = t;
}

/* Which bytes of the word at `word` the access touches. */
static uint64_t bytes_of(const struct touch *x, uint64_t word)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < WORD; i++)
        if (word + i >= x->addr && word + i < x->addr + x->size)
            bits |= (uint64_t)1 << (BYTES_SHIFT + i);
    return bits;
}

static void remember(uint64_t *entry, const struct touch *x, uint64_t bytes, bool early)
{
    const uint64_t flags = (uint64_t)0x7f << BYTES_SHIFT, old = *entry, how = x->strong ? ENTRY_STRONG : ENTRY_WEAK;
    /* what others may yet be ordered against is kept: an early access, and a weak one, before others */
    bool keep = (old & ENTRY_EARLY && !early) || (old & ENTRY_WEAK && x->strong);
    *entry = (keep ? old & ~flags : (uint64_t)(uintptr_t)x->in) | (old & flags) | bytes | how | (early ? ENTRY_EARLY : 0);
}

static bool conflicts(uint64_t entry, const struct touch *x, uint64_t bytes, int side)
{
    return entry & bytes && !(x->strong && !(entry & ENTRY_WEAK)) && (side == FRONT || entry & ENTRY_EARLY);
}

/* Another grid's access that this one is not ordered with; 0: there is none. */
static uint64_t conflict_with(struct overlap *other, const struct touch *x, int side, bool *wrote)
{
    struct trace *t = trace_of(other, x->alloc, false);
    for (uint64_t word = x->addr & ~(uint64_t)(WORD - 1); t && word < x->addr + x->size; word += WORD) {
        uint64_t i = (word - t->addr) / WORD, bytes = bytes_of(x, word);
        *wrote = conflicts(t->written[i], x, bytes, side);
        if (*wrote)
            return t->written[i];
        if (x->writes && conflicts(t->read[i], x, bytes, side))
            return t->read[i];
    }
    return 0;
}

static void report(const struct touch *x, const struct overlap *other, uint64_t entry, bool wrote, int side)
{
    const struct instr *in = (const struct instr *)(uintptr_t)(entry & (((uint64_t)1 << BYTES_SHIFT) - 1));
    char place[200];
    snprintf(place, sizeof place, "%u bytes at 0x%llx, byte %llu of %s", x->size, (unsigned long long)x->addr,
             (unsigned long long)(x->addr - x->alloc->addr), x->alloc->what);
    report_overlap(x->w, x->in, x->lane, side == FRONT, x->writes, place, other->kernel, wrote, in);
}

/* A strong read of what the other grid wrote strongly is how the two may talk while both run. */
static bool hears(struct overlap *o, struct overlap *other, const struct touch *x, int side)
{
    struct trace *t = x->strong && x->reads ? trace_of(other, x->alloc, false) : NULL;
    if (x->strong && x->reads && side == FRONT && __atomic_load_n(&o->waited, __ATOMIC_ACQUIRE))
        return true;
    return t && t->written[(x->addr - t->addr) / WORD] & ENTRY_STRONG;
}

static bool check(struct overlap *o, const struct touch *x, int side)
{
    bool wrote;
    for (uint32_t i = 0; i < o->n[side]; i++) {
        uint64_t entry = is_ordered(x->w, side) ? 0 : conflict_with(o->side[side][i], x, side, &wrote);
        if (entry)
            return report(x, o->side[side][i], entry, wrote, side), false;
        if (hears(o, o->side[side][i], x, side))
            order(x->w, side);
    }
    return true;
}

/* By the instruction: plain loads and stores of a word tell their accessor nothing of it. */
static bool is_strong(const struct instr *in, enum access how)
{
    return how & A_STRONG || (how & A_ATOMIC) == A_ATOMIC || in->flags & (F_VOLATILE | F_MMIO) ||
           (in->sem != M_NONE && in->sem != M_weak);
}

bool overlap_allows(struct warp *w, const struct instr *in, int lane, const struct alloc *a, uint64_t addr, uint32_t size,
                    enum access how)
{
    struct overlap *o = w->cta->launch->overlap;
    struct touch x = { w, in, lane, a, addr, size, how & A_READ, how & A_WRITE, is_strong(in, how) };
    if (a->read_only)
        return true;
    pthread_mutex_lock(&lock);
    bool ok = check(o, &x, FRONT) && check(o, &x, BEHIND), early = o->n[FRONT] && !w->ordered[FRONT];
    struct trace *t = ok ? trace_of(o, a, true) : NULL;
    for (uint64_t word = addr & ~(uint64_t)(WORD - 1); t && word < addr + size; word += WORD) {
        uint64_t i = (word - t->addr) / WORD, bytes = bytes_of(&x, word);
        if (x.reads)
            remember(&t->read[i], &x, bytes, early);
        if (x.writes)
            remember(&t->written[i], &x, bytes, early);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}


const char *overlap_unwaited(struct warp *w)
{
    const struct overlap *o = w->cta->launch->overlap;
    return o && o->n[FRONT] && !is_ordered(w, FRONT) ? o->side[FRONT][0]->kernel : NULL;
}
