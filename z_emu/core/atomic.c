/* core/atomic.c: atom and red.
 *
 * In global memory an update is one atomic operation of the host, so CTAs on several host threads and the host
 * program itself may meet there. A cluster runs on one host thread, so its shared memory needs none.
 * Where lanes of one instruction meet, they go in the order of their lanes; the ISA leaves it open.
 * PTX ISA: "Parallel Synchronization and Communication Instructions: atom", "…: red". */
#include "core/alu_fp.h"
#include "core/memory.h"

typedef uint16_t b16;   typedef uint32_t b32;   typedef uint64_t b64;   typedef unsigned __int128 b128;
typedef int32_t s32;    typedef int64_t s64;    typedef uint32_t u32;   typedef uint64_t u64;

static int update(struct warp *w, const struct instr *in, uint32_t mask, update_fn *fn, uint32_t size);

/* ---------------------------------------------------------------- 128 bits */

#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
static bool swap_b128(b128 *p, b128 *old, b128 new)
{
    b128 seen = __sync_val_compare_and_swap(p, *old, new);
    bool done = seen == *old;
    *old = seen;
    return done;
}
#else
/* Without such an instruction: atomic among 128-bit updates, which is all that a program can rely on. */
static bool swap_b128(b128 *p, b128 *old, b128 new)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    b128 seen = *p;
    bool done = seen == *old;
    if (done)
        *p = new;
    *old = seen;
    pthread_mutex_unlock(&lock);
    return done;
}
#endif

#define SWAP(T) \
    static bool swap_##T(T *p, T *old, T new) \
    { return __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); }
SWAP(b16) SWAP(b32) SWAP(b64)

/* ---------------------------------------------------------------- floating point */

/* Global memory flushes subnormals in f32 sums, shared memory does not. */
static float ftz(float x, bool keep) { return keep ? x : flush(x); }

static u32 add_f32(u32 a, u32 b, bool keep)
{
    float sum = ftz(f32_of(a), keep) + ftz(f32_of(b), keep);
    return f32_bits(ftz(canonical(sum), keep));
}

/* A NaN is handed on: in global memory b before a, neither made quiet (seen on an H200). */
static u64 add_f64(u64 a, u64 b, bool shared)
{
    double x = f64_of(a), y = f64_of(b);
    if (!shared && (x != x || y != y))
        return y != y ? b : a;
    return f64_bits(result_f64(x + y, x, y, y));
}

/* min and max of numbers that f32 holds: a NaN loses against a number, -0 against +0. */
static float less(float a, float b) { return a != a ? b : b != b ? a : a < b || (a == b && f32_bits(a) >> 31) ? a : b; }
static float more(float a, float b) { return a != a ? b : b != b ? a : a > b || (a == b && f32_bits(b) >> 31) ? a : b; }
static float plus(float a, float b) { return a + b; }

