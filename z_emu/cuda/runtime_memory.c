/* runtime_memory.c: the runtime API about memory: getting it, giving it back, asking about it. */
#include "cuda_emu.h"
#include <string.h>

/* ---- device memory */

static int allocate(enum buffer_kind kind, void **out, size_t size, unsigned int flags, const char *what)
{
    uint64_t addr = 0;
    if (!out)
        return cudaErrorInvalidValue;
    int error = buffer_new(kind, size, flags, what, &addr);
    *out = ptr(addr);
    return error;
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    NEEDS(rt, devPtr);
    return rt(ready() ?: allocate(BUF_DEVICE, devPtr, size, 0, "cudaMalloc"));
}

cudaError_t cudaFree(void *devPtr) { return rt(ready() ?: buffer_free(dev(devPtr), false)); }

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    NEEDS(rt, devPtr && pitch);
    uint64_t addr = 0;
    int error = ready() ?: buffer_pitch(width, height, &addr, pitch);
    *devPtr = ptr(addr);
    return rt(error);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    NEEDS(rt, pitchedDevPtr);
    uint64_t addr = 0;
    int error = ready() ?: buffer_pitch(extent.width, extent.height * MAX(extent.depth, 1), &addr, &pitchedDevPtr->pitch);
    pitchedDevPtr->ptr = ptr(addr);
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return rt(error);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    NEEDS(rt, free && total);
    return rt(ready() ?: buffer_info(free, total));
}

/* ---- host memory that the device sees at the same address */

cudaError_t cudaMallocHost(void **p, size_t size)
{
    NEEDS(rt, p);
    return rt(ready() ?: allocate(BUF_HOST, p, size, 0, "cudaMallocHost"));
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned int flags)
{
    NEEDS(rt, p);
    return rt(ready() ?: allocate(BUF_HOST, p, size, flags, "cudaHostAlloc"));
}

cudaError_t cudaFreeHost(void *p) { return rt(ready() ?: buffer_free(dev(p), true)); }

cudaError_t cudaHostRegister(void *p, size_t size, unsigned int flags)
{
    return rt(ready() ?: buffer_register(p, size, flags));
}

cudaError_t cudaHostUnregister(void *p) { return rt(ready() ?: buffer_unregister(p)); }

static int host_buffer(const void *p, struct buffer *b)
{
    return !buffer_find(dev(p), b) || b->kind == BUF_DEVICE ? cudaErrorInvalidValue : 0;
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    NEEDS(rt, pDevice);
    struct buffer b;
    (void)flags;
    *pDevice = pHost;
    return rt(ready() ?: host_buffer(pHost, &b));
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    NEEDS(rt, pFlags);
    struct buffer b;
    int error = ready() ?: host_buffer(pHost, &b);
    if (!error)
        *pFlags = b.flags | cudaHostAllocMapped;
    return rt(error);
}

/* ---- managed memory: at home on both sides, so advice and prefetching move nothing */

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    NEEDS(rt, devPtr);
    if (flags != 1 && flags != 2)
        return rt(cudaErrorInvalidValue);
    return rt(ready() ?: allocate(BUF_MANAGED, devPtr, size, flags, "cudaMallocManaged"));
}

static int managed_range(const void *p, size_t n)
{
    struct buffer b;
    if (!buffer_find(dev(p), &b) || b.kind == BUF_DEVICE || n > b.addr + b.size - dev(p))
        return cudaErrorInvalidValue;
    return 0;
}

#if CUDART_MAJOR >= 13
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream)
{
    struct task t = {.kind = TASK_EMPTY};
    (void)location, (void)flags;
    return rt(ready() ?: managed_range(devPtr, count) ?: submit(stream, &t, false));
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    (void)advice, (void)location;
    return rt(ready() ?: managed_range(devPtr, count));
}
#else
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream)
{
    struct task t = {.kind = TASK_EMPTY};
    (void)dstDevice;
    return rt(ready() ?: managed_range(devPtr, count) ?: submit(stream, &t, false));
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, int device)
{
    (void)advice, (void)device;
    return rt(ready() ?: managed_range(devPtr, count));
}
#endif

cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute,
                                     const void *devPtr, size_t count)
{
    NEEDS(rt, data);
    (void)attribute;
    memset(data, 0, dataSize);
    return rt(ready() ?: managed_range(devPtr, count));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes, size_t numAttributes,
                                      const void *devPtr, size_t count)
{
    NEEDS(rt, data && dataSizes && attributes);
    int error = ready();
    for (size_t i = 0; i < numAttributes && !error; i++)
        error = cudaMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    return rt(error);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags)
{
    (void)stream, (void)flags;
    return rt(ready() ?: managed_range(devPtr, length));
}

