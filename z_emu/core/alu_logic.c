/* alu_logic.c: bitwise logic, shifts and byte permutation: and or xor not cnot lop3 shl shr shf prmt. */
#include "core/alu.h"

#define BIT_HANDLERS2(name, expr)                                                                               \
    HANDLER2(name##_16, uint16_t, uint16_t, uint16_t, expr) HANDLER2(name##_32, uint32_t, uint32_t, uint32_t, expr) \
    HANDLER2(name##_64, uint64_t, uint64_t, uint64_t, expr)
#define BIT_HANDLERS1(name, expr)                                                                               \
    HANDLER1(name##_16, uint16_t, uint16_t, expr) HANDLER1(name##_32, uint32_t, uint32_t, expr)                 \
    HANDLER1(name##_64, uint64_t, uint64_t, expr)

BIT_HANDLERS2(and, a & b)
BIT_HANDLERS2(or, a | b)
BIT_HANDLERS2(xor, a ^ b)
BIT_HANDLERS1(not, ~a)
BIT_HANDLERS1(cnot, a == 0)

/* Predicates: one word for all lanes. */
#define PRED_HANDLER(name, expr)                                                                                \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        uint32_t a = read_pred(w, &in->opnd[1]), b = in->nopnd > 2 ? read_pred(w, &in->opnd[2]) : 0;            \
        (void)b;                                                                                                \
        write_pred(w, in->opnd[0].row, expr, mask);                                                             \
        return X_NEXT;                                                                                          \
    }
PRED_HANDLER(and_pred, a & b)
PRED_HANDLER(or_pred, a | b)
PRED_HANDLER(xor_pred, a ^ b)
PRED_HANDLER(not_pred, ~a)

static exec_fn *by_width(struct instr *in, exec_fn *for_pred, exec_fn *for_16, exec_fn *for_32, exec_fn *for_64)
{
    if (in->type[0] == T_PRED) return for_pred;
    if (!all_rows(in)) return NULL;
    uint32_t bytes = type_bytes(in->type[0]);
    return bytes == 2 ? for_16 : bytes == 4 ? for_32 : for_64;
}

exec_fn *pick_AND(struct instr *in) { return by_width(in, and_pred, and_16, and_32, and_64); }
exec_fn *pick_OR(struct instr *in) { return by_width(in, or_pred, or_16, or_32, or_64); }
exec_fn *pick_XOR(struct instr *in) { return by_width(in, xor_pred, xor_16, xor_32, xor_64); }
exec_fn *pick_NOT(struct instr *in) { return by_width(in, not_pred, not_16, not_32, not_64); }
exec_fn *pick_CNOT(struct instr *in) { return by_width(in, NULL, cnot_16, cnot_32, cnot_64); }

/* ---------------------------------------------------------------- lop3 */

/* Bit by bit, a, b and c choose one of the eight bits of the table; all ones where bit n of the table is set. */
static inline uint32_t lut_row(uint32_t table, int n) { return 0 - (table >> n & 1); }
static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t without_a = (~b & ((~c & lut_row(table, 0)) | (c & lut_row(table, 1)))) |
                         (b & ((~c & lut_row(table, 2)) | (c & lut_row(table, 3))));
    uint32_t with_a = (~b & ((~c & lut_row(table, 4)) | (c & lut_row(table, 5)))) |
                      (b & ((~c & lut_row(table, 6)) | (c & lut_row(table, 7))));
    return (~a & without_a) | (a & with_a);
}
static int lop3_any(struct warp *w, const struct instr *in, uint32_t mask)
{
    const uint32_t *a = ROW(w, &in->opnd[1], uint32_t), *b = ROW(w, &in->opnd[2], uint32_t);
    const uint32_t *c = ROW(w, &in->opnd[3], uint32_t), table = (uint32_t)in->opnd[4].imm;
    uint32_t result[WARP];
    LANES result[i] = lop3(a[i], b[i], c[i], table);
    store_row(ROW(w, &in->opnd[0], uint32_t), result, sizeof *result, mask);
    return X_NEXT;
}
/* The tables that compilers use most. */
HANDLER3(lop3_and3, uint32_t, uint32_t, uint32_t, uint32_t, a & b & c)
HANDLER3(lop3_or3, uint32_t, uint32_t, uint32_t, uint32_t, a | b | c)
HANDLER3(lop3_xor3, uint32_t, uint32_t, uint32_t, uint32_t, a ^ b ^ c)
HANDLER3(lop3_and_or, uint32_t, uint32_t, uint32_t, uint32_t, (a & b) | c)
HANDLER3(lop3_select, uint32_t, uint32_t, uint32_t, uint32_t, (a & b) | (~a & c))

exec_fn *pick_LOP3(struct instr *in)
{
    if (!all_rows(in) || !(in->opnd[4].flags & O_CONST)) return NULL;
    switch (in->opnd[4].imm & 0xff) {
    case 0x80: return lop3_and3;
    case 0xfe: return lop3_or3;
    case 0x96: return lop3_xor3;
    case 0xea: return lop3_and_or;
    case 0xca: return lop3_select;
    default: return lop3_any;
    }
}

/* d may be _, then only the predicate is wanted. */
static int lop3_bool(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0];
    const uint32_t *a = ROW(w, &in->opnd[1], uint32_t), *b = ROW(w, &in->opnd[2], uint32_t);
    const uint32_t *c = ROW(w, &in->opnd[3], uint32_t), q = read_pred(w, &in->opnd[5]), table = (uint32_t)in->opnd[4].imm;
    uint32_t nonzero = 0, result[WARP];
    LANES {
        result[i] = lop3(a[i], b[i], c[i], table);
        nonzero |= (uint32_t)(result[i] != 0) << i;
    }
    if (d->kind == O_REG) {
        uint32_t *d_row = ROW(w, d, uint32_t);
        LANES d_row[i] = IN_MASK(mask, i) ? result[i] : d_row[i];
    }
    write_pred(w, d->pair_row, in->boolop == M_and ? nonzero & q : nonzero | q, mask);
    return X_NEXT;
}

exec_fn *pick_LOP3_BOOL(struct instr *in) { return in->opnd[4].flags & O_CONST ? lop3_bool : NULL; }

/* ---------------------------------------------------------------- shifts */

/* Amounts of the width and more give 0, or copies of the sign. */
HANDLER2(shl_16, uint16_t, uint16_t, uint32_t, b < 16 ? (uint32_t)a << b : 0)
HANDLER2(shl_32, uint32_t, uint32_t, uint32_t, b < 32 ? a << b : 0)
HANDLER2(shl_64, uint64_t, uint64_t, uint32_t, b < 64 ? a << b : 0)
HANDLER2(shr_u16, uint16_t, uint16_t, uint32_t, b < 16 ? a >> b : 0)
HANDLER2(shr_u32, uint32_t, uint32_t, uint32_t, b < 32 ? a >> b : 0)
HANDLER2(shr_u64, uint64_t, uint64_t, uint32_t, b < 64 ? a >> b : 0)
HANDLER2(shr_s16, int16_t, int16_t, uint32_t, a >> (b < 16 ? b : 15))
HANDLER2(shr_s32, int32_t, int32_t, uint32_t, a >> (b < 32 ? b : 31))
HANDLER2(shr_s64, int64_t, int64_t, uint32_t, a >> (b < 64 ? b : 63))
INT_TABLE(shr)

exec_fn *pick_SHL(struct instr *in) { return by_width(in, NULL, shl_16, shl_32, shl_64); }

exec_fn *pick_SHR(struct instr *in)
{
    enum int_lane lane = int_lane(in->type[0]);
    return lane < INT_LANES && all_rows(in) ? shr[lane] : NULL;
}

/* Funnel shifts: b is the high and a the low half of what is shifted. */
/* n <= 31; the other half is shifted by 32 - n in two steps. */
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n)
{
    return b << n | a >> 1 >> (31 - n);
}
static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n)
{
    return a >> n | b << 1 << (31 - n);
}
HANDLER3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel_left(a, b, c & 31))
HANDLER3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, c < 32 ? funnel_left(a, b, c & 31) : a)
HANDLER3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel_right(a, b, c & 31))
HANDLER3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, c < 32 ? funnel_right(a, b, c & 31) : b)

