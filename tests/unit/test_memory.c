/* test_memory: the address space, what the host does to it, and every access that must be found out. */
#include "memory_machine.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* ------------------------------------------------------------------ the host's side */

static struct gpu *gpu(void) { return gpu_open(device_by_id("h200")); }

static void fresh_memory_reads_as_poison(void)
{
    static const size_t sizes[] = { 1, 100, 65535, 65536, 5000000 };
    struct gpu *g = gpu();
    for (int k = 0; k < 5; k++) {
        size_t n = sizes[k];
        uint8_t *p = calloc(1, n);
        struct alloc *a = mem_alloc(g, n, "x");
        CHECK(mem_to_host(g, p, a->addr, n));
        for (size_t i = 0; i < n; i++)
            if (p[i] != 0xff)
                CHECK_EQ(p[i], 0xff), i = n;
        free(p);
    }
    gpu_close(g);
}

static void written_bytes_come_back_among_poison(void)
{
    struct gpu *g = gpu();
    struct alloc *a = mem_alloc(g, 200000, "x");
    uint8_t p[10];
    CHECK(mem_to_device(g, a->addr + 70001, "abc", 3));
    CHECK(mem_to_host(g, p, a->addr + 69999, 7));
    CHECK(memcmp(p, "\xff\xff" "abc\xff\xff", 7) == 0);
    CHECK(mem_free(g, a->addr));
    CHECK(!mem_to_host(g, p, a->addr, 1));
    gpu_close(g);
}

static void a_whole_write_is_known_to_be_whole(void)
{
    struct gpu *g = gpu();
    struct alloc *a = mem_alloc(g, 1000, "x"), *b = mem_alloc(g, 1000, "x"), *c = mem_alloc(g, 1000, "x");
    CHECK(!a->all_init);
    CHECK(mem_fill(g, a->addr, 7, 1, 1000));
    CHECK(a->all_init);
    for (uint32_t i = 0; i < 1000; i += 50)                 /* piece by piece */
        CHECK(mem_fill(g, b->addr + i, i, 2, 25));
    CHECK(b->all_init);
    CHECK(mem_fill(g, c->addr, 1, 1, 500) && mem_fill(g, c->addr + 501, 1, 1, 499));
    CHECK(!c->all_init);                                    /* one byte lacks */
    CHECK(mem_copy(g, a->addr + 100, c->addr + 450, 100));
    CHECK(!a->all_init);                                    /* it has come here */
    CHECK_EQ(a->init[149], 1);
    CHECK_EQ(a->init[150], 0);
    CHECK_EQ(a->init[151], 1);
    CHECK(mem_fill(g, a->addr + 150, 0, 1, 1));
    CHECK(mem_copy(g, b->addr, a->addr, 1000));
    CHECK(b->all_init);
    gpu_close(g);
}

static void copies_and_fills_do_what_they_say(void)
{
    struct gpu *g = gpu();
    struct alloc *a = mem_alloc(g, 64, "x"), *b = mem_alloc_host(g, 64, "x");
    uint32_t p[16];
    CHECK_EQ(b->addr, (uintptr_t)b->host);
    CHECK(mem_fill(g, a->addr, 0x01020304, 4, 16));
    CHECK(mem_fill(g, a->addr + 2, 0xabcd, 2, 3));
    CHECK(mem_copy(g, b->addr, a->addr, 64));
    memcpy(p, b->host, 64);
    CHECK_EQ(p[0], 0xabcd0304);
    CHECK_EQ(p[1], 0xabcdabcd);
    CHECK_EQ(p[2], 0x01020304);
    CHECK(!mem_fill(g, a->addr, 0, 4, 17));
    CHECK(!mem_copy(g, a->addr + 1, b->addr, 64));
    CHECK(!mem_to_device(g, a->addr - 1, p, 4));
    CHECK(mem_to_device(g, 0, p, 0));
    gpu_close(g);
}

