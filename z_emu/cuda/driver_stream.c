/* driver_stream.c: the driver API of streams, events, memory operations in streams, and captures. */
#include "cuda_emu.h"
#include <string.h>

/* ---- streams */

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    NEEDS(drv, phStream);
    return drv(current() ?: stream_new(phStream, Flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    NEEDS(drv, phStream);
    return drv(current() ?: stream_new(phStream, flags, priority));
}

CUresult cuStreamDestroy_v2(CUstream hStream) { return drv(current() ?: stream_free(hStream)); }
CUresult cuStreamSynchronize(CUstream hStream) { return drv(current() ?: stream_sync(hStream)); }
CUresult cuStreamQuery(CUstream hStream) { return drv(current() ?: stream_query(hStream)); }

CUresult cuStreamGetPriority(CUstream hStream, int *priority)
{
    NEEDS(drv, priority);
    return drv(current() ?: stream_info(hStream, NULL, priority, NULL));
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    NEEDS(drv, flags);
    return drv(current() ?: stream_info(hStream, flags, NULL, NULL));
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    NEEDS(drv, streamId);
    return drv(current() ?: stream_info(hStream, NULL, NULL, streamId));
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    NEEDS(drv, device);
    *device = 0;
    return drv(current() ?: stream_info(hStream, NULL, NULL, NULL));
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    NEEDS(drv, pctx);
    return drv(current() ?: stream_info(hStream, NULL, NULL, NULL) ?: drv_context(pctx));
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value_out)
{
    NEEDS(drv, value_out);
    return drv(current() ?: stream_attribute(hStream, (int)attr, (cudaLaunchAttributeValue *)value_out, NULL));
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *value)
{
    NEEDS(drv, value);
    return drv(current() ?: stream_attribute(hStream, (int)attr, NULL, (const cudaLaunchAttributeValue *)value));
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    (void)Flags;
    return drv(current() ?: stream_wait_event(hStream, hEvent));
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    (void)hStream, (void)dptr, (void)length, (void)flags;
    return drv(current());
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct task t = {.kind = TASK_HOST, .host = {.fn = fn, .data = userData}};
    return drv(current() ?: fn ? submit(hStream, &t, false) : cudaErrorInvalidValue);
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    struct task t = {.kind = TASK_HOST, .host = {.callback = (cudaStreamCallback_t)callback, .stream = hStream, .data = userData}};
    return drv(current() ?: callback && !flags ? submit(hStream, &t, false) : cudaErrorInvalidValue);
}

/* ---- events */

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    NEEDS(drv, phEvent);
    return drv(current() ?: event_new(phEvent, Flags));
}

CUresult cuEventDestroy_v2(CUevent hEvent) { return drv(current() ?: event_free(hEvent)); }
CUresult cuEventRecord(CUevent hEvent, CUstream hStream) { return drv(current() ?: event_record(hEvent, hStream, 0)); }

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return drv(current() ?: event_record(hEvent, hStream, flags));
}

CUresult cuEventQuery(CUevent hEvent) { return drv(current() ?: event_query(hEvent)); }
CUresult cuEventSynchronize(CUevent hEvent) { return drv(current() ?: event_sync(hEvent)); }

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    NEEDS(drv, pMilliseconds);
    return drv(current() ?: event_elapsed(pMilliseconds, hStart, hEnd));
}

CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return cuEventElapsedTime(pMilliseconds, hStart, hEnd);
}

/* ---- words written and waited for in stream order */

static int value_task(CUstream s, enum task_kind kind, CUdeviceptr addr, uint64_t value, uint32_t bytes,
                      unsigned int flags)
{
    struct task t = {.kind = kind, .value = {.addr = addr, .value = value, .bytes = bytes, .condition = flags}};
    return current() ?: addr % bytes ? cudaErrorInvalidValue : submit(s, &t, false);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return drv(value_task(stream, TASK_WRITE_VALUE, addr, value, 4, flags));
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return drv(value_task(stream, TASK_WRITE_VALUE, addr, value, 8, flags));
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return drv(value_task(stream, TASK_WAIT_VALUE, addr, value, 4, flags));
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return drv(value_task(stream, TASK_WAIT_VALUE, addr, value, 8, flags));
}

