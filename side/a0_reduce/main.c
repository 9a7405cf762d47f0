/* side/a0_reduce: the host's side of the sum of x. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_vector_sum(const float *x, float *sum, int n, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/a0_reduce",
    .dims = "n",
    .ragged = { .n = 1000003 },
    .large = { .n = 1 << 28 },
};

struct call { const float *x; float *sum; int n; };

static cudaError_t launch(const void *call)
{
    const struct call *c = call;
    return launch_vector_sum(c->x, c->sum, c->n, 0);
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const size_t n = (size_t)run.shape.n, bytes = n * sizeof(float);

    /* 2. inputs: integers so small that the sum is exact, in whatever order it is made */
    float *x = floats_to_sum(n, SUM_MAX, run.options.seed);

    /* 3. buffers: inputs copied to the device, output poisoned and guarded */
    const struct call call = { upload(x, bytes), guarded_alloc(sizeof(float)), run.shape.n };

    /* 4. launch */
    CHECK(launch(&call));
    CHECK(cudaDeviceSynchronize());

    /* 5. check */
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    const struct verdict verdict = check_guarded_vector(&(float){ (float)sum }, call.sum, 1);

    /* 6. timing, of what is right only: one read of each element, beside a copy of as many bytes */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside_copy(&run, (struct contestant){ launch, &call }, bytes);

    /* 7. report */
    return report(&run, &verdict, &timing);
}
