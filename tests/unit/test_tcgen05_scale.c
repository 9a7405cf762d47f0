/* test_tcgen05_scale: block-scaled and sparse multiplications, copies into tensor memory, shifts. Scale factors and sparsity
 * metadata are laid out here as the ISA's figures have them. */
#include "tcgen05_machine.h"

static char text[300000];

/* A multiplication whose operands, factors and metadata come in shared memory: A at 0 (row-major in 32-byte rows without a
 * swizzle), B at 16384; tensor memory as a whole is filled from `cells`, one word at a time. */
struct scaled {
    const char *kind, *block;   /* "mxf8f6f4", ".block32" */
    const struct number *a, *b;
    int m, n, group, scales, sfa, sfb;
    bool e4m3_scales, sparse, overwrite, a_in_tmem;
    int selector;
    const char *plain_d;        /* not scaled: f32, s32 */
    bool ws;
};

enum { SFA_AT = 256, SFB_AT = 264, META_AT = 280, A_COLUMN = 300, CELLS = LANES_ALL * COLUMNS };
static uint32_t cells[2][LANES_ALL][COLUMNS];

static bool is_fp4_kind(const struct scaled *t) { return !strcmp(t->kind, "mxf4") || !strcmp(t->kind, "mxf4nvf4"); }
static int row_elements(const struct scaled *t)         /* of A as stored: 32 bytes */
{
    return is_fp4_kind(t) ? 64 : t->a->bits >= 16 ? 256 / t->a->bits : 32;
}
static int k_all(const struct scaled *t) { return row_elements(t) * (t->sparse ? 2 : 1); }
static int pair(const struct scaled *t) { return t->group == 2 ? 2 : 1; }
static int rows_of(const struct scaled *t) { return t->m / pair(t); }

/* ---- sparse A: which of four pieces are there; a piece is half a tf32, an element, a pair of 4 bits */

static int pieces(const struct scaled *t) { return t->a->bits == 32 ? 16 : is_fp4_kind(t) ? 32 : row_elements(t); }     /* stored in a row */
static uint32_t code_at(const struct scaled *t, int row, int chunk)
{
    static const uint8_t codes[] = { 0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe };
    uint32_t h = hash_byte((uint32_t)(row * 77 + chunk * 13 + 5));
    return t->a->bits == 32 ? (h & 1 ? 0x4 : 0xe) : codes[h % 7];
}

/* The element of A in column k: 0 where none is stored. */
static int a_value(const struct scaled *t, int row, int k)
{
    if (!t->sparse)
        return value_at(t->a, 1, row, k);
    int per = t->a->bits == 32 ? 2 : 1, elements = is_fp4_kind(t) ? 2 : 1;      /* pieces of an element; elements of a piece */
    int piece = k * per / elements, chunk = piece / 4;
    uint32_t code = code_at(t, row, chunk);
    for (int i = 0; i < 2; i++)
        if ((int)(code >> 2 * i & 3) == piece % 4) {
            int stored = (2 * chunk + i) * elements / per + (per == 1 ? k % elements : 0);
            return value_at(t->a, 1, row, stored);
        }
    return 0;
}

/* ---- factors: powers of two, or with a fraction (ue4m3: 1.5) */

static uint32_t factor_code(const struct scaled *t, int which, int row, int s)
{
    uint32_t h = hash_byte((uint32_t)(which * 999 + row * 31 + s * 7));
    return t->e4m3_scales ? (6 + h % 3) << 3 | (h & 64 ? 4 : 0) : 126 + h % 3;
}

static double factor(const struct scaled *t, int which, int row, int s)
{
    uint32_t code = factor_code(t, which, row, s), e = t->e4m3_scales ? code >> 3 : code - 120;
    double f = 1.0 * (1 << e) / 128;
    return t->e4m3_scales && code & 4 ? f * 1.5 : f;
}

/* ---- shared memory and tensor memory before */

