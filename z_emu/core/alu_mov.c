/* alu_mov.c: mov: copies, packing of vectors into a register and unpacking. Special registers are read in sreg.c. */
#include "core/alu.h"

HANDLER1(mov_16, uint16_t, uint16_t, a)
HANDLER1(mov_32, uint32_t, uint32_t, a)
HANDLER1(mov_64, uint64_t, uint64_t, a)

static int mov_pred(struct warp *w, const struct instr *in, uint32_t mask)
{
    write_pred(w, in->opnd[0].row, read_pred(w, &in->opnd[1]), mask);
    return X_NEXT;
}

static int mov_128(struct warp *w, const struct instr *in, uint32_t mask)
{
    uint64_t *d = ROW(w, &in->opnd[0], uint64_t);
    const uint64_t *a = ROW(w, &in->opnd[1], uint64_t);
    FOR_LANES(i, mask) {
        d[2 * i] = a[2 * i];
        d[2 * i + 1] = a[2 * i + 1];
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- pairs: the common vectors */

#define PAIR_HANDLERS(whole, part, bits)                                                                        \
    static int pack_##whole(struct warp *w, const struct instr *in, uint32_t mask)                              \
    {                                                                                                           \
        uint##whole##_t result[WARP];                                                                           \
        const struct operand *elem = in->opnd[1].elem;                                                          \
        const uint##part##_t *low = ROW(w, &elem[0], uint##part##_t), *high = ROW(w, &elem[1], uint##part##_t); \
        LANES result[i] = (uint##whole##_t)high[i] << bits | low[i];                                            \
        store_row(ROW(w, &in->opnd[0], void), result, sizeof result[0], mask);                                  \
        return X_NEXT;                                                                                          \
    }                                                                                                           \
    static int unpack_##whole(struct warp *w, const struct instr *in, uint32_t mask)                            \
    {                                                                                                           \
        uint##part##_t low[WARP], high[WARP];                                                                   \
        const struct operand *elem = in->opnd[0].elem;                                                          \
        const uint##whole##_t *a = ROW(w, &in->opnd[1], uint##whole##_t);                                       \
        LANES low[i] = (uint##part##_t)a[i];                                                                    \
        LANES high[i] = (uint##part##_t)(a[i] >> bits);                                                         \
        if (elem[0].kind == O_REG) store_row(ROW(w, &elem[0], void), low, sizeof low[0], mask);                 \
        if (elem[1].kind == O_REG) store_row(ROW(w, &elem[1], void), high, sizeof high[0], mask);               \
        return X_NEXT;                                                                                          \
    }
PAIR_HANDLERS(32, 16, 16)
PAIR_HANDLERS(64, 32, 32)

/* ---------------------------------------------------------------- any vector, byte by byte */

/* Bytes of one element of n in a value of the instruction's type. Registers of 8-bit elements are wider. */
static uint32_t element_bytes(const struct instr *in, int n) { return type_bytes(in->type[0]) / (uint32_t)n; }

static int pack_any(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0], *a = &in->opnd[1];
    uint32_t bytes = element_bytes(in, a->n);
    FOR_LANES(i, mask) {
        uint8_t whole[16];
        for (int k = 0; k < a->n; k++)
            memcpy(whole + k * bytes, ROW(w, &a->elem[k], uint8_t) + i * a->elem[k].width, bytes);
        memcpy(ROW(w, d, uint8_t) + i * d->width, whole, d->width);
    }
    return X_NEXT;
}

static int unpack_any(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0], *a = &in->opnd[1];
    uint32_t bytes = element_bytes(in, d->n);
    FOR_LANES(i, mask) {
        uint8_t whole[16];
        memcpy(whole, ROW(w, a, uint8_t) + i * a->width, a->width);
        for (int k = 0; k < d->n; k++) {
            if (d->elem[k].kind != O_REG) continue;
            uint8_t *to = ROW(w, &d->elem[k], uint8_t) + i * d->elem[k].width;
            memset(to, 0, d->elem[k].width);
            memcpy(to, whole + k * bytes, bytes);
        }
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- pickers */

static exec_fn *pick_copy(struct instr *in)
{
    if (in->opnd[0].kind != O_REG || in->opnd[1].kind != O_REG) return NULL;
    if (in->type[0] == T_PRED) return mov_pred;
    switch (in->opnd[0].width) {
    case 2: return mov_16;
    case 4: return mov_32;
    case 8: return mov_64;
    case 16: return mov_128;
    default: return NULL;
    }
}

static bool elements_fit(const struct instr *in, const struct operand *v, bool sink_allowed)
{
    if (v->n != 2 && v->n != 4) return false;
    for (int k = 0; k < v->n; k++) {
        bool usable = v->elem[k].kind == O_REG || (sink_allowed && v->elem[k].kind == O_SINK);
        if (!usable || v->elem[k].flags & (O_NEG | O_NOT)) return false;
        if (v->elem[k].kind == O_REG && v->elem[k].width < element_bytes(in, v->n)) return false;
    }
    return element_bytes(in, v->n) > 0;
}

static exec_fn *pick_vector(struct instr *in)
{
    const struct operand *d = &in->opnd[0], *a = &in->opnd[1];
    const struct operand *vector = d->kind == O_VEC ? d : a, *whole = d->kind == O_VEC ? a : d;
    if (whole->kind != O_REG || !elements_fit(in, vector, vector == d)) return NULL;
    uint32_t bytes = element_bytes(in, vector->n);
    bool pack = vector == a;
    if (vector->n == 2 && bytes == 2) return pack ? pack_32 : unpack_32;
    if (vector->n == 2 && bytes == 4) return pack ? pack_64 : unpack_64;
    return pack ? pack_any : unpack_any;
}

exec_fn *pick_MOV(struct instr *in)
{
    if (in->opnd[1].kind == O_SREG) return pick_sreg(in);
    if (in->opnd[0].kind == O_VEC || in->opnd[1].kind == O_VEC) return pick_vector(in);
    return pick_copy(in);
}
