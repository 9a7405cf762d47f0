/* tcgen05_machine.h: one tcgen05.mma (or a few) as a kernel's text, and what must be in every cell of tensor memory
 * afterwards. Where elements lie is said here once more, from the ISA's tables: the layouts A to G. */
#ifndef TESTS_TCGEN05_MACHINE_H
#define TESTS_TCGEN05_MACHINE_H

#include "wgmma_machine.h"

static const struct number E2M3 = { "e2m3", 6, 2, 3, 1 }, E3M2 = { "e3m2", 6, 3, 2, 3 }, E2M1 = { "e2m1", 4, 2, 1, 1 };

enum { TC_A_AT = 0, TC_B_AT = 16384, TC_IMAGE = 49152, MBAR_AT = TC_IMAGE, TADDR_AT = TC_IMAGE + 8, LANES_ALL = 128, COLUMNS = 512 };

struct tc_trial {
    const char *kind;           /* "f16" */
    const char *d;              /* f32, f16, s32 */
    const struct number *a, *b;
    int m, n, group;            /* group 0 counts as 1 */
    int a_span, b_span;         /* 0, 32, 64, 128; 1: 128 bytes in units of 32 */
    bool ta, tb, negate_a, negate_b, overwrite, ws, saturate;
    int at;                     /* column of D */
    int lane;                   /* of D: 0 or 16 */
    int scale_d;
    const uint32_t *disabled;   /* 4 or 8 words; NULL: none */
    uint32_t idesc_xor;         /* spoils the instruction descriptor */
    uint64_t a_xor, b_xor;      /* …and the others */
    bool a_in_tmem;             /* at column 400 */
};

static inline int tc_group_of(const struct tc_trial *t) { return t->group ? t->group : 1; }
static inline bool is_narrow_number(const struct number *x) { return x->bits < 8; }
static inline int tc_k(const struct tc_trial *t) { return is_narrow_number(t->a) ? 32 : 256 / t->a->bits; }

/* ---- descriptors, field by field as the ISA's tables list them */

static inline uint32_t code_of_type(const struct tc_trial *t, const struct number *x)
{
    if (!strcmp(t->kind, "f16"))
        return x == &BF16;
    if (!strcmp(t->kind, "tf32"))
        return 2;
    if (!strcmp(t->kind, "i8"))
        return x == &S8;
    return x == &E4M3 ? 0 : x == &E5M2 ? 1 : x == &E2M3 ? 3 : x == &E3M2 ? 4 : 5;
}

static inline uint32_t idesc_of(const struct tc_trial *t)
{
    uint32_t d = !strcmp(t->d, "f16") ? 0 : !strcmp(t->d, "f32") ? 1 : 2;
    uint32_t bits = (uint32_t)t->saturate << 3 | d << 4 | code_of_type(t, t->a) << 7 | code_of_type(t, t->b) << 10 |
                    (uint32_t)t->negate_a << 13 | (uint32_t)t->negate_b << 14 | (uint32_t)t->ta << 15 | (uint32_t)t->tb << 16 |
                    (uint32_t)t->n >> 3 << 17 | (uint32_t)t->m >> 4 << 24;
    return bits ^ t->idesc_xor;
}

/* The layout of "128-byte swizzle with 32-byte atomicity": 4 of k to 512 bytes. */
static inline struct strides tc_strides(int span, bool mn_major, int rows, int k)
{
    return span == 1 ? (struct strides){ 128 * k, 512 } : strides_of(span, mn_major, rows, mn_major ? k / 8 : 2);
}

static inline int tc_offset(int span, bool mn_major, struct strides s, int bits, int mn, int k)
{
    if (span != 1)
        return naive_offset(span, mn_major, s, bits, mn, k);
    int byte = mn * bits / 8, in = byte % 128, unit = in / 32 ^ k % 4;
    return byte / 128 * s.lbo + k / 4 * s.sbo + k % 4 * 128 + unit * 32 + in % 32;
}

