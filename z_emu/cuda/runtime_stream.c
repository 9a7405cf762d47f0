/* runtime_stream.c: the runtime API of streams, events and captures. */
#include "cuda_emu.h"
#include <string.h>

/* ---- streams */

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    NEEDS(rt, pStream);
    return rt(ready() ?: stream_new(pStream, 0, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    NEEDS(rt, pStream);
    return rt(ready() ?: stream_new(pStream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    NEEDS(rt, pStream);
    return rt(ready() ?: stream_new(pStream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) { return rt(ready() ?: stream_free(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return rt(ready() ?: stream_sync(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return rt(ready() ?: stream_query(stream)); }

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    NEEDS(rt, priority);
    return rt(ready() ?: stream_info(hStream, NULL, priority, NULL));
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    NEEDS(rt, flags);
    return rt(ready() ?: stream_info(hStream, flags, NULL, NULL));
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    NEEDS(rt, streamId);
    return rt(ready() ?: stream_info(hStream, NULL, NULL, streamId));
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    NEEDS(rt, device);
    *device = 0;
    return rt(ready() ?: stream_info(hStream, NULL, NULL, NULL));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, cudaStreamAttrValue *value_out)
{
    NEEDS(rt, value_out);
    return rt(ready() ?: stream_attribute(hStream, (int)attr, value_out, NULL));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, const cudaStreamAttrValue *value)
{
    NEEDS(rt, value);
    return rt(ready() ?: stream_attribute(hStream, (int)attr, NULL, value));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    cudaLaunchAttributeValue v;
    int error = ready();
    for (int i = 0; i < 20 && !error; i++)
        error = stream_attribute(src, i, &v, NULL) ?: stream_attribute(dst, i, NULL, &v);
    return rt(error);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    (void)flags;
    return rt(ready() ?: stream_wait_event(stream, event));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    struct task t = {.kind = TASK_HOST, .host = {.fn = fn, .data = userData}};
    return rt(ready() ?: fn ? submit(stream, &t, false) : cudaErrorInvalidValue);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                  unsigned int flags)
{
    struct task t = {.kind = TASK_HOST, .host = {.callback = callback, .stream = stream, .data = userData}};
    return rt(ready() ?: callback && !flags ? submit(stream, &t, false) : cudaErrorInvalidValue);
}

/* ---- events */

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    NEEDS(rt, event);
    return rt(ready() ?: event_new(event, 0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    NEEDS(rt, event);
    return rt(ready() ?: event_new(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) { return rt(ready() ?: event_free(event)); }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return rt(ready() ?: event_record(event, stream, 0));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return rt(ready() ?: event_record(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return rt(ready() ?: event_query(event)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return rt(ready() ?: event_sync(event)); }

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    NEEDS(rt, ms);
    return rt(ready() ?: event_elapsed(ms, start, end));
}
#if CUDART_MAJOR < 13
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return cudaEventElapsedTime(ms, start, end);
}
#endif

/* ---- capture */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return rt(ready() ?: capture_begin(stream, NULL, NULL, 0, (int)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData, size_t numDependencies, enum cudaStreamCaptureMode mode)
{
    (void)dependencyData;
    lock();
    struct graph *g = graph_find(graph, false);
    unlock();
    return rt(ready() ?: g ? capture_begin(stream, g, (struct node *const *)dependencies, numDependencies, (int)mode)
                           : cudaErrorInvalidValue);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    NEEDS(rt, pGraph);
    struct graph *g = NULL;
    int error = ready() ?: capture_end(stream, &g);
    *pGraph = (cudaGraph_t)g;
    return rt(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    NEEDS(rt, pCaptureStatus);
    int status = 0;
    int error = ready() ?: capture_report(stream, &status, NULL, NULL, NULL, NULL);
    *pCaptureStatus = (enum cudaStreamCaptureStatus)status;
    return rt(error);
}

/* As the runtime's calls see it: the dependencies belong to the stream and change with it. */
static int report(cudaStream_t stream, enum cudaStreamCaptureStatus *status_out, unsigned long long *id, cudaGraph_t *graph,
                  const cudaGraphNode_t **dependencies, size_t *n)
{
    int status = 0;
    int error = ready() ?: capture_report(stream, &status, id, graph, dependencies, n);
    *status_out = (enum cudaStreamCaptureStatus)status;
    return error;
}

#if CUDART_MAJOR >= 13
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
                                     cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
                                     const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    NEEDS(rt, captureStatus_out);
    if (edgeData_out)
        *edgeData_out = NULL;
    return rt(report(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData, size_t numDependencies, unsigned int flags)
{
    (void)dependencyData;
    return rt(ready() ?: capture_update(stream, (struct node *const *)dependencies, numDependencies, flags == 1));
}
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
                                        cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    NEEDS(rt, captureStatus_out);
    return rt(report(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out));
}

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
                                        cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
                                        const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    NEEDS(rt, captureStatus_out);
    if (edgeData_out)
        *edgeData_out = NULL;
    return rt(report(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                size_t numDependencies, unsigned int flags)
{
    return rt(ready() ?: capture_update(stream, (struct node *const *)dependencies, numDependencies, flags == 1));
}
#endif

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    NEEDS(rt, mode);
    static _Thread_local enum cudaStreamCaptureMode own;
    enum cudaStreamCaptureMode old = own;
    own = *mode;
    *mode = old;
    return rt(0);
}

/* ---- the same with a default stream per thread */

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) { return cudaStreamSynchronize(own_stream(stream)); }
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(own_stream(stream)); }

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t hStream, int *priority)
{
    return cudaStreamGetPriority(own_stream(hStream), priority);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t hStream, unsigned int *flags)
{
    return cudaStreamGetFlags(own_stream(hStream), flags);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t hStream, unsigned long long *streamId)
{
    return cudaStreamGetId(own_stream(hStream), streamId);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t hStream, int *device)
{
    return cudaStreamGetDevice(own_stream(hStream), device);
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attr, cudaStreamAttrValue *value)
{
    return cudaStreamGetAttribute(own_stream(stream), attr, value);
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attr, const cudaStreamAttrValue *param)
{
    return cudaStreamSetAttribute(own_stream(stream), attr, param);
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t dstStream, cudaStream_t srcStream)
{
    return cudaStreamCopyAttributes(own_stream(dstStream), own_stream(srcStream));
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return cudaStreamWaitEvent(own_stream(stream), event, flags);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return cudaLaunchHostFunc(own_stream(stream), fn, userData);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                       unsigned int flags)
{
    return cudaStreamAddCallback(own_stream(stream), callback, userData, flags);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecord(event, own_stream(stream));
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return cudaEventRecordWithFlags(event, own_stream(stream), flags);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return cudaStreamBeginCapture(own_stream(stream), mode);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *pGraph)
{
    return cudaStreamEndCapture(own_stream(stream), pGraph);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    return cudaStreamIsCapturing(own_stream(stream), pCaptureStatus);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                               const cudaGraphEdgeData *dependencyData, size_t numDependencies, enum cudaStreamCaptureMode mode)
{
    return cudaStreamBeginCaptureToGraph(own_stream(stream), graph, dependencies, dependencyData, numDependencies, mode);
}
#if CUDART_MAJOR >= 13
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
                                          cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
                                          const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    return cudaStreamGetCaptureInfo(own_stream(stream), captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                     const cudaGraphEdgeData *dependencyData, size_t numDependencies, unsigned int flags)
{
    return cudaStreamUpdateCaptureDependencies(own_stream(stream), dependencies, dependencyData, numDependencies, flags);
}
#endif
