/* wmma, ldmatrix, stmatrix, movmatrix: whole instructions, against loops over the matrices as they lie in memory.
 *
 * wmma is tested as a program uses it: load A, B and C, multiply, store D; that its fragments hold each element once is
 * test_mma_fragments' business.
 */
#include "check.h"
#include "mma_registers.h"

/* ---- wmma: load, multiply, store */

struct wmma_case {
    int rows, cols, k;
    enum type a, c, d;
    bool acol, bcol, ccol, dcol, global, generic;
    int pad;                    /* elements beyond a line, between lines */
};

enum { AT_A = 0, AT_B = 2048, AT_C = 4096, AT_D = 6144 };

static int bits_in_memory(enum type t)
{
    switch (t) {
    case T_F64: return 64;
    case T_F16: case T_BF16: return 16;
    case T_U8: case T_S8: return 8;
    case T_U4: case T_S4: return 4;
    case T_B1: return 1;
    default: return 32;
    }
}

static const char *name_of(enum type t)
{
    static const char *const names[T_COUNT] = { [T_F16] = "f16", [T_BF16] = "bf16", [T_TF32] = "tf32", [T_F64] = "f64",
        [T_U8] = "u8", [T_S8] = "s8", [T_U4] = "u4", [T_S4] = "s4", [T_B1] = "b1", [T_S32] = "s32", [T_F32] = "f32" };
    return names[t];
}

/* Where element (row, col) of a rows x cols matrix lies: bits from its start. */
static int bit_of(int row, int col, int rows, int cols, bool col_major, int pad, int bits)
{
    return (col_major ? col * (rows + pad) + row : row * (cols + pad) + col) * bits;
}

static void put_bits(uint8_t *memory, int at, int bits, uint64_t code)
{
    for (int i = 0; i < bits; i++) {
        memory[(at + i) / 8] &= (uint8_t)~(1 << (at + i) % 8);
        memory[(at + i) / 8] |= (uint8_t)((code >> i & 1) << (at + i) % 8);
    }
}

