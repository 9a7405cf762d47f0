/* tma_bulk.cu: bulk reductions of runs of bytes, shared to global memory: every operation on every type; and plain copies
 * there and back at sizes from 16 bytes on. */
#include "tma.h"

enum { SIZE = 4096, WORDS = SIZE / 8 };

#define REDUCE(op) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." op " [%0], [%1], %2;" \
                                :: "l"(to), "r"(from), "r"(bytes) : "memory")
#define ALL_OPS(M) \
    M("add.u32", 32, 0) M("add.s32", 32, 0) M("add.u64", 64, 0) M("add.f32", 32, 23) M("add.f64", 64, 52) M("add.noftz.f16", 16, 10) \
    M("add.noftz.bf16", 16, 7) M("min.u32", 32, 0) M("min.s32", 32, 0) M("min.u64", 64, 0) M("min.s64", 64, 0) M("min.f16", 16, 10) \
    M("min.bf16", 16, 7) M("max.u32", 32, 0) M("max.s32", 32, 0) M("max.u64", 64, 0) M("max.s64", 64, 0) M("max.f16", 16, 10) \
    M("max.bf16", 16, 7) M("inc.u32", 32, 0) M("dec.u32", 32, 0) M("and.b32", 32, 0) M("and.b64", 64, 0) M("or.b32", 32, 0) \
    M("or.b64", 64, 0) M("xor.b32", 32, 0) M("xor.b64", 64, 0)

enum { first_op = __COUNTER__ + 1 };
#define OP_CASE(op, bits, mantissa) case __COUNTER__ - first_op: REDUCE(op); break;

/* op -1: there and back. */
__global__ void run(int op, unsigned bytes, uint64_t *to, const uint64_t *gmem)
{
    __shared__ alignas(128) uint64_t tile[WORDS];
    __shared__ alignas(8) uint64_t full;
    unsigned from = smem_address(tile), bar = smem_address(&full);
    if (threadIdx.x)
        return;
    barrier_init(bar, 1);
    barrier_expect(bar, bytes);
    asm volatile("fence.proxy.async.shared::cta; cp.async.bulk.shared::cluster.global." COMPLETE " [%0], [%1], %2, [%3];"
                 :: "r"(from), "l"(gmem), "r"(bytes), "r"(bar) : "memory");
    barrier_wait(bar);
    switch (op) {
    case -1: asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(from), "r"(bytes) : "memory"); break;
    ALL_OPS(OP_CASE)
    }
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Integers of any size; floats of both signs whose exponents have three bits, subnormals and zeros among them. */
static values operands(unsigned bits, unsigned mantissa, uint64_t seed)
{
    values words(WORDS);
    uint64_t mask = mantissa ? 0 : ~0ull;
    for (unsigned i = 0; mantissa && i < 64; i += bits)
        mask |= ((1ull << (mantissa + 3)) - 1) << i | 1ull << (i + bits - 1);
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = random_bits(seed + i) & mask & (i % 7 ? ~0ull : random_bits(i));
    return words;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; unsigned bits, mantissa; } ops[] = {
#define OP_ROW(op, bits, mantissa) { op, bits, mantissa },
        ALL_OPS(OP_ROW) };
    static const unsigned sizes[] = { 16, 32, 48, 144, 1008, SIZE };
    uint64_t *gmem = device_words(SIZE, 1), *to = device_words(SIZE, 2);
    char name[60];
    for (unsigned size : sizes) {
        run<<<1, 32>>>(-1, size, to, gmem);
        CHECKED(cudaGetLastError());
        values words = host_words(to, WORDS);
        snprintf(name, sizeof name, "%u bytes", size);
        print_results(name, words.data(), words.size());
    }
    for (int op = 0; op < (int)(sizeof ops / sizeof ops[0]); op++) {
        values a = operands(ops[op].bits, ops[op].mantissa, 11), b = operands(ops[op].bits, ops[op].mantissa, 12);
        CHECKED(cudaMemcpy(gmem, a.data(), SIZE, cudaMemcpyHostToDevice));
        CHECKED(cudaMemcpy(to, b.data(), SIZE, cudaMemcpyHostToDevice));
        run<<<1, 32>>>(op, SIZE, to, gmem);
        CHECKED(cudaGetLastError());
        values words = host_words(to, WORDS);
        if (verbose(argc, argv))
            print_words(ops[op].name, words);
        print_results(ops[op].name, words.data(), words.size());
    }
    return 0;
}
