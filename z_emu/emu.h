/* emu.h: every structure and function that one part of z_emu offers another.
 *
 * Sectioned by folder, lowest first. Dependencies run one way:
 *     cuda -> core -> unit      ptx below them all      diag is called by everyone and calls no one
 *
 * Words used throughout:
 *   row      the 32 lanes of one register, side by side in memory (structure of arrays): lane i of
 *            a 4-byte register is ((uint32_t *)row)[i]. A predicate's row is one uint32_t, a bit per lane.
 *   frame    the rows of one activation of one function, constants included.
 *   split    a subset of a warp's lanes that share one pc.
 *   fault    a broken rule; it ends the launch with a CUDA error and prints a report.
 */
#ifndef Z_EMU_H
#define Z_EMU_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WARP = 32 };

struct instr; struct func; struct module; struct symbol;
struct warp; struct split; struct cta; struct mbarrier; struct warpgroup; struct registers; struct sm; struct gpu; struct launch;
struct cluster; struct races;

/* ================================================================ diag: what it tells a person */

/* Fault ids, the CUDA error each ends the launch with, and the rule in the ISA's words: diag/faults.def
 * with columns FAULT(id, cuda_error, rule). */
enum fault_id {
    FAULT_NONE,
#define FAULT(id, cuda_error, rule) FAULT_##id,
#include "diag/faults.def"
#undef FAULT
    FAULT_COUNT,
    FAULT_CANCELLED = FAULT_COUNT       /* a launch that ends because another one had a fault */
};

/* Reports a fault of lane `lane` (-1: the whole warp) at instruction `in` and ends the launch.
 * The first fault of a launch is printed (rule, CTA, warp, lane, PTX, operand values, source line,
 * then the caller's own sentence), later ones are counted. Always returns X_FAULT. */
