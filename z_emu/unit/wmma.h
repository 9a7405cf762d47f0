/* wmma.h: the forms of wmma. */
#ifndef Z_EMU_WMMA_H
#define Z_EMU_WMMA_H

#include "mma_form.h"
#include "fragments.h"

struct wmma_form { uint8_t m, n; uint16_t k; uint8_t types, target; struct wmma_cut cut; };

/* The form of wmma.mma with A of type a, NULL: there is none, or not for the module's target. */
const struct wmma_form *wmma_form(const struct instr *in, enum type a);

#endif
