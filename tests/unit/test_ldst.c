/* test_ldst: ld and st in every width, vector, space and order; addresses, fences, cache hints, the stack. */
#include "memory_machine.h"

/* ------------------------------------------------------------------ widths */

static const struct { const char *name; uint32_t bytes; int is_signed; } types[] = {
    { "b8", 1, 0 }, { "u8", 1, 0 }, { "s8", 1, 1 }, { "b16", 2, 0 }, { "u16", 2, 0 }, { "s16", 2, 1 }, { "b32", 4, 0 },
    { "u32", 4, 0 }, { "s32", 4, 1 }, { "b64", 8, 0 }, { "u64", 8, 0 }, { "s64", 8, 1 } };
static const struct { const char *reg; uint32_t bytes; } registers[] = { { "%h", 2 }, { "%r", 4 }, { "%rd", 8 } };

/* What a register of `width` bytes holds after loading the element at byte `at` of a hashed buffer. */
static uint64_t loaded(uint32_t at, uint32_t bytes, int is_signed, uint32_t width)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < bytes; i++)
        v |= (uint64_t)hash_byte(at + i) << 8 * i;
    if (is_signed && bytes < 8 && v >> (8 * bytes - 1))
        v |= UINT64_MAX << 8 * bytes;
    return width == 8 ? v : v & (((uint64_t)1 << 8 * width) - 1);
}

/* Loads vec elements per lane from a at (lane * stride) and stores the registers whole to b, element by element. */
static void check_load(int t, int reg, uint32_t vec, uint32_t stride, uint32_t lanes)
{
    char lines[4000] = "", list[200] = "", piece[400];
    const uint32_t width = registers[reg].bytes, bytes = types[t].bytes;
    for (uint32_t e = 0; e < vec; e++) {
        snprintf(piece, sizeof piece, "%s%s%u", e ? ", " : "", registers[reg].reg, 20 + e);
        strcat(list, piece);
    }
    snprintf(lines, sizeof lines, "setp.lt.u32 %%p0, %%r1, %u; mul.wide.u32 %%rd10, %%r1, %u; add.u64 %%rd10, %%rd10, %%rd0;\n"
             "@%%p0 ld.global%s.%s %s%s%s, [%%rd10];\nmul.wide.u32 %%rd11, %%r1, 64; add.u64 %%rd11, %%rd11, %%rd1;\n",
             lanes, stride, vec == 8 ? ".v8" : vec == 4 ? ".v4" : vec == 2 ? ".v2" : "", types[t].name,
             vec > 1 ? "{" : "", list, vec > 1 ? "}" : "");
    for (uint32_t e = 0; e < vec; e++) {
        snprintf(piece, sizeof piece, "@%%p0 st.global.b%u [%%rd11+%u], %s%u;\n", 8 * width, e * width, registers[reg].reg, 20 + e);
        strcat(lines, piece);
    }
    struct machine x = machine("", lines);
    fill_hashed(&x, x.a);
    mem_fill(x.g, x.b->addr, 0x55, 1, 2048);
    run(&x, 1, 32, 0);
    expect_ok(&x);
    int wrong = 0;
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t e = 0; e < vec; e++) {
            uint64_t got = 0, want = loaded(i * stride + e * bytes, bytes, types[t].is_signed, width);
            memcpy(&got, x.b->host + i * 64 + e * width, width);
            if (i >= lanes)
                memset(&want, 0, 8), memset(&want, 0x55, width);
            wrong += got != want;
        }
    if (wrong)
        printf("ld.v%u.%s into %s, stride %u, %u lanes: %d wrong\n", vec, types[t].name, registers[reg].reg, stride, lanes, wrong);
    CHECK_EQ(wrong, 0);
    machine_close(&x);
}

