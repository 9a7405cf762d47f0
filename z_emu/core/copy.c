/* core/copy.c: what the host does to device memory, and the shadow that remembers which bytes were written.
 *
 * alloc->all_init saves the look-up for good: it is set when host copies and fills have covered the allocation
 * from its start without a gap, and when a scan, paid for by as many checked reads, finds no unwritten byte. */
#include "core/memory.h"

/* ---------------------------------------------------------------- shadow */

/* Bytes from `from` on that are written without a gap. */
static size_t written_from(const struct alloc *a, size_t from)
{
    static const uint8_t ones[64] = { [0 ... 63] = 1 };
    size_t i = from;
    while (i + sizeof ones <= a->size && memcmp(a->init + i, ones, sizeof ones) == 0)
        i += sizeof ones;
    while (i < a->size && a->init[i])
        i++;
    return i;
}

void alloc_promote(struct alloc *a)
{
    __atomic_store_n(&a->looked, 0, __ATOMIC_RELAXED);
    size_t known = written_from(a, __atomic_load_n(&a->known, __ATOMIC_RELAXED));
    __atomic_store_n(&a->known, known, __ATOMIC_RELAXED);
    if (known == a->size)
        __atomic_store_n(&a->all_init, true, __ATOMIC_RELEASE);
}

/* The host wrote [offset, offset + n). */
static void wrote(struct alloc *a, size_t offset, size_t n)
{
    if (!a->init || a->all_init)
        return;
    if (offset <= a->known && offset + n == a->size) {
        a->known = a->size;
        __atomic_store_n(&a->all_init, true, __ATOMIC_RELEASE);
        return;
    }
    memset(a->init + offset, 1, n);
    if (offset <= a->known && offset + n > a->known)
        a->known = offset + n;
}

/* all_init allocations need not have a shadow worth reading: gives a one. */
static void need_shadow(struct alloc *a)
{
    if (a->all_init)
        memset(a->init, 1, a->size);
    a->all_init = false;
}

void alloc_unwrite(struct memory *m, struct alloc *a, uint64_t offset, uint64_t size)
{
    if (!a->init)
        return;
    pthread_mutex_lock(&m->lock);
    need_shadow(a);
    memset(a->init + offset, 0, size);
    if (a->known > offset)
        a->known = offset;
    pthread_mutex_unlock(&m->lock);
}

/* ---------------------------------------------------------------- copies and fills */

/* The live allocation that holds all of [addr, addr + n), and where in it that starts. */
static struct alloc *holds(struct gpu *g, uint64_t addr, size_t n, size_t *offset)
{
    struct alloc *a = mem_find(g, addr);
    if (!a || n > a->size - (addr - a->addr))
        return NULL;
    *offset = addr - a->addr;
    return a;
}

bool mem_to_device(struct gpu *g, uint64_t dst, const void *src, size_t n)
{
    size_t at;
    if (n == 0)
        return true;
    struct alloc *a = holds(g, dst, n, &at);
    if (!a)
        return false;
    memmove(a->host + at, src, n);
    wrote(a, at, n);
    return true;
}

/* dst = src where written, else poison. */
static void copy_out(uint8_t *dst, const uint8_t *src, const uint8_t *written, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = src[i] | (uint8_t)(written[i] - 1);
}

bool mem_to_host(struct gpu *g, void *dst, uint64_t src, size_t n)
{
    size_t at;
    if (n == 0)
        return true;
    struct alloc *a = holds(g, src, n, &at);
    if (!a)
        return false;
    if (!a->init || a->all_init)
        memmove(dst, a->host + at, n);
    else
        copy_out(dst, a->host + at, a->init + at, n);
    return true;
}

/* Unwritten bytes stay unwritten when they are copied, where that can be recorded. */
static void copy_shadow(struct alloc *d, size_t to, const struct alloc *s, size_t from, size_t n)
{
    need_shadow(d);
    memmove(d->init + to, s->init + from, n);
    if (d->known > to)
        d->known = to;
    alloc_promote(d);
}

bool mem_copy(struct gpu *g, uint64_t dst, uint64_t src, size_t n)
{
    size_t to = 0, from = 0;
    if (n == 0)
        return true;
    struct alloc *d = holds(g, dst, n, &to), *s = holds(g, src, n, &from);
    if (!d || !s)
        return false;
    bool whole = !s->init || s->all_init;
    if (whole || d->init)
        memmove(d->host + to, s->host + from, n);
    else
        copy_out(d->host + to, s->host + from, s->init + from, n);
    if (whole)
        wrote(d, to, n);
    else if (d->init)
        copy_shadow(d, to, s, from, n);
    return true;
}

bool mem_fill(struct gpu *g, uint64_t dst, uint32_t value, uint32_t unit, size_t count)
{
    size_t at;
    if (count == 0)
        return true;
    if (count > SIZE_MAX / unit)
        return false;
    struct alloc *a = holds(g, dst, unit * count, &at);
    if (!a)
        return false;
    uint8_t *p = a->host + at;
    if (unit == 1)
        memset(p, (int)value, count);
    else
        for (size_t i = 0; i < count; i++)
            memcpy(p + i * unit, &value, unit);
    wrote(a, at, unit * count);
    return true;
}

/* ---------------------------------------------------------------- a CTA's memory */

void mem_poison_cta(struct cta *c)
{
    size_t local = (size_t)c->local_bytes * c->nwarp * WARP;
    memset(c->smem, POISON, c->smem_bytes);
    memset(c->smem_init, 0, c->smem_bytes);
    memset(c->local, POISON, local);
    memset(c->local_init, 0, local);
}

void mem_poison_local(struct warp *w, uint32_t mask, uint32_t base, uint32_t bytes)
{
    struct cta *c = w->cta;
    FOR_LANES(i, mask) {
        size_t at = ((size_t)w->id * WARP + i) * c->local_bytes + base;
        memset(c->local + at, POISON, bytes);
        memset(c->local_init + at, 0, bytes);
    }
}
