/* core.h: what the files of core/ share among themselves: the gpu, its SMs and host threads, the
 * clock's queue, the states of a split. Others use emu.h alone; diag/ reads these to explain hangs. */
#ifndef Z_EMU_CORE_H
#define Z_EMU_CORE_H

#include "../emu.h"

#include <pthread.h>
#include <stdatomic.h>

#define NEVER UINT64_MAX
#define FAR (UINT64_MAX / 2)
#define NO_RPC UINT32_MAX

enum {
    SUBCORES = 4,               /* issue slots of an SM: warp slot i belongs to sub-core i % 4 */
    MAX_WARPS = 64, MAX_CTAS = 32, MAX_CLUSTER = 16, MAX_JOBS = 64,
    QUANTUM = 256,              /* cycles that a warp runs before events and other sub-cores are looked at */
    TURN = 4096,                /* cycles that it runs before the other warps of its sub-core, if it never waits */
    SPLIT_QUANTUM = 512,        /* cycles that a split runs while others of its warp are ready */
    YIELD = 32,                 /* cycles that a split stands back for others */
    SLICE = 4096,               /* cycles that an SM runs before the next SM of the host thread */
    WINDOW = 8 * SLICE,         /* that far the clocks of host threads may be apart */
    CLUSTER_SLICE = 512,        /* the same while clusters of several CTAs are resident: they talk to each other */
    PATIENCE = 1 << 20, PATIENCE_LEAST = 1 << 10,       /* bounds of warp->patience */
    PATIENCE_STOP = 1 << 14,    /* what each stop of a sibling (a load that it may be spinning on) takes from it */
    PATIENCE_ASLEEP = 2048,     /* what is left of it once all siblings sleep */
};

enum split_state {
    S_READY,                    /* runs from cycle wake_at on */
    S_SLEEP,                    /* until split_wake or wake_at */
    S_JOIN,                     /* at its join, for its siblings; goes on alone at wake_at */
    S_WARP                      /* at a warp-wide instruction, for the rest of `members` */
};

/* Where the halves of a divergent branch meet again. A split points to its innermost join; joins of
 * the functions further out follow through `outer`. */
struct join {
    uint32_t pc;                /* the branch's immediate post-dominator, in `frame` */
    uint32_t mask;              /* lanes that are still to come or wait there */
    struct frame *frame;
    struct split *waiter;       /* those that wait there, as one split */
    struct join *outer;
};

struct event { uint64_t when, order; struct cta *cta; event_fn *fn; void *arg; };
struct event_queue { struct event *heap; uint32_t n, room; uint64_t order; };

struct cluster {                /* what the CTAs of one cluster share; freed when the last one is over */
    struct launch *launch;
    uint32_t n, live;
    struct cta *cta[MAX_CLUSTER];
    uint32_t arrived;           /* barrier.cluster: threads */
    uint64_t phase;             /* completed phases */
    struct races *races;        /* core/race.h; NULL: not watched */
    struct cluster *next;       /* in worker->dead */
};

struct sm {
    struct gpu *gpu;
    struct worker *worker;
    uint32_t id;
    uint64_t now;
    uint64_t key[MAX_WARPS];    /* cycle from which the warp in that slot can run; NEVER: none, or asleep */
    uint64_t issue_free[SUBCORES];
    struct warp *warp[MAX_WARPS];
    struct cta *cta[MAX_CTAS];
    uint32_t nwarps, nctas, nclustered;         /* resident; nclustered: CTAs whose cluster has several */
    uint32_t threads, regs, smem;               /* in use */
    uint64_t random;            /* state of the generator behind latency(); 0 when EMU_SEED is unset */
    bool vacated;               /* a CTA left: there may be room for the next */
    struct event_queue events;
    uint64_t copy_free;         /* cycle at which the path from L2 is free for the next copy (clock.c) */
    uint64_t tensor_free;       /* the same for the tensor cores and the next wgmma, tcgen05.mma (unit/) */
    struct tmem *tmem;          /* tensor memory (unit/tmem.c); NULL until it is first asked for */
    uint32_t *spare_rows;       /* of the race detector, for the next CTA (core/race_shadow.c) */
    size_t spare_bytes;
    struct frame *spare_frame;
    struct split *spare_split;
    struct join *spare_join;
};

