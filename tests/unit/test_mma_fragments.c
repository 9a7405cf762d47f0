/* fragments: every map takes each element of its matrix once (wmma's f16 as often as its registers repeat), and the
 * corners that the ISA's figures show.
 */
#include "check.h"
#include "unit/fragments.h"

enum { WARP_LANES = 32 };

/* Every (row, col) below rows x cols exactly `times` times among the places of all lanes. */
static unsigned char count[256][256];
static void clear(void) { memset(count, 0, sizeof count); }
static void add(struct place p) { count[p.row & 255][p.col & 255]++; }
static void each_once(int rows, int cols, const char *what)
{
    for (int row = 0; row < 256; row++)
        for (int col = 0; col < 256; col++)
            if (count[row][col] != (row < rows && col < cols)) {
                printf("%s: element %d, %d is held %d times\n", what, row, col, count[row][col]);
                CHECK(!"each once");
                return;
            }
}

static void mma_fragments(void)
{
    static const struct { int m, k, per; } shapes[] = {
        { 16, 4, 1 },  { 16, 8, 1 },  { 16, 16, 1 }, { 8, 4, 1 },    { 16, 8, 2 },  { 16, 16, 2 },   { 8, 16, 4 },
        { 16, 16, 4 }, { 16, 32, 4 }, { 8, 32, 8 },  { 16, 32, 8 },  { 16, 64, 8 }, { 8, 128, 32 },  { 16, 128, 32 },
        { 16, 256, 32 },
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        int m = shapes[s].m, k = shapes[s].k, per = shapes[s].per;
        clear();
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int i = 0; i < m * k / WARP_LANES; i++)
                add(fragment_a(lane, i, m, per));
        each_once(m, k, "A");
        clear();
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int i = 0; i < 8 * k / WARP_LANES; i++)
                add(fragment_b(lane, i, per));
        each_once(k, 8, "B");
        clear();
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int i = 0; i < m * 8 / WARP_LANES; i++)
                add(fragment_c(lane, i));
        each_once(m, 8, "C");
    }
}

static void four_small_multiplications(void)
{
    for (int which = 0; which < 4; which++)
        for (int form = 0; form < 2; form++) {
            for (int matrix = 0; matrix < 3; matrix++) {
                clear();
                for (int lane = 0; lane < WARP_LANES; lane++)
                    for (int i = 0; fragment_884_which(lane) == which && i < (matrix == 2 ? 8 : 4); i++)
                        add(matrix == 0 ? fragment_884_a(lane, i, form) : matrix == 1 ? fragment_884_b(lane, i, form) :
                            fragment_884_c(lane, i, form));
                each_once(matrix == 1 ? 4 : 8, matrix == 0 ? 4 : 8, "m8n8k4");
            }
        }
}

static void wmma_fragments(void)
{
    static const struct { int m, n, per; struct wmma_cut cut; } forms[] = {
        { 16, 16, 2, { 16, 16, 1, 2, false } }, { 32, 8, 2, { 16, 16, 2, 1, false } },
        { 8, 32, 2, { 16, 16, 2, 1, true } },   { 16, 16, 1, { 16, 8, 1, 2, false } },
        { 8, 8, 1, { 8, 4, 1, 1, false } },     { 16, 16, 4, { 16, 16, 1, 2, false } },
        { 32, 8, 4, { 16, 16, 2, 1, false } },  { 8, 32, 4, { 16, 16, 2, 1, true } },
        { 8, 8, 8, { 8, 32, 1, 1, false } },    { 8, 8, 32, { 8, 128, 1, 1, false } },
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        for (int matrix = WMMA_A; matrix <= WMMA_C; matrix++) {
            int rows = matrix == WMMA_B ? forms[f].cut.k : forms[f].m;
            int cols = matrix == WMMA_A ? forms[f].cut.k : forms[f].n;
            clear();
            for (int lane = 0; lane < WARP_LANES; lane++)
                for (int i = 0; i < rows * cols / WARP_LANES; i++)
                    add(wmma_fragment(&forms[f].cut, matrix, lane, i, forms[f].per));
            each_once(rows, cols, "wmma");
        }
}

/* Every 4 bits of the lanes that a selector names belong to one chunk. */
static void metadata(void)
{
    static const struct { int chunks; bool wide; } forms[] = { { 4, false }, { 8, false }, { 8, true }, { 16, true } };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        clear();
        int lanes = forms[f].chunks / 4;
        for (int selector = 0; selector < 4 / lanes; selector++)
            for (int row = 0; row < 16; row++)
                for (int c = 0; c < forms[f].chunks; c++) {
                    struct metadata_place p = metadata_place(row, c, forms[f].chunks, selector, forms[f].wide);
                    CHECK(p.lane % 4 / lanes == selector && p.shift % 4 == 0 && p.lane / 4 == row % 8);
                    add((struct place){ p.lane, p.shift / 4 });
                }
        each_once(WARP_LANES, 8, "metadata");
    }
}

