/* core/race_shadow.c: what is remembered of the accesses to a CTA's shared memory, and what the next one is held against.
 *
 * A line of 128 bytes has a row: its last write, and of each agent that has read it the last read, with a mask of the words that
 * this was. What does not fit that has a block of the pool, a number for each word: words that were written apart, words that an
 * agent read at different times. Where bytes of a word must be told apart, the line has four rows of another level, of 32 bytes
 * each, with masks of bytes. A write of a whole line, ordered after all that was before, makes one row of it again.
 *
 * Most accesses of a kernel without pipelines are settled by one comparison: when all warps of a CTA have met at a
 * barrier, everything that they did before it has a time up to their `floor` and is ordered. */
#include "race.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128, SUBLINES = 4, UNITS = 32, BLOCK = 2 * UNITS, LEAST_ROW = 16 };
enum { WORDS = 0, BYTES = 1 };          /* levels */
#define ALL UINT32_MAX                  /* a mask */
#define APART UINT32_MAX                /* of a read's stamp: its mask is the number of a block */
#define FOR_UNITS(i) for (uint32_t i = 0; i < UNITS; i++)

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---------------------------------------------------------------- rows and columns */

static uint32_t row_count(const struct shadow *s, uint32_t l) { return (s->bytes + LINE - 1) / LINE * (l ? SUBLINES : 1); }
static uint32_t row_words(const struct shadow *s) { return FIRST_COLUMN + 2 * s->cols; }
static size_t level_bytes(const struct shadow *s, uint32_t l) { return (size_t)row_count(s, l) * row_words(s) * 4; }

/* Bytes are rarely told apart; their level is made for the first that are. */
static uint32_t *level_of(struct shadow *s, uint32_t l)
{
    struct sm *sm = s->cta->sm;
    if (s->level[l])
        return s->level[l];
    if (l == WORDS && sm->spare_rows && sm->spare_bytes == level_bytes(s, l)) { /* of a CTA before it: pages that are mapped */
        s->level[l] = sm->spare_rows;
        sm->spare_rows = NULL;
    } else if (!(s->level[l] = aligned_alloc(64, level_bytes(s, l)))) {
        abort();
    }
    return memset(s->level[l], 0, level_bytes(s, l));
}

static inline uint32_t *row_of(const struct shadow *s, uint32_t l, uint32_t line)
{
    return s->level[l] + (size_t)line * (FIRST_COLUMN + 2 * s->cols);
}

static inline uint32_t *masks_of(const struct shadow *s, uint32_t *row) { return row + FIRST_COLUMN + s->cols; }

static void widen(struct shadow *s)
{
    uint32_t old = s->cols, old_words = row_words(s);
    s->cols = old_words - FIRST_COLUMN / 2;             /* rows of twice the size */
    for (uint32_t l = 0; l < RACE_LEVELS; l++) {
        uint32_t *narrow = s->level[l];
        if (!narrow)
            continue;
        s->level[l] = NULL;
        level_of(s, l);
        for (uint32_t i = 0; i < row_count(s, l); i++) {
            uint32_t *row = row_of(s, l, i), *from = narrow + (size_t)i * old_words;
            memcpy(row, from, (FIRST_COLUMN + old) * sizeof *row);
            memcpy(masks_of(s, row), from + FIRST_COLUMN + old, old * sizeof *row);
        }
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
        if (s->used == s->cols)
            widen(s);
        s->agent_of[s->used++] = agent;
        s->column[agent] = (uint16_t)s->used;
    }
    return s->column[agent] - 1u;
}

/* As many columns as the CTA before it came to need, if that was as large. */
static uint32_t first_columns(const struct shadow *s)
{
    const struct sm *sm = s->cta->sm;
    size_t rows = row_count(s, WORDS), words = sm->spare_bytes / 4 / rows;
    bool fits = sm->spare_rows && words >= LEAST_ROW && !(words & (words - 1)) && words * 4 * rows == sm->spare_bytes;
    return ((fits ? (uint32_t)words : LEAST_ROW) - FIRST_COLUMN) / 2;
}

