/* mma_math: tiles of every type against a scalar reference. */
#include "check.h"
#include "mma_reference.h"

/* As mma_tile wants it: tf32 in the top of 32 bits with rubbish below, 4 bits two to a byte. */
static void put(enum type t, uint8_t *to, int i, uint32_t code)
{
    if (t == T_TF32) {
        code = code << 13 | (any() & 0x1fff);
        memcpy(to + 4 * i, &code, 4);
    } else if (mma_bits(t) == 16) {
        uint16_t half = (uint16_t)code;
        memcpy(to + 2 * i, &half, 2);
    } else if (mma_bits(t) == 4) {
        to[i / 2] = (uint8_t)(i % 2 ? (to[i / 2] & 0xf) | code << 4 : code);
    } else {
        to[i] = (uint8_t)code;
    }
}

/* ---- tiles */

enum { M = 21, N = 24, K = 32 };

static void try_tile(enum type at, enum type bt, enum input in, int k, const struct mma_how *how)
{
    static uint32_t a[M][K], b[N][K];
    static uint8_t abytes[M * K * 4], bbytes[N * K * 4];
    static float c[M][N], d[M][N];
    const struct format *fa = format_of(at), *fb = format_of(bt);
    largest = 2 + below(10);
    largest_c = 1 + below(24);
    for (int i = 0; i < M * k; i++)
        put(at, abytes, i, a[i / k][i % k] = make(fa, in));
    for (int i = 0; i < N * k; i++)
        put(bt, bbytes, i, b[i / k][i % k] = make(fb, in));
    for (int i = 0; i < M * N; i++)
        c[i / N][i % N] = how->round == MMA_TO_F16 ? round_reference(make_c(MODERATE), MMA_TO_F16) : make_c(in);
    mma_tile_f32(abytes, at, bbytes, bt, c[0], d[0], N, M, N, k, how);
    for (int i = 0; i < M * N; i++) {
        float want = c[i / N][i % N];
        for (int k0 = 0; k0 < k; k0 += how->step)
            want = reference(fa, a[i / N] + k0, fb, b[i % N] + k0, how->step, want, how);
        if (same(d[i / N][i % N], want))
            continue;
        printf("%s x %s, %s, k %d step %d fraction %d round %d, at %d,%d: %a, not %a (c %a)\n", type_name(at),
               type_name(bt), input_name[in], k, how->step, how->fraction, how->round, i / N, i % N,
               d[i / N][i % N], want, c[i / N][i % N]);
        CHECK(!"equal to the bit");
        return;
    }
}

static void try_types(enum type at, enum type bt, const struct mma_how *how, int k)
{
    for (int in = 0; in < INPUTS; in++)
        for (int times = 0; times < 12; times++)
            try_tile(at, bt, in, k, how);
}

static void tiles_equal_the_reference(void)
{
    static const enum type types[] = { T_F16, T_BF16, T_TF32, T_E5M2, T_E4M3, T_E3M2, T_E2M3, T_E2M1 };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        try_types(types[i], types[i], &(struct mma_how){ 25, 16, MMA_TO_F32 }, 16);
        try_types(types[i], types[i], &(struct mma_how){ 25, 8, MMA_TO_F32 }, 8);
        try_types(types[i], types[i], &(struct mma_how){ 24, 8, MMA_TO_F32 }, 16);
        try_types(types[i], types[i], &(struct mma_how){ 24, 4, MMA_TO_F32 }, 8);
        try_types(types[i], types[i], &(struct mma_how){ 25, 32, MMA_TO_F16 }, 32);
        try_types(types[i], types[i], &(struct mma_how){ 13, 32, MMA_TO_F32_13 }, 32);
        try_types(types[i], types[i], &(struct mma_how){ 13, 16, MMA_TO_F16 }, 32);
    }
    try_types(T_E4M3, T_E5M2, &(struct mma_how){ 25, 32, MMA_TO_F32 }, 32);
    try_types(T_E3M2, T_E4M3, &(struct mma_how){ 25, 32, MMA_TO_F32 }, 32);
}

/* ---- the boundary that was measured on a chip: 2^-25 below the largest term survives, 2^-26 does not */

static float one_product(float a, float b, float a2, float b2, float c, int fraction)
{
    uint16_t x[16] = { mma_half_bits(a), mma_half_bits(a2) }, y[16] = { mma_half_bits(b), mma_half_bits(b2) };
    float d;
    mma_tile_f32(x, T_F16, y, T_F16, &c, &d, 1, 1, 1, 16, &(struct mma_how){ fraction, 16, MMA_TO_F32 });
    return d;
}

static void fraction_bits_survive(void)
{
    /* 1 - 1 + small: only what alignment to 1 left of it can be seen. */
    CHECK(one_product(1, 1, 0x1p-13f, 0x1p-12f, -1, 25) == 0x1p-25f);
    CHECK(one_product(1, 1, 0x1p-13f, 0x1p-13f, -1, 25) == 0);
    CHECK(one_product(1, 1, -1, 1, 0x1p-25f, 25) == 0x1p-25f);
    CHECK(one_product(1, 1, -1, 1, 0x1p-26f, 25) == 0);
    CHECK(one_product(1, 1, 0x1p-12f, 0x1p-12f, -1, 24) == 0x1p-24f);
    CHECK(one_product(1, 1, 0x1p-13f, 0x1p-12f, -1, 24) == 0);
    CHECK(one_product(1, 1, -1, 1, -0x1.8p-25f, 25) == -0x1p-25f);  /* toward zero */
    CHECK(one_product(1.5f, 1.5f, -1.5f, 1.5f, 0x1p-25f, 25) == 0x1p-25f);  /* a product of 2.25 aligns as 1 does, */
    CHECK(one_product(1.5f, 1.5f, 0x1p-13f, 0x1p-12f, -2.25f, 25) == 0);    /* a C of 2.25 as 2 does */
}

