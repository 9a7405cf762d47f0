/* test_core: the emulator's core, driven without CUDA: small PTX texts are parsed, loaded and launched. */
#define _GNU_SOURCE
#include "check.h"
#include "emu.h"
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------ a machine to run PTX on */

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"
/* Every kernel here is `k`, with a pointer to results and a number. */
#define KERNEL HEAD ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                        \
               ".reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<8>;\n"        \
               "ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x;\n"           \
               "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"     \
               "mul.wide.u32 %rd1, %r4, 4; add.u64 %rd1, %rd0, %rd1;\n"   /* rd1: &out[thread] */

enum { OUT = 1 << 20 };
struct machine { struct gpu *g; struct module *m; struct alloc *out; };
struct result { enum fault_id fault; uint64_t cycles, thread_instrs; };

static struct machine machine(const char *ptx, const char *seed, const char *jobs)
{
    struct machine x = { 0 };
    char err[2000] = "";
    if (seed)
        setenv("EMU_SEED", seed, 1);
    else
        unsetenv("EMU_SEED");
    setenv("EMU_JOBS", jobs ? jobs : "1", 1);
    x.g = gpu_open(device_by_id("h200"));
    x.m = ptx_parse("test", ptx, strlen(ptx), err, sizeof err);
    CHECK(x.m);
    if (!x.m || !gpu_load(x.g, x.m, err, sizeof err)) {
        CHECK_STR(err, "");
        exit(1);
    }
    x.out = mem_alloc(x.g, OUT * 4, "out");
    mem_fill(x.g, x.out->addr, 0, 4, OUT);
    return x;
}

static void close_machine(struct machine *x)
{
    gpu_unload(x->g, x->m);
    ptx_free(x->m);
    gpu_close(x->g);
}

static struct result launch(struct machine *x, uint32_t ctas, uint32_t threads, uint32_t cluster, uint32_t smem, uint32_t n)
{
    uint32_t grid[3] = { ctas, 1, 1 }, block[3] = { threads, 1, 1 }, per[3] = { cluster, 1, 1 };
    struct { uint64_t out; uint32_t n; } params = { x->out->addr, n };
    const struct func *f = ptx_func(x->m, "k");
    CHECK_EQ(launch_check(x->g, f, grid, block, per, smem), 0);
    struct launch *l = launch_new(x->g, f, grid, block, per, smem, &params), *done;
    gpu_start(x->g, l);
    done = gpu_run(x->g);
    CHECK(done == l);
    struct result r = { l->fault, l->cycles, l->thread_instrs };
    launch_free(l);
    return r;
}

static uint32_t out(const struct machine *x, uint32_t i) { return ((uint32_t *)x->out->host)[i]; }

/* Runs one CTA of the kernel and expects it to end well. */
static struct machine run(const char *ptx, uint32_t threads)
{
    struct machine x = machine(ptx, NULL, NULL);
    CHECK_EQ(launch(&x, 1, threads, 1, 0, threads).fault, FAULT_NONE);
    return x;
}

/* ------------------------------------------------------------------ what goes to stderr */

static char said[20000];
static int kept_stderr;

static void listen(void)
{
    fflush(stderr);
    kept_stderr = dup(2);
    FILE *f = tmpfile();
    dup2(fileno(f), 2);
    fclose(f);
}

static void heard(void)
{
    fflush(stderr);
    off_t n = lseek(2, 0, SEEK_END);
    lseek(2, 0, SEEK_SET);
    ssize_t got = read(2, said, n < (off_t)sizeof said - 1 ? (size_t)n : sizeof said - 1);
    said[got > 0 ? got : 0] = 0;
    dup2(kept_stderr, 2);
    close(kept_stderr);
}

static void expect_said(const char *text)
{
    CHECK(strstr(said, text));
    if (!strstr(said, text))
        printf("  \"%s\" is not in what was said:\n%s\n", text, said);
}

static void expect_fault(const char *ptx, uint32_t threads, enum fault_id fault, const char *text)
{
    struct machine x = machine(ptx, NULL, NULL);
    listen();
    struct result r = launch(&x, 1, threads, 1, 0, threads);
    heard();
    CHECK_EQ(r.fault, fault);
    expect_said(text);
    close_machine(&x);
}

/* ------------------------------------------------------------------ control flow */

static void adds_vectors(void)
{
    struct machine x = machine(KERNEL
        "ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r4; st.global.u32 [%rd1], %r5; ret; }", NULL, "2");
    for (uint32_t i = 0; i < 1000 * 256; i++)
        ((uint32_t *)x.out->host)[i] = 3 * i;
    CHECK_EQ(launch(&x, 1000, 256, 1, 0, 0).fault, FAULT_NONE);
    for (uint32_t i = 0; i < 1000 * 256; i++)
        if (out(&x, i) != 4 * i) {
            CHECK_EQ(out(&x, i), 4 * i);
            break;
        }
    close_machine(&x);
}

/* Lane i goes round i times; behind the loop all are together again. */
static void diverges_and_meets(void)
{
    struct machine x = run(KERNEL
        "mov.u32 %r5, 0; mov.u32 %r6, 0;\n"
        "L: setp.ge.u32 %p1, %r5, %r1; @%p1 bra D;\n"
        "and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra E; add.u32 %r6, %r6, 100; bra.uni F;\n"
        "E: add.u32 %r6, %r6, 1;\n"
        "F: add.u32 %r5, %r5, 1; bra.uni L;\n"
        "D: activemask.b32 %r8; st.global.u32 [%rd1], %r6; st.global.u32 [%rd1+256], %r8; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(out(&x, i), (i + 1) / 2 + i / 2 * 100);
        CHECK_EQ(out(&x, 64 + i), UINT32_MAX);
    }
    close_machine(&x);
}

