/* alu_cmp.c: comparison and selection: setp set selp slct.
 *
 * A comparison of two rows gives a word with a bit per lane, whatever the mask; what is combined and stored
 * comes after. Unordered comparisons are the complements of ordered ones. */
#include "core/alu_fp.h"

typedef uint32_t compare_fn(const void *a_row, const void *b_row);

/* A comparison of 32 lanes, and the setp that does no more. */
#define COMPARE(name, T, expr)                                                                                  \
    static uint32_t name(const void *a_row, const void *b_row)                                                  \
    {                                                                                                           \
        uint32_t bits = 0;                                                                                      \
        for (int i = 0; i < WARP; i++) {                                                                        \
            T a = ((const T *)a_row)[i], b = ((const T *)b_row)[i];                                             \
            bits |= (uint32_t)(expr) << i;                                                                      \
        }                                                                                                       \
        return bits;                                                                                            \
    }                                                                                                           \
    static int setp_##name(struct warp *w, const struct instr *in, uint32_t mask)                               \
    {                                                                                                           \
        uint32_t bits = name(ROW(w, &in->opnd[1], T), ROW(w, &in->opnd[2], T));                                 \
        write_pred(w, in->opnd[0].row, bits, mask);                                                             \
        return X_NEXT;                                                                                          \
    }
#define COMPLEMENT(name, T)                                                                                     \
    static int setp_not_##name(struct warp *w, const struct instr *in, uint32_t mask)                           \
    {                                                                                                           \
        uint32_t bits = ~name(ROW(w, &in->opnd[1], T), ROW(w, &in->opnd[2], T));                                \
        write_pred(w, in->opnd[0].row, bits, mask);                                                             \
        return X_NEXT;                                                                                          \
    }

struct comparison {
    compare_fn *compare;
    bool complement;            /* the result is its complement */
    exec_fn *setp;
};
#define AT(cmp) [M_##cmp - M_eq]
enum { COMPARISONS = M_nan - M_eq + 1 };
_Static_assert(COMPARISONS == 18, "modifiers.def lists the comparisons one after the other");