static uint64_t get_bits(const uint8_t *memory, int at, int bits)
{
    uint64_t code = 0;
    for (int i = 0; i < bits; i++)
        code |= (uint64_t)(memory[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return code;
}

static int registers_of(enum type t, int rows, int cols, bool is_c)
{
    return t == T_F16 && !is_c ? 8 : rows * cols * bits_in_memory(t) / WARP / (t == T_F64 ? 64 : 32);
}

static void put_load(char *text, size_t size, const struct wmma_case *c, char matrix, enum type t, int rows, int cols,
                     bool col_major, int at, bool wide)
{
    append(text, size, "wmma.load.%c.sync.aligned.%s.m%dn%dk%d%s.%s ", matrix, col_major ? "col" : "row", c->rows,
           c->cols, c->k, c->generic ? "" : c->global ? ".global" : ".shared", name_of(t));
    put_vector(text, size, wide ? matrix - 32 : matrix, registers_of(t, rows, cols, matrix == 'c'));
    append(text, size, ",[%s+%d]", c->global ? "%g" : c->generic ? "%t" : "%s", at);
    if (c->pad)
        append(text, size, ",%d", (col_major ? rows : cols) + c->pad);
    append(text, size, ";\n");
}

static void wmma_text(char *text, size_t size, const struct wmma_case *c)
{
    bool wide = c->a == T_F64;
    char a = wide ? 'A' : 'a', b = wide ? 'B' : 'b', r = wide ? 'C' : 'c', d = wide ? 'D' : 'd';
    text[0] = 0;
    if (c->generic && !c->global)
        append(text, size, "cvt.u64.u32 %%t, %%s; cvta.shared.u64 %%t, %%t;\n");
    put_load(text, size, c, 'a', c->a, c->rows, c->k, c->acol, AT_A, wide);
    put_load(text, size, c, 'b', c->a, c->k, c->cols, c->bcol, AT_B, wide);
    put_load(text, size, c, 'c', c->c, c->rows, c->cols, c->ccol, AT_C, wide);
    append(text, size, "wmma.mma%s.sync.aligned.%s.%s.m%dn%dk%d.%s", c->a == T_B1 ? ".xor.popc" : "",
           c->acol ? "col" : "row", c->bcol ? "col" : "row", c->rows, c->cols, c->k, name_of(c->d));
    if (c->a != T_F16)
        append(text, size, ".%s.%s", name_of(c->a), name_of(c->a));
    append(text, size, ".%s ", name_of(c->c));
    put_vector(text, size, d, registers_of(c->d, c->rows, c->cols, true));
    append(text, size, ",");
    put_vector(text, size, a, registers_of(c->a, c->rows, c->k, false));
    append(text, size, ",");
    put_vector(text, size, b, registers_of(c->a, c->k, c->cols, false));
    append(text, size, ",");
    put_vector(text, size, r, registers_of(c->c, c->rows, c->cols, true));
    append(text, size, ";\nwmma.store.d.sync.aligned.%s.m%dn%dk%d%s.%s [%s+%d],", c->dcol ? "col" : "row", c->rows,
           c->cols, c->k, c->generic ? "" : c->global ? ".global" : ".shared", name_of(c->d),
           c->global ? "%g" : c->generic ? "%t" : "%s", AT_D);
    put_vector(text, size, d, registers_of(c->d, c->rows, c->cols, true));
    if (c->pad)
        append(text, size, ",%d", (c->dcol ? c->rows : c->cols) + c->pad);
    append(text, size, ";\n");
    if (c->global)          /* the kernel ends by copying shared memory out: bring the result there */
        for (int i = 0; i < 2048; i += 128)
            append(text, size, "mul.wide.u32 %%t, %%l, 4; add.u64 %%t, %%t, %%g; ld.global.b32 %%w, [%%t+%d]; "
                   "mad.lo.u32 %%i, %%l, 4, %%s; st.shared.b32 [%%i+%d], %%w;\n", AT_D + i, AT_D + i);
}

static uint64_t integer_code(enum type t) { return any() & ((1ull << bits_in_memory(t)) - 1); }

static uint64_t narrow_code(enum type t)
{
    if (t != T_F16 && t != T_BF16 && t != T_TF32)
        return integer_code(t);
    uint32_t code = make(format_of(t), MODERATE);
    return t == T_TF32 ? code << 13 : code;
}

static uint64_t wide_code(enum type t)
{
    if (t == T_F64)
        return 0x4010000000000000ull + any();
    return t == T_S32 ? any() : make(format_of(t), MODERATE);
}

static double as_double(uint64_t code)
{
    double v;
    memcpy(&v, &code, 8);
    return v;
}

static float as_float(uint64_t code)
{
    float v;
    uint32_t low = (uint32_t)code;
    memcpy(&v, &low, 4);
    return v;
}

/* The result's code for one element, from the codes of a row, a column and C. */
static uint64_t wmma_reference(const struct wmma_case *c, const uint64_t *a, const uint64_t *b, uint64_t r)
{
    if (c->a == T_F64) {
        double sum = as_double(r);
        for (int k = 0; k < c->k; k++)
            sum = fma(as_double(a[k]), as_double(b[k]), sum);
        memcpy(&r, &sum, 8);
        return r;
    }
    if (c->d == T_S32) {
        uint32_t sum = (uint32_t)r;
        for (int k = 0; k < c->k; k++)
            sum += c->a == T_B1 ? (uint32_t)(a[k] ^ b[k]) :
                   (uint32_t)(integer_of(c->a, (uint32_t)a[k]) * integer_of(c->a, (uint32_t)b[k]));
        return sum;
    }
    bool all_half = c->c == T_F16 && c->d == T_F16;
    struct mma_how how = { 25, 0, all_half ? MMA_TO_F16 : MMA_TO_F32 };
    float sum = as_float(r);
    if (c->c == T_F16)
        mma_decode(T_F16, &r, &sum, 1);
    int step = c->a == T_TF32 ? 4 : c->k;
    for (int k0 = 0; k0 < c->k; k0 += step) {
        uint32_t x[16], y[16];
        for (int i = 0; i < step; i++) {
            x[i] = (uint32_t)a[k0 + i] >> (c->a == T_TF32 ? 13 : 0);
            y[i] = (uint32_t)b[k0 + i] >> (c->a == T_TF32 ? 13 : 0);
        }
        sum = reference(format_of(c->a), x, format_of(c->a), y, step, sum, &how);
    }
    return c->d == T_F32 ? code_of(sum) : mma_half_bits(round_reference(sum, MMA_TO_F16));
}

static void try_wmma(const struct wmma_case *c)
{
    static uint64_t a[32][128], b[32][128], r[32][32];
    static char text[8000];
    struct mma_machine machine;
    char why[2000] = "";
    int abits = bits_in_memory(c->a), cbits = bits_in_memory(c->c), dbits = bits_in_memory(c->d);
    wmma_text(text, sizeof text, c);
    if (!mma_open(&machine, "h200", "sm_90", text, c->a == T_F64, why, sizeof why)) {
        CHECK_STR(why, "");
        return;
    }
    clear_run();
    for (int k = 0; k < c->k; k++) {
        for (int row = 0; row < c->rows; row++) {
            a[row][k] = c->a == T_F64 ? 0x4000000000000000ull + any() : narrow_code(c->a);
            put_bits(run.memory + AT_A, bit_of(row, k, c->rows, c->k, c->acol, c->pad, abits), abits, a[row][k]);
        }
        for (int col = 0; col < c->cols; col++) {
            b[col][k] = c->a == T_F64 ? 0x3ff0000000000000ull + any() : narrow_code(c->a);
            put_bits(run.memory + AT_B, bit_of(k, col, c->k, c->cols, c->bcol, c->pad, abits), abits, b[col][k]);
        }
    }
    for (int row = 0; row < c->rows; row++)
        for (int col = 0; col < c->cols; col++) {
            r[row][col] = wide_code(c->c);
            int at = bit_of(row, col, c->rows, c->cols, c->ccol, c->pad, cbits);
            put_bits(run.memory + AT_C, at, cbits, r[row][col]);
        }
    mma_execute(&machine, &run);
    CHECK_EQ(run.fault, FAULT_NONE);
    for (int row = 0; row < c->rows; row++)
        for (int col = 0; col < c->cols; col++) {
            int at = bit_of(row, col, c->rows, c->cols, c->dcol, c->pad, dbits);
            uint64_t got = get_bits(run.memory + AT_D, at, dbits);
            uint64_t want = wmma_reference(c, a[row], b[col], r[row][col]);
            if (got == want)
                continue;
            printf("%s%d,%d is %llx, not %llx\n", text, row, col, (unsigned long long)got, (unsigned long long)want);
            CHECK(!"equal to the bit");
            row = col = 32;
        }
    mma_close(&machine);
}

/* All layouts, in shared and global memory, named and generic, with gaps between lines and without. */
static void try_layouts(struct wmma_case c, bool any_layout)
{
    for (int i = 0; i < 16; i++) {
        c.acol = any_layout && (i & 1);
        c.bcol = !any_layout || (i & 2);
        c.ccol = i & 4;
        c.dcol = i & 8;
        c.global = below(2);
        c.generic = below(2);
        c.pad = below(2) ? 128 / bits_in_memory(c.a) % 16 : 0;      /* lines begin on 16 bytes */
        try_wmma(&c);
    }
}

static void wmma_all(void)
{
    static const int shapes[3][2] = { { 16, 16 }, { 32, 8 }, { 8, 32 } };
    for (int s = 0; s < 3; s++) {
        int rows = shapes[s][0], cols = shapes[s][1];
        for (int i = 0; i < 4; i++)
            try_layouts((struct wmma_case){ .rows = rows, .cols = cols, .k = 16, .a = T_F16, .c = i & 1 ? T_F16 : T_F32,
                                            .d = i & 2 ? T_F16 : T_F32 }, true);
        static const enum type others[][2] = { { T_BF16, T_F32 }, { T_S8, T_S32 }, { T_U8, T_S32 } };
        for (int i = 0; i < 3; i++)
            try_layouts((struct wmma_case){ .rows = rows, .cols = cols, .k = 16, .a = others[i][0], .c = others[i][1],
                                            .d = others[i][1] }, true);
    }
    try_layouts((struct wmma_case){ .rows = 16, .cols = 16, .k = 8, .a = T_TF32, .c = T_F32, .d = T_F32 }, true);
    try_layouts((struct wmma_case){ .rows = 8, .cols = 8, .k = 4, .a = T_F64, .c = T_F64, .d = T_F64 }, true);
    try_layouts((struct wmma_case){ .rows = 8, .cols = 8, .k = 32, .a = T_U4, .c = T_S32, .d = T_S32 }, false);
    try_layouts((struct wmma_case){ .rows = 8, .cols = 8, .k = 32, .a = T_S4, .c = T_S32, .d = T_S32 }, false);
    try_layouts((struct wmma_case){ .rows = 8, .cols = 8, .k = 128, .a = T_B1, .c = T_S32, .d = T_S32 }, false);
}

/* ---- ldmatrix, stmatrix, movmatrix */

static bool open_here(struct mma_machine *machine, const char *device, const char *target, const char *text)
{
    char why[2000] = "";
    if (mma_open(machine, device, target, text, false, why, sizeof why))
        return true;
    CHECK_STR(why, "");
    return false;
}

/* Row r of the stored matrices begins at row_at(r): scattered, 16 bytes aligned. */
static int row_at(int r) { return r * 7 % 32 * 48; }

static void make_rows(void)
{
    clear_run();
    for (int i = 0; i < SMEM; i++)
        run.memory[i] = (uint8_t)any();
    for (int lane = 0; lane < WARP; lane++)
        run.e[0][lane] = (uint32_t)row_at(lane);
}

static uint32_t half_at(int row, int col)
{
    const uint8_t *at = run.memory + row_at(row) + 2 * col;
    return (uint32_t)(at[0] | at[1] << 8);
}

static void try_ldmatrix(int n, bool trans, bool generic)
{
    struct mma_machine machine;
    char text[300] = "add.u32 %e1, %s, %e0; cvt.u64.u32 %t, %e1; cvta.shared.u64 %t, %t;\n";
    append(text, sizeof text, "ldmatrix.sync.aligned.m8n8.x%d%s%s.b16 ", n, trans ? ".trans" : "",
           generic ? "" : ".shared");
    put_vector(text, sizeof text, 'd', n);
    append(text, sizeof text, ",[%s];", generic ? "%t" : "%e1");
    if (!open_here(&machine, "h200", "sm_90", text))
        return;
    make_rows();
    mma_execute(&machine, &run);
    CHECK_EQ(run.fault, FAULT_NONE);
    for (int i = 0; i < n; i++)
        for (int lane = 0; lane < WARP; lane++) {
            int row = lane / 4, col = lane % 4 * 2;
            uint32_t want = trans ? half_at(8 * i + col, row) | half_at(8 * i + col + 1, row) << 16 :
                                    half_at(8 * i + row, col) | half_at(8 * i + row, col + 1) << 16;
            CHECK_EQ((uint32_t)run.d[i][lane], want);
        }
    mma_close(&machine);
}

static void try_stmatrix(int n, bool trans)
{
    struct mma_machine machine;
    char text[300] = "add.u32 %e1, %s, %e0;\n";
    append(text, sizeof text, "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%e1],", n, trans ? ".trans" : "");
    put_vector(text, sizeof text, 'a', n);
    append(text, sizeof text, ";");
    if (!open_here(&machine, "h200", "sm_90", text))
        return;
    make_rows();
    for (int i = 0; i < n; i++)
        for (int lane = 0; lane < WARP; lane++)
            run.a[i][lane] = any();
    static uint8_t before[SMEM];
    memcpy(before, run.memory, SMEM);
    mma_execute(&machine, &run);
    CHECK_EQ(run.fault, FAULT_NONE);
    for (int i = 0; i < n; i++)
        for (int row = 0; row < 8; row++)
            for (int col = 0; col < 8; col++) {
                int r = trans ? col : row, c = trans ? row : col;
                CHECK_EQ(half_at(8 * i + row, col), run.a[i][4 * r + c / 2] >> 16 * (c % 2) & 0xffff);
                memcpy(before + row_at(8 * i + row), run.memory + row_at(8 * i + row), 16);
            }
    CHECK(memcmp(before, run.memory, SMEM) == 0);       /* and nothing else was touched */
    mma_close(&machine);
}

static void matrices_of_halves(void)
{
    for (int n = 1; n <= 4; n *= 2)
        for (int trans = 0; trans < 2; trans++) {
            try_ldmatrix(n, trans, false);
            try_ldmatrix(n, trans, true);
            try_stmatrix(n, trans);
        }
    struct mma_machine machine;
    if (!open_here(&machine, "h200", "sm_90", "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;"))
        return;
    clear_run();
    for (int lane = 0; lane < WARP; lane++)
        run.a[0][lane] = any();
    mma_execute(&machine, &run);
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++)
            CHECK_EQ(run.d[0][4 * row + col / 2] >> 16 * (col % 2) & 0xffff,
                     run.a[0][4 * col + row / 2] >> 16 * (row % 2) & 0xffff);
    mma_close(&machine);
}

/* Byte `col` of stored row `row`, whose elements have `bits` bits. */
static uint32_t narrow_at(int row, int col, int bits)
{
    return (uint32_t)get_bits(run.memory + row_at(row), col * bits, bits);
}

static void try_bytes(bool tall, int n, const char *format, int bits)
{
    struct mma_machine machine;
    char text[300] = "add.u32 %e1, %s, %e0;\n";
    append(text, sizeof text, "ldmatrix.sync.aligned.%s.x%d%s.shared.%s ", tall ? "m16n16" : "m8n16", n,
           tall ? ".trans" : "", format);
    put_vector(text, sizeof text, 'd', tall ? 2 * n : n);
    append(text, sizeof text, ",[%%e1];");
    if (!open_here(&machine, "b200", "sm_100a", text))
        return;
    make_rows();
    mma_execute(&machine, &run);
    CHECK_EQ(run.fault, FAULT_NONE);
    for (int i = 0; i < n; i++)
        for (int lane = 0; lane < WARP; lane++)
            for (int byte = 0; byte < 4; byte++)
                if (tall) {         /* lane: row lane / 4 (and + 8) of the transposed matrix, four columns of it */
                    for (int half = 0; half < 2; half++)
                        CHECK_EQ(run.d[2 * i + half][lane] >> 8 * byte & 255,
                                 narrow_at(16 * i + lane % 4 * 4 + byte, lane / 4 + 8 * half, bits));
                } else {
                    CHECK_EQ(run.d[i][lane] >> 8 * byte & 255, narrow_at(8 * i + lane / 4, lane % 4 * 4 + byte, bits));
                }
    mma_close(&machine);
}

static void matrices_of_bytes(void)
{
    for (int n = 1; n <= 4; n *= 2) {
        try_bytes(false, n, "b8x16.b6x16_p32", 6);
        try_bytes(false, n, "b8x16.b4x16_p64", 4);
        if (n == 4)
            continue;
        try_bytes(true, n, "b8", 8);
        try_bytes(true, n, "b8x16.b6x16_p32", 6);
        try_bytes(true, n, "b8x16.b4x16_p64", 4);
    }
    for (int n = 1; n <= 4; n *= 2) {
        struct mma_machine machine;
        char text[300] = "add.u32 %e1, %s, %e0;\n";
        append(text, sizeof text, "stmatrix.sync.aligned.m16n8.x%d.trans.shared.b8 [%%e1],", n);
        put_vector(text, sizeof text, 'a', n);
        append(text, sizeof text, ";");
        if (!open_here(&machine, "b200", "sm_100a", text))
            return;
        make_rows();
        for (int i = 0; i < n; i++)
            for (int lane = 0; lane < WARP; lane++)
                run.a[i][lane] = any();
        mma_execute(&machine, &run);
        for (int i = 0; i < n; i++)     /* as a C fragment: element e of a lane is row lane / 4 + 8 * (e / 2) */
            for (int lane = 0; lane < WARP; lane++)
                for (int e = 0; e < 4; e++)
                    CHECK_EQ(run.memory[row_at(8 * i + lane % 4 * 2 + e % 2) + lane / 4 + 8 * (e / 2)],
                             run.a[i][lane] >> 8 * e & 255);
        mma_close(&machine);
    }
}

static enum fault_id fault_of(const char *text)
{
    struct mma_machine machine;
    if (!open_here(&machine, "h200", "sm_90", text))
        return FAULT_NONE;
    make_rows();
    mma_execute(&machine, &run);
    mma_close(&machine);
    return run.fault;
}

static void faults(void)
{
    CHECK_EQ(fault_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0},[%s+8];"), FAULT_MISALIGNED);
    CHECK_EQ(fault_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0},[%s+8192];"), FAULT_OUT_OF_BOUNDS);
    CHECK_EQ(fault_of("ldmatrix.sync.aligned.m8n8.x1.b16 {%d0},[%g];"), FAULT_BAD_OPERAND);
    CHECK_EQ(fault_of("stmatrix.sync.aligned.m8n8.x1.b16 [%g],{%a0};"), FAULT_BAD_OPERAND);
    CHECK_EQ(fault_of("add.u32 %e1, %s, %e0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0},[%e1];"), FAULT_NONE);
    CHECK_EQ(fault_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7},[%s],8;"),
             FAULT_BAD_OPERAND);            /* a stride less than a line */
    CHECK_EQ(fault_of("add.u32 %e1, %s, %e0; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
                      "{%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7},[%e1],16;"), FAULT_BAD_OPERAND);      /* each lane its own */
}

TESTS({ wmma_all, "wmma: load, multiply, store; each shape, type and layout" },
      { matrices_of_halves, "ldmatrix, stmatrix, movmatrix on 8x8 matrices of 16 bits" },
      { matrices_of_bytes, "ldmatrix and stmatrix on matrices of bytes, 6 and 4 bits" },
      { faults, "misaligned, out of bounds, not shared, a stride too small" })