/* ---- the first step towards an array or a texture, which are then refused */

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* ---- what is this pointer? */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *p)
{
    NEEDS(rt, attributes);
    static const enum cudaMemoryType type[] = {[BUF_DEVICE] = cudaMemoryTypeDevice, [BUF_HOST] = cudaMemoryTypeHost,
                                               [BUF_REGISTERED] = cudaMemoryTypeHost, [BUF_MANAGED] = cudaMemoryTypeManaged};
    struct buffer b;
    int error = ready();
    memset(attributes, 0, sizeof *attributes);
    attributes->device = -2;
    if (error || !p)
        return rt(error ? error : cudaErrorInvalidValue);
    if (!buffer_find(dev(p), &b)) {             /* ordinary host memory, or a variable of a module */
        lock();
        bool device = mem_find(ctx.gpu, dev(p));
        unlock();
        attributes->type = device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
        attributes->devicePointer = device ? (void *)(uintptr_t)p : NULL;
        attributes->hostPointer = device ? NULL : (void *)(uintptr_t)p;
        attributes->device = device ? 0 : -2;
        return rt(0);
    }
    attributes->type = type[b.kind];
    attributes->device = 0;
    attributes->devicePointer = (void *)(uintptr_t)p;
    attributes->hostPointer = b.kind == BUF_DEVICE ? NULL : (void *)(uintptr_t)p;
    return rt(0);
}

/* ---- stream-ordered memory */

static int malloc_async(void **out, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    uint64_t addr = 0;
    int error = ready() ?: pool_alloc(&addr, size, pool, stream);
    *out = ptr(addr);
    return error;
}

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    NEEDS(rt, devPtr);
    return rt(malloc_async(devPtr, size, NULL, hStream));
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    NEEDS(rt, p);
    return rt(malloc_async(p, size, memPool, stream));
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream) { return rt(ready() ?: pool_free(dev(devPtr), hStream)); }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    NEEDS(rt, memPool);
    return rt(device_check(device) ?: pool_default(memPool));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    NEEDS(rt, memPool);
    return rt(device_check(device) ?: pool_current(memPool, NULL));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return rt(device_check(device) ?: pool_current(NULL, memPool));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    NEEDS(rt, memPool && poolProps);
    (void)poolProps;
    return rt(pool_new(memPool));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) { return rt(pool_delete(memPool)); }

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    NEEDS(rt, value);
    return rt(pool_attribute(memPool, (int)attr, value, true));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    NEEDS(rt, value);
    return rt(pool_attribute(memPool, (int)attr, value, false));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return rt(memPool ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count)
{
    (void)descList, (void)count;
    return rt(memPool ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation *location)
{
    NEEDS(rt, flags);
    (void)location;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return rt(memPool ? 0 : cudaErrorInvalidValue);
}
#if CUDART_MAJOR >= 13
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    NEEDS(rt, memPool);
    (void)location, (void)type;
    return rt(pool_default(memPool));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type)
{
    NEEDS(rt, memPool);
    (void)location, (void)type;
    return rt(pool_current(memPool, NULL));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type, cudaMemPool_t memPool)
{
    (void)location, (void)type;
    return rt(pool_current(NULL, memPool));
}
#endif

/* ---- the same with a default stream per thread */

cudaError_t cudaMallocAsync_ptsz(void **devPtr, size_t size, cudaStream_t hStream)
{
    return cudaMallocAsync(devPtr, size, own_stream(hStream));
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void **p, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(p, size, memPool, own_stream(stream));
}

cudaError_t cudaFreeAsync_ptsz(void *devPtr, cudaStream_t hStream)
{
    return cudaFreeAsync(devPtr, own_stream(hStream));
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags)
{
    return cudaStreamAttachMemAsync(stream, devPtr, length, flags);
}
#if CUDART_MAJOR >= 13
cudaError_t cudaMemPrefetchAsync_ptsz(const void *devPtr, size_t count, struct cudaMemLocation location,
                                      unsigned int flags, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(devPtr, count, location, flags, own_stream(stream));
}
#else
cudaError_t cudaMemPrefetchAsync_ptsz(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(devPtr, count, dstDevice, own_stream(stream));
}
#endif
