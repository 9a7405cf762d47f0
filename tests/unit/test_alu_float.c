/* test_alu_float: floating-point arithmetic of every type against exact sums and products rounded by search
 * (exact.h), division and roots against the host's in each rounding direction. Approximations: test_alu_math.c. */
#include <fenv.h>

#include "exact.h"
#include "lanes.h"

/* What the current case asks of the reference. */
static struct { const struct layout *f; char op; enum direction dir; bool ftz, sat, relu; int parts; } now;

static uint64_t flushed(uint64_t c) { return is_subnormal_code(now.f, c) ? c & sign_of(now.f) : c; }

/* The NaN of f64: the first among the sources in that order, made quiet. */
static uint64_t nan_from(const uint64_t *s, const char *order)
{
    for (; *order && now.f == &F64; order++)
        if (is_nan_code(now.f, s[*order - 'a'])) return s[*order - 'a'] | 1ull << 51;
    return now.f->nan;
}

static uint64_t finish(uint64_t c)
{
    uint64_t one = (uint64_t)now.f->bias << now.f->mantissa;
    if (now.ftz) c = flushed(c);
    if (now.sat) return is_nan_code(now.f, c) || c & sign_of(now.f) ? 0 : c > one ? one : c;
    if (now.relu) return is_nan_code(now.f, c) ? now.f->nan : c & sign_of(now.f) ? 0 : c;
    return c;
}

static uint64_t one_part(const uint64_t *s)
{
    int n = now.op == '!' ? 3 : 2;
    uint64_t in[3];
    for (int i = 0; i < n; i++) in[i] = now.ftz ? flushed(s[i]) : s[i];
    uint64_t c = exact_arithmetic(now.f, now.op, in, now.dir);
    if (is_nan_code(now.f, c)) return finish(nan_from(in, n == 3 ? "bca" : "ba"));      /* as an H200 has it */
    return finish(now.ftz && exact_vanishes(now.f, now.op, in, now.dir) ? c & sign_of(now.f) : c);
}

/* One value, or the parts of a packed one. */
static uint64_t arithmetic(const uint64_t *s)
{
    uint64_t result = 0, mask = now.f->bits == 64 ? UINT64_MAX : (1ull << now.f->bits) - 1;
    for (int k = 0; k < now.parts; k++) {
        uint64_t in[3];
        for (int i = 0; i < 3; i++) in[i] = s[i] >> k * now.f->bits % 64 & mask;
        result |= one_part(in) << k * now.f->bits % 64;
    }
    return result;
}

struct form { const char *type, *modifiers; const struct layout *f; char reg; int parts; bool ftz, sat, relu; };

static void check_form(const struct form *form, const char *mnemonic, char op, const char *rnd, enum direction dir,
                       int rounds)
{
    char text[120];
    const char *third = op == '!' ? ", %%%c3" : "", *format = "%s%s%s.%s %%%c0, %%%c1, %%%c2";
    int n = snprintf(text, sizeof text, format, mnemonic, rnd, form->modifiers, form->type, form->reg, form->reg,
        form->reg);
    n += snprintf(text + n, sizeof text - (size_t)n, third, form->reg);
    snprintf(text + n, sizeof text - (size_t)n, ";");
    now.f = form->f, now.op = op, now.dir = dir, now.parts = form->parts;
    now.ftz = form->ftz, now.sat = form->sat, now.relu = form->relu;
    lanes_check(text, arithmetic, rounds);
}

static void check_all_ops(const struct form *form, const char *rnd, enum direction dir, int rounds)
{
    check_form(form, "add", '+', rnd, dir, rounds);
    check_form(form, "sub", '-', rnd, dir, rounds);
    check_form(form, "mul", '*', rnd, dir, rounds);
    check_form(form, "fma", '!', *rnd ? rnd : ".rn", dir, rounds);
}

