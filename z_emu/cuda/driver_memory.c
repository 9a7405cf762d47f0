/* driver_memory.c: the driver API of memory. */
#include "cuda_emu.h"
#include <string.h>

enum { WAIT = true, GO_ON = false };

/* ---- getting it and giving it back */

static int allocate(enum buffer_kind kind, CUdeviceptr *out, size_t size, unsigned int flags, const char *what)
{
    uint64_t addr = 0;
    int error = current() ?: !size || !out ? cudaErrorInvalidValue : buffer_new(kind, size, flags, what, &addr);
    if (!error)
        *out = addr;
    return error;
}

static int allocate_host(void **out, size_t size, unsigned int flags, const char *what)
{
    CUdeviceptr addr = 0;
    int error = allocate(BUF_HOST, &addr, size, flags, what);
    *out = ptr(addr);
    return error;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    NEEDS(drv, dptr);
    return drv(allocate(BUF_DEVICE, dptr, bytesize, 0, "cuMemAlloc"));
}

CUresult cuMemFree_v2(CUdeviceptr dptr) { return drv(current() ?: buffer_free(dptr, false)); }

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    NEEDS(drv, pp);
    return drv(allocate_host(pp, bytesize, 0, "cuMemAllocHost"));
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    NEEDS(drv, pp);
    return drv(allocate_host(pp, bytesize, Flags, "cuMemHostAlloc"));
}

CUresult cuMemFreeHost(void *p) { return drv(current() ?: buffer_free(dev(p), true)); }

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return drv(current() ?: buffer_register(p, bytesize, Flags));
}

CUresult cuMemHostUnregister(void *p) { return drv(current() ?: buffer_unregister(p)); }

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    NEEDS(drv, dptr);
    return drv(allocate(BUF_MANAGED, dptr, bytesize, flags, "cuMemAllocManaged"));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    NEEDS(drv, dptr && pPitch);
    uint64_t addr = 0;
    (void)ElementSizeBytes;
    int error = current() ?: buffer_pitch(WidthInBytes, Height, &addr, pPitch);
    *dptr = addr;
    return drv(error);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    NEEDS(drv, pdptr);
    struct buffer b;
    (void)Flags;
    *pdptr = dev(p);
    return drv(current() ?: buffer_find(dev(p), &b) && b.kind != BUF_DEVICE ? 0 : cudaErrorInvalidValue);
}

CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    NEEDS(drv, pFlags);
    struct buffer b;
    int error = current() ?: buffer_find(dev(p), &b) && b.kind != BUF_DEVICE ? 0 : cudaErrorInvalidValue;
    if (!error)
        *pFlags = b.flags | cudaHostAllocMapped;
    return drv(error);
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    NEEDS(drv, free && total);
    return drv(current() ?: buffer_info(free, total));
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct buffer b;
    int error = current() ?: buffer_find(dptr, &b) ? 0 : cudaErrorSymbolNotFound;
    if (!error && pbase)
        *pbase = b.addr;
    if (!error && psize)
        *psize = b.size;
    return drv(error);
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    NEEDS(drv, dptr);
    uint64_t addr = 0;
    int error = current() ?: pool_alloc(&addr, bytesize, NULL, hStream);
    *dptr = addr;
    return drv(error);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    (void)pool;
    return cuMemAllocAsync(dptr, bytesize, hStream);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) { return drv(current() ?: pool_free(dptr, hStream)); }

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return cuMemAllocAsync(dptr, bytesize, own_stream(hStream));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) { return cuMemFreeAsync(dptr, own_stream(hStream)); }

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    NEEDS(drv, pool_out);
    return drv(device_check(dev) ?: pool_default(pool_out));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    NEEDS(drv, pool);
    return drv(device_check(dev) ?: pool_current(pool, NULL));
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    return drv(device_check(dev) ?: pool_current(NULL, pool));
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    NEEDS(drv, pool && poolProps);
    (void)poolProps;
    return drv(pool_new(pool));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) { return drv(pool_delete(pool)); }

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    NEEDS(drv, value);
    return drv(pool_attribute(pool, (int)attr, value, true));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    NEEDS(drv, value);
    return drv(pool_attribute(pool, (int)attr, value, false));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return drv(pool ? 0 : cudaErrorInvalidValue);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    (void)map, (void)count;
    return drv(pool ? 0 : cudaErrorInvalidValue);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    NEEDS(drv, flags);
    (void)location;
    *flags = (CUmemAccess_flags)cudaMemAccessFlagsProtReadWrite;
    return drv(memPool ? 0 : cudaErrorInvalidValue);
}

