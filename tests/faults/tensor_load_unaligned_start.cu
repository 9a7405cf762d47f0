/* A box that starts at column 4 of fp16: 8 bytes into a row, and no multiple of 16.
 *
 * says: an operand must be in the range
 * says: the box does not begin at a multiple of 16 bytes
 * says: cudaErrorIllegalInstruction
 */
#include "tensor_map.h"

#ifdef FIXED
enum { COL = 8 };
#else
enum { COL = 4 };
#endif

__global__ void load(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) unsigned short tile[TILE_ROWS * TILE_COLS];
    __shared__ alignas(8) unsigned long long full;
    expect(smem(&full), sizeof tile);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(smem(tile)), "l"(&map), "r"((int)COL), "r"(0), "r"(smem(&full)) : "memory");     // here
    wait(smem(&full));
}

int main(void)
{
    load<<<1, 1>>>(matrix_map().encode(matrix()));
    return outcome();
}