static void branches_by_index(void)
{
    struct machine x = run(KERNEL
        "and.b32 %r5, %r1, 3; T: .branchtargets A, B, C, D; brx.idx %r5, T;\n"
        "A: mov.u32 %r6, 10; bra.uni E; B: mov.u32 %r6, 11; bra.uni E; C: mov.u32 %r6, 12; bra.uni E; D: mov.u32 %r6, 13;\n"
        "E: st.global.u32 [%rd1], %r6; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(out(&x, i), 10 + i % 4);
    close_machine(&x);
}

static void leaves_lanes_that_exit(void)
{
    struct machine x = run(KERNEL
        "setp.lt.u32 %p1, %r1, 40; @%p1 exit; bar.sync 0;\n"
        "activemask.b32 %r5; st.global.u32 [%rd1], %r5; ret; }", 96);
    CHECK_EQ(out(&x, 39), 0);
    CHECK_EQ(out(&x, 40), 0xffffff00);
    CHECK_EQ(out(&x, 95), UINT32_MAX);
    close_machine(&x);
}

/* ------------------------------------------------------------------ independent progress */

/* Each lane takes a lock that another may hold, in the way that deadlocks without independent scheduling. */
static void lanes_share_a_lock(void)
{
    static const char ptx[] = KERNEL
        "A: atom.global.cas.b32 %r5, [%rd0+4096], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra A;\n"
        "ld.volatile.global.u32 %r6, [%rd0]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd0], %r6;\n"
        "membar.gl; atom.global.exch.b32 %r5, [%rd0+4096], 0; ret; }";
    for (int seed = 0; seed < 3; seed++) {
        char text[8];
        snprintf(text, sizeof text, "%d", seed);
        struct machine x = machine(ptx, seed ? text : NULL, "2");
        CHECK_EQ(launch(&x, 4, 64, 1, 0, 0).fault, FAULT_NONE);
        CHECK_EQ(out(&x, 0), 256);
        close_machine(&x);
    }
}

/* Lane 0 spins on what lane 1 writes after the branch that parted them, and the other way round. */
static void lanes_wait_for_each_other(void)
{
    struct machine x = run(KERNEL
        "setp.eq.u32 %p1, %r1, 0; @!%p1 bra B;\n"
        "A: ld.volatile.global.u32 %r5, [%rd0+128]; setp.eq.u32 %p2, %r5, 0; @%p2 bra A;\n"
        "st.global.u32 [%rd0+256], %r5;\n"
        "B: setp.eq.u32 %p3, %r1, 1; mov.u32 %r6, 77; @%p3 st.volatile.global.u32 [%rd0+128], %r6; ret; }", 32);
    CHECK_EQ(out(&x, 64), 77);
    close_machine(&x);
}

static void warps_spin_on_shared_memory(void)
{
    struct machine x = run(KERNEL
        ".shared .align 4 .b32 s[2]; mov.u32 %r10, s; mov.u32 %r11, 0;\n"
        "setp.ne.u32 %p4, %r1, 0; @%p4 bra Z; st.shared.u32 [%r10], %r11; st.shared.u32 [%r10+4], %r11;\n"
        "Z: bar.sync 0; mov.u32 %r12, 0; setp.ge.u32 %p1, %r1, 32; @%p1 bra C;\n"
        /* the producer writes 1..100 and waits for each to be taken */
        "P: add.u32 %r12, %r12, 1; st.volatile.shared.u32 [%r10], %r12;\n"
        "W: ld.volatile.shared.u32 %r13, [%r10+4]; setp.ne.u32 %p2, %r13, %r12; @%p2 bra W;\n"
        "setp.lt.u32 %p3, %r12, 100; @%p3 bra P; ret;\n"
        "C: add.u32 %r12, %r12, 1;\n"
        "V: ld.volatile.shared.u32 %r13, [%r10]; setp.ne.u32 %p2, %r13, %r12; @%p2 bra V;\n"
        "add.u32 %r14, %r14, %r13; st.volatile.shared.u32 [%r10+4], %r12;\n"
        "setp.lt.u32 %p3, %r12, 100; @%p3 bra C; st.global.u32 [%rd1], %r12; ret; }", 64);
    CHECK_EQ(out(&x, 32), 100);
    close_machine(&x);
}

/* Every resident CTA arrives and spins until all have: as many as fit on the chip at once. */
static const char grid_barrier[] = KERNEL
    "mov.u32 %r5, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra B; red.global.add.u32 [%rd0+400000], %r5;\n"
    "A: ld.relaxed.gpu.global.u32 %r6, [%rd0+400000]; setp.lt.u32 %p2, %r6, %r0; @%p2 bra A;\n"
    "B: bar.sync 0; st.global.u32 [%rd1], %r5; ret; }";

static void all_resident_ctas_progress(void)
{
    for (int jobs = 1; jobs <= 3; jobs++) {
        char text[8];
        snprintf(text, sizeof text, "%d", jobs);
        struct machine x = machine(grid_barrier, NULL, text);
        uint32_t fit = occupancy(x.g, ptx_func(x.m, "k"), 256, 0) * gpu_device(x.g)->sms;
        CHECK_EQ(fit, 8 * 132);
        CHECK_EQ(launch(&x, fit, 64, 1, 100 * 1024, fit / 4).fault, FAULT_NONE);       /* 2 per SM by shared memory */
        CHECK_EQ(launch(&x, 264, 256, 1, 0, 264).fault, FAULT_NONE);
        close_machine(&x);
    }
}

/* CTAs of two host threads write and read pairs (x, ~x); every pair read must be one that was written. */
static void strong_vectors_are_not_torn(void)
{
    struct machine x = machine(KERNEL
        "add.u64 %rd2, %rd0, 400000; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd2, %rd2, %rd3; mov.u32 %r5, 0; mov.u32 %r9, 0;\n"
        "and.b32 %r6, %r2, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra R;\n"
        "W: not.b32 %r6, %r5; st.relaxed.gpu.global.v2.u32 [%rd2], {%r5, %r6}; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r0; @%p2 bra W; ret;\n"
        "R: ld.relaxed.gpu.global.v2.u32 {%r6, %r7}, [%rd2]; xor.b32 %r8, %r6, %r7; add.u32 %r8, %r8, 1; or.b32 %r9, %r9, %r8;\n"
        "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r0; @%p2 bra R; st.global.u32 [%rd1], %r9; ret; }", NULL, "2");
    mem_fill(x.g, x.out->addr + 400000, 0, 4, 64);
    for (uint32_t i = 0; i < 32; i++)
        ((uint32_t *)x.out->host)[100000 + 2 * i + 1] = UINT32_MAX;
    CHECK_EQ(launch(&x, 2, 32, 1, 0, 20000).fault, FAULT_NONE);
    for (uint32_t i = 32; i < 64; i++)
        CHECK_EQ(out(&x, i), 0);
    close_machine(&x);
}

/* ------------------------------------------------------------------ calls */

static void calls_itself(void)
{
    struct machine x = run(HEAD
        ".func (.param .b32 r) fib(.param .b32 a);\n"
        ".func (.param .b32 r) fib(.param .b32 a) {\n"
        ".reg .pred %p<2>; .reg .b32 %r<9>; ld.param.u32 %r1, [a]; setp.lt.u32 %p1, %r1, 2; @%p1 bra E;\n"
        "sub.u32 %r2, %r1, 1; { .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 q; call.uni (q), fib, (p0); ld.param.b32 %r3, [q]; }\n"
        "sub.u32 %r2, %r1, 2; { .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 q; call.uni (q), fib, (p0); ld.param.b32 %r4, [q]; }\n"
        "add.u32 %r1, %r3, %r4; E: st.param.b32 [r], %r1; ret; }\n"
        ".visible .entry k(.param .u64 out, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 15;\n"
        "{ .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 q; call (q), fib, (p0); ld.param.b32 %r3, [q]; }\n"
        "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1; activemask.b32 %r4;\n"
        "st.global.u32 [%rd0], %r3; st.global.u32 [%rd0+256], %r4; ret; }", 32);
    uint32_t fib[16] = { 0, 1 };
    for (uint32_t i = 2; i < 16; i++)
        fib[i] = fib[i - 1] + fib[i - 2];
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(out(&x, i), fib[i % 16]);
        CHECK_EQ(out(&x, 64 + i), UINT32_MAX);
    }
    close_machine(&x);
}

