/* lanes.h: runs one PTX instruction on 32 lanes of values and holds each against a reference.
 *
 * The instruction goes through the parser and the table of pickers as in a real module; its rows are then filled by
 * hand. A reference gets the lane's sources as raw codes, in the order of the operands, and gives the code of the
 * result.
 *
 *     lanes_check("add.u32 %r0, %r1, %r2;", ref_add, 0);
 *
 * Registers: %p predicates, %b 8, %h 16, %r 32, %d 64, %q 128 bits, 0 to 9 each. */
#ifndef TESTS_LANES_H
#define TESTS_LANES_H

#include <stdlib.h>

#include "check.h"
#include "emu.h"

typedef uint64_t reference_fn(const uint64_t *s);
static bool lanes_quiet;

struct unit {
    struct module *module;
    struct func *func;
    struct instr *in;
    struct warp warp;
    uint8_t *regs;
};

static inline struct gpu *lanes_gpu(void)
{
    static struct gpu *gpu;
    if (!gpu) gpu = gpu_open(device_by_id("b200"));
    return gpu;
}

/* NULL func: the parser or the picker refused it. */
static inline struct unit lanes_open(const char *text)
{
    struct unit u = {0};
    char ptx[2000], err[1000] = "";
    snprintf(ptx, sizeof ptx,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
             ".reg .pred %%p<10>; .reg .b8 %%b<10>; .reg .b16 %%h<10>; .reg .b32 %%r<10>; .reg .b64 %%d<10>; "
             ".reg .b128 %%q<10>;\n%s\nret;\n}\n", text);
    u.module = ptx_parse("test", ptx, strlen(ptx), err, sizeof err);
    if (!u.module || !gpu_load(lanes_gpu(), u.module, err, sizeof err)) {
        if (getenv("VERBOSE")) printf("%s: %s\n", text, err);
        return u;
    }
    u.func = ptx_func(u.module, "k");
    u.in = &u.func->code[0];
    u.regs = aligned_alloc(64, (u.func->frame_bytes + 63u) & ~63u);
    u.warp.regs = u.regs;
    return u;
}

static inline void lanes_close(struct unit *u)
{
    if (u->func) gpu_unload(lanes_gpu(), u->module);
    if (u->module) ptx_free(u->module);
    free(u->regs);
}

/* ---------------------------------------------------------------- rows */

static inline uint64_t lanes_get(const struct unit *u, uint32_t row, uint32_t width, int lane)
{
    uint64_t code = 0;
    if (!width) return *(uint32_t *)(u->regs + row) >> lane & 1;
    memcpy(&code, u->regs + row + (uint32_t)lane * width, width < 8 ? width : 8);
    return code;
}

static inline void lanes_set(struct unit *u, uint32_t row, uint32_t width, int lane, uint64_t code)
{
    uint32_t *pred = (uint32_t *)(u->regs + row);
    if (!width) *pred = (*pred & ~(1u << lane)) | (uint32_t)(code & 1) << lane;
    else memcpy(u->regs + row + (uint32_t)lane * width, &code, width < 8 ? width : 8);
}

static inline void lanes_constants(struct unit *u)
{
    for (uint32_t k = 0; k < u->func->nconstant; k++) {
        const struct constant *c = &u->func->constant[k];
        for (int i = 0; i < WARP; i++) lanes_set(u, c->row, c->width, i, c->bits[0]);
    }
}

/* ---------------------------------------------------------------- values: edges of every type, and anything */

