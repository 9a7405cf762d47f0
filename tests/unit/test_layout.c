/* test_layout: the layouts of z_utils/z_layout.h against values worked out by hand from the ISA's pictures. */
#include "check.h"
#include "../../z_utils/z_layout.h"

/* ------------------------------------------------------------------ swizzles */

static void swizzles_permute_a_period(void)
{
    uint32_t (*const swizzle[])(uint32_t) = { swizzle_128b, swizzle_64b, swizzle_32b };
    const uint32_t period[] = { 1024, 512, 256 };
    for (int s = 0; s < 3; s++) {
        int hit[1024] = { 0 };
        for (uint32_t a = 0; a < period[s]; a++) {
            const uint32_t b = swizzle[s](a);
            CHECK(b < period[s]);
            CHECK_EQ(swizzle[s](b), a);                         /* its own inverse */
            CHECK_EQ(swizzle[s](a + 5 * period[s]), b + 5 * period[s]);
            CHECK_EQ(b % 16, a % 16);                           /* whole chunks move */
            hit[b]++;
        }
        for (uint32_t a = 0; a < period[s]; a++)
            CHECK_EQ(hit[a], 1);
    }
}

/* Row r, chunk c goes to chunk c ^ f(r) of the same row, f written out. */
static void swizzles_have_known_values(void)
{
    static const uint32_t by_row_128[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    static const uint32_t by_row_64[8] = { 0, 0, 1, 1, 2, 2, 3, 3 };
    static const uint32_t by_row_32[8] = { 0, 0, 0, 0, 1, 1, 1, 1 };
    for (uint32_t row = 0; row < 8; row++) {
        for (uint32_t chunk = 0; chunk < 8; chunk++)
            CHECK_EQ(swizzle_128b(row * 128 + chunk * 16), row * 128 + (chunk ^ by_row_128[row]) * 16);
        for (uint32_t chunk = 0; chunk < 4; chunk++)
            CHECK_EQ(swizzle_64b(row * 64 + chunk * 16), row * 64 + (chunk ^ by_row_64[row]) * 16);
        for (uint32_t chunk = 0; chunk < 2; chunk++)
            CHECK_EQ(swizzle_32b(row * 32 + chunk * 16), row * 32 + (chunk ^ by_row_32[row]) * 16);
    }
    CHECK_EQ(swizzle_128b(0x3F4), 0x384);
    CHECK_EQ(swizzle_64b(0x1F4), 0x1C4);
    CHECK_EQ(swizzle_32b(0x0F4), 0x0E4);
}

static void chunks_lie_where_the_swizzle_has_them(void)
{
    for (uint32_t row = 0; row < 40; row++)
        for (uint32_t chunk = 0; chunk < 8; chunk++)
            CHECK_EQ(chunk_128b(row, chunk), swizzle_128b(row * 128 + chunk * 16));
}

/* What swizzling is for: eight rows of one column of chunks lie in eight different groups of four banks. */
static void a_swizzled_column_visits_every_bank(void)
{
    for (uint32_t chunk = 0; chunk < 8; chunk++) {
        uint32_t groups = 0;
        for (uint32_t row = 0; row < 8; row++)
            groups |= 1u << swizzle_128b(row * 128 + chunk * 16) % 128 / 16;
        CHECK_EQ(groups, 0xFF);
    }
}

/* ------------------------------------------------------------------ fragments */

static void fragments_cover_their_matrix_once(void)
{
    int a[16][16] = { 0 }, b[16][8] = { 0 }, c[16][8] = { 0 };
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 8; i++)
            a[mma_m16n8k16_a_row(lane, i)][mma_m16n8k16_a_col(lane, i)]++;
        for (int i = 0; i < 4; i++) {
            b[mma_m16n8k16_b_row(lane, i)][mma_m16n8k16_b_col(lane, i)]++;
            c[mma_m16n8k16_c_row(lane, i)][mma_m16n8k16_c_col(lane, i)]++;
        }
    }
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 16; col++) {
            CHECK_EQ(a[row][col], 1);
            if (col < 8) {
                CHECK_EQ(b[row][col], 1);
                CHECK_EQ(c[row][col], 1);
            }
        }
}

/* Lane 6 is in the second row of a block, third pair; lane 29 in the last row, second pair. */
static void fragments_have_known_values(void)
{
    static const int a6[8][2] = { { 1, 4 }, { 1, 5 }, { 9, 4 }, { 9, 5 }, { 1, 12 }, { 1, 13 }, { 9, 12 }, { 9, 13 } };
    static const int b29[4][2] = { { 2, 7 }, { 3, 7 }, { 10, 7 }, { 11, 7 } };
    static const int c29[4][2] = { { 7, 2 }, { 7, 3 }, { 15, 2 }, { 15, 3 } };
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(mma_m16n8k16_a_row(6, i), a6[i][0]);
        CHECK_EQ(mma_m16n8k16_a_col(6, i), a6[i][1]);
    }
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(mma_m16n8k16_b_row(29, i), b29[i][0]);
        CHECK_EQ(mma_m16n8k16_b_col(29, i), b29[i][1]);
        CHECK_EQ(mma_m16n8k16_c_row(29, i), c29[i][0]);
        CHECK_EQ(mma_m16n8k16_c_col(29, i), c29[i][1]);
    }
}

/* ------------------------------------------------------------------ ldmatrix */

/* What lane `lane` receives as element i (0..7) of ldmatrix.x4 whose addresses come from row() and col(): of
 * block j = i / 2, whose rows start where lanes 8j..8j+7 say, row lane / 4, column 2 * (lane % 4) + i % 2. */
static void receive(int (*row)(int), int (*col)(int), int lane, int i, int *got_row, int *got_col)
{
    const int source = i / 2 * 8 + lane / 4;
    *got_row = row(source);
    *got_col = col(source) + lane % 4 * 2 + i % 2;
}

