/* core/access.c: the checked accessor. Every byte that a kernel touches is looked at here first.
 *
 * reach() serves a whole warp: 32 addresses are compared with one region's bounds eight at a time. Whatever
 * does not fit that pattern (lanes in different allocations, a fault to be reported) goes lane by lane
 * through mem_at(), which is slow, exact, and the only one that reports.
 *
 * Reads of what nothing wrote are found to the byte in global and shared memory, but a vector load passes that finds
 * some of its bytes written. In local memory all pass: compilers load a variable early and then drop it. */
#include "core/memory.h"

#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

/* ---------------------------------------------------------------- regions */

static bool global_region(const struct memory *m, uint64_t addr, enum access how, struct region *g)
{
    struct alloc *a = granule_at(m, addr);
    if (!a)
        a = host_at(m, addr);
    if (!a || addr - a->addr >= a->size || a->freed || (a->read_only && (how & A_WRITE)))
        return false;
    *g = (struct region){ .lo = a->addr, .size = a->size, .host = (uintptr_t)a->host, .alloc = a,
                          .shadow = a->all_init ? 0 : (uintptr_t)a->init };
    return true;
}

/* The CTA of the cluster whose shared memory `addr` names; NULL: there is none. A plain shared (::cta)
 * address means this CTA, with or without its rank in the upper bits. */
struct cta *shared_owner(const struct cta *c, enum space space, uint32_t addr)
{
    uint32_t rank = addr >> 24;
    if (rank == c->cluster_rank || (space == SP_SHARED_CTA && rank == 0))
        return (struct cta *)c;
    return space != SP_SHARED_CTA && rank < c->ncluster ? c->cluster[rank] : NULL;
}

static bool shared_region(const struct cta *c, enum space space, uint64_t addr, uint64_t window, struct region *g)
{
    struct cta *owner = addr < WINDOW ? shared_owner(c, space, (uint32_t)addr) : NULL;
    if (!owner || owner->over)
        return false;
    *g = (struct region){ .lo = window + (addr & 0xff000000) + c->memory->smem_reserved, .size = owner->smem_bytes,
                          .host = (uintptr_t)owner->smem, .shadow = (uintptr_t)owner->smem_init, .owner = owner };
    return true;
}

static bool local_region(const struct cta *c, uint64_t window, enum access how, struct region *g)
{
    if ((how & A_ATOMIC) == A_ATOMIC)
        return false;
    *g = (struct region){ .lo = window, .size = c->local_bytes, .host = (uintptr_t)c->local,
                          .shadow = (uintptr_t)c->local_init, .stride = c->local_bytes };
    return c->local != NULL;
}

static bool param_region(const struct launch *l, enum access how, struct region *g)
{
    struct alloc *a = l->params;
    if (!a || (how & A_WRITE))
        return false;
    *g = (struct region){ .size = a->size, .host = (uintptr_t)a->host };
    return true;
}

/* The region that addr lies in. false: none, or not for this kind of access. */
static inline bool region_at(const struct warp *w, enum space space, uint64_t addr, enum access how, struct region *g)
{
    const struct cta *c = w->cta;
    uint64_t base = c->memory->base;
    switch (space) {
    case SP_SHARED_CTA:
    case SP_SHARED_CLUSTER: return shared_region(c, space, addr, 0, g);
    case SP_LOCAL:          return local_region(c, 0, how, g);
    case SP_PARAM:          return param_region(c->launch, how, g);
    case SP_GENERIC:
        if (addr - base < WINDOW)
            return shared_region(c, SP_SHARED_CLUSTER, addr - base, base, g);
        if (addr - base < 2 * WINDOW)
            return local_region(c, base + WINDOW, how, g);
        return global_region(c->memory, addr, how, g);
    default:                return global_region(c->memory, addr, how, g);
    }
}

static uint64_t thread_of(const struct warp *w, uint32_t lane) { return (uint64_t)w->id * WARP + lane; }

/* ---------------------------------------------------------------- shadow bytes */

#define ONES 0x0101010101010101u

static inline uint64_t load8(uint64_t p) { uint64_t v; memcpy(&v, (void *)(uintptr_t)p, 8); return v; }
static inline uint32_t load4(uint64_t p) { uint32_t v; memcpy(&v, (void *)(uintptr_t)p, 4); return v; }
static inline uint16_t load2(uint64_t p) { uint16_t v; memcpy(&v, (void *)(uintptr_t)p, 2); return v; }

