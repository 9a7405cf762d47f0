/* error.c: error codes and their names; the last error of a thread; entry points that do not exist. */
#include "cuda_emu.h"
#include <string.h>

static const struct { int number; const char *runtime, *driver, *text; } table[] = {
#define ERROR(number, runtime, driver, text) {number, runtime, driver, text},
#include "errors.def"
#undef ERROR
};

static _Thread_local int last;

static int find(int error)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].number == error)
            return (int)i;
    return -1;
}

const char *error_name(int error, bool driver)
{
    int i = find(error);
    return i < 0 ? NULL : driver ? table[i].driver : table[i].runtime;
}

const char *error_text(int error)
{
    int i = find(error);
    return i < 0 ? NULL : table[i].text;
}

/* "Not ready" is an answer, not an error. */
cudaError_t rt(int error)
{
    if (error && error != cudaErrorNotReady)
        last = error;
    return (cudaError_t)error;
}

CUresult drv(int error)
{
    return (CUresult)error;
}

/* A sticky error cannot be cleared. */
int last_error(bool clear)
{
    lock();
    int error = ctx.sticky ? ctx.sticky : last;
    unlock();
    if (clear)
        last = 0;
    return error;
}

int not_supported(const char *name)
{
    say("%s is not part of the emulator", name);
    return cudaErrorNotSupported;
}
