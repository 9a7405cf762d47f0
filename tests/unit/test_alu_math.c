/* test_alu_math: the approximate functions: special values as the ISA's tables have them, errors within its bounds. */
#include <math.h>

#include "lanes.h"

static float f32_of(uint64_t u) { uint32_t v = (uint32_t)u; float x; memcpy(&x, &v, 4); return x; }
static double f64_of(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }
static uint64_t bits_of(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static uint64_t bits_of_f64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }

/* ---------------------------------------------------------------- special values */

/* The rows of the ISA's tables, in codes. */
struct special { const char *text; uint64_t in, out; };

static void special_values(void)
{
    enum { INF = 0x7f800000, MINUS_INF = 0xff800000, NAN_ = 0x7fffffff, ONE = 0x3f800000, MINUS_0 = 0x80000000,
        TINY = 1, MINUS_TINY = 0x80000001 };
    static const struct special rows[] = {
        {"rcp.approx.f32 %r0, %r1;", MINUS_INF, MINUS_0}, {"rcp.approx.f32 %r0, %r1;", MINUS_0, MINUS_INF},
        {"rcp.approx.f32 %r0, %r1;", 0, INF},
        {"rcp.approx.f32 %r0, %r1;", INF, 0}, {"rcp.approx.f32 %r0, %r1;", 0x7f800001, NAN_},
        {"rcp.approx.ftz.f32 %r0, %r1;", MINUS_TINY, MINUS_INF},
        {"rcp.approx.f32 %r0, %r1;", 0x7f000000, 0x00400000}, {"rcp.approx.ftz.f32 %r0, %r1;", 0x7f000000, 0},
        {"rcp.approx.f32 %r0, %r1;", 0x00400000, 0x7f000000},
        {"sqrt.approx.f32 %r0, %r1;", MINUS_INF, NAN_}, {"sqrt.approx.f32 %r0, %r1;", 0xbf800000, NAN_},
        {"sqrt.approx.f32 %r0, %r1;", MINUS_0, MINUS_0},
        {"sqrt.approx.f32 %r0, %r1;", 0, 0}, {"sqrt.approx.f32 %r0, %r1;", INF, INF},
        {"sqrt.approx.ftz.f32 %r0, %r1;", TINY, 0},
        {"rsqrt.approx.f32 %r0, %r1;", MINUS_INF, NAN_}, {"rsqrt.approx.f32 %r0, %r1;", MINUS_0, MINUS_INF},
        {"rsqrt.approx.f32 %r0, %r1;", 0, INF},
        {"rsqrt.approx.f32 %r0, %r1;", INF, 0}, {"rsqrt.approx.f32 %r0, %r1;", 0xbf800000, NAN_},
        {"rsqrt.approx.ftz.f32 %r0, %r1;", TINY, INF},
        {"sin.approx.f32 %r0, %r1;", MINUS_INF, NAN_}, {"sin.approx.f32 %r0, %r1;", MINUS_0, MINUS_0},
        {"sin.approx.f32 %r0, %r1;", 0, 0}, {"sin.approx.f32 %r0, %r1;", INF, NAN_},
        {"cos.approx.f32 %r0, %r1;", MINUS_INF, NAN_}, {"cos.approx.f32 %r0, %r1;", MINUS_0, ONE},
        {"cos.approx.f32 %r0, %r1;", 0, ONE}, {"cos.approx.f32 %r0, %r1;", INF, NAN_},
        {"lg2.approx.f32 %r0, %r1;", MINUS_INF, NAN_}, {"lg2.approx.f32 %r0, %r1;", 0xbf800000, NAN_},
        {"lg2.approx.f32 %r0, %r1;", MINUS_0, MINUS_INF},
        {"lg2.approx.f32 %r0, %r1;", 0, MINUS_INF}, {"lg2.approx.f32 %r0, %r1;", INF, INF},
        {"lg2.approx.f32 %r0, %r1;", ONE, 0}, {"lg2.approx.ftz.f32 %r0, %r1;", TINY, MINUS_INF},
        {"lg2.approx.f32 %r0, %r1;", TINY, 0xc3150000},
        {"ex2.approx.f32 %r0, %r1;", MINUS_INF, 0}, {"ex2.approx.f32 %r0, %r1;", MINUS_0, ONE},
        {"ex2.approx.f32 %r0, %r1;", 0, ONE}, {"ex2.approx.f32 %r0, %r1;", INF, INF},
        {"ex2.approx.f32 %r0, %r1;", 0xffffffff, NAN_}, {"ex2.approx.f32 %r0, %r1;", 0x43000000, INF},
        {"ex2.approx.f32 %r0, %r1;", 0xc3150000, TINY}, {"ex2.approx.ftz.f32 %r0, %r1;", 0xc3000000, 0},
        {"tanh.approx.f32 %r0, %r1;", MINUS_INF, 0xbf800000}, {"tanh.approx.f32 %r0, %r1;", MINUS_0, MINUS_0},
        {"tanh.approx.f32 %r0, %r1;", 0, 0},
        {"tanh.approx.f32 %r0, %r1;", INF, ONE}, {"tanh.approx.f32 %r0, %r1;", TINY, TINY},
        {"tanh.approx.f32 %r0, %r1;", 0x7fc00000, NAN_},
        {"ex2.approx.f16 %h0, %h1;", 0xfc00, 0}, {"ex2.approx.f16 %h0, %h1;", 0x8000, 0x3c00},
        {"ex2.approx.f16 %h0, %h1;", 0x7c00, 0x7c00}, {"ex2.approx.f16 %h0, %h1;", 0x7e00, 0x7fff},
        {"ex2.approx.ftz.bf16 %h0, %h1;", 0xff80, 0}, {"ex2.approx.ftz.bf16 %h0, %h1;", 0x8001, 0x3f80},
        {"ex2.approx.ftz.bf16 %h0, %h1;", 0x7f80, 0x7f80},
        {"tanh.approx.f16 %h0, %h1;", 0xfc00, 0xbc00}, {"tanh.approx.bf16 %h0, %h1;", 0x7f80, 0x3f80},
        {"tanh.approx.f16 %h0, %h1;", 0x8001, 0x8001},
        {"rcp.approx.ftz.f64 %d0, %d1;", 0xfff0000000000000, 0x8000000000000000},
        {"rcp.approx.ftz.f64 %d0, %d1;", 0x8000000000000001, 0xfff0000000000000},
        {"rcp.approx.ftz.f64 %d0, %d1;", 0, 0x7ff0000000000000},
        {"rcp.approx.ftz.f64 %d0, %d1;", 0xfff8000000000001, 0x7fffffff00000000},
        {"rcp.approx.ftz.f64 %d0, %d1;", 0x4000000000000000, 0x3fe0000000000000},
        {"rsqrt.approx.ftz.f64 %d0, %d1;", 0xbff0000000000000, 0x7fffffff00000000},
        {"rsqrt.approx.ftz.f64 %d0, %d1;", 0x8000000000000001, 0xfff0000000000000},
        {"rsqrt.approx.ftz.f64 %d0, %d1;", 0x7ff0000000000000, 0},
        {"rsqrt.approx.f64 %d0, %d1;", 0x8000000000000000, 0xfff0000000000000},
        {"rsqrt.approx.f64 %d0, %d1;", 0xbff0000000000000, 0xfff8000000000000},
        {"rsqrt.approx.f64 %d0, %d1;", 0x4010000000000000, 0x3fe0000000000000}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct unit u = lanes_open(rows[k].text);
        CHECK(u.func);
        if (u.func) {
            const struct operand *d = &u.in->opnd[0], *a = &u.in->opnd[1];
            for (int i = 0; i < WARP; i++) lanes_set(&u, a->row, a->width, i, rows[k].in);
            u.in->exec(&u.warp, u.in, UINT32_MAX);
            if (lanes_get(&u, d->row, d->width, 7) != rows[k].out) printf("%s of %llx:\n", rows[k].text,
                (unsigned long long)rows[k].in);
            CHECK_EQ(lanes_get(&u, d->row, d->width, 7), rows[k].out);
        }
        lanes_close(&u);
    }
}