static inline uint64_t tc_descriptor(int at, int span, struct strides s)
{
    uint64_t mode = span == 128 ? 2 : span == 64 ? 4 : span == 32 ? 6 : span == 1 ? 1 : 0;
    return (uint64_t)at >> 4 | (uint64_t)(s.lbo >> 4) << 16 | (uint64_t)(s.sbo >> 4) << 32 | 1ull << 46 | mode << 61;
}

/* ---- the image of a CTA's shared memory */

/* `first` row of the matrix lies in row 0. Narrow elements: 16 of them packed at the start of every 16 bytes. */
static inline void tc_lay_out(uint8_t *image, const struct number *x, int which, int first, int rows, int k_all, int span, bool mn_major)
{
    struct strides s = tc_strides(span, mn_major, rows, k_all);
    for (int mn = 0; mn < rows; mn++)
        for (int k = 0; k < k_all; k++) {
            uint32_t code = code_for(x, value_at(x, which, first + mn, k));
            if (!is_narrow_number(x)) {
                memcpy(image + tc_offset(span, mn_major, s, x->bits, mn, k), &code, (size_t)x->bits / 8);
                continue;
            }
            uint8_t *chunk = image + tc_offset(span, mn_major, s, 8, mn, k / 16 * 16);
            for (int bit = 0; bit < x->bits; bit++) {
                int at = k % 16 * x->bits + bit;
                chunk[at / 8] = (uint8_t)(chunk[at / 8] | (code >> bit & 1) << at % 8);
            }
        }
}

static inline void tc_image(const struct tc_trial *t, int rank, uint8_t *image)
{
    int g = tc_group_of(t), rows = t->m / g, cols = t->n / g;
    memset(image, 0, TC_IMAGE);
    if (t->a_in_tmem)
        for (int mn = 0; mn < rows; mn++)                       /* rows of 32 bytes, a byte for each narrow element */
            for (int k = 0; k < tc_k(t); k++) {
                uint32_t code = code_for(t->a, value_at(t->a, 1, rank * rows + mn, k)) << (t->a == &E2M1 ? 2 : 0);
                memcpy(image + TC_A_AT + mn * 32 + k * 32 / tc_k(t), &code, 32 / (size_t)tc_k(t));
            }
    else
        tc_lay_out(image + TC_A_AT, t->a, 1, rank * rows, rows, tc_k(t), t->a_span, t->ta);
    tc_lay_out(image + TC_B_AT, t->b, 2, rank * cols, cols, tc_k(t), t->b_span, t->tb);
}

/* ---- the kernel */

#define TC_TILES ".shared .align 1024 .b8 s[49168];"
/* %r10 = s, %r14 = taddr, %r15 = lane quarter << 16, %rd40 = &a[(cta, thread)][0]. */
#define TC_PROLOGUE \
    "mov.u32 %r10, s; shl.b32 %r11, %r1, 4; add.u32 %r12, %r10, %r11; mad.lo.u32 %r13, %r2, 49152, %r11; cvt.u64.u32 %rd20, %r13;\n" \
    "add.u64 %rd20, %rd20, %rd1; mov.u32 %r13, 0;\n" \
    "copy: ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd20]; st.shared.v4.u32 [%r12], {%r20, %r21, %r22, %r23};\n" \
    "add.u64 %rd20, %rd20, 2048; add.u32 %r12, %r12, 2048; add.u32 %r13, %r13, 2048; setp.lt.u32 %p0, %r13, 49152; @%p0 bra copy;\n" \
    "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [s+49152], 1; fence.proxy.async; fence.mbarrier_init.release.cluster;\n" \
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; setp.lt.u32 %p2, %r1, 32;\n"
#define TC_ALLOC "@%%p2 tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [s+49160], 512;\n"
#define TC_ADDRESS \
    "bar.sync 0; ld.shared.u32 %r14, [s+49160]; shr.u32 %r15, %r1, 5; shl.b32 %r15, %r15, 21; add.u32 %r16, %r14, %r15;\n" \
    "mad.lo.u32 %r17, %r2, 128, %r1; mad.wide.u32 %rd40, %r17, 2048, %rd0;\n"
