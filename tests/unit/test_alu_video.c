/* test_alu_video: video instructions against the ISA's pseudocode, written out for each case by hand. */
#include "lanes.h"

typedef int64_t wide;

static wide s32(uint64_t x) { return (int32_t)x; }
static wide u32(uint64_t x) { return (uint32_t)x; }
static wide byte(uint64_t x, int n) { return x >> 8 * n & 0xff; }
static wide sbyte(uint64_t x, int n) { return (int8_t)(x >> 8 * n); }
static wide half(uint64_t x, int n) { return x >> 16 * n & 0xffff; }
static wide shalf(uint64_t x, int n) { return (int16_t)(x >> 16 * n); }
static wide clamp(wide x, wide low, wide high) { return x < low ? low : x > high ? high : x; }
static wide least(wide a, wide b) { return a < b ? a : b; }
static wide most(wide a, wide b) { return a > b ? a : b; }
static wide distance(wide a, wide b) { return a > b ? a - b : b - a; }

/* ---------------------------------------------------------------- scalar */

#define REF(name, expr)                                                                                         \
    static uint64_t name(const uint64_t *s)                                                                     \
    {                                                                                                           \
        uint64_t a = s[0], b = s[1], c = s[2];                                                                  \
        (void)a, (void)b, (void)c;                                                                              \
        return (uint64_t)(expr);                                                                                \
    }
REF(vadd_sat, clamp(byte(a, 0) + shalf(b, 0), INT32_MIN, INT32_MAX))
REF(vsub_sat, clamp(shalf(a, 1) - half(b, 1), INT32_MIN, INT32_MAX))
REF(vsub_sat_u, clamp(s32(a) - u32(b), 0, UINT32_MAX))
REF(vabsdiff_merge, (clamp(distance(sbyte(a, 0), sbyte(b, 2)), -32768, 32767) & 0xffff) | (c & 0xffff0000))
REF(vmin_add, clamp(least(s32(a), s32(b)), INT32_MIN, INT32_MAX) + s32(c))
REF(vmax_byte, ((uint64_t)most(byte(a, 3), byte(b, 1)) & 0xff) << 16 | (c & 0xff00ffff))
REF(vadd_max, most(u32(a) + u32(b), u32(c)))
REF(vadd_min, least(s32(a) - 0 + s32(b), s32(c)))
REF(vshl_clamp, (unsigned __int128)u32(a) << (u32(b) > 32 ? 32 : u32(b)))
REF(vshl_sat, (u32(b) & 31) ? clamp((wide)(shalf(a, 0) * ((__int128)1 << (u32(b) & 31))), INT32_MIN, INT32_MAX) :
    shalf(a, 0))
REF(vshr_wrap, u32(a) >> (half(b, 1) & 31))
REF(vshr_signed, s32(a) >> (u32(b) > 32 ? 32 : u32(b)))
REF(vset_lt, s32(a) < u32(b))
REF(vset_ne_add, (u32(a) != half(b, 1)) + u32(c))

/* vmad: the products fit in 64 bits, the sums need not. */
static uint64_t multiply_add(__int128 product, __int128 addend, int shift, bool saturate, bool is_signed)
{
    __int128 x = (product + addend) >> shift, low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX :
        UINT32_MAX;
    return (uint64_t)(saturate ? x < low ? low : x > high ? high : x : x);
}
REF(vmad_minus_c, multiply_add((__int128)s32(a) * u32(b), -s32(c), 0, true, true))
REF(vmad_shr15, multiply_add((__int128)half(a, 0) * half(b, 0), u32(c), 15, false, false))
/* .po makes the sum a signed one (seen on an H200) */
REF(vmad_po, multiply_add((__int128)byte(a, 2) * byte(b, 0), (__int128)s32(c) + 1, 7, true, true))
REF(vmad_minus_ab, multiply_add(-(__int128)u32(a) * u32(b), s32(c), 0, false, true))

static void scalar(void)
{
    static const struct lanes_case cases[] = {
        {"vadd.s32.u32.s32.sat %r0, %r1.b0, %r2.h0;", vadd_sat},
        {"vsub.s32.s32.u32.sat %r0, %r1.h1, %r2.h1;", vsub_sat},
        {"vsub.u32.s32.u32.sat %r0, %r1, %r2;", vsub_sat_u},
        {"vabsdiff.s32.s32.s32.sat %r0.h0, %r1.b0, %r2.b2, %r3;", vabsdiff_merge},
        {"vmin.s32.s32.s32.sat.add %r0, %r1, %r2, %r3;", vmin_add},
        {"vmax.u32.u32.u32 %r0.b2, %r1.b3, %r2.b1, %r3;", vmax_byte},
        {"vadd.u32.u32.u32.max %r0, %r1, %r2, %r3;", vadd_max}, {"vadd.s32.s32.s32.min %r0, %r1, %r2, %r3;", vadd_min},
        {"vshl.s32.u32.u32.clamp %r0, %r1, %r2;", vshl_clamp},
        {"vshl.s32.s32.u32.sat.wrap %r0, %r1.h0, %r2;", vshl_sat},
        {"vshr.u32.u32.u32.wrap %r0, %r1, %r2.h1;", vshr_wrap}, {"vshr.s32.s32.u32.clamp %r0, %r1, %r2;", vshr_signed},
        {"vset.s32.u32.lt %r0, %r1, %r2;", vset_lt}, {"vset.u32.u32.ne.add %r0, %r1, %r2.h1, %r3;", vset_ne_add},
        {"vmad.s32.s32.u32.sat %r0, %r1, %r2, -%r3;", vmad_minus_c},
        {"vmad.u32.u32.u32.shr15 %r0, %r1.h0, %r2.h0, %r3;", vmad_shr15},
        {"vmad.u32.u32.u32.po.sat.shr7 %r0, %r1.b2, %r2.b0, %r3;", vmad_po},
        {"vmad.s32.u32.u32 %r0, -%r1, %r2, %r3;", vmad_minus_ab}};
    LANES_CHECK_ALL(cases);
}

