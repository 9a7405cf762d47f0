/* The registers of a load are used before tcgen05.wait::ld. No fault: the ISA has the use wait for the value ("Register
 * dependencies, same thread"), so that the result is right. But it orders nothing else, and so it is noted.
 *
 * target: 100a
 * exits: 0
 * says: note: kernel gemm.* register d.3 of the tcgen05.ld at
 * says: no tcgen05.wait::ld stands between
 * says: the result is right
 */
#include "tcgen05_tile.h"

__global__ void gemm(float *to)
{
    __shared__ struct tile tile;
    const uint32_t acc = open_tile(&tile);
    if (threadIdx.x == 0) {
        multiply(&tile, acc, TILE_N);
        tcgen05_commit<1>(&tile.done);
    }
    wait_parity(&tile.done, 0);
    tcgen05_fence_after_thread_sync();
    uint32_t r[8];
    tcgen05_ld_32x32b_x8(r, my_lanes(acc));             // here
#ifdef FIXED
    tcgen05_wait_ld();
#endif
    to[threadIdx.x] = __uint_as_float(r[3]);            // here
    tcgen05_wait_ld();
    close_tile(acc);
}

int main(void)
{
    float *to = device_array<float>(TILE_M), got[TILE_M];
    gemm<<<1, TILE_M>>>(to);
    int status = outcome();
    if (status || cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess)
        return status ? status : 4;
    for (int i = 0; i < TILE_M; i++)
        if (!(got[i] == 16))
            return printf("to[%d] is %g\n", i, got[i]), 1;
    printf("the result is right\n");
    return 0;
}
