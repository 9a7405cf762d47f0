/* alu_int.c: integer arithmetic: add sub mul mad mul24 mad24 sad min max abs neg, with .sat, .relu and the
 * pairs .u16x2 and .s16x2. Division is in alu_div.c, carries in alu_carry.c. */
#include "core/alu.h"

/* Handlers of an expression for every width and signedness. EXPR(U) may use U, an unsigned type in which the
 * arithmetic of the width wraps round as the chip's does. */
#define INT_HANDLERS(N, name, EXPR)                                                                             \
    N(name##_u16, uint16_t, EXPR(uint32_t)) N(name##_s16, int16_t, EXPR(uint32_t))                              \
    N(name##_u32, uint32_t, EXPR(uint32_t)) N(name##_s32, int32_t, EXPR(uint32_t))                              \
    N(name##_u64, uint64_t, EXPR(uint64_t)) N(name##_s64, int64_t, EXPR(uint64_t))                              \
    INT_TABLE(name)
#define SAME1(name, T, expr) HANDLER1(name, T, T, expr)
#define SAME2(name, T, expr) HANDLER2(name, T, T, T, expr)
#define SAME3(name, T, expr) HANDLER3(name, T, T, T, T, expr)

#define ADD(U) (U)a + (U)b
#define SUB(U) (U)a - (U)b
#define MUL_LO(U) (U)a * (U)b
#define MAD_LO(U) (U)a * (U)b + (U)c
#define SAD(U) (a < b ? (U)b - (U)a : (U)a - (U)b) + (U)c
#define MIN(U) a < b ? a : b
#define MAX(U) a > b ? a : b
#define ABS(U) a < 0 ? 0 - (U)a : (U)a
#define NEG(U) 0 - (U)a
INT_HANDLERS(SAME2, add, ADD)
INT_HANDLERS(SAME2, sub, SUB)
INT_HANDLERS(SAME2, mul_lo, MUL_LO)
INT_HANDLERS(SAME3, mad_lo, MAD_LO)
INT_HANDLERS(SAME3, sad, SAD)
INT_HANDLERS(SAME2, min, MIN)
INT_HANDLERS(SAME2, max, MAX)
INT_HANDLERS(SAME1, neg, NEG)
SAME1(abs_s16, int16_t, ABS(uint32_t))
SAME1(abs_s32, int32_t, ABS(uint32_t))
SAME1(abs_s64, int64_t, ABS(uint64_t))
static exec_fn *const abs_[INT_LANES] = {[LANE_S16] = abs_s16, [LANE_S32] = abs_s32, [LANE_S64] = abs_s64};

/* The upper half of a product. */
static inline uint16_t high_u16(uint16_t a, uint16_t b) { return (uint16_t)((uint32_t)a * b >> 16); }
static inline uint32_t high_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline uint64_t high_u64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline uint16_t high_s16(int16_t a, int16_t b) { return (uint16_t)(a * b >> 16); }
static inline uint32_t high_s32(int32_t a, int32_t b) { return (uint32_t)((int64_t)a * b >> 32); }
static inline uint64_t high_s64(int64_t a, int64_t b) { return (uint64_t)((__int128)a * b >> 64); }

SAME2(mul_hi_u16, uint16_t, high_u16(a, b))
SAME2(mul_hi_u32, uint32_t, high_u32(a, b))
SAME2(mul_hi_u64, uint64_t, high_u64(a, b))
SAME2(mul_hi_s16, int16_t, high_s16(a, b))
SAME2(mul_hi_s32, int32_t, high_s32(a, b))
SAME2(mul_hi_s64, int64_t, high_s64(a, b))
INT_TABLE(mul_hi)
SAME3(mad_hi_u16, uint16_t, high_u16(a, b) + c)
SAME3(mad_hi_u32, uint32_t, high_u32(a, b) + c)
SAME3(mad_hi_u64, uint64_t, high_u64(a, b) + c)
SAME3(mad_hi_s16, int16_t, high_s16(a, b) + c)
SAME3(mad_hi_s32, int32_t, high_s32(a, b) + (uint32_t)c)
SAME3(mad_hi_s64, int64_t, high_s64(a, b) + (uint64_t)c)
INT_TABLE(mad_hi)

HANDLER2(mul_wide_u16, uint32_t, uint16_t, uint16_t, (uint32_t)a * b)
HANDLER2(mul_wide_s16, int32_t, int16_t, int16_t, a * b)
HANDLER2(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)a * b)
HANDLER2(mul_wide_s32, int64_t, int32_t, int32_t, (int64_t)a * b)
static exec_fn *const mul_wide[INT_LANES] = {mul_wide_u16, mul_wide_u32, NULL, mul_wide_s16, mul_wide_s32, NULL};
HANDLER3(mad_wide_u16, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)a * b + c)
HANDLER3(mad_wide_s16, uint32_t, int16_t, int16_t, uint32_t, (uint32_t)(a * b) + c)
HANDLER3(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)a * b + c)
HANDLER3(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)a * b) + c)
static exec_fn *const mad_wide[INT_LANES] = {mad_wide_u16, mad_wide_u32, NULL, mad_wide_s16, mad_wide_s32, NULL};