static void f32_and_f64_in_every_rounding(void)
{
    static const struct form forms[] = {
        {"f32", "", &F32, 'r', 1, false, false, false}, {"f32", ".ftz", &F32, 'r', 1, true, false, false},
        {"f32", ".sat", &F32, 'r', 1, false, true, false}, {"f32", ".ftz.sat", &F32, 'r', 1, true, true, false},
        {"f64", "", &F64, 'd', 1, false, false, false},
        {"f32x2", "", &F32, 'd', 2, false, false, false}, {"f32x2", ".ftz", &F32, 'd', 2, true, false, false}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        check_all_ops(&forms[i], "", NEAREST, 20);
        check_all_ops(&forms[i], ".rn", NEAREST, 6);
        check_all_ops(&forms[i], ".rz", TO_ZERO, 12);
        check_all_ops(&forms[i], ".rm", DOWN, 12);
        check_all_ops(&forms[i], ".rp", UP, 12);
    }
    check_form(&forms[0], "mad", '!', ".rn", NEAREST, 10);
}

static void f16_and_bf16(void)
{
    static const struct form forms[] = {
        {"f16", "", &F16, 'h', 1, false, false, false}, {"f16x2", "", &F16, 'r', 2, false, false, false},
        {"f16", ".ftz", &F16, 'h', 1, true, false, false}, {"f16x2", ".sat", &F16, 'r', 2, false, true, false},
        {"f16", ".ftz.sat", &F16, 'h', 1, true, true, false},
        {"bf16", "", &BF16, 'h', 1, false, false, false}, {"bf16x2", "", &BF16, 'r', 2, false, false, false}};
    static const struct form relu[] = {
        {"f16", ".relu", &F16, 'h', 1, false, false, true}, {"f16x2", ".ftz.relu", &F16, 'r', 2, true, false, true},
        {"bf16x2", ".relu", &BF16, 'r', 2, false, false, true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) check_all_ops(&forms[i], "", NEAREST, 150);
    for (size_t i = 0; i < sizeof relu / sizeof *relu; i++) check_form(&relu[i], "fma", '!', ".rn", NEAREST, 60);
    lanes_refuses("add.sat.bf16 %h0, %h1, %h2;");
    lanes_refuses("add.rz.f16 %h0, %h1, %h2;");
}

/* .oob: an operand with the code of what lies outside a tensor gives +0. */
static uint64_t oob_part(const uint64_t *s)
{
    for (int i = 0; i < 3; i++)
        if (s[i] == 0x7ff7) return 0;
    return one_part(s);
}
static void outside_a_tensor(void)
{
    static const char *const texts[] = {"fma.rn.oob.f16 %h0, %h1, %h2, %h3;", "fma.rn.oob.relu.bf16 %h0, %h1, %h2, %h3;"};
    for (int k = 0; k < 2; k++) {
        struct unit u = lanes_open(texts[k]);
        CHECK(u.func);
        now.f = k ? &BF16 : &F16, now.op = '!', now.dir = NEAREST, now.ftz = now.sat = false, now.relu = k, now.parts = 1;
        for (int round = 0; u.func && round < 50; round++) {
            struct lanes_rows src = lanes_sources(u.in);
            uint64_t s[WARP][3];
            for (int i = 0; i < WARP; i++)
                for (int j = 0; j < 3; j++) {
                    s[i][j] = lanes_random() % 4 ? lanes_value(2) & 0xffff : 0x7ff7;
                    lanes_set(&u, src.row[j], 2, i, s[i][j]);
                }
            u.in->exec(&u.warp, u.in, UINT32_MAX);
            for (int i = 0; i < WARP; i++) CHECK_EQ(lanes_get(&u, u.in->opnd[0].row, 2, i), oob_part(s[i]));
        }
        lanes_close(&u);
    }
    now.relu = false;
}

/* All 65536 values against some: every f16 and bf16 as a factor. */
static void check_every_half(const char *text, const struct layout *f, char op)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    now.f = f, now.op = op, now.dir = NEAREST, now.ftz = now.sat = now.relu = false, now.parts = 1;
    for (uint32_t base = 0; u.func && base < 65536; base += WARP) {
        struct lanes_rows src = lanes_sources(u.in);
        uint64_t s[WARP][3] = {{0}};
        for (int i = 0; i < WARP; i++)
            for (int k = 0; k < src.n; k++)
                lanes_set(&u, src.row[k], 2, i, s[i][k] = k == 0 ? base + (uint32_t)i : lanes_random() & 0xffff);
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        for (int i = 0; i < WARP; i++) CHECK_EQ(lanes_get(&u, u.in->opnd[0].row, 2, i), one_part(s[i]));
    }
    lanes_close(&u);
}
static void every_half_value(void)
{
    check_every_half("mul.f16 %h0, %h1, %h2;", &F16, '*');
    check_every_half("add.bf16 %h0, %h1, %h2;", &BF16, '+');
    check_every_half("fma.rn.f16 %h0, %h1, %h2, %h3;", &F16, '!');
    check_every_half("fma.rn.bf16 %h0, %h1, %h2, %h3;", &BF16, '!');
}

