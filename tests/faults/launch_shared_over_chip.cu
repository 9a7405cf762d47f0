/* More dynamic shared memory than a block of this chip can have: the request itself is refused.
 *
 * env: EMU_DEVICE=h200
 * says: 232448
 * says: cudaErrorInvalidValue
 */
#include "fault.h"

extern __shared__ int tile[];

__global__ void fill(void)
{
    tile[threadIdx.x] = threadIdx.x;
}

int main(void)
{
#ifdef FIXED
    int bytes = 232448;
#else
    int bytes = 232448 + 16;
#endif
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    fill<<<1, 128, bytes>>>();
    return outcome();
}
