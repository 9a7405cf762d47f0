/* test_host: the checker must reject what is wrong, and the command line must say what is wrong (z_check.h,
 * z_args.h). */
#include "check.h"
#include "../../z_utils/z_args.h"
#include "../../z_utils/z_check.h"

/* ------------------------------------------------------------------ a right answer, to be spoiled */

struct answer { int m, n, k; int8_t *a, *b; half *c; };

/* The product, worked out the other way round: column by column of A and B, in double. */
static struct answer right_answer(int m, int n, int k)
{
    struct answer x = { m, n, k, integers_a(m, k, 5), integers_b(n, k, 5), allocate((size_t)m * n * sizeof(half)) };
    double *sum = allocate_zeros((size_t)m * n * sizeof *sum);
    for (int i = 0; i < k; i++)
        for (int row = 0; row < m; row++)
            for (int col = 0; col < n && x.a[(size_t)row * k + i]; col++)
                sum[(size_t)row * n + col] += (double)x.a[(size_t)row * k + i] * x.b[(size_t)col * k + i];
    for (size_t i = 0; i < (size_t)m * n; i++)
        x.c[i] = half_from_float((float)sum[i]);
    free(sum);
    return x;
}

static struct verdict judge(const struct answer *x)
{
    return check_gemm(x->a, x->b, x->c, x->m, x->n, x->k, 9);
}

static void release(struct answer *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
}

/* Small enough for every element to be compared; and so large that Freivalds must find it. */
static const int shapes[2][3] = { { 33, 21, 17 }, { 520, 515, 507 } };

static void expect_rejected(struct answer *x, const char *reason)
{
    const struct verdict v = judge(x);
    CHECK(!v.pass);
    CHECK(strstr(v.reason, reason));
    if (!strstr(v.reason, reason))
        printf("  the reason given: %s\n", v.reason);
}

static void right_answers_pass(void)
{
    static const int more[4][3] = { { 1, 1, 1 }, { 1, 300, 7 }, { 300, 1, 2000 }, { 2, 3, 5000 } };
    for (int i = 0; i < 6; i++) {
        const int *s = i < 2 ? shapes[i] : more[i - 2];
        struct answer x = right_answer(s[0], s[1], s[2]);
        CHECK(judge(&x).pass);
        release(&x);
    }
    struct answer x = right_answer(520, 515, 507);
    CHECK(strstr(judge(&x).method, "Freivalds"));
    release(&x);
}

/* Spoils one element at many places in turn: corners, and rows and columns that no sample takes. */
static void spoil_everywhere(half (*spoil)(half), const char *reason)
{
    for (int s = 0; s < 2; s++) {
        struct answer x = right_answer(shapes[s][0], shapes[s][1], shapes[s][2]);
        for (int i = 0; i < 12; i++) {
            const int row = i == 0 ? 0 : i == 1 ? x.m - 1 : i * 31 % x.m;
            const int col = i == 0 ? 0 : i == 1 ? x.n - 1 : i * 17 % x.n;
            half *element = &x.c[(size_t)row * x.n + col];
            const half kept = *element;
            char where[40];
            *element = spoil(kept);
            snprintf(where, sizeof where, "c[%d][%d]", row, col);
            expect_rejected(&x, where);
            expect_rejected(&x, reason);
            *element = kept;
        }
        release(&x);
    }
}

static half one_more(half h) { return half_from_float(half_to_float(h) + 1); }
static half a_fraction(half h) { return half_from_float(half_to_float(h) + 0.5f); }
static half negated(half h) { return half_to_float(h) == 0 ? one_more(h) : h ^ 0x8000; }
static half a_nan(half h) { (void)h; return 0x7E01; }
static half poison(half h) { (void)h; return POISON_HALF; }
static half infinite(half h) { return (h & 0x8000) | 0x7C00; }

static void one_wrong_element_is_rejected(void)
{
    spoil_everywhere(one_more, "1 of");
    spoil_everywhere(negated, "1 of");
    spoil_everywhere(a_fraction, "1 NaN or no exact integer");
}

