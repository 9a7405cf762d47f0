/* mma_operands.c: registers of a warp <-> matrices, for all shapes whose fragments follow the one scheme of
 * fragments.h.
 *
 * What fragment_a, _b and _c say of one element is here said of whole registers, as loops over groups and quads that
 * become vector code: lane = 4 * group + quad. The unit tests hold the two against each other.
 */
#include "mma.h"

#include <string.h>

static _Thread_local uint32_t discarded[2 * WARP];      /* row of a destination written as _ */

static uint32_t *row_of(struct warp *w, const struct operand *o)
{
    return o->kind == O_SINK || o->row == ROW_NONE ? discarded : ROW(w, o, uint32_t);
}

int mma_registers(struct warp *w, const struct operand *o, uint32_t **reg, int max)
{
    if (o->kind != O_VEC) {
        reg[0] = row_of(w, o);
        return 1;
    }
    for (int i = 0; i < o->n && i < max; i++)
        reg[i] = row_of(w, &o->elem[i]);
    return o->n;
}

/* Products may be added in any order, so k is numbered as suits the registers: four quads side by side for each
 * element of each register, in the order in which the steps take them. There are at most two steps. */
static inline int product_place(const struct mma_chain *c, int part, int element, int parts, int per)
{
    int half = per / 2;
    if (!c->by_element)
        return 4 * (part * per + element);
    return element < half ? 4 * (part * half + element) : 4 * (parts * half + part * half + element - half);
}

/* Row or column of the first of the four, where each step is padded. */
static inline int padded_place(const struct mma_chain *c, int place)
{
    return place < c->how.step ? place : place - c->how.step + c->padded;
}

/* lane = 4 * group + quad  <->  [quad][group]: by itself, so that it becomes shuffles. */
static inline void turn(const float *restrict lanes, float (*restrict turned)[8])
{
    for (int group = 0; group < 8; group++)
        for (int quad = 0; quad < 4; quad++)
            turned[quad][group] = lanes[4 * group + quad];
}

static inline void turn_back(const float (*restrict turned)[8], float *restrict lanes)
{
    for (int group = 0; group < 8; group++)
        for (int quad = 0; quad < 4; quad++)
            lanes[4 * group + quad] = turned[quad][group];
}

/* One element of a register, all lanes, to rows 8 * half… of A: k, k + 1… for the quads. */
static inline void scatter_a(const float *lanes, float (*y)[LANES], int half)
{
    float turned[4][8];
    turn(lanes, turned);
    for (int quad = 0; quad < 4; quad++)
        memcpy(y[quad] + 8 * half, turned[quad], sizeof turned[quad]);
}

/* Elements in a register, and registers along k. */
struct cut { int per, parts; };

static struct cut cut_of(enum type t, int k)
{
    int log = __builtin_ctz(mma_bits(t));       /* 4 to 32: all powers of two */
    return (struct cut){ 32 >> log, k >> (5 - log + 2) };
}

void mma_load_a(uint32_t *const *reg, enum type t, int m, int k, const struct mma_chain *chain, struct mma_matrices *to)
{
    float lanes[8][WARP];
    struct cut s = cut_of(t, k);
    int halves = m == 16 ? 2 : 1;
    if (halves == 1 || chain->padded != chain->how.step)
        memset(to->y, 0, (size_t)(chain->steps * chain->padded) * sizeof to->y[0]);
    for (int part = 0; part < s.parts; part++)
        for (int half = 0; half < halves; half++) {
            mma_decode_row(t, *reg++, lanes);
            for (int e = 0; e < s.per; e++) {
                int place = product_place(chain, part, e, s.parts, s.per);
                scatter_a(lanes[e], to->y + padded_place(chain, place), half);
            }
        }
}

void mma_load_b(uint32_t *const *reg, enum type t, int k, const struct mma_chain *chain, struct mma_matrices *to)
{
    float lanes[8][WARP];
    struct cut s = cut_of(t, k);
    int wide = chain->padded;
    if (wide != chain->how.step)
        memset(to->x, 0, (size_t)(chain->steps * 8 * wide) * sizeof to->x[0]);
    for (int part = 0; part < s.parts; part++) {
        mma_decode_row(t, reg[part], lanes);
        for (int e = 0; e < s.per; e++) {
            int place = product_place(chain, part, e, s.parts, s.per);
            bool second = place >= chain->how.step;
            float *x = to->x + (second ? 8 * wide + place - chain->how.step : place);
            for (int n = 0; n < 8; n++)
                memcpy(x + n * wide, lanes[e] + 4 * n, 4 * sizeof *x);
        }
    }
}

