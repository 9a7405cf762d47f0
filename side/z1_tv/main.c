/* side/z1_tv: the host's side. Each value that comes back says which element it is; so what thread t holds in register r
 * gives the map (t, r) -> (row, col). It is printed, once as CSV, once as pictures, and checked against z_layout.h. */
#include "z_host.h"
#include "z_layout.h"

/* kernel.cu */
cudaError_t launch_mma_sync(float *values, cudaStream_t stream);
cudaError_t launch_wgmma(float *values, cudaStream_t stream);
cudaError_t launch_tcgen05(float *values, cudaStream_t stream);

static const struct rung rung = {
    .name = "side/z1_tv",
    .dims = "",             /* the instructions have their own sizes */
};

enum {
    STEP = 256,                                     /* the value of (row, col) is STEP * row + col */
    BLOCK_ROWS = 16, BLOCK_COLS = 8                 /* what is drawn element by element */
};

/* Row m of D is lane m of tensor memory; each warp loads its own quarter of the lanes. */
static int ld_row(int thread, int r) { return thread / 32 * 32 + tmem_ld_lane(TMEM_32X32B, thread % 32, r); }
static int ld_col(int thread, int r) { return tmem_ld_col(TMEM_32X32B, thread % 32, r); }

/* chip: the compute capability from which on, or at which alone, the program has code for it. */
static const struct map {
    const char *name;
    int chip;
    bool that_chip_alone;
    int rows, cols, threads;
    cudaError_t (*launch)(float *, cudaStream_t);
    int (*row)(int thread, int r), (*col)(int thread, int r);
} maps[] = {
    { "mma.sync", 80, false, 16, 8, 32, launch_mma_sync, mma_m16n8k16_c_row, mma_m16n8k16_c_col },
    { "wgmma", 90, true, 64, 64, 128, launch_wgmma, wgmma_d_row, wgmma_d_col },
    { "tcgen05.ld", 100, true, 128, 64, 128, launch_tcgen05, ld_row, ld_col },
};
enum { MAPS = sizeof maps / sizeof maps[0] };

/* What came, and the way back: holder[place] is thread * registers + register, or -1. */
struct found { float *values; int *holder; };

static bool on_device(const struct map *map, const struct run *run)
{
    const int chip = run->device.major * 10 + run->device.minor;
    return map->that_chip_alone ? chip == map->chip : chip >= map->chip;
}

static int size_of(const struct map *map) { return map->rows * map->cols; }
static int registers_of(const struct map *map) { return size_of(map) / map->threads; }

/* Place of a value in the tile, row by row; -1 where it is no element of the tile. */
static int place_of(const struct map *map, float value)
{
    if (!(value >= 0 && value < STEP * map->rows) || value != (float)(int)value || (int)value % STEP >= map->cols)
        return -1;
    return (int)value / STEP * map->cols + (int)value % STEP;
}

/* Whether every element has exactly one holder. */
static bool find_holders(const struct map *map, const float *values, int *holder)
{
    bool each_once = true;
    for (int i = 0; i < size_of(map); i++)
        holder[i] = -1;
    for (int i = 0; i < size_of(map); i++) {
        const int place = place_of(map, values[i]);
        if (place < 0 || holder[place] >= 0)
            each_once = false;
        else
            holder[place] = i;
    }
    return each_once;
}

/* ------------------------------------------------------------------ print */

static void print_csv(const struct map *map, const float *values)
{
    for (int i = 0; i < size_of(map); i++) {
        const int place = place_of(map, values[i]), registers = registers_of(map);
        if (place >= 0)
            printf("%s,%d,%d,%d,%d\n", map->name, i / registers, i % registers, place / map->cols, place % map->cols);
    }
}

/* The first block, element by element. */
static void print_elements(const struct map *map, const int *holder)
{
    printf("%s, %dx%d: thread.register of each element of rows 0-%d, columns 0-%d\n", map->name, map->rows, map->cols,
           BLOCK_ROWS - 1, BLOCK_COLS - 1);
    for (int row = 0; row < BLOCK_ROWS; row++) {
        printf("%7d:", row);
        for (int col = 0; col < BLOCK_COLS; col++) {
            const int i = holder[row * map->cols + col];
            char text[24] = "-";
            if (i >= 0)
                snprintf(text, sizeof text, "%d.%d", i / registers_of(map), i % registers_of(map));
            printf(" %6s", text);
        }
        printf("\n");
    }
}

