/* tma_store.cu: tensor stores and reductions in tile mode: every rank and swizzle, boxes inside and over the high edges;
 * every operation on every type that has it. */
#include "tma.h"

enum { BOX = 8192 };

#define PLACE(coordinates) "[%0, " coordinates "], [%1];" :: "l"(&map), "r"(src), "r"(at.c[0]), "r"(at.c[1]), "r"(at.c[2]), "r"(at.c[3]), "r"(at.c[4]) : "memory"
#undef C1
#undef C2
#undef C3
#undef C4
#undef C5
#define C1 "{%2}"
#define C2 "{%2, %3}"
#define C3 "{%2, %3, %4}"
#define C4 "{%2, %3, %4, %5}"
#define C5 "{%2, %3, %4, %5, %6}"
#define STORE(d) asm volatile("cp.async.bulk.tensor." #d "d.global.shared::cta.bulk_group " PLACE(C##d))
#define REDUCE(op) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op ".bulk_group " PLACE(C2))

static const char *const operations[] = { "add", "min", "max", "inc", "dec", "and", "or", "xor" };

/* Stores `from`, which is laid into shared memory as it is, so that the swizzle shows in the tensor. */
__global__ void run_store(const __grid_constant__ CUtensorMap map, int op, unsigned rank, place at, const uint64_t *from)
{
    extern __shared__ __align__(1024) uint64_t tile[];
    uint64_t *start = tile + (1024 - smem_address(tile) % 1024) % 1024 / 8;
    unsigned src = smem_address(start);
    for (unsigned i = threadIdx.x; i < BOX / 8; i += blockDim.x)
        start[i] = from[i];
    fence_async();
    __syncthreads();
    if (threadIdx.x)
        return;
    switch (op >= 0 ? 10 + op : (int)rank) {
    case 1: STORE(1); break;
    case 2: STORE(2); break;
    case 3: STORE(3); break;
    case 4: STORE(4); break;
    case 5: STORE(5); break;
    case 10: REDUCE("add"); break;
    case 11: REDUCE("min"); break;
    case 12: REDUCE("max"); break;
    case 13: REDUCE("inc"); break;
    case 14: REDUCE("dec"); break;
    case 15: REDUCE("and"); break;
    case 16: REDUCE("or"); break;
    case 17: REDUCE("xor"); break;
    }
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

/* The whole tensor after a store at each of some places. */
static void series(const char *name, const tensor &t, int op, const values &before, const values &box, bool show)
{
    uint64_t *gmem, *from;
    values all;
    CHECKED(cudaMalloc(&gmem, before.size() * 8));
    CHECKED(cudaMalloc(&from, BOX));
    CHECKED(cudaMemcpy(from, box.data(), BOX, cudaMemcpyHostToDevice));
    CUtensorMap map = t.map(gmem);
    for (unsigned over = 0; over < 2 + t.rank; over++) {        /* over no edge, over all, over each */
        place at = {};
        for (unsigned d = 0; d < t.rank; d++) {
            int step = d ? 1 : 16 / t.element;
            at.c[d] = over == 1 || over == d + 2 ? ((int)t.dim[d] - 1) / step * step : step;
        }
        CHECKED(cudaMemcpy(gmem, before.data(), before.size() * 8, cudaMemcpyHostToDevice));
        run_store<<<1, 128, BOX + 1024>>>(map, op, t.rank, at, from);
        CHECKED(cudaGetLastError());
        append(&all, host_words(gmem, before.size()));
    }
    if (show)
        print_words("tensors", all);
    print_results(name, all.data(), all.size());
    CHECKED(cudaFree(gmem));
    CHECKED(cudaFree(from));
}

static values random_words(size_t n, uint64_t seed)
{
    values words(n);
    for (size_t i = 0; i < n; i++)
        words[i] = random_bits(seed + i);
    return words;
}

/* Small floats of both signs, subnormals among them: their exponents have three bits. */
static values float_words(size_t n, unsigned bits, unsigned mantissa, uint64_t seed)
{
    values words = random_words(n, seed);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += bits)
        mask |= ((1ull << (mantissa + 3)) - 1) << i | 1ull << (i + bits - 1);
    for (size_t i = 0; i < n; i++)
        words[i] &= mask;
    return words;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; CUtensorMapDataType type; unsigned element, mantissa, ops; } types[] = {
        { "u32", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 0, 0xff }, { "s32", CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 0, 0x07 },
        { "u64", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, 0, 0xe7 }, { "s64", CU_TENSOR_MAP_DATA_TYPE_INT64, 8, 0, 0x06 },
        { "f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 10, 0x07 }, { "bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 7, 0x07 },
        { "f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 23, 0x01 } };
    static const unsigned spans[] = { 48, 32, 64, 128 };
    char name[100];
    for (unsigned rank = 1; rank <= 5; rank++)
        for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
            tensor t;
            t.rank = rank, t.swizzle = (CUtensorMapSwizzle)swizzle, t.padding = 16;
            for (unsigned d = 0; d < rank; d++)
                t.dim[d] = d ? 7 - d : 75, t.box[d] = d ? 2 + d % 2 : spans[swizzle] / 2;
            snprintf(name, sizeof name, "store, %ud, swizzle %u", rank, swizzle);
            series(name, t, -1, random_words((t.bytes() + 7) / 8, rank), random_words(BOX / 8, 77), verbose(argc, argv));
        }
    for (const auto &type : types)
        for (unsigned op = 0; op < 8; op++) {
            if (!(type.ops >> op & 1))
                continue;
            tensor t;
            t.type = type.type, t.element = type.element, t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
            t.dim[0] = 256 / t.element + 3, t.dim[1] = 19, t.box[0] = 128 / t.element, t.box[1] = 16;
            size_t n = (t.bytes() + 7) / 8;
            values before = type.mantissa ? float_words(n, 8 * type.element, type.mantissa, 5) : random_words(n, 5);
            values box = type.mantissa ? float_words(BOX / 8, 8 * type.element, type.mantissa, 6) : random_words(BOX / 8, 6);
            snprintf(name, sizeof name, "%s.%s", operations[op], type.name);
            series(name, t, op, before, box, verbose(argc, argv));
        }
    return 0;
}
