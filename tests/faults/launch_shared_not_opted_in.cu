/* More than 48 KB of dynamic shared memory without asking for it first.
 *
 * says: cudaFuncAttributeMaxDynamicSharedMemorySize|opt
 * says: 65536
 * says: cudaErrorInvalidValue
 */
#include "fault.h"

extern __shared__ int tile[];

__global__ void fill(void)
{
    tile[threadIdx.x * 128] = threadIdx.x;
}

int main(void)
{
#ifdef FIXED
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
#endif
    fill<<<1, 128, 65536>>>();
    return outcome();
}
