/* test_alu: integer arithmetic, logic, bits, comparison, selection and moves, each form against a reference that
 * works in 128-bit integers or bit by bit. Floating point: test_alu_float.c; conversions: test_cvt.c. */
#include "lanes.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

/* A reference named NAME: an expression of sources x, y, z taken as type T. */
#define REF(name, T, expr)                                                                                      \
    static uint64_t name(const uint64_t *s)                                                                     \
    {                                                                                                           \
        wide x = (T)s[0], y = (T)s[1], z = (T)s[2];                                                             \
        (void)x, (void)y, (void)z;                                                                              \
        return (uint64_t)(expr);                                                                                \
    }
#define REF_TYPES(name, expr)                                                                                   \
    REF(name##_u16, uint16_t, expr) REF(name##_s16, int16_t, expr) REF(name##_u32, uint32_t, expr)              \
    REF(name##_s32, int32_t, expr) REF(name##_u64, uint64_t, expr) REF(name##_s64, int64_t, expr)
#define CASES(ptx, name)                                                                                        \
    {ptx ".u16 %h0, %h1, %h2;", name##_u16}, {ptx ".s16 %h0, %h1, %h2;", name##_s16},                           \
    {ptx ".u32 %r0, %r1, %r2;", name##_u32}, {ptx ".s32 %r0, %r1, %r2;", name##_s32},                           \
    {ptx ".u64 %d0, %d1, %d2;", name##_u64}, {ptx ".s64 %d0, %d1, %d2;", name##_s64}
#define CASES3(ptx, name)                                                                                       \
    {ptx ".u16 %h0, %h1, %h2, %h3;", name##_u16}, {ptx ".s16 %h0, %h1, %h2, %h3;", name##_s16},                 \
    {ptx ".u32 %r0, %r1, %r2, %r3;", name##_u32}, {ptx ".s32 %r0, %r1, %r2, %r3;", name##_s32},                 \
    {ptx ".u64 %d0, %d1, %d2, %d3;", name##_u64}, {ptx ".s64 %d0, %d1, %d2, %d3;", name##_s64}

/* ---------------------------------------------------------------- arithmetic */

static wide clamp32(wide x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x; }
static wide magnitude(wide x) { return x < 0 ? -x : x; }

REF_TYPES(add, x + y)
REF_TYPES(sub, x - y)
REF_TYPES(mul, (uwide)x * (uwide)y)
REF_TYPES(mad, (uwide)x * (uwide)y + (uwide)z)
REF_TYPES(least, x < y ? x : y)
REF_TYPES(most, x < y ? y : x)
REF_TYPES(sad, magnitude(x - y) + z)
REF_TYPES(div, y ? x / y : -1)
REF_TYPES(rem, y ? x % y : -1)
#define REF_SIGNED(name, expr) \
    REF(name##_s16, int16_t, expr) REF(name##_s32, int32_t, expr) REF(name##_s64, int64_t, expr)
REF_SIGNED(neg, -x)
REF_SIGNED(abs, magnitude(x))

static void sums_and_products_wrap_round(void)
{
    static const struct lanes_case cases[] = {
        CASES("add", add), CASES("sub", sub), CASES("mul.lo", mul), CASES3("mad.lo", mad), CASES3("sad", sad),
        CASES("min", least), CASES("max", most),
        {"neg.s16 %h0, %h1;", neg_s16}, {"neg.s32 %r0, %r1;", neg_s32}, {"neg.s64 %d0, %d1;", neg_s64},
        {"abs.s16 %h0, %h1;", abs_s16}, {"abs.s32 %r0, %r1;", abs_s32}, {"abs.s64 %d0, %d1;", abs_s64}};
    LANES_CHECK_ALL(cases);
    lanes_check("add.s32 %r0, %r1, 5;", add_s32, 0);
    lanes_check("add.s32 %r0, %r0, %r1;", add_s32, 0);
    lanes_check("mul.lo.s32 %r0, %r0, %r0;", mul_s32, 0);
}

static void division_is_exact_and_by_zero_all_ones(void)
{
    static const struct lanes_case cases[] = {CASES("div", div), CASES("rem", rem)};
    LANES_CHECK_ALL(cases);
}

REF(high_u16, uint16_t, x * y >> 16)
REF(high_s16, int16_t, x * y >> 16)
REF(high_u32, uint32_t, x * y >> 32)
REF(high_s32, int32_t, x * y >> 32)
REF(high_u64, uint64_t, (uwide)x * (uwide)y >> 64)
REF(high_s64, int64_t, x * y >> 64)
REF(mad_high_u16, uint16_t, (x * y >> 16) + z)
REF(mad_high_s16, int16_t, (x * y >> 16) + z)
REF(mad_high_u32, uint32_t, (x * y >> 32) + z)
REF(mad_high_s32, int32_t, (x * y >> 32) + z)
REF(mad_high_u64, uint64_t, ((uwide)x * (uwide)y >> 64) + (uwide)z)
REF(mad_high_s64, int64_t, (x * y >> 64) + z)
static uint64_t mad_wide_u16(const uint64_t *s) { return s[0] * s[1] + s[2]; }
static uint64_t mad_wide_s16(const uint64_t *s) { return (uint64_t)((int16_t)s[0] * (int16_t)s[1]) + s[2]; }
static uint64_t mad_wide_u32(const uint64_t *s) { return s[0] * s[1] + s[2]; }
static uint64_t mad_wide_s32(const uint64_t *s) { return (uint64_t)((int64_t)(int32_t)s[0] * (int32_t)s[1]) + s[2]; }

static void upper_halves_and_wide_products(void)
{
    static const struct lanes_case cases[] = {
        CASES("mul.hi", high), CASES3("mad.hi", mad_high),
        {"mul.wide.u16 %r0, %h1, %h2;", mul_u16}, {"mul.wide.s16 %r0, %h1, %h2;", mul_s16},
        {"mul.wide.u32 %d0, %r1, %r2;", mul_u32}, {"mul.wide.s32 %d0, %r1, %r2;", mul_s32},
        {"mad.wide.u16 %r0, %h1, %h2, %r3;", mad_wide_u16}, {"mad.wide.s16 %r0, %h1, %h2, %r3;", mad_wide_s16},
        {"mad.wide.u32 %d0, %r1, %r2, %d3;", mad_wide_u32}, {"mad.wide.s32 %d0, %r1, %r2, %d3;", mad_wide_s32}};
    LANES_CHECK_ALL(cases);
}

REF(add_sat, int32_t, clamp32(x + y))
REF(sub_sat, int32_t, clamp32(x - y))
REF(mad_hi_sat, int32_t, clamp32((x * y >> 32) + z))
static wide low24(wide x, bool is_signed) { return x % 0x1000000 - (is_signed && x & 0x800000 ? 0x1000000 : 0); }
REF(mul24_lo_u32, uint32_t, low24(x, false) * low24(y, false))
REF(mul24_hi_u32, uint32_t, low24(x, false) * low24(y, false) >> 16)
REF(mul24_lo_s32, uint32_t, low24(x, true) * low24(y, true))
REF(mul24_hi_s32, uint32_t, low24(x, true) * low24(y, true) >> 16)
REF(mad24_lo_u32, uint32_t, low24(x, false) * low24(y, false) + z)
REF(mad24_hi_s32, uint32_t, (low24(x, true) * low24(y, true) >> 16) + z)
REF(mad24_hi_sat, uint32_t, clamp32((wide)(int32_t)(low24(x, true) * low24(y, true) >> 16) + (int32_t)z))
REF(min_relu, int32_t, x < y ? x < 0 ? 0 : x : y < 0 ? 0 : y)
REF(max_relu, int32_t, x < 0 && y < 0 ? 0 : x < y ? y : x)

static void saturating_and_24_bit_forms(void)
{
    static const struct lanes_case cases[] = {
        {"add.sat.s32 %r0, %r1, %r2;", add_sat}, {"sub.sat.s32 %r0, %r1, %r2;", sub_sat},
        {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", mad_hi_sat},
        {"mul24.lo.u32 %r0, %r1, %r2;", mul24_lo_u32}, {"mul24.hi.u32 %r0, %r1, %r2;", mul24_hi_u32},
        {"mul24.lo.s32 %r0, %r1, %r2;", mul24_lo_s32}, {"mul24.hi.s32 %r0, %r1, %r2;", mul24_hi_s32},
        {"mad24.lo.u32 %r0, %r1, %r2, %r3;", mad24_lo_u32}, {"mad24.hi.s32 %r0, %r1, %r2, %r3;", mad24_hi_s32},
        {"mad24.hi.sat.s32 %r0, %r1, %r2, %r3;", mad24_hi_sat},
        {"min.relu.s32 %r0, %r1, %r2;", min_relu}, {"max.relu.s32 %r0, %r1, %r2;", max_relu}};
    LANES_CHECK_ALL(cases);
    lanes_refuses("add.sat.u32 %r0, %r1, %r2;");
    lanes_refuses("mad.lo.sat.s32 %r0, %r1, %r2, %r3;");
}

/* Each half of a pair through the reference of a single value. */
static uint64_t by_halves(const uint64_t *s, reference_fn *ref)
{
    uint64_t low[2] = {s[0] & 0xffff, s[1] & 0xffff}, high[2] = {s[0] >> 16, s[1] >> 16};
    uint64_t l[3] = {low[0], low[1], 0}, h[3] = {high[0], high[1], 0};
    return (ref(l) & 0xffff) | (ref(h) & 0xffff) << 16;
}
REF(relu_min_s16, int16_t, x < 0 || y < 0 ? 0 : x < y ? x : y)
REF(relu_max_s16, int16_t, x < 0 && y < 0 ? 0 : x < y ? y : x)
#define HALVES(name, ref) static uint64_t name(const uint64_t *s) { return by_halves(s, ref); }
HALVES(add_pair, add_u16)
HALVES(min_pair_u, least_u16)
HALVES(max_pair_u, most_u16)
HALVES(min_pair_s, least_s16)
HALVES(max_pair_s, most_s16)
HALVES(min_pair_relu, relu_min_s16)
HALVES(max_pair_relu, relu_max_s16)

static void pairs_of_16_bits(void)
{
    static const struct lanes_case cases[] = {
        {"add.u16x2 %r0, %r1, %r2;", add_pair}, {"add.s16x2 %r0, %r1, %r2;", add_pair},
        {"min.u16x2 %r0, %r1, %r2;", min_pair_u}, {"max.u16x2 %r0, %r1, %r2;", max_pair_u},
        {"min.s16x2 %r0, %r1, %r2;", min_pair_s}, {"max.s16x2 %r0, %r1, %r2;", max_pair_s},
        {"min.relu.s16x2 %r0, %r1, %r2;", min_pair_relu}, {"max.relu.s16x2 %r0, %r1, %r2;", max_pair_relu}};
    LANES_CHECK_ALL(cases);
}

/* ---------------------------------------------------------------- carries: the flag is the last source */

/* Runs text on random sources and a random flag; the result and the flag must be those of 128-bit arithmetic, where
 * `value` gives the unbounded result (a borrow is a negative one). A subtraction's flag says that nothing was borrowed. */
static void check_carry(const char *text, wide value(const uint64_t *s, int carry), bool writes, bool is_sub)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    for (int round = 0; u.func && round < 100; round++) {
        struct lanes_rows src = lanes_sources(u.in);
        const struct operand *d = &u.in->opnd[0];
        uint32_t mask = round % 3 ? UINT32_MAX : (uint32_t)lanes_random(), flag = src.row[src.n - 1];
        uint64_t s[WARP][LANES_MAX_SOURCES];
        for (int i = 0; i < WARP; i++)
            for (int k = 0; k < src.n; k++) lanes_set(&u, src.row[k], src.width[k], i, lanes_value(src.width[k]));
        for (int i = 0; i < WARP; i++)
            for (int k = 0; k < src.n; k++) s[i][k] = lanes_get(&u, src.row[k], src.width[k], i);
        u.in->exec(&u.warp, u.in, mask);
        for (int i = 0; i < WARP; i++) {
            if (!(mask >> i & 1)) continue;
            int bits = d->width * 8, carry_in = (int)s[i][src.n - 1];
            wide full = value(s[i], carry_in);
            uint64_t want = (uint64_t)full & (bits == 64 ? UINT64_MAX : 0xffffffff);
            CHECK_EQ(lanes_get(&u, d->row, d->width, i), want);
            int carry = is_sub ? full >= 0 : (full >> bits & 1) != 0;
            CHECK_EQ(lanes_get(&u, flag, 0, i), writes ? carry : carry_in);
        }
    }
    lanes_close(&u);
}
static wide cc_add(const uint64_t *s, int c) { (void)c; return (wide)s[0] + s[1]; }
static wide cc_addc(const uint64_t *s, int c) { return (wide)s[0] + s[1] + c; }
static wide cc_sub(const uint64_t *s, int c) { (void)c; return (wide)s[0] - s[1]; }
static wide cc_subc(const uint64_t *s, int c) { return (wide)s[0] - s[1] - !c; }
static wide cc_mad_lo(const uint64_t *s, int c) { (void)c; return (wide)(uint32_t)(s[0] * s[1]) + s[2]; }
static wide cc_madc_hi(const uint64_t *s, int c) { return (wide)(s[0] * s[1] >> 32) + s[2] + c; }
static wide cc_madc_hi_s(const uint64_t *s, int c)
{
    return (wide)(uint32_t)((int64_t)(int32_t)s[0] * (int32_t)s[1] >> 32) + s[2] + c;
}
static wide cc_madc_hi_64(const uint64_t *s, int c) { return (wide)((uwide)s[0] * s[1] >> 64) + s[2] + c; }

static void carries_chain(void)
{
    check_carry("add.cc.u32 %r0, %r1, %r2;", cc_add, true, false);
    check_carry("add.cc.s64 %d0, %d1, %d2;", cc_add, true, false);
    check_carry("addc.cc.u32 %r0, %r1, %r2;", cc_addc, true, false);
    check_carry("addc.u64 %d0, %d1, %d2;", cc_addc, false, false);
    check_carry("addc.cc.u64 %d0, %d1, %d2;", cc_addc, true, false);
    check_carry("sub.cc.u32 %r0, %r1, %r2;", cc_sub, true, true);
    check_carry("subc.cc.s32 %r0, %r1, %r2;", cc_subc, true, true);
    check_carry("subc.u64 %d0, %d1, %d2;", cc_subc, false, true);
    check_carry("subc.cc.u64 %d0, %d1, %d2;", cc_subc, true, true);
    check_carry("mad.lo.cc.u32 %r0, %r1, %r2, %r3;", cc_mad_lo, true, false);
    check_carry("madc.hi.cc.u32 %r0, %r1, %r2, %r3;", cc_madc_hi, true, false);
    check_carry("madc.hi.s32 %r0, %r1, %r2, %r3;", cc_madc_hi_s, false, false);
    check_carry("madc.hi.cc.u64 %d0, %d1, %d2, %d3;", cc_madc_hi_64, true, false);
}

/* ---------------------------------------------------------------- bits */

static uint64_t bit(uint64_t x, int n) { return x >> n & 1; }
static uint64_t ref_popc(const uint64_t *s)
{
    uint64_t n = 0;
    for (int i = 0; i < 64; i++) n += bit(s[0], i);
    return n;
}
static uint64_t count_zeros(uint64_t x, int bits)
{
    int n = 0;
    while (n < bits && !bit(x, bits - 1 - n)) n++;
    return (uint64_t)n;
}
static uint64_t ref_clz_32(const uint64_t *s) { return count_zeros(s[0], 32); }
static uint64_t ref_clz_64(const uint64_t *s) { return count_zeros(s[0], 64); }
static uint64_t reversed(uint64_t x, int bits)
{
    uint64_t r = 0;
    for (int i = 0; i < bits; i++) r |= bit(x, i) << (bits - 1 - i);
    return r;
}
static uint64_t ref_brev_32(const uint64_t *s) { return reversed(s[0], 32); }
static uint64_t ref_brev_64(const uint64_t *s) { return reversed(s[0], 64); }

/* The ISA's own loops. */
static uint64_t bfind(uint64_t a, int msb, bool is_signed, bool shift)
{
    if (is_signed && bit(a, msb)) a = ~a;
    for (int i = msb; i >= 0; i--)
        if (bit(a, i)) return (uint64_t)(shift ? msb - i : i);
    return 0xffffffff;
}
static uint64_t bfind_u32(const uint64_t *s) { return bfind(s[0], 31, false, false); }
static uint64_t bfind_s32(const uint64_t *s) { return bfind(s[0], 31, true, false); }
static uint64_t bfind_s64_shift(const uint64_t *s) { return bfind(s[0], 63, true, true); }
static uint64_t bfind_u64_shift(const uint64_t *s) { return bfind(s[0], 63, false, true); }

/* Places and lengths beyond 255, which the ISA leaves open: modulo 256 in 32 bits, as they are in 64 (seen on an H200). */
static int64_t place(uint64_t x, int msb) { return msb == 31 ? x & 0xff : (uint32_t)x; }
static uint64_t bfe(const uint64_t *s, int msb, bool is_signed)
{
    int64_t pos = place(s[1], msb), len = place(s[2], msb), last = pos + len - 1 < msb ? pos + len - 1 : msb;
    uint64_t sign = is_signed && len ? bit(s[0], last) : 0, d = 0;
    for (int i = 0; i <= msb; i++) d |= (i < len && pos + i <= msb ? bit(s[0], pos + i) : sign) << i;
    return d;
}
static uint64_t bfe_u32(const uint64_t *s) { return bfe(s, 31, false); }
static uint64_t bfe_s32(const uint64_t *s) { return bfe(s, 31, true); }
static uint64_t bfe_u64(const uint64_t *s) { return bfe(s, 63, false); }
static uint64_t bfe_s64(const uint64_t *s) { return bfe(s, 63, true); }
static uint64_t bfi(const uint64_t *s, int msb)
{
    int64_t pos = place(s[2], msb), len = place(s[3], msb);
    uint64_t f = s[1];
    for (int i = 0; i < len && pos + i <= msb; i++) f = (f & ~(1ull << (pos + i))) | bit(s[0], i) << (pos + i);
    return f;
}
static uint64_t bfi_32(const uint64_t *s) { return bfi(s, 31); }
static uint64_t bfi_64(const uint64_t *s) { return bfi(s, 63); }
static uint64_t fns(const uint64_t *s)
{
    int base = (int)s[1], offset = (int)s[2];
    if (s[1] > 31) return UINT32_MAX;
    if (!offset) return bit(s[0], base) ? s[1] : UINT32_MAX;
    long count = (offset < 0 ? -(long)offset : offset) - 1;
    for (int pos = base; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1)
        if (bit(s[0], pos) && count-- == 0) return (uint64_t)pos;
    return UINT32_MAX;
}
static uint64_t szext(const uint64_t *s, bool clamp, bool is_signed)
{
    uint64_t n = clamp ? s[1] : s[1] % 32;
    if (n == 0) return 0;
    if (n >= 32) return s[0];
    uint64_t d = s[0] & ((1ull << n) - 1);
    return is_signed && bit(d, (int)n - 1) ? d | UINT64_MAX << n : d;
}
static uint64_t szext_clamp_s(const uint64_t *s) { return szext(s, true, true); }
static uint64_t szext_clamp_u(const uint64_t *s) { return szext(s, true, false); }
static uint64_t szext_wrap_s(const uint64_t *s) { return szext(s, false, true); }
static uint64_t bmsk(const uint64_t *s, bool clamp)
{
    uint64_t at = clamp ? s[0] : s[0] % 32, n = clamp ? s[1] : s[1] % 32, d = 0;
    for (uint64_t i = 0; i < 32; i++) d |= (uint64_t)(i >= at && i - at < n) << i;
    return d;
}
static uint64_t bmsk_clamp(const uint64_t *s) { return bmsk(s, true); }
static uint64_t bmsk_wrap(const uint64_t *s) { return bmsk(s, false); }

static void bits_are_found_moved_and_counted(void)
{
    static const struct lanes_case cases[] = {
        {"popc.b32 %r0, %r1;", ref_popc}, {"popc.b64 %r0, %d1;", ref_popc}, {"clz.b32 %r0, %r1;", ref_clz_32},
        {"clz.b64 %r0, %d1;", ref_clz_64}, {"brev.b32 %r0, %r1;", ref_brev_32}, {"brev.b64 %d0, %d1;", ref_brev_64},
        {"bfind.u32 %r0, %r1;", bfind_u32}, {"bfind.s32 %r0, %r1;", bfind_s32},
        {"bfind.shiftamt.s64 %r0, %d1;", bfind_s64_shift}, {"bfind.shiftamt.u64 %r0, %d1;", bfind_u64_shift},
        {"bfe.u32 %r0, %r1, %r2, %r3;", bfe_u32}, {"bfe.s32 %r0, %r1, %r2, %r3;", bfe_s32},
        {"bfe.u64 %d0, %d1, %r2, %r3;", bfe_u64}, {"bfe.s64 %d0, %d1, %r2, %r3;", bfe_s64},
        {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", bfi_32}, {"bfi.b64 %d0, %d1, %d2, %r3, %r4;", bfi_64},
        {"fns.b32 %r0, %r1, %r2, %r3;", fns}, {"szext.clamp.s32 %r0, %r1, %r2;", szext_clamp_s},
        {"szext.clamp.u32 %r0, %r1, %r2;", szext_clamp_u}, {"szext.wrap.s32 %r0, %r1, %r2;", szext_wrap_s},
        {"bmsk.clamp.b32 %r0, %r1, %r2;", bmsk_clamp}, {"bmsk.wrap.b32 %r0, %r1, %r2;", bmsk_wrap}};
    LANES_CHECK_ALL(cases);
}

static int64_t part(uint64_t x, int bits, int n, bool is_signed)
{
    int64_t value = (int64_t)(x >> bits * n) & ((1 << bits) - 1);
    return is_signed && value >> (bits - 1) ? value - (1 << bits) : value;
}
static uint64_t dp4a(const uint64_t *s, bool sa, bool sb)
{
    int64_t d = (int64_t)s[2];
    for (int i = 0; i < 4; i++) d += part(s[0], 8, i, sa) * part(s[1], 8, i, sb);
    return (uint64_t)d;
}
static uint64_t dp2a(const uint64_t *s, bool sa, bool sb, int first)
{
    int64_t d = (int64_t)s[2];
    for (int i = 0; i < 2; i++) d += part(s[0], 16, i, sa) * part(s[1], 8, first + i, sb);
    return (uint64_t)d;
}
static uint64_t dp4a_uu(const uint64_t *s) { return dp4a(s, false, false); }
static uint64_t dp4a_us(const uint64_t *s) { return dp4a(s, false, true); }
static uint64_t dp4a_su(const uint64_t *s) { return dp4a(s, true, false); }
static uint64_t dp4a_ss(const uint64_t *s) { return dp4a(s, true, true); }
static uint64_t dp2a_lo_us(const uint64_t *s) { return dp2a(s, false, true, 0); }
static uint64_t dp2a_hi_su(const uint64_t *s) { return dp2a(s, true, false, 2); }
static uint64_t dp2a_hi_ss(const uint64_t *s) { return dp2a(s, true, true, 2); }

static void dot_products_of_bytes(void)
{
    static const struct lanes_case cases[] = {
        {"dp4a.u32.u32 %r0, %r1, %r2, %r3;", dp4a_uu}, {"dp4a.u32.s32 %r0, %r1, %r2, %r3;", dp4a_us},
        {"dp4a.s32.u32 %r0, %r1, %r2, %r3;", dp4a_su}, {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", dp4a_ss},
        {"dp2a.lo.u32.s32 %r0, %r1, %r2, %r3;", dp2a_lo_us}, {"dp2a.hi.s32.u32 %r0, %r1, %r2, %r3;", dp2a_hi_su},
        {"dp2a.hi.s32.s32 %r0, %r1, %r2, %r3;", dp2a_hi_ss}};
    LANES_CHECK_ALL(cases);
}

static uint64_t almost_add(const uint64_t *s) { return s[0] + s[1] + (s[0] == 0x7fffffff); }
static void wrong_results_are_noticed(void)
{
    CHECK(lanes_notices("add.u32 %r0, %r1, %r2;", almost_add));
    CHECK(lanes_notices("sub.u32 %r0, %r1, %r2;", add_u32));
    CHECK(!lanes_notices("add.u32 %r0, %r1, %r2;", add_u32));
}

TESTS(
    {wrong_results_are_noticed, "wrong results are noticed"},
    {sums_and_products_wrap_round, "sums and products wrap round"},
    {division_is_exact_and_by_zero_all_ones, "division is exact, and by zero all ones"},
    {upper_halves_and_wide_products, "upper halves and wide products"},
    {saturating_and_24_bit_forms, "saturating and 24-bit forms"},
    {pairs_of_16_bits, "pairs of 16 bits"},
    {carries_chain, "carries chain"},
    {bits_are_found_moved_and_counted, "bits are found, moved and counted"},
    {dot_products_of_bytes, "dot products of bytes"})
