/* A is in registers, and one of them is rewritten while the multiplication still reads it.
 *
 * says: this writes register a.0 of the wgmma.mma_async
 * says: which reads it and has not been waited for
 * says: cudaErrorLaunchFailure
 */
#include "wgmma_tiles.h"

__global__ void multiply(float *out)
{
    __shared__ struct tiles t;
    float acc[32];
    clear(&t);
#ifdef FIXED
#define NEXT_A "wgmma.wait_group.sync.aligned 0; add.u32 %4, %4, 1;"
#else
#define NEXT_A "add.u32 %4, %4, 1; wgmma.wait_group.sync.aligned 0;"
#endif
    unsigned a[4] = { threadIdx.x, 0, 0, 0 };
    wgmma_fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 0, 1, 1, 0;\n"
                 "wgmma.commit_group.sync.aligned; " NEXT_A
                 : "=f"(acc[0]), "=f"(acc[1]), "=f"(acc[2]), "=f"(acc[3]), "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])
                 : "l"(wgmma_descriptor_128b(shared_address(t.b))) : "memory");     // here
    out[threadIdx.x] = acc[0] + acc[1] + acc[2] + acc[3] + (float)a[0];
}

int main(void)
{
    multiply<<<1, THREADS>>>(device_array<float>(32 * THREADS));
    return outcome();
}
