/* test_tcgen05_order: what must be waited for before tensor memory is touched again, and what is said when it was not. */
#include "tcgen05_machine.h"

static char text[200000];
static const struct tc_trial T = { .kind = "f16", .d = "f32", .a = &F16, .b = &F16, .m = 128, .n = 64, .a_span = 128, .b_span = 128 };
static const struct tc_trial PAIR = { .kind = "f16", .d = "f32", .a = &F16, .b = &F16, .m = 256, .n = 64, .group = 2, .a_span = 128, .b_span = 128 };

/* One mma, its commit, then `between`, then all of tensor memory is read. */
static struct machine run_with(const struct tc_trial *t, const char *before, const char *between, bool commits)
{
    char *at = write_tc_mma(say_to(write_tc_before(text, t), "%s", before), t);
    if (commits)
        at = write_tc_commit(at, t);
    write_tc_results(say_to(at, "%s", between), t);
    return tc_run(t, text);
}

static void expect(const struct tc_trial *t, const char *before, const char *between, bool commits, enum fault_id fault, const char *says)
{
    struct machine x = run_with(t, before, between, commits);
    if (!x.m) {
        CHECK_STR(x.said, "");
        return;
    }
    CHECK_EQ(x.fault, fault);
    expect_said(&x, says);
    machine_close(&x);
}

/* So long that everything is over by then: it is found from order, not from luck. */
#define LATER "mov.u32 %r60, 0; spin: add.u32 %r60, %r60, 1; setp.lt.u32 %p7, %r60, 20000; @%p7 bra spin;\n"
#define AGAIN "{ wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [s+49152], 0; @!%p3 bra wait; }\n"

static void a_missing_wait_is_named(void)
{
    static const char *const delays[] = { "", LATER };
    for (int i = 0; i < 2; i++) {
        expect(&T, "", delays[i], true, FAULT_TCGEN05, i ? "Its end has not been waited for: tcgen05.commit" : "which the tcgen05.");
        expect(&T, "", delays[i], false, FAULT_TCGEN05, i ? "it reads columns 0 to 63, which the tcgen05.mma" : "which the tcgen05.");
        expect(&PAIR, "", delays[i], true, FAULT_TCGEN05, i ? "Its end has not been waited for" : "which the tcgen05.");
    }
}

/* One warp waits and tells the others by a barrier, or does not. */
static void a_barrier_hands_it_on(void)
{
    expect(&T, "", "@!%p2 bra over;\n" TC_WAIT TC_AFTER TC_BEFORE "over: bar.sync 0;\n" TC_AFTER, true, FAULT_NONE, "");
    expect(&T, "", "@!%p2 bra over;\n" TC_WAIT TC_AFTER TC_BEFORE "over:\n" LATER TC_AFTER, true, FAULT_TCGEN05, "Its end has not been waited for");
}

#define LD4 "tcgen05.ld.sync.aligned.32x32b.x4.b32 {d0, d1, d2, d3}, "
#define MMA "@%p5 tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd31, %rd32, %r19, %p6;\n"
static void reads_and_writes_are_waited_for(void)
{
    /* a load, or a store, and the mma that writes there */
    expect(&T, LD4 "[%r16];\n", TC_WAIT TC_AFTER, true, FAULT_TCGEN05, "tcgen05.wait::ld must come between");
    expect(&T, LD4 "[%r16]; tcgen05.wait::ld.sync.aligned;\n" LATER, TC_WAIT TC_AFTER, true, FAULT_TCGEN05, "and a barrier if it is another warp's");
    expect(&T, LD4 "[%r16]; tcgen05.wait::ld.sync.aligned; " TC_BEFORE "bar.sync 0;" TC_AFTER, TC_WAIT TC_AFTER, true, FAULT_NONE, "");
    expect(&T, "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16], {%r3};\n", TC_WAIT TC_AFTER, true, FAULT_TCGEN05, "tcgen05.wait::st must come between");
    /* the other way round */
    expect(&T, "", LATER "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16], {%r3};\n", true, FAULT_TCGEN05, "it writes columns 0 to 63, which the tcgen05.mma");
    /* what is not D may be touched meanwhile */
    expect(&T, "", LD4 "[%r16+64]; tcgen05.wait::ld.sync.aligned;\n" TC_WAIT TC_AFTER, true, FAULT_NONE, "");
}

