/* test_clc: cluster launch control: running clusters take the places of those that have not begun. */
#include "memory_machine.h"

/* Too much shared memory for two CTAs of an SM. a[x] += 1 for every place that somebody worked for, a[8192] for every CTA
 * that was launched; %r20 is the place. `ask` is the request, `read` decodes the answer %q0 to %p1 and %r20. */
#define STATE ".shared .align 16 .b8 s[180000];\n"
#define WORK "mul.wide.u32 %rd10, %r20, 4; add.u64 %rd10, %rd10, %rd0; red.global.add.u32 [%rd10], 1;\n"
#define ARM "mbarrier.arrive.expect_tx.shared::cta.b64 _, [s], 16;\n"
#define ASK "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s+16], [s];\n"
#define ASK_ALL "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [s+16], [s];\n"
#define WAIT "{ wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [s], %r21; @!%p0 bra wait; } xor.b32 %r21, %r21, 1; ld.shared.b128 %q0, [s+16];\n"
#define IS_CANCELED "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;\n"
#define READ IS_CANCELED "@%p1 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r20, %r23, %r24, _}, %q0;\n"
#define START "mbarrier.init.shared::cta.b64 [s], 1; mov.u32 %r20, %ctaid.x; mov.u32 %r21, 0; red.global.add.u32 [%rd0+32768], 1;\n"

static struct machine clc_machine(const char *lines)
{
    static const uint32_t zero[BYTES / 4];
    unsetenv("EMU_SEED");
    setenv("EMU_JOBS", "1", 1);
    struct machine x = machine_for("b200", "sm_100a", STATE, lines);
    CHECK_STR(x.said, "");
    CHECK(mem_to_device(x.g, x.a->addr, zero, BYTES));
    return x;
}

enum { PLACES = 1000 };

static int places_wrong(const struct machine *x, uint32_t step)
{
    int wrong = 0;
    for (uint32_t i = 0; i < PLACES; i++)
        wrong += word(x->a, i) != (i % step == 0);
    return wrong;
}

static void every_place_is_worked_for_once(void)
{
    struct machine x = clc_machine(START "again:\n" WORK ARM ASK WAIT READ "@%p1 bra again;\n");
    run(&x, PLACES, 1, 0);
    expect_ok(&x);
    CHECK_EQ(places_wrong(&x, 1), 0);
    CHECK_EQ(word(x.a, 8192), 148);                             /* one CTA on each SM, and no more were launched */
    machine_close(&x);
}

/* The first CTA asks for its pair. %r22 = rank. */
static void a_cluster_takes_a_cluster(void)
{
    struct machine x = clc_machine(START "mov.u32 %r22, %cluster_ctarank; setp.eq.u32 %p2, %r22, 0; sub.u32 %r20, %r20, %r22;\n"
        "barrier.cluster.arrive; barrier.cluster.wait;\n"
        "again: @!%p2 bra skip;\n" WORK "skip: " ARM "@%p2 " ASK_ALL WAIT READ
        "fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra again;\n");
    x.cluster = 2;
    run(&x, PLACES, 1, 0);
    expect_ok(&x);
    CHECK_EQ(places_wrong(&x, 2), 0);
    CHECK_EQ(word(x.a, 8192), 148);
    machine_close(&x);
}

/* One CTA does all the work that is left, of a grid that has three dimensions. */
static void coordinates_are_those_of_the_place(void)
{
    struct machine x = clc_machine(START "mov.u32 %r30, %ctaid.y; mov.u32 %r31, %ctaid.z; mov.u32 %r32, %nctaid.x; mov.u32 %r33, %nctaid.y; setp.eq.u32 %p1, 1, 1;\n"
        "again: mad.lo.u32 %r30, %r31, %r33, %r30; mad.lo.u32 %r20, %r30, %r32, %r20;\n" WORK ARM ASK WAIT IS_CANCELED
        "@!%p1 ret; clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q0;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r30, %q0; clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r31, %q0;\n"
        "bra again;\n");
    uint32_t grid[3] = { 10, 20, 5 }, one[3] = { 1, 1, 1 };
    struct { uint64_t a, b; uint32_t n; } params = { x.a->addr, x.b->addr, 0 };
    struct launch *l = launch_new(x.g, ptx_func(x.m, "k"), grid, one, one, 0, &params);
    gpu_start(x.g, l);
    CHECK(gpu_run(x.g) == l);
    CHECK_EQ(l->fault, FAULT_NONE);
    launch_free(l);
    CHECK_EQ(places_wrong(&x, 1), 0);
    machine_close(&x);
}

static void expect_fault(const char *lines, enum fault_id fault, const char *says)
{
    struct machine x = clc_machine(lines);
    run(&x, 1, 1, 0);
    CHECK_EQ(x.fault, fault);
    expect_said(&x, says);
    machine_close(&x);
}

static void misuse_is_named(void)
{
    expect_fault(START ARM ASK WAIT IS_CANCELED ARM ASK WAIT, FAULT_CLUSTER, "asking again is undefined");
    expect_fault(START ARM ASK WAIT "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q0;", FAULT_BAD_OPERAND, "holds no coordinates");
    expect_fault(START "mov.b64 %rd10, 5; mov.b128 %q0, {%rd10, %rd10};" IS_CANCELED, FAULT_BAD_OPERAND, "was its mbarrier waited for?");
    expect_fault(START ARM ASK "ld.shared.b128 %q0, [s+16];", FAULT_UNINITIALIZED, "");
    expect_fault(START ARM "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s+24], [s];", FAULT_MISALIGNED, "");
    expect_fault(START ASK "mbarrier.try_wait.parity.shared::cta.b64 %p0, [s], 0;", FAULT_HANG, "1 of 1 arrivals pending, -16 bytes");
}

static void other_chips_have_none(void)
{
    struct machine x = machine_for("h200", "sm_90a", STATE, ASK);
    CHECK(!x.m);
    expect_said(&x, "needs .target sm_100");
    machine_close(&x);
    x = machine_for("rtx5090", "sm_120", ".shared .align 16 .b8 s[64];", ASK_ALL);
    CHECK(!x.m);
    machine_close(&x);
    x = machine_for("rtx5090", "sm_120a", ".shared .align 16 .b8 s[64];", ASK_ALL);
    CHECK_STR(x.said, "");
    machine_close(&x);
}

TESTS({ every_place_is_worked_for_once, "every place is worked for once, launched or taken" },
      { a_cluster_takes_a_cluster, "a cluster takes a cluster, and all its CTAs hear of it" },
      { coordinates_are_those_of_the_place, "coordinates are those of the place taken" },
      { misuse_is_named, "misuse is named" },
      { other_chips_have_none, "other chips have none" })