static inline bool run_written(uint64_t shadow, uint32_t n)
{
    uint64_t all = ONES;
    for (; n >= 8; n -= 8, shadow += 8)
        all &= load8(shadow);
    if (n & 4)
        all &= load4(shadow) | ONES << 32, shadow += 4;
    if (n & 2)
        all &= load2(shadow) | ONES << 16, shadow += 2;
    if (n & 1)
        all &= *(uint8_t *)(uintptr_t)shadow | ONES << 8;
    return all == ONES;
}

/* Every lane's `size` bytes: the loops are separate so that each has a constant size. */
static bool lanes_written(const struct reach *r, uint32_t size)
{
    uint64_t all = ONES;
    switch (size) {
    case 1: for (int i = 0; i < WARP; i++) all &= *(uint8_t *)(uintptr_t)(r->at[i] + r->shadow) | ONES << 8; break;
    case 2: for (int i = 0; i < WARP; i++) all &= load2(r->at[i] + r->shadow) | ONES << 16; break;
    case 4: for (int i = 0; i < WARP; i++) all &= load4(r->at[i] + r->shadow) | ONES << 32; break;
    case 8: for (int i = 0; i < WARP; i++) all &= load8(r->at[i] + r->shadow); break;
    default:
        for (int i = 0; i < WARP; i++)
            for (uint32_t k = 0; k < size; k += 8)
                all &= load8(r->at[i] + r->shadow + k);
    }
    return all == ONES;
}

static bool reach_written(const struct reach *r, uint32_t size)
{
    switch (r->shape) {
    case CONSECUTIVE: return run_written(r->at[0] + r->shadow, WARP * size);
    case UNIFORM:     return run_written(r->at[0] + r->shadow, size);
    default:          return lanes_written(r, size);
    }
}

static void mark(uint64_t shadow, uint32_t n) { memset((void *)(uintptr_t)shadow, 1, n); }

static void reach_mark(const struct reach *r, uint32_t size)
{
    if (r->shape == CONSECUTIVE)
        mark(r->at[0] + r->shadow, WARP * size);
    else if (r->shape == UNIFORM)
        mark(r->at[0] + r->shadow, size);
    else
        switch (size) {
        case 1:  for (int i = 0; i < WARP; i++) mark(r->at[i] + r->shadow, 1); break;
        case 2:  for (int i = 0; i < WARP; i++) mark(r->at[i] + r->shadow, 2); break;
        case 4:  for (int i = 0; i < WARP; i++) mark(r->at[i] + r->shadow, 4); break;
        case 8:  for (int i = 0; i < WARP; i++) mark(r->at[i] + r->shadow, 8); break;
        case 16: for (int i = 0; i < WARP; i++) mark(r->at[i] + r->shadow, 16); break;
        default: for (int i = 0; i < WARP; i++) mark(r->at[i] + r->shadow, size); break;
        }
}

/* ---------------------------------------------------------------- one lane */

/* Shared memory's addresses have 32 bits, and a wider register's upper ones do not count: programs give the generic address
 * of a shared variable, which has the shared one in its lower half. PTX ISA: "Addresses as Operands". */
static uint64_t that_count(enum space space, uint64_t addr)
{
    return space == SP_SHARED_CTA || space == SP_SHARED_CLUSTER ? (uint32_t)addr : addr;
}

/* The host address of one lane's bytes and of their shadow (0: none to look at); 0 if a check fails. */
static uint64_t lane_at(const struct warp *w, uint32_t lane, enum space space, uint64_t addr, uint32_t size,
                        uint32_t align, enum access how, struct region *g, uint64_t *shadow)
{
    if (!region_at(w, space, addr, how, g) || size > g->size || addr - g->lo > g->size - size || addr & (align - 1))
        return 0;
    uint64_t offset = addr - g->lo + g->stride * thread_of(w, lane);
    *shadow = g->shadow ? g->shadow + offset : 0;
    return g->host + offset;
}

/* Whether the lane may read: its bytes are written, or nobody keeps count of them. */
static bool lane_written(const struct region *g, uint64_t shadow, uint32_t size)
{
    if (!shadow || g->stride || run_written(shadow, size))
        return true;
    return g->alloc && __atomic_load_n(&g->alloc->all_init, __ATOMIC_ACQUIRE);
}

/* Compilers copy structs by vectors, padding and all, so a vector load may find bytes that nothing wrote as long as there
 * are others; they read as poison. The lane gets a copy, since another host thread may be about to write them. NULL: this
 * is no such load. */