static void scales(void)
{
    clear();
    for (int thread = 0; thread < 2; thread++)
        for (int row = 0; row < 16; row++)
            add((struct place){ scale_a_lane(row, thread), 0 });
    each_once(WARP_LANES, 1, "scales of A");
    clear();
    for (int thread = 0; thread < 4; thread++)
        for (int col = 0; col < 8; col++)
            add((struct place){ scale_b_lane(col, thread), 0 });
    each_once(WARP_LANES, 1, "scales of B");
}

static void add_byte(struct byte_place p) { add((struct place){ p.lane, 4 * p.reg + p.byte }); }

static void stored_matrices(void)
{
    for (int trans = 0; trans < 2; trans++) {
        clear();
        for (int row = 0; row < 8; row++)
            for (int col = 0; col < 8; col++) {
                struct byte_place p = matrix_8x8(row, col, trans);
                add_byte(p);
                p.byte++;
                add_byte(p);
            }
        each_once(WARP_LANES, 4, "8x8");
    }
    clear();
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 16; col++)
            add_byte(matrix_8x16(row, col));
    each_once(WARP_LANES, 4, "8x16");
    clear();
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 16; col++)
            add_byte(matrix_16x16_trans(row, col));
    each_once(WARP_LANES, 8, "16x16");
    clear();
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 16; col++)
            add_byte(matrix_16x8_trans(row, col));
    each_once(WARP_LANES, 4, "16x8");
}

/* Read off the formulas of the ISA for single elements. */
static void corners(void)
{
    struct place p = fragment_a(5, 5, 16, 2);           /* m16n8k16 f16: a5 of lane 5: groupID, col (1*2)+1+8 */
    CHECK(p.row == 1 && p.col == 11);
    p = fragment_a(6, 13, 16, 4);                       /* m16n8k32 s8: a13: groupID + 8, (2*4)+1+16 */
    CHECK(p.row == 9 && p.col == 25);
    p = fragment_a(7, 20, 16, 8);                       /* m16n8k64 s4: a20: groupID, (3*8)+4+32 */
    CHECK(p.row == 1 && p.col == 60);
    p = fragment_a(30, 5, 16, 1);                       /* m16n8k16 f64: a5: groupID + 8, 5*2-2+2 */
    CHECK(p.row == 15 && p.col == 10);
    p = fragment_b(30, 3, 2);                           /* m16n8k16 f16: b3: (2*2)+1+8, groupID */
    CHECK(p.row == 13 && p.col == 7);
    p = fragment_c(13, 2);                              /* c2: groupID + 8, 1*2 */
    CHECK(p.row == 11 && p.col == 2);
    p = fragment_884_c(21, 6, true);                    /* X + 4 = (1 & 1) + (6 & 2) + 4, (6 & 4) + (21 & 2) + 0 */
    CHECK(p.row == 7 && p.col == 4);
}

TESTS({ mma_fragments, "A, B and C of mma: each element once" },
      { four_small_multiplications, "mma.m8n8k4 on f16: each element once, in each of four" },
      { wmma_fragments, "wmma: each element once" },
      { metadata, "sparse metadata: each nibble once" },
      { scales, "block scales: each lane once" },
      { stored_matrices, "ldmatrix and stmatrix: each byte once" },
      { corners, "single elements as the ISA's formulas have them" })
