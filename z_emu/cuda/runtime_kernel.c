/* runtime_kernel.c: the runtime API of launches, function attributes, occupancy and libraries. */
#include "cuda_emu.h"
#include <string.h>

/* ---- launches */

static int launch_func(const void *func, dim3 grid, dim3 block, void **args, size_t dyn_smem, cudaStream_t s,
                       const cudaLaunchAttribute *attrs, unsigned int nattrs)
{
    struct kernel *k;
    return ready() ?: kernel_get(func, &k) ?: launch(k, grid, block, dyn_smem, s, args, NULL, attrs, nattrs);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                             cudaStream_t stream)
{
    return rt(launch_func(func, gridDim, blockDim, args, sharedMem, stream, NULL, 0));
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                        cudaStream_t stream)
{
    cudaLaunchAttribute a = {.id = cudaLaunchAttributeCooperative, .val = {.cooperative = 1}};
    return rt(launch_func(func, gridDim, blockDim, args, sharedMem, stream, &a, 1));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    NEEDS(rt, config);
    return rt(launch_func(func, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream,
                          config->attrs, config->numAttrs));
}

cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                  cudaStream_t stream)
{
    return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, own_stream(stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                             size_t sharedMem, cudaStream_t stream)
{
    return cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem, own_stream(stream));
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    NEEDS(rt, config);
    cudaLaunchConfig_t c = *config;
    c.stream = own_stream(c.stream);
    return cudaLaunchKernelExC(&c, func, args);
}

/* ---- functions */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    NEEDS(rt, attr);
    struct kernel *k;
    return rt(ready() ?: kernel_get(func, &k) ?: kernel_attributes(k, attr));
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    struct kernel *k;
    return rt(ready() ?: kernel_get(func, &k) ?: kernel_set_attribute(k, (int)attr, value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device)
{
    return rt(device_check(device) ?: (int)cudaFuncSetAttribute(kernel, attr, value));
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    struct kernel *k;
    (void)cacheConfig;
    return rt(ready() ?: kernel_get(func, &k));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    struct kernel *k;
    (void)config;
    return rt(ready() ?: kernel_get(func, &k));
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    NEEDS(rt, name);
    struct kernel *k;
    int error = ready() ?: kernel_get(func, &k);
    if (!error)
        *name = k->name;
    return rt(error);
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    NEEDS(rt, paramOffset);
    struct kernel *k;
    return rt(ready() ?: kernel_get(func, &k) ?: kernel_param(k, paramIndex, paramOffset, paramSize));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    NEEDS(rt, functionPtr);
    struct kernel *k = NULL;
    int error = ready() ?: kernel_get(symbolPtr, &k);
    *functionPtr = (cudaFunction_t)k;
    return rt(error);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    NEEDS(rt, kernelPtr);
    struct kernel *k = NULL;
    int error = ready() ?: kernel_get(entryFuncAddr, &k);
    *kernelPtr = (cudaKernel_t)k;
    return rt(error);
}

/* ---- occupancy */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags)
{
    NEEDS(rt, numBlocks);
    struct kernel *k;
    (void)flags;
    return rt(ready() ?: kernel_get(func, &k) ?: occupancy_blocks(k, blockSize, dynamicSMemSize, numBlocks));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                          size_t dynamicSMemSize)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                      int blockSize)
{
    NEEDS(rt, dynamicSmemSize);
    struct kernel *k;
    return rt(ready() ?: kernel_get(func, &k) ?: occupancy_dynamic(k, numBlocks, blockSize, dynamicSmemSize));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                 const cudaLaunchConfig_t *launchConfig)
{
    NEEDS(rt, clusterSize && launchConfig);
    struct kernel *k;
    return rt(ready() ?: kernel_get(func, &k) ?: occupancy_cluster_size(k, launchConfig, clusterSize));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, const cudaLaunchConfig_t *launchConfig)
{
    NEEDS(rt, numClusters && launchConfig);
    struct kernel *k;
    return rt(ready() ?: kernel_get(func, &k) ?: occupancy_clusters(k, launchConfig, numClusters));
}

/* ---- libraries */

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                unsigned int numLibraryOptions)
{
    NEEDS(rt, library);
    struct image *im = NULL;
    (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions, (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    int error = ready() ?: image_open(code, &im, NULL, 0);
    *library = (cudaLibrary_t)im;
    return rt(error);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                    unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                    unsigned int numLibraryOptions)
{
    NEEDS(rt, library && fileName);
    struct image *im = NULL;
    (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions, (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    int error = ready() ?: image_open_file(fileName, &im);
    *library = (cudaLibrary_t)im;
    return rt(error);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return rt(ready() ?: image_close((struct image *)library)); }

cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    NEEDS(rt, pKernel);
    struct kernel *k = NULL;
    int error = ready() ?: image_kernel((struct image *)library, name, &k);
    *pKernel = (cudaKernel_t)k;
    return rt(error);
}

cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    uint64_t addr = 0;
    int error = ready() ?: image_global((struct image *)library, name, &addr, bytes);
    if (dptr)
        *dptr = ptr(addr);
    return rt(error);
}

cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return cudaLibraryGetGlobal(dptr, bytes, library, name);
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)
{
    NEEDS(rt, count);
    return rt(ready() ?: image_kernels((struct image *)lib, NULL, 0, count));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib)
{
    NEEDS(rt, kernels || !numKernels);
    unsigned int count;
    return rt(ready() ?: image_kernels((struct image *)lib, (struct kernel **)kernels, numKernels, &count));
}
