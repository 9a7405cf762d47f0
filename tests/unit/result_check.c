/* The check that every rung stands on (z_utils/z_check.h) must accept what is right and reject whatever is not, both
 * when it compares every element and when the matrix is so large that it uses Freivalds' test. */
#include "check.h"
#include "z_check.h"

struct problem { int m, n, k; int8_t *a, *b; half *c; };

static const struct { int m, n, k; } shapes[] = {
    { 1, 1, 1 }, { 33, 65, 17 },                /* every element */
    { 523, 511, 509 },                          /* Freivalds: more than 2^27 products */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* The answer by the plainest of loops: other means than the code under test. */
static struct problem right_answer(int shape)
{
    struct problem p = { .m = shapes[shape].m, .n = shapes[shape].n, .k = shapes[shape].k };
    p.a = integers_a(p.m, p.k, 5);
    p.b = integers_b(p.n, p.k, 5);
    p.c = allocate((size_t)p.m * p.n * sizeof *p.c);
    for (int i = 0; i < p.m; i++)
        for (int j = 0; j < p.n; j++) {
            float sum = 0;
            for (int l = 0; l < p.k; l++)
                sum += (float)p.a[(size_t)i * p.k + l] * (float)p.b[(size_t)j * p.k + l];
            p.c[(size_t)i * p.n + j] = half_from_float(sum);
        }
    return p;
}

static bool passes(const struct problem *p)
{
    const struct verdict v = check_gemm(p->a, p->b, p->c, p->m, p->n, p->k, 5);
    CHECK(v.pass || v.reason[0]);
    return v.pass;
}

static void release(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

static void accepts_what_is_right(void)
{
    for (int s = 0; s < SHAPES; s++) {
        struct problem p = right_answer(s);
        CHECK(passes(&p));
        release(&p);
    }
}

/* Each wrong value in turn, in the first, the last and a middle element: one bad element of any number must do. */
static void rejects_one_wrong_element(void)
{
    const half wrong[] = { POISON_HALF, 0x7C00 /* inf */, 0x7E00 /* NaN */, 0x3800 /* 0.5 */, 0x7BFF /* 65504 */ };
    for (int s = 0; s < SHAPES; s++) {
        struct problem p = right_answer(s);
        const size_t count = (size_t)p.m * p.n, places[] = { 0, count / 2 + count / 7, count - 1 };
        for (int i = 0; i < 3; i++) {
            const half right = p.c[places[i]];
            for (int w = 0; w < 5; w++) {
                p.c[places[i]] = wrong[w];
                CHECK(!passes(&p));
            }
            p.c[places[i]] = half_from_float(half_to_float(right) + 1);
            CHECK(!passes(&p));
            p.c[places[i]] = right;
        }
        CHECK(passes(&p));
        release(&p);
    }
}

/* Two errors of one row that cancel in a plain sum. */
static void rejects_errors_that_cancel(void)
{
    for (int s = 1; s < SHAPES; s++) {
        struct problem p = right_answer(s);
        half *row = p.c + (size_t)(p.m / 2) * p.n;
        row[3] = half_from_float(half_to_float(row[3]) + 1);
        row[9] = half_from_float(half_to_float(row[9]) - 1);
        CHECK(!passes(&p));
        release(&p);
    }
}

static void rejects_swapped_rows(void)
{
    for (int s = 1; s < SHAPES; s++) {
        struct problem p = right_answer(s);
        for (int j = 0; j < p.n; j++) {
            const half keep = p.c[j];
            p.c[j] = p.c[p.n + j];
            p.c[p.n + j] = keep;
        }
        CHECK(!passes(&p));
        release(&p);
    }
}

static void finds_a_stray_byte(void)
{
    enum { BYTES = 1000 };
    uint8_t *image = allocate(BYTES + 2 * GUARD_BYTES);
    memset(image, GUARD_BYTE, BYTES + 2 * GUARD_BYTES);
    memset(image + GUARD_BYTES, 0, BYTES);
    CHECK_EQ(guard_damage(image, BYTES), 0);
    const size_t places[] = { 0, GUARD_BYTES - 1, GUARD_BYTES + BYTES, BYTES + 2 * GUARD_BYTES - 1 };
    for (int i = 0; i < 4; i++) {
        image[places[i]] ^= 1;
        CHECK(guard_damage(image, BYTES) != 0);
        image[places[i]] ^= 1;
    }
    free(image);
}

static void rejects_a_wrong_vector(void)
{
    float want[100], got[100];
    for (int i = 0; i < 100; i++)
        want[i] = got[i] = (float)i;
    CHECK(check_vector(got, want, 100).pass);
    const float wrong[] = { NAN, INFINITY, -1, nextafterf(99, 0) };
    for (int w = 0; w < 4; w++) {
        got[99] = wrong[w];
        CHECK(!check_vector(got, want, 100).pass);
    }
}

static void halves_round_trip(void)
{
    for (int h = 0; h < 65536; h++)
        if ((h & 0x7C00) != 0x7C00 || (h & 0x3FF) == 0)
            CHECK_EQ(half_from_float(half_to_float((half)h)), h);
    CHECK(isnan(half_to_float(half_from_float(NAN))));
    CHECK_EQ(half_from_float(2049), 0x6800);            /* ties to even: 2048 */
    CHECK_EQ(half_from_float(65519.9f), 0x7BFF);
    CHECK_EQ(half_from_float(65520), 0x7C00);
}

/* Sums stay exact: no row's absolute products add up to more than fp16 counts. */
static void inputs_keep_sums_exact(void)
{
    enum { M = 5, N = 3, K = 4097 };
    int8_t *a = integers_a(M, K, 1), *b = integers_b(N, K, 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int l = 0; l < K; l++)
                sum += abs(a[i * K + l] * b[j * K + l]);
            CHECK(sum > 0 && sum <= EXACT_MAX);
        }
    free(a);
    free(b);
}

TESTS({ accepts_what_is_right, "a right result is accepted" },
      { rejects_one_wrong_element, "one wrong element is rejected, NaN and poison too" },
      { rejects_errors_that_cancel, "errors that cancel are rejected" },
      { rejects_swapped_rows, "swapped rows are rejected" },
      { finds_a_stray_byte, "a stray byte on either side is found" },
      { rejects_a_wrong_vector, "a wrong vector is rejected" },
      { halves_round_trip, "fp16 and back is the same, and rounds to even" },
      { inputs_keep_sums_exact, "inputs keep every sum exact" })
