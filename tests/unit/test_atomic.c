/* test_atomic: atom and red: every operation and type against plain C, and among host threads. */
#include "memory_machine.h"

#include <pthread.h>

/* ------------------------------------------------------------------ one thread, known numbers */

/* a[0] holds `before`; the instruction works on it with operand b (and c); then a[0] must hold `after`, and the register
 * d what was there before. Bits in hexadecimal, as wide as the type. */
static const struct { const char *op, *type; uint32_t bytes; uint64_t before, b, c, after; } cases[] = {
    { "add", "u32", 4, 0xfffffffe, 5, 0, 3 },               { "add", "s32", 4, 7, 0xfffffff7, 0, 0xfffffffe },
    { "add", "u64", 8, 0xffffffff, 1, 0, 0x100000000 },     { "add", "s64", 8, 1, UINT64_MAX, 0, 0 },
    { "and", "b32", 4, 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00 }, { "or", "b32", 4, 0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0 },
    { "xor", "b32", 4, 0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0 }, { "and", "b64", 8, 0xff00ff00ff, 0xf0f0f0f0f0, 0, 0xf000f000f0 },
    { "or", "b64", 8, 0xff00000000, 0xf, 0, 0xff0000000f }, { "xor", "b64", 8, 0xff00000000, 0xf00000000f, 0, 0x0f0000000f },
    { "exch", "b32", 4, 1, 0xdeadbeef, 0, 0xdeadbeef },     { "exch", "b64", 8, 1, 0xdeadbeef00000001, 0, 0xdeadbeef00000001 },
    { "min", "u32", 4, 0x80000000, 1, 0, 1 },               { "min", "s32", 4, 0x80000000, 1, 0, 0x80000000 },
    { "max", "u32", 4, 0x80000000, 1, 0, 0x80000000 },      { "max", "s32", 4, 0x80000000, 1, 0, 1 },
    { "min", "u64", 8, 0x8000000000000000, 1, 0, 1 },       { "min", "s64", 8, 0x8000000000000000, 1, 0, 0x8000000000000000 },
    { "max", "u64", 8, 0x8000000000000000, 1, 0, 0x8000000000000000 }, { "max", "s64", 8, 0x8000000000000000, 1, 0, 1 },
    { "inc", "u32", 4, 6, 7, 0, 7 },    { "inc", "u32", 4, 7, 7, 0, 0 },    { "inc", "u32", 4, 9, 7, 0, 0 },
    { "dec", "u32", 4, 6, 7, 0, 5 },    { "dec", "u32", 4, 0, 7, 0, 7 },    { "dec", "u32", 4, 8, 7, 0, 7 },
    { "cas", "b32", 4, 5, 5, 9, 9 },    { "cas", "b32", 4, 6, 5, 9, 6 },    { "cas", "u64", 8, 5, 5, 0x900000000, 0x900000000 },
    { "cas", "b16", 2, 5, 5, 9, 9 },    { "cas", "b16", 2, 6, 5, 9, 6 },    { "cas", "b64", 8, 6, 5, 9, 6 },
    { "add", "f32", 4, 0x3f800000, 0x40000000, 0, 0x40400000 },         /* 1 + 2 */
    { "add", "f32", 4, 0x3f800000, 0x33800000, 0, 0x3f800000 },         /* 1 + 2^-24: to even */
    { "add", "f32", 4, 0x3f800001, 0x33800000, 0, 0x3f800002 },
    { "add", "f32", 4, 0x7f800000, 0xff800000, 0, 0x7fffffff },         /* infinity - infinity */
    { "add", "f64", 8, 0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000 },
    { "add.noftz", "f16", 2, 0x3c00, 0x4000, 0, 0x4200 },   { "add.noftz", "f16", 2, 0x0001, 0x0001, 0, 0x0002 },   /* subnormal */
    { "add.noftz", "f16", 2, 0x7bff, 0x7bff, 0, 0x7c00 },   { "add.noftz", "bf16", 2, 0x3f80, 0x4000, 0, 0x4040 },
    { "add.noftz", "f16x2", 4, 0x3c004000, 0x40003c00, 0, 0x42004200 }, { "add.noftz", "bf16x2", 4, 0x3f804000, 0x40003f80, 0, 0x40404040 },
};

