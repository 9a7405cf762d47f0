/* test_wgmma: multiplications by a warpgroup: layouts of shared memory, every type, and what is found when they are misused. */
#include "wgmma_machine.h"
#include "unit/mma.h"
#include "unit/smem_desc.h"

#define GO "wgmma.fence.sync.aligned;\n"
#define WAIT "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"

static char text[60000];

/* `before` and `after`: lines around the multiplication. */
static struct machine try_with(const struct trial *t, const char *before, const char *after)
{
    char *at = say_to(write_prologue(text, t), "%s", before);
    at = say_to(write_mma(at, t), "%s", after);
    write_results(at, t);
    return run_text(t, text);
}

static void expect_product(const struct trial *t)
{
    struct machine x = try_with(t, GO, WAIT);
    expect_ok(&x);
    int wrong = wrong_elements(t, &x, 1);
    if (wrong || x.fault)
        printf("  %d wrong: %s.%s.%s n %d spans %d %d trans %d %d rs %d negate %d %d overwrite %d offset %d\n", wrong, t->d, t->a->name,
               t->b->name, t->n, t->a_span, t->b_span, t->ta, t->tb, t->rs, t->negate_a, t->negate_b, t->overwrite, t->k_offset);
    CHECK_EQ(wrong, 0);
    machine_close(&x);
}

static const int spans[] = { 0, 32, 64, 128 };

static void addresses_are_those_of_the_figures(void)
{
    static const int widths[] = { 8, 16, 32 };
    for (int i = 0; i < 4; i++)
        for (int w = 0; w < 3; w++)
            for (int major = 0; major < (widths[w] == 16 ? 2 : 1); major++) {
                struct strides s = strides_of(spans[i], major, 128, 2);
                struct smem_desc d = smem_desc_wgmma(descriptor_of(0x2400, spans[i], s));
                struct smem_tile t = { .rows = 128, .k = 256u / (uint32_t)widths[w], .bytes = (uint32_t)widths[w] / 8, .mn_major = major };
                int wrong = 0;
                for (uint32_t mn = 0; mn < t.rows; mn++)
                    for (uint32_t k = 0; k < t.k; k++)
                        wrong += smem_element(&d, &t, mn, k) !=
                                 0x2400 + (uint32_t)naive_offset(spans[i], major, s, widths[w], (int)mn, (int)k);
                CHECK_EQ(wrong, 0);
            }
}

static void every_type_multiplies(void)
{
    static const struct { const char *d; const struct number *a, *b; int most; } types[] = {
        { "f32", &F16, &F16, 256 }, { "f16", &F16, &F16, 256 }, { "f32", &BF16, &BF16, 256 }, { "f32", &TF32, &TF32, 256 },
        { "f32", &E4M3, &E4M3, 256 }, { "f32", &E5M2, &E4M3, 256 }, { "f16", &E4M3, &E5M2, 256 }, { "f32", &E5M2, &E5M2, 256 },
        { "s32", &S8, &S8, 224 }, { "s32", &U8, &U8, 224 }, { "s32", &S8, &U8, 224 }, { "s32", &U8, &S8, 224 }, { "s32", &B1, &B1, 256 },
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const int ns[] = { 8, 24, 96, types[i].most };
        for (int n = 0; n < 4; n++)
            for (int rs = 0; rs < 2; rs++)
                expect_product(&(struct trial){ .d = types[i].d, .a = types[i].a, .b = types[i].b, .n = ns[n], .a_span = 128,
                                                .b_span = spans[(n + rs) % 4], .rs = rs, .overwrite = n == 2 });
    }
}

static void every_n_multiplies(void)
{
    for (int n = 8; n <= 256; n += 8)
        expect_product(&(struct trial){ .d = "f32", .a = &F16, .b = &F16, .n = n, .a_span = 64, .b_span = 128 });
}

static void every_layout_is_read(void)
{
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int major = 0; major < 4; major++)
                expect_product(&(struct trial){ .d = "f32", .a = &F16, .b = &F16, .n = a == b ? 128 : 64, .a_span = spans[a],
                                                .b_span = spans[b], .ta = major & 1, .tb = major & 2 });
    for (int b = 0; b < 4; b++)
        expect_product(&(struct trial){ .d = "f32", .a = &BF16, .b = &BF16, .n = 192, .b_span = spans[b], .tb = true, .rs = true });
    for (int offset = 32; offset < 128; offset += 32)           /* further along k in the same rows */
        expect_product(&(struct trial){ .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128, .k_offset = offset });
}

