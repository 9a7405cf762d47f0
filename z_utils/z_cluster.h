/* z_cluster.h: thread-block clusters, CTAs that run at the same time and reach into each other's shared memory.
 *
 * The CTAs of a cluster (up to 8, 16 with an attribute) sit on neighbouring SMs. Their shared memory together is
 * distributed shared memory: mapa_shared_cluster turns an address here into the address of the same thing in
 * another CTA, and the instructions marked shared::cluster take it. A CTA that has exited has no memory any more:
 * before the end, a cluster barrier must keep everybody until nobody reaches over.
 *
 * In this file: 1 ranks and addresses   2 the cluster barrier   3 access to another CTA's memory
 *               4 cluster launch control (sm_100)
 * PTX ISA: "Cluster of Cooperative Thread Arrays". sm_90.
 */
#ifndef Z_CLUSTER_H
#define Z_CLUSTER_H

#include "z_mbarrier.h"

/* ------------------------------------------------------------------ 1 ranks and addresses */

/* This CTA's number within its cluster. ISA: "Special Registers: %cluster_ctarank". */
PTX_FN uint32_t cluster_ctarank(void)
{
    uint32_t d;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(d));
    return d;
}

/* CTAs in the cluster; 1 without clusters. ISA: "Special Registers: %cluster_nctarank". */
PTX_FN uint32_t cluster_nctarank(void)
{
    uint32_t d;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(d));
    return d;
}

/* The address, in the whole cluster's shared memory, of what lies at `a` here, in the CTA of rank b. Any thread.
 * ISA: "mapa". */
PTX_FN uint32_t mapa_shared_cluster(const void *a, uint32_t b)
{
    uint32_t d;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"(shared_address(a)), "r"(b));
    return d;
}

/* ------------------------------------------------------------------ 2 the cluster barrier */

/* Comes to the barrier of the cluster without waiting. All threads of all its CTAs, whole warps; each waits
 * before it arrives again. What was done before is visible after the wait. ISA: "barrier.cluster". */
PTX_FN void barrier_cluster_arrive_release_aligned(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

/* The same, but shows nothing of what was done before: enough after fence_mbarrier_init_release_cluster, and where
 * threads only keep each other from exiting. Cheaper, since it need not wait for writes. */
PTX_FN void barrier_cluster_arrive_relaxed_aligned(void)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

PTX_FN void barrier_cluster_wait_acquire_aligned(void)
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Waits until all threads of the cluster are here: __syncthreads for the cluster. */
PTX_FN void cluster_sync(void)
{
    barrier_cluster_arrive_release_aligned();
    barrier_cluster_wait_acquire_aligned();
}

/* ------------------------------------------------------------------ 3 access to another CTA's memory */

/* Reads 4 bytes; a from mapa_shared_cluster. Any thread. ISA: "ld", .shared::cluster. */
PTX_FN uint32_t ld_shared_cluster_u32(uint32_t a)
{
    uint32_t d;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(d) : "r"(a) : "memory");
    return d;
}

PTX_FN float ld_shared_cluster_f32(uint32_t a)
{
    float d;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(d) : "r"(a) : "memory");
    return d;
}

/* Writes 4 bytes. ISA: "st", .shared::cluster. */
PTX_FN void st_shared_cluster_u32(uint32_t a, uint32_t b)
{
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(a), "r"(b) : "memory");
}

PTX_FN void st_shared_cluster_f32(uint32_t a, float b)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(a), "f"(b) : "memory");
}

/* Writes 4 bytes at some later time and then reports them to mbar, which lies in the same CTA as a and expects
 * them: a message, with no barrier of the whole cluster. ISA: "st.async". */
PTX_FN void st_async_shared_cluster_u32(uint32_t a, uint32_t b, uint32_t mbar)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :: "r"(a), "r"(b), "r"(mbar) : "memory");
}

/* Adds to 4 bytes there in the same way. ISA: "red.async". */
PTX_FN void red_async_shared_cluster_add_u32(uint32_t a, uint32_t b, uint32_t mbar)
{
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                 :: "r"(a), "r"(b), "r"(mbar) : "memory");
}

/* ------------------------------------------------------------------ 4 cluster launch control (sm_100)
 *
 * A running cluster may ask for the work of one that has not started yet: the hardware cancels that launch and says
 * which it was, so that a grid of one cluster per tile is worked off by as many as fit, each taking the next tile
 * when it is ready for it. The answer, 16 opaque bytes, arrives like a copy: it reports 16 bytes to an mbarrier. */

/* Asks. One thread; addr (16 bytes, a multiple of 16) and mbar lie in this CTA. Once the answer was "nothing left",
 * nobody of this cluster may ask again. The answer is written through the asynchronous proxy: reading the last one
 * comes before it by a barrier and fence_proxy_async_shared_cta. ISA: "clusterlaunchcontrol.try_cancel". */
PTX_FN void clusterlaunchcontrol_try_cancel(void *addr, mbarrier *mbar)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                 :: "r"(shared_address(addr)), "r"(shared_address(mbar)) : "memory");
}

/* The same, the answer going to every CTA of the cluster, at the offsets that addr and mbar have here. sm_100a. */
PTX_FN void clusterlaunchcontrol_try_cancel_multicast(void *addr, mbarrier *mbar)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];"
                 :: "r"(shared_address(addr)), "r"(shared_address(mbar)) : "memory");
}

/* Reads an answer: whether there was work, and then in ctaid the coordinates (x, y, z) of the first CTA of the cluster
 * whose place is taken. ISA: "clusterlaunchcontrol.query_cancel". */
PTX_FN bool clusterlaunchcontrol_query_cancel(const void *response, uint32_t ctaid[3])
{
    uint32_t is_canceled;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 ".reg .b128 answer;\n"
                 "ld.shared.b128 answer, [%4];\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;\n"
                 "selp.u32 %3, 1, 0, p;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, _}, answer;\n"
                 "}"
                 : "+r"(ctaid[0]), "+r"(ctaid[1]), "+r"(ctaid[2]), "=r"(is_canceled)
                 : "r"(shared_address(response)) : "memory");
    return is_canceled;
}

#endif
