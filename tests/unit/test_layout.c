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

/* ------------------------------------------------------------------ tcgen05 */

/* The fields one by one; bit 46 is always set. */
static void tcgen05_descriptors_have_known_values(void)
{
    CHECK_EQ(tcgen05_descriptor(0, 0, 0, TCGEN05_SWIZZLE_NONE), 0x0000400000000000);
    CHECK_EQ(tcgen05_descriptor(0x10400, 0, 0, TCGEN05_SWIZZLE_NONE), 0x0000400000001040);
    CHECK_EQ(tcgen05_descriptor(0, 0x80, 0, TCGEN05_SWIZZLE_NONE), 0x0000400000080000);
    CHECK_EQ(tcgen05_descriptor(0, 0, 0x400, TCGEN05_SWIZZLE_NONE), 0x0000404000000000);
    CHECK_EQ(tcgen05_descriptor(0, 0, 0, TCGEN05_SWIZZLE_128B_ATOM_32B), 0x2000400000000000);
    CHECK_EQ(tcgen05_descriptor(0, 0, 0, TCGEN05_SWIZZLE_128B), 0x4000400000000000);
    CHECK_EQ(tcgen05_descriptor(0, 0, 0, TCGEN05_SWIZZLE_64B), 0x8000400000000000);
    CHECK_EQ(tcgen05_descriptor(0, 0, 0, TCGEN05_SWIZZLE_32B), 0xC000400000000000);
    CHECK_EQ(tcgen05_descriptor_128b(0x10400), 0x4000404000001040);
    CHECK_EQ(tcgen05_descriptor_128b(0x03010400), tcgen05_descriptor_128b(0x10400));
}

static const struct tcgen05_instruction plain = {
    .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = TCGEN05_D_F32 };
static const struct tcgen05_scaled_instruction scaled = {
    .kind = TCGEN05_MXF8F6F4, .cta_group = 1, .m = 128, .n = 256, .scale_type = TCGEN05_SCALE_UE8M0 };

/* What changes against fp16 x fp16 into fp32, 128 x 256: 0x08400010. */
static void instructions_have_known_values(void)
{
    static const struct { struct tcgen05_instruction i; uint32_t bits; } known[] = {
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1 }, 0x08400010 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 64, .n = 8, .d_type = 0 }, 0x04020000 },
        { { .kind = TCGEN05_F16, .cta_group = 2, .m = 256, .n = 256, .d_type = 1 }, 0x10400010 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .a_type = 1, .b_type = 1 }, 0x08400490 },
        { { .kind = TCGEN05_TF32, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .a_type = 2, .b_type = 2 }, 0x08400910 },
        { { .kind = TCGEN05_F8F6F4, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .a_type = 5, .b_type = 4 }, 0x08401290 },
        { { .kind = TCGEN05_I8, .cta_group = 1, .m = 128, .n = 256, .d_type = 2, .a_type = 1, .saturate = 1 }, 0x084000A8 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .negate_a = 1 }, 0x08402010 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .negate_b = 1 }, 0x08404010 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .a_mn_major = 1 }, 0x08408010 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .b_mn_major = 1 }, 0x08410010 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 128, .n = 256, .d_type = 1, .sparse = 1, .selector = 3 }, 0x08400017 },
        { { .kind = TCGEN05_F16, .cta_group = 1, .m = 32, .n = 64, .d_type = 1, .ws = 1, .ws_max_shift = 3 }, 0xC2100010 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK_EQ(tcgen05_instruction_descriptor(known[i].i), known[i].bits);
}

static void scaled_instructions_have_known_values(void)
{
    struct tcgen05_scaled_instruction i = scaled;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0x08C00000);
    i.a_scale_id = 3, i.b_scale_id = 2;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0x68C00020);
    i = scaled, i.cta_group = 2, i.m = 256, i.a_type = 3, i.b_type = 1;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0x10C00580);
    i = scaled, i.kind = TCGEN05_MXF4NVF4, i.a_type = i.b_type = TCGEN05_MX_E2M1, i.scale_type = TCGEN05_SCALE_UE4M3;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0x08400480);
    i.k96 = 1, i.a_scale_id = 2;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0xC8400480);
    i.scale_type = TCGEN05_SCALE_UE8M0, i.cta_group = 2, i.m = 256, i.a_scale_id = 3, i.b_scale_id = 1;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0xF0C00490);
    i = scaled, i.sparse = i.negate_a = i.negate_b = i.a_mn_major = i.b_mn_major = 1;
    CHECK_EQ(tcgen05_scaled_instruction_descriptor(i), 0x08C1E004);
}