/* .sat: limits a result that fits in 64 bits to those of s32. */
static inline int32_t clamp(int64_t x) { return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }
SAME2(add_sat, int32_t, clamp((int64_t)a + b))
SAME2(sub_sat, int32_t, clamp((int64_t)a - b))
SAME3(mad_hi_sat, int32_t, clamp(((int64_t)a * b >> 32) + c))

/* The lower 24 bits of the sources count. */
static inline int64_t product24_u32(uint32_t a, uint32_t b) { return (int64_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff)); }
static inline int64_t product24_s32(uint32_t a, uint32_t b)
{
    return (int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8);
}
SAME2(mul24_lo_u32, uint32_t, product24_u32(a, b))
SAME2(mul24_hi_u32, uint32_t, product24_u32(a, b) >> 16)
SAME2(mul24_lo_s32, uint32_t, product24_s32(a, b))
SAME2(mul24_hi_s32, uint32_t, product24_s32(a, b) >> 16)
SAME3(mad24_lo_u32, uint32_t, product24_u32(a, b) + c)
SAME3(mad24_hi_u32, uint32_t, (product24_u32(a, b) >> 16) + c)
SAME3(mad24_lo_s32, uint32_t, product24_s32(a, b) + c)
SAME3(mad24_hi_s32, uint32_t, (product24_s32(a, b) >> 16) + c)
static exec_fn *const mul24_lo[INT_LANES] = {[LANE_U32] = mul24_lo_u32, [LANE_S32] = mul24_lo_s32};
static exec_fn *const mul24_hi[INT_LANES] = {[LANE_U32] = mul24_hi_u32, [LANE_S32] = mul24_hi_s32};
static exec_fn *const mad24_lo[INT_LANES] = {[LANE_U32] = mad24_lo_u32, [LANE_S32] = mad24_lo_s32};
static exec_fn *const mad24_hi[INT_LANES] = {[LANE_U32] = mad24_hi_u32, [LANE_S32] = mad24_hi_s32};
SAME3(mad24_hi_sat, uint32_t, clamp((int32_t)(product24_s32(a, b) >> 16) + (int64_t)(int32_t)c))

/* Pairs of 16 bits: F is applied to the lower and the upper halves. */
#define PAIR(F) ((uint32_t)(uint16_t)F((int16_t)a, (int16_t)b) | (uint32_t)F((int16_t)(a >> 16), (int16_t)(b >> 16)) << 16)
static inline int sum(int a, int b) { return a + b; }
static inline int difference(int a, int b) { return a - b; }
static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
static inline int least_unsigned(int a, int b) { return (a & 0xffff) < (b & 0xffff) ? a : b; }
static inline int most_unsigned(int a, int b) { return (a & 0xffff) > (b & 0xffff) ? a : b; }
static inline int least_relu(int a, int b) { return most(least(a, b), 0); }
static inline int most_relu(int a, int b) { return most(most(a, b), 0); }
SAME2(add_16x2, uint32_t, PAIR(sum))
SAME2(sub_16x2, uint32_t, PAIR(difference))
SAME2(min_u16x2, uint32_t, PAIR(least_unsigned))
SAME2(max_u16x2, uint32_t, PAIR(most_unsigned))
SAME2(min_s16x2, uint32_t, PAIR(least))
SAME2(max_s16x2, uint32_t, PAIR(most))
SAME2(min_relu_s16x2, uint32_t, PAIR(least_relu))
SAME2(max_relu_s16x2, uint32_t, PAIR(most_relu))
SAME2(min_relu_s32, int32_t, most(least(a, b), 0))
SAME2(max_relu_s32, int32_t, most(most(a, b), 0))

