/* A 64-bit atomic at an address that is a multiple of 4 only.
 *
 * says: multiple of
 * says: cudaErrorMisalignedAddress
 */
#include "fault.h"

__global__ void count(char *counter)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(counter), 1ull);   // here
}

int main(void)
{
    char *counter = device_zeros<char>(32);
#ifdef FIXED
    count<<<1, 32>>>(counter + 8);
#else
    count<<<1, 32>>>(counter + 4);
#endif
    return outcome();
}