bool shadow_open(struct shadow *s, struct races *r, struct cta *c, uint32_t bytes)
{
    *s = (struct shadow){ .races = r, .cta = c, .bytes = bytes };
    s->cols = first_columns(s);
    s->agent_of = need(s->cols, sizeof *s->agent_of);
    s->limit = need(s->cols, sizeof *s->limit);
    level_of(s, WORDS);
    return true;
}

void shadow_forget(struct shadow *s)
{
    for (uint32_t l = 0; l < RACE_LEVELS; l++)
        if (s->level[l])
            memset(s->level[l], 0, level_bytes(s, l));
    s->nblocks = s->free_block = 0;
    memset(s->access, 0, s->nvisits * sizeof *s->access);
    memset(s->arrival, 0, s->nvisits * sizeof *s->arrival);
    clock_clear(&s->observed);
}

void shadow_close(struct shadow *s)
{
    struct sm *sm = s->cta ? s->cta->sm : NULL;
    if (sm) {
        free(sm->spare_rows);
        sm->spare_rows = s->level[WORDS];
        sm->spare_bytes = level_bytes(s, WORDS);
        s->level[WORDS] = NULL;
    }
    for (uint32_t l = 0; l < RACE_LEVELS; l++)
        free(s->level[l]);
    free(s->agent_of), free(s->column), free(s->limit), free(s->access), free(s->arrival), free(s->block);
    clock_free(&s->observed);
    *s = (struct shadow){ 0 };
}

/* ---------------------------------------------------------------- blocks: number n is at block[n]; 0 is none */

static inline uint32_t *block_of(const struct shadow *s, uint32_t n) { return s->block + (size_t)n * BLOCK; }

static uint32_t block_new(struct shadow *s)
{
    uint32_t n = s->free_block;
    if (n) {
        s->free_block = *block_of(s, n);
        return n;
    }
    n = ++s->nblocks;
    if (n >= s->block_room) {
        s->block_room = s->block_room ? 2 * s->block_room : 16;
        if (!(s->block = realloc(s->block, (size_t)s->block_room * BLOCK * sizeof *s->block)))
            abort();
    }
    return n;
}

static void block_free(struct shadow *s, uint32_t n)
{
    *block_of(s, n) = s->free_block;
    s->free_block = n;
}

/* ---------------------------------------------------------------- is it ordered after the last write? */

static bool conflict(const struct race_access *x, uint32_t agent, uint32_t epoch, uint32_t site, uint32_t at, bool write)
{
    return race_report(x, &(struct race_other){ agent, epoch, site, at, write });
}

static bool is_generic(const struct races *r, uint32_t agent)
{
    return r->agent[agent].kind == AGENT_WARP || r->agent[agent].kind == AGENT_CP_ASYNC;
}

static __attribute__((noinline, cold)) bool tolerate(struct race_access *x, uint32_t at, uint32_t n, uint32_t agent,
                                                     uint32_t epoch, uint32_t site)
{
    x->tolerated = true;
    return race_harmless(x, agent, race_site_instr(x->s->races->launch, site), at, n) ||
           conflict(x, agent, epoch, site, at, true);
}

/* …of the n bytes from `at` on. */
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

static uint32_t unit_bytes(uint32_t l) { return l ? 1 : 4; }
static uint32_t place(uint32_t l, uint32_t line, uint32_t unit) { return (line * UNITS + unit) * unit_bytes(l); }

static __attribute__((noinline)) bool after_apart(struct race_access *x, uint32_t *row, uint32_t l, uint32_t line, uint32_t mask)
{
    const uint32_t *b = block_of(x->s, row[WHO]), only = (uint32_t)__builtin_ctz(mask);
    uint32_t late = 0;
    if (!(mask & (mask - 1)))
        return after_write(x, b[only], b[UNITS + only], place(l, line, only), unit_bytes(l));
    FOR_UNITS(i) late |= (b[i] > x->floor) & mask >> i;
    if (!late)
        return true;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (!after_write(x, b[i], b[UNITS + i], place(l, line, i), unit_bytes(l)))
            return false;
    }
    return true;
}

static inline bool after_writes(struct race_access *x, uint32_t *row, uint32_t l, uint32_t line, uint32_t mask)
{
    if (row[STAMP] <= x->floor)
        return true;
    if (row[MODE] & WRITES_APART)
        return after_apart(x, row, l, line, mask);
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = UNITS - (uint32_t)__builtin_clz(mask);
    return after_write(x, row[STAMP], row[WHO], place(l, line, first), (last - first) * unit_bytes(l));
}