static void allocations_are_found_by_any_of_their_bytes(void)
{
    struct gpu *g = gpu();
    static uint8_t mine[100];
    struct alloc *a = mem_alloc(g, 100000, "x"), *h = mem_alloc_host(g, 5000, "x"), *r = mem_register(g, mine, 100);
    struct alloc *of[] = { a, h, r };
    for (int i = 0; i < 3; i++) {
        CHECK(mem_find(g, of[i]->addr) == of[i]);
        CHECK(mem_find(g, of[i]->addr + of[i]->size - 1) == of[i]);
        CHECK(mem_find(g, of[i]->addr + of[i]->size) != of[i]);
        CHECK(mem_find(g, of[i]->addr - 1) != of[i]);
        CHECK(!mem_free(g, of[i]->addr + 1));
        CHECK(mem_free(g, of[i]->addr));
        CHECK(!mem_free(g, of[i]->addr));
        CHECK(!mem_find(g, of[i]->addr));
    }
    CHECK(!mem_find(g, 0));
    CHECK(mem_register(g, mine, 100) && !mem_register(g, mine + 50, 10));
    gpu_close(g);
}

static void freed_addresses_rest(void)
{
    struct gpu *g = gpu();
    uint64_t first = mem_alloc(g, 5000000, "x")->addr;
    mem_free(g, first);
    for (int i = 0; i < 1000; i++) {
        struct alloc *a = mem_alloc(g, 5000000, "x");
        CHECK(a->addr + a->size <= first || first + 5000000 <= a->addr);
        mem_free(g, a->addr);
    }
    gpu_close(g);
}

/* Look-ups take no lock: one thread looks for memory that stays while others come and go. */
struct search { struct gpu *g; struct alloc *stays; volatile bool over; uint64_t missed; };
static void *search(void *arg)
{
    struct search *s = arg;
    while (!s->over)
        s->missed += mem_find(s->g, s->stays->addr + 100) != s->stays;
    return NULL;
}

static void look_ups_do_not_wait(void)
{
    static uint8_t mine[3][5000];
    struct gpu *g = gpu();
    struct search s = { .g = g, .stays = mem_register(g, mine[1], 5000) };
    struct alloc *many[300];
    pthread_t finder;
    pthread_create(&finder, NULL, search, &s);
    for (int i = 0; i < 20000; i++) {
        struct alloc *below = mem_register(g, mine[0], 5000), *above = mem_register(g, mine[2], 5000);
        CHECK(below && above);
        mem_free(g, below->addr), mem_free(g, above->addr);
        if (i < 300)
            many[i] = mem_alloc_host(g, 4096, "x");         /* the list outgrows its array */
        struct alloc *small = mem_alloc(g, 100, "x");
        mem_free(g, small->addr);
    }
    s.over = true;
    pthread_join(finder, NULL);
    CHECK_EQ(s.missed, 0);
    for (int i = 0; i < 300; i++)
        CHECK(mem_find(g, many[i]->addr) == many[i]);
    gpu_close(g);
}

/* The range holds half a terabyte: this goes round it several times. */
static void addresses_come_round_again(void)
{
    struct gpu *g = gpu();
    struct alloc *keep = mem_alloc(g, 1 << 20, "kept");
    for (int i = 0; i < 200; i++) {
        struct alloc *a = mem_alloc(g, (size_t)10 << 30, "x");
        CHECK(a && a != keep && !a->all_init && a->init[12345] == 0);
        if (!a)
            break;
        CHECK(mem_fill(g, a->addr + 12345, 1, 1, 1));
        CHECK(mem_free(g, a->addr));
    }
    CHECK(mem_find(g, keep->addr) == keep);
    gpu_close(g);
}

static void device_memory_ends(void)
{
    struct gpu *g = gpu();
    const uint64_t all = device_by_id("h200")->global_bytes;
    struct alloc *a = mem_alloc(g, all / 2, "x");
    CHECK(a);
    CHECK(!mem_alloc(g, all / 2 + 1, "x"));
    CHECK(!mem_alloc(g, SIZE_MAX, "x"));
    CHECK(mem_alloc(g, all / 2, "x"));
    CHECK(!mem_alloc(g, 0, "x"));
    mem_free(g, a->addr);
    CHECK(mem_alloc(g, all / 2, "x"));
    gpu_close(g);
}

static void the_host_cannot_touch_device_addresses(void)
{
    struct gpu *g = gpu();
    struct alloc *a = mem_alloc(g, 4096, "x");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)(uintptr_t)a->addr = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    gpu_close(g);
}

/* ------------------------------------------------------------------ what must be found out */

struct bad {
    const char *variables, *lines;
    enum fault_id fault;
    int lane;
    const char *says;
};

#define LANE(i) "setp.eq.u32 %p0, %r1, " #i "; "
#define SHARED ".shared .align 16 .b8 s[256];"