static void loads_extend_to_their_register(void)
{
    for (int t = 0; t < 12; t++)
        for (int reg = 0; reg < 3; reg++)
            for (uint32_t vec = 1; vec <= 4; vec *= 2) {
                const uint32_t size = vec * types[t].bytes;
                if (types[t].bytes > registers[reg].bytes || size > 16)
                    continue;
                check_load(t, reg, vec, size, 32);          /* side by side */
                check_load(t, reg, vec, 3 * size, 32);      /* apart */
                check_load(t, reg, vec, 0, 32);             /* all the same */
                check_load(t, reg, vec, size, 13);          /* some lanes */
            }
}

/* Stores `vec` low parts of registers and looks at every byte of the buffer. */
static void check_store(uint32_t bytes, int reg, uint32_t vec, uint32_t stride, uint32_t lanes)
{
    char lines[4000] = "", list[200] = "", piece[400];
    const uint32_t width = registers[reg].bytes;
    snprintf(lines, sizeof lines, "mul.wide.u32 %%rd11, %%r1, 64; add.u64 %%rd11, %%rd11, %%rd0; setp.lt.u32 %%p0, %%r1, %u;\n", lanes);
    for (uint32_t e = 0; e < vec; e++) {
        snprintf(piece, sizeof piece, "ld.global.b%u %s%u, [%%rd11+%u];\n", 8 * width, registers[reg].reg, 20 + e, e * width);
        strcat(lines, piece);
        snprintf(piece, sizeof piece, "%s%s%u", e ? ", " : "", registers[reg].reg, 20 + e);
        strcat(list, piece);
    }
    snprintf(piece, sizeof piece, "mul.wide.u32 %%rd10, %%r1, %u; add.u64 %%rd10, %%rd10, %%rd1; @%%p0 st.global%s.b%u [%%rd10], %s%s%s;",
             stride, vec == 4 ? ".v4" : vec == 2 ? ".v2" : "", 8 * bytes, vec > 1 ? "{" : "", list, vec > 1 ? "}" : "");
    strcat(lines, piece);
    struct machine x = machine("", lines);
    static uint8_t want[BYTES], got[BYTES];
    memset(want, 0xff, BYTES);                              /* what is not written stays poison */
    for (uint32_t i = 0; i < lanes; i++)
        for (uint32_t e = 0; e < vec; e++)
            for (uint32_t k = 0; k < bytes; k++)
                want[i * stride + e * bytes + k] = hash_byte(i * 64 + e * width + k);
    fill_hashed(&x, x.a);
    run(&x, 1, 32, 0);
    expect_ok(&x);
    CHECK(mem_to_host(x.g, got, x.b->addr, BYTES));
    if (memcmp(got, want, BYTES) != 0)
        printf("st.v%u.b%u from %s, stride %u, %u lanes\n", vec, 8 * bytes, registers[reg].reg, stride, lanes);
    CHECK(memcmp(got, want, BYTES) == 0);
    machine_close(&x);
}

static void stores_take_the_low_bytes(void)
{
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2)
        for (int reg = 0; reg < 3; reg++)
            for (uint32_t vec = 1; vec <= 4; vec *= 2) {
                const uint32_t size = vec * bytes;
                if (bytes > registers[reg].bytes || size > 16)
                    continue;
                check_store(bytes, reg, vec, size, 32);
                check_store(bytes, reg, vec, 5 * size, 32);
                check_store(bytes, reg, vec, size, 29);
            }
}

static void whole_128_bits_move(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[512];", "mul.wide.u32 %rd10, %r1, 16; add.u64 %rd11, %rd10, %rd0; add.u64 %rd12, %rd10, %rd1;\n"
        "mov.u32 %r10, s; shl.b32 %r11, %r1, 4; add.u32 %r10, %r10, %r11;\n"
        "ld.global.b128 %q0, [%rd11]; st.shared.b128 [%r10], %q0; ld.relaxed.cta.shared.b128 %q1, [%r10]; st.volatile.global.b128 [%rd12], %q1;");
    fill_hashed(&x, x.a);
    run(&x, 1, 32, 0);
    expect_ok(&x);
    CHECK(memcmp(x.a->host, x.b->host, 512) == 0);
    machine_close(&x);
}