static void a_nan_is_rejected(void)
{
    spoil_everywhere(a_nan, "0 never written, 1 NaN");
    spoil_everywhere(infinite, "1 NaN or no exact integer");
}

static void an_unwritten_element_is_rejected(void)
{
    spoil_everywhere(poison, "1 never written");
}

static void minus_zero_is_zero(void)
{
    struct answer x = right_answer(33, 21, 17);
    for (int i = 0; i < 33 * 21; i++)
        if (half_to_float(x.c[i]) == 0)
            x.c[i] = 0x8000;
    CHECK(judge(&x).pass);
    release(&x);
}

/* C computed as n x m: the same numbers, transposed. */
static void swapped_m_and_n_are_rejected(void)
{
    for (int s = 0; s < 2; s++) {
        struct answer x = right_answer(shapes[s][0], shapes[s][1], shapes[s][2]);
        half *transposed = allocate((size_t)x.m * x.n * sizeof *transposed);
        for (int row = 0; row < x.m; row++)
            for (int col = 0; col < x.n; col++)
                transposed[(size_t)col * x.m + row] = x.c[(size_t)row * x.n + col];
        free(x.c);
        x.c = transposed;
        expect_rejected(&x, "wrong in");
        release(&x);
    }
}

static void a_missing_row_is_rejected(void)
{
    for (int s = 0; s < 2; s++) {
        struct answer x = right_answer(shapes[s][0], shapes[s][1], shapes[s][2]);
        memset(x.c + (size_t)(x.m - 1) * x.n, POISON_BYTE, (size_t)x.n * sizeof(half));
        expect_rejected(&x, "wrong in 1 of");
        release(&x);
    }
}

/* Errors that cancel in the sum of a row or of a column. */
static void exchanged_elements_are_rejected(void)
{
    struct answer x = right_answer(520, 515, 507);
    const size_t at = 123 * 515 + 77;
    size_t other = at + 1;
    while (x.c[other] == x.c[at])
        other++;
    const half kept = x.c[at];
    x.c[at] = x.c[other];
    x.c[other] = kept;
    expect_rejected(&x, "wrong in 1 of 520 rows (123 to 123) and 2 of 515 columns (77 to");
    release(&x);
}

/* Each column multiplied by a scale of its own, exactly. */
static void scaled(const half *c, const float *scale, half *out)
{
    for (int i = 0; i < 33 * 21; i++)
        out[i] = half_from_float(half_to_float(c[i]) * scale[i % 21]);
}

static void a_wrong_scale_is_rejected(void)
{
    struct answer x = right_answer(33, 21, 17);
    float *scale = powers_of_two(21, 3), exchanged[21];
    half *c = allocate(33 * 21 * sizeof *c);
    scaled(x.c, scale, c);
    CHECK(check_scaled_gemm(x.a, x.b, scale, c, 33, 21, 17, 9).pass);

    for (int i = 0; i < 21; i++)
        exchanged[i] = scale[(i + 1) % 21];
    scaled(x.c, exchanged, c);
    CHECK(!check_scaled_gemm(x.a, x.b, scale, c, 33, 21, 17, 9).pass);

    static const half wrong[] = { 0x7E01, 0x7C00, POISON_HALF, 0x0001, 0x8001, 0x7BFF };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        scaled(x.c, scale, c);
        c[7 * 21 + 5] = wrong[i];
        const struct verdict v = check_scaled_gemm(x.a, x.b, scale, c, 33, 21, 17, 9);
        CHECK(!v.pass);
        CHECK(strstr(v.reason, wrong[i] == POISON_HALF ? "c[7][5] was never written" : "c[7][5] is"));
    }
    free(c);
    free(scale);
    release(&x);
}

