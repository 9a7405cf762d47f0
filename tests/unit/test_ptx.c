/* test_ptx: what the parser accepts, what it makes of it, and what it must refuse and how it says so. */
#define _GNU_SOURCE
#include "check.h"
#include "rows.h"

#define HEAD "\n.version 9.0\n.target sm_90a\n.address_size 64\n"
#define REGS ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .b64 %rd<20>; .reg .f64 %fd<9>; .reg .b128 %q<3>;\n"
#define OPEN HEAD ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" REGS
#define CLOSE "\nret;\n}\n"
#define KERNEL(body) OPEN body CLOSE

static char message[2000];

static struct module *parse(const char *text)
{
    struct module *m = ptx_parse("t.ptx", text, strlen(text), message, sizeof message);
    if (!m)
        printf("%s\n", message);
    return m;
}

static const struct func *kernel(const struct module *m)
{
    static const struct func none;
    const struct func *f = m ? ptx_func(m, "k") : NULL;
    return f ? f : &none;
}

/* The n-th instruction with that op, or one that no check fits. */
static const struct instr *nth(const struct func *f, enum op op, int n)
{
    static struct operand nothing[8];
    static const struct instr none = { .opnd = nothing };
    for (uint32_t i = 0; i < f->ninstr; i++)
        if (f->code[i].op == op && n-- == 0)
            return &f->code[i];
    return &none;
}

static uint64_t constant_at(const struct func *f, uint32_t row)
{
    for (uint32_t i = 0; i < f->nconstant; i++)
        if (f->constant[i].row == row)
            return f->constant[i].bits[0];
    return UINT64_MAX;
}

/* ------------------------------------------------------------------ refusals */

struct refusal { const char *text, *says; };

static const struct refusal refusals[] = {
    /* what is in a body */
    { "frobnicate.b32 %r1, %r2;", "unknown instruction 'frobnicate.b32'" },
    { "add.u33 %r1, %r2, %r3;", ".u33 is not a modifier that the emulator knows; add allows" },
    { "add.b32 %r1, %r2, %r3;", ".b32 is not allowed here; add allows .u16" },
    { "add %r1, %r2, %r3;", "add lacks a modifier: one of" },
    { "add.s32.s32 %r1, %r2, %r3;", ".s32 cannot stand twice" },
    { "add.rn.rz.f32 %f1, %f2, %f3;", ".rz cannot stand twice" },
    { "mul.s32 %r1, %r2, %r3;", "mul.s32 lacks a modifier" },
    { "add.s32 %r1, %r2;", "these operands do not fit add: it takes d, a, b" },
    { "add.s32 %r1, %r2, %r3, %r4;", "do not fit add" },
    { "add.s32 %r1, %r2, %rd3;", "add needs a register of 32 bits for 'b', this has 64" },
    { "add.s32 %r1, %r2, %p3;", "this has 1" },
    { "add.s32 %r1, %r2, [%rd3];", "do not fit add" },
    { "add.s32 5, %r2, %r3;", "a literal cannot be written to" },
    { "add.s32 %r1, _, %r3;", "'_' stands only for something that is written" },
    { "add.s32 %r1, %r2, %r99;", "'%r99' is not declared" },
    { "add.s32 %r1, %r2, foo;", "foo cannot stand here" },
    { "add.f32 %f1, %f2, 1;", "this literal cannot stand for a .f32" },
    { "mov.b32 %r1, 1.0;", "this literal cannot stand for a .b32" },
    { "mov.b64 %rd1, 0f3F800000;", "this literal cannot stand for a .b64" },
    { "mov.f32 %f1, 0f3F80;", "0f needs 8 hexadecimal digits" },
    { "mov.u32 %r1, 0xFFFFFFFFFFFFFFFFF;", "this number does not fit 64 bits" },
    { "mov.u32 %r1, 09;", "'9' cannot stand in a number" },
    { "mov.u32 %r1, 1/0;", "division by zero" },
    { "mov.u32 %r1, %clock64;", "needs a register of 32 bits" },
    { "mov.u32 %clock, %r1;", "a special register cannot be written to" },
    { "mov.b64 %rd1, {%r1, %r2, %r3};", "cannot be divided among 3 elements" },
    { "mov.b64 %rd1, {%r1, %rd2};", "needs a register of 32 bits" },
    { "setp.eq.s32 %p1, %r1, %r2, %p3;", "a third source and a boolean operator" },
    { "setp.eq.and.s32 %p1, %r1, %r2;", "a third source and a boolean operator" },
    { "setp.eq.s32 %r1, %r1, %r2;", "needs a predicate" },
    { "add.s32 %r1|%p1, %r2, %r3;", "no '|' is allowed here" },
    { "elect.sync %r1, -1;", "a predicate is missing" },
    { "and.b32 %r1, %r2, !%r3;", "'!' stands before predicate registers only" },
    { "@%r1 bra L; L:", "'%r1' is no predicate register" },
    { "bra nowhere;", "there is no label 'nowhere' here" },
    { "{ L: } bra L;", "there is no label 'L' here" },
    { "L: L:", "label 'L' stands twice" },
    { "ld.global.v4.f32 {%f1, %f2}, [%rd1];", "a vector of 4 elements is expected here" },
    { "ld.global.f32 {%f1, %f2}, [%rd1];", "no vector is allowed here" },
    { "ld.global.v4.f32 %f1, [%rd1];", "a vector of 4 elements is expected here" },
    { "ld.global.f64 %f1, [%rd1];", "at least of 64 bits" },
    { "ld.global.f32 %f1, %rd1;", "do not fit ld: it takes d, [a]" },
    { "ld.global.f32 %f1, [%h1];", "an address is a register of 32 or 64 bits" },
    { "ld.global.f32 %f1, [%rd1, ];", "a number is expected here" },
    { "ld.global.f32 %f1, [out];", "'out' is in .param" },
    { "ld.global.f32 %f1, [missing];", "'missing' is not declared" },
    { "ld.global.f32 %f1, [%rd1], %rd2;", "do not fit ld: it takes d, [a]" },
    { "ld.global.L2::cache_hint.f32 %f1, [%rd1];", "it takes d, [a], policy" },
    { "st.global.f32 [%rd1], _;", "'_' stands only for something that is written" },
    { "ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd0];", "needs .target sm_100" },
    { "st.shared.u32 [%r1], %h1;", "at least of 32 bits" },
    { "vote.ballot.b32 %r1, %p1;", "one of .sync" },
    { "shfl.bfly.b32 %r1, %r2, 1, 31;", "one of .sync" },
    { "add.f32x2 %rd1, %rd2, %rd3;", "add needs .target sm_100; this module is for sm_90a" },
    { "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];", "textures and surfaces are not emulated" },
    { "mma.sync.aligned.m16n8.row.col.f32.f16 {%f0}, {%r0}, {%r0}, {%f0};", "lacks a modifier" },
    { "call missing, ();", "a call needs a declared function" },
    { "brx.idx %r1, L;", "'L' is no .branchtargets list" },
    { "T: .branchtargets A; brx.idx %r1, T;", "there is no label 'A' here" },
    { "add.s32 %r1, %r2, %r3", "',' or ';' is expected here" },
    { ".reg .b32 %r1;", "'%r1' is declared twice" },
    { ".reg .b1024 %x;", "a register cannot have type .b1024" },
    { ".reg .b32 %x<2000000>;", "the number of registers must be" },
    { ".local .align 3 .b8 x[4];", "an alignment must be a power of two" },
    { ".local .b8 x[99999999999];", "local memory of a function cannot exceed" },
    { ".shared .b8 x[];", "'x' needs a size" },
    { ".shared .u32 x = 5;", "only .global and .const variables have initial values" },
    { ".frob;", "an instruction or a directive is expected here" },
    { "{", "this { has no }" },
};