struct worker {                 /* a host thread and the SMs that it runs */
    struct gpu *gpu;
    uint32_t id, nsms;
    struct sm **sm;
    struct cluster *dead;       /* clusters that wait for their last event */
    uint64_t now;               /* its SMs have run up to here */
    _Atomic uint64_t clock;     /* the same for the others to see; FAR: it has nothing to run */
    uint64_t resident;          /* clusters */
    pthread_t thread;
    _Atomic uint32_t stuck;     /* rounds for which all its CTAs have slept or gone in circles (core/spin.c) */
    double stuck_since;         /* host time */
    uint64_t completions;       /* gpu->completions when it looked last */
    uint32_t others[MAX_JOBS];  /* the others' `stuck` when it was last counted */
};

struct gpu {
    const struct device *device;
    struct memory *memory;
    struct sm *sm;
    struct worker *worker;
    uint32_t njobs;
    uint64_t seed;
    int stats;                  /* EMU_STATS */
    bool races;                 /* EMU_RACES */
    uint32_t stack_limit;       /* bytes per thread beyond what a kernel statically needs, when it recurses */
    struct module **module;
    uint32_t nmodules;
    struct func **code;         /* function addresses: CODE_BASE + 16 * index */
    uint32_t ncode;

    pthread_mutex_t lock;       /* guards what follows, and the launches' counters */
    pthread_cond_t work, idle;  /* workers wait for work; gpu_run waits for workers */
    struct launch *launches;    /* started and not yet returned, in order */
    uint64_t next_launch_id;
    uint64_t clock;             /* cycle at which the next launch begins */
    uint32_t busy;              /* workers that run */
    uint64_t run;               /* generation: gpu_run was called once more */
    _Atomic uint64_t completions;       /* of prerequisite grids (dependents.c) */
    atomic_bool host_waits;
    atomic_bool stop;           /* leave the loop: a launch is done, or gpu_interrupt */
    bool quit, interrupted;
    struct syscalls *syscalls;
};
#define CODE_BASE 0x0000600000000000u

/* ---- gpu.c and sm.c */
uint32_t cta_warps(const struct launch *l);
uint32_t cta_smem(const struct gpu *g, const struct func *f, uint32_t dyn_smem);
uint32_t cta_regs(const struct func *f, uint32_t threads);
bool sm_has_room(const struct sm *sm, const struct launch *l);
void sm_run(struct sm *sm, uint64_t until);
bool sm_blocked(const struct sm *sm);           /* nothing can run and nothing is under way */
void sm_kill(struct sm *sm, struct launch *l);  /* drops the launch's CTAs */
struct cta *cta_new(struct sm *sm, struct launch *l, struct cluster *group, uint32_t rank, uint64_t linear);
void cta_free(struct cta *c);
/* Coordinates of the first CTA of a launch's nth cluster. */
void cluster_origin(const struct launch *l, uint64_t cluster, uint32_t id[3]);
void cta_exit(struct cta *c);                   /* its last thread has exited */
void worker_dispatch(struct worker *k);         /* takes CTAs from the launches while there is room */
void cluster_finished(struct worker *k, struct cluster *group);
double host_seconds(void);
uint64_t random_next(uint64_t *state);

/* ---- dependents.c */
void cta_released(struct cta *c, uint64_t now, bool asked);
void overlap_waited(struct warp *w);            /* overlap.c: it has passed griddepcontrol.wait */
void prerequisite_done(struct gpu *g, const struct launch *l);
void prerequisites_begin(struct launch *l);
void wake_dependents(struct worker *k);
bool waits_for_others(const struct launch *l);
bool may_be_woken(const struct worker *k);      /* a grid has ended since wake_dependents */