static void one_wrong_group_is_named(void)
{
    struct answer x = right_answer(33, 21, 17);
    struct verdict v = judge(&x);
    name_group(&v, 0, 3);
    CHECK(v.pass);
    CHECK_STR(v.method, "every element of 3 products");
    x.c[5] = 0x7E01;
    v = judge(&x);
    name_group(&v, 2, 3);
    CHECK(!v.pass);
    CHECK(strstr(v.reason, "group 2: c[0][5] is NaN") == v.reason);
    release(&x);
}

static void a_wrong_vector_is_rejected(void)
{
    float want[5] = { 1, 2, 3, 4, 5 }, got[5] = { 1, 2, 3, 4, 5 };
    CHECK(check_vector(got, want, 5).pass);
    got[4] = NAN;
    CHECK(!check_vector(got, want, 5).pass);
    got[4] = 5;
    got[0] = 1.0000001f;
    CHECK(!check_vector(got, want, 5).pass);
}

static void stores_outside_the_output_are_found(void)
{
    enum { BYTES = 30 };
    uint8_t image[BYTES + 2 * GUARD_BYTES];
    memset(image, GUARD_BYTE, sizeof image);
    memset(image + GUARD_BYTES, POISON_BYTE, BYTES);
    CHECK_EQ(guard_damage(image, BYTES), 0);
    image[GUARD_BYTES + BYTES] = 0;
    CHECK_EQ(guard_damage(image, BYTES), BYTES);
    image[GUARD_BYTES + BYTES] = GUARD_BYTE;
    image[GUARD_BYTES - 1] = 0;
    CHECK_EQ(guard_damage(image, BYTES), -1);
    image[GUARD_BYTES - 1] = GUARD_BYTE;
    image[sizeof image - 1] = 0;
    CHECK_EQ(guard_damage(image, BYTES), BYTES + GUARD_BYTES - 1);
    image[sizeof image - 1] = GUARD_BYTE;
    image[0] = 0;
    CHECK_EQ(guard_damage(image, BYTES), -GUARD_BYTES);
}

/* ------------------------------------------------------------------ inputs and numbers */

static void sums_stay_exact(void)
{
    static const int ks[] = { 1, 7, 400, 401, 1000, 4096, 20000 };
    for (int i = 0; i < 7; i++) {
        const int k = ks[i];
        int8_t *a = integers_a(50, k, 3), *b = integers_b(3, k, 3);
        for (int row = 0; row < 50; row++) {
            int sum = 0, zeros = 0;
            for (int col = 0; col < k; col++) {
                sum += abs(a[(size_t)row * k + col]);
                zeros += !a[(size_t)row * k + col];
            }
            CHECK(sum <= 1024);
            CHECK(sum >= (k < 400 ? k : 500));
            CHECK(k > 400 || sum == 1024 || zeros == 0);
        }
        for (int j = 0; j < 3 * k; j++)
            CHECK(abs(b[j]) == 1 || abs(b[j]) == 2);
        free(a);
        free(b);
    }
}

static void a_sum_stays_exact(void)
{
    static const size_t counts[] = { 1, 3, 9999, 99, 100, 101, 30000, 100000, 100001, 1000000 };
    for (int i = 0; i < 10; i++) {
        float *x = floats_to_sum(counts[i], 100000, 3);
        double sum = 0;
        size_t zeros = 0, fractions = 0;
        for (size_t j = 0; j < counts[i]; j++) {
            fractions += !(x[j] >= 0 && x[j] == (float)(int)x[j]);
            sum += x[j];
            zeros += x[j] == 0;
        }
        CHECK(sum <= 100000 && fractions == 0);
        CHECK(counts[i] > 100000 ? sum > 30000 : zeros == 0);
        free(x);
    }
}

