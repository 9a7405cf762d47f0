/* A block has at most 1024 threads.
 *
 * says: 1024
 * says: 1056
 * says: cudaErrorInvalidConfiguration
 */
#include "fault.h"

__global__ void nothing(void) {}

int main(void)
{
#ifdef FIXED
    nothing<<<1, dim3(32, 32)>>>();
#else
    nothing<<<1, dim3(33, 32)>>>();
#endif
    return outcome();
}