/* div.approx and div.full where the divisor is huge, zero or infinite. */
static void check_division(const char *text, uint64_t a, uint64_t b, uint64_t want)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    if (u.func) {
        for (int i = 0; i < WARP; i++) {
            lanes_set(&u, u.in->opnd[1].row, 4, i, a);
            lanes_set(&u, u.in->opnd[2].row, 4, i, b);
        }
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        CHECK_EQ(lanes_get(&u, u.in->opnd[0].row, 4, 0), want);
    }
    lanes_close(&u);
}
static void division_at_the_ends(void)
{
    const char *approx = "div.approx.f32 %r0, %r1, %r2;", *full = "div.full.f32 %r0, %r1, %r2;",
        *ftz = "div.approx.ftz.f32 %r0, %r1, %r2;";
    check_division(approx, 0x3f800000, 0x7f400000, 0);                  /* the reciprocal of 3 * 2^126 is flushed */
    check_division(approx, 0x7f800000, 0x7f400000, 0x7fffffff);         /* … and infinity times 0 is NaN */
    check_division(approx, 0xbf800000, 0x7f400000, 0x80000000);
    check_division(approx, 0x00400000, 0x00400000, 0x3f800000);
    check_division(ftz, 0x00400000, 0x00400000, 0x7fffffff);            /* 0 / 0 */
    check_division(full, 0x7f000000, 0x7f000000, 0x3f800000);
    check_division(full, 0x3f800000, 0, 0x7f800000);
    check_division(full, 0, 0, 0x7fffffff);
    check_division(full, 0x7f800000, 0x7f800000, 0x7fffffff);
    check_division(full, 0x3f800000, 0xff800000, 0x80000000);
}

