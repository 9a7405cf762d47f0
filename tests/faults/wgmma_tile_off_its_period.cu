/* A tile whose first row is not the first of its swizzle's pattern: the rows are read with another pattern than that which
 * they were written with.
 *
 * says: the descriptor of A
 * says: 128-byte swizzle the tile's rows start at a multiple of 1024; 0x[0-9a-f]+ is 1 rows behind one
 * says: cudaErrorIllegalInstruction
 */
#include "wgmma_tiles.h"

__global__ void multiply(float *out)
{
    __shared__ struct tiles t;
    float acc[32];
    clear(&t);
#ifdef FIXED
    const uint32_t start = shared_address(t.a);
#else
    const uint32_t start = shared_address(t.a) + 128;
#endif
    const uint64_t a_desc = wgmma_descriptor_128b(start), b_desc = wgmma_descriptor_128b(shared_address(t.b));
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
