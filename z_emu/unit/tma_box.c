/* tma_box.c: a box of a tensor as runs of global memory: which elements it has, which of them exist, where they go.
 *
 * Every mode is a list of runs along dimension 0, each of which has a place in the other dimensions:
 *     tile          all places of a box, dimension 1 first, every element_stride'th
 *     rows          four places in dimension 1 that the instruction names (gather4, scatter4)
 *     im2col        so many pixels of a walk through W, H, D and N, starting at the coordinates: it goes through the
 *                   bounding box of each image (lower corner to size - 1 + upper corner); the instruction's offsets,
 *                   which filter tap this is, are then added
 *     im2col::w     the same, where only W is walked, then N; at its end, or after each 32 pixels (w::128), come the
 *                   halo pixels: those that follow along W. The text leaves room here; this reading is not proven.
 * Runs follow each other in shared memory; with a swizzle that is wider than a run, at the swizzle's width.
 * Not modelled: interleaved layouts.
 * PTX ISA: "Tensors": "Tiled Mode", "im2col mode", "im2col::w and im2col::w::128 modes"; "Restriction on Tensor Copy
 * instructions". */
#include "tma.h"

enum { PACKED_WIDTH = 128 };    /* elements along dimension 0 of a box of the types that are padded */

/* Types, as numbers of CUtensorMapDataType. */
enum { TYPE_U8, TYPE_U16, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64, TYPE_F16, TYPE_F32, TYPE_F64, TYPE_BF16, TYPE_F32_FTZ,
       TYPE_TF32, TYPE_TF32_FTZ, TYPE_4_ALIGN8, TYPE_4_ALIGN16, TYPE_6_ALIGN16 };

static bool is_padded(const struct tensor_map *m) { return m->type == TYPE_4_ALIGN16 || m->type == TYPE_6_ALIGN16; }

/* ---------------------------------------------------------------- checks */

static const uint8_t span[] = { 0, 32, 64, 128, 128, 128, 128 };        /* bytes, by CUtensorMapSwizzle */

static const char *check_map(const struct box *b, const struct device *d)
{
    const struct tensor_map *m = &b->m;
    if (m->magic != TENSOR_MAP_MAGIC)
        return "the 128 bytes are no tensor map: none was written there by cuTensorMapEncode";
    if (m->rank != b->dims)
        return "the instruction has another number of dimensions than its tensor map";
    if (m->mode == TENSOR_TILED && b->mode > BOX_ROWS)
        return "the instruction is an im2col one, its tensor map describes tiles";
    if (m->mode != TENSOR_TILED && b->mode <= BOX_ROWS)
        return "the tensor map is an im2col one, the instruction copies tiles";
    if (b->mode > BOX_ROWS && (m->mode == TENSOR_IM2COL) != (b->mode == BOX_IM2COL))
        return "the tensor map is for another im2col mode than the instruction";
    if (m->interleave)
        return "an interleaved tensor map: the emulator does not model these";
    if (m->element_bits < 8 && (b->use == BOX_REDUCE || (b->use == BOX_STORE && m->type == TYPE_4_ALIGN16)))
        return "the tensor map's type can only be loaded";
    if (m->element_bits < 8 && (d->cc < 100 || (b->use == BOX_LOAD && d->cc / 10 == 12)))
        return "this chip cannot copy the tensor map's packed type in this direction";
    if (is_padded(m) && m->swizzle && (m->swizzle < 3 || m->swizzle == 5))
        return "the tensor map's packed type goes with no swizzle, or one of 128 bytes without the flip";
    if (m->swizzle > 6)
        return "the tensor map has a swizzle that this chip does not have";
    return NULL;
}

