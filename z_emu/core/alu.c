/* alu.c: what pickers of plain instructions ask of an instruction before they give out a handler. */
#include "core/alu.h"

enum int_lane int_lane(enum type t)
{
    switch (t) {
    case T_U16: case T_B16: return LANE_U16;
    case T_U32: case T_B32: return LANE_U32;
    case T_U64: case T_B64: return LANE_U64;
    case T_S16: return LANE_S16;
    case T_S32: return LANE_S32;
    case T_S64: return LANE_S64;
    default: return INT_LANES;
    }
}

bool all_rows(const struct instr *in)
{
    for (int i = 0; i < in->nopnd; i++) {
        const struct operand *o = &in->opnd[i];
        if (o->kind != O_REG && o->kind != O_NONE) return false;
        if (o->flags & (O_NOT | O_NEG)) return false;
    }
    return true;
}