/* ---- managed memory is at home on both sides */

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream)
{
    struct task t = {.kind = TASK_EMPTY};
    (void)devPtr, (void)count, (void)location, (void)flags;
    return drv(current() ?: submit(hStream, &t, false));
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    (void)devPtr, (void)count, (void)advice, (void)location;
    return drv(current());
}

/* ---- what is this pointer? */

static int pointer_attribute(void *data, int attribute, CUdeviceptr p)
{
    struct buffer b;
    if (!buffer_find(p, &b))
        return cudaErrorInvalidValue;
    bool device = b.kind == BUF_DEVICE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return drv_context(data);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)data = device || b.kind == BUF_MANAGED ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = p; return 0;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = device ? NULL : ptr(p);
        return device ? cudaErrorInvalidValue : 0;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned int *)data = 0; return 0;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = b.id; return 0;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned int *)data = b.kind == BUF_MANAGED; return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = 0; return 0;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(unsigned int *)data = 0; return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = b.addr; return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = b.size; return 0;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned int *)data = 1; return 0;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)data = 0; return 0;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(void **)data = NULL; return 0;
    default: return cudaErrorNotSupported;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr p)
{
    NEEDS(drv, data);
    return drv(current() ?: pointer_attribute(data, (int)attribute, p));
}

/* Attributes that the pointer does not have read as 0. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr p)
{
    NEEDS(drv, attributes && data);
    int error = current();
    for (unsigned int i = 0; i < numAttributes && !error; i++)
        if (pointer_attribute(data[i], (int)attributes[i], p))
            memset(data[i], 0, attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT || attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ? 8 : 4);
    return drv(error);
}

/* ---- copies */

static int copy(CUdeviceptr dst, CUdeviceptr src, size_t n, int kind, CUstream s, bool wait)
{
    struct task t;
    return current() ?: task_copy(&t, dst, src, n, kind) ?: submit(s, &t, wait && kind != cudaMemcpyDeviceToDevice);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return drv(copy(dst, src, ByteCount, cudaMemcpyDefault, NULL, WAIT));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return drv(copy(dst, src, ByteCount, cudaMemcpyDefault, hStream, GO_ON));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n)
{
    return drv(copy(dst, dev(src), n, cudaMemcpyHostToDevice, NULL, WAIT));
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n)
{
    return drv(copy(dev(dst), src, n, cudaMemcpyDeviceToHost, NULL, WAIT));
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
    return drv(copy(dst, src, n, cudaMemcpyDeviceToDevice, NULL, GO_ON));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream s)
{
    return drv(copy(dst, dev(src), n, cudaMemcpyHostToDevice, s, GO_ON));
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream s)
{
    return drv(copy(dev(dst), src, n, cudaMemcpyDeviceToHost, s, GO_ON));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
    return drv(copy(dst, src, n, cudaMemcpyDeviceToDevice, s, GO_ON));
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t n)
{
    (void)dstContext, (void)srcContext;
    return cuMemcpyDtoD_v2(dst, src, n);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t n, CUstream s)
{
    (void)dstContext, (void)srcContext;
    return cuMemcpyDtoDAsync_v2(dst, src, n, s);
}

static struct cudaPitchedPtr side(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t width, size_t height)
{
    return (struct cudaPitchedPtr){type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : ptr(device), pitch ? pitch : width, width, height};
}

