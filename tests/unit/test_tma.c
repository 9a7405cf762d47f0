/* test_tma: tensor copies against a reference that knows the ISA's tables and nothing of the copy engine: every swizzle and
 * rank with boxes over every edge, element strides, fills, types, multicast, four rows, im2col, stores and reductions. */
#include "tma_machine.h"

static const uint16_t nothing[5];

/* ---------------------------------------------------------------- loads in tile mode */

/* The byte of the tensor that byte x of run r is; outside: the fill's. */
static uint8_t expected(const struct box_case *c, uint32_t r, uint32_t x)
{
    static const uint8_t nan[] = { 0xf7, 0x7f };
    uint64_t at = 0;
    uint32_t left = r;
    for (uint32_t d = 0; d < c->rank; d++) {
        int64_t i = d ? c->at[d] + (int64_t)(left % along(c, d)) * (c->step[d] ? c->step[d] : 1) : c->at[0] + (int64_t)(x / c->element);
        if (i < 0 || i >= c->dim[d])
            return c->nan ? nan[x % 2] : 0;
        at += (uint64_t)i * (d ? stride_of(c, d) : c->element);
        if (d)
            left /= along(c, d);
    }
    return hash_byte((uint32_t)(DATA + at + x % c->element));
}

/* Whether a CTA's shared memory, as it came back at `seen`, is what the box should have made of it. */
static bool landed(const struct box_case *c, const uint8_t *seen)
{
    static uint8_t want[SMEM];
    uint32_t wrong = 0;
    memset(want, UNTOUCHED, sizeof want);
    for (uint32_t r = 0; r < runs_of(c); r++)
        for (uint32_t x = 0; x < c->box[0] * c->element; x++)
            want[place_in_shared(c, r, x)] = expected(c, r, x);
    for (uint32_t i = 0; i < SMEM; i++)
        wrong += differs("shared memory", i, seen[i], want[i]);
    if (wrong)
        printf("  rank %u, swizzle %u, element %u, at %d %d %d %d %d\n", c->rank, c->swizzle, c->element, c->at[0], c->at[1],
               c->at[2], c->at[3], c->at[4]);
    return !wrong;
}

static void load_case(struct machine *x, const struct box_case *c)
{
    struct tensor_map m = map_of(c, x->b->addr + DATA);
    give(x, &m, c->at, nothing, c->skew);
    run(x, 1, 128, bytes_of(c));
    expect_ok(x);
    CHECK(landed(c, x->a->host));
}

#define LOAD "@%p3 cp.async.bulk.tensor."
#define TO_SHARED ".shared::cluster.global.mbarrier::complete_tx::bytes"
static const char *const load_lines[] = { "",
    TMA_LOAD(LOAD "1d" TO_SHARED " [%r10], [%rd1, {%r20}], [%r11];"),
    TMA_LOAD(LOAD "2d" TO_SHARED " [%r10], [%rd1, {%r20, %r21}], [%r11];"),
    TMA_LOAD(LOAD "3d" TO_SHARED ".L2::cache_hint [%r10], [%rd1, {%r20, %r21, %r22}], [%r11], 0;"),
    TMA_LOAD(LOAD "4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r10], [%rd1, {%r20, %r21, %r22, %r23}], [%r11];"),
    TMA_LOAD(LOAD "5d.tile" TO_SHARED " [%r10], [%rd1, {%r20, %r21, %r22, %r23, %r24}], [%r11];"),
};

static struct machine blackwell(const char *text)
{
    unsetenv("EMU_SEED");
    setenv("EMU_JOBS", "1", 1);
    struct machine x = machine_for("b200", "sm_100a", TMA_VARIABLES, text);
    if (!x.m)
        CHECK_STR(x.said, "");
    return x;
}

static struct box_case some_box(uint32_t rank, uint32_t swizzle, uint32_t element)
{
    static const uint32_t width[] = { 48, 32, 64, 128, 128, 128, 128 };
    struct box_case c = { .rank = rank, .swizzle = swizzle, .element = element };
    for (uint32_t d = 0; d < rank; d++) {
        c.dim[d] = d ? 6 - d : 150 / element;
        c.box[d] = d ? (d < 3 ? 4 : 2) : width[swizzle] / element;
        c.at[d] = d ? 1 : 16 / (int32_t)element;
    }
    return c;
}

