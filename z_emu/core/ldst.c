/* core/ldst.c: ld, ldu and st, in all spaces, widths and vectors.
 *
 * A weak access of a whole warp takes one of three shapes (core/memory.h): 32 consecutive elements are copied,
 * one element for all is broadcast, anything else is a loop over lanes. There is a handler per width in
 * memory and width of register, so that each of these loops is simple enough to be vectorised.
 * Strong accesses (volatile, relaxed, acquire, release, mmio) go lane by lane, each element at once, a vector of up
 * to 16 bytes as one.
 * Caches are not modelled: their operators, hints, policies and prefetch sizes change no result. */
#include "core/memory.h"

typedef uint8_t m_u8;   typedef int8_t m_s8;    typedef uint16_t m_u16; typedef int16_t m_s16;
typedef uint32_t m_u32; typedef int32_t m_s32;  typedef uint64_t m_u64; typedef unsigned __int128 m_b128;
typedef uint16_t r_2;   typedef uint32_t r_4;   typedef uint64_t r_8;   typedef unsigned __int128 r_16;

/* Element in memory, width of register: all pairs that ld and st can have, but for b128, which has no vectors.
 * A wider register is extended. */
#define UNSIGNED_PAIRS(X) \
    X(u8, 2) X(u8, 4) X(u8, 8) X(u16, 2) X(u16, 4) X(u16, 8) X(u32, 4) X(u32, 8) X(u64, 8)
#define SIGNED_PAIRS(X) X(s8, 2) X(s8, 4) X(s8, 8) X(s16, 2) X(s16, 4) X(s16, 8) X(s32, 4) X(s32, 8)

enum element { E_u8, E_s8, E_u16, E_s16, E_u32, E_s32, E_u64, E_b128, ELEMENTS };

#define FULL UINT32_MAX
#define LANES _Pragma("GCC ivdep") for (int i = 0; i < WARP; i++)     /* lanes do not depend on one another */
#define LANE_ON(mask, i) ((mask) >> (i) & 1)

/* ---------------------------------------------------------------- ld */