static int copy_box(const CUDA_MEMCPY3D *c, CUstream s, bool wait)
{
    struct task t;
    bool arrays = c->srcMemoryType == CU_MEMORYTYPE_ARRAY || c->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    struct cudaMemcpy3DParms p = {
        .srcPos = {c->srcXInBytes, c->srcY, c->srcZ}, .dstPos = {c->dstXInBytes, c->dstY, c->dstZ},
        .srcPtr = side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c->WidthInBytes, c->srcHeight ? c->srcHeight : c->Height),
        .dstPtr = side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c->WidthInBytes, c->dstHeight ? c->dstHeight : c->Height),
        .extent = {c->WidthInBytes, c->Height, c->Depth}, .kind = cudaMemcpyDefault,
    };
    return current() ?: arrays ? not_supported("cuMemcpy from or to an array") : task_copy_box(&t, &p) ?: submit(s, &t, wait);
}

static int copy_rows(const CUDA_MEMCPY2D *c, CUstream s, bool wait)
{
    CUDA_MEMCPY3D box = {
        .srcXInBytes = c->srcXInBytes, .srcY = c->srcY, .srcMemoryType = c->srcMemoryType, .srcHost = c->srcHost,
        .srcDevice = c->srcDevice, .srcPitch = c->srcPitch, .dstXInBytes = c->dstXInBytes, .dstY = c->dstY,
        .dstMemoryType = c->dstMemoryType, .dstHost = c->dstHost, .dstDevice = c->dstDevice, .dstPitch = c->dstPitch,
        .WidthInBytes = c->WidthInBytes, .Height = c->Height, .Depth = 1,
    };
    return copy_box(&box, s, wait);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    NEEDS(drv, pCopy);
    return drv(copy_rows(pCopy, NULL, WAIT));
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    NEEDS(drv, pCopy);
    return drv(copy_rows(pCopy, NULL, WAIT));
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    NEEDS(drv, pCopy);
    return drv(copy_rows(pCopy, hStream, GO_ON));
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    NEEDS(drv, pCopy);
    return drv(copy_box(pCopy, NULL, WAIT));
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    NEEDS(drv, pCopy);
    return drv(copy_box(pCopy, hStream, GO_ON));
}

/* ---- fills */

static int fill(CUdeviceptr dst, size_t pitch, uint32_t value, uint32_t unit, size_t width, size_t height, CUstream s)
{
    struct task t;
    return current() ?: task_fill_box(&t, dst, pitch, height, value, unit, width, height, 1) ?: submit(s, &t, false);
}

CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char v, size_t N) { return drv(fill(p, N, v, 1, N, 1, NULL)); }
CUresult cuMemsetD16_v2(CUdeviceptr p, unsigned short v, size_t N) { return drv(fill(p, N * 2, v, 2, N, 1, NULL)); }
CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned int v, size_t N) { return drv(fill(p, N * 4, v, 4, N, 1, NULL)); }

CUresult cuMemsetD2D8_v2(CUdeviceptr p, size_t pitch, unsigned char v, size_t W, size_t H)
{
    return drv(fill(p, pitch, v, 1, W, H, NULL));
}

CUresult cuMemsetD2D16_v2(CUdeviceptr p, size_t pitch, unsigned short v, size_t W, size_t H)
{
    return drv(fill(p, pitch, v, 2, W, H, NULL));
}

CUresult cuMemsetD2D32_v2(CUdeviceptr p, size_t pitch, unsigned int v, size_t W, size_t H)
{
    return drv(fill(p, pitch, v, 4, W, H, NULL));
}

CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t N, CUstream s)
{
    return drv(fill(p, N, v, 1, N, 1, s));
}

CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t N, CUstream s)
{
    return drv(fill(p, N * 2, v, 2, N, 1, s));
}

CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int v, size_t N, CUstream s)
{
    return drv(fill(p, N * 4, v, 4, N, 1, s));
}

CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char v, size_t W, size_t H, CUstream s)
{
    return drv(fill(p, pitch, v, 1, W, H, s));
}

CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short v, size_t W, size_t H, CUstream s)
{
    return drv(fill(p, pitch, v, 2, W, H, s));
}

CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned int v, size_t W, size_t H, CUstream s)
{
    return drv(fill(p, pitch, v, 4, W, H, s));
}

