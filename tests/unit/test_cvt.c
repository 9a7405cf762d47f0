/* test_cvt: cvt between every two types in every rounding, packed conversions and cvt.pack, against values rounded by
 * search (exact.h) and integers of 128 bits. */
#include "exact.h"
#include "lanes.h"

typedef __int128 wide;

struct kind { const char *name; char reg; int bits; bool is_int, is_signed; const struct layout *f; };
enum { INTS = 8, KINDS = 12 };
static const struct kind kinds[KINDS] = {
    {"u8", 'h', 8, true, false, NULL}, {"s8", 'h', 8, true, true, NULL}, {"u16", 'h', 16, true, false, NULL},
    {"s16", 'h', 16, true, true, NULL},
    {"u32", 'r', 32, true, false, NULL}, {"s32", 'r', 32, true, true, NULL}, {"u64", 'd', 64, true, false, NULL},
    {"s64", 'd', 64, true, true, NULL},
    {"f16", 'h', 16, false, true, &F16}, {"bf16", 'h', 16, false, true, &BF16}, {"f32", 'r', 32, false, true, &F32},
    {"f64", 'd', 64, false, true, &F64}};

/* What the current case asks of the reference. */
static struct { const struct kind *to, *from; enum direction dir; bool integral, sat, ftz, relu, satfinite; } now;

static uint64_t mask_of(int bits) { return bits == 64 ? UINT64_MAX : (1ull << bits) - 1; }
static wide int_of(const struct kind *k, uint64_t code)
{
    wide v = code & mask_of(k->bits);
    return k->is_signed && v >> (k->bits - 1) ? v - ((wide)1 << k->bits) : v;
}
static wide most(const struct kind *k) { return ((wide)1 << (k->bits - k->is_signed)) - 1; }
static wide least(const struct kind *k) { return k->is_signed ? -most(k) - 1 : 0; }
static wide held(const struct kind *k, wide v) { return v < least(k) ? least(k) : v > most(k) ? most(k) : v; }

/* Rounding to an integer: floor is exact, the rest follows from what is left over. */
static quad floor_of(quad x)
{
    quad limit = (quad)0x1p113, magnitude = x < 0 ? -x : x;
    if (magnitude >= limit) return x;
    quad whole = 0;
    for (int e = 112; e >= 0; e--)
        if (whole + power_of_two(e) <= magnitude) whole += power_of_two(e);
    return x >= 0 ? whole : whole == magnitude ? -whole : -whole - 1;
}
static quad integral(quad x, enum direction dir)
{
    quad down = floor_of(x), rest = x - down, up = rest > 0 ? down + 1 : down;
    bool odd = floor_of(down / 2) * 2 != down;
    switch (dir) {
    case TO_ZERO: return x < 0 ? up : down;
    case DOWN: return down;
    case UP: return up;
    default: return rest > (quad)0.5 || (rest == (quad)0.5 && odd) ? up : down;
    }
}

static uint64_t to_int(quad x)
{
    quad v = integral(x, now.dir), top = (quad)most(now.to), bottom = (quad)least(now.to);
    return (uint64_t)(v > top ? most(now.to) : v < bottom ? least(now.to) : (wide)v);
}

static uint64_t saturated(const struct layout *f, uint64_t c)
{
    uint64_t one = (uint64_t)f->bias << f->mantissa;
    return is_nan_code(f, c) || c & sign_of(f) ? 0 : c > one ? one : c;
}
static uint64_t flushed(uint64_t c) { return is_subnormal_code(&F32, c) ? c & sign_of(&F32) : c; }

static uint64_t nan_result(uint64_t code)
{
    bool wide_part = now.from->f == &F64 || now.to->bits == 64;
    if (now.to->is_int) return wide_part ? (uint64_t)int_of(now.to, 1ull << (now.to->bits - 1)) : 0;
    if (now.sat) return 0;
    if (now.to->f != &F64 && now.from->f != &F64) return now.to->f->nan;
    /* To and from f64 it keeps sign and payload, except under .ftz (tests/golden/conversions.txt). */
    const struct layout *t = now.to->f, *f = now.from->f;
    if (f == &F32 && now.ftz) code = F32.nan;
    uint64_t payload = (code & ((1ull << f->mantissa) - 1)) << (52 - f->mantissa) >> (52 - t->mantissa);
    uint64_t quiet = all_ones_exponent(t) | 1ull << (t->mantissa - 1);
    return (code & sign_of(f) ? sign_of(t) : 0) | quiet | payload;
}

