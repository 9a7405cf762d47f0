/* driver_module.c: the driver API of modules, libraries, the linker, functions, launches and occupancy. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

/* ---- modules and libraries are the same thing here: an image */

/* Where the program wants the compiler's complaints, if it says so. */
static char *error_log(unsigned int n, CUjit_option *options, void **values, size_t *size)
{
    char *log = NULL;
    *size = 0;
    for (unsigned int i = 0; i < n; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            *size = (size_t)(uintptr_t)values[i];
        if (options[i] == CU_JIT_INFO_LOG_BUFFER && values[i])
            *(char *)values[i] = 0;
    }
    if (log && *size)
        *log = 0;
    return log;
}

static int load(struct image **out, const void *image, unsigned int n, CUjit_option *options, void **values)
{
    size_t size;
    char *log = error_log(n, options, values, &size);
    *out = NULL;
    return current() ?: image_open(image, out, log, size);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                            void **optionValues)
{
    NEEDS(drv, module);
    struct image *im;
    int error = load(&im, image, numOptions, options, optionValues);
    *module = (CUmodule)im;
    return drv(error);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return cuModuleLoadDataEx(module, fatCubin, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    NEEDS(drv, module && fname);
    struct image *im = NULL;
    int error = current() ?: image_open_file(fname, &im);
    *module = (CUmodule)im;
    return drv(error);
}

CUresult cuModuleUnload(CUmodule hmod) { return drv(current() ?: image_close((struct image *)hmod)); }

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    NEEDS(drv, hfunc);
    struct kernel *k = NULL;
    int error = current() ?: image_kernel((struct image *)hmod, name, &k);
    *hfunc = (CUfunction)k;
    return drv(error);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    uint64_t addr = 0;
    int error = current() ?: image_global((struct image *)hmod, name, &addr, bytes);
    if (!error && dptr)
        *dptr = addr;
    return drv(error);
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    NEEDS(drv, count);
    return drv(current() ?: image_kernels((struct image *)mod, NULL, 0, count));
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
    NEEDS(drv, functions || !numFunctions);
    unsigned int count;
    return drv(current() ?: image_kernels((struct image *)mod, (struct kernel **)functions, numFunctions, &count));
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    NEEDS(drv, mode);
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned int numLibraryOptions)
{
    NEEDS(drv, library);
    struct image *im;
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    int error = load(&im, code, numJitOptions, jitOptions, jitOptionsValues);
    *library = (CUlibrary)im;
    return drv(error);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues,
                               unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    NEEDS(drv, library && fileName);
    struct image *im = NULL;
    (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions, (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    int error = current() ?: image_open_file(fileName, &im);
    *library = (CUlibrary)im;
    return drv(error);
}

CUresult cuLibraryUnload(CUlibrary library) { return drv(current() ?: image_close((struct image *)library)); }

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction((CUfunction *)pKernel, (CUmodule)library, name);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    return cuModuleGetGlobal_v2(dptr, bytes, (CUmodule)library, name);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    return cuModuleGetGlobal_v2(dptr, bytes, (CUmodule)library, name);
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    return cuModuleGetFunctionCount(count, (CUmodule)lib);
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    return cuModuleEnumerateFunctions((CUfunction *)kernels, numKernels, (CUmodule)lib);
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    NEEDS(drv, pMod);
    *pMod = (CUmodule)library;
    return drv(current());
}

/* ---- the linker: takes PTX, and gives PTX back, which the module calls take as they take a cubin */

struct linking { char *text[64]; size_t n; char *result; };

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
{
    NEEDS(drv, stateOut);
    (void)numOptions, (void)options, (void)optionValues;
    *stateOut = calloc(1, sizeof(struct linking));
    return drv(current() ?: *stateOut ? 0 : cudaErrorMemoryAllocation);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int numOptions,
                          CUjit_option *options, void **optionValues)
{
    NEEDS(drv, state && data);
    struct linking *l = (struct linking *)state;
    (void)name, (void)numOptions, (void)options, (void)optionValues;
    if (type != CU_JIT_INPUT_PTX)
        return drv(not_supported("cuLinkAddData of anything but PTX"));
    if (l->n == 64)
        return drv(cudaErrorMemoryAllocation);
    l->text[l->n++] = strndup(data, size);
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    NEEDS(drv, state && cubinOut);
    struct linking *l = (struct linking *)state;
    size_t len = 0;
    free(l->result);
    l->result = ptx_link(l->text, l->n, &len);
    *cubinOut = l->result;
    if (sizeOut)
        *sizeOut = len + 1;
    return drv(l->result ? 0 : cudaErrorMemoryAllocation);
}

CUresult cuLinkDestroy(CUlinkState state)
{
    NEEDS(drv, state);
    struct linking *l = (struct linking *)state;
    for (size_t i = 0; i < l->n; i++)
        free(l->text[i]);
    free(l->result);
    free(l);
    return CUDA_SUCCESS;
}

/* ---- functions; a CUkernel is a CUfunction here */

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    NEEDS(drv, pFunc);
    *pFunc = (CUfunction)kernel;
    return drv(current());
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    NEEDS(drv, pi);
    struct kernel *k;
    return drv(current() ?: kernel_get(hfunc, &k) ?: kernel_attribute(k, (int)attrib, pi));
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct kernel *k;
    return drv(current() ?: kernel_get(hfunc, &k) ?: kernel_set_attribute(k, (int)attrib, value));
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    return drv(device_check(dev) ?: (int)cuFuncGetAttribute(pi, attrib, (CUfunction)kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    return drv(device_check(dev) ?: (int)cuFuncSetAttribute((CUfunction)kernel, attrib, val));
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    struct kernel *k;
    (void)config;
    return drv(current() ?: kernel_get(hfunc, &k));
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    return drv(device_check(dev) ?: (int)cuFuncSetCacheConfig((CUfunction)kernel, config));
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    NEEDS(drv, hmod);
    struct kernel *k;
    int error = current() ?: kernel_get(hfunc, &k);
    *hmod = error ? NULL : (CUmodule)k->image;
    return drv(error);
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    return cuFuncGetModule((CUmodule *)pLib, (CUfunction)kernel);
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
    NEEDS(drv, name);
    struct kernel *k;
    int error = current() ?: kernel_get(hfunc, &k);
    *name = error ? NULL : k->name;
    return drv(error);
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc) { return cuFuncGetName(name, (CUfunction)hfunc); }

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    NEEDS(drv, paramOffset);
    struct kernel *k;
    return drv(current() ?: kernel_get(func, &k) ?: kernel_param(k, paramIndex, paramOffset, paramSize));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    return cuFuncGetParamInfo((CUfunction)kernel, paramIndex, paramOffset, paramSize);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    NEEDS(drv, state);
    struct kernel *k;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return drv(current() ?: kernel_get(function, &k));
}

CUresult cuFuncLoad(CUfunction function)
{
    struct kernel *k;
    return drv(current() ?: kernel_get(function, &k));
}

/* ---- launches */

static int launch_func(CUfunction f, dim3 grid, dim3 block, unsigned int dyn_smem, CUstream s, void **params, void **extra,
                       const CUlaunchAttribute *attrs, unsigned int n)
{
    struct kernel *k;
    int error = current() ?: kernel_get(f, &k);
    if (!error)         /* the two attribute types differ in the name of one member */
        error = launch(k, grid, block, dyn_smem, s, params, extra, (const cudaLaunchAttribute *)attrs, n);
    return error == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : error;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
                        unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void **kernelParams, void **extra)
{
    return drv(launch_func(f, (dim3){gridDimX, gridDimY, gridDimZ}, (dim3){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream,
                           kernelParams, extra, NULL, 0));
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                   unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
                                   CUstream hStream, void **kernelParams)
{
    CUlaunchAttribute a = {.id = (CUlaunchAttributeID)cudaLaunchAttributeCooperative, .value = {.cooperative = 1}};
    return drv(launch_func(f, (dim3){gridDimX, gridDimY, gridDimZ}, (dim3){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream,
                           kernelParams, NULL, &a, 1));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **kernelParams, void **extra)
{
    NEEDS(drv, c);
    return drv(launch_func(f, (dim3){c->gridDimX, c->gridDimY, c->gridDimZ}, (dim3){c->blockDimX, c->blockDimY, c->blockDimZ},
                           c->sharedMemBytes, c->hStream, kernelParams, extra, c->attrs, c->numAttrs));
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
                             unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                             void **kernelParams, void **extra)
{
    return cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, own_stream(hStream), kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
    return cuLaunchCooperativeKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, own_stream(hStream), kernelParams);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    NEEDS(drv, config);
    CUlaunchConfig c = *config;
    c.hStream = own_stream(c.hStream);
    return cuLaunchKernelEx(&c, f, kernelParams, extra);
}

/* ---- occupancy */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    NEEDS(drv, numBlocks);
    struct kernel *k;
    return drv(current() ?: kernel_get(func, &k) ?: occupancy_blocks(k, blockSize, dynamicSMemSize, numBlocks));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags)
{
    (void)flags;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize, dynamicSMemSize);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit)
{
    NEEDS(drv, minGridSize && blockSize);
    struct kernel *k;
    return drv(current() ?: kernel_get(func, &k) ?: occupancy_block_size(k, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, minGridSize, blockSize));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    (void)flags;
    return cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize)
{
    NEEDS(drv, dynamicSmemSize);
    struct kernel *k;
    return drv(current() ?: kernel_get(func, &k) ?: occupancy_dynamic(k, numBlocks, blockSize, dynamicSmemSize));
}

static cudaLaunchConfig_t runtime_config(const CUlaunchConfig *c)
{
    return (cudaLaunchConfig_t){
        .gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ}, .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
        .dynamicSmemBytes = c->sharedMemBytes, .stream = c->hStream, .attrs = (cudaLaunchAttribute *)c->attrs, .numAttrs = c->numAttrs,
    };
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
    NEEDS(drv, clusterSize && config);
    struct kernel *k;
    cudaLaunchConfig_t c = runtime_config(config);
    return drv(current() ?: kernel_get(func, &k) ?: occupancy_cluster_size(k, &c, clusterSize));
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
    NEEDS(drv, numClusters && config);
    struct kernel *k;
    cudaLaunchConfig_t c = runtime_config(config);
    return drv(current() ?: kernel_get(func, &k) ?: occupancy_clusters(k, &c, numClusters));
}
