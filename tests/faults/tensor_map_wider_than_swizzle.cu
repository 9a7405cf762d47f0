/* A row of 256 bytes in a box with the 128-byte swizzle.
 *
 * says: cuTensorMapEncodeTiled: boxDim\[0\]: with a swizzle of 128 bytes, must be at most 128 bytes \(it is 256\)
 * says: the map was refused: 1
 */
#include "tensor_map.h"

int main(void)
{
    matrix_map m;
#ifdef FIXED
    m.box_cols = 64;
#else
    m.box_cols = 128;
#endif
    m.encode(matrix());
    return outcome();
}