/* ---- the same with a default stream per thread */

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
    return drv(copy(dst, src, n, cudaMemcpyDefault, cudaStreamPerThread, WAIT));
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
    return cuMemcpyAsync(dst, src, n, own_stream(s));
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t n)
{
    return drv(copy(dst, dev(src), n, cudaMemcpyHostToDevice, cudaStreamPerThread, WAIT));
}

CUresult cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t n)
{
    return drv(copy(dev(dst), src, n, cudaMemcpyDeviceToHost, cudaStreamPerThread, WAIT));
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
    return drv(copy(dst, src, n, cudaMemcpyDeviceToDevice, cudaStreamPerThread, GO_ON));
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t n, CUstream s)
{
    return cuMemcpyHtoDAsync_v2(dst, src, n, own_stream(s));
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t n, CUstream s)
{
    return cuMemcpyDtoHAsync_v2(dst, src, n, own_stream(s));
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
    return cuMemcpyDtoDAsync_v2(dst, src, n, own_stream(s));
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr p, unsigned char v, size_t N, CUstream s)
{
    return cuMemsetD8Async(p, v, N, own_stream(s));
}

CUresult cuMemsetD16Async_ptsz(CUdeviceptr p, unsigned short v, size_t N, CUstream s)
{
    return cuMemsetD16Async(p, v, N, own_stream(s));
}

CUresult cuMemsetD32Async_ptsz(CUdeviceptr p, unsigned int v, size_t N, CUstream s)
{
    return cuMemsetD32Async(p, v, N, own_stream(s));
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr p, unsigned char v, size_t N)
{
    return drv(fill(p, N, v, 1, N, 1, cudaStreamPerThread));
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr p, unsigned int v, size_t N)
{
    return drv(fill(p, N * 4, v, 4, N, 1, cudaStreamPerThread));
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t n)
{
    (void)dstContext, (void)srcContext;
    return cuMemcpyDtoD_v2_ptds(dst, src, n);
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t n, CUstream s)
{
    return cuMemcpyPeerAsync(dst, dstContext, src, srcContext, n, own_stream(s));
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    NEEDS(drv, pCopy);
    return drv(copy_rows(pCopy, cudaStreamPerThread, WAIT));
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *pCopy) { return cuMemcpy2D_v2_ptds(pCopy); }
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream s) { return cuMemcpy2DAsync_v2(pCopy, own_stream(s)); }

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *pCopy)
{
    NEEDS(drv, pCopy);
    return drv(copy_box(pCopy, cudaStreamPerThread, WAIT));
}

CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *pCopy, CUstream s) { return cuMemcpy3DAsync_v2(pCopy, own_stream(s)); }
CUresult cuMemsetD16_v2_ptds(CUdeviceptr p, unsigned short v, size_t N) { return drv(fill(p, N * 2, v, 2, N, 1, cudaStreamPerThread)); }

CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr p, size_t pitch, unsigned char v, size_t W, size_t H)
{
    return drv(fill(p, pitch, v, 1, W, H, cudaStreamPerThread));
}

CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr p, size_t pitch, unsigned short v, size_t W, size_t H)
{
    return drv(fill(p, pitch, v, 2, W, H, cudaStreamPerThread));
}

CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr p, size_t pitch, unsigned int v, size_t W, size_t H)
{
    return drv(fill(p, pitch, v, 4, W, H, cudaStreamPerThread));
}

CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr p, size_t pitch, unsigned char v, size_t W, size_t H, CUstream s)
{
    return cuMemsetD2D8Async(p, pitch, v, W, H, own_stream(s));
}

CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr p, size_t pitch, unsigned short v, size_t W, size_t H, CUstream s)
{
    return cuMemsetD2D16Async(p, pitch, v, W, H, own_stream(s));
}

CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr p, size_t pitch, unsigned int v, size_t W, size_t H, CUstream s)
{
    return cuMemsetD2D32Async(p, pitch, v, W, H, own_stream(s));
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream s)
{
    return cuMemAllocFromPoolAsync(dptr, bytesize, pool, own_stream(s));
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr p, size_t count, CUmemLocation location, unsigned int flags, CUstream s)
{
    return cuMemPrefetchAsync_v2(p, count, location, flags, own_stream(s));
}
