/* z_tmem.h: tensor memory and the fifth-generation tensor core (tcgen05).
 *
 * An SM of Blackwell has tensor memory: 128 lanes x 512 columns of 32 bits, where accumulators live instead of
 * in registers. An address in it is lane << 16 | column. A CTA allocates columns (all their lanes); a tile of
 * 128 x N fp32 outputs takes N columns, row m in lane m.
 *
 * One thread multiplies: tcgen05.mma names A and B in shared memory by descriptors, D in tensor memory, and the
 * shapes and types by an instruction descriptor (z_layout.h has builders for all of these). It only starts the
 * work. The order of things is
 *
 *     tcgen05_mma_…            as many as wanted; those on one D follow each other by themselves
 *     tcgen05_commit           makes an mbarrier arrive when all that this thread has started so far is done
 *     wait_parity              on that mbarrier; then A and B may be overwritten and D read
 *     tcgen05_fence_after_thread_sync      in whoever waited, before tcgen05_ld
 *     tcgen05_ld_…, tcgen05_wait_ld        D into registers; a warp reaches its quarter of the lanes, 32 (warp % 4) on
 *     tcgen05_fence_before_thread_sync     before telling others, by an mbarrier, that D may be overwritten
 *
 * A template argument cta_group says how many CTAs work together: 1, or 2 for a pair of CTAs of a cluster whose
 * ranks differ in the last bit; one thread of the pair then multiplies with the shared memory of both, and D is
 * split between their tensor memories. All of a kernel's tcgen05 instructions have the same.
 *
 * In this file: 1 allocation   2 waits, fences, commit   3 mma   4 mma with block scales   5 sparse, and
 *               weight-stationary, mma   6 copies and shifts   7 load and store
 * PTX ISA: "TensorCore 5th Generation Family Instructions". sm_100a.
 */
#ifndef Z_TMEM_H
#define Z_TMEM_H

#include "z_layout.h"
#include "z_mbarrier.h"

/* ------------------------------------------------------------------ 1 allocation */

/* Takes nCols columns, a power of two, 32..512, and writes the address of the first to dst in shared memory. One
 * whole warp; with cta_group 2, a warp in each of the two CTAs, which must both be running. Waits until other CTAs of
 * the SM have given back enough. The address is an ordinary store: other warps see it after a __syncthreads.
 * ISA: "tcgen05.alloc". */
template <int cta_group>
PTX_FN void tcgen05_alloc(uint32_t *dst, uint32_t nCols)
{
    asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;"
                 :: "r"(shared_address(dst)), "r"(nCols), "n"(cta_group) : "memory");
}

/* Gives them back. One whole warp (of each CTA), when nobody uses them any more. Every CTA must, before it
 * exits, else the columns are lost to those that come after. ISA: "tcgen05.dealloc". */
template <int cta_group>
PTX_FN void tcgen05_dealloc(uint32_t taddr, uint32_t nCols)
{
    asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;"
                 :: "r"(taddr), "r"(nCols), "n"(cta_group) : "memory");
}

/* Says that this CTA will allocate no more, so that others need not wait for it. One whole warp. ISA:
 * "tcgen05.relinquish_alloc_permit". */
template <int cta_group>
PTX_FN void tcgen05_relinquish_alloc_permit(void)
{
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" :: "n"(cta_group) : "memory");
}

/* ------------------------------------------------------------------ 2 waits, fences, commit */

/* Waits for this thread's tcgen05_ld: only then do its registers hold what was loaded. The whole warp. ISA:
 * "tcgen05.wait". */
