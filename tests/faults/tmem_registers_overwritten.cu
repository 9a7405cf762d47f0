/* A register of a load is written before the load has filled it: which of the two values stays?
 *
 * target: 100a
 * says: left alone until they have been waited for
 * says: writes register d.0 of the tcgen05.ld at
 * says: cudaErrorLaunchFailure
 */
#include "tcgen05_tile.h"

#ifdef FIXED
#define WAIT "tcgen05.wait::ld.sync.aligned;\n"
#else
#define WAIT ""
#endif

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    if (threadIdx.x == 0) {
        multiply(&tile, acc, TILE_N);
        tcgen05_commit<1>(&tile.done);
    }
    wait_parity(&tile.done, 0);
    tcgen05_fence_after_thread_sync();
    uint32_t r;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\n" WAIT "mov.b32 %0, 7;"
                 : "=&r"(r) : "r"(my_lanes(acc)) : "memory");       // here
    to[threadIdx.x] = r;
    tcgen05_wait_ld();
    close_tile(acc);
}

ONE_CTA(gemm)