static void special_values(void)
{
    CHECK_EQ(code_of(one_product(INFINITY, 1, 1, 1, 0, 25)), code_of(INFINITY));
    CHECK_EQ(code_of(one_product(INFINITY, -1, 1, 1, 0, 25)), code_of(-INFINITY));
    CHECK_EQ(code_of(one_product(INFINITY, 0, 1, 1, 0, 25)), 0x7fffffff);
    CHECK_EQ(code_of(one_product(INFINITY, 1, 1, 1, -INFINITY, 25)), 0x7fffffff);
    CHECK_EQ(code_of(one_product(INFINITY, 1, INFINITY, -1, 0, 25)), 0x7fffffff);
    CHECK_EQ(code_of(one_product(NAN, 1, 1, 1, 0, 25)), 0x7fffffff);
    CHECK_EQ(code_of(one_product(1, 1, 1, 1, -NAN, 25)), 0x7fffffff);
    CHECK_EQ(code_of(one_product(0, 1, 0, -1, -0.0f, 25)), 0);
    CHECK_EQ(code_of(one_product(1, 1, -1, 1, 0, 25)), 0);
    CHECK_EQ(code_of(one_product(0x1p-24f, 0x1p-24f, 0, 0, 0, 25)), code_of(0x1p-48f));
    CHECK_EQ(code_of(one_product(0, 0, 0, 0, 0x1p-149f, 25)), 1);
}

static void zero_has_no_sign(void)
{
    uint16_t a[4 * 16] = { 0 }, b[16 * 16];
    float c[4 * 16], d[4 * 16];
    for (int i = 0; i < 16 * 16; i++)
        b[i] = 0xbc00;
    for (int i = 0; i < 4 * 16; i++)
        c[i] = -0.0f;
    mma_tile_f32(a, T_F16, b, T_F16, c, d, 16, 4, 16, 16, &(struct mma_how){ 25, 16, MMA_TO_F32 });
    for (int i = 0; i < 4 * 16; i++)
        CHECK_EQ(code_of(d[i]), 0);
}

static void a_tile_may_be_added_in_place(void)
{
    uint16_t a[16 * 16], b[32 * 16];
    float c[16 * 32], d[16 * 32];
    for (int i = 0; i < 16 * 16; i++)
        a[i] = (uint16_t)any();
    for (int i = 0; i < 32 * 16; i++)
        b[i] = (uint16_t)any();
    for (int i = 0; i < 16 * 32; i++)
        c[i] = make_c(ANY_BITS);
    struct mma_how how = { 25, 16, MMA_TO_F32 };
    mma_tile_f32(a, T_F16, b, T_F16, c, d, 32, 16, 32, 16, &how);
    mma_tile_f32(a, T_F16, b, T_F16, c, c, 32, 16, 32, 16, &how);
    CHECK(memcmp(c, d, sizeof c) == 0);
}

/* ---- integers */

static void integer_tiles(void)
{
    static const enum type types[] = { T_U8, T_S8, T_U4, T_S4 };
    static uint8_t a[5 * 96], b[18 * 96];
    static int32_t c[5][18], d[5][18];
    for (int t = 0; t < 16; t++) {
        enum type at = types[t % 4], bt = types[t / 4];
        if (mma_bits(at) != mma_bits(bt))
            continue;
        for (int saturate = 0; saturate < 2; saturate++) {
            for (size_t i = 0; i < sizeof a; i++)
                a[i] = (uint8_t)(saturate ? 0x7f : any());
            for (size_t i = 0; i < sizeof b; i++)
                b[i] = (uint8_t)any();
            for (int i = 0; i < 5 * 18; i++)
                c[i / 18][i % 18] = (int32_t)(below(2) ? any() : below(2) ? 0x7fffff00u : 0x80000010u);
            mma_tile_s32(a, at, b, bt, c[0], d[0], 18, 5, 18, 96, saturate);
            for (int i = 0; i < 5 * 18; i++) {
                int64_t want = c[i / 18][i % 18];
                for (int k = 0; k < 96; k++) {
                    int at_a = i / 18 * 96 + k, at_b = i % 18 * 96 + k, x, y;
                    if (mma_bits(at) == 8) {
                        x = at == T_S8 ? (int8_t)a[at_a] : a[at_a];
                        y = bt == T_S8 ? (int8_t)b[at_b] : b[at_b];
                    } else {
                        x = a[at_a / 2] >> 4 * (at_a % 2) & 15;
                        y = b[at_b / 2] >> 4 * (at_b % 2) & 15;
                        x = at == T_S4 && x > 7 ? x - 16 : x;
                        y = bt == T_S4 && y > 7 ? y - 16 : y;
                    }
                    want += x * y;
                }
                if (saturate)
                    want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
                CHECK_EQ(d[i / 18][i % 18], (int32_t)want);
            }
        }
    }
}

TESTS({ tiles_equal_the_reference, "a tile of every type is equal to the reference to the bit" },
      { fraction_bits_survive, "25 bits below the largest term survive, 24 on older chips, and no more" },
      { special_values, "infinities, NaN, zeros and subnormals" },
      { zero_has_no_sign, "a sum of negative zeros is positive zero" },
      { a_tile_may_be_added_in_place, "C and D may be the same tile" },
      { integer_tiles, "integer tiles wrap or saturate" })