static uint8_t *with_padding(const struct instr *in, int lane, uint64_t at, uint64_t shadow, uint32_t size)
{
    static _Thread_local uint8_t copy[WARP][32];
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)at, *written = (const uint8_t *)(uintptr_t)shadow;
    if (in->op != OP_LD || in->vec < 2 || size > sizeof copy[0] || !memchr(written, 1, size))
        return NULL;
    for (uint32_t i = 0; i < size; i++)
        copy[lane][i] = written[i] ? bytes[i] : POISON;
    return copy[lane];
}

uint8_t *mem_at(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                uint32_t align, enum access how)
{
    struct region g;
    uint64_t shadow;
    addr = that_count(space, addr);
    uint64_t at = lane_at(w, (uint32_t)lane, space, addr, size, align, how, &g, &shadow);
    if (!at) {
        report_access(w, in, lane, space, addr, size, align, how);
        return NULL;
    }
    if (g.alloc && w->cta->launch->overlap && !overlap_allows(w, in, lane, g.alloc, addr, size, how))
        return NULL;
    if ((how & A_READ) && !(how & A_ANY) && !lane_written(&g, shadow, size)) {
        uint8_t *copy = with_padding(in, lane, at, shadow, size);
        if (!copy)
            report_unwritten(w, in, lane, space, addr, size, (const uint8_t *)(uintptr_t)shadow);
        return copy;
    }
    if (shadow && (how & A_WRITE) && !(how & A_LATER))
        mark(shadow, size);
    if (g.owner && !race_lanes(w, in, 1, g.owner, &(struct reach){ .at = { at }, .shape = UNIFORM }, size, how))
        return NULL;
    return (uint8_t *)(uintptr_t)at;
}

/* ---------------------------------------------------------------- a warp */

/* As many addresses at a time as the host's registers hold: wider vectors would be taken apart through memory. */
#if defined __AVX512F__
enum { AT_ONCE = 8 };
#elif defined __AVX2__
enum { AT_ONCE = 4 };
#else
enum { AT_ONCE = 2 };
#endif
typedef uint64_t u64v __attribute__((vector_size(8 * AT_ONCE), aligned(4), may_alias));

static const _Alignas(64) uint64_t lane_number[WARP] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };

static void addresses(const void *row, uint32_t width, int64_t imm, uint64_t addr[restrict WARP])
{
    if (width == 8)
        for (int i = 0; i < WARP; i++)
            addr[i] = ((const uint64_t *)row)[i] + (uint64_t)imm;
    else
        for (int i = 0; i < WARP; i++)
            addr[i] = ((const uint32_t *)row)[i] + (uint32_t)imm;
}

void mem_addresses(struct warp *w, const struct operand *o, uint64_t addr[WARP])
{
    addresses(w->regs + o->row, o->width, o->imm, addr);
}

/* Lanes outside the mask take another's address. */
static void fill_idle(uint64_t addr[WARP], uint32_t mask, uint64_t stand_in)
{
    for (int i = 0; i < WARP; i += AT_ONCE) {
        u64v active = -((mask >> *(const u64v *)&lane_number[i]) & 1);
        *(u64v *)&addr[i] = (*(u64v *)&addr[i] & active) | (stand_in & ~active);
    }
}

/* Lane by lane: different regions, or a fault to find. */
static __attribute__((noinline, cold)) bool reach_slowly(struct warp *w, const struct instr *in, uint32_t mask,
                                                         enum space space, uint32_t size, uint32_t align,
                                                         enum access how, struct reach *r)
{
    r->shadow = 0, r->shape = SCATTERED, r->shared = false;
    FOR_LANES(i, mask) {
        uint8_t *p = mem_at(w, in, (int)i, space, r->at[i], size, align, how);
        if (!p)
            return false;
        r->at[i] = (uintptr_t)p;
    }
    fill_idle(r->at, mask, r->at[__builtin_ctz(mask)]);
    return true;
}

/* Whether all of them are 0. */
static inline __attribute__((always_inline)) bool none(const u64v *v)
{
#if defined __AVX512F__
    return !_mm512_test_epi64_mask((__m512i)*v, (__m512i)*v);
#elif defined __AVX2__
    return _mm256_testz_si256((__m256i)*v, (__m256i)*v);
#else
    return !((*v)[0] | (*v)[1]);
#endif
}

/* Whether lane i's address is addr[0] + i * size, or addr[0] in every lane. */
static inline enum shape shape_of(const uint64_t addr[WARP], uint32_t size)
{
    const uint64_t start = addr[0], step = addr[1] - start, keep = step ? UINT64_MAX : 0;
    const int shift = __builtin_ctz(size);
    u64v odd = {0};
    if ((step != 0 && step != size) || size & (size - 1))
        return SCATTERED;
    for (int i = 0; i < WARP; i += AT_ONCE)
        odd |= *(u64v *)&addr[i] ^ (start + (*(const u64v *)&lane_number[i] << shift & keep));
    return !none(&odd) ? SCATTERED : step ? CONSECUTIVE : UNIFORM;
}

