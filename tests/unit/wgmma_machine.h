/* wgmma_machine.h: one multiplication by a warpgroup, as a kernel's text, and what it must yield. Where elements lie in
 * shared memory and in registers is said here once more, as the ISA's figures have it: rows, columns, chunks. */
#ifndef TESTS_WGMMA_MACHINE_H
#define TESTS_WGMMA_MACHINE_H

#include "memory_machine.h"

enum { A_AT = 0, B_AT = 8192, METADATA_AT = 40960, SHARED_BYTES = 43008, THREADS = 128, M = 64, MOST_N = 256, MOST_K = 256 };

struct number { const char *name; int bits, exponent, fraction, bias; };      /* exponent 0: an integer */
static const struct number F16 = { "f16", 16, 5, 10, 15 }, BF16 = { "bf16", 16, 8, 7, 127 }, TF32 = { "tf32", 32, 8, 23, 127 },
                           E4M3 = { "e4m3", 8, 4, 3, 7 }, E5M2 = { "e5m2", 8, 5, 2, 15 }, S8 = { "s8", 8, 0, 0, 0 },
                           U8 = { "u8", 8, 0, 0, 0 }, B1 = { "b1", 1, 0, 0, 0 };

struct trial {
    const char *d;              /* f32, f16, s32 */
    const struct number *a, *b;
    int n, a_span, b_span;      /* swizzles: 0, 32, 64, 128 bytes */
    bool ta, tb, rs;
    bool negate_a, negate_b, overwrite, satfinite;
    int k_offset;               /* bytes into the rows of both, K-major */
    bool sparse;
    int selector;
};

static inline bool is_signed_number(const struct number *x) { return x != &U8 && x != &B1; }
static inline int k_of(const struct trial *t) { return (t->sparse ? 512 : 256) / t->a->bits; }
static inline int regs_of(const struct trial *t) { return strcmp(t->d, "f16") ? t->n / 2 : t->n / 4; }

/* ---- a matrix element's value, and its code */

static inline int value_at(const struct number *x, int which, int mn, int k)
{
    uint32_t h = hash_byte((uint32_t)(which * 5003 + mn * 257 + k * 31));
    if (x == &B1)
        return h & 1;
    if (x == &U8)
        return (int)h;
    return x == &S8 ? (int8_t)h : (int)(h % 7) - 3;
}

static inline uint32_t code_for(const struct number *x, int v)
{
    int e = 0, size = v < 0 ? -v : v;
    if (!x->exponent)
        return (uint32_t)v & (x->bits == 8 ? 255 : 1);
    if (!v)
        return 0;
    while (size >> (e + 1))
        e++;
    return (uint32_t)(v < 0) << (x->bits - 1) | (uint32_t)(e + x->bias) << x->fraction | (uint32_t)(size - (1 << e)) << (x->fraction - e);
}

/* ---- sparse A: which two of four (tf32: which one of two) are stored, in any order */

static inline int chunk_of(const struct trial *t) { return t->a->bits == 32 ? 2 : 4; }
static inline int stored_column(const struct trial *t, int row, int i)
{
    static const uint8_t pairs[12][2] = { {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {1, 0}, {2, 0}, {3, 0}, {2, 1}, {3, 1}, {3, 2} };
    int size = chunk_of(t), chunk = i / (size / 2);
    uint32_t choice = hash_byte((uint32_t)(row * 83 + chunk * 7 + 11));
    return chunk * size + (size == 2 ? (int)(choice & 1) : pairs[choice % 12][i % 2]);
}

static inline uint32_t four_bits(const struct trial *t, int row, int chunk)
{
    int first = chunk * chunk_of(t);
    if (t->a->bits == 32)
        return stored_column(t, row, chunk) - first ? 14 : 4;
    return (uint32_t)(stored_column(t, row, 2 * chunk) - first) | (uint32_t)(stored_column(t, row, 2 * chunk + 1) - first) << 2;
}

/* A thread's register, as the figures show it. A pair of threads has four chunks each of a row and of the one 8 below it; of
 * 8-bit types all four threads have eight chunks of one row. Others hold what no chunk may say. */
static inline uint32_t metadata_of(const struct trial *t, int thread)
{
    int row = thread / 32 * 16 + thread % 32 / 4, quad = thread % 4;
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++) {
        if (t->a->bits == 8)
            bits |= four_bits(t, row + 8 * (quad % 2), quad / 2 * 8 + i) << 4 * i;
        else if (quad / 2 == t->selector)
            bits |= four_bits(t, row + 8 * (i / 4), quad % 2 * 4 + i % 4) << 4 * i;
    }
    return bits;
}

