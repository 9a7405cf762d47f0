/* The kernel is handed a pointer from malloc.
 *
 * says: inside one allocation
 * says: hint: .*cudaMallocManaged
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void load(int *to, const int *from)
{
    *to = *from;            // here
}

int main(void)
{
    int *from = (int *)calloc(1, sizeof(int));
#ifdef FIXED
    from = device_zeros<int>(1);
#endif
    load<<<1, 1>>>(device_array<int>(1), from);
    return outcome();
}
