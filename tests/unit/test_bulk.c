/* test_bulk: cp.async.bulk there and back, under a mask, into another CTA; reductions; groups; what is refused. */
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

/* Bit i of the mask: byte i of each 16. The others stay. */
static void a_mask_picks_bytes(void)
{
    struct machine x = machine_for("b200", "sm_100a", BAR, BEGIN LOAD("256") "mov.u16 %h1, 0x8421;\n"
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd0], [%r10], 256, %rd0, %h1;\n"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
    CHECK_STR(x.said, "");
    fill_hashed(&x, x.b);
    CHECK(mem_fill(x.g, x.a->addr, 0x33, 1, BYTES));
    run(&x, 1, 1, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 256; i++)
        CHECK_EQ(x.a->host[i], 0x8421 >> i % 16 & 1 ? hash_byte(i) : 0x33);
    machine_close(&x);
}

/* CTA 0 sends its bytes to CTA 1, which has others there and gives back what came of them. */
#define TO_THE_OTHER(copy) TO_RANK(copy, "1")
#define TO_RANK(copy, to) \
    "mov.u32 %r10, s; mov.u32 %r11, bar; mov.u32 %r12, %cluster_ctarank; mul.lo.u32 %r13, %r12, 512; cvt.u64.u32 %rd10, %r13;\n" \
    "add.u64 %rd11, %rd1, %rd10; mov.u32 %r14, 0;\n" \
    "fill: ld.global.b32 %r15, [%rd11]; st.shared.b32 [%r10], %r15; add.u64 %rd11, %rd11, 4; add.u32 %r10, %r10, 4;\n" \
    "add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, 128; @%p1 bra fill; mov.u32 %r10, s;\n" \
    "mbarrier.init.shared::cta.b64 [bar], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512; fence.proxy.async.shared::cta;\n" \
    "barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p2, %r12, 0;\n" \
    "mapa.shared::cluster.u32 %r16, %r10, " to "; mapa.shared::cluster.u32 %r17, %r11, " to ";\n" \
    "@%p2 " copy " [%r16], [%r10], 512, [%r17];\n" \
    "@%p2 bra done; again: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0; @!%p3 bra again; mov.u32 %r14, 0;\n" \
    "give: ld.shared.b32 %r15, [%r10]; st.global.b32 [%rd0], %r15; add.u64 %rd0, %rd0, 4; add.u32 %r10, %r10, 4;\n" \
    "add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, 128; @%p1 bra give; done: barrier.cluster.arrive; barrier.cluster.wait;"

static void bytes_go_to_another_cta(void)
{
    static const char *const lines[] = {
        TO_THE_OTHER("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"),
        TO_THE_OTHER("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"),
        TO_THE_OTHER("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32") };
    for (int k = 0; k < 3; k++) {
        struct machine x = machine(BAR, lines[k]);
        fill_hashed(&x, x.b);
        x.cluster = 2;
        run(&x, 2, 1, 0);
        expect_ok(&x);
        for (uint32_t i = 0; i < 128; i++) {
            uint32_t sent = word(x.b, i), had = word(x.b, 128 + i);
            CHECK_EQ(word(x.a, i), k == 0 ? sent : k == 1 ? sent + had : sent ^ had);
        }
        machine_close(&x);
    }
}

/* Sums of f32 keep subnormals; u64 carries across its halves. */
static void reductions_in_global_memory(void)
{
    static const struct { const char *lines; uint64_t before, b, after; } cases[] = {
        { BEGIN LOAD("256") "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd0], [%r10], 256;\n", 0x3f80000000000001, 0x3f80000000000002, 0x4000000000000003 },
        { BEGIN LOAD("256") "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd0], [%r10], 256;\n", 0x00000001ffffffff, 1, 0x0000000200000000 },
        { BEGIN LOAD("256") "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%rd0], [%r10], 256;\n", 5, UINT64_MAX, UINT64_MAX },
        { BEGIN LOAD("256") "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd0], [%r10], 256;\n", 0x3c00000100014000, 0x3c00000100023c00, 0x4000000200034200 },
        { BEGIN LOAD("256") "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.bf16 [%rd0], [%r10], 256;\n", 0x3f80bf8000000001, 0x4000bf0080007fc0, 0x4000bf0000000001 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = NULL;
        CHECK(asprintf(&text, "%s cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", cases[i].lines) > 0);
        struct machine x = machine(BAR, text);
        for (uint32_t k = 0; k < 32; k++) {
            CHECK(mem_to_device(x.g, x.a->addr + 8 * k, &cases[i].before, 8));
            CHECK(mem_to_device(x.g, x.b->addr + 8 * k, &cases[i].b, 8));
        }
        run(&x, 1, 1, 0);
        expect_ok(&x);
        for (uint32_t k = 0; k < 32; k++)
            CHECK_EQ(word(x.a, 2 * k) | (uint64_t)word(x.a, 2 * k + 1) << 32, cases[i].after);
        machine_close(&x);
        free(text);
    }
}

/* Only what the ISA's table has; anything else is refused when the module loads. */
static void forms_that_do_not_exist_are_refused(void)
{
    static const char *const forms[] = {
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%rd0], [%r10], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd0], [%r10], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.noftz.f16 [%rd0], [%r10], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%rd0], [%r10], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%rd0], [%r10], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.s32 [%rd0], [%r10], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b64 [%r10], [%r10], 16, [%r10];",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [%r10], 16, %h1;",        /* sm_100 */
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r10], [%rd0, {%r1, %r1, %r1, %r1, %r1}], [%r10];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0, {%r1, %r1, %r1}], [%r10];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r10], [%rd0, {%r1, %r1}], [%r10], {%h1};",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd0], 4;",
        "tensormap.replace.tile.global_address.global.b1024.b32 [%rd0], %r1;",
        "tensormap.replace.tile.global_stride.global.b1024.b64 [%rd0], 4, %rd1;",
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct machine x = machine_for("h200", "sm_90a", BAR, forms[i]);
        CHECK(!x.m);
        if (x.m)
            printf("  not refused: %s\n", forms[i]);
        machine_close(&x);
    }
}

static void misuse_is_named(void)
{
    static const struct { const char *lines, *said; enum fault_id fault; } bad[] = {
        { BEGIN LOAD("24"), "multiple of 16", FAULT_BAD_OPERAND },
        { BEGIN "add.u64 %rd1, %rd1, 8;" LOAD("16"), "multiple of 16", FAULT_MISALIGNED },
        { BEGIN STORE("16"), "", FAULT_UNINITIALIZED },
        { BEGIN "cp.async.bulk.prefetch.L2.global [%rd1], 24;", "multiple of 16", FAULT_BAD_OPERAND },
        { BEGIN LOAD("16") "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r10], 16, [%r11];",
          "must be in another CTA", FAULT_BAD_OPERAND },
        { BEGIN "mov.u16 %h1, 2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r10], [%rd1], 16, [%r11], %h1;",
          "names CTA rank 1", FAULT_BAD_OPERAND },
        { BEGIN "mov.u16 %h1, 0; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r10], [%rd1], 16, [%r11], %h1;",
          "names no CTA", FAULT_BAD_OPERAND },
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
      { a_mask_picks_bytes, "a mask picks bytes" },
      { bytes_go_to_another_cta, "bytes go to another CTA, and are reduced there" },
      { reductions_in_global_memory, "reductions in global memory" },
      { forms_that_do_not_exist_are_refused, "forms that do not exist are refused" },
      { misuse_is_named, "misuse is named" })
