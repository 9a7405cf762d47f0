/* test_tcgen05_ldst: registers and tensor memory: every shape, count and packing of tcgen05.ld and st, against the maps that
 * z_utils/z_layout.h has for programs, and what is found when they are misused. */
#include "tcgen05_machine.h"
#include "z_layout.h"

static char text[200000];
static const struct tc_trial ANY = { .kind = "f16", .d = "s32", .a = &F16, .b = &F16, .m = 128, .n = 64 };

static const struct { enum tmem_shape shape; const char *name; int registers, lanes; } shapes[] = {
    { TMEM_32X32B, "32x32b", 1, 32 }, { TMEM_16X64B, "16x64b", 1, 16 }, { TMEM_16X128B, "16x128b", 2, 16 },
    { TMEM_16X256B, "16x256b", 4, 16 }, { TMEM_16X32BX2, "16x32bx2", 1, 16 },
};
enum { WHO = 1 };                           /* warp that loads or stores */

/* Where the second half of 16x32bx2 begins; the first column, not 0 where there is room. */
static int half_offset(int num) { return num == 128 ? 256 : 200; }
static int first_column(int s, int num) { return shapes[s].registers * num == 128 ? 0 : 40; }

/* Up to tensor memory holding 65536 * lane + column everywhere. */
static char *write_numbers(char *at)
{
    at = say_to(at, "%s", ".reg .b32 d<128>;\n" TC_PROLOGUE);
    at = say_to(say_to(at, TC_ALLOC, 1), "%s", TC_ADDRESS "shl.b32 %r30, %r1, 16;\n");
    for (int c = 0; c < COLUMNS; c += 32) {
        for (int i = 0; i < 32; i++)
            at = say_to(at, "add.u32 d%d, %%r30, %d;%s", i, c + i, i % 8 == 7 ? "\n" : " ");
        at = say_to(list(say_to(at, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%%r16+%d], ", c), "d", 32), "; tcgen05.wait::st.sync.aligned;\n");
    }
    return say_to(at, TC_BEFORE "bar.sync 0;\n" TC_AFTER "setp.eq.u32 %%p4, %%r15, 0x%x;\n", WHO << 21);
}

static struct machine run_moves(const char *text)
{
    return tc_run(&ANY, text);
}

/* Where register r of lane t must come from: lane, column; and the packed one's second column is one more. */
static void place(int s, int num, int packed, int t, int r, int lane0, int *lane, int *column)
{
    int col = tmem_ld_col(shapes[s].shape, t, r);
    *lane = WHO * 32 + lane0 + tmem_ld_lane(shapes[s].shape, t, r);
    *column = first_column(s, num) + (packed ? 2 * col : col) + (shapes[s].shape == TMEM_16X32BX2 && t >= 16 ? half_offset(num) : 0);
}

static const char *half_of(int s, int num) { return shapes[s].shape != TMEM_16X32BX2 ? "" : num == 128 ? ", 256" : ", 200"; }

static void load_shape(int s, int num, int packed, int lane0)
{
    int n = shapes[s].registers * num, wrong = 0;
    char *at = write_numbers(text);
    at = say_to(at, "@!%%p4 bra done;\ntcgen05.ld.sync.aligned.%s.x%d%s.b32 ", shapes[s].name, num, packed ? ".pack::16b" : "");
    at = say_to(list(at, "d", n), ", [%%r16+%d]%s; tcgen05.wait::ld.sync.aligned;\n", lane0 << 16 | first_column(s, num), half_of(s, num));
    for (int r = 0; r < n; r++)
        at = say_to(at, "st.global.u32 [%%rd40+%d], d%d;\n", 4 * r, r);
    say_to(say_to(at, "done: bar.sync 0;\n"), TC_DEALLOC, 1);
    struct machine x = run_moves(text);
    expect_ok(&x);
    for (int t = 0; t < 32; t++)
        for (int r = 0; r < n; r++) {
            int lane, column;
            place(s, num, packed, t, r, lane0, &lane, &column);
            uint32_t want = packed ? (uint32_t)(column & 0xffff) | (uint32_t)(column + 1) << 16 : (uint32_t)(lane << 16 | column);
            wrong += word(x.a, (uint32_t)((WHO * 32 + t) * COLUMNS + r)) != want;
        }
    CHECK_EQ(wrong, 0);
    if (wrong)
        printf("  ld.%s.x%d packed %d lane %d\n", shapes[s].name, num, packed, lane0);
    machine_close(&x);
}

/* Stores 0xabcd0000 + thread * 128 + register (packed: two halves, 1000 + … and register). All other cells keep their numbers. */
static void store_shape(int s, int num, int packed, int lane0)
{
    static uint32_t want[LANES_ALL][COLUMNS];
    int n = shapes[s].registers * num, wrong = 0;
    char *at = write_numbers(text);
    at = say_to(at, "@!%%p4 bra done;\nand.b32 %%r31, %%r1, 31; shl.b32 %%r31, %%r31, 7; add.u32 %%r31, %%r31, 0xabcd0000;\n");
    for (int r = 0; r < n; r++)
        at = say_to(at, "add.u32 d%d, %%r31, %d;\n", r, r);
    at = say_to(at, "tcgen05.st.sync.aligned.%s.x%d%s.b32 [%%r16+%d]%s, ", shapes[s].name, num, packed ? ".unpack::16b" : "", lane0 << 16 | first_column(s, num), half_of(s, num));
    at = say_to(list(at, "d", n), "; tcgen05.wait::st.sync.aligned;\ndone: " TC_BEFORE "bar.sync 0;\n" TC_AFTER);
    write_tc_results(at, &ANY);
    struct machine x = run_moves(text);
    expect_ok(&x);
    for (int lane = 0; lane < LANES_ALL; lane++)
        for (int column = 0; column < COLUMNS; column++)
            want[lane][column] = (uint32_t)(lane << 16 | column);
    for (int t = 0; t < 32; t++)
        for (int r = 0; r < n; r++) {
            int lane, column;
            uint32_t value = 0xabcd0000u + (uint32_t)(t * 128 + r);
            place(s, num, packed, t, r, lane0, &lane, &column);
            want[lane][column] = packed ? value & 0xffff : value;
            if (packed)
                want[lane][column + 1] = value >> 16;
        }
    for (uint32_t i = 0; i < LANES_ALL * COLUMNS; i++)
        wrong += word(x.a, i) != want[i / COLUMNS][i % COLUMNS];
    CHECK_EQ(wrong, 0);
    if (wrong)
        printf("  %d wrong: st.%s.x%d packed %d lane %d\n", wrong, shapes[s].name, num, packed, lane0);
    machine_close(&x);
}

static void every_shape(void (*move)(int s, int num, int packed, int lane0))
{
    for (int s = 0; s < 5; s++)
        for (int num = 1; num * shapes[s].registers <= 128; num *= 2)
            for (int packed = 0; packed < 2; packed++)
                move(s, num, packed, shapes[s].lanes == 16 && num % 4 ? 16 : 0);
}

static void every_load_reads_its_cells(void) { every_shape(load_shape); }
static void every_store_writes_its_cells(void) { every_shape(store_shape); }

static void every_map_is_a_bijection(void)
{
    for (int s = 0; s < 4; s++)
        for (int num = 1; num * shapes[s].registers <= 128; num *= 2) {
            static uint8_t seen[32][COLUMNS];
            int n = num * shapes[s].registers, twice = 0, outside = 0;
            memset(seen, 0, sizeof seen);
            for (int t = 0; t < 32; t++)
                for (int r = 0; r < n; r++) {
                    int lane = tmem_ld_lane(shapes[s].shape, t, r), col = tmem_ld_col(shapes[s].shape, t, r);
                    outside += lane >= shapes[s].lanes || col * shapes[s].lanes >= 32 * n;
                    twice += seen[lane][col]++;
                }
            CHECK_EQ(twice + outside, 0);
        }
}

/* sm_103: the least and the greatest of each thread's registers. Lane i holds 65536 * i + column. */
static void loads_reduce(void)
{
    static const struct { const char *form; uint32_t want_columns[2]; } rows[] = {
        { "32x32b.x4.max.u32 {d0, d1, d2, d3}, d9, [%r16+40];", { 43, 43 } }, { "32x32b.x4.min.u32 {d0, d1, d2, d3}, d9, [%r16+40];", { 40, 40 } },
        { "16x32bx2.x2.max.s32 {d0, d1}, d9, [%r16+40], 100;", { 41, 141 } }, { "32x32b.x2.min.f32 {d0, d1}, d9, [%r16+40];", { 40, 40 } },
        { "32x32b.x2.max.abs.NaN.f32 {d0, d1}, d9, [%r16+40];", { 41, 41 } },
    };
    for (int i = 0; i < 5; i++) {
        char *at = write_numbers(text);
        at = say_to(at, "@!%%p4 bra done;\ntcgen05.ld.red.sync.aligned.%s tcgen05.wait::ld.sync.aligned; st.global.u32 [%%rd40], d9;\n", rows[i].form);
        say_to(say_to(at, "done: bar.sync 0;\n"), TC_DEALLOC, 1);
        struct machine x = tc_run_on("b300", "sm_103a", &ANY, text);
        if (!x.m) {
            CHECK_STR(x.said, "");
            continue;
        }
        expect_ok(&x);
        int wrong = 0;
        for (uint32_t t = 0; t < 32; t++) {
            bool two = strstr(rows[i].form, "bx2");
            wrong += word(x.a, (WHO * 32 + t) * COLUMNS) != ((WHO * 32 + (two ? t % 16 : t)) << 16 | rows[i].want_columns[t >= 16]);
        }
        CHECK_EQ(wrong, 0);
        machine_close(&x);
    }
}

static void expect_fault(const char *lines, enum fault_id fault, const char *says)
{
    say_to(say_to(write_numbers(text), "%s\n", lines), TC_DEALLOC, 1);
    struct machine x = run_moves(text);
    if (!x.m) {
        CHECK_STR(x.said, "");
        return;
    }
    CHECK_EQ(x.fault, fault);
    expect_said(&x, says);
    machine_close(&x);
}

#define LD4 "tcgen05.ld.sync.aligned.32x32b.x4.b32 {d0, d1, d2, d3}, "
#define ST4 "tcgen05.st.sync.aligned.32x32b.x4.b32 "
static void misuse_is_named(void)
{
    expect_fault("@!%p2 " LD4 "[%r14];", FAULT_TMEM, "warp 1 reaches lanes 32 to 63");
    expect_fault(LD4 "[%r16+0x100000];", FAULT_TMEM, "so that it must be 0");
    expect_fault(LD4 "[%r16+510];", FAULT_TMEM, "needs columns 510 to 513; there are 512");
    expect_fault("add.u32 %r16, %r16, %r1;" LD4 "[%r16];", FAULT_BAD_OPERAND, "in lane 0");
    expect_fault(LD4 "[%r16]; " ST4 "[%r16], {d4, d5, d6, d7};", FAULT_TCGEN05, "tcgen05.wait::ld must come between");
    expect_fault(ST4 "[%r16], {d4, d5, d6, d7};" LD4 "[%r16+2];", FAULT_TCGEN05, "tcgen05.wait::st must come between");
    expect_fault("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 512;", FAULT_TCGEN05, "has no peer");
    expect_fault("bar.sync 0; @%p2 " "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 256;", FAULT_TMEM, "256 columns from 0 on; the allocation there has 512");
    expect_fault("bar.sync 0; @%p2 " "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 512;", FAULT_TMEM, "column 0 is not allocated");
    expect_fault("bar.sync 0; @%p2 " "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 512; bar.sync 0;" LD4 "[%r16];", FAULT_TMEM, "is not allocated");
    expect_fault(LD4 "[%r16];", FAULT_TCGEN05, "tcgen05.wait::ld must come between");
    expect_fault("ret;", FAULT_TMEM, "has exited without giving back 512 columns");
    expect_fault("@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+49160], 512;", FAULT_HANG, "columns 0 to 511 belong to CTA (0,0,0)");
    expect_fault("@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+49160], 48;", FAULT_TMEM, "48 columns: it must be 32, 64");
    expect_fault("@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+49160], 32;",
                 FAULT_TMEM, "given up the right to allocate");
    expect_fault("setp.lt.u32 %p7, %r1, 16; @%p7 " LD4 "[%r16];", FAULT_NOT_CONVERGED, "");
}

/* ld, used without its wait: each use waits for its value, here a hundred loads on end and the sum of all; then away with it. */
static void registers_are_used_without_a_wait(void)
{
    char *at = say_to(write_numbers(text), "mov.u32 %%r20, 0; mov.u32 %%r21, 0;\n"
                      "again: add.u32 %%r22, %%r16, %%r21; " LD4 "[%%r22]; add.u32 %%r21, %%r21, 1; add.u32 d0, d0, d1; add.u32 d2, d2, d3;\n"
                      "add.u32 %%r20, %%r20, d0; add.u32 %%r20, %%r20, d2; setp.lt.u32 %%p7, %%r21, 100; @%%p7 bra again;\n"
                      "st.global.u32 [%%rd40], %%r20; bar.sync 0;\n");
    say_to(at, TC_DEALLOC, 1);
    struct machine x = run_moves(text);
    if (!x.m) {
        CHECK_STR(x.said, "");
        return;
    }
    CHECK_EQ(x.fault, FAULT_NONE);
    expect_said(&x, "note: ");
    expect_said(&x, "is used at");
    int wrong = 0;
    for (uint32_t lane = 0; lane < LANES_ALL; lane++)           /* cells are lane << 16 | column; columns i to i + 3 at a time */
        wrong += word(x.a, lane * COLUMNS) != 400 * (lane << 16) + 4 * (99 * 100 / 2) + 6 * 100;
    CHECK_EQ(wrong, 0);
    machine_close(&x);
}

static void sizes_do_not_grow(void)
{
    say_to(say_to(text, "%s", TC_PROLOGUE), "@%%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+49160], 32;"
           "@%%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+49160], 64;");
    struct machine x = run_moves(text);
    CHECK_EQ(x.fault, FAULT_TMEM);
    expect_said(&x, "64 columns after an allocation of 32: they must not grow");
    machine_close(&x);
}

static void fresh_columns_hold_nothing(void)
{
    char *at = say_to(say_to(text, "%s", ".reg .b32 d<128>;\n" TC_PROLOGUE), TC_ALLOC, 1);
    say_to(at, "%s", TC_ADDRESS LD4 "[%r16]; tcgen05.wait::ld.sync.aligned;");
    struct machine x = run_moves(text);
    CHECK_EQ(x.fault, FAULT_UNINITIALIZED);
    expect_said(&x, "nothing has written column 0 of tensor memory, which register 0 is to hold");
    machine_close(&x);
}

/* Eight CTAs on an SM, each wanting half of it, two at a time. */
static void columns_are_shared_among_ctas(void)
{
    struct machine x = machine_for("b200", "sm_100a", ".shared .align 16 .b8 s[16];",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 256; ld.shared.u32 %r10, [s]; mul.wide.u32 %rd10, %r2, 4; add.u64 %rd10, %rd10, %rd0; st.global.u32 [%rd10], %r10;\n"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r3}; tcgen05.wait::st.sync.aligned; mov.u32 %r20, 0;\n"
        "again: add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 3000; @%p1 bra again;\n"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r11}, [%r10]; tcgen05.wait::ld.sync.aligned; setp.ne.u32 %p0, %r11, %r3; @%p0 trap;\n"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 256;");
    CHECK_STR(x.said, "");
    run(&x, 148 * 8, 32, 0);
    expect_ok(&x);
    int halves[2] = { 0 };
    for (uint32_t i = 0; i < 148 * 8; i++)
        halves[word(x.a, i) == 256]++;
    CHECK(halves[0] > 0 && halves[1] > 0);
    machine_close(&x);
}

/* The last warp of a block of 44 threads has 12. */
static void a_part_of_a_warp_allocates(void)
{
    struct machine x = machine_for("b200", "sm_100a", ".shared .align 16 .b8 s[16];",
        "setp.lt.u32 %p1, %r1, 32; @%p1 exit;\n"
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 64; ld.shared.u32 %r10, [s]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;");
    CHECK_STR(x.said, "");
    run(&x, 1, 44, 0);
    expect_ok(&x);
    machine_close(&x);
}

static void other_forms_and_chips_are_refused(void)
{
    static const char *const refused[] = {
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r10}, [%r11];",
        "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r10}, [%r11];",
        "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r10}, [%r11], 4;",
        "tcgen05.st.sync.aligned.16x256b.x1.b32 [%r11], {%r10, %r12};",
        "tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r10}, [%r11];",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r10, %r12}, %r13, [%r11];",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct machine x = machine_for("b200", "sm_100a", "", refused[i]);
        CHECK(!x.m);
        machine_close(&x);
    }
    static const struct { const char *device, *target; } chips[] = { { "h200", "sm_90a" }, { "rtx5090", "sm_120a" }, { "b200", "sm_100" } };
    for (int i = 0; i < 3; i++) {
        struct machine x = machine_for(chips[i].device, chips[i].target, "", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r11];");
        CHECK(!x.m);
        expect_said(&x, "tcgen05.ld needs .target sm_100f");
        machine_close(&x);
    }
}

TESTS({ every_load_reads_its_cells, "every shape, count and packing of ld reads its cells" },
      { every_store_writes_its_cells, "every shape, count and packing of st writes its cells and no others" },
      { loads_reduce, "loads reduce what they load (sm_103)" },
      { every_map_is_a_bijection, "every map is a bijection" },
      { misuse_is_named, "misuse is named" },
      { registers_are_used_without_a_wait, "registers of a load are used without a wait, and are right" },
      { sizes_do_not_grow, "allocations do not grow" },
      { fresh_columns_hold_nothing, "fresh columns hold nothing" },
      { columns_are_shared_among_ctas, "the columns of an SM are shared among its CTAs" },
      { a_part_of_a_warp_allocates, "a warp that is not whole allocates" },
      { other_forms_and_chips_are_refused, "forms and chips that have it not are refused" })
