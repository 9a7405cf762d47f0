/* tma_encode.cu: which tensor maps cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make, and which they refuse: one
 * argument at a time is wrong, or just right. Nothing runs on the device. */
#include "tma.h"

struct request {
    int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    unsigned rank = 4, address = 0, map = 0, channels = 32, pixels = 64;
    cuuint64_t dim[5] = { 64, 16, 16, 16, 16 }, stride[4] = { 128, 2048, 32768, 524288 };
    cuuint32_t box[5] = { 32, 4, 2, 2, 2 }, step[5] = { 1, 1, 1, 1, 1 };
    int lower[3] = { -1, -1, -1 }, upper[3] = { -1, -1, -1 };
    int interleave = 0, swizzle = 2, l2 = 0, fill = 0;
};

static void answer(const char *name, bool im2col, const request &r)
{
    static auto tiled = (decltype(&cuTensorMapEncodeTiled))driver_function("cuTensorMapEncodeTiled");
    static auto columns = (decltype(&cuTensorMapEncodeIm2col))driver_function("cuTensorMapEncodeIm2col");
    static uint64_t *gmem = device_words(1 << 22, 0);
    alignas(128) unsigned char bytes[256 + 128];
    CUtensorMap *map = (CUtensorMap *)(bytes + r.map);
    void *address = (unsigned char *)gmem + r.address;
    int error = im2col
        ? columns(map, (CUtensorMapDataType)r.type, r.rank, address, r.dim, r.stride, r.lower, r.upper, r.channels, r.pixels, r.step,
                  (CUtensorMapInterleave)r.interleave, (CUtensorMapSwizzle)r.swizzle, (CUtensorMapL2promotion)r.l2, (CUtensorMapFloatOOBfill)r.fill)
        : tiled(map, (CUtensorMapDataType)r.type, r.rank, address, r.dim, r.stride, r.box, r.step, (CUtensorMapInterleave)r.interleave,
                (CUtensorMapSwizzle)r.swizzle, (CUtensorMapL2promotion)r.l2, (CUtensorMapFloatOOBfill)r.fill);
    printf("%s: %s: %d\n", im2col ? "im2col" : "tiled", name, error);
}

/* One request with some fields changed, for both calls. */
#define BOTH(name, ...) { request r; __VA_ARGS__; answer(name, false, r); answer(name, true, r); }
#define TILED(name, ...) { request r; __VA_ARGS__; answer(name, false, r); }
#define IM2COL(name, ...) { request r; __VA_ARGS__; answer(name, true, r); }

static void both(void)
{
    BOTH("as it is", (void)r)
    BOTH("map at 32", r.map = 32)
    BOTH("map at 64", r.map = 64)
    BOTH("rank 0", r.rank = 0)
    BOTH("rank 2", r.rank = 2)
    BOTH("rank 3", r.rank = 3)
    BOTH("rank 5", r.rank = 5)
    BOTH("rank 6", r.rank = 6)
    BOTH("address at 8", r.address = 8)
    BOTH("address at 16", r.address = 16)
    BOTH("dimension 0", r.dim[1] = 0)
    BOTH("dimension 2^32", r.dim[3] = 1ull << 32)
    BOTH("dimension 2^32 + 1", r.dim[3] = (1ull << 32) + 1)
    BOTH("stride 136", r.stride[0] = 136)
    BOTH("stride 112, less than a row", r.stride[0] = 112)
    BOTH("stride 2^40", r.stride[2] = 1ull << 40)
    BOTH("stride 2^40 - 16", r.stride[2] = (1ull << 40) - 16)
    BOTH("element stride 0", r.step[1] = 0)
    BOTH("element stride 8", r.step[1] = 8)
    BOTH("element stride 9", r.step[1] = 9)
    BOTH("element stride 3 of dimension 0", r.step[0] = 3)
    BOTH("element stride 9 of dimension 0", r.step[0] = 9)
    BOTH("swizzle 1, box too wide", r.swizzle = 1)
    BOTH("swizzle 3", r.swizzle = 3)
    BOTH("swizzle 7", r.swizzle = 7)
    BOTH("promotion 3", r.l2 = 3)
    BOTH("promotion 4", r.l2 = 4)
    BOTH("nan fill", r.fill = 1)
    BOTH("nan fill 2", r.fill = 2)
    BOTH("nan fill of integers", r.fill = 1, r.type = CU_TENSOR_MAP_DATA_TYPE_UINT16)
    BOTH("interleave 16", r.interleave = 1)
    BOTH("interleave 32", r.interleave = 2)
    BOTH("interleave 32, swizzle 1", r.interleave = 2, r.swizzle = 1)
    BOTH("interleave 3", r.interleave = 3)
}

static void types(void)
{
    static const unsigned bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
    for (int type = 0; type < 13; type++) {
        char name[40];
        snprintf(name, sizeof name, "type %d", type);
        BOTH(name, r.type = type, r.box[0] = r.channels = 64 / bytes[type])
        snprintf(name, sizeof name, "nan fill of type %d", type);
        TILED(name, r.type = type, r.fill = 1, r.box[0] = 64 / bytes[type])
    }
    BOTH("type 16", r.type = 16)
}

int main(void)
{
    CHECKED(cudaFree(0));
    both();
    types();
    TILED("rank 1", r.rank = 1)
    TILED("box 0", r.box[1] = 0)
    TILED("box 256", r.box[1] = 256)
    TILED("box 257", r.box[1] = 257)
    TILED("box wider than the tensor", r.dim[0] = 16)
    TILED("box of 8 bytes", r.box[0] = 4)
    TILED("box of 24 bytes", r.box[0] = 12)
    TILED("box of 16 bytes", r.box[0] = 8)
    TILED("box of 512 bytes, no swizzle", r.box[0] = 256, r.swizzle = 0)
    TILED("box of 2048 bytes, no swizzle", r.box[0] = 256, r.swizzle = 0, r.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64)
    TILED("box larger than shared memory", r.box[1] = 256, r.box[2] = 256)
    IM2COL("channels 0", r.channels = 0)
    IM2COL("channels 256, no swizzle", r.channels = 256, r.swizzle = 0)
    IM2COL("channels 257, no swizzle", r.channels = 257, r.swizzle = 0)
    IM2COL("channels of 24 bytes", r.channels = 12)
    IM2COL("pixels 0", r.pixels = 0)
    IM2COL("pixels 1024", r.pixels = 1024)
    IM2COL("pixels 1025", r.pixels = 1025)
    IM2COL("corner -128", r.lower[0] = -128)
    IM2COL("corner -129", r.lower[0] = -129)
    IM2COL("corner 127, upper", r.upper[1] = 127)
    IM2COL("corner 128, upper", r.upper[1] = 128)
    IM2COL("rank 5, corner -16", r.rank = 5, r.lower[2] = -16)
    IM2COL("rank 5, corner -17", r.rank = 5, r.lower[2] = -17)
    IM2COL("rank 3, corner -32768", r.rank = 3, r.lower[0] = -32768)
    IM2COL("rank 3, corner 32767, upper", r.rank = 3, r.upper[0] = 32767)
    IM2COL("an empty bounding box", r.lower[0] = 0, r.upper[0] = -16)
    IM2COL("a bounding box of one", r.lower[0] = 0, r.upper[0] = -15)
    return 0;
}
