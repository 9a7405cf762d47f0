/* memory_machine.h: what the unit tests of memory share: a GPU, a kernel `k` made from a few lines of PTX, two
 * buffers to run it on, and an ear for what a fault says.
 *
 * In the lines: %rd0 = a, %rd1 = b (device addresses), %r0 = n, %r1 = thread in the CTA, %r2 = CTA, %r3 = thread
 * in the grid; %rd2 = &a[4 * thread in the grid]. Free: %rd10…, %r10…, %h (16 bits), %f, %d, %q (128 bits), %p. */
#ifndef MEMORY_MACHINE_H
#define MEMORY_MACHINE_H

#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "emu.h"

/* Directives of the kernel, such as ".maxntid 256". */
#ifndef BOUNDS
#define BOUNDS ""
#endif

#define KERNEL                                                                                      \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n" BOUNDS "{\n"                  \
    ".reg .pred %p<9>; .reg .b16 %h<40>; .reg .b32 %r<80>; .reg .b64 %rd<80>; .reg .b128 %q<9>;\n"  \
    ".reg .f32 %f<40>; .reg .f64 %d<9>;\n"                                                          \
    "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u32 %r0, [n];\n"                      \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r3, %r2, %r3, %r1;\n" \
    "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd0, %rd2;\n"

struct machine {
    struct gpu *g;
    struct module *m;
    struct alloc *a, *b;
    enum fault_id fault;
    uint32_t cluster;           /* CTAs in each; 0 is 1 */
    char said[8192];
};

enum { BYTES = 1 << 16 };       /* of a and of b; what a kernel has not written there is poison */

/* `variables`: text before the kernel; `lines`: its body. */
static inline struct machine machine_for(const char *device, const char *target, const char *variables, const char *lines)
{
    struct machine x = { .g = gpu_open(device_by_id(device)) };
    char err[2000] = "", *text = NULL;
    int len = asprintf(&text, ".version 9.0\n.target %s\n.address_size 64\n%s\n%s%s\nret; }\n", target,
                       variables, KERNEL, lines);
    x.m = ptx_parse("test", text, (size_t)len, err, sizeof err);
    if (x.m && !gpu_load(x.g, x.m, err, sizeof err))
        ptx_free(x.m), x.m = NULL;
    snprintf(x.said, sizeof x.said, "%s", err);
    free(text);
    x.a = mem_alloc(x.g, BYTES, "cudaMalloc");
    x.b = mem_alloc(x.g, BYTES, "cudaMalloc");
    return x;
}

static inline struct machine machine(const char *variables, const char *lines)
{
    unsetenv("EMU_SEED");
    setenv("EMU_JOBS", "1", 1);
    struct machine x = machine_for("h200", "sm_90a", variables, lines);
    if (!x.m) {
        CHECK_STR(x.said, "");
        exit(1);
    }
    return x;
}

static inline void machine_close(struct machine *x)
{
    if (x->m) {
        gpu_unload(x->g, x->m);
        ptx_free(x->m);
    }
    gpu_close(x->g);
}

/* Runs k(a, b, n) and keeps what goes to stderr meanwhile. */
static inline void run(struct machine *x, uint32_t ctas, uint32_t threads, uint32_t n)
{
    uint32_t grid[3] = { ctas, 1, 1 }, block[3] = { threads, 1, 1 }, per[3] = { x->cluster ? x->cluster : 1, 1, 1 };
    struct { uint64_t a, b; uint32_t n; } params = { x->a->addr, x->b->addr, n };
    struct launch *l = launch_new(x->g, ptx_func(x->m, "k"), grid, block, per, 0, &params);
    FILE *ear = tmpfile();
    int kept = dup(2);
    fflush(stderr);
    dup2(fileno(ear), 2);
    gpu_start(x->g, l);
    CHECK(gpu_run(x->g) == l);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    rewind(ear);
    x->said[fread(x->said, 1, sizeof x->said - 1, ear)] = 0;
    fclose(ear);
    x->fault = l->fault;
    launch_free(l);
}

static inline void expect_said(const struct machine *x, const char *text)
{
    CHECK(strstr(x->said, text));
    if (!strstr(x->said, text))
        printf("  \"%s\" is not in what was said:\n%s\n", text, x->said);
}

static inline void expect_ok(const struct machine *x)
{
    CHECK_EQ(x->fault, FAULT_NONE);
    if (x->fault)
        printf("%s\n", x->said);
}

/* 32-bit word i of a buffer. */
static inline uint32_t word(const struct alloc *a, uint32_t i) { uint32_t v; memcpy(&v, a->host + 4 * i, 4); return v; }

/* Bytes that differ from one another: byte i of the buffer is hash_byte(i). */
static inline uint8_t hash_byte(uint32_t i) { return (uint8_t)((i * 2654435761u) >> 17 ^ i * 7); }
static inline void fill_hashed(struct machine *x, struct alloc *a)
{
    static uint8_t bytes[BYTES];
    for (uint32_t i = 0; i < BYTES; i++)
        bytes[i] = hash_byte(i);
    CHECK(mem_to_device(x->g, a->addr, bytes, BYTES));
}

#endif