int fault(struct warp *w, const struct instr *in, int lane, enum fault_id id, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* A fault with no instruction to blame (a hang, a bad launch). */
void fault_launch(struct launch *l, enum fault_id id, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The name of a kernel, function or variable as written in C++, without its arguments: "scan::step" for
 * _ZN4scan4stepEPi. What is no mangled name, or too strange a one, stays as it is. In buf, or name itself. */
const char *plain_name(const char *name, char *buf, size_t len);
/* "kernel.cu:41", or the PTX line where no source line is known. */
const char *source_place(const struct instr *in, char *buf, size_t len);

/* Several lines to the same stream as faults (stderr), one write, prefixed "z_emu: ". */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ================================================================ ptx: text -> program */

enum type {
    T_NONE,
    T_PRED,
    T_B8, T_B16, T_B32, T_B64, T_B128, T_B1024,
    T_U8, T_U16, T_U32, T_U64,
    T_S8, T_S16, T_S32, T_S64,
    T_F16, T_F16X2, T_BF16, T_BF16X2, T_TF32, T_F32, T_F32X2, T_F64,
    T_U16X2, T_S16X2, T_U8X4, T_S8X4,
    T_E4M3, T_E5M2, T_E4M3X2, T_E5M2X2, T_E4M3X4, T_E5M2X4,
    T_E2M1, T_E2M3, T_E3M2, T_E2M1X2, T_E2M3X2, T_E3M2X2, T_E2M1X4, T_E2M3X4, T_E3M2X4,
    T_UE8M0, T_UE8M0X2, T_UE4M3, T_B1, T_U4, T_S4, T_U2, T_S2, T_S2F6X2,
    T_B4X16, T_B4X16_P64, T_B6X16_P32, T_B8X16,
    T_COUNT
};
uint32_t type_bytes(enum type t);           /* size in a register or in memory; 0 for sub-byte types */
const char *type_name(enum type t);         /* "u32" */

enum space { SP_GENERIC, SP_GLOBAL, SP_SHARED_CTA, SP_SHARED_CLUSTER, SP_LOCAL, SP_CONST, SP_PARAM, SP_TMEM, SP_NONE };
const char *space_name(enum space s);

/* Every dotted modifier the parser knows: ptx/modifiers.def with columns
 * MOD(id, "text", field, value); `field` says which member of struct instr it sets. M_shape is any
 * matrix shape (m16n8k16). */
enum mod {
    M_NONE,
#define MOD(id, text, field, value) M_##id,
#include "ptx/modifiers.def"
#undef MOD
    M_COUNT
};

/* The instruction table: ptx/instructions.def (its head explains the columns). */
enum op {
    OP_NONE,
#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) OP_##id,
#include "ptx/instructions.def"
#undef INSTR
    OP_COUNT
};

enum cost {                                 /* issue cost classes; cycles per device in core/devices.def */
    COST_ALU, COST_HALF_RATE, COST_QUARTER_RATE, COST_FP64, COST_MUFU, COST_CONTROL, COST_LDST, COST_ATOM,
    COST_BARRIER, COST_MMA, COST_ASYNC, COST_COUNT
};

/* Special registers: core/sregs.def with columns SREG(id, "name", type). */
enum sreg {
    SREG_NONE,
#define SREG(id, text, type) SREG_##id,
#include "core/sregs.def"
#undef SREG
    SREG_COUNT
};

enum operand_kind {
    O_NONE,
    O_REG,      /* a row of the frame: a register or a constant (same thing to a handler) */
    O_VEC,      /* {…}: n elements */
    O_MEM,      /* [row + imm]; for [map, {coords}] the coordinates are `elem` */
    O_LABEL,    /* imm is the pc */
    O_SLOT,     /* a call parameter: n bytes at offset imm of this frame's local memory */
    O_FUNC,     /* call target: sym */
    O_SREG,     /* special register, imm is enum sreg; only ever the source of mov */
    O_SYMBOL,   /* a name that is no address: call prototype, branch-target list, texture */
    O_SINK      /* _ : a destination that is thrown away */
};
enum { O_CONST = 1,     /* the row is a constant: same value in all lanes, never written */
       O_NOT = 2,       /* !p */
       O_NEG = 4,       /* -x, where the ISA allows it */
       O_UNIFORM = 8 }; /* O_MEM: the row is a constant, so all lanes have the same address */

/* opnd[i] is the i-th operand of the instruction's row of the table; one that was left out has kind O_NONE.
 * Registers keep their own width (`width`); the parser has checked it against the width that the row
 * demands, except where the row says "+" (may be wider: ld, st, cvt) or "*".
 * Literals and symbol addresses are constant rows of the demanded width; a literal's value is in `imm` too.
 * call: opnd[0] target (O_FUNC, or O_REG with a function's address), opnd[1] arguments and opnd[2] results,
 * each an O_VEC of O_SLOT (kind O_NONE: none), opnd[3] the prototype of an indirect call (O_SYMBOL).
 * brx.idx: opnd[1] is an O_VEC of O_LABEL. */
struct operand {
    uint8_t kind, width;        /* width: bytes per lane of the row: 0 predicate, 2, 4, 8, 16 (8-bit registers use 2) */
    uint8_t flags;
    uint8_t pair_width;         /* "d|p": width of the second half, whose row is pair_row */
    uint16_t n;                 /* elements */
    uint32_t row;               /* byte offset of the row in the frame */
    uint32_t pair_row;          /* of p in "d|p"; ROW_NONE when there is none or it is _ (then d may be O_SINK) */
    uint32_t select;            /* video instructions: which bytes or halves, 0: not written. .b3210: 0x3210, how many
                                   digits in bits 27:24, bit 28 set for halves (.h10) */
    int64_t imm;
    union { struct operand *elem; struct symbol *sym; };
};
#define ROW_NONE UINT32_MAX

/* Handlers. `mask` is the split's lanes for which the guard holds, never 0 (a guard that holds for
 * no lane skips the instruction), except for instructions whose row has the modifier group ALIGNED.
 * The pc has already moved past the instruction. */
enum exec_status {
    X_NEXT,         /* done */
    X_JUMP,         /* done, and the split list or the pc was changed: reload */
    X_RETRY,        /* not done: the split has been put to sleep (split_sleep) and executes this instruction again when woken */
    X_YIELD,        /* done, but let others run first */
    X_FAULT         /* the launch is over */
};
typedef int exec_fn(struct warp *w, const struct instr *in, uint32_t mask);
/* Binding: every table row has a picker that returns the handler for this exact form, or NULL when
 * the form is not supported (the module is then refused, by name and line). It may normalise `in`. */
typedef exec_fn *pick_fn(struct instr *in);

struct loc {                    /* a .loc line */
    uint32_t line, column;
    uint16_t file;
    const char *function;       /* inlined function this line is in, or NULL */
    const struct loc *inlined_at;       /* …and where it was inlined, or NULL */
};

struct instr {
    exec_fn *exec;
    exec_fn *inner;             /* the picked handler where bind.c put a wrapper (aligned, stall) in front of it */
    uint16_t op;                /* enum op */
    uint8_t ntype, nopnd, nmod;
    uint8_t guard_neg;
    uint8_t type[6];            /* in the order written: cvt.rn.f16.f32 -> F16, F32 */
    uint8_t space, space2;      /* first and second state space written; SP_GENERIC when none is */
    uint16_t cmp, boolop, rnd, mode, sem, scope, cache;     /* enum mod, M_NONE when not written */
    uint16_t layout[2];         /* .row, .col, in the order written */
    uint8_t vec;                /* of .v2 .v4 .v8 (and .x1 .x2 .x4 …); 1 when not written */
    uint8_t nlayout;
    uint16_t shape_m, shape_n, shape_k;     /* of .m16n8k16 */
    uint32_t guard;             /* row of the guard predicate, ROW_NONE if unguarded */
    uint32_t flags;             /* F_… of modifiers.def: F_SAT, F_FTZ, F_SYNC, F_ALIGNED, F_VOLATILE, … */
    uint32_t rpc;               /* branches: pc of the immediate post-dominator, or ninstr */
    uint32_t line, ptx_line;    /* of the source file, of the PTX text; 0 unknown. An inlined function of another file
                                   counts as the line it was inlined at in the kernel's own file; loc has it all */
    uint16_t file;              /* index into module->file */
    uint16_t cost;              /* issue cycles, filled in when bound to a device */
    uint16_t site;              /* number of the place that its accesses to shared memory are remembered by; 0: none */
    struct operand *opnd;
    const uint16_t *mod;        /* every modifier as written, enum mod, for handlers that need more than the fields */
    const void *plan;           /* what its picker worked out for its handler; NULL if it had no need to */
    const char *text;           /* where it stands in module->text */
    const struct loc *loc;      /* the .loc line it stands under, NULL: none */
    const struct func *func;
};
enum { F_SAT = 1, F_FTZ = 2, F_SYNC = 4, F_ALIGNED = 8, F_VOLATILE = 16, F_UNI = 32, F_APPROX = 64, F_FULL = 128,
       F_TRANS = 256, F_NC = 512, F_RELU = 1024, F_CC = 2048, F_HI = 4096, F_LO = 8192, F_WIDE = 16384,
       F_SATFINITE = 1 << 15, F_NOINC = 1 << 16, F_NAN = 1 << 17, F_ABS = 1 << 18, F_XORSIGN = 1 << 19,
       F_READ = 1 << 20, F_MMIO = 1 << 21, F_ALL = 1 << 22, F_OOB = 1 << 23, F_ZFILL = 1 << 24 };

enum symbol_kind { SYM_VAR, SYM_FUNC, SYM_PARAM, SYM_LABEL, SYM_OTHER };
/* Parameters of functions and of calls live in local memory: ld.param and st.param on them have space SP_LOCAL.
 * A function's parameters are at offsets 0… of its frame, its results behind them; call copies each
 * argument slot from the caller's frame to the callee's param[i].offset, and back ret[i] on return.
 * Only kernel parameters have space SP_PARAM: offsets into launch->params. */
struct symbol {
    const char *name;
    enum symbol_kind kind;
    enum space space;
    uint32_t align;
    uint64_t size;
    uint64_t addr;              /* in its space: global, const and functions set when the module is loaded onto a
                                   gpu; offsets set by the parser: param in the parameter block, local in the frame
                                   (add frame->local_base), shared in the CTA's static shared memory (add
                                   smem_reserved) */
    const uint8_t *init;        /* size bytes, or NULL */
    struct { uint64_t offset; struct symbol *sym; int64_t addend; uint8_t bytes, shift; bool generic; } *reloc;
                                /* names inside init: `bytes` bytes of (address + addend) >> shift */
    int nreloc;
    bool is_extern;             /* shared: dynamic shared memory; other: resolved across modules */
    bool managed;
    struct func *func;
};

struct constant {               /* one constant row of a frame */
    uint32_t row;
    uint8_t width;
    uint64_t bits[2];
    struct symbol *sym;         /* when set, its address is added to bits[0] at load. Dynamic shared memory: bits[0] has
                                   the offset behind the function's static shared memory, sym->addr is 0 */
    bool generic;               /* …as a generic address (cvta'd) */
};

struct param { const char *name; uint32_t offset, size, align; enum type type; };

struct func {
    const char *name;
    struct module *module;
    bool is_kernel, is_extern;
    struct instr *code;         /* ninstr of them; the last is always ret or exit */
    uint32_t ninstr;
    uint32_t frame_bytes;       /* register rows, then constant rows from const_row on */
    uint32_t const_row;
    struct constant *constant;
    uint32_t nconstant, nconst_local;   /* the first nconst_local are addresses of local memory: relative to
                                           frame->local_base, to be added when the frame is made */
    struct param *param;        /* inputs */
    uint32_t nparam, param_bytes;
    struct param *ret;          /* .func results */
    uint32_t nret, ret_bytes;
    uint32_t local_bytes;       /* local memory per thread of this frame: .local, parameters, call parameters */
    uint32_t shared_bytes;      /* kernels: static shared memory, with what the functions it calls use */
    bool dynamic_shared;        /* kernels: uses extern .shared */
    uint32_t reqntid[3], maxntid[3], minnctapersm, maxnreg, reqnctapercluster[3];
    bool explicit_cluster;
    uint32_t regs;              /* registers per thread: from the cubin beside the PTX, else estimated */
    uint32_t stack_bytes;       /* .local of itself and the deepest chain of calls below it (bind.c) */
    uint8_t *const_image;       /* the constant rows, filled in when the module is loaded (bind.c) */
    const struct instr **site; uint32_t nsites;         /* places by number; a kernel's follow its module's (core/race_site.c) */
    struct symbol *sym;
    const char *refused;        /* ptx_parse_usable: why it must not run; NULL: it may */
};

struct module {
    const char *name;           /* for messages */
    const char *text;           /* a NUL-ended copy of the PTX */
    uint32_t target;            /* 90 */
    char target_suffix;         /* 'a', 'f' or 0 */
    uint32_t version;           /* 90 for .version 9.0 */
    struct func **func; uint32_t nfunc;
    struct symbol **var; uint32_t nvar;     /* module-scope .global, .const, .shared */
    const char **file; uint32_t nfile;      /* source files by index */
    const struct instr **site; uint32_t nsites;         /* of functions that are no kernels; number 0 is none */
    struct arena *arena;        /* owns everything above */
};

/* Parses PTX text. On error returns NULL and writes one message (name:line:column, the source line, a
 * caret, what was expected) to `err`. Handlers are not bound yet. */
struct module *ptx_parse(const char *name, const char *text, size_t len, char *err, size_t errlen);
/* The same, but a function that reads textures, or when `compiled` has any instruction that is not known, does not spoil the
 * others: `refused` has the message, in it and in all that call it. An error all the same when no kernel is left. */
struct module *ptx_parse_usable(const char *name, const char *text, size_t len, char *err, size_t errlen, bool compiled);
void ptx_free(struct module *m);
struct func *ptx_func(const struct module *m, const char *name);        /* NULL if there is none */
struct symbol *ptx_var(const struct module *m, const char *name);
const char *op_mnemonic(enum op op);
const char *mod_text(enum mod m);
const char *operand_name(enum op op, uint32_t i);       /* "d", "a": the table's name of opnd[i] */
enum cost op_cost(enum op op);
bool has_mod(const struct instr *in, enum mod m);       /* was it written? */
/* May code for `target` (the column of the table, "" any) run on compute capability cc, suffix 'a', 'f' or 0? */
bool target_has(const char *target, uint32_t cc, char suffix);
/* The PTX text of an instruction, copied to `buf`. */
const char *instr_text(const struct instr *in, char *buf, size_t len);
uint32_t ptx_line_of(const struct instr *in, const char **file);        /* source line and file, for people */

/* ================================================================ core: execution */

/* One row of core/devices.def per chip. */
struct device {
    const char *id, *name;      /* "h200", "NVIDIA H200 (emulated)" */
    uint32_t cc;                /* 90 */
    char suffix;                /* 'a' when the arch-specific features are there */
    uint32_t sms, clock_khz, mem_clock_khz, bus_bits;
    uint64_t global_bytes, l2_bytes;
    uint32_t smem_per_sm, smem_optin, smem_reserved, regs_per_sm, threads_per_sm, ctas_per_sm, max_cluster;
    uint16_t cost[COST_COUNT];  /* issue cycles per warp instruction */
    uint32_t lat_shared, lat_l2, lat_dram;      /* cycles */
    uint32_t dram_bytes_per_kcycle;
};
const struct device *device_by_id(const char *id);      /* NULL if unknown */
const struct device *device_for_target(uint32_t target, char suffix);   /* the profile a binary asks for */
bool device_runs(const struct device *d, uint32_t target, char suffix);  /* PTX for that target */

/* ---- memory (core/memory.c) */
enum access { A_READ = 1, A_WRITE = 2, A_ATOMIC = 3, A_ASYNC = 4,
              A_ANY = 8,        /* unwritten bytes may be read: parameters are copied with their padding */
              A_LATER = 16,     /* the bytes do not count as written yet: an asynchronous copy will say when */
              A_STRONG = 32 };  /* volatile, relaxed, acquire, release: orders, and races with no other strong access */

struct alloc {                  /* one allocation of global memory */
    uint64_t addr;              /* device address */
    size_t size;
    uint8_t *host;              /* host bytes */
    uint8_t *init;              /* a byte per byte: 1 once written. NULL: all written (host memory, managed) */
    bool all_init;              /* every byte is known to be written: skip the look-up */
    bool read_only, freed, visible_to_host;
    uint8_t space;              /* enum space: global, unless its owner says const or param */
    bool owned;                 /* its bytes are ours to give back */
    size_t known, looked;       /* bytes from the start known to be written; bytes checked since that was measured */
    struct alloc *next;         /* all host memory, for mem_close */
    const char *what;           /* "cudaMalloc", "__device__ table", "kernel parameters of gemm" */
};
struct memory;                                          /* one gpu's address space; core/memory.h */
struct memory *mem_open(const struct device *d);        /* by gpu_open; NULL: no address space */
void mem_close(struct memory *m);                       /* by gpu_close */
struct memory *gpu_memory(const struct gpu *g);         /* core/gpu.c keeps it */
struct alloc *mem_alloc(struct gpu *g, size_t size, const char *what);  /* poisoned; NULL: out of memory */
struct alloc *mem_alloc_host(struct gpu *g, size_t size, const char *what);     /* host address == device address */
struct alloc *mem_register(struct gpu *g, void *host, size_t size);     /* existing host memory */
bool mem_free(struct gpu *g, uint64_t addr);            /* poisons; false: no allocation starts there */
struct alloc *mem_find(struct gpu *g, uint64_t addr);   /* that holds addr, or NULL */
/* Host-side copies and fills; false when the range is not inside one allocation. */
bool mem_to_device(struct gpu *g, uint64_t dst, const void *src, size_t n);
bool mem_to_host(struct gpu *g, void *dst, uint64_t src, size_t n);
bool mem_copy(struct gpu *g, uint64_t dst, uint64_t src, size_t n);
bool mem_fill(struct gpu *g, uint64_t dst, uint32_t value, uint32_t unit, size_t count);        /* unit 1, 2, 4 */

/* THE accessor. Host address of `size` bytes at `addr` of `space` as lane `lane` sees it, after every
 * check (bounds, alignment to `align`, written before read, freed); NULL after a fault was reported.
 * Generic addresses are resolved. For A_WRITE the bytes count as written from now on. */
uint8_t *mem_at(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                uint32_t align, enum access how);
/* The same for all lanes of mask at once, much faster: host addresses into at[] (lanes outside the mask get some
 * valid one). false after a fault was reported. */
bool mem_lanes(struct warp *w, const struct instr *in, uint32_t mask, enum space space, const uint64_t addr[WARP],
               uint32_t size, uint32_t align, enum access how, uint8_t *at[WARP]);
/* The 32 addresses of a memory operand: row + imm, zero-extended to 64 bits. */
void mem_addresses(struct warp *w, const struct operand *o, uint64_t addr[WARP]);
/* Fresh poison: a CTA's shared and local memory when it starts; `bytes` of the local memory of the
 * lanes in mask when a function's frame begins there. */
void mem_poison_cta(struct cta *c);
void mem_poison_local(struct warp *w, uint32_t mask, uint32_t base, uint32_t bytes);
uint64_t va_shared(const struct gpu *g);        /* generic address of shared::cluster address 0 */
uint64_t va_local(const struct gpu *g);

/* ---- warps and splits (core/warp.c) */
struct frame {                  /* one activation of a function */
    struct frame *parent;       /* caller, NULL for the kernel */
    const struct func *func;
    uint32_t return_pc;         /* in the caller */
    uint32_t refs;              /* splits in this frame or below */
    uint32_t local_base;        /* first byte of its .local in each thread's local memory */
    uint32_t rank;              /* in the cluster: in the constants that are shared addresses */
    uint32_t *stack;            /* alloca: each lane's stack pointer; NULL while it has asked for nothing (core/stack.c) */
    _Alignas(64) uint8_t regs[];
};

struct split {
    uint32_t pc, mask;
    uint32_t rpc;               /* where it waits for its siblings */
    uint8_t state;              /* S_READY, S_SLEEP, … (core/warp.c) */
    uint64_t wake_at;           /* cycle at which it wakes by itself; UINT64_MAX: only when woken */
    uint64_t deadline;          /* of the timed wait that it is executing; 0: none */
    const void *wait_for;       /* the object it sleeps on (split_wake) */
    const char *wait_what;      /* for the hang ledger: "barrier 0", "mbarrier full[1] phase 0" */
    struct frame *frame;
    struct split *next;
    struct join *join;          /* innermost divergence that it is part of (core/warp.c) */
    uint32_t members;           /* S_WARP: lanes that it waits for */
    struct watch {              /* does it spin? (core/spin.c) */
        uint64_t hash;          /* of its registers, when it stopped at `pc` the time before; 0: not watched */
        uint32_t pc, steps, stops;
        bool circles;           /* it came back with the same registers, having written nothing */
    } watch;
    char what[60];              /* what wait_what points to when split_sleep wrote it */
};

struct race_mark { uint32_t agent, epoch, generation; };      /* a point in what a warp does (core/race.c) */

struct warp {
    uint8_t *regs;              /* == current split's frame->regs while it runs */
    struct split *cur, *splits;
    struct cta *cta;
    uint64_t now;               /* modelled cycle */
    uint32_t id;                /* in the CTA */
    uint32_t exited;            /* lanes */
    uint32_t born;              /* lanes that exist */
    uint64_t executed;          /* thread-instructions */
    uint64_t issued;            /* warp instructions */
    uint32_t slot;              /* on its SM; slot % 4 is its sub-core */
    uint64_t turn, turn_end;    /* since when it was ready when its turn began, and when that ends (core/sm.c) */
    uint32_t patience;          /* cycles that a split waits at a join while its siblings are busy */
    uint32_t barrier_lanes[16]; /* lanes that stand at a named barrier while others of the warp are still to come */
    uint32_t cluster_arrived;   /* lanes that have arrived at barrier.cluster, whose phase is not complete */
    uint32_t cluster_passed;    /* lanes that have arrived, and not yet waited since it completed */
    struct cp_async *cp_async;  /* copies in flight (core/cp_async.c); NULL until the first */
    struct bulk *bulk;          /* bulk stores in flight (unit/bulk.c); NULL until the first */
    struct held *held;          /* registers that asynchronous hardware uses (core/held.c); NULL until the first */
    bool ordered[2];            /* it comes behind the grids in front, behind what dependent grids did (core/overlap.c)… */
    struct race_mark ordered_at[2];     /* …since then */
};
#define ROW(w, o, T) ((T *)((w)->regs + (o)->row))
#define PRED(w, o) (*(uint32_t *)((w)->regs + (o)->row))
#define FOR_LANES(i, mask) for (uint32_t m_ = (mask), i; m_ && ((i = (uint32_t)__builtin_ctz(m_)), 1); m_ &= m_ - 1)

/* Puts the running split to sleep until split_wake on `object` or cycle `until`; returns X_RETRY. */
int split_sleep(struct warp *w, const void *object, uint64_t until, const char *what_fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Wakes every split of this CTA that sleeps on `object`, at cycle `when`. */
void split_wake(struct cta *c, const void *object, uint64_t when);
/* Collects splits until all live lanes of `members` stand at this instruction, then merges them:
 * returns true with *mask their union (run now), false: return X_RETRY (asleep until the rest come). */
bool warp_converge(struct warp *w, const struct instr *in, uint32_t members, uint32_t *mask);
/* For .aligned instructions: a fault unless every live lane of the warp is in mask. */
bool warp_aligned(struct warp *w, const struct instr *in, uint32_t mask);

/* mov from a special register (core/sreg.c): pick_MOV hands on when its source is O_SREG. */
exec_fn *pick_sreg(struct instr *in);

/* ---- CTA, SM, launch, gpu (core/gpu.c) */
struct barrier { uint32_t expected, arrived; uint32_t red_and, red_or, red_popc, phase; uint64_t when; };

struct cta {
    struct launch *launch;
    struct sm *sm;
    struct memory *memory;      /* the gpu's, at hand for every access */
    uint32_t id[3];
    uint64_t linear;
    uint32_t cluster_rank;
    struct cta **cluster;       /* peers by rank; itself at cluster_rank */
    uint32_t ncluster;
    uint8_t *smem, *smem_init;  /* size smem_bytes from offset smem_reserved on; a byte per byte */
    uint32_t smem_bytes;
    uint8_t *local; uint8_t *local_init; uint32_t local_bytes;  /* per thread */
    struct warp *warp; uint32_t nwarp, live_warps;
    struct barrier barrier[16];
    struct mbarrier *mbarriers; /* live ones (unit/mbarrier.c) */
    struct warpgroup *warpgroups;       /* by warp / 4 (unit/wgmma.c); NULL until the first wgmma */
    struct races *races;        /* what the race detector knows of its cluster; NULL: not watched */
    struct registers *registers;        /* the pool of setmaxnreg (unit/setmaxnreg.c); NULL until the first */
    struct tcgen05 *tcgen05;    /* unit/tcgen05.c; NULL until the first tcgen05 instruction */
    uint32_t events;            /* things under way that will call back; the CTA's memory stays until there are none */
    bool over;                  /* all its threads have exited */
    bool released;              /* it has let dependent grids start (core/dependents.c) */
    bool no_more_clusters;      /* it has read so in an answer of cluster launch control (unit/clc.c) */
    struct cluster *group;      /* what its cluster shares (core/core.h) */
};

enum { MAX_PREREQUISITES = 16 };
struct launch {
    struct gpu *gpu;
    const struct func *func;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dyn_smem;
    struct alloc *params;       /* a copy of the parameter block, read-only to the device */
    uint64_t id;                /* 1, 2, … */
    enum fault_id fault;        /* FAULT_NONE while all is well */
    int cuda_error;
    uint64_t faults;            /* reported and swallowed */
    uint64_t cycles, thread_instrs, warp_instrs;        /* when done: modelled cycles, counts */
    double seconds;             /* host time */
    bool done;
    bool cooperative;           /* set before gpu_start: all CTAs must fit at once, and grid sync works */
    bool explicit_cluster;      /* the launch attribute asked for a cluster, or the kernel did */
    bool fence_noted;           /* it was said that a tcgen05.fence lacks (unit/tmem_order.c) */
    bool pair_noted;            /* …that the CTAs of a pair give columns back without a barrier between them (same) */
    bool pattern_noted;         /* …that a tile begins inside its swizzle's pattern (unit/smem_desc.c) */
    bool load_noted;            /* …that registers of a tcgen05.ld are used before its wait (unit/tcgen05_ldst.c) */
    void *user;                 /* the stream's */
    struct overlap *overlap;    /* what it does while a programmatic dependent may run (core/overlap.c); NULL: not watched */
    struct launch *prerequisite[MAX_PREREQUISITES];     /* set before gpu_start: grids that griddepcontrol.wait waits for */
    uint32_t nprerequisites;
    bool triggered;             /* all its CTAs have let dependent grids start, some by griddepcontrol: gpu_run returns then */
    /* kept by core/gpu.c */
    struct alloc *grid_workspace;       /* of cooperative launches: the grid barrier */
    uint64_t clusters, dispatched, finished;    /* counted in clusters */
    bool started, open;         /* open: a host thread may take more than its share of the clusters */
    uint32_t held[64];          /* clusters of it that each host thread has resident */
    uint64_t start_cycle, trigger_cycle;
    uint64_t released;          /* CTAs */
    bool asked;
    double start_seconds;
    struct launch *next;
};

struct gpu *gpu_open(const struct device *d);           /* NULL: no address space */
void gpu_close(struct gpu *g);
const struct device *gpu_device(const struct gpu *g);
/* Binds handlers and places variables. false and a message when an instruction is unknown to the
 * emulator or to this device. */
bool gpu_load(struct gpu *g, struct module *m, char *err, size_t errlen);
void gpu_unload(struct gpu *g, struct module *m);
/* 0, or the CUDA error of a launch this device cannot make (too many threads, too much shared memory). */
int launch_check(const struct gpu *g, const struct func *f, const uint32_t grid[3], const uint32_t block[3],
                 const uint32_t cluster[3], uint32_t dyn_smem);
/* The same for what a cooperative launch needs besides: all its CTAs resident at once. Set l->cooperative then. */
int launch_check_cooperative(const struct gpu *g, const struct func *f, const uint32_t grid[3], const uint32_t block[3],
                             uint32_t dyn_smem);
struct launch *launch_new(struct gpu *g, const struct func *f, const uint32_t grid[3], const uint32_t block[3],
                          const uint32_t cluster[3], uint32_t dyn_smem, const void *params);
void launch_free(struct launch *l);
/* Adds a launch to those that share the gpu. Nothing runs before gpu_run. */
void gpu_start(struct gpu *g, struct launch *l);
/* Runs all started launches (EMU_JOBS host threads) until one is done and returns it, or NULL when
 * there is none, or when gpu_interrupt was called (the caller has new work to start), or a launch was triggered. */
struct launch *gpu_run(struct gpu *g);
void gpu_interrupt(struct gpu *g);
/* Is the host waiting, so that it starts and writes nothing before a launch is done? True unless said otherwise; kernels
 * that spin on what nobody will write are reported only then. */
void gpu_host_waits(struct gpu *g, bool waits);
bool gpu_watches_races(const struct gpu *g);            /* EMU_RACES */
/* CTAs per SM that fit at once, by threads, registers and shared memory. */
uint32_t occupancy(const struct gpu *g, const struct func *f, uint32_t threads, uint32_t dyn_smem);

/* ---- registers that asynchronous hardware uses, operands with a "~" in the table (core/held.c) */
enum held_how { HELD_NOT, HELD_READ, HELD_WRITTEN };    /* by the hardware, until its wait */
/* `in` is about to read it: X_NEXT, it is free then, or X_RETRY, the split sleeps until it is. */
struct held_register;
typedef int held_used_fn(struct warp *w, const struct instr *in, struct held_register *r);
struct held_register {
    uint32_t row;
    uint8_t how;
    uint8_t fault;              /* enum fault_id of one who touches it too early */
    const struct instr *holder;
    uint64_t group;             /* the wait for groups below some number frees it */
    held_used_fn *used;         /* HELD_WRITTEN: reading it is no fault, but is asked for here; NULL: it is a fault */
    void *owner;                /* for `used` */
    uint64_t written;           /* when the warp's own instructions wrote it last, and which one */
    const struct instr *writer;
};
struct held_register *held_register(struct warp *w, uint32_t row);      /* NULL: no "~" operand is there */
void held_release(struct warp *w, uint64_t groups);     /* those of groups below that are free */
void held_fence(struct warp *w);
bool held_fenced(struct warp *w);                       /* was there any fence? */
/* The instruction that wrote it since the last fence; NULL: none. */
const struct instr *held_unfenced(struct warp *w, const struct held_register *r);
int held_fault(struct warp *w, const struct instr *in, const struct held_register *r, bool writes);
/* What its holder calls it: "d.3". */
const char *held_name(const struct held_register *r, char *buf, size_t len);

/* ---- one clock (core/clock.c): things that happen later */
typedef void event_fn(struct cta *c, void *arg, uint64_t now);
/* Runs fn at modelled cycle `when` on the host thread that runs c's cluster. */
void event_at(struct cta *c, uint64_t when, event_fn *fn, void *arg);
/* A latency of `cycles`, perturbed by EMU_SEED (exactly `cycles` when it is unset). */
uint64_t latency(struct cta *c, uint64_t cycles);

/* ---- races (core/race.c): accesses to shared memory are held against those before them; docs/emulator.md says how.
 * Each unit tells what it does when it is issued: what it reads or writes, by whom its end will be known, and who learns of
 * it. The functions that return bool return false after a fault was reported. All may be called at any time. */

enum race_unit { RACE_CP_ASYNC, RACE_BULK, RACE_WGMMA, RACE_TCGEN05, RACE_UNITS };

/* A warp's own access to `bytes` bytes at shared address `at` of `owner`, through the generic proxy. Plain ld and st are
 * looked at by the accessor; this is for what does not go through it. */
bool race_access(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes, bool write);

/* Work of the async proxy that the warp waits for in groups: `group` have been closed before the one it belongs to.
 * Later: the warp has waited until `groups` groups are done; or they are to be done before p's phase is complete. */
bool race_work(struct warp *w, const struct instr *in, int lane, enum race_unit unit, uint32_t group, struct cta *owner,
               uint32_t at, uint32_t bytes, bool write);
void race_work_done(struct warp *w, enum race_unit unit, uint32_t groups);
struct race_point;                          /* what an mbarrier has for this (unit/mbarrier.h: mbarrier_race) */
void race_work_arrive(struct warp *w, enum race_unit unit, uint32_t groups, struct race_point *p);
/* tcgen05 has commits for groups: how many the warp has made, and one more, which p hears of. */
uint32_t race_commits(const struct warp *w);
void race_commit(struct warp *w, const struct instr *in, struct race_point *p);
/* For memory that is not shared memory: what the warp does now, or (work) what it has tcgen05 do, which its next commit tells;
 * and whether a warp is ordered after that. Always true when nobody watches. */
struct race_mark race_mark(struct warp *w, bool work);
bool race_after(struct warp *w, struct race_mark m);

/* A copy into `owner`'s memory whose bytes complete on p. async: it writes through the async proxy. */
bool race_copy_in(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes,
                  struct race_point *p, bool async);
/* The source of that copy, where it is shared memory too. */
bool race_copy_out(struct warp *w, const struct instr *in, int lane, struct cta *owner, uint32_t at, uint32_t bytes,
                   struct race_point *p);

/* A tile read by a tensor core: n chunks of 16 bytes. Where several warps issue it, *common (NULL at first) gathers what
 * all of them are ordered after; race_issue_end frees it. */
struct race_clock;
void race_issue(struct warp *w, struct race_clock **common);
bool race_tile(struct warp *w, const struct instr *in, enum race_unit unit, uint32_t group, const struct race_clock *common,
               struct cta *owner, const uint32_t *chunk, uint32_t n);
void race_issue_end(struct race_clock **common);

/* ---- grids that overlap (core/overlap.c): called by the dispatcher while nothing runs */
struct overlap;
bool overlap_possible(const struct func *f);            /* does the kernel let dependents start? */
void overlap_watch(struct launch *l);                   /* from now on */
void overlap_pair(struct overlap *front, struct launch *l);     /* l may begin before the grid in front has ended */
struct overlap *overlap_hold(struct overlap *o);
void overlap_drop(struct overlap *o);
void overlap_close(struct launch *l);
/* (diag/race_report.c) dependent: w's grid is; wrote: the other one did, at `other`. */
void report_overlap(struct warp *w, const struct instr *in, int lane, bool dependent, bool writes, const char *place,
                    const char *other_kernel, bool wrote, const struct instr *other);

/* What orders. */
void race_fence(struct warp *w, bool proxy);            /* proxy: between the generic and the async proxy */
void race_barrier_arrive(struct warp *w, uint32_t id);
void race_barrier_done(struct cta *c, uint32_t id, uint64_t waiting);   /* waiting: a bit per warp */
void race_cluster_arrive(struct warp *w, bool relaxed);
void race_cluster_done(struct cluster *g);
void race_cluster_wait(struct warp *w, bool relaxed);
void race_exit(struct warp *w);
/* Lanes of it exit. If they are the CTA's last: false, a fault, when somebody may still use its shared memory. */
bool race_exit_cta(struct warp *w, const struct instr *in, uint32_t lanes);
/* Reports that a thread exits before its store at `store` is known to have read shared memory. */
void race_exit_early(struct warp *w, const struct instr *in, int lane, const struct instr *store);
struct race_point *race_point_new(struct cta *c, uint32_t at);          /* an mbarrier at that shared address; NULL: not watched */
void race_point_free(struct race_point *p);
/* A warp uses the mbarrier in any way: false, a fault was reported, if it is not ordered after its initialisation. */
bool race_point_use(struct warp *w, const struct instr *in, int lane, struct race_point *p);
void race_point_arrive(struct warp *w, const struct instr *in, struct race_point *p, bool relaxed);
void race_point_landed(struct race_point *p);           /* a race_copy_in */
void race_point_phase(struct race_point *p);                            /* is complete */
void race_point_wait(struct warp *w, const struct instr *in, struct race_point *p, bool relaxed); /* has found it complete */
uint64_t race_waited(const struct warp *w, const struct instr **at);    /* when it last did, and where; 0: never, or not watched */

/* ---- what a kernel asks of the system: vprintf, __assertfail, malloc, free (core/syscall.c) */
bool syscall_known(const char *name);
void syscall_flush(struct gpu *g);          /* device printf output to stdout, in order */
void gpu_set_limits(struct gpu *g, uint32_t stack_bytes, size_t heap_bytes);    /* cudaLimitStackSize, cudaLimitMallocHeapSize */

/* ================================================================ unit: the asynchronous hardware and the tensor cores
 * One file each, its header comment saying what is modelled and what is not. Units are reached through the
 * pickers of their table rows; what else they offer stands here. */

/* cp.async: cycle at which every copy that these lanes have begun will have landed; 0: none is under way.
 * What is put on the clock for that cycle happens after the landing. */
uint64_t cp_async_done(const struct warp *w, uint32_t lanes);
uint32_t cp_async_groups(const struct warp *w, uint32_t lanes);         /* that they have closed */
void cp_async_close(struct warp *w);        /* when the CTA's memory goes */

void wgmma_close(struct cta *c);             /* when the CTA's memory goes */
void bulk_close(struct warp *w);             /* the same for its bulk stores */
bool bulk_exit(struct warp *w, const struct instr *in, uint32_t lanes);         /* lanes exit: false, a fault, if one may not yet */
void tcgen05_close(struct cta *c);           /* the same for what tcgen05 has begun */

/* Tensor memory (unit/tmem.c): a CTA exits; the SM goes; the nth allocation on an SM as text for the hang ledger. */
void tmem_exit(struct cta *c);
void tmem_close(struct sm *sm);
bool tmem_describe(const struct sm *sm, uint32_t nth, char *text, size_t len);

/* ---- numerics shared by mma, wgmma and tcgen05 (unit/mma_math.c, unit/mma_tile.c) */

enum mma_round { MMA_TO_F32, MMA_TO_F32_13, MMA_TO_F16 };       /* truncated to f32, to 13 bits of fraction; nearest f16 */

/* How a chip adds up one output. In each fused step the sum of `step` products and the accumulator is aligned to the
 * largest exponent, cut off below `fraction` bits and rounded (ptx-isa: unspecified; measured). */
struct mma_how { int fraction, step; enum mma_round round; };

/* One tile, D = A * B + C. a: m rows of k elements, b: n rows of k (both K-major, without gaps; e2m1 two to a byte, or
 * MMA_E2M1_BYTE), c and d: m rows of n, `stride` floats apart; c NULL: zero; c == d is allowed. k is a multiple of
 * how->step. For MMA_TO_F16 c and d hold f16 values as floats. */
void mma_tile_f32(const void *a, enum type atype, const void *b, enum type btype, const float *c, float *d,
                  size_t stride, int m, int n, int k, const struct mma_how *how);
/* The same for u8, s8, u4, s4: exact, then wrapped or (saturate) clamped to s32. */
void mma_tile_s32(const void *a, enum type atype, const void *b, enum type btype, const int32_t *c, int32_t *d,
                  size_t stride, int m, int n, int k, bool saturate);

#endif
