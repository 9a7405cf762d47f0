/* Two of the four warps multiply.
 *
 * says: always be able to go on
 * says: wgmma.wait_group 0: warps 0x3 of 4 have issued
 * says: cudaErrorLaunchFailure
 */
#include "wgmma_tiles.h"

__global__ void multiply(float *out)
{
    __shared__ struct tiles t;
    float acc[32];
    clear(&t);
    const uint64_t a_desc = wgmma_descriptor_128b(shared_address(t.a)), b_desc = wgmma_descriptor_128b(shared_address(t.b));
#ifndef FIXED
    if (threadIdx.x >= 64)
        return;
#endif
    wgmma_fence();
    wgmma_mma_async_m64n64k16_f32_f16_f16(acc, a_desc, b_desc, 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();          // here
    store(out, acc);
}

int main(void)
{
    multiply<<<1, THREADS>>>(device_array<float>(32 * THREADS));
    return outcome();
}
