/* wgmma_tiles.h: two tiles in shared memory, for the programs about wgmma: 64 rows of 64 fp16, 128-byte swizzle, all zero. */
#ifndef WGMMA_TILES_H
#define WGMMA_TILES_H

#include "fault.h"
#include "z_wgmma.h"

enum { TILE_BYTES = 64 * 128, THREADS = 128 };
struct tiles { alignas(1024) unsigned a[TILE_BYTES / 4], b[TILE_BYTES / 4]; };

__device__ static inline void clear(struct tiles *t)
{
    for (int i = threadIdx.x; i < TILE_BYTES / 4; i += THREADS)
        t->a[i] = t->b[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

__device__ static inline void store(float *out, const float (&acc)[32])
{
    for (int i = 0; i < 32; i++)
        out[i * THREADS + threadIdx.x] = acc[i];
}

#endif
