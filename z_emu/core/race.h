/* core/race.h: what the files of the race detector share. How it works: docs/emulator.md, "Races"; the hooks that the
 * units call: emu.h, "races".
 *
 *   agent    who accesses: a warp; a warp's (or warpgroup's) asynchronous work of one kind; what completes on one mbarrier
 *   time     counts releases in the cluster. A warp's accesses between two of its releases have the same time
 *   epoch    of a warp's access: the time. Of asynchronous work: the number of its group, or of its copy on its mbarrier
 *   clock    up to which epoch of each agent somebody is ordered after it (v), and the async proxy sees it (a <= v) */
#ifndef Z_EMU_RACE_H
#define Z_EMU_RACE_H

#include "core.h"
#include "memory.h"

struct reach;

enum {
    SITE_BITS = 11, SITES = 1 << SITE_BITS,     /* places in the program that an access is remembered by */
    TIMES = 1 << 21,                            /* epochs; then the cluster is watched from the start again */
    RACE_BUCKETS = 64,                          /* atomics and strong accesses to shared memory, by address; and global */
};
#define RACE_EXACT (1u << 31)                   /* of a stamp: no floor covers it */

struct race_clock { uint32_t n, *v, *a; };      /* entries beyond n are 0 */

enum agent_kind { AGENT_WARP, AGENT_CP_ASYNC, AGENT_BULK, AGENT_WGMMA, AGENT_TCGEN05, AGENT_MBARRIER };
struct race_agent {
    uint8_t kind, rank;
    uint32_t index;             /* warp of the CTA, or shared address of the mbarrier */
    uint32_t base, latest;      /* of groups: epochs count from base on; the latest group that was looked at */
};

struct racer {                  /* a warp */
    struct race_clock now;
    struct race_clock fenced;   /* as it was at its last fence: what a relaxed arrival hands on */
    struct race_clock relaxed;  /* what relaxed waits have seen: ordered from the next fence on */
    uint32_t agent, floor;      /* every warp's access to this CTA's memory up to the floor is ordered before */
    uint32_t commits;           /* of tcgen05 */
    uint32_t work[RACE_UNITS];  /* agents of its asynchronous work; 0: none yet */
    uint64_t waited;            /* cycle at which it last found an mbarrier's phase complete, and by what instruction */
    const struct instr *waited_at;
    bool handed;                /* its clock was handed on: what it does next must be later */
};

/* A line of shared memory has a row of numbers, side by side because an access looks at all of them: its last write; of its
 * reads the last one at all, and then that of each agent, in a column of its own, and behind those the masks of what was read.
 * (core/race_shadow.c) */
enum { STAMP, WHO,              /* epoch; agent << 16 | site. WRITES_APART: the latest; a block, with these for each unit */
       LAST,                    /* epoch, site; as in the columns */
       MODE,
       FIRST_COLUMN };
enum { READS_EXACT = 1,         /* MODE: somebody read that no floor covers */
       WRITES_APART = 2,
       LINE_SPLIT = 4 };        /* see the rows of its quarters */
enum { RACE_LEVELS = 2 };       /* lines of 32 words; quarters of 32 bytes */

/* The latest use of a CTA's memory by an agent that may outlive it: another CTA's warp, or asynchronous work. */
struct race_visit { uint32_t epoch; uint16_t site; bool write; };

struct shadow {                 /* of one CTA's shared memory */
    struct races *races;
    struct cta *cta;
    uint32_t bytes, cols, used, agents;         /* columns, taken; agents that column[] knows */
    uint32_t *agent_of;         /* by column */
    uint16_t *column;           /* by agent; 0: none yet */
    uint32_t *limit;            /* by column: reads up to it are ordered before the access that is being looked at */
    uint32_t *level[RACE_LEVELS];               /* rows; NULL: no quarters yet */
    uint32_t *block, nblocks, block_room, free_block;
    struct race_visit *access, *arrival;        /* by agent; arrivals at mbarriers */
    uint32_t nvisits;           /* agents that they have room for */
    struct race_clock observed; /* arrivals that its threads have seen to be there, if by nothing else than relaxed waits */
};

struct races {                  /* of one cluster */
    struct launch *launch;
    uint32_t ncta, nwarp;       /* CTAs; warps of each */
    uint32_t time, generation;  /* how often it was begun again */
    bool full;                  /* a time or an epoch has come to its end: begin again */
    bool off;
    struct race_agent *agent;
    uint32_t nagents, room;
    struct racer *warp;
    struct race_clock (*barrier)[16];           /* by CTA: those who have arrived */
    struct race_clock arrived, met;             /* barrier.cluster: those who have come; when it was last complete */
    struct race_clock came, gone;               /* the same of relaxed arrivals, and all that they did before */
    struct race_clock exited, bucket[RACE_BUCKETS + 1];
    struct shadow shadow[MAX_CLUSTER];
};

