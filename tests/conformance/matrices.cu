/* matrices.cu: matrices between shared memory and registers: ldmatrix, stmatrix, movmatrix, and wmma from its loads to
 * its store. What wmma's registers hold is the chip's affair, so only what comes back to memory is printed.
 *
 * %0 to %3: where A, B, C and D are in shared memory. %4: 16 bytes of A of the lane's own; %5: the same of D. %6: the
 * row of A that the lane names; %7: the same of D. */
#include "mma.h"

#define L1(r) "{" #r "0}"
#define L2(r) "{" #r "0, " #r "1}"
#define L4(r) "{" #r "0, " #r "1, " #r "2, " #r "3}"
#define L8(r) "{" #r "0, " #r "1, " #r "2, " #r "3, " #r "4, " #r "5, " #r "6, " #r "7}"

/* F(before, the instruction, after, formats of A, B and C) */
#define MOVE(F, text) F("mov.b64 {d0, d1}, 0; mov.b64 {d2, d3}, 0; ld.shared.v4.b32 " L4(a) ", [%4]; ", text,       \
    " st.shared.v4.b32 [%5], " L4(d) ";", b1, b1, b1)
#define STORE(F, text) F("ld.shared.v4.b32 " L4(a) ", [%4]; ", text, "", b1, b1, b1)
#define MOVES(F, trans) MOVE(F, "ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 " L1(d) ", [%6];")                 \
    MOVE(F, "ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 " L2(d) ", [%6];")                                   \
    MOVE(F, "ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 " L4(d) ", [%6];")                                   \
    STORE(F, "stmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 [%7], " L1(a) ";")                                  \
    STORE(F, "stmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 [%7], " L2(a) ";")                                  \
    STORE(F, "stmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 [%7], " L4(a) ";")

