/* A tensor map in global memory, at an address that is no multiple of 64.
 *
 * says: an operand must be in the range
 * says: the tensor map is not aligned to 64 bytes
 * says: cudaErrorIllegalInstruction
 */
#include "tensor_map.h"

#ifdef FIXED
enum { AT = 64 };
#else
enum { AT = 32 };
#endif

__global__ void load(const unsigned char *maps)
{
    __shared__ alignas(1024) unsigned short tile[TILE_ROWS * TILE_COLS];
    __shared__ alignas(8) unsigned long long full;
    expect(smem(&full), sizeof tile);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(smem(tile)), "l"(maps + AT), "r"(0), "r"(0), "r"(smem(&full)) : "memory");     // here
    wait(smem(&full));
}

int main(void)
{
    const CUtensorMap map = matrix_map().encode(matrix());
    unsigned char *maps = device_zeros<unsigned char>(256);
    cudaMemcpy(maps + AT, &map, sizeof map, cudaMemcpyHostToDevice);
    load<<<1, 1>>>(maps);
    return outcome();
}
