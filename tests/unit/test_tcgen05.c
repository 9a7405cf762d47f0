/* test_tcgen05: the fifth-generation tensor core: every kind, type, shape and layout, and what is found when it is misused. */
#include "tcgen05_machine.h"

static char text[200000];

static struct machine try_with(const struct tc_trial *t, const char *before, const char *after)
{
    char *at = say_to(write_tc_before(text, t), "%s", before);
    at = write_tc_commit(write_tc_mma(at, t), t);
    at = say_to(at, "%s", after);
    write_tc_results(at, t);
    return tc_run(t, text);
}

static void expect_product(const struct tc_trial *t)
{
    struct machine x = try_with(t, "", TC_WAIT TC_AFTER);
    if (!x.m) {
        CHECK_STR(x.said, "");
        return;
    }
    expect_ok(&x);
    int wrong = tc_wrong(t, &x, 1);
    if (wrong || x.fault)
        printf("  %d wrong: %s %s.%s.%s m %d n %d group %d spans %d %d trans %d %d ws %d tmem %d\n", wrong, t->kind, t->d, t->a->name, t->b->name,
               t->m, t->n, tc_group_of(t), t->a_span, t->b_span, t->ta, t->tb, t->ws, t->a_in_tmem);
    CHECK_EQ(wrong, 0);
    machine_close(&x);
}

static const struct tc_trial F16_TRIAL = { .kind = "f16", .d = "f32", .a = &F16, .b = &F16, .m = 128, .n = 256, .a_span = 128, .b_span = 128 };

static void every_shape_multiplies(void)
{
    static const struct { int m, group, step; bool ws; } shapes[] = {
        { 128, 1, 8, false }, { 64, 1, 24, false }, { 256, 2, 48, false }, { 128, 2, 80, false },
    };
    for (int i = 0; i < 4; i++)
        for (int n = shapes[i].group * 8; n <= 256; n += shapes[i].step) {
            struct tc_trial t = F16_TRIAL;
            t.m = shapes[i].m, t.n = n, t.group = shapes[i].group;
            expect_product(&t);
        }
}

static void every_layout_of_d_is_a_bijection(void)
{
    static const struct { int m, group, at, lane; } rows[] = { { 128, 1, 256, 0 }, { 64, 1, 32, 0 }, { 64, 1, 32, 16 }, { 256, 2, 0, 0 }, { 128, 2, 100, 0 } };
    for (int i = 0; i < 5; i++) {
        struct tc_trial t = F16_TRIAL;
        t.m = rows[i].m, t.group = rows[i].group, t.at = rows[i].at, t.lane = rows[i].lane;
        expect_product(&t);
    }
}

static void every_kind_and_type_multiplies(void)
{
    static const struct { const char *kind, *d; const struct number *a, *b; } types[] = {
        { "f16", "f32", &BF16, &BF16 }, { "f16", "f16", &F16, &F16 }, { "f16", "f32", &F16, &BF16 }, { "tf32", "f32", &TF32, &TF32 },
        { "f8f6f4", "f32", &E4M3, &E4M3 }, { "f8f6f4", "f32", &E5M2, &E4M3 }, { "f8f6f4", "f16", &E4M3, &E5M2 },
        { "f8f6f4", "f32", &E2M3, &E3M2 }, { "f8f6f4", "f32", &E2M1, &E4M3 }, { "f8f6f4", "f16", &E3M2, &E2M1 }, { "f8f6f4", "f32", &E2M1, &E2M1 },
        { "i8", "s32", &S8, &S8 }, { "i8", "s32", &U8, &S8 }, { "i8", "s32", &U8, &U8 },
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int g = 1; g <= 2; g++)
            for (int tmem = 0; tmem < 2; tmem++)
                expect_product(&(struct tc_trial){ .kind = types[i].kind, .d = types[i].d, .a = types[i].a, .b = types[i].b, .m = i % 2 ? 128 : 64 * g * g,
                                                   .n = 96, .group = g, .a_span = 128, .b_span = 64, .a_in_tmem = tmem, .overwrite = i % 3 == 0 });
}

static void stationary_weights_multiply(void)
{
    for (int m = 32; m <= 128; m *= 2)
        for (int n = 64; n <= 256; n *= 2)
            for (int tmem = 0; tmem < 2; tmem++) {
                expect_product(&(struct tc_trial){ .kind = "f16", .d = "f32", .a = &F16, .b = &F16, .m = m, .n = n, .ws = true, .a_span = 128,
                                                   .b_span = 32, .a_in_tmem = tmem, .at = 32 });
                expect_product(&(struct tc_trial){ .kind = "i8", .d = "s32", .a = &S8, .b = &U8, .m = m, .n = n, .ws = true, .a_in_tmem = tmem });
            }
}

