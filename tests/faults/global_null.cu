/* A null pointer is read through.
 *
 * says: inside one allocation
 * says: null pointer
 * says: hint: .*error of its allocation
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void load(int *to, const int *from)
{
    *to = *from;            // here
}

int main(void)
{
    int *from = NULL;
#ifdef FIXED
    from = device_zeros<int>(1);
#endif
    load<<<1, 1>>>(device_array<int>(1), from);
    return outcome();
}
