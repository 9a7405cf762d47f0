/* A kernel takes its tensor map by value without __grid_constant__: taking its address makes a copy in local memory.
 *
 * says: an operand must be in the range
 * says: the tensor map is in local memory: a kernel takes it as `const __grid_constant__ CUtensorMap`
 * says: cudaErrorIllegalInstruction
 */
#include "tensor_map.h"

#ifdef FIXED
#define PARAMETER const __grid_constant__ CUtensorMap
#else
#define PARAMETER CUtensorMap
#endif

__device__ __noinline__ void load_box(const CUtensorMap *map, unsigned tile, unsigned full)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(tile), "l"(map), "r"(0), "r"(0), "r"(full) : "memory");     // here
}

__global__ void load(PARAMETER map, int shift)
{
    __shared__ alignas(1024) unsigned short tile[TILE_ROWS * TILE_COLS];
    __shared__ alignas(8) unsigned long long full;
    expect(smem(&full), sizeof tile);
    load_box(&map + shift, smem(tile), smem(&full));
    wait(smem(&full));
}

int main(void)
{
    load<<<1, 1>>>(matrix_map().encode(matrix()), 0);
    return outcome();
}