/* f16 or bf16 sources widened to f32. */
static uint64_t widened(const struct layout *f, uint64_t c)
{
    return is_nan_code(f, c) ? F32.nan : round_exact(&F32, (struct exact){value_of(f, c), 0}, NEAREST, false);
}
static const struct layout *narrow;
static uint64_t mixed(const uint64_t *s)
{
    uint64_t in[3] = {widened(narrow, s[0]), now.op == '!' ? widened(narrow, s[1]) : s[1], s[2]};
    return one_part(in);
}
static void mixed_precision(void)
{
    static const struct { const char *text; const struct layout *narrow; char op; enum direction dir;
                          bool sat; } cases[] = {
        {"add.f32.f16 %r0, %h1, %r2;", &F16, '+', NEAREST, false},
        {"add.rz.f32.bf16 %r0, %h1, %r2;", &BF16, '+', TO_ZERO, false},
        {"sub.rp.sat.f32.f16 %r0, %h1, %r2;", &F16, '-', UP, true},
        {"fma.rn.f32.bf16 %r0, %h1, %h2, %r3;", &BF16, '!', NEAREST, false},
        {"fma.rm.f32.f16 %r0, %h1, %h2, %r3;", &F16, '!', DOWN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        narrow = cases[i].narrow, now.f = &F32, now.op = cases[i].op, now.dir = cases[i].dir, now.sat = cases[i].sat;
        now.ftz = now.relu = false;
        lanes_check(cases[i].text, mixed, 40);
    }
}

/* ---------------------------------------------------------------- min and max */

static struct { const struct layout *f; bool max, nan, xorsign, abs, ftz; int parts, sources; } mm;
static uint64_t best(uint64_t a, uint64_t b)
{
    bool an = is_nan_code(mm.f, a), bn = is_nan_code(mm.f, b);
    if (mm.nan ? an || bn : an && bn) return mm.f == &F64 ? b | 1ull << 51 : mm.f->nan;
    if (an || bn) return an ? b : a;
    quad x = value_of(mm.f, a), y = value_of(mm.f, b);
    bool a_less = x < y || (x == y && a & sign_of(mm.f));
    return a_less != mm.max ? a : b;
}
static uint64_t best_modified(uint64_t a, uint64_t b)
{
    now.f = mm.f;
    if (mm.ftz) a = flushed(a), b = flushed(b);
    uint64_t sign = (a ^ b) & sign_of(mm.f);
    if (mm.abs) a &= ~sign_of(mm.f), b &= ~sign_of(mm.f);
    uint64_t d = best(a, b);
    return mm.xorsign && !is_nan_code(mm.f, d) ? d | sign : d;
}
static uint64_t minmax(const uint64_t *s)
{
    uint64_t result = 0, mask = mm.f->bits == 64 ? UINT64_MAX : (1ull << mm.f->bits) - 1;
    for (int k = 0; k < mm.parts; k++) {
        int at = k * mm.f->bits % 64;
        uint64_t d = best_modified(s[0] >> at & mask, s[1] >> at & mask);
        result |= (mm.sources == 3 ? best_modified(d, s[2] >> at & mask) : d) << at;
    }
    return result;
}
static void minima_and_maxima(void)
{
    static const struct { const char *type; const struct layout *f; char reg; int parts; } types[] = {
        {"f32", &F32, 'r', 1}, {"f64", &F64, 'd', 1}, {"f16", &F16, 'h', 1}, {"f16x2", &F16, 'r', 2},
        {"bf16", &BF16, 'h', 1}, {"bf16x2", &BF16, 'r', 2}};
    for (int t = 0; t < 6; t++)
        for (int m = 0; m < 16; m++) {
            bool max = m & 1, nan = m & 2, both = m & 4, ftz = m & 8;
            if ((t == 1 && m > 1) || (ftz && t >= 4)) continue;
            char text[120];
            snprintf(text, sizeof text, "%s%s%s%s.%s %%%c0, %%%c1, %%%c2;", max ? "max" : "min", ftz ? ".ftz" : "",
                nan ? ".NaN" : "",
                     both ? ".xorsign.abs" : "", types[t].type, types[t].reg, types[t].reg, types[t].reg);
            mm.f = types[t].f, mm.max = max, mm.nan = nan, mm.xorsign = mm.abs = both, mm.ftz = ftz,
                mm.parts = types[t].parts, mm.sources = 2;
            lanes_check(text, minmax, 40);
        }
    mm.f = &F32, mm.max = true, mm.nan = true, mm.xorsign = false, mm.abs = true, mm.ftz = false, mm.parts = 1,
        mm.sources = 3;
    lanes_check("max.NaN.abs.f32 %r0, %r1, %r2, %r3;", minmax, 40);
    mm.max = mm.nan = mm.abs = false, mm.ftz = true;
    lanes_check("min.ftz.f32 %r0, %r1, %r2, %r3;", minmax, 40);
}

/* ---------------------------------------------------------------- division and roots: the host's, rounded its way */

static const int host_rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static double f64_of(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }
static float f32_of(uint64_t u) { uint32_t v = (uint32_t)u; float x; memcpy(&x, &v, 4); return x; }
static uint64_t bits_of_f64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static uint64_t bits_of_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }

static uint64_t host(const uint64_t *s, bool wide)
{
    uint64_t in[2] = {now.ftz ? flushed(s[0]) : s[0], now.ftz ? flushed(s[1]) : s[1]};
    volatile double a = f64_of(in[0]), b = f64_of(in[1]), d;
    volatile float x = f32_of(in[0]), y = f32_of(in[1]), z;
    fesetround(host_rounding[now.dir]);
    d = now.op == '/' ? a / b : now.op == '1' ? 1.0 / a : sqrt(a);
    z = now.op == '/' ? x / y : now.op == '1' ? 1.0f / x : sqrtf(x);
    fesetround(FE_TONEAREST);
    uint64_t c = wide ? bits_of_f64(d) : bits_of_f32(z);
    return finish(is_nan_code(now.f, c) ? nan_from(in, now.op == '/' ? "ab" : "a") : c);
}
static uint64_t host_f32(const uint64_t *s) { return host(s, false); }
static uint64_t host_f64(const uint64_t *s) { return host(s, true); }

static void division_and_roots_are_exact(void)
{
    static const char *const rnd[] = {".rn", ".rz", ".rm", ".rp"};
    static const struct { const char *name, *third; char op; } ops[] = {{"div", ", %c2", '/'}, {"rcp", "", '1'},
        {"sqrt", "", 'q'}};
    now.sat = now.relu = false;
    for (int o = 0; o < 3; o++)
        for (int r = 0; r < 4; r++)
            for (int form = 0; form < 3; form++) {
                char text[120];
                bool wide = form == 2;
                now.op = ops[o].op, now.dir = (enum direction)r, now.f = wide ? &F64 : &F32, now.ftz = form == 1;
                snprintf(text, sizeof text, "%s%s%s.%s %%%c0, %%%c1%s%s;", ops[o].name, rnd[r], form == 1 ? ".ftz" :
                    "", wide ? "f64" : "f32",
                         wide ? 'd' : 'r', wide ? 'd' : 'r', o ? "" : ", %", o ? "" : wide ? "d2" : "r2");
                lanes_check(text, wide ? host_f64 : host_f32, 40);
            }
}