static uint64_t to_float(quad x, bool negative_zero)
{
    const struct layout *f = now.to->f;
    quad v = now.integral ? integral(x, now.dir) : x;
    if (v == 0 && (x < 0 || negative_zero)) v = -(quad)0;
    uint64_t c = round_exact(f, (struct exact){v, 0}, now.dir, now.satfinite);
    if (f == &F32 && now.ftz) c = flushed(c);
    if (now.relu && c & sign_of(f)) c = 0;
    return now.sat ? saturated(f, c) : c;
}

/* The whole of cvt. */
static uint64_t converted(const uint64_t *s)
{
    const struct kind *to = now.to, *from = now.from;
    uint64_t code = s[0] & mask_of(from->bits);
    if (from->is_int && to->is_int) {
        wide v = int_of(from, code);
        return (uint64_t)int_of(to, (uint64_t)(now.sat ? held(to, v) : v));     /* cut to the type, then extended */
    }
    if (from->is_int) return to_float((quad)int_of(from, code), false);
    if (from->f == &F32 && to->f != &F16 && now.ftz) code = flushed(code);     /* the chip does not on the way to f16 */
    if (is_nan_code(from->f, code)) return nan_result(code);
    quad x = value_of(from->f, code);
    return to->is_int ? to_int(x) : to_float(x, code & sign_of(from->f));
}

static void run_case(const char *modifiers, char to_reg, char from_reg, int rounds)
{
    char text[120];
    snprintf(text, sizeof text, "cvt%s.%s.%s %%%c0, %%%c1;", modifiers, now.to->name, now.from->name, to_reg, from_reg);
    lanes_check(text, converted, rounds);
}

static const char *const float_rounding[] = {".rn", ".rz", ".rm", ".rp"}, *const int_rounding[] = {".rni", ".rzi",
    ".rmi", ".rpi"};

static void between_all_types(void)
{
    for (int t = 0; t < KINDS; t++)
        for (int a = 0; a < KINDS; a++)
            for (int r = 0; r < 4; r++) {
                bool both_ints = t < INTS && a < INTS;
                memset(&now, 0, sizeof now);
                now.to = &kinds[t], now.from = &kinds[a], now.dir = (enum direction)r;
                if ((both_ints && r) || (t == a && t >= INTS)) continue;
                const char *rnd = both_ints ? "" : t < INTS ? int_rounding[r] : float_rounding[r];
                /* Widening floats takes no rounding modifier. */
                bool exact = t >= INTS && a >= INTS && kinds[t].bits > kinds[a].bits;
                if (exact && r) continue;
                if (kinds[t].f == &F32 && kinds[a].f == &BF16) continue;        /* a shift: below */
                run_case(exact ? "" : rnd, kinds[t].reg, kinds[a].reg, 24);
            }
}

static void wider_registers_extend(void)
{
    for (int t = 0; t < INTS; t++)
        for (int a = 0; a < INTS; a++)
            for (int shape = 0; shape < 3; shape++)
                for (int sat = 0; sat < 2; sat++) {
                    memset(&now, 0, sizeof now);
                    now.to = &kinds[t], now.from = &kinds[a], now.sat = sat;
                    char to_reg = shape == 1 ? kinds[t].reg : kinds[t].bits < 32 ? 'r' : 'd',
                        from_reg = shape == 0 ? kinds[a].reg : kinds[a].bits < 32 ? 'r' : 'd';
                    run_case(sat ? ".sat" : "", to_reg, from_reg, 12);
                }
    memset(&now, 0, sizeof now);
    now.to = &kinds[1], now.from = &kinds[10], now.dir = TO_ZERO;           /* s8 from f32, into 32 bits */
    run_case(".rzi", 'r', 'r', 30);
    now.to = &kinds[0], now.from = &kinds[9];
    run_case(".rzi", 'r', 'h', 30);
}

static void integral_values(void)
{
    for (int k = INTS; k < KINDS; k++)
        for (int r = 0; r < 4; r++) {
            memset(&now, 0, sizeof now);
            now.to = now.from = &kinds[k], now.dir = (enum direction)r, now.integral = true;
            run_case(int_rounding[r], kinds[k].reg, kinds[k].reg, 40);
            now.sat = true;
            char both[16];
            snprintf(both, sizeof both, "%s.sat", int_rounding[r]);
            if (kinds[k].f != &BF16) run_case(both, kinds[k].reg, kinds[k].reg, 20);
        }
}