static void sparse_a_multiplies(void)
{
    static const struct { const char *d; const struct number *a, *b; int most; } types[] = {
        { "f32", &F16, &F16, 256 }, { "f16", &F16, &F16, 256 }, { "f32", &BF16, &BF16, 256 }, { "f32", &TF32, &TF32, 256 },
        { "f32", &E4M3, &E4M3, 256 }, { "f32", &E5M2, &E4M3, 256 }, { "f16", &E4M3, &E5M2, 256 }, { "f16", &E5M2, &E5M2, 256 },
        { "s32", &S8, &S8, 256 }, { "s32", &U8, &U8, 240 }, { "s32", &S8, &U8, 224 }, { "s32", &U8, &S8, 256 },
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const int ns[] = { 8, 24, 96, types[i].most }, wide[] = { 0, 64, 128 };
        for (int n = 0; n < 4; n++)
            for (int way = 0; way < 4; way++)
                expect_product(&(struct trial){ .d = types[i].d, .a = types[i].a, .b = types[i].b, .n = ns[n], .a_span = spans[(n + way) % 4],
                                                .b_span = wide[(n + way) % 3], .rs = way & 1, .overwrite = n == 2, .sparse = true,
                                                .selector = types[i].a->bits == 8 ? 0 : way / 2, .satfinite = n == 1 && types[i].a == &U8 });
    }
}

static void sparse_a_is_read_in_every_layout(void)
{
    static const int wide[] = { 0, 64, 128 };       /* 64 bytes of k fit in no row of 32 */
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 3; b++)
                for (int major = 0; major < 4; major++)
                    expect_product(&(struct trial){ .d = "f32", .a = i ? &BF16 : &F16, .b = i ? &BF16 : &F16, .n = 128, .a_span = spans[a],
                                                    .b_span = major & 2 ? spans[a] : wide[b], .ta = major & 1, .tb = major & 2, .sparse = true,
                                                    .selector = b % 2, .negate_a = i });
}

static void immediates_negate(void)
{
    static const struct number *const types[] = { &F16, &BF16, &TF32, &E4M3, &E5M2 };
    for (int i = 0; i < 5; i++)
        for (int sign = 1; sign < 4; sign++)
            expect_product(&(struct trial){ .d = "f32", .a = types[i], .b = types[i], .n = 40, .a_span = 32, .b_span = 32,
                                            .negate_a = sign & 1, .negate_b = sign & 2, .rs = sign == 3 });
}

/* One element of A is not zero, then one of B: each must reach its own row, its own column. */
static void a_single_one_reaches_its_row_and_column(void)
{
    struct trial t = { .d = "s32", .a = &S8, .b = &S8, .n = 64, .a_span = 128, .b_span = 64 };
    struct machine x = try_with(&t, GO, WAIT);
    expect_ok(&x);
    CHECK_EQ(wrong_elements(&t, &x, 1), 0);
    CHECK(wrong_elements(&t, &x, 2) > 3000);                    /* the checker can fail */
    machine_close(&x);
}

/* One row of A against one column of B by hand: 1 - 1 + 2^-small is that last term, if its bits are within those kept
 * below the largest. Written over A and B in shared memory; all else is zero. */
static uint32_t small_term(const struct number *x, const char *d, const char *one, const char *minus, const char *a, const char *b)
{
    struct trial t = { .d = d, .a = x, .b = x, .n = 8, .a_span = 0, .b_span = 0, .overwrite = true };
    int step = x->bits / 8;
    char lines[2000];
    snprintf(lines, sizeof lines, "mov.u32 %%r30, 0; mov.u32 %%r31, s; shl.b32 %%r32, %%r1, 4; add.u32 %%r32, %%r32, %%r31;\n"
             "st.shared.v4.u32 [%%r32], {%%r30, %%r30, %%r30, %%r30}; st.shared.v4.u32 [%%r32+8192], {%%r30, %%r30, %%r30, %%r30}; bar.sync 0;\n"
             "mov.u16 %%h1, %s; mov.u16 %%h2, %s; mov.u16 %%h3, %s; mov.u16 %%h4, %s;\n"
             "st.shared.b%d [s], %%h1; st.shared.b%d [s+%d], %%h2; st.shared.b%d [s+%d], %%h3;\n"
             "st.shared.b%d [s+8192], %%h1; st.shared.b%d [s+%d], %%h1; st.shared.b%d [s+%d], %%h4; fence.proxy.async; bar.sync 0;\n" GO,
             one, minus, a, b, x->bits, x->bits, step, x->bits, 2 * step, x->bits, x->bits, B_AT + step, x->bits, B_AT + 2 * step);
    struct machine m = try_with(&t, lines, WAIT);
    expect_ok(&m);
    uint32_t got = word(m.a, 0);
    machine_close(&m);
    return got;
}

