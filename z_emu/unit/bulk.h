/* bulk.h: one bulk copy, as an instruction describes it (bulk.c, tma.c) and the copy engine carries it out (bulk_copy.c). */
#ifndef Z_EMU_BULK_H
#define Z_EMU_BULK_H

#include "core/core.h"
#include "core/memory.h"
#include "mbarrier.h"

/* A run of global memory, its shadow (or NULL), and where in shared memory it belongs: bytes from the copy's start on, not
 * yet swizzled. */
struct piece { uint8_t *global, *init; uint32_t at, bytes; };

/* How a shared address is swizzled: a ^ (a >> shift & mask), and a ^ (a >> 4 & flip). */
struct swizzle { uint8_t shift, mask, flip; };

/* What happens to a piece between global and shared memory. */
enum bulk_convert {
    BULK_AS_IS,
    BULK_TF32,                                  /* loads: f32, rounded to tf32 */
    BULK_4_P64, BULK_6_P32,                     /* loads: 8 and 12 packed bytes, to the front of 16 */
    BULK_6_P2                                   /* stores: of 16 bytes the low 6 bits each, packed into 12 bytes */
};

struct bulk_copy {
    struct cta *cta;            /* whose shared memory it is */
    uint32_t at;                /* there: an address without a rank */
    uint32_t extent;            /* bytes from there on that it touches */
    uint32_t bytes;             /* that the mbarrier counts */
    uint32_t npieces, room;
    struct piece *piece;
    struct swizzle swizzle;
    uint8_t convert;            /* enum bulk_convert */
    uint16_t mask;              /* stores: which bytes of each 16 are written */
    uint32_t rows, row, pitch;  /* loads: bytes that are filled where no piece is; pitch from row to row */
    uint16_t fill;              /* with this, over and over */
    bool holes;                 /* there are such bytes */
    update_fn *reduce;          /* NULL: the destination is overwritten */
    uint32_t element;           /* bytes: what is reduced at a time */
    struct alloc *alloc;        /* that the last piece lies in */

    struct mbarrier *bar;       /* loads, and copies into another CTA */
    struct cta *to;             /* copies into another CTA: where to, … */
    uint32_t to_at;             /* …without a rank */
    struct bulk_copy *next;     /* stores: of the same warp */
    struct warp *warp;
    uint32_t lane, group;
    uint64_t read_when, when;   /* stores: the source has been read; the bytes have been written */
    bool been_read;             /* so it has */
    uint8_t *box;               /* the bytes between source and destination, piece after piece */
};

struct bulk_copy *bulk_new(uint32_t extent);
void bulk_drop(struct bulk_copy *c);
/* A run of global memory that belongs at `at`. false after a fault. */
bool bulk_piece(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t addr, uint32_t bytes,
                uint32_t at, enum access how);

/* These check the shared side and set the copy going, or report a fault; either way the copy is theirs from then on.
 * Loads go to `dst` and signal `bar`; multicast: `ctas` is a set of ranks. */
int bulk_load(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t dst, uint64_t bar, uint32_t ctas);
int bulk_store(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t src);
/* From this CTA's shared memory into another's. */
int bulk_send(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t src, uint64_t dst, uint64_t bar);

/* The set of ranks that a multicast goes to: an operand's low 16 bits; 0 after a fault. */
uint32_t bulk_ranks(struct warp *w, const struct instr *in, int lane, const struct operand *o);

/* Groups of stores. The instructions: bulk_group.c */
void bulk_enlist(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c);
void bulk_discharge(struct bulk_copy *c);
uint32_t bulk_groups(struct warp *w, int lane);         /* that the lane has closed */

#endif