/* ---- split.c */
struct frame *frame_new(const struct cta *c, const struct func *f, struct frame *parent, uint32_t local_base);
void frame_release(struct sm *sm, struct frame *f);
struct split *split_new(struct warp *w, const struct split *like, uint32_t mask);
void split_unlink(struct warp *w, struct split *s);
void split_merge(struct warp *w, struct split *into, struct split *from);
void split_ready(struct split *s, uint64_t when);
void join_arrive(struct warp *w, struct split *s);      /* s has come to its join: waits, or goes on as the last */
void join_abandon(struct warp *w, struct split *s);     /* …and goes on without the others */
/* Cuts `mask` off the running split, both halves to meet again at `meet_pc`; returns the new split,
 * which holds `mask`, is ready and stands at the same pc. */
struct split *split_divide(struct warp *w, uint32_t mask, uint32_t meet_pc);
void split_goto(struct warp *w, struct split *s, uint32_t pc);
void split_enter(struct warp *w, struct split *s, struct frame *f);     /* calls and returns */
/* Lanes of the running split execute ret. False: nobody is left to wait for. */
bool split_return(struct warp *w, uint32_t mask);
/* Lanes of the running split end here. Returns X_JUMP. */
int split_exit(struct warp *w, uint32_t mask);

/* ---- warp.c */
void warp_start(struct warp *w, struct cta *c, uint32_t id, uint32_t lanes);
void warp_free(struct warp *w);
void warp_run(struct warp *w, uint64_t limit);  /* some split, for a quantum */
uint64_t warp_key(const struct warp *w);        /* cycle from which one of its splits can run */
static inline uint32_t warp_live(const struct warp *w) { return w->born & ~w->exited; }
/* Puts the running split to sleep without writing a text; it goes on behind the instruction when woken. */
void split_block(struct warp *w, const void *object, uint64_t until, const char *what);
exec_fn exec_aligned, exec_stall;               /* wrappers around in->inner */

int run_split(struct warp *w, struct split *s, uint64_t limit);

/* ---- spin.c */
void spin_stop(struct split *s);
/* As run_split, one instruction at a time, looking at each before: while a split is watched, or registers are held. */
int step_split(struct warp *w, struct split *s, uint64_t limit);
bool spin_hangs(struct worker *k);

/* ---- clock.c */
/* Cycle at which a copy of so many bytes of global memory, begun now, reaches the SM: behind what its path to L2 has yet
 * to bring, and a latency later. */
uint64_t copy_arrives(struct warp *w, uint32_t bytes);
uint64_t events_due(const struct sm *sm);       /* cycle of the next event, or NEVER */
void events_run(struct sm *sm);                 /* the next event */

/* ---- held.c */
int held_allows(struct warp *w, const struct split *s);         /* an exec_status */
void held_free(struct warp *w);

/* ---- control.c, sync.c */
void barrier_exited(struct warp *w, uint32_t lanes);    /* barriers that waited for these lanes alone go on */

/* ---- bind.c */
struct func *func_at(const struct gpu *g, uint64_t addr);
uint32_t func_stack(const struct gpu *g, const struct func *f);

/* ---- stack.c */
/* Local memory below what alloca has given to any of the lanes. */
uint32_t stack_room(const struct warp *w, uint32_t mask);

/* ---- syscall.c */
struct syscalls *syscalls_open(void);
void syscalls_close(struct syscalls *s);
enum { MAX_SLOTS = 8 };
struct slots {                  /* where a call's arguments and result lie in local memory, relative to base */
    uint32_t base, nargs, arg[MAX_SLOTS], ret;
};
typedef int syscall_fn(struct warp *w, const struct instr *in, uint32_t mask, const struct slots *slots);
syscall_fn *syscall_find(const char *name);

/* ---- race.c, race_site.c */
void race_open(struct cluster *g, uint32_t nwarp, uint32_t smem_bytes);
void race_cta(struct cta *c);
void race_close(struct cluster *g);
void race_number_sites(struct module *m);
void race_forget_sites(struct module *m);

/* ---- diag */
void ledger_print(struct launch *l, struct sm **sm, uint32_t nsms); /* who waits on what, and where the others are */

#endif