static const struct refusal whole_refusals[] = {
    { "", ".version must come first" },
    { ".target sm_90", ".version must come first" },
    { ".version 9.0\n.global .u32 x;", ".target must follow .version" },
    { ".version 9.0\n", ".target is missing" },
    { ".version 77.0\n.target sm_90", "PTX version 77.0 is not known" },
    { ".version 9.0\n.target gfx90a", "'gfx90a' is no target" },
    { ".version 9.0\n.target sm_90\n.address_size 32", "only 64-bit addresses" },
    { HEAD ".frob x;", "unknown directive .frob" },
    { HEAD "frob", "a directive is expected here" },
    { HEAD ".global .texref t;", "textures and surfaces are not emulated" },
    { HEAD ".global .u32 x[2] = {1, 2, 3};", "more initial values than the variable has elements" },
    { HEAD ".global .u64 x = missing;", "'missing' has not been declared" },
    { HEAD ".global .u16 y; .global .u16 x = y;", "an address needs 8 bytes" },
    { HEAD ".global .u8 x[1] = {0xFFF(y)};", "must select one byte" },
    { HEAD ".global .f32 x = 3;", "cannot initialise a .f32" },
    { HEAD ".global .u32 x = 1; .global .u32 x = 2;", "'x' is defined twice" },
    { HEAD ".local .u32 x;", "must be declared in a function" },
    { HEAD ".entry k() { ret; } .entry k() { ret; }", "'k' is defined twice" },
    { HEAD ".func f() { ret; } .entry f() { ret; }", "was declared as .func" },
    { HEAD ".entry k(.reg .b32 a) { ret; }", "a kernel's parameters are in .param" },
    { HEAD ".func f(.param .b32 a) { ret; } .entry k() { call f, (); ret; }", "'f' takes 1 arguments and returns 0; here are 0 and 0" },
    { HEAD ".func f(.param .b32 a) { ret; } .entry k() { .param .b64 x; call f, (x); ret; }", "this has 8 bytes, parameter 'a' has 4" },
    { HEAD ".entry a() { ret; } .entry k() { call a; ret; }", "'a' is a kernel and cannot be called" },
    { HEAD ".entry k() { .reg .b64 %a; call %a, (); ret; }", "a call through a register needs a prototype" },
    { HEAD ".extern .func f(); .alias g, f;", "an alias needs two declared functions" },
    { HEAD "/* no end", "this comment does not end" },
    { HEAD ".pragma \"no end\n", "this string does not end on its line" },
    { HEAD ".section .debug_str { .b8 1", "this { has no }" },
    { ".version 9.0\n.target sm_80\n.entry k() { wgmma.fence.sync.aligned; }", "wgmma" },
    { ".version 9.0\n.target sm_70\n.entry k() { cp.async.wait_all; }", "cp.async.wait_all needs .target sm_80" },
};

static void check_refused(const char *text, const char *what, const char *says)
{
    struct module *m = ptx_parse("t.ptx", text, strlen(text), message, sizeof message);
    if (m)
        printf("accepted: %s\n", what);
    else if (!strstr(message, says))
        printf("%s\n  refused, but not with \"%s\":\n%s\n", what, says, message);
    CHECK(!m && strstr(message, says));
    CHECK(m || (strncmp(message, "t.ptx:", 6) == 0 && strchr(message, '^')));
    ptx_free(m);
}

static void wrong_text_is_refused(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s", OPEN, refusals[i].text, CLOSE);
        check_refused(text, refusals[i].text, refusals[i].says);
    }
    for (size_t i = 0; i < sizeof whole_refusals / sizeof *whole_refusals; i++)
        check_refused(whole_refusals[i].text, whole_refusals[i].text, whole_refusals[i].says);
}