/* Inside; over each edge, low and high; beside the tensor; over several edges. */
static void over_edge(struct box_case *c, uint32_t which)
{
    const uint32_t d = which % 5;
    const int32_t grain = 16 / (int32_t)c->element;
    for (uint32_t i = 0; i < c->rank; i++)
        if (i == d || which >= 20) {
            int32_t one = i ? 1 : grain, last = (int32_t)(c->dim[i] - 1) / one * one;
            c->at[i] = which / 5 == 1 || which == 20 ? -one : which / 5 == 2 || which == 21 ? last : which / 5 == 3 ? last + 8 * one : one;
        }
}

static void every_swizzle_and_edge(void)
{
    for (uint32_t rank = 1; rank <= 5; rank++) {
        struct machine x = blackwell(load_lines[rank]);
        for (uint32_t swizzle = 0; swizzle < 7; swizzle++)
            for (uint32_t which = 0; which < 22; which++) {
                struct box_case c = some_box(rank, swizzle, 1 << which % 4);
                over_edge(&c, which);
                if (which % 5 < rank)
                    load_case(&x, &c);
            }
        machine_close(&x);
    }
}

static void strides_fills_and_places(void)
{
    static const struct box_case cases[] = {
        { .rank = 2, .element = 2, .dim = { 70, 40 }, .box = { 24, 17 }, .step = { 1, 3 }, .at = { -8, -4 } },
        { .rank = 3, .element = 4, .swizzle = 3, .dim = { 37, 9, 9 }, .box = { 32, 8, 7 }, .step = { 1, 8, 2 }, .at = { 8, 3, 5 }, .nan = true },
        { .rank = 4, .element = 2, .swizzle = 2, .dim = { 37, 5, 6, 7 }, .box = { 32, 5, 5, 3 }, .step = { 1, 2, 4, 3 }, .at = { 8, -1, 2, 1 } },
        { .rank = 5, .element = 1, .swizzle = 1, .dim = { 99, 3, 4, 5, 6 }, .box = { 32, 3, 3, 3, 6 }, .step = { 1, 2, 1, 2, 5 }, .at = { 80, 0, 2, 3, 1 } },
        { .rank = 2, .element = 2, .dim = { 70, 40 }, .box = { 24, 17 }, .at = { 56, 30 }, .nan = true },
        { .rank = 2, .element = 8, .swizzle = 3, .dim = { 15, 40 }, .box = { 16, 17 }, .at = { 2, 38 }, .nan = true },
        { .rank = 2, .element = 2, .swizzle = 3, .dim = { 70, 40 }, .box = { 24, 20 }, .at = { 8, 5 } },      /* narrow */
        { .rank = 2, .element = 2, .swizzle = 2, .dim = { 70, 40 }, .box = { 8, 20 }, .at = { 64, 5 } },
        { .rank = 2, .element = 2, .swizzle = 4, .dim = { 70, 40 }, .box = { 16, 20 }, .at = { 64, 5 } },
        { .rank = 2, .element = 2, .swizzle = 3, .dim = { 70, 40 }, .box = { 64, 20 }, .at = { 8, 5 }, .skew = 384 },  /* off the pattern */
        { .rank = 2, .element = 2, .swizzle = 1, .dim = { 70, 40 }, .box = { 16, 20 }, .at = { 8, 5 }, .skew = 128 },
        { .rank = 2, .element = 2, .swizzle = 5, .dim = { 70, 40 }, .box = { 64, 20 }, .at = { 8, 5 }, .skew = 640 },
        { .rank = 2, .element = 4, .swizzle = 0, .dim = { 60, 30 }, .box = { 60, 30 }, .type = 10 },     /* f32.ftz: untouched */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine x = blackwell(load_lines[cases[i].rank]);
        load_case(&x, &cases[i]);
        machine_close(&x);
    }
}