static void put_element(uint8_t *row, const struct scaled *t, const struct number *x, int i, int value)
{
    uint32_t code = code_for(x, value);
    if (is_fp4_kind(t))
        row[i / 2] = (uint8_t)(row[i / 2] | code << 4 * (i % 2));
    else if (x->bits >= 8)
        memcpy(row + i * x->bits / 8, &code, (size_t)x->bits / 8);
    else
        for (int bit = 0; bit < x->bits; bit++)
            row[i / 16 * 16 + (i % 16 * x->bits + bit) / 8] |= (uint8_t)((code >> bit & 1) << (i % 16 * x->bits + bit) % 8);
}

/* Core matrices of 8 rows of 16 bytes: next 8 rows 128 bytes on, next 16 bytes of k behind all rows. */
static void put_tile(uint8_t *image, const struct scaled *t, bool b, int first, int rows)
{
    int bytes = b && t->sparse ? 64 : 32, n = b ? k_all(t) : row_elements(t);
    for (int row = 0; row < rows; row++) {
        uint8_t line[64] = { 0 };
        for (int i = 0; i < n; i++)
            put_element(line, t, b ? t->b : t->a, i, value_at(b ? t->b : t->a, b ? 2 : 1, first + row, i));
        for (int at = 0; at < bytes; at += 16)
            memcpy(image + at / 16 * rows * 16 + row / 8 * 128 + row % 8 * 16, line + at, 16);
    }
}

static void put_factors(const struct scaled *t, int cta)
{
    bool split = t->group == 2 && t->m == 128;                  /* layout B: each half of B's columns in its half of the lanes */
    for (int which = 0; which < 2; which++)
        for (int row = 0; row < (which ? t->n : rows_of(t)); row++)
            for (int copy = 0; copy < 4; copy++)
                for (int s = 0; s < t->scales; s++) {
                    int part = which && split ? row / (t->n / 2) : 0, in = which && split ? row % (t->n / 2) : row;
                    if (which && split && copy / 2 != part)
                        continue;
                    int global = which ? row : cta * rows_of(t) + row, byte = (which ? t->sfb : t->sfa) + s;
                    uint32_t *cell = &cells[cta][in % 32 + 32 * copy][(which ? SFB_AT : SFA_AT) + in / 32];
                    *cell = (*cell & ~(255u << 8 * byte)) | factor_code(t, which, global, s) << 8 * byte;
                }
}

/* Lane of a row in layouts C and F, and of 16- and 32-bit metadata, whose rows are folded: 8 rows' first and second halves of k
 * in 16 lanes, rows 8 further on in the upper bits. */
static int spread(const struct scaled *t, int row)
{
    bool half = !t->ws && (t->m == 64 || (t->group == 2 && t->m == 128 && t->sparse));
    return half ? row % 16 + row / 16 * 32 : row;
}

static void put_metadata(const struct scaled *t, int cta)
{
    int copies = t->ws ? 128 / t->m : 1;
    for (int row = 0; row < rows_of(t); row++)
        for (int chunk = 0; chunk < pieces(t) / 2; chunk++)
            for (int copy = 0; copy < copies; copy++) {
                uint32_t code = code_at(t, cta * rows_of(t) + row, chunk);
                int lane = spread(t, row), column = META_AT + chunk / 8, bit = 4 * (chunk % 8);
                if (t->a->bits >= 16) {
                    lane = spread(t, row / 16 * 16) + row % 8 + 8 * (chunk / 4);
                    column = META_AT + t->selector, bit = 16 * (row / 8 % 2) + 4 * (chunk % 4);
                }
                cells[cta][lane + copy * t->m][column] = (cells[cta][lane + copy * t->m][column] & ~(15u << bit)) | code << bit;
            }
}