static const char endless[] = HEAD
    ".func f(.param .b32 a) { .reg .b32 %r<2>; ld.param.u32 %r1, [a]; { .param .b32 p; st.param.b32 [p], %r1; call.uni f, (p); } ret; }\n"
    ".visible .entry k(.param .u64 out, .param .u32 n) { .reg .b32 %r<2>; mov.u32 %r1, 0; { .param .b32 p; st.param.b32 [p], %r1; call.uni f, (p); } ret; }";

static void recursion_ends_at_the_stack_limit(void)
{
    expect_fault(endless, 32, FAULT_STACK, "in f, called at");
}

/* Lane i calls table[i % 3] of a table of functions in global memory. */
static void calls_through_pointers(void)
{
    struct machine x = run(HEAD
        ".func (.param .b32 r) f0(.param .b32 a) { .reg .b32 %r<2>; ld.param.u32 %r1, [a]; add.u32 %r1, %r1, 1000; st.param.b32 [r], %r1; ret; }\n"
        ".func (.param .b32 r) f1(.param .b32 a) { .reg .b32 %r<2>; ld.param.u32 %r1, [a]; mul.lo.u32 %r1, %r1, 2; st.param.b32 [r], %r1; ret; }\n"
        ".func (.param .b32 r) f2(.param .b32 a) { .reg .b32 %r<2>; activemask.b32 %r1; st.param.b32 [r], %r1; ret; }\n"
        ".global .align 8 .u64 table[3] = {f0, f1, f2};\n"
        ".visible .entry k(.param .u64 out, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 3; mul.wide.u32 %rd2, %r2, 8; mov.u64 %rd3, table;\n"
        "add.u64 %rd3, %rd3, %rd2; ld.global.u64 %rd4, [%rd3];\n"
        "{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 q; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (q), %rd4, (p0), P; ld.param.b32 %r3, [q]; }\n"
        "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r3; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(out(&x, i), i % 3 == 0 ? i + 1000 : i % 3 == 1 ? 2 * i : 0x24924924);
    close_machine(&x);
}

/* A function that some lanes leave early: the others finish, all meet behind the call. */
static void returns_divergently(void)
{
    struct machine x = run(HEAD
        ".func (.param .b32 r) f(.param .b32 a) { .reg .pred %p<2>; .reg .b32 %r<3>; ld.param.u32 %r1, [a];\n"
        "st.param.b32 [r], %r1; setp.lt.u32 %p1, %r1, 10; @%p1 ret; add.u32 %r1, %r1, 500; st.param.b32 [r], %r1; ret; }\n"
        ".visible .entry k(.param .u64 out, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x;\n"
        "{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 q; call (q), f, (p0); ld.param.b32 %r3, [q]; } activemask.b32 %r4;\n"
        "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r3; st.global.u32 [%rd0+256], %r4; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(out(&x, i), i < 10 ? i : i + 500);
        CHECK_EQ(out(&x, 64 + i), UINT32_MAX);
    }
    close_machine(&x);
}

/* ------------------------------------------------------------------ barriers */

/* Warps 0 and 1 produce, 2 and 3 consume; two named barriers of 128 threads, arrive on one side, sync on the other. */
static void arrive_and_sync_pair_up(void)
{
    struct machine x = run(KERNEL
        ".shared .align 4 .b32 s[64]; mov.u32 %r10, s; and.b32 %r11, %r1, 63; shl.b32 %r11, %r11, 2; add.u32 %r10, %r10, %r11;\n"
        "mov.u32 %r12, 0; mov.u32 %r14, 0; setp.ge.u32 %p1, %r1, 64; @%p1 bra C;\n"
        "P: add.u32 %r13, %r12, %r1; st.shared.u32 [%r10], %r13; bar.arrive 1, 128; bar.sync 2, 128; add.u32 %r12, %r12, 1;\n"
        "setp.lt.u32 %p2, %r12, 50; @%p2 bra P; ret;\n"
        "C: bar.sync 1, 128; ld.shared.u32 %r13, [%r10]; add.u32 %r14, %r14, %r13; bar.arrive 2, 128; add.u32 %r12, %r12, 1;\n"
        "setp.lt.u32 %p2, %r12, 50; @%p2 bra C; st.global.u32 [%rd1], %r14; ret; }", 128);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(out(&x, 64 + i), 50 * i + 49 * 50 / 2);
    close_machine(&x);
}

static void barriers_reduce(void)
{
    struct machine x = run(KERNEL
        "setp.lt.u32 %p1, %r1, 70; setp.lt.u32 %p2, %r1, 1000; setp.ge.u32 %p3, %r1, 1000;\n"
        "bar.red.popc.u32 %r5, 0, %p1; bar.red.and.pred %p4, 0, %p2; bar.red.or.pred %p5, 1, %p3; barrier.red.popc.u32 %r6, 0, !%p1;\n"
        "selp.u32 %r7, 1, 0, %p4; selp.u32 %r8, 1, 0, %p5; st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+1024], %r6;\n"
        "st.global.u32 [%rd1+2048], %r7; st.global.u32 [%rd1+3072], %r8; ret; }", 96);
    for (uint32_t i = 0; i < 96; i++) {
        CHECK_EQ(out(&x, i), 70);
        CHECK_EQ(out(&x, 256 + i), 26);
        CHECK_EQ(out(&x, 512 + i), 1);
        CHECK_EQ(out(&x, 768 + i), 0);
    }
    close_machine(&x);
}

static void hang_is_explained(void)
{
    expect_fault(KERNEL
        ".loc 1 5 3\nsetp.lt.u32 %p1, %r1, 64; @%p1 bra A; bar.sync 1; bra.uni B;\nA: bar.sync 0;\nB: ret; }\n.file 1 \"none.cu\"\n",
        128, FAULT_HANG, "barrier 0: 64 of 128 threads have arrived");
    expect_said("barrier 1: 64 of 128 threads have arrived");
    expect_said("warps 0-1:");
    expect_said("all lanes wait for barrier 0: bar.sync 0;");
    expect_said("nothing can run");
}

/* Nobody sleeps, and nobody will ever go on: on one host thread and on two. */
static void spinning_for_ever_is_a_hang(void)
{
    for (int jobs = 1; jobs <= 2; jobs++) {
        struct machine x = machine(grid_barrier, NULL, jobs == 1 ? "1" : "2");
        listen();
        struct result r = launch(&x, 300, 64, 1, 220 * 1024, 300);      /* 132 of them fit at a time */
        heard();
        CHECK_EQ(r.fault, FAULT_HANG);
        expect_said("168 of the grid's 300 CTAs have not begun");
        expect_said("spin, and nobody is left to change what they read: ld.relaxed.gpu.global.u32");
        expect_said("wait for barrier 0");
        close_machine(&x);
    }
}

/* What looks like it and is none: a loop that counts, one that reads the clock, one that the last CTA ends. */
static void long_waits_are_no_hang(void)
{
    static const char *const loops[] = {
        "mov.u32 %r5, 0; A: ld.volatile.global.u32 %r6, [%rd0]; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 20000; @%p1 bra A; ret; }",
        "mov.u64 %rd2, %clock64; A: ld.volatile.global.u32 %r6, [%rd0]; mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2;\n"
        "setp.lt.u64 %p1, %rd3, 3000000; @%p1 bra A; ret; }",
        "setp.eq.u32 %p1, %r2, 2; @%p1 bra B; A: ld.volatile.global.u32 %r6, [%rd0]; setp.eq.u32 %p2, %r6, 0; @%p2 bra A; ret;\n"
        "B: add.u32 %r5, %r5, 1; and.b32 %r6, %r5, 0x3fffff; setp.ne.u32 %p2, %r6, 0; @%p2 bra B; st.global.u32 [%rd0], 1; ret; }",
        "setp.eq.u32 %p1, %r2, 2; @%p1 bra B; A: ld.volatile.global.u32 %r6, [%rd0]; setp.eq.u32 %p2, %r6, 0; @%p2 bra A; ret;\n"
        "B: nanosleep.u32 1000000; mov.u32 %r7, 1; st.global.u32 [%rd0], %r7; ret; }" };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char ptx[4000];
        snprintf(ptx, sizeof ptx, "%smov.u32 %%r5, 0; %s", KERNEL, loops[i]);
        for (int jobs = 1; jobs <= 2; jobs++) {
            struct machine x = machine(ptx, NULL, jobs == 1 ? "1" : "2");
            CHECK_EQ(launch(&x, 3, 32, 1, 0, 0).fault, FAULT_NONE);
            close_machine(&x);
        }
    }
}

