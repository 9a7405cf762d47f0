/* mbarrier.h: what other units may do to an mbarrier. */
#ifndef Z_EMU_MBARRIER_H
#define Z_EMU_MBARRIER_H

#include "emu.h"

struct mbarrier;

/* The mbarrier that lane `lane`'s shared address names, in its own CTA or, if `remote`, in any of the cluster; a generic
 * address when space is SP_GENERIC. NULL after a fault: not in shared memory, misaligned, not initialised, or overwritten. */
struct mbarrier *mbarrier_at(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, bool remote);

/* Operations that hardware does on an instruction's behalf, at cycle `now` (call them from an event). Counts out of
 * range end the launch with a fault. */
void mbarrier_complete_tx(struct mbarrier *b, uint32_t bytes, uint64_t now);
void mbarrier_arrive(struct mbarrier *b, uint32_t count, uint64_t now);

struct cta *mbarrier_cta(const struct mbarrier *b);
struct race_point *mbarrier_race(const struct mbarrier *b);     /* for race_copy_in and the like (emu.h) */

/* When the CTA's memory goes. */
void mbarriers_close(struct cta *c);
/* The nth mbarrier of a CTA that somebody waits for or has arrived at, as text for the hang ledger; false: there are no
 * more. */
bool mbarrier_describe(const struct cta *c, uint32_t nth, char *text, size_t len);

#endif