/* a and b have 65536 bytes each, of which the host wrote the first 1024 of b, and every byte of a but 600. */
static const struct bad bad[] = {
    /* global, out of bounds */
    { "", LANE(3) "@%p0 ld.global.u32 %r10, [%rd0+65536];", FAULT_OUT_OF_BOUNDS, 3,
      ", just past the end of cudaMalloc of 65536 bytes at 0x" },
    { "", LANE(0) "@%p0 st.global.u32 [%rd0+65540], %r1;", FAULT_OUT_OF_BOUNDS, 0, ", 4 bytes past the end of cudaMalloc of" },
    { "", LANE(31) "@%p0 ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd0+-16];", FAULT_OUT_OF_BOUNDS, 31, "16 bytes before the start of" },
    { "", LANE(1) "@%p0 st.global.u8 [%rd0+65535], %r1; @%p0 st.global.b64 [%rd0+65535], %rd0;", FAULT_OUT_OF_BOUNDS, 1,
      "the last 7 of them past the end of" },
    { "", "mul.wide.u32 %rd10, %r1, 4096; add.u64 %rd10, %rd10, %rd0; st.global.u32 [%rd10], %r1;", FAULT_OUT_OF_BOUNDS, 16,
      "just past the end of cudaMalloc of 65536" },
    { "", "mul.wide.u32 %rd10, %r1, 4; add.u64 %rd10, %rd10, %rd0; st.global.u32 [%rd10+65420], %r1;", FAULT_OUT_OF_BOUNDS, 29,
      "just past the end of" },
    { "", LANE(2) "mov.u64 %rd10, 0; @%p0 ld.global.f32 %f0, [%rd10+8];", FAULT_NULL_POINTER, 2, "0x8: a null pointer" },
    { "", LANE(2) "mov.u64 %rd10, 0x7ffffff00000; @%p0 ld.u32 %r10, [%rd10];", FAULT_HOST_POINTER, 2, "no device address" },
    { "", LANE(2) "mov.u64 %rd10, 0x203000000000; @%p0 ld.u32 %r10, [%rd10];", FAULT_OUT_OF_BOUNDS, 2, "where no allocation is near" },
    { "", LANE(4) "@%p0 atom.global.add.u32 %r10, [%rd0+65536], 1;", FAULT_OUT_OF_BOUNDS, 4, "updates 4 bytes" },
    { "", LANE(4) "@%p0 red.add.u32 [%rd0+65536], 1;", FAULT_OUT_OF_BOUNDS, 4, "updates 4 bytes" },
    { ".global .u32 v[4];", LANE(5) "mov.u64 %rd10, v; @%p0 ld.global.u32 %r10, [%rd10+20];", FAULT_OUT_OF_BOUNDS, 5,
      "4 bytes past the end of __device__ v of 16 bytes" },
    /* global, misaligned */
    { "", LANE(6) "@%p0 ld.global.u32 %r10, [%rd1+2];", FAULT_MISALIGNED, 6, "2 more than a multiple of 4" },
    { "", LANE(6) "@%p0 ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1+8];", FAULT_MISALIGNED, 6, "8 more than a multiple of 16" },
    { "", "mul.wide.u32 %rd10, %r1, 4; add.u64 %rd10, %rd10, %rd1; st.global.v2.b32 [%rd10], {%r1, %r1};", FAULT_MISALIGNED, 1,
      "4 more than a multiple of 8" },
    { "", LANE(6) "@%p0 atom.global.exch.b64 %rd10, [%rd1+4], %rd0;", FAULT_MISALIGNED, 6, "4 more than a multiple of 8" },
    /* global, unwritten: to the byte */
    { "", LANE(7) "@%p0 ld.global.u32 %r10, [%rd1+1024];", FAULT_UNINITIALIZED, 7,
      ", byte 1024 of cudaMalloc of 65536 bytes: nothing has written them" },
    { "", LANE(7) "@%p0 ld.global.u32 %r10, [%rd0+600];", FAULT_UNINITIALIZED, 7, "nothing has written 1 of them, from byte 0 on" },
    { "", LANE(7) "@%p0 ld.global.u16 %h0, [%rd0+602]; @%p0 ld.global.u8 %h0, [%rd0+600];", FAULT_UNINITIALIZED, 7, "reads 1 bytes" },
    { "", "mul.wide.u32 %rd10, %r1, 16; add.u64 %rd10, %rd10, %rd1; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd10+1008];",
      FAULT_UNINITIALIZED, 1, "reads 16 bytes" },
    { "", LANE(7) "ld.global.u32 %r10, [%rd1+1020]; @%p0 atom.global.add.u32 %r10, [%rd1+1024], 1;", FAULT_UNINITIALIZED, 7, "nothing has written" },
    { "", "ld.global.u64 %rd10, [%rd0+504]; ld.global.u64 %rd10, [%rd0+600];", FAULT_UNINITIALIZED, 0, "from byte 0 on" },
    { "", "ld.global.L2::128B.nc.u32 %r10, [%rd1+2048];", FAULT_UNINITIALIZED, 0, "nothing has written" },
    { "", "discard.global.L2 [%rd1+128], 128; ld.global.u32 %r10, [%rd1+124]; ld.global.u32 %r10, [%rd1+128];", FAULT_UNINITIALIZED, 0, "byte 128 of" },
    /* const, param: only read */
    { ".const .u32 c[4] = {1, 2, 3, 4};", LANE(8) "mov.u64 %rd10, c; cvta.const.u64 %rd10, %rd10; @%p0 st.u32 [%rd10+4], %r1;",
      FAULT_READ_ONLY, 8, "byte 4 of __constant__ c" },
    { ".const .u32 c[4] = {1, 2, 3, 4};", LANE(8) "@%p0 ld.const.u32 %r10, [c+16];", FAULT_OUT_OF_BOUNDS, 8, "just past the end of __constant__ c" },
    { "", LANE(8) "mov.u64 %rd10, a; cvta.param.u64 %rd10, %rd10; @%p0 st.u32 [%rd10], %r1;", FAULT_READ_ONLY, 8, "byte 0 of kernel parameters" },
    { "", "mov.u64 %rd10, a; ld.param.u32 %r10, [%rd10+64];", FAULT_OUT_OF_BOUNDS, 0, "of the kernel's 20 bytes of parameters" },
    /* shared */
    { SHARED, LANE(9) "@%p0 st.shared.u32 [s+256], %r1;", FAULT_OUT_OF_BOUNDS, 9,
      "writes 4 bytes at shared address 0x500, just past the end of the CTA's 256 bytes of shared memory (0 bytes past the end of s, which has 256)" },
    { SHARED, LANE(9) "mov.u32 %r10, s; @%p0 st.shared.u32 [%r10+-4], %r1;", FAULT_OUT_OF_BOUNDS, 9, "4 bytes before the start of" },
    { SHARED, LANE(9) "@%p0 ld.shared.u32 %r10, [s+8];", FAULT_UNINITIALIZED, 9, "shared address 0x408 (byte 8 of s): nothing has written them" },
    { SHARED, "st.shared.u8 [s+8], %r1; st.shared.u16 [s+10], %r1; ld.shared.u32 %r10, [s+8];", FAULT_UNINITIALIZED, 0,
      "nothing has written 1 of them, from byte 1 on" },
    { SHARED, LANE(9) "@%p0 st.shared.v2.u32 [s+4], {%r1, %r1};", FAULT_MISALIGNED, 9, "4 more than a multiple of 8" },
    { SHARED, LANE(9) "mov.u32 %r10, 0x1000400; @%p0 st.shared::cluster.u32 [%r10], %r1;", FAULT_OUT_OF_BOUNDS, 9, "a CTA of rank 1: this cluster has 1" },
    { SHARED, LANE(9) "mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10; @%p0 st.u32 [%rd10+256], %r1;", FAULT_OUT_OF_BOUNDS, 9, "shared address 0x500" },
    { SHARED, "st.shared.u32 [s], %r1; atom.shared.add.u32 %r10, [s], 1; atom.shared.add.u32 %r10, [s+4], 1;", FAULT_UNINITIALIZED, 0, "byte 4 of s" },
    /* local */
    { "", ".local .align 8 .b8 l[64]; mov.u64 %rd10, l; mul.wide.u32 %rd11, %r1, 4; add.u64 %rd10, %rd10, %rd11; st.local.u32 [%rd10], %r1;",
      FAULT_OUT_OF_BOUNDS, 16, "just past the end of the thread's 64 bytes of local memory" },
    { "", ".local .align 8 .b8 l[64]; mov.u64 %rd10, l; cvta.local.u64 %rd10, %rd10; st.u64 [%rd10+4], %rd10;", FAULT_MISALIGNED, 0, "a multiple of 8" },
    { "", ".local .align 8 .b8 l[64]; mov.u64 %rd10, l; cvta.local.u64 %rd10, %rd10; atom.add.u32 %r10, [%rd10], 1;", FAULT_BAD_OPERAND, 0, "local memory" },
};