static void divergent_aligned_barrier_is_a_fault(void)
{
    expect_fault(KERNEL "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra.uni B;\nA: bar.sync 0;\nB: ret; }", 32,
                 FAULT_NOT_CONVERGED, "lanes 0x");
    expect_fault(KERNEL "setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0; ret; }", 32, FAULT_NOT_CONVERGED, "lanes 0x0000ffff execute it");
}

static void barrier_operands_are_checked(void)
{
    expect_fault(KERNEL "add.u32 %r5, %r0, 16; bar.sync %r5; ret; }", 32, FAULT_BARRIER, "barriers 0 to 15");
    expect_fault(KERNEL "bar.sync 1, 40; ret; }", 64, FAULT_BARRIER, "40 threads is not a multiple of 32");
    expect_fault(KERNEL "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; ret; A: bar.sync 1, 96; ret; }", 96, FAULT_BARRIER,
                 "of 96 where others have arrived");
}

/* ------------------------------------------------------------------ warp-wide instructions */

static void shuffles(void)
{
    struct machine x = run(KERNEL
        "shfl.sync.up.b32 %r5|%p1, %r1, 3, 0, 0xffffffff; shfl.sync.down.b32 %r6|%p2, %r1, 5, 31, 0xffffffff;\n"
        "shfl.sync.bfly.b32 %r7, %r1, 9, 31, 0xffffffff; shfl.sync.idx.b32 %r8, %r1, 2, 0x181f, 0xffffffff;\n"
        "selp.u32 %r9, 1, 0, %p1; selp.u32 %r10, 1, 0, %p2; st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+128], %r6;\n"
        "st.global.u32 [%rd1+256], %r7; st.global.u32 [%rd1+384], %r8; st.global.u32 [%rd1+512], %r9; st.global.u32 [%rd1+640], %r10; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(out(&x, i), i < 3 ? i : i - 3);
        CHECK_EQ(out(&x, 32 + i), i > 26 ? i : i + 5);
        CHECK_EQ(out(&x, 64 + i), i ^ 9);
        CHECK_EQ(out(&x, 96 + i), i / 8 * 8 + 2);       /* segments of 8 */
        CHECK_EQ(out(&x, 128 + i), i >= 3);
        CHECK_EQ(out(&x, 160 + i), i <= 26);
    }
    close_machine(&x);
}

