/* test_tcgen05_k96: mxf4 and mxf4nvf4 with K = 96 (sm_103a), several in a row along k, as a GEMM's main loop issues them.
 *
 * Here the layouts are said of the whole of k: rows of A and B in buffers of 128 bytes, one behind the other; a row's factors in
 * words of four, the words of 128 (or 256) rows side by side. Which descriptors, ids and columns one instruction needs follows
 * from where its part of k begins. */
#include "tcgen05_machine.h"

static char text[300000];

struct long_rows {
    const char *kind, *block;
    int m, n, group, count;     /* instructions along k */
    int per;                    /* elements that share a factor */
    bool e4m3, a_in_tmem, negate_a;
    int nan_row;                /* of A, with a factor of NaN (ue8m0); 0: none */
    int slip;                   /* columns by which a row's words of factors are too far apart */
};

enum { SFA_AT = 256, SFB_AT = 288, A_COLUMN = 320, ROW = 128, CELLS = LANES_ALL * COLUMNS };
static uint32_t cells[2][LANES_ALL][COLUMNS];
static uint8_t image[2 * TC_IMAGE + sizeof cells];

static int side_of(const struct long_rows *t, bool b) { return (b ? t->n : t->m) / t->group; }
static int elements(const struct long_rows *t) { return 96 * t->count; }
static int buffers(const struct long_rows *t) { return (elements(t) / 2 + ROW - 1) / ROW; }
static int tile_at(const struct long_rows *t, bool b) { return b && !t->a_in_tmem ? buffers(t) * side_of(t, false) * ROW : 0; }
static int word_step(const struct long_rows *t, bool b) { return b && t->n > 128 ? 256 / 32 : 128 / 32; }

/* ---- operands */

static uint8_t code_of(int which, int row, int k) { return (uint8_t)code_for(&E2M1, value_at(&E2M1, which, row, k)); }

static void put_tile(const struct long_rows *t, int cta, bool b)
{
    uint8_t *tile = image + cta * TC_IMAGE + tile_at(t, b);
    int rows = side_of(t, b);
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < elements(t); k++) {
            int byte = k / 2, chunk = byte % ROW / 16 ^ row % 8;
            uint8_t *at = tile + byte / ROW * rows * ROW + row * ROW + chunk * 16 + byte % 16;
            *at |= (uint8_t)(code_of(b ? 2 : 1, cta * rows + row, k) << 4 * (k % 2));
        }
}

static void put_a_in_tmem(const struct long_rows *t, int cta)
{
    int rows = side_of(t, false);
    for (int row = 0; row < rows; row++) {
        memset(&cells[cta][row][A_COLUMN], 0, (size_t)elements(t) / 2);
        for (int k = 0; k < elements(t); k++)
            cells[cta][row][A_COLUMN + k / 8] |= (uint32_t)code_of(1, cta * rows + row, k) << 4 * (k % 8);
    }
}

static uint32_t factor_code(const struct long_rows *t, int which, int row, int f)
{
    uint32_t h = hash_byte((uint32_t)(which * 999 + row * 31 + f * 7));
    if (t->nan_row && !which && row == t->nan_row && f == 1)
        return 0xff;
    return t->e4m3 ? (6 + h % 3) << 3 | (h & 64 ? 4 : 0) : 126 + h % 3;
}

static double factor(const struct long_rows *t, int which, int row, int f)
{
    uint32_t code = factor_code(t, which, row, f);
    return t->e4m3 ? (code & 4 ? 1.5 : 1.0) * (1 << (code >> 3)) / 128 : 1.0 * (1 << (code - 120)) / 128;
}

static void put_factors(const struct long_rows *t, int cta, bool b)
{
    int rows = b ? t->n : side_of(t, false), first = b ? 0 : cta * rows;
    for (int row = 0; row < rows; row++)
        for (int f = 0; f < elements(t) / t->per; f++)
            for (int quarter = 0; quarter < 4; quarter++) {
                int column = (b ? SFB_AT : SFA_AT) + f / 4 * (word_step(t, b) + t->slip) + row / 32;
                uint32_t *cell = &cells[cta][32 * quarter + row % 32][column], code = factor_code(t, b, first + row, f);
                *cell = (*cell & ~(255u << 8 * (f % 4))) | code << 8 * (f % 4);
            }
}

static void put_all(const struct long_rows *t)
{
    memset(image, 0, sizeof image);
    for (int i = 0; i < 2 * CELLS; i++)
        cells[i / CELLS][i % CELLS / COLUMNS][i % COLUMNS] = 0x40a00000;
    for (int cta = 0; cta < t->group; cta++) {
        if (t->a_in_tmem)
            put_a_in_tmem(t, cta);
        else
            put_tile(t, cta, false);
        put_tile(t, cta, true);
        put_factors(t, cta, false);
        put_factors(t, cta, true);
    }
    memcpy(image + 2 * TC_IMAGE, cells, sizeof cells);
}

/* ---- the kernel */