static void a_refusal_shows_the_place(void)
{
    const char *text = ".version 9.0\n.target sm_90\n.entry k()\n{\n\tret;\n\tadd.wat.s32\t1;\n}\n";
    CHECK(!ptx_parse("file.ptx", text, strlen(text), message, sizeof message));
    CHECK(strncmp(message, "file.ptx:6:6: .wat is not a modifier", 36) == 0);
    CHECK(strstr(message, "\n    \tadd.wat.s32\t1;\n    \t    ^") != NULL);
}

/* ------------------------------------------------------------------ operands */

static void operands_stand_where_the_table_says(void)
{
    struct module *m = parse(KERNEL("cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1+16], 16, %rd2;\n"
                                    "bar.red.popc.u32 %r3, 1, %p2;\n"
                                    "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;\n"
                                    "atom.global.add.u32 _, [%rd1], 1;"));
    const struct func *f = kernel(m);
    const struct instr *in = nth(f, OP_CP_ASYNC, 0);
    CHECK_EQ(in->nopnd, 5);
    CHECK_EQ(in->opnd[1].kind, O_MEM);
    CHECK_EQ(in->opnd[1].imm, 16);
    CHECK_EQ(in->opnd[3].kind, O_NONE);         /* the fourth operand written is the policy, as .L2::cache_hint says */
    CHECK_EQ(in->opnd[4].width, 8);
    CHECK_EQ(in->space, SP_SHARED_CTA);
    CHECK_EQ(in->space2, SP_GLOBAL);
    in = nth(f, OP_BAR_RED_POPC, 0);
    CHECK_EQ(in->opnd[2].kind, O_NONE);
    CHECK_EQ(in->opnd[3].width, 0);
    in = nth(f, OP_SETP, 0);
    CHECK(in->opnd[0].pair_row != ROW_NONE && in->opnd[0].pair_row != in->opnd[0].row);
    CHECK_EQ(in->opnd[2].flags, O_CONST);
    CHECK_EQ(in->opnd[2].imm, -5);
    CHECK_EQ(constant_at(f, in->opnd[2].row), 0xFFFFFFFB);
    CHECK_EQ(in->opnd[3].flags, O_NOT);
    CHECK_EQ(in->cmp, M_lt);
    CHECK_EQ(in->boolop, M_and);
    CHECK_EQ(nth(f, OP_ATOM, 0)->opnd[0].kind, O_SINK);
    ptx_free(m);
}

static void literals_take_the_width_of_their_place(void)
{
    struct module *m = parse(KERNEL("mov.f32 %f1, 1.5; mov.f64 %fd1, 0f3FC00000; mov.f32 %f2, 0d3FF8000000000000; mov.b16 %h1, -1;\n"
                                    "shl.b64 %rd1, %rd2, 3; mad.wide.s32 %rd1, %r1, 4, -1; mov.u32 %r1, (3 << 4 | 0b101) * 2 - 010;\n"
                                    "mov.pred %p1, 1; st.global.u8 [%rd1], 300; selp.f32 %f1, 0f3F800000, 2.0, %p1; mov.u32 %r2, WARP_SZ;"));
    const struct func *f = kernel(m);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 0)->opnd[1].row), 0x3FC00000);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 1)->opnd[1].row), 0x3FF8000000000000);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 2)->opnd[1].row), 0x3FC00000);
    CHECK_EQ(nth(f, OP_MOV, 3)->opnd[1].width, 2);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 3)->opnd[1].row), 0xFFFF);
    CHECK_EQ(nth(f, OP_SHL, 0)->opnd[2].width, 4);
    CHECK_EQ(nth(f, OP_MAD_WIDE, 0)->opnd[2].width, 4);
    CHECK_EQ(nth(f, OP_MAD_WIDE, 0)->opnd[3].width, 8);
    CHECK_EQ(constant_at(f, nth(f, OP_MAD_WIDE, 0)->opnd[3].row), UINT64_MAX);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 4)->opnd[1].row), 53 * 2 - 8);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 5)->opnd[1].row), UINT32_MAX);
    CHECK_EQ(nth(f, OP_ST, 0)->opnd[1].width, 2);
    CHECK_EQ(constant_at(f, nth(f, OP_ST, 0)->opnd[1].row), 300 & 255);
    CHECK_EQ(constant_at(f, nth(f, OP_MOV, 6)->opnd[1].row), 32);
    ptx_free(m);
}

static void equal_constants_share_a_row(void)
{
    struct module *m = parse(KERNEL("add.s32 %r1, %r2, 7; add.s32 %r3, %r1, 7; add.f32 %f1, %f2, 0f00000007; add.s64 %rd1, %rd2, 7;"));
    const struct func *f = kernel(m);
    CHECK_EQ(f->nconstant, 2);
    CHECK_EQ(nth(f, OP_ADD, 0)->opnd[2].row, nth(f, OP_FADD, 0)->opnd[2].row);
    CHECK(f->frame_bytes % 64 == 0 && f->const_row % 64 == 0);
    ptx_free(m);
}

static void only_mov_reads_special_registers(void)
{
    struct module *m = parse(KERNEL("add.u32 %r1, %tid.x, %ntid.y; mov.u64 %rd1, %clock64;"));
    const struct func *f = kernel(m);
    CHECK_EQ(f->ninstr, 5);
    CHECK_EQ(f->code[0].op, OP_MOV);
    CHECK_EQ(f->code[0].opnd[1].kind, O_SREG);
    CHECK_EQ(f->code[0].opnd[1].imm, SREG_TID_X);
    CHECK_EQ(f->code[2].opnd[1].row, f->code[0].opnd[0].row);
    CHECK_EQ(f->code[2].opnd[2].row, f->code[1].opnd[0].row);
    ptx_free(m);
}