/* A's element, 0 where it is not stored. */
static inline int a_at(const struct trial *t, int row, int k)
{
    if (t->sparse && stored_column(t, row, k / 2) != k && (chunk_of(t) == 2 || stored_column(t, row, (k / 2) ^ 1) != k))
        return 0;
    return value_at(t->a, 1, row, k);
}

/* ---- the layouts' figures. Offsets in bytes; the strides that the kernel's descriptors name. */

struct strides { int lbo, sbo; };
static inline struct strides strides_of(int span, bool mn_major, int rows, int groups)
{
    if (span && mn_major)
        return (struct strides){ groups * 8 * span, 8 * span };         /* next span of rows: behind all groups of 8 k */
    if (span)
        return (struct strides){ 16, 8 * span };
    if (mn_major)
        return (struct strides){ 128 * (rows / 8), 128 };       /* next 8 of k behind all rows */
    return (struct strides){ 128 * (rows / 8), 128 };
}

static inline int naive_offset(int span, bool mn_major, struct strides s, int bits, int mn, int k)
{
    int r = mn_major ? k % 8 : mn % 8, byte = (mn_major ? mn : k) * bits / 8;
    int group = mn_major ? k / 8 : mn / 8;
    if (!span)
        return byte / 16 * (mn_major ? s.sbo : s.lbo) + group * (mn_major ? s.lbo : s.sbo) + r * 16 + byte % 16;
    int line = r * span / 128;                                  /* of 128 bytes; chunks change places by it */
    int in = byte % span, chunk = in / 16 ^ line;
    return byte / span * (mn_major ? s.lbo : 0) + group * s.sbo + r * span + chunk * 16 + in % 16;
}

static inline void put(uint8_t *image, int at, const struct number *x, int k, uint32_t code)
{
    if (x->bits == 1)
        image[at] = (uint8_t)(image[at] | code << k % 8);
    else
        memcpy(image + at, &code, (size_t)x->bits / 8);
}

/* The groups of 8 of k: only 16-bit types may be MN-major. */
static inline struct strides strides_in(const struct trial *t, bool b)
{
    return strides_of(b ? t->b_span : t->a_span, b ? t->tb : t->ta, b ? t->n : M, t->sparse && b ? 4 : 2);
}

/* A as it is stored: sparse rows without what is not there. */
static inline int a_stored(const struct trial *t, int row, int i)
{
    return value_at(t->a, 1, row, t->sparse ? stored_column(t, row, i) : i);
}

static inline void lay_out(uint8_t *image, const struct trial *t, bool b)
{
    const struct number *x = b ? t->b : t->a;
    struct strides s = strides_in(t, b);
    for (int mn = 0; mn < (b ? t->n : M); mn++)
        for (int k = 0; k < (b ? k_of(t) : 256 / x->bits); k++)
            put(image, naive_offset(b ? t->b_span : t->a_span, b ? t->tb : t->ta, s, x->bits, mn, k + t->k_offset * 8 / x->bits), x, k,
                code_for(x, b ? value_at(x, 2, mn, k) : a_stored(t, mn, k)));
}

/* ---- the kernel */

