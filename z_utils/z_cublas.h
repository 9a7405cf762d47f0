/* z_cublas.h: the vendor's matrix product, to be measured against. Host C only.
 *
 * Loaded when the program runs (no rung links it, none needs it), so the few types and numbers that we use are
 * spelled out here as cublas_v2.h and cublasLt.h have them. The baseline is the fastest of cublasGemmEx and the
 * first algorithms that cublasLt's heuristics propose, timed on the very operands.
 *
 * cuBLAS counts columns first: our row-major C = A B^T (m x n) is its column-major C^T = B A^T (n x m), where
 * our B, seen column-major, is k x n and must be transposed, and our A is k x m as it should be.
 *
 * In this file: 1 a gemm to launch   2 cuBLAS and cublasLt   3 choosing the baseline
 */
#ifndef Z_CUBLAS_H
#define Z_CUBLAS_H

#include "z_bench.h"

/* ------------------------------------------------------------------ 1 a gemm to launch */

typedef cudaError_t gemm_launcher(const half *a, const half *b, half *c, int m, int n, int k, cudaStream_t stream);

struct gemm_call {
    gemm_launcher *launch;
    const half *a, *b;
    half *c;
    struct shape shape;
};

static inline cudaError_t launch_gemm_call(const void *call)
{
    const struct gemm_call *g = call;
    return g->launch(g->a, g->b, g->c, g->shape.m, g->shape.n, g->shape.k, 0);
}

/* ------------------------------------------------------------------ 2 cuBLAS and cublasLt */

enum {
    CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_COMPUTE_32F = 68, CUBLAS_GEMM_DEFAULT = -1,
    CUDA_FP32 = 0, CUDA_FP16 = 2,
    LT_DESC_TRANSA = 3, LT_DESC_TRANSB = 4, LT_PREFERENCE_WORKSPACE = 1,
    LT_PROPOSALS = 8, LT_WORKSPACE = 64 << 20
};

struct lt_proposal {                /* cublasLtMatmulHeuristicResult_t */
    uint64_t algorithm[8];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};

struct cublas {
    const struct gemm_call *gemm;
    void *library, *lt_library, *handle, *lt_handle;
    int (*create)(void **), (*destroy)(void *);
    int (*gemm_ex)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                   const void *, void *, int, int, int, int);
    int (*lt_create)(void **), (*lt_destroy)(void *), (*lt_desc_create)(void **, int, int);
    int (*lt_desc_set)(void *, int, const void *, size_t);
    int (*lt_layout_create)(void **, int, uint64_t, uint64_t, int64_t);
    int (*lt_preference_create)(void **), (*lt_preference_set)(void *, int, const void *, size_t);
    int (*lt_propose)(void *, void *, void *, void *, void *, void *, void *, int, struct lt_proposal *, int *);
    int (*lt_matmul)(void *, void *, const void *, const void *, void *, const void *, void *, const void *,
                     const void *, void *, void *, void *, const void *, void *, size_t, cudaStream_t);
    void *desc, *a_layout, *b_layout, *c_layout, *workspace;
    struct lt_proposal proposal[LT_PROPOSALS];
    int proposals, chosen;          /* -1: cublasGemmEx */
};

static const float cublas_one = 1, cublas_zero = 0;

static inline cudaError_t launch_cublas(const void *call)
{
    const struct cublas *l = call;
    const struct gemm_call *g = l->gemm;
    const struct shape s = g->shape;
    int status;
    if (l->chosen < 0)
        status = l->gemm_ex(l->handle, CUBLAS_OP_T, CUBLAS_OP_N, s.n, s.m, s.k, &cublas_one, g->b, CUDA_FP16, s.k,
                            g->a, CUDA_FP16, s.k, &cublas_zero, g->c, CUDA_FP16, s.n, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT);
    else
        status = l->lt_matmul(l->lt_handle, l->desc, &cublas_one, g->b, l->b_layout, g->a, l->a_layout, &cublas_zero,
                              g->c, l->c_layout, g->c, l->c_layout, l->proposal[l->chosen].algorithm, l->workspace,
                              LT_WORKSPACE, 0);
    return status ? cudaErrorUnknown : cudaSuccess;
}

/* The library whose major version is that of our runtime, wherever the loader finds it. */
static inline void *cublas_library(const char *name)
{
    char file[64];
    int version = 0;
    CHECK(cudaRuntimeGetVersion(&version));
    snprintf(file, sizeof file, "lib%s.so.%d", name, version / 1000);
    return dlopen(file, RTLD_NOW);
}

#define LOAD(function, library, symbol) ((*(void **)&(function) = dlsym((library), (symbol))) != NULL)

