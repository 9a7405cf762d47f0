/* core/race_shadow.c: what is remembered of the accesses to a CTA's shared memory, and what the next one is held against.
 *
 * A cell of 16 bytes remembers its last write, and of each agent the last read. Where an access covers a part only, the
 * cell is split into four words, and those into bytes; an access to the whole makes one of them again. Writes and reads
 * are split apart, since most tiles are written in small pieces and read in large ones, or the other way round.
 *
 * Most accesses of a kernel without pipelines are settled by one comparison: when all warps of a CTA have met at a
 * barrier, everything that they did before it has a time up to their `floor` and is ordered. */
#include "race.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE_16 = 16, SPARE_COLUMNS = 4, LAST = 0, BYTES = RACE_LEVELS - 1 };

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- columns */

static uint32_t cell_count(const struct shadow *s, uint32_t l) { return (s->bytes + 15) / 16 << 2 * l; }

static void level_open(const struct shadow *s, uint32_t l, struct race_level *lv)
{
    size_t n = cell_count(s, l);
    *lv = (struct race_level){ need(n, sizeof *lv->stamp), need(n, sizeof *lv->who),
                               need(n * s->cols, sizeof *lv->read), need(n, 1) };
}

/* Bytes are rarely told apart; their level is made for the first that are. */
static struct race_level *level_of(struct shadow *s, uint32_t l)
{
    if (!s->level[l].stamp)
        level_open(s, l, &s->level[l]);
    return &s->level[l];
}

static void widen(struct shadow *s)
{
    uint32_t old = s->cols;
    s->cols *= 2;
    for (uint32_t l = 0; l < RACE_LEVELS; l++) {
        struct race_level *lv = &s->level[l];
        if (!lv->stamp)
            continue;
        uint32_t n = cell_count(s, l), *read = need((size_t)n * s->cols, sizeof *read);
        for (uint32_t i = 0; i < n; i++)
            memcpy(read + (size_t)i * s->cols, lv->read + (size_t)i * old, old * sizeof *read);
        free(lv->read);
        lv->read = read;
    }
    uint32_t *agent_of = need(s->cols, sizeof *agent_of), *limit = need(s->cols, sizeof *limit);
    memcpy(agent_of, s->agent_of, old * sizeof *agent_of);
    free(s->agent_of), free(s->limit);
    s->agent_of = agent_of, s->limit = limit;
}

static uint32_t column_of(struct shadow *s, uint32_t agent)
{
    if (agent >= s->agents) {
        uint32_t n = (agent + 1 + 31) / 32 * 32;
        uint16_t *column = need(n, sizeof *column);
        if (s->agents)
            memcpy(column, s->column, s->agents * sizeof *column);
        free(s->column);
        s->column = column, s->agents = n;
    }
    if (!s->column[agent]) {
        if (s->used == s->cols)
            widen(s);
        s->agent_of[s->used] = agent;
        s->column[agent] = (uint16_t)s->used++;
    }
    return s->column[agent];
}

bool shadow_open(struct shadow *s, struct races *r, struct cta *c, uint32_t bytes)
{
    *s = (struct shadow){ .races = r, .cta = c, .bytes = bytes, .used = 1 };
    s->cols = (1 + r->nwarp + SPARE_COLUMNS + 7) / 8 * 8;
    s->agent_of = need(s->cols, sizeof *s->agent_of);
    s->limit = need(s->cols, sizeof *s->limit);
    for (uint32_t l = 0; l < RACE_LEVELS - 1; l++)
        level_of(s, l);
    for (uint32_t i = 0; i < r->nwarp; i++)
        column_of(s, c->cluster_rank * r->nwarp + i);
    return true;
}

void shadow_close(struct shadow *s)
{
    for (uint32_t l = 0; l < RACE_LEVELS; l++) {
        struct race_level *lv = &s->level[l];
        free(lv->stamp), free(lv->who), free(lv->read), free(lv->mode);
    }
    free(s->agent_of), free(s->column), free(s->limit);
    *s = (struct shadow){ 0 };
}

/* ---------------------------------------------------------------- one cell */

static uint32_t *reads_of(const struct shadow *s, const struct race_level *lv, uint32_t cell)
{
    return lv->read + (size_t)cell * s->cols;
}

static bool conflict(const struct race_access *x, uint32_t agent, uint32_t epoch, uint32_t site, uint32_t at, bool write)
{
    return race_report(x, &(struct race_other){ agent, epoch, site, at, write });
}

static bool is_generic(const struct races *r, uint32_t agent)
{
    return r->agent[agent].kind == AGENT_WARP || r->agent[agent].kind == AGENT_CP_ASYNC;
}

