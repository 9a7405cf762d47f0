/* test_alu_logic: logic, shifts, byte permutation, comparison, selection, moves and video instructions, each against
 * a reference that goes bit by bit or element by element, as the ISA writes it. */
#include "lanes.h"

static uint64_t bit(uint64_t x, int n) { return x >> n & 1; }

/* ---------------------------------------------------------------- logic */

static uint64_t ref_and(const uint64_t *s) { return s[0] & s[1]; }
static uint64_t ref_or(const uint64_t *s) { return s[0] | s[1]; }
static uint64_t ref_xor(const uint64_t *s) { return s[0] ^ s[1]; }
static uint64_t ref_not(const uint64_t *s) { return ~s[0]; }
static uint64_t ref_cnot(const uint64_t *s) { return s[0] == 0; }

static void logic(void)
{
    static const struct lanes_case cases[] = {
        {"and.b16 %h0, %h1, %h2;", ref_and}, {"and.b32 %r0, %r1, %r2;", ref_and}, {"and.b64 %d0, %d1, %d2;", ref_and},
        {"or.b16 %h0, %h1, %h2;", ref_or}, {"or.b32 %r0, %r1, %r2;", ref_or}, {"or.b64 %d0, %d1, %d2;", ref_or},
        {"xor.b16 %h0, %h1, %h2;", ref_xor}, {"xor.b32 %r0, %r1, %r2;", ref_xor}, {"xor.b64 %d0, %d1, %d2;", ref_xor},
        {"not.b16 %h0, %h1;", ref_not}, {"not.b32 %r0, %r1;", ref_not}, {"not.b64 %d0, %d1;", ref_not},
        {"cnot.b16 %h0, %h1;", ref_cnot}, {"cnot.b32 %r0, %r1;", ref_cnot}, {"cnot.b64 %d0, %d1;", ref_cnot},
        {"and.pred %p0, %p1, %p2;", ref_and}, {"or.pred %p0, %p1, %p2;", ref_or}, {"xor.pred %p0, %p1, %p2;", ref_xor},
        {"not.pred %p0, %p1;", ref_not}};
    LANES_CHECK_ALL(cases);
}

static int lut;
static uint64_t ref_lop3(const uint64_t *s)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++)
        d |= bit((uint64_t)lut, (int)(bit(s[0], i) * 4 + bit(s[1], i) * 2 + bit(s[2], i))) << i;
    return d;
}

static void lop3_has_256_functions(void)
{
    for (lut = 0; lut < 256; lut++) {
        char text[80];
        snprintf(text, sizeof text, "lop3.b32 %%r0, %%r1, %%r2, %%r3, %d;", lut);
        lanes_check(text, ref_lop3, 6);
    }
}

/* The predicate beside the result. */
static void check_second(const char *text, bool second(const uint64_t *s), bool first(const uint64_t *s))
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    if (u.func) lanes_constants(&u);
    for (int round = 0; u.func && round < 60; round++) {
        struct lanes_rows src = lanes_sources(u.in);
        uint32_t mask = round % 3 ? UINT32_MAX : (uint32_t)lanes_random();
        const struct operand *d = &u.in->opnd[0];
        uint64_t s[WARP][LANES_MAX_SOURCES];
        for (int i = 0; i < WARP; i++)
            for (int k = 0; k < src.n; k++) {
                if (!src.is_const[k]) lanes_set(&u, src.row[k], src.width[k], i,
                    lanes_value(src.width[k]) >> (round % 5 == 0 ? 62 : 0));
                s[i][k] = lanes_get(&u, src.row[k], src.width[k], i);
            }
        u.in->exec(&u.warp, u.in, mask);
        for (int i = 0; i < WARP; i++) {
            if (!(mask >> i & 1)) continue;
            if (second) CHECK_EQ(lanes_get(&u, d->pair_row, 0, i), second(s[i]));
            if (first) CHECK_EQ(lanes_get(&u, d->row, 0, i), first(s[i]));
        }
    }
    lanes_close(&u);
}
/* Sources: a, b, c, the table, q. */
static bool lop3_or(const uint64_t *s) { return (s[0] & s[1] & s[2]) != 0 || s[4]; }
static bool lop3_and(const uint64_t *s) { return (s[0] & s[1] & s[2]) != 0 && s[4]; }

