/* tensormap.c: cuTensorMapEncode*: a tensor in global memory, described for the bulk-tensor unit. The limits are the
 * hardware's; the driver only answers "invalid value", here the argument that broke one is named, with its value.
 * CUDA Driver API: "Tensor Map Object Management". */
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
    say("%s: %s (it is %lld)", r->call, rule, (long long)value);
    return (CUresult)cudaErrorInvalidValue;
}

static bool is_float(CUtensorMapDataType t)
{
    return t >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && t <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool is_packed(CUtensorMapDataType t) { return t >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; }

/* Packed in global memory, padded to 16 bytes for 16 elements in shared memory. */
static bool is_padded(CUtensorMapDataType t)
{
    return t == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B || t == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static uint32_t swizzle_span(CUtensorMapSwizzle s)
{
    return s == CU_TENSOR_MAP_SWIZZLE_32B ? 32 : s == CU_TENSOR_MAP_SWIZZLE_64B ? 64 : 128;
}

/* What the numbers of the enumerations allow, and what the device has. Two rules of the documentation are not among them,
 * for the driver has been seen not to insist: that the map's own address is a multiple of 64 (where a copy uses it, it must
 * be), and that the 32-byte interleave goes with the 32-byte swizzle. */
static CUresult check_kinds(const struct request *r)
{
    const struct device *d = ctx_device();
    if (!d)
        return (CUresult)cudaErrorNoDevice;
    bool blackwell = d->cc >= 100, atoms = r->swizzle >= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    if (d->cc < 90)
        return bad(r, "tensor maps need a device of compute capability 9.0", d->cc);
    if ((unsigned)r->type >= sizeof element_bits)
        return bad(r, "tensorDataType: there is no such type", r->type);
    if (is_packed(r->type) && !blackwell)
        return bad(r, "tensorDataType: packed types need a device of compute capability 10.0", r->type);
    if ((unsigned)r->interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return bad(r, "interleave: there is no such layout", r->interleave);
    if ((unsigned)r->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
        return bad(r, "swizzle: there is no such mode", r->swizzle);
    if (atoms && !blackwell)
        return bad(r, "swizzle: atoms of more than 16 bytes need a device of compute capability 10.0", r->swizzle);
    if ((unsigned)r->l2 > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return bad(r, "l2Promotion: there is no such size", r->l2);
    if ((unsigned)r->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return bad(r, "oobFill: there is no such fill", r->fill);
    if (r->fill && !is_float(r->type))
        return bad(r, "oobFill: only floating-point tensors can be filled with NaN; tensorDataType is another", r->type);
    if (r->interleave && r->type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return bad(r, "interleave: this packed type goes without", r->interleave);
    if (is_padded(r->type) && r->swizzle && (r->swizzle < CU_TENSOR_MAP_SWIZZLE_128B || r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B))
        return bad(r, "swizzle: this packed type goes with none, or one of 128 bytes without the flip", r->swizzle);
    return CUDA_SUCCESS;
}

static CUresult check_tensor(const struct request *r)
{
    uint64_t grain = r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_padded(r->type) ? 32 : 16;
    CUresult error = check_kinds(r);
    if (error)
        return error;
    if (r->rank < 1 || r->rank > 5)
        return bad(r, "tensorRank: must be 1 to 5", r->rank);
    if (r->interleave && r->rank < 3)
        return bad(r, "tensorRank: interleaved layouts need 3 or more", r->rank);
    if (!r->address || dev(r->address) % grain)
        return bad(r, grain == 32 ? "globalAddress: must be a multiple of 32" : "globalAddress: must be a multiple of 16", dev(r->address));
    for (uint32_t i = 0; i < r->rank; i++)
        if (r->dims[i] < 1 || r->dims[i] > 1ull << 32)
            return bad(r, "globalDim: each must be 1 to 2^32", r->dims[i]);
    if (is_padded(r->type) ? r->dims[0] % 128 : is_packed(r->type) && r->dims[0] % 2)
        return bad(r, is_padded(r->type) ? "globalDim[0]: must be a multiple of 128 for this packed type"
                                         : "globalDim[0]: must be a multiple of 2 for this packed type", r->dims[0]);
    for (uint32_t i = 0; i + 1 < r->rank; i++)
        if (r->strides[i] % grain || r->strides[i] >= 1ull << 40)
            return bad(r, grain == 32 ? "globalStrides: each must be a multiple of 32 bytes below 2^40"
                                      : "globalStrides: each must be a multiple of 16 bytes below 2^40", r->strides[i]);
    for (uint32_t i = 0; i < r->rank; i++)
        if (r->element_strides[i] < 1 || r->element_strides[i] > 8)
            return bad(r, "elementStrides: each must be 1 to 8", r->element_strides[i]);
    return CUDA_SUCCESS;
}

/* One row of a box in shared memory: `elements` of dimension 0; `name`: the argument that says how many. */
static CUresult check_inner(const struct request *r, const char *name, uint32_t elements)
{
    static const char *const rules[] = { "must be a multiple of 16 bytes", "must be 128 for this packed type",
                                         "with a swizzle of 32 bytes, must be at most 32 bytes",
                                         "with a swizzle of 64 bytes, must be at most 64 bytes",
                                         "with a swizzle of 128 bytes, must be at most 128 bytes" };
    uint64_t bytes = is_padded(r->type) ? elements : (uint64_t)elements * element_bits[r->type] / 8;
    bool plain = r->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    char text[100];
    int broken = -1;
    if (is_padded(r->type) && elements != 128)
        broken = 1;
    else if (plain && (bytes % 16 || !bytes))
        broken = 0;
    else if (plain && r->swizzle && bytes > swizzle_span(r->swizzle))
        broken = swizzle_span(r->swizzle) == 32 ? 2 : swizzle_span(r->swizzle) == 64 ? 3 : 4;
    if (broken < 0)
        return CUDA_SUCCESS;
    snprintf(text, sizeof text, "%s: %s", name, rules[broken]);
    return bad(r, text, broken == 1 ? elements : bytes);
}

/* A box must fit into shared memory. */
static CUresult check_box(const struct request *r, const uint32_t *box)
{
    uint64_t bytes = is_padded(r->type) ? box[0] : (uint64_t)box[0] * element_bits[r->type] / 8;
    for (uint32_t i = 1; i < r->rank; i++)
        bytes *= (box[i] + r->element_strides[i] - 1) / r->element_strides[i];
    return bytes > ctx_device()->smem_optin ? bad(r, "boxDim: more bytes than shared memory has", bytes) : CUDA_SUCCESS;
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
            error = bad(&r, "boxDim: each must be 1 to 256", boxDim[i]);
    if (!error)
        error = check_inner(&r, "boxDim[0]", boxDim[0]);
    if (!error)
        error = check_box(&r, boxDim);
    if (error)
        return error;
    struct tensor_map m = encode(&r);
    for (uint32_t i = 0; i < tensorRank; i++)
        m.box[i] = (uint16_t)boxDim[i];
    memcpy(tensorMap, &m, sizeof m);
    return CUDA_SUCCESS;
}

/* The corners of the bounding box, and that something is left between them. */
static CUresult check_corners(const struct request *r, const int *lower, const int *upper, uint32_t corners)
{
    static const int limit[] = {0, 32768, 128, 16};     /* by the number of corner coordinates */
    int most = limit[MIN(corners, 3)];
    for (uint32_t i = 0; i < corners; i++) {
        if (lower[i] < -most || lower[i] >= most)
            return bad(r, "pixelBoxLowerCorner: out of the range that the rank leaves it", (uint64_t)(int64_t)lower[i]);
        if (upper[i] < -most || upper[i] >= most)
            return bad(r, "pixelBoxUpperCorner: out of the range that the rank leaves it", (uint64_t)(int64_t)upper[i]);
        if ((int64_t)r->dims[i + 1] - 1 + upper[i] < lower[i])
            return bad(r, "pixelBoxUpperCorner: the bounding box is empty", (uint64_t)(int64_t)upper[i]);
    }
    return CUDA_SUCCESS;
}

static CUresult im2col(struct request *r, enum tensor_map_mode mode, const int *lower, const int *upper, uint32_t corners,
                       uint32_t channels, uint32_t pixels)
{
    CUresult error = check_tensor(r);
    if (!error && r->rank < 3)
        error = bad(r, "tensorRank: im2col needs 3, 4 or 5", r->rank);
    if (!error)
        error = check_corners(r, lower, upper, corners);
    if (!error && (channels < 1 || channels > 256))
        error = bad(r, "channelsPerPixel: must be 1 to 256", channels);
    if (!error && mode != TENSOR_IM2COL_W128 && (pixels < 1 || pixels > 1024))
        error = bad(r, "pixelsPerColumn: must be 1 to 1024", pixels);
    if (!error)
        error = check_inner(r, "channelsPerPixel", channels);
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
    if (ctx_device() && ctx_device()->cc < 100)
        return bad(&r, "needs a device of compute capability 10.0", ctx_device()->cc);
    if ((unsigned)mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128)
        return bad(&r, "mode: there is no such mode", mode);
    if (interleave)
        return bad(&r, "interleave: the wide im2col modes go without", interleave);
    if (swizzle != CU_TENSOR_MAP_SWIZZLE_64B && swizzle != CU_TENSOR_MAP_SWIZZLE_128B && swizzle != CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B)
        return bad(&r, "swizzle: the wide im2col modes go with 64B, 128B and 128B_ATOM_32B", swizzle);
    return im2col(&r, mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? TENSOR_IM2COL_W : TENSOR_IM2COL_W128, &pixelBoxLowerCornerWidth,
                  &pixelBoxUpperCornerWidth, 1, channelsPerPixel, pixelsPerColumn);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    NEEDS(drv, tensorMap);
    struct tensor_map m;
    memcpy(&m, tensorMap, sizeof m);
    struct request r = {.call = "cuTensorMapReplaceAddress", .type = (CUtensorMapDataType)m.type};
    uint64_t grain = m.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_padded(r.type) ? 32 : 16;
    if (m.magic != TENSOR_MAP_MAGIC)
        return bad(&r, "tensorMap: is none", m.magic);
    if (!globalAddress || dev(globalAddress) % grain)
        return bad(&r, grain == 32 ? "globalAddress: must be a multiple of 32" : "globalAddress: must be a multiple of 16", dev(globalAddress));
    m.address = dev(globalAddress);
    memcpy(tensorMap, &m, sizeof m);
    return CUDA_SUCCESS;
}