/* Sizes of the box. */
static const char *check_size(struct box *b)
{
    const struct tensor_map *m = &b->m;
    b->n[0] = b->mode > BOX_ROWS ? m->channels : m->box[0];
    b->row = is_padded(m) ? b->n[0] : b->n[0] * m->element_bits / 8;
    if (is_padded(m) && b->n[0] != PACKED_WIDTH)
        return "a box of the tensor map's packed type must be 128 elements wide";
    if (b->row % 16 || !b->row)
        return "the box is not a multiple of 16 bytes wide";
    if (m->swizzle && b->row > span[m->swizzle])
        return "the box is wider than the swizzle";
    b->pitch = m->swizzle ? span[m->swizzle] : b->row;
    b->rows = b->mode == BOX_ROWS ? 4 : b->mode == BOX_IM2COL ? m->pixels :
              b->mode == BOX_IM2COL_W ? m->pixels + b->halo : 128 + 4 * b->halo;
    uint64_t rows = 1;
    for (uint32_t d = 1; d < 5 && b->mode == BOX_TILE; d++) {
        uint32_t step = d < b->dims ? tensor_element_stride(m, (int)d) : 1;
        if (d < b->dims && (step < 1 || step > 8 || m->box[d] < 1 || m->box[d] > 256))
            return "the tensor map has a box dimension outside 1 to 256, or an element stride outside 1 to 8";
        b->n[d] = d < b->dims ? (m->box[d] + step - 1) / step : 1;
        rows *= b->n[d];
    }
    if (b->mode == BOX_TILE)
        b->rows = rows > UINT32_MAX / b->pitch ? UINT32_MAX / b->pitch : (uint32_t)rows;
    if (b->mode == BOX_ROWS && (b->dims != 2 || m->box[1] != 1))
        return "four rows are copied from a tensor of two dimensions, with a box that is one row high";
    return b->mode > BOX_ROWS && b->dims < 3 ? "im2col needs 3, 4 or 5 dimensions" : NULL;
}

/* Last place of dimension d in the bounding box. */
static int64_t last_in_box(const struct tensor_map *m, uint32_t d) { return (int64_t)m->dim_minus_1[d] + m->upper[d - 1]; }

static const char *check_im2col(const struct box *b)
{
    static const uint32_t limit[] = { 0, 1 << 16, 1 << 8, 1 << 5 };     /* of offsets, by their number */
    const struct tensor_map *m = &b->m;
    for (uint32_t d = 1; d + 1 < b->dims; d++) {
        if (b->mode == BOX_IM2COL && b->offset[d - 1] >= limit[b->dims - 2])
            return "an im2col offset is too large: with 3, 4, 5 dimensions they are below 65536, 256, 32";
        if (b->mode == BOX_IM2COL && (b->at[d] < m->lower[d - 1] || b->at[d] > last_in_box(m, d)))
            return "a coordinate is outside the bounding box of the im2col tensor map";
        if ((b->use == BOX_STORE || b->use == BOX_REDUCE) && (m->lower[d - 1] < 0 || m->upper[d - 1] > 0))
            return "a store's bounding box reaches out of the tensor: the lower corner must not be negative, nor the upper positive";
    }
    if (b->halo >= (b->mode == BOX_IM2COL_W ? 512u : 32u) || (b->mode > BOX_IM2COL && b->offset[0] >= 32))
        return "wHalo or wOffset is too large: wHalo is below 512, 32 with ::128, wOffset below 32";
    return NULL;
}

static const char *check_start(const struct box *b)
{
    bool out = b->use == BOX_STORE || b->use == BOX_REDUCE;
    if (is_padded(&b->m) ? b->at[0] % PACKED_WIDTH : b->at[0] * b->m.element_bits % 128)
        return is_padded(&b->m) ? "the first coordinate is not a multiple of 128, as the packed type demands"
                                : "the box does not begin at a multiple of 16 bytes";
    for (uint32_t d = 0; d < b->dims && out && b->mode != BOX_ROWS; d++)
        if (b->at[d] < 0)
            return "a store with a negative coordinate";
    for (uint32_t r = 0; r < 4 && out && b->mode == BOX_ROWS; r++)
        if (b->four[r] < 0 || b->at[0] < 0)
            return "a store with a negative coordinate";
    return NULL;
}

