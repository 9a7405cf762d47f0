/* core/memory.h: how the address space looks from inside the memory files of core/.
 *
 * Device addresses are numbers in a range of the host's address space that is reserved and never mapped, so a
 * host program that dereferences one faults, as it does with a real GPU. In it, in this order:
 *     shared window   4 GiB: generic address of shared::cluster address 0 (rank << 24 | offset)
 *     local window    4 GiB: generic address of local address 0, each thread's own
 *     global          all the rest, in granules of 64 KiB; an allocation starts on a granule of its own and
 *                     leaves a gap behind it, so that a stray index finds nothing rather than a neighbour
 * Everything outside the range is host memory, known to the device once it was allocated for it or registered.
 *
 * Poison: bytes that nothing wrote read as 0xff: NaN in every floating-point format, -1 as an integer.
 * Whether a byte was written is kept beside it, one shadow byte each: 1 written, 0 not. Global poison is
 * put in only where someone copies unwritten bytes out, so fresh memory costs nothing. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <pthread.h>
#include <string.h>

#include "emu.h"

enum { POISON = 0xff, GRANULE_BITS = 16 };
#define GRANULE ((uint64_t)1 << GRANULE_BITS)
#define WINDOW ((uint64_t)1 << 32)

/* Host memory that the device may use, by address. Edited under the lock; readers take none, and look again when
 * memory->edits has changed meanwhile, or is odd: an edit is under way. */
struct host_list {
    struct host_list *older;    /* outgrown, kept because a reader may be in it */
    uint32_t n, room;
    struct alloc *alloc[];
};

struct memory {
    uint64_t base, bytes;       /* the reserved range */
    struct alloc **granule;     /* allocation that starts in or covers each granule of the range, live or freed */
    uint64_t ngranules;
    uint64_t cursor;            /* where the search for room goes on: freed addresses come round again last */
    uint64_t reached;           /* the highest that it has been */
    uint64_t capacity, used;    /* bytes of device memory */
    uint32_t smem_reserved;
    struct host_list *hosts;
    uint32_t edits;
    struct alloc *all_hosts;    /* those too that are not in the list any more, by `next` */
    struct alloc *oldest, *newest;      /* freed device memory that is remembered, by `next` */
    uint32_t nfreed;
    size_t kept;                /* bytes that it still holds */
    pthread_mutex_t lock;       /* for those who allocate and free; look-ups take none */
};

/* The allocation whose granule holds addr: addr may still lie behind its end. NULL: none. */
static inline struct alloc *granule_at(const struct memory *m, uint64_t addr)
{
    uint64_t g = (addr - m->base) >> GRANULE_BITS;
    return g < m->ngranules ? __atomic_load_n(&m->granule[g], __ATOMIC_ACQUIRE) : NULL;
}

struct alloc *host_at(const struct memory *m, uint64_t addr);   /* live or freed, NULL: none */
/* The allocation nearest to addr, live ones first, for messages. */
struct alloc *alloc_near(const struct memory *m, uint64_t addr);
/* Looks whether all of it has been written by now; called once per `size` bytes of checked reads. */
void alloc_promote(struct alloc *a);
void alloc_unwrite(struct memory *m, struct alloc *a, uint64_t offset, uint64_t size);

/* ---- a warp's access (core/access.c) */

/* The part of a space that one address belongs to: [lo, lo + size), as host addresses. */
struct region {
    uint64_t lo, size;
    uint64_t host;              /* of lo */
    uint64_t shadow;            /* of lo; 0: every byte is written */
    uint64_t stride;            /* local memory: from one thread's to the next's */
    struct alloc *alloc;        /* global memory only */
    struct cta *owner;          /* shared memory: whose; else NULL */
};

enum shape { SCATTERED, CONSECUTIVE, UNIFORM };

/* What the checks leave behind: where each lane's bytes are. Lanes that are not in the mask have the
 * address of the first that is, so loops may read all 32. */
struct reach {
    _Alignas(64) uint64_t at[WARP];     /* host addresses */
    uint64_t shadow;                    /* add to `at` for the shadow byte; 0: nothing to look up or to mark */
    enum shape shape;                   /* CONSECUTIVE: lane i at at[0] + i*size, all 32 active */
    bool shared;                        /* in the shared memory of this cluster: one host thread's own */
    bool subnormals;                    /* sums of f32 keep them, though in global memory */
};

/* Every check of mem_at for the lanes of mask, at row + imm (row_width 4 or 8). false: a fault was reported. */
bool reach(struct warp *w, const struct instr *in, const struct operand *o, uint32_t mask, enum space space,
           uint32_t size, uint32_t align, enum access how, struct reach *r);

/* What atom and red do to memory, for copies that reduce (core/atomic.c): one element of every lane in mask, d = M;
 * M = op(M, b, c). d and c may be NULL. NULL: there is no such operation on that type. */
typedef void update_fn(const struct reach *r, uint32_t mask, const void *b, const void *c, void *d);
update_fn *atomic_update(enum mod op, enum type type);

static inline uint8_t *reach_ptr(const struct reach *r, uint32_t lane) { return (uint8_t *)(uintptr_t)r->at[lane]; }

/* An access that passed them, to the shared memory of `owner`, or a strong one to global memory, against those before it.
 * false: a fault was reported (core/race.c). */
bool race_lanes(struct warp *w, const struct instr *in, uint32_t mask, struct cta *owner, const struct reach *r, uint32_t size,
                enum access how);
void race_strong_global(struct warp *w);
/* An access to global memory of a launch that is watched: false, a fault was reported, if it is not ordered with another
 * grid's (core/overlap.c). */
bool overlap_allows(struct warp *w, const struct instr *in, int lane, const struct alloc *a, uint64_t addr, uint32_t size,
                    enum access how);
/* cp.async, to the places of the lanes: they belong to the group after `group` that have been closed. */
bool race_copies(struct warp *w, const struct instr *in, uint32_t mask, const struct reach *r, uint32_t size, uint32_t group);

/* For one who reads what nothing has written: the kernel in front that it should have waited for; NULL: none. */
const char *overlap_unwaited(struct warp *w);

/* What went wrong with an access that failed its checks (core/access_fault.c). */
void report_access(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                   uint32_t align, enum access how);
/* `written`: the shadow of its bytes. */
void report_unwritten(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                      const uint8_t *written);
/* Whether some copy of this CTA has yet to write to [addr, addr + size) of its shared memory (core/cp_async.c). */
bool cp_async_under_way(const struct cta *c, uint64_t addr, uint32_t size);
struct cta *shared_owner(const struct cta *c, enum space space, uint32_t addr);

#endif