static void vectors_and_their_components(void)
{
    struct module *m = parse(KERNEL(".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 %f1, v.x, v.w; mov.b64 {%r1, _}, %rd1;\n"
                                    "mov.b32 %r2, {%h1, %h2}; st.global.v2.f32 [%rd1+-8], {v.y, 0f00000000};"));
    const struct func *f = kernel(m);
    const struct instr *ld = nth(f, OP_LD, 0), *add = nth(f, OP_FADD, 0);
    CHECK_EQ(ld->opnd[0].n, 4);
    CHECK_EQ(add->opnd[1].row, ld->opnd[0].elem[0].row);
    CHECK_EQ(add->opnd[2].row, ld->opnd[0].elem[3].row);
    CHECK_EQ(nth(f, OP_MOV, 0)->opnd[0].elem[1].kind, O_SINK);
    CHECK_EQ(nth(f, OP_MOV, 1)->opnd[1].elem[1].width, 2);
    CHECK_EQ(nth(f, OP_ST, 0)->opnd[0].imm, -8);
    CHECK(nth(f, OP_ST, 0)->opnd[1].elem[1].flags & O_CONST);
    ptx_free(m);
}

static void the_carry_flag_is_one_hidden_predicate(void)
{
    struct module *m = parse(KERNEL("add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; addc.u32 %r7, %r8, %r9; madc.lo.cc.u32 %r1, %r2, %r3, %r4;"));
    const struct func *f = kernel(m);
    uint32_t cc = nth(f, OP_ADD_CC, 0)->opnd[3].row;
    CHECK_EQ(nth(f, OP_ADDC_CC, 0)->opnd[3].row, cc);
    CHECK_EQ(nth(f, OP_ADDC, 0)->opnd[3].row, cc);
    CHECK_EQ(nth(f, OP_ADDC, 0)->opnd[3].width, 0);
    CHECK_EQ(nth(f, OP_MADC_CC, 0)->nopnd, 5);
    ptx_free(m);
}

static void video_operands_select_bytes(void)
{
    struct module *m = parse(KERNEL("vadd.u32.s32.s32.sat %r1.b2, %r2.h1, -%r3.b0, %r4; vadd4.u32.u32.u32 %r1.b3210, %r2.b7654, %r3, %r4;"));
    const struct func *f = kernel(m);
    CHECK_EQ(nth(f, OP_VADD, 0)->opnd[0].select, 2 | 1 << 24);
    CHECK_EQ(nth(f, OP_VADD, 0)->opnd[1].select, 1 | 1 << 24 | 1 << 28);
    CHECK_EQ(nth(f, OP_VADD, 0)->opnd[2].flags, O_NEG);
    CHECK_EQ(nth(f, OP_VADD4, 0)->opnd[1].select, 0x7654 | 4 << 24);
    ptx_free(m);
}

