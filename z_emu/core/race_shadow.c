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

enum { GRANULE_16 = 16, SPARE_COLUMNS = 2, LINE = 64, BYTES = RACE_LEVELS - 1, WORDS = 4 };
#define FOR_WORDS(i) for (uint32_t i = 0; i < WORDS; i++)

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- columns */

static uint32_t cell_count(const struct shadow *s, uint32_t l) { return (s->bytes + 15) / 16 << 2 * l; }

/* Bytes are rarely told apart; their level is made for the first that are. */
static uint32_t *level_of(struct shadow *s, uint32_t l)
{
    size_t bytes = (size_t)cell_count(s, l) * s->cols * sizeof *s->level[l];
    struct sm *sm = s->cta->sm;
    if (s->level[l])
        return s->level[l];
    if (l == 0 && sm->spare_rows && sm->spare_bytes == bytes) {         /* of a CTA before it: pages that are mapped already */
        s->level[l] = sm->spare_rows;
        sm->spare_rows = NULL;
    } else if (!(s->level[l] = aligned_alloc(LINE, bytes))) {
        abort();
    }
    return memset(s->level[l], 0, bytes);
}

static inline uint32_t *row_of(const struct shadow *s, uint32_t l, uint32_t cell)
{
    return s->level[l] + (size_t)cell * s->cols;
}

static void widen(struct shadow *s)
{
    uint32_t old = s->cols;
    s->cols *= 2;
    for (uint32_t l = 0; l < RACE_LEVELS; l++) {
        uint32_t n = cell_count(s, l), *narrow = s->level[l];
        if (!narrow)
            continue;
        s->level[l] = NULL;
        level_of(s, l);
        for (uint32_t i = 0; i < n; i++)
            memcpy(row_of(s, l, i), narrow + (size_t)i * old, old * sizeof *narrow);
        free(narrow);
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
        uint32_t c = FIRST_COLUMN;
        while (c < FIRST_COLUMN + SPARE_COLUMNS && s->agent_of[c])
            c++;
        if (c == FIRST_COLUMN + SPARE_COLUMNS || s->races->agent[agent].kind == AGENT_WARP)
            c = s->used++;
        if (c == s->cols)
            widen(s);
        s->agent_of[c] = agent;
        s->column[agent] = (uint16_t)c;
    }
    return s->column[agent];
}

bool shadow_open(struct shadow *s, struct races *r, struct cta *c, uint32_t bytes)
{
    *s = (struct shadow){ .races = r, .cta = c, .bytes = bytes, .used = FIRST_COLUMN };
    s->cols = (FIRST_COLUMN + r->nwarp + SPARE_COLUMNS + 15) / 16 * 16;
    s->agent_of = need(s->cols, sizeof *s->agent_of);
    s->limit = need(s->cols, sizeof *s->limit);
    level_of(s, 0);
    s->used += SPARE_COLUMNS;           /* the first are for asynchronous work: in the same line of the host's cache */
    for (uint32_t i = 0; i < r->nwarp; i++)
        column_of(s, c->cluster_rank * r->nwarp + i);
    return true;
}

void shadow_forget(struct shadow *s)
{
    for (uint32_t l = 0; l < RACE_LEVELS; l++)
        if (s->level[l])
            memset(s->level[l], 0, (size_t)cell_count(s, l) * s->cols * sizeof *s->level[l]);
    memset(s->access, 0, s->nvisits * sizeof *s->access);
    memset(s->arrival, 0, s->nvisits * sizeof *s->arrival);
    clock_clear(&s->observed);
}

void shadow_close(struct shadow *s)
{
    struct sm *sm = s->cta ? s->cta->sm : NULL;
    if (sm) {
        free(sm->spare_rows);
        sm->spare_rows = s->level[0];
        sm->spare_bytes = (size_t)cell_count(s, 0) * s->cols * sizeof *s->level[0];
        s->level[0] = NULL;
    }
    for (uint32_t l = 0; l < RACE_LEVELS; l++)
        free(s->level[l]);
    free(s->agent_of), free(s->column), free(s->limit), free(s->access), free(s->arrival);
    clock_free(&s->observed);
    *s = (struct shadow){ 0 };
}

