/* test_redux: redux.sync on floats (sm_100a): NaN, -0, magnitudes, parts of a warp. The expected values are worked out by hand. */
#include "tcgen05_machine.h"

/* Lane i holds 3 - i, but lane 5 a NaN and lane 6 -0. */
#define VALUES "sub.s32 %r10, 3, %r1; cvt.rn.f32.s32 %f1, %r10; mov.b32 %r11, %f1; setp.eq.u32 %p1, %r1, 5; selp.b32 %r11, 0x7fc00000, %r11, %p1;\n" \
               "setp.eq.u32 %p1, %r1, 6; selp.b32 %r11, 0x80000000, %r11, %p1; mov.b32 %f1, %r11;\n"

static struct machine reduce(const char *device, const char *target, const char *form)
{
    static char text[2000];
    snprintf(text, sizeof text, "%sredux.sync.%s %%f2, %%f1, 0xffffffff; mul.wide.u32 %%rd10, %%r1, 4; add.u64 %%rd10, %%rd10, %%rd0;\n"
             "st.global.f32 [%%rd10], %%f2;", VALUES, form);
    return machine_for(device, target, "", text);
}

static void floats_are_reduced(void)
{
    static const struct { const char *form; uint32_t want; } rows[] = {
        { "max.f32", 0x40400000 }, { "min.f32", 0xc1e00000 }, { "max.abs.f32", 0x41e00000 }, { "min.abs.f32", 0 },
        { "max.NaN.f32", 0x7fffffff }, { "min.abs.NaN.f32", 0x7fffffff },
    };
    for (int i = 0; i < 6; i++) {
        struct machine x = reduce("b200", "sm_100a", rows[i].form);
        CHECK_STR(x.said, "");
        if (!x.m)
            continue;
        run(&x, 1, 32, 0);
        expect_ok(&x);
        for (uint32_t lane = 0; lane < 32; lane++)
            CHECK_EQ(word(x.a, lane), rows[i].want);
        machine_close(&x);
    }
}

static void others_are_refused(void)
{
    static const struct { const char *device, *target, *form; } rows[] = {
        { "h200", "sm_90a", "max.f32" }, { "b200", "sm_100", "max.f32" }, { "rtx5090", "sm_120a", "max.f32" }, { "b200", "sm_100a", "add.f32" },
    };
    for (int i = 0; i < 4; i++) {
        struct machine x = reduce(rows[i].device, rows[i].target, rows[i].form);
        CHECK(!x.m);
        machine_close(&x);
    }
}

TESTS({ floats_are_reduced, "floats are reduced" }, { others_are_refused, "other forms and chips are refused" })
