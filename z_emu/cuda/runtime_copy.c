/* runtime_copy.c: the runtime API about moving and filling bytes. A call without Async waits, except where the chip does not
 * either: fills of device memory and copies inside it. */
#include "cuda_emu.h"
#include <string.h>

enum { WAIT = true, GO_ON = false };

static int copy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t s, bool wait)
{
    struct task t;
    return ready() ?: task_copy(&t, dev(dst), dev(src), n, (int)kind) ?: submit(s, &t, wait && kind != cudaMemcpyDeviceToDevice);
}

static int copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t s, bool wait)
{
    struct task t;
    return ready() ?: task_copy_box(&t, p) ?: submit(s, &t, wait && p->kind != cudaMemcpyDeviceToDevice);
}

static int copy_rows(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                     enum cudaMemcpyKind kind, cudaStream_t s, bool wait)
{
    struct cudaMemcpy3DParms p = {.dstPtr = {dst, dpitch, width, height}, .srcPtr = {(void *)(uintptr_t)src, spitch, width, height},
                                  .extent = {width, height, 1}, .kind = kind};
    return width > dpitch || width > spitch ? cudaErrorInvalidPitchValue : copy_box(&p, s, wait);
}

static int copy_peer(const struct cudaMemcpy3DPeerParms *q, cudaStream_t s, bool wait)
{
    struct cudaMemcpy3DParms p = {.srcArray = q->srcArray, .srcPos = q->srcPos, .srcPtr = q->srcPtr, .dstArray = q->dstArray,
                                  .dstPos = q->dstPos, .dstPtr = q->dstPtr, .extent = q->extent, .kind = cudaMemcpyDefault};
    return device_check(q->srcDevice) ?: device_check(q->dstDevice) ?: copy_box(&p, s, wait);
}

static int copy_symbol(const void *symbol, void *host, size_t n, size_t offset, enum cudaMemcpyKind kind, bool to_symbol,
                       cudaStream_t s, bool wait)
{
    uint64_t addr;
    size_t size;
    int error = ready() ?: symbol_get(symbol, &addr, &size);
    if (!error && (offset > size || n > size - offset))
        error = cudaErrorInvalidValue;
    if (error)
        return error;
    return to_symbol ? copy(ptr(addr + offset), host, n, kind, s, wait) : copy(host, ptr(addr + offset), n, kind, s, wait);
}

/* ---- copies */

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return rt(copy(dst, src, count, kind, NULL, WAIT));
}

cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return rt(copy(dst, src, count, kind, cudaStreamPerThread, WAIT));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rt(copy(dst, src, count, kind, stream, GO_ON));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return rt(copy_rows(dst, dpitch, src, spitch, width, height, kind, NULL, WAIT));
}

cudaError_t cudaMemcpy2D_ptds(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind)
{
    return rt(copy_rows(dst, dpitch, src, spitch, width, height, kind, cudaStreamPerThread, WAIT));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rt(copy_rows(dst, dpitch, src, spitch, width, height, kind, stream, GO_ON));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    NEEDS(rt, p);
    return rt(copy_box(p, NULL, WAIT));
}

cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p)
{
    NEEDS(rt, p);
    return rt(copy_box(p, cudaStreamPerThread, WAIT));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    NEEDS(rt, p);
    return rt(copy_box(p, stream, GO_ON));
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    return rt(device_check(dstDevice) ?: device_check(srcDevice) ?: copy(dst, src, count, cudaMemcpyDeviceToDevice, NULL, GO_ON));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                cudaStream_t stream)
{
    return rt(device_check(dstDevice) ?: device_check(srcDevice) ?: copy(dst, src, count, cudaMemcpyDeviceToDevice, stream, GO_ON));
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    NEEDS(rt, p);
    return rt(copy_peer(p, NULL, WAIT));
}

cudaError_t cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *p)
{
    NEEDS(rt, p);
    return rt(copy_peer(p, cudaStreamPerThread, WAIT));
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    NEEDS(rt, p);
    return rt(copy_peer(p, stream, GO_ON));
}

