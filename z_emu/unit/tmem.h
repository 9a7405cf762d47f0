/* tmem.h: tensor memory: 128 lanes of 512 columns of 32 bits on every SM, and who may touch what in it, and when.
 *
 * A row here is a lane: neighbouring columns lie side by side, as the accumulators of a multiplication do. */
#ifndef Z_EMU_TMEM_H
#define Z_EMU_TMEM_H

#include "../core/core.h"

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_UNIT = 32, TMEM_UNITS = TMEM_COLUMNS / TMEM_UNIT,
       TMEM_ROWS = 16 };        /* lanes that a bit of tmem_part.rows stands for */

/* Some columns of some lanes. */
struct tmem_part { uint16_t column, columns; uint8_t rows; };
static inline struct tmem_part tmem_part(uint32_t lane, uint32_t lanes, uint32_t column, uint32_t columns)
{
    uint32_t first = lane / TMEM_ROWS, last = (lane + lanes - 1) / TMEM_ROWS;
    return (struct tmem_part){ (uint16_t)column, (uint16_t)columns, (uint8_t)((2u << last) - (1u << first)) };
}

enum tc_kind { TC_MMA, TC_CP, TC_SHIFT, TC_LD, TC_ST, TC_DEALLOC };     /* the first three go through the pipe that commit tracks */

/* Who executes what: a thread, or with lane -1 a whole warp. */
struct tc_user { struct warp *w; const struct instr *in; int lane; enum tc_kind kind; };

/* One access, remembered beyond its end: the latest of each kind to each part. */
struct tmem_access {
    struct tmem_access *next;
    struct tmem_part part;
    bool write;
    bool finished;              /* it has taken place */
    bool waited;                /* ld, st: its warp knows so */
    bool used;                  /* ld: its warp has used all registers, which it had to wait for */
    struct race_mark issued_by, done_by;        /* who is ordered behind its issue; behind its end */
    enum tc_kind kind;
    const struct cta *cta;
    uint32_t warp;
    int lane;
    const struct instr *in;
    uint64_t issued, end, known;        /* cycles; end is exact once it has finished; ld, st: of the wait */
};

struct tmem {                   /* of one SM */
    uint32_t cell[TMEM_LANES][TMEM_COLUMNS];
    uint8_t written[TMEM_LANES][TMEM_COLUMNS];
    struct {                    /* columns in steps of 32 */
        struct cta *owner;      /* NULL: free */
        uint32_t first, units;  /* of the allocation that it is part of */
        const struct instr *by;
        const struct instr *given_back;         /* the pair's other CTA has begun to, there */
    } unit[TMEM_UNITS];
    struct tmem_access *accesses;
    uint64_t pipe_end;          /* when the pipe's latest operation will be done: they end in order */
};

static inline uint32_t tmem_lane(uint32_t addr) { return addr >> 16; }
static inline uint32_t tmem_column(uint32_t addr) { return addr & 0xffff; }

struct tmem *tmem_of(struct sm *sm);

/* Do these columns of its SM belong to CTA `c`? False after a fault; `what` is said to lie there. */
bool tmem_owned(const struct tc_user *u, const struct cta *c, uint32_t column, uint32_t columns, const char *what);

/* ---- order (tmem_order.c) */

/* May `u` access this part of c's tensor memory now? False after a fault: something that it is not ordered behind still
 * works on it. */
bool tmem_ordered(const struct tc_user *u, const struct cta *c, struct tmem_part part, bool write);
/* Says once that columns of a pair were given back (by `dealloc`) while the peer may still use them: w's access, or `what`. */
void tmem_note_pair(const struct warp *w, const struct instr *dealloc, const char *what);
/* What it reads in shared memory it has waited for at an mbarrier: does the fence stand behind that? */
void tmem_check_wait(const struct tc_user *u);
/* Notes an access that takes place at cycle `end`, and that it has. */
struct tmem_access *tmem_begin(const struct tc_user *u, const struct cta *c, struct tmem_part part, bool write, uint64_t end);
void tmem_finish(struct tmem *m, struct tmem_access *a, uint64_t now);
/* A warp's loads or stores of this kind are waited for. */
void tmem_waited(struct tmem *m, struct warp *w, enum tc_kind kind);
/* All registers of the load that was issued at that cycle have been used. */
void tmem_used(struct tmem *m, struct warp *w, const struct instr *in, uint64_t issued);
/* The columns are given back: false after a fault, when something still uses them. */
bool tmem_forget(struct warp *w, const struct instr *in, uint32_t column, uint32_t columns);

#endif