static inline bool cublas_load(struct cublas *l)
{
    l->library = cublas_library("cublas");
    l->lt_library = cublas_library("cublasLt");
    return l->library && l->lt_library && LOAD(l->create, l->library, "cublasCreate_v2") &&
           LOAD(l->destroy, l->library, "cublasDestroy_v2") && LOAD(l->gemm_ex, l->library, "cublasGemmEx") &&
           LOAD(l->lt_create, l->lt_library, "cublasLtCreate") &&
           LOAD(l->lt_destroy, l->lt_library, "cublasLtDestroy") &&
           LOAD(l->lt_desc_create, l->lt_library, "cublasLtMatmulDescCreate") &&
           LOAD(l->lt_desc_set, l->lt_library, "cublasLtMatmulDescSetAttribute") &&
           LOAD(l->lt_layout_create, l->lt_library, "cublasLtMatrixLayoutCreate") &&
           LOAD(l->lt_preference_create, l->lt_library, "cublasLtMatmulPreferenceCreate") &&
           LOAD(l->lt_preference_set, l->lt_library, "cublasLtMatmulPreferenceSetAttribute") &&
           LOAD(l->lt_propose, l->lt_library, "cublasLtMatmulAlgoGetHeuristic") &&
           LOAD(l->lt_matmul, l->lt_library, "cublasLtMatmul");
}

/* ------------------------------------------------------------------ 3 choosing the baseline */

/* Describes the problem to cublasLt and asks for its proposals; without any we still have cublasGemmEx. */
static inline void cublas_propose(struct cublas *l)
{
    const struct shape s = l->gemm->shape;
    const int transposed = CUBLAS_OP_T, as_is = CUBLAS_OP_N;
    const size_t workspace = LT_WORKSPACE;
    void *preference;
    CHECK(cudaMalloc(&l->workspace, LT_WORKSPACE));
    if (l->lt_create(&l->lt_handle) || l->lt_desc_create(&l->desc, CUBLAS_COMPUTE_32F, CUDA_FP32) ||
        l->lt_desc_set(l->desc, LT_DESC_TRANSA, &transposed, sizeof transposed) ||
        l->lt_desc_set(l->desc, LT_DESC_TRANSB, &as_is, sizeof as_is) ||
        l->lt_layout_create(&l->b_layout, CUDA_FP16, (uint64_t)s.k, (uint64_t)s.n, s.k) ||
        l->lt_layout_create(&l->a_layout, CUDA_FP16, (uint64_t)s.k, (uint64_t)s.m, s.k) ||
        l->lt_layout_create(&l->c_layout, CUDA_FP16, (uint64_t)s.n, (uint64_t)s.m, s.n) ||
        l->lt_preference_create(&preference) ||
        l->lt_preference_set(preference, LT_PREFERENCE_WORKSPACE, &workspace, sizeof workspace) ||
        l->lt_propose(l->lt_handle, l->desc, l->b_layout, l->a_layout, l->c_layout, l->c_layout, preference,
                      LT_PROPOSALS, l->proposal, &l->proposals))
        l->proposals = 0;
}

static inline double time_candidate(struct cublas *l, int candidate)
{
    const struct contestant c = { launch_cublas, l };
    l->chosen = candidate;
    if (launch_cublas(l) != cudaSuccess)
        return INFINITY;
    launch_times(&c, 2);
    return time_burst(&c, 10, NULL);
}

static inline void cublas_choose(struct cublas *l)
{
    int best = -1;
    double best_seconds = time_candidate(l, -1);
    for (int i = 0; i < l->proposals; i++) {
        const double seconds = time_candidate(l, i);
        if (seconds < best_seconds) {
            best_seconds = seconds;
            best = i;
        }
    }
    l->chosen = best;
}

/* The baseline for a gemm; nobody, and a note that says why, if there can be none. */
static inline struct contestant cublas_open(struct cublas *l, const struct gemm_call *gemm, bool emulated, char *note,
                                            size_t room)
{
    *l = (struct cublas){ .gemm = gemm };
    if (emulated) {
        snprintf(note, room, "no cuBLAS, which runs on real chips only");
        return (struct contestant){ NULL, NULL };
    }
    if (!cublas_load(l) || l->create(&l->handle)) {
        snprintf(note, room, "no cuBLAS found beside the runtime");
        return (struct contestant){ NULL, NULL };
    }
    cublas_propose(l);
    cublas_choose(l);
    if (l->chosen < 0)
        snprintf(note, room, "cuBLAS is cublasGemmEx, faster than %d proposals of cublasLt", l->proposals);
    else
        snprintf(note, room, "cuBLAS is proposal %d of %d of cublasLt, faster than cublasGemmEx", l->chosen + 1,
                 l->proposals);
    return (struct contestant){ launch_cublas, l };
}

static inline void cublas_close(struct cublas *l)
{
    if (l->handle)
        l->destroy(l->handle);
    if (l->lt_handle)
        l->lt_destroy(l->lt_handle);
    if (l->workspace)
        CHECK(cudaFree(l->workspace));
}

#endif
