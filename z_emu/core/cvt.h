/* cvt.h: what the files of cvt share. */
#ifndef Z_EMU_CVT_H
#define Z_EMU_CVT_H

#include "core/alu_fp.h"

/* The format of a floating-point type, or of the elements of a packed one; NULL for other types. */
const struct format *format_of(enum type t);
/* Width and signedness of an integer type; 0 bits for other types. */
uint32_t int_bits(enum type t);
static inline bool is_signed_int(enum type t) { return t == T_S8 || t == T_S16 || t == T_S32 || t == T_S64; }

/* One value, given by its code in type `from`, in the code of type `to`, with the instruction's rounding and
 * modifiers. */
uint64_t convert(const struct instr *in, enum type to, enum type from, uint64_t code);
/* x in the format; .relu, .satfinite and the rounding as the instruction has them. */
uint64_t encode(const struct instr *in, const struct format *f, struct num x);

/* Row operands may be wider than the type: these read and write lane i of such a row. */
uint64_t read_lane(struct warp *w, const struct operand *o, uint32_t i, enum type t);
void write_lane(struct warp *w, const struct operand *o, uint32_t i, enum type t, uint64_t code);

exec_fn *pick_cvt_int(struct instr *in);        /* integer to integer */
exec_fn *pick_cvt_common(struct instr *in);     /* the forms that have a vectorised handler; NULL: none */

#endif