static void eight_words_move_on_blackwell(void)
{
    static const char lines[] = "mul.wide.u32 %rd10, %r1, 32; add.u64 %rd11, %rd10, %rd0; add.u64 %rd12, %rd10, %rd1;\n"
        "ld.global.L2::evict_last.v8.f32 {%f0, _, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd11];\n"
        "st.global.v8.b32 [%rd12], {%f7, %f6, %f5, %f4, %f3, %f2, _, %f0};\n"
        "ld.global.v4.u64 {%rd20, %rd21, %rd22, %rd23}, [%rd11]; st.global.v4.b64 [%rd12+4096], {%rd20, %rd21, %rd22, %rd23};";
    struct machine x = machine_for("b200", "sm_100a", "", lines);
    CHECK(x.m);
    if (!x.m)
        printf("%s\n", x.said);
    else {
        uint8_t got[1024];
        fill_hashed(&x, x.a);
        run(&x, 1, 32, 0);
        expect_ok(&x);
        CHECK(memcmp(x.a->host, x.b->host + 4096, 1024) == 0);
        mem_to_host(x.g, got, x.b->addr, sizeof got);
        for (uint32_t i = 0; i < 32; i++)
            for (uint32_t e = 0; e < 8; e++)
                CHECK(memcmp(got + i * 32 + e * 4, e == 6 ? (uint8_t *)"\xff\xff\xff\xff" : x.a->host + i * 32 + (7 - e) * 4, 4) == 0);
    }
    machine_close(&x);
    x = machine_for("h200", "sm_90a", "", lines);
    CHECK(!x.m);                                            /* Hopper has no such access */
    machine_close(&x);
}

/* ------------------------------------------------------------------ spaces and addresses */

static void generic_addresses_reach_every_space(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[256]; .const .u32 c[2] = {11, 22}; .global .u32 g = 33;",
        ".local .align 8 .b8 l[16]; mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10; mov.u64 %rd11, l; cvta.local.u64 %rd11, %rd11;\n"
        "mov.u64 %rd12, c; cvta.const.u64 %rd12, %rd12; mov.u64 %rd13, g; cvta.global.u64 %rd13, %rd13;\n"
        "mov.u64 %rd14, n; cvta.param::entry.u64 %rd14, %rd14;\n"
        "mul.wide.u32 %rd15, %r1, 4; add.u64 %rd10, %rd10, %rd15; st.u32 [%rd10], %r1; st.u32 [%rd11+4], %r1;\n"
        "ld.u32 %r10, [%rd10]; ld.u32 %r11, [%rd11+4]; ld.u32 %r12, [%rd12+4]; ld.u32 %r13, [%rd13]; ld.u32 %r14, [%rd14];\n"
        "mul.wide.u32 %rd15, %r1, 32; add.u64 %rd15, %rd15, %rd0; st.v4.u32 [%rd15], {%r10, %r11, %r12, %r13};\n"
        "cvta.to.shared.u64 %rd16, %rd10; cvt.u32.u64 %r15, %rd16; ld.shared.u32 %r15, [%r15];\n"
        "cvta.to.local.u64 %rd16, %rd11; ld.local.u32 %r16, [%rd16+4]; add.u32 %r15, %r15, %r16;\n"
        "cvta.to.param.u64 %rd16, %rd14; ld.param.u32 %r16, [%rd16]; add.u32 %r15, %r15, %r16; st.v2.u32 [%rd15+16], {%r14, %r15};");
    run(&x, 1, 32, 44);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t want[6] = { i, i, 22, 33, 44, 2 * i + 44 };
        CHECK(memcmp(x.a->host + i * 32, want, 24) == 0);
    }
    machine_close(&x);
}

