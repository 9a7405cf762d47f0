/* The bytes are announced and come, but nobody arrives: expect_tx alone is no arrival.
 *
 * says: always be able to go on
 * says: mbarrier 0x400: phase 0 is not complete: 1 of 1 arrivals pending, 0 bytes still expected; 32 threads wait
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

#ifdef FIXED
#define EXPECT "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;"
#else
#define EXPECT "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 128;"
#endif

__global__ void one_tile(int *to)
{
    __shared__ alignas(8) unsigned long long full;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile(EXPECT :: "r"(bar) : "memory");
        asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 128;" :: "r"(bar) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" :: "r"(bar) : "memory");     // here
    to[threadIdx.x] = 1;
}

int main(void)
{
    one_tile<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