static void one_mma_follows_another_on_the_same_accumulator(void)
{
    expect(&T, MMA, TC_WAIT TC_AFTER, true, FAULT_NONE, "");
    expect(&T, "@%p5 tcgen05.mma.cta_group::1.kind::f16 [%r14+32], %rd31, %rd32, %r19, %p6;\n", TC_WAIT TC_AFTER, true, FAULT_TCGEN05, "it writes columns 32 to 95, which the tcgen05.mma");
    expect(&T, "@%p5 tcgen05.mma.cta_group::1.kind::f16 [%r14+128], [%r14], %rd32, %r19, %p6; @%p5 tcgen05.mma.cta_group::1.kind::f16 [%r14+192], [%r14+128], %rd32, %r19, %p6;\n",
           TC_WAIT TC_AFTER, true, FAULT_TCGEN05, "it reads columns 128 to 191");
}

static void registers_are_the_loads_until_its_wait(void)
{
    expect(&T, LD4 "[%r16+100];\n add.u32 d5, d2, 1; tcgen05.wait::ld.sync.aligned;\n", TC_WAIT TC_AFTER, true, FAULT_NONE, "register d.2 of the tcgen05.ld");
    expect(&T, LD4 "[%r16];\n" LATER "add.u32 d5, d0, d1; add.u32 d6, d2, d3;\n", "", true, FAULT_TCGEN05, "tcgen05.wait::ld must come between");
    expect(&T, LD4 "[%r16];\n" LATER "mov.u32 %r61, 1; mov.u32 d1, %r61; add.u32 d1, d1, 2;\n", "", true, FAULT_TCGEN05, "register d.1 of the tcgen05.ld");
    expect(&T, LD4 "[%r16];\n" LD4 "[%r16+4];\n", "", true, FAULT_TCGEN05, "register d.0 of the tcgen05.ld");
}

static void nothing_is_given_back_while_it_is_used(void)
{
    char *at = write_tc_commit(write_tc_mma(write_tc_before(text, &T), &T), &T);
    say_to(say_to(at, "%s", LATER), TC_DEALLOC, 1);
    struct machine x = tc_run(&T, text);
    CHECK_EQ(x.fault, FAULT_TCGEN05);
    expect_said(&x, "tcgen05.dealloc.cta_group::1");
    machine_close(&x);
    at = say_to(write_tc_before(text, &T), "%s", LD4 "[%r16]; tcgen05.wait::ld.sync.aligned;\n" LATER);
    say_to(at, TC_DEALLOC, 1);
    x = tc_run(&T, text);
    CHECK_EQ(x.fault, FAULT_TCGEN05);
    expect_said(&x, "which the tcgen05.ld");
    machine_close(&x);
}

/* Not a fault, but said. */
static void fences_are_asked_for(void)
{
    expect(&T, "", TC_WAIT, true, FAULT_NONE, "no tcgen05.fence::after_thread_sync between");
    expect(&T, "", TC_WAIT TC_AFTER, true, FAULT_NONE, "");
    expect(&T, LD4 "[%r16]; tcgen05.wait::ld.sync.aligned; bar.sync 0;" TC_AFTER, TC_WAIT TC_AFTER, true, FAULT_NONE, "no tcgen05.fence::before_thread_sync between");
    expect(&T, LD4 "[%r16]; tcgen05.wait::ld.sync.aligned; " TC_BEFORE "bar.sync 0;", TC_WAIT TC_AFTER, true, FAULT_NONE, "no tcgen05.fence::after_thread_sync between");
    struct machine x = run_with(&T, LD4 "[%r16]; tcgen05.wait::ld.sync.aligned; " TC_BEFORE "bar.sync 0;" TC_AFTER, TC_WAIT TC_AFTER, true);
    CHECK_STR(x.said, "");
    machine_close(&x);
    x = run_with(&PAIR, "", TC_WAIT TC_AFTER, true);
    CHECK_STR(x.said, "");
    machine_close(&x);
}