/* The descriptor of instruction i, addresses counted from the tiles' start; a chunk that does not fit is in the next buffer. */
static uint64_t descriptor(const struct long_rows *t, bool b, int i)
{
    int byte = 48 * i, buffer = side_of(t, b) * ROW, here = tile_at(t, b) + byte / ROW * buffer;
    int other = byte % ROW + 48 > ROW ? here + buffer : here;
    return (uint64_t)(here + byte % ROW) >> 4 | (uint64_t)(other >> 4) << 16 | 1024ull >> 4 << 32 | 1ull << 46 | 1ull << 52 | 2ull << 61;
}

static uint32_t instruction(const struct long_rows *t, int id)
{
    return (uint32_t)id << 4 | 1u << 7 | 1u << 10 | (uint32_t)t->negate_a << 13 | (uint32_t)t->n >> 3 << 17 | (t->e4m3 ? 0 : 1u << 23) |
           (uint32_t)t->m >> 7 << 27 | (uint32_t)id << 29 | 1u << 31;
}

static char *write_one(char *at, const struct long_rows *t, int i, const char *spoil)
{
    int first = 96 * i / t->per, words = first / 4;
    at = say_to(at, "mov.u32 %%r19, 0x%x; add.u64 %%rd31, %%rd34, 0x%llx; add.u64 %%rd32, %%rd34, 0x%llx; setp.eq.u32 %%p6, 1, %d;\n", instruction(t, first % 4),
                (unsigned long long)descriptor(t, false, i), (unsigned long long)descriptor(t, true, i), i > 0);
    at = say_to(at, "add.u32 %%r40, %%r14, %d; add.u32 %%r41, %%r14, %d; add.u32 %%r43, %%r14, %d;\n%s", SFA_AT + words * word_step(t, false),
                SFB_AT + words * word_step(t, true), A_COLUMN + 12 * i, spoil);
    return say_to(at, "@%%p5 tcgen05.mma.cta_group::%d.kind::%s.block_scale%s [%%r14], %s, %%rd32, %%r19, [%%r40], [%%r41], %%p6;\n", t->group, t->kind,
                  t->block, t->a_in_tmem ? "[%r43]" : "%rd31");
}

static struct machine run_on(const char *device, const char *target, const struct long_rows *t, const char *spoil)
{
    const struct tc_trial end = { .group = t->group };
    char *at = say_to(write_begin(text, t->group), "shl.b64 %%rd33, %%rd30, 16; add.u64 %%rd34, %%rd30, %%rd33;\n");
    for (int i = 0; i < t->count; i++)
        at = write_one(at, t, i, spoil);
    at = say_to(write_tc_commit(at, &end), "%s", TC_WAIT TC_AFTER);
    write_tc_results(at, &end);
    struct machine x = machine_for(device, target, TC_TILES, text);
    if (!x.m) {
        CHECK_STR(x.said, "");
        return x;
    }
    put_all(t);
    x.a = mem_alloc(x.g, TC_BYTES, "cudaMalloc");
    x.b = mem_alloc(x.g, sizeof image, "cudaMalloc");
    CHECK(mem_to_device(x.g, x.b->addr, image, sizeof image));
    x.cluster = (uint32_t)t->group;
    run(&x, x.cluster, THREADS, 0);
    return x;
}

static double want_at(const struct long_rows *t, int m, int n)
{
    double sum = 0;
    for (int k = 0; k < elements(t); k++)
        sum += value_at(&E2M1, 1, m, k) * value_at(&E2M1, 2, n, k) * factor(t, 0, m, k / t->per) * factor(t, 1, n, k / t->per);
    return t->negate_a ? -sum : sum;
}

static int wrong_outputs(const struct long_rows *t, const struct machine *x)
{
    const struct tc_trial like = { .kind = "f16", .d = "f32", .m = t->m, .n = t->n, .group = t->group };
    int wrong = 0;
    for (int m = 0; m < t->m; m++)
        for (int n = 0; n < t->n; n++) {
            struct cell c = cell_of(&like, m, n);
            double got = tc_value(&like, word(x->a, (uint32_t)((c.cta * LANES_ALL + c.lane) * COLUMNS + c.column)));
            wrong += t->nan_row && m == t->nan_row ? got == got : got != want_at(t, m, n);
        }
    return wrong;
}

static int wrong_after(const struct long_rows *t)
{
    struct machine x = run_on("b300", "sm_103a", t, "");
    if (!x.m)
        return -1;
    expect_ok(&x);
    int wrong = wrong_outputs(t, &x);
    machine_close(&x);
    return wrong;
}

static void expect_right(struct long_rows t)
{
    int wrong = wrong_after(&t);
    CHECK_EQ(wrong, 0);
    if (wrong)
        printf("  %d wrong: %s%s m %d n %d group %d count %d e4m3 %d tmem %d\n", wrong, t.kind, t.block, t.m, t.n, t.group, t.count, t.e4m3, t.a_in_tmem);
}

/* ---- tests */