/* 25 bits for 16-bit types, 13 for fp8: as measured. */
static void terms_below_the_kept_bits_are_cut_off(void)
{
    CHECK_EQ(small_term(&F16, "f32", "0x3c00", "0xbc00", "0x0c00", "0x0800"), 0x33000000);      /* 2^-12 * 2^-13 */
    CHECK_EQ(small_term(&F16, "f32", "0x3c00", "0xbc00", "0x0800", "0x0800"), 0);               /* 2^-26 */
    CHECK_EQ(small_term(&E4M3, "f32", "0x38", "0xb8", "0x08", "0x04"), 0x39000000);             /* 2^-6 * 2^-7 */
    CHECK_EQ(small_term(&E4M3, "f32", "0x38", "0xb8", "0x04", "0x04"), 0);                      /* 2^-14 */
}

/* ---- several at once */

static void a_chain_adds_up(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 256, .a_span = 128, .b_span = 128 };
    char *at = say_to(write_prologue(text, &t), GO);
    for (int i = 0; i < 4; i++)
        at = say_to(write_mma(at, &t), i % 2 ? WAIT : "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;\n");
    write_results(at, &t);
    struct machine x = run_text(&t, text);
    expect_ok(&x);
    CHECK_EQ(wrong_elements(&t, &x, 4), 0);
    machine_close(&x);
}

static void warps_may_come_at_different_times(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128 };
    struct machine x = try_with(&t, "shr.u32 %r40, %r1, 5; mul.lo.u32 %r40, %r40, 3000; add.u32 %r40, %r40, 1;\n"
                                "late: sub.u32 %r40, %r40, 1; setp.ne.u32 %p3, %r40, 0; @%p3 bra late;\n" GO, WAIT);
    expect_ok(&x);
    CHECK_EQ(wrong_elements(&t, &x, 1), 0);
    machine_close(&x);
}

static void a_multiplication_takes_its_time(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 256, .a_span = 128, .b_span = 128 };
    struct machine x = try_with(&t, GO "mov.u32 %r50, %clock;\n", WAIT "mov.u32 %r51, %clock; sub.u32 d0, %r51, %r50;\n");
    expect_ok(&x);
    CHECK(word(x.a, 0) >= 129 && word(x.a, 0) < 400);
    machine_close(&x);
}

static void expect_fault(const struct trial *t, const char *before, const char *after, enum fault_id fault, const char *says)
{
    struct machine x = try_with(t, before, after);
    CHECK_EQ(x.fault, fault);
    expect_said(&x, says);
    machine_close(&x);
}

/* What nobody waited for must not be read, be the hardware done or not. */
static void a_missing_wait_is_named(void)
{
    static const char *const instead[] = { "", "wgmma.commit_group.sync.aligned;\n",
                                           "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;\n" };
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128 };
    for (int i = 0; i < 3; i++)
        expect_fault(&t, GO, instead[i], FAULT_WGMMA, "this reads register d.0 of the wgmma.mma_async at");
    expect_fault(&t, GO, "wgmma.commit_group.sync.aligned; mov.u32 %r40, 3000; late: sub.u32 %r40, %r40, 1; setp.ne.u32 %p3, %r40, 0; @%p3 bra late;\n",
                 FAULT_WGMMA, "this reads register d.0 of the wgmma.mma_async at");
}

/* Another shape on the accumulators of one that was not waited for; A that it is to read from them. */
static void only_the_same_shape_may_follow(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128 }, narrow = t;
    narrow.n = 32;
    for (int i = 0; i < 3; i++) {
        char *at = say_to(write_prologue(text, &t), GO);
        at = write_mma(at, &narrow);
        at = say_to(at, "%s", i == 0 ? "" : i == 1 ? WAIT : WAIT GO);
        at = say_to(write_mma(at, &t), WAIT);
        struct machine x = run_text(&t, text);
        CHECK_EQ(x.fault, i == 0 ? FAULT_WGMMA : FAULT_NONE);
        expect_said(&x, i == 0 ? "this writes register d.0 of the wgmma.mma_async at" : "");
        machine_close(&x);
    }
}

/* ---- misuse */