static void other_misuse_is_named(void)
{
    expect(&T, "or.b32 %r19, %r19, 0x40;", TC_WAIT, true, FAULT_BAD_OPERAND, "its bits 0x40 must be zero for .kind::f16");
    expect(&T, "add.u32 %r19, %r19, 0x100;", TC_WAIT, true, FAULT_BAD_OPERAND, "the type of A is 2, which .kind::f16 does not have");
    expect(&T, "add.u32 %r19, %r19, 0x1000000;", TC_WAIT, true, FAULT_BAD_OPERAND, "M is 144: it must be 64 or 128 with cta_group::1");
    expect(&T, "add.u32 %r19, %r19, 0x400000;", TC_WAIT, true, FAULT_BAD_OPERAND, "N is 320: it must be");
    expect(&T, "or.b32 %r19, %r19, 0x7e0000;", TC_WAIT, true, FAULT_BAD_OPERAND, "N is 504: it must be a multiple of 8 from 8 to 256");
    expect(&PAIR, "add.u32 %r19, %r19, 0x20000;", TC_WAIT, true, FAULT_BAD_OPERAND, "N is 72: it must be a multiple of 16");
    expect(&T, "or.b32 %r19, %r19, 0x4;", TC_WAIT, true, FAULT_BAD_OPERAND, "that A is sparse, the instruction that it is dense");
    expect(&T, "or.b32 %r19, %r19, 0x1;", TC_WAIT, true, FAULT_BAD_OPERAND, "sparsity selector 1: it is for a sparse A");
    expect(&T, "xor.b64 %rd31, %rd31, 0x400000000000;", TC_WAIT, true, FAULT_BAD_OPERAND, "bits 0x400000000000 of it must be set");
    expect(&T, "or.b64 %rd32, %rd32, 0x2000000000000000;", TC_WAIT, true, FAULT_BAD_OPERAND, "must be zero");
    expect(&T, "add.u64 %rd31, %rd31, 8;", TC_WAIT TC_AFTER, true, FAULT_NONE, "that is 1 rows behind a multiple of 1024");
    expect(&T, "add.u64 %rd32, %rd32, 4096;", TC_WAIT, true, FAULT_OUT_OF_BOUNDS, "the descriptor of B");
    expect(&T, "add.u32 %r18, %r18, 0x100000;", TC_WAIT, true, FAULT_TMEM, "D, 0x100000: its lane must be 0");
    expect(&T, "add.u32 %r18, %r18, 480;", TC_WAIT, true, FAULT_TMEM, "D needs columns 480 to 543; there are 512");
    expect(&T, "@%p5 tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%rd0];", TC_WAIT, true, FAULT_TCGEN05, "has no peer");
    expect(&PAIR, "@%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd0];", TC_WAIT, true, FAULT_TCGEN05, "it was cta_group::2");
    expect(&PAIR, "mov.u16 %h0, 5; @%p5 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [s+49152], %h0;", TC_WAIT, true,
           FAULT_BAD_OPERAND, "names CTAs outside the cluster of 2");
}

TESTS({ a_missing_wait_is_named, "a missing wait is named, even when all is over by luck" },
      { a_barrier_hands_it_on, "a barrier hands on what one warp has waited for" },
      { reads_and_writes_are_waited_for, "loads and stores are waited for" },
      { one_mma_follows_another_on_the_same_accumulator, "one mma follows another on the same accumulator alone" },
      { registers_are_the_loads_until_its_wait, "registers are the load's until its wait" },
      { nothing_is_given_back_while_it_is_used, "nothing is given back while it is used" },
      { fences_are_asked_for, "fences are asked for" },
      { other_misuse_is_named, "other misuse is named" })