/* Sets one field of a valid instruction at a time to a value that it cannot have. */
#define REFUSED(valid, type, field, value) \
    do { struct type i_ = valid; CHECK(type##_descriptor(i_) != 0); i_.field = value; CHECK_EQ(type##_descriptor(i_), 0); } while (0)

static void instructions_out_of_range_are_refused(void)
{
    static const struct tcgen05_instruction tf32 = { .kind = TCGEN05_TF32, .cta_group = 1, .m = 128, .n = 256,
                                                     .a_type = 2, .b_type = 2, .d_type = 1 };
    static const struct tcgen05_instruction fp8 = { .kind = TCGEN05_F8F6F4, .cta_group = 2, .m = 256, .n = 32, .d_type = 1 };
    static const struct tcgen05_instruction i8 = { .kind = TCGEN05_I8, .cta_group = 1, .m = 64, .n = 24, .d_type = 2 };
    static const struct tcgen05_instruction ws = { .kind = TCGEN05_F16, .cta_group = 1, .m = 32, .n = 64, .d_type = 1, .ws = 1 };
    static const int bad_m[] = { 0, 32, 96, 256, -128 }, bad_n[] = { 0, 4, 12, 264, -8 }, flag[] = { 2, -1 };
#define PLAIN(field, value) REFUSED(plain, tcgen05_instruction, field, value)
    for (int j = 0; j < 5; j++) {
        PLAIN(m, bad_m[j]);
        PLAIN(n, bad_n[j]);
    }
    for (int j = 0; j < 2; j++) {
        PLAIN(negate_a, flag[j]);
        PLAIN(negate_b, flag[j]);
        PLAIN(a_mn_major, flag[j]);
        PLAIN(b_mn_major, flag[j]);
        PLAIN(sparse, flag[j]);
        PLAIN(a_type, flag[j]);
        PLAIN(b_type, flag[j]);
    }
    PLAIN(cta_group, 0);
    PLAIN(cta_group, 3);
    PLAIN(d_type, 2);
    PLAIN(selector, 1);             /* without sparse */
    PLAIN(saturate, 1);             /* integers alone */
    PLAIN(ws_max_shift, 1);         /* without ws */
    REFUSED(tf32, tcgen05_instruction, a_type, 0);
    REFUSED(tf32, tcgen05_instruction, d_type, 0);
    REFUSED(fp8, tcgen05_instruction, a_type, 2);
    REFUSED(fp8, tcgen05_instruction, b_type, 6);
    REFUSED(fp8, tcgen05_instruction, n, 24);
    REFUSED(i8, tcgen05_instruction, n, 40);
    REFUSED(i8, tcgen05_instruction, negate_a, 1);
    REFUSED(i8, tcgen05_instruction, d_type, 1);
    REFUSED(ws, tcgen05_instruction, n, 32);
    REFUSED(ws, tcgen05_instruction, cta_group, 2);
    REFUSED(ws, tcgen05_instruction, ws_max_shift, 4);
}

static void scaled_instructions_out_of_range_are_refused(void)
{
    struct tcgen05_scaled_instruction mxf4 = scaled, nvf4 = scaled;
    mxf4.kind = TCGEN05_MXF4, nvf4.kind = TCGEN05_MXF4NVF4;
    mxf4.a_type = mxf4.b_type = nvf4.a_type = nvf4.b_type = TCGEN05_MX_E2M1;
#define SCALED(field, value) REFUSED(scaled, tcgen05_scaled_instruction, field, value)
    SCALED(m, 64);
    SCALED(m, 256);
    SCALED(n, 0);
    SCALED(n, 12);
    SCALED(n, 264);
    SCALED(cta_group, 3);
    SCALED(a_type, 2);
    SCALED(b_type, -1);
    SCALED(a_scale_id, 4);
    SCALED(b_scale_id, -1);
    SCALED(scale_type, TCGEN05_SCALE_UE4M3);
    SCALED(negate_a, 2);
    SCALED(b_mn_major, 2);
    REFUSED(mxf4, tcgen05_scaled_instruction, a_type, 0);
    REFUSED(mxf4, tcgen05_scaled_instruction, a_scale_id, 1);
    REFUSED(mxf4, tcgen05_scaled_instruction, a_mn_major, 1);
    REFUSED(mxf4, tcgen05_scaled_instruction, scale_type, TCGEN05_SCALE_UE4M3);
    REFUSED(nvf4, tcgen05_scaled_instruction, b_scale_id, 3);
    SCALED(k96, 1);
    REFUSED(mxf4, tcgen05_scaled_instruction, k96, 2);
    struct tcgen05_scaled_instruction k96 = mxf4, pair, fp8_factors = nvf4;
    k96.k96 = fp8_factors.k96 = 1, fp8_factors.scale_type = TCGEN05_SCALE_UE4M3;
    pair = k96, pair.cta_group = 2, pair.m = 256;
    REFUSED(k96, tcgen05_scaled_instruction, n, 24);
    REFUSED(k96, tcgen05_scaled_instruction, sparse, 1);
    REFUSED(k96, tcgen05_scaled_instruction, b_scale_id, 4);
    REFUSED(pair, tcgen05_scaled_instruction, m, 128);
    REFUSED(fp8_factors, tcgen05_scaled_instruction, a_scale_id, 1);
}

/* ------------------------------------------------------------------ tensor memory */

struct d_form { enum tmem_layout layout; int m, cta_group, sparse, ws, ctas; };
static const struct d_form forms[] = {
    { TMEM_A, 256, 2, 0, 0, 2 }, { TMEM_B, 128, 2, 0, 0, 2 }, { TMEM_C, 128, 2, 1, 0, 2 }, { TMEM_D, 128, 1, 0, 0, 1 },
    { TMEM_E, 64, 1, 0, 1, 1 }, { TMEM_F, 64, 1, 0, 0, 1 }, { TMEM_G, 32, 1, 0, 1, 1 },
};

/* Each element of D has a cell of its own, within the lanes and columns that there are. */
static void layouts_give_each_element_a_cell(void)
{
    static int8_t hit[2][128][256];
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int n = forms[f].ws ? 64 : 16; n <= 256; n += forms[f].ws ? n : 16) {
            memset(hit, 0, sizeof hit);
            CHECK_EQ(tmem_layout_of(forms[f].m, forms[f].cta_group, forms[f].sparse, forms[f].ws), forms[f].layout);
            for (int row = 0; row < forms[f].m; row++)
                for (int col = 0; col < n; col++) {
                    const struct tmem_place p = tmem_place_of(forms[f].layout, row, col, n);
                    const int inside = p.cta >= 0 && p.cta < forms[f].ctas && p.lane >= 0 && p.lane < 128 && p.col >= 0 && p.col < n;
                    CHECK(inside);
                    if (inside)
                        CHECK_EQ(hit[p.cta][p.lane][p.col]++, 0);
                }
        }
    CHECK_EQ(tmem_layout_of(128, 1, 0, 1), TMEM_D);
}

/* Read off the ISA's pictures: the corners and where a layout breaks, for N = 64. */
static void layouts_have_known_places(void)
{
    static const struct { enum tmem_layout layout; int m, n, cta, lane, col; } known[] = {
        { TMEM_A, 127, 63, 0, 127, 63 }, { TMEM_A, 128, 0, 1, 0, 0 }, { TMEM_A, 255, 5, 1, 127, 5 },
        { TMEM_B, 63, 31, 0, 63, 31 }, { TMEM_B, 0, 32, 0, 64, 0 }, { TMEM_B, 127, 63, 1, 127, 31 },
        { TMEM_C, 15, 63, 0, 15, 63 }, { TMEM_C, 16, 0, 0, 32, 0 }, { TMEM_C, 127, 7, 1, 111, 7 },
        { TMEM_D, 0, 63, 0, 0, 63 }, { TMEM_D, 127, 0, 0, 127, 0 },
        { TMEM_E, 63, 31, 0, 63, 31 }, { TMEM_E, 63, 32, 0, 127, 0 },
        { TMEM_F, 15, 1, 0, 15, 1 }, { TMEM_F, 16, 1, 0, 32, 1 }, { TMEM_F, 63, 63, 0, 111, 63 },
        { TMEM_G, 31, 15, 0, 31, 15 }, { TMEM_G, 0, 16, 0, 32, 0 }, { TMEM_G, 31, 63, 0, 127, 15 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct tmem_place p = tmem_place_of(known[i].layout, known[i].m, known[i].n, 64);
        CHECK_EQ(p.cta, known[i].cta);
        CHECK_EQ(p.lane, known[i].lane);
        CHECK_EQ(p.col, known[i].col);
    }
    CHECK_EQ(tmem_address(96, 511), 0x006001FF);
}

/* Every register of every thread is a cell of its own: 32 x 16 bytes of each repetition. */
static void loads_read_each_cell_once(void)
{
    static const struct { enum tmem_shape shape; int lanes, columns, registers; } shape[] = {
        { TMEM_32X32B, 32, 1, 1 }, { TMEM_16X64B, 16, 2, 1 }, { TMEM_16X128B, 16, 4, 2 }, { TMEM_16X256B, 16, 8, 4 } };
    for (int s = 0; s < 4; s++)
        for (int times = 1; times * shape[s].registers <= 128; times *= 2) {
            static int8_t hit[32][256];
            memset(hit, 0, sizeof hit);
            for (int t = 0; t < 32; t++)
                for (int r = 0; r < times * shape[s].registers; r++) {
                    const int lane = tmem_ld_lane(shape[s].shape, t, r), col = tmem_ld_col(shape[s].shape, t, r);
                    CHECK(lane >= 0 && lane < shape[s].lanes && col >= 0 && col < times * shape[s].columns);
                    CHECK_EQ(hit[lane % 32][col % 256]++, 0);
                }
        }
}

static void loads_have_known_places(void)
{
    static const struct { enum tmem_shape shape; int thread, r, lane, col; } known[] = {
        { TMEM_32X32B, 31, 5, 31, 5 }, { TMEM_16X64B, 1, 0, 8, 0 }, { TMEM_16X64B, 2, 0, 0, 1 }, { TMEM_16X64B, 31, 1, 15, 3 },
        { TMEM_16X128B, 5, 0, 1, 1 }, { TMEM_16X128B, 5, 1, 9, 1 }, { TMEM_16X128B, 31, 2, 7, 7 },
        { TMEM_16X256B, 1, 1, 0, 3 }, { TMEM_16X256B, 4, 2, 9, 0 }, { TMEM_16X256B, 31, 7, 15, 15 },
        { TMEM_16X32BX2, 15, 3, 15, 3 }, { TMEM_16X32BX2, 16, 3, 0, 3 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK_EQ(tmem_ld_lane(known[i].shape, known[i].thread, known[i].r), known[i].lane);
        CHECK_EQ(tmem_ld_col(known[i].shape, known[i].thread, known[i].r), known[i].col);
    }
}

/* 300 rows, 9 blocks along K: 3 groups of rows, 3 fours of blocks. */
static void factors_lie_apart_and_in_order(void)
{
    static int8_t hit[3 * 3 * 512];
    for (int row = 0; row < 300; row++)
        for (int block = 0; block < 9; block++) {
            const uint64_t at = scale_offset(row, block, 3);
            CHECK(at < sizeof hit);
            CHECK_EQ(hit[at % sizeof hit]++, 0);
        }
    CHECK_EQ(scale_offset(0, 3, 3), 3);
    CHECK_EQ(scale_offset(1, 0, 3), 16);
    CHECK_EQ(scale_offset(33, 1, 3), 16 + 4 + 1);
    CHECK_EQ(scale_offset(127, 3, 3), 511);
    CHECK_EQ(scale_offset(0, 4, 3), 512);
    CHECK_EQ(scale_offset(128, 0, 3), 3 * 512);
    CHECK_EQ(tmem_scale_lane(100), 4);
    CHECK_EQ(tmem_scale_col(100), 3);
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
      { tcgen05_descriptors_have_known_values, "a tcgen05 descriptor has each field in its bits" },
      { instructions_have_known_values, "an instruction descriptor has each field in its bits" },
      { scaled_instructions_have_known_values, "one with block scales has each field in its bits" },
      { instructions_out_of_range_are_refused, "no instruction descriptor is made of a field out of range" },
      { scaled_instructions_out_of_range_are_refused, "nor one with block scales" },
      { layouts_give_each_element_a_cell, "each layout of D in tensor memory gives each element a cell of its own" },
      { layouts_have_known_places, "layouts of D are those of the ISA's pictures" },
      { loads_read_each_cell_once, "each shape of load reads each cell once" },
      { loads_have_known_places, "registers of loads are where the ISA's pictures have them" },
      { factors_lie_apart_and_in_order, "scale factors lie apart, in the order that tensor memory has them" },
      { tiles_cover_without_overflow, "counting tiles rounds up and cannot overflow" })