static void votes_and_matches(void)
{
    struct machine x = run(KERNEL
        "setp.lt.u32 %p1, %r1, 7; vote.sync.ballot.b32 %r5, %p1, 0xffffffff; vote.sync.any.pred %p2, %p1, 0xffffffff;\n"
        "vote.sync.all.pred %p3, %p1, 0xffffffff; vote.sync.uni.pred %p4, %p1, 0xffffffff; and.b32 %r6, %r1, 3;\n"
        "match.any.sync.b32 %r7, %r6, 0xffffffff; match.all.sync.b32 %r8|%p5, %r6, 0xffffffff; elect.sync %r9|%p6, 0xffffffff;\n"
        "redux.sync.add.u32 %r10, %r1, 0xffffffff; redux.sync.max.s32 %r11, %r1, 0xffffffff; redux.sync.xor.b32 %r12, %r6, 0xffffffff;\n"
        "selp.u32 %r13, 1, 0, %p2; selp.u32 %r14, 2, 0, %p3; selp.u32 %r15, 4, 0, %p4; selp.u32 %r16, 8, 0, %p5; selp.u32 %r17, 16, 0, %p6;\n"
        "or.b32 %r13, %r13, %r14; or.b32 %r13, %r13, %r15; or.b32 %r13, %r13, %r16; or.b32 %r13, %r13, %r17;\n"
        "st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+128], %r7; st.global.u32 [%rd1+256], %r8; st.global.u32 [%rd1+384], %r10;\n"
        "st.global.u32 [%rd1+512], %r11; st.global.u32 [%rd1+640], %r12; st.global.u32 [%rd1+768], %r13; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(out(&x, i), 0x7f);
        CHECK_EQ(out(&x, 32 + i), 0x11111111u << i % 4);
        CHECK_EQ(out(&x, 64 + i), 0);
        CHECK_EQ(out(&x, 96 + i), 496);
        CHECK_EQ(out(&x, 128 + i), 31);
        CHECK_EQ(out(&x, 160 + i), 0);
        CHECK_EQ(out(&x, 192 + i), i ? 1 : 17);
    }
    close_machine(&x);
}

/* Groups of lanes with masks of their own, in one instruction and in a branch. */
static void groups_work_apart(void)
{
    struct machine x = run(KERNEL
        "setp.lt.u32 %p1, %r1, 20; mov.u32 %r5, 0xfffff; mov.u32 %r6, 0xfff00000; selp.u32 %r7, %r5, %r6, %p1;\n"
        "redux.sync.add.u32 %r8, %r1, %r7; mov.u32 %r9, 0; @%p1 bra A; vote.sync.ballot.b32 %r9, %p1, 0xfff00000; bar.warp.sync 0xffffffff; bra.uni B;\n"
        "A: vote.sync.ballot.b32 %r9, %p1, 0xfffff; bar.warp.sync 0xffffffff;\n"
        "B: st.global.u32 [%rd1], %r8; st.global.u32 [%rd1+128], %r9; ret; }", 32);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(out(&x, i), i < 20 ? 190 : 306);
        CHECK_EQ(out(&x, 32 + i), i < 20 ? 0xfffff : 0);
    }
    close_machine(&x);
}

