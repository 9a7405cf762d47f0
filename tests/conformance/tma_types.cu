/* tma_types.cu: what becomes of floating-point values on the way: types with .ftz and of tf32; NaNs for what lies outside
 * the tensor. Loads, and stores by the same maps. */
#include "tma.h"

static const struct { const char *name; CUtensorMapDataType type; unsigned element; } types[] = {
    { "f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2 }, { "bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2 },
    { "f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4 }, { "f32.ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4 },
    { "tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4 }, { "tf32.ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4 },
    { "f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8 } };

__global__ void run_store(const __grid_constant__ CUtensorMap map, const uint64_t *from)
{
    __shared__ alignas(1024) uint64_t tile[64];
    if (threadIdx.x < 64)
        tile[threadIdx.x] = from[threadIdx.x];
    fence_async();
    __syncthreads();
    if (threadIdx.x)
        return;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {0, 0}], [%1];\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" :: "l"(&map), "r"(smem_address(tile)) : "memory");
}

/* 128 floats: rounding to tf32 (halves to even and odd, carries into the exponent), subnormals, infinities, NaNs; both signs. */
static values specials(void)
{
    static const uint32_t bits[] = {
        0, 1, 0x1000, 0x1fff, 0x2000, 0x7fffff, 0x7ff000, 0x7fefff, 0x800000, 0x800fff, 0x801000, 0x801001, 0x803000, 0x802fff, 0x803001,
        0x3f800000, 0x3f801000, 0x3f801001, 0x3f803000, 0x3f7fffff, 0x3f7ff000, 0x3f7fefff, 0x3fffefff, 0x3ffff000, 0x7f7fffff,
        0x7f7ff000, 0x7f7fefff, 0x7f800000, 0x7f800001, 0x7f801000, 0x7fc00000, 0x7fffffff };
    values words(64);
    for (unsigned i = 0; i < 64; i++)
        words[i] = (uint64_t)(bits[i % 32] | 0x80000000) << 32 | bits[(i < 32 ? i : i * 5 + 3) % 32];
    return words;
}

int main(void)
{
    values words = specials(), empty(64);
    uint64_t *gmem = device_words(512, 0), *from = device_words(512, 0);
    char name[100];
    for (const auto &type : types) {
        tensor t;
        t.type = type.type, t.element = type.element;
        t.dim[0] = 128 / t.element, t.dim[1] = 4, t.box[0] = t.dim[0], t.box[1] = 4;
        CHECKED(cudaMemcpy(gmem, words.data(), 512, cudaMemcpyHostToDevice));
        snprintf(name, sizeof name, "load %s", type.name);
        values got = load(t, t.map(gmem), place{}, 512);
        print_results(name, got.data(), got.size());
        if (t.element == 4)
            print_words(name, got);

        t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        snprintf(name, sizeof name, "nan %s", type.name);
        got = load(t, t.map(gmem), place{ { 64 / (int)t.element, -1 } }, 512);
        print_results(name, got.data(), got.size());
        print_words(name, values{ got[0], got[24], got[40] });

        CHECKED(cudaMemcpy(gmem, empty.data(), 512, cudaMemcpyHostToDevice));
        CHECKED(cudaMemcpy(from, words.data(), 512, cudaMemcpyHostToDevice));
        run_store<<<1, 128>>>(t.map(gmem), from);
        CHECKED(cudaGetLastError());
        got = host_words(gmem, 64);
        snprintf(name, sizeof name, "store %s", type.name);
        print_results(name, got.data(), got.size());
    }
    return 0;
}
