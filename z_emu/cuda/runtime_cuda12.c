/* runtime_cuda12.c: entry points that only CUDA 12's runtime has: newer forms of functions under a suffix (CUDA 13 gave them the
 * plain name), and names from the first years. */
#include "cuda_emu.h"
#include <string.h>

#if CUDART_MAJOR < 13

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device)
{
    NEEDS(rt, prop);
    return rt(device_check(device) ?: device_properties(prop));
}

static int managed(const void *p, size_t n)
{
    struct buffer b;
    return buffer_find(dev(p), &b) && b.kind != BUF_DEVICE && n <= b.addr + b.size - dev(p) ? 0 : cudaErrorInvalidValue;
}

cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location)
{
    (void)advice, (void)location;
    return rt(ready() ?: managed(devPtr, count));
}

cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count, struct cudaMemLocation location,
                                    unsigned int flags, cudaStream_t stream)
{
    struct task t = {.kind = TASK_EMPTY};
    (void)location, (void)flags;
    return rt(ready() ?: managed(devPtr, count) ?: submit(stream, &t, false));
}

cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *devPtr, size_t count, struct cudaMemLocation location,
                                         unsigned int flags, cudaStream_t stream)
{
    return cudaMemPrefetchAsync_v2(devPtr, count, location, flags, own_stream(stream));
}

/* ---- graphs with edge data */

static void plain_edges(cudaGraphEdgeData *edgeData, size_t n)
{
    if (edgeData)
        memset(edgeData, 0, n * sizeof *edgeData);
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    NEEDS(rt, numEdges);
    int error = graph_edges(graph, from, to, numEdges);
    plain_edges(edgeData, error || !from ? 0 : *numEdges);
    return rt(error);
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                            cudaGraphEdgeData *edgeData, size_t *pNumDependencies)
{
    NEEDS(rt, pNumDependencies);
    int error = graph_neighbours(node, false, pDependencies, pNumDependencies);
    plain_edges(edgeData, error || !pDependencies ? 0 : *pNumDependencies);
    return rt(error);
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                              cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes)
{
    NEEDS(rt, pNumDependentNodes);
    int error = graph_neighbours(node, true, pDependentNodes, pNumDependentNodes);
    plain_edges(edgeData, error || !pDependentNodes ? 0 : *pNumDependentNodes);
    return rt(error);
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    return rt(graph_link(graph, from, to, numDependencies, true));
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                           const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    return rt(graph_link(graph, from, to, numDependencies, false));
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
                                                   size_t numDependencies, unsigned int flags)
{
    (void)dependencyData;
    return rt(ready() ?: capture_update(stream, (struct node *const *)dependencies, numDependencies, flags == 1));
}

/* ---- from the first years: a thread was a device */

cudaError_t cudaThreadSynchronize(void) { return rt(ready() ?: device_sync()); }
cudaError_t cudaThreadExit(void) { return rt(ctx_reset()); }

#endif