static void lanes_outside_their_mask_are_a_fault(void)
{
    expect_fault(KERNEL "bar.warp.sync 0xff; ret; }", 32, FAULT_BAD_OPERAND, "not in its own member mask");
}

/* ------------------------------------------------------------------ clusters */

/* Every CTA counts itself in, waits at the cluster's barrier, and must see all of its cluster. */
static void clusters_are_resident_together(void)
{
    for (uint32_t size = 2; size <= 16; size *= 2) {
        struct machine x = machine(KERNEL
            "mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %clusterid.x; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd0, %rd2; mov.u32 %r7, 1;\n"
            "setp.eq.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [%rd2+400000], %r7;\n"
            "barrier.cluster.arrive; barrier.cluster.wait; ld.volatile.global.u32 %r8, [%rd2+400000]; mad.lo.u32 %r8, %r5, 1000, %r8;\n"
            "st.global.u32 [%rd1], %r8; ret; }", size == 4 ? "3" : NULL, "2");
        CHECK_EQ(launch(&x, 320, 64, size, 0, 0).fault, FAULT_NONE);
        for (uint32_t cta = 0; cta < 320; cta++)
            CHECK_EQ(out(&x, cta * 64), cta % size * 1000 + size);
        close_machine(&x);
    }
}

/* ------------------------------------------------------------------ determinism */

static uint32_t *trace_of(const char *seed, uint64_t *cycles)
{
    /* tickets in the order of arrival, and the clock at that moment */
    struct machine x = machine(KERNEL
        "mov.u32 %r9, 0; L: atom.global.add.u32 %r5, [%rd0+2000000], 1; mov.u32 %r6, %clock; add.u32 %r7, %r5, %r6; xor.b32 %r8, %r8, %r7;\n"
        "bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 4; @%p1 bra L; st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+400000], %r6; ret; }", seed, "1");
    struct result r = launch(&x, 300, 128, 1, 0, 0);
    CHECK_EQ(r.fault, FAULT_NONE);
    *cycles = r.cycles;
    uint32_t *copy = malloc(OUT * 4);
    memcpy(copy, x.out->host, OUT * 4);
    close_machine(&x);
    return copy;
}

static void one_seed_is_one_schedule(void)
{
    uint64_t cycles[4];
    uint32_t *a = trace_of("7", &cycles[0]), *b = trace_of("7", &cycles[1]);
    uint32_t *c = trace_of("8", &cycles[2]), *d = trace_of(NULL, &cycles[3]), *e = trace_of(NULL, &cycles[3]);
    CHECK(!memcmp(a, b, OUT * 4));
    CHECK(memcmp(a, c, OUT * 4));
    CHECK(memcmp(a, d, OUT * 4));
    CHECK(!memcmp(d, e, OUT * 4));
    CHECK_EQ(cycles[0], cycles[1]);
    free(a), free(b), free(c), free(d), free(e);
}

/* ------------------------------------------------------------------ random control flow
 * Lanes of a warp that go separate ways must each compute what a thread alone in its warp computes. */

struct program { char text[60000]; size_t len; uint32_t random, labels; int depth; };

static uint32_t dice(struct program *p, uint32_t n)
{
    p->random = p->random * 1664525 + 1013904223;
    return (p->random >> 10) % n;
}

__attribute__((format(printf, 2, 3)))
static void write_ptx(struct program *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    p->len += (size_t)vsnprintf(p->text + p->len, sizeof p->text - p->len, fmt, ap);
    va_end(ap);
}

static void statements(struct program *p, bool in_function);

static void condition(struct program *p)
{
    write_ptx(p, "mul.lo.u32 %%r5, %%r6, %u; shr.u32 %%r5, %%r5, %u; and.b32 %%r5, %%r5, %u; setp.lt.u32 %%p1, %%r5, %u;\n",
              2654435761u + 2 * dice(p, 1000), 8 + dice(p, 16), 7u, 1 + dice(p, 6));
}

static void write_if(struct program *p, bool in_function)
{
    uint32_t l = p->labels++;
    bool has_else = dice(p, 2);
    condition(p);
    write_ptx(p, "@%%p1 bra E%u;\n", l);
    statements(p, in_function);
    if (has_else)
        write_ptx(p, "bra.uni F%u;\n", l);
    write_ptx(p, "E%u:\n", l);
    if (has_else) {
        statements(p, in_function);
        write_ptx(p, "F%u:\n", l);
    }
}

/* A loop of up to 7 rounds, which some lanes leave in its middle. */
static void write_loop(struct program *p, bool in_function)
{
    uint32_t l = p->labels++, counter = 20 + (uint32_t)p->depth;
    write_ptx(p, "mov.u32 %%r%u, 0;\nL%u: add.u32 %%r%u, %%r%u, 1;\n", counter, l, counter, counter);
    statements(p, in_function);
    if (dice(p, 2)) {
        condition(p);
        write_ptx(p, "@%%p1 bra M%u;\n", l);
    }
    statements(p, in_function);
    write_ptx(p, "and.b32 %%r5, %%r6, 7; setp.lt.u32 %%p1, %%r%u, %%r5; @%%p1 bra L%u;\nM%u:\n", counter, l, l);
}

static void write_call(struct program *p)
{
    write_ptx(p, "{ .param .b32 a; st.param.b32 [a], %%r6; .param .b32 q; call (q), f%u, (a); ld.param.b32 %%r6, [q]; }\n", dice(p, 2));
}