static __attribute__((noinline, cold)) bool tolerate(const struct race_access *x, uint32_t l, uint32_t cell, uint32_t agent,
                                                     uint32_t epoch, uint32_t site)
{
    const uint32_t size = 16u >> 2 * l;
    return race_harmless(x, agent, race_site_instr(x->s->races->launch, site), cell * size, size) ||
           conflict(x, agent, epoch, site, cell * size, true);
}

/* Is the access ordered after the cell's last write? */
static inline bool after_write(struct race_access *x, const struct race_level *lv, uint32_t l, uint32_t cell)
{
    uint32_t stamp = lv->stamp[cell], who = lv->who[cell];
    if (stamp <= x->floor || (stamp == x->ok_stamp && who == x->ok_who))
        return true;
    uint32_t agent = who >> 16, epoch = stamp & ~RACE_EXACT;
    bool through_fence = x->async && is_generic(x->s->races, agent);
    if (epoch > (through_fence ? clock_a : clock_v)(x->clock, agent))
        return tolerate(x, l, cell, agent, epoch, who & 0xffff);
    x->ok_stamp = stamp, x->ok_who = who;
    return true;
}

static void find_limits(struct race_access *x)
{
    struct shadow *s = x->s;
    for (uint32_t c = 1; c < s->cols; c++)
        s->limit[c] = c < s->used ? clock_v(x->clock, s->agent_of[c]) << SITE_BITS | (SITES - 1) : UINT32_MAX;
    s->limit[LAST] = UINT32_MAX;
    x->limits_known = true;
}

/* …and after all reads? */
static inline bool after_reads(struct race_access *x, const struct race_level *lv, uint32_t l, uint32_t cell)
{
    const struct shadow *s = x->s;
    const uint32_t *read = reads_of(s, lv, cell), *limit = s->limit;
    if (read[LAST] == 0 || (!(lv->mode[cell] & READS_EXACT) && read[LAST] >> SITE_BITS <= x->floor && !x->exact))
        return true;
    if (!x->limits_known)
        find_limits(x);
    uint32_t bad = 0;
    for (uint32_t c = 0; c < s->cols; c++)
        bad |= read[c] > limit[c];
    for (uint32_t c = 1; bad && c < s->used; c++)
        if (read[c] > limit[c])
            return conflict(x, s->agent_of[c], read[c] >> SITE_BITS, read[c] & (SITES - 1), cell * (16u >> 2 * l), false);
    return true;
}

static inline void set_write(const struct race_access *x, const struct race_level *lv, uint32_t cell)
{
    lv->stamp[cell] = x->stamp;
    lv->who[cell] = x->who;
}

static inline void set_read(const struct race_access *x, const struct race_level *lv, uint32_t cell)
{
    uint32_t *read = reads_of(x->s, lv, cell), stamp = x->epoch << SITE_BITS | (x->who & (SITES - 1));
    read[x->column] = stamp;
    read[LAST] = stamp;
    if (x->exact)
        lv->mode[cell] |= READS_EXACT;
}

/* ---------------------------------------------------------------- cells and their parts */

static void split_write(struct shadow *s, uint32_t l, uint32_t cell)
{
    struct race_level *lv = &s->level[l], *part = level_of(s, l + 1);
    for (uint32_t i = 4 * cell; i < 4 * cell + 4; i++)
        part->stamp[i] = lv->stamp[cell], part->who[i] = lv->who[cell];
    lv->stamp[cell] = RACE_SPLIT;
}

static void split_reads(struct shadow *s, uint32_t l, uint32_t cell)
{
    struct race_level *lv = &s->level[l], *part = level_of(s, l + 1);
    for (uint32_t i = 4 * cell; i < 4 * cell + 4; i++) {
        memcpy(reads_of(s, part, i), reads_of(s, lv, cell), s->cols * sizeof *lv->read);
        part->mode[i] = lv->mode[cell];
    }
    lv->mode[cell] |= READS_SPLIT;
}

/* Parts that the floor covers are alike to everybody in the CTA: one cell again. */
static bool rejoin(const struct race_access *x, uint32_t cell)
{
    const struct race_level *lv = &x->s->level[0], *part = &x->s->level[1];
    const uint32_t *stamp = part->stamp + 4 * (size_t)cell;
    uint32_t a = stamp[0] > stamp[1] ? stamp[0] : stamp[1], b = stamp[2] > stamp[3] ? stamp[2] : stamp[3];
    if ((a > b ? a : b) > x->floor || x->s->races->ncta > 1)
        return false;
    lv->stamp[cell] = a > b ? a : b;
    lv->who[cell] = part->who[4 * (size_t)cell];
    return true;
}

