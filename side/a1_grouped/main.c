/* side/a1_grouped: the host's side of C = A B^T for several groups, each with an m, n and k of its own. */
#include "z_host.h"

/* kernel.cu */
struct problem {
    const half *a_gmem, *b_gmem;
    half *c_gmem;
    int m, n, k;
};
cudaError_t launch_gemm(const struct problem *problems, int groups, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/a1_grouped",
    .dims = "mnk",                  /* of the first group */
    .ragged = { .m = 1021, .n = 517, .k = 37 },
    .large = { .m = 4096, .n = 4096, .k = 4096 },
};

/* The sizes of the groups, in eighths of the first one's, rounded up. */
enum { GROUPS = 6 };
static const struct shape eighths[GROUPS] = { { 8, 8, 8 }, { 3, 5, 7 }, { 1, 8, 2 }, { 7, 2, 1 }, { 8, 1, 8 }, { 2, 3, 4 } };

static int share(int size, int eighth) { return (int)(((int64_t)size * eighth + 7) / 8); }

struct call { const struct problem *problems; int groups; };

static cudaError_t launch(const void *call)
{
    const struct call *c = call;
    return launch_gemm(c->problems, c->groups, 0);
}

static cudaError_t launch_one_by_one(const void *call)
{
    const struct call *c = call;
    for (int g = 0; g < c->groups - 1; g++)
        CHECK(launch_gemm(c->problems + g, 1, 0));
    return launch_gemm(c->problems + c->groups - 1, 1, 0);
}

int main(int argc, char **argv)
{
    const struct run run = start(&rung, argc, argv);
    struct problem problem[GROUPS];
    int8_t *a[GROUPS], *b[GROUPS];
    double products = 0;

    for (int g = 0; g < GROUPS; g++) {
        /* 1. shape */
        const int m = share(run.shape.m, eighths[g].m);
        const int n = share(run.shape.n, eighths[g].n);
        const int k = share(run.shape.k, eighths[g].k);
        products += (double)m * n * k;

        /* 2. inputs: integers so small that every sum is exact, in whatever order it is made */
        a[g] = integers_a(m, k, run.options.seed + (uint64_t)g);
        b[g] = integers_b(n, k, run.options.seed + (uint64_t)g);

        /* 3. buffers: inputs copied to the device, outputs poisoned with NaN and guarded */
        problem[g] = (struct problem){ upload_integers(a[g], (size_t)m * k), upload_integers(b[g], (size_t)n * k),
                                       guarded_alloc((size_t)m * n * sizeof(half)), m, n, k };
    }
    const struct call call = { upload(problem, sizeof problem), GROUPS };

    /* 4. launch */
    CHECK(launch(&call));
    CHECK(cudaDeviceSynchronize());

    /* 5. check, up to the first group that is wrong */
    struct verdict verdict = { .pass = true };
    for (int g = 0; g < GROUPS && verdict.pass; g++) {
        const struct problem *p = &problem[g];
        verdict = check_guarded_product((struct shape){ p->m, p->n, p->k }, a[g], b[g], p->c_gmem, run.options.seed);
        name_group(&verdict, g, GROUPS);
    }

    /* 6. timing, of what is right only, beside a launch for each group */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside(&run, (struct contestant){ launch, &call }, (struct contestant){ launch_one_by_one, &call },
                             "one by one", 2 * products, "TFLOPS");

    /* 7. report */
    return report(&run, &verdict, &timing);
}