#define COMPARE_INT(t, T)                                                                                       \
    COMPARE(eq_##t, T, a == b) COMPARE(ne_##t, T, a != b) COMPARE(lt_##t, T, a < b)                             \
    COMPARE(le_##t, T, a <= b) COMPARE(gt_##t, T, a > b) COMPARE(ge_##t, T, a >= b)
#define ORDERED(cmp, t) {cmp##_##t, false, setp_##cmp##_##t}
#define TABLE_SIGNED(t)                                                                                         \
    {AT(eq) = ORDERED(eq, t), AT(ne) = ORDERED(ne, t), AT(lt) = ORDERED(lt, t), AT(le) = ORDERED(le, t),        \
     AT(gt) = ORDERED(gt, t), AT(ge) = ORDERED(ge, t)}
#define TABLE_UNSIGNED(t)                                                                                       \
    {AT(eq) = ORDERED(eq, t), AT(ne) = ORDERED(ne, t), AT(lt) = ORDERED(lt, t), AT(le) = ORDERED(le, t),        \
     AT(gt) = ORDERED(gt, t), AT(ge) = ORDERED(ge, t), AT(cmp_lo) = ORDERED(lt, t), AT(ls) = ORDERED(le, t),    \
     AT(cmp_hi) = ORDERED(gt, t), AT(hs) = ORDERED(ge, t)}
COMPARE_INT(u16, uint16_t)
COMPARE_INT(u32, uint32_t)
COMPARE_INT(u64, uint64_t)
COMPARE_INT(s16, int16_t)
COMPARE_INT(s32, int32_t)
COMPARE_INT(s64, int64_t)
static const struct comparison of_ints[INT_LANES][COMPARISONS] = {
    TABLE_UNSIGNED(u16), TABLE_UNSIGNED(u32), TABLE_UNSIGNED(u64), TABLE_SIGNED(s16), TABLE_SIGNED(s32), TABLE_SIGNED(s64)};

#define COMPARE_FLOAT(t, T)                                                                                     \
    COMPARE(eq_##t, T, a == b) COMPARE(ne_##t, T, (a < b) | (a > b)) COMPARE(lt_##t, T, a < b)                  \
    COMPARE(le_##t, T, a <= b) COMPARE(gt_##t, T, a > b) COMPARE(ge_##t, T, a >= b)                             \
    COMPARE(num_##t, T, (a == a) & (b == b))                                                                    \
    COMPLEMENT(eq_##t, T) COMPLEMENT(ne_##t, T) COMPLEMENT(lt_##t, T) COMPLEMENT(le_##t, T)                     \
    COMPLEMENT(gt_##t, T) COMPLEMENT(ge_##t, T) COMPLEMENT(num_##t, T)
#define UNORDERED(opposite, t) {opposite##_##t, true, setp_not_##opposite##_##t}
#define TABLE_FLOAT(t)                                                                                          \
    {AT(eq) = ORDERED(eq, t), AT(ne) = ORDERED(ne, t), AT(lt) = ORDERED(lt, t), AT(le) = ORDERED(le, t),        \
     AT(gt) = ORDERED(gt, t), AT(ge) = ORDERED(ge, t), AT(num) = ORDERED(num, t), AT(nan) = UNORDERED(num, t),  \
     AT(equ) = UNORDERED(ne, t), AT(neu) = UNORDERED(eq, t), AT(ltu) = UNORDERED(ge, t),                        \
     AT(leu) = UNORDERED(gt, t), AT(gtu) = UNORDERED(le, t), AT(geu) = UNORDERED(lt, t)}
COMPARE_FLOAT(f32, float)
COMPARE_FLOAT(f64, double)
static const struct comparison of_f32[COMPARISONS] = TABLE_FLOAT(f32), of_f64[COMPARISONS] = TABLE_FLOAT(f64);

/* The comparison of the instruction for sources of type t; those of 16 bits are compared in f32. compare is NULL
 * when that type has no such comparison. */
static const struct comparison *comparison_of(const struct instr *in, enum type t)
{
    static const struct comparison none;
    if (in->cmp < M_eq || in->cmp > M_nan) return &none;
    int cmp = in->cmp - M_eq;
    enum int_lane lane = int_lane(t);
    bool bits = t == T_B16 || t == T_B32 || t == T_B64;
    if (bits && in->cmp != M_eq && in->cmp != M_ne) return &none;
    if (lane < INT_LANES) return &of_ints[lane][cmp];
    return t == T_F64 ? &of_f64[cmp] : &of_f32[cmp];
}

static bool is_pair(enum type t) { return t == T_F16X2 || t == T_BF16X2; }
static bool is_half(enum type t) { return t == T_F16 || t == T_BF16 || is_pair(t); }

/* ---------------------------------------------------------------- comparing any type */

/* 32 values of a row as f32: of 16-bit rows, or of the lower (part 0) or upper halves of a row of pairs. */
static void widen_halves(float *to, const uint16_t *from, enum type t, int part, bool ftz)
{
    int stride = is_pair(t) ? 2 : 1;
    for (int i = 0; i < WARP; i++) {
        uint16_t h = from[stride * i + part];
        to[i] = t == T_BF16 || t == T_BF16X2 ? f32_of_bf16(h) : f32_of_f16(ftz ? flush_f16(h) : h);
    }
}

/* The comparison's result in all lanes. */
static uint32_t compare(struct warp *w, const struct instr *in, enum type t, int part)
{
    const struct comparison *c = comparison_of(in, t);
    const void *a = ROW(w, &in->opnd[1], void), *b = ROW(w, &in->opnd[2], void);
    bool ftz = in->flags & F_FTZ;
    float x[WARP], y[WARP];
    if (is_half(t)) {
        widen_halves(x, a, t, part, ftz);
        widen_halves(y, b, t, part, ftz);
        a = x, b = y;
    } else if (ftz) {
        LANES x[i] = flush(((const float *)a)[i]);
        LANES y[i] = flush(((const float *)b)[i]);
        a = x, b = y;
    }
    uint32_t bits = c->compare(a, b);
    return c->complement ? ~bits : bits;
}

static uint32_t combine(struct warp *w, const struct instr *in, uint32_t bits)
{
    if (in->boolop == M_NONE) return bits;
    uint32_t c = read_pred(w, &in->opnd[3]);
    return in->boolop == M_and ? bits & c : in->boolop == M_or ? bits | c : bits ^ c;
}

/* ---------------------------------------------------------------- setp */

static int setp_any(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0];
    enum type t = in->type[0];
    uint32_t first = compare(w, in, t, 0), second = is_pair(t) ? compare(w, in, t, 1) : ~first;
    first = combine(w, in, first);
    second = combine(w, in, second);
    write_pred(w, d->kind == O_REG ? d->row : ROW_NONE, first, mask);
    write_pred(w, d->pair_row, second, mask);
    return X_NEXT;
}

static bool sources_are_rows(const struct instr *in)
{
    return in->opnd[1].kind == O_REG && in->opnd[2].kind == O_REG &&
           (in->boolop != M_NONE) == (in->opnd[3].kind == O_REG);
}

static exec_fn *pick_setp(struct instr *in)
{
    const struct comparison *c = comparison_of(in, in->type[0]);
    if (!c->compare || !sources_are_rows(in)) return NULL;
    bool plain = in->boolop == M_NONE && in->opnd[0].kind == O_REG && in->opnd[0].pair_row == ROW_NONE;
    return plain && !in->flags && !is_half(in->type[0]) ? c->setp : setp_any;
}
exec_fn *pick_SETP(struct instr *in) { return pick_setp(in); }
exec_fn *pick_FSETP(struct instr *in) { return in->type[0] == T_F64 && in->flags ? NULL : pick_setp(in); }
exec_fn *pick_HSETP(struct instr *in)
{
    bool bf16 = in->type[0] == T_BF16 || in->type[0] == T_BF16X2;
    return bf16 && in->flags ? NULL : pick_setp(in);
}

/* ---------------------------------------------------------------- set */

/* What true is in the type; pairs: in each half. */
static uint32_t true_of(enum type d, enum type source)
{
    switch (d) {
    case T_F32: return 0x3f800000;
    case T_F16: case T_F16X2: return 0x3c00;
    case T_BF16: case T_BF16X2: return 0x3f80;
    default: return is_pair(source) || d == T_U16 || d == T_S16 ? 0xffff : UINT32_MAX;
    }
}

static int set(struct warp *w, const struct instr *in, uint32_t mask)
{
    enum type source = in->type[1];
    uint32_t yes = true_of(in->type[0], source);
    uint32_t low = combine(w, in, compare(w, in, source, 0));
    uint32_t high = is_pair(source) ? combine(w, in, compare(w, in, source, 1)) : 0;
    FOR_LANES(i, mask) {
        uint32_t value = (low >> i & 1 ? yes : 0) | (high >> i & 1 ? yes << 16 : 0);
        if (in->opnd[0].width == 2)
            ROW(w, &in->opnd[0], uint16_t)[i] = (uint16_t)value;
        else
            ROW(w, &in->opnd[0], uint32_t)[i] = value;
    }
    return X_NEXT;
}

exec_fn *pick_SET(struct instr *in)
{
    enum type d = in->type[0], source = in->type[1];
    bool d_is_integer = int_lane(d) < INT_LANES, d_is_32 = type_bytes(d) == 4;
    bool pair_fits = is_pair(source) ? d_is_32 && (d_is_integer || d == source) : !is_pair(d);
    bool ftz_fits = !(in->flags & F_FTZ) || source == T_F32 || source == T_F16 || source == T_F16X2;
    if (!comparison_of(in, source)->compare || !sources_are_rows(in)) return NULL;
    return in->opnd[0].kind == O_REG && pair_fits && ftz_fits ? set : NULL;
}

/* ---------------------------------------------------------------- selp, slct */

#define SELECT(name, T)                                                                                         \
    static int name(struct warp *w, const struct instr *in, uint32_t mask)                                      \
    {                                                                                                           \
        T *d = ROW(w, &in->opnd[0], T);                                                                         \
        const T *a = ROW(w, &in->opnd[1], T), *b = ROW(w, &in->opnd[2], T);                                     \
        uint32_t first = read_pred(w, &in->opnd[3]);                                                            \
        if (mask == FULL_WARP)                                                                                  \
            LANES d[i] = IN_MASK(first, i) ? a[i] : b[i];                                                       \
        else                                                                                                    \
            LANES d[i] = IN_MASK(mask & first, i) ? a[i] : IN_MASK(mask & ~first, i) ? b[i] : d[i];             \
        return X_NEXT;                                                                                          \
    }
SELECT(selp_16, uint16_t)
SELECT(selp_32, uint32_t)
SELECT(selp_64, uint64_t)

static exec_fn *by_width(enum type t, exec_fn *for_16, exec_fn *for_32, exec_fn *for_64)
{
    uint32_t bytes = type_bytes(t);
    return bytes == 2 ? for_16 : bytes == 4 ? for_32 : for_64;
}

exec_fn *pick_SELP(struct instr *in)
{
    for (int i = 0; i < 4; i++)
        if (in->opnd[i].kind != O_REG) return NULL;
    return by_width(in->type[0], selp_16, selp_32, selp_64);
}

#define BY_SIGN(name, C, condition)                                                                             \
    HANDLER3(name##_16, uint16_t, uint16_t, uint16_t, C, condition ? a : b)                                     \
    HANDLER3(name##_32, uint32_t, uint32_t, uint32_t, C, condition ? a : b)                                     \
    HANDLER3(name##_64, uint64_t, uint64_t, uint64_t, C, condition ? a : b)
BY_SIGN(slct_s32, int32_t, c >= 0)
BY_SIGN(slct_f32, float, c >= 0)
BY_SIGN(slct_ftz, float, flush(c) >= 0)

exec_fn *pick_SLCT(struct instr *in)
{
    if (!all_rows(in)) return NULL;
    if (in->type[1] == T_S32) return in->flags ? NULL : by_width(in->type[0], slct_s32_16, slct_s32_32, slct_s32_64);
    if (in->flags & F_FTZ) return by_width(in->type[0], slct_ftz_16, slct_ftz_32, slct_ftz_64);
    return by_width(in->type[0], slct_f32_16, slct_f32_32, slct_f32_64);
}