/* ---- race_clock.c */
static inline uint32_t clock_v(const struct race_clock *c, uint32_t agent) { return agent < c->n ? c->v[agent] : 0; }
static inline uint32_t clock_a(const struct race_clock *c, uint32_t agent) { return agent < c->n ? c->a[agent] : 0; }
void clock_join(struct race_clock *c, const struct race_clock *with);
void clock_meet(struct race_clock *c, const struct race_clock *with);
void clock_copy(struct race_clock *c, const struct race_clock *from);
void clock_set(struct race_clock *c, uint32_t agent, uint32_t epoch);   /* raises v */
void clock_fence(struct race_clock *c);                                 /* the async proxy sees what c is ordered after */
void clock_clear(struct race_clock *c);
void clock_free(struct race_clock *c);

/* ---- race_shadow.c */

/* One access: by whom, to what of whose memory. */
struct race_access {
    struct shadow *s;
    struct warp *w;             /* that issues it */
    const struct instr *in;
    int lane;
    const struct race_clock *clock;
    uint32_t agent, epoch;
    bool write, async;          /* async: through the async proxy */
    bool exact;                 /* it, and what it must be ordered after, is beyond any floor */
    bool looks;                 /* nobody waits for its end: it is over at once, or what it begins is known by something else */
    const struct reach *places; /* of an ld or st: those of its lanes */
    uint32_t mask, size;
    /* worked out by race_begin */
    uint32_t floor, stamp, who, read_stamp, column, ok_stamp, ok_who;
    bool limits_known, tolerated;
};
bool shadow_open(struct shadow *s, struct races *r, struct cta *c, uint32_t bytes);
void shadow_forget(struct shadow *s);                                    /* all accesses */
void shadow_close(struct shadow *s);
void race_begin(struct race_access *x);
/* 16 bytes at each of the shared addresses, which are multiples of 16; the CTA's memory begins at `base`. */
bool race_chunks(struct race_access *x, const uint32_t *chunk, uint32_t base, uint32_t n);
bool race_range(struct race_access *x, uint32_t at, uint32_t bytes);    /* at: from the start of the CTA's memory */
/* The lanes' places, each `size` bytes, whose host addresses less `base` are offsets. */
bool race_places(struct race_access *x, const uint64_t *at, uint64_t base, uint32_t mask, uint32_t size);

/* ---- race_harmless.c: need the write not be ordered after the other agent's write to these bytes? */
bool race_harmless(const struct race_access *x, uint32_t agent, const struct instr *other, uint32_t at, uint32_t n);

/* ---- race.c */
void race_begin_again(struct races *r);
uint32_t race_new_agent(struct races *r, enum agent_kind kind, uint32_t rank, uint32_t index);
void race_raise(struct races *r, struct racer *me);     /* what it does from now on is later than what it has handed on */
bool race_access_by(struct races *r, struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at,
                    uint32_t bytes, bool write, bool looks);

/* NULL: not watched. */
static inline struct races *watched(const struct cta *c)
{
    struct races *r = c->races;
    if (r && r->full)
        race_begin_again(r);
    return r && !r->off ? r : NULL;
}

static inline struct racer *racer_of(struct races *r, const struct warp *w)
{
    return &r->warp[w->cta->cluster_rank * r->nwarp + w->id];
}

static inline struct shadow *shadow_of(struct races *r, const struct cta *owner) { return &r->shadow[owner->cluster_rank]; }

static inline uint32_t offset_in(const struct cta *owner, uint32_t at)
{
    return (at & 0xffffff) - owner->memory->smem_reserved;
}

/* A relaxed arrival hands on only what stood before the warp's last fence. */
static inline void race_release(struct racer *me, struct race_clock *to, bool relaxed)
{
    clock_join(to, relaxed ? &me->fenced : &me->now);
    me->handed = true;
}

/* …and a relaxed wait has its effect at the next fence. */
static inline void race_acquire(struct racer *me, const struct race_clock *from, bool relaxed)
{
    clock_join(relaxed ? &me->relaxed : &me->now, from);
}

/* ---- race_exit.c */
void race_visit(struct shadow *s, uint32_t agent, struct race_visit v, bool arrival);

/* ---- race_site.c: the instruction of a number; NULL: not known */
const struct instr *race_site_instr(const struct launch *l, uint32_t site);

/* ---- diag/race_report.c: returns false */
struct race_other { uint32_t agent, epoch, site, at; bool write; };
bool race_report(const struct race_access *x, const struct race_other *other);
/* The CTA's memory goes with this thread, and nothing says that the agent's use of it is over. */
bool race_report_exit(struct warp *w, const struct instr *in, int lane, const struct races *r, uint32_t agent,
                      const struct race_visit *v, bool arrival);

#endif
