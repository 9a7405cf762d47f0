/* test_cp_async: copies from global to shared memory that land later. What a missing wait reads is the point. */
#include "memory_machine.h"

#define SHARED ".shared .align 16 .b8 s[4096];"
/* %r10: this thread's 16 bytes of s; %rd10: its 16 bytes of b, which the host has filled with hashed bytes. */
#define MINE "mov.u32 %r10, s; shl.b32 %r11, %r1, 4; add.u32 %r10, %r10, %r11; mul.wide.u32 %rd10, %r1, 16; add.u64 %rd10, %rd10, %rd1;\n"
/* a[thread] = the 16 bytes in s */
#define SHOW "mul.wide.u32 %rd11, %r1, 16; add.u64 %rd11, %rd11, %rd0; ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10];\n" \
             "st.global.v4.u32 [%rd11], {%r20, %r21, %r22, %r23};\n"

static struct machine run_lines(const char *lines, uint32_t n)
{
    struct machine x = machine(SHARED, lines);
    fill_hashed(&x, x.b);
    run(&x, 1, 32, n);
    return x;
}

/* Byte k of what thread i showed. */
static uint8_t shown(const struct machine *x, uint32_t i, uint32_t k) { return x->a->host[16 * i + k]; }

static void waited_for_copies_have_landed(void)
{
    static const char *const waits[] = { "cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;" };
    static const char *const forms[] = {
        "cp.async.cg.shared.global [%r10], [%rd10], 16;", "cp.async.ca.shared::cta.global.L2::128B [%r10], [%rd10], 16;",
        "cp.async.ca.shared.global [%r10], [%rd10], 4; cp.async.ca.shared.global [%r10+4], [%rd10+4], 4; cp.async.ca.shared.global [%r10+8], [%rd10+8], 8;",
        "mov.u64 %rd20, 0; cp.async.cg.shared.global.L2::cache_hint [%r10], [%rd10], 16, %rd20;",
        "mov.u64 %rd20, 0; mov.u32 %r12, 16; cp.async.cg.shared.global.L2::cache_hint [%r10], [%rd10], 16, %r12, %rd20;",
    };
    for (int f = 0; f < 5; f++)
        for (int k = 0; k < 2; k++) {
            char lines[2000];
            snprintf(lines, sizeof lines, "%s%s\n%s\n%s", MINE, forms[f], waits[k], SHOW);
            struct machine x = run_lines(lines, 0);
            expect_ok(&x);
            CHECK(memcmp(x.a->host, x.b->host, 512) == 0);
            machine_close(&x);
        }
}

static void a_missing_wait_reads_what_was_never_written(void)
{
    struct machine x = run_lines(MINE "cp.async.cg.shared.global [%r10], [%rd10], 16; cp.async.commit_group;\n" SHOW, 0);
    CHECK_EQ(x.fault, FAULT_UNINITIALIZED);
    expect_said(&x, "a cp.async is on its way there");
    machine_close(&x);
}

static void a_missing_wait_reads_what_was_there_before(void)
{
    struct machine x = run_lines(MINE "mov.u32 %r12, 0x01010101; st.shared.v4.u32 [%r10], {%r12, %r12, %r12, %r12};\n"
                                 "cp.async.cg.shared.global [%r10], [%rd10], 16; cp.async.commit_group; cp.async.wait_group 1;\n" SHOW, 0);
    CHECK_EQ(x.fault, FAULT_RACE);
    machine_close(&x);
    setenv("EMU_RACES", "0", 1);
    x = run_lines(MINE "mov.u32 %r12, 0x01010101; st.shared.v4.u32 [%r10], {%r12, %r12, %r12, %r12};\n"
                  "cp.async.cg.shared.global [%r10], [%rd10], 16; cp.async.commit_group; cp.async.wait_group 1;\n" SHOW, 0);
    unsetenv("EMU_RACES");
    expect_ok(&x);
    for (uint32_t i = 0; i < 512; i++)
        CHECK_EQ(shown(&x, 0, i), 1);
    machine_close(&x);
}

/* The source is read when the bytes land: what is written to it meanwhile may arrive. */
static void a_copy_takes_its_time(void)
{
    struct machine x = run_lines(MINE "mov.u32 %r30, %clock; cp.async.cg.shared.global [%r10], [%rd10], 16; mov.u32 %r31, %clock; cp.async.wait_all; mov.u32 %r32, %clock;\n"
                                 "sub.u32 %r31, %r31, %r30; sub.u32 %r32, %r32, %r30; st.global.v2.u32 [%rd0], {%r31, %r32};", 0);
    expect_ok(&x);
    CHECK(word(x.a, 0) < 50);
    CHECK(word(x.a, 1) > 100);
    machine_close(&x);
}

static void what_the_source_lacks_is_zero(void)
{
    /* lane i copies min(i, 16) bytes; lanes that copy none point nowhere */
    struct machine x = run_lines(MINE "min.u32 %r12, %r1, 16; setp.eq.u32 %p0, %r1, 0; selp.b64 %rd10, 0, %rd10, %p0;\n"
                                 "cp.async.cg.shared.global [%r10], [%rd10], 16, %r12; cp.async.wait_all;\n" SHOW, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t k = 0; k < 16; k++)
            CHECK_EQ(shown(&x, i, k), k < i ? hash_byte(16 * i + k) : 0);
    machine_close(&x);
    x = run_lines(MINE "setp.lt.u32 %p1, %r1, 9; selp.b64 %rd10, 0, %rd10, %p1; cp.async.ca.shared.global [%r10], [%rd10], 8, %p1;\n"
                  "cp.async.ca.shared.global [%r10+8], [%rd10+8], 8, %p1; cp.async.wait_all;\n" SHOW, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t k = 0; k < 16; k++)
            CHECK_EQ(shown(&x, i, k), i < 9 ? 0 : hash_byte(16 * i + k));
    machine_close(&x);
}

