/* bulk.c: cp.async.bulk, cp.reduce.async.bulk and cp.async.bulk.prefetch: runs of bytes that lie together.
 *
 * Modelled: global to shared memory of this CTA, of another of the cluster, or of several at once; shared to global
 * memory, also byte by byte under a mask; shared memory to that of another CTA; reductions. A prefetch is checked and does
 * nothing more. Refused: multimem.
 * PTX ISA: "Bulk copy": "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.prefetch". */
#include "bulk.h"

enum { GRAIN = 16, SIZE_LIMIT = 1 << 20 };      /* an mbarrier counts no more bytes than that */

static uint32_t size_of(struct warp *w, const struct operand *o, uint32_t lane) { return ROW(w, o, uint32_t)[lane]; }

static bool size_ok(struct warp *w, const struct instr *in, int lane, uint32_t bytes)
{
    if (bytes % GRAIN == 0 && bytes < SIZE_LIMIT)
        return true;
    fault(w, in, lane, FAULT_BAD_OPERAND, "the size is %u: it must be a multiple of 16 below 2^20", bytes);
    return false;
}

/* One between shared memory and `bytes` of global memory. */
static struct bulk_copy *copy_of(struct warp *w, const struct instr *in, int lane, uint64_t global, uint32_t bytes, enum access how)
{
    if (!size_ok(w, in, lane, bytes) || !mem_at(w, in, lane, SP_GLOBAL, global, bytes, GRAIN, how))
        return NULL;
    struct bulk_copy *c = bulk_new(bytes);
    return bulk_piece(w, in, lane, c, global, bytes, 0, how) ? c : (bulk_drop(c), NULL);
}

static int load(struct warp *w, const struct instr *in, uint32_t mask)
{
    bool multicast = has_mod(in, M_multicast_cluster);
    uint64_t dst[WARP], src[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[1], src);
    mem_addresses(w, &in->opnd[3], bar);
    FOR_LANES(i, mask) {
        uint32_t ctas = multicast ? bulk_ranks(w, in, (int)i, &in->opnd[4]) : 0;
        if (multicast && !ctas)
            return X_FAULT;
        struct bulk_copy *c = copy_of(w, in, (int)i, src[i], size_of(w, &in->opnd[2], i), A_READ | A_ASYNC);
        if (!c || bulk_load(w, in, (int)i, c, dst[i], bar[i], ctas) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int send(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t dst[WARP], src[WARP], bar[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[1], src);
    mem_addresses(w, &in->opnd[3], bar);
    FOR_LANES(i, mask) {
        uint32_t bytes = size_of(w, &in->opnd[2], i);
        if (!size_ok(w, in, (int)i, bytes))
            return X_FAULT;
        struct bulk_copy *c = bulk_new(bytes);
        if (in->op == OP_BULK_REDUCE_SEND) {
            c->reduce = atomic_update((enum mod)in->mode, (enum type)in->type[0]);
            c->element = type_bytes((enum type)in->type[0]);
        }
        if (bulk_send(w, in, (int)i, c, src[i], dst[i], bar[i]) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int store(struct warp *w, const struct instr *in, uint32_t mask)
{
    bool reduce = in->op == OP_BULK_REDUCE;
    enum access how = reduce ? A_ATOMIC | A_LATER : A_WRITE | A_LATER;
    uint64_t dst[WARP], src[WARP];
    mem_addresses(w, &in->opnd[0], dst);
    mem_addresses(w, &in->opnd[1], src);
    FOR_LANES(i, mask) {
        struct bulk_copy *c = copy_of(w, in, (int)i, dst[i], size_of(w, &in->opnd[2], i), how);
        if (!c)
            return X_FAULT;
        if (in->op == OP_BULK_STORE_MASKED)
            c->mask = ROW(w, &in->opnd[4], uint16_t)[i];
        if (reduce) {
            c->reduce = atomic_update((enum mod)in->mode, (enum type)in->type[0]);
            c->element = type_bytes((enum type)in->type[0]);
        }
        if (bulk_store(w, in, (int)i, c, src[i]) == X_FAULT)
            return X_FAULT;
    }
    return X_NEXT;
}

static int prefetch(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t src[WARP];
    mem_addresses(w, &in->opnd[0], src);
    FOR_LANES(i, mask) {
        if (!size_ok(w, in, (int)i, size_of(w, &in->opnd[1], i)))
            return X_FAULT;
        if (src[i] % GRAIN)
            return fault(w, in, (int)i, FAULT_MISALIGNED, "the address 0x%llx is not a multiple of 16", (unsigned long long)src[i]);
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- which reductions there are */

#define SET(t) (1ull << T_##t)

/* Types of each operation, in global memory and in another CTA's shared memory. PTX ISA: "cp.reduce.async.bulk", table of
 * valid combinations. */
static const struct { uint16_t op; uint64_t global, shared; } reductions[] = {
    { M_add, SET(U32) | SET(S32) | SET(U64) | SET(F32) | SET(F64) | SET(F16) | SET(BF16), SET(U32) | SET(S32) | SET(U64) },
    { M_min, SET(U32) | SET(S32) | SET(U64) | SET(S64) | SET(F16) | SET(BF16), SET(U32) | SET(S32) },
    { M_max, SET(U32) | SET(S32) | SET(U64) | SET(S64) | SET(F16) | SET(BF16), SET(U32) | SET(S32) },
    { M_inc, SET(U32), SET(U32) }, { M_dec, SET(U32), SET(U32) },
    { M_op_and, SET(B32) | SET(B64), SET(B32) }, { M_op_or, SET(B32) | SET(B64), SET(B32) },
    { M_op_xor, SET(B32) | SET(B64), SET(B32) },
};

static bool reduces(const struct instr *in, bool shared)
{
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++)
        if (reductions[i].op == in->mode)
            return (shared ? reductions[i].shared : reductions[i].global) >> in->type[0] & 1;
    return false;
}

/* Sums of halves keep subnormals, and must say so. */
static bool noftz_ok(const struct instr *in)
{
    bool half = in->type[0] == T_F16 || in->type[0] == T_BF16;
    return has_mod(in, M_noftz) == (half && in->mode == M_add);
}

exec_fn *pick_BULK_LOAD(struct instr *in) { (void)in; return load; }
exec_fn *pick_BULK_MULTICAST(struct instr *in) { (void)in; return load; }
exec_fn *pick_BULK_SEND(struct instr *in) { (void)in; return send; }
exec_fn *pick_BULK_STORE(struct instr *in) { (void)in; return store; }
exec_fn *pick_BULK_STORE_MASKED(struct instr *in) { (void)in; return store; }
exec_fn *pick_BULK_REDUCE(struct instr *in) { return reduces(in, false) && noftz_ok(in) ? store : NULL; }
exec_fn *pick_BULK_REDUCE_SEND(struct instr *in) { return reduces(in, true) ? send : NULL; }
exec_fn *pick_BULK_PREFETCH(struct instr *in) { (void)in; return prefetch; }
