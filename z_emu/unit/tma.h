/* tma.h: a box of a tensor: what an instruction asks for (tma.c) and where its rows are in global memory (tma_box.c). */
#ifndef Z_EMU_TMA_H
#define Z_EMU_TMA_H

#include "bulk.h"

#include "cuda/tensormap.h"

enum box_mode { BOX_TILE, BOX_ROWS, BOX_IM2COL, BOX_IM2COL_W, BOX_IM2COL_W128 };    /* BOX_ROWS: gather4, scatter4 */
enum box_use { BOX_LOAD, BOX_STORE, BOX_REDUCE, BOX_PREFETCH };

struct box {
    struct tensor_map m;
    enum box_mode mode;
    enum box_use use;
    uint32_t dims;              /* of the instruction */
    int64_t at[5];              /* coordinates */
    int64_t four[4];            /* BOX_ROWS: the rows */
    uint32_t offset[3];         /* im2col: of dimensions 1 and up */
    uint32_t halo;              /* im2col::w */
    uint32_t n[5];              /* BOX_TILE: elements along each dimension; n[0] in every mode */
    uint32_t rows;              /* runs along dimension 0 */
    uint32_t row, pitch;        /* bytes in shared memory: of one, from one to the next */
};

/* What the hardware would not do with this map and these coordinates; NULL: nothing. Fills in n, rows, row and pitch. */
const char *box_check(struct box *b, const struct device *d);
/* The copy that moves it, its pieces found and checked; NULL after a fault. */
struct bulk_copy *box_copy(struct warp *w, const struct instr *in, int lane, const struct box *b);

#endif
