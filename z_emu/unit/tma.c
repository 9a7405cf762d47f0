/* tma.c: cp.async.bulk.tensor in tile mode: boxes of a tensor in global memory to and from shared memory.
 *
 * Modelled: 1 to 5 dimensions, coordinates outside the tensor (zeros or NaNs on loads, nothing on stores), element strides
 * of loads, every swizzle. A load completes the bytes of its whole box, what lies outside the tensor included.
 * Refused, when the map is used: im2col, interleaved layouts, packed 4- and 6-bit types, swizzled boxes narrower than the
 * swizzle, strided stores. PTX ISA: "Data Movement and Conversion Instructions: Tensor copy". */
#include "bulk.h"

#include "cuda/tensormap.h"

struct box { struct tensor_map m; int64_t at[5]; uint32_t n[5], element, row; };       /* row: bytes of dimension 0 */

static int bad(struct warp *w, const struct instr *in, int lane, const char *what)
{
    return fault(w, in, lane, FAULT_BAD_OPERAND, "%s", what);
}

static const char *unusable(const struct tensor_map *m, uint32_t dims)
{
    static const uint32_t span[] = { 0, 32, 64, 128, 128, 128, 128 };
    if (m->magic != TENSOR_MAP_MAGIC)
        return "the 128 bytes are no tensor map";
    if (m->rank != dims)
        return "the instruction has another number of dimensions than its tensor map";
    if (m->mode != TENSOR_TILED)
        return "an im2col tensor map: not modelled yet";
    if (m->interleave || m->element_bits < 8)
        return "an interleaved or packed tensor map: not modelled yet";
    if (m->swizzle && m->box[0] * m->element_bits / 8u != span[m->swizzle])
        return "a box narrower than its swizzle: not modelled yet";
    return NULL;
}

static bool box_of(struct warp *w, const struct instr *in, int lane, const struct operand *map, bool store, struct box *b)
{
    uint64_t addr[WARP];
    const char *why;
    mem_addresses(w, map, addr);
    const uint8_t *bytes = mem_at(w, in, lane, SP_GENERIC, addr[lane], sizeof b->m, 64, A_READ | A_ANY);
    if (!bytes)
        return false;
    memcpy(&b->m, bytes, sizeof b->m);
    if ((why = unusable(&b->m, map->n)))
        return bad(w, in, lane, why), false;
    b->element = b->m.element_bits / 8;
    for (uint32_t d = 0; d < 5; d++) {
        uint32_t step = d && d < map->n ? tensor_element_stride(&b->m, (int)d) : 1;
        b->at[d] = d < map->n ? ROW(w, &map->elem[d], int32_t)[lane] : 0;
        b->n[d] = d < map->n ? (b->m.box[d] + step - 1) / step : 1;
        if (store && step != 1)
            return bad(w, in, lane, "a store with element strides: not modelled yet"), false;
        if (store && b->at[d] < 0)
            return bad(w, in, lane, "a store with a negative coordinate"), false;
    }
    b->row = b->n[0] * b->element;
    if (b->at[0] * b->element % 16)
        return bad(w, in, lane, "the box does not begin at a multiple of 16 bytes"), false;
    return true;
}

/* Global address of element 0 of row r of the box, counted through dimensions 1 and up; false: outside the tensor. */
static bool row_address(const struct box *b, uint32_t r, uint64_t *addr)
{
    *addr = b->m.address;
    for (uint32_t d = 1; d < b->m.rank; d++) {
        int64_t i = b->at[d] + (int64_t)(r % b->n[d]) * tensor_element_stride(&b->m, (int)d);
        if (i < 0 || i > b->m.dim_minus_1[d])
            return false;
        *addr += (uint64_t)i * b->m.stride[d - 1];
        r /= b->n[d];
    }
    return true;
}

/* NaN as hardware fills with it: all ones. */
static struct bulk_copy *copy_of(struct warp *w, const struct instr *in, int lane, const struct box *b, enum access how)
{
    uint32_t rows = b->n[1] * b->n[2] * b->n[3] * b->n[4];
    int64_t lo = b->at[0] < 0 ? 0 : b->at[0], end = b->at[0] + b->n[0], width = (int64_t)b->m.dim_minus_1[0] + 1;
    int64_t hi = end > width ? width : end;
    if ((uint64_t)rows * b->row > w->cta->smem_bytes)
        return bad(w, in, lane, "the box is larger than the CTA's shared memory"), NULL;
    struct bulk_copy *c = bulk_new(rows * b->row);
    c->swizzle = b->m.swizzle;
    memset(c->box, b->m.oob_fill ? 0xff : 0, c->bytes);
    for (uint32_t r = 0; r < rows && lo < hi; r++) {
        uint64_t addr;
        if (row_address(b, r, &addr) &&
            !bulk_piece(w, in, lane, c, addr + (uint64_t)lo * b->element, (uint32_t)(hi - lo) * b->element,
                        r * b->row + (uint32_t)(lo - b->at[0]) * b->element, how))
            return bulk_drop(c), NULL;
    }
    return c;
}

static int load(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t dst[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[2], bar);
    FOR_LANES(i, mask) {
        struct box b;
        struct bulk_copy *c;
        uint32_t ctas = has_mod(in, M_multicast_cluster) ? ROW(w, &in->opnd[3], uint16_t)[i] : 0;
        if (dst[i] % 128)
            return bad(w, in, (int)i, "the shared address of a tensor copy must be a multiple of 128");
        if (!box_of(w, in, (int)i, &in->opnd[1], false, &b) || !(c = copy_of(w, in, (int)i, &b, A_READ | A_ASYNC)) ||
            bulk_load(w, in, (int)i, c, dst[i], bar[i], ctas) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int store(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t src[WARP];
    mem_addresses(w, &in->opnd[1], src);
    FOR_LANES(i, mask) {
        struct box b;
        struct bulk_copy *c;
        if (src[i] % 128)
            return bad(w, in, (int)i, "the shared address of a tensor copy must be a multiple of 128");
        if (!box_of(w, in, (int)i, &in->opnd[0], true, &b) || !(c = copy_of(w, in, (int)i, &b, A_WRITE | A_LATER)) ||
            bulk_store(w, in, (int)i, c, src[i]) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

exec_fn *pick_TENSOR_LOAD(struct instr *in) { return in->opnd[1].n ? load : NULL; }
exec_fn *pick_TENSOR_MULTICAST(struct instr *in) { return in->opnd[1].n ? load : NULL; }
exec_fn *pick_TENSOR_STORE(struct instr *in) { return in->opnd[0].n ? store : NULL; }
