/* The grid cannot be cut into clusters: it has CTAs to spare.
 *
 * says: the grid is not a multiple of its clusters of 4 x 1 x 1
 * says: cudaErrorInvalid
 */
#include "fault.h"

__global__ void __cluster_dims__(4, 1, 1) number(int *to) { to[blockIdx.x] = (int)blockIdx.x; }

int main(void)
{
#ifdef FIXED
    number<<<12, 1>>>(device_array<int>(12));
#else
    number<<<10, 1>>>(device_array<int>(10));
#endif
    return outcome();
}
