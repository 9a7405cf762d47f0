/* side/d1_ld: the host's side of C = A B^T, A being m x k, B n x k and C m x n, all row-major fp16; fifteen times, with
 * another load from tensor memory each time. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_gemm(int shape, int width, const half *a, const half *b, half *c, int *cycles, int m, int n, int k,
                        cudaStream_t stream);

static const struct rung rung = {
    .name = "side/d1_ld",
    .dims = "mnk",
    .multiple_of = { .n = 8, .k = 8 },       /* rows that start at multiples of 16 bytes, as tensor maps want them */
    .at_most = { .m = 65535 * 128 },
    .ragged = { .m = 333, .n = 200, .k = 168 },
    .large = { .m = 4096, .n = 4096, .k = 4096 },
};

enum { SHAPES = 5, WIDTHS = 3 };
static const char *const shape_name[SHAPES] = { "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2" };
static const int width_columns[WIDTHS] = { 8, 32, 64 };

/* The repetition count behind the shape's name: how often its columns fit into those of a load. */
static int repetitions(int shape, int width)
{
    static const int columns[SHAPES] = { 1, 2, 4, 8, 2 };
    return width_columns[width] / columns[shape];
}

struct inputs { const int8_t *a, *b; const half *a_gmem, *b_gmem; };

/* Computes C with one of the loads, and reports what it took. */
static struct verdict try_load(const struct run *run, struct inputs in, int shape, int width)
{
    const int m = run->shape.m, n = run->shape.n, k = run->shape.k;
    half *c_gmem = guarded_alloc((size_t)m * n * sizeof *c_gmem);
    int *cycles_gmem = upload(&(int){ 0 }, sizeof(int)), cycles;
    CHECK(launch_gemm(shape, width, in.a_gmem, in.b_gmem, c_gmem, cycles_gmem, m, n, k, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&cycles, cycles_gmem, sizeof cycles, cudaMemcpyDeviceToHost));

    struct verdict verdict = check_guarded_gemm(run, in.a, in.b, c_gmem);
    const int per_lane = shape == 0 ? 1 : 2;        /* loads for 32 lanes */
    printf("%-9s x%-3d  %3d columns  %2d registers  %3d loads  %5d %s\n", shape_name[shape], repetitions(shape, width),
           width_columns[width], width_columns[width] / per_lane, 256 / width_columns[width] * per_lane, cycles,
           cycles_text(run));
    if (!verdict.pass) {
        const struct verdict one = verdict;
        snprintf(verdict.reason, sizeof verdict.reason, "%s, %d columns: %.200s", shape_name[shape],
                 width_columns[width], one.reason);
    }
    CHECK(cudaFree(cycles_gmem));
    guarded_free(c_gmem);
    return verdict;
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const int m = run.shape.m, n = run.shape.n, k = run.shape.k;

    /* 2. inputs: integers so small that every sum is exact, in whatever order it is made */
    int8_t *a = integers_a(m, k, run.options.seed);
    int8_t *b = integers_b(n, k, run.options.seed);

    /* 3. buffers: inputs copied to the device; an output for each run, poisoned with NaN and guarded */
    const struct inputs inputs = { a, b, upload_integers(a, (size_t)m * k), upload_integers(b, (size_t)n * k) };

    /* 4. and 5. launch and check, until one is wrong; cycles are those of the first warp for its 32 rows of a tile */
    struct verdict verdict = { .pass = true };
    for (int i = 0; i < SHAPES * WIDTHS && verdict.pass; i++)
        verdict = try_load(&run, inputs, i / WIDTHS, i % WIDTHS);

    /* 6. timing: the clock above is all of it */
    const struct timing timing = { 0 };

    /* 7. report */
    return report(&run, &verdict, &timing);
}
