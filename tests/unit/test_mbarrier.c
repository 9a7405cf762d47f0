/* test_mbarrier: barriers in shared memory: phases, counts, waiting, what is refused, and the ledger of a hang. */
#include "memory_machine.h"

#define BAR ".shared .align 8 .b64 bar; .shared .align 8 .b64 other; .shared .align 16 .b8 s[4096];"
/* One thread makes `bar` expect `count` arrivals. */
#define INIT(count) "setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], " count "; bar.sync 0;\n"
/* Stops until the phase of that parity is complete. */
#define WAIT(parity) "{ .reg .pred q; again: mbarrier.try_wait.parity.shared::cta.b64 q, [bar], " parity "; @!q bra again; }\n"
#define TEST(parity, p) "mbarrier.test_wait.parity.shared::cta.b64 " p ", [bar], " parity ";\n"
#define SHOW(value) "st.global.u32 [%rd2], " value ";\n"

static struct machine run_lines(const char *lines, uint32_t threads, uint32_t n)
{
    struct machine x = machine(BAR, lines);
    fill_hashed(&x, x.b);
    run(&x, 1, threads, n);
    return x;
}

/* The ISA: true when parity is not that of the current phase, so a new barrier looks as if phase -1 had been completed. */
static void parity_names_the_phase_before(void)
{
    struct machine x = run_lines(INIT("1") TEST("0", "%p1") TEST("1", "%p2")
                                 "mbarrier.arrive.shared::cta.b64 _, [bar];\n" TEST("0", "%p3") TEST("1", "%p4")
                                 "selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 2, 0, %p2; selp.u32 %r12, 4, 0, %p3; selp.u32 %r13, 8, 0, %p4;\n"
                                 "add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; add.u32 %r10, %r10, %r13;" SHOW("%r10"), 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 2 + 4);
    machine_close(&x);
}

/* 64 threads write, arrive and wait; each then reads what another wrote. */
static void all_arrivals_complete_a_phase(void)
{
    struct machine x = run_lines(INIT("64") "shl.b32 %r10, %r1, 2; mov.u32 %r11, s; add.u32 %r12, %r10, %r11; st.shared.u32 [%r12], %r1;\n"
                                 "mbarrier.arrive.shared::cta.b64 %rd10, [bar];\n"
                                 "{ .reg .pred q; again: mbarrier.try_wait.shared::cta.b64 q, [bar], %rd10; @!q bra again; }\n"
                                 "xor.b32 %r13, %r10, 252; add.u32 %r13, %r13, %r11; ld.shared.u32 %r14, [%r13];" SHOW("%r14"), 64, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(word(x.a, i), 63 - i);
    machine_close(&x);
}

/* Two warps hand a value back and forth n times, each phase of one barrier being one turn. */
static void phases_follow_one_another(void)
{
    struct machine x = run_lines(INIT("64") "mov.u32 %r10, 0; mov.u32 %r11, 0;\n"
                                 "loop: shr.u32 %r12, %r1, 5; and.b32 %r13, %r10, 1; setp.eq.u32 %p1, %r12, %r13;\n"
                                 "@%p1 st.shared.u32 [s], %r10; mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT("%r13")
                                 "ld.shared.u32 %r14, [s]; add.u32 %r11, %r11, %r14; bar.sync 0;\n"
                                 "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, %r0; @%p2 bra loop;\n" SHOW("%r11"), 64, 100);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 4950);
    CHECK_EQ(word(x.a, 63), 4950);
    machine_close(&x);
}

/* The transaction count holds the phase open after the last arrival, and may run ahead of what is expected. */
static void bytes_are_waited_for_too(void)
{
    struct machine x = run_lines(INIT("1") "mbarrier.complete_tx.shared::cta.b64 [bar], 24;\n"
                                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n" TEST("0", "%p1")
                                 "mbarrier.expect_tx.shared::cta.b64 [bar], 8; mbarrier.complete_tx.shared::cta.b64 [bar], 40;\n" TEST("0", "%p2")
                                 "mbarrier.complete_tx.shared::cta.b64 [bar], 8;\n" TEST("0", "%p3")
                                 "selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 2, 0, %p2; selp.u32 %r12, 4, 0, %p3;\n"
                                 "add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12;" SHOW("%r10"), 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 4);
    machine_close(&x);
}