static void statements(struct program *p, bool in_function)
{
    p->depth++;
    for (uint32_t n = 1 + dice(p, 3); n; n--) {
        uint32_t kind = dice(p, 6);
        if (kind == 0 && p->depth < 6)
            write_loop(p, in_function);
        else if (kind < 3 && p->depth < 6)
            write_if(p, in_function);
        else if (kind == 3 && !in_function)
            write_call(p);
        else if (kind == 4 && dice(p, 4) == 0) {
            condition(p);
            write_ptx(p, in_function ? "st.param.b32 [r], %%r6; @%%p1 ret;\n" : "@%%p1 bra OUT;\n");
        } else {
            write_ptx(p, "mad.lo.u32 %%r6, %%r6, %u, %u;\n", 1 + 2 * dice(p, 500), dice(p, 1000));
        }
    }
    p->depth--;
}

static void random_program(struct program *p, uint32_t seed)
{
    *p = (struct program){ .random = seed };
    write_ptx(p, "%s", HEAD);
    for (int f = 0; f < 2; f++) {
        write_ptx(p, ".func (.param .b32 r) f%d(.param .b32 a) { .reg .pred %%p<2>; .reg .b32 %%r<40>; ld.param.u32 %%r6, [a];\n", f);
        statements(p, true);
        write_ptx(p, "st.param.b32 [r], %%r6; ret; }\n");
    }
    /* thread i of the grid starts from i; n lanes of each warp take part */
    write_ptx(p, ".visible .entry k(.param .u64 out, .param .u32 n) { .reg .pred %%p<2>; .reg .b32 %%r<40>; .reg .b64 %%rd<4>;\n"
              "ld.param.u64 %%rd0, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x; mad.lo.u32 %%r6, %%r2, %%r3, %%r1;\n"
              "mul.wide.u32 %%rd1, %%r6, 4; add.u64 %%rd0, %%rd0, %%rd1; mul.lo.u32 %%r6, %%r6, 747796405;\n");
    statements(p, false);
    statements(p, false);
    write_ptx(p, "OUT: st.global.u32 [%%rd0], %%r6; activemask.b32 %%r7; st.global.u32 [%%rd0+4096], %%r7; ret; }\n");
}

static void lanes_compute_as_if_alone(void)
{
    static struct program p;
    uint32_t alone[64];
    for (uint32_t seed = 1; seed <= 40; seed++) {
        random_program(&p, seed);
        struct machine x = machine(p.text, NULL, "1");
        CHECK_EQ(launch(&x, 64, 1, 1, 0, 0).fault, FAULT_NONE);
        memcpy(alone, x.out->host, sizeof alone);
        mem_fill(x.g, x.out->addr, 0, 4, OUT);
        CHECK_EQ(launch(&x, 1, 64, 1, 0, 0).fault, FAULT_NONE);
        CHECK(!memcmp(alone, x.out->host, sizeof alone));
        for (uint32_t i = 0; i < 64; i++)               /* and all meet at the end */
            CHECK_EQ(out(&x, 1024 + i), UINT32_MAX);
        close_machine(&x);
    }
}

/* ------------------------------------------------------------------ faults, system calls, launches */

static void a_fault_ends_the_launch_alone(void)
{
    struct machine x = machine(KERNEL "setp.eq.u32 %p1, %r4, %r0; @%p1 trap; ret; }", NULL, "2");
    listen();
    struct result r = launch(&x, 2000, 64, 1, 0, 777);
    heard();
    CHECK_EQ(r.fault, FAULT_TRAP);
    expect_said("CTA (12,0,0), thread (9,0,0): warp 0, lane 9");
    expect_said("trap;");
    CHECK_EQ(launch(&x, 2000, 64, 1, 0, UINT32_MAX).fault, FAULT_NONE);
    close_machine(&x);
}

static void kernels_print(void)
{
    struct machine x = machine(HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 fmt[40] = {37,100,32,37,115,32,37,53,46,50,102,32,37,108,108,120,32,37,37,32,37,99,10,0};\n"   /* %d %s %5.2f %llx %% %c */
        ".global .align 1 .b8 word[4] = {97,98,99,0};\n"
        ".visible .entry k(.param .u64 out, .param .u32 n) { .local .align 8 .b8 buf[40]; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "mov.u64 %rd1, buf; mov.u32 %r1, %tid.x; sub.u32 %r1, %r1, 5; st.local.u32 [%rd1], %r1; mov.u64 %rd2, word; cvta.global.u64 %rd2, %rd2;\n"
        "st.local.u64 [%rd1+8], %rd2; mov.u64 %rd3, 0x4009000000000000; st.local.u64 [%rd1+16], %rd3; mov.u64 %rd3, 0x123456789ab; st.local.u64 [%rd1+24], %rd3;\n"
        "mov.u32 %r2, 120; st.local.u32 [%rd1+32], %r2; mov.u64 %rd4, fmt; cvta.global.u64 %rd4, %rd4; cvta.local.u64 %rd1, %rd1;\n"
        "{ .param .b64 p0; st.param.b64 [p0], %rd4; .param .b64 p1; st.param.b64 [p1], %rd1; .param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r3, [q]; }\n"
        "ld.param.u64 %rd5, [out]; st.global.u32 [%rd5], %r3; ret; }", NULL, NULL);
    fflush(stdout);
    int kept = dup(1);
    FILE *f = tmpfile();
    dup2(fileno(f), 1);
    CHECK_EQ(launch(&x, 1, 2, 1, 0, 0).fault, FAULT_NONE);
    syscall_flush(x.g);
    dup2(kept, 1);
    close(kept);
    char text[200] = "";
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    fclose(f);
    CHECK_STR(text, "-5 abc  3.12 123456789ab % x\n-4 abc  3.12 123456789ab % x\n");
    CHECK_EQ(out(&x, 0), 5);
    close_machine(&x);
}