static void modifiers_in_any_order(void)
{
    struct module *m = parse(KERNEL("vote.ballot.sync.b32 %r1, %p1, -1; atom.add.release.global.gpu.u32 %r1, [%rd1], 1;\n"
                                    "ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%rd1]; mul.hi.s32 %r1, %r2, %r3; setp.hi.u32 %p1, %r1, %r2;\n"
                                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};"));
    const struct func *f = kernel(m);
    CHECK_EQ(nth(f, OP_VOTE_BALLOT, 0)->flags, F_SYNC);
    CHECK_EQ(nth(f, OP_ATOM, 0)->mode, M_add);
    CHECK_EQ(nth(f, OP_ATOM, 0)->sem, M_release);
    CHECK_EQ(nth(f, OP_ATOM, 0)->scope, M_gpu);
    CHECK_EQ(nth(f, OP_LD, 0)->vec, 2);
    CHECK(has_mod(nth(f, OP_LD, 0), M_L2_128B));
    CHECK_EQ(nth(f, OP_MUL, 0)->flags, F_HI);
    CHECK_EQ(nth(f, OP_SETP, 0)->cmp, M_cmp_hi);
    const struct instr *mma = nth(f, OP_MMA, 0);
    CHECK_EQ(mma->shape_m * 10000 + mma->shape_n * 100 + mma->shape_k, 160816);
    CHECK(mma->layout[0] == M_row && mma->layout[1] == M_col);
    CHECK(mma->ntype == 4 && mma->type[0] == T_F32 && mma->type[2] == T_F16);
    ptx_free(m);
}

static void the_first_row_that_fits_is_taken(void)
{
    struct module *m = parse("\n.version 9.0\n.target sm_100a\n.entry k() {\n" REGS
                             "min.f32 %f1, %f2, %f3; min.f32 %f1, %f2, %f3, %f4; add.rz.f32 %f1, %f2, %f3; add.rn.f32.f16 %f1, %h2, %f3;\n"
                             "add.s32 %r1, %r2, %r3; add.f16 %h1, %h2, %h3; add.rn.f32x2 %rd1, %rd2, %rd3; cvt.rn.f16x2.f32 %r1, %f1, %f2; ret; }");
    static const enum op want[] = { OP_FMIN, OP_FMIN3, OP_FADD, OP_FADD_MIXED, OP_ADD, OP_HADD, OP_FADD_X2, OP_CVT_PACK2, OP_RET };
    const struct func *f = kernel(m);
    for (uint32_t i = 0; i < sizeof want / sizeof *want && i < f->ninstr; i++)
        CHECK_EQ(f->code[i].op, want[i]);
    CHECK_EQ(f->ninstr, sizeof want / sizeof *want);
    ptx_free(m);
}

/* ------------------------------------------------------------------ names */

static void scopes_hide_names(void)
{
    struct module *m = parse(KERNEL("mov.u32 %r1, 1;\n{ .reg .b32 %r1; .reg .b64 t; mov.u32 %r1, 2; mov.u64 t, 3; bra L; L: }\n"
                                    "{ .reg .b32 t; mov.u32 t, 4; { bra L; } L: mov.u32 t, 5; }\nmov.u32 %r2, %r1;"));
    const struct func *f = kernel(m);
    CHECK(f->code[0].opnd[0].row != f->code[1].opnd[0].row);
    CHECK_EQ(f->code[3].opnd[0].imm, 4);        /* bra L of the first pair of braces */
    CHECK_EQ(f->code[5].opnd[0].imm, 6);        /* and of the second: the label comes later, outside */
    CHECK_EQ(f->code[7].opnd[1].row, f->code[0].opnd[0].row);
    ptx_free(m);
}

static void initial_values(void)
{
    struct module *m = parse(HEAD ".global .align 4 .u32 a[2][3] = {{1, 2}, {4, 5, 6}}; .global .u32 tail[4] = {7};\n"
                             ".global .f64 d = 0d3FF0000000000000; .const .f32 c[2] = {1.0, 0fC0000000}; .global .v2 .f32 v[2] = {{1.0, 2.0}, {3.0, 4.0}};\n"
                             ".global .u64 p[3] = {a+8, generic(tail), 5}; .global .u8 b[3] = {0xFF(a), 0xFF00(a), 1}; .global .b8 open[] = {1, 2, 3};\n"
                             ".func f() { ret; } .global .align 8 .u64 t[2] = {f, -1}; .global .s16 s = -2;");
    static const uint32_t a[6] = { 1, 2, 0, 4, 5, 6 }, tail[4] = { 7 };
    static const float c[2] = { 1, -2 }, v[4] = { 1, 2, 3, 4 };
    if (!m)
        return CHECK(m);
    CHECK(memcmp(ptx_var(m, "a")->init, a, sizeof a) == 0);
    CHECK(memcmp(ptx_var(m, "tail")->init, tail, sizeof tail) == 0);
    CHECK(memcmp(ptx_var(m, "c")->init, c, sizeof c) == 0);
    CHECK_EQ(ptx_var(m, "c")->space, SP_CONST);
    CHECK(memcmp(ptx_var(m, "v")->init, v, sizeof v) == 0);
    CHECK_EQ(ptx_var(m, "open")->size, 3);
    const struct symbol *p = ptx_var(m, "p"), *b = ptx_var(m, "b"), *t = ptx_var(m, "t");
    CHECK_EQ(p->nreloc, 2);
    CHECK(p->reloc[0].sym == ptx_var(m, "a") && p->reloc[0].addend == 8 && p->reloc[0].bytes == 8 && !p->reloc[0].generic);
    CHECK(p->reloc[1].offset == 8 && p->reloc[1].generic);
    CHECK(b->nreloc == 2 && b->reloc[1].bytes == 1 && b->reloc[1].shift == 8 && b->reloc[1].offset == 1);
    CHECK(t->reloc[0].sym->func == ptx_func(m, "f"));
    ptx_free(m);
}

static void lines_of_inlined_wrappers_count_for_the_kernel(void)
{
    struct module *m = parse(HEAD ".entry k() { .reg .b32 %r<3>;\n.loc 1 10 3\nmov.u32 %r0, 1;\n"
                             ".loc 2 77 5, function_name $L__info0, inlined_at 1 12 9\nmov.u32 %r1, 2;\n"
                             ".loc 3 5 1, function_name $L__info1+4, inlined_at 2 77 5\nmov.u32 %r1, 3;\n"
                             ".loc 1 40 1, function_name $L__info2, inlined_at 1 13 2\nmov.u32 %r1, 4;\n.loc 1 0 0\nret; }\n"
                             ".file 1 \"kernel.cu\"\n.file 2 \"z_ptx.h\", 5, 6\n.file 3 \"deep.h\"\n");
    const struct func *f = kernel(m);
    static const uint32_t want[] = { 10, 12, 12, 40, 40 };
    for (uint32_t i = 0; i < 5 && f->ninstr == 5; i++) {
        const char *file;
        CHECK_EQ(ptx_line_of(&f->code[i], &file), want[i]);
        CHECK_STR(file, "kernel.cu");
    }
    CHECK(f->ninstr == 5 && f->code[2].loc->line == 5 && f->code[2].loc->inlined_at->inlined_at->line == 12);
    CHECK(f->ninstr == 5 && f->code[2].ptx_line == 11);
    char text[40];
    CHECK(f->ninstr == 5 && strcmp(instr_text(&f->code[0], text, sizeof text), "mov.u32 %r0, 1") == 0);
    ptx_free(m);
}

/* ------------------------------------------------------------------ functions */

static void parameters_live_in_local_memory(void)
{
    struct module *m = parse(HEAD ".func (.param .b64 res) f(.param .b32 a, .param .align 8 .b8 s[12]) {\n"
                             ".reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.b32 %r1, [a]; ld.param.b64 %rd1, [s]; st.param.b64 [res], %rd1; ret; }\n"
                             ".entry k(.param .u64 out, .param .u32 n) { .reg .b32 %r<3>; .reg .b64 %rd<3>; .local .align 8 .b8 depot[16];\n"
                             "ld.param.u32 %r1, [n]; { .param .b32 p0; .param .align 8 .b8 p1[12]; .param .b64 r0; st.param.b32 [p0], %r1;\n"
                             "st.param.b64 [p1], 1; st.param.b32 [p1+8], 2; call (r0), f, (p0, p1); ld.param.b64 %rd1, [r0]; }\n"
                             "{ .param .b32 q; st.param.b32 [q], 1; } mov.u64 %rd2, depot; ret; }");
    const struct func *f = m ? ptx_func(m, "f") : NULL, *k = kernel(m);
    if (!f)
        return;
    CHECK_EQ(f->code[0].space, SP_LOCAL);
    CHECK_EQ(f->code[0].opnd[1].imm, f->param[0].offset);
    CHECK_EQ(f->code[2].opnd[0].imm, f->ret[0].offset);
    CHECK(f->nparam == 2 && f->nret == 1 && f->local_bytes >= 8 + 4 + 12);
    const struct instr *ld = nth(k, OP_LD, 0), *call = nth(k, OP_CALL, 0);
    CHECK_EQ(ld->space, SP_PARAM);
    CHECK_EQ(ld->opnd[1].imm, 8);
    CHECK(ld->opnd[1].flags & O_UNIFORM);
    CHECK_EQ(nth(k, OP_ST, 0)->space, SP_LOCAL);
    CHECK(call->opnd[0].kind == O_FUNC && call->opnd[0].sym->func == f);
    CHECK(call->opnd[1].n == 2 && call->opnd[1].elem[1].kind == O_SLOT && call->opnd[1].elem[1].n == 12);
    CHECK_EQ(call->opnd[1].elem[1].imm, nth(k, OP_ST, 1)->opnd[0].imm);
    CHECK_EQ(nth(k, OP_LD, 1)->opnd[1].imm, call->opnd[2].elem[0].imm);
    CHECK_EQ(nth(k, OP_ST, 3)->opnd[0].imm, nth(k, OP_ST, 0)->opnd[0].imm);     /* later braces use the memory again */
    CHECK_EQ(k->nconst_local, 2);
    ptx_free(m);
}

static void register_parameters_become_slots(void)
{
    struct module *m = parse(HEAD ".func (.reg .b32 r) f(.reg .b32 a, .reg .f32 b) { add.s32 r, a, 1; ret; }\n"
                             ".entry k() { .reg .b32 %r<3>; .reg .pred p; @p call (%r1), f, (%r2, 1.5); ret; }");
    const struct func *f = m ? ptx_func(m, "f") : NULL, *k = kernel(m);
    if (!f)
        return;
    CHECK(f->ninstr == 5 && f->code[0].op == OP_LD && f->code[1].op == OP_LD && f->code[3].op == OP_ST);
    CHECK_EQ(f->code[0].opnd[0].row, f->code[2].opnd[1].row);
    CHECK(k->ninstr == 5 && k->code[0].op == OP_ST && k->code[2].op == OP_CALL && k->code[3].op == OP_LD);
    CHECK_EQ(k->code[0].opnd[0].imm, k->code[2].opnd[1].elem[0].imm);
    CHECK_EQ(constant_at(k, k->code[1].opnd[1].row), 0x3FC00000);
    CHECK(k->code[2].guard != ROW_NONE && k->code[3].guard == k->code[2].guard);
    ptx_free(m);
}

static void indirect_calls_branch_tables_aliases(void)
{
    struct module *m = parse(HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.weak .func w(); .func g() { ret; } .alias w, g;\n"
                             ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred p; mov.u64 %rd1, g;\n"
                             "proto: .callprototype ()_();\n call %rd1, (), proto; call w;\n"
                             "T: .branchtargets A, B, A;\nbrx.idx %r1, T; A: bra C; B: mov.u32 %r1, 1; C: exit; }");
    const struct func *k = kernel(m);
    if (!m)
        return;
    CHECK(nth(k, OP_CALL, 0)->opnd[0].kind == O_REG && nth(k, OP_CALL, 0)->opnd[3].kind == O_SYMBOL);
    CHECK(nth(k, OP_CALL, 1)->opnd[0].sym->func == ptx_func(m, "g"));
    CHECK(!ptx_func(m, "w") && ptx_func(m, "vprintf")->is_extern);
    CHECK_EQ(nth(k, OP_BRX, 0)->opnd[1].n, 3);
    CHECK_EQ(nth(k, OP_BRX, 0)->opnd[1].elem[1].imm, 5);
    CHECK_EQ(nth(k, OP_BRX, 0)->rpc, 6);
    CHECK(k->constant[0].sym == ptx_func(m, "g")->sym);
    ptx_free(m);
}

static void shared_memory_of_kernels(void)
{
    struct module *m = parse(HEAD ".shared .align 4 .b8 common[100]; .extern .shared .align 16 .b8 dyn[];\n"
                             ".func f() { .reg .b32 %r<2>; ld.shared.u32 %r1, [common]; ret; }\n"
                             ".func h() { .reg .b32 %r<2>; mov.u32 %r1, dyn; ret; }\n"
                             ".entry a() { .shared .align 8 .b8 own[1000]; .reg .b32 %r<2>; mov.u32 %r1, own; call f; ret; }\n"
                             ".entry b() { .shared .align 8 .b8 big[40000]; .reg .b32 %r<2>; mov.u32 %r1, big; ret; }\n"
                             ".entry c() { .shared .b8 own[8]; .reg .b32 %r<2>; mov.u32 %r1, own; call h; mov.u32 %r1, dyn; ret; }\n"
                             ".entry d() { .shared .b8 own[40]; .reg .b32 %r<2>; mov.u32 %r1, own; call h; ret; }\n"
                             ".entry e() { .reg .b32 %r<2>; mov.u32 %r1, dyn+4; ret; }");
    if (!m)
        return CHECK(m);
    CHECK_EQ(ptx_func(m, "a")->shared_bytes, 1104);
    CHECK_EQ(ptx_func(m, "b")->shared_bytes, 40000);
    CHECK_EQ(ptx_func(m, "c")->shared_bytes, 48);       /* h, which d calls too, has one address for dyn */
    CHECK_EQ(ptx_func(m, "d")->shared_bytes, 48);
    CHECK_EQ(ptx_func(m, "e")->shared_bytes, 0);
    CHECK(ptx_func(m, "e")->dynamic_shared && !ptx_func(m, "a")->dynamic_shared);
    CHECK_EQ(ptx_func(m, "e")->constant[0].bits[0], 4);
    CHECK_EQ(ptx_func(m, "h")->constant[0].bits[0], 48);
    ptx_free(m);
}

static void directives_around_a_kernel(void)
{
    struct module *m = parse(HEAD ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 map[128])\n"
                             ".maxntid 128, 2\n.reqnctapercluster 2, 1, 1\n.minnctapersm 2\n.maxnreg 64\n.explicitcluster\n.pragma \"nounroll\";\n"
                             "{ .pragma \"nounroll\"; ret; }\n.section .debug_str { Lx: .b8 1, 2 { } }");
    const struct func *f = kernel(m);
    CHECK(f->maxntid[0] == 128 && f->maxntid[1] == 2 && f->maxntid[2] == 1 && f->reqntid[0] == 0);
    CHECK(f->reqnctapercluster[0] == 2 && f->minnctapersm == 2 && f->maxnreg == 64 && f->explicit_cluster && f->is_kernel);
    CHECK(f->nparam == 2 && f->param[1].offset == 64 && f->param_bytes == 192);
    ptx_free(m);
}

