/* mma_form.c: the forms of mma.sync and mma.sp: which shapes a type has, from which chip on, how many registers each
 * operand takes. A form that is not in the table is refused when the module is loaded.
 *
 * From "Matrix Shape" and the syntax and target notes of "mma" and "mma.sp / mma.sp::ordered_metadata".
 */
#include "mma_form.h"

static const struct mma_form forms[] = {
    /* types        m   n  k    sparse target */
    { MMA_F16,      8,  8, 4,   false, 70 },
    { MMA_F16,      16, 8, 8,   false, 75 },
    { MMA_F16,      16, 8, 16,  false, 80 },
    { MMA_BF16,     16, 8, 8,   false, 80 },
    { MMA_BF16,     16, 8, 16,  false, 80 },
    { MMA_TF32,     16, 8, 4,   false, 80 },
    { MMA_TF32,     16, 8, 8,   false, 80 },
    { MMA_F64,      8,  8, 4,   false, 80 },
    { MMA_F64,      16, 8, 4,   false, 90 },
    { MMA_F64,      16, 8, 8,   false, 90 },
    { MMA_F64,      16, 8, 16,  false, 90 },
    { MMA_INT8,     8,  8, 16,  false, 75 },
    { MMA_INT8,     16, 8, 16,  false, 80 },
    { MMA_INT8,     16, 8, 32,  false, 80 },
    { MMA_INT4,     8,  8, 32,  false, 75 },
    { MMA_INT4,     16, 8, 32,  false, 80 },
    { MMA_INT4,     16, 8, 64,  false, 80 },
    { MMA_BIT,      8,  8, 128, false, 75 },
    { MMA_BIT,      16, 8, 128, false, 80 },
    { MMA_BIT,      16, 8, 256, false, 80 },
    { MMA_FP8,      16, 8, 16,  false, 89 },
    { MMA_FP8,      16, 8, 32,  false, 89 },
    { MMA_F8F6F4,   16, 8, 32,  false, 120 },
    { MMA_MXF8F6F4, 16, 8, 32,  false, 120 },
    { MMA_MXF4,     16, 8, 64,  false, 120 },

    { MMA_F16,      16, 8, 16,  true,  80 },
    { MMA_F16,      16, 8, 32,  true,  80 },
    { MMA_BF16,     16, 8, 16,  true,  80 },
    { MMA_BF16,     16, 8, 32,  true,  80 },
    { MMA_TF32,     16, 8, 8,   true,  80 },
    { MMA_TF32,     16, 8, 16,  true,  80 },
    { MMA_INT8,     16, 8, 32,  true,  80 },
    { MMA_INT8,     16, 8, 64,  true,  80 },
    { MMA_INT4,     16, 8, 64,  true,  80 },
    { MMA_INT4,     16, 8, 128, true,  80 },
    { MMA_FP8,      16, 8, 64,  true,  89 },
    { MMA_F8F6F4,   16, 8, 64,  true,  120 },
    { MMA_MXF8F6F4, 16, 8, 64,  true,  120 },
    { MMA_MXF4,     16, 8, 128, true,  120 },
};

static enum mma_types types_of(const struct instr *in)
{
    switch (in->mode) {
    case M_kind_f8f6f4: return MMA_F8F6F4;
    case M_kind_mxf8f6f4: return MMA_MXF8F6F4;
    case M_kind_mxf4: case M_kind_mxf4nvf4: return MMA_MXF4;
    }
    switch (in->type[1]) {
    case T_F16: return MMA_F16;
    case T_BF16: return MMA_BF16;
    case T_TF32: return MMA_TF32;
    case T_F64: return MMA_F64;
    case T_U8: case T_S8: return MMA_INT8;
    case T_U4: case T_S4: return MMA_INT4;
    case T_B1: return MMA_BIT;
    case T_E4M3: case T_E5M2: return MMA_FP8;
    default: return MMA_NO_TYPES;
    }
}

static bool is_narrow(enum type t) { return mma_number(t) && mma_bits(t) <= 8; }

/* A and B may differ among the narrow types and among the integers of one width; D is what C is, but for m8n8k4. */
static bool types_agree(const struct instr *in, const struct mma_form *f)
{
    enum type d = in->type[0], a = in->type[1], b = in->type[2], c = in->type[3];
    switch (f->types) {
    case MMA_F16:
        return a == b && (d == T_F16 || d == T_F32) && (d == c || (f->m == 8 && c == T_F16));
    case MMA_BF16: case MMA_TF32:
        return a == b && d == T_F32 && c == T_F32;
    case MMA_F64:
        return b == T_F64 && d == T_F64 && c == T_F64;
    case MMA_INT8: case MMA_INT4:
        return mma_bits(b) == mma_bits(a) && !mma_number(b) && d == T_S32 && c == T_S32;
    case MMA_BIT:
        return b == T_B1 && d == T_S32 && c == T_S32;
    case MMA_FP8:
        return (b == T_E4M3 || b == T_E5M2) && d == c && (d == T_F32 || (d == T_F16 && !f->sparse));
    case MMA_F8F6F4:
        return is_narrow(a) && is_narrow(b) && d == c && (d == T_F16 || d == T_F32);
    case MMA_MXF4:
        return a == T_E2M1 && b == T_E2M1 && d == T_F32 && c == T_F32;
    default:
        return is_narrow(a) && is_narrow(b) && d == T_F32 && c == T_F32;
    }
}

static bool registers_agree(const struct instr *in, const struct mma_form *f)
{
    int element = f->types == MMA_F64 ? 64 : (int)mma_bits(mma_container(f->types, in->type[1]));
    int reg = f->types == MMA_F64 ? 64 : 32, k = f->sparse ? f->k / 2 : f->k;
    int lanes = f->types == MMA_F16 && f->k == 4 ? 8 : WARP;
    int cd = f->m * f->n / lanes;
    return mma_has_registers(&in->opnd[0], in->type[0] == T_F16 ? cd / 2 : cd) &&
           mma_has_registers(&in->opnd[1], f->m * k * element / reg / lanes) &&
           mma_has_registers(&in->opnd[2], f->n * f->k * element / reg / lanes) &&
           mma_has_registers(&in->opnd[3], in->type[3] == T_F16 ? cd / 2 : cd);
}

static bool layouts_agree(const struct instr *in, const struct mma_form *f)
{
    return (f->types == MMA_F16 && f->m == 8) || (in->layout[0] == M_row && in->layout[1] == M_col);
}

const struct mma_form *mma_form(const struct instr *in, bool sparse)
{
    enum mma_types types = types_of(in);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct mma_form *f = &forms[i];
        if (f->types != types || f->m != in->shape_m || f->n != in->shape_n || f->k != in->shape_k ||
            f->sparse != sparse)
            continue;
        bool ok = types_agree(in, f) && layouts_agree(in, f) && registers_agree(in, f) &&
                  in->func->module->target >= f->target && (!(in->flags & F_SATFINITE) || in->type[0] == T_S32);
        return ok ? f : NULL;
    }
    return NULL;
}

enum type mma_container(enum mma_types types, enum type t)
{
    return t == T_E2M1 && types != MMA_MXF4 ? (enum type)MMA_E2M1_BYTE : t;
}