/* Three groups into three places; with two still allowed to fly, the first is there and the last is not. */
static void groups_end_in_order(void)
{
    static const char lines[] = MINE "cp.async.cg.shared.global [%r10], [%rd10], 16; cp.async.commit_group;\n"
        "cp.async.cg.shared.global [%r10+512], [%rd10], 16; cp.async.commit_group; cp.async.cg.shared.global [%r10+1024], [%rd10], 16; cp.async.commit_group;\n"
        "cp.async.commit_group; cp.async.wait_group 3;\n"           /* an empty group counts */
        "setp.eq.u32 %p0, %r0, 0; @%p0 bra S; add.u32 %r10, %r10, 1024; S: " SHOW;
    struct machine x = run_lines(lines, 0);
    expect_ok(&x);
    CHECK(memcmp(x.a->host, x.b->host, 512) == 0);
    machine_close(&x);
    setenv("EMU_SEED", "3", 1);                             /* whatever the latencies: the first has landed */
    for (int seed = 1; seed < 20; seed++) {
        char text[20];
        snprintf(text, sizeof text, "%d", seed);
        setenv("EMU_SEED", text, 1);
        x = machine_for("h200", "sm_90a", SHARED, lines);
        fill_hashed(&x, x.b);
        run(&x, 1, 32, 0);
        expect_ok(&x);
        CHECK(memcmp(x.a->host, x.b->host, 512) == 0);
        machine_close(&x);
    }
    unsetenv("EMU_SEED");
    x = run_lines(lines, 1);
    CHECK_EQ(x.fault, FAULT_UNINITIALIZED);
    machine_close(&x);
}

/* Groups are counted per thread: odd lanes have one more, so they wait for the copy and even lanes need not. */
static void every_lane_counts_its_own_groups(void)
{
    struct machine x = run_lines(MINE "mov.u32 %r12, 0x01010101; st.shared.v4.u32 [%r10], {%r12, %r12, %r12, %r12};\n"
        "cp.async.cg.shared.global [%r10], [%rd10], 16; cp.async.commit_group; and.b32 %r13, %r1, 1; setp.eq.u32 %p0, %r13, 1;\n"
        "@%p0 cp.async.commit_group; @%p0 cp.async.wait_group 1; @!%p0 bra E;\n" SHOW "E:", 0);
    expect_ok(&x);
    for (uint32_t i = 1; i < 32; i += 2)
        for (uint32_t k = 0; k < 16; k++)
            CHECK_EQ(shown(&x, i, k), hash_byte(16 * i + k));
    machine_close(&x);
}

static void bad_copies_are_found_at_issue(void)
{
    static const struct { const char *lines; enum fault_id fault; const char *says; } bad[] = {
        { MINE "cp.async.cg.shared.global [%r10], [%rd10+65536], 16;", FAULT_OUT_OF_BOUNDS, "just past the end of cudaMalloc" },
        { MINE "cp.async.cg.shared.global [%r10+4096], [%rd10], 16;", FAULT_OUT_OF_BOUNDS, "of shared memory" },
        { MINE "cp.async.cg.shared.global [%r10], [%rd10+8], 16;", FAULT_MISALIGNED, "a multiple of 16" },
        { MINE "cp.async.cg.shared.global [%r10+8], [%rd10], 16;", FAULT_MISALIGNED, "a multiple of 16" },
        { MINE "cp.async.cg.shared.global [%r10], [%rd0], 16;", FAULT_UNINITIALIZED, "byte 0 of cudaMalloc" },
        { MINE "mov.u32 %r12, 17; cp.async.cg.shared.global [%r10], [%rd10], 16, %r12;", FAULT_BAD_OPERAND, "src-size is 17" },
        { MINE "mov.u32 %r12, 8; cp.async.cg.shared.global [%r10], [%rd0], 16, %r12;", FAULT_UNINITIALIZED, "reads 8 bytes" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct machine x = run_lines(bad[i].lines, 0);
        CHECK_EQ(x.fault, bad[i].fault);
        expect_said(&x, bad[i].says);
        machine_close(&x);
    }
    static const char *const refused[] = { "cp.async.cg.shared.global [%r0], [%rd0], 8;", "cp.async.ca.shared.global [%r0], [%rd0], 2;",
                                           "cp.async.ca.shared.global [%r0], [%rd0], 32;", "cp.async.wait_group %r0;" };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct machine x = machine_for("h200", "sm_90a", SHARED, refused[i]);
        CHECK(!x.m);
        machine_close(&x);
    }
}

/* A CTA may end with copies in the air. */
static void nobody_need_wait(void)
{
    struct machine x = machine(SHARED, MINE "cp.async.cg.shared.global [%r10], [%rd10], 16; cp.async.commit_group;");
    fill_hashed(&x, x.b);
    run(&x, 300, 64, 0);
    expect_ok(&x);
    machine_close(&x);
}

TESTS({ waited_for_copies_have_landed, "copies that were waited for have landed" },
      { a_missing_wait_reads_what_was_never_written, "a missing wait reads what was never written" },
      { a_missing_wait_reads_what_was_there_before, "a missing wait reads what was there before" },
      { a_copy_takes_its_time, "a copy takes its time, its issue does not" },
      { what_the_source_lacks_is_zero, "what src-size or ignore-src leave out is zero" },
      { groups_end_in_order, "groups end in order, whatever the latencies" },
      { every_lane_counts_its_own_groups, "every lane counts its own groups" },
      { bad_copies_are_found_at_issue, "bad copies are found at issue" },
      { nobody_need_wait, "a CTA may end with copies in the air" })
