/* alu.h: what the files of plain instructions share: how a handler is made from an expression, and what
 * a picker asks of an instruction before it gives one out.
 *
 * Floating point must not be contracted or reassociated: these files rely on every operation rounding once. */
#ifndef Z_EMU_ALU_H
#define Z_EMU_ALU_H

#include <string.h>

#include "emu.h"

#ifdef __FAST_MATH__
#error "the arithmetic of the emulator is exact: compile it without -ffast-math"
#endif

#define FULL_WARP UINT32_MAX
#define LANES _Pragma("GCC ivdep") for (int i = 0; i < WARP; i++)      /* lanes do not depend on one another */
#define IN_MASK(mask, i) ((mask) >> (i) & 1)

/* Handlers. HANDLER2(add_u32, uint32_t, uint32_t, uint32_t, a + b) is the handler of an instruction with one
 * destination row and two source rows: lane by lane it takes `a` and `b` (and the instruction's `flags`) and stores
 * the expression. A row may be source and destination at once. Both loops vectorise; the first is for the common
 * case of a whole warp. */
#define HANDLER_(name, D, sources, load, expr)                                                                  \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        D *d_row = ROW(w, &in->opnd[0], D);                                                                     \
        const uint32_t flags __attribute__((unused)) = in->flags;                                               \
        sources                                                                                                 \
        if (mask == FULL_WARP)                                                                                  \
            LANES { load; d_row[i] = (D)(expr); }                                                               \
        else                                                                                                    \
            LANES { load; D result = (D)(expr); d_row[i] = IN_MASK(mask, i) ? result : d_row[i]; }              \
        return X_NEXT;                                                                                          \
    }
#define SOURCE_(x, X, n) const X *x##_row = ROW(w, &in->opnd[n], X);
#define LOAD_(x, X) X x = x##_row[i]

#define HANDLER1(name, D, A, expr) HANDLER_(name, D, SOURCE_(a, A, 1), LOAD_(a, A), expr)
#define HANDLER2(name, D, A, B, expr) \
    HANDLER_(name, D, SOURCE_(a, A, 1) SOURCE_(b, B, 2), LOAD_(a, A); LOAD_(b, B), expr)
#define HANDLER3(name, D, A, B, C, expr) \
    HANDLER_(name, D, SOURCE_(a, A, 1) SOURCE_(b, B, 2) SOURCE_(c, C, 3), LOAD_(a, A); LOAD_(b, B); LOAD_(c, C), expr)
#define HANDLER4(name, D, A, B, C, E, expr) \
    HANDLER_(name, D, SOURCE_(a, A, 1) SOURCE_(b, B, 2) SOURCE_(c, C, 3) SOURCE_(e, E, 4), \
             LOAD_(a, A); LOAD_(b, B); LOAD_(c, C); LOAD_(e, E), expr)

/* For handlers that work their results out before they store them: under the mask, `width` bytes a lane. */
#define STORE_MASKED_(T)                                                                                        \
    do {                                                                                                        \
        T *d_row = row;                                                                                         \
        const T *r_row = result;                                                                                \
        LANES d_row[i] = IN_MASK(mask, i) ? r_row[i] : d_row[i];                                                \
    } while (0)
static inline void store_row(void *row, const void *result, uint32_t width, uint32_t mask)
{
    if (mask == FULL_WARP) memcpy(row, result, WARP * width);
    else if (width == 2) STORE_MASKED_(uint16_t);
    else if (width == 4) STORE_MASKED_(uint32_t);
    else STORE_MASKED_(uint64_t);
}

/* One handler for each integer width and signedness, and the table of them by int_lane(type). In the expression
 * T is the lane's type and U an unsigned type wide enough to compute in without overflow being undefined. */
enum int_lane { LANE_U16, LANE_U32, LANE_U64, LANE_S16, LANE_S32, LANE_S64, INT_LANES };
enum int_lane int_lane(enum type t);        /* INT_LANES when t is no 16, 32 or 64-bit integer or bit type */

#define INT_TABLE(name) \
    static exec_fn *const name[INT_LANES] = {name##_u16, name##_u32, name##_u64, name##_s16, name##_s32, name##_s64};

/* What pickers ask. The parser has checked the widths of registers, so that only these are left: */

/* Whether the operands are plain rows, or left out: no vectors, no _, nothing negated or inverted. */
bool all_rows(const struct instr *in);
/* Whether no flag but these is set. */
static inline bool only_flags(const struct instr *in, uint32_t flags) { return !(in->flags & ~flags); }

/* A predicate operand as a bit per lane, ! applied; and the write of one, under the mask. */
static inline uint32_t read_pred(struct warp *w, const struct operand *o)
{
    return o->flags & O_NOT ? ~PRED(w, o) : PRED(w, o);
}
static inline void write_pred(struct warp *w, uint32_t row, uint32_t bits, uint32_t mask)
{
    if (row == ROW_NONE) return;
    uint32_t *p = (uint32_t *)(w->regs + row);
    *p = (*p & ~mask) | (bits & mask);
}

/* Pickers that several files share. */
exec_fn *pick_f64(struct instr *in);        /* FADD FSUB FMUL FFMA FMAD */

/* The pickers of all rows of the instruction table. */
#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) exec_fn *pick_##id(struct instr *in);
#include "ptx/instructions.def"
#undef INSTR

#endif
