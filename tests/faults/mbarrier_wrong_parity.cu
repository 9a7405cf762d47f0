/* A producer waits for a fresh "empty" barrier with parity 0, that of the phase which nobody completes.
 *
 * says: always be able to go on
 * says: mbarrier 0x400: phase 0 is not complete: .*It is new: who is to find it free at first waits for parity 1
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"

#ifdef FIXED
#define PARITY "1"
#else
#define PARITY "0"
#endif

__global__ void producer(int *to)
{
    __shared__ alignas(8) unsigned long long empty;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&empty);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
    __syncthreads();
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], " PARITY ";\n"
                 "@!done bra again; }" :: "r"(bar) : "memory");     // here
    to[threadIdx.x] = 1;
}

int main(void)
{
    producer<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