static void flushing_and_saturation(void)
{
    static const struct { const char *modifiers; int to, from; enum direction dir; bool sat, ftz, relu, satfinite;
        } cases[] = {
        {".ftz", 10, 10, NEAREST, false, true, false, false}, {".sat", 10, 10, NEAREST, true, false, false, false},
        {".ftz.sat", 10, 10, NEAREST, true, true, false, false},
        {".sat", 11, 11, NEAREST, true, false, false, false}, {".sat", 8, 8, NEAREST, true, false, false, false},
        {".ftz", 11, 10, NEAREST, false, true, false, false},
        {".rn.ftz", 10, 11, NEAREST, false, true, false, false},
        {".rn.sat", 10, 11, NEAREST, true, false, false, false}, {".rn.ftz", 8, 10, NEAREST, false, true, false, false},
        {".rn.sat", 8, 10, NEAREST, true, false, false, false}, {".sat", 10, 8, NEAREST, true, false, false, false},
        {".rn.sat", 10, 5, NEAREST, true, false, false, false},
        {".rp.ftz", 10, 11, UP, false, true, false, false}, {".rzi.ftz", 5, 10, TO_ZERO, false, true, false, false},
        {".rpi.ftz", 6, 10, UP, false, true, false, false},
        {".rn.relu", 8, 10, NEAREST, false, false, true, false},
        {".rz.relu", 9, 10, TO_ZERO, false, false, true, false},
        {".rn.satfinite", 8, 10, NEAREST, false, false, false, true},
        {".rz.relu.satfinite", 9, 10, TO_ZERO, false, false, true, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memset(&now, 0, sizeof now);
        now.to = &kinds[cases[k].to], now.from = &kinds[cases[k].from], now.dir = cases[k].dir;
        now.sat = cases[k].sat, now.ftz = cases[k].ftz, now.relu = cases[k].relu, now.satfinite = cases[k].satfinite;
        run_case(cases[k].modifiers, now.to->reg, now.from->reg, 60);
    }
    lanes_refuses("cvt.rn.ftz.f64.s32 %d0, %r1;");
    lanes_refuses("cvt.s32.f32 %r0, %r1;");
    lanes_refuses("cvt.f32.s32 %r0, %r1;");
    lanes_refuses("cvt.rzi.f32.f16 %r0, %h1;");
}

/* ---------------------------------------------------------------- halves, every value */

static uint64_t shift_16(const uint64_t *s) { return s[0] << 16; }
static uint64_t same(const uint64_t *s) { return s[0]; }
static uint64_t canonical_f16(const uint64_t *s) { return is_nan_code(&F16, s[0]) ? F16.nan : s[0]; }

static void check_widening(const char *text, const struct layout *f)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    for (uint32_t base = 0; u.func && base < 65536; base += WARP) {
        for (int i = 0; i < WARP; i++) lanes_set(&u, u.in->opnd[1].row, 2, i, base + (uint32_t)i);
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        for (int i = 0; i < WARP; i++) {
            uint64_t c = base + (uint32_t)i, want = F32.nan;
            if (!is_nan_code(f, c)) want = round_exact(&F32, (struct exact){value_of(f, c), 0}, NEAREST, false);
            CHECK_EQ(lanes_get(&u, u.in->opnd[0].row, 4, i), want);
        }
    }
    lanes_close(&u);
}

/* Around the middle between every two neighbours: below it the lower, above it the upper, on it the even one. */
static void check_narrowing(const char *text, const struct layout *f, uint64_t last)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    for (uint64_t c = 0; u.func && c < last; c++) {
        quad step = value_of(f, c + 1) - value_of(f, c);
        if (c + 1 == last) step = value_of(f, c) - value_of(f, c - 1);      /* the last step, past which is infinity */
        float middle = (float)(value_of(f, c) + step / 2);
        uint32_t bits;
        memcpy(&bits, &middle, 4);
        uint64_t source[6] = {bits - 1, bits, bits + 1}, want[3] = {c, c + (c & 1), c + 1};
        for (int i = 0; i < WARP; i++) lanes_set(&u, u.in->opnd[1].row, 4, i, source[i % 3] | (uint64_t)(i % 2) << 31);
        u.in->exec(&u.warp, u.in, UINT32_MAX);
        for (int i = 0; i < 6; i++) CHECK_EQ(lanes_get(&u, u.in->opnd[0].row, 2, i), want[i % 3] |
            (uint64_t)(i % 2) << 15);
    }
    lanes_close(&u);
}

