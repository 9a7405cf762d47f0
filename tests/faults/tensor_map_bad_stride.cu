/* Rows of the matrix that do not begin at multiples of 16 bytes.
 *
 * says: cuTensorMapEncodeTiled: globalStrides: each must be a multiple of 16 bytes below 2\^40 \(it is 264\)
 * says: the map was refused: 1
 */
#include "tensor_map.h"

int main(void)
{
    matrix_map m;
#ifdef FIXED
    m.row_bytes = COLS * 2;
#else
    m.row_bytes = COLS * 2 + 8;
#endif
    m.encode(matrix());
    return outcome();
}