/* ---------------------------------------------------------------- errors */

typedef double function(double a, double b);
static double f_rcp(double a, double b) { (void)b; return 1 / a; }
static double f_div(double a, double b) { return a / b; }
static double f_sqrt(double a, double b) { (void)b; return sqrt(a); }
static double f_rsqrt(double a, double b) { (void)b; return 1 / sqrt(a); }
static double f_sin(double a, double b) { (void)b; return sin(a); }
static double f_cos(double a, double b) { (void)b; return cos(a); }
static double f_lg2(double a, double b) { (void)b; return log2(a); }
static double f_ex2(double a, double b) { (void)b; return exp2(a); }
static double f_tanh(double a, double b) { (void)b; return tanh(a); }

static double uniform(double low, double high) { return low + (high - low) * (double)(lanes_random() >> 11) * 0x1p-53; }

/* The largest relative (or absolute) error over sources drawn from low to high, or exponents from there. */
struct bound { const char *text; function *f; double low, high; bool exponents, absolute; double most; };

static double drawn(const struct bound *b) { double x = uniform(b->low, b->high); return b->exponents ? exp2(x) : x; }

static void check_bound(const struct bound *b)
{
    struct unit u = lanes_open(b->text);
    CHECK(u.func);
    double worst = 0;
    for (int round = 0; u.func && round < 3000; round++) {
        bool wide = u.in->opnd[0].width == 8;
        double s[WARP][2];
        for (int i = 0; i < WARP; i++)
            for (int k = 0; k < u.in->nopnd - 1; k++) {
                double x = drawn(b);
                s[i][k] = wide ? x : (double)(float)x;
                lanes_set(&u, u.in->opnd[k + 1].row, u.in->opnd[k + 1].width, i, wide ? bits_of_f64(x) :
                    bits_of((float)x));
            }
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        for (int i = 0; i < WARP; i++) {
            uint64_t code = lanes_get(&u, u.in->opnd[0].row, u.in->opnd[0].width, i);
            double got = wide ? f64_of(code) : (double)f32_of(code), want = b->f(s[i][0], s[i][1]);
            double error = fabs(got - want) / (b->absolute ? 1 : fabs(want));
            if (!(error <= worst)) worst = error;
        }
    }
    if (!(worst <= b->most)) printf("%s: error %g, allowed %g\n", b->text, worst, b->most);
    CHECK(worst <= b->most);
    if (getenv("VERBOSE")) printf("%-40s 2^%.2f, allowed 2^%.2f\n", b->text, log2(worst), log2(b->most));
    lanes_close(&u);
}