/* Which threads hold a block, in which of their registers: the least and the greatest. */
static void print_block(const struct map *map, const int *holder, int row0, int col0)
{
    int thread[2] = { map->threads, 0 }, reg[2] = { registers_of(map), 0 };
    for (int i = 0; i < BLOCK_ROWS * BLOCK_COLS; i++) {
        const int at = holder[(row0 + i / BLOCK_COLS) * map->cols + col0 + i % BLOCK_COLS];
        const int t = at / registers_of(map), r = at % registers_of(map);
        if (at < 0) {
            printf(" %13s", "-");
            return;
        }
        thread[0] = t < thread[0] ? t : thread[0];
        thread[1] = t > thread[1] ? t : thread[1];
        reg[0] = r < reg[0] ? r : reg[0];
        reg[1] = r > reg[1] ? r : reg[1];
    }
    char text[48];
    snprintf(text, sizeof text, "%d-%d.%d-%d", thread[0], thread[1], reg[0], reg[1]);
    printf(" %13s", text);
}

static void print_blocks(const struct map *map, const int *holder)
{
    printf("%s: threads.registers of each block of %dx%d\n", map->name, BLOCK_ROWS, BLOCK_COLS);
    for (int row = 0; row < map->rows; row += BLOCK_ROWS) {
        printf("%7d:", row);
        for (int col = 0; col < map->cols; col += BLOCK_COLS)
            print_block(map, holder, row, col);
        printf("\n");
    }
}

/* holder: NULL where the device has no such tensor core. */
static void print_pictures(const struct map *map, const int *holder)
{
    if (!holder) {
        printf("%s: not on this device\n", map->name);
        return;
    }
    print_elements(map, holder);
    if (size_of(map) > BLOCK_ROWS * BLOCK_COLS)
        print_blocks(map, holder);
}

/* ------------------------------------------------------------------ check */

/* What z_layout.h says, compared with what came; and that each element came once. */
static struct verdict check_map(const struct map *map, const float *values_gmem, bool each_once)
{
    float *want = allocate((size_t)size_of(map) * sizeof *want);
    for (int i = 0; i < size_of(map); i++) {
        const int thread = i / registers_of(map), r = i % registers_of(map);
        want[i] = (float)(STEP * map->row(thread, r) + map->col(thread, r));
    }
    struct verdict v = check_guarded_vector(want, values_gmem, (size_t)size_of(map));
    if (v.pass && !each_once) {
        v.pass = false;
        snprintf(v.reason, sizeof v.reason, "an element is held twice, another not at all");
    }
    free(want);
    return v;
}

/* Adds the verdict on one map to that on those before it; the first that is wrong gives the reason. */
static void add_verdict(struct verdict *all, const struct map *map, struct verdict v)
{
    const size_t used = strlen(all->method);
    snprintf(all->method + used, sizeof all->method - used, "%s%s %d", used ? ", " : "each register of each thread: ",
             map->name, size_of(map));
    if (all->pass && !v.pass)
        snprintf(all->reason, sizeof all->reason, "%s: %.*s", map->name, (int)sizeof all->reason - 20, v.reason);
    all->pass = all->pass && v.pass;
}

/* Makes the tile and looks at it; what came is left in `found`. */
static struct verdict try_map(const struct map *map, struct found *found)
{
    const size_t bytes = (size_t)size_of(map) * sizeof(float);
    float *values_gmem = guarded_alloc(bytes);
    found->values = allocate(bytes);
    found->holder = allocate((size_t)size_of(map) * sizeof *found->holder);
    CHECK(map->launch(values_gmem, 0));
    CHECK(cudaMemcpy(found->values, values_gmem, bytes, cudaMemcpyDeviceToHost));
    return check_map(map, values_gmem, find_holders(map, found->values, found->holder));
}

int main(int argc, char **argv)
{
    /* 1. shape: none to choose */
    const struct run run = start(&rung, argc, argv);

    /* 2. inputs, which the kernels make themselves; 3. buffers; 4. launch; 5. check: every map that the device has */
    struct found found[MAPS] = { { 0 } };
    struct verdict verdict = { .pass = true };
    for (int i = 0; i < MAPS; i++)
        if (on_device(&maps[i], &run))
            add_verdict(&verdict, &maps[i], try_map(&maps[i], &found[i]));

    /* … and look. An empty line ends the CSV. */
    printf("unit,thread,register,row,col\n");
    for (int i = 0; i < MAPS; i++)
        if (found[i].values)
            print_csv(&maps[i], found[i].values);
    printf("\n");
    for (int i = 0; i < MAPS; i++)
        print_pictures(&maps[i], found[i].holder);

    /* 6. timing: none, there is nothing to be fast at */
    const struct timing timing = { 0 };

    /* 7. report */
    return report(&run, &verdict, &timing);
}
