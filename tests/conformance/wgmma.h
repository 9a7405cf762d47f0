/* wgmma.h: warpgroup multiplications, one form at a time. A and B are tiles in shared memory, A may be in registers; the
 * accumulators start from values of their own. Every warpgroup (a CTA) has other values; a line has the hash of all
 * accumulators. The operands have fixed numbers: */
#ifndef CONFORMANCE_WGMMA_H
#define CONFORMANCE_WGMMA_H
#include "mma.h"
#include <utility>

/* %0 … %127: the accumulators. */
#define A_REGISTERS "{%128, %129, %130, %131}"
#define A_DESCRIPTOR "%132"
#define B_DESCRIPTOR "%133"
#define SCALE "%134"            /* not 0: D = A B + D, else D = A B */
#define METADATA "%135"         /* of sparse A */

/* Lists of accumulators: ten digits behind those that stand before them. */
#define TO2(t) "%" #t "0, %" #t "1"
#define TO4(t) TO2(t) ", %" #t "2, %" #t "3"
#define TO6(t) TO4(t) ", %" #t "4, %" #t "5"
#define TO8(t) TO6(t) ", %" #t "6, %" #t "7"
#define TO10(t) TO8(t) ", %" #t "8, %" #t "9"
#define TENS1 TO10()
#define TENS2 TENS1 ", " TO10(1)
#define TENS3 TENS2 ", " TO10(2)
#define TENS4 TENS3 ", " TO10(3)
#define TENS5 TENS4 ", " TO10(4)
#define TENS6 TENS5 ", " TO10(5)
#define TENS7 TENS6 ", " TO10(6)
#define TENS8 TENS7 ", " TO10(7)
#define TENS9 TENS8 ", " TO10(8)
#define TENS10 TENS9 ", " TO10(9)
#define TENS11 TENS10 ", " TO10(10)
#define TENS12 TENS11 ", " TO10(11)

#define WHOLE_N(M, ...) M(8, TO4(), TO2(), __VA_ARGS__) M(16, TO8(), TO4(), __VA_ARGS__)                             \
    M(24, TENS1 ", " TO2(1), TO6(), __VA_ARGS__) M(32, TENS1 ", " TO6(1), TO8(), __VA_ARGS__)                        \
    M(48, TENS2 ", " TO4(2), TENS1 ", " TO2(1), __VA_ARGS__)                                                         \
    M(64, TENS3 ", " TO2(3), TENS1 ", " TO6(1), __VA_ARGS__) M(80, TENS4, TENS2, __VA_ARGS__)                        \
    M(96, TENS4 ", " TO8(4), TENS2 ", " TO4(2), __VA_ARGS__)                                                         \
    M(112, TENS5 ", " TO6(5), TENS2 ", " TO8(2), __VA_ARGS__)                                                        \
    M(128, TENS6 ", " TO4(6), TENS3 ", " TO2(3), __VA_ARGS__)                                                        \
    M(144, TENS7 ", " TO2(7), TENS3 ", " TO6(3), __VA_ARGS__) M(160, TENS8, TENS4, __VA_ARGS__)                      \
    M(176, TENS8 ", " TO8(8), TENS4 ", " TO4(4), __VA_ARGS__)                                                        \
    M(192, TENS9 ", " TO6(9), TENS4 ", " TO8(4), __VA_ARGS__)                                                        \
    M(208, TENS10 ", " TO4(10), TENS5 ", " TO2(5), __VA_ARGS__)                                                      \
    M(224, TENS11 ", " TO2(11), TENS5 ", " TO6(5), __VA_ARGS__)
#define WIDE_N(M, ...) M(240, TENS12, TENS6, __VA_ARGS__)                                                            \
    M(256, TENS12 ", " TO8(12), TENS6 ", " TO4(6), __VA_ARGS__)