PTX_FN void tcgen05_wait_ld(void)
{
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

/* Waits for this thread's tcgen05_st. The whole warp. */
PTX_FN void tcgen05_wait_st(void)
{
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/* Orders this thread's tcgen05 instructions before what a later synchronisation (an arrive, a barrier) tells
 * others. Any thread. ISA: "tcgen05.fence". */
PTX_FN void tcgen05_fence_before_thread_sync(void)
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

/* Orders this thread's later tcgen05 instructions after the synchronisation that it has just waited for. */
PTX_FN void tcgen05_fence_after_thread_sync(void)
{
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/* One arrival at mbar when all mma, cp and shift that this thread has started are done. One thread, the one that
 * started them. Implies tcgen05_fence_before_thread_sync. ISA: "tcgen05.commit". */
template <int cta_group>
PTX_FN void tcgen05_commit(mbarrier *mbar)
{
    asm volatile("tcgen05.commit.cta_group::%1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 :: "r"(shared_address(mbar)), "n"(cta_group) : "memory");
}

/* The same, at the barriers of all CTAs named by cta_mask (bit i: rank i), each at mbar's offset. */
template <int cta_group>
PTX_FN void tcgen05_commit_multicast(mbarrier *mbar, uint16_t cta_mask)
{
    asm volatile("tcgen05.commit.cta_group::%2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 :: "r"(shared_address(mbar)), "h"(cta_mask), "n"(cta_group) : "memory");
}

/* ------------------------------------------------------------------ 3 mma
 *
 *     tcgen05_mma_f16<cta_group>(d_tmem, a_desc, b_desc, idesc, enable_input_d)
 *
 * D (M x N) = A (M x K) * B (K x N) + D, or without D where enable_input_d is 0. One thread. The kinds:
 *
 *     f16        fp16 or bf16              K = 16        D fp32 or fp16
 *     tf32       tf32                      K = 8         D fp32
 *     f8f6f4     any fp8, fp6, fp4         K = 32        D fp32 or fp16
 *     i8         int8                      K = 32        D int32
 *
 * M, N and the exact types are in idesc, which z_layout.h's tcgen05_instruction_descriptor makes; the descriptors
 * of A and B are tcgen05_descriptor's. _a_tmem: A lies in tensor memory. _lanes: the lanes whose bit is set in
 * disable_output_lane (lane 32 i + j: bit j of word i; 4 words, 8 for a pair) are not written. _scale: D is
 * multiplied by 2^-scale_input_d, 0..15, first. ISA: "tcgen05.mma". */

#define TCGEN05_MMA(kind, suffix, a_type, a_constraint, a)                                                          \
    template <int cta_group>                                                                                        \
    PTX_FN void tcgen05_mma_##kind##suffix(uint32_t d_tmem, a_type a_operand, uint64_t b_desc, uint32_t idesc,      \
                                           uint32_t enable_input_d)                                                 \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %4, 0;\n"                                                                      \
                     "tcgen05.mma.cta_group::%5.kind::" #kind " [%0], " a ", %2, %3, p;\n"                          \
                     "}"                                                                                            \
                     :: "r"(d_tmem), a_constraint(a_operand), "l"(b_desc), "r"(idesc), "r"(enable_input_d),         \
                        "n"(cta_group)                                                                              \
                     : "memory");                                                                                   \
    }

TCGEN05_MMA(f16, , uint64_t, "l", "%1")
TCGEN05_MMA(tf32, , uint64_t, "l", "%1")
TCGEN05_MMA(f8f6f4, , uint64_t, "l", "%1")
TCGEN05_MMA(i8, , uint64_t, "l", "%1")
TCGEN05_MMA(f16, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA(tf32, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA(f8f6f4, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA(i8, _a_tmem, uint32_t, "r", "[%1]")

#define TCGEN05_MMA_SCALE(kind)                                                                                     \
    template <int cta_group, int scale_input_d>                                                                     \
    PTX_FN void tcgen05_mma_##kind##_scale(uint32_t d_tmem, uint64_t a_desc, uint64_t b_desc, uint32_t idesc,       \
                                           uint32_t enable_input_d)                                                 \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %4, 0;\n"                                                                      \
                     "tcgen05.mma.cta_group::%5.kind::" #kind " [%0], %1, %2, %3, p, %6;\n"                         \
                     "}"                                                                                            \
                     :: "r"(d_tmem), "l"(a_desc), "l"(b_desc), "r"(idesc), "r"(enable_input_d), "n"(cta_group),     \
                        "n"(scale_input_d)                                                                          \
                     : "memory");                                                                                   \
    }

TCGEN05_MMA_SCALE(f16)
TCGEN05_MMA_SCALE(tf32)

#define TCGEN05_MMA_LANES(kind)                                                                                     \
    PTX_FN void tcgen05_mma_##kind##_lanes(uint32_t d_tmem, uint64_t a_desc, uint64_t b_desc, uint32_t idesc,       \
                                           const uint32_t disable_output_lane[4], uint32_t enable_input_d)          \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %8, 0;\n"                                                                      \
                     "tcgen05.mma.cta_group::1.kind::" #kind " [%0], %1, %2, %3, {%4, %5, %6, %7}, p;\n"            \
                     "}"                                                                                            \
                     :: "r"(d_tmem), "l"(a_desc), "l"(b_desc), "r"(idesc), "r"(disable_output_lane[0]),             \
                        "r"(disable_output_lane[1]), "r"(disable_output_lane[2]), "r"(disable_output_lane[3]),      \
                        "r"(enable_input_d)                                                                         \
                     : "memory");                                                                                   \
    }                                                                                                               \
    PTX_FN void tcgen05_mma_##kind##_pair_lanes(uint32_t d_tmem, uint64_t a_desc, uint64_t b_desc, uint32_t idesc,  \
                                                const uint32_t disable_output_lane[8], uint32_t enable_input_d)     \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %12, 0;\n"                                                                     \
                     "tcgen05.mma.cta_group::2.kind::" #kind                                                        \
                     " [%0], %1, %2, %3, {%4, %5, %6, %7, %8, %9, %10, %11}, p;\n"                                  \
                     "}"                                                                                            \
                     :: "r"(d_tmem), "l"(a_desc), "l"(b_desc), "r"(idesc), "r"(disable_output_lane[0]),             \
                        "r"(disable_output_lane[1]), "r"(disable_output_lane[2]), "r"(disable_output_lane[3]),      \
                        "r"(disable_output_lane[4]), "r"(disable_output_lane[5]), "r"(disable_output_lane[6]),      \
                        "r"(disable_output_lane[7]), "r"(enable_input_d)                                            \
                     : "memory");                                                                                   \
    }

