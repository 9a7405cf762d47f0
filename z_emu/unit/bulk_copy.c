/* bulk_copy.c: the copy engine: carries out what cp.async.bulk and its tensor forms describe.
 *
 * Modelled: a load reads and lands at a later cycle, then completes its bytes on an mbarrier; a store reads its source at
 * a later cycle (wait_group.read) and has written at one later still (wait_group); a copy into another CTA does both.
 * Bytes are placed by the swizzle of their absolute shared address, so a box may begin anywhere in the swizzle's pattern.
 * Not modelled: the caches, and with them all hints about them.
 * PTX ISA: "Asynchronous copy", "Swizzling Modes", "cp.reduce.async.bulk". */
#include "bulk.h"

#include <stdlib.h>

enum {
    READ_LATENCY = 100,         /* cycles until a store has begun to read its source */
    READ_RATE = 64,             /* bytes per cycle */
    CLUSTER_LATENCY = 200,      /* to another CTA of the cluster */
    CLUSTER_RATE = 32,
    LINE = 128,                 /* bytes that every swizzle works within */
    CHUNK = 16                  /* bytes that every swizzle keeps together, but for the flip of 8 */
};

static void *need(void *p) { if (!p) abort(); return p; }

struct bulk_copy *bulk_new(uint32_t extent)
{
    struct bulk_copy *c = need(calloc(1, sizeof *c));
    c->extent = c->bytes = extent;
    c->mask = 0xffff;
    return c;
}

void bulk_drop(struct bulk_copy *c)
{
    free(c->piece);
    free(c->box);
    free(c);
}

/* ---------------------------------------------------------------- global memory */

/* Boxes have many rows in one allocation: the checks of mem_at for a row in the same one as the row before. */
static uint8_t *same_alloc(const struct alloc *a, uint64_t addr, uint32_t bytes, enum access how)
{
    if (!a || a->freed || addr < a->addr || addr - a->addr > a->size || bytes > a->size - (addr - a->addr) ||
        (a->read_only && how & A_WRITE))
        return NULL;
    uint64_t offset = addr - a->addr;
    bool known = !a->init || __atomic_load_n(&a->all_init, __ATOMIC_ACQUIRE);
    return !(how & A_READ) || known || !memchr(a->init + offset, 0, bytes) ? a->host + offset : NULL;
}

bool bulk_piece(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t addr, uint32_t bytes,
                uint32_t at, enum access how)
{
    uint8_t *host = w->cta->launch->overlap ? NULL : same_alloc(c->alloc, addr, bytes, how);
    if (!host) {
        host = mem_at(w, in, lane, SP_GLOBAL, addr, bytes, 1, how);
        c->alloc = host ? mem_find(w->cta->launch->gpu, addr) : NULL;
        if (!host)
            return false;
    }
    if (c->npieces == c->room) {
        c->room = c->room ? 2 * c->room : 16;
        c->piece = need(realloc(c->piece, c->room * sizeof *c->piece));
    }
    uint8_t *init = c->alloc && c->alloc->init ? c->alloc->init + (addr - c->alloc->addr) : NULL;
    c->piece[c->npieces++] = (struct piece){ host, init, at, bytes };
    return true;
}

/* ---------------------------------------------------------------- shared memory */

static uint32_t swizzled(uint32_t a, struct swizzle s)
{
    return a ^ (a >> s.shift & s.mask) ^ (a >> 4 & s.flip);
}

static uint32_t chunk_of(const struct bulk_copy *c) { return c->swizzle.flip ? CHUNK / 2 : CHUNK; }

/* Whole lines of 128 bytes: their place in the pattern is the same for all of a line. */
static void lines_to_shared(const struct bulk_copy *c, uint32_t at, const uint8_t *from, uint32_t n)
{
    uint32_t start = c->at + at, reserved = c->cta->memory->smem_reserved;
    memset(c->cta->smem_init + start - reserved, 1, n);
    for (uint32_t i = 0; i < n; i += LINE) {
        uint8_t *line = c->cta->smem + start + i - reserved;
        uint32_t x = (start + i) >> c->swizzle.shift & c->swizzle.mask;
        for (uint32_t k = 0; k < LINE; k += CHUNK)
            memcpy(line + (k ^ x), from + i + k, CHUNK);
    }
}