static void put_a_in_tmem(const struct scaled *t, int cta)
{
    for (int row = 0; row < rows_of(t); row++) {
        uint8_t line[64] = { 0 };
        for (int i = 0; i < row_elements(t); i++)
            if (is_fp4_kind(t) || t->a->bits >= 8)
                put_element(line, t, t->a, i, value_at(t->a, 1, cta * rows_of(t) + row, i));
            else
                line[i] = (uint8_t)(code_for(t->a, value_at(t->a, 1, cta * rows_of(t) + row, i)) << (t->a == &E2M1 ? 2 : 0));
        for (int copy = 0; copy < (t->group == 2 && t->m == 128 && !t->sparse ? 2 : 1); copy++)
            memcpy(&cells[cta][spread(t, row) + 64 * copy][A_COLUMN], line, 32);
    }
}

/* ---- the kernel: 512 columns of tensor memory from b + 98304 + 262144 * cta */

static uint32_t scaled_idesc(const struct scaled *t)
{
    const struct tc_trial like = { .kind = t->plain_d ? t->kind : "f8f6f4", .a = t->a, .b = t->b };
    uint32_t a = code_of_type(&like, t->a), b = code_of_type(&like, t->b), sizes = (uint32_t)t->n >> 3 << 17 | (uint32_t)t->sparse << 2;
    if (t->plain_d)
        return sizes | (uint32_t)t->selector | (strcmp(t->plain_d, "f32") ? 2u : 1u) << 4 | a << 7 | b << 10 | (uint32_t)t->m >> 4 << 24;
    if (is_fp4_kind(t))
        a = b = 1;
    return sizes | (uint32_t)t->sfb << 4 | a << 7 | b << 10 | (t->e4m3_scales ? 0 : 1u << 23) | (uint32_t)t->m >> 7 << 27 | (uint32_t)t->sfa << 29;
}

static uint64_t unswizzled(int at, int rows)
{
    return tc_descriptor(at, 0, (struct strides){ rows * 16, 128 });
}

static void write_kernel(const struct scaled *t, const char *spoil)
{
    const struct tc_trial end = { .group = pair(t) };
    char *at = write_begin(text, pair(t));
    at = say_to(at, "add.u32 %%r18, %%r14, %d; mov.u32 %%r19, 0x%x; setp.eq.u32 %%p6, 1, %d;\n", 0, scaled_idesc(t), !t->overwrite);
    at = say_to(at, "add.u64 %%rd31, %%rd30, 0x%llx; add.u64 %%rd32, %%rd30, 0x%llx;\n%s", (unsigned long long)unswizzled(TC_A_AT, rows_of(t)),
                (unsigned long long)unswizzled(TC_B_AT, t->n / pair(t)), spoil);
    at = say_to(at, "add.u32 %%r40, %%r14, %d; add.u32 %%r41, %%r14, %d; add.u32 %%r42, %%r14, %d; add.u32 %%r43, %%r14, %d;\n", SFA_AT, SFB_AT, META_AT, A_COLUMN);
    at = say_to(at, "@%%p5 tcgen05.mma%s%s.cta_group::%d.kind::%s%s%s [%%r18], %s, %%rd32, %s%%r19, %s%%p6;\n", t->ws ? ".ws" : "", t->sparse ? ".sp" : "", pair(t), t->kind,
                t->plain_d ? "" : ".block_scale", t->plain_d ? "" : t->block, t->a_in_tmem ? "[%r43]" : "%rd31", t->sparse ? "[%r42], " : "",
                t->plain_d ? "" : "[%r40], [%r41], ");
    at = say_to(write_tc_commit(at, &end), "%s", TC_WAIT TC_AFTER);
    write_tc_results(at, &end);
}

static uint8_t image[2 * TC_IMAGE + sizeof cells];

