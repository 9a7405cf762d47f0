/* wmma.c: wmma.load and wmma.store, and which forms wmma has.
 *
 * Modelled: every shape, type and layout of "Matrix multiply-accumulate operation using wmma instructions", from and to
 * global and shared memory, named or generic; the fragments of fragments.h.
 * An address needs the alignment of what one lane moves at once, which is less than the ISA asks for.
 */
#include "wmma.h"

#include <pthread.h>
#include <string.h>

static const struct wmma_form forms[] = {
    /* m   n   k    types     target   m   k    tall flat turned */
    { 16, 16, 16,  MMA_F16,  70, { 16, 16,  1,   2,   false } },
    { 32, 8,  16,  MMA_F16,  70, { 16, 16,  2,   1,   false } },
    { 8,  32, 16,  MMA_F16,  70, { 16, 16,  2,   1,   true } },
    { 16, 16, 16,  MMA_BF16, 80, { 16, 16,  1,   2,   false } },
    { 32, 8,  16,  MMA_BF16, 80, { 16, 16,  2,   1,   false } },
    { 8,  32, 16,  MMA_BF16, 80, { 16, 16,  2,   1,   true } },
    { 16, 16, 8,   MMA_TF32, 80, { 16, 8,   1,   2,   false } },
    { 8,  8,  4,   MMA_F64,  80, { 8,  4,   1,   1,   false } },
    { 16, 16, 16,  MMA_INT8, 72, { 16, 16,  1,   2,   false } },
    { 32, 8,  16,  MMA_INT8, 72, { 16, 16,  2,   1,   false } },
    { 8,  32, 16,  MMA_INT8, 72, { 16, 16,  2,   1,   true } },
    { 8,  8,  32,  MMA_INT4, 75, { 8,  32,  1,   1,   false } },
    { 8,  8,  128, MMA_BIT,  75, { 8,  128, 1,   1,   false } },
};
enum { FORMS = sizeof forms / sizeof forms[0], MATRICES = 3 };

static bool has_shape(const struct instr *in, const struct wmma_form *f)
{
    return f->m == in->shape_m && f->n == in->shape_n && f->k == in->shape_k && in->func->module->target >= f->target;
}

static enum mma_types types_of(enum type t)
{
    switch (t) {
    case T_F16: return MMA_F16;
    case T_BF16: return MMA_BF16;
    case T_TF32: return MMA_TF32;
    case T_F64: return MMA_F64;
    case T_U8: case T_S8: return MMA_INT8;
    case T_U4: case T_S4: return MMA_INT4;
    case T_B1: return MMA_BIT;
    default: return MMA_NO_TYPES;
    }
}

const struct wmma_form *wmma_form(const struct instr *in, enum type a)
{
    enum mma_types types = types_of(a);
    for (int i = 0; i < FORMS; i++)
        if (has_shape(in, &forms[i]) && forms[i].types == types)
            return &forms[i];
    return NULL;
}

/* ---- where the elements are in memory */

/* One matrix of one form, in one type: what load and store need. */
struct fragment {
    const struct wmma_form *form;
    enum wmma_matrix matrix;
    enum type type;
    int rows, cols, per;                        /* per: elements in a register */
    int registers, distinct;                    /* distinct: those that do not repeat others */
    uint8_t row[MMA_REGS][WARP], col[MMA_REGS][WARP];           /* of a register's first element */
};

static void fill(struct fragment *f, const struct wmma_form *form, enum wmma_matrix matrix, enum type t)
{
    f->form = form;
    f->matrix = matrix;
    f->type = t;
    f->rows = matrix == WMMA_B ? form->k : form->m;
    f->cols = matrix == WMMA_A ? form->k : form->n;
    f->per = t == T_F64 ? 1 : 32 / (int)mma_bits(t);
    f->distinct = f->rows * f->cols / WARP / f->per;
    f->registers = t == T_F16 && matrix != WMMA_C ? 8 : f->distinct;
    for (int r = 0; r < f->registers; r++)
        for (int lane = 0; lane < WARP; lane++) {
            struct place p = wmma_fragment(&form->cut, matrix, lane, r % f->distinct * f->per, f->per);
            f->row[r][lane] = (uint8_t)p.row;
            f->col[r][lane] = (uint8_t)p.col;
        }
}