static void to_shared(const struct bulk_copy *c, uint32_t at, const uint8_t *from, uint32_t n)
{
    uint32_t chunk = c->swizzle.mask ? chunk_of(c) : n, reserved = c->cta->memory->smem_reserved;
    if (c->swizzle.mask && !c->swizzle.flip && ((c->at + at) | n) % LINE == 0) {
        lines_to_shared(c, at, from, n);
        return;
    }
    for (uint32_t i = 0, step; i < n; i += step) {
        uint32_t to = swizzled(c->at + at + i, c->swizzle) - reserved;
        step = n - i < chunk ? n - i : chunk;
        memcpy(c->cta->smem + to, from + i, step);
        memset(c->cta->smem_init + to, 1, step);
    }
}

static void from_shared(const struct bulk_copy *c, uint32_t at, uint8_t *to, uint32_t n)
{
    uint32_t chunk = c->swizzle.mask ? chunk_of(c) : n, reserved = c->cta->memory->smem_reserved;
    for (uint32_t i = 0, step; i < n; i += step) {
        uint32_t from = swizzled(c->at + at + i, c->swizzle) - reserved;
        step = n - i < chunk ? n - i : chunk;
        memcpy(to + i, c->cta->smem + from, step);
    }
}

/* Has someone written all of the source that will be used? */
static bool source_written(struct warp *w, const struct instr *in, int lane, const struct bulk_copy *c, uint32_t at, uint32_t n)
{
    uint32_t chunk = c->swizzle.mask ? chunk_of(c) : n, reserved = c->cta->memory->smem_reserved;
    for (uint32_t i = 0; i < n; i += chunk) {
        uint32_t from = swizzled(c->at + at + i, c->swizzle), step = n - i < chunk ? n - i : chunk;
        const uint8_t *written = c->cta->smem_init + from - reserved;
        if (memchr(written, 0, step))
            return report_unwritten(w, in, lane, SP_SHARED_CTA, from, step, written), false;
    }
    return true;
}

/* A swizzle moves bytes about within lines of 128. */
static bool shared_side(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, enum space space, uint64_t addr,
                        enum access how)
{
    uint32_t span = c->swizzle.mask ? (c->extent + LINE - 1) / LINE * LINE : c->extent;
    if (!mem_at(w, in, lane, space, addr, span, CHUNK, how | A_ANY | A_LATER))
        return false;
    c->cta = shared_owner(w->cta, space, (uint32_t)addr);
    c->at = (uint32_t)addr & 0xffffff;
    return true;
}

/* ---------------------------------------------------------------- on the way */

/* To the nearest tf32, halves to even; every NaN becomes the same one (seen on an H200). */
static uint32_t to_tf32(uint32_t f32)
{
    if ((f32 & 0x7fffffff) > 0x7f800000)
        return 0x7fffe000;
    return (f32 + 0xfff + (f32 >> 13 & 1)) & ~0x1fffu;
}

static void round_words(uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i + 4 <= n; i += 4) {
        uint32_t v;
        memcpy(&v, bytes + i, 4);
        v = to_tf32(v);
        memcpy(bytes + i, &v, 4);
    }
}

static void land_piece(const struct bulk_copy *c, const struct piece *p)
{
    uint8_t words[256 * 4];
    uint32_t group = c->convert == BULK_4_P64 ? 8 : 12;
    switch (c->convert) {
    case BULK_AS_IS:
        to_shared(c, p->at, p->global, p->bytes);
        break;
    case BULK_4_P64:
    case BULK_6_P32:
        for (uint32_t i = 0; i < p->bytes / group; i++)
            to_shared(c, p->at + CHUNK * i, p->global + group * i, group);
        break;
    default:                    /* BULK_TF32 */
        memcpy(words, p->global, p->bytes);
        round_words(words, p->bytes);
        to_shared(c, p->at, words, p->bytes);
    }
}

