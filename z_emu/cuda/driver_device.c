/* driver_device.c: the driver API of initialisation, the device and contexts.
 *
 * There is one device and one real context. cuCtxCreate hands out further names for it, so that a program can push,
 * pop and destroy contexts as it is used to; they share everything. */
#include "cuda_emu.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER_VERSION = CUDART_MAJOR == 12 ? 12080 : CUDART_MAJOR * 1000, STACK = 64 };

static _Atomic bool initialised;
static struct { int retained; unsigned int flags; } primary;
static _Thread_local struct { CUcontext at[STACK]; int n; } stack;

#define PRIMARY ((CUcontext)&primary)

static CUcontext top(void)
{
    return stack.n ? stack.at[stack.n - 1] : NULL;
}

static void set_top(CUcontext c)
{
    if (!stack.n)
        stack.n = 1;
    stack.at[stack.n - 1] = c;
}

void make_current(void)
{
    initialised = true;
    if (!top())
        set_top(PRIMARY);
}

int current(void)
{
    return !initialised ? cudaErrorInitializationError : !top() ? cudaErrorDeviceUninitialized : ready_unlocked();
}

int drv_context(void *out)
{
    *(CUcontext *)out = top();
    return 0;
}

static int device_ready(CUdevice dev)
{
    return !initialised ? cudaErrorInitializationError : device_check(dev);
}

/* ---- initialisation, errors, versions */

CUresult cuInit(unsigned int Flags)
{
    if (Flags)
        return drv(cudaErrorInvalidValue);
    if (!ctx_device())
        return drv(cudaErrorNoDevice);
    initialised = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
    NEEDS(drv, driverVersion);
    *driverVersion = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    NEEDS(drv, pStr);
    *pStr = error_name((int)error, true);
    return drv(*pStr ? 0 : cudaErrorInvalidValue);
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    NEEDS(drv, pStr);
    *pStr = error_text((int)error);
    return drv(*pStr ? 0 : cudaErrorInvalidValue);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    NEEDS(drv, symbol && pfn);
    *pfn = entry_point(symbol, cudaVersion, flags & 2);
    if (symbolStatus)
        *symbolStatus = *pfn ? 0 : 1;
    return drv(*pfn ? 0 : cudaErrorSymbolNotFound);
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}

/* Tables of private entry points. NVIDIA's own libraries ask for them and can do without. A runtime that was linked into
 * a program cannot, and would crash: so there the program ends, being told what to do. */
CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    NEEDS(drv, ppExportTable);
    Dl_info caller;
    const char *name = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname ? caller.dli_fname : "";
    (void)pExportTableId;
    *ppExportTable = NULL;
    if (!strstr(name, "/libnv") && !strstr(name, "/libcu")) {
        say("%s has NVIDIA's runtime linked into it (nvcc's default), which needs NVIDIA's driver: link it with "
            "nvcc -cudart shared", name);
        exit(2);
    }
    return drv(cudaErrorSymbolNotFound);
}

CUresult cuProfilerStart(void) { return CUDA_SUCCESS; }
CUresult cuProfilerStop(void) { return CUDA_SUCCESS; }

/* ---- the device */

CUresult cuDeviceGetCount(int *count)
{
    NEEDS(drv, count);
    *count = 1;
    return drv(initialised ? 0 : cudaErrorInitializationError);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    NEEDS(drv, device);
    *device = ordinal;
    return drv(device_ready(ordinal));
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    NEEDS(drv, name);
    int error = device_ready(dev);
    if (!error && len > 0)
        snprintf(name, (size_t)len, "%s", ctx_device()->name);
    return drv(error);
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    NEEDS(drv, pi);
    return drv(device_ready(dev) ?: device_attribute(pi, (int)attrib));
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    NEEDS(drv, bytes);
    int error = device_ready(dev);
    if (!error)
        *bytes = ctx_device()->global_bytes;
    return drv(error);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    NEEDS(drv, major && minor);
    int error = device_ready(dev);
    if (!error) {
        *major = (int)ctx_device()->cc / 10;
        *minor = (int)ctx_device()->cc % 10;
    }
    return drv(error);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    NEEDS(drv, uuid);
    device_uuid(uuid->bytes);
    return drv(device_ready(dev));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) { return cuDeviceGetUuid(uuid, dev); }

CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    NEEDS(drv, luid && deviceNodeMask);
    memset(luid, 0, 8);
    *deviceNodeMask = 0;
    return drv(device_ready(dev));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    NEEDS(drv, dev && pciBusId);
    *dev = 0;
    return drv(strcmp(pciBusId, "0000:00:00.0") ? cudaErrorInvalidDevice : 0);
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    NEEDS(drv, pciBusId);
    snprintf(pciBusId, (size_t)MAX(len, 0), "0000:00:00.0");
    return drv(device_ready(dev));
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    NEEDS(drv, canAccessPeer);
    *canAccessPeer = 0;
    return drv(device_ready(dev) ?: device_check(peerDev));
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
    NEEDS(drv, value);
    (void)attrib;
    *value = 0;
    return drv(device_ready(srcDevice) ?: device_check(dstDevice) ?: cudaErrorInvalidDevice);
}

/* ---- contexts */

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    NEEDS(drv, pctx);
    int error = device_ready(dev) ?: ready_unlocked();
    primary.retained += !error;
    *pctx = error ? NULL : PRIMARY;
    return drv(error);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    int error = device_ready(dev);
    if (!error && primary.retained == 0)
        error = cudaErrorDeviceUninitialized;
    primary.retained -= !error;
    return drv(error);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) { return cuDevicePrimaryCtxRelease_v2(dev); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) { return drv(device_ready(dev) ?: ctx_reset()); }
CUresult cuDevicePrimaryCtxReset(CUdevice dev) { return cuDevicePrimaryCtxReset_v2(dev); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    primary.flags = flags;
    return drv(device_ready(dev));
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    NEEDS(drv, flags && active);
    *flags = primary.flags;
    *active = primary.retained > 0 || ctx.gpu;
    return drv(device_ready(dev));
}

static int context_new(CUcontext *out, unsigned int flags, CUdevice dev)
{
    unsigned int *name = NULL;
    int error = device_ready(dev) ?: ready_unlocked();
    if (!error && (stack.n == STACK || !(name = malloc(sizeof *name))))
        error = cudaErrorMemoryAllocation;
    if (error)
        return error;
    *name = flags;
    *out = stack.at[stack.n++] = (CUcontext)name;
    return 0;
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    NEEDS(drv, pctx);
    return drv(context_new(pctx, flags, dev));
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    NEEDS(drv, pctx);
    (void)ctxCreateParams;
    return drv(context_new(pctx, flags, dev));
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    if (!ctx || ctx == PRIMARY)
        return drv(cudaErrorDeviceUninitialized);
    device_sync();
    if (top() == ctx)
        stack.n--;
    free(ctx);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    if (!initialised || !ctx || stack.n == STACK)
        return drv(!initialised ? cudaErrorInitializationError : cudaErrorInvalidValue);
    stack.at[stack.n++] = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
    if (!stack.n)
        return drv(cudaErrorDeviceUninitialized);
    if (pctx)
        *pctx = top();
    stack.n--;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    if (!ctx && stack.n)
        stack.n--;
    else if (ctx)
        set_top(ctx);
    return drv(initialised ? 0 : cudaErrorInitializationError);
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
    NEEDS(drv, pctx);
    *pctx = top();
    return drv(initialised ? 0 : cudaErrorInitializationError);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    NEEDS(drv, device);
    *device = 0;
    return drv(current());
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    NEEDS(drv, flags);
    *flags = primary.flags;
    return drv(current());
}

CUresult cuCtxSetFlags(unsigned int flags)
{
    primary.flags = flags;
    return drv(current());
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    NEEDS(drv, ctxId);
    *ctxId = (uintptr_t)(ctx ? ctx : top());
    return drv(current());
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    NEEDS(drv, version);
    (void)ctx;
    *version = DRIVER_VERSION;
    return drv(current());
}

CUresult cuCtxSynchronize(void) { return drv(current() ?: device_sync()); }

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    (void)ctx;
    return cuCtxSynchronize();
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    NEEDS(drv, device);
    (void)ctx;
    *device = 0;
    return drv(ready_unlocked());
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return drv(current());
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return drv(cudaErrorUnsupportedLimit);
    ctx.limit[limit] = value;
    return drv(current());
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    NEEDS(drv, pvalue);
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return drv(cudaErrorUnsupportedLimit);
    *pvalue = ctx.limit[limit];
    return drv(current());
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    NEEDS(drv, pconfig);
    *pconfig = (CUfunc_cache)ctx.cache_config;
    return drv(current());
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    ctx.cache_config = (int)config;
    return drv(current());
}

CUresult cuCtxResetPersistingL2Cache(void) { return drv(current()); }

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    (void)peerContext, (void)Flags;
    return drv(cudaErrorPeerAccessUnsupported);
}
