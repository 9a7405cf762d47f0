/* alu_div.c: integer division and remainder.
 *
 * The ISA leaves division by zero open; on the chips of today quotient and remainder are then all ones, whatever the
 * width. The smallest signed number by -1 gives itself, remainder 0. */
#include "core/alu.h"

/* Quotients of up to 32 bits by the host's f64 division, which vectorises: the 53 bits of its result are enough
 * for the truncated quotient to be the exact one. b must not be 0. */
static inline uint32_t quotient_u32(uint32_t a, uint32_t b) { return (uint32_t)((double)a / (double)b); }

static inline uint32_t div_unsigned(uint32_t a, uint32_t b)
{
    uint32_t q = quotient_u32(a, b ? b : 1);
    return b ? q : UINT32_MAX;
}
static inline uint32_t rem_unsigned(uint32_t a, uint32_t b)
{
    uint32_t r = a - quotient_u32(a, b ? b : 1) * b;
    return b ? r : UINT32_MAX;
}

static inline uint32_t magnitude(int32_t a) { return a < 0 ? 0 - (uint32_t)a : (uint32_t)a; }

static inline uint32_t div_signed(int32_t a, int32_t b)
{
    uint32_t q = quotient_u32(magnitude(a), b ? magnitude(b) : 1);
    return b ? (a ^ b) < 0 ? 0 - q : q : UINT32_MAX;
}
static inline uint32_t rem_signed(int32_t a, int32_t b)
{
    uint32_t r = rem_unsigned(magnitude(a), magnitude(b));
    return b ? a < 0 ? 0 - r : r : UINT32_MAX;
}

static inline uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
static inline uint64_t div_s64(int64_t a, int64_t b)
{
    return b == -1 ? 0 - (uint64_t)a : b ? (uint64_t)(a / b) : UINT64_MAX;
}
static inline uint64_t rem_s64(int64_t a, int64_t b) { return b == -1 ? 0 : b ? (uint64_t)(a % b) : UINT64_MAX; }

#define DIVISION(name, T, expr) HANDLER2(name, T, T, T, expr)
DIVISION(div_u16, uint16_t, div_unsigned(a, b))
DIVISION(div_u32, uint32_t, div_unsigned(a, b))
DIVISION(div_s16, int16_t, div_signed(a, b))
DIVISION(div_s32, int32_t, div_signed(a, b))
DIVISION(div_u64_, uint64_t, div_u64(a, b))
DIVISION(div_s64_, int64_t, div_s64(a, b))
DIVISION(rem_u16, uint16_t, rem_unsigned(a, b))
DIVISION(rem_u32, uint32_t, rem_unsigned(a, b))
DIVISION(rem_s16, int16_t, rem_signed(a, b))
DIVISION(rem_s32, int32_t, rem_signed(a, b))
DIVISION(rem_u64_, uint64_t, rem_u64(a, b))
DIVISION(rem_s64_, int64_t, rem_s64(a, b))
static exec_fn *const divisions[INT_LANES] = {div_u16, div_u32, div_u64_, div_s16, div_s32, div_s64_};
static exec_fn *const remainders[INT_LANES] = {rem_u16, rem_u32, rem_u64_, rem_s16, rem_s32, rem_s64_};

exec_fn *pick_DIV(struct instr *in)
{
    enum int_lane lane = int_lane(in->type[0]);
    return lane < INT_LANES && all_rows(in) ? divisions[lane] : NULL;
}

exec_fn *pick_REM(struct instr *in)
{
    enum int_lane lane = int_lane(in->type[0]);
    return lane < INT_LANES && all_rows(in) ? remainders[lane] : NULL;
}