static inline uint64_t descriptor_of(int at, int span, struct strides s)
{
    uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return (uint64_t)at >> 4 | (uint64_t)(s.lbo >> 4) << 16 | (uint64_t)(s.sbo >> 4) << 32 | mode << 62;
}

#define TILES ".shared .align 1024 .b8 s[43008];"
/* s = b; this thread's registers are a[thread]. */
#define FILL "mov.u32 %r10, s; shl.b32 %r11, %r1, 4; add.u32 %r12, %r10, %r11; cvt.u64.u32 %rd20, %r11; add.u64 %rd20, %rd20, %rd1; mov.u32 %r13, 0;\n" \
    "copy: ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd20]; st.shared.v4.u32 [%r12], {%r20, %r21, %r22, %r23};\n" \
    "add.u64 %rd20, %rd20, 2048; add.u32 %r12, %r12, 2048; add.u32 %r13, %r13, 2048; setp.lt.u32 %p0, %r13, 43008; @%p0 bra copy;\n" \
    "cvt.u64.u32 %rd30, %r10; shr.u64 %rd30, %rd30, 4; fence.proxy.async; bar.sync 0;\n"
/* %rd31, %rd32: descriptors; a0…a3: rows of 32 bytes at s, as the registers of A hold them. */
#define READ_A "shr.u32 %r14, %r1, 5; shl.b32 %r14, %r14, 4; and.b32 %r15, %r1, 31; shr.u32 %r16, %r15, 2; add.u32 %r14, %r14, %r16; shl.b32 %r14, %r14, 5;\n" \
    "and.b32 %r15, %r15, 3; shl.b32 %r15, %r15, 2; add.u32 %r14, %r14, %r15; add.u32 %r14, %r14, %r10; ld.shared.u32 a0, [%r14];\n" \
    "ld.shared.u32 a1, [%r14+256]; ld.shared.u32 a2, [%r14+16]; ld.shared.u32 a3, [%r14+272];\n" \
    "shl.b32 %r14, %r1, 2; add.u32 %r14, %r14, %r10; ld.shared.u32 meta, [%r14+40960];\n"

static inline char *say_to(char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    at += vsprintf(at, fmt, ap);
    va_end(ap);
    return at;
}

static inline char *list(char *at, const char *name, int n)
{
    for (int i = 0; i < n; i++)
        at = say_to(at, "%s%s%d", i ? ", " : "{", name, i);
    return say_to(at, "}");
}

/* What the accumulators start from. */
static inline int c_at(const struct trial *t, int col) { return strcmp(t->d, "f16") ? 5 : col % 2 ? 1 : -1; }
static inline uint32_t c_code(const struct trial *t)
{
    return !strcmp(t->d, "f16") ? 0x3c00bc00 : !strcmp(t->d, "f32") ? 0x40a00000 : 5;
}

static inline char *write_prologue(char *at, const struct trial *t)
{
    at = say_to(at, "%s", ".reg .b32 d<128>; .reg .b32 a<4>, meta; .reg .pred keep;\n" FILL READ_A);
    for (int i = 0; i < regs_of(t); i++)
        at = say_to(at, "mov.b32 d%d, 0x%x;%s", i, c_code(t), i % 8 == 7 ? "\n" : " ");
    at = say_to(at, "add.u64 %%rd31, %%rd30, 0x%llx; add.u64 %%rd32, %%rd30, 0x%llx;\n",
                (unsigned long long)descriptor_of(A_AT + t->k_offset, t->a_span, strides_in(t, false)),
                (unsigned long long)descriptor_of(B_AT + t->k_offset, t->b_span, strides_in(t, true)));
    return say_to(at, "setp.eq.u32 keep, 1, %d;\n", !t->overwrite);
}