static void halves_and_f32(void)
{
    check_widening("cvt.f32.f16 %r0, %h1;", &F16);
    check_narrowing("cvt.rn.f16.f32 %h0, %r1;", &F16, 0x7c00);
    check_narrowing("cvt.rn.bf16.f32 %h0, %r1;", &BF16, 0x7f80);
    lanes_check("cvt.f32.bf16 %r0, %h1;", shift_16, 0);
    lanes_check("cvt.f32.f32 %r0, %r1;", same, 0);
    lanes_check("cvt.f16.f16 %h0, %h1;", canonical_f16, 0);
}

/* ---------------------------------------------------------------- packed */

static struct { const struct layout *f, *source; int gap; enum direction dir; bool relu, satfinite; } pack;

static uint64_t narrowed(const struct layout *from, uint64_t code)
{
    if (is_nan_code(from, code)) return pack.f->has_nan ? pack.f->nan : largest(pack.f);
    quad x = value_of(from, code);
    if (code & sign_of(from) && pack.relu) return 0;
    if (x == 0 && code & sign_of(from)) x = -(quad)0;
    return round_exact(pack.f, (struct exact){x, 0}, pack.dir, pack.satfinite);
}
static uint64_t from_two_f32(const uint64_t *s) { return narrowed(&F32, s[0]) << pack.gap | narrowed(&F32, s[1]); }
static uint64_t from_halves(const uint64_t *s)
{
    return narrowed(pack.source, s[0] >> 16) << pack.gap | narrowed(pack.source, s[0] & 0xffff);
}
/* The other way: both elements of s[0], each a code of pack.source, into a pair of pack.f. */
static uint64_t to_halves(const uint64_t *s)
{
    uint64_t element = mask_of(pack.source->bits);
    return narrowed(pack.source, s[0] >> pack.gap & element) << 16 | narrowed(pack.source, s[0] & element);
}
static uint64_t to_tf32(const uint64_t *s) { return narrowed(&F32, s[0]) << 13; }
static uint64_t to_tf32_away(const uint64_t *s)
{
    return is_nan_code(&F32, s[0]) ? s[0] & 0xffffe000 : narrowed(&F32, s[0]) << 13;
}

