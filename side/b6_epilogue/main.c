/* side/b6_epilogue: the host's side of C = A B^T, column j times scale[j]; A is m x k, B n x k, C m x n, row-major fp16. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_gemm(const half *a, const half *b, half *c, const float *scale, int m, int n, int k, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/b6_epilogue",
    .dims = "mnk",
    .multiple_of = { .n = 8, .k = 8 },       /* rows that start at multiples of 16 bytes, as tensor maps want them */
    .at_most = { .m = 65535 * 128 },
    .ragged = { .m = 333, .n = 200, .k = 168 },
    .large = { .m = 4096, .n = 4096, .k = 4096 },
};

struct call { const half *a, *b; half *c; const float *scale; struct shape shape; };

static cudaError_t launch(const void *call)
{
    const struct call *c = call;
    return launch_gemm(c->a, c->b, c->c, c->scale, c->shape.m, c->shape.n, c->shape.k, 0);
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const int m = run.shape.m, n = run.shape.n, k = run.shape.k;

    /* 2. inputs: integers so small that every sum is exact, in whatever order it is made */
    int8_t *a = integers_a(m, k, run.options.seed);
    int8_t *b = integers_b(n, k, run.options.seed);
    float *scale = powers_of_two(n, run.options.seed);

    /* 3. buffers: inputs copied to the device, output poisoned with NaN and guarded */
    half *a_gmem = upload_integers(a, (size_t)m * k);
    half *b_gmem = upload_integers(b, (size_t)n * k);
    half *c_gmem = guarded_alloc((size_t)m * n * sizeof *c_gmem);
    const struct call call = { a_gmem, b_gmem, c_gmem, upload(scale, (size_t)n * sizeof *scale), run.shape };

    /* 4. launch */
    CHECK(launch(&call));
    CHECK(cudaDeviceSynchronize());

    /* 5. check */
    const struct verdict verdict = check_guarded_scaled_gemm(&run, a, b, scale, c_gmem);

    /* 6. timing, of what is right only; cuBLAS does not scale */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside_cublas(&run, (struct contestant){ launch, &call }, a_gmem, b_gmem, c_gmem);

    /* 7. report */
    return report(&run, &verdict, &timing);
}
