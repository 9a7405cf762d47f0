/* tensormap.c: cuTensorMapEncode*: a tensor in global memory, described for the bulk-tensor unit. The limits are the
 * hardware's; the driver only answers "invalid value", here the broken one is named. */
#include "cuda_emu.h"
#include "tensormap.h"
#include <string.h>

static const uint8_t element_bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};

struct request {                /* the arguments that the three calls share */
    const char *call;
    CUtensorMap *map;
    CUtensorMapDataType type;
    uint32_t rank;
    void *address;
    const uint64_t *dims, *strides;
    const uint32_t *element_strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2;
    CUtensorMapFloatOOBfill fill;
};

static CUresult bad(const struct request *r, const char *rule, uint64_t value)
{
    say("%s: %s (it is %llu)", r->call, rule, (unsigned long long)value);
    return (CUresult)cudaErrorInvalidValue;
}

static bool is_float(CUtensorMapDataType t)
{
    return t >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && t <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool is_wide_packed(CUtensorMapDataType t)
{
    return t == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B || t == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static uint32_t swizzle_span(CUtensorMapSwizzle s)
{
    return s == CU_TENSOR_MAP_SWIZZLE_32B ? 32 : s == CU_TENSOR_MAP_SWIZZLE_64B ? 64 : 128;
}

static CUresult check_tensor(const struct request *r)
{
    uint64_t grain = r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_wide_packed(r->type) ? 32 : 16;
    if (!r->map || dev(r->map) % 64)
        return bad(r, "the map must be 64-byte aligned", dev(r->map));
    if ((unsigned)r->type >= sizeof element_bits)
        return bad(r, "there is no such data type", r->type);
    if (r->rank < 1 || r->rank > 5)
        return bad(r, "the rank must be 1 to 5", r->rank);
    if (r->interleave > CU_TENSOR_MAP_INTERLEAVE_32B || (r->interleave && r->rank < 3))
        return bad(r, "interleaved layouts need a rank of 3 or more", r->rank);
    if (!r->address || dev(r->address) % grain)
        return bad(r, grain == 32 ? "the global address must be 32-byte aligned" : "the global address must be 16-byte aligned", dev(r->address));
    for (uint32_t i = 0; i < r->rank; i++)
        if (r->dims[i] < 1 || r->dims[i] > 1ull << 32)
            return bad(r, "a global dimension must be 1 to 2^32", r->dims[i]);
    for (uint32_t i = 0; i + 1 < r->rank; i++)
        if (r->strides[i] % grain || r->strides[i] >= 1ull << 40)
            return bad(r, grain == 32 ? "a global stride must be a multiple of 32 bytes below 2^40"
                                      : "a global stride must be a multiple of 16 bytes below 2^40", r->strides[i]);
    for (uint32_t i = 0; i < r->rank; i++)
        if (r->element_strides[i] < 1 || r->element_strides[i] > 8)
            return bad(r, "an element stride must be 1 to 8", r->element_strides[i]);
    if ((unsigned)r->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
        return bad(r, "there is no such swizzle", r->swizzle);
    if (r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B && r->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return bad(r, "the 32-byte interleave needs the 32-byte swizzle", r->swizzle);
    if (is_wide_packed(r->type) && r->dims[0] % 128)
        return bad(r, "dimension 0 of this packed type must be a multiple of 128", r->dims[0]);
    if ((unsigned)r->l2 > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return bad(r, "there is no such L2 promotion", r->l2);
    if (r->fill && !is_float(r->type))
        return bad(r, "only floating-point tensors can be filled with NaN", r->type);
    return CUDA_SUCCESS;
}

/* One row of a box in shared memory: `elements` of dimension 0. */
static CUresult check_inner(const struct request *r, uint32_t elements)
{
    uint64_t bytes = is_wide_packed(r->type) ? elements : (uint64_t)elements * element_bits[r->type] / 8;
    if (is_wide_packed(r->type) && elements != 128)
        return bad(r, "the box of this packed type must be 128 elements wide", elements);
    if (r->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && (bytes % 16 || !bytes))
        return bad(r, "the box must be a multiple of 16 bytes wide", bytes);
    if (r->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && r->swizzle && bytes > swizzle_span(r->swizzle))
        return bad(r, r->swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? "with the 32-byte swizzle the box may be 32 bytes wide"
                    : r->swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? "with the 64-byte swizzle the box may be 64 bytes wide"
                                                              : "with a 128-byte swizzle the box may be 128 bytes wide", bytes);
    return CUDA_SUCCESS;
}

static struct tensor_map encode(const struct request *r)
{
    struct tensor_map m = {
        .magic = TENSOR_MAP_MAGIC, .rank = (uint8_t)r->rank, .type = (uint8_t)r->type, .element_bits = element_bits[r->type],
        .interleave = (uint8_t)r->interleave, .swizzle = (uint8_t)r->swizzle, .l2_promotion = (uint8_t)r->l2,
        .oob_fill = (uint8_t)r->fill, .address = dev(r->address),
    };
    for (uint32_t i = 0; i < r->rank; i++) {
        m.dim_minus_1[i] = (uint32_t)(r->dims[i] - 1);
        *(i < 4 ? &m.element_stride[i] : &m.element_stride4) = (uint8_t)r->element_strides[i];
    }
    for (uint32_t i = 0; i + 1 < r->rank; i++)
        m.stride[i] = r->strides[i];
    return m;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress,
                                const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
                                const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    NEEDS(drv, tensorMap && globalDim && (globalStrides || tensorRank < 2) && elementStrides && boxDim);
    struct request r = {"cuTensorMapEncodeTiled", tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                        elementStrides, interleave, swizzle, l2Promotion, oobFill};
    CUresult error = check_tensor(&r);
    for (uint32_t i = 0; i < tensorRank && !error; i++)
        if (boxDim[i] < 1 || boxDim[i] > 256)
            error = bad(&r, "a box dimension must be 1 to 256", boxDim[i]);
    if (!error)
        error = check_inner(&r, boxDim[0]);
    if (error)
        return error;
    struct tensor_map m = encode(&r);
    for (uint32_t i = 0; i < tensorRank; i++)
        m.box[i] = (uint16_t)boxDim[i];
    memcpy(tensorMap, &m, sizeof m);
    return CUDA_SUCCESS;
}

static CUresult im2col(struct request *r, enum tensor_map_mode mode, const int *lower, const int *upper, uint32_t corners,
                       uint32_t channels, uint32_t pixels)
{
    static const int limit[] = {0, 32768, 128, 16};     /* by the number of corner coordinates */
    CUresult error = check_tensor(r);
    if (!error && r->rank < 3)
        error = bad(r, "im2col needs a rank of 3, 4 or 5", r->rank);
    for (uint32_t i = 0; i < corners && !error; i++) {
        int most = limit[MIN(corners, 3)];
        if (lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most)
            error = bad(r, "a corner of the pixel box is out of range", (uint64_t)(int64_t)lower[i]);
    }
    if (!error && (channels < 1 || channels > 256))
        error = bad(r, "channelsPerPixel must be 1 to 256", channels);
    if (!error && (pixels < 1 || pixels > 1024))
        error = bad(r, "pixelsPerColumn must be 1 to 1024", pixels);
    if (!error)
        error = check_inner(r, channels);
    if (error)
        return error;
    struct tensor_map m = encode(r);
    m.mode = (uint8_t)mode;
    m.channels = (uint16_t)channels;
    m.pixels = (uint16_t)pixels;
    for (uint32_t i = 0; i < corners; i++) {
        m.lower[i] = (int16_t)lower[i];
        m.upper[i] = (int16_t)upper[i];
    }
    memcpy(r->map, &m, sizeof m);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress,
                                 const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner,
                                 const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    NEEDS(drv, tensorMap && globalDim && (globalStrides || tensorRank < 2) && elementStrides && pixelBoxLowerCorner && pixelBoxUpperCorner);
    struct request r = {"cuTensorMapEncodeIm2col", tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                        elementStrides, interleave, swizzle, l2Promotion, oobFill};
    return im2col(&r, TENSOR_IM2COL, pixelBoxLowerCorner, pixelBoxUpperCorner, tensorRank > 2 ? tensorRank - 2 : 0, channelsPerPixel, pixelsPerColumn);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress,
                                     const cuuint64_t *globalDim, const cuuint64_t *globalStrides, int pixelBoxLowerCornerWidth,
                                     int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                     const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    NEEDS(drv, tensorMap && globalDim && (globalStrides || tensorRank < 2) && elementStrides);
    struct request r = {"cuTensorMapEncodeIm2colWide", tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                        elementStrides, interleave, swizzle, l2Promotion, oobFill};
    return im2col(&r, mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? TENSOR_IM2COL_W : TENSOR_IM2COL_W128, &pixelBoxLowerCornerWidth,
                  &pixelBoxUpperCornerWidth, 1, channelsPerPixel, pixelsPerColumn);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    NEEDS(drv, tensorMap);
    struct tensor_map m;
    memcpy(&m, tensorMap, sizeof m);
    if (m.magic != TENSOR_MAP_MAGIC || !globalAddress || dev(globalAddress) % 16)
        return (CUresult)cudaErrorInvalidValue;
    m.address = dev(globalAddress);
    memcpy(tensorMap, &m, sizeof m);
    return CUDA_SUCCESS;
}