static void lop3_with_a_predicate(void)
{
    check_second("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p1;", lop3_or, NULL);
    check_second("lop3.and.b32 _|%p0, %r1, %r2, %r3, 0x80, %p1;", lop3_and, NULL);
}

/* ---------------------------------------------------------------- shifts */

static uint64_t shifted(uint64_t a, uint64_t n, int bits, bool left, bool is_signed)
{
    uint64_t d = 0;
    for (int i = 0; i < bits; i++) {
        __int128 from = left ? (__int128)i - n : (__int128)i + n;
        uint64_t fill = !left && is_signed ? bit(a, bits - 1) : 0;
        d |= (from >= 0 && from < bits ? bit(a, (int)from) : fill) << i;
    }
    return d;
}
#define SHIFT(name, bits, left, is_signed) \
    static uint64_t name(const uint64_t *s) { return shifted(s[0], s[1], bits, left, is_signed); }
SHIFT(shl_16, 16, true, false)
SHIFT(shl_32, 32, true, false)
SHIFT(shl_64, 64, true, false)
SHIFT(shr_u16, 16, false, false)
SHIFT(shr_u32, 32, false, false)
SHIFT(shr_u64, 64, false, false)
SHIFT(shr_s16, 16, false, true)
SHIFT(shr_s32, 32, false, true)
SHIFT(shr_s64, 64, false, true)

/* The ISA's formula, in 128 bits so that shifts by 32 are harmless. */
static uint64_t funnel(const uint64_t *s, bool left, bool clamp)
{
    uint64_t n = clamp ? s[2] < 32 ? s[2] : 32 : s[2] & 31;
    unsigned __int128 both = (unsigned __int128)s[1] << 32 | s[0];
    return left ? (uint64_t)(both << n >> 32) : (uint64_t)(both >> n);
}
static uint64_t shf_l_clamp(const uint64_t *s) { return funnel(s, true, true); }
static uint64_t shf_l_wrap(const uint64_t *s) { return funnel(s, true, false); }
static uint64_t shf_r_clamp(const uint64_t *s) { return funnel(s, false, true); }
static uint64_t shf_r_wrap(const uint64_t *s) { return funnel(s, false, false); }

static void shifts_clamp_their_amounts(void)
{
    static const struct lanes_case cases[] = {
        {"shl.b16 %h0, %h1, %r2;", shl_16}, {"shl.b32 %r0, %r1, %r2;", shl_32}, {"shl.b64 %d0, %d1, %r2;", shl_64},
        {"shr.u16 %h0, %h1, %r2;", shr_u16}, {"shr.b32 %r0, %r1, %r2;", shr_u32}, {"shr.u64 %d0, %d1, %r2;", shr_u64},
        {"shr.s16 %h0, %h1, %r2;", shr_s16}, {"shr.s32 %r0, %r1, %r2;", shr_s32}, {"shr.s64 %d0, %d1, %r2;", shr_s64},
        {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", shf_l_clamp}, {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", shf_l_wrap},
        {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", shf_r_clamp}, {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", shf_r_wrap}};
    LANES_CHECK_ALL(cases);
}

/* ---------------------------------------------------------------- prmt: the ISA's tables, b3 b2 b1 b0 for c = 0 … 3 */

static uint64_t bytes_chosen(const uint64_t *s, const char *choice)
{
    uint64_t both = s[1] << 32 | s[0], d = 0;
    for (int k = 0; k < 4; k++) d |= (both >> 8 * (choice[3 - k] - '0') & 0xff) << 8 * k;
    return d;
}
#define MODE(name, c0, c1, c2, c3)                                                                              \
    static uint64_t name(const uint64_t *s)                                                                     \
    {                                                                                                           \
        static const char *const rows[] = {c0, c1, c2, c3};                                                     \
        return bytes_chosen(s, rows[s[2] & 3]);                                                                 \
    }
