/* tcgen05_idesc.c: the instruction descriptor of tcgen05.mma: decoded, and every field of it checked.
 *
 * PTX ISA: "Instruction descriptor", "Matrix Shape", "Transpose and Negate operations". */
#include "tcgen05_idesc.h"

static const char *const kind_names[] = { "f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4" };

static bool is_scaled(const struct tc_form *f) { return f->kind >= TC_MXF8F6F4; }
static bool is_fp4(const struct tc_form *f) { return f->kind >= TC_MXF4; }

static uint32_t scales_of(const struct instr *in, enum tc_mma_kind kind)
{
    if (kind < TC_MXF8F6F4)
        return 0;
    if (kind == TC_MXF8F6F4)
        return 1;
    return has_mod(in, M_scale_vec_4X) || has_mod(in, M_block16) ? 4 : 2;
}

struct tc_form tc_form(const struct instr *in)
{
    enum tc_mma_kind kind = in->mode == M_kind_f16 ? TC_F16 : in->mode == M_kind_tf32 ? TC_TF32 : in->mode == M_kind_f8f6f4 ? TC_F8F6F4 :
                            in->mode == M_kind_i8 ? TC_I8 : in->mode == M_kind_mxf8f6f4 ? TC_MXF8F6F4 : in->mode == M_kind_mxf4 ? TC_MXF4 :
                                                                                                         TC_MXF4NVF4;
    const char *words = op_mnemonic((enum op)in->op) + sizeof "tcgen05.mma" - 1;
    struct tc_form f = { .kind = kind, .group = has_mod(in, M_cta_group_2) ? 2 : 1, .a_in_tmem = in->opnd[1].kind == O_MEM,
                         .ashift = has_mod(in, M_ashift), .scales = scales_of(in, kind),
                         .blocks = has_mod(in, M_block16) || has_mod(in, M_block32),
                         .k96 = target_has("103a", in->func->module->target, in->func->module->target_suffix) };
    for (; *words; words++) {
        f.ws |= words[0] == '.' && words[1] == 'w';
        f.sparse |= words[0] == '.' && words[1] == 's';
    }
    return f;
}

/* ---------------------------------------------------------------- fields */

static uint32_t field(uint32_t bits, int at, int width) { return bits >> at & ((1u << width) - 1); }

/* The element type that a code stands for; T_NONE: none. */
static enum type operand_type(enum tc_mma_kind kind, uint32_t code)
{
    static const enum type narrow[8] = { T_E4M3, T_E5M2, T_NONE, T_E2M3, T_E3M2, T_E2M1 };
    switch (kind) {
    case TC_F16: return code == 0 ? T_F16 : code == 1 ? T_BF16 : T_NONE;
    case TC_TF32: return code == 2 ? T_TF32 : T_NONE;
    case TC_I8: return code == 0 ? T_U8 : code == 1 ? T_S8 : T_NONE;
    case TC_MXF4: case TC_MXF4NVF4: return code == 1 ? T_E2M1 : T_NONE;
    default: return narrow[code];
    }
}

static enum type output_type(const struct tc_form *f, uint32_t code)
{
    if (is_scaled(f))
        return T_F32;
    if (f->kind == TC_I8)
        return code == 2 ? T_S32 : T_NONE;
    return code == 1 ? T_F32 : code == 0 && f->kind != TC_TF32 ? T_F16 : T_NONE;
}

/* Bits that are always zero. */
static uint32_t reserved_bits(const struct tc_form *f)
{
    uint32_t bits = 1u << 6;
    if (is_fp4(f))
        return bits | 3 | 1u << 3 | 1u << 12 | 7u << 24;
    if (is_scaled(f))
        return bits | 3 | 1u << 3 | 7u << 24 | 1u << 31;
    bits |= 1u << 23 | 1u << 29;
    if (f->kind != TC_I8)
        bits |= 1u << 3;
    return f->ws ? bits : bits | 3u << 30;
}