TCGEN05_MMA_LANES(f16)
TCGEN05_MMA_LANES(tf32)
TCGEN05_MMA_LANES(f8f6f4)
TCGEN05_MMA_LANES(i8)

/* ------------------------------------------------------------------ 4 mma with block scales
 *
 *     tcgen05_mma_mxf8f6f4_block32<cta_group>(d_tmem, a_desc, b_desc, idesc, scale_a_tmem, scale_b_tmem, …)
 *
 * Each run of 32 (16) elements along K is multiplied by a factor of its own, an 8-bit floating-point number in
 * tensor memory, four to a column, which tcgen05_cp brings there:
 *
 *     mxf8f6f4_block32     any fp8, fp6, fp4     factors ue8m0, one per 32      K = 32
 *     mxf4_block32         e2m1                  factors ue8m0, one per 32      K = 64
 *     mxf4nvf4_block16     e2m1                  factors ue4m3 (or ue8m0), one per 16     K = 64
 *
 * idesc from tcgen05_scaled_instruction_descriptor; the place of a factor from tmem_scale_lane and _col. One
 * thread. ISA: "tcgen05.mma", .block_scale; "Block Scaling". */

#define TCGEN05_MMA_SCALED(kind, block, suffix, a_type, a_constraint, a)                                            \
    template <int cta_group>                                                                                        \
    PTX_FN void tcgen05_mma_##kind##_##block##suffix(uint32_t d_tmem, a_type a_operand, uint64_t b_desc,            \
                                                     uint32_t idesc, uint32_t scale_a_tmem, uint32_t scale_b_tmem,  \
                                                     uint32_t enable_input_d)                                       \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %6, 0;\n"                                                                      \
                     "tcgen05.mma.cta_group::%7.kind::" #kind ".block_scale." #block                                \
                     " [%0], " a ", %2, %3, [%4], [%5], p;\n"                                                       \
                     "}"                                                                                            \
                     :: "r"(d_tmem), a_constraint(a_operand), "l"(b_desc), "r"(idesc), "r"(scale_a_tmem),           \
                        "r"(scale_b_tmem), "r"(enable_input_d), "n"(cta_group)                                      \
                     : "memory");                                                                                   \
    }