/* ---------------------------------------------------------------- signs and kinds */

static uint64_t neg_f32(const uint64_t *s) { return is_nan_code(&F32, s[0]) ? F32.nan : s[0] ^ sign_of(&F32); }
static uint64_t abs_f32(const uint64_t *s) { return is_nan_code(&F32, s[0]) ? F32.nan : s[0] & ~sign_of(&F32); }
static uint64_t abs_ftz(const uint64_t *s) { now.f = &F32; uint64_t c = flushed(s[0]); return abs_f32(&c); }
static uint64_t neg_f64(const uint64_t *s) { return is_nan_code(&F64, s[0]) ? s[0] | 1ull << 51 : s[0] ^ sign_of(&F64); }
static uint64_t neg_f16(const uint64_t *s) { return is_nan_code(&F16, s[0]) ? F16.nan : s[0] ^ 0x8000; }
static uint64_t abs_bf16x2(const uint64_t *s)
{
    uint64_t low = s[0] & 0xffff, high = s[0] >> 16;
    low = is_nan_code(&BF16, low) ? BF16.nan : low & 0x7fff, high = is_nan_code(&BF16, high) ? BF16.nan : high & 0x7fff;
    return high << 16 | low;
}
static uint64_t copysign_f32(const uint64_t *s) { return (s[0] & 0x80000000) | (s[1] & 0x7fffffff); }
static uint64_t copysign_f64(const uint64_t *s) { return (s[0] >> 63 << 63) | s[1] << 1 >> 1; }
static uint64_t finite(const uint64_t *s) { return isfinite(f32_of(s[0])); }
static uint64_t infinite(const uint64_t *s) { return isinf(f64_of(s[0])) != 0; }
static uint64_t number(const uint64_t *s) { return !isnan(f32_of(s[0])); }
static uint64_t notanumber(const uint64_t *s) { return isnan(f64_of(s[0])); }
static uint64_t normal(const uint64_t *s) { return isnormal(f32_of(s[0])) || f32_of(s[0]) == 0; }
static uint64_t subnormal(const uint64_t *s) { return fpclassify(f64_of(s[0])) == FP_SUBNORMAL; }

static void signs_and_kinds(void)
{
    static const struct lanes_case cases[] = {
        {"neg.f32 %r0, %r1;", neg_f32}, {"abs.f32 %r0, %r1;", abs_f32}, {"abs.ftz.f32 %r0, %r1;", abs_ftz},
        {"neg.f64 %d0, %d1;", neg_f64},
        {"neg.f16 %h0, %h1;", neg_f16}, {"abs.bf16x2 %r0, %r1;", abs_bf16x2},
        {"copysign.f32 %r0, %r1, %r2;", copysign_f32}, {"copysign.f64 %d0, %d1, %d2;", copysign_f64},
        {"testp.finite.f32 %p0, %r1;", finite}, {"testp.infinite.f64 %p0, %d1;", infinite},
        {"testp.number.f32 %p0, %r1;", number},
        {"testp.notanumber.f64 %p0, %d1;", notanumber}, {"testp.normal.f32 %p0, %r1;", normal},
        {"testp.subnormal.f64 %p0, %d1;", subnormal}};
    LANES_CHECK_ALL(cases);
}

/* ---------------------------------------------------------------- halves compared */

