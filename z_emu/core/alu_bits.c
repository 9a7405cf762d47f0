/* alu_bits.c: counting, finding, reversing, extracting and inserting bits; dot products of bytes. */
#include "core/alu.h"

#define WIDTHS1(name, fn)                                                                                       \
    HANDLER1(name##_32, uint32_t, uint32_t, fn##_32(a)) HANDLER1(name##_64, uint32_t, uint64_t, fn##_64(a))

static exec_fn *by_width(struct instr *in, exec_fn *for_32, exec_fn *for_64)
{
    return !all_rows(in) ? NULL : type_bytes(in->type[0]) == 8 ? for_64 : for_32;
}

/* ---------------------------------------------------------------- counting and finding */

static inline uint32_t leading_zeros_32(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 32; }
static inline uint32_t leading_zeros_64(uint64_t a) { return a ? (uint32_t)__builtin_clzll(a) : 64; }
static inline uint32_t ones_32(uint32_t a) { return (uint32_t)__builtin_popcount(a); }
static inline uint32_t ones_64(uint64_t a) { return (uint32_t)__builtin_popcountll(a); }
WIDTHS1(popc, ones)
WIDTHS1(clz, leading_zeros)
exec_fn *pick_POPC(struct instr *in) { return by_width(in, popc_32, popc_64); }
exec_fn *pick_CLZ(struct instr *in) { return by_width(in, clz_32, clz_64); }

/* Place of the highest one, or what shifts it to the top; all ones when there is none. Negative numbers are
 * searched for their highest zero. */
#define FOUND(zeros, width, at) ((zeros) == (width) ? UINT32_MAX : (at))
HANDLER1(bfind_u32, uint32_t, uint32_t, FOUND(leading_zeros_32(a), 32, 31 - leading_zeros_32(a)))
HANDLER1(bfind_u64, uint32_t, uint64_t, FOUND(leading_zeros_64(a), 64, 63 - leading_zeros_64(a)))
HANDLER1(bfind_shift_u32, uint32_t, uint32_t, FOUND(leading_zeros_32(a), 32, leading_zeros_32(a)))
HANDLER1(bfind_shift_u64, uint32_t, uint64_t, FOUND(leading_zeros_64(a), 64, leading_zeros_64(a)))
static inline uint32_t without_sign_32(int32_t a) { return (uint32_t)(a < 0 ? ~a : a); }
static inline uint64_t without_sign_64(int64_t a) { return (uint64_t)(a < 0 ? ~a : a); }
#define ZEROS_S32 leading_zeros_32(without_sign_32(a))
#define ZEROS_S64 leading_zeros_64(without_sign_64(a))
HANDLER1(bfind_s32, uint32_t, int32_t, FOUND(ZEROS_S32, 32, 31 - ZEROS_S32))
HANDLER1(bfind_s64, uint32_t, int64_t, FOUND(ZEROS_S64, 64, 63 - ZEROS_S64))
HANDLER1(bfind_shift_s32, uint32_t, int32_t, FOUND(ZEROS_S32, 32, ZEROS_S32))
HANDLER1(bfind_shift_s64, uint32_t, int64_t, FOUND(ZEROS_S64, 64, ZEROS_S64))

exec_fn *pick_BFIND(struct instr *in)
{
    bool shift = in->mode == M_shiftamt;
    if (!all_rows(in)) return NULL;
    switch (in->type[0]) {
    case T_U32: return shift ? bfind_shift_u32 : bfind_u32;
    case T_U64: return shift ? bfind_shift_u64 : bfind_u64;
    case T_S32: return shift ? bfind_shift_s32 : bfind_s32;
    case T_S64: return shift ? bfind_shift_s64 : bfind_s64;
    default: return NULL;
    }
}

/* Place of the n-th one of mask, counting upwards from base for positive n, downwards for negative. */
static uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t n)
{
    if (base > 31) return UINT32_MAX;
    if (n == 0) return mask >> base & 1 ? base : UINT32_MAX;
    int step = n > 0 ? 1 : -1;
    uint32_t left = n > 0 ? (uint32_t)n : 0 - (uint32_t)n;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0) return (uint32_t)at;
    return UINT32_MAX;
}
HANDLER3(fns, uint32_t, uint32_t, uint32_t, int32_t, find_nth_set(a, b, c))
exec_fn *pick_FNS(struct instr *in) { return all_rows(in) ? fns : NULL; }