/* "Zero-Column Mask Descriptor", its examples: runs of columns that count and of columns that count as zero. */
static void columns_of_b_count_as_zero(void)
{
    static const struct { int m; const char *mask[4]; uint64_t bits; } rows[] = {
        { 128, { "0000111" }, 1ull << 39 | 2ull << 40 | 3ull << 48 },
        { 64, { "1110000", "0000111" }, 1ull << 39 | 2ull << 40 | 3ull << 48 | 1ull << 32 },
        { 32, { "1110000", "1100001", "0011100", "0001110" }, 1ull << 39 | 2ull << 40 | 3ull << 48 | 3ull << 32 | 1 << 8 | 2 << 16 | 1 << 24 },
        { 128, { "0" }, 2ull << 40 | 3ull << 48 },
    };
    for (int i = 0; i < 4; i++) {
        struct tc_trial t = F16_TRIAL;
        t.m = rows[i].m, t.n = 128, t.ws = true, t.overwrite = true;
        char *at = say_to(write_tc_before(text, &t), "mov.u64 %%rd33, 0x%llx;\n", (unsigned long long)rows[i].bits);
        at = say_to(at, "@%%p5 tcgen05.mma.ws.cta_group::1.kind::f16 [%%r18], %%rd31, %%rd32, %%r19, %%p6, %%rd33;\n");
        write_tc_results(say_to(write_tc_commit(at, &t), "%s", TC_WAIT TC_AFTER), &t);
        struct machine x = tc_run(&t, text);
        expect_ok(&x);
        int wrong = 0, parts = 128 / rows[i].m;
        for (int m = 0; m < t.m; m++)
            for (int n = 0; n < t.n; n++) {
                struct cell c = cell_of(&t, m, n);
                const char *mask = rows[i].mask[n / (t.n / parts)];
                bool zero = mask[n % (t.n / parts) % (int)strlen(mask)] == '1';
                wrong += tc_value(&t, word(x.a, (uint32_t)(c.lane * COLUMNS + c.column))) != (zero ? 0 : (double)tc_product(&t, m, n));
            }
        CHECK_EQ(wrong, 0);
        machine_close(&x);
    }
}

/* The zero-column mask descriptor shifts B: column n is what lies in column n + shift. */
static void columns_of_b_are_shifted(void)
{
    static const struct { int m, shift; uint32_t most; bool masked; } rows[] = { { 128, 8, 1, false }, { 64, 13, 2, false }, { 32, 32, 3, true }, { 128, 31, 3, true } };
    for (int i = 0; i < 4; i++) {
        struct tc_trial t = F16_TRIAL, wide;
        t.m = rows[i].m, t.n = 128, t.ws = true, t.overwrite = true;
        wide = t, wide.n = 160;                                 /* what lies in shared memory */
        wide.idesc_xor = (160u ^ 128u) >> 3 << 17 | rows[i].most << 30;
        char *at = say_to(write_tc_before(text, &wide), "mov.u64 %%rd33, 0x%llx;\n", (unsigned long long)rows[i].shift << 56 | (rows[i].masked ? 1ull << 39 | 2ull << 40 | 3ull << 48 : 0));
        at = say_to(at, "@%%p5 tcgen05.mma.ws.cta_group::1.kind::f16 [%%r18], %%rd31, %%rd32, %%r19, %%p6, %%rd33;\n");
        write_tc_results(say_to(write_tc_commit(at, &t), "%s", TC_WAIT TC_AFTER), &t);
        struct machine x = tc_run(&wide, text);
        expect_ok(&x);
        int wrong = 0, part = 128 / (128 / rows[i].m);
        for (int m = 0; m < t.m; m++)
            for (int n = 0; n < t.n; n++) {
                struct cell c = cell_of(&t, m, n);
                bool zero = rows[i].masked && n % part % 7 >= 4;
                wrong += tc_value(&t, word(x.a, (uint32_t)(c.lane * COLUMNS + c.column))) != (zero ? 0 : (double)tc_product(&t, m, n + rows[i].shift));
            }
        CHECK_EQ(wrong, 0);
        machine_close(&x);
    }
}

/* .ashift: each row of an A in tensor memory comes out as the next; the first stays. */
static void rows_of_a_are_shifted(void)
{
    for (int group = 1; group <= 2; group++) {
        struct tc_trial t = F16_TRIAL;
        t.m = 128 * group, t.n = 64, t.group = group, t.a_in_tmem = true, t.overwrite = true;
        char *at = say_to(write_tc_before(text, &t), "@%%p5 tcgen05.mma.cta_group::%d.kind::f16.ashift [%%r18], [%%r21], %%rd32, %%r19, %%p6;\n", group);
        write_tc_results(say_to(write_tc_commit(at, &t), "%s", TC_WAIT TC_AFTER), &t);
        struct machine x = tc_run(&t, text);
        expect_ok(&x);
        int wrong = 0;
        for (int m = 0; m < t.m; m++)
            for (int n = 0; n < t.n; n++) {
                struct cell c = cell_of(&t, m, n);
                wrong += tc_value(&t, word(x.a, (uint32_t)((c.cta * LANES_ALL + c.lane) * COLUMNS + c.column))) != (double)tc_product(&t, m % 128 ? m - 1 : m, n);
            }
        CHECK_EQ(wrong, 0);
        machine_close(&x);
    }
}

static const int spans[] = { 0, 32, 64, 128 };

