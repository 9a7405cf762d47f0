/* Accumulators are stored before wgmma.wait_group: they may be those of before.
 *
 * says: left alone until its group was waited for
 * says: this reads register d.0 of the wgmma.mma_async
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
    wgmma_mma_async_m64n64k16_f32_f16_f16(acc, a_desc, b_desc, 0);      // here
    wgmma_commit_group();
#ifdef FIXED
    wgmma_wait_group<0>();
#endif
    out[threadIdx.x] = acc[0];      // here
    wgmma_wait_group<0>();
    store(out, acc);
}

int main(void)
{
    multiply<<<1, THREADS>>>(device_array<float>(32 * THREADS));
    return outcome();
}
