/* arena.c: the memory of a module, freed all at once. */
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

struct chunk { struct chunk *next; size_t used, size; _Alignas(16) uint8_t bytes[]; };
struct arena { struct chunk *chunk; };

static void *out_of_memory(void)
{
    fputs("z_emu: out of memory while reading PTX\n", stderr);
    abort();
}

struct arena *arena_new(void)
{
    struct arena *a = calloc(1, sizeof *a);
    return a ? a : out_of_memory();
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->chunk, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    struct chunk *c = a->chunk;
    if (!c || c->size - c->used < bytes) {
        size_t size = c && c->size < 4 << 20 ? 2 * c->size : 1 << 16;
        if (c && c->size >= 4 << 20)
            size = c->size;
        if (size < bytes)
            size = bytes;
        struct chunk *fresh = calloc(1, sizeof *fresh + size);
        if (!fresh)
            return out_of_memory();
        fresh->size = size;
        fresh->next = c;
        a->chunk = c = fresh;
    }
    void *at = c->bytes + c->used;
    c->used += bytes;
    return at;
}

char *arena_text(struct arena *a, const char *s, size_t len)
{
    char *copy = arena_alloc(a, len + 1);
    memcpy(copy, s, len);
    return copy;
}

void *arena_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? 2 * *cap : 8;
    void *bigger = arena_alloc(a, *cap * size);
    if (n)
        memcpy(bigger, array, n * size);
    return bigger;
}