static void bad_accesses_are_found_and_named(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct machine x = machine(bad[i].variables, bad[i].lines);
        char lane[20];
        mem_fill(x.g, x.b->addr, 1, 1, 1024);
        mem_fill(x.g, x.a->addr, 0, 1, 600);
        mem_fill(x.g, x.a->addr + 601, 0, 1, BYTES - 601);
        run(&x, 1, 32, 0);
        snprintf(lane, sizeof lane, "lane %d", bad[i].lane);
        if (x.fault != bad[i].fault || !strstr(x.said, bad[i].says) || !strstr(x.said, lane))
            printf("case %zu: %s\n", i, bad[i].lines);
        CHECK_EQ(x.fault, bad[i].fault);
        expect_said(&x, bad[i].says);
        expect_said(&x, lane);
        machine_close(&x);
    }
}

static void a_freed_buffer_is_named(void)
{
    static const size_t sizes[] = { 100, 1 << 20 };
    for (int i = 0; i < 2; i++) {
        struct machine x = machine("", "ld.global.u32 %r10, [%rd0+16];");
        x.a = mem_alloc(x.g, sizes[i], "cudaMalloc");
        mem_fill(x.g, x.a->addr, 0, 1, sizes[i]);
        mem_free(x.g, x.a->addr);
        run(&x, 1, 32, 0);
        CHECK_EQ(x.fault, FAULT_USE_AFTER_FREE);
        expect_said(&x, "byte 16 of cudaMalloc of ");
        expect_said(&x, "which has been freed");
        machine_close(&x);
    }
}