static void spaces_are_told_apart(void)
{
    static const char *const spaces[] = { "global", "shared", "shared::cluster", "local", "const", "param" };
    static const char *const bases[] = { "%rd0", "%rd20", "%rd21", "%rd22", "%rd23" };
    static const uint8_t want[5] = { 1, 2 | 4, 8, 16, 32 | 1 };     /* a bit per space, for each base */
    char lines[6000];
    int at = snprintf(lines, sizeof lines, ".local .align 8 .b8 l[16]; mov.u64 %%rd20, s; cvta.shared.u64 %%rd20, %%rd20; mov.u64 %%rd21, l;"
                      "cvta.local.u64 %%rd21, %%rd21; mov.u64 %%rd22, c; cvta.const.u64 %%rd22, %%rd22; mov.u64 %%rd23, n; cvta.param.u64 %%rd23, %%rd23;\n");
    for (int b = 0; b < 5; b++) {
        at += snprintf(lines + at, sizeof lines - (size_t)at, "mov.u32 %%r10, 0;\n");
        for (int s = 0; s < 6; s++)
            at += snprintf(lines + at, sizeof lines - (size_t)at, "isspacep.%s %%p1, %s; @%%p1 or.b32 %%r10, %%r10, %d;\n", spaces[s], bases[b], 1 << s);
        at += snprintf(lines + at, sizeof lines - (size_t)at, "st.global.u32 [%%rd0+%d], %%r10;\n", 4 * b);
    }
    struct machine x = machine(".shared .align 16 .b8 s[256]; .const .u32 c[2] = {11, 22};", lines);
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t b = 0; b < 5; b++)
        CHECK_EQ(word(x.a, b), want[b]);
    machine_close(&x);
}

static void addresses_map_into_a_cluster_of_one(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[256];",
        "mov.u32 %r10, s; mapa.shared::cluster.u32 %r11, %r10, 0; st.shared::cluster.u32 [%r11+4], 77; ld.shared.u32 %r12, [s+4];\n"
        "cvt.u64.u32 %rd10, %r10; cvta.shared.u64 %rd10, %rd10; mapa.u64 %rd11, %rd10, 0; ld.u32 %r13, [%rd11+4];\n"
        "getctarank.shared::cluster.u32 %r14, %r11; getctarank.u64 %r15, %rd11; st.global.v4.u32 [%rd0], {%r12, %r13, %r14, %r15};");
    run(&x, 1, 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 77);
    CHECK_EQ(word(x.a, 1), 77);
    CHECK_EQ(word(x.a, 2), 0);
    CHECK_EQ(word(x.a, 3), 0);
    machine_close(&x);
    x = machine("", "mov.u32 %r10, 1024; mapa.shared::cluster.u32 %r11, %r10, 1;");
    run(&x, 1, 1, 0);
    CHECK_EQ(x.fault, FAULT_BAD_OPERAND);
    expect_said(&x, "asks for CTA rank 1 of a cluster of 1");
    machine_close(&x);
}

/* Address of a variable: this CTA's, also in the cluster's window. The kernel leaves (own rank by getctarank, what the
 * peer wrote, what st.shared::cluster wrote to s, what a generic store to the peer left). */
static void a_variable_belongs_to_its_cta(void)
{
    struct machine x = machine(".shared .align 16 .b8 s[256];",
        "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; add.u32 %r12, %r10, 100; st.shared.u32 [s], %r12; st.shared::cluster.u32 [s+4], %r12;\n"
        "mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10; mapa.u64 %rd11, %rd10, %r11; st.u32 [%rd11+8], %r12;\n"
        "barrier.cluster.arrive; barrier.cluster.wait;\n"
        "mov.u32 %r13, s; getctarank.shared::cluster.u32 %r20, %r13; mapa.shared::cluster.u32 %r14, %r13, %r11; ld.shared::cluster.u32 %r21, [%r14];\n"
        "ld.shared.u32 %r22, [s+4]; ld.shared.u32 %r23, [%r13+8]; mul.wide.u32 %rd12, %r2, 16; add.u64 %rd12, %rd12, %rd0;\n"
        "st.global.v4.u32 [%rd12], {%r20, %r21, %r22, %r23}; isspacep.shared::cta %p1, %rd11; @%p1 trap; isspacep.shared::cluster %p2, %rd11; @!%p2 trap;\n"
        "barrier.cluster.arrive; barrier.cluster.wait;");
    x.cluster = 2;
    run(&x, 8, 1, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t rank = i % 2, want[4] = { rank, 101 - rank, 100 + rank, 101 - rank };
        CHECK(memcmp(x.a->host + 16 * i, want, 16) == 0);
    }
    x.cluster = 1;                                          /* a frame that was of rank 1 begins anew */
    run(&x, 8, 1, 0);
    CHECK_EQ(x.fault, FAULT_BAD_OPERAND);
    machine_close(&x);
    x = machine(".shared .align 16 .b8 s[256];", "mov.u32 %r10, s; xor.b32 %r10, %r10, 0x1000000; st.shared.u32 [%r10], %r1;");
    x.cluster = 2;
    run(&x, 2, 1, 0);
    CHECK_EQ(x.fault, FAULT_OUT_OF_BOUNDS);
    expect_said(&x, "that needs .shared::cluster");
    machine_close(&x);
}

