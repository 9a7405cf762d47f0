/* core/memory.c: the address space of one gpu: who has which addresses.
 *
 * Freed addresses are not given out again until all others have been. A use after free is found in the granule
 * table, which goes on naming what was there until some thousands more have been freed. */
#define _GNU_SOURCE
#include "core/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SMALL = 1 << 16,         /* below this, bytes come from calloc */
       HOST_GHOSTS = 64,        /* freed host allocations that are remembered */
       DEVICE_GHOSTS = 4096, GHOST_BYTES = 16 << 20 };

/* ---------------------------------------------------------------- the range */

#define BASE_WISH ((uint64_t)0x200000000000)    /* the same addresses in every run, where they are to be had */

static void *map(uint64_t wish, uint64_t bytes, int protection)
{
    void *p = mmap((void *)(uintptr_t)wish, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Reserves as much as there is, from half a terabyte down; both ends on a 4 GiB boundary, so that the low
 * half of a generic shared address is the shared address. */
static bool reserve(struct memory *m)
{
    for (uint64_t bytes = (uint64_t)1 << 39; bytes >= 4 * WINDOW; bytes /= 2) {
        uint64_t at = (uintptr_t)map(BASE_WISH, bytes + WINDOW, PROT_NONE);
        if (!at)
            continue;
        uint64_t base = (at + WINDOW - 1) & ~(WINDOW - 1);
        if (base > at)
            munmap((void *)(uintptr_t)at, base - at);
        if (at + WINDOW > base)
            munmap((void *)(uintptr_t)(base + bytes), at + WINDOW - base);
        m->base = base, m->bytes = bytes, m->ngranules = bytes >> GRANULE_BITS;
        m->granule = map(0, m->ngranules * sizeof *m->granule, PROT_READ | PROT_WRITE);
        if (m->granule)
            return true;
        munmap((void *)(uintptr_t)base, bytes);
    }
    return false;
}

/* Room in the host list for one more. */
static bool hosts_grow(struct memory *m)
{
    struct host_list *old = m->hosts;
    if (old && old->n < old->room)
        return true;
    uint32_t n = old ? old->n : 0, room = n ? 2 * n : 64;
    struct host_list *l = malloc(sizeof *l + room * sizeof *l->alloc);
    if (!l)
        return false;
    l->older = old, l->n = n, l->room = room;
    if (old)
        memcpy(l->alloc, old->alloc, n * sizeof *l->alloc);
    __atomic_store_n(&m->hosts, l, __ATOMIC_RELEASE);
    return true;
}

struct memory *mem_open(const struct device *d)
{
    struct memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->capacity = d->global_bytes;
    m->smem_reserved = d->smem_reserved;
    pthread_mutex_init(&m->lock, NULL);
    if (!hosts_grow(m) || !reserve(m)) {
        free(m->hosts), free(m);
        return NULL;
    }
    m->cursor = 2 * WINDOW >> GRANULE_BITS;
    return m;
}

uint64_t va_shared(const struct gpu *g) { return gpu_memory(g)->base; }
uint64_t va_local(const struct gpu *g) { return gpu_memory(g)->base + WINDOW; }

/* ---------------------------------------------------------------- bytes and shadow */

static void *bytes_new(size_t size)
{
    if (size < SMALL)
        return aligned_alloc(64, (size + 63) & ~(size_t)63);
    void *p = map(0, size, PROT_READ | PROT_WRITE);
    if (p && size >= (size_t)4 << 20)
        madvise(p, size, MADV_HUGEPAGE);        /* strided reads of big matrices would live in TLB misses */
    return p;
}

static void bytes_free(void *p, size_t size)
{
    if (size < SMALL)
        free(p);
    else
        munmap(p, size);
}

/* Big shadows are mapped, hence zero; small ones are cleared. */
static uint8_t *shadow_new(size_t size)
{
    uint8_t *p = bytes_new(size);
    if (p && size < SMALL)
        memset(p, 0, size);
    return p;
}

static struct alloc *alloc_new(uint64_t addr, size_t size, const char *what)
{
    struct alloc *a = calloc(1, sizeof *a);
    char *name = strdup(what);
    if (!a || !name) {
        free(a), free(name);
        return NULL;
    }
    *a = (struct alloc){ .addr = addr, .size = size, .what = name, .space = SP_GLOBAL };
    return a;
}

static void alloc_delete(struct alloc *a)
{
    if (a->owned && a->host)
        bytes_free(a->host, a->size);
    if (a->init)
        bytes_free(a->init, a->size);
    free((char *)a->what);
    free(a);
}

/* ---------------------------------------------------------------- room in the range */

static uint64_t granules_of(size_t size) { return (size + GRANULE - 1) >> GRANULE_BITS; }

/* An allocation and the gap behind it: a quarter of its size and at least a granule. */
static uint64_t granules_with_gap(size_t size) { return granules_of(size) + granules_of(size / 4 + 1); }

static void granules_set(struct memory *m, uint64_t from, uint64_t n, struct alloc *a)
{
    for (uint64_t g = from; g < from + n; g++)
        __atomic_store_n(&m->granule[g], a, __ATOMIC_RELEASE);
}

static void granules_clear(struct memory *m, const struct alloc *a)
{
    uint64_t from = (a->addr - m->base) >> GRANULE_BITS;
    for (uint64_t g = from; g < from + granules_of(a->size); g++)
        if (m->granule[g] == a)                 /* not when others have them by now */
            granules_set(m, g, 1, NULL);
}

/* n granules without a live allocation from `from` on and below `end`; 0: none. */
static uint64_t find_run(const struct memory *m, uint64_t from, uint64_t end, uint64_t n)
{
    uint64_t start = from;
    for (uint64_t g = from; g < end && start + n <= end; g++) {
        struct alloc *a = m->granule[g];
        if (a && !a->freed)
            start = ((a->addr - m->base) >> GRANULE_BITS) + granules_with_gap(a->size), g = start - 1;
        else if (g + 1 == start + n)
            return start;
    }
    return 0;
}

static uint64_t find_room(struct memory *m, uint64_t n)
{
    uint64_t first = 2 * WINDOW >> GRANULE_BITS;
    uint64_t g = find_run(m, m->cursor, m->ngranules, n);
    if (!g)
        g = find_run(m, first, m->ngranules, n);
    if (g) {
        granules_set(m, g, n, NULL);
        m->cursor = g + n;
        m->reached = m->cursor > m->reached ? m->cursor : m->reached;
    }
    return g;
}

/* ---------------------------------------------------------------- device memory */

static struct alloc *place(struct memory *m, size_t size, const char *what)
{
    uint64_t g = find_room(m, granules_with_gap(size));
    struct alloc *a = g ? alloc_new(m->base + (g << GRANULE_BITS), size, what) : NULL;
    if (!a)
        return NULL;
    a->owned = true, a->host = bytes_new(size), a->init = shadow_new(size);
    if (!a->host || !a->init) {
        alloc_delete(a);
        return NULL;
    }
    if (size < SMALL)
        memset(a->host, POISON, size);
    m->used += size;
    granules_set(m, g, granules_of(size), a);
    return a;
}

struct alloc *mem_alloc(struct gpu *g, size_t size, const char *what)
{
    struct memory *m = gpu_memory(g);
    if (size == 0)
        return NULL;
    pthread_mutex_lock(&m->lock);
    struct alloc *a = size <= m->capacity - m->used ? place(m, size, what) : NULL;
    pthread_mutex_unlock(&m->lock);
    return a;
}

static size_t bytes_kept(const struct alloc *a) { return a->size < SMALL ? 2 * a->size : 0; }

static void forget_oldest(struct memory *m)
{
    struct alloc *a = m->oldest;
    m->oldest = a->next;
    m->newest = m->oldest ? m->newest : NULL;
    m->nfreed--;
    m->kept -= bytes_kept(a);
    granules_clear(m, a);
    alloc_delete(a);
}

static void remember(struct memory *m, struct alloc *a)
{
    if (m->newest)
        m->newest->next = a;
    else
        m->oldest = a;
    m->newest = a;
    m->nfreed++;
    m->kept += bytes_kept(a);
    while (m->nfreed > DEVICE_GHOSTS || m->kept > GHOST_BYTES)
        forget_oldest(m);
}

/* The bytes of a big one are dropped but stay mapped: what still flies towards them lands harmlessly. */
static void device_free(struct memory *m, struct alloc *a)
{
    m->used -= a->size;
    a->freed = true, a->all_init = false, a->known = 0;
    if (a->size < SMALL) {
        memset(a->host, POISON, a->size);
        memset(a->init, 0, a->size);
    } else {
        madvise(a->host, a->size, MADV_DONTNEED);
        madvise(a->init, a->size, MADV_DONTNEED);
    }
    remember(m, a);
}

/* ---------------------------------------------------------------- host memory */

/* First entry that ends behind addr. */
static uint32_t host_index(const struct host_list *l, uint32_t n, uint64_t addr)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const struct alloc *a = __atomic_load_n(&l->alloc[mid], __ATOMIC_RELAXED);
        if (a->addr + a->size <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct alloc *host_at(const struct memory *m, uint64_t addr)
{
    for (;;) {
        uint32_t edits = __atomic_load_n(&m->edits, __ATOMIC_ACQUIRE);
        const struct host_list *l = __atomic_load_n(&m->hosts, __ATOMIC_ACQUIRE);
        uint32_t n = __atomic_load_n(&l->n, __ATOMIC_ACQUIRE), i = host_index(l, n, addr);
        struct alloc *a = i < n ? __atomic_load_n(&l->alloc[i], __ATOMIC_RELAXED) : NULL;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(edits & 1) && __atomic_load_n(&m->edits, __ATOMIC_RELAXED) == edits)
            return a && addr >= a->addr ? a : NULL;
    }
}

static bool overlap(const struct alloc *a, const struct alloc *b)
{
    return b->addr < a->addr + a->size && a->addr < b->addr + b->size;
}

/* Drops the ghosts that `a` overlaps, and those that are too many, and puts `a` in its place. */
static void hosts_edit(struct host_list *l, struct alloc *a)
{
    uint32_t ghosts = 0, n = 0, at;
    for (uint32_t i = 0; i < l->n; i++) {
        struct alloc *b = l->alloc[i];
        if (!b->freed || (++ghosts <= HOST_GHOSTS && !overlap(a, b)))
            __atomic_store_n(&l->alloc[n++], b, __ATOMIC_RELAXED);
    }
    for (at = n; at > 0 && l->alloc[at - 1]->addr > a->addr; at--)
        __atomic_store_n(&l->alloc[at], l->alloc[at - 1], __ATOMIC_RELAXED);
    __atomic_store_n(&l->alloc[at], a, __ATOMIC_RELAXED);
    __atomic_store_n(&l->n, n + 1, __ATOMIC_RELEASE);
}

static bool host_insert(struct memory *m, struct alloc *a)
{
    if (!hosts_grow(m))
        return false;
    __atomic_store_n(&m->edits, m->edits + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    hosts_edit(m->hosts, a);
    __atomic_store_n(&m->edits, m->edits + 1, __ATOMIC_RELEASE);
    return true;
}

static struct alloc *host_add(struct memory *m, void *host, size_t size, const char *what)
{
    struct alloc *a = alloc_new((uintptr_t)host, size, what);
    if (!a)
        return NULL;
    a->host = host, a->all_init = a->visible_to_host = true;
    pthread_mutex_lock(&m->lock);
    struct alloc *there = host_at(m, a->addr);
    bool ok = !(there && !there->freed) && host_insert(m, a);
    if (ok)
        a->next = m->all_hosts, m->all_hosts = a;
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        alloc_delete(a), a = NULL;
    return a;
}

/* A mapping of its own whatever its size: pages of zeros, and no neighbour. */
struct alloc *mem_alloc_host(struct gpu *g, size_t size, const char *what)
{
    void *p = size ? map(0, size, PROT_READ | PROT_WRITE) : NULL;
    struct alloc *a = p ? host_add(gpu_memory(g), p, size, what) : NULL;
    if (a)
        a->owned = true;
    else if (p)
        munmap(p, size);
    return a;
}

struct alloc *mem_register(struct gpu *g, void *host, size_t size)
{
    return host && size ? host_add(gpu_memory(g), host, size, "registered host memory") : NULL;
}

static void host_free(struct alloc *a)
{
    a->freed = true;
    if (a->owned)
        munmap(a->host, a->size);
    a->owned = false;
}

static void hosts_close(struct memory *m)
{
    for (struct alloc *a = m->all_hosts, *next; a; a = next) {
        next = a->next;
        host_free(a);
        alloc_delete(a);
    }
    for (struct host_list *l = m->hosts, *older; l; l = older)
        older = l->older, free(l);
}

/* ---------------------------------------------------------------- both */

static struct alloc *covering(struct memory *m, uint64_t addr)
{
    struct alloc *a = granule_at(m, addr);
    if (!a)
        a = host_at(m, addr);
    return a && addr - a->addr < a->size ? a : NULL;
}

struct alloc *mem_find(struct gpu *g, uint64_t addr)
{
    struct alloc *a = covering(gpu_memory(g), addr);
    return a && !a->freed ? a : NULL;
}

bool mem_free(struct gpu *g, uint64_t addr)
{
    struct memory *m = gpu_memory(g);
    pthread_mutex_lock(&m->lock);
    struct alloc *a = covering(m, addr);
    bool ok = a && !a->freed && a->addr == addr;
    if (ok && a->visible_to_host)
        host_free(a);
    else if (ok)
        device_free(m, a);
    pthread_mutex_unlock(&m->lock);
    return ok;
}

void mem_close(struct memory *m)
{
    if (!m)
        return;
    while (m->oldest)
        forget_oldest(m);
    for (uint64_t g = 0; g < m->reached; g++)
        if (m->granule[g]) {
            struct alloc *a = m->granule[g];
            granules_clear(m, a);
            alloc_delete(a);
        }
    hosts_close(m);
    munmap(m->granule, m->ngranules * sizeof *m->granule);
    munmap((void *)(uintptr_t)m->base, m->bytes);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* Distance of addr from the nearest byte of a; 0 inside it, where an access may start that ends beyond. */
static uint64_t distance(const struct alloc *a, uint64_t addr)
{
    if (addr - a->addr < a->size)
        return 0;
    return addr < a->addr ? a->addr - addr : addr - (a->addr + a->size) + 1;
}

struct alloc *alloc_near(const struct memory *m, uint64_t addr)
{
    enum { FAR = 1 << 14 };     /* a gigabyte, in granules */
    const uint64_t here = (addr - m->base) >> GRANULE_BITS;
    struct alloc *best = NULL;
    for (uint64_t d = 0; d < FAR && here < m->ngranules; d++)
        for (int side = 0; side < 2; side++) {
            uint64_t g = side ? here + d : here - d;
            struct alloc *a = g < m->ngranules ? m->granule[g] : NULL;
            if (a && (!best || (best->freed && !a->freed) ||
                      (best->freed == a->freed && distance(a, addr) < distance(best, addr))))
                best = a;
        }
    const struct host_list *l = m->hosts;
    for (uint32_t i = 0; i < l->n && !best; i++)
        if (distance(l->alloc[i], addr) < GRANULE)
            best = l->alloc[i];
    return best;
}