TCGEN05_MMA_SCALED(mxf8f6f4, block32, , uint64_t, "l", "%1")
TCGEN05_MMA_SCALED(mxf4, block32, , uint64_t, "l", "%1")
TCGEN05_MMA_SCALED(mxf4nvf4, block16, , uint64_t, "l", "%1")
TCGEN05_MMA_SCALED(mxf8f6f4, block32, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA_SCALED(mxf4, block32, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA_SCALED(mxf4nvf4, block16, _a_tmem, uint32_t, "r", "[%1]")

/* ------------------------------------------------------------------ 5 sparse, and weight-stationary, mma
 *
 * _sp: half of A's elements are zeros and left out; 4 bits of metadata in tensor memory, at sp_meta_tmem, say
 * which of every four (tf32: two) are there. K is twice as large. idesc has sparse set. One thread. ISA:
 * "tcgen05.mma.sp", "Sparse Matrices".
 *
 * _ws: for small M, 32, 64 or 128, with N of 64, 128 or 256: B stays in the tensor core and A streams. One
 * thread. ISA: "tcgen05.mma.ws". */

#define TCGEN05_MMA_SP(kind)                                                                                        \
    template <int cta_group>                                                                                        \
    PTX_FN void tcgen05_mma_sp_##kind(uint32_t d_tmem, uint64_t a_desc, uint64_t b_desc, uint32_t sp_meta_tmem,     \
                                      uint32_t idesc, uint32_t enable_input_d)                                      \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %5, 0;\n"                                                                      \
                     "tcgen05.mma.sp.cta_group::%6.kind::" #kind " [%0], %1, %2, [%3], %4, p;\n"                    \
                     "}"                                                                                            \
                     :: "r"(d_tmem), "l"(a_desc), "l"(b_desc), "r"(sp_meta_tmem), "r"(idesc), "r"(enable_input_d),  \
                        "n"(cta_group)                                                                              \
                     : "memory");                                                                                   \
    }

TCGEN05_MMA_SP(f16)
TCGEN05_MMA_SP(tf32)
TCGEN05_MMA_SP(f8f6f4)
TCGEN05_MMA_SP(i8)

#define TCGEN05_MMA_WS(kind, suffix, a_type, a_constraint, a)                                                       \
    PTX_FN void tcgen05_mma_ws_##kind##suffix(uint32_t d_tmem, a_type a_operand, uint64_t b_desc, uint32_t idesc,   \
                                              uint32_t enable_input_d)                                              \
    {                                                                                                               \
        asm volatile("{\n"                                                                                          \
                     ".reg .pred p;\n"                                                                              \
                     "setp.ne.b32 p, %4, 0;\n"                                                                      \
                     "tcgen05.mma.ws.cta_group::1.kind::" #kind " [%0], " a ", %2, %3, p;\n"                        \
                     "}"                                                                                            \
                     :: "r"(d_tmem), a_constraint(a_operand), "l"(b_desc), "r"(idesc), "r"(enable_input_d)          \
                     : "memory");                                                                                   \
    }

