/* tma.c: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch.tensor: boxes of a tensor in global
 * memory to and from shared memory.
 *
 * Modelled: 1 to 5 dimensions; tiles, four rows, and the im2col modes (tma_box.c); coordinates outside the tensor (zeros or
 * NaNs on loads, nothing on stores), element strides, every swizzle and element type; multicast; .cta_group::2; reductions.
 * A load completes the bytes of its whole box, what lies outside the tensor included. A prefetch is checked, no more.
 * Not modelled: the tensormap proxy (a map that changed is seen at once), interleaved layouts.
 * PTX ISA: "Tensor copy": "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "cp.async.bulk.prefetch.tensor". */
#include "tma.h"

enum { MAP_ALIGN = 64, SHARED_ALIGN = 128 };

static int bad(struct warp *w, const struct instr *in, int lane, const char *what)
{
    return fault(w, in, lane, FAULT_BAD_OPERAND, "%s", what);
}

/* ---------------------------------------------------------------- the map */

static const char *misplaced(const struct warp *w, uint64_t addr)
{
    uint64_t offset = addr - w->cta->memory->base;
    if (offset < WINDOW)
        return "the tensor map is in shared memory: it must be in global or constant memory, or a parameter of the kernel";
    if (offset < 2 * WINDOW)
        return "the tensor map is in local memory: a kernel takes it as `const __grid_constant__ CUtensorMap`, or gets a copy";
    return addr % MAP_ALIGN ? "the tensor map is not aligned to 64 bytes" : NULL;
}

static bool read_map(struct warp *w, const struct instr *in, int lane, const struct operand *o, struct box *b)
{
    uint64_t addr[WARP];
    mem_addresses(w, o, addr);
    const char *why = misplaced(w, addr[lane]);
    if (why)
        return bad(w, in, lane, why), false;
    const uint8_t *bytes = mem_at(w, in, lane, SP_GENERIC, addr[lane], sizeof b->m, MAP_ALIGN, A_READ | A_ANY);
    if (bytes)
        memcpy(&b->m, bytes, sizeof b->m);
    return bytes;
}

/* ---------------------------------------------------------------- operands */

static enum box_mode mode_of(const struct instr *in)
{
    if (has_mod(in, M_tile_gather4) || has_mod(in, M_tile_scatter4)) return BOX_ROWS;
    if (has_mod(in, M_im2col) || has_mod(in, M_im2col_no_offs)) return BOX_IM2COL;
    if (has_mod(in, M_im2col_w)) return BOX_IM2COL_W;
    return has_mod(in, M_im2col_w_128) ? BOX_IM2COL_W128 : BOX_TILE;
}

static uint32_t dims_of(const struct instr *in)
{
    for (int i = 0; i < in->nmod; i++)
        if (in->mod[i] >= M_d1 && in->mod[i] <= M_d5)
            return in->mod[i] - M_d1 + 1u;
    return 0;
}

static void read_coordinates(struct warp *w, int lane, const struct operand *map, const struct operand *info, struct box *b)
{
    for (uint32_t i = 0; i < map->n; i++) {
        int64_t at = ROW(w, &map->elem[i], int32_t)[lane];
        if (b->mode == BOX_ROWS && i)
            b->four[i - 1] = at;
        else
            b->at[i] = at;
    }
    for (uint32_t i = 0; info && i < info->n; i++) {
        uint32_t v = ROW(w, &info->elem[i], uint16_t)[lane];
        if (b->mode == BOX_IM2COL)
            b->offset[i] = v;
        else
            *(i ? &b->offset[0] : &b->halo) = v;
    }
}

/* What lane `lane` asks for. false after a fault. */
static bool box_of(struct warp *w, const struct instr *in, int lane, const struct operand *map, const struct operand *info,
                   enum box_use use, struct box *b)
{
    const char *why;
    *b = (struct box){ .mode = mode_of(in), .use = use, .dims = dims_of(in) };
    if (!read_map(w, in, lane, map, b))
        return false;
    read_coordinates(w, lane, map, info, b);
    if ((why = box_check(b, gpu_device(w->cta->launch->gpu))))
        return bad(w, in, lane, why), false;
    return true;
}