/* One box to both CTAs of a cluster, to the second alone, and with one mbarrier for the pair. */
static void multicast(void)
{
    static const struct { const char *lines; uint16_t mask, bytes; bool to[2]; } cases[] = {
        { TMA_LOAD(LOAD "2d" TO_SHARED ".multicast::cluster [%r10], [%rd1, {%r20, %r21}], [%r11], %h4;"), 3, 1, { true, true } },
        { TMA_LOAD("@%p3 mbarrier.complete_tx.shared::cta.b64 [bar], %r0; "
                   LOAD "2d" TO_SHARED ".multicast::cluster [%r10], [%rd1, {%r20, %r21}], [%r11], %h4;"), 2, 1, { false, true } },
    };
    for (size_t i = 0; i < 2; i++) {
        struct machine x = blackwell(cases[i].lines);
        struct box_case c = some_box(2, 3, 2), none = c;
        struct tensor_map m = map_of(&c, x.b->addr + DATA);
        uint16_t mask[5] = { [4] = cases[i].mask };
        none.box[1] = 0;
        x.cluster = 2;
        give(&x, &m, c.at, mask, 0);
        run(&x, 2, 128, bytes_of(&c));
        expect_ok(&x);
        for (uint32_t rank = 0; rank < 2; rank++)
            CHECK(landed(cases[i].to[rank] ? &c : &none, x.a->host + rank * SMEM));
        machine_close(&x);
    }
}

/* .cta_group::2: the bytes go to the odd CTA, which is told nothing; the even one hears of them. */
static void the_pair_shares_an_mbarrier(void)
{
    struct machine x = blackwell(TMA_LOAD(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, %r10, 1;\n"
        "@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [there], [%rd1, {%r20, %r21}], [%r11];\n"
        "mov.u32 %r15, %cluster_ctarank; setp.eq.and.u32 %p3, %r15, 1, %p1; @%p3 mbarrier.complete_tx.shared::cta.b64 [bar], %r0; }"));
    struct box_case c = some_box(2, 3, 2), none = c;
    struct tensor_map m = map_of(&c, x.b->addr + DATA);
    none.box[1] = 0;
    x.cluster = 2;
    give(&x, &m, c.at, nothing, 0);
    run(&x, 2, 128, bytes_of(&c));
    expect_ok(&x);
    CHECK(landed(&none, x.a->host));
    CHECK(landed(&c, x.a->host + SMEM));
    machine_close(&x);
}

/* ---------------------------------------------------------------- four rows */

static void four_rows_are_gathered(void)
{
    struct machine x = blackwell(TMA_LOAD(LOAD "2d.tile::gather4" TO_SHARED " [%r10], [%rd1, {%r20, %r21, %r22, %r23, %r24}], [%r11];"));
    static const int32_t at[5] = { 16, 9, 3, -1, 40 };      /* the last two are outside */
    struct box_case c = { .rank = 2, .element = 2, .swizzle = 3, .dim = { 70, 40 }, .box = { 64, 1 } };
    struct tensor_map m = map_of(&c, x.b->addr + DATA);
    give(&x, &m, at, nothing, 0);
    run(&x, 1, 128, 4 * 128);
    expect_ok(&x);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t i = 0; i < 128; i++) {
            c.at[0] = at[0], c.at[1] = at[1 + r];
            CHECK(!differs("gathered", 128 * r + i, x.a->host[place_in_shared(&c, r, i)], expected(&c, 0, i)));
        }
    machine_close(&x);
}

/* ---------------------------------------------------------------- packed types */

/* 16 elements of 4 or 6 bits become 16 bytes of shared memory; what pads them keeps what it was. */
static void packed_types_are_padded(void)
{
    for (uint32_t bits = 4; bits <= 6; bits += 2) {
        struct machine x = blackwell(load_lines[2]);
        struct box_case c = { .rank = 2, .element = 1, .swizzle = 3, .dim = { 256, 10 }, .box = { 128, 8 }, .at = { 128, 1 } };
        struct tensor_map m = map_of(&c, x.b->addr + DATA);
        uint32_t group = 2 * bits, row = 256;
        m.type = bits == 4 ? 14 : 15, m.element_bits = (uint8_t)bits, m.stride[0] = row;
        give(&x, &m, c.at, nothing, 0);
        run(&x, 1, 128, 8 * 128);
        expect_ok(&x);
        for (uint32_t r = 0; r < 8; r++)
            for (uint32_t i = 0; i < 128; i++) {
                uint32_t from = DATA + (r + 1) * row + 128 * bits / 8 + i / 16 * group + i % 16;
                uint8_t want = i % 16 < group ? hash_byte(from) : UNTOUCHED;
                CHECK(!differs("packed", 128 * r + i, x.a->host[place_in_shared(&c, r, i)], want));
            }
        machine_close(&x);
    }
}

/* ---------------------------------------------------------------- im2col */

