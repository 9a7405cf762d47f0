/* wgmma in a module for plain sm_90: it needs sm_90a.
 *
 * says: wgmma
 * says: cudaErrorInvalidPtx
 */
#include "fault.h"

static const char ptx[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry fence()\n"
    "{\n"
#ifndef FIXED
    "    wgmma.fence.sync.aligned;\n"
#endif
    "    ret;\n"
    "}\n";

int main(void)
{
    cudaLibrary_t library;
    cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
    return outcome();
}
