/* registry.c: what a program's start-up code says about itself: this host function is the stub of that kernel, this host
 * variable is the shadow of that device variable. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

static struct { struct host_symbol *at; size_t n, room; bool sorted; } table;

void registry_add(const struct host_symbol *s)
{
    lock();
    if (table.n == table.room) {
        table.room = table.room ? 2 * table.room : 64;
        table.at = realloc(table.at, table.room * sizeof *table.at);
    }
    table.at[table.n++] = *s;
    table.sorted = false;
    unlock();
}

void registry_drop(const struct image *im)
{
    size_t kept = 0;
    for (size_t i = 0; i < table.n; i++)
        if (table.at[i].image != im)
            table.at[kept++] = table.at[i];
    table.n = kept;
}

static int by_host(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct host_symbol *)a)->host, y = (uintptr_t)((const struct host_symbol *)b)->host;
    return x < y ? -1 : x > y;
}

static const struct host_symbol *find(const void *host)
{
    if (!table.sorted && table.n)
        qsort(table.at, table.n, sizeof *table.at, by_host);
    table.sorted = true;
    struct host_symbol key = {.host = host};
    return table.n ? bsearch(&key, table.at, table.n, sizeof *table.at, by_host) : NULL;
}

void registry_bind_managed(struct image *im)
{
    for (size_t i = 0; i < table.n; i++) {
        struct host_symbol *s = &table.at[i];
        struct symbol *v = s->image == im && s->managed ? ptx_var(im->module, s->variable) : NULL;
        if (v)
            *(void **)(uintptr_t)s->host = ptr(v->addr);
    }
}

struct kernel *kernel_find(const void *func)
{
    const struct host_symbol *s = find(func);
    if (s)
        return s->kernel;
    for (struct image *im = ctx.images; im; im = im->next)
        for (struct kernel *k = im->kernels; k; k = k->next)
            if (k == func)
                return k;
    return NULL;
}

int kernel_get(const void *func, struct kernel **out)
{
    lock();
    struct kernel *k = func ? kernel_find(func) : NULL;
    int error = !k ? cudaErrorInvalidDeviceFunction : image_load_locked(k->image);
    if (!error && !k->func)
        error = cudaErrorInvalidDeviceFunction;
    if (!error)
        error = func_usable(k->func);
    *out = error ? NULL : k;
    unlock();
    return error;
}

int symbol_get(const void *shadow, uint64_t *addr, size_t *size)
{
    lock();
    const struct host_symbol *s = shadow ? find(shadow) : NULL;
    int error = !s || !s->variable ? cudaErrorInvalidSymbol : image_load_locked(s->image);
    struct symbol *v = error ? NULL : ptx_var(s->image->module, s->variable);
    if (!error && !v)
        error = cudaErrorInvalidSymbol;
    if (!error) {
        *addr = v->addr;
        *size = s->size ? s->size : v->size;
    }
    unlock();
    return error;
}