static void halves_round_to_nearest_even(void)
{
    static const struct { float value; half bits; } known[] = {
        { 0, 0 }, { 1, 0x3C00 }, { -2, 0xC000 }, { 2048, 0x6800 }, { 2049, 0x6800 }, { 2051, 0x6802 }, { 65504, 0x7BFF },
        { 65519, 0x7BFF }, { 65520, 0x7C00 }, { 0x1p-24f, 0x0001 }, { 0x1p-25f, 0x0000 }, { 0x1.8p-24f, 0x0002 },
        { 0x1p-14f, 0x0400 }, { 0x1.ff8p-15f, 0x03FF }, { 0x1.ffcp-15f, 0x0400 }, { 0.1f, 0x2E66 }, { INFINITY, 0x7C00 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK_EQ(half_from_float(known[i].value), known[i].bits);
    for (int h = 0; h < 65536; h++)
        if ((h & 0x7C00) != 0x7C00)
            CHECK_EQ(half_from_float(half_to_float((half)h)), h);
    CHECK(isnan(half_to_float(half_from_float(NAN))));
    CHECK(isnan(half_to_float(POISON_HALF)));
    CHECK(isinf(half_to_float(0xFC00)));
}

static void normals_have_mean_0_and_variance_1(void)
{
    enum { COUNT = 200001 };
    half *h = allocate(COUNT * sizeof *h);
    double sum = 0, squares = 0;
    halves_normal(h, COUNT, 4);
    for (int i = 0; i < COUNT; i++) {
        sum += half_to_float(h[i]);
        squares += half_to_float(h[i]) * half_to_float(h[i]);
    }
    CHECK(fabs(sum / COUNT) < 0.01);
    CHECK(fabs(squares / COUNT - 1) < 0.02);
    free(h);
}

/* ------------------------------------------------------------------ the command line */

static const struct rung any = { .name = "any", .dims = "mnk", .at_most = { .m = 1000000 } };
static const struct rung by_eight = { .name = "by_eight", .dims = "mnk", .multiple_of = { .n = 8, .k = 8 } };
static const struct rung vector = { .name = "vector", .dims = "n" };

/* Parses a command line given as one string. */
static enum parsed parse(const struct rung *rung, const char *line, struct options *o)
{
    static char copy[200];
    char *argv[20] = { "run" };
    int argc = 1;
    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return parse_options(rung, argc, argv, o);
}

static void expect_refused(const struct rung *rung, const char *line, const char *message)
{
    struct options o;
    CHECK_EQ(parse(rung, line, &o), PARSED_BAD);
    CHECK_STR(o.message, message);
}

static void options_are_read(void)
{
    struct options o;
    CHECK_EQ(parse(&any, "", &o), PARSED_OK);
    CHECK(o.shape.m == 0 && o.seed == 1 && o.iters == 0 && !o.check_only && !o.bench && !o.json);
    CHECK_EQ(parse(&any, "-m 200 -n 136 -k 72 --seed 18446744073709551615 --iters 7 --check --json x.json", &o),
             PARSED_OK);
    CHECK(o.shape.m == 200 && o.shape.n == 136 && o.shape.k == 72 && o.seed == UINT64_MAX);
    CHECK(o.iters == 7 && o.check_only);
    CHECK_STR(o.json, "x.json");
    CHECK_EQ(parse(&by_eight, "-m 3 -n 8 -k 1073741824 --bench", &o), PARSED_OK);
    CHECK(o.shape.k == 1 << 30 && o.bench);
    CHECK_EQ(parse(&any, "-m 5 --help -n x", &o), PARSED_HELP);
    CHECK_EQ(parse(&vector, "-n 1073741824", &o), PARSED_OK);
}

static void numbers_are_read_strictly(void)
{
    static const char *const bad[] = { "0", "x", "-5", "+5", "5x", "0x10", "1e3", "3.0", "3000000000", "1073741825",
                                       "18446744073709551617", "99999999999999999999999" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[40], message[100];
        sprintf(line, "-n %s", bad[i]);
        sprintf(message, "-n %s: must be a whole number from 1 to 1073741824", bad[i]);
        expect_refused(&any, line, message);
    }
    struct options o;
    char *empty[] = { "run", "-n", "", NULL };
    CHECK_EQ(parse_options(&any, 3, empty, &o), PARSED_BAD);
}

static void each_mistake_is_named(void)
{
    expect_refused(&any, "-m", "-m: needs a whole number after it");
    expect_refused(&any, "-m 1000001", "-m 1000001: must be a whole number from 1 to 1000000");
    expect_refused(&any, "--json", "--json: needs a file name after it");
    expect_refused(&any, "--seed -1", "--seed -1: must be a whole number from 0 to 18446744073709551615");
    expect_refused(&any, "--iters 0", "--iters 0: must be a whole number from 1 to 1000000");
    expect_refused(&any, "--nosuch",
                   "--nosuch: no such option; there are -m -n -k --seed --iters --check --bench --json --help");
    expect_refused(&any, "12", "12: no such option; there are -m -n -k --seed --iters --check --bench --json --help");
    expect_refused(&any, "-mn 3", "-mn: no such option; there are -m -n -k --seed --iters --check --bench --json --help");
    expect_refused(&vector, "-m 3", "-m: no such option; there are -n --seed --iters --check --bench --json --help");
    expect_refused(&by_eight, "-k 12", "-k 12: must be a multiple of 8, from 8 to 1073741824");
    expect_refused(&any, "--check --bench", "--check and --bench: only one of them; --bench checks before it times");
}

static void too_many_elements_are_refused(void)
{
    struct options o;
    CHECK_EQ(parse(&any, "-m 65536 -n 32768 -k 1", &o), PARSED_OK);
    CHECK_EQ(check_sizes(&any, &o), PARSED_BAD);
    CHECK_STR(o.message, "-m 65536 -n 32768: C would have 2147483648 elements; at most 2147483647 are allowed");
    CHECK_EQ(parse(&any, "-n 1073741824 -k 3", &o), PARSED_OK);
    CHECK_EQ(check_sizes(&any, &o), PARSED_BAD);
    CHECK_EQ(parse(&any, "-m 65536 -n 32767 -k 1", &o), PARSED_OK);
    CHECK_EQ(check_sizes(&any, &o), PARSED_OK);
}

static void missing_dimensions_take_the_default(void)
{
    struct options o;
    char text[48];
    parse(&any, "-n 5", &o);
    fill_shape(&any, &o, (struct shape){ 1, 2, 3 });
    CHECK_STR(shape_text(&any, o.shape, text), "1x5x3");
    parse(&vector, "", &o);
    fill_shape(&vector, &o, (struct shape){ 1, 2, 3 });
    CHECK_STR(shape_text(&vector, o.shape, text), "2");
}

TESTS({ right_answers_pass, "right answers pass, both ways of checking" },
      { one_wrong_element_is_rejected, "one wrong element is rejected, and named, wherever it is" },
      { a_nan_is_rejected, "one NaN or infinity is rejected" },
      { an_unwritten_element_is_rejected, "one element never written is rejected" },
      { minus_zero_is_zero, "minus zero is as good as zero" },
      { swapped_m_and_n_are_rejected, "a transposed result is rejected" },
      { a_missing_row_is_rejected, "a missing row is rejected" },
      { exchanged_elements_are_rejected, "errors that cancel are rejected" },
      { a_wrong_scale_is_rejected, "columns scaled wrongly, NaN and what is lost in scaling are rejected" },
      { one_wrong_group_is_named, "of several products the wrong one is named" },
      { a_wrong_vector_is_rejected, "a vector with a NaN or a last-bit error is rejected" },
      { stores_outside_the_output_are_found, "a store just outside the output is found" },
      { sums_stay_exact, "inputs keep every sum within 2048, at any k" },
      { a_sum_stays_exact, "numbers to be summed are whole, and so is every sum of them" },
      { halves_round_to_nearest_even, "fp16 conversion is right at every edge" },
      { normals_have_mean_0_and_variance_1, "normal inputs are normal" },
      { options_are_read, "options are read" },
      { numbers_are_read_strictly, "numbers are digits and nothing else" },
      { each_mistake_is_named, "each mistake has its message" },
      { too_many_elements_are_refused, "matrices that an int cannot count are refused" },
      { missing_dimensions_take_the_default, "dimensions not given take the default" })