/* ------------------------------------------------------------------ orders, hints, fences */

static const char *const accepted[] = {
    "ld.weak.global.ca.u32 %r10, [%rd0];", "ld.global.cv.u32 %r10, [%rd0];", "ld.global.nc.u32 %r10, [%rd0];",
    "ld.volatile.global.v2.u32 {%r10, %r11}, [%rd0];", "ld.relaxed.gpu.global.u64 %rd10, [%rd0];", "ld.acquire.sys.u32 %r10, [%rd0];",
    "ld.acquire.cta.global.u8 %h0, [%rd0];", "ld.mmio.relaxed.sys.global.u32 %r10, [%rd0];", "ldu.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];",
    "ld.global.L1::no_allocate.L2::256B.v4.u32 {%r10, %r11, %r12, %r13}, [%rd0];", "ld.global.nc.L1::evict_last.L2::cache_hint.f32 %f0, [%rd0], %rd20;",
    "ld.volatile.global.s8 %rd10, [%rd0];", "ld.relaxed.cta.shared.u32 %r10, [s];", "ld.acquire.cluster.shared::cluster.u32 %r10, [s];",
    "st.weak.global.wb.u32 [%rd0], %r0;", "st.global.cs.v2.f32 [%rd0], {%f0, %f1};", "st.volatile.global.v2.u16 [%rd0], {%h0, %h1};",
    "st.relaxed.gpu.global.u32 [%rd0], %r0;", "st.release.sys.global.u64 [%rd0], %rd0;", "st.mmio.relaxed.sys.global.u32 [%rd0], %r0;",
    "st.global.L1::evict_first.L2::cache_hint.u32 [%rd0], %r0, %rd20;", "st.release.cta.shared.u8 [s], %r0;", "st.volatile.local.u32 [l], %r0;",
    "prefetch.global.L1 [%rd0];", "prefetch.global.L2::evict_last [%rd0];", "prefetch.L2 [%rd0+400000000];", "prefetchu.L1 [%rd0];",
    "applypriority.global.L2::evict_normal [%rd0], 128;", "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd10, 0.5;",
    "createpolicy.fractional.L2::evict_first.b64 %rd10;", "createpolicy.range.L2::evict_last.L2::evict_first.b64 %rd10, [%rd0], 4096, 8192;",
    "createpolicy.cvt.L2.b64 %rd10, %rd20;", "membar.cta;", "membar.gl;", "membar.sys;", "fence.sc.gpu;", "fence.acq_rel.cta;", "fence.cluster;",
    "fence.acquire.gpu;", "fence.acquire.sync_restrict::shared::cluster.cluster;", "fence.release.sync_restrict::shared::cta.cluster;",
    "fence.mbarrier_init.release.cluster;", "fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;",
    "fence.proxy.async.shared::cta;", "fence.proxy.tensormap::generic.release.gpu;", "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;", "membar.proxy.alias;",
};

