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

TESTS({ every_shape_multiplies, "every M and N multiplies" },
      { every_layout_of_d_is_a_bijection, "every layout of D: each element in a cell of its own, no other cell touched" },
      { every_kind_and_type_multiplies, "every kind and type multiplies" })
