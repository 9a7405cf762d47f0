/* side/z2_tmem: the host's side of y = x, by way of tensor memory. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_vector_copy(const float *x, float *y, int n, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/z2_tmem",
    .dims = "n",
    .ragged = { .n = 1000003 },
    .large = { .n = 1 << 28 },
};

struct call { const float *x; float *y; int n; };

static cudaError_t launch(const void *call)
{
    const struct call *c = call;
    return launch_vector_copy(c->x, c->y, c->n, 0);
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const size_t n = (size_t)run.shape.n, bytes = n * sizeof(float);

    /* 2. inputs: every element another number, as long as fp32 has them, so that none can take another's place */
    float *x = allocate(bytes);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((i + run.options.seed) % SUM_MAX);

    /* 3. buffers: input copied to the device, output poisoned and guarded */
    const struct call call = { upload(x, bytes), guarded_alloc(bytes), run.shape.n };

    /* 4. launch */
    CHECK(launch(&call));
    CHECK(cudaDeviceSynchronize());

    /* 5. check */
    const struct verdict verdict = check_guarded_vector(x, call.y, n);

    /* 6. timing, of what is right only */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside_copy(&run, (struct contestant){ launch, &call }, 2 * bytes);

    /* 7. report */
    return report(&run, &verdict, &timing);
}