static void device_variables_without_initialiser_are_zero(void)
{
    struct machine x = machine(".global .u32 v[32]; .const .u32 c;", "mul.wide.u32 %rd10, %r1, 4; mov.u64 %rd11, v; add.u64 %rd10, %rd10, %rd11;"
                               "ld.global.u32 %r10, [%rd10]; ld.const.u32 %r11, [c]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd2], %r10;");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(word(x.a, i), 0);
    machine_close(&x);
}

/* Two kernels: what the first wrote in full the second reads, and the look-ups end. */
static void a_buffer_that_kernels_wrote_is_known_to_be_whole(void)
{
    struct machine x = machine("", "setp.eq.u32 %p0, %r0, 0; @%p0 st.global.u32 [%rd2], %r3; @!%p0 ld.global.u32 %r10, [%rd2];");
    run(&x, BYTES / 4 / 256, 256, 0);
    expect_ok(&x);
    CHECK(!x.a->all_init);
    for (int i = 0; i < 3; i++)
        run(&x, BYTES / 4 / 256, 256, 1);
    expect_ok(&x);
    CHECK(x.a->all_init);
    CHECK_EQ(word(x.a, 77), 77);
    machine_close(&x);
}

static void padding_may_be_copied(void)
{
    struct machine x = machine(".func (.param .align 4 .b8 r[8]) f(.param .align 4 .b8 s[8])\n"
        "{ .reg .b32 %r<4>; ld.param.u32 %r0, [s]; ld.param.u32 %r1, [s+4]; st.param.u32 [r], %r0; ret; }",
        "{ .param .align 4 .b8 s[8]; .param .align 4 .b8 r[8]; st.param.u32 [s], %r3; st.param.u8 [s+4], %r1;\n"
        "call (r), f, (s); ld.param.v2.u32 {%r10, %r11}, [r]; }\n"
        ".local .align 8 .b8 l[8]; st.local.u32 [l], %r10; ld.local.u64 %rd10, [l]; cvt.u32.u64 %r11, %rd10; st.global.u32 [%rd2], %r11;");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 31), 31);
    machine_close(&x);
}

/* A vector load that finds some bytes written gets poison for the others, and memory stays as it was: unwritten. */
static void a_vector_load_may_meet_padding(void)
{
    static const struct { const char *load; uint32_t want; enum fault_id fault; } loads[] = {
        { "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd10];", 0xffffffff, FAULT_NONE },
        { "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd10]; ld.global.u32 %r13, [%rd10+12];", 0, FAULT_UNINITIALIZED },
        { "ld.global.v2.u32 {%r12, %r13}, [%rd10+16];", 0, FAULT_UNINITIALIZED } };
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        char lines[600];
        snprintf(lines, sizeof lines, "mul.wide.u32 %%rd10, %%r1, 64; add.u64 %%rd10, %%rd10, %%rd1;\n"
                 "st.global.v2.u32 [%%rd10], {%%r1, %%r1}; st.global.u32 [%%rd10+8], %%r1;\n%s st.global.u32 [%%rd2], %%r13;", loads[i].load);
        struct machine x = machine("", lines);
        run(&x, 1, 32, 0);
        CHECK_EQ(x.fault, loads[i].fault);
        if (!loads[i].fault)
            CHECK_EQ(word(x.a, 31), loads[i].want);
        machine_close(&x);
    }
}

