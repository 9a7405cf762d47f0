/* wgmma_multiply.c: one wgmma.mma_async: operands out of shared memory and registers, the product, the accumulators.
 *
 * Modelled: all types and shapes, to the bit of what chips were measured to do (mma_math.c): 25 bits below the largest
 * term, 13 for fp8, whose f32 results are cut off to 13 bits as well. Every type has 32 bytes of k; B has 64 when A is
 * sparse. Products are taken as columns by rows (mma_tile.c says why): A and B have changed places.
 * PTX ISA: "Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async", "Register Fragments…". */
#include "fragments.h"
#include "mma.h"
#include "wgmma.h"

#include <string.h>

static const uint32_t poison = UINT32_MAX;      /* NaN, -1 */

static bool is_fp8(enum type t) { return t == T_E4M3 || t == T_E5M2; }

bool wg_transposed(const struct instr *in, bool b)
{
    bool a_in_registers = in->opnd[WG_A].kind == O_VEC;
    const struct operand *o = wg_operand(in, b && !a_in_registers ? WG_TRANS_B : WG_TRANS_A);
    return mma_bits(in->type[1]) == 16 && o->imm == 1 && (b || !a_in_registers);
}

struct smem_tile wg_tile(const struct instr *in, bool b)
{
    uint32_t bits = mma_bits(in->type[1]), bytes = bits < 8 ? 1 : bits / 8;
    uint32_t k_bytes = b && wg_sparse(in) ? WG_SPARSE_K_BYTES : WG_K_BYTES;
    return (struct smem_tile){ .rows = b ? in->shape_n : WG_M, .k = k_bytes / bytes, .bytes = bytes,
                               .mn_major = wg_transposed(in, b) };
}

uint32_t wg_registers(const struct instr *in) { return in->shape_n / (in->type[0] == T_F16 ? 4u : 2u); }

/* ---------------------------------------------------------------- accumulators */

static bool in_halves(const struct accumulator *acc) { return acc->type == T_F16; }

/* What register r of a lane is: one element, or the first of two; the second is in the next column. */
static float *place_of(struct accumulator *acc, uint32_t rank, uint32_t lane, uint32_t r)
{
    struct place p = wgmma_d((int)rank, (int)lane, (int)(in_halves(acc) ? 2 * r : r));
    return acc->f + p.col * WG_M + p.row;
}

void accumulator_load(struct accumulator *acc, struct multiplication *m)
{
    const struct operand *d = &m->in->opnd[WG_D];
    acc->n = m->in->shape_n;
    acc->type = (enum type)m->in->type[0];
    acc->regs = wg_registers(m->in);
    for (uint32_t rank = 0; rank < WG_WARPS; rank++)
        for (uint32_t r = 0; r < acc->regs; r++) {
            uint32_t *row = acc->row[rank][r] = (uint32_t *)(m->frame[rank]->regs + d->elem[r].row);
            for (uint32_t lane = 0; lane < WARP; lane++) {
                float *place = place_of(acc, rank, lane, r);
                if (in_halves(acc)) {
                    float two[2];
                    mma_decode(T_F16, &row[lane], two, 2);
                    mma_special_halves(two, 2);
                    place[0] = two[0], place[WG_M] = two[1];
                } else {
                    memcpy(place, &row[lane], 4);
                }
                row[lane] = poison;
            }
        }
}

void accumulator_store(struct accumulator *acc)
{
    for (uint32_t rank = 0; rank < WG_WARPS; rank++)
        for (uint32_t r = 0; r < acc->regs; r++) {
            uint32_t *row = acc->row[rank][r];
            for (uint32_t lane = 0; lane < WARP; lane++) {
                const float *v = place_of(acc, rank, lane, r);
                if (in_halves(acc))
                    row[lane] = mma_half_bits(v[0]) | (uint32_t)mma_half_bits(v[WG_M]) << 16;
                else
                    memcpy(&row[lane], v, 4);
            }
        }
}

/* ---------------------------------------------------------------- A and B */

static bool gather(struct multiplication *m, bool b, uint8_t *to)
{
    const struct cta *c = m->group->cta;
    struct smem_desc d = smem_desc_wgmma(b ? m->b : m->a);
    struct smem_tile t = wg_tile(m->in, b);
    uint32_t reserved = gpu_device(c->launch->gpu)->smem_reserved, at = 0;
    if (smem_gather(&d, &t, c->smem - reserved, c->smem_init - reserved, to, &at))
        return true;
    fault(wg_warp(m->group, 0), m->in, -1, FAULT_UNINITIALIZED, "the tile of %s at 0x%x has a byte at 0x%x of shared memory "
          "that nothing had written when the multiplication read it", b ? "B" : "A", d.start, at);
    return false;
}