static inline char *write_mma(char *at, const struct trial *t)
{
    bool floats = strcmp(t->d, "s32"), half = t->a->bits == 16;
    at = say_to(at, "wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s.%s%s%s ", t->sparse ? ".sp" : "", t->n, k_of(t), t->d, t->a->name, t->b->name,
                t->a == &B1 ? ".and.popc" : "", t->satfinite ? ".satfinite" : "");
    at = say_to(list(at, "d", regs_of(t)), ", %s, %%rd32", t->rs ? "{a0, a1, a2, a3}" : "%rd31");
    if (t->sparse)
        at = say_to(at, ", meta, %d", t->selector);
    at = say_to(at, ", keep");
    if (floats)
        at = say_to(at, ", %d, %d", t->negate_a ? -1 : 1, t->negate_b ? -1 : 1);
    if (half && !t->rs)
        at = say_to(at, ", %d", t->ta);
    if (half)
        at = say_to(at, ", %d", t->tb);
    return say_to(at, ";\n");
}

static inline char *write_results(char *at, const struct trial *t)
{
    at = say_to(at, "mad.wide.u32 %%rd40, %%r1, %d, %%rd0;\n", 4 * regs_of(t));
    for (int i = 0; i < regs_of(t); i++)
        at = say_to(at, "st.global.u32 [%%rd40+%d], d%d;%s", 4 * i, i, i % 4 == 3 ? "\n" : " ");
    return at;
}

/* Fills b with the image of shared memory and runs. */
static inline struct machine run_text(const struct trial *t, const char *text)
{
    static uint8_t image[SHARED_BYTES];
    struct machine x = machine(TILES, text);
    memset(image, 0, sizeof image);
    lay_out(image + A_AT, t, false);
    if (t->rs) {                                                /* rows of 32 bytes */
        memset(image, 0, B_AT);
        for (int mn = 0; mn < M; mn++)
            for (int k = 0; k < 256 / t->a->bits; k++)
                put(image, mn * 32 + k * t->a->bits / 8, t->a, k, code_for(t->a, a_stored(t, mn, k)));
    }
    lay_out(image + B_AT, t, true);
    for (int thread = 0; thread < THREADS && t->sparse; thread++) {
        uint32_t bits = metadata_of(t, thread);
        memcpy(image + METADATA_AT + 4 * thread, &bits, 4);
    }
    CHECK(mem_to_device(x.g, x.b->addr, image, sizeof image));
    run(&x, 1, THREADS, 0);
    return x;
}

/* ---- what must come out */

static inline int64_t product_at(const struct trial *t, int row, int col)
{
    int64_t sum = 0;
    for (int k = 0; k < k_of(t); k++)
        sum += a_at(t, row, k) * value_at(t->b, 2, col, k);
    return t->negate_a != t->negate_b ? -sum : sum;
}

static inline int64_t result_at(const struct trial *t, const struct machine *x, int row, int col)
{
    int lane = row % 8 * 4 + col % 8 / 2, thread = row / 16 * 32 + lane, i = col / 8 * 4 + row % 16 / 8 * 2 + col % 2;
    if (strcmp(t->d, "f16")) {
        uint32_t bits = word(x->a, (uint32_t)(thread * regs_of(t) + i));
        float f;
        memcpy(&f, &bits, 4);
        return strcmp(t->d, "s32") ? (int64_t)f : (int32_t)bits;
    }
    uint32_t half = word(x->a, (uint32_t)(thread * regs_of(t) + i / 2)) >> i % 2 * 16 & 0xffff;
    int e = (int)(half >> 10 & 31) - 15, v = e < 0 ? 0 : (int)(((half & 1023) | 1024) >> (10 - e));
    return half >> 15 ? -v : v;
}

/* Returns how many elements are wrong; `times` multiplications were added up. */
static inline int wrong_elements(const struct trial *t, const struct machine *x, int times)
{
    int wrong = 0;
    for (int row = 0; row < M; row++)
        for (int col = 0; col < t->n; col++)
            wrong += result_at(t, x, row, col) != times * product_at(t, row, col) + (t->overwrite ? 0 : c_at(t, col));
    return wrong;
}

#endif