static const struct layout *cmp_layout;
static bool less_or_unordered(uint64_t a, uint64_t b)
{
    if (is_nan_code(cmp_layout, a) || is_nan_code(cmp_layout, b)) return true;
    return value_of(cmp_layout, a) < value_of(cmp_layout, b);
}
static uint64_t ltu_low(const uint64_t *s) { return less_or_unordered(s[0] & 0xffff, s[1] & 0xffff); }
static uint64_t ltu_low_and(const uint64_t *s) { return ltu_low(s) && s[2]; }
static uint64_t ltu_high(const uint64_t *s) { return less_or_unordered(s[0] >> 16 & 0xffff, s[1] >> 16 & 0xffff); }
static uint64_t ltu_ones(const uint64_t *s) { return ltu_low(s) * 0xffff | ltu_high(s) * 0xffff0000; }
static uint64_t ltu_f16x2(const uint64_t *s) { return ltu_low(s) * 0x3c00 | ltu_high(s) * 0x3c000000; }
static uint64_t ltu_bf16x2(const uint64_t *s) { return ltu_low(s) * 0x3f80 | ltu_high(s) * 0x3f800000; }
static uint64_t ltu_u16(const uint64_t *s) { return ltu_low(s) * 0xffff; }
static uint64_t ltu_s32(const uint64_t *s) { return ltu_low(s) * 0xffffffff; }
static uint64_t lt_s32_as_bf16(const uint64_t *s) { return (int32_t)s[0] < (int32_t)s[1] ? 0x3f80 : 0; }

/* The second predicate is the upper half's. */
static void check_upper_predicate(const char *text)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    for (int round = 0; u.func && round < 40; round++) {
        struct lanes_rows src = lanes_sources(u.in);
        uint64_t s[WARP][LANES_MAX_SOURCES];
        for (int i = 0; i < WARP; i++)
            for (int k = 0; k < src.n; k++) lanes_set(&u, src.row[k], src.width[k], i,
                s[i][k] = lanes_value(src.width[k]) & 0xffffffff);
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        for (int i = 0; i < WARP; i++) {
            CHECK_EQ(lanes_get(&u, u.in->opnd[0].row, 0, i), ltu_low(s[i]));
            CHECK_EQ(lanes_get(&u, u.in->opnd[0].pair_row, 0, i), ltu_high(s[i]));
        }
    }
    lanes_close(&u);
}

static void halves_are_compared(void)
{
    static const struct lanes_case f16[] = {
        {"setp.ltu.f16 %p0, %h1, %h2;", ltu_low}, {"setp.ltu.and.f16x2 %p0|%p2, %r1, %r2, %p1;", ltu_low_and},
        {"set.ltu.u32.f16x2 %r0, %r1, %r2;", ltu_ones}, {"set.ltu.f16x2.f16x2 %r0, %r1, %r2;", ltu_f16x2},
        {"set.ltu.u16.f16 %h0, %h1, %h2;", ltu_u16}, {"set.ltu.s32.f16 %r0, %h1, %h2;", ltu_s32}};
    static const struct lanes_case bf16[] = {
        {"setp.ltu.bf16 %p0, %h1, %h2;", ltu_low}, {"set.ltu.u32.bf16x2 %r0, %r1, %r2;", ltu_ones},
        {"set.ltu.bf16x2.bf16x2 %r0, %r1, %r2;", ltu_bf16x2}, {"set.lt.bf16.s32 %h0, %r1, %r2;", lt_s32_as_bf16}};
    cmp_layout = &F16;
    LANES_CHECK_ALL(f16);
    check_upper_predicate("setp.ltu.f16x2 %p0|%p2, %r1, %r2;");
    cmp_layout = &BF16;
    LANES_CHECK_ALL(bf16);
    check_upper_predicate("setp.ltu.bf16x2 %p0|%p2, %r1, %r2;");
    lanes_refuses("set.ltu.f16x2.bf16x2 %r0, %r1, %r2;");
    lanes_refuses("setp.ltu.ftz.bf16 %p0, %h1, %h2;");
}

TESTS(
    {f32_and_f64_in_every_rounding, "f32 and f64 in every rounding"},
    {f16_and_bf16, "f16 and bf16"},
    {outside_a_tensor, "outside a tensor"},
    {every_half_value, "every f16 and bf16 value"},
    {mixed_precision, "mixed precision"},
    {minima_and_maxima, "minima and maxima"},
    {division_and_roots_are_exact, "division and roots are exact"},
    {signs_and_kinds, "signs and kinds"},
    {halves_are_compared, "halves are compared"})
