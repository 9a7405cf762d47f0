/* tensormap.c: tensor maps that a kernel changes: tensormap.replace and tensormap.cp_fenceproxy.
 *
 * Modelled: every field; the map is in global or shared memory. A field out of its range is noticed when the map is used.
 * cp_fenceproxy copies as an ordinary store does. The tensormap proxy has no cache here, so its fences change nothing.
 * PTX ISA: "tensormap.replace", "tensormap.cp_fenceproxy". */
#include "core/memory.h"
#include "cuda/tensormap.h"

/* Numbers of the instruction, which are not those of the driver API. */
static const struct { uint8_t type, bits; } element_types[] = {         /* .elemtype -> CUtensorMapDataType */
    { 0, 8 }, { 1, 16 }, { 2, 32 }, { 3, 32 }, { 4, 64 }, { 5, 64 }, { 6, 16 }, { 7, 32 },
    { 10, 32 }, { 8, 64 }, { 9, 16 }, { 11, 32 }, { 12, 32 }, { 13, 4 }, { 14, 4 }, { 15, 6 } };
enum { SWIZZLE_128 = 3, ATOMS = 4 };            /* CUtensorMapSwizzle: 3 to 6 have 128 bytes, by atomicity */

static bool replace_one(struct tensor_map *m, const struct instr *in, uint64_t v)
{
    if (has_mod(in, M_global_address))
        m->address = v;
    else if (has_mod(in, M_rank))
        m->rank = (uint8_t)(v < 5 ? v + 1 : 0);
    else if (has_mod(in, M_elemtype))
        m->type = element_types[v].type, m->element_bits = element_types[v].bits;
    else if (has_mod(in, M_interleave_layout))
        m->interleave = (uint8_t)v;
    else if (has_mod(in, M_fill_mode))
        m->oob_fill = (uint8_t)v;
    else if (has_mod(in, M_swizzle_mode))
        m->swizzle = (uint8_t)v;
    else if (m->swizzle >= SWIZZLE_128)         /* .swizzle_atomicity */
        m->swizzle = (uint8_t)(SWIZZLE_128 + v);
    else
        return v == 0;
    return true;
}

static void replace_of(struct tensor_map *m, const struct instr *in, uint32_t dim, uint64_t v)
{
    uint8_t small = (uint8_t)(v > 255 ? 255 : v);
    if (has_mod(in, M_box_dim))
        m->box[dim] = (uint16_t)(v > 0xffff ? 0xffff : v);
    else if (has_mod(in, M_global_dim))
        m->dim_minus_1[dim] = (uint32_t)v - 1;
    else if (has_mod(in, M_element_stride))
        *(dim < 4 ? &m->element_stride[dim] : &m->element_stride4) = small;
    else
        m->stride[dim] = v;
}

static uint64_t value_of(struct warp *w, const struct operand *o, uint32_t lane)
{
    return o->width == 8 ? ROW(w, o, uint64_t)[lane] : ROW(w, o, uint32_t)[lane];
}

static int replace(struct warp *w, const struct instr *in, uint32_t mask)
{
    bool of = in->op == OP_TENSORMAP_REPLACE_OF;
    uint64_t addr[WARP];
    mem_addresses(w, &in->opnd[0], addr);
    FOR_LANES(i, mask) {
        struct tensor_map m;
        uint8_t *bytes = mem_at(w, in, (int)i, (enum space)in->space, addr[i], sizeof m, 64, A_READ | A_WRITE | A_ANY | A_LATER);
        if (!bytes)
            return X_FAULT;
        memcpy(&m, bytes, sizeof m);
        if (m.magic != TENSOR_MAP_MAGIC)
            return fault(w, in, (int)i, FAULT_BAD_OPERAND, "the 128 bytes are no tensor map: copy one there that cuTensorMapEncode made");
        if (of)
            replace_of(&m, in, (uint32_t)in->opnd[1].imm, value_of(w, &in->opnd[2], i));
        else if (!replace_one(&m, in, value_of(w, &in->opnd[1], i)))
            return fault(w, in, (int)i, FAULT_BAD_OPERAND, "only a swizzle of 128 bytes has another atomicity than 16 bytes");
        memcpy(bytes, &m, sizeof m);
    }
    return X_NEXT;
}

static int copy_map(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t dst[WARP], src[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[1], src);
    FOR_LANES(i, mask) {
        const uint8_t *from = mem_at(w, in, (int)i, SP_SHARED_CTA, src[i], sizeof(struct tensor_map), 64, A_READ);
        uint8_t *to = from ? mem_at(w, in, (int)i, SP_GLOBAL, dst[i], sizeof(struct tensor_map), 64, A_WRITE) : NULL;
        if (!to)
            return X_FAULT;
        memcpy(to, from, sizeof(struct tensor_map));
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

/* Values of the fields that take a literal, and what the chip must be for the last of them. */
static bool literal_ok(const struct instr *in, uint64_t v)
{
    bool plain = in->func->module->target < 100;
    if (has_mod(in, M_elemtype)) return v < (plain ? 13u : 16u);
    if (has_mod(in, M_interleave_layout)) return v < 3;
    if (has_mod(in, M_swizzle_mode)) return v < 4;
    if (has_mod(in, M_swizzle_atomicity)) return v < ATOMS && !plain;
    return v < 2;               /* .fill_mode */
}

exec_fn *pick_TENSORMAP_REPLACE(struct instr *in)
{
    bool address = has_mod(in, M_global_address), literal = in->opnd[1].flags & O_CONST;
    if ((in->type[1] == T_B64) != address)
        return NULL;
    return address || has_mod(in, M_rank) || (literal && literal_ok(in, (uint64_t)in->opnd[1].imm)) ? replace : NULL;
}

exec_fn *pick_TENSORMAP_REPLACE_OF(struct instr *in)
{
    bool stride = has_mod(in, M_global_stride);
    if ((in->type[1] == T_B64) != stride || !(in->opnd[1].flags & O_CONST))
        return NULL;
    return (uint64_t)in->opnd[1].imm < (stride ? 4u : 5u) ? replace : NULL;
}

exec_fn *pick_TENSORMAP_CP_FENCEPROXY(struct instr *in)
{
    return in->opnd[2].flags & O_CONST && in->opnd[2].imm == sizeof(struct tensor_map) ? copy_map : NULL;
}