/* ---------------------------------------------------------------- pickers */

/* The handler for the instruction's type, if no flag but those is set that the picker has dealt with. */
static exec_fn *of_type(struct instr *in, exec_fn *const table[INT_LANES], uint32_t dealt_with)
{
    enum int_lane lane = int_lane(in->type[0]);
    return lane < INT_LANES && all_rows(in) && only_flags(in, dealt_with) ? table[lane] : NULL;
}

/* .sat, .relu: one handler for one type. */
static exec_fn *only_for(struct instr *in, enum type t, uint32_t flags, exec_fn *handler)
{
    return in->type[0] == t && all_rows(in) && in->flags == flags ? handler : NULL;
}

exec_fn *pick_ADD(struct instr *in)
{
    if (in->flags & F_SAT) return only_for(in, T_S32, F_SAT, add_sat);
    if (in->type[0] == T_U16X2 || in->type[0] == T_S16X2) return only_for(in, in->type[0], 0, add_16x2);
    return of_type(in, add, 0);
}

exec_fn *pick_SUB(struct instr *in)
{
    if (in->flags & F_SAT) return only_for(in, T_S32, F_SAT, sub_sat);
    if (in->type[0] == T_U16X2 || in->type[0] == T_S16X2) return only_for(in, in->type[0], 0, sub_16x2);
    return of_type(in, sub, 0);
}

exec_fn *pick_MUL(struct instr *in) { return of_type(in, in->flags & F_HI ? mul_hi : mul_lo, F_HI | F_LO); }
exec_fn *pick_MUL_WIDE(struct instr *in) { return of_type(in, mul_wide, F_WIDE); }
exec_fn *pick_MAD_WIDE(struct instr *in) { return of_type(in, mad_wide, F_WIDE); }

exec_fn *pick_MAD(struct instr *in)
{
    if (in->flags & F_SAT) return only_for(in, T_S32, F_SAT | F_HI, mad_hi_sat);
    return of_type(in, in->flags & F_HI ? mad_hi : mad_lo, F_HI | F_LO);
}

exec_fn *pick_MUL24(struct instr *in) { return of_type(in, in->flags & F_HI ? mul24_hi : mul24_lo, F_HI | F_LO); }

exec_fn *pick_MAD24(struct instr *in)
{
    if (in->flags & F_SAT) return only_for(in, T_S32, F_SAT | F_HI, mad24_hi_sat);
    return of_type(in, in->flags & F_HI ? mad24_hi : mad24_lo, F_HI | F_LO);
}

exec_fn *pick_SAD(struct instr *in) { return of_type(in, sad, 0); }
exec_fn *pick_ABS(struct instr *in) { return of_type(in, abs_, 0); }
exec_fn *pick_NEG(struct instr *in) { return of_type(in, neg, 0); }

exec_fn *pick_MIN(struct instr *in)
{
    bool relu = in->flags & F_RELU;
    switch (in->type[0]) {
    case T_U16X2: return only_for(in, T_U16X2, 0, min_u16x2);
    case T_S16X2: return only_for(in, T_S16X2, in->flags & F_RELU, relu ? min_relu_s16x2 : min_s16x2);
    default: return relu ? only_for(in, T_S32, F_RELU, min_relu_s32) : of_type(in, min, 0);
    }
}

exec_fn *pick_MAX(struct instr *in)
{
    bool relu = in->flags & F_RELU;
    switch (in->type[0]) {
    case T_U16X2: return only_for(in, T_U16X2, 0, max_u16x2);
    case T_S16X2: return only_for(in, T_S16X2, in->flags & F_RELU, relu ? max_relu_s16x2 : max_s16x2);
    default: return relu ? only_for(in, T_S32, F_RELU, max_relu_s32) : of_type(in, max, 0);
    }
}
