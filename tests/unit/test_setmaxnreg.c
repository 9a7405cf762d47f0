/* test_setmaxnreg: the register pool of a CTA: who gives, who waits, what is refused, and the ledger of a hang. */
#define BOUNDS ".maxntid 384, 1, 1\n.minnctapersm 1\n"
#include "memory_machine.h"

#define SHOW(value) "st.global.u32 [%rd2], " value ";\n"
/* %r10 = warpgroup, %p1: it is the first */
#define ROLES "shr.u32 %r10, %r1, 7; setp.eq.u32 %p1, %r10, 0;\n"
#define DEC(n) "setmaxnreg.dec.sync.aligned.u32 " n ";\n"
#define INC(n) "setmaxnreg.inc.sync.aligned.u32 " n ";\n"

static struct machine run_lines(const char *lines, uint32_t threads)
{
    struct machine x = machine("", lines);
    run(&x, 1, threads, 0);
    return x;
}

static void expect_fault(const char *lines, uint32_t threads, enum fault_id id, const char *said)
{
    struct machine x = run_lines(lines, threads);
    CHECK_EQ(x.fault, id);
    expect_said(&x, said);
    machine_close(&x);
}

/* 384 threads begin with 168 registers each: 128 * (168 - 24) = 2 * 128 * (240 - 168). */
static void what_one_gives_others_take(void)
{
    struct machine x = run_lines(ROLES "@!%p1 bra take;\n" DEC("24") "bra out;\ntake:" INC("240") "out: mov.u32 %r11, 7;" SHOW("%r11"), 384);
    expect_ok(&x);
    for (uint32_t i = 0; i < 384; i++)
        CHECK_EQ(word(x.a, i), 7);
    machine_close(&x);
}

/* Nobody waits where nothing is needed: counts may stay as they are. */
static void the_same_count_is_allowed(void)
{
    struct machine x = run_lines(DEC("168") "bar.sync 0;\n" INC("168"), 384);
    expect_ok(&x);
    machine_close(&x);
}

/* 4 warps give 32 * 136 registers each, enough for 7 of the 8 others. */
static void the_pool_is_no_larger_than_that(void)
{
    const char *lines = ROLES "@!%p1 bra take;\n" DEC("32") "bra out;\ntake:" INC("240") "out: mov.u32 %r11, 7;" SHOW("%r11");
    expect_fault(lines, 384, FAULT_HANG, "asks for 2304 (it has 168 registers per thread and wants 240)");
    expect_fault(lines, 384, FAULT_HANG, "; 1280 free");
}

/* Half of the first warpgroup keeps its registers, and waits elsewhere. */
static void who_did_not_execute_it_is_named(void)
{
    const char *lines = ROLES "@!%p1 bra take; setp.ge.u32 %p2, %r1, 64; @%p2 bra idle;\n" DEC("24")
                        "idle: bar.sync 1, 384; bra out;\ntake:" INC("240") "bar.sync 1, 384;\nout: mov.u32 %r11, 7;" SHOW("%r11");
    expect_fault(lines, 384, FAULT_HANG, "warp 2 has not executed the setmaxnreg.dec 24 of its warpgroup");
    expect_fault(lines, 384, FAULT_HANG, "warp 3 has not executed the setmaxnreg.dec 24 of its warpgroup");
}

static void a_warp_that_leaves_without_is_a_fault(void)
{
    expect_fault("shr.u32 %r10, %r1, 5; setp.eq.u32 %p1, %r10, 3; @%p1 bra out;\n" DEC("40") "out:", 128, FAULT_REGISTERS, "warp 3");
}

static void a_warpgroup_executes_the_same(void)
{
    expect_fault("shr.u32 %r10, %r1, 5; setp.eq.u32 %p1, %r10, 3; @%p1 bra other;\n" DEC("40") "bra out;\nother:" DEC("48") "out: bar.sync 0;",
                 128, FAULT_REGISTERS, "instead");
    expect_fault("shr.u32 %r10, %r1, 5; setp.eq.u32 %p1, %r10, 3; @%p1 bra out;\n" DEC("40") DEC("32") "out: bar.sync 0;\n", 128,
                 FAULT_REGISTERS, "must synchronise before the next one");
}

static void dec_does_not_raise_and_inc_does_not_lower(void)
{
    expect_fault(DEC("176"), 384, FAULT_REGISTERS, "this warp has 168");
    expect_fault(INC("168") "bar.sync 0;\n" INC("160"), 384, FAULT_REGISTERS, "this warp has 168");
}

static void counts_are_steps_of_8_from_24(void)
{
    static const char *const bad[] = { DEC("16"), DEC("264"), DEC("100"), "setmaxnreg.dec.sync.aligned.u32 %r1;" };
    for (int i = 0; i < 4; i++) {
        struct machine x = machine_for("h200", "sm_90a", "", bad[i]);
        CHECK(!x.m);
        CHECK(strstr(x.said, "setmaxnreg"));
        machine_close(&x);
    }
}

TESTS({ what_one_gives_others_take, "what one gives others take" },
      { the_same_count_is_allowed, "the same count is allowed" },
      { the_pool_is_no_larger_than_that, "the pool is no larger than that" },
      { who_did_not_execute_it_is_named, "who did not execute it is named" },
      { a_warp_that_leaves_without_is_a_fault, "a warp that leaves without is a fault" },
      { a_warpgroup_executes_the_same, "a warpgroup executes the same" },
      { dec_does_not_raise_and_inc_does_not_lower, "dec does not raise and inc does not lower" },
      { counts_are_steps_of_8_from_24, "counts are steps of 8 from 24" })
