/* page.c: docs/instructions.md, from the instruction table. */
#include "ptx.h"

static const struct { const char *mnemonic, *modifiers, *operands, *target, *effect; } table[] = {
#define INSTR(id, mnemonic, modifiers, operands, target, cost, effect) { mnemonic, modifiers, operands, target, effect },
#include "instructions.def"
#undef INSTR
};

static const struct { const char *name, *words; } groups[] = {
#define GROUP(name, words) { #name, words },
#include "groups.def"
#undef GROUP
};

/* A bar would end the cell of a Markdown table. */
static void cell(FILE *to, const char *s)
{
    fputs(*s ? " `" : " ", to);
    for (const char *c = s; *c; c++)
        fputs(*c == '|' ? "\\|" : (char[]){ *c, 0 }, to);
    fputs(*s ? "` |" : "|", to);
}

void print_instruction_page(FILE *to)
{
    fputs("# Instructions\n\n"
          "What the emulator can parse, made from its instruction table by `make docs/instructions.md`. The head of\n"
          "`z_emu/ptx/instructions.def` explains the notation; in short: `!` a modifier that must be written, `?` an operand\n"
          "that may be left out, `d` what is written, `d|p` with a predicate beside it, `[a]` an address, `:type` the type of a\n"
          "literal there. Several rows with one mnemonic are its different forms.\n\n"
          "| mnemonic | modifiers | operands | least target | effect |\n|---|---|---|---|---|\n", to);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        fputs("|", to);
        cell(to, table[i].mnemonic);
        cell(to, table[i].modifiers);
        cell(to, table[i].operands);
        cell(to, table[i].target);
        cell(to, table[i].effect);
        fputs("\n", to);
    }
    fputs("\n## Groups of modifiers\n\n| group | stands for |\n|---|---|\n", to);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        fputs("|", to);
        cell(to, groups[i].name);
        cell(to, groups[i].words);
        fputs("\n", to);
    }
}
