/* Each warp names its own rows of A; but a descriptor is that of the whole warpgroup.
 *
 * says: the descriptor of A is 0x[0-9a-f]+, and 0x[0-9a-f]+ in another warp of the warpgroup
 * says: cudaErrorIllegalInstruction
 */
#include "wgmma_tiles.h"

__global__ void multiply(float *out)
{
    __shared__ struct tiles t;
    float acc[32];
    clear(&t);
#ifdef FIXED
    const uint32_t row = 0;
#else
    const uint32_t row = threadIdx.x / 32 * 16;
#endif
    const uint64_t a_desc = wgmma_descriptor_128b(shared_address(t.a) + row * 128), b_desc = wgmma_descriptor_128b(shared_address(t.b));
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