static void misuse_is_named(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128 }, rs = t, plain = t;
    rs.rs = true;
    plain.b_span = 0;
    expect_fault(&t, "", WAIT, FAULT_WGMMA, "no wgmma.fence was executed");
    expect_fault(&t, GO, "mov.b32 d3, 0;" WAIT, FAULT_WGMMA, "this writes register d.3 of the wgmma.mma_async at");
    expect_fault(&rs, GO, "mov.b32 a2, 0;" WAIT, FAULT_WGMMA, "this writes register a.2 of the wgmma.mma_async at");
    expect_fault(&rs, GO "add.u32 a1, a1, 1;", WAIT, FAULT_WGMMA, "register a.1 was written at");
    expect_fault(&rs, GO "@!keep add.u32 a1, a1, 1;", WAIT, FAULT_NONE, "");
    expect_fault(&t, GO "add.u64 %rd31, %rd31, 8;", WAIT, FAULT_NONE, "that is 1 rows behind a multiple of 1024");
    expect_fault(&t, GO "add.u64 %rd32, %rd32, 7;", WAIT, FAULT_BAD_OPERAND, "run past the row's end");
    expect_fault(&t, GO "add.u64 %rd32, %rd32, 2048;", WAIT, FAULT_OUT_OF_BOUNDS, "the tile of B");
    expect_fault(&plain, GO "or.b64 %rd32, %rd32, 0x2000000000000;", WAIT, FAULT_BAD_OPERAND, "base offset 1");
    expect_fault(&t, GO "or.b64 %rd31, %rd31, 0x100000000000000;", WAIT, FAULT_BAD_OPERAND, "must be zero");
    expect_fault(&t, GO "setp.lt.u32 %p3, %r1, 64; @%p3 add.u64 %rd32, %rd32, 2;", WAIT, FAULT_BAD_OPERAND, "in another warp");
    expect_fault(&t, GO "setp.eq.u32 %p3, %r1, 5; @%p3 add.u64 %rd32, %rd32, 2;", WAIT, FAULT_BAD_OPERAND, "differs between lanes");
    expect_fault(&t, GO "setp.eq.u32 %p3, %r1, 5; @%p3 exit;", WAIT, FAULT_NONE, "");
    expect_fault(&t, GO "setp.eq.u32 %p3, %r1, 0; @%p3 exit;", WAIT, FAULT_NONE, "");
    expect_fault(&t, GO "setp.lt.u32 keep, %r1, 5;", WAIT, FAULT_BAD_OPERAND, "scale-d is true in lanes");
    expect_fault(&t, GO "setp.lt.u32 keep, %r1, 32;", WAIT, FAULT_BAD_OPERAND, "not so in another warp");
    expect_fault(&t, GO "setp.lt.u32 %p3, %r1, 32; @%p3 bra skip;", "skip:" WAIT, FAULT_HANG, "wgmma.wait_group 0");
}

static void misuse_of_sparse_a_is_named(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128, .sparse = true };
    expect_fault(&t, GO "setp.eq.u32 %p3, %r1, 73; @%p3 mov.u32 meta, 0x44444744;", WAIT, FAULT_NONE, "");
    expect_fault(&t, GO "setp.eq.u32 %p3, %r1, 73; @%p3 mov.u32 meta, 0x44444544;", WAIT, FAULT_BAD_OPERAND, "metadata 0x5 for row 34, columns 24 to 27");
    struct trial third = t, narrow = t, tf32 = t;
    third.selector = 2;
    narrow.b_span = 32;
    tf32.a = tf32.b = &TF32;
    expect_fault(&third, GO, WAIT, FAULT_BAD_OPERAND, "the sparsity selector is 2, and must be below 2");
    expect_fault(&narrow, GO, WAIT, FAULT_BAD_OPERAND, "64 bytes run past the row's end");
    expect_fault(&tf32, GO "mov.u32 meta, 0x44444144;", WAIT, FAULT_BAD_OPERAND, "metadata 0x1 for row 0, columns 4 to 5");
}

static void new_accumulators_need_a_fence(void)
{
    struct trial t = { .d = "f32", .a = &F16, .b = &F16, .n = 64, .a_span = 128, .b_span = 128 };
    static const struct { const char *between; enum fault_id fault; } rows[] = {
        { "add.u32 d7, d7, 1;" GO, FAULT_NONE }, { "", FAULT_NONE }, { "add.u32 d7, d7, 1;", FAULT_WGMMA },
        { "mov.u32 %r40, d7;", FAULT_NONE }, { "mov.b32 d7, 0;", FAULT_NONE },  /* moves: ptxas puts them before the fence */
    };
    for (int i = 0; i < 5; i++) {
        char *at = say_to(write_prologue(text, &t), GO);
        at = say_to(write_mma(at, &t), WAIT "%s", rows[i].between);
        at = say_to(write_mma(at, &t), WAIT);
        write_results(at, &t);
        struct machine x = run_text(&t, text);
        CHECK_EQ(x.fault, rows[i].fault);
        machine_close(&x);
    }
}

