/* mma_machine.h: runs one matrix instruction in a warp of its own, from registers that the test fills to registers that
 * it reads, through the parser, the table of pickers and the scheduler.
 */
#ifndef TESTS_MMA_MACHINE_H
#define TESTS_MMA_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "emu.h"

enum { SMEM = 8192 };

/* Registers as the kernel sees them: %a0 %b0 %c0 %d0 and on have 32 bits (%A0 %B0 %C0 %D0 64 bits), eight of each;
 * %e0 to %e3 are further 32-bit ones, %h0 to %h3 their low halves; %s the address of smem, %g of its global twin. */
struct warp_run {
    uint64_t a[8][WARP], b[8][WARP], c[8][WARP], e[4][WARP], d[8][WARP];
    uint8_t memory[SMEM];       /* to shared memory before, from it after; global too */
    enum fault_id fault;
};

struct mma_machine { struct gpu *gpu; struct module *module; struct alloc *regs, *memory; bool wide; };

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline void append(char *text, size_t size, const char *format, ...)
{
    va_list args;
    size_t n = strlen(text);
    va_start(args, format);
    vsnprintf(text + n, size - n, format, args);
    va_end(args);
}

/* The kernel around one instruction. `wide`: a, b, c, d are the 64-bit registers. */
static inline void kernel_text(char *text, size_t size, const char *target, const char *instruction, bool wide)
{
    const char *name = wide ? "ABCD" : "abcd", *type = wide ? "b64" : "b32";
    snprintf(text, size, ".version 9.0\n.target %s\n.address_size 64\n"
             ".visible .entry k(.param .u64 r, .param .u64 m)\n{\n"
             ".reg .b64 %%p, %%q, %%g, %%t, %%A<8>, %%B<8>, %%C<8>, %%D<8>;\n"
             ".reg .b32 %%l, %%s, %%i, %%w, %%a<8>, %%b<8>, %%c<8>, %%d<8>, %%e<4>;\n"
             ".reg .b16 %%h<4>;\n.reg .pred %%x;\n.shared .align 128 .b8 smem[%d];\n"
             "ld.param.u64 %%p, [r];\nld.param.u64 %%g, [m];\nmov.u32 %%l, %%laneid;\nmul.wide.u32 %%q, %%l, 8;\n"
             "add.u64 %%p, %%p, %%q;\nmov.u32 %%s, smem;\nmul.lo.u32 %%i, %%l, 4;\n", target, SMEM);
    for (int i = 0; i < SMEM; i += 128)
        append(text, size, "mul.wide.u32 %%t, %%l, 4; add.u64 %%t, %%t, %%g; ld.global.b32 %%w, [%%t+%d]; "
               "add.u32 %%i, %%s, %d; mad.lo.u32 %%i, %%l, 4, %%i; st.shared.b32 [%%i], %%w;\n", i, i);
    append(text, size, "bar.warp.sync -1;\n");
    for (int set = 0; set < 3; set++)
        for (int i = 0; i < 8; i++)
            append(text, size, "ld.global.%s %%%c%d, [%%p+%d];\n", type, name[set], i, (8 * set + i) * 256);
    for (int i = 0; i < 4; i++)
        append(text, size, "ld.global.b32 %%e%d, [%%p+%d]; ld.global.b16 %%h%d, [%%p+%d];\n", i, (24 + i) * 256, i,
               (24 + i) * 256);
    for (int i = 0; i < 8; i++)
        append(text, size, "mov.%s %%%c%d, 0;\n", type, name[3], i);
    append(text, size, ".loc 1 1 0\n%s\n", instruction);
    for (int i = 0; i < 8; i++)
        append(text, size, "st.global.%s [%%p+%d], %%%c%d;\n", type, (32 + i) * 256, name[3], i);
    append(text, size, "bar.warp.sync -1;\n");
    for (int i = 0; i < SMEM; i += 128)
        append(text, size, "add.u32 %%i, %%s, %d; mad.lo.u32 %%i, %%l, 4, %%i; ld.shared.b32 %%w, [%%i]; "
               "mul.wide.u32 %%t, %%l, 4; add.u64 %%t, %%t, %%g; st.global.b32 [%%t+%d], %%w;\n", i, i + SMEM);
    append(text, size, "ret;\n}\n");
}

/* false: refused, *why says how. */
static inline bool mma_open(struct mma_machine *m, const char *device, const char *target, const char *instruction,
                            bool wide, char *why, size_t size)
{
    static char text[40000];
    kernel_text(text, sizeof text, target, instruction, wide);
    *m = (struct mma_machine){ .gpu = gpu_open(device_by_id(device)), .wide = wide };
    m->module = ptx_parse("test", text, strlen(text), why, size);
    if (!m->module || !gpu_load(m->gpu, m->module, why, size)) {
        if (m->module)
            ptx_free(m->module);
        gpu_close(m->gpu);
        return false;
    }
    m->regs = mem_alloc(m->gpu, 40 * 256, "registers");
    m->memory = mem_alloc(m->gpu, 2 * SMEM, "memory");
    return true;
}

static inline void mma_close(struct mma_machine *m)
{
    gpu_unload(m->gpu, m->module);
    ptx_free(m->module);
    gpu_close(m->gpu);
}

static inline void mma_execute(struct mma_machine *m, struct warp_run *r)
{
    const uint32_t one[3] = { 1, 1, 1 }, block[3] = { WARP, 1, 1 };
    struct { uint64_t regs, memory; } params = { m->regs->addr, m->memory->addr };
    mem_to_device(m->gpu, m->regs->addr, r->a, 28 * 256);
    mem_fill(m->gpu, m->regs->addr + 28 * 256, 0, 1, 12 * 256);
    mem_to_device(m->gpu, m->memory->addr, r->memory, SMEM);
    mem_fill(m->gpu, m->memory->addr + SMEM, 0, 1, SMEM);
    struct launch *l = launch_new(m->gpu, ptx_func(m->module, "k"), one, block, one, 0, &params);
    gpu_start(m->gpu, l);
    CHECK(gpu_run(m->gpu) == l);
    r->fault = l->fault;
    launch_free(l);
    mem_to_host(m->gpu, r->d, m->regs->addr + 32 * 256, sizeof r->d);
    if (!r->fault)
        mem_to_host(m->gpu, r->memory, m->memory->addr + SMEM, SMEM);
}

#endif
