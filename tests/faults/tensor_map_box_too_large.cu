/* A box of 300 rows: at most 256 along each dimension.
 *
 * says: cuTensorMapEncodeTiled: boxDim: each must be 1 to 256 \(it is 300\)
 * says: the map was refused: 1
 */
#include "tensor_map.h"

int main(void)
{
    matrix_map m;
#ifdef FIXED
    m.box_rows = 256;
#else
    m.box_rows = 300;
#endif
    m.encode(matrix());
    return outcome();
}