exec_fn *pick_SHF_L(struct instr *in) { return !all_rows(in) ? NULL : in->mode == M_wrap ? shf_l_wrap : shf_l_clamp; }
exec_fn *pick_SHF_R(struct instr *in) { return !all_rows(in) ? NULL : in->mode == M_wrap ? shf_r_wrap : shf_r_clamp; }

/* ---------------------------------------------------------------- prmt */

/* Byte `select` of the eight in b:a; with its top bit set, that byte's sign instead, eight times. */
static inline uint32_t pick_byte(uint32_t a, uint32_t b, uint32_t select)
{
    uint32_t byte = (select & 4 ? b : a) >> (select & 3) * 8 & 0xff;
    uint32_t sign = (0 - (byte >> 7)) & 0xff;
    return select & 8 ? sign : byte;
}
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t select)
{
    return pick_byte(a, b, select) | pick_byte(a, b, select >> 4) << 8 | pick_byte(a, b, select >> 8) << 16 |
           pick_byte(a, b, select >> 12) << 24;
}

/* The special modes are shorthand: c's two lowest bits choose one of four selections. */
#define SPECIAL_MODE(name, s0, s1, s2, s3) \
    HANDLER3(name, uint32_t, uint32_t, uint32_t, uint32_t, \
             permute(a, b, (c & 2 ? c & 1 ? s3 : s2 : c & 1 ? s1 : s0)))
HANDLER3(prmt, uint32_t, uint32_t, uint32_t, uint32_t, permute(a, b, c))
SPECIAL_MODE(prmt_f4e, 0x3210, 0x4321, 0x5432, 0x6543)
SPECIAL_MODE(prmt_b4e, 0x5670, 0x6701, 0x7012, 0x0123)
SPECIAL_MODE(prmt_rc8, 0x0000, 0x1111, 0x2222, 0x3333)
SPECIAL_MODE(prmt_ecl, 0x3210, 0x3211, 0x3222, 0x3333)
SPECIAL_MODE(prmt_ecr, 0x0000, 0x1110, 0x2210, 0x3210)
SPECIAL_MODE(prmt_rc16, 0x1010, 0x3232, 0x1010, 0x3232)

exec_fn *pick_PRMT(struct instr *in)
{
    if (!all_rows(in)) return NULL;
    switch (in->mode) {
    case M_f4e: return prmt_f4e;
    case M_b4e: return prmt_b4e;
    case M_rc8: return prmt_rc8;
    case M_ecl: return prmt_ecl;
    case M_ecr: return prmt_ecr;
    case M_rc16: return prmt_rc16;
    default: return prmt;
    }
}
