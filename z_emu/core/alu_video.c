/* alu_video.c: video instructions: arithmetic on bytes and halves inside 32-bit registers.
 *
 * Scalar (vadd … vset): parts of a and b are taken out and extended, combined, clamped, and the result goes through
 * a second operation with c or is put into a part of c. SIMD (vadd2, vadd4 …): two halves or four bytes at once,
 * each source element any of those in b:a; results are merged into c or summed up with it.
 * Plain and slow: the chips of today work these out in steps too. */
#include "core/alu.h"

/* operand.select: digits, the lowest element's in the lowest 4 bits; how many; whether halves or bytes. */
static uint32_t digit(uint32_t select, int k) { return select >> 4 * k & 7; }
static int digits(uint32_t select) { return select >> 24 & 7; }
static uint32_t part_bits(uint32_t select) { return !select ? 32 : select >> 28 & 1 ? 16 : 8; }

static int64_t extended(uint64_t x, uint32_t bits, bool is_signed)
{
    uint32_t shift = 64 - bits;
    return is_signed ? (int64_t)(x << shift) >> shift : (int64_t)(x << shift >> shift);
}

/* To the range of a type of so many bits. */
static int64_t clamped(__int128 x, uint32_t bits, bool is_signed)
{
    int64_t most = (1ll << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : (int64_t)x;
}

static bool compare(enum mod cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case M_eq: return a == b;
    case M_ne: return a != b;
    case M_lt: return a < b;
    case M_le: return a <= b;
    case M_gt: return a > b;
    default: return a >= b;
    }
}

/* ---------------------------------------------------------------- scalar */

static int64_t source_part(struct warp *w, const struct operand *o, uint32_t lane, enum type t)
{
    uint32_t bits = part_bits(o->select), value = ROW(w, o, uint32_t)[lane];
    return extended(value >> (bits < 32 ? bits * digit(o->select, 0) : 0), bits, t == T_S32);
}

static __int128 shifted(const struct instr *in, int64_t a, int64_t amount)
{
    int64_t n = has_mod(in, M_shift_wrap) ? amount & 31 : amount > 32 ? 32 : amount;
    return in->op == OP_VSHL ? (__int128)a * ((__int128)1 << n) : (__int128)a >> n;
}

static __int128 primary(const struct instr *in, int64_t a, int64_t b)
{
    switch (in->op) {
    case OP_VADD: return a + b;
    case OP_VSUB: return a - b;
    case OP_VABSDIFF: return a < b ? b - a : a - b;
    case OP_VMIN: return a < b ? a : b;
    case OP_VMAX: return a > b ? a : b;
    case OP_VSET: return compare(in->cmp, a, b);
    default: return shifted(in, a, b);
    }
}

/* An unsigned result that has gone below zero counts as a large one, as an H200 has it. */
static int64_t secondary(enum mod op, int64_t x, int64_t c, bool is_signed)
{
    bool less = is_signed ? x < c : (uint64_t)x < (uint64_t)c;
    return op == M_add ? x + c : less == (op == M_min) ? x : c;
}

/* x put into the part of c that the destination names. */
static uint32_t merged(uint32_t select, uint32_t x, uint32_t c)
{
    uint32_t bits = part_bits(select), at = bits * digit(select, 0), part = (bits == 16 ? 0xffffu : 0xffu) << at;
    return (x << at & part) | (c & ~part);
}

static int scalar(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0], *c = &in->opnd[3];
    int first = in->op == OP_VSET ? 0 : 1;              /* vset has no destination type: its result is unsigned */
    bool is_signed = first && in->type[0] == T_S32;
    FOR_LANES(i, mask) {
        int64_t a = source_part(w, &in->opnd[1], i, in->type[first]);
        int64_t b = source_part(w, &in->opnd[2], i, in->type[first + 1]);
        __int128 full = primary(in, a, b);
        int64_t x = in->flags & F_SAT ? clamped(full, part_bits(d->select), is_signed) : (int64_t)full;
        uint32_t third = c->kind == O_REG ? ROW(w, c, uint32_t)[i] : 0;
        if (in->mode != M_NONE) x = secondary(in->mode, x, extended(third, 32, is_signed), is_signed);
        ROW(w, d, uint32_t)[i] = d->select ? merged(d->select, (uint32_t)x, third) : (uint32_t)x;
    }
    return X_NEXT;
}

/* (a * b) + c: a negated factor negates the product; .po adds one; then a shift. */
static int64_t multiply_add(const struct instr *in, int64_t a, int64_t b, uint32_t c, bool is_signed)
{
    bool negate_product = (in->opnd[1].flags & O_NEG) != (in->opnd[2].flags & O_NEG);
    __int128 addend = extended(c, 32, is_signed), x = (__int128)a * b;
    if (negate_product) x = -x;
    if (in->opnd[3].flags & O_NEG) addend = -addend;
    x += addend + has_mod(in, M_po);
    x >>= has_mod(in, M_shr7) ? 7 : has_mod(in, M_shr15) ? 15 : 0;
    return in->flags & F_SAT ? clamped(x, 32, is_signed) : (int64_t)x;
}