static void set_write(struct race_access *x, uint32_t *row, uint32_t mask)
{
    struct shadow *s = x->s;
    if (mask == ALL) {
        if (row[MODE] & WRITES_APART)
            block_free(s, row[WHO]);
        row[MODE] &= ~(uint32_t)WRITES_APART;
        row[STAMP] = x->stamp, row[WHO] = x->who;
        return;
    }
    if (!(row[MODE] & WRITES_APART)) {
        if (row[STAMP] == x->stamp && row[WHO] == x->who)
            return;
        uint32_t n = block_new(s), *b = block_of(s, n);
        FOR_UNITS(i) b[i] = row[STAMP];
        FOR_UNITS(i) b[UNITS + i] = row[WHO];
        row[WHO] = n;
        row[MODE] |= WRITES_APART;
    }
    uint32_t *restrict b = block_of(s, row[WHO]), only = (uint32_t)__builtin_ctz(mask);
    row[STAMP] = x->stamp > row[STAMP] ? x->stamp : row[STAMP];
    if (!(mask & (mask - 1))) {
        b[only] = x->stamp, b[UNITS + only] = x->who;
        return;
    }
    FOR_UNITS(i) b[i] = mask >> i & 1 ? x->stamp : b[i];
    FOR_UNITS(i) b[UNITS + i] = mask >> i & 1 ? x->who : b[UNITS + i];
}

/* ---------------------------------------------------------------- …and after all reads? */

static void find_limits(struct race_access *x)
{
    struct shadow *s = x->s;
    for (uint32_t c = 0; c < s->used; c++)
        s->limit[c] = clock_v(x->clock, s->agent_of[c]) << SITE_BITS | (SITES - 1);
    x->limits_known = true;
}

static __attribute__((noinline)) bool find_read(struct race_access *x, uint32_t *row, uint32_t l, uint32_t line, uint32_t mask)
{
    const struct shadow *s = x->s;
    for (uint32_t c = 0; c < s->used; c++) {
        uint32_t stamp = row[FIRST_COLUMN + c], words = masks_of(s, row)[c] & mask;
        const uint32_t *b = stamp == APART ? block_of(s, masks_of(s, row)[c]) : NULL;
        for (uint32_t m = b ? mask : words; m; m &= m - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(m), read = b ? b[i] : stamp;
            if (read > s->limit[c])
                return conflict(x, s->agent_of[c], read >> SITE_BITS, read & (SITES - 1), place(l, line, i), false);
        }
    }
    return true;
}

static inline bool after_reads(struct race_access *x, uint32_t *row, uint32_t l, uint32_t line, uint32_t mask)
{
    const struct shadow *s = x->s;
    if (row[LAST] == 0 || (!(row[MODE] & READS_EXACT) && row[LAST] >> SITE_BITS <= x->floor && !x->exact))
        return true;
    if (!x->limits_known)
        find_limits(x);
    const uint32_t *stamp = row + FIRST_COLUMN, *masks = masks_of(s, row), *limit = s->limit;
    uint32_t bad = 0;
    for (uint32_t c = 0; c < s->used; c++)
        bad |= stamp[c] > limit[c] ? stamp[c] == APART ? ALL : masks[c] & mask : 0;
    return !bad || find_read(x, row, l, line, mask);
}

/* The reads of these units are over: whoever comes after the write that is made now comes after them. */
static void forget_reads(struct shadow *s, uint32_t *row, uint32_t mask)
{
    if (row[LAST] == 0)
        return;
    uint32_t *stamp = row + FIRST_COLUMN, *masks = masks_of(s, row);
    for (uint32_t c = 0; c < s->used; c++) {
        if (stamp[c] != APART) {
            masks[c] &= ~mask;
        } else if (mask == ALL) {
            block_free(s, masks[c]);
            stamp[c] = masks[c] = 0;
        } else {
            uint32_t *b = block_of(s, masks[c]);
            FOR_UNITS(i) b[i] = mask >> i & 1 ? 0 : b[i];
        }
    }
    if (mask == ALL)
        row[LAST] = 0, row[MODE] &= ~(uint32_t)READS_EXACT;
}