MODE(prmt_f4e, "3210", "4321", "5432", "6543")
MODE(prmt_b4e, "5670", "6701", "7012", "0123")
MODE(prmt_rc8, "0000", "1111", "2222", "3333")
MODE(prmt_ecl, "3210", "3211", "3222", "3333")
MODE(prmt_ecr, "0000", "1110", "2210", "3210")
MODE(prmt_rc16, "1010", "3232", "1010", "3232")
static uint64_t prmt(const uint64_t *s)
{
    uint64_t both = s[1] << 32 | s[0], d = 0;
    for (int k = 0; k < 4; k++) {
        int control = (int)(s[2] >> 4 * k & 15), byte = (int)(both >> 8 * (control & 7) & 0xff);
        d |= (uint64_t)(control & 8 ? byte & 0x80 ? 0xff : 0 : byte) << 8 * k;
    }
    return d;
}

static void prmt_in_all_modes(void)
{
    static const struct lanes_case cases[] = {
        {"prmt.b32 %r0, %r1, %r2, %r3;", prmt}, {"prmt.b32 %r0, %r1, %r2, 0x8765;", prmt},
        {"prmt.b32.f4e %r0, %r1, %r2, %r3;", prmt_f4e}, {"prmt.b32.b4e %r0, %r1, %r2, %r3;", prmt_b4e},
        {"prmt.b32.rc8 %r0, %r1, %r2, %r3;", prmt_rc8}, {"prmt.b32.ecl %r0, %r1, %r2, %r3;", prmt_ecl},
        {"prmt.b32.ecr %r0, %r1, %r2, %r3;", prmt_ecr}, {"prmt.b32.rc16 %r0, %r1, %r2, %r3;", prmt_rc16}};
    LANES_CHECK_ALL(cases);
}

/* ---------------------------------------------------------------- comparison */