/* A thread that drops out is not expected again. */
static void dropping_out_lasts(void)
{
    struct machine x = run_lines(INIT("3") "mbarrier.arrive.shared::cta.b64 _, [bar], 2; mbarrier.arrive_drop.shared::cta.b64 _, [bar];\n"
                                 "mbarrier.arrive.noComplete.shared::cta.b64 %rd10, [bar], 1; mbarrier.pending_count.b64 %r10, %rd10;\n"
                                 "mbarrier.arrive.shared::cta.b64 %rd11, [bar]; mbarrier.pending_count.b64 %r11, %rd11;\n" TEST("1", "%p1")
                                 "selp.u32 %r12, 100, 0, %p1; mad.lo.u32 %r10, %r10, 10, %r11; add.u32 %r10, %r10, %r12;" SHOW("%r10"), 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 100 + 2 * 10 + 1);
    machine_close(&x);
}

/* The arrival comes with the last byte, so whoever waits finds the bytes. */
static void copies_arrive_when_they_land(void)
{
    for (int k = 0; k < 2; k++) {
        char lines[3000];
        snprintf(lines, sizeof lines, "%s shl.b32 %%r10, %%r1, 2; mov.u32 %%r11, s; add.u32 %%r12, %%r10, %%r11;\n"
                 "mul.wide.u32 %%rd10, %%r1, 4; add.u64 %%rd10, %%rd10, %%rd1; cp.async.ca.shared.global [%%r12], [%%rd10], 4;\n"
                 "cp.async.mbarrier.arrive%s.shared::cta.b64 [bar]; mbarrier.arrive.shared::cta.b64 _, [bar];\n%s"
                 "xor.b32 %%r13, %%r10, 252; add.u32 %%r13, %%r13, %%r11; ld.shared.u32 %%r14, [%%r13]; %s",
                 k ? INIT("128") : INIT("64"), k ? ".noinc" : "", WAIT("0"), SHOW("%r14"));
        struct machine x = run_lines(lines, 64, 0);
        expect_ok(&x);
        for (uint32_t i = 0; i < 64; i++)
            CHECK_EQ(word(x.a, i), word(x.b, 63 - i));
        machine_close(&x);
    }
}

/* All CTAs of a cluster arrive at the barrier of the first, which alone waits. */
static void others_arrive_from_afar(void)
{
    struct machine x = machine(BAR, INIT("128") "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                               "mov.u32 %r10, bar; mapa.shared::cluster.u32 %r11, %r10, 0; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];\n"
                               "setp.ne.u32 %p1, %r2, 0; @%p1 bra out;\n" WAIT("0")
                               "out: mov.u32 %r12, 7;" SHOW("%r12") "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    x.cluster = 4;
    run(&x, 4, 32, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 7);
    machine_close(&x);
}

/* inval frees the memory for other use, and for another mbarrier. */
static void invalidated_memory_is_memory_again(void)
{
    struct machine x = run_lines(INIT("1") "mbarrier.inval.shared::cta.b64 [bar]; st.shared.u32 [bar], 5; mbarrier.init.shared::cta.b64 [bar], 2;\n"
                                 "mbarrier.arrive.shared::cta.b64 _, [bar];" TEST("0", "%p1") "selp.u32 %r10, 1, 0, %p1;" SHOW("%r10"), 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 0);
    machine_close(&x);
}

