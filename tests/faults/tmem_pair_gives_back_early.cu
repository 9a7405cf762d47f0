/* R11: a pair gives its columns back; each CTA is done with its own, and does not know whether the other one is.
 * It is only noted: public kernels do so, and are known to run right.
 *
 * target: 100a
 * exits: 0
 * says: note: kernel gemm: the pair's columns are given back at
 * says: no barrier of the cluster says that the (tcgen05|access)
 */
#include "fault.h"
#include "z_cluster.h"
#include "z_layout.h"
#include "z_tmem.h"

enum { COLUMNS = 64, PAIR = 2 };

__global__ void __cluster_dims__(PAIR, 1, 1) gemm(uint32_t *to)
{
    __shared__ uint32_t taddr;
    cluster_sync();
    if (threadIdx.x < 32)
        tcgen05_alloc<PAIR>(&taddr, COLUMNS);
    __syncthreads();
    const uint32_t lanes = taddr + tmem_address(threadIdx.x / 32 * 32, 0);
    const uint32_t written[1] = { threadIdx.x };
    uint32_t read[1];
    tcgen05_st_32x32b_x1(lanes, written);
    tcgen05_wait_st();
    tcgen05_ld_32x32b_x1(read, lanes);
    tcgen05_wait_ld();
    to[blockIdx.x * 128 + threadIdx.x] = read[0];
#ifdef FIXED
    cluster_sync();
#else
    __syncthreads();
#endif
    if (threadIdx.x < 32)
        tcgen05_dealloc<PAIR>(taddr, COLUMNS);          // here
}

int main(void)
{
    gemm<<<PAIR, 128>>>(device_array<uint32_t>(PAIR * 128));
    return outcome();
}
