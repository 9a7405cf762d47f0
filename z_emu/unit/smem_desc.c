/* smem_desc.c: shared-memory matrix descriptors; see smem_desc.h. */
#include "smem_desc.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

static uint32_t field(uint64_t bits, int at) { return (uint32_t)(bits >> at & 0x3fff) << 4; }

struct smem_desc smem_desc_wgmma(uint64_t bits)
{
    static const uint8_t span[4] = { 0, 128, 64, 32 };
    const uint64_t used = 0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;
    return (struct smem_desc){ .start = field(bits, 0), .lbo = field(bits, 16), .sbo = field(bits, 32),
                               .span = span[bits >> 62], .base_offset = (uint32_t)(bits >> 49 & 7), .wrong_bits = bits & ~used };
}

struct smem_desc smem_desc_tcgen05(uint64_t bits)
{
    static const uint8_t span[8] = { 0, 128, 128, 0, 64, 0, 32, 0 };
    const uint64_t used = 0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 15ull << 49 | 7ull << 61, one = 1ull << 46;
    uint32_t mode = (uint32_t)(bits >> 61);
    bool invalid = mode == 3 || mode == 5 || mode == 7;
    return (struct smem_desc){ .start = field(bits, 0), .lbo = field(bits, 16), .sbo = field(bits, 32), .span = span[mode],
                               .base_offset = (uint32_t)(bits >> 49 & 7), .units_of_32 = mode == 1, .absolute = bits >> 52 & 1,
                               .wrong_bits = ((bits & ~used) ^ one) | (invalid ? bits & 7ull << 61 : 0) };
}

/* Chunks along the tile's contiguous direction, and rows of them across. */
static uint32_t along_bytes(const struct smem_tile *t) { return (t->mn_major ? t->rows : t->k) * t->bytes; }
static uint32_t across_rows(const struct smem_tile *t) { return t->mn_major ? t->k : t->rows; }

/* "Absolute address mode for K dimension being 48B". That the other place starts the swizzle's pattern is what "the matrix base
 * offset must be 0" leaves. */
static const char *wrong_absolute(const struct smem_desc *d, const struct smem_tile *t)
{
    if (t->mn_major || along_bytes(t) != SMEM_LONG_ROW)
        return "bit 52, an absolute leading address, is for rows of 48 bytes along K (K = 96)";
    if (d->span != 128 || d->units_of_32)
        return "an absolute leading address (bit 52) needs the 128-byte swizzle (mode 2)";
    if (d->base_offset)
        return "an absolute leading address (bit 52) needs the base offset 0";
    if (d->lbo % SMEM_PERIOD)
        return "an absolute leading address (bit 52) must be a multiple of 1024, where the swizzle's pattern starts";
    return NULL;
}

const char *smem_desc_wrong(uint64_t bits, const struct smem_desc *d, const struct smem_tile *t, char *buf, size_t len)
{
    uint32_t bytes = along_bytes(t), at = d->span ? d->start % d->span : 0;
    if (d->wrong_bits)
        snprintf(buf, len, "bits 0x%llx of it must be %s", (unsigned long long)d->wrong_bits, bits & d->wrong_bits ? "zero" : "set");
    else if (d->absolute)
        return wrong_absolute(d, t);
    else if (d->base_offset && !d->span)
        snprintf(buf, len, "base offset %u, but no swizzle whose pattern it could move", d->base_offset);
    else if (d->span && at + (t->mn_major && bytes > d->span ? d->span : bytes) > d->span)
        snprintf(buf, len, "from 0x%x, byte %u of a row of %u, %u bytes run past the row's end", d->start, at, d->span, bytes);
    else
        return NULL;
    return buf;
}

void smem_desc_note(struct warp *w, const struct instr *in, const char *what, const struct smem_desc *d)
{
    struct launch *l = w->cta->launch;
    const uint32_t period = (d->units_of_32 ? 4 : 8) * d->span, rows = d->span ? d->start % period / d->span : 0;
    char place[128], name[256];
    if (!rows || d->base_offset || __atomic_exchange_n(&l->pattern_noted, true, __ATOMIC_RELAXED))
        return;
    say("note: kernel %s, CTA (%u,%u,%u): the tile of %s at %s starts at 0x%x: with the %u-byte swizzle that is %u rows behind a multiple "
        "of %u. It is read rightly if it was swizzled by address, as copies with a tensor map do, not by its own rows",
        plain_name(l->func->name, name, sizeof name), w->cta->id[0], w->cta->id[1], w->cta->id[2], what,
        source_place(in, place, sizeof place), d->start, d->span, rows, period);
}

struct smem_extent smem_extent(const struct smem_desc *d, const struct smem_tile *t)
{
    struct smem_extent e = { UINT32_MAX, 0 };
    for (uint32_t r = 0; r < across_rows(t); r++)
        for (uint32_t b = 0; b < along_bytes(t); b += SMEM_CHUNK) {
            uint32_t a = smem_chunk(d, t->mn_major, r, b);
            e.lo = a < e.lo ? a : e.lo;
            e.hi = a + SMEM_CHUNK > e.hi ? a + SMEM_CHUNK : e.hi;
        }
    return e;
}

uint32_t smem_chunks(const struct smem_desc *d, const struct smem_tile *t, uint32_t *chunk)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < across_rows(t); r++)
        for (uint32_t b = 0; b < along_bytes(t); b += SMEM_CHUNK)
            chunk[n++] = smem_chunk(d, t->mn_major, r, b);
    return n;
}

static bool all_written(const uint8_t *shadow)
{
    uint64_t a, b;
    memcpy(&a, shadow, 8);
    memcpy(&b, shadow + 8, 8);
    return (a & b) == 0x0101010101010101u;
}

/* 16 bytes of one k, to as many rows. */
static void turn_chunk(const uint8_t *from, uint8_t *to, uint32_t bytes, uint32_t stride)
{
    for (uint32_t i = 0; i < SMEM_CHUNK; i += bytes, to += stride)
        for (uint32_t j = 0; j < bytes; j++)
            to[j] = from[i + j];
}

bool smem_gather(const struct smem_desc *d, const struct smem_tile *t, const uint8_t *smem, const uint8_t *shadow,
                 uint8_t *to, uint32_t *unwritten)
{
    uint32_t stride = t->k * t->bytes, bytes = along_bytes(t);
    for (uint32_t r = 0; r < across_rows(t); r++)
        for (uint32_t b = 0; b < bytes; b += SMEM_CHUNK) {
            uint32_t a = smem_chunk(d, t->mn_major, r, b);
            if (!all_written(shadow + a)) {
                *unwritten = a + (uint32_t)((const uint8_t *)memchr(shadow + a, 0, SMEM_CHUNK) - (shadow + a));
                return false;
            }
            if (t->mn_major)
                turn_chunk(smem + a, to + b / t->bytes * stride + r * t->bytes, t->bytes, stride);
            else
                memcpy(to + r * stride + b, smem + a, SMEM_CHUNK);
        }
    return true;
}