/* Bounds and alignment of all lanes against one region. */
static inline bool all_within(const uint64_t addr[WARP], const struct region *g, uint32_t size, uint32_t align)
{
    const uint64_t limit = g->size - size, top = (uint64_t)1 << 63;
    u64v bad = {0}, low = {0};
    if (size > g->size)
        return false;
    for (int i = 0; i < WARP; i += AT_ONCE) {
        u64v a = *(u64v *)&addr[i], offset = a - g->lo;
        bad |= offset | (limit - offset);       /* top bit set: below lo, or above the limit */
        low |= a;
    }
    bad = (bad & top) | (low & (align - 1));
    return none(&bad);
}

/* Counts the look-ups, so that a buffer that has been written in full is found out before long. */
static inline void looked_up(struct alloc *a, uint32_t bytes)
{
    size_t looked = __atomic_load_n(&a->looked, __ATOMIC_RELAXED) + bytes;
    __atomic_store_n(&a->looked, looked, __ATOMIC_RELAXED);
    if (looked > a->size)
        alloc_promote(a);
}

/* r->at holds addresses when this begins and host addresses when it returns true. */
static inline bool reach_quickly(struct warp *w, uint64_t first, enum space space, uint32_t size, uint32_t align,
                                 enum access how, struct reach *r, struct cta **owner)
{
    struct region g;
    if (!region_at(w, space, first, how, &g) || !all_within(r->at, &g, size, align) || (g.alloc && w->cta->launch->overlap))
        return false;
    r->shape = g.stride ? SCATTERED : shape_of(r->at, size);
    r->shared = g.owner != NULL;
    r->shadow = g.shadow ? g.shadow - g.host : 0;
    for (int i = 0; i < WARP; i += AT_ONCE)
        *(u64v *)&r->at[i] += g.host - g.lo;
    if (g.stride)
        for (uint32_t i = 0; i < WARP; i++)
            r->at[i] += g.stride * thread_of(w, i);
    if (!g.shadow)
        return true;
    if ((how & A_READ) && !(how & A_ANY) && !g.stride) {
        if (!reach_written(r, size))
            return false;
        if (g.alloc)
            looked_up(g.alloc, WARP * size);
    }
    if ((how & A_WRITE) && !(how & A_LATER))
        reach_mark(r, size);
    *owner = g.owner;
    return true;
}

static inline __attribute__((always_inline)) bool reach_row(struct warp *w, const struct instr *in, const void *row,
                                                            uint32_t width, int64_t imm, uint32_t mask,
                                                            enum space space, uint32_t size, uint32_t align,
                                                            enum access how, struct reach *r)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(mask);
    const uint64_t first = width == 8 ? ((const uint64_t *)row)[lane] + (uint64_t)imm
                                      : ((const uint32_t *)row)[lane] + (uint32_t)imm;
    addresses(row, width, imm, r->at);
    if (mask != UINT32_MAX)
        fill_idle(r->at, mask, first);
    struct cta *owner = NULL;
    if (w->cta->races && (how & A_STRONG || (how & A_ATOMIC) == A_ATOMIC) && space != SP_SHARED_CTA)
        race_strong_global(w);
    if (__builtin_expect(reach_quickly(w, first, space, size, align, how, r, &owner), 1))
        return !owner || !w->cta->races || race_lanes(w, in, mask, owner, r, size, how);
    addresses(row, width, imm, r->at);
    return reach_slowly(w, in, mask, space, size, align, how, r);
}

bool reach(struct warp *w, const struct instr *in, const struct operand *o, uint32_t mask, enum space space,
           uint32_t size, uint32_t align, enum access how, struct reach *r)
{
    return reach_row(w, in, w->regs + o->row, o->width, o->imm, mask, space, size, align, how, r);
}

bool mem_lanes(struct warp *w, const struct instr *in, uint32_t mask, enum space space, const uint64_t addr[WARP],
               uint32_t size, uint32_t align, enum access how, uint8_t *at[WARP])
{
    struct reach r;
    if (!reach_row(w, in, addr, 8, 0, mask, space, size, align, how, &r))
        return false;
    for (uint32_t i = 0; i < WARP; i++)
        at[i] = reach_ptr(&r, i);
    return true;
}