static struct machine run_scaled(const struct scaled *t, const char *spoil)
{
    write_kernel(t, spoil);
    struct machine x = machine_for("b200", "sm_100a", TC_TILES, text);
    if (!x.m) {
        CHECK_STR(x.said, "");
        return x;
    }
    memset(image, 0, sizeof image);
    for (int cta = 0; cta < 2; cta++)
        for (int i = 0; i < CELLS; i++)
            cells[cta][i / COLUMNS][i % COLUMNS] = t->plain_d && strcmp(t->plain_d, "f32") ? 5 : 0x40a00000;
    for (int cta = 0; cta < pair(t); cta++) {
        put_tile(image + cta * TC_IMAGE + TC_A_AT, t, false, cta * rows_of(t), rows_of(t));
        put_tile(image + cta * TC_IMAGE + TC_B_AT, t, true, cta * t->n / pair(t), t->n / pair(t));
        if (!t->plain_d)
            put_factors(t, cta);
        if (t->sparse)
            put_metadata(t, cta);
        if (t->a_in_tmem)
            put_a_in_tmem(t, cta);
    }
    memcpy(image + 2 * TC_IMAGE, cells, sizeof cells);
    x.a = mem_alloc(x.g, TC_BYTES, "cudaMalloc");
    x.b = mem_alloc(x.g, sizeof image, "cudaMalloc");
    CHECK(mem_to_device(x.g, x.b->addr, image, sizeof image));
    x.cluster = (uint32_t)pair(t);
    run(&x, x.cluster, THREADS, 0);
    return x;
}

static double want_at(const struct scaled *t, int m, int n)
{
    double sum = t->overwrite ? 0 : 5;
    int k = k_all(t);
    for (int i = 0; i < k; i++) {
        double product = (double)a_value(t, m, i) * value_at(t->b, 2, n, i);
        int s = t->scales ? i * t->scales / k : 0;
        sum += t->plain_d ? product : product * factor(t, 0, m, s) * factor(t, 1, n, s);
    }
    return sum;
}

static int wrong_scaled(const struct scaled *t, const struct machine *x)
{
    const struct tc_trial like = { .kind = "f16", .d = t->plain_d ? t->plain_d : "f32", .m = t->m, .n = t->n, .group = pair(t), .ws = t->ws };
    int wrong = 0;
    for (int m = 0; m < t->m; m++)
        for (int n = 0; n < t->n; n++) {
            struct cell c = cell_of(&like, m, n);
            if (t->sparse && pair(t) == 2 && t->m == 128)       /* layout C, not B */
                c = (struct cell){ m / 64, m % 16 + m % 64 / 16 * 32, n };
            wrong += tc_value(&like, word(x->a, (uint32_t)((c.cta * LANES_ALL + c.lane) * COLUMNS + c.column))) != want_at(t, m, n);
        }
    return wrong;
}

static void expect_scaled(const struct scaled *t)
{
    struct machine x = run_scaled(t, "");
    if (!x.m)
        return;
    expect_ok(&x);
    int wrong = wrong_scaled(t, &x);
    if (wrong || x.fault)
        printf("  %d wrong: %s%s %s.%s m %d n %d group %d ids %d %d e4m3 %d sparse %d tmem %d ws %d\n", wrong, t->kind, t->block ? t->block : "", t->a->name,
               t->b->name, t->m, t->n, pair(t), t->sfa, t->sfb, t->e4m3_scales, t->sparse, t->a_in_tmem, t->ws);
    CHECK_EQ(wrong, 0);
    machine_close(&x);
}

static void rows_and_columns_have_factors(void)
{
    static const struct number *const types[] = { &E4M3, &E5M2, &E2M3, &E3M2, &E2M1 };
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b += 1 + (a != 0))
            expect_scaled(&(struct scaled){ .kind = "mxf8f6f4", .block = b % 2 ? ".block32" : ".scale_vec::1X", .a = types[a], .b = types[b], .m = 128, .n = 8 + 40 * b,
                                            .scales = 1, .sfa = a % 4, .sfb = b % 4, .overwrite = a & 1, .a_in_tmem = b & 1 });
    for (int m = 128; m <= 256; m += 128)
        for (int n = 32; n <= 256; n += 112)
            expect_scaled(&(struct scaled){ .kind = "mxf8f6f4", .block = "", .a = &E4M3, .b = &E4M3, .m = m, .n = n, .group = 2, .scales = 1, .sfa = 2, .sfb = 1,
                                            .a_in_tmem = n == 144 });
}