static __attribute__((noinline)) void read_apart(struct race_access *x, uint32_t *stamp, uint32_t *words, uint32_t mask)
{
    struct shadow *s = x->s;
    if (*stamp != APART) {
        uint32_t n = block_new(s), *b = block_of(s, n);
        FOR_UNITS(i) b[i] = *words >> i & 1 ? *stamp : 0;
        *stamp = APART, *words = n;
    }
    uint32_t *b = block_of(s, *words);
    FOR_UNITS(i) b[i] = mask >> i & 1 ? x->read_stamp : b[i];
}

static inline void set_read(struct race_access *x, uint32_t *row, uint32_t mask)
{
    uint32_t *stamp = &row[FIRST_COLUMN + x->column], *words = &masks_of(x->s, row)[x->column];
    if (*stamp == x->read_stamp)
        *words |= mask;
    else if (*stamp != APART && !(*words & ~mask))
        *stamp = x->read_stamp, *words = mask;
    else
        read_apart(x, stamp, words, mask);
    row[LAST] = x->read_stamp;
    row[MODE] |= x->exact ? READS_EXACT : 0;
}

/* ---------------------------------------------------------------- one row, one line */

static inline bool visit_row(struct race_access *x, uint32_t l, uint32_t line, uint32_t mask)
{
    uint32_t *row = row_of(x->s, l, line);
    if (!x->write) {
        if (!after_writes(x, row, l, line, mask))
            return false;
        set_read(x, row, mask);
        return true;
    }
    /* That somebody reads what is written over says more than who wrote it last. */
    x->tolerated = false;
    if (!after_reads(x, row, l, line, mask) || !after_writes(x, row, l, line, mask))
        return false;
    if (!x->tolerated)
        forget_reads(x->s, row, mask);
    set_write(x, row, mask);
    return true;
}

/* Eight words as the 32 bytes that they are. */
static uint32_t bytes_of(uint32_t words)
{
    uint32_t m = words & 0xff;
    m = (m | m << 12) & 0x000f000f;
    m = (m | m << 6) & 0x03030303;
    m = (m | m << 3) & 0x11111111;
    return m * 15;
}

static bool whole_words(uint32_t bytes)
{
    uint32_t low = bytes & 0x11111111;
    return low * 15 == bytes;
}

static uint32_t words_of(uint32_t bytes)
{
    uint32_t m = bytes & 0x11111111;
    m = (m | m >> 3) & 0x03030303;
    m = (m | m >> 6) & 0x000f000f;
    return (m | m >> 12) & 0xff;
}

/* From now on the line's bytes are told apart. */
static void split(struct shadow *s, uint32_t line)
{
    level_of(s, BYTES);
    uint32_t *row = row_of(s, WORDS, line);
    for (uint32_t k = 0; k < SUBLINES; k++) {
        uint32_t *part = row_of(s, BYTES, SUBLINES * line + k), *masks = masks_of(s, part);
        memcpy(part, row, row_words(s) * sizeof *row);
        if (row[MODE] & WRITES_APART) {
            part[WHO] = block_new(s);
            uint32_t *b = block_of(s, part[WHO]), *from = block_of(s, row[WHO]);
            FOR_UNITS(i) b[i] = from[8 * k + i / 4];
            FOR_UNITS(i) b[UNITS + i] = from[UNITS + 8 * k + i / 4];
        }
        for (uint32_t c = 0; c < s->used; c++)
            if (part[FIRST_COLUMN + c] == APART) {
                uint32_t n = block_new(s), *b = block_of(s, n), *from = block_of(s, masks[c]);
                FOR_UNITS(i) b[i] = from[8 * k + i / 4];
                masks[c] = n;
            } else {
                masks[c] = bytes_of(masks[c] >> 8 * k);
            }
    }
    if (row[MODE] & WRITES_APART)
        block_free(s, row[WHO]);
    for (uint32_t c = 0; c < s->used; c++)
        if (row[FIRST_COLUMN + c] == APART)
            block_free(s, masks_of(s, row)[c]);
    memset(row, 0, row_words(s) * sizeof *row);
    row[MODE] = LINE_SPLIT;
}