static void every_layout_is_read(void)
{
    static const struct { const char *kind, *d; const struct number *x; } types[] = { { "f16", "f32", &F16 }, { "f8f6f4", "f32", &E4M3 }, { "i8", "s32", &S8 } };
    for (int type = 0; type < 3; type++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int major = 0; major < 4; major++)
                    expect_product(&(struct tc_trial){ .kind = types[type].kind, .d = types[type].d, .a = types[type].x, .b = types[type].x, .m = 128,
                                                       .n = 128, .a_span = spans[a], .b_span = spans[b], .ta = major & 1, .tb = major & 2 });
    for (int major = 0; major < 4; major++)
        for (int g = 1; g <= 2; g++)
            expect_product(&(struct tc_trial){ .kind = "tf32", .d = "f32", .a = &TF32, .b = &TF32, .m = 128 * g, .n = 64 * g, .group = g,
                                               .a_span = major & 1 ? 1 : 128, .b_span = major & 2 ? 1 : 64, .ta = major & 1, .tb = major & 2 });
    for (int g = 1; g <= 2; g++)
        expect_product(&(struct tc_trial){ .kind = "f16", .d = "f32", .a = &BF16, .b = &BF16, .m = 128 * g, .n = 256, .group = g, .a_span = 128,
                                           .b_span = 128, .ta = true, .tb = true });
}

static void descriptor_bits_negate(void)
{
    static const struct { const char *kind; const struct number *x; } types[] = { { "f16", &F16 }, { "tf32", &TF32 }, { "f8f6f4", &E5M2 }, { "f8f6f4", &E2M1 }, { "f8f6f4", &E3M2 } };
    for (int i = 0; i < 5; i++)
        for (int sign = 1; sign < 4; sign++)
            expect_product(&(struct tc_trial){ .kind = types[i].kind, .d = "f32", .a = types[i].x, .b = types[i].x, .m = 64, .n = 40, .a_span = 32,
                                               .b_span = 32, .negate_a = sign & 1, .negate_b = sign & 2, .a_in_tmem = sign == 3 });
}

static void lanes_are_left_alone(void)
{
    static const uint32_t lanes[8] = { 0x80000001, 0, 0xffff0000, 0x12345678, 0xffffffff, 1, 2, 0xf0f0f0f0 };
    static const struct { int m, group; } rows[] = { { 128, 1 }, { 64, 1 }, { 256, 2 }, { 128, 2 } };
    for (int i = 0; i < 4; i++) {
        struct tc_trial t = F16_TRIAL;
        t.m = rows[i].m, t.group = rows[i].group, t.disabled = lanes, t.n = 64;
        expect_product(&t);
    }
}

static void the_accumulator_is_scaled(void)
{
    for (int s = 0; s <= 15; s += 3) {
        struct tc_trial t = F16_TRIAL;
        t.n = 48, t.scale_d = s;
        expect_product(&t);
        t.m = 64;
        expect_product(&t);
    }
}

static void a_wrong_product_is_noticed(void)
{
    struct machine x = try_with(&F16_TRIAL, "", TC_WAIT TC_AFTER);
    struct tc_trial other = F16_TRIAL;
    CHECK_EQ(tc_wrong(&F16_TRIAL, &x, 1), 0);
    CHECK(tc_wrong(&F16_TRIAL, &x, 2) > 20000);
    other.n = 248;
    CHECK(tc_wrong(&other, &x, 1) > 900);                       /* cells beyond D were touched */
    other = F16_TRIAL, other.m = 64;
    CHECK(tc_wrong(&other, &x, 1) > 10000);
    machine_close(&x);
}

static void a_chain_adds_up(void)
{
    for (int g = 1; g <= 2; g++) {
        struct tc_trial t = F16_TRIAL;
        t.group = g, t.m = 128 * g;
        char *at = write_tc_before(text, &t);
        for (int i = 0; i < 5; i++)
            at = write_tc_mma(at, &t);
        at = say_to(write_tc_commit(at, &t), "%s", TC_WAIT TC_AFTER);
        write_tc_results(at, &t);
        struct machine x = tc_run(&t, text);
        expect_ok(&x);
        CHECK_EQ(tc_wrong(&t, &x, 5), 0);
        machine_close(&x);
    }
}

TESTS({ every_shape_multiplies, "every M and N multiplies" },
      { every_layout_of_d_is_a_bijection, "every layout of D: each element in a cell of its own, no other cell touched" },
      { every_kind_and_type_multiplies, "every kind and type multiplies" },
      { stationary_weights_multiply, "stationary weights multiply" },
      { columns_of_b_count_as_zero, "columns of B count as zero, as the mask has it" },
      { columns_of_b_are_shifted, "columns of B are shifted, as the mask has it" },
      { rows_of_a_are_shifted, "rows of A are shifted" },
      { every_layout_is_read, "every swizzle in both majors is read" },
      { descriptor_bits_negate, "bits of the descriptor negate A and B" },
      { lanes_are_left_alone, "disabled output lanes are left alone" },
      { the_accumulator_is_scaled, "scale-input-d scales the accumulator" },
      { a_wrong_product_is_noticed, "a wrong product is noticed" },
      { a_chain_adds_up, "a chain of multiplications adds up" })