#define HALVES(op) \
    static b16 op##_f16(b16 a, b16 b) { return f16_of_f32(op(f32_of_f16(a), f32_of_f16(b))); } \
    static b16 op##_bf16(b16 a, b16 b) { return bf16_of_f32(op(f32_of_bf16(a), f32_of_bf16(b))); } \
    static b32 op##_f16x2(b32 a, b32 b) \
    { return op##_f16((b16)a, (b16)b) | (b32)op##_f16((b16)(a >> 16), (b16)(b >> 16)) << 16; } \
    static b32 op##_bf16x2(b32 a, b32 b) \
    { return op##_bf16((b16)a, (b16)b) | (b32)op##_bf16((b16)(a >> 16), (b16)(b >> 16)) << 16; }
HALVES(plus) HALVES(less) HALVES(more)

/* ---------------------------------------------------------------- the operations */

/* M(op, type, bits that hold it, new value of m). Names are those of the ISA; b and c are the operands. */
#define INTEGER_OPS(M, T, B) \
    M(add, T, B, m + b)             M(exch, T, B, b)                        M(cas, T, B, m == b ? c : m) \
    M(min, T, B, (T)b < (T)m ? b : m)   M(max, T, B, (T)b > (T)m ? b : m)
#define BIT_OPS(M, T, B) \
    M(op_and, T, B, m & b)          M(op_or, T, B, m | b)                   M(op_xor, T, B, m ^ b)
#define COUNT_OPS(M, T, B) \
    M(inc, T, B, m >= b ? 0 : m + 1)    M(dec, T, B, m == 0 || m > b ? b : m - 1)
#define HALF_OPS(M, T, B) \
    M(add, T, B, plus_##T(m, b))    M(min, T, B, less_##T(m, b))            M(max, T, B, more_##T(m, b))
#define ALL_OPS(M) \
    INTEGER_OPS(M, u32, b32) INTEGER_OPS(M, s32, b32) INTEGER_OPS(M, u64, b64) INTEGER_OPS(M, s64, b64) \
    BIT_OPS(M, u32, b32) BIT_OPS(M, s32, b32) BIT_OPS(M, u64, b64) BIT_OPS(M, s64, b64) \
    BIT_OPS(M, b32, b32) BIT_OPS(M, b64, b64) COUNT_OPS(M, u32, b32) \
    M(exch, b32, b32, b) M(exch, b64, b64, b) M(exch, b128, b128, b) M(exch, f32, b32, b) M(exch, f64, b64, b) \
    M(cas, b16, b16, m == b ? c : m) M(cas, b32, b32, m == b ? c : m) M(cas, b64, b64, m == b ? c : m) \
    M(cas, b128, b128, m == b ? c : m) \
    M(add, f32, b32, add_f32(m, b, r->shared || r->subnormals)) M(add, f64, b64, add_f64(m, b, r->shared)) \
    HALF_OPS(M, f16, b16) HALF_OPS(M, bf16, b16) HALF_OPS(M, f16x2, b32) HALF_OPS(M, bf16x2, b32)

/* atom_add_u32: the handler; update_add_u32: its work on one element of every lane. */
#define OP_HANDLER(op, T, B, new_value) \
    static void update_##op##_##T(const struct reach *r, uint32_t mask, const void *b_row, const void *c_row, \
                                  void *d_row) \
    { \
        FOR_LANES(i, mask) { \
            B *p = (B *)reach_ptr(r, i), m = *(volatile B *)p, b = ((const B *)b_row)[i]; \
            B c = c_row ? ((const B *)c_row)[i] : 0; \
            (void)b, (void)c; \
            if (r->shared) \
                *p = (B)(new_value); \
            else \
                while (!swap_##B(p, &m, (B)(new_value))) {} \
            if (d_row) \
                ((B *)d_row)[i] = m; \
        } \
    } \
    static int atom_##op##_##T(struct warp *w, const struct instr *in, uint32_t mask) \
    { \
        return update(w, in, mask, update_##op##_##T, sizeof(B)); \
    }
ALL_OPS(OP_HANDLER)

/* ---------------------------------------------------------------- operands */

static void *row_of(struct warp *w, const struct operand *o, uint32_t element)
{
    const struct operand *e = o->kind == O_VEC ? &o->elem[element] : o;
    return e->kind == O_REG ? w->regs + e->row : NULL;
}

/* Lanes whose place is in the shared memory of another CTA. */
static uint32_t remote(const struct warp *w, const struct reach *r, uint32_t mask)
{
    uint32_t lanes = 0;
    FOR_LANES(i, r->shared ? mask : 0)
        lanes |= (uint32_t)(r->at[i] - (uintptr_t)w->cta->smem >= w->cta->smem_bytes) << i;
    return lanes;
}

/* Sums of pairs of halves in another CTA's shared memory are sums of integers: so an H200 has it (seen with atom and both
 * types; the manual says nothing of it, and a program that means numbers gets nonsense there as here). */
static void apply(const struct warp *w, update_fn *fn, const struct reach *r, uint32_t mask, const void *b, const void *c, void *d)
{
    uint32_t integers = fn == update_add_f16x2 || fn == update_add_bf16x2 ? remote(w, r, mask) : 0;
    if (integers)
        update_add_u32(r, integers, b, c, d);
    fn(r, mask & ~integers, b, c, d);
}

/* b's rows may be the rows of d, so all of b is read before any of d is written. */
static int update(struct warp *w, const struct instr *in, uint32_t mask, update_fn *fn, uint32_t size)
{
    const struct operand *d = in->op == OP_RED ? NULL : &in->opnd[0], *a = &in->opnd[d ? 1 : 0], *b = a + 1;
    const struct operand *c = in->op == OP_ATOM_CAS ? a + 2 : NULL;
    const uint32_t n = b->kind == O_VEC ? b->n : 1;
    /* An exchange is how programs write a first value; what it gives back then is seldom looked at. */
    const enum access access = in->mode == M_exch ? A_ATOMIC | A_ANY : A_ATOMIC;
    _Alignas(16) uint8_t rows[8][WARP * sizeof(b128)];
    struct reach r = { .subnormals = false };
    if (!reach(w, in, a, mask, in->space, size * n, size * n, access, &r))
        return X_FAULT;
    for (uint32_t e = 0; e < n; e++)
        memcpy(rows[e], row_of(w, b, e), WARP * size);
    if (in->sem && in->sem != M_relaxed)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (uint32_t e = 0; e < n; e++) {
        apply(w, fn, &r, mask, rows[e], c ? row_of(w, c, 0) : NULL, d ? row_of(w, d, e) : NULL);
        for (int i = 0; i < WARP; i++)
            r.at[i] += size;
    }
    if (in->sem && in->sem != M_relaxed)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

#define T_b16 T_B16
#define T_b32 T_B32
#define T_b64 T_B64
#define T_b128 T_B128
#define T_u32 T_U32
#define T_s32 T_S32
#define T_u64 T_U64
#define T_s64 T_S64
#define T_f32 T_F32
#define T_f64 T_F64
#define T_f16 T_F16
#define T_f16x2 T_F16X2
#define T_bf16 T_BF16
#define T_bf16x2 T_BF16X2
#define OP_ENTRY(op, T, B, new_value) { M_##op, T_##T, atom_##op##_##T, update_##op##_##T },
static const struct { uint16_t op; uint8_t type; exec_fn *exec; update_fn *update; } handlers[] = { ALL_OPS(OP_ENTRY) };

update_fn *atomic_update(enum mod op, enum type type)
{
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++)
        if (handlers[i].op == op && handlers[i].type == type)
            return handlers[i].update;
    return NULL;
}

static bool is_half(enum type t) { return t == T_F16 || t == T_BF16 || t == T_F16X2 || t == T_BF16X2; }

/* Halves: .noftz always, min and max only in vectors. Vectors: halves, or sums of f32; 16 bytes at most. */
static bool form_ok(const struct instr *in)
{
    const enum type t = in->type[0];
    const uint32_t n = in->vec > 1 ? in->vec : 1;
    if (is_half(t) != has_mod(in, M_noftz))
        return false;
    if (n == 1)
        return !is_half(t) || in->mode == M_add;
    return in->func->module->target >= 90 && in->space != SP_SHARED_CTA && in->space != SP_SHARED_CLUSTER &&
           (is_half(t) || (t == T_F32 && in->mode == M_add)) && n * type_bytes(t) <= 16;
}

static bool operand_ok(const struct instr *in, const struct operand *o, bool sink_ok)
{
    const uint32_t n = in->vec > 1 ? in->vec : 1;
    if (sink_ok && o->kind == O_SINK)
        return true;
    if (n > 1 && (o->kind != O_VEC || o->n != n))
        return false;
    const struct operand *e = n > 1 ? o->elem : o;
    for (uint32_t i = 0; i < n; i++)
        if (!(e[i].kind == O_REG && e[i].width == type_bytes(in->type[0])) && !(sink_ok && e[i].kind == O_SINK))
            return false;
    return true;
}

static exec_fn *pick(const struct instr *in, uint32_t address)
{
    if (in->opnd[address].kind != O_MEM || !form_ok(in) || (address && !operand_ok(in, &in->opnd[0], true)) ||
        !operand_ok(in, &in->opnd[address + 1], false))
        return NULL;
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++)
        if (handlers[i].op == in->mode && handlers[i].type == in->type[0])
            return handlers[i].exec;
    return NULL;
}

exec_fn *pick_ATOM(struct instr *in) { return pick(in, 1); }
exec_fn *pick_RED(struct instr *in) { return pick(in, 0); }
exec_fn *pick_ATOM_CAS(struct instr *in) { return operand_ok(in, &in->opnd[3], false) ? pick(in, 1) : NULL; }