/* All fragments that there are: A and B in the type of the form (a signed and an unsigned type lie alike), C in
 * f16 and in the wide type. */
static struct fragment fragments[FORMS][4];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static enum type type_of(enum mma_types types)
{
    static const enum type of[] = { [MMA_F16] = T_F16, [MMA_BF16] = T_BF16, [MMA_TF32] = T_TF32, [MMA_F64] = T_F64,
                                    [MMA_INT8] = T_U8, [MMA_INT4] = T_U4, [MMA_BIT] = T_B1 };
    return of[types];
}

static enum type wide_type(enum mma_types types)
{
    return types == MMA_F64 ? T_F64 : types == MMA_INT8 || types == MMA_INT4 || types == MMA_BIT ? T_S32 : T_F32;
}

static void fill_all(void)
{
    for (int i = 0; i < FORMS; i++) {
        enum mma_types types = forms[i].types;
        fill(&fragments[i][0], &forms[i], WMMA_A, type_of(types));
        fill(&fragments[i][1], &forms[i], WMMA_B, type_of(types));
        fill(&fragments[i][2], &forms[i], WMMA_C, wide_type(types));
        fill(&fragments[i][3], &forms[i], WMMA_C, types == MMA_F16 ? T_F16 : wide_type(types));
    }
}

/* For loads and stores of C the shape alone must tell the form; forms of one shape hold C alike. */
static const struct fragment *fragment_of(const struct instr *in, enum wmma_matrix matrix)
{
    enum type t = in->type[0];
    pthread_once(&filled, fill_all);
    for (int i = 0; i < FORMS; i++)
        for (int j = 0; j < 4; j++) {
            const struct fragment *f = &fragments[i][j];
            bool type_fits = matrix == WMMA_C ? f->type == t : types_of(t) == forms[i].types;
            if (has_shape(in, &forms[i]) && f->matrix == matrix && type_fits)
                return f;
        }
    return NULL;
}

/* ---- load and store */

/* A line is a row or a column, whichever is contiguous in memory. */
struct lines { uint8_t *at[WARP]; bool row_major; };

static bool is_uniform(struct warp *w, const struct instr *in, uint32_t mask, const uint64_t *value, const char *what)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    FOR_LANES(lane, mask)
        if (value[lane] != value[first]) {
            fault(w, in, (int)lane, FAULT_BAD_OPERAND,
                  "the %s must be the same in all lanes: 0x%llx here, 0x%llx in lane %u", what,
                  (unsigned long long)value[lane], (unsigned long long)value[first], first);
            return false;
        }
    return true;
}

/* Bytes that a lane moves at once: a register, or two of C if they are neighbours in memory. */
static uint32_t alignment_of(const struct fragment *f, bool row_major)
{
    uint32_t bytes = f->type == T_F64 ? 8 : 4;
    bool pairs = f->matrix == WMMA_C && f->per == 1 && row_major != f->form->cut.turned;
    return pairs ? 2 * bytes : bytes;
}

static bool find_lines(struct warp *w, const struct instr *in, uint32_t mask, const struct operand *address,
                       const struct operand *stride, enum access how, struct lines *l)
{
    const struct fragment *f = in->plan;
    uint64_t addr[WARP], strides[WARP];
    uint32_t first = (uint32_t)__builtin_ctz(mask), bits = mma_bits(f->type);
    l->row_major = in->layout[0] == M_row;
    int lines = l->row_major ? f->rows : f->cols, length = l->row_major ? f->cols : f->rows;
    mem_addresses(w, address, addr);
    for (int lane = 0; lane < WARP; lane++)
        strides[lane] = stride->kind == O_NONE ? (uint64_t)length : ROW(w, stride, uint32_t)[lane];
    if (!is_uniform(w, in, mask, addr, "address") || !is_uniform(w, in, mask, strides, "stride"))
        return false;
    if (strides[first] < (uint64_t)length) {
        fault(w, in, (int)first, FAULT_BAD_OPERAND, "a stride of %llu elements is less than the %d of a line",
              (unsigned long long)strides[first], length);
        return false;
    }
    uint64_t base = addr[first];
    for (int i = 0; i < WARP; i++)
        addr[i] = base + (uint64_t)i * strides[first] * bits / 8;
    return mem_lanes(w, in, lines == WARP ? UINT32_MAX : (1u << lines) - 1, in->space, addr,
                     (uint32_t)length * bits / 8, alignment_of(f, l->row_major), how, l->at);
}

