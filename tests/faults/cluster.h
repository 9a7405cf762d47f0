/* cluster.h: what the programs of tests/faults with clusters and mbarriers share. */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "fault.h"

__device__ static inline unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ static inline unsigned rank_in_cluster(void) { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }

/* The same place in CTA `rank`. */
__device__ static inline unsigned in_cta(unsigned address, unsigned rank)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__device__ static inline void cluster_arrive(void) { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
__device__ static inline void cluster_wait(void) { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

__device__ static inline void mbarrier_init(unsigned bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" :: "r"(bar), "r"(count) : "memory");
}

__device__ static inline void arrive_at(unsigned bar)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(bar) : "memory");
}

#endif
