/* cvt_int.c: cvt from integer to integer, and cvt.pack. */
#include "core/cvt.h"

/* ---------------------------------------------------------------- rows as wide as their types */

/* Widening extends by the source's sign, narrowing cuts off; the destination's sign plays no part. */
#define CAST(name, D, A) HANDLER1(name, D, A, a)
CAST(u16_of_u32, uint16_t, uint32_t)
CAST(u16_of_u64, uint16_t, uint64_t)
CAST(u32_of_u16, uint32_t, uint16_t)
CAST(u32_of_s16, uint32_t, int16_t)
CAST(u32_of_u64, uint32_t, uint64_t)
CAST(u64_of_u16, uint64_t, uint16_t)
CAST(u64_of_s16, uint64_t, int16_t)
CAST(u64_of_u32, uint64_t, uint32_t)
CAST(u64_of_s32, uint64_t, int32_t)
CAST(copy_16, uint16_t, uint16_t)
CAST(copy_32, uint32_t, uint32_t)
CAST(copy_64, uint64_t, uint64_t)

/* By bytes of the destination, bytes of the source and the source's sign. */
static exec_fn *cast_for(uint32_t to, uint32_t from, bool is_signed)
{
    switch (to * 16 + from) {
    case 0x22: return copy_16;
    case 0x44: return copy_32;
    case 0x88: return copy_64;
    case 0x24: return u16_of_u32;
    case 0x28: return u16_of_u64;
    case 0x42: return is_signed ? u32_of_s16 : u32_of_u16;
    case 0x48: return u32_of_u64;
    case 0x82: return is_signed ? u64_of_s16 : u64_of_u16;
    case 0x84: return is_signed ? u64_of_s32 : u64_of_u32;
    default: return NULL;
    }
}

/* ---------------------------------------------------------------- rows wider than their types */

/* Shifts that extend the lowest bits of a 64-bit value: left by `shift`, then right, with or without the sign. */
struct extension { uint32_t shift; bool is_signed; };
static struct extension extension_of(enum type t) { return (struct extension){64 - int_bits(t), is_signed_int(t)}; }
static inline uint64_t extended(uint64_t x, struct extension e)
{
    return e.is_signed ? (uint64_t)((int64_t)(x << e.shift) >> e.shift) : x << e.shift >> e.shift;
}

#define EXTEND(name, D, A)                                                                                      \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        struct extension from = extension_of(in->type[1]), to = extension_of(in->type[0]);                      \
        const A *a = ROW(w, &in->opnd[1], A);                                                                   \
        D result[WARP];                                                                                         \
        LANES result[i] = (D)extended(extended(a[i], from), to);                                                \
        store_row(ROW(w, &in->opnd[0], D), result, sizeof(D), mask);                                            \
        return X_NEXT;                                                                                          \
    }
EXTEND(extend_22, uint16_t, uint16_t)
EXTEND(extend_24, uint16_t, uint32_t)
EXTEND(extend_28, uint16_t, uint64_t)
EXTEND(extend_42, uint32_t, uint16_t)
EXTEND(extend_44, uint32_t, uint32_t)
EXTEND(extend_48, uint32_t, uint64_t)
EXTEND(extend_82, uint64_t, uint16_t)
EXTEND(extend_84, uint64_t, uint32_t)
EXTEND(extend_88, uint64_t, uint64_t)

static exec_fn *extend_for(uint32_t to, uint32_t from)
{
    switch (to * 16 + from) {
    case 0x22: return extend_22;
    case 0x24: return extend_24;
    case 0x28: return extend_28;
    case 0x42: return extend_42;
    case 0x44: return extend_44;
    case 0x48: return extend_48;
    case 0x82: return extend_82;
    case 0x84: return extend_84;
    case 0x88: return extend_88;
    default: return NULL;
    }
}

/* ---------------------------------------------------------------- .sat, and whatever is left */

/* The value with sign and magnitude apart, held to the range of the type. */
static uint64_t clamped(enum type to, enum type from, uint64_t code)
{
    uint32_t bits = int_bits(to);
    uint64_t value = extended(code, extension_of(from));
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed_int(to));
    if (is_signed_int(from) && value >> 63) {
        if (!is_signed_int(to)) return 0;
        int64_t least = -(int64_t)most - 1;
        return (int64_t)value < least ? (uint64_t)least : value;
    }
    return value > most ? most : value;
}

static int cvt_sat(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type to = in->type[0], from = in->type[1];
    FOR_LANES(i, mask) write_lane(w, &in->opnd[0], i, to, clamped(to, from, read_lane(w, &in->opnd[1], i, from)));
    return X_NEXT;
}

static int cvt_wide(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type to = in->type[0], from = in->type[1];
    FOR_LANES(i, mask) {
        uint64_t value = extended(read_lane(w, &in->opnd[1], i, from), extension_of(from));
        write_lane(w, &in->opnd[0], i, to, extended(value, extension_of(to)));
    }
    return X_NEXT;
}

exec_fn *pick_cvt_int(struct instr *in)
{
    uint32_t to = in->opnd[0].width, from = in->opnd[1].width;
    if (!only_flags(in, F_SAT) || in->rnd != M_NONE) return NULL;
    if (in->flags & F_SAT) return cvt_sat;
    bool exact_rows = int_bits(in->type[0]) == to * 8 && int_bits(in->type[1]) == from * 8;
    exec_fn *handler = exact_rows ? cast_for(to, from, is_signed_int(in->type[1])) : extend_for(to, from);
    return handler ? handler : cvt_wide;
}

/* ---------------------------------------------------------------- cvt.pack */

static uint32_t pack_bits(enum type t)
{
    switch (t) {
    case T_U2: case T_S2: return 2;
    case T_U4: case T_S4: return 4;
    case T_U8: case T_S8: return 8;
    default: return 16;
    }
}

static uint32_t packed_value(enum type t, int32_t x)
{
    uint32_t bits = pack_bits(t);
    bool is_signed = is_signed_int(t) || t == T_S4 || t == T_S2;
    int32_t most = (1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    int32_t held = x < least ? least : x > most ? most : x;
    return (uint32_t)held & ((1u << bits) - 1);
}

/* a above b in the lowest bits; c, when there is one, moved up above both. */
static int cvt_pack(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type t = in->type[0];
    uint32_t bits = pack_bits(t), *d = ROW(w, &in->opnd[0], uint32_t);
    const int32_t *a = ROW(w, &in->opnd[1], int32_t), *b = ROW(w, &in->opnd[2], int32_t);
    const uint32_t *c = in->opnd[3].kind == O_REG ? ROW(w, &in->opnd[3], uint32_t) : NULL;
    FOR_LANES(i, mask) {
        uint32_t pair = packed_value(t, a[i]) << bits | packed_value(t, b[i]);
        d[i] = c ? c[i] << 2 * bits | pair : pair;
    }
    return X_NEXT;
}

exec_fn *pick_CVT_PACK(struct instr *in)
{
    bool with_c = in->opnd[3].kind == O_REG, wants_c = pack_bits(in->type[0]) < 16;
    return all_rows(in) && with_c == wants_c ? cvt_pack : NULL;
}
