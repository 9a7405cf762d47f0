/* test_bulk: cp.async.bulk there and back, its groups, and what is refused. */
#include "memory_machine.h"

#define BAR ".shared .align 8 .b64 bar; .shared .align 128 .b8 s[4096];"
#define BEGIN "mov.u32 %r10, s; mov.u32 %r11, bar; mbarrier.init.shared::cta.b64 [bar], 1;\n"
#define LOAD(size) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " size ";\n" \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1], " size ", [%r11];\n" \
    "{ .reg .pred q; again: mbarrier.try_wait.parity.shared::cta.b64 q, [bar], 0; @!q bra again; }\n"
#define STORE(size) "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r10], " size ";\n"

static struct machine run_lines(const char *lines)
{
    struct machine x = machine(BAR, lines);
    fill_hashed(&x, x.b);
    run(&x, 1, 1, 0);
    return x;
}

static void there_and_back(void)
{
    struct machine x = run_lines(BEGIN LOAD("2048") STORE("2048") "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
    expect_ok(&x);
    for (uint32_t i = 0; i < 512; i++)
        CHECK_EQ(word(x.a, i), word(x.b, i));
    machine_close(&x);
}

/* .read: the source may be overwritten, and what was there before is what arrives. */
static void a_read_source_may_be_overwritten(void)
{
    struct machine x = run_lines(BEGIN LOAD("16") STORE("16") "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; st.shared.u32 [s], 5;");
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), word(x.b, 0));
    machine_close(&x);
}

static void misuse_is_named(void)
{
    static const struct { const char *lines, *said; enum fault_id fault; } bad[] = {
        { BEGIN LOAD("24"), "multiple of 16", FAULT_BAD_OPERAND },
        { BEGIN "add.u64 %rd1, %rd1, 8;" LOAD("16"), "multiple of 16", FAULT_MISALIGNED },
        { BEGIN STORE("16"), "", FAULT_UNINITIALIZED },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct machine x = run_lines(bad[i].lines);
        CHECK_EQ(x.fault, bad[i].fault);
        expect_said(&x, bad[i].said);
        machine_close(&x);
    }
}

TESTS({ there_and_back, "there and back" },
      { a_read_source_may_be_overwritten, "a source that was read may be overwritten" },
      { misuse_is_named, "misuse is named" })
