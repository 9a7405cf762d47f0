/* ptx.h: what the files of ptx/ share. Everybody else needs emu.h alone.
 *
 *   lex.c      text -> tokens            table.c    instructions.def -> rows; opcode text -> form
 *   parse.c    module directives         decl.c     variables, parameters, initialisers; expr.c constant expressions
 *   func.c     functions, statements     operand.c  operands as written; build.c  operands as the table wants them
 *   cfg.c      blocks, post-dominators   regalloc.c registers -> rows;   layout.c  shared memory of kernels
 *   text.c     names and texts           loc.c      source lines;   page.c a page of docs/
 *   dump/      a program that prints what was parsed
 */
#ifndef Z_EMU_PTX_H
#define Z_EMU_PTX_H

#include <setjmp.h>
#include "../emu.h"

/* ---------------------------------------------------------------- arena.c */
/* All memory of a module: allocated zeroed, freed at once. */
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_text(struct arena *a, const char *s, size_t len);
/* Doubles an array when it is full: call before writing element n. */
void *arena_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size);
#define NEW(p, T) ((T *)arena_alloc((p)->arena, sizeof(T)))
#define NEWS(p, T, n) ((T *)arena_alloc((p)->arena, sizeof(T) * (n)))
#define PUSH(p, array, n, cap) \
    (*((array) = arena_grow((p)->arena, (array), (n), &(cap), sizeof *(array)), &(array)[(n)++]))

/* ---------------------------------------------------------------- names */
/* Every identifier of the text, once. `bound` is what it means at this place in the text. */
enum entity_kind { E_REG, E_SYMBOL, E_LIST };
struct entity {
    uint8_t kind;
    uint8_t n;                  /* E_REG: elements of a vector register, 0 for a scalar */
    uint32_t vreg;              /* E_REG: of the (first) register */
    struct symbol *sym;         /* E_SYMBOL */
    struct label_list *list;    /* E_LIST: .branchtargets, .calltargets, .callprototype */
    struct name *name;
    uint32_t scope;             /* id of the scope it was declared in */
    struct entity *outer;       /* what the name meant before */
    struct entity *sibling;     /* next of the same scope */
};
struct label { uint32_t pc, scope; struct label *next; const char *at; };
struct name {
    const char *text;
    uint32_t len, hash;
    struct name *next;
    struct entity *bound;
    struct label *label;        /* labels of this name in the current function */
};
struct label_list { bool branches; struct name **target; uint32_t n; struct symbol sym; };     /* sym: its name, for O_SYMBOL */

/* ---------------------------------------------------------------- lexer */
enum token_kind { TOK_END = 256, TOK_WORD, TOK_DOT, TOK_INT, TOK_FLOAT, TOK_STRING };
struct token {
    int kind;                   /* one of the above, or a character */
    const char *s;              /* in the text. TOK_DOT: behind the dot; TOK_STRING: inside the quotes */
    uint32_t len;
    uint64_t i;                 /* TOK_INT: value; TOK_FLOAT: bits */
    bool is_unsigned;
    uint8_t float_bits;         /* TOK_FLOAT: 32 for 0f…, 64 for 0d…, 0 for decimal (a double) */
    struct name *name;          /* TOK_WORD */
};

/* ---------------------------------------------------------------- the instruction table, compiled */
enum { MODS = (M_COUNT + 63) / 64, MAX_SPEC = 14, MAX_ENTRY = 24 };
enum spec_kind { SPEC_ANY, SPEC_ADDRESS, SPEC_VECTOR, SPEC_CARRY };
enum spec_type { ST_LAST, ST_FIXED, ST_NTH, ST_WIDE, ST_PACK, ST_FRAG };
enum { ACC_READ = 1, ACC_WRITE = 2 };
struct spec {
    char name[12];
    uint8_t kind, access, rule, type;   /* type: of ST_FIXED, or n of ST_NTH */
    uint8_t pair;                       /* 1: |p may stand there, 2: must */
    bool optional, wider, unchecked, async;
};
struct mod_entry { uint64_t set[MODS]; bool required; };
struct row {
    enum op op;
    const char *mnemonic, *target;
    uint8_t nspec, nentry;
    bool async_wait, has_vec;
    struct spec spec[MAX_SPEC];
    struct mod_entry entry[MAX_ENTRY];
    const struct row *next;             /* same mnemonic */
};
const struct row *row_of(enum op op);
const struct row *row_by_mnemonic(const char *text, size_t len);
/* First modifier with this text (ids with the same text are chained by mod_next), M_NONE: unknown word. */
enum mod mod_by_text(const char *text, size_t len);
enum mod mod_next(enum mod m);