/* Rows of 32 bytes; registers hold 4 bytes each. */
static void take_registers(const struct multiplication *m, uint8_t *to)
{
    for (uint32_t rank = 0; rank < WG_WARPS; rank++)
        for (uint32_t r = 0; r < WG_A_REGS; r++)
            for (uint32_t lane = 0; lane < WARP; lane++) {
                struct place p = wgmma_a((int)rank, (int)lane, (int)(4 * r), 4);
                memcpy(to + p.row * WG_K_BYTES + p.col, &m->a_regs[rank][r][lane], 4);
            }
}

static void negate(enum type t, uint8_t *at, size_t bytes)
{
    size_t width = mma_bits(t) / 8;
    for (size_t i = width - 1; i < bytes; i += width)
        at[i] ^= 0x80;
}

/* ---------------------------------------------------------------- products */

struct mma_how wg_how(const struct instr *in)
{
    bool fp8 = is_fp8(in->type[1]);
    enum mma_round round = in->type[0] == T_F16 ? MMA_TO_F16 : fp8 ? MMA_TO_F32_13 : MMA_TO_F32;
    return (struct mma_how){ fp8 ? 13 : 25, (int)(WG_K_BYTES * 8 / mma_bits(in->type[1])), round };
}

static void multiply_floats(struct multiplication *m, const uint8_t *a, const uint8_t *b)
{
    const struct instr *in = m->in;
    struct accumulator *acc = m->acc;
    struct mma_how how = wg_how(in);
    mma_tile_f32(b, in->type[2], a, in->type[1], m->keep ? acc->f : NULL, acc->f, WG_M, (int)acc->n, WG_M, how.step, &how);
}

static int32_t ones_in_both(const uint8_t *x, const uint8_t *y)
{
    uint64_t a[WG_K_BYTES / 8], b[WG_K_BYTES / 8];
    int ones = 0;
    memcpy(a, x, sizeof a);
    memcpy(b, y, sizeof b);
    for (int i = 0; i < WG_K_BYTES / 8; i++)
        ones += __builtin_popcountll(a[i] & b[i]);
    return ones;
}

static void multiply_bits(struct multiplication *m, const uint8_t *a, const uint8_t *b)
{
    struct accumulator *acc = m->acc;
    for (uint32_t row = 0; row < WG_M; row++)
        for (uint32_t col = 0; col < acc->n; col++) {
            int32_t *d = &acc->s[col * WG_M + row];
            *d = mma_add_s32(m->keep ? *d : 0, ones_in_both(a + row * WG_K_BYTES, b + col * WG_K_BYTES), false);
        }
}

static void multiply_integers(struct multiplication *m, const uint8_t *a, const uint8_t *b)
{
    const struct instr *in = m->in;
    struct accumulator *acc = m->acc;
    mma_tile_s32(b, in->type[2], a, in->type[1], m->keep ? acc->s : NULL, acc->s, WG_M, (int)acc->n, WG_M, WG_K_BYTES,
                 in->flags & F_SATFINITE);
}

static bool negated(const struct operand *o) { return o->kind != O_NONE && o->imm == -1; }

static bool take_operands(struct multiplication *m, uint8_t *a, uint8_t *b)
{
    if (m->a_in_registers)
        take_registers(m, a);
    else if (!gather(m, false, a))
        return false;
    return gather(m, true, b);
}

bool wg_multiply(struct multiplication *m)
{
    const struct instr *in = m->in;
    bool sparse = wg_sparse(in), floats = in->type[0] != T_S32;
    _Alignas(64) uint8_t a[WG_M * WG_K_BYTES], b[WG_N * WG_SPARSE_K_BYTES];
    if (!take_operands(m, a, b))
        return false;
    if (floats && negated(wg_operand(in, WG_NEGATE_A)))
        negate(in->type[1], a, sizeof a);
    if (floats && negated(wg_operand(in, WG_NEGATE_B)))
        negate(in->type[2], b, (size_t)in->shape_n * (sparse ? WG_SPARSE_K_BYTES : WG_K_BYTES));
    if (sparse)
        wg_multiply_sparse(m, a, b);
    else
        (floats ? multiply_floats : in->type[1] == T_B1 ? multiply_bits : multiply_integers)(m, a, b);
    return true;
}
