/* cubin.c: reads from machine code the one thing that PTX does not say, how many registers a kernel was given. That
 * number decides how many CTAs an SM holds. It stands in section .nv.info, as attribute EIATTR_REGCOUNT. */
#include "cuda_emu.h"
#include <elf.h>
#include <string.h>

enum { EIFMT_SIZED = 4, EIATTR_REGCOUNT = 0x2f };

struct view { const uint8_t *data; size_t size; };

static bool section(struct view elf, uint32_t index, Elf64_Shdr *out)
{
    Elf64_Ehdr h;
    memcpy(&h, elf.data, sizeof h);
    uint64_t at = h.e_shoff + (uint64_t)index * sizeof *out;
    if (index >= h.e_shnum || at > elf.size || elf.size - at < sizeof *out)
        return false;
    memcpy(out, elf.data + at, sizeof *out);
    return out->sh_type == SHT_NOBITS || (out->sh_offset <= elf.size && out->sh_size <= elf.size - out->sh_offset);
}

/* A NUL-ended string of a string section. */
static const char *string_at(struct view elf, const Elf64_Shdr *strings, uint32_t offset)
{
    const char *s = (const char *)elf.data + strings->sh_offset;
    return offset < strings->sh_size && memchr(s + offset, 0, strings->sh_size - offset) ? s + offset : "";
}

static const char *symbol_name(struct view elf, const Elf64_Shdr *symbols, uint32_t index)
{
    Elf64_Shdr strings;
    Elf64_Sym s;
    if ((uint64_t)index * sizeof s + sizeof s > symbols->sh_size || !section(elf, symbols->sh_link, &strings))
        return "";
    memcpy(&s, elf.data + symbols->sh_offset + (size_t)index * sizeof s, sizeof s);
    return string_at(elf, &strings, s.st_name);
}

void cubin_registers(const void *data, size_t size, void (*each)(const char *, uint32_t, void *), void *arg)
{
    struct view elf = {data, size};
    Elf64_Ehdr h;
    Elf64_Shdr names, symbols, s;
    if (size < sizeof h || memcmp(data, ELFMAG, SELFMAG))
        return;
    memcpy(&h, data, sizeof h);
    if (!section(elf, h.e_shstrndx, &names))
        return;
    for (uint32_t i = 0; i < h.e_shnum; i++) {
        if (!section(elf, i, &s) || strcmp(string_at(elf, &names, s.sh_name), ".nv.info") || !section(elf, s.sh_link, &symbols))
            continue;
        const uint8_t *at = elf.data + s.sh_offset, *end = at + s.sh_size;
        while (end - at >= 4) {
            uint32_t n = at[0] == EIFMT_SIZED ? at[2] | (uint32_t)at[3] << 8 : 0, pair[2];
            if (n > (size_t)(end - at) - 4)
                return;
            if (at[1] == EIATTR_REGCOUNT && n == sizeof pair) {
                memcpy(pair, at + 4, sizeof pair);
                each(symbol_name(elf, &symbols, pair[0]), pair[1], arg);
            }
            at += 4 + n;
        }
    }
}
