/* Accumulators are changed between two multiplications, and no wgmma.fence orders that before the second.
 *
 * says: stand behind a wgmma.fence
 * says: register d.0 was written at .*, and no wgmma.fence stands between
 * says: cudaErrorLaunchFailure
 */
#include "wgmma_tiles.h"

__global__ void multiply(float *out)
{
    __shared__ struct tiles t;
    float acc[32];
    clear(&t);
    const uint64_t a_desc = wgmma_descriptor_128b(shared_address(t.a)), b_desc = wgmma_descriptor_128b(shared_address(t.b));
    wgmma_fence();
    wgmma_mma_async_m64n64k16_f32_f16_f16(acc, a_desc, b_desc, 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    for (int i = 0; i < 32; i++)
        acc[i] *= 0.5f;             // here
#ifdef FIXED
    wgmma_fence();
#endif
    wgmma_mma_async_m64n64k16_f32_f16_f16(acc, a_desc, b_desc, 1);      // here
    wgmma_commit_group();
    wgmma_wait_group<0>();
    store(out, acc);
}

int main(void)
{
    multiply<<<1, THREADS>>>(device_array<float>(32 * THREADS));
    return outcome();
}
