/* missing.c: a stub for every entry point that no other file defines (the linker prefers those: stubs are weak). It
 * names itself, so that a program which needs more than the emulator has fails loudly. */
int not_supported(const char *name);

#define RUNTIME(name) __attribute__((weak)) int name(void); int name(void) { return not_supported(#name); }
#define DRIVER(name) __attribute__((weak)) int name(void); int name(void) { return not_supported(#name); }
#include "names.def"