/* Bytes that a piece has in shared memory. */
static uint32_t source_bytes(const struct bulk_copy *c, const struct piece *p)
{
    return c->convert == BULK_6_P2 ? p->bytes / 12 * CHUNK : p->bytes;
}

/* Sixteen low halves of a byte pair make up each 12 bytes: 6 bits each, the first lowest. */
static void pack_6(uint8_t *bytes, uint32_t groups)
{
    for (uint32_t g = 0; g < groups; g++) {
        unsigned __int128 bits = 0;
        for (int i = CHUNK - 1; i >= 0; i--)
            bits = bits << 6 | (bytes[CHUNK * g + i] & 63);
        memcpy(bytes + 12 * g, &bits, 12);
    }
}

/* dst = op(dst, src), element by element. */
static void reduce(const struct bulk_copy *c, uint8_t *dst, const uint8_t *src, uint32_t bytes, bool shared)
{
    uint32_t each = c->element * WARP;
    for (uint32_t i = 0; i < bytes; i += each) {
        _Alignas(16) uint8_t row[WARP * 8];
        struct reach r = { .shape = SCATTERED, .shared = shared, .subnormals = true };
        uint32_t n = (bytes - i < each ? bytes - i : each) / c->element;
        memcpy(row, src + i, n * c->element);
        for (uint32_t k = 0; k < n; k++)
            r.at[k] = (uintptr_t)(dst + i + k * c->element);
        c->reduce(&r, n == WARP ? UINT32_MAX : (1u << n) - 1, row, NULL, NULL);
    }
}

static void write_piece(const struct bulk_copy *c, const struct piece *p, uint8_t *from)
{
    if (c->convert == BULK_6_P2)
        pack_6(from, p->bytes / 12);
    if (c->reduce)
        reduce(c, p->global, from, p->bytes, false);
    else if (c->mask == 0xffff)
        memcpy(p->global, from, p->bytes);
    else
        for (uint32_t i = 0; i < p->bytes; i++)
            if (c->mask >> i % CHUNK & 1)
                p->global[i] = from[i];
    for (uint32_t i = 0; p->init && c->mask != 0xffff && i < p->bytes; i++)
        p->init[i] |= c->mask >> i % CHUNK & 1;
    if (p->init && c->mask == 0xffff)
        memset(p->init, 1, p->bytes);
}

/* ---------------------------------------------------------------- mbarriers */

static void signal_late(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    (void)cta;
    mbarrier_complete_tx(c->bar, c->bytes, now);
    bulk_drop(c);
}

/* The last act of a copy. An mbarrier in the other CTA of the pair hears of it a little later. */
static void signal_and_drop(struct bulk_copy *c, const struct cta *landed_in, uint64_t now)
{
    struct cta *owner = mbarrier_cta(c->bar);
    if (owner == landed_in)
        signal_late(owner, c, now);
    else
        event_at(owner, now + latency(owner, CLUSTER_LATENCY), signal_late, c);
}

/* With .cta_group::2 the mbarrier may be in the other CTA of the pair. */
static bool find_barrier(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, const struct cta *dst, uint64_t bar)
{
    bool pair = has_mod(in, M_cta_group_2), remote = pair || in->space == SP_SHARED_CLUSTER;
    if (!(c->bar = mbarrier_at(w, in, lane, remote ? SP_SHARED_CLUSTER : SP_SHARED_CTA, bar, remote)))
        return false;
    uint32_t there = mbarrier_cta(c->bar)->cluster_rank;
    if (there == dst->cluster_rank || (pair && there == (dst->cluster_rank ^ 1)))
        return true;
    fault(w, in, lane, FAULT_BAD_OPERAND, "the bytes go to CTA rank %u of the cluster, the mbarrier is in CTA rank %u: it must be "
          "in the same CTA%s", dst->cluster_rank, there, pair ? " or in the other of its pair" : "");
    return false;
}

