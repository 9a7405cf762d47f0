/* side/d5_mxfp8: the host's side of C = A B^T, A being m x k and B n x k, both e4m3 with a factor for each 32 elements of
 * a row, C m x n fp16, all row-major. */
#include "z_host.h"
#include "z_mxfp8.h"

/* kernel.cu */
cudaError_t launch_gemm(const void *a, const void *a_factors, const void *b, const void *b_factors, half *c, int m, int n,
                        int k, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/d5_mxfp8",
    .dims = "mnk",
    .multiple_of = { .n = 8 },      /* rows of C that start at multiples of 16 bytes, as tensor maps want them */
    .at_most = { .m = 65535 * 16 * 128, .n = 65535 * 192 },
    .ragged = { .m = 333, .n = 200, .k = 168 },
    .large = { .m = 4096, .n = 4096, .k = 4096 },
};

struct call { const void *a, *a_factors, *b, *b_factors; half *c; struct shape s; };

static cudaError_t launch(const void *call)
{
    const struct call *g = call;
    return launch_gemm(g->a, g->a_factors, g->b, g->b_factors, g->c, g->s.m, g->s.n, g->s.k, 0);
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const int m = run.shape.m, n = run.shape.n, k = run.shape.k;

    /* 2. inputs: integers so small that every sum is exact, in whatever order it is made, and an exponent for each block */
    int8_t *a = integers_a(m, k, run.options.seed);
    int8_t *b = integers_b(n, k, run.options.seed);
    int8_t *a_exponents = block_exponents(m, k, run.options.seed);
    int8_t *b_exponents = block_exponents(n, k, ~run.options.seed);

    /* 3. buffers: inputs copied to the device, output poisoned with NaN and guarded */
    const struct call call = {
        .a = upload_e4m3(a, a_exponents, m, k), .a_factors = upload_factors(a_exponents, m, k),
        .b = upload_e4m3(b, b_exponents, n, k), .b_factors = upload_factors(b_exponents, n, k),
        .c = guarded_alloc((size_t)m * n * sizeof(half)), .s = run.shape,
    };

    /* 4. launch */
    CHECK(launch(&call));
    CHECK(cudaDeviceSynchronize());

    /* 5. check: the factors take back what the elements were divided by, so the product is that of the integers */
    const struct verdict verdict = check_guarded_gemm(&run, a, b, call.c);

    /* 6. timing, of what is right only; beside nothing, for cuBLAS is asked for fp16 here, which is other work */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside(&run, (struct contestant){ launch, &call }, (struct contestant){ 0 }, "nothing",
                             2.0 * m * n * k, "TFLOPS");

    /* 7. report */
    return report(&run, &verdict, &timing);
}
