/* A store whose box begins one row above the matrix: loads fill in zeros there, stores must not go there.
 *
 * says: an operand must be in the range
 * says: a store with a negative coordinate
 * says: cudaErrorIllegalInstruction
 */
#include "tensor_map.h"

#ifdef FIXED
enum { ROW = 0 };
#else
enum { ROW = -1 };
#endif

__global__ void store(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) unsigned short tile[TILE_ROWS * TILE_COLS];
    for (int i = 0; i < TILE_ROWS * TILE_COLS; i++)
        tile[i] = (unsigned short)i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&map), "r"(0), "r"((int)ROW), "r"(smem(tile)) : "memory");     // here
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

int main(void)
{
    store<<<1, 1>>>(matrix_map().encode(matrix()));
    return outcome();
}