/* An opcode as written, decoded once per module: the rows it fits, each with its fields filled in. */
struct candidate { const struct row *row; struct instr proto; };
struct form {
    const char *text;
    uint32_t len, n;
    struct candidate *cand;
    struct form *next;
};

/* ---------------------------------------------------------------- the parser */
struct vreg { uint8_t width; uint8_t type; struct name *name; uint32_t row; };
struct fixup { struct operand *op; struct name *name; uint32_t scope; const char *at; };
struct reach { struct func *callee; struct symbol *shared; struct reach *next; };
struct fn {                     /* a function, and what is needed of it until the module is done */
    struct func func;
    struct reach *reach;        /* functions it calls, shared variables it names */
    bool calls_indirect, address_taken;
    uint32_t dyn_offset;        /* kernels: where dynamic shared memory begins */
    uint32_t visited;
    struct fn *next;
};
#define FN(f) ((struct fn *)(f))
enum { ROW_CONST = 1u << 31 };  /* while a function is being built operand.row is a vreg, or a constant with this bit */

struct parser {
    struct arena *arena;
    struct module *m;
    const char *name, *end;
    const char *cur;            /* behind tok */
    uint32_t line, tok_line, statement_line;
    struct token tok;
    jmp_buf *on_error;
    bool usable_only;           /* functions with unknown instructions are set aside */
    bool compiled;              /* the text comes from a compiler: an unknown instruction is new, not a slip */
    bool unknown_form;          /* what is being reported is an instruction that is not known */
    bool share_rows;            /* registers that are never live together share a row */
    char *err; size_t errlen;

    struct name **names; uint32_t nnames, names_cap;
    struct form *forms[1024];
    uint32_t func_cap, var_cap, file_cap;
    struct fn *fns;

    /* the scope stack */
    uint32_t scope, nscope;             /* current, and how many there have been */
    uint32_t *scope_parent; uint32_t scope_cap;
    uint32_t *scope_local;              /* local memory in use when the scope was opened */
    struct entity **scope_entities;     /* by scope id */

    /* the function being parsed */
    struct fn *fn;
    struct func *f;
    struct instr *code; uint32_t ncode, code_cap;
    struct vreg *vreg; uint32_t nvreg, vreg_cap;
    struct constant *con; uint32_t ncon, con_cap;
    bool *con_local; uint32_t conl_cap, nconl;
    uint32_t con_hash[1024];
    struct fixup *fix; uint32_t nfix, fix_cap;
    struct name **labelled; uint32_t nlabelled, labelled_cap;
    uint32_t local_top;                 /* local memory in use here; f->local_bytes is the most that ever is */
    uint32_t carry;                     /* vreg of the carry flag, ROW_NONE until it is needed */
    uint32_t *reg_param; uint32_t nreg_param; /* vregs of .reg results, then of .reg inputs; ROW_NONE: in .param */
    const struct loc *loc; uint16_t main_file;
    struct loc **locs; uint32_t nlocs, locs_cap;        /* of this function, to find what inlined_at means */
};

void ptx_fail(struct parser *p, const char *at, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));
uint32_t line_at(const struct parser *p, const char *at, uint32_t *column);

/* lex.c */
void advance(struct parser *p);
bool take(struct parser *p, int kind);
bool take_dot(struct parser *p, const char *word);
bool take_word(struct parser *p, const char *word);
void need(struct parser *p, int kind, const char *what);
int peek_char(const struct parser *p);          /* first character behind the token and white space */
bool is_dot(const struct parser *p, const char *word);
struct name *intern(struct parser *p, const char *s, size_t len);
const char *skip_braces(struct parser *p);      /* the token is "{": goes behind the matching "}" */

/* expr.c */
struct value { bool is_float, is_unsigned; uint8_t float_bits; uint64_t bits; };       /* a literal */
struct value parse_value(struct parser *p);     /* constant expression or floating-point literal */
int64_t parse_int(struct parser *p);
/* Bits of a literal as `type` has them; false when a literal of this sort cannot stand for that type. */
bool value_as(struct value v, enum type type, uint64_t *bits);