/* ------------------------------------------------------------------ where lanes meet */

static void branches_meet_at_the_post_dominator(void)
{
    static const struct { const char *body; int branch; uint32_t meet; } cases[] = {
        { "@%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: mov.u32 %r2, 3;", 0, 4 },                /* if else */
        { "A: add.s32 %r1, %r1, 1; @%p1 bra A; mov.u32 %r2, 1;", 0, 2 },                                     /* loop */
        { "@%p1 bra A; @%p2 bra A; mov.u32 %r1, 1; A: mov.u32 %r2, 2;", 1, 3 },                              /* short circuit */
        { "@%p1 bra A; @%p2 bra X; mov.u32 %r1, 1; A: mov.u32 %r2, 2; mov.u32 %r3, 3; X:", 0, 3 },           /* early return */
        { "@%p1 bra A; B: mov.u32 %r1, 1; @%p2 bra B; A: mov.u32 %r2, 2;", 0, 3 },                           /* loop in an if */
        { "A: @%p1 bra B; @%p2 bra A; B: mov.u32 %r1, 1;", 0, 2 },                                           /* break */
        { "@%p1 bra A; B: bra B; A: mov.u32 %r1, 1;", 0, 4 },                                                /* one side for ever */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s", OPEN, cases[i].body, CLOSE);
        struct module *m = parse(text);
        int n = cases[i].branch;
        const struct func *f = kernel(m);
        const struct instr *in = NULL;
        for (uint32_t pc = 0; pc < f->ninstr && !in; pc++)
            if (f->code[pc].op == OP_BRA && f->code[pc].guard != ROW_NONE && n-- == 0)
                in = &f->code[pc];
        CHECK_EQ(in ? in->rpc : 99999, cases[i].meet);
        ptx_free(m);
    }
}

