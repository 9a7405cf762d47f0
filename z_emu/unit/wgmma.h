/* wgmma.h: what wgmma.c (who issues what, and when it is done), wgmma_multiply.c and wgmma_sparse.c (what it yields) share. */
#ifndef Z_EMU_WGMMA_H
#define Z_EMU_WGMMA_H

#include "smem_desc.h"
#include "../emu.h"

enum { WG_WARPS = 4, WG_M = 64, WG_N = 256, WG_A_REGS = 4,
       WG_K_BYTES = 32,         /* of a row of A as it is stored, and of B; sparse A leaves out half of what B has */
       WG_SPARSE_K_BYTES = 64 };

/* The accumulators of the multiplications in flight on one set of registers. While there are any, the registers hold
 * poison and the values are here: a chain of multiplications neither gathers nor scatters them in between. */
struct accumulator {
    uint32_t refs;              /* multiplications that have started and are not done */
    uint32_t n, regs;           /* columns; registers per lane */
    enum type type;             /* T_F32, T_F16 (kept as floats), T_S32 */
    uint32_t *row[WG_WARPS][WG_N / 2];
    union { float f[WG_M * WG_N]; int32_t s[WG_M * WG_N]; };    /* n columns of 64 (mma_tile.c says why) */
};

struct multiplication {
    struct multiplication *next;        /* the one issued after it */
    struct warpgroup *group;
    const struct instr *in;
    uint32_t arrived;                   /* warps that have issued it */
    bool keep;                          /* scale-d: D = A*B + D */
    bool a_in_registers;
    uint64_t a, b;                      /* descriptors */
    uint64_t commits[WG_WARPS];         /* groups that the warp had committed before it */
    struct frame *frame[WG_WARPS];
    struct accumulator *acc;            /* from its start on */
    struct race_clock *ordered;         /* what all warps that have issued it are ordered after */
    uint32_t a_regs[WG_WARPS][WG_A_REGS][WARP];         /* as they were at issue */
    uint32_t metadata[WG_WARPS][WARP];  /* of sparse A */
};

struct warpgroup {
    struct cta *cta;
    uint32_t first;                     /* warp */
    struct multiplication *oldest, *newest;
    uint64_t commits[WG_WARPS];
    uint64_t last_end;
};

static inline struct warp *wg_warp(const struct warpgroup *g, uint32_t rank) { return &g->cta->warp[g->first + rank]; }

/* Operands of the table's rows. With A in registers there is no trans-a: trans-b is in its place. Sparse forms have two more
 * behind B. */
enum { WG_D, WG_A, WG_B, WG_SCALE, WG_NEGATE_A, WG_NEGATE_B, WG_TRANS_A, WG_TRANS_B, WG_METADATA = 3, WG_SELECTOR = 4 };
static inline bool wg_sparse(const struct instr *in)
{
    return in->op == OP_WGMMA_SP || in->op == OP_WGMMA_SP_RS || in->op == OP_WGMMA_SP_INT || in->op == OP_WGMMA_SP_INT_RS;
}
static inline const struct operand *wg_operand(const struct instr *in, int which)
{
    return &in->opnd[which + (which > WG_B && wg_sparse(in) ? 2 : 0)];
}
static inline uint32_t wg_selector(const struct instr *in) { return (uint32_t)in->opnd[WG_SELECTOR].imm; }
bool wg_transposed(const struct instr *in, bool b);
struct smem_tile wg_tile(const struct instr *in, bool b);       /* of A or B in shared memory */
uint32_t wg_registers(const struct instr *in);                  /* of D, per lane */

/* The accumulators of `m`, taken out of the registers, which are poisoned. */
void accumulator_load(struct accumulator *acc, struct multiplication *m);
/* Back into the registers. */
void accumulator_store(struct accumulator *acc);
/* acc = A * B (+ acc). False after a fault was reported. */
bool wg_multiply(struct multiplication *m);
struct mma_how wg_how(const struct instr *in);
/* The same for sparse A, as rows of WG_K_BYTES without what is not stored; B has rows of WG_SPARSE_K_BYTES. */
void wg_multiply_sparse(struct multiplication *m, const uint8_t *a, const uint8_t *b);
/* Is this warp's metadata valid? False after a fault was reported. */
bool wg_check_metadata(struct warp *w, const struct instr *in, const uint32_t *metadata);

#endif