/* ---------------------------------------------------------------- reversing, fields */

static inline uint32_t reversed_32(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}
static inline uint64_t reversed_64(uint64_t a)
{
    return (uint64_t)reversed_32((uint32_t)a) << 32 | reversed_32((uint32_t)(a >> 32));
}
HANDLER1(brev_32, uint32_t, uint32_t, reversed_32(a))
HANDLER1(brev_64, uint64_t, uint64_t, reversed_64(a))
exec_fn *pick_BREV(struct instr *in) { return by_width(in, brev_32, brev_64); }

static inline uint32_t low_ones_32(uint32_t n) { return n < 32 ? (1u << n) - 1 : UINT32_MAX; }
static inline uint64_t low_ones_64(uint32_t n) { return n < 64 ? (1ull << n) - 1 : UINT64_MAX; }

/* bfe: n bits of a from place `at` on. Signed: beyond the field, or beyond a's top, copies of the field's highest bit,
 * or of a's.
 * bfi: the same, the other way.
 * The ISA restricts `at` and n to 0..255. An H200 takes larger ones modulo 256 where the field is of 32 bits, as they are
 * where it is of 64: hence `range`. */
#define FIELDS(bits, range)                                                                                            \
    static inline uint##bits##_t extract_u##bits(uint##bits##_t a, uint32_t at, uint32_t n)                     \
    {                                                                                                           \
        at &= range, n &= range;                                                                                 \
        return (at < bits ? a >> at : 0) & low_ones_##bits(n);                                                  \
    }                                                                                                           \
    static inline int##bits##_t extract_s##bits(int##bits##_t a, uint32_t at, uint32_t n)                       \
    {                                                                                                           \
        at &= range, n &= range;                                                                                 \
        int##bits##_t field = a >> (at < bits ? at : bits - 1);                                                 \
        uint32_t unused = n < bits && n ? bits - n : 0;                                                         \
        field = (int##bits##_t)((uint##bits##_t)field << unused) >> unused;                                     \
        return n ? field : 0;                                                                                   \
    }                                                                                                           \
    static inline uint##bits##_t insert_##bits(uint##bits##_t field, uint##bits##_t into, uint32_t at, uint32_t n)\
    {                                                                                                           \
        at &= range, n &= range;                                                                                 \
        uint##bits##_t place = at < bits ? low_ones_##bits(n) << at : 0, shifted = at < bits ? field << at : 0; \
        return (into & ~place) | (shifted & place);                                                             \
    }
FIELDS(32, 0xff)
FIELDS(64, UINT32_MAX)
HANDLER3(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, extract_u32(a, b, c))
HANDLER3(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, extract_u64(a, b, c))
HANDLER3(bfe_s32, int32_t, int32_t, uint32_t, uint32_t, extract_s32(a, b, c))
HANDLER3(bfe_s64, int64_t, int64_t, uint32_t, uint32_t, extract_s64(a, b, c))
HANDLER4(bfi_32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, insert_32(a, b, c, e))
HANDLER4(bfi_64, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, insert_64(a, b, c, e))
exec_fn *pick_BFI(struct instr *in) { return by_width(in, bfi_32, bfi_64); }

exec_fn *pick_BFE(struct instr *in)
{
    if (!all_rows(in)) return NULL;
    switch (in->type[0]) {
    case T_U32: return bfe_u32;
    case T_U64: return bfe_u64;
    case T_S32: return bfe_s32;
    default: return bfe_s64;
    }
}

/* The n lowest bits of a, extended; all of a for n >= 32 (clamp; wrap takes n modulo 32). */
static inline uint32_t zero_extend(uint32_t a, uint32_t n) { return a & low_ones_32(n); }
static inline uint32_t sign_extend(uint32_t a, uint32_t n)
{
    uint32_t unused = n < 32 ? 32 - n : 0;
    return n ? (uint32_t)((int32_t)(a << (unused & 31)) >> (unused & 31)) : 0;
}
HANDLER2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, zero_extend(a, b))
HANDLER2(szext_clamp_s32, uint32_t, uint32_t, uint32_t, sign_extend(a, b))
HANDLER2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, zero_extend(a, b & 31))
HANDLER2(szext_wrap_s32, uint32_t, uint32_t, uint32_t, sign_extend(a, b & 31))

