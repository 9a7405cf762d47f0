/* bulk.h: what cp.async.bulk (bulk.c) and its tensor form (tma.c) share: one copy under way. */
#ifndef Z_EMU_BULK_H
#define Z_EMU_BULK_H

#include "core/core.h"
#include "core/memory.h"
#include "mbarrier.h"

struct piece { uint8_t *global, *init; uint32_t at, bytes; };   /* global bytes, their shadow (or NULL), place in the box */

struct bulk_copy {
    struct bulk_copy *next;     /* stores: of the same warp */
    struct cta *cta;            /* whose shared memory it is */
    struct mbarrier *bar;       /* loads */
    uint8_t *box;               /* the bytes between source and destination, in the order of the box */
    uint32_t bytes, at;         /* of the box; its shared address without a rank */
    uint32_t swizzle, lane, group;
    uint64_t read_when, when;   /* stores: the source has been read; the bytes have been written */
    struct warp *warp;
    uint32_t npieces, room;
    struct piece *piece;
};

struct bulk_copy *bulk_new(uint32_t bytes);
void bulk_drop(struct bulk_copy *c);
/* A run of global memory that belongs at `at` of the box. false after a fault. */
bool bulk_piece(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t addr, uint32_t bytes,
                uint32_t at, enum access how);
/* Checks the shared side, and the mbarrier of a load; multicast: `ctas` is a set of ranks, 0: the one that addr names. */
int bulk_load(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t dst, uint64_t bar, uint32_t ctas);
int bulk_store(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t src);

#endif