#define ODD_N(M, ...) M(40, TENS2, TENS1, __VA_ARGS__) M(56, TENS2 ", " TO8(2), TENS1 ", " TO4(1), __VA_ARGS__)      \
    M(72, TENS3 ", " TO6(3), TENS1 ", " TO8(1), __VA_ARGS__)                                                         \
    M(88, TENS4 ", " TO4(4), TENS2 ", " TO2(2), __VA_ARGS__)                                                         \
    M(104, TENS5 ", " TO2(5), TENS2 ", " TO6(2), __VA_ARGS__) M(120, TENS6, TENS3, __VA_ARGS__)                      \
    M(136, TENS6 ", " TO8(6), TENS3 ", " TO4(3), __VA_ARGS__)                                                        \
    M(152, TENS7 ", " TO6(7), TENS3 ", " TO8(3), __VA_ARGS__)                                                        \
    M(168, TENS8 ", " TO4(8), TENS4 ", " TO2(4), __VA_ARGS__)                                                        \
    M(184, TENS9 ", " TO2(9), TENS4 ", " TO6(4), __VA_ARGS__) M(200, TENS10, TENS5, __VA_ARGS__)                     \
    M(216, TENS10 ", " TO8(10), TENS5 ", " TO4(5), __VA_ARGS__)                                                      \
    M(232, TENS11 ", " TO6(11), TENS5 ", " TO8(5), __VA_ARGS__)                                                      \
    M(248, TENS12 ", " TO4(12), TENS6 ", " TO2(6), __VA_ARGS__)
#define EACH_N(M, ...) WHOLE_N(M, __VA_ARGS__) WIDE_N(M, __VA_ARGS__) ODD_N(M, __VA_ARGS__)

/* Between a fence and the wait: the multiplications of a form. */
#define GROUP(multiplications) "{ .reg .pred scale; setp.ne.b32 scale, " SCALE ", 0; wgmma.fence.sync.aligned; " multiplications \
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }"
/* `sp`: empty, or what stands between B and the scale when A is sparse. `tail`: the immediates. */
#define MULTIPLY(name, shape, list, a, sp, tail) name ".sync.aligned." shape " {" list "}, " a ", " B_DESCRIPTOR sp ", scale" tail "; "

enum { THREADS = 128, MOST_REGISTERS = 128, A_ROWS = 64, A_WORDS = 512, K_BYTES = 32 };
#ifndef TILE_WORDS
#define TILE_WORDS (A_WORDS + 256 * 16)         /* A, and B with 256 columns of 64 bytes */
#endif
/* One warpgroup's input: its tiles, then, each by thread: A in registers, metadata, accumulators. */
enum { AT_A = TILE_WORDS, AT_METADATA = AT_A + 4 * THREADS, AT_D = AT_METADATA + THREADS };

struct wgmma_form { const char *text; int n, registers; format d, a, b; int sparsity; };       /* sparsity as in selectors(); -1: dense */
typedef std::vector<uint32_t> words;

/* ---------------------------------------------------------------- WGMMA_FORMS(F): F(text, asm, n, registers, formats of D, A and B, sparsity) */
template <int form> struct multiplication;
enum { first_form = __COUNTER__ + 1 };

#define EIGHT(d, i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define SIXTY_FOUR(d, i) EIGHT(d, i), EIGHT(d, i + 8), EIGHT(d, i + 16), EIGHT(d, i + 24), EIGHT(d, i + 32), EIGHT(d, i + 40), EIGHT(d, i + 48), EIGHT(d, i + 56)
#define DEFINE_FORM(text, code, n, registers, d_, a_, b_, sparsity)                                                  \
    template <> struct multiplication<__COUNTER__ - first_form> {                                                    \
        enum { count = registers };                                                                                  \
        static __device__ void issue(uint32_t (&d)[MOST_REGISTERS], const uint32_t (&a)[4], uint64_t a_descriptor,   \
                                     uint64_t b_descriptor, uint32_t scale, uint32_t metadata)                       \
        {                                                                                                            \
            asm volatile(code : SIXTY_FOUR(d, 0), SIXTY_FOUR(d, 64) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),    \
                         "l"(a_descriptor), "l"(b_descriptor), "r"(scale), "r"(metadata) : "memory");                \
        }                                                                                                            \
    };
WGMMA_FORMS(DEFINE_FORM)
enum { NUMBER_OF_FORMS = __COUNTER__ - first_form };

#define FORM_ROW(text, code, n, registers, d, a, b, sparsity) { text, n, registers, d, a, b, sparsity },
static const wgmma_form forms[] = { WGMMA_FORMS(FORM_ROW) };

