/* z_cuda.h: CUDA calls that say what went wrong, and device memory. Host C only.
 *
 * In this file: 1 CHECK   2 inputs   3 guarded outputs
 */
#ifndef Z_CUDA_H
#define Z_CUDA_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "z_args.h"
#include "z_check.h"

/* ------------------------------------------------------------------ 1 CHECK */

/* Around every call that returns a cudaError_t: an error ends the program with status 3 and a line that names the
 * call. */
#define CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)

static inline const char *cuda_hint(cudaError_t error)
{
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return "no usable GPU: build with `make DEVICE=emu` to run on the emulator";
    case cudaErrorNoKernelImageForDevice: return "the program holds no code for this GPU: see target_ in the Makefile";
    case cudaErrorMemoryAllocation: return "try a smaller shape";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress: return "a bad address; compute-sanitizer, or the emulator, names the line";
    case cudaErrorInvalidConfiguration: return "the grid or the block has a size that the device does not have";
    case cudaErrorLaunchOutOfResources: return "threads x registers, or shared memory, are more than an SM has";
    default: return NULL;
    }
}

static inline void cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    const char *hint = cuda_hint(error);
    fprintf(stderr, "%s:%d: %s: %s (%s)%s%s\n", file, line, call, cudaGetErrorString(error), cudaGetErrorName(error),
            hint ? "; " : "", hint ? hint : "");
    puts("FAIL CUDA error");
    exit(EXIT_CUDA);
}

/* ------------------------------------------------------------------ 2 inputs */

static inline void *upload(const void *values, size_t bytes)
{
    void *gmem;
    CHECK(cudaMalloc(&gmem, bytes));
    CHECK(cudaMemcpy(gmem, values, bytes, cudaMemcpyHostToDevice));
    return gmem;
}

static inline half *upload_integers(const int8_t *values, size_t count)
{
    half *halves = allocate(count * sizeof *halves);
    halves_from_integers(halves, values, count);
    half *gmem = upload(halves, count * sizeof *halves);
    free(halves);
    return gmem;
}

/* ------------------------------------------------------------------ 3 guarded outputs */

/* Device memory for an output, poisoned, between two guards (z_check.h). */
static inline void *guarded_alloc(size_t bytes)
{
    uint8_t *base;
    CHECK(cudaMalloc((void **)&base, bytes + 2 * GUARD_BYTES));
    CHECK(cudaMemset(base, GUARD_BYTE, bytes + 2 * GUARD_BYTES));
    CHECK(cudaMemset(base + GUARD_BYTES, POISON_BYTE, bytes));
    return base + GUARD_BYTES;
}

static inline void guarded_free(void *gmem)
{
    CHECK(cudaFree((uint8_t *)gmem - GUARD_BYTES));
}

/* The output with its guards, on the host; the output itself starts at GUARD_BYTES. */
static inline uint8_t *guarded_download(const void *gmem, size_t bytes)
{
    uint8_t *image = allocate(bytes + 2 * GUARD_BYTES);
    CHECK(cudaMemcpy(image, (const uint8_t *)gmem - GUARD_BYTES, bytes + 2 * GUARD_BYTES, cudaMemcpyDeviceToHost));
    return image;
}

#endif
