/* cvt_common.c: the conversions between integers and floating point, and from one floating-point type to another, that
 * programs use most: rows as wide as their types, the usual rounding, loops that vectorise. All others are in cvt.c. */
#include "core/alu_f16.h"
#include "core/cvt.h"

/* Floating point to integer: x has been rounded to an integral value; what does not fit is held to the range. */
static inline int32_t s32_of_f32(float x)
{
    return x >= 0x1p31f ? INT32_MAX : x >= -0x1p31f ? (int32_t)x : x == x ? INT32_MIN : 0;
}
static inline uint32_t u32_of_f32(float x) { return x >= 0x1p32f ? UINT32_MAX : x > 0 ? (uint32_t)x : 0; }
static inline int64_t s64_of_f32(float x) { return x >= 0x1p63f ? INT64_MAX : x > -0x1p63f ? (int64_t)x : INT64_MIN; }
static inline uint64_t u64_of_f32(float x)
{
    return x >= 0x1p64f ? UINT64_MAX : x > 0 ? (uint64_t)x : x == x ? 0 : 1ull << 63;
}
static inline int32_t s32_of_f64(double x) { return x >= 0x1p31 ? INT32_MAX : x > -0x1p31 ? (int32_t)x : INT32_MIN; }
static inline uint32_t u32_of_f64(double x)
{
    return x >= 0x1p32 ? UINT32_MAX : x > 0 ? (uint32_t)x : x == x ? 0 : 1u << 31;
}
static inline int64_t s64_of_f64(double x) { return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? (int64_t)x : INT64_MIN; }
static inline uint64_t u64_of_f64(double x)
{
    return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : x == x ? 0 : 1ull << 63;
}

