/* a0_vector_add: the host's side of z = x + y. */
#include "z_host.h"

/* kernel.cu */
cudaError_t launch_vector_add(const float *x, const float *y, float *z, int n, cudaStream_t stream);

static const struct rung rung = {
    .name = "a0_vector_add",
    .dims = "n",
    .ragged = { .n = 1000003 },
    .large = { .n = 1 << 28 },
};

struct call { const float *x, *y; float *z; int n; };

static cudaError_t launch(const void *call)
{
    const struct call *c = call;
    return launch_vector_add(c->x, c->y, c->z, c->n, 0);
}

/* Small integers, so that the sum is exact. */
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

    /* 3. buffers: inputs copied to the device, output poisoned and guarded */
    const struct call call = { upload(x, bytes), upload(y, bytes), guarded_alloc(bytes), run.shape.n };

    /* 4. launch */
    CHECK(launch(&call));
    CHECK(cudaDeviceSynchronize());

    /* 5. check */
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
    const struct verdict verdict = check_guarded_vector(y, call.z, n);

    /* 6. timing, of what is right only: two reads and one write of each element, beside a copy of as many bytes */
    struct timing timing = { 0 };
    if (verdict.pass && run.timed)
        timing = time_beside_copy(&run, (struct contestant){ launch, &call }, 3 * bytes);

    /* 7. report */
    return report(&run, &verdict, &timing);
}