static const char *register_of(uint32_t bytes) { return bytes == 2 ? "%h" : bytes == 4 ? "%r" : "%rd"; }

/* f32 registers are 32 bits like any other, so the kernel moves bits alone. */
static void run_case(size_t i, const char *space)
{
    char lines[2000], operands[100], dot[] = ".";
    const uint32_t n = cases[i].bytes;
    const char *r = register_of(n);
    int cas = strcmp(cases[i].op, "cas") == 0, shared = strcmp(space, "shared") == 0;
    snprintf(operands, sizeof operands, cas ? "%s21, %s22" : "%s21", r, r);
    snprintf(lines, sizeof lines, "ld.global.b%u %s20, [%%rd0]; ld.global.b%u %s21, [%%rd0+8]; ld.global.b%u %s22, [%%rd0+16]; st.shared.b%u [s], %s20;\n"
             "atom%s%s.%s.%s %s30, [%s], %s; ld.shared.b%u %s31, [s]; st.global.b%u [%%rd1], %s30; st.global.b%u [%%rd1+8], %s31;\n",
             8 * n, r, 8 * n, r, 8 * n, r, 8 * n, r, *space ? dot : "", space, cases[i].op, cases[i].type, r, shared ? "s" : "%rd0", operands,
             8 * n, r, 8 * n, r, 8 * n, r);
    struct machine x = machine(".shared .align 16 .b8 s[16];", lines);
    const uint64_t in[3] = { cases[i].before, cases[i].b, cases[i].c };
    uint64_t d = 0, after = 0;
    mem_to_device(x.g, x.a->addr, in, sizeof in);
    run(&x, 1, 1, 0);
    expect_ok(&x);
    memcpy(&d, x.b->host, n);
    memcpy(&after, shared ? x.b->host + 8 : x.a->host, n);
    if (d != cases[i].before || after != cases[i].after)
        printf("atom.%s.%s.%s case %zu\n", space, cases[i].op, cases[i].type, i);
    CHECK_EQ(d, cases[i].before);
    CHECK_EQ(after, cases[i].after);
    machine_close(&x);
}

static void every_operation_gives_what_it_says(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_case(i, "global");
        run_case(i, "shared");
        run_case(i, "");
    }
}

/* The ISA: sums of f32 flush subnormals in global memory, and keep them in shared memory. */
static void only_global_sums_flush(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[16];", "mov.b32 %r20, 0x00000001; mov.b32 %f20, %r20; mov.b32 %r21, 0x80000001; st.shared.u32 [s], %r20;\n"
        "st.global.u32 [%rd0], %r20; st.global.u32 [%rd0+4], %r21; red.global.add.f32 [%rd0], %f20; mov.b32 %f21, %r21; red.global.add.f32 [%rd0+4], %f21;\n"
        "red.shared.add.f32 [s], %f20; ld.shared.u32 %r22, [s]; st.global.u32 [%rd0+8], %r22;");
    run(&x, 1, 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 0);
    CHECK_EQ(word(x.a, 1), 0x80000000);
    CHECK_EQ(word(x.a, 2), 2);
    machine_close(&x);
}

/* As on an H200 (tests/golden/atomics.txt): global memory hands on the operand's NaN first, as it is; shared memory that of
 * memory first, made quiet. */
static void sums_of_f64_hand_on_nans(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[16];", "mov.u64 %rd20, 0x7ff0000000000001; mov.u64 %rd21, 0x7ff0000000000002; mov.b64 %d0, %rd21;\n"
        "st.global.u64 [%rd0], %rd20; red.global.add.f64 [%rd0], %d0; st.shared.u64 [s], %rd20; red.shared.add.f64 [s], %d0;\n"
        "ld.shared.u64 %rd22, [s]; st.global.u64 [%rd0+8], %rd22;");
    run(&x, 1, 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 2);
    CHECK_EQ(word(x.a, 1), 0x7ff00000);
    CHECK_EQ(word(x.a, 2), 1);
    CHECK_EQ(word(x.a, 3), 0x7ff80000);
    machine_close(&x);
}