TCGEN05_MMA_WS(f16, , uint64_t, "l", "%1")
TCGEN05_MMA_WS(tf32, , uint64_t, "l", "%1")
TCGEN05_MMA_WS(f8f6f4, , uint64_t, "l", "%1")
TCGEN05_MMA_WS(i8, , uint64_t, "l", "%1")
TCGEN05_MMA_WS(f16, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA_WS(tf32, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA_WS(f8f6f4, _a_tmem, uint32_t, "r", "[%1]")
TCGEN05_MMA_WS(i8, _a_tmem, uint32_t, "r", "[%1]")

/* ------------------------------------------------------------------ 6 copies and shifts
 *
 *     tcgen05_cp_32x128b_warpx4<cta_group>(taddr, s_desc)
 *
 * Copies from shared memory, described as an operand of mma, into tensor memory. One thread; done when a commit
 * says so, but an mma started later by the same thread waits for it by itself. The shapes are lanes x bits:
 *
 *     128x256b, 128x128b     a row to each lane, 8 or 4 columns
 *     4x256b                 row i to lane 32 i
 *     64x128b_warpx2_02_13   rows 0-31 to lanes 0-31 and 64-95, rows 32-63 to lanes 32-63 and 96-127
 *     64x128b_warpx2_01_23   rows 0-31 to lanes 0-63, twice; rows 32-63 to lanes 64-127, twice
 *     32x128b_warpx4         32 rows to each quarter of the lanes: what scale factors need
 *
 * ISA: "tcgen05.cp". */

#define TCGEN05_CP(name, shape)                                                                                     \
    template <int cta_group>                                                                                        \
    PTX_FN void tcgen05_cp_##name(uint32_t taddr, uint64_t s_desc)                                                  \
    {                                                                                                               \
        asm volatile("tcgen05.cp.cta_group::%2." shape " [%0], %1;"                                                 \
                     :: "r"(taddr), "l"(s_desc), "n"(cta_group) : "memory");                                        \
    }

TCGEN05_CP(128x256b, "128x256b")
TCGEN05_CP(128x128b, "128x128b")
TCGEN05_CP(4x256b, "4x256b")
TCGEN05_CP(64x128b_warpx2_02_13, "64x128b.warpx2::02_13")
TCGEN05_CP(64x128b_warpx2_01_23, "64x128b.warpx2::01_23")
TCGEN05_CP(32x128b_warpx4, "32x128b.warpx4")

/* Moves the 32 bytes (8 columns from taddr on) of every lane but the last of 32 down by one lane, the lane of
 * taddr being a multiple of 32. One thread. ISA: "tcgen05.shift". */
template <int cta_group>
PTX_FN void tcgen05_shift_down(uint32_t taddr)
{
    asm volatile("tcgen05.shift.cta_group::%1.down [%0];" :: "r"(taddr), "n"(cta_group) : "memory");
}

/* ------------------------------------------------------------------ 7 load and store
 *
 *     tcgen05_ld_32x32b_x8(r, taddr)      8 registers of each lane of the warp
 *     tcgen05_st_32x32b_x8(taddr, r)
 *
 * Between tensor memory and a warp's registers. A shape is lanes x bits, repeated along the columns by the number
 * after x; tmem_ld_lane and tmem_ld_col of z_layout.h say which register of which lane is which cell. The lanes
 * of taddr must be those of the warp's quarter, 32 (warp % 4) on; a shape of 16 lanes takes the lower or the
 * upper half of them. The whole warp, with the same taddr. Asynchronous: registers of a load are not to be used
 * before tcgen05_wait_ld, which compilers do not know, so let nothing come between. _pack_16b puts the low halves
 * of two columns into a register. 16x32bx2 takes 16 lanes, threads 0-15 at taddr and threads 16-31 at
 * taddr + half_split_off. ISA: "tcgen05.ld", "tcgen05.st". */

#define TMEM_D1 "%0"
#define TMEM_D2 TMEM_D1 ", " "%1"
#define TMEM_D4 TMEM_D2 ", " "%2, %3"
#define TMEM_D8 TMEM_D4 ", " "%4, %5, %6, %7"
#define TMEM_D16 TMEM_D8 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define TMEM_D32 TMEM_D16 ", " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TMEM_D64 TMEM_D32 ", " "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TMEM_D128 TMEM_D64 ", " "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define TMEM_OUT1(r, i) "=r"(r[i])
#define TMEM_OUT2(r, i) TMEM_OUT1(r, i), TMEM_OUT1(r, i + 1)
#define TMEM_OUT4(r, i) TMEM_OUT2(r, i), TMEM_OUT2(r, i + 2)
#define TMEM_OUT8(r, i) TMEM_OUT4(r, i), TMEM_OUT4(r, i + 4)
#define TMEM_OUT16(r, i) TMEM_OUT8(r, i), TMEM_OUT8(r, i + 8)
#define TMEM_OUT32(r, i) TMEM_OUT16(r, i), TMEM_OUT16(r, i + 16)
#define TMEM_OUT64(r, i) TMEM_OUT32(r, i), TMEM_OUT32(r, i + 32)
#define TMEM_OUT128(r, i) TMEM_OUT64(r, i), TMEM_OUT64(r, i + 64)
#define TMEM_IN1(r, i) "r"(r[i])
#define TMEM_IN2(r, i) TMEM_IN1(r, i), TMEM_IN1(r, i + 1)
#define TMEM_IN4(r, i) TMEM_IN2(r, i), TMEM_IN2(r, i + 2)
#define TMEM_IN8(r, i) TMEM_IN4(r, i), TMEM_IN4(r, i + 4)
#define TMEM_IN16(r, i) TMEM_IN8(r, i), TMEM_IN8(r, i + 8)
#define TMEM_IN32(r, i) TMEM_IN16(r, i), TMEM_IN16(r, i + 16)
#define TMEM_IN64(r, i) TMEM_IN32(r, i), TMEM_IN32(r, i + 32)
#define TMEM_IN128(r, i) TMEM_IN64(r, i), TMEM_IN64(r, i + 64)

/* The address comes behind the registers: it is "%8" when there are 8. */
#define TMEM_LD(shape, num, registers, suffix, pack, address)                                                       \
    PTX_FN void tcgen05_ld_##shape##_##num##suffix(uint32_t r[registers], uint32_t taddr)                           \
    {                                                                                                               \
        asm volatile("tcgen05.ld.sync.aligned." #shape "." #num pack ".b32 "                                         \
                     "{" TMEM_D##registers "}, [" address "];"                                                      \
                     : TMEM_OUT##registers(r, 0) : "r"(taddr) : "memory");                                          \
    }
#define TMEM_ST(shape, num, registers, suffix, unpack, address)                                                     \
    PTX_FN void tcgen05_st_##shape##_##num##suffix(uint32_t taddr, const uint32_t r[registers])                     \
    {                                                                                                               \
        asm volatile("tcgen05.st.sync.aligned." #shape "." #num unpack ".b32 "                                       \
                     "[" address "], {" TMEM_D##registers "};"                                                      \
                     :: TMEM_IN##registers(r, 0), "r"(taddr) : "memory");                                           \
    }
#define TMEM_LD_ST(shape, num, registers, address)                                                                  \
    TMEM_LD(shape, num, registers, , "", address)                                                                   \
    TMEM_LD(shape, num, registers, _pack_16b, ".pack::16b", address)                                                \
    TMEM_ST(shape, num, registers, , "", address)                                                                   \
    TMEM_ST(shape, num, registers, _unpack_16b, ".unpack::16b", address)

TMEM_LD_ST(32x32b, x1, 1, "%1")
TMEM_LD_ST(32x32b, x2, 2, "%2")
TMEM_LD_ST(32x32b, x4, 4, "%4")
TMEM_LD_ST(32x32b, x8, 8, "%8")
TMEM_LD_ST(32x32b, x16, 16, "%16")
TMEM_LD_ST(32x32b, x32, 32, "%32")
TMEM_LD_ST(32x32b, x64, 64, "%64")
TMEM_LD_ST(32x32b, x128, 128, "%128")

TMEM_LD_ST(16x64b, x1, 1, "%1")
TMEM_LD_ST(16x64b, x2, 2, "%2")
TMEM_LD_ST(16x64b, x4, 4, "%4")
TMEM_LD_ST(16x64b, x8, 8, "%8")
TMEM_LD_ST(16x64b, x16, 16, "%16")
TMEM_LD_ST(16x64b, x32, 32, "%32")
TMEM_LD_ST(16x64b, x64, 64, "%64")
TMEM_LD_ST(16x64b, x128, 128, "%128")

TMEM_LD_ST(16x128b, x1, 2, "%2")
TMEM_LD_ST(16x128b, x2, 4, "%4")
TMEM_LD_ST(16x128b, x4, 8, "%8")
TMEM_LD_ST(16x128b, x8, 16, "%16")
TMEM_LD_ST(16x128b, x16, 32, "%32")
TMEM_LD_ST(16x128b, x32, 64, "%64")
TMEM_LD_ST(16x128b, x64, 128, "%128")

TMEM_LD_ST(16x256b, x1, 4, "%4")
TMEM_LD_ST(16x256b, x2, 8, "%8")
TMEM_LD_ST(16x256b, x4, 16, "%16")
TMEM_LD_ST(16x256b, x8, 32, "%32")
TMEM_LD_ST(16x256b, x16, 64, "%64")
TMEM_LD_ST(16x256b, x32, 128, "%128")

#define TMEM_LD_ST_X2(num, registers, address, offset)                                                              \
    template <int half_split_off>                                                                                   \
    PTX_FN void tcgen05_ld_16x32bx2_##num(uint32_t r[registers], uint32_t taddr)                                    \
    {                                                                                                               \
        asm volatile("tcgen05.ld.sync.aligned.16x32bx2." #num ".b32 "                                               \
                     "{" TMEM_D##registers "}, [" address "], " offset ";"                                          \
                     : TMEM_OUT##registers(r, 0) : "r"(taddr), "n"(half_split_off) : "memory");                     \
    }                                                                                                               \
    template <int half_split_off>                                                                                   \
    PTX_FN void tcgen05_st_16x32bx2_##num(uint32_t taddr, const uint32_t r[registers])                              \
    {                                                                                                               \
        asm volatile("tcgen05.st.sync.aligned.16x32bx2." #num ".b32 "                                               \
                     "[" address "], " offset ", {" TMEM_D##registers "};"                                          \
                     :: TMEM_IN##registers(r, 0), "r"(taddr), "n"(half_split_off) : "memory");                      \
    }

TMEM_LD_ST_X2(x1, 1, "%1", "%2")
TMEM_LD_ST_X2(x2, 2, "%2", "%3")
TMEM_LD_ST_X2(x4, 4, "%4", "%5")
TMEM_LD_ST_X2(x8, 8, "%8", "%9")
TMEM_LD_ST_X2(x16, 16, "%16", "%17")
TMEM_LD_ST_X2(x32, 32, "%32", "%33")
TMEM_LD_ST_X2(x64, 64, "%64", "%65")
TMEM_LD_ST_X2(x128, 128, "%128", "%129")

#endif