static void every_form_is_accepted(void)
{
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        char lines[1000];
        snprintf(lines, sizeof lines, ".local .b32 l; st.shared.u32 [s], %%r1; mov.u64 %%rd20, 0; mov.u32 %%r10, 0; mov.u32 %%r11, 0; mov.b32 %%f0, %%r10;"
                 " mov.b32 %%f1, %%r10; mov.u16 %%h0, 0; mov.u16 %%h1, 0;\n%s", accepted[i]);
        struct machine x = machine_for("h200", "sm_90a", ".shared .align 16 .b8 s[256];", lines);
        if (x.m) {
            mem_fill(x.g, x.a->addr, 0, 1, BYTES);
            run(&x, 1, 32, 0);
        }
        if (!x.m || x.fault)
            printf("%s\n%s\n", accepted[i], x.said);
        CHECK(x.m && !x.fault);
        machine_close(&x);
    }
}

static void strong_accesses_keep_their_values(void)
{
    struct machine x = machine("", "add.u64 %rd10, %rd0, 16384; add.u64 %rd10, %rd10, %rd2; sub.u64 %rd10, %rd10, %rd0;\n"
        "setp.lt.u32 %p0, %r1, 20; mov.u32 %r10, 9; @%p0 st.release.gpu.global.u32 [%rd10], %r1; @%p0 ld.acquire.gpu.global.s8 %r10, [%rd10];\n"
        "st.volatile.global.u32 [%rd2], %r10;");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(word(x.a, i), i < 20 ? i : 9);
    machine_close(&x);
}

/* ------------------------------------------------------------------ the stack */

static void the_stack_gives_and_takes_back(void)
{
    struct machine x = machine(".func (.param .b32 r) f(.param .b32 n)\n"
        "{ .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u32 %r0, [n]; alloca.u64 %rd0, 256, 16; st.local.u32 [%rd0+252], %r0;\n"
        "ld.local.u32 %r1, [%rd0+252]; st.param.u32 [r], %r1; ret; }",
        "mov.u32 %r10, 0; mov.u32 %r20, 0;\n"
        "L: { .param .b32 p; .param .b32 q; st.param.u32 [p], %r10; call (q), f, (p); ld.param.u32 %r11, [q]; }\n"   /* freed on return */
        "add.u32 %r20, %r20, %r11; add.u32 %r10, %r10, 1; setp.lt.u32 %p0, %r10, 50; @%p0 bra L;\n"
        "mov.u32 %r10, 0;\n"
        "M: stacksave.u64 %rd20; add.u64 %rd21, %rd1, 0; mul.wide.u32 %rd22, %r1, 8; alloca.u64 %rd23, %rd22, 32; and.b64 %rd24, %rd23, 31;\n"
        "cvt.u32.u64 %r12, %rd24; add.u32 %r20, %r20, %r12; stackrestore.u64 %rd20; add.u32 %r10, %r10, 1; setp.lt.u32 %p0, %r10, 50; @%p0 bra M;\n"
        "st.global.u32 [%rd2], %r20;");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(word(x.a, i), 49 * 50 / 2);
    machine_close(&x);
    x = machine("", "L: alloca.u64 %rd20, 256, 8; bra L;");
    run(&x, 1, 32, 0);
    CHECK_EQ(x.fault, FAULT_STACK);
    expect_said(&x, "asks for 256 bytes of the stack");
    machine_close(&x);
}

TESTS({ loads_extend_to_their_register, "loads extend to their register, in every width and shape" },
      { stores_take_the_low_bytes, "stores take the low bytes, and write no other" },
      { whole_128_bits_move, "128 bits move as one" },
      { eight_words_move_on_blackwell, "eight words move on Blackwell, and are refused before it" },
      { generic_addresses_reach_every_space, "generic addresses reach every space" },
      { spaces_are_told_apart, "isspacep tells the spaces apart" },
      { addresses_map_into_a_cluster_of_one, "mapa and getctarank know the cluster" },
      { a_variable_belongs_to_its_cta, "a shared variable belongs to its CTA, in a cluster too" },
      { every_form_is_accepted, "every order, hint and fence is accepted" },
      { strong_accesses_keep_their_values, "strong accesses keep their values and their lanes" },
      { the_stack_gives_and_takes_back, "the stack gives and takes back" })
