/* z_ptx.h: the basic PTX instructions, one to a function.
 *
 * A function has the instruction's own name with dots as underscores, its operands named and ordered as in the
 * PTX ISA. Its comment says what it does, who must execute it, what goes wrong otherwise, and the section of
 * the ISA. The asynchronous units (mbarrier, tma, cluster, wgmma, tmem) have a header each.
 *
 * In this file: 1 addresses and ids   2 barriers and fences   3 cp.async   4 ldmatrix, stmatrix   5 mma.sync
 *               6 dependent launches
 */
#ifndef Z_PTX_H
#define Z_PTX_H

#include <stdint.h>

#define PTX_FN static __device__ __forceinline__

/* ------------------------------------------------------------------ 1 addresses and ids */

/* The 32-bit address of something in shared memory, which is what instructions on shared memory take. Any
 * thread. A pointer that does not point into shared memory gives a meaningless number, not an error. */
PTX_FN uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* Lane of the warp, 0..31. ISA: "Special Registers: %laneid". */
PTX_FN uint32_t laneid(void)
{
    uint32_t d;
    asm("mov.u32 %0, %%laneid;" : "=r"(d));
    return d;
}

/* True in one lane of the warp, always the same one for a given mask. The whole warp, converged: every lane
 * named in membermask must execute it. Cheaper than comparing the lane with 0, because the compiler knows that
 * one lane goes on. ISA: "Parallel Synchronization and Communication Instructions: elect.sync". sm_90. */
PTX_FN bool elect_sync(uint32_t membermask)
{
    uint32_t p;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "elect.sync _|p, %1;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(p) : "r"(membermask) : "memory");
    return p;
}

/* ------------------------------------------------------------------ 2 barriers and fences */

/* Waits at named barrier `a` (0..15; __syncthreads uses 0) until `b` threads have come; b is a multiple of 32.
 * Whole warps. A warp that never comes hangs the others. Orders the memory accesses of those that meet. ISA:
 * "Parallel Synchronization and Communication Instructions: bar, barrier". */
PTX_FN void bar_sync(uint32_t a, uint32_t b)
{
    asm volatile("bar.sync %0, %1;" :: "r"(a), "r"(b) : "memory");
}

/* Counts this warp in at barrier `a` without waiting: for a producer that goes on while consumers bar_sync. */
PTX_FN void bar_arrive(uint32_t a, uint32_t b)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(a), "r"(b) : "memory");
}

/* Orders this thread's accesses to shared memory by ordinary instructions (the generic proxy) before later ones
 * by the asynchronous units. Each thread that wrote executes it, before the barrier that lets the unit start;
 * without it the unit may read what was there before. ISA: "Async proxy", "membar/fence". sm_90. */
PTX_FN void fence_proxy_async_shared_cta(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ------------------------------------------------------------------ 3 cp.async */

/* Starts a copy of 16 bytes from global to shared memory, past the registers and past L1; src_size of them are
 * read and the rest is filled with zeros, so 0 reads nothing. Any thread. Both addresses are multiples of 16,
 * else the launch faults. The bytes are there only after a wait; other threads see them only after a barrier
 * too. ISA: "Data Movement and Conversion Instructions: cp.async". sm_80. */
PTX_FN void cp_async_cg_shared_global_16(uint32_t dst, const void *src, uint32_t src_size)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(dst), "l"(src), "r"(src_size) : "memory");
}

/* Closes the group of this thread's copies since the last commit. ISA: "cp.async.commit_group". sm_80. */
PTX_FN void cp_async_commit_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most n of this thread's groups, the newest, are still under way. ISA: "cp.async.wait_group".
 * sm_80. */
template <int n>
PTX_FN void cp_async_wait_group(void)
{
    asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory");
}

/* ------------------------------------------------------------------ 4 ldmatrix, stmatrix */

/* Reads four 8x8 blocks of 16-bit elements from shared memory into the fragments that mma.sync takes. The whole
 * warp, converged. Lane l gives in p the address of row l % 8 of block l / 8, 16 bytes, a multiple of 16.
 * Register j of each lane receives its two elements of block j (z_layout.h draws which). Rows that lie in the
 * same banks are read one after the other: swizzle. ISA: "Warp Level Matrix Load Instruction: ldmatrix". sm_75. */
PTX_FN void ldmatrix_sync_aligned_m8n8_x4_shared_b16(uint32_t r[4], uint32_t p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p) : "memory");
}

/* The way back: writes four 8x8 blocks, from the registers where wgmma and mma.sync leave their sums once those are
 * rounded to 16 bits. Lanes, addresses and registers as with ldmatrix. The whole warp, converged. ISA: "Warp Level
 * Matrix Store Instruction: stmatrix". sm_90. */
PTX_FN void stmatrix_sync_aligned_m8n8_x4_shared_b16(uint32_t p, const uint32_t r[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(p), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

/* ------------------------------------------------------------------ 5 mma.sync */

/* d = a * b + c, 16x8 += 16x16 * 16x8: fp16 operands, exact products, fp32 sums. The whole warp, converged; a
 * matrix is spread over the lanes' registers as z_layout.h draws it. `c` and `d` may be the same array. The
 * order of the sum is the hardware's own, so only sums that fp32 holds exactly come out the same as on a CPU.
 * ISA: "Multiply-and-Accumulate Instruction: mma". sm_80. No "memory" clobber and not volatile: it works on
 * registers alone, and the compiler may move it. */
PTX_FN void mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(float d[4], const uint32_t a[4], const uint32_t b[2],
                                                              const float c[4])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

/* ------------------------------------------------------------------ 6 dependent launches
 *
 * A kernel launched with the attribute programmaticStreamSerializationAllowed may begin while the one before it in
 * the stream still runs: that one says from when on, and this one waits before it touches what that one writes.
 */

/* Lets the next kernel begin, once every CTA of this one has said so or ended, in whatever place is free. Says
 * nothing about memory. Any thread, one of a CTA is enough; without such a kernel it does nothing. ISA: "Parallel
 * Synchronization and Communication Instructions: griddepcontrol". sm_90. */
PTX_FN void griddepcontrol_launch_dependents(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* Waits until the kernels before this one have ended and all that they wrote is visible. Each thread that reads
 * what they wrote, or writes what they read; what it does before, it does beside them. Returns at once where no
 * kernel may be running: a plain launch. ISA: "griddepcontrol". sm_90. */
PTX_FN void griddepcontrol_wait(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

#endif
