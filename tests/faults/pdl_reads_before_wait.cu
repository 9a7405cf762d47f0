/* The second kernel begins while the first still runs, and reads its results before it has waited for its end.
 *
 * says: DEPENDENCE: what a grid does to global memory is there for a dependent grid only behind its griddepcontrol.wait
 * says: Kernel (squares|sums)
 * says: kernel (squares|sums), CTA
 * says: cudaErrorLaunchFailure
 */
#include "pdl.h"

__global__ void squares(int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    launch_dependents();
    to[i] = i * i;                                                      // here
}

__global__ void sums(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
#ifdef FIXED
    wait_for_primary();
#endif
    to[i] = from[i] + from[n - 1 - i];                                  // here
}

int main(void)
{
    int *squared = device_zeros<int>(1024), *summed = device_zeros<int>(1024);
    squares<<<8, 128>>>(squared);
    launch_dependent(sums, 8, 128, (const int *)squared, summed);
    return outcome();
}
