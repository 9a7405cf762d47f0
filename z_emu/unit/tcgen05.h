/* tcgen05.h: what the files of the fifth-generation tensor core share: a CTA's state, and the pipe of operations that go on
 * by themselves until a commit or a wait says that they are done.
 *
 *     tmem.c           alloc, dealloc, relinquish_alloc_permit       tmem_order.c      who may touch what when
 *     tcgen05.c        the pipe, commit, fences                      tcgen05_ldst.c    ld, st, wait
 *     tcgen05_mma.c    issue of mma: descriptors, checks             tcgen05_idesc.c   the instruction descriptor
 *     tcgen05_multiply.c   operands, products, accumulators          tcgen05_layout.h  where elements lie */
#ifndef Z_EMU_TCGEN05_H
#define Z_EMU_TCGEN05_H

#include "tmem.h"

struct tc_load;

/* What a CTA does together with its peer (cta_group::2): the first to come waits. */
struct tc_meeting { bool waits, met; uint32_t columns, column; };

struct tc_warp {
    struct tc_load *loads;      /* registers that are still to be filled, or not waited for */
    uint64_t load_end, store_end;       /* cycles */
    uint32_t stores;            /* under way */
    uint64_t before, after;     /* of its last fence::before_thread_sync, fence::after_thread_sync; 0: none */
};

struct tcgen05 {                /* of one CTA */
    uint8_t group;              /* CTAs of its .cta_group; 0: none used yet */
    const struct instr *group_by;
    bool relinquished;
    uint32_t columns;           /* of its latest allocation */
    struct tc_meeting alloc, dealloc;
    uint64_t *pipe_end;         /* by thread: the cycle when all that it has issued is done */
    struct tc_warp *warp;
};

/* The CTA's state, made at the first call. */
struct tcgen05 *tc_state(struct cta *c);
/* The same for an instruction with .cta_group; NULL after a fault: the CTA has used the other one, or has no peer. */
struct tcgen05 *tc_group_state(struct warp *w, const struct instr *in, int lane);
static inline uint32_t tc_group(const struct instr *in) { return has_mod(in, M_cta_group_2) ? 2 : 1; }
/* The other CTA of the pair. */
static inline struct cta *tc_peer(const struct cta *c) { return c->cluster[c->cluster_rank ^ 1]; }

/* ---- the pipe (tcgen05.c) */

enum { TC_ACCESSES = 12 };

struct tc_op {                  /* one operation under way; what it needs besides stands behind it */
    struct tc_user user;
    struct cta *cta;
    uint32_t group;
    bool (*work)(struct tc_op *op);     /* does it; false after a fault */
    uint32_t naccesses;
    struct { struct tmem *tmem; struct tmem_access *access; } access[TC_ACCESSES];
    uint64_t end;
};

/* An operation of `bytes`, filled in but for work. */
void *tc_op_new(struct warp *w, const struct instr *in, int lane, enum tc_kind kind, size_t bytes);
/* Checks the order of an access to the tensor memory of c and notes it. */
bool tc_access(struct tc_op *op, struct cta *c, struct tmem_part part, bool write);
/* Starts it: it occupies the pipe for `busy` cycles and is done `latency` cycles later. */
void tc_start(struct tc_op *op, uint32_t busy, uint32_t latency);
void tc_drop(struct tc_op *op);

/* When the memory of a CTA goes (tcgen05_ldst.c). */
void tc_loads_close(struct cta *c);

#endif