static void vectors_update_each_element(void)
{
    struct machine x = machine("", "mul.wide.u32 %rd10, %r1, 64; add.u64 %rd10, %rd10, %rd0; mov.u16 %h0, 0x3c00; mov.u16 %h1, 0x4000; mov.b32 %r20, 0x42003c00;\n"
        "mov.b32 %r21, 0x3f800000; mov.b32 %f0, %r21; mov.b32 %f1, %r21; mov.b32 %f2, %r21; mov.b32 %f3, %r21; mov.u64 %rd11, 0; st.global.v2.u64 [%rd10], {%rd11, %rd11};\n"
        "st.global.v2.u64 [%rd10+16], {%rd11, %rd11}; st.global.v2.u64 [%rd10+32], {%rd11, %rd11}; st.global.v2.u64 [%rd10+48], {%rd11, %rd11};\n"
        "red.global.v4.f32.add [%rd10], {%f0, %f1, %f2, %f3}; atom.global.v4.f32.add {%f0, %f1, %f2, %f3}, [%rd10], {%f3, %f2, %f1, %f0};\n"
        "red.global.v8.f16.max.noftz [%rd10+16], {%h0, %h1, %h0, %h1, %h0, %h1, %h0, %h1};\n"
        "red.global.v2.bf16x2.add.noftz [%rd10+32], {%r20, %r20}; red.global.add.noftz.v4.bf16x2 [%rd10+32], {%r20, %r20, %r20, %r20};\n"
        "red.global.v2.f16x2.min.noftz [%rd10+48], {%r20, %r20}; st.global.f32 [%rd10+60], %f2;");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t v[16];
        memcpy(v, x.a->host + 64 * i, 64);
        for (int e = 0; e < 4; e++)
            CHECK_EQ(v[e], 0x40000000);
        for (int e = 4; e < 8; e++)
            CHECK_EQ(v[e], 0x40003c00);
        CHECK_EQ(v[8], 0x42803c80);                         /* bf16: 32 + 32 above, 2^-7 + 2^-7 below */
        CHECK_EQ(v[10], 0x42003c00);
        CHECK_EQ(v[12], 0);
        CHECK_EQ(v[15], 0x3f800000);                        /* what the second update found */
    }
    machine_close(&x);
}

static void a_128_bit_swap_is_whole(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[16];", "ld.global.b128 %q0, [%rd0]; ld.global.b128 %q1, [%rd0+16]; st.shared.b128 [s], %q0;\n"
        "atom.global.cas.b128 %q2, [%rd0], %q0, %q1; atom.global.cas.b128 %q3, [%rd0], %q0, %q0; st.global.b128 [%rd1], %q2; st.global.b128 [%rd1+16], %q3;\n"
        "atom.shared.exch.b128 %q2, [s], %q1; ld.shared.b128 %q3, [s]; st.global.b128 [%rd1+32], %q2; st.global.b128 [%rd1+48], %q3;");
    uint8_t in[32];
    for (int i = 0; i < 32; i++)
        in[i] = (uint8_t)(i * 17 + 3);
    mem_to_device(x.g, x.a->addr, in, 32);
    run(&x, 1, 1, 0);
    expect_ok(&x);
    CHECK(memcmp(x.a->host, in + 16, 16) == 0);             /* the second swap found something else */
    CHECK(memcmp(x.b->host, in, 32) == 0);
    CHECK(memcmp(x.b->host + 32, in, 32) == 0);
    machine_close(&x);
}

static void lanes_that_meet_all_count(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[16];", "mov.u32 %r20, 0; st.shared.u32 [s], %r20; bar.sync 0; atom.shared.add.u32 %r21, [s], 1; bar.sync 0;\n"
        "ld.shared.u32 %r22, [s]; mul.wide.u32 %rd10, %r21, 4; add.u64 %rd10, %rd10, %rd0; st.global.u32 [%rd10], %r22;\n"
        "setp.lt.u32 %p0, %r1, 100; @%p0 red.global.max.u32 [%rd1], %r1; @%p0 atom.global.add.u32 _, [%rd1+4], 1;");
    mem_fill(x.g, x.b->addr, 0, 1, 64);
    run(&x, 1, 256, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 256; i++)
        CHECK_EQ(word(x.a, i), 256);                        /* each lane got a number of its own */
    CHECK_EQ(word(x.b, 0), 99);
    CHECK_EQ(word(x.b, 1), 100);
    machine_close(&x);
}

/* ------------------------------------------------------------------ many threads */