/* Elements of k: 32 bytes of A, as many again that are zero when it is sparse. */
static uint32_t k_of(const struct tc_form *f, uint32_t bits)
{
    uint32_t k = f->kind == TC_F16 ? 16 : f->kind == TC_TF32 ? 8 : is_fp4(f) ? 64 : 32;
    if (is_fp4(f) && bits >> 31)
        return 96;
    return f->sparse ? 2 * k : k;
}

/* Scale factors of a row: one for each 16 or 32 elements of k that are stored. */
static uint32_t factors_of(const struct tc_form *f, uint32_t k) { return k == 96 ? f->scales * 3 / 2 : f->scales; }

static void decode_fields(const struct tc_form *f, uint32_t bits, struct tc_idesc *d)
{
    bool scaled = is_scaled(f);
    uint32_t k = k_of(f, bits);
    *d = (struct tc_idesc){
        .m = scaled ? field(bits, 27, 2) << 7 : field(bits, 24, 5) << 4, .n = field(bits, 17, 6) << 3, .k = k, .factors = factors_of(f, k),
        .a = operand_type(f->kind, field(bits, 7, 3)), .b = operand_type(f->kind, field(bits, 10, is_fp4(f) ? 2 : 3)),
        .d = output_type(f, field(bits, 4, 2)), .scale = field(bits, 23, 1) ? T_UE8M0 : T_UE4M3,
        .negate_a = field(bits, 13, 1), .negate_b = field(bits, 14, 1),
        .transpose_a = field(bits, 15, 1), .transpose_b = field(bits, 16, 1),
        .saturate = f->kind == TC_I8 && field(bits, 3, 1), .selector = scaled ? 0 : field(bits, 0, 2),
        .sfa = field(bits, 29, 2), .sfb = field(bits, 4, 2), .max_shift = f->ws && bits >> 30 ? 4u << (bits >> 30) : 0 };
}

/* ---------------------------------------------------------------- checks */

static bool has_m(const struct tc_form *f, uint32_t m)
{
    if (f->ws)
        return m == 32 || m == 64 || m == 128;
    if (f->group == 2)
        return m == 256 || (m == 128 && !(is_scaled(f) && f->sparse));
    return m == 128 || (m == 64 && !is_scaled(f));
}

static const char *allowed_m(const struct tc_form *f)
{
    if (f->ws)
        return "32, 64 or 128 with .ws";
    if (f->group == 2)
        return is_scaled(f) && f->sparse ? "256 for sparse scaled kinds with cta_group::2" : "128 or 256 with cta_group::2";
    return is_scaled(f) ? "128 for scaled kinds with cta_group::1" : "64 or 128 with cta_group::1";
}

/* The step of N; *least its smallest value. 8-bit elements of B that lie along N come in groups of 16. */
static bool has_n(const struct tc_form *f, const struct tc_idesc *d, char *allowed, size_t len)
{
    uint32_t n = d->n, step = d->k == 96 ? 16 : 8 * f->group;
    bool bytes = d->transpose_b && (f->kind == TC_F8F6F4 || f->kind == TC_MXF8F6F4 || f->kind == TC_I8);
    if (f->ws) {
        snprintf(allowed, len, f->sparse ? "64 or 128 for a sparse A with .ws" : "64, 128 or 256 with .ws");
        return n == 64 || n == 128 || (n == 256 && !f->sparse);
    }
    if (f->kind == TC_I8 && f->group == 1 && !bytes) {
        snprintf(allowed, len, "8, 16, 24, 32 or a multiple of 16 up to 256");
        return n >= 8 && n <= 256 && (n <= 32 || n % 16 == 0);
    }
    step = bytes || f->kind == TC_I8 ? 16 * f->group : step;
    snprintf(allowed, len, "a multiple of %u from %u to 256%s", step, step, bytes ? " when B is transposed and of 8 bits" : "");
    return n >= step && n <= 256 && n % step == 0;
}

static bool check_shape(const struct tc_form *f, const struct tc_idesc *d, char *why, size_t len)
{
    char allowed[100];
    if (!has_m(f, d->m))
        return snprintf(why, len, "M is %u: it must be %s", d->m, allowed_m(f)), false;
    if (!has_n(f, d, allowed, sizeof allowed))
        return snprintf(why, len, "N is %u: it must be %s", d->n, allowed), false;
    if (f->ashift && d->m == 64)
        return snprintf(why, len, "M is 64: .ashift is for 128 and 256"), false;
    return true;
}