/* Pixel p of a column, by its number: the column counts through the places of all images' bounding boxes. */
static bool pixel(const struct box_case *c, const int32_t *lower, const int32_t *upper, const uint16_t *offset, int64_t p, int64_t at[5])
{
    int64_t count[5], number = c->at[c->rank - 1];
    for (uint32_t d = c->rank - 2; d >= 1; d--) {
        count[d] = (c->dim[d] - 1 + upper[d - 1] - lower[d - 1]) / c->step[d] + 1;
        number = number * count[d] + (c->at[d] - lower[d - 1]) / c->step[d];
    }
    number += p;
    for (uint32_t d = 1; d + 1 < c->rank; d++) {
        at[d] = lower[d - 1] + number % count[d] * c->step[d] + offset[d - 1];
        number /= count[d];
        if (at[d] < 0 || at[d] >= c->dim[d])
            return false;
    }
    at[c->rank - 1] = number;
    return number < c->dim[c->rank - 1];
}

static void columns_of_pixels(void)
{
    static const char *const text[] = {
        TMA_LOAD(LOAD "3d.im2col" TO_SHARED " [%r10], [%rd1, {%r20, %r21, %r22}], [%r11], {%h1};"),
        TMA_LOAD(LOAD "4d.im2col" TO_SHARED " [%r10], [%rd1, {%r20, %r21, %r22, %r23}], [%r11], {%h1, %h2};"),
        TMA_LOAD(LOAD "5d.im2col" TO_SHARED " [%r10], [%rd1, {%r20, %r21, %r22, %r23, %r24}], [%r11], {%h1, %h2, %h3};") };
    static const struct { struct box_case c; int32_t lower[3], upper[3]; uint16_t offset[5], pixels; } cases[] = {
        { { .rank = 3, .element = 2, .dim = { 40, 20, 4 }, .box = { 24 }, .step = { 1, 1, 1 }, .at = { 8, -1, 1 } }, { -2 }, { -2 }, { 4 }, 60 },
        { { .rank = 4, .element = 2, .swizzle = 3, .dim = { 72, 9, 7, 3 }, .box = { 64 }, .step = { 1, 1, 1, 1 }, .at = { 8, 7, 3, 0 } },
          { -1, -1 }, { -1, -1 }, { 2, 0 }, 64 },
        { { .rank = 4, .element = 4, .swizzle = 2, .dim = { 24, 8, 8, 3 }, .box = { 16 }, .step = { 1, 2, 2, 1 }, .at = { 0, 3, 1, 1 } },
          { -1, -1 }, { -1, -1 }, { 1, 2 }, 40 },
        { { .rank = 5, .element = 2, .swizzle = 1, .dim = { 24, 5, 4, 3, 2 }, .box = { 16 }, .step = { 1, 1, 1, 1, 1 }, .at = { 16, 0, -1, 1, 1 } },
          { -1, -1, -1 }, { -1, -1, -1 }, { 2, 1, 0 }, 96 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct box_case c = cases[i].c;
        struct machine x = blackwell(text[c.rank - 3]);
        struct tensor_map m = map_of(&c, x.b->addr + DATA);
        m.mode = TENSOR_IM2COL, m.channels = (uint16_t)c.box[0], m.pixels = cases[i].pixels;
        for (int d = 0; d < 3; d++)
            m.lower[d] = (int16_t)cases[i].lower[d], m.upper[d] = (int16_t)cases[i].upper[d];
        give(&x, &m, c.at, cases[i].offset, 0);
        run(&x, 1, 128, cases[i].pixels * c.box[0] * c.element);
        expect_ok(&x);
        for (uint32_t p = 0; p < cases[i].pixels; p++)
            for (uint32_t b = 0; b < c.box[0] * c.element; b++) {
                int64_t at[5] = { c.at[0] + b / c.element };
                bool in = pixel(&c, cases[i].lower, cases[i].upper, cases[i].offset, p, at) && at[0] < c.dim[0];
                uint64_t from = DATA + (uint64_t)at[0] * c.element + b % c.element;
                for (uint32_t d = 1; in && d < c.rank; d++)
                    from += (uint64_t)at[d] * stride_of(&c, d);
                CHECK(!differs("column", p, x.a->host[place_in_shared(&c, p, b)], in ? hash_byte((uint32_t)from) : 0));
            }
        machine_close(&x);
    }
}

/* ---------------------------------------------------------------- stores and reductions */

static uint32_t apply(const char *op, uint32_t m, uint32_t b)
{
    switch (op[1]) {
    case 'd': return m + b;                     /* add */
    case 'i': return b < m ? b : m;             /* min */
    case 'a': return b > m ? b : m;             /* max */
    case 'n': return op[0] == 'i' ? (m >= b ? 0 : m + 1) : m & b;       /* inc, and */
    case 'e': return m == 0 || m > b ? b : m - 1;                       /* dec */
    case 'r': return m | b;                     /* or */
    default:  return op[0] == 'x' ? m ^ b : b;  /* xor; st: a store */
    }
}

#define REDUCE(op) { op, TMA_STORE("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op ".bulk_group [%rd1, {%r20, %r21}], [%r10];") }

/* u32: what lies beyond the edges stays, but for the rest of 16 bytes. */
static void stores_and_reductions(void)
{
    static const struct { const char *op, *lines; } ops[] = {
        { "st", TMA_STORE("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r20, %r21}], [%r10];") },
        REDUCE("add"), REDUCE("min"), REDUCE("max"), REDUCE("inc"), REDUCE("dec"), REDUCE("and"), REDUCE("or"), REDUCE("xor") };
    static const int32_t places[][5] = { { 4, 2 }, { 28, 2 }, { 0, 9 }, { 28, 9 } };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        for (uint32_t k = 0; k < 4 * 7; k++) {
            struct machine x = blackwell(ops[i].lines);
            struct box_case c = { .rank = 2, .element = 4, .swizzle = k / 4, .dim = { 34, 12 }, .type = 2 };
            c.box[0] = c.swizzle ? widths[c.swizzle] / 4 : 12, c.box[1] = 6;
            struct tensor_map m = map_of(&c, x.a->addr);
            give(&x, &m, places[k % 4], nothing, 0);
            CHECK(mem_fill(x.g, x.a->addr, 0x80000005, 4, BYTES / 4));
            run(&x, 1, 128, 0);
            expect_ok(&x);
            uint32_t wrong = 0;
            for (uint32_t y = 0; y < 12; y++)
                for (uint32_t e = 0; e < 40; e++) {
                    uint32_t u = e - (uint32_t)places[k % 4][0], v = y - (uint32_t)places[k % 4][1], b = 0, want = 0x80000005;
                    if (u < c.box[0] && v < c.box[1] && e < 36) {
                        memcpy(&b, x.b->host + DATA + place_in_shared(&c, v, 4 * u), 4);
                        want = apply(ops[i].op, want, b);
                    }
                    wrong += word(x.a, (uint32_t)(y * stride_of(&c, 1) / 4 + e)) != want;
                }
            CHECK_EQ(wrong, 0);
            machine_close(&x);
        }
}

static void four_rows_are_scattered(void)
{
    struct machine x = blackwell(TMA_STORE("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r20, %r21, %r22, %r23, %r24}], [%r10];"));
    static const int32_t at[5] = { 8, 7, 0, 12, 3 };        /* the third is outside */
    struct box_case c = { .rank = 2, .element = 2, .swizzle = 2, .dim = { 64, 12 }, .box = { 32, 1 } };
    struct tensor_map m = map_of(&c, x.a->addr);
    give(&x, &m, at, nothing, 0);
    CHECK(mem_fill(x.g, x.a->addr, 0, 4, BYTES / 4));
    run(&x, 1, 128, 0);
    expect_ok(&x);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t i = 0; i < 64; i++) {
            uint8_t want = r == 2 ? 0 : x.b->host[DATA + place_in_shared(&c, r, i)];
            CHECK(!differs("scattered", 64 * r + i, x.a->host[(uint64_t)at[r + 1] * stride_of(&c, 1) + 16 + i], want));
        }
    machine_close(&x);
}

TESTS({ every_swizzle_and_edge, "loads: every swizzle, rank and edge" },
      { strides_fills_and_places, "loads: element strides, NaNs, narrow boxes, places off the pattern" },
      { multicast, "a box goes to the CTAs of a set" },
      { the_pair_shares_an_mbarrier, ".cta_group::2: the other CTA's mbarrier hears of it" },
      { four_rows_are_gathered, "gather4" },
      { packed_types_are_padded, "packed types are padded to 16 bytes" },
      { columns_of_pixels, "im2col" },
      { stores_and_reductions, "stores and every reduction, every swizzle, over the high edges" },
      { four_rows_are_scattered, "scatter4" })