static void errors_within_the_bounds(void)
{
    static const double ulp = 0x1p-23, pi = 3.14159265358979;
    const struct bound bounds[] = {
        {"rcp.approx.f32 %r0, %r1;", f_rcp, -125, 125, true, false, ulp},
        {"rcp.approx.ftz.f32 %r0, %r1;", f_rcp, -125, 125, true, false, ulp},
        {"div.approx.f32 %r0, %r1, %r2;", f_div, -60, 60, true, false, 2 * ulp},
        {"div.full.f32 %r0, %r1, %r2;", f_div, -62, 62, true, false, 2 * ulp},
        {"sqrt.approx.f32 %r0, %r1;", f_sqrt, -148, 127, true, false, ulp},
        {"rsqrt.approx.f32 %r0, %r1;", f_rsqrt, -148, 127, true, false, 0x1.2p-23},
        {"sin.approx.f32 %r0, %r1;", f_sin, -2 * pi, 2 * pi, false, true, 0x1.6ap-21},
        {"cos.approx.f32 %r0, %r1;", f_cos, -2 * pi, 2 * pi, false, true, 0x1.6ap-21},
        {"sin.approx.f32 %r0, %r1;", f_sin, -100 * pi, 100 * pi, false, true, 0x1.3bp-15},
        {"cos.approx.ftz.f32 %r0, %r1;", f_cos, -100 * pi, 100 * pi, false, true, 0x1.3bp-15},
        {"lg2.approx.f32 %r0, %r1;", f_lg2, 0.5, 2, false, true, 0x1p-22},
        {"lg2.approx.f32 %r0, %r1;", f_lg2, 1, 127, true, false, 0x1p-22},
        {"lg2.approx.f32 %r0, %r1;", f_lg2, -149, -1, true, false, 0x1p-22},
        {"ex2.approx.f32 %r0, %r1;", f_ex2, -126, 127.9, false, false, 2 * ulp},
        {"ex2.approx.ftz.f32 %r0, %r1;", f_ex2, -126, 127.9, false, false, 2 * ulp},
        {"tanh.approx.f32 %r0, %r1;", f_tanh, -10, 10, false, false, 0x1p-11},
        {"tanh.approx.f32 %r0, %r1;", f_tanh, -140, 3, true, false, 0x1p-11},
        {"rsqrt.approx.f64 %d0, %d1;", f_rsqrt, -1000, 1000, true, false, 0x1p-51},
        {"rcp.approx.ftz.f64 %d0, %d1;", f_rcp, -1000, 1000, true, false, 0x1p-19},
        {"rsqrt.approx.ftz.f64 %d0, %d1;", f_rsqrt, -1000, 1000, true, false, 0x1p-19}};
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) check_bound(&bounds[k]);
}

/* f16 and bf16, every finite source. */
static double half_value(uint64_t c, bool bf16)
{
    int mantissa = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, e = (int)(c & 0x7fff) >> mantissa;
    double m = (double)(c & ((1u << mantissa) - 1)), v = e ? ldexp(m + (1 << mantissa), e - bias - mantissa) :
        ldexp(m, 1 - bias - mantissa);
    return c & 0x8000 ? -v : v;
}
static void check_half_function(const char *text, function *f, bool bf16, bool absolute, double most)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    double worst = 0;
    for (uint32_t base = 0; u.func && base < 65536; base += WARP) {
        for (int i = 0; i < WARP; i++) lanes_set(&u, u.in->opnd[1].row, 2, i, base + (uint32_t)i);
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        for (int i = 0; i < WARP; i++) {
            uint64_t c = base + (uint32_t)i, infinite = bf16 ? 0x7f80 : 0x7c00;
            if ((c & 0x7fff) >= infinite) continue;
            uint64_t code = lanes_get(&u, u.in->opnd[0].row, 2, i);
            double want = f(half_value(c, bf16), 0), got = half_value(code, bf16), least_normal = bf16 ? 0x1p-126 :
                0x1p-14;
            if ((code & 0x7fff) == infinite || want < least_normal) continue;
            double error = fabs(got - want) / (absolute ? 1 : fabs(want));
            if (!(error <= worst)) worst = error;
        }
    }
    CHECK(worst <= most);
    lanes_close(&u);
}
static void half_functions_within_the_bounds(void)
{
    check_half_function("ex2.approx.f16 %h0, %h1;", f_ex2, false, false, exp2(-9.9));
    check_half_function("ex2.approx.ftz.bf16 %h0, %h1;", f_ex2, true, false, 0x1p-7);
    check_half_function("tanh.approx.f16 %h0, %h1;", f_tanh, false, true, exp2(-10.987));
    check_half_function("tanh.approx.bf16 %h0, %h1;", f_tanh, true, true, 0x1p-8);
}

TESTS(
    {special_values, "special values"},
    {division_at_the_ends, "division at the ends of the range"},
    {errors_within_the_bounds, "errors within the bounds"},
    {half_functions_within_the_bounds, "functions of halves within the bounds"})
