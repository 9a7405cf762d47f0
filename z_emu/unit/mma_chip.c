/* mma_chip.c: what the tensor cores of different chips do differently.
 *
 * Facts: `fraction`, the two halves of Ampere and Ada, Ada's 13 bits for fp8 are measured and published. That sm_90 and
 * sm_100 have no fp8 mma.sync of their own is what ptxas makes of it: the lower two and then the upper two elements
 * of each register go through the f16 unit with a zero accumulator, C is added by an ordinary addition. That sparse
 * forms add up as dense ones with as many products is inferred.
 */
#include "mma.h"

static const struct mma_chip chips[] = {
    /* cc fraction halves fp8              fp8_fraction */
    { 70,  23,     false, FP8_NONE,        0 },
    { 75,  24,     false, FP8_NONE,        0 },
    { 80,  24,     true,  FP8_NONE,        0 },
    { 89,  24,     true,  FP8_NATIVE,      13 },
    { 90,  25,     false, FP8_THROUGH_F16, 25 },
    { 120, 25,     false, FP8_NATIVE,      25 },
};

const struct mma_chip *mma_chip(const struct warp *w)
{
    uint32_t cc = gpu_device(w->cta->launch->gpu)->cc;
    const struct mma_chip *best = &chips[0];
    for (size_t i = 1; i < sizeof chips / sizeof chips[0]; i++)
        if (chips[i].cc <= cc)
            best = &chips[i];
    return best;
}

static bool is_narrow(enum type t) { return mma_bits(t) <= 8; }

/* The longest k of a type fills 256 bits of a row; for that, some chips need two steps. */
static bool is_longest(enum type a, int products) { return products * (int)mma_bits(a) >= 256; }

static int rounded_up(int k) { return (k + 7) / 8 * 8; }

/* `k` as in the shape, `products` of one output that are not known to be zero (half of k when A is sparse). */
struct mma_chain mma_chain(const struct mma_chip *chip, enum type a, enum type d, int k, int products)
{
    struct mma_chain c = { .how = { chip->fraction, k, d == T_F16 ? MMA_TO_F16 : MMA_TO_F32 }, .steps = 1 };
    if (chip->halves && is_longest(a, products))
        c.steps = 2;
    if (is_narrow(a) && chip->fp8 == FP8_THROUGH_F16) {
        c.steps = 2;
        c.by_element = c.apart = true;
    } else if (is_narrow(a)) {
        c.how.fraction = chip->fp8_fraction;
        if (chip->fp8_fraction == 13 && d == T_F32)
            c.how.round = MMA_TO_F32_13;
    }
    c.how.step = k / c.steps;
    c.padded = rounded_up(c.how.step);
    return c;
}