static void parts_of_k_have_factors(void)
{
    for (int g = 1; g <= 2; g++)
        for (int n = 16; n <= 256; n += 112) {
            expect_scaled(&(struct scaled){ .kind = "mxf4", .block = n == 16 ? "" : ".block32", .a = &E2M1, .b = &E2M1, .m = 128 * g, .n = n, .group = g, .scales = 2, .sfa = 2 });
            expect_scaled(&(struct scaled){ .kind = "mxf4nvf4", .block = ".scale_vec::2X", .a = &E2M1, .b = &E2M1, .m = 128 * g, .n = n, .group = g, .scales = 2, .sfb = 2 });
            expect_scaled(&(struct scaled){ .kind = "mxf4nvf4", .block = ".scale_vec::4X", .a = &E2M1, .b = &E2M1, .m = 128, .n = n, .group = g, .scales = 4, .e4m3_scales = true,
                                            .overwrite = g == 2 });
            expect_scaled(&(struct scaled){ .kind = "mxf4nvf4", .block = ".block16", .a = &E2M1, .b = &E2M1, .m = 128, .n = n, .group = g, .scales = 4, .a_in_tmem = true });
        }
}

static void sparse_a_is_spread_out(void)
{
    static const struct { const char *kind, *d; const struct number *x; } types[] = {
        { "f16", "f32", &F16 }, { "f16", "f32", &BF16 }, { "tf32", "f32", &TF32 }, { "f8f6f4", "f32", &E4M3 }, { "f8f6f4", "f32", &E2M1 }, { "i8", "s32", &S8 },
    };
    static const struct { int m, group; bool ws; } shapes[] = { { 128, 1, false }, { 64, 1, false }, { 256, 2, false }, { 128, 2, false }, { 32, 1, true }, { 64, 1, true }, { 128, 1, true } };
    for (int i = 0; i < 6; i++)
        for (int s = 0; s < 7; s++)
            expect_scaled(&(struct scaled){ .kind = types[i].kind, .plain_d = types[i].d, .a = types[i].x, .b = types[i].x, .m = shapes[s].m, .n = 64 + 64 * (s & 1),
                                            .group = shapes[s].group, .ws = shapes[s].ws, .sparse = true, .selector = types[i].x->bits >= 16 ? s & 1 : 0,
                                            .a_in_tmem = !shapes[s].ws && (i + (shapes[s].m == 64)) % 2 });
    for (int g = 1; g <= 2; g++) {
        expect_scaled(&(struct scaled){ .kind = "mxf8f6f4", .block = "", .a = &E4M3, .b = &E5M2, .m = 128 * g, .n = 48, .group = g, .scales = 1, .sparse = true });
        expect_scaled(&(struct scaled){ .kind = "mxf4", .block = "", .a = &E2M1, .b = &E2M1, .m = 128 * g, .n = 48, .group = g, .scales = 2, .sparse = true });
        expect_scaled(&(struct scaled){ .kind = "mxf4nvf4", .block = ".block16", .a = &E2M1, .b = &E2M1, .m = 128 * g, .n = 96, .group = g, .scales = 4, .e4m3_scales = true, .sparse = true });
    }
}

static void a_wrong_factor_is_noticed(void)
{
    struct scaled t = { .kind = "mxf8f6f4", .block = "", .a = &E4M3, .b = &E4M3, .m = 128, .n = 64, .scales = 1 }, other = t;
    struct machine x = run_scaled(&t, "");
    expect_ok(&x);
    CHECK_EQ(wrong_scaled(&t, &x), 0);
    other.e4m3_scales = true;
    CHECK(wrong_scaled(&other, &x) > 4000);
    machine_close(&x);
}