/* The descriptors' starts count from the tiles' first byte. */
template <int form>
__global__ void __launch_bounds__(THREADS) run_form(const uint32_t *in, uint32_t *out, uint64_t a_descriptor, uint64_t b_descriptor, uint32_t scale)
{
    __shared__ __align__(1024) uint32_t tiles[TILE_WORDS];
    const int count = multiplication<form>::count, thread = threadIdx.x;
    uint32_t d[MOST_REGISTERS] = {}, a[4];
    in += blockIdx.x * (AT_D + count * THREADS);
    for (int i = thread; i < TILE_WORDS; i += THREADS)
        tiles[i] = in[i];
    for (int i = 0; i < 4; i++)
        a[i] = in[AT_A + i * THREADS + thread];
#pragma unroll
    for (int i = 0; i < count; i++)
        d[i] = in[AT_D + i * THREADS + thread];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t start = (uint64_t)__cvta_generic_to_shared(tiles) >> 4;
    multiplication<form>::issue(d, a, a_descriptor + start, b_descriptor + start, scale, in[AT_METADATA + thread]);
#pragma unroll
    for (int i = 0; i < count; i++)
        out[(blockIdx.x * count + i) * THREADS + thread] = d[i];
}

typedef void form_kernel(const uint32_t *, uint32_t *, uint64_t, uint64_t, uint32_t);
template <int... form> static form_kernel *kernel_of(int number, std::integer_sequence<int, form...>)
{
    form_kernel *const kernels[] = { run_form<form>... };
    return kernels[number];
}

/* Runs as many warpgroups as there is input for. */
static inline words run(int number, const words &in, uint64_t a_descriptor, uint64_t b_descriptor, bool scale)
{
    int count = forms[number].registers;
    size_t ctas = in.size() / (AT_D + count * THREADS);
    words result(ctas * count * THREADS);
    uint32_t *device_in, *device_out;
    CHECKED(cudaMalloc(&device_in, in.size() * 4));
    CHECKED(cudaMalloc(&device_out, result.size() * 4));
    CHECKED(cudaMemcpy(device_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    form_kernel *kernel = kernel_of(number, std::make_integer_sequence<int, NUMBER_OF_FORMS>());
    kernel<<<ctas, THREADS>>>(device_in, device_out, a_descriptor, b_descriptor, scale);
    CHECKED(cudaGetLastError());
    CHECKED(cudaMemcpy(result.data(), device_out, result.size() * 4, cudaMemcpyDeviceToHost));
    CHECKED(cudaFree(device_in));
    CHECKED(cudaFree(device_out));
    return result;
}

static inline uint64_t descriptor(int start, int lbo, int sbo, int swizzle)
{
    return start >> 4 | (uint64_t)(lbo >> 4) << 16 | (uint64_t)(sbo >> 4) << 32 | (uint64_t)swizzle << 62;
}

/* ---------------------------------------------------------------- tiles of 8 rows by 16 bytes, those of the same rows side by side */
static const uint64_t plain_a = descriptor(0, 128, 256, 0);
static inline uint64_t plain_b(const wgmma_form &f)
{
    return descriptor(A_WORDS * 4, 128, f.sparsity < 0 ? 256 : 512, 0);
}

static inline words random_input(const wgmma_form &f, int sort, int ctas)
{
    words all;
    for (int cta = 0; cta < ctas; cta++)
        for (int i = 0; i < AT_D + f.registers * THREADS; i++) {
            uint64_t r = (uint64_t)cta * 100003 + i;
            bool is_b = i >= A_WORDS && i < AT_A;
            if (i >= AT_METADATA && i < AT_D)
                all.push_back(f.sparsity < 0 ? 0 : selectors(f.sparsity, r * 100));
            else
                all.push_back(i >= AT_D ? packed(f.d, sort, 2, r) : packed(is_b ? f.b : f.a, sort, is_b ? 1 : 0, r));
        }
    return all;
}

static inline void print_words(const char *text, const words &results, bool each)
{
    print_results(text, values(results.begin(), results.end()).data(), results.size());
    for (size_t i = 0; each && i < results.size(); i++)
        printf("%zu %zu: %x\n", i / THREADS, i % THREADS, results[i]);
}

/* All forms with values of these sorts. `program N`: line N alone, with all its results. */
static inline void run_sorts(int argc, char **argv, const int *sorts, int nsorts, int ctas)
{
    int only = argc > 1 ? atoi(argv[1]) : -1, line = 0;
    for (int number = 0; number < NUMBER_OF_FORMS; number++)
        for (int i = 0; i < nsorts; i++, line++) {
            const wgmma_form &f = forms[number];
            if (f.a.exponent == 0 && sorts[i] > ANY_BITS)
                continue;
            if (only >= 0 && only != line)
                continue;
            printf("%s: ", sort_names[sorts[i]]);
            print_words(f.text, run(number, random_input(f, sorts[i], ctas), plain_a, plain_b(f), true), only >= 0);
        }
}

#endif