/* ---------------------------------------------------------------- loads */

static void fill_holes(const struct bulk_copy *c)
{
    uint8_t row[256 * 8];
    for (uint32_t i = 0; i < c->row; i += 2)
        memcpy(row + i, &c->fill, 2);
    for (uint32_t r = 0; r < c->rows; r++)
        to_shared(c, r * c->pitch, row, c->row);
}

static void land(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    if (c->holes)
        fill_holes(c);
    for (uint32_t i = 0; i < c->npieces; i++)
        land_piece(c, &c->piece[i]);
    signal_and_drop(c, cta, now);
}

static struct bulk_copy *another(const struct bulk_copy *c)
{
    struct bulk_copy *d = need(malloc(sizeof *d));
    *d = *c;
    d->piece = need(malloc((c->room + 1) * sizeof *d->piece));
    if (c->npieces)
        memcpy(d->piece, c->piece, c->npieces * sizeof *d->piece);
    return d;
}

static int load_to(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t dst, uint64_t bar, uint64_t when)
{
    if (!shared_side(w, in, lane, c, (enum space)in->space, dst, A_WRITE) || !find_barrier(w, in, lane, c, c->cta, bar) ||
        !race_copy_in(w, in, lane, c->cta, c->at, c->extent, mbarrier_race(c->bar), true))
        return bulk_drop(c), X_FAULT;
    event_at(c->cta, when, land, c);
    return X_NEXT;
}

uint32_t bulk_ranks(struct warp *w, const struct instr *in, int lane, const struct operand *o)
{
    uint32_t ranks = ROW(w, o, uint16_t)[lane], n = w->cta->ncluster;
    if (!ranks)
        fault(w, in, lane, FAULT_BAD_OPERAND, "the mask names no CTA");
    else if (ranks >> n)
        fault(w, in, lane, FAULT_BAD_OPERAND, "the mask 0x%x names CTA rank %d, but the cluster has %u CTA%s", ranks,
              31 - __builtin_clz(ranks), n, n == 1 ? "" : "s");
    else
        return ranks;
    return 0;
}

/* A rank in place of the one that a shared address has. */
static uint64_t in_cta(uint64_t addr, uint32_t rank) { return (addr & 0xffffff) | (uint64_t)rank << 24; }

/* The mbarrier is at the same offset in each of them; for pairs, in the CTA of each pair that is as even or odd as the one
 * that the operand names. */
int bulk_load(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t dst, uint64_t bar, uint32_t ctas)
{
    uint64_t when = copy_arrives(w, c->bytes);
    if (!ctas)
        return load_to(w, in, lane, c, dst, bar, when);
    for (uint32_t rank = 0; ctas >> rank; rank++) {
        uint32_t signalled = has_mod(in, M_cta_group_2) ? (rank & ~1u) | (bar >> 24 & 1) : rank;
        if (ctas >> rank & 1 && load_to(w, in, lane, another(c), in_cta(dst, rank), in_cta(bar, signalled), when) == X_FAULT)
            return bulk_drop(c), X_FAULT;
    }
    bulk_drop(c);
    return X_NEXT;
}

/* ---------------------------------------------------------------- stores */

static void read_source(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    uint8_t *to = c->box;
    (void)cta, (void)now;
    for (const struct piece *p = c->piece; p < c->piece + c->npieces; to += source_bytes(c, p++))
        from_shared(c, p->at, to, source_bytes(c, p));
    c->been_read = true;
}

static void write_out(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    uint8_t *from = c->box;
    (void)cta, (void)now;
    for (const struct piece *p = c->piece; p < c->piece + c->npieces; p++) {
        uint32_t n = source_bytes(c, p);
        write_piece(c, p, from);
        from += n;
    }
    bulk_discharge(c);
    bulk_drop(c);
}

