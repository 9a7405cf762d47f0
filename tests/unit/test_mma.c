/* mma: mma.sync and mma.sp on the devices that have them, whole instructions from text to registers, against the scalar
 * reference. Matrices are made as codes, put into registers by the fragment maps (test_mma_fragments), and the
 * reference adds up in the steps that each chip takes.
 */
#include "check.h"
#include "mma_registers.h"

/* ---- floating point */

/* The f16 that an fp8 number becomes on chips that multiply fp8 as f16. */
static uint32_t as_half(enum type t, uint32_t code)
{
    if (t == T_E5M2)
        return code << 8;
    struct value v = value_of(format_of(t), code);
    uint32_t sign = v.sign < 0 ? 0x8000 : 0;
    if (v.kind == NOT_A_NUMBER)
        return 0x7fff;
    return sign | mma_half_bits(ldexpf((float)v.significand, v.exponent - format_of(t)->fraction));
}

/* Which step of the chip adds up column k. */
static int step_of(const struct chip *chip, const struct float_form *f, int k)
{
    int products = f->sparse ? f->k / 2 : f->k;
    if (is_narrow(f->a) && (chip->cc == 90 || chip->cc == 100))
        return f->sparse ? k % 8 / 4 : k % 4 / 2;
    if (chip->cc == 80 && products * bits_of(f->a) == 256)
        return k / (f->k / 2);
    return 0;
}

static float expected(const struct chip *chip, const struct float_form *f, int row, int col)
{
    bool through_half = is_narrow(f->a) && (chip->cc == 90 || chip->cc == 100);
    struct mma_how how = { chip->cc == 80 ? 24 : 25, 0, f->half ? MMA_TO_F16 : MMA_TO_F32 };
    float sum = through_half ? 0 : m.c[row][col];
    for (int step = 0; step < 2; step++) {
        uint32_t a[MAX_K], b[MAX_K];
        int n = 0;
        for (int k = 0; k < f->k; k++) {
            if (step_of(chip, f, k) != step || (f->sparse && !m.stored[row][k]))
                continue;
            a[n] = through_half ? as_half(f->a, m.a[row][k]) : m.a[row][k];
            b[n++] = through_half ? as_half(f->b, m.b[k][col]) : m.b[k][col];
        }
        const struct format *fa = format_of(through_half ? T_F16 : f->a), *fb = format_of(through_half ? T_F16 : f->b);
        if (n)
            sum = reference(fa, a, fb, b, n, sum, &how);
    }
    if (!through_half)
        return sum;
    return f->half ? round_reference((long double)sum + m.c[row][col], MMA_TO_F16) : sum + m.c[row][col];
}

static bool check_float(const struct chip *chip, const struct float_form *f, const char *text, int in)
{
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 8; col++) {
            float want = expected(chip, f, row, col);
            uint32_t got = result(row, col, f->half), code = f->half ? mma_half_bits(want) : code_of(want);
            if (isnan(want))
                code = f->half ? 0x7fff : 0x7fffffff;
            if (got == code)
                continue;
            printf("%s on %s, %s: %d,%d is %x, not %x\n", text, chip->device, input_name[in], row, col, got, code);
            CHECK(!"equal to the bit");
            return false;
        }
    return true;
}