#if CUDART_MAJOR >= 13
cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                 struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    NEEDS(rt, dsts && srcs && sizes);
    int error = 0;
    (void)attrs, (void)attrsIdxs, (void)numAttrs;
    for (size_t i = 0; i < count && !error; i++)
        error = copy(dsts[i], srcs[i], sizes[i], cudaMemcpyDefault, stream, GO_ON);
    return rt(error);
}
#endif

/* ---- variables by the address of their host shadow */

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return rt(copy_symbol(symbol, (void *)(uintptr_t)src, count, offset, kind, true, NULL, WAIT));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind)
{
    return rt(copy_symbol(symbol, (void *)(uintptr_t)src, count, offset, kind, true, cudaStreamPerThread, WAIT));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rt(copy_symbol(symbol, (void *)(uintptr_t)src, count, offset, kind, true, stream, GO_ON));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    return rt(copy_symbol(symbol, dst, count, offset, kind, false, NULL, WAIT));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind)
{
    return rt(copy_symbol(symbol, dst, count, offset, kind, false, cudaStreamPerThread, WAIT));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rt(copy_symbol(symbol, dst, count, offset, kind, false, stream, GO_ON));
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    NEEDS(rt, devPtr);
    uint64_t addr = 0;
    size_t size;
    int error = ready() ?: symbol_get(symbol, &addr, &size);
    *devPtr = ptr(addr);
    return rt(error);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    NEEDS(rt, size);
    uint64_t addr;
    return rt(ready() ?: symbol_get(symbol, &addr, size));
}

/* ---- fills */

static int fill(void *p, size_t pitch, size_t rows, int value, size_t width, size_t height, size_t depth,
                cudaStream_t s)
{
    struct task t;
    struct buffer b;
    bool wait = buffer_find(dev(p), &b) && b.kind != BUF_DEVICE && !s;         /* of pinned host memory: at once */
    return ready() ?: task_fill_box(&t, dev(p), pitch, rows, (uint8_t)value, 1, width, height, depth) ?: submit(s, &t, wait);
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    return rt(fill(devPtr, count, 1, value, count, 1, 1, NULL));
}

cudaError_t cudaMemset_ptds(void *devPtr, int value, size_t count)
{
    return rt(fill(devPtr, count, 1, value, count, 1, 1, cudaStreamPerThread));
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return rt(fill(devPtr, count, 1, value, count, 1, 1, stream));
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return rt(fill(devPtr, pitch, height, value, width, height, 1, NULL));
}

cudaError_t cudaMemset2D_ptds(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return rt(fill(devPtr, pitch, height, value, width, height, 1, cudaStreamPerThread));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return rt(fill(devPtr, pitch, height, value, width, height, 1, stream));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e)
{
    return rt(fill(p.ptr, p.pitch, p.ysize, value, e.width, e.height, e.depth, NULL));
}

cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr p, int value, struct cudaExtent e)
{
    return rt(fill(p.ptr, p.pitch, p.ysize, value, e.width, e.height, e.depth, cudaStreamPerThread));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t stream)
{
    return rt(fill(p.ptr, p.pitch, p.ysize, value, e.width, e.height, e.depth, stream));
}

/* ---- the same for programs compiled with a default stream per thread: there, stream 0 is the thread's own */

cudaError_t cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    return cudaMemcpyAsync(dst, src, count, kind, own_stream(stream));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, own_stream(stream));
}

cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return cudaMemcpy3DAsync(p, own_stream(stream));
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return cudaMemcpy3DPeerAsync(p, own_stream(stream));
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *src, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, own_stream(stream));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *dst, const void *symbol, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, own_stream(stream));
}

cudaError_t cudaMemsetAsync_ptsz(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return cudaMemsetAsync(devPtr, value, count, own_stream(stream));
}

cudaError_t cudaMemset2DAsync_ptsz(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream)
{
    return cudaMemset2DAsync(devPtr, pitch, value, width, height, own_stream(stream));
}

cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t stream)
{
    return cudaMemset3DAsync(p, value, e, own_stream(stream));
}
#if CUDART_MAJOR >= 13
cudaError_t cudaMemcpyBatchAsync_ptsz(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                      struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, own_stream(stream));
}
#endif
