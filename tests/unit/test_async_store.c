/* test_async_store: st.async and red.async to other CTAs of a cluster, their mbarrier, what is refused; st.bulk. */
#include "memory_machine.h"

#define VARIABLES ".shared .align 8 .b64 bar; .shared .align 16 .b8 s[4096];"
#define SYNC "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
/* Two CTAs. Thread 0 makes `bar` expect `bytes`; s[0..255] hold 5 a word. %r11, %r12: s and bar in the other CTA. */
#define BEGIN(bytes)                                                                                                    \
    "setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"                                           \
    "mov.u32 %r20, s; shl.b32 %r21, %r1, 2; add.u32 %r20, %r20, %r21; mov.u32 %r22, 5; st.shared.u32 [%r20], %r22;\n"   \
    "st.shared.u32 [%r20+128], %r22; bar.sync 0;\n"                                                                     \
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " bytes ";\n" SYNC                                        \
    "mov.u32 %r9, %cluster_ctarank; xor.b32 %r9, %r9, 1; mov.u32 %r10, s; mapa.shared::cluster.u32 %r11, %r10, %r9;\n"  \
    "mov.u32 %r10, bar; mapa.shared::cluster.u32 %r12, %r10, %r9;\n"
#define WAIT "{ .reg .pred q; again: mbarrier.try_wait.parity.shared::cta.b64 q, [bar], 0; @!q bra again; }\n"
#define ASYNC ".shared::cluster.mbarrier::complete_tx::bytes"
#define TX "mbarrier::complete_tx::bytes"
#define SHOW_OWN "ld.shared.u32 %r15, [%r20]; st.global.u32 [%rd2], %r15;\n" SYNC

static struct machine run_lines(const char *lines)
{
    struct machine x = machine(VARIABLES, lines);
    x.cluster = 2;
    run(&x, 2, 32, 0);
    return x;
}

static void a_store_comes_before_its_bytes_count(void)
{
    struct machine x = run_lines(BEGIN("128") "add.u32 %r13, %r11, %r21; mad.lo.u32 %r14, %r2, 1000, %r1;\n"
                                 "st.async" ASYNC ".u32 [%r13], %r14, [%r12];\n" WAIT SHOW_OWN);
    expect_ok(&x);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(word(x.a, i), (i < 32 ? 1000 : 0) + i % 32);
    machine_close(&x);
}

/* Lane 0 sends vectors and 64 bits; its thread reads 16 words. */
static void vectors_and_wide_elements(void)
{
    struct machine x = run_lines(BEGIN("56") "mov.b64 %rd10, {%r2, %r22}; mov.u32 %r30, 1; mov.u32 %r31, 2; mov.u32 %r32, 3; mov.u32 %r33, 4;\n"
                                 "mov.b64 %rd11, 0x700000006;\n"
                                 "@%p0 st.async.weak" ASYNC ".v4.b32 [%r11], {%r30, %r31, %r32, %r33}, [%r12];\n"
                                 "@%p0 st.async" ASYNC ".v2.b64 [%r11+16], {%rd11, %rd10}, [%r12];\n"
                                 "@%p0 st.async" ASYNC ".v2.s32 [%r11+32], {%r33, %r30}, [%r12];\n"
                                 "@%p0 st.async" ASYNC ".u64 [%r11+40], %rd11, [%r12];\n"
                                 "@%p0 st.async" ASYNC ".b64 [%r11+48], %rd10, [%r12];\n" WAIT SHOW_OWN);
    static const uint32_t want[] = { 1, 2, 3, 4, 6, 7, 1, 5, 4, 1, 6, 7, 1, 5, 5, 5 };
    expect_ok(&x);
    for (uint32_t i = 0; i < 16; i++)
        CHECK_EQ(word(x.a, i), want[i]);
    machine_close(&x);
}

