/* warp.cu: shuffles, votes, match, redux, elect. Every case is done by whole warps and by parts of them. */
#include "conformance.h"

/* Blocks of one warp; lane l of block b takes the (32 b + l)-th operands. Lanes outside `mask` skip the instruction. */
#define CASES(F)                                                                                                    \
    F("shfl.sync.up.b32 %0|p, %1, %2, %3, %4;") F("shfl.sync.down.b32 %0|p, %1, %2, %3, %4;")                       \
    F("shfl.sync.bfly.b32 %0|p, %1, %2, %3, %4;") F("shfl.sync.idx.b32 %0|p, %1, %2, %3, %4;")                      \
    F("{.reg .pred q; setp.lt.u32 q, %1, 0x60000000; vote.sync.all.pred p, q, %4;}")                                \
    F("{.reg .pred q; setp.lt.u32 q, %1, 0x10000000; vote.sync.any.pred p, q, %4;}")                                \
    F("{.reg .pred q; setp.lt.u32 q, %1, 0xf0000000; vote.sync.uni.pred p, q, %4;}")                                \
    F("{.reg .pred q; setp.lt.u32 q, %1, 0xf0000000; vote.sync.uni.pred p, !q, %4;}")                               \
    F("{.reg .pred q; setp.lt.u32 q, %1, 0x80000000; vote.sync.ballot.b32 %0, q, %4;}")                             \
    F("{.reg .pred q; setp.lt.u32 q, %1, 0x80000000; vote.sync.ballot.b32 %0, !q, %4;}")                            \
    F("{.reg .b32 x; and.b32 x, %1, 3; match.any.sync.b32 %0, x, %4;}")                                             \
    F("{.reg .b64 x; .reg .b32 y; and.b32 y, %1, 1; mov.b64 x, {y, y}; match.any.sync.b64 %0, x, %4;}")             \
    F("{.reg .b32 x; shr.u32 x, %1, 31; match.all.sync.b32 %0|p, x, %4;}")                                          \
    F("{.reg .b32 x; .reg .b64 y; shr.u32 x, %1, 30; mov.b64 y, {x, 5}; match.all.sync.b64 %0|p, y, %4;}")          \
    F("match.all.sync.b32 %0|p, %4, %4;")                                                                           \
    F("redux.sync.add.u32 %0, %1, %4;") F("redux.sync.add.s32 %0, %1, %4;") F("redux.sync.min.u32 %0, %1, %4;")     \
    F("redux.sync.min.s32 %0, %1, %4;") F("redux.sync.max.u32 %0, %1, %4;") F("redux.sync.max.s32 %0, %1, %4;")     \
    F("redux.sync.and.b32 %0, %1, %4;") F("redux.sync.or.b32 %0, %1, %4;") F("redux.sync.xor.b32 %0, %1, %4;")      \
    F("activemask.b32 %0;") F("bar.warp.sync %4;") F("elect.sync %0|p, %4;")

/* The predicate, where there is one, is added to the result. */
#define CASE(text)                                                                                                  \
    case __COUNTER__ - first:                                                                                       \
        asm volatile("{.reg .pred p; setp.ne.u32 p, %1, %1; " text " @p or.b32 %0, %0, 0x40000000;}"                \
                     : "+r"(d) : "r"(a), "r"(b), "r"(c), "r"(mask));                                                \
        break;

enum { first = __COUNTER__ + 1 };

__global__ void run_case(int number, const uint32_t *operands, uint64_t *out)
{
    int at = blockIdx.x * 32 + threadIdx.x;
    const uint32_t *mine = operands + 4 * at;
    uint32_t a = mine[0], b = mine[1], c = mine[2], mask = mine[3], d = 0x1111;
    if (mask >> threadIdx.x & 1)
        switch (number) {
            CASES(CASE)
        }
    out[at] = d;
}

static const char *const texts[] = {
#define TEXT(text) text,
    CASES(TEXT)
};

int main(int argc, char **argv)
{
    enum { WARPS = 64, N = WARPS * 32 };
    const uint32_t masks[] = { 0xffffffff, 0x0000ffff, 0xaaaaaaaa, 1, 0x80000001, 0x7ffffffe, 0x00ff00ff };
    int number = 0;
    for (const char *text : texts) {
        bool shuffle = strncmp(text, "shfl", 4) == 0;
        std::vector<uint32_t> operands;
        for (int i = 0; i < N; i++) {
            int warp = i / 32, lane = i % 32;
            uint32_t segments = warp & 1 ? 31 : warp & 2 ? 0x181f : warp & 4 ? 0x1007 : 0;
            uint32_t mask = shuffle || warp < 16 ? 0xffffffff : masks[warp % 7];
            bool alike = warp % 5 == 4;     /* the same value in all lanes */
            operands.push_back((uint32_t)random_bits(alike ? warp : i));
            operands.push_back(warp & 8 ? (uint32_t)random_bits(i + 77777) & 63 : (warp >> 3) + (warp & 16 ? lane : 0));
            operands.push_back(segments);
            operands.push_back(mask);
        }
        uint32_t *in;
        uint64_t *out;
        CHECKED(cudaMalloc(&in, operands.size() * 4));
        CHECKED(cudaMalloc(&out, N * 8));
        CHECKED(cudaMemcpy(in, operands.data(), operands.size() * 4, cudaMemcpyHostToDevice));
        run_case<<<WARPS, 32>>>(number, in, out);
        values results(N);
        CHECKED(cudaMemcpy(results.data(), out, N * 8, cudaMemcpyDeviceToHost));
        print_results(text, results.data(), N);
        if (argc > 1 && atoi(argv[1]) == number)
            for (int i = 0; i < N; i++)
                printf("%x %x %x %x: %llx\n", operands[4 * i], operands[4 * i + 1], operands[4 * i + 2], operands[4 * i + 3],
                       (unsigned long long)results[i]);
        CHECKED(cudaFree(in));
        CHECKED(cudaFree(out));
        number++;
    }
    return 0;
}