static int vmad(struct warp *w, const struct instr *in, uint32_t mask)
{
    bool negated = (in->opnd[1].flags & O_NEG) != (in->opnd[2].flags & O_NEG) || in->opnd[3].flags & O_NEG;
    bool is_signed = in->type[1] == T_S32 || in->type[2] == T_S32 || negated || has_mod(in, M_po);  /* .po: as an H200 does */
    FOR_LANES(i, mask) {
        int64_t a = source_part(w, &in->opnd[1], i, in->type[1]), b = source_part(w, &in->opnd[2], i, in->type[2]);
        uint32_t c = ROW(w, &in->opnd[3], uint32_t)[i];
        ROW(w, &in->opnd[0], uint32_t)[i] = (uint32_t)multiply_add(in, a, b, c, is_signed);
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- SIMD */

static int elements(const struct instr *in) { return in->op >= OP_VADD4 && in->op <= OP_VSET4 ? 4 : 2; }

/* Element k of a source: chosen among those of b:a, by default a's own or b's own. */
static int64_t source_element(uint64_t both, uint32_t select, int k, int n, int own, enum type t)
{
    uint32_t bits = 32u / (uint32_t)n, which = select ? digit(select, k) : (uint32_t)(own + k);
    return extended(both >> bits * which, bits, t == T_S32);
}

static int64_t element_result(const struct instr *in, int64_t a, int64_t b)
{
    switch (in->op) {
    case OP_VADD2: case OP_VADD4: return a + b;
    case OP_VSUB2: case OP_VSUB4: return a - b;
    case OP_VAVRG2: case OP_VAVRG4: return (a + b + (a + b >= 0)) >> 1;
    case OP_VABSDIFF2: case OP_VABSDIFF4: return a < b ? b - a : a - b;
    case OP_VMIN2: case OP_VMIN4: return a < b ? a : b;
    case OP_VMAX2: case OP_VMAX4: return a > b ? a : b;
    default: return compare(in->cmp, a, b);
    }
}

static bool in_destination(uint32_t select, int k)
{
    if (!select) return true;
    for (int i = 0; i < digits(select); i++)
        if (digit(select, i) == (uint32_t)k) return true;
    return false;
}

static int simd(struct warp *w, const struct instr *in, uint32_t mask)
{
    int n = elements(in), first = in->op == OP_VSET2 || in->op == OP_VSET4 ? 0 : 1;
    uint32_t bits = 32u / (uint32_t)n, ones = (1u << bits) - 1;
    const struct operand *d = &in->opnd[0];
    FOR_LANES(i, mask) {
        uint32_t a = ROW(w, &in->opnd[1], uint32_t)[i], b = ROW(w, &in->opnd[2], uint32_t)[i];
        uint32_t c = ROW(w, &in->opnd[3], uint32_t)[i], result = in->mode == M_add ? c : 0;
        uint64_t both = (uint64_t)b << 32 | a;
        for (int k = 0; k < n; k++) {
            int64_t x = source_element(both, in->opnd[1].select, k, n, 0, in->type[first]);
            int64_t y = source_element(both, in->opnd[2].select, k, n, n, in->type[first + 1]);
            int64_t r = element_result(in, x, y);
            if (in->flags & F_SAT) r = clamped(r, bits, first && in->type[0] == T_S32);
            bool taken = in_destination(d->select, k);
            if (in->mode == M_add) result += taken ? (uint32_t)r : 0;
            else result |= (taken ? (uint32_t)r & ones : c >> bits * (uint32_t)k & ones) << bits * (uint32_t)k;
        }
        ROW(w, d, uint32_t)[i] = result;
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

static exec_fn *pick_scalar(struct instr *in)
{
    bool has_c = in->opnd[3].kind == O_REG, wants_c = in->opnd[0].select || in->mode != M_NONE;
    for (int i = 0; i < 3; i++)
        if (digits(in->opnd[i].select) > 1) return NULL;
    if (in->opnd[0].select && in->mode != M_NONE) return NULL;
    return all_rows(in) && has_c == wants_c ? scalar : NULL;
}

static exec_fn *pick_simd(struct instr *in)
{
    int n = elements(in);
    for (int i = 0; i < 3; i++) {
        uint32_t select = in->opnd[i].select;
        if (select && part_bits(select) != 32u / (uint32_t)n) return NULL;
        if (i > 0 && select && digits(select) != n) return NULL;
    }
    return all_rows(in) && !(in->flags & F_SAT && in->mode == M_add) ? simd : NULL;
}

exec_fn *pick_VMAD(struct instr *in)
{
    int negated = 0;
    for (int i = 0; i < 4; i++) {
        if (in->opnd[i].kind != O_REG || digits(in->opnd[i].select) > 1) return NULL;
        negated += in->opnd[i].flags & O_NEG ? 1 : 0;
    }
    return negated && has_mod(in, M_po) ? NULL : vmad;
}

#define SCALAR(id) exec_fn *pick_##id(struct instr *in) { return pick_scalar(in); }
#define SIMD(id) exec_fn *pick_##id(struct instr *in) { return pick_simd(in); }
SCALAR(VADD) SCALAR(VSUB) SCALAR(VABSDIFF) SCALAR(VMIN) SCALAR(VMAX) SCALAR(VSHL) SCALAR(VSHR) SCALAR(VSET)
SIMD(VADD2) SIMD(VSUB2) SIMD(VAVRG2) SIMD(VABSDIFF2) SIMD(VMIN2) SIMD(VMAX2) SIMD(VSET2)
SIMD(VADD4) SIMD(VSUB4) SIMD(VAVRG4) SIMD(VABSDIFF4) SIMD(VMIN4) SIMD(VMAX4) SIMD(VSET4)