static inline uint64_t lanes_random(void)
{
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t lanes_value(uint32_t width)
{
    static const uint64_t ints[] = {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, 0x10000,
        0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX,
        UINT64_MAX - 1};
    static const uint32_t f32[] = {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000,
        0xbf800000, 0x3f000000, 0x3f800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff,
        0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x477fe000, 0x477ff000, 0x38800000, 0x33000000,
        0x40200000};
    static const uint64_t f64[] = {0, 0x8000000000000000, 1, 0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000,
        0xbff0000000000000, 0x3fe0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
        0x7ff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff, 0x41dfffffffc00000, 0xc1e0000000000000,
        0x43e0000000000000};
    static const uint16_t f16[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
        0x7e00, 0x7c01, 0xffff, 0x3800, 0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x0080, 0x007f, 0x7eff};
#define ONE_OF(a) (a)[lanes_random() % (sizeof(a) / sizeof *(a))]
    uint64_t r = lanes_random();
    switch (r % 8) {
    case 0: return ONE_OF(ints);
    case 1: return ONE_OF(f32) | (uint64_t)ONE_OF(f32) << 32;
    case 2: return ONE_OF(f64);
    case 3: return ONE_OF(f16) | (uint64_t)ONE_OF(f16) << 16;
    case 4: return lanes_random() % 128;
    case 5:     /* a float of middling size, for sums that interact */
        return width == 8 ? (lanes_random() & 0x800fffffffffffff) | (uint64_t)(1000 + lanes_random() % 50) << 52
                          : (lanes_random() & 0x807fffff807fffff) | (uint64_t)(112 + lanes_random() % 32) << 23 |
                            (uint64_t)(112 + lanes_random() % 32) << 55;
    default: return lanes_random();
    }
}

/* ---------------------------------------------------------------- checking */

enum { LANES_MAX_SOURCES = 8 };
struct lanes_rows {             /* the sources of an instruction, vectors taken apart, and its destination */
    uint32_t row[LANES_MAX_SOURCES], width[LANES_MAX_SOURCES];
    bool is_const[LANES_MAX_SOURCES];
    int n;
};

static inline void lanes_add_row(struct lanes_rows *r, const struct operand *o)
{
    if (o->kind == O_VEC)
        for (int k = 0; k < o->n; k++) lanes_add_row(r, &o->elem[k]);
    if (o->kind != O_REG) return;
    r->row[r->n] = o->row;
    r->width[r->n] = o->width;
    r->is_const[r->n++] = o->flags & O_CONST;
}

static inline struct lanes_rows lanes_sources(const struct instr *in)
{
    struct lanes_rows r = {.n = 0};
    for (int i = 1; i < in->nopnd; i++) lanes_add_row(&r, &in->opnd[i]);
    return r;
}

/* One run under a mask: lanes in it must get what the reference says, the others keep what they had. */
static inline int lanes_run(struct unit *u, const char *text, reference_fn *ref, uint32_t mask)
{
    struct lanes_rows src = lanes_sources(u->in);
    const struct operand *d = &u->in->opnd[0];
    uint64_t s[WARP][LANES_MAX_SOURCES], before[WARP];
    for (int i = 0; i < WARP; i++)
        for (int k = 0; k < src.n; k++) {
            if (!src.is_const[k]) lanes_set(u, src.row[k], src.width[k], i, lanes_value(src.width[k]));
        }
    for (int i = 0; i < WARP; i++) {
        for (int k = 0; k < src.n; k++) s[i][k] = lanes_get(u, src.row[k], src.width[k], i);
        before[i] = lanes_get(u, d->row, d->width, i);
    }
    CHECK_EQ(u->in->exec(&u->warp, u->in, mask), X_NEXT);
    for (int i = 0; i < WARP; i++) {
        uint64_t got = lanes_get(u, d->row, d->width, i), want = mask >> i & 1 ? ref(s[i]) : before[i];
        if (d->width && d->width < 8) want &= (1ull << 8 * d->width) - 1;
        if (!d->width) want &= 1;
        if (got == want) continue;
        checks_failed++;
        if (lanes_quiet) return 0;
        printf("%s lane %d of mask %x: %llx, not %llx; sources", text, i, mask, (unsigned long long)got,
            (unsigned long long)want);
        for (int k = 0; k < src.n; k++) printf(" %llx", (unsigned long long)s[i][k]);
        printf("\n");
        return 0;
    }
    return 1;
}

static inline void lanes_check(const char *text, reference_fn *ref, int rounds)
{
    struct unit u = lanes_open(text);
    if (!u.func) {
        printf("refused: %s\n", text);
        checks_failed++;
    } else {
        memset(u.regs, 0x5a, u.func->frame_bytes);
        lanes_constants(&u);
        for (int i = 0; i < (rounds ? rounds : 100); i++) {
            if (!lanes_run(&u, text, ref, i % 3 ? UINT32_MAX : (uint32_t)lanes_random())) break;
        }
    }
    lanes_close(&u);
}

/* Forms that must be refused. */
static inline void lanes_refuses(const char *text)
{
    struct unit u = lanes_open(text);
    if (u.func) {
        printf("not refused: %s\n", text);
        checks_failed++;
    }
    lanes_close(&u);
}

/* The checker itself: a reference that is wrong in one lane of many must be noticed. */
static inline bool lanes_notices(const char *text, reference_fn *wrong)
{
    int before = checks_failed;
    lanes_quiet = true;
    lanes_check(text, wrong, 0);
    lanes_quiet = false;
    bool noticed = checks_failed > before;
    checks_failed = before;
    return noticed;
}

struct lanes_case { const char *text; reference_fn *ref; };
#define LANES_CHECK_ALL(cases) \
    for (size_t k_ = 0; k_ < sizeof(cases) / sizeof *(cases); k_++) lanes_check((cases)[k_].text, (cases)[k_].ref, 0)

#endif