/* ---------------------------------------------------------------- one cell */

static bool conflict(const struct race_access *x, uint32_t agent, uint32_t epoch, uint32_t site, uint32_t at, bool write)
{
    return race_report(x, &(struct race_other){ agent, epoch, site, at, write });
}

static bool is_generic(const struct races *r, uint32_t agent)
{
    return r->agent[agent].kind == AGENT_WARP || r->agent[agent].kind == AGENT_CP_ASYNC;
}

static __attribute__((noinline, cold)) bool tolerate(const struct race_access *x, uint32_t at, uint32_t n, uint32_t agent,
                                                     uint32_t epoch, uint32_t site)
{
    return race_harmless(x, agent, race_site_instr(x->s->races->launch, site), at, n) ||
           conflict(x, agent, epoch, site, at, true);
}

/* Is the access ordered after the last write of the n bytes from `at` on? */
static inline bool after_write(struct race_access *x, uint32_t stamp, uint32_t who, uint32_t at, uint32_t n)
{
    if (stamp <= x->floor || (stamp == x->ok_stamp && who == x->ok_who))
        return true;
    uint32_t agent = who >> 16, epoch = stamp & ~RACE_EXACT;
    bool through_fence = x->async && is_generic(x->s->races, agent);
    if (epoch > (through_fence ? clock_a : clock_v)(x->clock, agent))
        return tolerate(x, at, n, agent, epoch, who & 0xffff);
    x->ok_stamp = stamp, x->ok_who = who;
    return true;
}

static void find_limits(struct race_access *x)
{
    struct shadow *s = x->s;
    for (uint32_t c = 0; c < s->cols; c++)
        s->limit[c] = c >= FIRST_COLUMN && c < s->used ? clock_v(x->clock, s->agent_of[c]) << SITE_BITS | (SITES - 1) : UINT32_MAX;
    x->limits_known = true;
}

/* …and after all reads? */
static inline bool after_reads(struct race_access *x, const uint32_t *row, uint32_t l, uint32_t cell)
{
    const struct shadow *s = x->s;
    const uint32_t *limit = s->limit, cols = s->cols;
    if (row[LAST] == 0 || (!(row[MODE] & READS_EXACT) && row[LAST] >> SITE_BITS <= x->floor && !x->exact))
        return true;
    if (!x->limits_known)
        find_limits(x);
    uint32_t bad = 0;
    for (uint32_t c = 0; c < cols; c++)
        bad |= row[c] > limit[c];
    for (uint32_t c = FIRST_COLUMN; bad && c < s->used; c++)
        if (row[c] > limit[c])
            return conflict(x, s->agent_of[c], row[c] >> SITE_BITS, row[c] & (SITES - 1), cell * (16u >> 2 * l), false);
    return true;
}

static inline void set_read(const struct race_access *x, uint32_t *row)
{
    row[x->column] = x->read_stamp;
    row[LAST] = x->read_stamp;
    if (x->exact)
        row[MODE] |= READS_EXACT;
}

/* ---------------------------------------------------------------- cells and their parts */

/* Bytes [from, to) of word i of the cell: checks their writes, and becomes the last one if it is a write. */
static bool visit_word(struct race_access *x, uint32_t *row, uint32_t cell, uint32_t i, uint32_t from, uint32_t to)
{
    const uint32_t at = GRANULE_16 * cell + 4 * i;
    const bool whole = to - from == 4;
    if (row[STAMP + i] != RACE_SPLIT) {
        if (!after_write(x, row[STAMP + i], row[WHO + i], at, 4))
            return false;
        if (x->write && whole)
            row[STAMP + i] = x->stamp, row[WHO + i] = x->who;
        if (!x->write || whole)
            return true;
        level_of(x->s, BYTES);
        for (uint32_t b = 0; b < 4; b++) {
            uint32_t *byte = row_of(x->s, BYTES, at + b);
            byte[STAMP] = row[STAMP + i], byte[WHO] = row[WHO + i];
        }
        row[STAMP + i] = RACE_SPLIT;
    }
    for (uint32_t b = from; b < to; b++) {
        uint32_t *byte = row_of(x->s, BYTES, at + b);
        if (!after_write(x, byte[STAMP], byte[WHO], at + b, 1))
            return false;
        if (x->write)
            byte[STAMP] = x->stamp, byte[WHO] = x->who;
    }
    if (x->write && whole)
        row[STAMP + i] = x->stamp, row[WHO + i] = x->who;
    return true;
}