static void packed_formats(void)
{
    static const struct { const char *text; reference_fn *ref; const struct layout *f, *source; int gap;
        enum direction dir; bool relu, satfinite; } cases[] = {
        {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", from_two_f32, &F16, NULL, 16, NEAREST, false, false},
        {"cvt.rz.f16x2.f32 %r0, %r1, %r2;", from_two_f32, &F16, NULL, 16, TO_ZERO, false, false},
        {"cvt.rn.relu.satfinite.f16x2.f32 %r0, %r1, %r2;", from_two_f32, &F16, NULL, 16, NEAREST, true, true},
        {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", from_two_f32, &BF16, NULL, 16, NEAREST, false, false},
        {"cvt.rz.relu.bf16x2.f32 %r0, %r1, %r2;", from_two_f32, &BF16, NULL, 16, TO_ZERO, true, false},
        {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", from_two_f32, &E4M3, NULL, 8, NEAREST, false, true},
        {"cvt.rn.satfinite.relu.e5m2x2.f32 %h0, %r1, %r2;", from_two_f32, &E5M2, NULL, 8, NEAREST, true, true},
        {"cvt.rn.satfinite.e5m2x2.f16x2 %h0, %r1;", from_halves, &E5M2, &F16, 8, NEAREST, false, true},
        {"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;", from_halves, &E4M3, &F16, 8, NEAREST, false, true},
        {"cvt.rn.satfinite.e2m3x2.f32 %h0, %r1, %r2;", from_two_f32, &E2M3, NULL, 8, NEAREST, false, true},
        {"cvt.rn.satfinite.relu.e3m2x2.f32 %h0, %r1, %r2;", from_two_f32, &E3M2, NULL, 8, NEAREST, true, true},
        {"cvt.rn.satfinite.e2m1x2.f32 %b0, %r1, %r2;", from_two_f32, &E2M1, NULL, 4, NEAREST, false, true},
        {"cvt.rn.f16x2.e4m3x2 %r0, %h1;", to_halves, &F16, &E4M3, 8, NEAREST, false, false},
        {"cvt.rn.f16x2.e5m2x2 %r0, %h1;", to_halves, &F16, &E5M2, 8, NEAREST, false, false},
        {"cvt.rn.relu.f16x2.e5m2x2 %r0, %h1;", to_halves, &F16, &E5M2, 8, NEAREST, true, false},
        {"cvt.rn.f16x2.e2m3x2 %r0, %h1;", to_halves, &F16, &E2M3, 8, NEAREST, false, false},
        {"cvt.rn.f16x2.e3m2x2 %r0, %h1;", to_halves, &F16, &E3M2, 8, NEAREST, false, false},
        {"cvt.rn.relu.f16x2.e2m1x2 %r0, %b1;", to_halves, &F16, &E2M1, 4, NEAREST, true, false},
        {"cvt.rn.tf32.f32 %r0, %r1;", to_tf32, &TF32, NULL, 0, NEAREST, false, false},
        {"cvt.rz.relu.tf32.f32 %r0, %r1;", to_tf32, &TF32, NULL, 0, TO_ZERO, true, false},
        {"cvt.rna.tf32.f32 %r0, %r1;", to_tf32_away, &TF32, NULL, 0, AWAY, false, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pack.f = cases[k].f, pack.source = cases[k].source, pack.gap = cases[k].gap;
        pack.dir = cases[k].dir, pack.relu = cases[k].relu, pack.satfinite = cases[k].satfinite;
        lanes_check(cases[k].text, cases[k].ref, 150);
    }
    lanes_refuses("cvt.rn.e4m3x2.f32 %h0, %r1, %r2;");
}

/* A scale is the power of two at or below, or at or above, the magnitude. */
static bool scale_up, scale_finite;
static uint64_t scale(const struct layout *f, uint64_t code)
{
    if (is_nan_code(f, code)) return 0xff;
    quad x = value_of(f, code & (sign_of(f) - 1));
    for (uint64_t e = 0; e < 255; e++) {
        quad v = power_of_two((int)e - 127), next = power_of_two((int)e - 126);
        if (x <= v && (scale_up || x == v)) return e;
        if (!scale_up && x < next) return e;
    }
    return scale_finite ? 0xfe : 0xff;
}
static uint64_t scales_of_f32(const uint64_t *s) { return scale(&F32, s[0]) << 8 | scale(&F32, s[1]); }
static uint64_t scales_of_bf16(const uint64_t *s)
{
    return scale(&BF16, s[0] >> 16) << 8 | scale(&BF16, s[0] & 0xffff);
}
static uint64_t bf16_of_scale(uint64_t e)
{
    return e == 255 ? BF16.nan : round_exact(&BF16, (struct exact){power_of_two((int)e - 127), 0}, NEAREST, false);
}
static uint64_t bf16_of_scales(const uint64_t *s)
{
    return bf16_of_scale(s[0] >> 8) << 16 | bf16_of_scale(s[0] & 0xff);
}

static void scales(void)
{
    for (int k = 0; k < 4; k++) {
        char text[120];
        scale_up = k & 1, scale_finite = k & 2;
        snprintf(text, sizeof text, "cvt.%s%s.ue8m0x2.f32 %%h0, %%r1, %%r2;", scale_up ? "rp" : "rz", scale_finite ?
            ".satfinite" : "");
        lanes_check(text, scales_of_f32, 60);
        snprintf(text, sizeof text, "cvt.%s%s.ue8m0x2.bf16x2 %%h0, %%r1;", scale_up ? "rp" : "rz", scale_finite ?
            ".satfinite" : "");
        lanes_check(text, scales_of_bf16, 60);
    }
    lanes_check("cvt.rn.bf16x2.ue8m0x2 %r0, %h1;", bf16_of_scales, 60);
}

/* Stochastic rounding with n random bits r: up exactly when the fraction cut off and r * 2^-n together reach 1. */
static uint64_t random_rounded(const struct layout *f, uint64_t code, uint64_t r, int n, bool saturate)
{
    if (is_nan_code(&F32, code)) return f->has_nan ? f->nan : largest(f);
    bool negative = code >> 31;
    quad x = value_of(&F32, code & 0x7fffffff);
    if (x == 0) return negative ? sign_of(f) : 0;
    if (x - x != 0) return (negative ? sign_of(f) : 0) | (f->has_inf && !saturate ? all_ones_exponent(f) : largest(f));
    uint64_t low = round_magnitude(f, (struct exact){x, 0}, TO_ZERO, false);
    uint64_t exponent = low >> f->mantissa;
    quad step = power_of_two((exponent ? (int)exponent : 1) - f->bias - f->mantissa), fraction = (x - value_of(f,
        low)) / step;
    low += fraction * power_of_two(n) + (quad)r >= power_of_two(n);
    if (low > largest(f)) low = saturate || !f->has_inf ? largest(f) : all_ones_exponent(f);
    return (negative ? sign_of(f) : 0) | low;
}
static uint64_t random_f16x2(const uint64_t *s)
{
    return random_rounded(&F16, s[0], s[2] >> 16 & 0x1fff, 13, false) << 16 | random_rounded(&F16, s[1],
        s[2] & 0x1fff, 13, false);
}
static uint64_t random_bf16x2(const uint64_t *s)
{
    return random_rounded(&BF16, s[0], s[2] >> 16, 16, true) << 16 | random_rounded(&BF16, s[1], s[2] & 0xffff, 16,
        true);
}
static uint64_t random_e4m3x4(const uint64_t *s)
{
    uint64_t high = s[4] >> 16, low = s[4] & 0xffff;
    return random_rounded(&E4M3, s[0], high, 16, true) << 24 | random_rounded(&E4M3, s[1], high, 16, true) << 16 |
           random_rounded(&E4M3, s[2], low, 16, true) << 8 | random_rounded(&E4M3, s[3], low, 16, true);
}
static uint64_t random_e2m1x4(const uint64_t *s)
{
    return random_rounded(&E2M1, s[0], s[4] >> 24, 8, true) << 12 | random_rounded(&E2M1, s[1], s[4] >> 8 & 0xff, 8,
        true) << 8 |
           random_rounded(&E2M1, s[2], s[4] >> 16 & 0xff, 8, true) << 4 | random_rounded(&E2M1, s[3], s[4] & 0xff,
               8, true);
}

static void stochastic_rounding(void)
{
    static const struct lanes_case cases[] = {
        {"cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3;", random_f16x2},
        {"cvt.rs.satfinite.bf16x2.f32 %r0, %r1, %r2, %r3;", random_bf16x2},
        {"cvt.rs.satfinite.e4m3x4.f32 %r0, {%r1, %r2, %r3, %r4}, %r5;", random_e4m3x4},
        {"cvt.rs.satfinite.e2m1x4.f32 %h0, {%r1, %r2, %r3, %r4}, %r5;", random_e2m1x4}};
    LANES_CHECK_ALL(cases);
}

/* ---------------------------------------------------------------- cvt.pack */

static int pack_bits;
static bool pack_signed;
static uint64_t packed(const uint64_t *s, bool with_c)
{
    const struct kind k = {"", 'r', pack_bits, true, pack_signed, NULL};
    uint64_t a = (uint64_t)held(&k, (int32_t)s[0]) & mask_of(pack_bits), b = (uint64_t)held(&k,
        (int32_t)s[1]) & mask_of(pack_bits);
    return (with_c ? s[2] << 2 * pack_bits : 0) | a << pack_bits | b;
}
static uint64_t packed_two(const uint64_t *s) { return packed(s, false); }
static uint64_t packed_more(const uint64_t *s) { return packed(s, true); }

static void integers_packed(void)
{
    for (int bits = 2; bits <= 16; bits *= 2)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            char text[120];
            pack_bits = bits, pack_signed = is_signed;
            snprintf(text, sizeof text, "cvt.pack.sat.%c%d.s32%s %%r0, %%r1, %%r2%s;", is_signed ? 's' : 'u', bits,
                bits < 16 ? ".b32" : "", bits < 16 ? ", %r3" : "");
            lanes_check(text, bits < 16 ? packed_more : packed_two, 60);
        }
}

TESTS(
    {between_all_types, "cvt between all types in all roundings"},
    {wider_registers_extend, "wider registers are extended"},
    {integral_values, "integral values"},
    {flushing_and_saturation, "flushing and saturation"},
    {halves_and_f32, "halves and f32, every value"},
    {packed_formats, "packed formats"},
    {scales, "scales"},
    {stochastic_rounding, "stochastic rounding"},
    {integers_packed, "integers packed"})
