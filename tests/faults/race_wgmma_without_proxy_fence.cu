/* R2: threads write the tiles that a warpgroup multiplies. The barrier is there, the proxy fence is not.
 *
 * says: it reads shared memory .* through the async proxy
 * says: wrote it through the generic proxy, and no proxy fence \(fence.proxy.async\) stands between them
 * says: cudaErrorLaunchFailure
 */
#include <cuda_fp16.h>
#include "fault.h"
#include "z_layout.h"
#include "z_ptx.h"
#include "z_wgmma.h"

__global__ void multiply(float *to)
{
    __shared__ alignas(1024) half a[64 * 64], b[8 * 64];
    for (int i = threadIdx.x; i < 64 * 64; i += 128)
        a[i] = half(1);                         // here
    for (int i = threadIdx.x; i < 8 * 64; i += 128)
        b[i] = half(1);
#ifdef FIXED
    fence_proxy_async_shared_cta();
#endif
    __syncthreads();
    float d[4] = {};
    const uint64_t a_desc = wgmma_descriptor_128b(shared_address(a)), b_desc = wgmma_descriptor_128b(shared_address(b));
    wgmma_fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a_desc), "l"(b_desc) : "memory");     // here
    wgmma_commit_group();
    wgmma_wait_group<0>();
    to[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

int main(void)
{
    multiply<<<1, 128>>>(device_array<float>(128));
    return outcome();
}
