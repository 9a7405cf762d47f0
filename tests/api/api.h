/* api.h: what the tests of the CUDA API share. EXPECT counts; report() prints "N passed, N failed" and is main's result. */
#ifndef TESTS_API_H
#define TESTS_API_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static int passed_, failed_;

static inline void expect_(bool holds, const char *text, int line)
{
    (holds ? passed_ : failed_)++;
    if (!holds)
        printf("line %d: not true: %s\n", line, text);
}

static inline void expect_error_(int got, int want, const char *text, int line)
{
    (got == want ? passed_ : failed_)++;
    if (got != want)
        printf("line %d: %s gives %d (%s), not %d\n", line, text, got, cudaGetErrorName((cudaError_t)got), want);
}

static inline int report(void)
{
    printf("%d passed, %d failed\n", passed_, failed_);
    return failed_ != 0;
}

#define EXPECT(condition) expect_(condition, #condition, __LINE__)
#define GIVES(call, error) expect_error_((int)(call), (int)(error), #call, __LINE__)
#define OK(call) GIVES(call, cudaSuccess)

#endif