/* Is what a store will read written before, for the async proxy to see? A swizzle stays within lines of 128 bytes. */
static bool source_ordered(struct warp *w, const struct instr *in, int lane, const struct bulk_copy *c, const struct piece *p)
{
    uint32_t n = source_bytes(c, p), group = bulk_groups(w, lane);
    if (!c->swizzle.mask || (n | (c->at + p->at)) % 128 == 0)
        return race_work(w, in, lane, RACE_BULK, group, c->cta, c->at + p->at, n, false);
    for (uint32_t i = 0, step; i < n; i += step) {
        step = n - i < chunk_of(c) ? n - i : chunk_of(c);
        if (!race_work(w, in, lane, RACE_BULK, group, c->cta, swizzled(c->at + p->at + i, c->swizzle), step, false))
            return false;
    }
    return true;
}

int bulk_store(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t src)
{
    uint32_t bytes = 0;
    bool ok = shared_side(w, in, lane, c, SP_SHARED_CTA, src, A_READ);
    for (const struct piece *p = c->piece; ok && p < c->piece + c->npieces; p++) {
        ok = source_written(w, in, lane, c, p->at, source_bytes(c, p)) && source_ordered(w, in, lane, c, p);
        bytes += source_bytes(c, p);
    }
    if (!ok)
        return bulk_drop(c), X_FAULT;
    c->box = need(malloc(bytes + 1));
    c->read_when = w->now + latency(c->cta, READ_LATENCY) + c->bytes / READ_RATE;
    c->when = copy_arrives(w, c->bytes) + READ_LATENCY;
    if (c->when <= c->read_when)
        c->when = c->read_when + 1;
    bulk_enlist(w, in, lane, c);
    event_at(c->cta, c->read_when, read_source, c);
    event_at(c->cta, c->when, write_out, c);
    return X_NEXT;
}

/* ---------------------------------------------------------------- into another CTA */

static void arrive(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    uint32_t at = c->to_at - cta->memory->smem_reserved;
    if (c->reduce)
        reduce(c, cta->smem + at, c->box, c->bytes, true);
    else
        memcpy(cta->smem + at, c->box, c->bytes);
    memset(cta->smem_init + at, 1, c->bytes);
    signal_and_drop(c, cta, now);
}

/* Each SM has its own clock, so the arrival is put on the other's only when the source has been read. */
static void depart(struct cta *cta, void *arg, uint64_t now)
{
    struct bulk_copy *c = arg;
    memcpy(c->box, cta->smem + c->at - cta->memory->smem_reserved, c->bytes);
    event_at(c->to, now + latency(c->to, CLUSTER_LATENCY) + c->bytes / CLUSTER_RATE, arrive, c);
}

int bulk_send(struct warp *w, const struct instr *in, int lane, struct bulk_copy *c, uint64_t src, uint64_t dst, uint64_t bar)
{
    enum access how = c->reduce ? A_ATOMIC | A_LATER : A_WRITE | A_LATER;
    bool ok = shared_side(w, in, lane, c, SP_SHARED_CTA, src, A_READ) && source_written(w, in, lane, c, 0, c->bytes) &&
              mem_at(w, in, lane, SP_SHARED_CLUSTER, dst, c->bytes, CHUNK, how);
    if (ok) {
        c->to = shared_owner(w->cta, SP_SHARED_CLUSTER, (uint32_t)dst);
        c->to_at = (uint32_t)dst & 0xffffff;
        ok = find_barrier(w, in, lane, c, c->to, bar);
    }
    if (ok && c->to == c->cta && !c->reduce) {
        fault(w, in, lane, FAULT_BAD_OPERAND, "the destination is in the CTA's own shared memory: it must be in another CTA of "
              "the cluster");
        ok = false;
    }
    ok = ok && race_copy_in(w, in, lane, c->to, c->to_at, c->bytes, mbarrier_race(c->bar), true) &&
         race_copy_out(w, in, lane, c->cta, c->at, c->bytes, mbarrier_race(c->bar));
    if (!ok)
        return bulk_drop(c), X_FAULT;
    c->box = need(malloc(c->bytes + 1));
    event_at(c->cta, w->now + latency(c->cta, READ_LATENCY) + c->bytes / READ_RATE, depart, c);
    return X_NEXT;
}
