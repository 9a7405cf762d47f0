/* mma_registers.h: matrices as codes, in and out of a warp's registers by the fragment maps. */
#ifndef TESTS_MMA_REGISTERS_H
#define TESTS_MMA_REGISTERS_H

#include "mma_machine.h"
#include "mma_reference.h"
#include "unit/fragments.h"

enum { MAX_K = 256 };
struct matrices {
    uint32_t a[16][MAX_K], b[MAX_K][8];
    bool stored[16][MAX_K];             /* sparse: this element of a is */
    float c[16][8];
    int32_t ci[16][8];
};
static struct matrices m;
static struct warp_run run;

struct chip { const char *device, *target; uint32_t cc; };
static const struct chip a100 = { "a100", "sm_80", 80 }, h200 = { "h200", "sm_90a", 90 },
                         b200 = { "b200", "sm_100a", 100 }, rtx = { "rtx5090", "sm_120a", 120 };

/* ---- text and registers */

static inline void put_vector(char *text, size_t size, char set, int n)
{
    for (int i = 0; i < n; i++)
        append(text, size, "%s%%%c%d%s", i ? "," : "{", set, i, i + 1 < n ? "" : "}");
}

/* "mma… {d},{a},{b},{c}extra;" */
static inline void put_instruction(char *text, size_t size, const char *mnemonic, bool wide, int nd, int na, int nb,
                                   int nc, const char *extra)
{
    snprintf(text, size, "%s ", mnemonic);
    put_vector(text, size, wide ? 'D' : 'd', nd);
    append(text, size, ",");
    put_vector(text, size, wide ? 'A' : 'a', na);
    append(text, size, ",");
    put_vector(text, size, wide ? 'B' : 'b', nb);
    append(text, size, ",");
    put_vector(text, size, wide ? 'C' : 'c', nc);
    append(text, size, "%s;", extra);
}

static inline void pack(uint64_t (*reg)[WARP], int lane, int i, int bits, int shift, uint32_t code)
{
    int per = 32 / bits;
    reg[i / per][lane] |= (uint64_t)code << shift << (bits * (i % per));
}

static inline void clear_run(void) { memset(&run, 0, sizeof run); }

/* Stored elements of a sparse row go where their chunk has room, in order. */
static inline void pack_a(int rows, int k, int bits, int shift)
{
    int per = 32 / bits;
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < rows * k / WARP; i++) {
            struct place p = fragment_a(lane, i, rows, per);
            pack(run.a, lane, i, bits, shift, m.a[p.row][p.col]);
        }
}

static inline void pack_b(int k, int bits, int shift)
{
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < 8 * k / WARP; i++) {
            struct place p = fragment_b(lane, i, 32 / bits);
            pack(run.b, lane, i, bits, shift, m.b[p.row][p.col]);
        }
}

static inline void pack_c(int rows, bool half, bool integer)
{
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < rows * 8 / WARP; i++) {
            struct place p = fragment_c(lane, i);
            if (half)
                pack(run.c, lane, i, 16, 0, mma_half_bits(m.c[p.row][p.col]));
            else
                run.c[i][lane] = integer ? (uint32_t)m.ci[p.row][p.col] : code_of(m.c[p.row][p.col]);
        }
}

static inline uint32_t result(int row, int col, bool half)
{
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < 4; i++) {
            struct place p = fragment_c(lane, i);
            if (p.row == row && p.col == col)
                return half ? run.d[i / 2][lane] >> 16 * (i % 2) & 0xffff : (uint32_t)run.d[i][lane];
        }
    return 0;
}

/* One form: types as in the text. `kind` with its dot, or empty. */
struct float_form { enum type a, b; int k; bool half, sparse; const char *kind; };

static inline const char *text_of(enum type t)
{
    switch (t) {
    case T_F16: return "f16";
    case T_BF16: return "bf16";
    case T_TF32: return "tf32";
    case T_E4M3: return "e4m3";
    case T_E5M2: return "e5m2";
    case T_E3M2: return "e3m2";
    case T_E2M3: return "e2m3";
    default: return "e2m1";
    }
}