/* What one thread does to start and to end it. */
#define TC_COMMIT "@%%p5 tcgen05.commit.cta_group::%d.mbarrier::arrive::one.shared::cluster%s.b64 [%%r18]%s;\n"
#define TC_WAIT "wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [s+49152], 0; @!%p3 bra wait;\n"
#define TC_AFTER "tcgen05.fence::after_thread_sync;\n"
#define TC_BEFORE "tcgen05.fence::before_thread_sync;\n"
#define TC_DEALLOC "@%%p2 tcgen05.dealloc.cta_group::%d.sync.aligned.b32 %%r14, 512;\n"

static inline uint32_t tc_fill(const struct tc_trial *t)       /* a cell of D before: 5, or as f16 */
{
    return !strcmp(t->d, "f32") ? 0x40a00000 : !strcmp(t->d, "f16") ? 0x4500 : 5;
}

/* All cells = tc_fill, x32 at a time. */
static inline char *write_fill(char *at, const struct tc_trial *t)
{
    for (int i = 0; i < 32; i++)
        at = say_to(at, "mov.b32 d%d, 0x%x;%s", i, tc_fill(t), i % 8 == 7 ? "\n" : " ");
    for (int c = 0; c < COLUMNS; c += 32)
        at = say_to(list(say_to(at, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%%r16+%d], ", c), "d", 32), ";\n");
    return say_to(at, "tcgen05.wait::st.sync.aligned;\n");
}

/* A's rows of 32 bytes from shared memory to tensor memory, copied to all the quarters that need them. */
static inline char *write_a_to_tmem(char *at, const struct tc_trial *t)
{
    int rows = t->m / tc_group_of(t);
    bool half = t->m == 64 && !t->ws && tc_group_of(t) == 1;    /* 16 rows to 32 lanes */
    at = say_to(at, half ? "and.b32 %%r20, %%r1, 15; shr.u32 %%r21, %%r1, 5; shl.b32 %%r21, %%r21, 4; add.u32 %%r20, %%r20, %%r21;\n" :
                           "and.b32 %%r20, %%r1, %d;\n", rows - 1);
    return say_to(at, "shl.b32 %%r20, %%r20, 5; add.u32 %%r20, %%r20, %%r10; ld.shared.v4.u32 {d0, d1, d2, d3}, [%%r20];\n"
                  "ld.shared.v4.u32 {d4, d5, d6, d7}, [%%r20+16]; tcgen05.st.sync.aligned.32x32b.x8.b32 [%%r16+400], {d0, d1, d2, d3, d4, d5, d6, d7};\n"
                  "tcgen05.wait::st.sync.aligned;\n");
}

static inline char *write_tc_mma(char *at, const struct tc_trial *t)
{
    at = say_to(at, "@%%p5 tcgen05.mma%s.cta_group::%d.kind::%s [%%r18], %s, %%rd32, %%r19", t->ws ? ".ws" : "", tc_group_of(t), t->kind,
                t->a_in_tmem ? "[%r21]" : "%rd31");
    if (t->disabled) {
        at = say_to(at, ", {");
        for (int i = 0; i < 4 * tc_group_of(t); i++)
            at = say_to(at, "%s0x%x", i ? ", " : "", t->disabled[i]);
        at = say_to(at, "}");
    }
    at = say_to(at, ", %%p6");
    return t->scale_d ? say_to(at, ", %d;\n", t->scale_d) : say_to(at, ";\n");
}

/* Up to the mma: the thread that issues has %p5. */
static inline char *write_tc_before(char *at, const struct tc_trial *t)
{
    int g = tc_group_of(t);
    at = say_to(at, "%s", ".reg .b32 d<128>;\n" TC_PROLOGUE);
    at = say_to(say_to(at, TC_ALLOC, g), "%s", TC_ADDRESS);
    at = write_fill(at, t);
    if (t->a_in_tmem)
        at = write_a_to_tmem(at, t);
    at = say_to(at, TC_BEFORE "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" TC_AFTER);
    at = say_to(at, "mov.u32 %%r17, %%cluster_ctarank; setp.eq.and.u32 %%p5, %%r17, 0, %%p1; setp.eq.u32 %%p6, 1, %d;\n", !t->overwrite);
    at = say_to(at, "add.u32 %%r18, %%r14, 0x%x; add.u32 %%r21, %%r14, 0x%x; mov.u32 %%r19, 0x%x; cvt.u64.u32 %%rd30, %%r10; and.b64 %%rd30, %%rd30, 0xffffff; shr.u64 %%rd30, %%rd30, 4;\n",
                (uint32_t)t->lane << 16 | (uint32_t)t->at, (uint32_t)t->lane << 16 | 400, idesc_of(t));
    return say_to(at, "add.u64 %%rd31, %%rd30, 0x%llx; add.u64 %%rd32, %%rd30, 0x%llx;\n",
                  (unsigned long long)(tc_descriptor(TC_A_AT, t->a_span, tc_strides(t->a_span, t->ta, t->m / g, tc_k(t))) ^ t->a_xor),
                  (unsigned long long)(tc_descriptor(TC_B_AT, t->b_span, tc_strides(t->b_span, t->tb, t->n / g, tc_k(t))) ^ t->b_xor));
}

static inline char *write_tc_commit(char *at, const struct tc_trial *t)
{
    int g = tc_group_of(t);
    at = say_to(at, "mov.u32 %%r18, s; add.u32 %%r18, %%r18, 49152; mov.u16 %%h0, 3;\n");
    return say_to(at, TC_COMMIT, g, g == 2 ? ".multicast::cluster" : "", g == 2 ? ", %h0" : "");
}

/* All of tensor memory to a, and away with it. */
static inline char *write_tc_results(char *at, const struct tc_trial *t)
{
    for (int c = 0; c < COLUMNS; c += 32) {
        at = say_to(at, "tcgen05.ld.sync.aligned.32x32b.x32.b32 ");
        at = say_to(list(at, "d", 32), ", [%%r16+%d]; tcgen05.wait::ld.sync.aligned;\n", c);
        for (int i = 0; i < 32; i += 4)
            at = say_to(at, "st.global.v4.u32 [%%rd40+%d], {d%d, d%d, d%d, d%d};\n", 4 * (c + i), i, i + 1, i + 2, i + 3);
    }
    at = say_to(at, TC_BEFORE "%s;\n", tc_group_of(t) == 2 ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned" : "bar.sync 0");
    return say_to(at, TC_DEALLOC, tc_group_of(t));
}

/* All of tensor memory from b, behind two images: 512 words a lane. */
static inline char *write_cells(char *at)
{
    at = say_to(at, "mad.lo.u32 %%r20, %%r2, 128, %%r1; mad.wide.u32 %%rd50, %%r20, 2048, %%rd1; add.u64 %%rd50, %%rd50, 98304;\n");
    for (int c = 0; c < COLUMNS; c += 32) {
        for (int i = 0; i < 32; i += 4)
            at = say_to(at, "ld.global.v4.u32 {d%d, d%d, d%d, d%d}, [%%rd50+%d];\n", i, i + 1, i + 2, i + 3, 4 * (c + i));
        at = say_to(list(say_to(at, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%%r16+%d], ", c), "d", 32), ";\n");
    }
    return say_to(at, "tcgen05.wait::st.sync.aligned;\n");
}

static inline char *write_begin(char *at, int group)
{
    at = say_to(at, "%s", ".reg .b32 d<128>;\n" TC_PROLOGUE);
    at = write_cells(say_to(say_to(at, TC_ALLOC, group), "%s", TC_ADDRESS));
    at = say_to(at, TC_BEFORE "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" TC_AFTER);
    return say_to(at, "mov.u32 %%r17, %%cluster_ctarank; setp.eq.and.u32 %%p5, %%r17, 0, %%p1; cvt.u64.u32 %%rd30, %%r10; and.b64 %%rd30, %%rd30, 0xffffff; shr.u64 %%rd30, %%rd30, 4;\n");
}

enum { TC_BYTES = 2 * LANES_ALL * COLUMNS * 4 };

static inline struct machine tc_run_on(const char *device, const char *target, const struct tc_trial *t, const char *text)
{
    static uint8_t image[2 * TC_IMAGE];
    unsetenv("EMU_SEED");
    setenv("EMU_JOBS", "1", 1);
    struct machine x = machine_for(device, target, TC_TILES, text);
    if (!x.m)
        return x;
    x.a = mem_alloc(x.g, TC_BYTES, "cudaMalloc");
    x.b = mem_alloc(x.g, sizeof image, "cudaMalloc");
    for (int rank = 0; rank < tc_group_of(t); rank++)
        tc_image(t, rank, image + rank * TC_IMAGE);
    CHECK(mem_to_device(x.g, x.b->addr, image, sizeof image));
    x.cluster = (uint32_t)tc_group_of(t);
    run(&x, x.cluster, THREADS, 0);
    return x;
}

static inline struct machine tc_run(const struct tc_trial *t, const char *text) { return tc_run_on("b200", "sm_100a", t, text); }

/* ---- what must come out: "Data Path Layout Organization" */

struct cell { int cta, lane, column; };

static inline struct cell cell_of(const struct tc_trial *t, int m, int n)
{
    struct cell c = { 0, m, n };
    if (tc_group_of(t) == 2 && t->m == 256)
        c = (struct cell){ m / 128, m % 128, n };                               /* A */
    else if (tc_group_of(t) == 2)
        c = (struct cell){ m / 64, m % 64 + 64 * (n / (t->n / 2)), n % (t->n / 2) };    /* B */
    else if (t->ws && t->m == 64)
        c = (struct cell){ 0, m + 64 * (n / (t->n / 2)), n % (t->n / 2) };      /* E */
    else if (t->ws && t->m == 32)
        c = (struct cell){ 0, m + 32 * (n / (t->n / 4)), n % (t->n / 4) };      /* G */
    else if (t->m == 64)
        c = (struct cell){ 0, m % 16 + 32 * (m / 16) + t->lane, n };            /* F */
    c.column += t->at;
    return c;
}

static inline int64_t tc_product(const struct tc_trial *t, int m, int n)
{
    int64_t sum = 0;
    for (int k = 0; k < tc_k(t); k++)
        sum += value_at(t->a, 1, m, k) * value_at(t->b, 2, n, k);
    return t->negate_a != t->negate_b ? -sum : sum;
}

static inline double tc_value(const struct tc_trial *t, uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    if (!strcmp(t->d, "f32"))
        return (double)f;
    if (!strcmp(t->d, "s32"))
        return (int32_t)bits;
    int e = (int)(bits >> 10 & 31) - 15, v = e < 0 ? 0 : (int)(((bits & 1023) | 1024) >> (10 - e));
    return bits >> 16 ? 1e9 : bits >> 15 & 1 ? -v : v;
}

/* Cells that are wrong, in D and everywhere else. `times`: multiplications added up. */
static inline int tc_wrong(const struct tc_trial *t, const struct machine *x, int times)
{
    static uint8_t in_d[2][LANES_ALL][COLUMNS];
    int wrong = 0, g = tc_group_of(t);
    memset(in_d, 0, sizeof in_d);
    for (int m = 0; m < t->m; m++)
        for (int n = 0; n < t->n; n++) {
            struct cell c = cell_of(t, m, n);
            if (in_d[c.cta][c.lane][c.column]++)
                wrong++;                                        /* two elements in one cell: not a layout */
            if (t->disabled && t->disabled[4 * c.cta + c.lane / 32] >> c.lane % 32 & 1) {
                in_d[c.cta][c.lane][c.column] = 0;
                continue;
            }
            double before = t->overwrite ? 0 : 5.0 / (1 << t->scale_d);
            double got = tc_value(t, word(x->a, (uint32_t)((c.cta * LANES_ALL + c.lane) * COLUMNS + c.column)));
            wrong += got != before + (double)(times * tc_product(t, m, n));
        }
    for (int cta = 0; cta < g; cta++)
        for (int lane = 0; lane < LANES_ALL; lane++)
            for (int column = 0; column < COLUMNS; column++)
                if (!in_d[cta][lane][column] && !(t->a_in_tmem && column >= 400 && column < 408))
                    wrong += word(x->a, (uint32_t)((cta * LANES_ALL + lane) * COLUMNS + column)) != tc_fill(t);
    return wrong;
}

#endif