#define WMMA(F, la, lb, shape, types, A, B, C, D, LA, LB, LC, LD)                                                      \
    F("wmma.load.a.sync.aligned." la "." shape ".shared." #A " " LA(a) ", [%0]; "                                     \
      "wmma.load.b.sync.aligned." lb "." shape ".shared." #B " " LB(b) ", [%1]; "                                     \
      "wmma.load.c.sync.aligned." la "." shape ".shared." #C " " LC(c) ", [%2]; ",                                    \
      "wmma.mma.sync.aligned." la "." lb "." shape types " " LD(d) ", " LA(a) ", " LB(b) ", " LC(c) ";",              \
      " wmma.store.d.sync.aligned." lb "." shape ".shared." #D " [%3], " LD(d) ";", A, B, C)
#define LAYOUTS(M, F, ...) M(F, "row", "col", __VA_ARGS__) M(F, "col", "row", __VA_ARGS__)                            \
    M(F, "row", "row", __VA_ARGS__) M(F, "col", "col", __VA_ARGS__)
#define HALF(F, la, lb, shape) WMMA(F, la, lb, shape, ".f32.f32", f16, f16, f32, f32, L8, L8, L8, L8)                 \
    WMMA(F, la, lb, shape, ".f16.f16", f16, f16, f16, f16, L8, L8, L4, L4)                                            \
    WMMA(F, la, lb, shape, ".f32.f16", f16, f16, f16, f32, L8, L8, L4, L8)                                            \
    WMMA(F, la, lb, shape, ".f16.f32", f16, f16, f32, f16, L8, L8, L8, L4)
#define BF16(F, la, lb, shape, LA, LB) WMMA(F, la, lb, shape, ".f32.bf16.bf16.f32", bf16, bf16, f32, f32, LA, LB, L8, L8)
#define TF32(F, la, lb) WMMA(F, la, lb, "m16n16k8", ".f32.tf32.tf32.f32", tf32, tf32, f32, f32, L4, L4, L8, L8)
#define BYTES(F, la, lb, shape, LA, LB) WMMA(F, la, lb, shape, ".s32.s8.s8.s32", s8, s8, s32, s32, LA, LB, L8, L8)    \
    WMMA(F, la, lb, shape, ".s32.u8.u8.s32.satfinite", u8, u8, s32, s32, LA, LB, L8, L8)

#define ALL(F) MOVES(F, "") MOVES(F, ".trans") MOVE(F, "movmatrix.sync.aligned.m8n8.trans.b16 d0, a0;")               \
    LAYOUTS(HALF, F, "m16n16k16") HALF(F, "row", "col", "m32n8k16") HALF(F, "row", "col", "m8n32k16")                 \
    LAYOUTS(BF16, F, "m16n16k16", L4, L4) BF16(F, "row", "col", "m32n8k16", L8, L2) BF16(F, "row", "col", "m8n32k16", L2, L8) \
    TF32(F, "row", "col") TF32(F, "col", "row")                                                                       \
    LAYOUTS(BYTES, F, "m16n16k16", L2, L2) BYTES(F, "row", "col", "m32n8k16", L4, L1) BYTES(F, "row", "col", "m8n32k16", L1, L4)

struct memory_form { const char *text; format a, b, c; bool moves; };
#define FORM_ROW(before, text, after, a, b, c) { text, a, b, c, text[0] != 'w' },
#define FORM_CASE(before, text, after, a_, b_, c_)                                                                    \
    case __COUNTER__ - first_form:                                                                                    \
        asm volatile("{ .reg .b32 a<8>, b<8>, c<8>, d<8>; " before text after " }"                                    \
            :: "r"(a), "r"(a + 1024), "r"(a + 2048), "r"(d), "r"(a + 16 * lane), "r"(d + 16 * lane),                  \
               "r"(a + 16 * row), "r"(d + 16 * row) : "memory");                                                      \
        break;

enum { WARPS = 16, WORDS = 256 };       /* of a matrix, at most */
enum { first_form = __COUNTER__ + 1 };

__global__ void run_form(int form, const uint32_t *in, uint32_t *out)
{
    __shared__ alignas(128) uint32_t memory[4 * WORDS];
    uint32_t lane = threadIdx.x, row = (lane * 5 + 3) % 32;
    uint32_t a = (uint32_t)__cvta_generic_to_shared(memory), d = a + 3 * 4 * WORDS;
    for (int i = lane; i < 4 * WORDS; i += 32)
        memory[i] = i < 3 * WORDS ? in[blockIdx.x * 3 * WORDS + i] : 0;
    __syncwarp();
    switch (form) {
        ALL(FORM_CASE)
    }
    __syncwarp();
    for (int i = lane; i < WORDS; i += 32)
        out[blockIdx.x * WORDS + i] = memory[3 * WORDS + i];
}

static values run(int number, const std::vector<uint32_t> &words)
{
    uint32_t *in, *out, results[WARPS * WORDS];
    CHECKED(cudaMalloc(&in, words.size() * 4));
    CHECKED(cudaMalloc(&out, sizeof results));
    CHECKED(cudaMemcpy(in, words.data(), words.size() * 4, cudaMemcpyHostToDevice));
    run_form<<<WARPS, 32>>>(number, in, out);
    CHECKED(cudaGetLastError());
    CHECKED(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    CHECKED(cudaFree(in));
    CHECKED(cudaFree(out));
    return values(results, results + WARPS * WORDS);
}

int main(int argc, char **argv)
{
    const memory_form forms[] = { ALL(FORM_ROW) };
    int only = argc > 1 ? atoi(argv[1]) : -1, line = 0;
    for (size_t number = 0; number < sizeof forms / sizeof forms[0]; number++) {
        const memory_form &f = forms[number];
        int sorts = f.moves ? 1 : f.a.exponent ? SORTS : ANY_BITS + 1;
        for (int sort = 0; sort < sorts; sort++, line++) {
            if ((only >= 0 && only != line) || (!f.moves && !f.a.exponent && sort == MODERATE))
                continue;
            std::vector<uint32_t> words;
            for (int i = 0; i < WARPS * 3 * WORDS; i++) {
                int role = i / WORDS % 3;
                words.push_back(packed(role == 0 ? f.a : role == 1 ? f.b : f.c, f.moves ? ANY_BITS : sort, role, i));
            }
            values results = run(number, words);
            printf("%s: ", sort_names[f.moves ? ANY_BITS : sort]);
            print_results(f.text, results.data(), results.size());
            for (size_t i = 0; only >= 0 && i < results.size(); i++)
                printf("%zu %zu: %llx\n", i / WORDS, i % WORDS, (unsigned long long)results[i]);
        }
    }
    return 0;
}
