/* An assert that does not hold, with its text and its place.
 *
 * says: n <= 3
 * says: assertion\.cu:\d+
 * says: cudaErrorAssert
 */
#include <assert.h>

#include "fault.h"

__global__ void demand(int n)
{
    assert(n <= 3);
}

int main(void)
{
#ifdef FIXED
    demand<<<1, 32>>>(3);
#else
    demand<<<1, 32>>>(4);
#endif
    return outcome();
}
