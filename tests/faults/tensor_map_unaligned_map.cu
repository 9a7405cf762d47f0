/* A map made at an address that is no multiple of 64.
 *
 * says: cuTensorMapEncodeTiled: tensorMap: must be aligned to 64 bytes
 * says: the map was refused: 1
 */
#include "tensor_map.h"

int main(void)
{
    matrix_map m;
#ifdef FIXED
    alignas(64) static char bytes[256]; m.map = bytes + 64;
#else
    alignas(64) static char bytes[256]; m.map = bytes + 32;
#endif
    m.encode(matrix());
    return outcome();
}
