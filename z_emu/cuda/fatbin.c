/* fatbin.c: finds the PTX in what nvcc puts into a program.
 *
 * A program registers a wrapper that points to a container; the container holds entries, each PTX text or an
 * ELF cubin for one architecture, plain or compressed. Only PTX can be emulated; the cubins are read for
 * their register counts (cubin.c).
 */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

static const uint8_t wrapper_magic[4] = {0xb1, 0x43, 0x62, 0x46}, container_magic[4] = {0x50, 0xed, 0x55, 0xba};
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_ARCH_A = 0x100000, FLAG_ARCH_F = 0x200000 };

struct wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *linked;  /* version 2: fatbins of the files that were linked */
};
struct container { uint32_t magic; uint16_t version, header_size; uint64_t size; };
struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t payload_size;
    uint32_t packed_size;       /* the used part of the payload when it is compressed */
    uint32_t unused0;
    uint16_t minor, major;      /* of the PTX version */
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags, unused1, unpacked_size;
};

/* Byte by byte, as the data may be a very short text. */
bool fat_begins(const void *data, const uint8_t magic[4])
{
    const uint8_t *at = data;
    for (int i = 0; i < 4; i++)
        if (at[i] != magic[i])
            return false;
    return true;
}

const void *fat_container(const void *data)
{
    struct wrapper w;
    if (fat_begins(data, container_magic))
        return data;
    if (!fat_begins(data, wrapper_magic))
        return NULL;
    memcpy(&w, data, sizeof w);
    return fat_container(w.container);
}

const void *const *fat_linked(const void *data)
{
    struct wrapper w;
    if (!fat_begins(data, wrapper_magic))
        return NULL;
    memcpy(&w, data, sizeof w);
    return w.version == 2 ? w.linked : NULL;
}

bool fat_next(const void *container, const uint8_t **at, struct fat_entry *e)
{
    struct container c;
    struct entry h;
    memcpy(&c, container, sizeof c);
    const uint8_t *begin = (const uint8_t *)container + c.header_size, *end = begin + c.size;
    if (!*at)
        *at = begin;
    if (*at + sizeof h > end)
        return false;
    memcpy(&h, *at, sizeof h);
    if (h.header_size < sizeof h || h.payload_size > (uint64_t)(end - *at) - h.header_size)
        return false;
    bool packed = h.flags & (FLAG_LZ4 | FLAG_ZSTD);
    *e = (struct fat_entry){
        .kind = h.kind,
        .arch = h.arch,
        .suffix = h.flags & FLAG_ARCH_A ? 'a' : h.flags & FLAG_ARCH_F ? 'f' : 0,
        .payload = *at + h.header_size,
        .size = packed && h.packed_size ? h.packed_size : h.payload_size,
        .unpacked = packed ? h.unpacked_size : 0,
        .flags = h.flags,
    };
    if (h.name_size && h.name_offset <= h.header_size && h.name_size <= h.header_size - h.name_offset) {
        e->name = (const char *)*at + h.name_offset;
        e->name_len = (uint32_t)strnlen(e->name, h.name_size);
    }
    *at += h.header_size + h.payload_size;
    return true;
}

/* 'a' code runs on its own chip alone, 'f' code on its family from its own chip on, plain PTX on all newer chips. */
bool fat_runs_on(uint32_t arch, char suffix, const struct device *d)
{
    if (suffix == 'a')
        return arch == d->cc;
    if (suffix == 'f')
        return arch / 10 == d->cc / 10 && arch <= d->cc;
    return arch <= d->cc;
}

static uint32_t preference(const struct fat_entry *e)
{
    return e->arch * 4 + (e->suffix == 'a' ? 2 : e->suffix == 'f' ? 1 : 0);
}

bool fat_best(const void *container, const struct device *d, struct fat_entry *best)
{
    struct fat_entry e;
    bool found = false;
    for (const uint8_t *at = NULL; fat_next(container, &at, &e);) {
        if (e.kind != FAT_PTX || !fat_runs_on(e.arch, e.suffix, d))
            continue;
        if (!found || preference(&e) > preference(best))
            *best = e;
        found = true;
    }
    return found;
}

const char *fat_describe(const void *container, char *buf, size_t len)
{
    struct fat_entry e;
    size_t n = 0;
    buf[0] = 0;
    for (const uint8_t *at = NULL; fat_next(container, &at, &e) && n < len;)
        n += (size_t)snprintf(buf + n, len - n, "%s%s for sm_%u%s", n ? ", " : "",
                              e.kind == FAT_PTX ? "PTX" : e.kind == FAT_ELF ? "machine code" : "something else", e.arch,
                              e.suffix == 'a' ? "a" : e.suffix == 'f' ? "f" : "");
    return n ? buf : "nothing";
}

char *fat_payload(const struct fat_entry *e, size_t *size, char *err, size_t errlen)
{
    size_t n = e->unpacked ? e->unpacked : e->size;
    char *out = malloc(n + 1);
    bool ok = out != NULL;
    if (!ok)
        snprintf(err, errlen, "out of memory");
    else if (!e->unpacked)
        memcpy(out, e->payload, n);
    else if (e->flags & FLAG_ZSTD)
        ok = zstd_unpack(e->payload, e->size, (uint8_t *)out, n, err, errlen);
    else if (!(ok = lz4_unpack(e->payload, e->size, (uint8_t *)out, n)))
        snprintf(err, errlen, "its LZ4 compression is damaged");
    if (!ok) {
        free(out);
        return NULL;
    }
    out[n] = 0;
    *size = n;
    return out;
}
