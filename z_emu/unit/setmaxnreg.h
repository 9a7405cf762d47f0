/* setmaxnreg.h: what the rest of the emulator asks of a CTA's register pool. */
#ifndef Z_EMU_SETMAXNREG_H
#define Z_EMU_SETMAXNREG_H

#include "emu.h"

/* All threads of the warp have exited: a fault when others of its warpgroup executed a setmaxnreg that it did not. */
void registers_exited(struct warp *w);
/* For the hang ledger: the pool and who waits for it; false when nobody does. */
bool registers_describe(const struct cta *c, char *text, size_t len);
void registers_close(struct cta *c);            /* when the CTA's memory goes */

#endif