static inline bool is_narrow(enum type t) { return t != T_F16 && t != T_BF16 && t != T_TF32; }
static inline int bits_of(enum type t) { return t == T_TF32 ? 32 : is_narrow(t) ? 8 : 16; }
/* tf32 lies in the upper 19 bits, e2m1 in bits 5 to 2 of a byte. */
static inline int shift_of(enum type t) { return t == T_TF32 ? 13 : t == T_E2M1 ? 2 : 0; }

static inline void make_matrices(const struct float_form *f, enum input in)
{
    largest = 2 + below(10);
    largest_c = 1 + below(24);
    memset(&m, 0, sizeof m);
    for (int k = 0; k < f->k; k++) {
        for (int row = 0; row < 16; row++)
            m.a[row][k] = make(format_of(f->a), in);
        for (int col = 0; col < 8; col++)
            m.b[k][col] = make(format_of(f->b), in);
    }
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 8; col++)
            m.c[row][col] = f->half ? round_reference(make_c(MODERATE), MMA_TO_F16) : make_c(in);
}

/* ---- sparse A: which elements are stored, and what the metadata says. Chunks as in "Sparse matrix storage". */

static inline void pack_sparse(int k, int bits, int shift, int selector, bool ordered)
{
    int chunk = bits == 4 ? 8 : bits == 32 ? 2 : 4, piece = bits == 4 ? 2 : 1, chunks = k / chunk, per = 32 / bits;
    int lanes = chunks / 4;
    for (int lane = 0; lane < WARP; lane++)
        run.e[0][lane] = bits == 32 ? 0x44444444 : 0xeeeeeeee;        /* lanes that are not selected */
    for (int row = 0; row < 16; row++)
        for (int c = 0; c < chunks; c++) {
            int first = below(4), second = below(4), n = 0, at[4];
            while (first == second)
                second = below(4);
            if (ordered && first > second) {
                int swap = first;
                first = second;
                second = swap;
            }
            if (bits == 32) {
                first = below(2);
                at[n++] = chunk * c + first;
            } else {
                for (int i = 0; i < piece; i++)
                    at[n++] = chunk * c + piece * first + i;
                for (int i = 0; i < piece; i++)
                    at[n++] = chunk * c + piece * second + i;
            }
            for (int i = 0; i < n; i++) {
                m.stored[row][at[i]] = true;
                /* Stored elements fill a matrix of half the width, which lies in registers like a dense one. */
                int narrow = c * chunk / 2 + i, group = row % 8;
                int reg = narrow / (4 * per) * 2 + row / 8, lane = 4 * group + narrow % (4 * per) / per;
                run.a[reg][lane] |= (uint64_t)m.a[row][at[i]] << shift << (bits * (narrow % per));
            }
            uint32_t four = bits == 32 ? (first ? 14 : 4) : (uint32_t)(first | second << 2);
            int lane, at_bit;
            if (bits <= 8) {            /* a register is one row */
                lane = 4 * (row % 8) + selector * lanes + row / 8 + c / 8 * 2;
                at_bit = c % 8 * 4;
            } else {                    /* a register is two rows */
                lane = 4 * (row % 8) + selector * lanes + c / 4;
                at_bit = row / 8 * 16 + c % 4 * 4;
            }
            run.e[0][lane] = (run.e[0][lane] & ~(15ull << at_bit)) | (uint64_t)four << at_bit;
        }
}

static inline int integer_of(enum type t, uint32_t code)
{
    switch (t) {
    case T_U8: case T_U4: return (int)code;
    case T_S8: return (int8_t)code;
    default: return code & 8 ? (int)code - 16 : (int)code;
    }
}

static inline void make_integers(int k, int bits)
{
    int extreme = below(3);     /* all the largest, and C near an end, now and then */
    memset(&m, 0, sizeof m);
    for (int i = 0; i < k; i++) {
        for (int row = 0; row < 16; row++)
            m.a[row][i] = (extreme == 0 ? 0x77u : any()) & ((1u << bits) - 1);
        for (int col = 0; col < 8; col++)
            m.b[i][col] = any() & ((1u << bits) - 1);
    }
    for (int i = 0; i < 128; i++)
        m.ci[i / 8][i % 8] = (int32_t)(extreme == 2 ? any() : below(2) ? 0x7ffffff0u : 0x80000010u);
}

#endif