/* ---------------------------------------------------------------- SIMD */

static uint64_t halves(wide low, wide high) { return (uint64_t)(low & 0xffff) | (uint64_t)(high & 0xffff) << 16; }
static uint64_t bytes(wide b0, wide b1, wide b2, wide b3)
{
    return (uint64_t)(b0 & 0xff) | (uint64_t)(b1 & 0xff) << 8 | (uint64_t)(b2 & 0xff) << 16 |
        (uint64_t)(b3 & 0xff) << 24;
}
static wide average(wide a, wide b) { return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; }

REF(vadd2_sat, halves(clamp(shalf(a, 0) + half(b, 0), -32768, 32767), clamp(shalf(a, 1) + half(b, 1), -32768, 32767)))
REF(vsub2_low, halves(clamp(shalf(a, 0) - shalf(b, 0), -32768, 32767), half(c, 1)))
REF(vmin2_add, u32(c) + least(shalf(a, 0), half(b, 0)) + least(shalf(a, 0), half(b, 0)))
REF(vavrg2_swapped, halves(average(shalf(b, 1), shalf(a, 0)), average(shalf(a, 1), shalf(b, 0))))
REF(vset2_ge, halves(half(a, 0) >= half(b, 0), half(a, 1) >= half(b, 1)))
REF(vadd4_sat, bytes(clamp(sbyte(a, 0) + byte(b, 0), -128, 127), clamp(sbyte(a, 1) + byte(b, 1), -128, 127),
                     clamp(sbyte(a, 2) + byte(b, 2), -128, 127), clamp(sbyte(a, 3) + byte(b, 3), -128, 127)))
REF(vsub4_one, bytes(clamp(sbyte(a, 0) - sbyte(b, 0), -128, 127), byte(c, 1), byte(c, 2), byte(c, 3)))
REF(vabsdiff4_add, u32(c) + distance(byte(a, 0), byte(b, 0)) + distance(byte(a, 1), byte(b, 1)) + distance(byte(a,
    2), byte(b, 2)) +
                       distance(byte(a, 3), byte(b, 3)))
REF(vmax4_chosen, bytes(byte(c, 0), most(byte(a, 1), byte(a, 3)), byte(c, 2), most(byte(b, 0), byte(a, 0))))
REF(vset4_ne, bytes(byte(a, 0) != byte(b, 0), byte(a, 1) != byte(b, 1), byte(a, 2) != byte(b, 2), byte(a,
    3) != byte(b, 3)))

static void simd(void)
{
    static const struct lanes_case cases[] = {
        {"vadd2.s32.s32.u32.sat %r0, %r1, %r2, %r3;", vadd2_sat},
        {"vsub2.s32.s32.s32.sat %r0.h0, %r1.h10, %r2.h32, %r3;", vsub2_low},
        {"vmin2.s32.s32.u32.add %r0.h10, %r1.h00, %r2.h22, %r3;", vmin2_add},
        {"vavrg2.s32.s32.s32 %r0, %r1.h13, %r2.h20, %r3;", vavrg2_swapped},
        {"vset2.u32.u32.ge %r0, %r1, %r2, %r3;", vset2_ge}, {"vadd4.s32.s32.u32.sat %r0, %r1, %r2, %r3;", vadd4_sat},
        {"vsub4.s32.s32.s32.sat %r0.b0, %r1.b3210, %r2.b7654, %r3;", vsub4_one},
        {"vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", vabsdiff4_add},
        {"vmax4.u32.u32.u32 %r0.b31, %r1.b4210, %r2.b0733, %r3;", vmax4_chosen},
        {"vset4.u32.u32.ne %r0, %r1, %r2, %r3;", vset4_ne}};
    LANES_CHECK_ALL(cases);
    lanes_refuses("vadd2.s32.s32.s32.sat.add %r0, %r1, %r2, %r3;");
}

TESTS({scalar, "scalar video instructions"}, {simd, "SIMD video instructions"})
