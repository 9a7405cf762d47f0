/* runtime_start.c: the calls that nvcc puts into a program: its start-up code tells which fatbins, kernels and variables
 * it has, and <<<…>>> becomes a push and a pop of the launch configuration around the stub of the kernel. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

void **__cudaRegisterFatBinary(void *fatbin)
{
    return (void **)image_register(fatbin);
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    image_unregister((struct image *)handle);
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_function, const char *name, int thread_limit,
                            void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    struct image *im = (struct image *)handle;
    lock();
    struct kernel *k = image_add_kernel(im, name);
    unlock();
    registry_add(&(struct host_symbol){.host = stub, .image = im, .kernel = k});
}

void __cudaRegisterVar(void **handle, char *shadow, char *device_address, const char *name, int external, size_t size,
                       int constant, int global)
{
    (void)device_address, (void)external, (void)constant, (void)global;
    registry_add(&(struct host_symbol){.host = shadow, .image = (struct image *)handle, .variable = name, .size = size});
}

void __cudaRegisterManagedVar(void **handle, void **shadow, char *device_address, const char *name, int external, size_t size,
                              int constant, int global)
{
    (void)device_address, (void)external, (void)constant, (void)global;
    registry_add(&(struct host_symbol){.host = shadow, .image = (struct image *)handle, .variable = name, .size = size,
                                       .managed = true});
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)handle, (void)name, (void)host, (void)size;
}

void __cudaRegisterUnifiedTable(void **handle, void *table)
{
    (void)handle, (void)table;
}

/* Called before the host touches a managed variable. */
char __cudaInitModule(void **handle)
{
    lock();
    int error = image_load_locked((struct image *)handle);
    unlock();
    return error == 0;
}

/* ---------------------------------------------------------------- <<<…>>> */

struct configuration { dim3 grid, block; size_t dyn_smem; void *stream; };
static _Thread_local struct { struct configuration *at; size_t n, room; } stack;        /* launches nest in argument lists */

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dyn_smem, void *stream)
{
    if (stack.n == stack.room) {
        stack.room = stack.room ? 2 * stack.room : 8;
        stack.at = realloc(stack.at, stack.room * sizeof *stack.at);
    }
    stack.at[stack.n++] = (struct configuration){grid, block, dyn_smem, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dyn_smem, void *stream)
{
    if (!stack.n)
        return rt(cudaErrorMissingConfiguration);
    struct configuration *c = &stack.at[--stack.n];
    *grid = c->grid;
    *block = c->block;
    *dyn_smem = c->dyn_smem;
    *(void **)stream = c->stream;
    return cudaSuccess;
}

/* The stub asks once and keeps the handle; nothing is loaded yet. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    lock();
    *kernel = (cudaKernel_t)kernel_find(stub);
    unlock();
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t dyn_smem,
                               cudaStream_t stream)
{
    struct kernel *k;
    return rt(ready() ?: kernel_get(kernel, &k) ?: launch(k, grid, block, dyn_smem, stream, args, NULL, NULL, 0));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t dyn_smem,
                                    cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, grid, block, args, dyn_smem, own_stream(stream));
}
