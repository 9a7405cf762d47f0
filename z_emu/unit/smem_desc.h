/* smem_desc.h: shared-memory matrix descriptors: where the elements of a matrix lie that a tensor core reads by itself.
 *
 * A descriptor names a tile by its start and two strides. The canonical layouts are made of core matrices (8 rows of
 * 16 bytes), or of 8 rows as wide as the swizzle's span; the swizzle XORs bits of the absolute shared address.
 * wgmma's and tcgen05's descriptors have other bits and the same layouts, but for one that tcgen05 alone has: 128 bytes
 * swizzled in units of 32. Pure functions, but for the note.
 * The base offset says by how many rows of 128 bytes the swizzle's pattern begins behind its period. A tile may start off
 * the period without one, inside the pattern: then it was right to fill it by address, as copies with a tensor map do. More often
 * it is a mistake, so it is said, once in a launch.
 * PTX ISA: "Asynchronous Warpgroup Level Matrix Shared Memory Layout", "Matrix Descriptor Format", "Matrix Descriptors",
 * "Canonical Layouts". */
#ifndef Z_EMU_SMEM_DESC_H
#define Z_EMU_SMEM_DESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct warp; struct instr;

struct smem_desc {
    uint32_t start;             /* byte address in shared memory */
    uint32_t lbo, sbo;          /* leading and stride dimension byte offset */
    uint32_t span;              /* of the swizzle: 128, 64, 32 bytes; 0: none */
    uint32_t base_offset;
    bool units_of_32;           /* tcgen05's 128-byte swizzle with 32-byte atomicity */
    bool absolute;              /* lbo is the address where what does not fit behind `start` goes on: tcgen05, rows of 48 bytes */
    uint64_t wrong_bits;        /* those that do not have the value which they must have */
};

/* A tile of `rows` (rows of A, columns of B) by `k`, of elements of whole bytes; smaller ones count as bytes along k.
 * mn_major: neighbours in memory differ in their row, else in their k. */
struct smem_tile { uint32_t rows, k, bytes; bool mn_major; };

enum { SMEM_CHUNK = 16,         /* bytes that stay together in every layout */
       SMEM_PERIOD = 1024,      /* of the 128-byte swizzle */
       SMEM_LONG_ROW = 48 };    /* bytes: a tile whose rows may be in two places */

struct smem_desc smem_desc_wgmma(uint64_t bits);
struct smem_desc smem_desc_tcgen05(uint64_t bits);
/* What is wrong with a descriptor for this tile, by itself, as a sentence in buf; NULL: nothing. `bits` as given. */
const char *smem_desc_wrong(uint64_t bits, const struct smem_desc *d, const struct smem_tile *t, char *buf, size_t len);

/* Says that the tile begins inside its pattern, if it does. `what` it is: "A", "B". */
void smem_desc_note(struct warp *w, const struct instr *in, const char *what, const struct smem_desc *d);

/* Address of the chunk that holds the 16 bytes from byte `along` on: of row `across` (K-major), of k `across` (MN-major). */
static inline uint32_t smem_chunk(const struct smem_desc *d, bool mn_major, uint32_t across, uint32_t along)
{
    uint32_t wide = d->span ? d->span : SMEM_CHUNK;
    uint32_t next8 = d->span || !mn_major ? d->sbo : d->lbo;    /* without a swizzle the two swap roles in MN-major */
    uint32_t next_wide = d->span || !mn_major ? d->lbo : d->sbo;
    uint32_t high = d->units_of_32 ? 4 : 8;         /* rows to a group */
    uint32_t start = d->start;
    if (d->absolute && start % wide + along >= wide) {      /* behind the row's end: in the other place */
        along += start % wide - wide;
        start = d->lbo;
    }
    uint32_t a = start + across / high * next8 + across % high * wide + along / wide * next_wide + along % wide;
    uint32_t line = (a >> 7) - d->base_offset;      /* of 128 bytes, in the pattern */
    if (d->units_of_32)
        return a ^ (line << 5 & 0x60);
    return a ^ (line << 4 & (d->span ? (d->span - 1) & 0x70 : 0));
}

/* Address of one element (its first byte). */
static inline uint32_t smem_element(const struct smem_desc *d, const struct smem_tile *t, uint32_t row, uint32_t k)
{
    uint32_t across = t->mn_major ? k : row, along = (t->mn_major ? row : k) * t->bytes;
    return smem_chunk(d, t->mn_major, across, along / SMEM_CHUNK * SMEM_CHUNK) + along % SMEM_CHUNK;
}

/* The tile's bytes, [lo, hi). */
struct smem_extent { uint32_t lo, hi; };
struct smem_extent smem_extent(const struct smem_desc *d, const struct smem_tile *t);

/* The addresses of its chunks, (rows * k * bytes) / 16 of them; how many that is. */
uint32_t smem_chunks(const struct smem_desc *d, const struct smem_tile *t, uint32_t *chunk);

/* Copies the tile to rows of k elements without gaps. `smem` and `shadow` are those of address 0; true when all its bytes
 * have been written, else *unwritten is the address of one that has not. */
bool smem_gather(const struct smem_desc *d, const struct smem_tile *t, const uint8_t *smem, const uint8_t *shadow,
                 uint8_t *to, uint32_t *unwritten);

#endif
