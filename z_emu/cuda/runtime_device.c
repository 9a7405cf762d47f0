/* runtime_device.c: the runtime API about the device, errors and versions. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

enum { RUNTIME_VERSION = CUDART_MAJOR == 12 ? 12080 : CUDART_MAJOR * 1000 };

/* ---- errors */

cudaError_t cudaGetLastError(void) { return (cudaError_t)last_error(true); }
cudaError_t cudaPeekAtLastError(void) { return (cudaError_t)last_error(false); }

const char *cudaGetErrorName(cudaError_t error)
{
    const char *s = error_name((int)error, false);
    return s ? s : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const char *s = error_text((int)error);
    return s ? s : "unrecognized error code";
}

/* ---- devices: there is one */

cudaError_t cudaGetDeviceCount(int *count)
{
    NEEDS(rt, count);
    *count = ctx_device() != NULL;
    return rt(*count ? 0 : cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    NEEDS(rt, device);
    *device = 0;
    return rt(ctx_device() ? 0 : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) { return rt(device_check(device) ?: ready()); }

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    (void)deviceFlags, (void)flags;
    return rt(device_check(device) ?: ready());
}

cudaError_t cudaSetValidDevices(int *device_arr, int len)
{
    NEEDS(rt, device_arr || len <= 0);
    for (int i = 0; i < len; i++)
        if (device_check(device_arr[i]))
            return rt(cudaErrorInvalidDevice);
    return rt(0);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    NEEDS(rt, device && prop);
    (void)prop;
    *device = 0;
    return rt(0);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    NEEDS(rt, prop);
    return rt(device_check(device) ?: device_properties(prop));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    NEEDS(rt, value);
    return rt(device_check(device) ?: device_attribute(value, (int)attr));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    NEEDS(rt, device && pciBusId);
    *device = 0;
    return rt(strcmp(pciBusId, "0000:00:00.0") ? cudaErrorInvalidDevice : 0);
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    NEEDS(rt, pciBusId);
    snprintf(pciBusId, (size_t)MAX(len, 0), "0000:00:00.0");
    return rt(device_check(device));
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    ctx.device_flags = flags;
    return rt(0);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    NEEDS(rt, flags);
    *flags = ctx.device_flags;
    return rt(0);
}

cudaError_t cudaDeviceReset(void) { return rt(ctx_reset()); }
cudaError_t cudaDeviceSynchronize(void) { return rt(ready() ?: device_sync()); }

/* ---- settings that are kept and given back; the stack grows as needed and caches are not modelled */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return rt(cudaErrorUnsupportedLimit);
    ctx.limit[limit] = value;
    return rt(0);
}

cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    NEEDS(rt, pValue);
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return rt(cudaErrorUnsupportedLimit);
    *pValue = ctx.limit[limit];
    return rt(0);
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    NEEDS(rt, pCacheConfig);
    *pCacheConfig = (enum cudaFuncCache)ctx.cache_config;
    return rt(0);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    ctx.cache_config = (int)cacheConfig;
    return rt(0);
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    NEEDS(rt, pConfig);
    *pConfig = cudaSharedMemBankSizeFourByte;
    return rt(0);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return rt(0);
}

cudaError_t cudaCtxResetPersistingL2Cache(void) { return rt(0); }

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                               enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    (void)target, (void)scope;
    return rt(0);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return rt(0);
}

/* ---- peers: none */

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    NEEDS(rt, canAccessPeer);
    *canAccessPeer = 0;
    return rt(device_check(device) ?: device_check(peerDevice));
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    (void)flags;
    return rt(device_check(peerDevice) ?: cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    return rt(device_check(peerDevice) ?: cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice)
{
    NEEDS(rt, value);
    (void)attr;
    *value = 0;
    return rt(device_check(srcDevice) ?: device_check(dstDevice) ?: cudaErrorInvalidDevice);
}

/* ---- versions, profiler, entry points */

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    NEEDS(rt, driverVersion);
    *driverVersion = RUNTIME_VERSION;
    return rt(0);
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    NEEDS(rt, runtimeVersion);
    *runtimeVersion = RUNTIME_VERSION;
    return rt(0);
}

cudaError_t cudaProfilerStart(void) { return rt(0); }
cudaError_t cudaProfilerStop(void) { return rt(0); }

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *driverStatus)
{
    NEEDS(rt, symbol && funcPtr);
    *funcPtr = entry_point(symbol, (int)cudaVersion, flags & 2);
    if (driverStatus)
        *driverStatus = *funcPtr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return rt(*funcPtr || driverStatus ? 0 : cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, RUNTIME_VERSION, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, RUNTIME_VERSION, flags | 2, driverStatus);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                                  unsigned long long flags, enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, flags | 2, driverStatus);
}
