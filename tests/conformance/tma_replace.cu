/* tma_replace.cu: a kernel changes its tensor map, field by field, in shared memory, publishes it and loads by it. */
#include "tma.h"

#define ONE(field) asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], %1;" :: "r"(there), "r"((unsigned)value) : "memory")
#define WIDE(field) asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b64 [%0], %1;" :: "r"(there), "l"(value) : "memory")
#define FIXED(field, n) asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " #n ";" :: "r"(there) : "memory")

enum field { NOTHING, ADDRESS, DIM0, DIM1, STRIDE0, BOX1, STEP1, RANK, SWIZZLE_64, SWIZZLE_NONE, TYPE_F16, FILL_NAN };

__device__ static inline void replace(int field, unsigned there, uint64_t value)
{
    switch (field) {
    case ADDRESS: WIDE("global_address"); break;
    case DIM0: asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" :: "r"(there), "r"((unsigned)value) : "memory"); break;
    case DIM1: asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" :: "r"(there), "r"((unsigned)value) : "memory"); break;
    case STRIDE0: asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" :: "r"(there), "l"(value) : "memory"); break;
    case BOX1: asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" :: "r"(there), "r"((unsigned)value) : "memory"); break;
    case STEP1: asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" :: "r"(there), "r"((unsigned)value) : "memory"); break;
    case RANK: ONE("rank"); break;
    case SWIZZLE_64: FIXED("swizzle_mode", 2); break;
    case SWIZZLE_NONE: FIXED("swizzle_mode", 0); break;
    case TYPE_F16: FIXED("elemtype", 6); break;
    case FILL_NAN: FIXED("fill_mode", 1); break;
    }
}

/* The map is changed by a whole warp's lane 0, copied to `published`, and acquired before the load. */
__global__ void run(const __grid_constant__ CUtensorMap map, const int2 *fields, const uint64_t *new_values, unsigned rank, place at,
                    unsigned bytes, unsigned words, CUtensorMap *published, uint64_t *out)
{
    extern __shared__ __align__(1024) uint64_t tile[];
    __shared__ alignas(128) uint64_t draft[16];
    __shared__ alignas(8) uint64_t full;
    unsigned bar = smem_address(&full), lane = threadIdx.x;
    uint64_t *start = tile + (1024 - smem_address(tile) % 1024) % 1024 / 8;
    if (lane < 16)
        draft[lane] = ((const uint64_t *)&map)[lane];
    for (unsigned i = lane; i < words; i += 32)
        start[i] = 0x5555555555555555;
    fence_async();
    __syncwarp();
    if (lane == 0) {
        for (int i = 0; i < fields->y; i++)
            replace(fields[i].x, smem_address(draft), new_values[i]);
        barrier_init(bar, 1);
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 :: "l"(__cvta_generic_to_global(published)), "r"(smem_address(draft)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(published) : "memory");
    if (lane == 0) {
        barrier_expect(bar, bytes);
        load_box(smem_address(start), published, bar, rank, false, at);
    }
    bool done = barrier_wait(bar);
    __syncwarp();
    for (unsigned i = lane; i < words; i += 32)
        out[i] = start[i];
    out[words] = done;
}

struct change { int field; uint64_t value; };

static void series(const char *name, const tensor &t, uint64_t *gmem, const change *changes, int n, unsigned rank, place at, unsigned bytes,
                   bool show)
{
    const unsigned words = 1024;
    int2 fields[4] = {};
    uint64_t new_values[4] = {};
    for (int i = 0; i < n; i++)
        fields[i].x = changes[i].field, new_values[i] = changes[i].value;
    fields[0].y = n;
    int2 *device_fields = (int2 *)device_words(sizeof fields, 0);
    uint64_t *device_values = device_words(sizeof new_values, 0), *out = device_words(8 * words + 8, 0), *published = device_words(128, 0);
    CHECKED(cudaMemcpy(device_fields, fields, sizeof fields, cudaMemcpyHostToDevice));
    CHECKED(cudaMemcpy(device_values, new_values, sizeof new_values, cudaMemcpyHostToDevice));
    run<<<1, 32, 8192 + 1024>>>(t.map(gmem), device_fields, device_values, rank, at, bytes, words, (CUtensorMap *)published, out);
    CHECKED(cudaGetLastError());
    values got = host_words(out, words + 1);
    if (show)
        print_words(name, got);
    print_results(name, got.data(), got.size());
}

int main(int argc, char **argv)
{
    bool show = verbose(argc, argv);
    tensor t;                   /* 40 rows of 96 two-byte elements, boxes of 64 x 24 */
    t.dim[0] = 96, t.dim[1] = 40, t.box[0] = 64, t.box[1] = 24, t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    t.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    uint64_t *gmem = device_words(2 * t.bytes(), 21), *elsewhere = device_words(2 * t.bytes(), 22);
    const place at = { { 48, 30 } };
    const unsigned bytes = t.box_bytes();
    const change address = { ADDRESS, (uint64_t)elsewhere }, dims[] = { { DIM0, 61 }, { DIM1, 37 } }, stride = { STRIDE0, 160 };
    const change grouped[] = { { ADDRESS, (uint64_t)elsewhere }, { DIM0, 72 }, { DIM1, 33 }, { STRIDE0, 144 } };
    const change nan = { FILL_NAN, 0 }, box = { BOX1, 16 }, step = { STEP1, 2 }, none = { SWIZZLE_NONE, 0 };
    series("nothing", t, gmem, &address, 0, 2, at, bytes, show);
    series("address", t, gmem, &address, 1, 2, at, bytes, show);
    series("dimensions", t, gmem, dims, 2, 2, at, bytes, show);
    series("stride", t, gmem, &stride, 1, 2, at, bytes, show);
    series("address, dimensions, stride", t, gmem, grouped, 4, 2, at, bytes, show);
    series("nan fill", t, gmem, &nan, 1, 2, at, bytes, show);
    series("no swizzle", t, gmem, &none, 1, 2, at, bytes, show);
    series("box", t, gmem, &box, 1, 2, at, 16 * t.row(), show);
    const change rank = { RANK, 1 }, narrower = { SWIZZLE_64, 0 }, half = { TYPE_F16, 0 };
    series("element stride", t, gmem, &step, 1, 2, at, 12 * t.row(), show);
    tensor deep = t;            /* three dimensions, of which two are left */
    deep.rank = 3, deep.dim[2] = 1;
    series("rank", deep, gmem, &rank, 1, 2, at, bytes, show);
    tensor half_wide = t;
    half_wide.box[0] = 32, half_wide.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    series("swizzle 64", half_wide, gmem, &narrower, 1, 2, at, half_wide.box_bytes(), show);
    tensor integers = t;        /* that become f16, so that they can be filled with NaNs */
    const change typed[] = { half, nan };
    integers.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    series("type", integers, gmem, typed, 2, 2, at, bytes, show);
    return 0;
}