/* ld_u16_4: one 16-bit element per lane into a 32-bit row. */
#define LD(M, W)                                                                                                \
    static void get_##M##_##W(const struct reach *r, r_##W d[WARP])                                             \
    {                                                                                                           \
        m_##M v[WARP];                                                                                          \
        if (r->shape == CONSECUTIVE) {                                                                          \
            memcpy(v, reach_ptr(r, 0), sizeof v);                                                               \
            LANES d[i] = (r_##W)v[i];                                                                           \
        } else if (r->shape == UNIFORM) {                                                                       \
            memcpy(v, reach_ptr(r, 0), sizeof v[0]);                                                            \
            LANES d[i] = (r_##W)v[0];                                                                           \
        } else                                                                                                  \
            LANES {                                                                                             \
                memcpy(v, reach_ptr(r, i), sizeof v[0]);                                                        \
                d[i] = (r_##W)v[0];                                                                             \
            }                                                                                                   \
    }                                                                                                           \
    static int ld_##M##_##W(struct warp *w, const struct instr *in, uint32_t mask)                              \
    {                                                                                                           \
        struct reach r;                                                                                         \
        if (!reach(w, in, &in->opnd[1], mask, in->space, sizeof(m_##M), sizeof(m_##M), reads(in), &r))          \
            return X_FAULT;                                                                                     \
        r_##W *d = ROW(w, &in->opnd[0], r_##W), t[WARP];                                                        \
        get_##M##_##W(&r, mask == FULL ? d : t);                                                                \
        if (mask != FULL)                                                                                       \
            LANES d[i] = LANE_ON(mask, i) ? t[i] : d[i];                                                        \
        return X_NEXT;                                                                                          \
    }

/* ldv_u16_4: vectors of n. All elements of a lane are taken apart in one go; the compiler makes shuffles of it. */
#define FROM(k) row[k][i] = (reg)v[i * n + k];
#define LDV(M, W)                                                                                               \
    static inline __attribute__((always_inline)) void unzip_##M##_##W(r_##W *row[], const m_##M *v, const int n) \
    {                                                                                                           \
        typedef r_##W reg;                                                                                      \
        if (n == 2)                                                                                             \
            LANES { FROM(0) FROM(1) }                                                                           \
        else if (n == 4)                                                                                        \
            LANES { FROM(0) FROM(1) FROM(2) FROM(3) }                                                           \
        else                                                                                                    \
            LANES { FROM(0) FROM(1) FROM(2) FROM(3) FROM(4) FROM(5) FROM(6) FROM(7) }                           \
    }                                                                                                           \
    static int ldv_##M##_##W(struct warp *w, const struct instr *in, uint32_t mask)                             \
    {                                                                                                           \
        const struct operand *d = &in->opnd[0];                                                                 \
        const uint32_t n = d->n, size = sizeof(m_##M) * n;                                                      \
        struct reach r;                                                                                         \
        _Alignas(64) m_##M stage[WARP * 8];                                                                     \
        _Alignas(64) r_##W t[8][WARP], *row[8];                                                                 \
        if (!reach(w, in, &in->opnd[1], mask, in->space, size, size, reads(in), &r))                            \
            return X_FAULT;                                                                                     \
        for (uint32_t e = 0; e < n; e++)                                                                        \
            row[e] = mask == FULL ? ROW(w, &d->elem[e], r_##W) : t[e];                                          \
        const m_##M *v = stage_in(stage, &r, size);                                                             \
        if (n == 2)                                                                                             \
            unzip_##M##_##W(row, v, 2);                                                                         \
        else if (n == 4)                                                                                        \
            unzip_##M##_##W(row, v, 4);                                                                         \
        else                                                                                                    \
            unzip_##M##_##W(row, v, 8);                                                                         \
        for (uint32_t e = 0; mask != FULL && e < n; e++) {                                                      \
            r_##W *to = ROW(w, &d->elem[e], r_##W);                                                             \
            LANES to[i] = LANE_ON(mask, i) ? t[e][i] : to[i];                                                   \
        }                                                                                                       \
        return X_NEXT;                                                                                          \
    }

/* Parameters are copied with their padding, which nothing need have written. */
static enum access reads(const struct instr *in) { return in->mode == M_param ? A_READ | A_ANY : A_READ; }

/* The lanes' bytes side by side: in memory as it is, or copied to the stage. */
static const void *stage_in(void *stage, const struct reach *r, uint32_t size)
{
    uint8_t *v = stage;
    if (r->shape == CONSECUTIVE)
        return reach_ptr(r, 0);
    switch (size) {
    case 2:  LANES memcpy(v + i * 2, reach_ptr(r, i), 2); break;
    case 4:  LANES memcpy(v + i * 4, reach_ptr(r, i), 4); break;
    case 8:  LANES memcpy(v + i * 8, reach_ptr(r, i), 8); break;
    case 16: LANES memcpy(v + i * 16, reach_ptr(r, i), 16); break;
    default: LANES memcpy(v + i * 32, reach_ptr(r, i), 32); break;
    }
    return v;
}

UNSIGNED_PAIRS(LD) SIGNED_PAIRS(LD) LD(b128, 16)
UNSIGNED_PAIRS(LDV) SIGNED_PAIRS(LDV)

/* ---------------------------------------------------------------- st */

#define ST(M, W)                                                                                                \
    static int st_##M##_##W(struct warp *w, const struct instr *in, uint32_t mask)                              \
    {                                                                                                           \
        struct reach r;                                                                                         \
        if (!reach(w, in, &in->opnd[0], mask, in->space, sizeof(m_##M), sizeof(m_##M), A_WRITE, &r))            \
            return X_FAULT;                                                                                     \
        const r_##W *b = ROW(w, &in->opnd[1], r_##W);                                                           \
        m_##M v[WARP];                                                                                          \
        LANES v[i] = (m_##M)b[i];                                                                               \
        stage_out(&r, mask, (const uint8_t *)v, sizeof v[0]);                                                   \
        return X_NEXT;                                                                                          \
    }

#define TO(k) v[i * n + k] = (element)row[k][i];
#define STV(M, W)                                                                                               \
    static inline __attribute__((always_inline)) void zip_##M##_##W(const r_##W *row[], m_##M *v, const int n)  \
    {                                                                                                           \
        typedef m_##M element;                                                                                  \
        if (n == 2)                                                                                             \
            LANES { TO(0) TO(1) }                                                                               \
        else if (n == 4)                                                                                        \
            LANES { TO(0) TO(1) TO(2) TO(3) }                                                                   \
        else                                                                                                    \
            LANES { TO(0) TO(1) TO(2) TO(3) TO(4) TO(5) TO(6) TO(7) }                                           \
    }                                                                                                           \
    static int stv_##M##_##W(struct warp *w, const struct instr *in, uint32_t mask)                             \
    {                                                                                                           \
        const struct operand *b = &in->opnd[1];                                                                 \
        const uint32_t n = b->n, size = sizeof(m_##M) * n;                                                      \
        struct reach r;                                                                                         \
        _Alignas(64) m_##M stage[WARP * 8], *v = stage;                                                         \
        const r_##W *row[8];                                                                                    \
        if (!reach(w, in, &in->opnd[0], mask, in->space, size, size, A_WRITE, &r))                              \
            return X_FAULT;                                                                                     \
        for (uint32_t e = 0; e < n; e++)                                                                        \
            row[e] = ROW(w, &b->elem[e], r_##W);                                                                \
        if (r.shape == CONSECUTIVE)                                                                             \
            v = (m_##M *)reach_ptr(&r, 0);                                                                      \
        if (n == 2)                                                                                             \
            zip_##M##_##W(row, v, 2);                                                                           \
        else if (n == 4)                                                                                        \
            zip_##M##_##W(row, v, 4);                                                                           \
        else                                                                                                    \
            zip_##M##_##W(row, v, 8);                                                                           \
        if (v == stage)                                                                                         \
            stage_out(&r, mask, (const uint8_t *)v, size);                                                      \
        return X_NEXT;                                                                                          \
    }

/* Where lanes write to the same place the highest one wins; the ISA lets any. */
static void stage_out(const struct reach *r, uint32_t mask, const uint8_t *v, uint32_t size)
{
    if (r->shape == CONSECUTIVE)
        memcpy(reach_ptr(r, 0), v, WARP * size);
    else if (mask == FULL)
        switch (size) {
        case 1:  LANES memcpy(reach_ptr(r, i), v + i, 1); break;
        case 2:  LANES memcpy(reach_ptr(r, i), v + i * 2, 2); break;
        case 4:  LANES memcpy(reach_ptr(r, i), v + i * 4, 4); break;
        case 8:  LANES memcpy(reach_ptr(r, i), v + i * 8, 8); break;
        case 16: LANES memcpy(reach_ptr(r, i), v + i * 16, 16); break;
        default: LANES memcpy(reach_ptr(r, i), v + i * 32, 32); break;
        }
    else
        FOR_LANES(i, mask) memcpy(reach_ptr(r, i), v + i * size, size);
}

UNSIGNED_PAIRS(ST) ST(b128, 16)
UNSIGNED_PAIRS(STV)

/* ---------------------------------------------------------------- strong, and vectors with a sink */

typedef int64_t whole16 __attribute__((vector_size(16), may_alias));

static m_b128 load_once(const uint8_t *p, enum element e)
{
    union { whole16 v; m_b128 bits; } u;
    switch (e) {
    case E_u8:  return *(const volatile uint8_t *)p;
    case E_s8:  return (m_b128)*(const volatile int8_t *)p;
    case E_u16: return *(const volatile uint16_t *)p;
    case E_s16: return (m_b128)*(const volatile int16_t *)p;
    case E_u32: return *(const volatile uint32_t *)p;
    case E_s32: return (m_b128)*(const volatile int32_t *)p;
    case E_u64: return *(const volatile uint64_t *)p;
    default:    u.v = *(const volatile whole16 *)p; return u.bits;
    }
}

static void store_once(uint8_t *p, enum element e, m_b128 value)
{
    union { m_b128 bits; whole16 v; } u = { value };
    switch (e) {
    case E_u8:  *(volatile uint8_t *)p = (uint8_t)value; break;
    case E_u16: *(volatile uint16_t *)p = (uint16_t)value; break;
    case E_u32: *(volatile uint32_t *)p = (uint32_t)value; break;
    case E_u64: *(volatile uint64_t *)p = (uint64_t)value; break;
    default:    *(volatile whole16 *)p = u.v; break;
    }
}

static uint8_t *lane_of(const struct warp *w, const struct operand *o, uint32_t lane)
{
    return w->regs + o->row + lane * o->width;
}

static enum element element_of(enum type t, bool sign);

static bool strong(const struct instr *in)
{
    return in->flags & (F_VOLATILE | F_MMIO) || (in->sem && in->sem != M_weak);
}

static enum access strength(const struct instr *in) { return strong(in) ? A_STRONG : 0; }

/* Element by element: the operand's elements, one operand when it is no vector. */
static const struct operand *elements(const struct operand *o, uint32_t *n)
{
    *n = o->kind == O_VEC ? o->n : 1;
    return o->kind == O_VEC ? o->elem : o;
}

static bool has_sink(const struct operand *o)
{
    for (uint32_t e = 0; o->kind == O_VEC && e < o->n; e++)
        if (o->elem[e].kind == O_SINK)
            return true;
    return false;
}

/* The element that a lane's whole vector makes up, ELEMENTS when it has to go in parts. As on the chip a strong
 * vector is not torn: programs keep a flag and the value that it is for in one. */
static enum element whole_vector(const struct operand *o, uint32_t bytes)
{
    if (o->kind != O_VEC || has_sink(o))
        return ELEMENTS;
    return bytes == 2 ? E_u16 : bytes == 4 ? E_u32 : bytes == 8 ? E_u64 : bytes == 16 ? E_b128 : ELEMENTS;
}

/* Element e of a vector, as load_once would have given it. */
static m_b128 vector_element(m_b128 whole, uint32_t e, uint32_t size, enum element el)
{
    const uint32_t bits = size * 8;
    m_b128 v = whole >> (e * bits) & (((m_b128)1 << bits) - 1);
    bool sign = el == E_s8 || el == E_s16 || el == E_s32;
    return sign && v >> (bits - 1) ? v | ~(m_b128)0 << bits : v;
}

static int ld_vector_at_once(struct warp *w, const struct instr *in, uint32_t mask, enum element whole)
{
    const enum element el = element_of(in->type[0], true);
    const uint32_t size = type_bytes(in->type[0]), n = in->opnd[0].n;
    const struct operand *d = in->opnd[0].elem;
    struct reach r;
    m_b128 v[WARP];
    if (!reach(w, in, &in->opnd[1], mask, in->space, size * n, size * n, reads(in) | strength(in), &r))
        return X_FAULT;
    FOR_LANES(i, mask) v[i] = load_once(reach_ptr(&r, i), whole);
    if (in->sem == M_acquire)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (uint32_t e = 0; e < n; e++)
        FOR_LANES(i, mask) {
            m_b128 one = vector_element(v[i], e, size, el);
            memcpy(lane_of(w, &d[e], i), &one, d[e].width);
        }
    return X_NEXT;
}

static int st_vector_at_once(struct warp *w, const struct instr *in, uint32_t mask, enum element whole)
{
    const uint32_t size = type_bytes(in->type[0]), n = in->opnd[1].n;
    const struct operand *b = in->opnd[1].elem;
    struct reach r;
    if (!reach(w, in, &in->opnd[0], mask, in->space, size * n, size * n, A_WRITE | strength(in), &r))
        return X_FAULT;
    if (in->sem == M_release)
        __atomic_thread_fence(__ATOMIC_RELEASE);
    FOR_LANES(i, mask) {
        m_b128 value = 0;
        for (uint32_t e = 0; e < n; e++)
            memcpy((uint8_t *)&value + e * size, lane_of(w, &b[e], i), size);
        store_once(reach_ptr(&r, i), whole, value);
    }
    return X_NEXT;
}

static int ld_by_element(struct warp *w, const struct instr *in, uint32_t mask)
{
    const enum element el = element_of(in->type[0], true);
    const uint32_t size = type_bytes(in->type[0]);
    uint32_t n;
    const struct operand *d = elements(&in->opnd[0], &n);
    struct reach r;
    m_b128 v[8][WARP];
    const enum element whole = whole_vector(&in->opnd[0], size * n);
    if (whole != ELEMENTS)
        return ld_vector_at_once(w, in, mask, whole);
    if (!reach(w, in, &in->opnd[1], mask, in->space, size * n, size * n, A_READ | A_ANY, &r))
        return X_FAULT;
    for (uint32_t e = 0; e < n; e++) {
        struct operand a = in->opnd[1];
        a.imm += e * size;
        if (d[e].kind == O_SINK)
            continue;
        if (!reach(w, in, &a, mask, in->space, size, size, reads(in) | strength(in), &r))
            return X_FAULT;
        FOR_LANES(i, mask) v[e][i] = load_once(reach_ptr(&r, i), el);
    }
    if (in->sem == M_acquire)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (uint32_t e = 0; e < n; e++)
        if (d[e].kind != O_SINK)
            FOR_LANES(i, mask) memcpy(lane_of(w, &d[e], i), &v[e][i], d[e].width);
    return X_NEXT;
}

static int st_by_element(struct warp *w, const struct instr *in, uint32_t mask)
{
    const enum element el = element_of(in->type[0], false);
    const uint32_t size = type_bytes(in->type[0]);
    uint32_t n;
    const struct operand *b = elements(&in->opnd[1], &n);
    struct reach r;
    const enum element whole = whole_vector(&in->opnd[1], size * n);
    if (whole != ELEMENTS)
        return st_vector_at_once(w, in, mask, whole);
    if (!reach(w, in, &in->opnd[0], mask, in->space, size * n, size * n, A_READ | A_ANY, &r))
        return X_FAULT;
    if (in->sem == M_release)
        __atomic_thread_fence(__ATOMIC_RELEASE);
    for (uint32_t e = 0; e < n; e++) {
        struct operand a = in->opnd[0];
        a.imm += e * size;
        if (b[e].kind == O_SINK)
            continue;
        if (!reach(w, in, &a, mask, in->space, size, size, A_WRITE | strength(in), &r))
            return X_FAULT;
        FOR_LANES(i, mask) {
            m_b128 value = 0;
            memcpy(&value, lane_of(w, &b[e], i), b[e].width);
            store_once(reach_ptr(&r, i), el, value);
        }
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

#define LOG_2 1
#define LOG_4 2
#define LOG_8 3
#define LD_ENTRY(M, W) [E_##M][LOG_##W] = { ld_##M##_##W, ldv_##M##_##W },
#define ST_ENTRY(M, W) [E_##M][LOG_##W] = { st_##M##_##W, stv_##M##_##W },
static exec_fn *const ld_table[ELEMENTS][5][2] = { UNSIGNED_PAIRS(LD_ENTRY) SIGNED_PAIRS(LD_ENTRY)
                                                        [E_b128][4] = { ld_b128_16 } };
static exec_fn *const st_table[ELEMENTS][5][2] = { UNSIGNED_PAIRS(ST_ENTRY) [E_b128][4] = { st_b128_16 } };

static enum element element_of(enum type t, bool sign)
{
    switch (t) {
    case T_S8:  return sign ? E_s8 : E_u8;
    case T_S16: return sign ? E_s16 : E_u16;
    case T_S32: return sign ? E_s32 : E_u32;
    default: break;
    }
    switch (type_bytes(t)) {
    case 1:  return E_u8;
    case 2:  return E_u16;
    case 4:  return E_u32;
    case 8:  return E_u64;
    case 16: return E_b128;
    default: return ELEMENTS;
    }
}

/* Vectors of the form the ISA has: up to 16 bytes, 32 where the target has them; as many registers as said. */
static bool vector_ok(const struct instr *in, const struct operand *o)
{
    uint32_t size = type_bytes(in->type[0]), n = in->vec > 1 ? in->vec : 1;
    if (n == 1)
        return o->kind == O_REG;
    if (o->kind != O_VEC || o->n != n || size * n > 32 || size == 16 || (n == 8 && size != 4))
        return false;
    return size * n <= 16 || in->func->module->target >= 100;
}

/* The table's entry for the first register, if all have the same width; the strong handler when it must be. */
static exec_fn *pick(const struct instr *in, const struct operand *o, exec_fn *const table[ELEMENTS][5][2], bool sign,
                     exec_fn *by_element)
{
    const enum element el = element_of(in->type[0], sign);
    uint32_t n, width = 0;
    const struct operand *e = elements(o, &n);
    if (el == ELEMENTS || !vector_ok(in, o))
        return NULL;
    bool mixed = false;
    for (uint32_t i = 0; i < n; i++) {
        if (e[i].kind == O_SINK)
            continue;
        if (e[i].kind != O_REG || e[i].flags & (O_NOT | O_NEG) || e[i].width < type_bytes(in->type[0]))
            return NULL;
        mixed |= width && width != e[i].width;
        width = e[i].width;
    }
    if (mixed || strong(in) || has_sink(o))
        return by_element;
    return width ? table[el][__builtin_ctz(width)][o->kind == O_VEC] : NULL;
}

exec_fn *pick_LD(struct instr *in)
{
    if (in->opnd[1].kind != O_MEM)
        return NULL;
    if (in->space == SP_LOCAL && !has_mod(in, M_local))
        in->mode = M_param;             /* a parameter of a function or of a call */
    return pick(in, &in->opnd[0], ld_table, true, ld_by_element);
}

exec_fn *pick_LDU(struct instr *in) { return pick_LD(in); }

exec_fn *pick_ST(struct instr *in)
{
    if (in->opnd[0].kind != O_MEM)
        return NULL;
    return pick(in, &in->opnd[1], st_table, false, st_by_element);
}