static bool check_types(const struct tc_form *f, const struct tc_idesc *d, uint32_t bits, char *why, size_t len)
{
    const char *kind = kind_names[f->kind];
    if (!d->a || !d->b)
        return snprintf(why, len, "the type of %s is %u, which .kind::%s does not have", d->a ? "B" : "A", field(bits, d->a ? 10 : 7, 3), kind), false;
    if (!d->d)
        return snprintf(why, len, "the type of D is %u, which .kind::%s does not have", field(bits, 4, 2), kind), false;
    if (d->d == T_F16 && f->kind == TC_F16 && (d->a != T_F16 || d->b != T_F16))
        return snprintf(why, len, "D is f16: A and B must be f16 too, not bf16"), false;
    if (f->kind == TC_I8 && (d->negate_a || d->negate_b))
        return snprintf(why, len, ".kind::i8 does not negate"), false;
    if (is_fp4(f) && (d->transpose_a || d->transpose_b))
        return snprintf(why, len, ".kind::%s does not transpose", kind), false;
    return true;
}

static bool check_scales(const struct tc_form *f, const struct tc_idesc *d, char *why, size_t len)
{
    uint32_t step = d->factors % 2 ? 1 : d->factors == 4 ? 4 : 2;
    if (!is_scaled(f))
        return true;
    if (d->scale == T_UE4M3 && (f->kind != TC_MXF4NVF4 || f->scales != 4))
        return snprintf(why, len, "scale factors of ue4m3 are for .kind::mxf4nvf4 with .scale_vec::4X or .block16"), false;
    if (d->sfa % step || d->sfb % step)
        return snprintf(why, len, "scale factor ids %u and %u: with %u scale factors in a row they are multiples of %u", d->sfa, d->sfb,
                        d->factors, step), false;
    return true;
}

static bool check_sparse(const struct tc_form *f, const struct tc_idesc *d, uint32_t bits, char *why, size_t len)
{
    if (field(bits, 2, 1) != f->sparse)
        return snprintf(why, len, "its bit 2 says that A is %s, the instruction that it is %s", f->sparse ? "dense" : "sparse",
                        f->sparse ? "sparse" : "dense"), false;
    if (!f->sparse && d->selector)
        return snprintf(why, len, "sparsity selector %u: it is for a sparse A", d->selector), false;
    if ((f->kind == TC_I8 || f->kind == TC_F8F6F4) && d->selector)
        return snprintf(why, len, "sparsity selector %u: .kind::%s has 0 alone", d->selector, kind_names[f->kind]), false;
    return true;
}

/* Bit 31: K = 96. The shape of a single CTA is not in the ISA's table; public kernels use it. */
static bool check_k96(const struct tc_form *f, const struct tc_idesc *d, char *why, size_t len)
{
    if (d->k != 96)
        return true;
    if (!f->k96)
        return snprintf(why, len, "K = 96 (bit 31) is for sm_103a alone"), false;
    if (f->sparse)
        return snprintf(why, len, "K = 96 (bit 31) is for a dense A"), false;
    if (!f->blocks)
        return snprintf(why, len, "K = 96 (bit 31) wants .block16 or .block32 in the instruction"), false;
    if (f->group == 2 && d->m != 256)
        return snprintf(why, len, "M must be 256 for K = 96 (bit 31) with cta_group::2"), false;
    return true;
}

bool tc_idesc_decode(const struct tc_form *f, uint32_t bits, struct tc_idesc *d, char *why, size_t len)
{
    uint32_t stray = bits & reserved_bits(f);
    decode_fields(f, bits, d);
    if (stray)
        return snprintf(why, len, "its bits 0x%x must be zero for .kind::%s", stray, kind_names[f->kind]), false;
    return check_sparse(f, d, bits, why, len) && check_k96(f, d, why, len) && check_types(f, d, bits, why, len) && check_shape(f, d, why, len) &&
           check_scales(f, d, why, len);
}
