/* The stride between groups of 8 rows leads out of shared memory.
 *
 * says: the tile of B \(start 0x[0-9a-f]+, leading offset 0, stride offset 8192, swizzle 128\) covers 0x
 * says: cudaErrorIllegalAddress
 */
#include "wgmma_tiles.h"

__global__ void multiply(float *out)
{
    __shared__ struct tiles t;
    float acc[32];
    clear(&t);
#ifdef FIXED
    const uint32_t stride = 1024;
#else
    const uint32_t stride = 8192;
#endif
    const uint64_t a_desc = wgmma_descriptor_128b(shared_address(t.a));
    const uint64_t b_desc = wgmma_descriptor(shared_address(t.b), 0, stride, WGMMA_SWIZZLE_128B);
    wgmma_fence();
    wgmma_mma_async_m64n64k16_f32_f16_f16(acc, a_desc, b_desc, 0);      // here
    wgmma_commit_group();
    wgmma_wait_group<0>();
    store(out, acc);
}

int main(void)
{
    multiply<<<1, THREADS>>>(device_array<float>(32 * THREADS));
    return outcome();
}