static bool aligned(struct warp *w, const struct instr *in, int lane, uint64_t shared)
{
    if (shared % SHARED_ALIGN == 0)
        return true;
    bad(w, in, lane, "the shared address of a tensor copy must be a multiple of 128");
    return false;
}

/* ---------------------------------------------------------------- handlers */

/* [dst] [map, coordinates] [mbar] {offsets} mask policy */
static int load(struct warp *w, const struct instr *in, uint32_t mask)
{
    bool im2col = mode_of(in) > BOX_ROWS, multicast = has_mod(in, M_multicast_cluster);
    const struct operand *info = im2col ? &in->opnd[3] : NULL, *ranks = &in->opnd[im2col ? 4 : 3];
    uint64_t dst[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[2], bar);
    FOR_LANES(i, mask) {
        struct box b;
        struct bulk_copy *c;
        uint32_t ctas = multicast ? bulk_ranks(w, in, (int)i, ranks) : 0;
        if ((multicast && !ctas) || !aligned(w, in, (int)i, dst[i]) || !box_of(w, in, (int)i, &in->opnd[1], info, BOX_LOAD, &b) ||
            !(c = box_copy(w, in, (int)i, &b)) || bulk_load(w, in, (int)i, c, dst[i], bar[i], ctas) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int store(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum box_use use = in->op == OP_TENSOR_REDUCE ? BOX_REDUCE : BOX_STORE;
    uint64_t src[WARP];
    mem_addresses(w, &in->opnd[1], src);
    FOR_LANES(i, mask) {
        struct box b;
        struct bulk_copy *c;
        if (!aligned(w, in, (int)i, src[i]) || !box_of(w, in, (int)i, &in->opnd[0], NULL, use, &b) ||
            !(c = box_copy(w, in, (int)i, &b)) || bulk_store(w, in, (int)i, c, src[i]) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int prefetch(struct warp *w, const struct instr *in, uint32_t mask)
{
    FOR_LANES(i, mask) {
        struct box b;
        if (!box_of(w, in, (int)i, &in->opnd[0], mode_of(in) > BOX_ROWS ? &in->opnd[1] : NULL, BOX_PREFETCH, &b))
            return X_FAULT;
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

/* As many coordinates and offsets as the instruction has dimensions. */
static bool counts_ok(const struct instr *in, uint32_t map, uint32_t info)
{
    uint32_t dims = dims_of(in);
    enum box_mode mode = mode_of(in);
    if (in->opnd[map].n != (mode == BOX_ROWS ? 5 : dims) || (mode == BOX_ROWS && dims != 2) || (mode > BOX_ROWS && dims < 3))
        return false;
    return !info || in->opnd[info].n == (mode == BOX_IM2COL ? dims - 2 : 2);
}

static exec_fn *pick_load(const struct instr *in) { return counts_ok(in, 1, mode_of(in) > BOX_ROWS ? 3 : 0) ? load : NULL; }
static exec_fn *pick_store(const struct instr *in) { return counts_ok(in, 0, 0) ? store : NULL; }
static exec_fn *pick_prefetch(const struct instr *in) { return counts_ok(in, 0, mode_of(in) > BOX_ROWS ? 1 : 0) ? prefetch : NULL; }

exec_fn *pick_TENSOR_LOAD(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_LOAD_100(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_GATHER4(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_MULTICAST(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_MULTICAST_100(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_IM2COL(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_IM2COL_100(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_IM2COL_W(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_IM2COL_MULTICAST(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_IM2COL_MULTICAST_100(struct instr *in) { return pick_load(in); }
exec_fn *pick_TENSOR_STORE(struct instr *in) { return pick_store(in); }
exec_fn *pick_TENSOR_SCATTER4(struct instr *in) { return pick_store(in); }
exec_fn *pick_TENSOR_REDUCE(struct instr *in) { return pick_store(in); }
exec_fn *pick_TENSOR_PREFETCH(struct instr *in) { return pick_prefetch(in); }
exec_fn *pick_TENSOR_PREFETCH_GATHER4(struct instr *in) { return pick_prefetch(in); }
exec_fn *pick_TENSOR_PREFETCH_IM2COL(struct instr *in) { return pick_prefetch(in); }
exec_fn *pick_TENSOR_PREFETCH_IM2COL_W(struct instr *in) { return pick_prefetch(in); }