static void what_compilers_load_too_early_passes(void)
{
    struct machine x = machine("", ".local .align 4 .b8 late[4]; .shared .align 4 .b8 first[4]; ld.local.u32 %r10, [late];\n"
        "atom.shared.exch.b32 %r10, [first], 7; ld.shared.u32 %r11, [first]; st.global.u32 [%rd2], %r11;");
    run(&x, 1, 1, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 7);
    machine_close(&x);
}

static void lanes_may_go_to_different_allocations(void)
{
    struct machine x = machine(SHARED, "st.shared.u32 [s+16], 4000; mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10;\n"
        "and.b32 %r10, %r1, 1; setp.eq.u32 %p0, %r10, 0; selp.b64 %rd11, %rd1, %rd10, %p0;\n"
        "setp.eq.u32 %p0, %r1, 7; selp.b64 %rd11, %rd0, %rd11, %p0; ld.u32 %r11, [%rd11+16]; st.global.u32 [%rd2+1024], %r11;");
    mem_fill(x.g, x.b->addr, 5, 4, 8);
    mem_fill(x.g, x.a->addr, 6, 4, 8);
    run(&x, 1, 32, 0);
    expect_ok(&x);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(word(x.a, 256 + i), i == 7 ? 6 : i % 2 ? 4000 : 5);
    machine_close(&x);
}

static void of_a_wide_shared_address_the_lower_half_counts(void)
{
    struct machine x = machine(SHARED, "mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10; st.shared.u32 [%rd10+16], 4000;\n"
        "ld.shared.u32 %r10, [s+16]; st.global.u32 [%rd2], %r10;");
    run(&x, 1, 32, 0);
    expect_ok(&x);
    CHECK_EQ(word(x.a, 0), 4000);
    machine_close(&x);
}

static void shared_memory_begins_as_poison_in_every_cta(void)
{
    struct machine x = machine(SHARED, "setp.eq.u32 %p0, %r2, 63; @%p0 ld.shared.u32 %r10, [s]; st.shared.u32 [s], %r1;");
    run(&x, 64, 32, 0);
    CHECK_EQ(x.fault, FAULT_UNINITIALIZED);
    expect_said(&x, "CTA (63,0,0)");
    machine_close(&x);
}

TESTS({ fresh_memory_reads_as_poison, "fresh memory reads as poison" },
      { written_bytes_come_back_among_poison, "written bytes come back, poison around them" },
      { a_whole_write_is_known_to_be_whole, "a buffer written in full is known to be whole" },
      { copies_and_fills_do_what_they_say, "copies and fills do what they say" },
      { allocations_are_found_by_any_of_their_bytes, "allocations are found by any of their bytes" },
      { freed_addresses_rest, "freed addresses are not given out again soon" },
      { look_ups_do_not_wait, "look-ups do not wait for allocations" },
      { addresses_come_round_again, "addresses come round again" },
      { device_memory_ends, "device memory ends where the chip's does" },
      { the_host_cannot_touch_device_addresses, "the host cannot touch device addresses" },
      { bad_accesses_are_found_and_named, "bad accesses are found and named" },
      { a_freed_buffer_is_named, "a use after free names the buffer" },
      { device_variables_without_initialiser_are_zero, "device variables without initialiser are zero" },
      { a_buffer_that_kernels_wrote_is_known_to_be_whole, "a buffer that kernels wrote is known to be whole" },
      { padding_may_be_copied, "padding may be copied" },
      { a_vector_load_may_meet_padding, "a vector load may meet padding" },
      { what_compilers_load_too_early_passes, "what compilers load too early passes" },
      { lanes_may_go_to_different_allocations, "lanes may go to different allocations" },
      { of_a_wide_shared_address_the_lower_half_counts, "of a wide shared address the lower half counts" },
      { shared_memory_begins_as_poison_in_every_cta, "shared memory begins as poison in every CTA" })
