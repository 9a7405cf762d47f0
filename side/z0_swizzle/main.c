/* side/z0_swizzle: the host's side. A tensor of the numbers 1 to n in rows of 128, 64 or 32 bytes is copied to shared memory
 * box by box, with each swizzle; where every number landed is printed for the first box, and checked for all. */
#include "z_host.h"
#include "z_layout.h"

/* kernel.cu */
cudaError_t launch_dump_boxes(const float *x, float *dump, int rows, int row_bytes, bool swizzled, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/z0_swizzle",
    .dims = "n",
    .at_most = { .n = SUM_MAX },            /* fp32 has a number for each up to here */
    .ragged = { .n = 1000 },
    .large = { .n = 1 << 20 },
};

enum { ROWS = 8, LINE = 128, CHUNK = 16, MODES = 4 };

static uint32_t no_swizzle(uint32_t address) { return address; }

static const struct mode { const char *name; int row_bytes; bool swizzled; uint32_t (*place)(uint32_t); } modes[MODES] = {
    { "none", 128, false, no_swizzle }, { "32 bytes", 32, true, swizzle_32b }, { "64 bytes", 64, true, swizzle_64b },
    { "128 bytes", 128, true, swizzle_128b },
};

static int rows_of(const struct mode *mode, int n) { return tiles_to_cover(n, mode->row_bytes / (int)sizeof(float)); }

/* Numbers in the boxes of a mode. */
static size_t dump_size(const struct mode *mode, int n)
{
    return (size_t)tiles_to_cover(rows_of(mode, n), ROWS) * ROWS * mode->row_bytes / sizeof(float);
}

/* Shared memory line by line, 32 banks wide: which chunk of which row lies there, as the numbers that came say. */
static void print_box(const struct mode *mode, const float *dump)
{
    printf("swizzle: %s; row.chunk at each 16 bytes of shared memory\n", mode->name);
    for (int at = 0; at < ROWS * mode->row_bytes; at += CHUNK) {
        const int first = (int)dump[at / (int)sizeof(float)] - 1, from = first * (int)sizeof(float);
        if (at % LINE == 0)
            printf("   %4d:", at);
        if (first >= 0)
            printf("  %d.%d", from / mode->row_bytes, from % mode->row_bytes / CHUNK);
        else
            printf("   - ");            /* beyond the tensor */
        if (at % LINE == LINE - CHUNK)
            printf("\n");
    }
}

/* What z_layout.h says: a number of the tensor goes where its offset in the box is sent; beyond the tensor there is 0. */
static void expect_dump(const struct mode *mode, float *want, int n)
{
    const size_t size = dump_size(mode, n), box = (size_t)ROWS * mode->row_bytes;
    for (size_t i = 0; i < size; i++) {
        const size_t byte = i * sizeof(float);
        const size_t at = byte / box * box + mode->place((uint32_t)(byte % box));
        want[at / sizeof(float)] = i < (size_t)n ? (float)(i + 1) : 0;
    }
}

int main(int argc, char **argv)
{
    /* 1. shape */
    const struct run run = start(&rung, argc, argv);
    const int n = run.shape.n;

    /* 2. inputs: 1, 2, 3, …, and zeros to the end of the last row */
    const size_t padded = (size_t)tiles_to_cover(n, LINE) * LINE;
    float *x = allocate_zeros(padded * sizeof *x);
    for (int i = 0; i < n; i++)
        x[i] = (float)(i + 1);

    /* 3. buffers: inputs copied to the device, the dumps of all modes poisoned and guarded */
    size_t total = 0, at = 0;
    for (int i = 0; i < MODES; i++)
        total += dump_size(&modes[i], n);
    const float *x_gmem = upload(x, padded * sizeof *x);
    float *dump_gmem = guarded_alloc(total * sizeof *dump_gmem), *want = allocate(total * sizeof *want);

    /* 4. launch, and look */
    for (int i = 0; i < MODES; at += dump_size(&modes[i++], n)) {
        float first[ROWS * LINE / sizeof(float)];
        CHECK(launch_dump_boxes(x_gmem, dump_gmem + at, rows_of(&modes[i], n), modes[i].row_bytes, modes[i].swizzled, 0));
        CHECK(cudaMemcpy(first, dump_gmem + at, (size_t)ROWS * modes[i].row_bytes, cudaMemcpyDeviceToHost));
        print_box(&modes[i], first);
        expect_dump(&modes[i], want + at, n);
    }

    /* 5. check */
    const struct verdict verdict = check_guarded_vector(want, dump_gmem, total);

    /* 6. timing: none, there is nothing to be fast at */
    const struct timing timing = { 0 };

    /* 7. report */
    return report(&run, &verdict, &timing);
}