/* ---- capture */

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return drv(current() ?: capture_begin(hStream, NULL, NULL, 0, (int)mode));
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    NEEDS(drv, phGraph);
    struct graph *g = NULL;
    int error = current() ?: capture_end(hStream, &g);
    *phGraph = (CUgraph)g;
    return drv(error);
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    NEEDS(drv, captureStatus);
    int status = 0;
    int error = current() ?: capture_report(hStream, &status, NULL, NULL, NULL, NULL);
    *captureStatus = (CUstreamCaptureStatus)status;
    return drv(error);
}

/* The nodes that the next one will follow belong to the stream: they are right until something else is captured. */
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
                                   size_t *numDependencies_out)
{
    NEEDS(drv, captureStatus_out);
    if (edgeData_out)
        *edgeData_out = NULL;
    int status = 0;
    unsigned long long id = 0;
    int error = current() ?: capture_report(hStream, &status, &id, graph_out, dependencies_out, numDependencies_out);
    *captureStatus_out = (CUstreamCaptureStatus)status;
    if (id_out)
        *id_out = id;
    return drv(error);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                                              size_t numDependencies, unsigned int flags)
{
    (void)dependencyData;
    return drv(current() ?: capture_update(hStream, (struct node *const *)dependencies, numDependencies, flags == 1));
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    NEEDS(drv, mode);
    static _Thread_local CUstreamCaptureMode own;
    CUstreamCaptureMode old = own;
    own = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* ---- the same with a default stream per thread */

CUresult cuStreamGetPriority_ptsz(CUstream s, int *priority) { return cuStreamGetPriority(own_stream(s), priority); }
CUresult cuStreamGetFlags_ptsz(CUstream s, unsigned int *flags) { return cuStreamGetFlags(own_stream(s), flags); }
CUresult cuStreamGetId_ptsz(CUstream s, unsigned long long *id) { return cuStreamGetId(own_stream(s), id); }
CUresult cuStreamGetDevice_ptsz(CUstream s, CUdevice *device) { return cuStreamGetDevice(own_stream(s), device); }
CUresult cuStreamGetCtx_ptsz(CUstream s, CUcontext *pctx) { return cuStreamGetCtx(own_stream(s), pctx); }
CUresult cuStreamGetAttribute_ptsz(CUstream s, CUstreamAttrID attr, CUstreamAttrValue *value)
{
    return cuStreamGetAttribute(own_stream(s), attr, value);
}

CUresult cuStreamSetAttribute_ptsz(CUstream s, CUstreamAttrID attr, const CUstreamAttrValue *value)
{
    return cuStreamSetAttribute(own_stream(s), attr, value);
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream s, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    return cuStreamAttachMemAsync(own_stream(s), dptr, length, flags);
}

CUresult cuStreamAddCallback_ptsz(CUstream s, CUstreamCallback callback, void *userData, unsigned int flags)
{
    return cuStreamAddCallback(own_stream(s), callback, userData, flags);
}

CUresult cuStreamWriteValue32_v2_ptsz(CUstream s, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return cuStreamWriteValue32_v2(own_stream(s), addr, value, flags);
}

CUresult cuStreamWriteValue64_v2_ptsz(CUstream s, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return cuStreamWriteValue64_v2(own_stream(s), addr, value, flags);
}

CUresult cuStreamWaitValue32_v2_ptsz(CUstream s, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return cuStreamWaitValue32_v2(own_stream(s), addr, value, flags);
}

CUresult cuStreamWaitValue64_v2_ptsz(CUstream s, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return cuStreamWaitValue64_v2(own_stream(s), addr, value, flags);
}

CUresult cuStreamSynchronize_ptsz(CUstream hStream) { return cuStreamSynchronize(own_stream(hStream)); }
CUresult cuStreamQuery_ptsz(CUstream hStream) { return cuStreamQuery(own_stream(hStream)); }

CUresult cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return cuStreamWaitEvent(own_stream(hStream), hEvent, Flags);
}

CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return cuLaunchHostFunc(own_stream(hStream), fn, userData);
}

CUresult cuEventRecord_ptsz(CUevent hEvent, CUstream hStream) { return cuEventRecord(hEvent, own_stream(hStream)); }

CUresult cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return cuEventRecordWithFlags(hEvent, own_stream(hStream), flags);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream hStream, CUstreamCaptureMode mode)
{
    return cuStreamBeginCapture_v2(own_stream(hStream), mode);
}

CUresult cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph)
{
    return cuStreamEndCapture(own_stream(hStream), phGraph);
}

CUresult cuStreamIsCapturing_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return cuStreamIsCapturing(own_stream(hStream), captureStatus);
}