/* Element e of register r of a lane; for types of at least a byte. */
static uint8_t *element_at(const struct lines *l, const struct fragment *f, int r, int lane, int e)
{
    struct place p = wmma_fragment(&f->form->cut, f->matrix, lane, r % f->distinct * f->per + e, f->per);
    uint32_t bytes = mma_bits(f->type) / 8;
    return l->row_major ? l->at[p.row] + (uint32_t)p.col * bytes : l->at[p.col] + (uint32_t)p.row * bytes;
}

/* The first element's; a register's elements follow it in memory if they are neighbours along the line. */
static uint8_t *register_at(const struct lines *l, const struct fragment *f, int r, int lane)
{
    int line = l->row_major ? f->row[r][lane] : f->col[r][lane], pos = l->row_major ? f->col[r][lane] : f->row[r][lane];
    return l->at[line] + (uint32_t)pos * mma_bits(f->type) / 8;
}

/* Neighbours in a register go along k in A and B, along the columns in C (the rows, where C is turned). */
static bool is_contiguous(const struct fragment *f, bool row_major)
{
    bool along_columns = f->matrix == WMMA_A || (f->matrix == WMMA_C && !f->form->cut.turned);
    return f->per == 1 || row_major == along_columns;
}

static int wmma_load(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct fragment *f = in->plan;
    const uint32_t bytes = f->type == T_F64 ? 8 : 4;
    struct lines l;
    uint32_t *reg[MMA_REGS];
    if (!find_lines(w, in, mask, &in->opnd[1], &in->opnd[2], A_READ, &l))
        return X_FAULT;
    mma_registers(w, &in->opnd[0], reg, MMA_REGS);
    bool whole = is_contiguous(f, l.row_major);
    const int size = 4 / f->per;        /* of an element, if not whole */
    for (int r = 0; r < f->registers; r++)
        FOR_LANES(lane, mask) {
            uint8_t *to = (uint8_t *)reg[r] + lane * bytes;
            if (whole)
                memcpy(to, register_at(&l, f, r, (int)lane), bytes);
            else
                for (int e = 0; e < f->per; e++)
                    memcpy(to + e * size, element_at(&l, f, r, (int)lane, e), (size_t)size);
        }
    return X_NEXT;
}

static int wmma_store(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct fragment *f = in->plan;
    const uint32_t bytes = f->type == T_F64 ? 8 : 4;
    struct lines l;
    uint32_t *reg[MMA_REGS];
    if (!find_lines(w, in, mask, &in->opnd[0], &in->opnd[2], A_WRITE, &l))
        return X_FAULT;
    mma_registers(w, &in->opnd[1], reg, MMA_REGS);
    bool whole = is_contiguous(f, l.row_major);
    for (int r = 0; r < f->registers; r++)
        FOR_LANES(lane, mask) {
            const uint8_t *from = (const uint8_t *)reg[r] + lane * bytes;
            if (whole)
                memcpy(register_at(&l, f, r, (int)lane), from, bytes);
            else
                for (int e = 0; e < f->per; e++)
                    memcpy(element_at(&l, f, r, (int)lane, e), from + 2 * e, 2);
        }
    return X_NEXT;
}

exec_fn *pick_WMMA_LOAD(struct instr *in)
{
    enum wmma_matrix matrix = in->mode == M_frag_a ? WMMA_A : in->mode == M_frag_b ? WMMA_B : WMMA_C;
    const struct fragment *f = fragment_of(in, matrix);
    in->plan = f;
    bool below_a_byte = f && mma_bits(f->type) < 8;     /* these have one layout */
    if (!f || !mma_has_registers(&in->opnd[0], f->registers))
        return NULL;
    return below_a_byte && in->layout[0] != (matrix == WMMA_A ? M_row : M_col) ? NULL : wmma_load;
}

exec_fn *pick_WMMA_STORE(struct instr *in)
{
    const struct fragment *f = fragment_of(in, WMMA_C);
    in->plan = f;
    return f && mma_has_registers(&in->opnd[1], f->registers) ? wmma_store : NULL;
}