/* [at, at + n) of the cell: checks its writes, and becomes the last one if it is a write. */
static bool visit_writes(struct race_access *x, uint32_t l, uint32_t cell, uint32_t at, uint32_t n)
{
    struct race_level *lv = &x->s->level[l];
    const uint32_t size = 16u >> 2 * l;
    if (l == BYTES || lv->stamp[cell] != RACE_SPLIT) {
        if (!after_write(x, lv, l, cell))
            return false;
        if (x->write && n == size)
            set_write(x, lv, cell);
        if (!x->write || n == size || l == BYTES)
            return true;
        split_write(x->s, l, cell);
    } else if (l == 0 && !x->write && rejoin(x, cell)) {
        return true;
    }
    for (uint32_t part = size / 4, i = at / part; i * part < at + n; i++) {
        uint32_t from = i * part > at ? i * part : at, to = (i + 1) * part < at + n ? (i + 1) * part : at + n;
        if (!visit_writes(x, l + 1, 4 * cell + i, from - i * part, to - from))
            return false;
    }
    if (x->write && n == size)
        set_write(x, lv, cell);
    return true;
}

/* The same for its reads. */
static bool visit_reads(struct race_access *x, uint32_t l, uint32_t cell, uint32_t at, uint32_t n)
{
    struct race_level *lv = &x->s->level[l];
    const uint32_t size = 16u >> 2 * l;
    if (l == BYTES || !(lv->mode[cell] & READS_SPLIT)) {
        if (x->write)
            return after_reads(x, lv, l, cell);
        if (n == size || l == BYTES) {
            set_read(x, lv, cell);
            return true;
        }
        split_reads(x->s, l, cell);
    }
    for (uint32_t part = size / 4, i = at / part; i * part < at + n; i++) {
        uint32_t from = i * part > at ? i * part : at, to = (i + 1) * part < at + n ? (i + 1) * part : at + n;
        if (!visit_reads(x, l + 1, 4 * cell + i, from - i * part, to - from))
            return false;
    }
    if (x->write && x->async && n == size) {            /* all of them are ordered before: nothing to remember */
        memset(reads_of(x->s, lv, cell), 0, x->s->cols * sizeof *lv->read);
        lv->mode[cell] = 0;
    }
    return true;
}

static inline bool granule(struct race_access *x, uint32_t cell, uint32_t at, uint32_t n)
{
    if (x->write)                       /* that somebody reads what is written over says more than who wrote it last */
        return visit_reads(x, 0, cell, at, n) && visit_writes(x, 0, cell, at, n);
    return visit_writes(x, 0, cell, at, n) && visit_reads(x, 0, cell, at, n);
}

/* ---------------------------------------------------------------- ranges and lanes */

void race_begin(struct race_access *x)
{
    const struct races *r = x->s->races;
    struct racer *me = &r->warp[x->w->cta->cluster_rank * r->nwarp + x->w->id];
    x->exact |= x->w->cta != x->s->cta;
    x->floor = x->exact ? 0 : me->floor;
    x->stamp = x->epoch | (x->exact ? RACE_EXACT : 0);
    x->who = x->agent << 16 | x->in->site;
    x->column = x->write ? 0 : column_of(x->s, x->agent);
    x->ok_stamp = x->ok_who = 0;
    x->limits_known = false;
}

bool race_range(struct race_access *x, uint32_t at, uint32_t bytes)
{
    if (at > x->s->bytes || bytes > x->s->bytes - at)
        return true;
    for (uint32_t n; bytes; at += n, bytes -= n) {
        n = GRANULE_16 - at % GRANULE_16 < bytes ? GRANULE_16 - at % GRANULE_16 : bytes;
        if (!granule(x, at / GRANULE_16, at % GRANULE_16, n))
            return false;
    }
    return true;
}

/* Lanes that do not read the same place as the one before them, or the one 16 before. */
static uint32_t distinct(const uint64_t at[WARP], uint32_t mask)
{
    uint32_t same = 0;
    for (int i = 1; i < WARP; i++)
        same |= (uint32_t)(at[i] == at[i - 1]) << i;
    uint32_t far = 0;
    for (int i = 16; i < WARP; i++)
        far |= (uint32_t)(at[i] == at[i - 16]) << i;
    return mask & ~((same & mask << 1) | (far & mask << 16));
}

bool race_places(struct race_access *x, const uint64_t *at, uint64_t base, uint32_t mask, uint32_t size)
{
    FOR_LANES(i, distinct(at, mask)) {
        uint32_t offset = (uint32_t)(at[i] - base);
        x->lane = (int)i;
        bool ok = size <= GRANULE_16 - offset % GRANULE_16 ? granule(x, offset / GRANULE_16, offset % GRANULE_16, size)
                                                          : race_range(x, offset, size);
        if (!ok)
            return false;
    }
    return true;
}
