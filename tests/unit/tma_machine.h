/* tma_machine.h: what the unit tests of tensor copies share: a kernel that runs one instruction, and a reference that is
 * worked out from the ISA's tables, element by element.
 *
 * Buffer b: the map at 0, coordinates at 256, im2col offsets at 288, a mask at 296, how far into shared memory the box
 * begins at 300, the tensor or the source of a store from DATA on. Buffer a: what shared memory holds afterwards, or the
 * tensor that is stored to. In the instruction: [%r10] the box, [%rd1, {…}] the map, %r20… coordinates, [%r11] the
 * mbarrier, %h1… offsets, %h4 the mask. */
#ifndef TMA_MACHINE_H
#define TMA_MACHINE_H

#include "memory_machine.h"

#include "cuda/tensormap.h"

enum { DATA = 4096, SMEM = 32768, UNTOUCHED = 0x55 };

#define TMA_VARIABLES ".shared .align 1024 .b8 tile[32768]; .shared .align 8 .b64 bar;"
#define TMA_OPERANDS                                                                                            \
    "ld.global.u32 %r20, [%rd1+256]; ld.global.u32 %r21, [%rd1+260]; ld.global.u32 %r22, [%rd1+264];\n"         \
    "ld.global.u32 %r23, [%rd1+268]; ld.global.u32 %r24, [%rd1+272]; ld.global.u32 %r16, [%rd1+300];\n"         \
    "ld.global.u16 %h1, [%rd1+288]; ld.global.u16 %h2, [%rd1+290]; ld.global.u16 %h3, [%rd1+292];\n"            \
    "ld.global.u16 %h4, [%rd1+296]; mov.u32 %r10, tile; mov.u32 %r11, bar; setp.eq.u32 %p1, %r1, 0;\n"          \
    "mad.lo.u32 %r13, %r1, 4, %r10; mul.wide.u32 %rd10, %r1, 4; add.u32 %r10, %r10, %r16; mov.u32 %r14, 0;\n"
/* All of shared memory is filled, the instruction runs (in thread 0 of rank 0: @%p3), n bytes are waited for, and each CTA hands
 * its shared memory back. */
#define TMA_LOAD(instruction) TMA_OPERANDS                                                                      \
    "fill: st.shared.b32 [%r13], 0x55555555; add.u32 %r13, %r13, 512; add.u32 %r14, %r14, 1;\n"                 \
    "setp.lt.u32 %p2, %r14, 64; @%p2 bra fill; fence.proxy.async.shared::cta;\n"                                \
    "@%p1 mbarrier.init.shared::cta.b64 [bar], 1; @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r0;\n" \
    "barrier.cluster.arrive; barrier.cluster.wait;\n"                                                           \
    "mov.u32 %r15, %cluster_ctarank; setp.eq.and.u32 %p3, %r15, 0, %p1;\n"                                      \
    instruction "\n"                                                                                            \
    "again: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra again;\n"                         \
    "barrier.cluster.arrive; barrier.cluster.wait;\n"                                                           \
    "mad.lo.u32 %r15, %r15, 32768, 0; cvt.u64.u32 %rd11, %r15; add.u64 %rd10, %rd10, %rd11; add.u64 %rd10, %rd10, %rd0;\n" \
    "mov.u32 %r13, tile; mad.lo.u32 %r13, %r1, 4, %r13; mov.u32 %r14, 0;\n"                                     \
    "give: ld.shared.b32 %r15, [%r13]; st.global.b32 [%rd10], %r15; add.u32 %r13, %r13, 512; add.u64 %rd10, %rd10, 512;\n" \
    "add.u32 %r14, %r14, 1; setp.lt.u32 %p2, %r14, 64; @%p2 bra give; barrier.cluster.arrive; barrier.cluster.wait;"
/* Shared memory is filled from DATA on, the instruction runs in thread 0. */
#define TMA_STORE(instruction) TMA_OPERANDS                                                                     \
    "add.u64 %rd10, %rd10, %rd1;\n"                                                                             \
    "fill: ld.global.b32 %r15, [%rd10+4096]; st.shared.b32 [%r13], %r15; add.u32 %r13, %r13, 512;\n"            \
    "add.u64 %rd10, %rd10, 512; add.u32 %r14, %r14, 1; setp.lt.u32 %p2, %r14, 64; @%p2 bra fill;\n"             \
    "fence.proxy.async.shared::cta; bar.sync 0;\n"                                                              \
    "@%p1 " instruction "\n"                                                                                    \
    "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"

/* ---------------------------------------------------------------- a case */

struct box_case {
    uint32_t rank, element, swizzle, skew;      /* bytes of an element */
    int64_t dim[5];
    uint32_t box[5], step[5];                   /* im2col: box[0] channels */
    int32_t at[5];
    bool nan;
    uint8_t type;                               /* CUtensorMapDataType; 0: by size */
};