/* C and D: columns 2 * quad + odd. */
static inline void scatter_c(const float *lanes, float (*c)[LANES], int half, int odd)
{
    float turned[4][8];
    turn(lanes, turned);
    for (int quad = 0; quad < 4; quad++)
        memcpy(c[2 * quad + odd] + 8 * half, turned[quad], sizeof turned[quad]);
}

static inline void gather_d(float *lanes, const float (*d)[LANES], int half, int odd)
{
    float turned[4][8];
    for (int quad = 0; quad < 4; quad++)
        memcpy(turned[quad], d[2 * quad + odd] + 8 * half, sizeof turned[quad]);
    turn_back(turned, lanes);
}

void mma_load_c(uint32_t *const *reg, enum type t, int m, struct mma_matrices *to)
{
    float lanes[2][WARP];
    if (m == 8)
        memset(to->c, 0, sizeof to->c);
    for (int half = 0; half < m / 8; half++) {
        if (t == T_F16) {
            mma_decode_row(T_F16, reg[half], lanes);
            mma_special_halves(lanes[0], 2 * WARP);
        } else {
            for (int odd = 0; odd < 2; odd++)
                memcpy(lanes[odd], reg[2 * half + odd], sizeof lanes[odd]);
        }
        scatter_c(lanes[0], to->c, half, 0);
        scatter_c(lanes[1], to->c, half, 1);
    }
}

static void store_row(uint32_t *row, const uint32_t *values, uint32_t mask)
{
    if (mask == UINT32_MAX)
        memcpy(row, values, WARP * sizeof *row);
    else
        FOR_LANES(lane, mask)
            row[lane] = values[lane];
}

void mma_store_d(uint32_t *const *reg, enum type t, int m, const struct mma_matrices *from, uint32_t mask)
{
    float lanes[2][WARP];
    uint32_t bits[WARP];
    for (int half = 0; half < m / 8; half++) {
        gather_d(lanes[0], from->d, half, 0);
        gather_d(lanes[1], from->d, half, 1);
        if (t == T_F16) {
            for (int lane = 0; lane < WARP; lane++)
                bits[lane] = mma_half_bits(lanes[0][lane]) | (uint32_t)mma_half_bits(lanes[1][lane]) << 16;
            store_row(reg[half], bits, mask);
            continue;
        }
        for (int odd = 0; odd < 2; odd++) {
            memcpy(bits, lanes[odd], sizeof bits);
            store_row(reg[2 * half + odd], bits, mask);
        }
    }
}

/* C added by an ordinary addition: f32, or f16 (a sum of two is exact in f64). */
static float plain_sum(float a, float b, enum mma_round round)
{
    static const union { uint32_t bits; float f; } not_a_number = { 0x7fffffff };
    float sum = round == MMA_TO_F16 ? mma_nearest_half((double)a + b) : a + b;
    return sum == sum ? sum : not_a_number.f;
}

void mma_run(const struct mma_chain *chain, enum type a, enum type b, struct mma_matrices *m,
             const struct mma_extra *extra)
{
    struct mma_number xf = *mma_number(b), yf = *mma_number(a);
    if (chain->by_element)      /* as f16, the subnormals of fp8 are normal */
        xf.emin = yf.emin = mma_number(T_F16)->emin;
    struct mma_block block = { .k = chain->padded, .rows = 8, .stride = LANES, .how = &chain->how,
                               .xf = &xf, .yf = &yf, .d = m->d[0],
                               .xscale = extra ? extra->xscale : NULL, .yscale = extra ? extra->yscale : NULL };
    for (int step = 0; step < chain->steps; step++) {
        block.x = m->x + step * 8 * chain->padded;
        block.y = m->y + step * chain->padded;
        block.absent = extra && extra->absent ? extra->absent + step * chain->padded : NULL;
        block.c = step ? m->d[0] : chain->apart ? NULL : m->c[0];
        mma_block(&block);
    }
    for (int n = 0; chain->apart && n < 8; n++)
        for (int l = 0; l < LANES; l++)
            m->d[n][l] = plain_sum(m->c[n][l], m->d[n][l], chain->how.round);
}