static const char *const refused[] = {
    "atom.global.add.f16 %h0, [%rd0], %h1;",                            /* no .noftz */
    "atom.global.min.noftz.f16 %h0, [%rd0], %h1;",                      /* only in vectors */
    "atom.global.inc.u64 %rd10, [%rd0], %rd1;",         "atom.global.min.f32 %f0, [%rd0], %f1;",
    "red.shared.v2.f32.add [%r0], {%f0, %f1};",         "red.global.v8.f16x2.add.noftz [%rd0], {%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0};",
};

static void what_the_isa_lacks_is_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct machine x = machine_for("h200", "sm_90a", "", refused[i]);
        if (x.m)
            printf("%s\n", refused[i]);
        CHECK(!x.m);
        machine_close(&x);
    }
}

/* Two host threads run the CTAs. Every kind of update loses nothing; a lock made of cas and exch keeps others out. */
static void host_threads_lose_nothing(void)
{
    setenv("EMU_JOBS", "2", 1);
    struct machine x = machine_for("h200", "sm_90a", "",
        "mov.u32 %r20, 0;\n"
        "L: red.global.add.u32 [%rd0], 1; mov.b32 %r21, 0x3f800000; mov.b32 %f0, %r21; red.global.add.f32 [%rd0+4], %f0; atom.global.add.u64 %rd10, [%rd0+8], 3;\n"
        "mov.u16 %h0, 0x3f80; add.u32 %r20, %r20, 1; setp.lt.u32 %p0, %r20, 10; @%p0 bra L;\n"
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra E;\n"
        "W: atom.acquire.gpu.global.cas.b32 %r22, [%rd0+16], 0, 1; setp.ne.u32 %p2, %r22, 0; @%p2 bra W;\n"
        "ld.relaxed.gpu.global.u32 %r23, [%rd0+20]; add.u32 %r23, %r23, 1; st.relaxed.gpu.global.u32 [%rd0+20], %r23; atom.release.gpu.global.exch.b32 %r24, [%rd0+16], 0;\n"
        "E: ");
    CHECK(x.m);
    mem_fill(x.g, x.a->addr, 0, 1, 64);
    run(&x, 400, 128, 0);
    expect_ok(&x);
    float sum;
    uint64_t big;
    memcpy(&sum, x.a->host + 4, 4);
    memcpy(&big, x.a->host + 8, 8);
    CHECK_EQ(word(x.a, 0), 400 * 128 * 10);
    CHECK(sum == 400 * 128 * 10);
    CHECK_EQ(big, 400 * 128 * 10 * 3);
    CHECK_EQ(word(x.a, 4), 0);
    CHECK_EQ(word(x.a, 5), 400);
    machine_close(&x);
    setenv("EMU_JOBS", "1", 1);
}

static volatile int counting;
static void *count(void *p)
{
    uint32_t *counter = p, n = 0;
    for (; counting || n < 100000; n++)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    return (void *)(uintptr_t)n;
}

static void the_host_counts_along(void)
{
    struct machine x = machine("", "mov.u32 %r20, 0;\nL: red.global.sys.add.u32 [%rd0], 1; add.u32 %r20, %r20, 1; setp.lt.u32 %p0, %r20, 100; @%p0 bra L;");
    pthread_t host;
    void *counted;
    x.a = mem_alloc_host(x.g, 4096, "cudaMallocManaged");
    counting = 1;
    pthread_create(&host, NULL, count, x.a->host);
    run(&x, 200, 128, 0);
    counting = 0;
    pthread_join(host, &counted);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 200 * 128 * 100 + (uint32_t)(uintptr_t)counted);
    machine_close(&x);
}

TESTS({ every_operation_gives_what_it_says, "every operation gives what it says, in every space" },
      { only_global_sums_flush, "sums of f32 flush in global memory, not in shared" },
      { sums_of_f64_hand_on_nans, "sums of f64 hand on NaNs: as they are in global memory, made quiet in shared" },
      { vectors_update_each_element, "vectors update each element" },
      { a_128_bit_swap_is_whole, "a swap of 128 bits is whole" },
      { lanes_that_meet_all_count, "lanes that meet in one place all count" },
      { what_the_isa_lacks_is_refused, "what the ISA lacks is refused" },
      { host_threads_lose_nothing, "two host threads lose nothing, and a lock holds" },
      { the_host_counts_along, "the host program counts along" })