/* All four roundings; conversion itself cuts off, which is .rzi. */
#define TO_INT(i, f, D, A, suffix)                                                                              \
    HANDLER1(i##_of_##f##_rzi, D, A, i##_of_##f(a))                                                             \
    HANDLER1(i##_of_##f##_rni, D, A, i##_of_##f(__builtin_rint##suffix(a)))                                     \
    HANDLER1(i##_of_##f##_rmi, D, A, i##_of_##f(__builtin_floor##suffix(a)))                                    \
    HANDLER1(i##_of_##f##_rpi, D, A, i##_of_##f(__builtin_ceil##suffix(a)))
TO_INT(s32, f32, int32_t, float, f)
TO_INT(u32, f32, uint32_t, float, f)
TO_INT(s64, f32, int64_t, float, f)
TO_INT(u64, f32, uint64_t, float, f)
TO_INT(s32, f64, int32_t, double, )
TO_INT(u32, f64, uint32_t, double, )
TO_INT(s64, f64, int64_t, double, )
TO_INT(u64, f64, uint64_t, double, )
HANDLER1(s32_of_f16_rzi, int32_t, uint16_t, s32_of_f32(f32_of_f16(a)))
HANDLER1(s32_of_f16_rni, int32_t, uint16_t, s32_of_f32(__builtin_rintf(f32_of_f16(a))))

/* Rounding to an integral value. */
#define INTEGRAL(f, T, suffix, RESULT)                                                                          \
    HANDLER1(f##_rzi, T, T, RESULT(__builtin_trunc##suffix(a)))                                                 \
    HANDLER1(f##_rni, T, T, RESULT(__builtin_rint##suffix(a)))                                                  \
    HANDLER1(f##_rmi, T, T, RESULT(__builtin_floor##suffix(a)))                                                 \
    HANDLER1(f##_rpi, T, T, RESULT(__builtin_ceil##suffix(a)))
#define QUIET(x) result_f64(x, a, a, a)
INTEGRAL(f32, float, f, canonical)
INTEGRAL(f64, double, , QUIET)

/* Integer to floating point, nearest. What an f16 can hold an f32 holds exactly. */
HANDLER1(f32_of_s16, float, int16_t, a)
HANDLER1(f32_of_u16, float, uint16_t, a)
HANDLER1(f32_of_s32, float, int32_t, a)
HANDLER1(f32_of_u32, float, uint32_t, a)
HANDLER1(f32_of_s64, float, int64_t, a)
HANDLER1(f32_of_u64, float, uint64_t, a)
HANDLER1(f64_of_s16, double, int16_t, a)
HANDLER1(f64_of_u16, double, uint16_t, a)
HANDLER1(f64_of_s32, double, int32_t, a)
HANDLER1(f64_of_u32, double, uint32_t, a)
HANDLER1(f64_of_s64, double, int64_t, a)
HANDLER1(f64_of_u64, double, uint64_t, a)
HANDLER1(f16_of_s16, uint16_t, int16_t, f16_of_f32(a))
HANDLER1(f16_of_u16, uint16_t, uint16_t, f16_of_f32(a))
HANDLER1(f16_of_s32, uint16_t, int32_t, f16_of_f32((float)a))
HANDLER1(f16_of_u32, uint16_t, uint32_t, f16_of_f32((float)a))

/* Floating point to floating point. bf16 to f32 is a shift on the chip too: NaNs keep what they carry. */
static inline double f64_of_f32(float x)
{
    uint64_t u = f32_bits(x);
    uint64_t nan = (u & 0x80000000) << 32 | 0x7ff8000000000000 | (u & 0x7fffff) << 29;
    return x == x ? (double)x : f64_of(nan);
}
static inline float f32_of_f64(double x)
{
    uint64_t u = f64_bits(x);
    uint32_t nan = (uint32_t)(u >> 32 & 0x80000000) | 0x7fc00000 | (uint32_t)(u >> 29 & 0x7fffff);
    return x == x ? (float)x : f32_of(nan);
}
static int f32_of_f16_(struct warp *w, const struct instr *in, uint32_t mask)
{
    float result[WARP];
    widen_f16(result, ROW(w, &in->opnd[1], uint16_t), WARP);
    store_row(ROW(w, &in->opnd[0], float), result, sizeof *result, mask);
    return X_NEXT;
}
static int f16_of_f32_rn(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint16_t result[WARP];
    narrow_f16(result, ROW(w, &in->opnd[1], float), WARP);
    store_row(ROW(w, &in->opnd[0], uint16_t), result, sizeof *result, mask);
    return X_NEXT;
}
HANDLER1(f32_of_bf16_, uint32_t, uint16_t, (uint32_t)a << 16)
HANDLER1(bf16_of_f32_rn, uint16_t, float, bf16_of_f32(a))
HANDLER1(f64_of_f32_, double, float, f64_of_f32(a))
HANDLER1(f32_of_f64_rn, float, double, f32_of_f64(a))
HANDLER1(copy_f32, uint32_t, uint32_t, a)
HANDLER1(copy_f64, uint64_t, uint64_t, a)
HANDLER1(copy_f16, uint16_t, uint16_t, (a & 0x7fff) > 0x7c00 ? (uint16_t)NAN_F16 : a)
HANDLER1(copy_bf16, uint16_t, uint16_t, (a & 0x7fff) > 0x7f80 ? (uint16_t)NAN_BF16 : a)

#define TO_INT_ROWS(i, f, I, F)                                                                                 \
    {I, F, M_rzi, i##_of_##f##_rzi}, {I, F, M_rni, i##_of_##f##_rni}, {I, F, M_rmi, i##_of_##f##_rmi},          \
    {I, F, M_rpi, i##_of_##f##_rpi}
#define INTEGRAL_ROWS(f, F) {F, F, M_rzi, f##_rzi}, {F, F, M_rni, f##_rni}, {F, F, M_rmi, f##_rmi}, {F, F, M_rpi, f##_rpi}

/* rnd M_NONE: nothing can be lost, whatever rounding is written. */
static const struct { uint8_t to, from; uint16_t rnd; exec_fn *handler; } table[] = {
    TO_INT_ROWS(s32, f32, T_S32, T_F32), TO_INT_ROWS(u32, f32, T_U32, T_F32),
    TO_INT_ROWS(s64, f32, T_S64, T_F32), TO_INT_ROWS(u64, f32, T_U64, T_F32),
    TO_INT_ROWS(s32, f64, T_S32, T_F64), TO_INT_ROWS(u32, f64, T_U32, T_F64),
    TO_INT_ROWS(s64, f64, T_S64, T_F64), TO_INT_ROWS(u64, f64, T_U64, T_F64),
    {T_S32, T_F16, M_rzi, s32_of_f16_rzi}, {T_S32, T_F16, M_rni, s32_of_f16_rni},
    INTEGRAL_ROWS(f32, T_F32), INTEGRAL_ROWS(f64, T_F64),
    {T_F32, T_S16, M_NONE, f32_of_s16}, {T_F32, T_U16, M_NONE, f32_of_u16},
    {T_F32, T_S32, M_rn, f32_of_s32}, {T_F32, T_U32, M_rn, f32_of_u32},
    {T_F32, T_S64, M_rn, f32_of_s64}, {T_F32, T_U64, M_rn, f32_of_u64},
    {T_F64, T_S16, M_NONE, f64_of_s16}, {T_F64, T_U16, M_NONE, f64_of_u16},
    {T_F64, T_S32, M_NONE, f64_of_s32}, {T_F64, T_U32, M_NONE, f64_of_u32},
    {T_F64, T_S64, M_rn, f64_of_s64}, {T_F64, T_U64, M_rn, f64_of_u64},
    {T_F16, T_S16, M_rn, f16_of_s16}, {T_F16, T_U16, M_rn, f16_of_u16},
    {T_F16, T_S32, M_rn, f16_of_s32}, {T_F16, T_U32, M_rn, f16_of_u32},
    {T_F32, T_F16, M_NONE, f32_of_f16_}, {T_F16, T_F32, M_rn, f16_of_f32_rn},
    {T_F32, T_BF16, M_NONE, f32_of_bf16_}, {T_BF16, T_F32, M_rn, bf16_of_f32_rn},
    {T_F64, T_F32, M_NONE, f64_of_f32_}, {T_F32, T_F64, M_rn, f32_of_f64_rn},
};

/* No modifier at all: a copy. */
static exec_fn *copy_of(enum type t)
{
    switch (t) {
    case T_F16: return copy_f16;
    case T_BF16: return copy_bf16;
    case T_F32: return copy_f32;
    default: return copy_f64;
    }
}

exec_fn *pick_cvt_common(struct instr *in)
{
    enum type to = in->type[0], from = in->type[1];
    bool exact_rows = in->opnd[0].width == type_bytes(to) && in->opnd[1].width == type_bytes(from);
    if (in->flags || !exact_rows) return NULL;
    if (to == from && in->rnd == M_NONE) return copy_of(to);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].to == to && table[i].from == from && (table[i].rnd == in->rnd || table[i].rnd == M_NONE))
            return table[i].handler;
    return NULL;
}