static void misuse_is_named(void)
{
    static const struct { const char *lines, *said; enum fault_id fault; } bad[] = {
        { "mbarrier.arrive.shared::cta.b64 _, [bar];", "init has not been executed", FAULT_MBARRIER },
        { "st.shared.u64 [bar], 0; mbarrier.arrive.shared::cta.b64 _, [bar];", "init has not been executed", FAULT_MBARRIER },
        { INIT("1") "mbarrier.init.shared::cta.b64 [bar], 1;", "live mbarrier", FAULT_MBARRIER },
        { INIT("1") "mbarrier.inval.shared::cta.b64 [bar]; mbarrier.arrive.shared::cta.b64 _, [bar];", "init has not been", FAULT_MBARRIER },
        { INIT("1") "st.shared.u32 [bar+4], 1; mbarrier.arrive.shared::cta.b64 _, [bar];", "written over", FAULT_MBARRIER },
        { INIT("1") "mbarrier.arrive.shared::cta.b64 _, [bar], 2;", "more arrivals than are pending", FAULT_MBARRIER },
        { INIT("1") "mbarrier.arrive.shared::cta.b64 _, [bar], 0;", "at least 1", FAULT_MBARRIER },
        { INIT("0") "", "arrival count of 0", FAULT_MBARRIER },
        { INIT("1048576") "", "arrival count of 1048576", FAULT_MBARRIER },
        { INIT("1") "mbarrier.expect_tx.shared::cta.b64 [bar], 1048576;", "20 bits", FAULT_MBARRIER },
        { INIT("1") "mbarrier.arrive.noComplete.shared::cta.b64 %rd10, [bar], 1;", "noComplete", FAULT_MBARRIER },
        { INIT("1") "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 2;", "parity of 2", FAULT_MBARRIER },
        { INIT("1") "cp.async.ca.shared.global [s], [%rd1], 4; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar]; mbarrier.inval.shared::cta.b64 [bar]; cp.async.wait_all;",
          "invalidated while something was still to arrive", FAULT_MBARRIER },
        { "mov.u32 %r10, s; add.u32 %r10, %r10, 4; mbarrier.init.shared::cta.b64 [%r10], 1;", "multiple of 8", FAULT_MISALIGNED },
        { "mbarrier.init.b64 [%rd0], 1;", "not an address of shared memory", FAULT_MBARRIER },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct machine x = run_lines(bad[i].lines, 1, 0);
        CHECK_EQ(x.fault, bad[i].fault);
        expect_said(&x, bad[i].said);
        machine_close(&x);
    }
}

/* Nobody can complete the phase: said at once, with what is missing. */
static void the_ledger_of_a_hang(void)
{
    static const struct { const char *lines, *said; } hangs[] = {
        { INIT("1") "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768; mbarrier.complete_tx.shared::cta.b64 [bar], 16384;" WAIT("0"),
          "phase 0 is not complete: 0 of 1 arrivals pending, 16384 bytes still expected" },
        { INIT("1") "mbarrier.expect_tx.shared::cta.b64 [bar], 8; mbarrier.complete_tx.shared::cta.b64 [bar], 8;" WAIT("0"),
          "1 of 1 arrivals pending, 0 bytes still expected" },
        { INIT("1") WAIT("0"), "waits for parity 1" },
    };
    for (size_t i = 0; i < sizeof hangs / sizeof hangs[0]; i++) {
        struct machine x = run_lines(hangs[i].lines, 1, 0);
        CHECK_EQ(x.fault, FAULT_HANG);
        expect_said(&x, hangs[i].said);
        machine_close(&x);
    }
}

/* With a time of its own try_wait comes back with "no". */
static void a_wait_with_a_time_ends(void)
{
    struct machine x = run_lines(INIT("1") "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0, 1000; selp.u32 %r10, 1, 0, %p1;" SHOW("%r10"), 32, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 31), 0);
    machine_close(&x);
}

TESTS({ parity_names_the_phase_before, "parity names the phase before" },
      { all_arrivals_complete_a_phase, "all arrivals complete a phase" },
      { phases_follow_one_another, "phases follow one another" },
      { bytes_are_waited_for_too, "bytes are waited for too, also those that come early" },
      { dropping_out_lasts, "dropping out lasts" },
      { copies_arrive_when_they_land, "copies arrive when they land" },
      { others_arrive_from_afar, "others arrive from afar" },
      { invalidated_memory_is_memory_again, "invalidated memory is memory again" },
      { misuse_is_named, "misuse is named" },
      { the_ledger_of_a_hang, "the ledger of a hang" },
      { a_wait_with_a_time_ends, "a wait with a time of its own ends" })
