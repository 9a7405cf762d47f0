/* alu_carry.c: extended-precision arithmetic: add.cc addc sub.cc subc mad.cc madc, 32 and 64 bits.
 *
 * The carry flag is a hidden predicate, the instruction's last operand: a bit per lane. To the chip a - b is a + ~b + 1,
 * so a subtraction leaves the flag set where nothing was borrowed, and subc borrows where it is clear. Chains of one kind
 * cannot tell; add.cc followed by subc can (seen on an H200). */
#include "core/alu.h"

/* Takes a, b and the flag `in`; sets `out`, the flag afterwards, and gives the result. */
#define ADD_CARRY(T)                                                                                            \
    static inline T add_##T(T a, T b, T in, T *out)                                                             \
    {                                                                                                           \
        T partial = a + b, total = partial + in;                                                                \
        *out = (partial < a) | (total < partial);                                                               \
        return total;                                                                                           \
    }                                                                                                           \
    static inline T subc_##T(T a, T b, T in, T *out)                                                            \
    {                                                                                                           \
        T borrow = !in, partial = a - b, total = partial - borrow;                                              \
        *out = !((a < b) | (partial < borrow));                                                                 \
        return total;                                                                                           \
    }                                                                                                           \
    static inline T sub_##T(T a, T b, T in, T *out)                                                             \
    {                                                                                                           \
        (void)in;                                                                                               \
        return subc_##T(a, b, 1, out);                                                                          \
    }
ADD_CARRY(uint32_t)
ADD_CARRY(uint64_t)

static inline uint32_t low_u32(uint32_t a, uint32_t b) { return a * b; }
static inline uint64_t low_u64(uint64_t a, uint64_t b) { return a * b; }
static inline uint32_t high_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline uint64_t high_u64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline uint32_t high_s32(uint32_t a, uint32_t b) { return (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32); }
static inline uint64_t high_s64(uint64_t a, uint64_t b) { return (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64); }

/* A handler of OP(x, y, carry in, &carry out). READS, WRITES: whether it takes the flag in, and leaves it. */
#define CARRY_HANDLER(name, T, OP, nsources, x, y, READS, WRITES)                                               \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        const struct operand *flag = &in->opnd[1 + nsources];                                                   \
        uint32_t carry_in = READS ? PRED(w, flag) : 0, carry_out = 0;                                           \
        T *d_row = ROW(w, &in->opnd[0], T);                                                                     \
        const T *a_row = ROW(w, &in->opnd[1], T), *b_row = ROW(w, &in->opnd[2], T);                             \
        const T *c_row = nsources == 3 ? ROW(w, &in->opnd[3], T) : b_row;                                       \
        LANES {                                                                                                 \
            T a = a_row[i], b = b_row[i], c = c_row[i], out;                                                    \
            T result = OP(x, y, (T)IN_MASK(carry_in, i), &out);                                                 \
            (void)a, (void)b, (void)c;                                                                          \
            carry_out |= (uint32_t)out << i;                                                                    \
            d_row[i] = IN_MASK(mask, i) ? result : d_row[i];                                                    \
        }                                                                                                       \
        if (WRITES) write_pred(w, flag->row, carry_out, mask);                                                  \
        return X_NEXT;                                                                                          \
    }

#define ADDITIONS(T, bits)                                                                                      \
    CARRY_HANDLER(add_cc_##bits, T, add_##T, 2, a, b, 0, 1) CARRY_HANDLER(sub_cc_##bits, T, sub_##T, 2, a, b, 0, 1) \
    CARRY_HANDLER(addc_##bits, T, add_##T, 2, a, b, 1, 0) CARRY_HANDLER(subc_##bits, T, subc_##T, 2, a, b, 1, 0) \
    CARRY_HANDLER(addc_cc_##bits, T, add_##T, 2, a, b, 1, 1) CARRY_HANDLER(subc_cc_##bits, T, subc_##T, 2, a, b, 1, 1)
ADDITIONS(uint32_t, 32)
ADDITIONS(uint64_t, 64)

/* mad.cc, madc, madc.cc in this order. */
#define PRODUCTS(name, T, HALF)                                                                                 \
    CARRY_HANDLER(mad_cc_##name, T, add_##T, 3, HALF(a, b), c, 0, 1)                                            \
    CARRY_HANDLER(madc_##name, T, add_##T, 3, HALF(a, b), c, 1, 0)                                              \
    CARRY_HANDLER(madc_cc_##name, T, add_##T, 3, HALF(a, b), c, 1, 1)                                           \
    static exec_fn *const products_##name[3] = {mad_cc_##name, madc_##name, madc_cc_##name};
PRODUCTS(lo_32, uint32_t, low_u32)
PRODUCTS(lo_64, uint64_t, low_u64)
PRODUCTS(hi_u32, uint32_t, high_u32)
PRODUCTS(hi_u64, uint64_t, high_u64)
PRODUCTS(hi_s32, uint32_t, high_s32)
PRODUCTS(hi_s64, uint64_t, high_s64)

static exec_fn *by_width(struct instr *in, exec_fn *for_32, exec_fn *for_64)
{
    if (!all_rows(in)) return NULL;
    return type_bytes(in->type[0]) == 8 ? for_64 : for_32;
}

exec_fn *pick_ADD_CC(struct instr *in) { return by_width(in, add_cc_32, add_cc_64); }
exec_fn *pick_ADDC(struct instr *in) { return by_width(in, addc_32, addc_64); }
exec_fn *pick_ADDC_CC(struct instr *in) { return by_width(in, addc_cc_32, addc_cc_64); }
exec_fn *pick_SUB_CC(struct instr *in) { return by_width(in, sub_cc_32, sub_cc_64); }
exec_fn *pick_SUBC(struct instr *in) { return by_width(in, subc_32, subc_64); }
exec_fn *pick_SUBC_CC(struct instr *in) { return by_width(in, subc_cc_32, subc_cc_64); }

static exec_fn *pick_product(struct instr *in, int which)
{
    if (in->flags & F_LO) return by_width(in, products_lo_32[which], products_lo_64[which]);
    bool is_signed = in->type[0] == T_S32 || in->type[0] == T_S64;
    return is_signed ? by_width(in, products_hi_s32[which], products_hi_s64[which])
                     : by_width(in, products_hi_u32[which], products_hi_u64[which]);
}

exec_fn *pick_MAD_CC(struct instr *in) { return pick_product(in, 0); }
exec_fn *pick_MADC(struct instr *in) { return pick_product(in, 1); }
exec_fn *pick_MADC_CC(struct instr *in) { return pick_product(in, 2); }
