/* tensormap.h: what a CUtensorMap holds in the emulator. The real layout is the hardware's secret; programs carry the
 * 128 bytes around without looking. Written by cuTensorMapEncode* (tensormap.c), read by the bulk-tensor unit, changed
 * by tensormap.replace. */
#ifndef Z_TENSORMAP_H
#define Z_TENSORMAP_H

#include <stdint.h>

enum { TENSOR_MAP_MAGIC = 0x50414d5a };         /* "ZMAP" */
enum tensor_map_mode { TENSOR_TILED, TENSOR_IM2COL, TENSOR_IM2COL_W, TENSOR_IM2COL_W128 };

struct tensor_map {
    uint32_t magic;
    uint8_t rank;               /* 1 to 5; dimension 0 is the contiguous one */
    uint8_t type;               /* CUtensorMapDataType */
    uint8_t element_bits;       /* in global memory: 4, 6, 8, 16, 32, 64 */
    uint8_t mode;               /* enum tensor_map_mode */
    uint8_t interleave, swizzle, l2_promotion, oob_fill;        /* numbers of the driver API's enumerations */
    uint8_t element_stride[4];  /* of dimensions 0 to 3 */
    uint64_t address;
    uint32_t dim_minus_1[5];    /* elements; 2^32 are allowed */
    uint8_t element_stride4;
    uint8_t reserved0[3];
    uint64_t stride[4];         /* bytes, of dimensions 1 to 4 */
    uint16_t box[5];            /* elements, 1 to 256: tiled mode */
    uint16_t channels, pixels;  /* im2col modes: elements of dimension 0, columns */
    int16_t lower[3], upper[3]; /* im2col corners, of dimensions 1 to rank - 2 */
    uint8_t reserved1[22];
};
_Static_assert(sizeof(struct tensor_map) == 128, "a tensor map has 128 bytes");

static inline uint32_t tensor_element_stride(const struct tensor_map *m, int dim)
{
    return dim < 4 ? m->element_stride[dim] : m->element_stride4;
}

#endif
