/* z_mxfp8.h: inputs in block-scaled fp8. Host C only.
 *
 * A matrix is kept as e4m3, a float of 8 bits (sign, 4 bits of exponent, 3 of fraction), and for each 32 neighbours in a
 * row a common factor, ue8m0: a power of two, 8 bits of exponent and nothing else. An element is worth
 *
 *     its e4m3  *  the factor of its block
 *
 * We start from the integers of z_check.h and give every block an exponent of its own, drawn at random: the elements
 * are divided by that power of two, the factor puts it back. The product of the scaled matrices is that of the integers,
 * exact as ever, and a factor that goes to the wrong block makes a wrong sum.
 *
 * In this file: 1 e4m3   2 factors   3 on the device
 */
#ifndef Z_MXFP8_H
#define Z_MXFP8_H

#include "z_cuda.h"
#include "z_layout.h"

enum { BLOCK_K = 32, QUAD_K = 4 * BLOCK_K };    /* elements that share a factor; whose four factors lie together */

/* ------------------------------------------------------------------ 1 e4m3 */

enum { E4M3_NAN = 0x7F };

/* The bits of a number that e4m3 holds exactly; NaN for others, so that they cannot pass for right. */
static inline uint8_t e4m3_from_float(float value)
{
    enum { BIAS = 7, SMALLEST = 1 - BIAS, FRACTION = 3 };
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    if (value == 0)
        return sign;
    if (!(fabsf(value) <= 448))
        return E4M3_NAN;
    const int exponent = ilogbf(value) < SMALLEST ? SMALLEST : ilogbf(value);
    const float units = ldexpf(fabsf(value), FRACTION - exponent);     /* 8 to 15; below 8 for subnormals */
    if (units != floorf(units))
        return E4M3_NAN;
    const int hidden = units >= 1 << FRACTION;
    return (uint8_t)(sign | (exponent + BIAS - 1 + hidden) << FRACTION | ((int)units & ((1 << FRACTION) - 1)));
}

/* ------------------------------------------------------------------ 2 factors */

/* For each row, an exponent from -4 to 4 for each block. */
static inline int8_t *block_exponents(int rows, int k, uint64_t seed)
{
    const int blocks = tiles_to_cover(k, BLOCK_K);
    int8_t *exponent = allocate((size_t)rows * blocks);
    for (size_t i = 0; i < (size_t)rows * blocks; i++)
        exponent[i] = (int8_t)((int)(random_bits(seed + 19, i) % 9) - 4);
    return exponent;
}

static inline uint8_t ue8m0_from_exponent(int exponent) { return (uint8_t)(exponent + 127); }

/* ------------------------------------------------------------------ 3 on the device */

/* A row of e4m3 takes this many bytes, for tensor maps want rows to start at multiples of 16. */
static inline size_t e4m3_row_bytes(int k) { return (size_t)tiles_to_cover(k, 16) * 16; }

/* The integers over their factors. Between the end of a row and the next one lie NaNs, which nobody may read. */
static inline void *upload_e4m3(const int8_t *value, const int8_t *exponent, int rows, int k)
{
    const size_t row_bytes = e4m3_row_bytes(k), blocks = (size_t)tiles_to_cover(k, BLOCK_K);
    uint8_t *bits = memset(allocate(rows * row_bytes), E4M3_NAN, rows * row_bytes);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < k; col++) {
            const int e = exponent[row * blocks + col / BLOCK_K];
            bits[row * row_bytes + col] = e4m3_from_float(ldexpf(value[(size_t)row * k + col], -e));
        }
    void *gmem = upload(bits, rows * row_bytes);
    free(bits);
    return gmem;
}

/* The factors in the order of z_layout.h's scale_offset, for whole groups of 128 rows and 4 blocks; what is beyond
 * the matrix has the factor 1, for there zeros are multiplied, and NaN times zero would be NaN. */
static inline void *upload_factors(const int8_t *exponent, int rows, int k)
{
    const int blocks = tiles_to_cover(k, BLOCK_K), quads = tiles_to_cover(k, QUAD_K);
    const size_t bytes = (size_t)tiles_to_cover(rows, 128) * quads * 512;
    uint8_t *factor = memset(allocate(bytes), ue8m0_from_exponent(0), bytes);
    for (int row = 0; row < rows; row++)
        for (int block = 0; block < blocks; block++)
            factor[scale_offset(row, block, quads)] = ue8m0_from_exponent(exponent[(size_t)row * blocks + block]);
    void *gmem = upload(factor, bytes);
    free(factor);
    return gmem;
}

#endif