static __attribute__((noinline)) bool visit_split(struct race_access *x, uint32_t line, uint32_t mask)
{
    bool tolerated = false;
    for (uint32_t k = 0; k < SUBLINES; k++) {
        if (mask >> 8 * k & 0xff && !visit_row(x, BYTES, SUBLINES * line + k, bytes_of(mask >> 8 * k)))
            return false;
        tolerated |= x->tolerated;
    }
    if (x->write && mask == ALL && !tolerated) {     /* one row again; those of the level below hold this write alone */
        uint32_t *row = row_of(x->s, WORDS, line);
        row[MODE] = 0, row[STAMP] = x->stamp, row[WHO] = x->who;
    }
    return true;
}

/* Words of a line. */
static inline bool visit(struct race_access *x, uint32_t line, uint32_t mask)
{
    return row_of(x->s, WORDS, line)[MODE] & LINE_SPLIT ? visit_split(x, line, mask) : visit_row(x, WORDS, line, mask);
}

/* Bytes of a quarter of a line. */
static bool visit_bytes(struct race_access *x, uint32_t quarter, uint32_t mask)
{
    uint32_t line = quarter / SUBLINES;
    if (whole_words(mask))
        return visit(x, line, words_of(mask) << quarter % SUBLINES * 8);
    if (!(row_of(x->s, WORDS, line)[MODE] & LINE_SPLIT))
        split(x->s, line);
    return visit_row(x, BYTES, quarter, mask);
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

/* Bits [from, to). */
static uint32_t bits(uint32_t from, uint32_t to) { return ALL >> (UNITS - (to - from)) << from; }

bool race_range(struct race_access *x, uint32_t at, uint32_t bytes)
{
    if (at > x->s->bytes || bytes > x->s->bytes - at)
        return true;
    const bool words = at % 4 == 0 && bytes % 4 == 0;
    const uint32_t step = words ? LINE : UNITS, unit = words ? 4 : 1;
    for (uint32_t n; bytes; at += n, bytes -= n) {
        n = step - at % step < bytes ? step - at % step : bytes;
        uint32_t mask = bits(at % step / unit, (at % step + n) / unit);
        if (!(words ? visit(x, at / LINE, mask) : visit_bytes(x, at / UNITS, mask)))
            return false;
    }
    return true;
}

/* Lanes that are not at the same place as the one before them, or the one 16 before. */
static uint32_t distinct(const uint64_t at[WARP], uint32_t mask)
{
    uint32_t near = 0, far = 0;
    for (int i = 1; i < WARP; i++)
        near |= (uint32_t)(at[i] == at[i - 1]) << i;
    for (int i = 16; i < WARP; i++)
        far |= (uint32_t)(at[i] == at[i - 16]) << i;
    return mask & ~((near & mask << 1) | (far & mask << 16));
}

/* Lanes one after the other in the same line are one visit. */
bool race_places(struct race_access *x, const uint64_t *at, uint64_t base, uint32_t mask, uint32_t size)
{
    const bool words = size % 4 == 0;
    const uint32_t step = words ? LINE : UNITS, unit = words ? 4 : 1, span = bits(0, size / unit);
    uint32_t line = 0, units = 0;
    FOR_LANES(i, distinct(at, mask)) {
        uint32_t offset = (uint32_t)(at[i] - base);
        if (units && offset / step != line) {
            if (!(words ? visit(x, line, units) : visit_bytes(x, line, units)))
                return false;
            units = 0;
        }
        if (!units)
            x->lane = (int)i;
        line = offset / step;
        units |= span << offset % step / unit;
    }
    return !units || (words ? visit(x, line, units) : visit_bytes(x, line, units));
}

bool race_chunks(struct race_access *x, const uint32_t *chunk, uint32_t base, uint32_t n)
{
    for (uint32_t i = 0, m; i < n; i = m) {
        uint32_t at = (chunk[i] & 0xffffff) - base, line = at / LINE, mask = 0;
        for (m = i; m < n && ((chunk[m] & 0xffffff) - base) / LINE == line; m++)
            mask |= 0xfu << ((chunk[m] & 0xffffff) - base) % LINE / 4;
        if (at < x->s->bytes && !visit(x, line, mask))
            return false;
    }
    return true;
}