static void expect_scaled_fault(const struct scaled *t, const char *spoil, enum fault_id fault, const char *says)
{
    struct machine x = run_scaled(t, spoil);
    CHECK_EQ(x.fault, fault);
    expect_said(&x, says);
    machine_close(&x);
}

static void misuse_is_named(void)
{
    struct scaled t = { .kind = "mxf8f6f4", .block = "", .a = &E4M3, .b = &E4M3, .m = 128, .n = 64, .scales = 1 }, sp = t;
    struct scaled fp4 = { .kind = "mxf4", .block = "", .a = &E2M1, .b = &E2M1, .m = 128, .n = 64, .scales = 2 };
    sp.sparse = true;
    expect_scaled_fault(&t, "@%p2 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16+257], {%r15}; tcgen05.wait::st.sync.aligned; " TC_BEFORE "bar.sync 0; " TC_AFTER,
                        FAULT_TCGEN05, "scale-A must be the same in all quarters");
    expect_scaled_fault(&t, "xor.b32 %r19, %r19, 0x800000;", FAULT_BAD_OPERAND, "scale factors of ue4m3");
    expect_scaled_fault(&t, "or.b32 %r19, %r19, 0x1000000;", FAULT_BAD_OPERAND, "its bits 0x1000000 must be zero");
    expect_scaled_fault(&fp4, "or.b32 %r19, %r19, 0x10;", FAULT_BAD_OPERAND, "multiples of 2");
    expect_scaled_fault(&fp4, "or.b32 %r19, %r19, 0x8000;", FAULT_BAD_OPERAND, "does not transpose");
    expect_scaled_fault(&t, "xor.b32 %r19, %r19, 4;", FAULT_BAD_OPERAND, "its bit 2 says that A is sparse");
    expect_scaled_fault(&sp, "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16+280], {%r13}; tcgen05.wait::st.sync.aligned; " TC_BEFORE "bar.sync 0; " TC_AFTER "mov.u32 %r13, 0;",
                        FAULT_BAD_OPERAND, "which means nothing");
}

/* ---- cp and shift */

/* A copy of what the image has: rows of `bytes` without a swizzle. */
struct moves { const char *shape; int rows, bytes; const char *format; };

static struct machine run_moves(const char *lines, int group)
{
    const struct tc_trial end = { .group = group };
    char *at = say_to(write_begin(text, group), "mov.u32 %%r18, %%r14; %s\n", lines);
    at = say_to(write_tc_commit(at, &end), "%s", TC_WAIT TC_AFTER);
    write_tc_results(at, &end);
    struct machine x = machine_for("b200", "sm_100a", TC_TILES, text);
    CHECK_STR(x.said, "");
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = hash_byte((uint32_t)i);
    memcpy(cells, image + 2 * TC_IMAGE, sizeof cells);
    x.a = mem_alloc(x.g, TC_BYTES, "cudaMalloc");
    x.b = mem_alloc(x.g, sizeof image, "cudaMalloc");
    CHECK(mem_to_device(x.g, x.b->addr, image, sizeof image));
    x.cluster = (uint32_t)group;
    run(&x, x.cluster, THREADS, 0);
    expect_ok(&x);
    return x;
}

static int wrong_cells(const struct machine *x, int group)
{
    int wrong = 0;
    for (uint32_t i = 0; i < (uint32_t)(group * CELLS); i++)
        wrong += word(x->a, i) != cells[i / CELLS][i % CELLS / COLUMNS][i % COLUMNS];
    return wrong;
}

