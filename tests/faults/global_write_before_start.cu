/* A stencil's first thread reaches to the left of the array.
 *
 * says: inside one allocation
 * says: cudaErrorIllegalAddress
 */
#include "fault.h"

__global__ void shift_left(int *array)
{
    int i = threadIdx.x;
#ifdef FIXED
    if (i > 0)
#endif
        array[i - 1] = i;   // here
}

int main(void)
{
    shift_left<<<1, 32>>>(device_array<int>(32));
    return outcome();
}