static void a_small_cta_has_no_warpgroup(void)
{
    struct machine x = machine("", "wgmma.fence.sync.aligned;");
    run(&x, 1, 96, 0);
    CHECK_EQ(x.fault, FAULT_NOT_CONVERGED);
    expect_said(&x, "four consecutive warps");
    machine_close(&x);
}

static void other_forms_are_refused(void)
{
#define OP "wgmma.mma_async.sync.aligned."
#define SP "wgmma.mma_async.sp.sync.aligned."
#define F4 "{%f0, %f1, %f2, %f3}"
#define R4 "{%r10, %r11, %r12, %r13}"
    static const char *const refused[] = {
        OP "m64n12k16.f32.f16.f16 " F4 ", %rd0, %rd1, %p0, 1, 1, 0, 0;",       OP "m64n8k16.f32.f16.bf16 " F4 ", %rd0, %rd1, %p0, 1, 1, 0, 0;",
        OP "m64n8k16.f32.f16.f16 {%f0, %f1}, %rd0, %rd1, %p0, 1, 1, 0, 0;",     OP "m64n8k16.f32.f16.f16 " F4 ", %rd0, %rd1, %p0, 1, 2, 0, 0;",
        OP "m64n8k16.f32.f16.f16 " F4 ", %rd0, %rd1, %p0, 1, 1;",              OP "m64n8k8.f32.tf32.tf32 " F4 ", %rd0, %rd1, %p0, 1, 1, 0, 0;",
        OP "m64n8k16.f32.f16.f16 " F4 ", %rd0, %rd1, %p0, 1, 1, %r10, 0;",     OP "m64n8k16.f32.f16.f16 " F4 ", " R4 ", %rd1, %p0, 1, 1, 0, 0;",
        OP "m64n8k16.s32.s8.s8 " R4 ", %rd0, %rd1, %p0;",                      OP "m64n8k256.s32.b1.b1.xor.popc " R4 ", %rd0, %rd1, %p0;",
        OP "m64n8k8.f16.tf32.tf32 {%r10, %r11}, %rd0, %rd1, %p0, 1, 1;",       "wgmma.wait_group.sync.aligned %r10;",
        SP "m64n8k16.f32.f16.f16 " F4 ", %rd0, %rd1, %r10, 0, %p0, 1, 1, 0, 0;", SP "m64n8k32.f32.f16.f16 " F4 ", %rd0, %rd1, %p0, 1, 1, 0, 0;",
        SP "m64n8k32.f32.f16.f16 " F4 ", %rd0, %rd1, %r10, %r11, %p0, 1, 1, 0, 0;", SP "m64n8k512.s32.b1.b1.and.popc " R4 ", %rd0, %rd1, %r10, 0, %p0;",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct machine x = machine_for("h200", "sm_90a", "", refused[i]);
        CHECK(!x.m);
        machine_close(&x);
    }
    struct machine x = machine_for("h200", "sm_90a", "", OP "m64n8k16.f32.f16.f16 " F4 ", %rd0, %rd1, 1, 1, 1, 0, 0;");
    CHECK_STR(x.said, "");
    machine_close(&x);
}

TESTS({ addresses_are_those_of_the_figures, "descriptors: addresses are those of the ISA's figures" },
      { every_type_multiplies, "every type multiplies, from shared memory and from registers" },
      { every_n_multiplies, "every n multiplies" },
      { every_layout_is_read, "every swizzle in both majors is read" },
      { sparse_a_multiplies, "sparse A: every type multiplies" },
      { sparse_a_is_read_in_every_layout, "sparse A: every swizzle in both majors is read" },
      { misuse_of_sparse_a_is_named, "sparse A: metadata, selectors and layouts that there are not are named" },
      { immediates_negate, "immediates negate A and B" },
      { a_single_one_reaches_its_row_and_column, "a wrong product is noticed" },
      { terms_below_the_kept_bits_are_cut_off, "terms below the kept bits are cut off" },
      { a_chain_adds_up, "a chain of multiplications adds up" },
      { warps_may_come_at_different_times, "the four warps may come at different times" },
      { a_multiplication_takes_its_time, "a multiplication takes its time" },
      { a_missing_wait_is_named, "a missing wait is named" },
      { only_the_same_shape_may_follow, "only the same shape may follow on the same accumulators" },
      { misuse_is_named, "misuse is named" },
      { new_accumulators_need_a_fence, "new accumulators need a fence" },
      { a_small_cta_has_no_warpgroup, "a small CTA has no warpgroup" },
      { other_forms_are_refused, "forms that do not exist are refused" })