static void ldmatrix_of_a_gives_the_fragment(void)
{
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            int row, col;
            receive(ldmatrix_a_row, ldmatrix_a_col, lane, i, &row, &col);
            CHECK_EQ(row, mma_m16n8k16_a_row(lane, i));
            CHECK_EQ(col, mma_m16n8k16_a_col(lane, i));
        }
}

/* Two fragments: i 0..3 of columns 0-7 of the product, i 4..7 of columns 8-15. Rows in memory are columns of B. */
static void ldmatrix_of_b_gives_two_fragments(void)
{
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            int row, col;
            receive(ldmatrix_b_row, ldmatrix_b_col, lane, i, &row, &col);
            CHECK_EQ(row, mma_m16n8k16_b_col(lane, i % 4) + i / 4 * 8);
            CHECK_EQ(col, mma_m16n8k16_b_row(lane, i % 4));
        }
}

/* ------------------------------------------------------------------ wgmma */

/* The fields one by one, as hexadecimal digits: swizzle | stride | leading | start. */
static void descriptors_have_known_values(void)
{
    CHECK_EQ(wgmma_descriptor(0, 0, 0, WGMMA_SWIZZLE_NONE), 0);
    CHECK_EQ(wgmma_descriptor(0x10400, 0, 0, WGMMA_SWIZZLE_NONE), 0x1040);
    CHECK_EQ(wgmma_descriptor(0, 0x80, 0, WGMMA_SWIZZLE_NONE), 0x80000);
    CHECK_EQ(wgmma_descriptor(0, 0, 0x400, WGMMA_SWIZZLE_NONE), 0x4000000000);
    CHECK_EQ(wgmma_descriptor(0, 0, 0, WGMMA_SWIZZLE_128B), 0x4000000000000000);
    CHECK_EQ(wgmma_descriptor(0, 0, 0, WGMMA_SWIZZLE_64B), 0x8000000000000000);
    CHECK_EQ(wgmma_descriptor(0, 0, 0, WGMMA_SWIZZLE_32B), 0xC000000000000000);
    CHECK_EQ(wgmma_descriptor(0x3FFF0, 0x10, 0x3FFF0, WGMMA_SWIZZLE_64B), 0x80003FFF00013FFF);
    CHECK_EQ(wgmma_descriptor_128b(0x10400), 0x4000004000001040);
}

/* The address of another CTA's shared memory has its rank in the high byte, of which a descriptor has no bit. */
static void descriptors_leave_out_the_rank(void)
{
    CHECK_EQ(wgmma_descriptor_128b(0x03010400), wgmma_descriptor_128b(0x10400));
}

static void accumulators_cover_d_once(void)
{
    for (int n = 8; n <= 256; n += 8) {
        static int d[64][256];
        for (int row = 0; row < 64; row++)
            for (int col = 0; col < n; col++)
                d[row][col] = 0;
        for (int thread = 0; thread < 128; thread++)
            for (int i = 0; i < n / 2; i++)
                d[wgmma_d_row(thread, i)][wgmma_d_col(thread, i)]++;
        for (int row = 0; row < 64; row++)
            for (int col = 0; col < n; col++)
                CHECK_EQ(d[row][col], 1);
    }
}

/* Thread 37 is lane 5 of warp 1, thread 127 lane 31 of warp 3. */
static void accumulators_have_known_values(void)
{
    static const int d37[8][2] = {
        { 17, 2 }, { 17, 3 }, { 25, 2 }, { 25, 3 }, { 17, 10 }, { 17, 11 }, { 25, 10 }, { 25, 11 } };
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(wgmma_d_row(37, i), d37[i][0]);
        CHECK_EQ(wgmma_d_col(37, i), d37[i][1]);
    }
    CHECK_EQ(wgmma_d_row(127, 127), 63);
    CHECK_EQ(wgmma_d_col(127, 127), 255);
    CHECK_EQ(wgmma_d_row(127, 124), 55);
    CHECK_EQ(wgmma_d_col(127, 124), 254);
}

/* ------------------------------------------------------------------ tiles */

static void tiles_cover_without_overflow(void)
{
    CHECK_EQ(tiles_to_cover(1, 128), 1);
    CHECK_EQ(tiles_to_cover(128, 128), 1);
    CHECK_EQ(tiles_to_cover(129, 128), 2);
    CHECK_EQ(tiles_to_cover(INT32_MAX, 128), 1 << 24);
}

TESTS({ swizzles_permute_a_period, "a swizzle permutes the chunks of its period and is its own inverse" },
      { swizzles_have_known_values, "swizzles move chunk c of row r where the ISA's pictures do" },
      { chunks_lie_where_the_swizzle_has_them, "a chunk named by row and column lies where the swizzle has it" },
      { a_swizzled_column_visits_every_bank, "a column of swizzled chunks visits every bank" },
      { fragments_cover_their_matrix_once, "a fragment's lanes hold every element once" },
      { fragments_have_known_values, "fragment elements are where the ISA's tables have them" },
      { ldmatrix_of_a_gives_the_fragment, "ldmatrix of a patch of A gives the fragment of A" },
      { ldmatrix_of_b_gives_two_fragments, "ldmatrix of a patch of B gives two fragments of B" },
      { descriptors_have_known_values, "a wgmma descriptor has each field in its bits" },
      { descriptors_leave_out_the_rank, "a wgmma descriptor leaves the rank in an address out" },
      { accumulators_cover_d_once, "the accumulators of a warpgroup hold every element of D once, for every n" },
      { accumulators_have_known_values, "accumulators are where the ISA's picture of D has them" },
      { tiles_cover_without_overflow, "counting tiles rounds up and cannot overflow" })
