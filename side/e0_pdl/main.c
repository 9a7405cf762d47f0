/* side/e0_pdl: the host's side of z = (x + y) + y in two kernels, one after the other and overlapped. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_vector_adds(const float *x, const float *y, float *sum, float *z, int n, bool early, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/e0_pdl",
    .dims = "n",
    .ragged = { .n = 1000003 },
    .large = { .n = 1 << 20 },      /* short kernels: what is saved is a few microseconds per launch */
};

struct call { const float *x, *y; float *sum, *z; int n; bool early; };

static cudaError_t launch(const void *call)
{
    const struct call *c = call;
    return launch_vector_adds(c->x, c->y, c->sum, c->z, c->n, c->early, 0);
}

/* Small integers, so that the sums are exact. */
static float *random_vector(size_t count, uint64_t seed)
{
    float *x = allocate(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(random_bits(seed, i) % 2001) - 1000;
    return x;
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const size_t n = (size_t)run.shape.n, bytes = n * sizeof(float);

    /* 2. inputs */
    float *x = random_vector(n, run.options.seed);
    float *y = random_vector(n, ~run.options.seed);

    /* 3. buffers: inputs copied to the device, outputs of either way poisoned and guarded */
    const float *x_gmem = upload(x, bytes), *y_gmem = upload(y, bytes);
    const struct call late = { x_gmem, y_gmem, guarded_alloc(bytes), guarded_alloc(bytes), run.shape.n, false };
    const struct call early = { x_gmem, y_gmem, guarded_alloc(bytes), guarded_alloc(bytes), run.shape.n, true };

    /* 4. launch */
    CHECK(launch(&late));
    CHECK(launch(&early));
    CHECK(cudaDeviceSynchronize());

    /* 5. check: both ways, the second one last */
    for (size_t i = 0; i < n; i++)
        x[i] += 2 * y[i];
    struct verdict verdict = check_guarded_vector(x, late.z, n);
    if (verdict.pass)
        verdict = check_guarded_vector(x, early.z, n);

    /* 6. timing, of what is right only: three accesses to each element, twice */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside(&run, (struct contestant){ launch, &early }, (struct contestant){ launch, &late },
                             "one after the other", 6.0 * (double)bytes, "TB/s");

    /* 7. report */
    return report(&run, &verdict, &timing);
}