const char *box_check(struct box *b, const struct device *d)
{
    const char *why = check_map(b, d);
    why = why ? why : check_size(b);
    why = why ? why : check_start(b);
    return why || b->mode <= BOX_ROWS ? why : check_im2col(b);
}

/* ---------------------------------------------------------------- the places of the runs */

struct walk {
    const struct box *b;
    uint32_t run;               /* which one */
    uint32_t k[5];              /* BOX_TILE: the same, counted along each dimension */
    int64_t base[5];            /* of its first element, before offsets */
    uint32_t beyond;            /* im2col::w: halo pixels since the last of the row */
};

static struct walk walk_start(const struct box *b)
{
    struct walk k = { .b = b };
    memcpy(k.base, b->at, sizeof k.base);
    if (b->mode == BOX_ROWS)
        k.base[1] = b->four[0];
    return k;
}

static void next_in_tile(struct walk *k)
{
    const struct box *b = k->b;
    for (uint32_t d = 1; d < b->dims; d++) {
        k->base[d] += tensor_element_stride(&b->m, (int)d);
        if (++k->k[d] < b->n[d])
            return;
        k->k[d] = 0;
        k->base[d] = b->at[d];
    }
}

/* The next pixel; `walked`: dimensions of the bounding box. */
static void next_pixel(struct walk *k, uint32_t walked)
{
    const struct box *b = k->b;
    for (uint32_t d = 1; d <= walked; d++) {
        k->base[d] += tensor_element_stride(&b->m, (int)d);
        if (k->base[d] <= last_in_box(&b->m, d))
            return;
        k->base[d] = b->m.lower[d - 1];
    }
    k->base[b->dims - 1]++;
}

static void next_in_row(struct walk *k)
{
    const struct box *b = k->b;
    uint32_t group = b->mode == BOX_IM2COL_W ? b->m.pixels : 32, in_group = k->run % (group + b->halo);
    k->beyond = in_group >= group ? in_group - group + 1 : 0;
    if (!k->beyond)
        next_pixel(k, 1);
}

static void walk_next(struct walk *k)
{
    k->run++;
    switch (k->b->mode) {
    case BOX_TILE:   next_in_tile(k); break;
    case BOX_ROWS:   k->base[1] = k->b->four[k->run & 3]; break;
    case BOX_IM2COL: next_pixel(k, k->b->dims - 2); break;
    default:         next_in_row(k);
    }
}

/* Global address of element 0 of the run; false: outside the tensor. */
static bool run_address(const struct walk *k, uint64_t *addr)
{
    const struct box *b = k->b;
    *addr = b->m.address;
    for (uint32_t d = 1; d < b->dims; d++) {
        int64_t i = k->base[d];
        if (b->mode == BOX_IM2COL && d + 1 < b->dims)
            i += b->offset[d - 1];
        else if (b->mode > BOX_IM2COL && d == 1)
            i += b->offset[0] + (int64_t)k->beyond * tensor_element_stride(&b->m, 1);
        if (i < 0 || i > b->m.dim_minus_1[d])
            return false;
        *addr += (uint64_t)i * b->m.stride[d - 1];
    }
    return true;
}

/* ---------------------------------------------------------------- the copy */

static const struct swizzle swizzles[] = { { 0, 0, 0 }, { 3, 0x10, 0 }, { 3, 0x30, 0 }, { 3, 0x70, 0 },
                                           { 2, 0x60, 0 }, { 2, 0x60, 8 }, { 1, 0x40, 0 } };

/* What lies outside a tensor reads as zeros, or as the NaN that an H200 fills in, whatever the type: half a word that it repeats. */
enum { OUTSIDE_NAN = 0x7ff7 };

static enum bulk_convert conversion(const struct box *b)
{
    if (b->use == BOX_LOAD)
        switch (b->m.type) {
        case TYPE_TF32:                         /* .ftz changes nothing here (seen on an H200) */
        case TYPE_TF32_FTZ:  return BULK_TF32;
        case TYPE_4_ALIGN16: return BULK_4_P64;
        case TYPE_6_ALIGN16: return BULK_6_P32;
        default:             return BULK_AS_IS;
        }
    return b->m.type == TYPE_6_ALIGN16 ? BULK_6_P2 : BULK_AS_IS;
}

