/* z_wgmma.h: warpgroup MMA. Four warps multiply together, straight from shared memory.
 *
 * wgmma.mma_async computes D = A * B + D for a tile of 64 x N (N = 8..256) and 16 k at a time (fp16, bf16). A
 * and B are found in shared memory through 64-bit descriptors (z_layout.h), in the swizzled layout that the TMA
 * leaves; A may be in registers instead. D is in registers, spread over the 128 threads as z_layout.h draws it.
 *
 * It is asynchronous: the instruction only starts the work. The order of things is
 *
 *     wgmma_fence           D (and A) in registers as they are now; before the first, and after touching them
 *     wgmma_mma_async_…     as many as wanted; those on the same D and of one shape follow each other by themselves
 *     wgmma_commit_group    closes a group
 *     wgmma_wait_group<n>   until at most n groups are under way: only then may D be read and A, B be overwritten
 *
 * Everything here is executed by all four warps of a warpgroup (threads 128 i to 128 i + 127), converged, with the
 * same descriptors. If the compiler cannot keep D in place between fence and wait it serialises the instructions
 * and warns (C7510 and its like): the build takes that for an error.
 *
 * In this file: 1 order   2 m64nNk16, A and B in shared memory   3 A in registers   4 registers of the warps
 * PTX ISA: "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". sm_90a.
 */
#ifndef Z_WGMMA_H
#define Z_WGMMA_H

#include "z_layout.h"
#include "z_ptx.h"

/* ------------------------------------------------------------------ 1 order */

/* Orders this warpgroup's accesses to registers (D, A) before the wgmma that follow. ISA: "wgmma.fence". */
PTX_FN void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Closes the group of the wgmma since the last commit. ISA: "wgmma.commit_group". */
PTX_FN void wgmma_commit_group(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most n of the groups, the newest, are still under way. ISA: "wgmma.wait_group". */
template <int n>
PTX_FN void wgmma_wait_group(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(n) : "memory");
}

/* ------------------------------------------------------------------ 2 m64nNk16, A and B in shared memory
 *
 *     wgmma_mma_async_m64n256k16_f32_f16_f16(d, a_desc, b_desc, scale_d)
 *
 * D (64 x N, fp32) = A (64 x 16) * B (16 x N) + scale_d * D; scale_d is 0 or 1: with 0, D need not be cleared
 * beforehand. Both operands are K-major: in shared memory, the 16 k of a row of A, or of a column of B, lie
 * together. ISA: "wgmma.mma_async".
 *
 * D is N / 2 registers, which the text of the instruction lists one by one; hence the macros. */
#define WGMMA_D32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_D64 \
    WGMMA_D32 ", " "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_D96 \
    WGMMA_D64 ", " "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_D128 \
    WGMMA_D96 ", " "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define WGMMA_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
                      "+f"(d[i + 6]), "+f"(d[i + 7])
#define WGMMA_32(d, i) WGMMA_8(d, i), WGMMA_8(d, i + 8), WGMMA_8(d, i + 16), WGMMA_8(d, i + 24)
#define WGMMA_OUT32(d) WGMMA_32(d, 0)
#define WGMMA_OUT64(d) WGMMA_OUT32(d), WGMMA_32(d, 32)
#define WGMMA_OUT96(d) WGMMA_OUT64(d), WGMMA_32(d, 64)
#define WGMMA_OUT128(d) WGMMA_OUT96(d), WGMMA_32(d, 96)

/* The operands behind D are numbered on from its registers: a, b and p are "%64", "%65", "%66" when D has 64. */
#define WGMMA_SHARED(n, registers, type, a, b, p)                                                              \
    PTX_FN void wgmma_mma_async_m64n##n##k16_f32_##type##_##type(float d[registers], uint64_t a_desc,          \
                                                                 uint64_t b_desc, int scale_d)                 \
    {                                                                                                          \
        asm volatile("{\n"                                                                                     \
                     ".reg .pred p;\n"                                                                         \
                     "setp.ne.b32 p, " p ", 0;\n"                                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " "                     \
                     "{" WGMMA_D##registers "}, " a ", " b ", p, 1, 1, 0, 0;\n"                                \
                     "}"                                                                                       \
                     : WGMMA_OUT##registers(d) : "l"(a_desc), "l"(b_desc), "r"(scale_d) : "memory");           \
    }

WGMMA_SHARED(64, 32, f16, "%32", "%33", "%34")
WGMMA_SHARED(128, 64, f16, "%64", "%65", "%66")
WGMMA_SHARED(192, 96, f16, "%96", "%97", "%98")
WGMMA_SHARED(256, 128, f16, "%128", "%129", "%130")
WGMMA_SHARED(64, 32, bf16, "%32", "%33", "%34")
WGMMA_SHARED(128, 64, bf16, "%64", "%65", "%66")
WGMMA_SHARED(192, 96, bf16, "%96", "%97", "%98")
WGMMA_SHARED(256, 128, bf16, "%128", "%129", "%130")

/* ------------------------------------------------------------------ 3 A in registers
 *
 * The same with A from registers: a[0..3] of each thread, two elements in each, where mma.sync.m16n8k16 keeps
 * them; each warp gives 16 rows. They must not be written before the group was waited for. */

#define WGMMA_REGISTERS(n, registers, type, a0, a1, a2, a3, b, p)                                              \
    PTX_FN void wgmma_mma_async_m64n##n##k16_f32_##type##_##type##_a_registers(                                \
        float d[registers], const uint32_t a[4], uint64_t b_desc, int scale_d)                                 \
    {                                                                                                          \
        asm volatile("{\n"                                                                                     \
                     ".reg .pred p;\n"                                                                         \
                     "setp.ne.b32 p, " p ", 0;\n"                                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " "                     \
                     "{" WGMMA_D##registers "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b ", p, 1, 1, 0;\n"        \
                     "}"                                                                                       \
                     : WGMMA_OUT##registers(d)                                                                 \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_desc), "r"(scale_d) : "memory");      \
    }

WGMMA_REGISTERS(64, 32, f16, "%32", "%33", "%34", "%35", "%36", "%37")
WGMMA_REGISTERS(128, 64, f16, "%64", "%65", "%66", "%67", "%68", "%69")
WGMMA_REGISTERS(192, 96, f16, "%96", "%97", "%98", "%99", "%100", "%101")
WGMMA_REGISTERS(256, 128, f16, "%128", "%129", "%130", "%131", "%132", "%133")
WGMMA_REGISTERS(64, 32, bf16, "%32", "%33", "%34", "%35", "%36", "%37")
WGMMA_REGISTERS(128, 64, bf16, "%64", "%65", "%66", "%67", "%68", "%69")
WGMMA_REGISTERS(192, 96, bf16, "%96", "%97", "%98", "%99", "%100", "%101")
WGMMA_REGISTERS(256, 128, bf16, "%128", "%129", "%130", "%131", "%132", "%133")

/* ------------------------------------------------------------------ 4 registers of the warps
 *
 * A CTA's registers are dealt out evenly at its start. A warpgroup that only starts copies can hand most of its
 * share back, and those that multiply can take it. n is a multiple of 8, 24 to 256. All warps of the warpgroup.
 * inc waits until there are enough. The kernel needs __launch_bounds__(threads, 1), else ptxas ignores both
 * (C7508). ISA: "setmaxnreg". */
template <int n>
PTX_FN void setmaxnreg_dec(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(n) : "memory");
}

template <int n>
PTX_FN void setmaxnreg_inc(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(n) : "memory");
}

#endif