/* Four instructions, 192 bytes of a row: at bytes 0, 48, 96 (16 of which are in the next buffer), 16 of that one. */
static void rows_go_on_in_the_next_buffer(void)
{
    for (int group = 1; group <= 2; group++) {
        const struct long_rows t = { .m = 128 * group, .n = 64 * group, .group = group, .count = 4 };
        struct long_rows mxf4 = t, nvf4 = t, ue8m0 = t;
        mxf4.kind = "mxf4", mxf4.block = ".block32", mxf4.per = 32;
        nvf4.kind = "mxf4nvf4", nvf4.block = ".block16", nvf4.per = 16, nvf4.e4m3 = true;
        ue8m0.kind = "mxf4nvf4", ue8m0.block = ".block32", ue8m0.per = 32, ue8m0.negate_a = true;
        expect_right(mxf4);
        expect_right(nvf4);
        expect_right(ue8m0);
    }
}

/* All N: the factors' second words are 4 columns on up to 128, then 8. */
static void all_n_have_their_factors(void)
{
    static const int sizes[] = { 16, 48, 128, 144, 192, 256 };
    for (int i = 0; i < 6; i++)
        for (int per = 16; per <= 32; per += 16)
            expect_right((struct long_rows){ .kind = "mxf4nvf4", .block = per == 16 ? ".block16" : ".block32", .m = 128 << i % 2, .n = sizes[i], .group = 1 + i % 2,
                                             .count = 2, .per = per });
}

static void a_may_lie_in_tensor_memory(void)
{
    for (int group = 1; group <= 2; group++)
        expect_right((struct long_rows){ .kind = "mxf4nvf4", .block = ".block16", .m = 128 * group, .n = 64 * group, .group = group, .count = 4, .per = 16, .a_in_tmem = true });
}

/* …and all outputs are computed the long way, part of k by part. */
static void a_factor_of_nan_spoils_its_row(void)
{
    for (int per = 16; per <= 32; per += 16)
        expect_right((struct long_rows){ .kind = "mxf4nvf4", .block = per == 16 ? ".block16" : ".block32", .m = 128, .n = 32, .group = 1, .count = 1, .per = per,
                                         .nan_row = 70 });
}

static void another_layout_is_noticed(void)
{
    struct long_rows t = { .kind = "mxf4", .block = ".block32", .m = 128, .n = 64, .group = 1, .count = 4, .per = 32, .slip = 1 };
    CHECK(wrong_after(&t) > 4000);
}

static void expect_fault(const char *device, const char *target, const struct long_rows *t, const char *spoil, const char *says)
{
    struct machine x = run_on(device, target, t, spoil);
    CHECK_EQ(x.fault, FAULT_BAD_OPERAND);
    expect_said(&x, says);
    machine_close(&x);
}

static void misuse_is_named(void)
{
    struct long_rows t = { .kind = "mxf4", .block = ".block32", .m = 128, .n = 64, .group = 1, .count = 1, .per = 32 }, vec = t, half = t, six = t, odd = t;
    vec.block = ".scale_vec::2X";
    half.group = 2;
    six.kind = "mxf4nvf4", six.block = ".block16", six.per = 16;
    odd.n = 24;
    expect_fault("b200", "sm_100a", &t, "", "K = 96 (bit 31) is for sm_103a alone");
    expect_fault("b300", "sm_103a", &vec, "", "wants .block16 or .block32");
    expect_fault("b300", "sm_103a", &half, "", "M must be 256");
    expect_fault("b300", "sm_103a", &odd, "", "N is 24: it must be a multiple of 16");
    expect_fault("b300", "sm_103a", &six, "or.b32 %r19, %r19, 0x10;", "multiples of 2");
    expect_fault("b300", "sm_103a", &t, "and.b32 %r19, %r19, 0x7fffffff;", "bit 52, an absolute leading address, is for rows of 48 bytes");
    expect_fault("b300", "sm_103a", &t, "add.u64 %rd31, %rd31, 0x80000;", "must be a multiple of 1024");
    expect_fault("b300", "sm_103a", &t, "xor.b64 %rd31, %rd31, 0xc000000000000000;", "needs the 128-byte swizzle");
    expect_fault("b300", "sm_103a", &t, "xor.b64 %rd31, %rd31, 0x2000000000000;", "needs the base offset 0");
    expect_fault("b300", "sm_103a", &t, "add.u64 %rd31, %rd31, 6; xor.b64 %rd31, %rd31, 0x10000000000000;", "48 bytes run past the row's end");
}

TESTS({ rows_go_on_in_the_next_buffer, "rows of 48 bytes go on in the next buffer" },
      { all_n_have_their_factors, "three and six factors, for all N" },
      { a_may_lie_in_tensor_memory, "A may lie in tensor memory" },
      { a_factor_of_nan_spoils_its_row, "a factor of NaN spoils its row alone" },
      { another_layout_is_noticed, "factors in other columns are noticed" },
      { misuse_is_named, "misuse is named" })