/* Generic addresses, too. */
static void without_a_state_space_addresses_are_generic(void)
{
    struct machine x = run_lines(BEGIN("128") "mov.u32 %r10, s; cvt.u64.u32 %rd10, %r10; cvta.shared.u64 %rd10, %rd10; mapa.u64 %rd10, %rd10, %r9;\n"
                                 "mov.u32 %r10, bar; cvt.u64.u32 %rd11, %r10; cvta.shared.u64 %rd11, %rd11; mapa.u64 %rd11, %rd11, %r9;\n"
                                 "cvt.u64.u32 %rd12, %r21; add.u64 %rd10, %rd10, %rd12;\n"
                                 "st.async." TX ".u32 [%rd10], %r1, [%rd11];\n" WAIT SHOW_OWN);
    expect_ok(&x);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(word(x.a, i), i % 32);
    machine_close(&x);
}

/* All lanes reduce the word 5 of the other CTA by (lane % 3 + 1). */
static void reductions(void)
{
    static const struct { const char *op; uint32_t want; } rows[] = {
        { "add.u32", 5 + 11 * 6 - 3 }, { "add.s32", 5 + 11 * 6 - 3 }, { "min.u32", 1 }, { "max.u32", 5 }, { "min.s32", 1 }, { "max.s32", 5 },
        { "and.b32", 0 }, { "or.b32", 7 }, { "xor.b32", 5 ^ 1 ^ 2 }, { "add.u64", 5 + 11 * 6 - 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool wide = strstr(rows[i].op, "64");
        char lines[4000];
        snprintf(lines, sizeof lines, "%s rem.u32 %%r14, %%r1, 3; add.u32 %%r14, %%r14, 1; cvt.u64.u32 %%rd10, %%r14;\n"
                 "red.async.relaxed.cluster%s.%s [%%r11], %s, [%%r12];\n%s", wide ? BEGIN("256") : BEGIN("128"), ASYNC, rows[i].op,
                 wide ? "%rd10" : "%r14", WAIT SHOW_OWN);
        struct machine x = run_lines(lines);
        expect_ok(&x);
        CHECK_EQ(word(x.a, 0), rows[i].want);
        CHECK_EQ(word(x.a, 32), rows[i].want);
        machine_close(&x);
    }
}

/* inc of 5 by 32 lanes that wrap at 6: 6, then 0, 1, ... dec of 5 that wrap at 3: 3, 2, 1, 0, 3, ... */
static void counters_wrap(void)
{
    for (int down = 0; down < 2; down++) {
        char lines[4000];
        snprintf(lines, sizeof lines, "%s mov.u32 %%r14, %d; red.async.relaxed.cluster%s.%s.u32 [%%r11], %%r14, [%%r12];\n%s", BEGIN("128"),
                 down ? 3 : 6, ASYNC, down ? "dec" : "inc", WAIT SHOW_OWN);
        struct machine x = run_lines(lines);
        uint32_t want = 5;
        for (int i = 0; i < 32; i++)
            want = down ? (want == 0 || want > 3 ? 3 : want - 1) : want >= 6 ? 0 : want + 1;
        expect_ok(&x);
        CHECK_EQ(word(x.a, 0), want);
        machine_close(&x);
    }
}

static void misuse_is_named(void)
{
    static const struct { const char *lines; uint32_t cluster; enum fault_id id; const char *said; } rows[] = {
        { BEGIN("4") "st.async" ASYNC ".u32 [%r11], %r1, [bar];\n" WAIT SHOW_OWN, 2, FAULT_BAD_OPERAND, "not in the CTA" },
        { BEGIN("4") "red.async.relaxed.cluster" ASYNC ".add.u32 [s], %r1, [bar];\n" WAIT SHOW_OWN, 2, FAULT_BAD_OPERAND, "another CTA" },
        { "setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;\n"
          "st.async" ASYNC ".u32 [s], %r1, [bar];\n", 1, FAULT_BAD_OPERAND, "several CTAs" },
        { BEGIN("4") "st.async" ASYNC ".u32 [%r11+2], %r1, [%r12];\n", 2, FAULT_MISALIGNED, "" },
        { BEGIN("4") "st.async" ASYNC ".u32 [%r11+65536], %r1, [%r12];\n", 2, FAULT_OUT_OF_BOUNDS, "" },
        { BEGIN("4") "@!%p0 bra out; setp.eq.u32 %p1, %r2, 1; @%p1 bra out; st.async" ASYNC ".u32 [%r11], %r1, [%r12]; out:", 2,
          FAULT_USE_AFTER_FREE, "rank 1 has exited" },
        { BEGIN("4") "@!%p0 bra out; setp.eq.u32 %p1, %r2, 0; @!%p1 bra send; nanosleep.u32 60; bra out;\n"
          "send: st.async" ASYNC ".u32 [%r11], %r1, [%r12]; out:", 2, FAULT_RACE, "its shared memory is gone" },
        { BEGIN("4") "@!%p0 bra out; setp.eq.u32 %p1, %r2, 0; @!%p1 bra send; nanosleep.u32 60; bra out;\n"
          "send: st.async" ASYNC ".u32 [%r11], %r1, [%r12]; out:", 2, FAULT_CLUSTER, "rank 0 of its cluster, which has exited" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("EMU_RACES", rows[i].id == FAULT_CLUSTER ? "0" : "1", 1);    /* what arrives too late is a race first */
        struct machine x = machine(VARIABLES, rows[i].lines);
        x.cluster = rows[i].cluster;
        run(&x, 2, 32, 0);
        CHECK_EQ(x.fault, rows[i].id);
        expect_said(&x, rows[i].said);
        machine_close(&x);
    }
}

static void what_only_later_chips_have_is_refused(void)
{
    static const char *const lines[] = { "st.async.release.gpu.global.u32 [%rd0], %r1;", "red.async.release.gpu.global.add.u32 [%rd0], %r1;",
                                         "st.bulk.weak.shared::cta [s], 64, 0;", "red.async.relaxed.cluster" ASYNC ".min.u64 [%r1], %rd1, [%r2];",
                                         "red.async.relaxed.cluster" ASYNC ".inc.s32 [%r1], %r1, [%r2];",
                                         "st.async" ASYNC ".v4.b64 [%r1], {%rd1, %rd1, %rd1, %rd1}, [%r2];" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct machine x = machine_for("h200", "sm_90a", VARIABLES, lines[i]);
        CHECK(!x.m);
        machine_close(&x);
    }
}

static void later_chips_store_to_global_memory(void)
{
    unsetenv("EMU_SEED");
    struct machine x = machine_for("b200", "sm_100a", VARIABLES, "mov.u32 %r10, 3; st.global.u32 [%rd1], %r10; st.async.release.gpu.global.u32 [%rd2], %r3;\n"
                                   "bar.sync 0; red.async.release.gpu.global.add.u32 [%rd1], %r10; st.async.mmio.release.sys.global.b8 [%rd0+512], %r10;\n");
    CHECK_STR(x.said, "");
    run(&x, 2, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(word(x.a, i), i);
    CHECK_EQ(x.a->host[512], 3);
    machine_close(&x);
}

static void bulk_writes_zeros(void)
{
    unsetenv("EMU_SEED");
    struct machine x = machine_for("b200", "sm_100a", VARIABLES,
                                   "mov.u32 %r20, s; shl.b32 %r21, %r1, 2; add.u32 %r20, %r20, %r21; st.shared.u32 [%r20], %r1; bar.sync 0;\n"
                                   "setp.eq.u32 %p0, %r1, 0; mov.u32 %r10, 24; mov.u64 %rd10, 8; @%p0 st.bulk.weak.shared::cta [s+8], %r10, 0;\n"
                                   "mov.u32 %r11, s; cvt.u64.u32 %rd11, %r11; cvta.shared.u64 %rd11, %rd11; @%p0 st.bulk [%rd11+64], %rd10, 0;\n"
                                   "bar.sync 0; ld.shared.u32 %r12, [%r20]; st.global.u32 [%rd2], %r12;\n");
    CHECK_STR(x.said, "");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(word(x.a, i), (i >= 2 && i < 8) || i == 16 || i == 17 ? 0 : i);
    machine_close(&x);
}

TESTS({ a_store_comes_before_its_bytes_count, "a store comes before its bytes count" },
      { vectors_and_wide_elements, "vectors and wide elements" },
      { without_a_state_space_addresses_are_generic, "without a state space addresses are generic" },
      { reductions, "reductions" },
      { counters_wrap, "counters wrap" },
      { misuse_is_named, "misuse is named" },
      { what_only_later_chips_have_is_refused, "what only later chips have is refused" },
      { later_chips_store_to_global_memory, "later chips store to global memory" },
      { bulk_writes_zeros, "bulk writes zeros" })
