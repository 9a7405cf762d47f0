/* mma: its rarer forms, whole instructions: single bits, f64, m8n8k4 on f16, block scales. */
#include "check.h"
#include "mma_registers.h"

/* ---- single bits */

static void try_bits(int rows, int k, const char *op)
{
    struct mma_machine machine;
    char mnemonic[200], text[500], why[2000] = "";
    snprintf(mnemonic, sizeof mnemonic, "mma.sync.aligned.m%dn8k%d.row.col.s32.b1.b1.s32.%s.popc", rows, k, op);
    put_instruction(text, sizeof text, mnemonic, false, rows / 4, rows * k / 32 / WARP, 8 * k / 32 / WARP, rows / 4,
                    "");
    if (!mma_open(&machine, "h200", "sm_90", text, false, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    make_integers(k, 1);
    clear_run();
    pack_a(rows, k, 1, 0);
    pack_b(k, 1, 0);
    pack_c(rows, false, true);
    mma_execute(&machine, &run);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < 8; col++) {
            uint32_t want = (uint32_t)m.ci[row][col];
            for (int i = 0; i < k; i++)
                want += op[0] == 'a' ? m.a[row][i] & m.b[i][col] : m.a[row][i] ^ m.b[i][col];
            CHECK_EQ(result(row, col, false), want);
        }
    mma_close(&machine);
}

static void single_bits(void)
{
    for (int and = 0; and < 2; and++) {
        try_bits(8, 128, and ? "and" : "xor");
        try_bits(16, 128, and ? "and" : "xor");
        try_bits(16, 256, and ? "and" : "xor");
    }
}

/* ---- f64: each step of the chain, rounded as asked, worked out with long double's sum of an exact product */

static double code_double(uint64_t code)
{
    double d;
    memcpy(&d, &code, 8);
    return d;
}

static void try_double(int rows, int k, const char *rounding)
{
    static double a[16][16], b[16][8], c[16][8];
    struct mma_machine machine;
    char mnemonic[200], text[500], why[2000] = "";
    snprintf(mnemonic, sizeof mnemonic, "mma.sync.aligned.m%dn8k%d.row.col.f64.f64.f64.f64%s", rows, k, rounding);
    put_instruction(text, sizeof text, mnemonic, true, rows / 4, rows * k / WARP, 8 * k / WARP, rows / 4, "");
    if (!mma_open(&machine, "h200", "sm_90", text, true, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    clear_run();
    /* Small integers over 3 and one term that makes every sum round: exact references come from integers alone. */
    for (int i = 0; i < 16 * 16; i++)
        a[i / 16][i % 16] = below(2) ? below(1 << 20) : -below(1 << 20);
    for (int i = 0; i < 16 * 8; i++) {
        b[i / 8][i % 8] = below(1 << 20);
        c[i / 8][i % 8] = ldexp(1 + below(1000), 50);
    }
    for (int lane = 0; lane < WARP; lane++) {
        for (int i = 0; i < rows * k / WARP; i++) {
            struct place p = fragment_a(lane, i, rows, 1);
            memcpy(&run.a[i][lane], &a[p.row][p.col], 8);
        }
        for (int i = 0; i < 8 * k / WARP; i++) {
            struct place p = fragment_b(lane, i, 1);
            memcpy(&run.b[i][lane], &b[p.row][p.col], 8);
        }
        for (int i = 0; i < rows / 4; i++) {
            struct place p = fragment_c(lane, i);
            memcpy(&run.c[i][lane], &c[p.row][p.col], 8);
        }
    }
    mma_execute(&machine, &run);
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < rows / 4; i++) {
            struct place p = fragment_c(lane, i);
            __int128 sum = (__int128)c[p.row][p.col];
            for (int j = 0; j < k; j++) {
                sum += (__int128)a[p.row][j] * (__int128)b[j][p.col];
                /* To 53 bits: drop what is below, round by the mode. */
                int drop = 0;
                while (sum >> drop > (__int128)1 << 53 || -(sum >> drop) > (__int128)1 << 53)
                    drop++;
                __int128 unit = (__int128)1 << drop, down = sum / unit * unit, rest = sum - down;
                if (rest < 0) {         /* floor */
                    down -= unit;
                    rest += unit;
                }
                bool up = rounding[0] == 0 || rounding[2] == 'n' ?
                              2 * rest > unit || (2 * rest == unit && down / unit % 2 != 0) :
                          rounding[2] == 'p' ? rest > 0 : rounding[2] == 'z' ? rest > 0 && sum < 0 : false;
                sum = up ? down + unit : down;
            }
            if (code_double(run.d[i][lane]) != (double)sum)
                printf("%s: %a, not %a\n", text, code_double(run.d[i][lane]), (double)sum);
            CHECK(code_double(run.d[i][lane]) == (double)sum);
        }
    mma_close(&machine);
}

static void doubles(void)
{
    static const char *const rounding[] = { "", ".rn", ".rz", ".rm", ".rp" };
    for (int i = 0; i < 5; i++) {
        try_double(8, 4, rounding[i]);
        try_double(16, 4, rounding[i]);
        try_double(16, 8, rounding[i]);
        try_double(16, 16, rounding[i]);
    }
}

/* ---- m8n8k4 on f16 */

static float half_value(uint32_t code)
{
    struct value v = value_of(format_of(T_F16), code);
    return v.sign * ldexpf((float)v.significand, v.exponent - 10);
}

/* As the routine does it that ptxas puts in its place; each long double is exact before it becomes a float. */
static float reference_884(const uint32_t *a, const uint32_t *b, float c, bool half)
{
    long double x[4];
    float sum = 0, pair[2];
    for (int k = 0; k < 4; k++) {
        x[k] = (long double)half_value(a[k]) * half_value(b[k]);
        sum = (float)(sum + x[k]);
    }
    if (!half)
        return c + sum;
    for (int i = 0; i < 2; i++)
        pair[i] = (float)((long double)(float)x[2 * i] + x[2 * i + 1]);
    sum = c + pair[0];
    return round_reference(sum + pair[1], MMA_TO_F16);
}

static void try_884(bool acol, bool bcol, bool dhalf, bool chalf)
{
    static uint32_t a[4][8][4], b[4][4][8];
    static float c[4][8][8];
    struct mma_machine machine;
    char mnemonic[200], text[500], why[2000] = "";
    snprintf(mnemonic, sizeof mnemonic, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s", acol ? "col" : "row",
             bcol ? "col" : "row", dhalf ? "f16" : "f32", chalf ? "f16" : "f32");
    put_instruction(text, sizeof text, mnemonic, false, dhalf ? 4 : 8, 2, 2, chalf ? 4 : 8, "");
    if (!mma_open(&machine, "h200", "sm_90", text, false, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    clear_run();
    for (int i = 0; i < 4 * 32; i++) {
        a[i / 32][i % 32 / 4][i % 4] = make(format_of(T_F16), MODERATE);
        b[i / 32][i % 32 / 8][i % 8] = make(format_of(T_F16), MODERATE);
    }
    for (int i = 0; i < 4 * 64; i++)
        c[i / 64][i % 64 / 8][i % 8] = round_reference(make_c(MODERATE), MMA_TO_F16);
    for (int lane = 0; lane < WARP; lane++) {
        int which = fragment_884_which(lane);
        for (int i = 0; i < 4; i++) {
            struct place p = fragment_884_a(lane, i, acol), q = fragment_884_b(lane, i, bcol);
            pack(run.a, lane, i, 16, 0, a[which][p.row][p.col]);
            pack(run.b, lane, i, 16, 0, b[which][q.row][q.col]);
        }
        for (int i = 0; i < 8; i++) {
            struct place p = fragment_884_c(lane, i, !chalf);
            if (chalf)
                pack(run.c, lane, i, 16, 0, mma_half_bits(c[which][p.row][p.col]));
            else
                run.c[i][lane] = code_of(c[which][p.row][p.col]);
        }
    }
    mma_execute(&machine, &run);
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < 8; i++) {
            int which = fragment_884_which(lane);
            struct place p = fragment_884_c(lane, i, !dhalf);
            uint32_t column[4];
            for (int k = 0; k < 4; k++)
                column[k] = b[which][k][p.col];
            float want = reference_884(a[which][p.row], column, c[which][p.row][p.col], dhalf);
            if (dhalf)
                CHECK_EQ(run.d[i / 2][lane] >> 16 * (i % 2) & 0xffff, mma_half_bits(want));
            else
                CHECK_EQ((uint32_t)run.d[i][lane], code_of(want));
        }
    mma_close(&machine);
}

static void small_multiplications(void)
{
    for (int i = 0; i < 4; i++) {
        try_884(i & 1, i & 2, false, false);
        try_884(i & 1, i & 2, true, true);
        try_884(i & 1, i & 2, false, true);
    }
}

/* ---- block scales */

static float scale_reference(enum type t, uint32_t byte)
{
    if (t == T_UE8M0)
        return byte == 255 ? NAN : ldexpf(1, (int)byte - 127);
    struct value v = value_of(format_of(T_E4M3), byte & 0x7f);
    return v.kind == NOT_A_NUMBER ? NAN : ldexpf((float)v.significand, v.exponent - 3);
}

/* Four sums of a quarter of k each, scaled, and C: aligned to 35 bits. */
static float fp4_reference(int row, int col, int k, enum type st, const uint32_t *sa, const uint32_t *sb)
{
    long double sum[4], top = 0;
    int exponent[5], most = -100000;
    for (int q = 0; q < 4; q++) {
        sum[q] = 0;
        exponent[q] = 0;
        for (int half = 0; half < 2; half++) {
            uint32_t byte = half ? sb[q] : sa[q];
            float s = scale_reference(st, byte);
            if (isnan(s))
                return NAN;
        }
        for (int i = q * k / 4; i < (q + 1) * k / 4; i++) {
            struct value x = value_of(format_of(T_E2M1), m.a[row][i]), y = value_of(format_of(T_E2M1), m.b[i][col]);
            if (m.stored[row][i])
                sum[q] += ldexpl((long double)(x.sign * y.sign * x.significand * y.significand),
                                 x.exponent + y.exponent - 2);
        }
        for (int half = 0; half < 2; half++) {
            uint32_t byte = half ? sb[q] : sa[q];
            struct value v = st == T_UE8M0 ? (struct value){ FINITE, 1, (int)byte - 127, 8 } :
                             value_of(format_of(T_E4M3), byte & 0x7f);
            sum[q] *= (long double)v.significand / 8;
            exponent[q] += v.exponent;
        }
        most = exponent[q] > most ? exponent[q] : most;
    }
    struct value c = value_of(format_of(T_F32), code_of(m.c[row][col]));
    if (c.kind == NOT_A_NUMBER)
        return NAN;
    if (c.kind == INFINITE)
        return m.c[row][col];
    exponent[4] = c.exponent;
    most = exponent[4] > most ? exponent[4] : most;
    for (int q = 0; q < 4; q++)
        top += truncl(ldexpl(sum[q], exponent[q] - most + 35));
    top += c.sign * truncl(ldexpl((long double)c.significand, c.exponent - 23 - most + 35));
    return round_reference(ldexpl(top, most - 35), MMA_TO_F32);
}

struct scale_form { enum type a, b; int k; bool sparse; const char *kind, *vec; enum type scale; int count; };

static void try_scaled(const struct scale_form *f)
{
    static uint32_t sa[16][4], sb[8][4];
    struct mma_machine machine;
    char mnemonic[300], text[600], why[2000] = "", extra[200];
    bool fp4 = f->k == 64 + 64 * f->sparse && f->count > 1;
    int bits = fp4 ? 4 : 8, stored = f->sparse ? f->k / 2 : f->k;
    int byte_a = f->count == 1 ? below(4) : f->count == 2 ? 2 * below(2) : 0, thread_a = below(2);
    int byte_b = f->count == 1 ? below(4) : f->count == 2 ? 2 * below(2) : 0, thread_b = below(4);
    snprintf(mnemonic, sizeof mnemonic, "mma%s.sync.aligned.m16n8k%d.row.col.kind::%s.block_scale%s.f32.%s.%s.f32.%s",
             f->sparse ? ".sp::ordered_metadata" : "", f->k, f->kind, f->vec, text_of(f->a), text_of(f->b),
             f->scale == T_UE8M0 ? "ue8m0" : "ue4m3");
    snprintf(extra, sizeof extra, "%s,%%e1,{%d,%d},%%e2,{%d,%d}", f->sparse ? ",%e0,0" : "", byte_a, thread_a, byte_b,
             thread_b);
    put_instruction(text, sizeof text, mnemonic, false, 4, 16 * stored * bits / 32 / WARP,
                    8 * f->k * bits / 32 / WARP, 4, extra);
    if (!mma_open(&machine, rtx.device, rtx.target, text, false, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    for (int times = 0; times < 12; times++) {
        struct float_form as = { f->a, f->b, f->k, false, f->sparse, "" };
        make_matrices(&as, times % 2 ? MODERATE : fp4 ? ANY_BITS : times % 4 ? INTEGERS : WIDE);
        for (int i = 0; i < 128; i++)
            m.c[i / 8][i % 8] = times % 3 ? make_c(MODERATE) : make_c(ANY_BITS);
        clear_run();
        if (f->sparse) {
            pack_sparse(f->k, bits, bits == 4 ? 0 : shift_of(f->a), 0, true);
        } else {
            memset(m.stored, 1, sizeof m.stored);
            pack_a(16, f->k, bits, bits == 4 ? 0 : shift_of(f->a));
        }
        pack_b(f->k, bits, bits == 4 ? 0 : shift_of(f->b));
        pack_c(16, false, false);
        for (int lane = 0; lane < WARP; lane++)
            for (int e = 1; e < 3; e++) {
                uint32_t word = 0;
                for (int byte = 0; byte < 4; byte++)
                    word |= (times == 11 && !below(9) ? 0xffu : f->scale == T_UE8M0 ? 100u + (uint32_t)below(50) :
                             (uint32_t)below(127)) << 8 * byte;
                run.e[e][lane] = word;
            }
        for (int q = 0; q < 4; q++) {
            for (int row = 0; row < 16; row++)  /* lanes 2t, 2t+1 of the group hold rows r, r + 8 */
                sa[row][q] = run.e[1][row % 8 * 4 + 2 * thread_a + row / 8] >> 8 * (byte_a + q * f->count / 4) & 255;
            for (int col = 0; col < 8; col++)
                sb[col][q] = run.e[2][col * 4 + thread_b] >> 8 * (byte_b + q * f->count / 4) & 255;
        }
        mma_execute(&machine, &run);
        CHECK_EQ(run.fault, FAULT_NONE);
        for (int row = 0; row < 16; row++)
            for (int col = 0; col < 8; col++) {
                uint32_t a[MAX_K], b[MAX_K];
                int n = 0;
                for (int i = 0; i < f->k; i++)
                    if (m.stored[row][i]) {
                        a[n] = m.a[row][i];
                        b[n++] = m.b[i][col];
                    }
                float want = fp4 ? fp4_reference(row, col, f->k, f->scale, sa[row], sb[col]) :
                    sa[row][0] == 255 || sb[col][0] == 255 ? NAN :
                    scaled_reference(format_of(f->a), a, format_of(f->b), b, n, m.c[row][col],
                                     (int)sa[row][0] + (int)sb[col][0] - 254, &(struct mma_how){ 25, 0, MMA_TO_F32 });
                float got;
                uint32_t code = result(row, col, false);
                memcpy(&got, &code, 4);
                if (!same(got, want)) {
                    printf("%s: %d,%d is %a, not %a\n", text, row, col, got, want);
                    CHECK(!"equal to the bit");
                    row = col = 16;
                }
            }
    }
    mma_close(&machine);
}

static void block_scales(void)
{
    static const enum type narrow[] = { T_E4M3, T_E5M2, T_E3M2, T_E2M3, T_E2M1 };
    for (int i = 0; i < 25; i++)
        try_scaled(&(struct scale_form){ narrow[i / 5], narrow[i % 5], i % 3 ? 32 : 64, i % 3 == 0, "mxf8f6f4",
                                         i % 2 ? ".scale_vec::1X" : "", T_UE8M0, 1 });
    for (int sparse = 0; sparse < 2; sparse++) {
        int k = sparse ? 128 : 64;
        try_scaled(&(struct scale_form){ T_E2M1, T_E2M1, k, sparse, "mxf4", "", T_UE8M0, 2 });
        try_scaled(&(struct scale_form){ T_E2M1, T_E2M1, k, sparse, "mxf4", ".scale_vec::2X", T_UE8M0, 2 });
        try_scaled(&(struct scale_form){ T_E2M1, T_E2M1, k, sparse, "mxf4nvf4", ".scale_vec::2X", T_UE8M0, 2 });
        try_scaled(&(struct scale_form){ T_E2M1, T_E2M1, k, sparse, "mxf4nvf4", ".scale_vec::4X", T_UE8M0, 4 });
        try_scaled(&(struct scale_form){ T_E2M1, T_E2M1, k, sparse, "mxf4nvf4", ".scale_vec::4X", T_UE4M3, 4 });
    }
}

TESTS({ single_bits, "mma on single bits" },
      { doubles, "mma on f64: a chain of fused multiply-adds in each rounding mode" },
      { small_multiplications, "mma.m8n8k4 on f16 in each layout" },
      { block_scales, "mma with block scales, dense and sparse" })