static uint64_t stride_of(const struct box_case *c, uint32_t d)
{
    uint64_t s = ((uint64_t)c->dim[0] * c->element + 15) / 16 * 16 + 16;
    for (uint32_t i = 1; i < d; i++)
        s *= (uint64_t)c->dim[i];
    return s;
}

static struct tensor_map map_of(const struct box_case *c, uint64_t address)
{
    struct tensor_map m = { .magic = TENSOR_MAP_MAGIC, .rank = (uint8_t)c->rank, .type = c->type ? c->type : c->element == 1 ? 0 :
                            c->element == 2 ? 6 : c->element == 4 ? 7 : 8, .element_bits = (uint8_t)(8 * c->element),
                            .swizzle = (uint8_t)c->swizzle, .oob_fill = c->nan, .address = address };
    for (uint32_t d = 0; d < c->rank; d++) {
        m.dim_minus_1[d] = (uint32_t)(c->dim[d] - 1);
        m.box[d] = (uint16_t)c->box[d];
        *(d < 4 ? &m.element_stride[d] : &m.element_stride4) = (uint8_t)(c->step[d] ? c->step[d] : 1);
        if (d)
            m.stride[d - 1] = stride_of(c, d);
    }
    return m;
}

static uint32_t along(const struct box_case *c, uint32_t d)     /* elements of the box */
{
    uint32_t step = d && c->step[d] ? c->step[d] : 1;
    return d < c->rank ? (c->box[d] + step - 1) / step : 1;
}

static uint32_t runs_of(const struct box_case *c) { return along(c, 1) * along(c, 2) * along(c, 3) * along(c, 4); }
static uint32_t bytes_of(const struct box_case *c) { return runs_of(c) * c->box[0] * c->element; }

/* ---------------------------------------------------------------- "Swizzling Modes", the tables
 * For each line of 128 bytes of a pattern: which of the eight 16-byte elements is where. By CUtensorMapSwizzle. */

static const uint8_t patterns[7][8][8] = {
    { { 0, 1, 2, 3, 4, 5, 6, 7 } },
    { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 1, 0, 3, 2, 5, 4, 7, 6 } },
    { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 1, 0, 3, 2, 5, 4, 7, 6 }, { 2, 3, 0, 1, 6, 7, 4, 5 }, { 3, 2, 1, 0, 7, 6, 5, 4 } },
    { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 1, 0, 3, 2, 5, 4, 7, 6 }, { 2, 3, 0, 1, 6, 7, 4, 5 }, { 3, 2, 1, 0, 7, 6, 5, 4 },
      { 4, 5, 6, 7, 0, 1, 2, 3 }, { 5, 4, 7, 6, 1, 0, 3, 2 }, { 6, 7, 4, 5, 2, 3, 0, 1 }, { 7, 6, 5, 4, 3, 2, 1, 0 } },
    { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 2, 3, 0, 1, 6, 7, 4, 5 }, { 4, 5, 6, 7, 0, 1, 2, 3 }, { 6, 7, 4, 5, 2, 3, 0, 1 } },
    { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 2, 3, 0, 1, 6, 7, 4, 5 }, { 4, 5, 6, 7, 0, 1, 2, 3 }, { 6, 7, 4, 5, 2, 3, 0, 1 } },
    { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 4, 5, 6, 7, 0, 1, 2, 3 } },
};
static const uint32_t lines[] = { 1, 2, 4, 8, 4, 4, 2 }, widths[] = { 0, 32, 64, 128, 128, 128, 128 };

/* Where byte x of run r of a box lies in shared memory, counted from the first multiple of 1024. */
static uint32_t place_in_shared(const struct box_case *c, uint32_t r, uint32_t x)
{
    uint32_t pitch = c->swizzle ? widths[c->swizzle] : c->box[0] * c->element, plain = c->skew + r * pitch + x;
    uint32_t line = plain / 128, chunk = plain % 128 / 16, to = 0, in_chunk = plain % 16;
    while (patterns[c->swizzle][line % lines[c->swizzle]][to] != chunk)
        to++;
    if (c->swizzle == 5 && line % 2)            /* the flip: every other line */
        in_chunk = (in_chunk + 8) % 16;
    return line * 128 + to * 16 + in_chunk;
}

/* ---------------------------------------------------------------- running one */

static void give(struct machine *x, const struct tensor_map *m, const int32_t at[5], const uint16_t offset[5], uint32_t skew)
{
    static uint8_t data[BYTES];
    for (uint32_t i = 0; i < BYTES; i++)
        data[i] = hash_byte(i);
    memcpy(data, m, sizeof *m);
    memcpy(data + 256, at, 20);
    memcpy(data + 288, offset, 10);
    memcpy(data + 300, &skew, 4);
    CHECK(mem_to_device(x->g, x->b->addr, data, BYTES));
}

static bool differs(const char *what, uint32_t i, uint8_t got, uint8_t want)
{
    static int shown;
    if (got == want)
        return false;
    if (shown++ < 20)
        printf("  %s: byte %u is 0x%02x, not 0x%02x\n", what, i, got, want);
    return true;
}

#endif