static uint8_t unpacked(const uint8_t *chunk, int i, int bits)
{
    uint32_t v = 0;
    for (int bit = 0; bit < bits; bit++)
        v |= (uint32_t)(chunk[(i * bits + bit) / 8] >> (i * bits + bit) % 8 & 1) << bit;
    return (uint8_t)(bits == 4 ? v << 2 : v);
}

static void copies_land_in_their_lanes(void)
{
    static const struct moves rows[] = {
        { "128x256b", 128, 32, "" }, { "128x128b", 128, 16, "" }, { "4x256b", 4, 32, "" }, { "64x128b.warpx2::02_13", 64, 16, "" }, { "64x128b.warpx2::01_23", 64, 16, "" },
        { "32x128b.warpx4", 32, 16, "" }, { "128x256b", 128, 32, ".b8x16.b4x16_p64" }, { "128x128b", 128, 16, ".b8x16.b6x16_p32" }, { "32x128b.warpx4", 32, 16, ".b8x16.b4x16_p64" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int group = 1; group <= 2; group++) {
            const struct moves *t = &rows[i];
            char lines[300];
            sprintf(lines, "add.u64 %%rd31, %%rd30, 0x%llx; @%%p5 tcgen05.cp.cta_group::%d.%s%s [%%r18+20], %%rd31;", (unsigned long long)unswizzled(0, t->rows < 8 ? 8 : t->rows),
                    group, t->shape, t->format);
            struct machine x = run_moves(lines, group);
            for (int cta = 0; cta < group; cta++)
                for (int row = 0; row < t->rows; row++) {
                    uint8_t line[32];
                    for (int at = 0; at < t->bytes; at++) {
                        const uint8_t *chunk = image + cta * TC_IMAGE + at / 16 * (t->rows < 8 ? 8 : t->rows) * 16 + row / 8 * 128 + row % 8 * 16;
                        line[at] = !*t->format ? chunk[at % 16] : unpacked(chunk, at % 16, strstr(t->format, "b4") ? 4 : 6);
                    }
                    for (int warp = 0; warp < 4; warp++) {
                        bool here = t->rows == 128 ? warp == row / 32 : t->rows == 4 ? warp == row : t->rows == 32 ? true :
                                    strstr(t->shape, "02_13") ? warp % 2 == row / 32 : warp / 2 == row / 32;
                        int lane = t->rows == 4 ? 32 * warp : 32 * warp + row % 32;
                        if (here)
                            memcpy(&cells[cta][lane][20], line, (size_t)t->bytes);
                    }
                }
            int wrong = wrong_cells(&x, group);
            CHECK_EQ(wrong, 0);
            if (wrong)
                printf("  %d wrong: cp.%s%s group %d\n", wrong, t->shape, t->format, group);
            machine_close(&x);
        }
}

static void a_shift_moves_lanes_down(void)
{
    for (int group = 1; group <= 2; group++) {
        struct machine x = run_moves(group == 1 ? "@%p5 tcgen05.shift.cta_group::1.down [%r18+0x400018];" : "@%p5 tcgen05.shift.cta_group::2.down [%r18+0x400018];", group);
        for (int cta = 0; cta < group; cta++)
            for (int lane = 95; lane > 64; lane--)
                memcpy(&cells[cta][lane][24], &cells[cta][lane - 1][24], 32);
        CHECK_EQ(wrong_cells(&x, group), 0);
        machine_close(&x);
    }
}

TESTS({ rows_and_columns_have_factors, "mxf8f6f4: rows and columns have scale factors" },
      { parts_of_k_have_factors, "mxf4, mxf4nvf4: parts of k have scale factors" },
      { sparse_a_is_spread_out, "a sparse A is spread out by its metadata" },
      { a_wrong_factor_is_noticed, "a wrong factor is noticed" },
      { misuse_is_named, "misuse is named" },
      { copies_land_in_their_lanes, "copies land in their lanes, decompressed" },
      { a_shift_moves_lanes_down, "a shift moves lanes down" })
