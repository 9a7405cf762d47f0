/* d4_persistent: the host's side of C = A B^T, A being m x k, B n x k and C m x n, all row-major fp16. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_gemm(const half *a, const half *b, half *c, int m, int n, int k, cudaStream_t stream);

static const struct rung rung = {
    .name = "d4_persistent",
    .dims = "mnk",
    .multiple_of = { .n = 8, .k = 8 },       /* rows that start at multiples of 16 bytes, as tensor maps want them */
    .at_most = { .m = 65535 * 16 * 128, .n = 65535 * 256 },
    .ragged = { .m = 333, .n = 200, .k = 776 },
    .large = { .m = 4096, .n = 4096, .k = 4096 },
};

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const int m = run.shape.m, n = run.shape.n, k = run.shape.k;

    /* 2. inputs: integers so small that every sum is exact, in whatever order it is made */
    int8_t *a = integers_a(m, k, run.options.seed);
    int8_t *b = integers_b(n, k, run.options.seed);

    /* 3. buffers: inputs copied to the device, output poisoned with NaN and guarded */
    half *a_gmem = upload_integers(a, (size_t)m * k);
    half *b_gmem = upload_integers(b, (size_t)n * k);
    half *c_gmem = guarded_alloc((size_t)m * n * sizeof *c_gmem);

    /* 4. launch */
    CHECK(launch_gemm(a_gmem, b_gmem, c_gmem, m, n, k, 0));
    CHECK(cudaDeviceSynchronize());

    /* 5. check */
    const struct verdict verdict = check_guarded_gemm(&run, a, b, c_gmem);

    /* 6. timing, of what is right only */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_gemm(&run, launch_gemm, a_gmem, b_gmem, c_gmem);

    /* 7. report */
    return report(&run, &verdict, &timing);
}