static double as_f32(uint64_t u) { uint32_t v = (uint32_t)u; float x; memcpy(&x, &v, 4); return x; }
static double as_f64(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

/* The result of a comparison by name. less, equal, unordered: how a stands to b. */
static bool holds(const char *cmp, bool less, bool equal, bool unordered)
{
    bool greater = !less && !equal && !unordered, u = cmp[2] == 'u';
    if (!strcmp(cmp, "num")) return !unordered;
    if (!strcmp(cmp, "nan")) return unordered;
    if (unordered) return u;
    switch (cmp[0] << 8 | cmp[1]) {
    case 'e' << 8 | 'q': return equal;
    case 'n' << 8 | 'e': return !equal;
    case 'l' << 8 | 't': case 'l' << 8 | 'o': return less;
    case 'l' << 8 | 'e': case 'l' << 8 | 's': return less || equal;
    case 'g' << 8 | 't': case 'h' << 8 | 'i': return greater;
    default: return greater || equal;
    }
}

static const char *cmp_name, *cmp_type;
static int cmp_bool;            /* 0 none, 1 and, 2 or, 3 xor, with the third source */
static bool compared(const uint64_t *s)
{
    double x = 0, y = 0;
    if (!strcmp(cmp_type, "f32")) x = as_f32(s[0]), y = as_f32(s[1]);
    if (!strcmp(cmp_type, "f64")) x = as_f64(s[0]), y = as_f64(s[1]);
    if (*cmp_type == 'f') return holds(cmp_name, x < y, x == y, x != x || y != y);
    int bits = atoi(cmp_type + 1);
    __int128 a = s[0], b = s[1];
    if (*cmp_type == 's') a -= bit(s[0], bits - 1) ? (__int128)1 << bits : 0, b -= bit(s[1], bits - 1) ?
        (__int128)1 << bits : 0;
    return holds(cmp_name, a < b, a == b, false);
}
static bool combined(bool t, const uint64_t *s)
{
    return cmp_bool == 0 ? t : cmp_bool == 1 ? t && s[2] : cmp_bool == 2 ? t || s[2] : t != (s[2] != 0);
}
static bool ref_first(const uint64_t *s) { return combined(compared(s), s); }
static bool ref_second(const uint64_t *s) { return combined(!compared(s), s); }
static uint64_t ref_setp(const uint64_t *s) { return ref_first(s); }
static uint64_t ref_set_u32(const uint64_t *s) { return ref_first(s) ? UINT32_MAX : 0; }
static uint64_t ref_set_f32(const uint64_t *s) { return ref_first(s) ? 0x3f800000 : 0; }

static void setp_compares_every_type(void)
{
    static const char *const ints[] = {"eq", "ne", "lt", "le", "gt", "ge"}, *const more[] = {"lo", "ls", "hi", "hs"};
    static const char *const floats[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
        "geu", "num", "nan"};
    static const char *const types[] = {"u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"};
    static const char *const bools[] = {"", ".and", ".or", ".xor"};
    for (int t = 0; t < 8; t++) {
        char reg = types[t][1] == '1' ? 'h' : types[t][1] == '3' ? 'r' : 'd';
        int n = t >= 6 ? 14 : t % 2 == 0 ? 10 : 6;
        for (int c = 0; c < n; c++)
            for (cmp_bool = 0; cmp_bool < 4; cmp_bool++) {
                char text[120];
                const char *third = cmp_bool ? ", %p1" : "";
                cmp_type = types[t];
                cmp_name = t >= 6 ? floats[c] : c < 6 ? ints[c] : more[c - 6];
                snprintf(text, sizeof text, "setp.%s%s.%s %%p0, %%%c1, %%%c2%s;", cmp_name, bools[cmp_bool],
                    cmp_type, reg, reg, third);
                lanes_check(text, ref_setp, 12);
                snprintf(text, sizeof text, "setp.%s%s.%s %%p0|%%p2, %%%c1, %%%c2%s;", cmp_name, bools[cmp_bool],
                    cmp_type, reg, reg, third);
                check_second(text, ref_second, ref_first);
                snprintf(text, sizeof text, "set.%s%s.u32.%s %%r0, %%%c1, %%%c2%s;", cmp_name, bools[cmp_bool],
                    cmp_type, reg, reg, third);
                lanes_check(text, ref_set_u32, 6);
                snprintf(text, sizeof text, "set.%s%s.f32.%s %%r0, %%%c1, %%%c2%s;", cmp_name, bools[cmp_bool],
                    cmp_type, reg, reg, third);
                lanes_check(text, ref_set_f32, 6);
            }
    }
    lanes_refuses("setp.lo.s32 %p0, %r1, %r2;");
    lanes_refuses("setp.lt.b32 %p0, %r1, %r2;");
    lanes_refuses("setp.ltu.u32 %p0, %r1, %r2;");
}

static uint64_t setp_not(const uint64_t *s) { return (int32_t)s[0] < (int32_t)s[1] && !s[2]; }
static uint64_t setp_ftz(const uint64_t *s)
{
    double x = as_f32(s[0]), y = as_f32(s[1]), tiny = 0x1p-126;
    return (x > -tiny && x < tiny ? 0 : x) < (y > -tiny && y < tiny ? 0 : y);
}
static void setp_inverts_and_flushes(void)
{
    lanes_check("setp.lt.and.s32 %p0, %r1, %r2, !%p1;", setp_not, 0);
    lanes_check("setp.lt.ftz.f32 %p0, %r1, %r2;", setp_ftz, 0);
}

/* ---------------------------------------------------------------- selection, moves */

static uint64_t selp(const uint64_t *s) { return s[2] ? s[0] : s[1]; }
static uint64_t slct_s32(const uint64_t *s) { return (int32_t)s[2] >= 0 ? s[0] : s[1]; }
static uint64_t slct_f32(const uint64_t *s) { return as_f32(s[2]) >= 0 ? s[0] : s[1]; }
static uint64_t slct_ftz(const uint64_t *s) { return as_f32(s[2]) > -0x1p-126 ? s[0] : s[1]; }
static uint64_t same(const uint64_t *s) { return s[0]; }
static uint64_t forty_two(const uint64_t *s) { (void)s; return 42; }
static uint64_t packed_32(const uint64_t *s) { return s[0] | s[1] << 16; }
static uint64_t packed_64(const uint64_t *s) { return s[0] | s[1] << 32; }
static uint64_t packed_4x16(const uint64_t *s) { return s[0] | s[1] << 16 | s[2] << 32 | s[3] << 48; }
static uint64_t packed_4x8(const uint64_t *s)
{
    return (s[0] & 0xff) | (s[1] & 0xff) << 8 | (s[2] & 0xff) << 16 | (s[3] & 0xff) << 24;
}

static void selections_and_moves(void)
{
    static const struct lanes_case cases[] = {
        {"selp.b16 %h0, %h1, %h2, %p1;", selp}, {"selp.f32 %r0, %r1, %r2, %p1;", selp},
        {"selp.s64 %d0, %d1, %d2, %p1;", selp},
        {"slct.u16.s32 %h0, %h1, %h2, %r3;", slct_s32}, {"slct.f32.s32 %r0, %r1, %r2, %r3;", slct_s32},
        {"slct.b64.f32 %d0, %d1, %d2, %r3;", slct_f32}, {"slct.ftz.u32.f32 %r0, %r1, %r2, %r3;", slct_ftz},
        {"mov.pred %p0, %p1;", same}, {"mov.b16 %h0, %h1;", same}, {"mov.f32 %r0, %r1;", same},
        {"mov.u64 %d0, %d1;", same},
        {"mov.u32 %r0, 42;", forty_two}, {"mov.b32 %r0, {%h1, %h2};", packed_32},
        {"mov.b64 %d0, {%r1, %r2};", packed_64},
        {"mov.b64 %d0, {%h1, %h2, %h3, %h4};", packed_4x16}, {"mov.b32 %r0, {%b1, %b2, %b3, %b4};", packed_4x8}};
    LANES_CHECK_ALL(cases);
}

/* Unpacking, and packing back what was unpacked, through wide registers. */
static void check_unpack(const char *text, uint32_t bits)
{
    struct unit u = lanes_open(text);
    CHECK(u.func);
    for (int round = 0; u.func && round < 20; round++) {
        const struct operand *d = &u.in->opnd[0], *a = &u.in->opnd[1];
        uint32_t mask = round % 2 ? UINT32_MAX : (uint32_t)lanes_random();
        for (uint32_t i = 0; i < WARP * a->width; i++) u.regs[a->row + i] = (uint8_t)lanes_random();
        u.in->exec(&u.warp, u.in, mask);
        for (uint32_t i = 0; i < WARP; i++)
            for (uint32_t k = 0; mask >> i & 1 && k < d->n; k++) {
                uint64_t want = 0;
                if (d->elem[k].kind != O_REG) continue;
                memcpy(&want, u.regs + a->row + i * a->width + k * bits / 8, bits / 8);
                CHECK_EQ(lanes_get(&u, d->elem[k].row, d->elem[k].width, (int)i), want);
            }
    }
    lanes_close(&u);
}

static void vectors_are_unpacked(void)
{
    check_unpack("mov.b32 {%h1, %h2}, %r1;", 16);
    check_unpack("mov.b64 {%r1, %r2}, %d1;", 32);
    check_unpack("mov.b64 {%r1, _}, %d1;", 32);
    check_unpack("mov.b64 {_, %r2}, %d1;", 32);
    check_unpack("mov.b64 {%h1, %h2, %h3, %h4}, %d1;", 16);
    check_unpack("mov.b32 {%b1, %b2, %b3, %b4}, %r1;", 8);
    check_unpack("mov.b128 {%d1, %d2}, %q1;", 64);
    check_unpack("mov.b128 {%r1, %r2, %r3, %r4}, %q1;", 32);
}

TESTS(
    {logic, "logic"},
    {lop3_has_256_functions, "lop3 has 256 functions"},
    {lop3_with_a_predicate, "lop3 with a predicate"},
    {shifts_clamp_their_amounts, "shifts clamp their amounts"},
    {prmt_in_all_modes, "prmt in all modes"},
    {setp_compares_every_type, "setp and set compare every type"},
    {setp_inverts_and_flushes, "setp inverts and flushes"},
    {selections_and_moves, "selections and moves"},
    {vectors_are_unpacked, "vectors are unpacked"})