exec_fn *pick_SZEXT(struct instr *in)
{
    bool is_signed = in->type[0] == T_S32;
    if (!all_rows(in)) return NULL;
    if (in->mode == M_wrap) return is_signed ? szext_wrap_s32 : szext_wrap_u32;
    return is_signed ? szext_clamp_s32 : szext_clamp_u32;
}

/* n ones from place `at` on. */
static inline uint32_t ones_at(uint32_t at, uint32_t n)
{
    return at < 32 ? low_ones_32(n) << at : 0;
}
HANDLER2(bmsk_clamp, uint32_t, uint32_t, uint32_t, ones_at(a, b))
HANDLER2(bmsk_wrap, uint32_t, uint32_t, uint32_t, ones_at(a & 31, b & 31))
exec_fn *pick_BMSK(struct instr *in) { return !all_rows(in) ? NULL : in->mode == M_wrap ? bmsk_wrap : bmsk_clamp; }

/* ---------------------------------------------------------------- dot products */

static inline int32_t unsigned_byte(uint32_t x, int n) { return (int32_t)(x >> 8 * n & 0xff); }
static inline int32_t signed_byte(uint32_t x, int n) { return (int8_t)(x >> 8 * n); }
static inline int32_t unsigned_half(uint32_t x, int n) { return (int32_t)(x >> 16 * n & 0xffff); }
static inline int32_t signed_half(uint32_t x, int n) { return (int16_t)(x >> 16 * n); }

#define DOT4(A, B) \
    c + (uint32_t)(A(a, 0) * B(b, 0) + A(a, 1) * B(b, 1) + A(a, 2) * B(b, 2) + A(a, 3) * B(b, 3))
#define DOT2(A, B, first) c + (uint32_t)(A(a, 0) * B(b, first)) + (uint32_t)(A(a, 1) * B(b, first + 1))
#define DOT_HANDLERS(A, B, byte_a, half_a, byte_b)                                                              \
    HANDLER3(dp4a_##A##B, uint32_t, uint32_t, uint32_t, uint32_t, DOT4(byte_a, byte_b))                         \
    HANDLER3(dp2a_lo_##A##B, uint32_t, uint32_t, uint32_t, uint32_t, DOT2(half_a, byte_b, 0))                   \
    HANDLER3(dp2a_hi_##A##B, uint32_t, uint32_t, uint32_t, uint32_t, DOT2(half_a, byte_b, 2))
DOT_HANDLERS(u, u, unsigned_byte, unsigned_half, unsigned_byte)
DOT_HANDLERS(u, s, unsigned_byte, unsigned_half, signed_byte)
DOT_HANDLERS(s, u, signed_byte, signed_half, unsigned_byte)
DOT_HANDLERS(s, s, signed_byte, signed_half, signed_byte)

/* Two types, of a and of b. */
static exec_fn *by_types(struct instr *in, exec_fn *uu, exec_fn *us, exec_fn *su, exec_fn *ss)
{
    if (!all_rows(in) || in->ntype != 2) return NULL;
    if (in->type[0] == T_S32) return in->type[1] == T_S32 ? ss : su;
    return in->type[1] == T_S32 ? us : uu;
}

exec_fn *pick_DP4A(struct instr *in) { return by_types(in, dp4a_uu, dp4a_us, dp4a_su, dp4a_ss); }

exec_fn *pick_DP2A(struct instr *in)
{
    if (in->flags & F_HI) return by_types(in, dp2a_hi_uu, dp2a_hi_us, dp2a_hi_su, dp2a_hi_ss);
    return by_types(in, dp2a_lo_uu, dp2a_lo_us, dp2a_lo_su, dp2a_lo_ss);
}