static void try_float(const struct chip *chip, const struct float_form *f, const char *variant, bool ordered)
{
    struct mma_machine machine;
    char mnemonic[200], text[500], why[2000] = "", extra[20] = "";
    int bits = bits_of(f->a), cd = f->half ? 2 : 4, stored = f->sparse ? f->k / 2 : f->k;
    int chunk = bits == 32 ? 2 : 4, selectors = f->sparse ? 16 / (f->k / chunk) : 1, selector = below(selectors);
    const char *cd_type = f->half ? "f16" : "f32";
    snprintf(mnemonic, sizeof mnemonic, "mma%s.sync.aligned.m16n8k%d.row.col%s.%s.%s.%s.%s", variant, f->k, f->kind,
             cd_type, text_of(f->a), text_of(f->b), cd_type);
    if (f->sparse)
        snprintf(extra, sizeof extra, ",%%e0,%d", selector);
    put_instruction(text, sizeof text, mnemonic, false, cd, 16 * stored * bits / 32 / WARP,
                    8 * f->k * bits / 32 / WARP, cd, extra);
    if (!mma_open(&machine, chip->device, chip->target, text, false, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    for (int in = 0; in < INPUTS; in++)
        for (int times = 0; times < 3; times++) {
            make_matrices(f, in);
            clear_run();
            if (f->sparse)
                pack_sparse(f->k, bits, shift_of(f->a), selector, ordered);
            else
                pack_a(16, f->k, bits, shift_of(f->a));
            pack_b(f->k, bits, shift_of(f->b));
            pack_c(16, f->half, false);
            mma_execute(&machine, &run);
            CHECK_EQ(run.fault, FAULT_NONE);
            if (!check_float(chip, f, text, in))
                break;
        }
    mma_close(&machine);
}

static void dense_float(void)
{
    static const struct chip *const chips[] = { &a100, &h200, &b200, &rtx };
    for (int i = 0; i < 4; i++) {
        for (int half = 0; half < 2; half++) {
            try_float(chips[i], &(struct float_form){ T_F16, T_F16, 8, half, false, "" }, "", false);
            try_float(chips[i], &(struct float_form){ T_F16, T_F16, 16, half, false, "" }, "", false);
        }
        try_float(chips[i], &(struct float_form){ T_BF16, T_BF16, 8, false, false, "" }, "", false);
        try_float(chips[i], &(struct float_form){ T_BF16, T_BF16, 16, false, false, "" }, "", false);
        try_float(chips[i], &(struct float_form){ T_TF32, T_TF32, 4, false, false, "" }, "", false);
        try_float(chips[i], &(struct float_form){ T_TF32, T_TF32, 8, false, false, "" }, "", false);
        for (int half = 0; half < 2 && i > 0; half++) {
            try_float(chips[i], &(struct float_form){ T_E4M3, T_E5M2, 32, half, false, "" }, "", false);
            try_float(chips[i], &(struct float_form){ T_E5M2, T_E4M3, 16, half, false, "" }, "", false);
            try_float(chips[i], &(struct float_form){ T_E4M3, T_E4M3, 16, half, false, "" }, "", false);
        }
    }
    static const enum type narrow[] = { T_E4M3, T_E5M2, T_E3M2, T_E2M3, T_E2M1 };
    for (int i = 0; i < 25; i++)
        try_float(&rtx, &(struct float_form){ narrow[i / 5], narrow[i % 5], 32, i % 2, false, ".kind::f8f6f4" }, "",
                  false);
}

static void sparse_float(void)
{
    static const struct chip *const chips[] = { &a100, &h200, &rtx };
    for (int i = 0; i < 3; i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            const char *variant = ordered ? ".sp::ordered_metadata" : ".sp";
            for (int times = 0; times < 2; times++) {   /* other selectors */
                try_float(chips[i], &(struct float_form){ T_F16, T_F16, 16, times, true, "" }, variant, ordered);
                try_float(chips[i], &(struct float_form){ T_F16, T_F16, 32, times, true, "" }, variant, ordered);
                try_float(chips[i], &(struct float_form){ T_BF16, T_BF16, 32, false, true, "" }, variant, ordered);
                try_float(chips[i], &(struct float_form){ T_TF32, T_TF32, 8, false, true, "" }, variant, ordered);
                try_float(chips[i], &(struct float_form){ T_TF32, T_TF32, 16, false, true, "" }, variant, ordered);
            }
            if (i)
                try_float(chips[i], &(struct float_form){ T_E5M2, T_E4M3, 64, false, true, "" }, variant, ordered);
        }
    for (int half = 0; half < 2; half++)
        try_float(&rtx, &(struct float_form){ T_E2M1, half ? T_E5M2 : T_E3M2, 64, half, true, ".kind::f8f6f4" },
                  ".sp::ordered_metadata", true);
}

/* ---- integers */

static const char *integer_text(enum type t) { return t == T_U8 ? "u8" : t == T_S8 ? "s8" : t == T_U4 ? "u4" : "s4"; }

static void try_integer(const struct chip *chip, int rows, enum type at, enum type bt, int k, bool saturate,
                        bool sparse)
{
    struct mma_machine machine;
    char mnemonic[200], text[500], why[2000] = "", extra[20] = "";
    int bits = at == T_U8 || at == T_S8 ? 8 : 4, cd = rows / 4, chunk = bits == 4 ? 8 : 4;
    int selector = sparse ? below(16 / (k / chunk)) : 0;
    snprintf(mnemonic, sizeof mnemonic, "mma%s.sync.aligned.m%dn8k%d.row.col%s.s32.%s.%s.s32",
             sparse ? ".sp::ordered_metadata" : "", rows, k, saturate ? ".satfinite" : "", integer_text(at),
             integer_text(bt));
    if (sparse)
        snprintf(extra, sizeof extra, ",%%e0,%d", selector);
    put_instruction(text, sizeof text, mnemonic, false, cd, rows * (sparse ? k / 2 : k) * bits / 32 / WARP,
                    8 * k * bits / 32 / WARP, cd, extra);
    if (!mma_open(&machine, chip->device, chip->target, text, false, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    for (int times = 0; times < 6; times++) {
        make_integers(k, bits);
        clear_run();
        if (sparse)
            pack_sparse(k, bits, 0, selector, true);
        else
            pack_a(rows, k, bits, 0);
        pack_b(k, bits, 0);
        pack_c(rows, false, true);
        mma_execute(&machine, &run);
        for (int row = 0; row < rows; row++)
            for (int col = 0; col < 8; col++) {
                int64_t want = m.ci[row][col];
                for (int i = 0; i < k; i++)
                    if (!sparse || m.stored[row][i])
                        want += integer_of(at, m.a[row][i]) * integer_of(bt, m.b[i][col]);
                if (saturate)
                    want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
                CHECK_EQ((int32_t)result(row, col, false), (int32_t)want);
            }
    }
    mma_close(&machine);
}

static void integers(void)
{
    static const enum type eight[] = { T_U8, T_S8 }, four[] = { T_U4, T_S4 };
    for (int i = 0; i < 8; i++) {
        enum type a8 = eight[i & 1], b8 = eight[i >> 1 & 1], a4 = four[i & 1], b4 = four[i >> 1 & 1];
        bool saturate = i & 4;
        try_integer(&h200, 8, a8, b8, 16, saturate, false);
        try_integer(&h200, 16, a8, b8, 16, saturate, false);
        try_integer(&h200, 16, a8, b8, 32, saturate, false);
        try_integer(&h200, 8, a4, b4, 32, saturate, false);
        try_integer(&h200, 16, a4, b4, 32, saturate, false);
        try_integer(&h200, 16, a4, b4, 64, saturate, false);
        try_integer(&h200, 16, a8, b8, 32, saturate, true);
        try_integer(&h200, 16, a8, b8, 64, saturate, true);
        try_integer(&h200, 16, a4, b4, 64, saturate, true);
        try_integer(&h200, 16, a4, b4, 128, saturate, true);
    }
}

/* ---- what must be refused, what must be a fault, and registers used twice */

/* `form` is what follows mma.sync.aligned; na registers of A. */
static void expect_refusal(const char *device, const char *target, const char *form, int nd, int na, const char *extra)
{
    struct mma_machine machine;
    char mnemonic[200], text[500], why[2000] = "";
    snprintf(mnemonic, sizeof mnemonic, "mma.sync.aligned.%s", form);
    put_instruction(text, sizeof text, mnemonic, false, nd, na, 2, 4, extra);
    if (!mma_open(&machine, device, target, text, false, why, sizeof why))
        return;
    printf("not refused: %s\n", text);
    CHECK(!"refused");
    mma_close(&machine);
}

static void refusals(void)
{
    expect_refusal("h200", "sm_90", "m16n8k16.row.row.f32.f16.f16.f32", 4, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k16.row.col.f32.f16.bf16.f32", 4, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k16.row.col.f16.f16.f16.f32", 2, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k16.row.col.f32.f16.f16.f32", 4, 3, "");
    expect_refusal("h200", "sm_90", "m16n8k32.row.col.f32.f16.f16.f32", 4, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k16.row.col.satfinite.f32.f16.f16.f32", 4, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k16.row.col.rz.f32.f16.f16.f32", 4, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", 4, 4, "");
    expect_refusal("a100", "sm_80", "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, "");
    expect_refusal("h200", "sm_90", "m16n8k32.row.col.s32.s8.s4.s32", 4, 4, "");
    expect_refusal("rtx5090", "sm_120a", "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32"
                   ".ue4m3", 4, 4, ",%e1,{0,0},%e2,{0,0}");
}

/* Runs `text` on registers full of ones, f16 1.0 in a and b; the fault. */
static enum fault_id fault_of(const char *device, const char *target, const char *text, uint32_t e0)
{
    struct mma_machine machine;
    char why[2000] = "";
    if (!mma_open(&machine, device, target, text, false, why, sizeof why)) {
        CHECK_STR(why, "");
        return FAULT_NONE;
    }
    clear_run();
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < 8; i++) {
            run.a[i][lane] = run.b[i][lane] = 0x3c003c00;
            run.e[0][lane] = e0;
        }
    mma_execute(&machine, &run);
    mma_close(&machine);
    return run.fault;
}

static void faults(void)
{
    const char *sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%d0,%d1,%d2,%d3},{%a0,%a1},{%b0,%b1},{%c0,%c1,%c2,%c3},%e0,0;";
    CHECK_EQ(fault_of("h200", "sm_90", sparse, 0x44444444), FAULT_NONE);
    CHECK_EQ(fault_of("h200", "sm_90", sparse, 0x44444144), FAULT_BAD_OPERAND);    /* 1, 0: not in order */
    CHECK_EQ(fault_of("h200", "sm_90", sparse, 0x44444544), FAULT_BAD_OPERAND);    /* 1, 1 */
    CHECK_EQ(fault_of("h200", "sm_90", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                      "{%d0,%d1,%d2,%d3},{%a0,%a1},{%b0,%b1},{%c0,%c1,%c2,%c3},%e0,0;", 0x44444144), FAULT_NONE);
    CHECK_EQ(fault_of("h200", "sm_90", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3},"
                      "{%a0,%a1,%a2,%a3},{%b0,%b1,%b2,%b3},{%c0,%c1,%c2,%c3},%e0,2;", 0x44444444), FAULT_BAD_OPERAND);
}

/* D in the registers of C, of A, of B. */
static void registers_twice(void)
{
    static const char *const places[] = { "%c0,%c1,%c2,%c3", "%a0,%a1,%a2,%a3", "%b1,%b0,%a3,%c2" };
    static const char *const moves[] = {
        "mov.b32 %d0,%c0; mov.b32 %d1,%c1; mov.b32 %d2,%c2; mov.b32 %d3,%c3;",
        "mov.b32 %d0,%a0; mov.b32 %d1,%a1; mov.b32 %d2,%a2; mov.b32 %d3,%a3;",
        "mov.b32 %d0,%b1; mov.b32 %d1,%b0; mov.b32 %d2,%a3; mov.b32 %d3,%c2;",
    };
    const struct float_form f = { T_F16, T_F16, 16, false, false, "" };
    for (int i = 0; i < 3; i++) {
        struct mma_machine machine;
        char text[400], why[2000] = "";
        snprintf(text, sizeof text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s},{%%a0,%%a1,%%a2,%%a3},"
                 "{%%b0,%%b1},{%%c0,%%c1,%%c2,%%c3}; %s", places[i], moves[i]);
        if (!mma_open(&machine, "h200", "sm_90", text, false, why, sizeof why)) {
            CHECK_STR(why, "");
            return;
        }
        make_matrices(&f, MODERATE);
        clear_run();
        pack_a(16, 16, 16, 0);
        pack_b(16, 16, 0);
        pack_c(16, false, false);
        mma_execute(&machine, &run);
        check_float(&h200, &f, text, MODERATE);
        mma_close(&machine);
    }
}

TESTS({ dense_float, "mma on f16, bf16, tf32, fp8, fp6, fp4: to the bit, on each chip" },
      { sparse_float, "mma.sp on floating-point types, ordered metadata or not" },
      { integers, "mma and mma.sp on integers: wrapped and saturated" },
      { refusals, "forms that do not exist are refused" },
      { faults, "invalid metadata and selectors are faults" },
      { registers_twice, "D may lie in registers of A, B and C" })