static inline bool visit_writes(struct race_access *x, uint32_t *row, uint32_t cell, uint32_t at, uint32_t n)
{
    for (uint32_t i = at / 4; 4 * i < at + n; i++) {
        uint32_t from = 4 * i > at ? 0 : at - 4 * i, to = 4 * i + 4 < at + n ? 4 : at + n - 4 * i;
        if (!visit_word(x, row, cell, i, from, to))
            return false;
    }
    return true;
}

/* All four words written before the floor, or by who has been looked at already. */
static inline bool settled(const struct race_access *x, const uint32_t *row)
{
    uint32_t late = 0, other = 0;
    FOR_WORDS(i) late |= row[STAMP + i] > x->floor;
    FOR_WORDS(i) other |= (row[STAMP + i] ^ x->ok_stamp) | (row[WHO + i] ^ x->ok_who);
    return !late || !other;
}

static void split_reads(struct shadow *s, uint32_t l, uint32_t *row, uint32_t cell)
{
    level_of(s, l + 1);
    for (uint32_t i = 4 * cell; i < 4 * cell + 4; i++)
        memcpy(row_of(s, l + 1, i) + LAST, row + LAST, (s->cols - LAST) * sizeof *row);
    row[MODE] |= READS_SPLIT;
}

/* [at, at + n) of the cell: the same for its reads. */
static bool visit_reads(struct race_access *x, uint32_t l, uint32_t cell, uint32_t at, uint32_t n)
{
    uint32_t *row = row_of(x->s, l, cell);
    const bool whole = n == 16u >> 2 * l;
    if (l == BYTES || !(row[MODE] & READS_SPLIT)) {
        if (x->write)
            return after_reads(x, row, l, cell);
        if (whole || l == BYTES) {
            set_read(x, row);
            return true;
        }
        split_reads(x->s, l, row, cell);
    }
    for (uint32_t part = 4u >> 2 * l, i = at / part; i * part < at + n; i++) {
        uint32_t from = i * part > at ? i * part : at, to = (i + 1) * part < at + n ? (i + 1) * part : at + n;
        if (!visit_reads(x, l + 1, 4 * cell + i, from - i * part, to - from))
            return false;
    }
    if (x->write && x->async && whole)                  /* all of them are ordered before: nothing to remember */
        memset(row + LAST, 0, (x->s->cols - LAST) * sizeof *row);
    return true;
}

static inline __attribute__((always_inline)) bool granule(struct race_access *x, uint32_t cell, uint32_t at, uint32_t n)
{
    uint32_t *row = row_of(x->s, 0, cell);
    const bool whole = n == GRANULE_16;
    if (!x->write) {
        if (!(whole && settled(x, row)) && !visit_writes(x, row, cell, at, n))
            return false;
        if (!whole || row[MODE] & READS_SPLIT)
            return visit_reads(x, 0, cell, at, n);
        set_read(x, row);
        return true;
    }
    /* That somebody reads what is written over says more than who wrote it last. */
    if (!visit_reads(x, 0, cell, at, n))
        return false;
    if (!(whole && settled(x, row)))
        return visit_writes(x, row, cell, at, n);
    FOR_WORDS(i) row[STAMP + i] = x->stamp;
    FOR_WORDS(i) row[WHO + i] = x->who;
    return true;
}

bool race_granule(struct race_access *x, uint32_t at)
{
    return at % GRANULE_16 == 0 && at < x->s->bytes ? granule(x, at / GRANULE_16, 0, GRANULE_16) : race_range(x, at, GRANULE_16);
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
    x->read_stamp = x->epoch << SITE_BITS | (x->who & (SITES - 1));
    x->ok_stamp = x->ok_who = 0;
    x->limits_known = false;
    if (x->exact && !x->looks)
        race_visit(x->s, x->agent, (struct race_visit){ x->epoch, x->in->site, x->write }, false);
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
