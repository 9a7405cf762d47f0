/* An instruction that does not exist: the module is refused when it is loaded, by name and line.
 *
 * says: frobnicate
 * says: line 8|:8:
 * says: cudaErrorInvalidPtx
 */
#include "fault.h"

static const char ptx[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry nothing()\n"
    "{\n"
    "    .reg .b32 %r<2>;\n"
    "    mov.b32 %r1, 0;\n"
#ifndef FIXED
    "    frobnicate.b32 %r1, %r1;\n"
#endif
    "    ret;\n"
    "}\n";

int main(void)
{
    cudaLibrary_t library;
    cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
    return outcome();
}