/* scopes (func.c) */
void scope_open(struct parser *p);
void scope_close(struct parser *p);
struct entity *declare(struct parser *p, struct name *n, enum entity_kind kind, const char *at);

/* decl.c */
enum type parse_type(struct parser *p);         /* the token is a type */
bool is_type(const struct parser *p);
void parse_reg(struct parser *p);
/* A variable of module or function scope; the token is the state space. */
void parse_var(struct parser *p, bool is_extern);
struct symbol *new_symbol(struct parser *p, struct name *n, enum symbol_kind kind, const char *at);
/* (params): fills f->param or f->ret. */
void parse_params(struct parser *p, struct func *f, bool results);
uint32_t new_vreg(struct parser *p, enum type t, struct name *n);
uint32_t reg_width(enum type t);                /* bytes per lane of a register of that type */
void local_place(struct parser *p, struct symbol *s);

/* func.c */
void parse_function(struct parser *p);
size_t opcode_len(const char *s);
void skip_pragma(struct parser *p);

/* loc.c */
void parse_file_directive(struct parser *p);
void parse_loc(struct parser *p);
void set_line(const struct parser *p, struct instr *in);

/* operand.c: operands as written */
enum arg_kind { A_REG, A_VEC, A_MEM, A_IMM, A_SYM, A_SREG, A_SINK, A_NAME };
struct arg {
    uint8_t kind, flags;        /* O_NOT, O_NEG */
    bool has_pair;
    uint32_t select;
    uint32_t vreg, pair;        /* pair: vreg or ROW_NONE for _ */
    uint32_t n;                 /* A_VEC, coordinates of A_MEM */
    struct arg *elem;
    struct arg *base;           /* A_MEM: A_REG, A_SYM or NULL */
    struct value v;             /* A_IMM; offset of A_SYM and A_MEM in v.bits */
    struct symbol *sym;
    enum sreg sreg;
    struct name *name;
    const char *at;
};
void parse_arg(struct parser *p, struct arg *a);
uint32_t sreg_width(enum sreg s);

/* table.c, form.c */
const struct form *form_of(struct parser *p, const char *text, size_t len);

/* build.c */
struct instr *emit(struct parser *p, const struct instr *proto, const char *at);
void build_operands(struct parser *p, struct instr *in, const struct row *row, struct arg *args, uint32_t nargs);
bool args_fit(const struct candidate *c, const struct arg *args, uint32_t nargs);
uint32_t constant_row(struct parser *p, uint8_t width, uint64_t bits, struct symbol *sym, bool local);
void use_symbol(struct parser *p, struct symbol *s);
void use_function(struct parser *p, struct func *f);     /* is called */

/* call.c */
void load_parameters(struct parser *p, const char *at);     /* .reg parameters: at the start of a function */
void emit_results(struct parser *p, const char *at);        /* .reg results: before a ret */
void parse_call(struct parser *p, struct instr *in, const char *at);
void parse_brx(struct parser *p, struct instr *in, const char *at);
void parse_list(struct parser *p, struct name *label, const char *at);  /* .branchtargets, .callprototype, … */

/* cfg.c */
struct block {
    uint32_t first, end;        /* pcs: [first, end) */
    uint32_t *succ, nsucc, *pred, npred;
    uint32_t ipdom;             /* immediate post-dominator: a block, or cfg.n for the exit */
    bool exits, only_exits;     /* nothing follows; nothing else is in it */
};
struct cfg { struct block *block; uint32_t n; uint32_t *block_of; };
void cfg_build(struct parser *p, struct cfg *g);
void cfg_reconverge(struct parser *p, struct cfg *g);   /* instr.rpc */

/* regalloc.c */
typedef void reg_fn(void *ctx, uint32_t *row, uint8_t access);
void each_reg(struct instr *in, reg_fn *fn, void *ctx);
void each_reg_of(struct operand *o, reg_fn *fn, void *ctx);     /* of one operand, with access 0 */
void allocate_rows(struct parser *p, const struct cfg *g);

/* layout.c */
void layout_shared(struct parser *p);

/* page.c */
void print_instruction_page(FILE *to);

/* parse.c. ptx_parse, but with a row for every register when !share_rows: what tests compare with. */
struct module *parse_text(const char *name, const char *text, size_t len, char *err, size_t errlen, bool share_rows);

#endif