static update_fn *reduction(const struct box *b, const struct instr *in)
{
    static const uint8_t types[] = { [TYPE_U32] = T_U32, [TYPE_S32] = T_S32, [TYPE_U64] = T_U64, [TYPE_S64] = T_S64,
                                     [TYPE_F16] = T_F16, [TYPE_F32] = T_F32, [TYPE_BF16] = T_BF16, [TYPE_F32_FTZ] = T_F32 };
    bool bits = in->mode == M_op_and || in->mode == M_op_or || in->mode == M_op_xor;
    enum type t = b->m.type < sizeof types ? (enum type)types[b->m.type] : T_NONE;
    if (bits && t != T_F16 && t != T_BF16 && t != T_F32)
        t = t == T_NONE ? t : type_bytes(t) == 8 ? T_B64 : T_B32;
    if (in->mode == M_add && t == T_S64)
        t = T_NONE;
    return atomic_update((enum mod)in->mode, t);
}

/* The part of each run that lies in the tensor, in bytes of global memory and in bytes of shared memory before it. */
struct extent { int64_t lo, hi; };

/* A store is cut off at a multiple of 16 bytes, which the stride leaves room for (seen on an H200). */
static struct extent extent_of(const struct box *b)
{
    int64_t width = (int64_t)b->m.dim_minus_1[0] + 1, lo = b->at[0] < 0 ? 0 : b->at[0], hi = b->at[0] + b->n[0];
    int64_t grain = b->use == BOX_LOAD || is_padded(&b->m) ? 1 : 128 / b->m.element_bits;
    width = (width + grain - 1) / grain * grain;
    return (struct extent){ lo, hi > width ? width : hi };
}

struct bulk_copy *box_copy(struct warp *w, const struct instr *in, int lane, const struct box *b)
{
    static const uint8_t access[] = { A_READ | A_ASYNC, A_WRITE | A_LATER, A_ATOMIC | A_LATER };
    const struct extent x = extent_of(b);
    const uint32_t bits = b->m.element_bits;
    struct walk k = walk_start(b);
    uint64_t addr;
    if ((uint64_t)b->rows * b->pitch > w->cta->smem_bytes)
        return fault(w, in, lane, FAULT_BAD_OPERAND, "the box has %u rows of %u bytes: more than the CTA's shared memory", b->rows,
                     b->pitch), NULL;
    struct bulk_copy *c = bulk_new(b->rows * b->pitch);
    c->bytes = b->rows * b->row;
    c->rows = b->rows, c->row = b->row, c->pitch = b->pitch;
    c->swizzle = swizzles[b->m.swizzle];
    c->convert = conversion(b);
    c->fill = b->m.oob_fill ? OUTSIDE_NAN : 0;
    c->holes = x.lo != b->at[0] || x.hi != b->at[0] + b->n[0];
    c->reduce = b->use == BOX_REDUCE ? reduction(b, in) : NULL;
    c->element = bits / 8;
    if (b->use == BOX_REDUCE && !c->reduce)
        return fault(w, in, lane, FAULT_BAD_OPERAND, "there is no such reduction on the type of the tensor map"), bulk_drop(c), NULL;
    for (; k.run < b->rows; walk_next(&k)) {
        bool inside = run_address(&k, &addr) && x.lo < x.hi;
        c->holes |= !inside;
        if (inside && !bulk_piece(w, in, lane, c, addr + (uint64_t)x.lo * bits / 8, (uint32_t)((x.hi - x.lo) * bits / 8),
                                  k.run * b->pitch + (uint32_t)((x.lo - b->at[0]) * bits / 8), (enum access)access[b->use]))
            return bulk_drop(c), NULL;
    }
    return c;
}
