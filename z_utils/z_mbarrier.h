/* z_mbarrier.h: the mbarrier, a barrier in shared memory that counts threads and bytes.
 *
 * An mbarrier is 8 bytes of shared memory. It lives in phases 0, 1, 2, …; each phase completes when
 *
 *     the expected number of threads has arrived      and      all the bytes it was told to expect have landed,
 *
 * and the next one begins at once with the same expected number of threads. Copies by the TMA report their bytes
 * to it, so waiting for a barrier is how one waits for a copy. Nobody resets it: a waiter says which phase it
 * means by its parity (0 for phases 0, 2, 4…). Hence stage and phase travel together round a ring of barriers,
 * and phase flips when stage wraps. On a fresh barrier, waiting for parity 0 waits for phase 0; waiting for
 * parity 1 returns at once, since the phase before phase 0 counts as complete: producers, who find every stage
 * empty at first, start with parity 1.
 *
 * Barriers of this CTA are passed by pointer; a barrier of another CTA of the cluster by the address that
 * z_cluster.h's mapa_shared_cluster gives.
 *
 * In this file: 1 life   2 arriving   3 waiting
 * PTX ISA: "Parallel Synchronization and Communication Instructions: mbarrier". sm_90 unless said otherwise.
 */
#ifndef Z_MBARRIER_H
#define Z_MBARRIER_H

#include "z_ptx.h"

typedef uint64_t mbarrier;          /* in shared memory; opaque, touched by these functions alone */

/* ------------------------------------------------------------------ 1 life */

/* Makes a barrier whose phases each take `count` arrivals, 1..2^20-1. One thread; others must not touch the
 * barrier before a __syncthreads, other CTAs not before fence_mbarrier_init and a cluster barrier. ISA:
 * "mbarrier.init". */
PTX_FN void mbarrier_init(mbarrier *addr, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(addr)), "r"(count) : "memory");
}

/* Ends a barrier's life, so that its memory may be used for something else. One thread, when nobody waits and no
 * copy is under way. ISA: "mbarrier.inval". */
PTX_FN void mbarrier_inval(mbarrier *addr)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(shared_address(addr)) : "memory");
}

/* Shows the mbarrier_init of this thread to the other CTAs of the cluster, once a cluster barrier has followed.
 * The thread that made the barriers. ISA: "membar/fence", fence.mbarrier_init. */
PTX_FN void fence_mbarrier_init_release_cluster(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* ------------------------------------------------------------------ 2 arriving */

/* One arrival. Any thread. What the thread did before is visible to whoever waits for the phase. More arrivals
 * than the phase takes are an error that the chip does not report. ISA: "mbarrier.arrive". */
PTX_FN void mbarrier_arrive(mbarrier *addr)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(addr)) : "memory");
}

/* Tells the barrier that the phase also takes tx_count bytes more, then arrives. Before or after the copy is
 * started, by whichever thread; never twice for the same bytes. A copy that reaches over the tensor's edge
 * reports its whole box. ISA: "mbarrier.arrive", .expect_tx. */
PTX_FN void mbarrier_arrive_expect_tx(mbarrier *addr, uint32_t tx_count)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(addr)), "r"(tx_count) : "memory");
}

/* The same without arriving. ISA: "mbarrier.expect_tx". */
PTX_FN void mbarrier_expect_tx(mbarrier *addr, uint32_t tx_count)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                 :: "r"(shared_address(addr)), "r"(tx_count) : "memory");
}

/* One arrival at a barrier of any CTA of the cluster, its own included; addr from mapa_shared_cluster. Any
 * thread; the CTA must not have exited. ISA: "mbarrier.arrive", .shared::cluster. */
PTX_FN void mbarrier_arrive_release_cluster(uint32_t addr)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(addr) : "memory");
}

/* The same for a thread that has nothing to show to the other CTA, say because it has only read. To release to the
 * whole cluster, as above, a thread waits until all it has written is visible throughout the chip, a thousand cycles
 * or so; this arrival releases to the threads of its own CTA and goes on. */
PTX_FN void mbarrier_arrive_shared_cluster(uint32_t addr)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(addr) : "memory");
}

/* Arrives when all cp.async of this thread so far have landed, without holding the thread up. The barrier's
 * count must include this arrival (.noinc). ISA: "cp.async.mbarrier.arrive". sm_80. */
PTX_FN void cp_async_mbarrier_arrive_noinc(mbarrier *addr)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(shared_address(addr)) : "memory");
}

/* ------------------------------------------------------------------ 3 waiting */

/* Has the phase of parity phase_parity completed? Sleeps for a while before it says no. Any thread; the barrier
 * must be in that phase or the next, for only their parities can be told apart. ISA: "mbarrier.try_wait". */
PTX_FN bool mbarrier_try_wait_parity(mbarrier *addr, uint32_t phase_parity)
{
    uint32_t complete;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(complete) : "r"(shared_address(addr)), "r"(phase_parity) : "memory");
    return complete;
}

/* Waits until that phase has completed; then sees what the copies wrote and what those who arrived did before.
 * For ever, if too few arrive or too few bytes land. */
PTX_FN void wait_parity(mbarrier *addr, uint32_t phase_parity)
{
    while (!mbarrier_try_wait_parity(addr, phase_parity))
        ;
}

/* The same where threads of other CTAs arrive: without .acquire.cluster what they did need not be visible. */
PTX_FN void wait_parity_cluster(mbarrier *addr, uint32_t phase_parity)
{
    uint32_t complete;
    do {
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(complete) : "r"(shared_address(addr)), "r"(phase_parity) : "memory");
    } while (!complete);
}

#endif