static void launches_are_checked(void)
{
    struct machine x = machine(KERNEL "ret; }", NULL, NULL);
    const struct func *f = ptx_func(x.m, "k");
    uint32_t one[3] = { 1, 1, 1 }, big[3] = { 1025, 1, 1 }, none[3] = { 0, 1, 1 }, three[3] = { 3, 1, 1 }, four[3] = { 4, 1, 1 };
    CHECK_EQ(launch_check(x.g, f, one, one, one, 227 * 1024), 0);
    CHECK_EQ(launch_check(x.g, f, one, one, one, 227 * 1024 + 1), 1);
    CHECK_EQ(launch_check(x.g, f, one, big, one, 0), 9);
    CHECK_EQ(launch_check(x.g, f, none, one, one, 0), 9);
    CHECK_EQ(launch_check(x.g, f, four, one, three, 0), 9);
    CHECK_EQ(launch_check(x.g, f, four, one, four, 0), 0);
    CHECK_EQ(launch_check(x.g, f, big, one, big, 0), 912);
    close_machine(&x);
}

static void names_are_plain(void)
{
    static const char *const names[][2] = {
        { "gemm", "gemm" }, { "_Z5rolesPi", "roles" }, { "_ZN4scan4stepEPi", "scan::step" }, { "_ZZ9transposePiE4tile", "tile of transpose" },
        { "_ZN12_GLOBAL__N_14gemmILi128ELi256EEEvPKfS2_", "gemm" }, { "_Z6kernelIfLi4EEvPT_", "kernel" }, { "_ZTV3abc", "_ZTV3abc" },
        { "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEEEEEEvNT_6ParamsE", "cutlass::device_kernel" },
        { "_Z99short", "_Z99short" }, { "_ZN4half", "_ZN4half" } };
    char buf[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR(plain_name(names[i][0], buf, sizeof buf), names[i][1]);
    CHECK_STR(plain_name("_Z5rolesPi", buf, 4), "_Z5rolesPi");
}

static void refuses_what_the_chip_lacks(void)
{
    char err[1000] = "";
    static const char ptx[] = ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }";
    struct gpu *g = gpu_open(device_by_id("h200"));
    struct module *m = ptx_parse("new", ptx, strlen(ptx), err, sizeof err);
    CHECK(m);
    CHECK(!gpu_load(g, m, err, sizeof err));
    CHECK_STR(err, "new is for sm_100a, which NVIDIA H200 (emulated) (compute capability 9.0) does not run");
    ptx_free(m);
    gpu_close(g);
    CHECK_STR(device_for_target(80, 0)->id, "a100");
    CHECK_STR(device_for_target(90, 'a')->id, "h200");
    CHECK_STR(device_for_target(89, 0)->id, "h200");
    CHECK_STR(device_for_target(100, 'f')->id, "b200");
    CHECK_STR(device_for_target(103, 'a')->id, "b300");
    CHECK(!device_for_target(110, 'a'));
}

TESTS({ adds_vectors, "a thousand CTAs add vectors" },
      { diverges_and_meets, "lanes part in a loop and meet behind it" },
      { branches_by_index, "brx.idx takes each lane to its label" },
      { leaves_lanes_that_exit, "barriers do not wait for threads that have exited" },
      { lanes_share_a_lock, "a spin lock between the lanes of a warp ends" },
      { lanes_wait_for_each_other, "a lane spins on what another writes behind their join" },
      { warps_spin_on_shared_memory, "warps hand values over by spinning" },
      { all_resident_ctas_progress, "all CTAs that fit make progress together" },
      { strong_vectors_are_not_torn, "a strong vector access is not torn by another host thread" },
      { calls_itself, "a function calls itself" },
      { recursion_ends_at_the_stack_limit, "recursion without end is a fault that shows the calls" },
      { calls_through_pointers, "lanes call different functions through pointers" },
      { returns_divergently, "lanes that return early wait behind the call" },
      { arrive_and_sync_pair_up, "bar.arrive and bar.sync pair up" },
      { barriers_reduce, "barriers count, and, or" },
      { hang_is_explained, "a hang is reported with barriers and waiters" },
      { spinning_for_ever_is_a_hang, "spinning on what nobody will write is a hang" },
      { long_waits_are_no_hang, "a long wait is no hang" },
      { divergent_aligned_barrier_is_a_fault, "an aligned barrier in part of a warp is a fault" },
      { barrier_operands_are_checked, "barrier ids and counts are checked" },
      { shuffles, "shfl in its four modes" },
      { votes_and_matches, "vote, match, redux, elect" },
      { groups_work_apart, "groups of lanes with masks of their own" },
      { lanes_outside_their_mask_are_a_fault, "a lane outside its own member mask is a fault" },
      { clusters_are_resident_together, "the CTAs of a cluster run together" },
      { lanes_compute_as_if_alone, "in random control flow each lane computes as if alone" },
      { one_seed_is_one_schedule, "one seed is one schedule, to the bit" },
      { a_fault_ends_the_launch_alone, "a fault ends its launch, not the next" },
      { kernels_print, "printf from a kernel" },
      { launches_are_checked, "launches that cannot be are refused" },
      { names_are_plain, "C++ names are shown as written" },
      { refuses_what_the_chip_lacks, "code for another chip is refused, and every target finds its chip" })