/* ------------------------------------------------------------------ rows */

static const char *const row_cases[] = {
    /* the old value of a guarded write is still needed */
    "mov.u32 %r1, 1; mov.u32 %r2, 2; @%p1 mov.u32 %r1, %r2; mov.u32 %r3, 3; add.s32 %r4, %r1, %r3; st.global.u32 [%rd1], %r4;",
    "@%p1 mov.u32 %r1, 5; @!%p1 mov.u32 %r1, 6; mov.u32 %r2, 7; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1], %r2;",
    /* needed around the loop, not after its last use in the text */
    "mov.u32 %r1, 1; mov.u32 %r9, 9; L: add.s32 %r2, %r1, %r9; mov.u32 %r3, 4; add.s32 %r4, %r3, %r2; setp.eq.s32 %p1, %r4, 9; @%p1 bra L;",
    /* written at the end of a loop, read at its start */
    "mov.u32 %r1, 1; L: mov.u32 %r2, %r1; mov.u32 %r3, 3; st.global.u32 [%rd1], %r3; add.s32 %r1, %r2, 1; setp.lt.s32 %p1, %r1, 9; @%p1 bra L;",
    /* several results beside operands that end there */
    "mov.u64 %rd2, 1; ld.global.v2.u64 {%rd3, %rd4}, [%rd2]; st.global.u64 [%rd3], %rd4; mov.b64 {%r1, %r2}, %rd3; st.global.u32 [%rd4], %r1;",
    "setp.eq.and.s32 %p1|%p2, %r1, %r2, %p3; @%p1 exit; @%p2 exit; add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r1, %r2;",
    /* a value that is never read */
    "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; st.global.u32 [%rd1], %r1;",
    /* two sides of a branch */
    "mov.u32 %r1, 1; @%p1 bra A; mov.u32 %r2, 2; st.global.u32 [%rd1], %r2; bra B; A: mov.u32 %r3, 3; st.global.u32 [%rd1], %r3; B: st.global.u32 [%rd1], %r1;",
};

static void rows_are_shared_only_by_what_is_never_needed_together(void)
{
    for (size_t i = 0; i < sizeof row_cases / sizeof *row_cases; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s", OPEN, row_cases[i], CLOSE);
        CHECK_EQ(wrong_rows(text), 0);
    }
}

static uint32_t random_state;

