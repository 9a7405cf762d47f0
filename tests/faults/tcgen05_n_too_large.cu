/* N = 264 in the instruction descriptor: it ends at 256.
 *
 * target: 100a
 * says: an operand must be in the range
 * says: N is 264: it must be a multiple of 8 from 8 to 256
 * says: cudaErrorIllegalInstruction
 */
#include "tcgen05_tile.h"

#ifdef FIXED
enum { WIDTH = TILE_N };
#else
enum { WIDTH = 264 };
#endif

__global__ void gemm(uint32_t *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    if (threadIdx.x == 0) {
        multiply(&tile, acc, WIDTH);                    // here
        tcgen05_commit<1>(&tile.done);
    }
    wait_parity(&tile.done, 0);
    to[threadIdx.x] = 0;
    close_tile(acc);
}

ONE_CTA(gemm)