static uint32_t rnd(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

/* A program of random blocks: guarded and plain arithmetic, pairs, vectors, jumps to anywhere. */
static void random_program(char *text, size_t size, uint32_t seed)
{
    random_state = seed;
    size_t at = (size_t)snprintf(text, size, "%s", HEAD ".entry k() {\n" REGS);
    uint32_t blocks = 2 + rnd(12);
    for (uint32_t b = 0; b < blocks; b++) {
        at += (size_t)snprintf(text + at, size - at, "B%u:\n", b);
        for (uint32_t i = rnd(8); i > 0; i--) {
            const char *guard = rnd(3) ? "" : rnd(2) ? "@%p1 " : "@!%p2 ";
            static const char *const forms[] = {
                "%sadd.s32 %%r%u, %%r%u, %%r%u;\n", "%ssetp.lt.s32 %%p%u, %%r%u, %%r%u;\n", "%sld.global.v2.u32 {%%r%u, %%r%u}, [%%rd%u];\n",
                "%smul.wide.u32 %%rd%u, %%r%u, %%r%u;\n", "%smov.b64 %%rd%u, {%%r%u, %%r%u};\n", "%saddc.cc.u32 %%r%u, %%r%u, %%r%u;\n",
                "%sshfl.sync.idx.b32 %%r%u|%%p3, %%r%u, %%r%u, 31, -1;\n",
            };
            const char *form = forms[rnd(sizeof forms / sizeof *forms)];
            at += (size_t)snprintf(text + at, size - at, form, guard, rnd(9), rnd(9), rnd(9));
        }
        if (rnd(2))
            at += (size_t)snprintf(text + at, size - at, "%sbra B%u;\n", rnd(3) ? rnd(2) ? "@%p1 " : "@!%p4 " : "", rnd(blocks));
    }
    snprintf(text + at, size - at, "ret; }\n");
}

static void rows_of_random_programs(void)
{
    static char text[20000];
    for (uint32_t seed = 1; seed <= 400; seed++) {
        random_program(text, sizeof text, seed);
        int wrong = wrong_rows(text);
        CHECK_EQ(wrong, 0);
        if (wrong) {
            printf("seed %u:\n%s", seed, text);
            return;
        }
    }
}

static void a_long_kernel_has_a_small_frame(void)
{
    size_t size = 1 << 20, at;
    char *text = malloc(size);
    at = (size_t)snprintf(text, size, HEAD ".entry k() {\n.reg .b32 %%r<5001>; mov.u32 %%r0, 1;\n");
    for (int i = 0; i < 5000; i++)
        at += (size_t)snprintf(text + at, size - at, "add.s32 %%r%d, %%r%d, 1;\n", i + 1, i);
    snprintf(text + at, size - at, "ret; }\n");
    struct module *m = parse(text);
    CHECK_EQ(kernel(m)->ninstr, 5002);
    CHECK_EQ(kernel(m)->const_row, 128);
    ptx_free(m);
    free(text);
}

/* ------------------------------------------------------------------ the page */

static void the_page_of_instructions_is_up_to_date(void)
{
    char *page = NULL;
    size_t size = 0, n;
    FILE *made = open_memstream(&page, &size), *file = fopen("docs/instructions.md", "r");
    print_instruction_page(made);
    fclose(made);
    char *have = calloc(size + 2, 1);
    n = file ? fread(have, 1, size + 1, file) : 0;
    if (file)
        fclose(file);
    if (n != size || memcmp(have, page, size) != 0)
        puts("docs/instructions.md is not what the table says: make docs/instructions.md");
    CHECK(n == size && memcmp(have, page, size) == 0);
    free(have);
    free(page);
}

/* ------------------------------------------------------------------ damaged text */

/* Whatever the text, the parser ends with a module or a message. (Run under ASan, this finds the rest.) */
static void damaged_text_never_breaks_the_parser(void)
{
    static const char text[] = KERNEL(
        ".shared .align 16 .b8 sm[64]; .local .align 8 .b8 lo[8]; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
        "{ .param .b32 p0; st.param.b32 [p0], %r1; } L: @!%p1 bra L; ld.global.nc.v2.f32 {%f1, %f2}, [%rd1+-8];\n"
        "T: .branchtargets L, M; M: brx.idx %r1, T; setp.lt.and.s32 %p1|%p2, %r1, (3 + 4) * -2, !%p3; vadd.u32.u32.u32 %r1.b0, %r2.h1, -%r3, %r4;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};")
        ".global .u64 g[2][2] = {{1, 2}, {g, 0xFF(g)}};\n.func (.reg .b32 r) f(.param .b32 a) { ret; }\n.alias f, f;\n";
    char copy[sizeof text];
    for (size_t n = 0; n < sizeof text; n++)
        ptx_free(ptx_parse("t", text, n, message, sizeof message));
    random_state = 7;
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, text, sizeof text);
        for (uint32_t k = 1 + rnd(3); k > 0; k--)
            copy[rnd(sizeof text - 1)] = rnd(2) ? " .,;:{}[]()<>|!@%-+0123456789abcdefxp_\n"[rnd(38)] : text[rnd(sizeof text - 1)];
        struct module *m = ptx_parse("t", copy, sizeof text - 1, message, sizeof message);
        CHECK(m || strchr(message, '^'));
        ptx_free(m);
    }
}

TESTS({ wrong_text_is_refused, "what is not PTX is refused, and the message says why" },
      { a_refusal_shows_the_place, "a refusal shows file, line, column and a caret" },
      { operands_stand_where_the_table_says, "operands stand where the table says" },
      { literals_take_the_width_of_their_place, "literals take the width of their place" },
      { equal_constants_share_a_row, "equal constants share a row" },
      { only_mov_reads_special_registers, "only mov reads special registers" },
      { vectors_and_their_components, "vectors and their components" },
      { the_carry_flag_is_one_hidden_predicate, "the carry flag is one hidden predicate" },
      { video_operands_select_bytes, "video operands select bytes" },
      { modifiers_in_any_order, "modifiers may stand in any order" },
      { the_first_row_that_fits_is_taken, "of several rows the first that fits is taken" },
      { scopes_hide_names, "braces hide registers and labels" },
      { initial_values, "initial values of variables" },
      { lines_of_inlined_wrappers_count_for_the_kernel, "an inlined wrapper's line is the kernel's line that uses it" },
      { parameters_live_in_local_memory, "parameters of functions live in local memory" },
      { register_parameters_become_slots, "register parameters become slots" },
      { indirect_calls_branch_tables_aliases, "indirect calls, branch tables, aliases" },
      { shared_memory_of_kernels, "shared memory is laid out per kernel" },
      { directives_around_a_kernel, "directives around a kernel" },
      { branches_meet_at_the_post_dominator, "branches meet at the post-dominator" },
      { rows_are_shared_only_by_what_is_never_needed_together, "rows are shared only by what is never needed together" },
      { rows_of_random_programs, "the same for random programs" },
      { a_long_kernel_has_a_small_frame, "a long kernel has a small frame" },
      { the_page_of_instructions_is_up_to_date, "docs/instructions.md is up to date" },
      { damaged_text_never_breaks_the_parser, "damaged text never breaks the parser" })
