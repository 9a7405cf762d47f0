/* runtime_graph.c: the runtime API of graphs. Most calls make a task from the program's parameters and hand it on. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

/* ---- parameters -> task */

static int kernel_task_of(struct task *t, const struct cudaKernelNodeParams *p)
{
    struct kernel *k;
    return ready() ?: kernel_get(p->func, &k) ?: launch_task(t, k, p->gridDim, p->blockDim, p->sharedMemBytes, p->kernelParams,
                                                             p->extra, NULL, 0);
}

static int fill_task_of(struct task *t, const struct cudaMemsetParams *p)
{
    return ready() ?: task_fill_box(t, dev(p->dst), p->pitch, p->height, p->value, p->elementSize, p->width, p->height, 1)
                   ?: task_fill_check(t);
}

static int copy_task_of(struct task *t, const struct cudaMemcpy3DParms *p)
{
    return ready() ?: task_copy_box(t, p) ?: task_copy_check(t);
}

static int copy_1d_task(struct task *t, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    return ready() ?: task_copy(t, dev(dst), dev(src), n, (int)kind) ?: task_copy_check(t);
}

static int symbol_task(struct task *t, const void *symbol, const void *other, size_t n, size_t offset,
                       enum cudaMemcpyKind kind, bool to_symbol)
{
    uint64_t addr;
    size_t size;
    int error = ready() ?: symbol_get(symbol, &addr, &size);
    if (!error && (offset > size || n > size - offset))
        error = cudaErrorInvalidValue;
    if (error)
        return error;
    return to_symbol ? task_copy(t, addr + offset, dev(other), n, (int)kind) : task_copy(t, dev(other), addr + offset, n, (int)kind);
}

static void host_task_of(struct task *t, const struct cudaHostNodeParams *p)
{
    *t = (struct task){.kind = TASK_HOST, .host = {.fn = p->fn, .data = p->userData}};
}

static int event_task(struct task *t, enum task_kind kind, cudaEvent_t event)
{
    lock();
    struct event *e = event_find(event);
    if (e && !e->moment)
        e->moment = moment_new();
    *t = (struct task){.kind = kind, .event = {.event = e, .moment = e ? moment_hold(e->moment) : NULL}};
    unlock();
    return e ? 0 : cudaErrorInvalidResourceHandle;
}

/* The memory of an allocation node is there from now on; the node, and the one that frees it, only hold their places. */
static int alloc_task(struct task *t, size_t size, void **out)
{
    uint64_t addr = 0;
    int error = ready() ?: size ? buffer_new(BUF_DEVICE, size, BUF_OF_GRAPH, "a graph's allocation", &addr) : cudaErrorInvalidValue;
    *t = (struct task){.kind = TASK_ALLOC, .addr = addr};
    *out = ptr(addr);
    return error;
}

static int free_task(struct task *t, void *p)
{
    struct buffer b;
    *t = (struct task){.kind = TASK_FREED, .addr = dev(p)};
    return ready() ?: buffer_find(dev(p), &b) && b.addr == dev(p) ? 0 : cudaErrorInvalidValue;
}

static int task_of(struct task *t, struct cudaGraphNodeParams *p)
{
    struct cudaKernelNodeParams k;
    struct cudaMemsetParams m;
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        k = (struct cudaKernelNodeParams){p->kernel.func, p->kernel.gridDim, p->kernel.blockDim, p->kernel.sharedMemBytes,
                                          p->kernel.kernelParams, p->kernel.extra};
        return kernel_task_of(t, &k);
    case cudaGraphNodeTypeMemcpy: return copy_task_of(t, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        m = (struct cudaMemsetParams){p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize, p->memset.width, p->memset.height};
        return fill_task_of(t, &m);
    case cudaGraphNodeTypeHost:
        *t = (struct task){.kind = TASK_HOST, .host = {.fn = p->host.fn, .data = p->host.userData}};
        return 0;
    case cudaGraphNodeTypeGraph: return graph_child_task(t, p->graph.graph);
    case cudaGraphNodeTypeEmpty: *t = (struct task){.kind = TASK_EMPTY}; return 0;
    case cudaGraphNodeTypeWaitEvent: return event_task(t, TASK_WAIT, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return event_task(t, TASK_RECORD, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return alloc_task(t, p->alloc.bytesize, &p->alloc.dptr);
    case cudaGraphNodeTypeMemFree: return free_task(t, p->free.dptr);
    default: return not_supported("cudaGraphAddNode of a conditional or semaphore node");
    }
}

/* ---- whole graphs */

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    NEEDS(rt, pGraph);
    (void)flags;
    return rt(ready() ?: graph_make(pGraph));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return rt(graph_delete(graph, false)); }

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    NEEDS(rt, pGraphClone);
    return rt(graph_copy(pGraphClone, originalGraph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph)
{
    NEEDS(rt, pNode);
    return rt(graph_find_copy(pNode, originalNode, clonedGraph));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    NEEDS(rt, numNodes);
    return rt(graph_nodes(graph, false, nodes, numNodes));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes)
{
    NEEDS(rt, pNumRootNodes);
    return rt(graph_nodes(graph, true, pRootNodes, pNumRootNodes));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    NEEDS(rt, pType);
    int type = 0;
    int error = graph_node_type(node, &type);
    *pType = (enum cudaGraphNodeType)type;
    return rt(error);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { return rt(graph_delete_node(node)); }

#if CUDART_MAJOR >= 13
static void plain_edges(cudaGraphEdgeData *edgeData, size_t n)
{
    if (edgeData)
        memset(edgeData, 0, n * sizeof *edgeData);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    NEEDS(rt, numEdges);
    int error = graph_edges(graph, from, to, numEdges);
    plain_edges(edgeData, error ? 0 : *numEdges);
    return rt(error);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                         cudaGraphEdgeData *edgeData, size_t *pNumDependencies)
{
    NEEDS(rt, pNumDependencies);
    int error = graph_neighbours(node, false, pDependencies, pNumDependencies);
    plain_edges(edgeData, error || !pDependencies ? 0 : *pNumDependencies);
    return rt(error);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                           cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes)
{
    NEEDS(rt, pNumDependentNodes);
    int error = graph_neighbours(node, true, pDependentNodes, pNumDependentNodes);
    plain_edges(edgeData, error || !pDependentNodes ? 0 : *pNumDependentNodes);
    return rt(error);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    return rt(graph_link(graph, from, to, numDependencies, true));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    return rt(graph_link(graph, from, to, numDependencies, false));
}
#else
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *numEdges)
{
    NEEDS(rt, numEdges);
    return rt(graph_edges(graph, from, to, numEdges));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, size_t *pNumDependencies)
{
    NEEDS(rt, pNumDependencies);
    return rt(graph_neighbours(node, false, pDependencies, pNumDependencies));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                           size_t *pNumDependentNodes)
{
    NEEDS(rt, pNumDependentNodes);
    return rt(graph_neighbours(node, true, pDependentNodes, pNumDependentNodes));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t numDependencies)
{
    return rt(graph_link(graph, from, to, numDependencies, true));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        size_t numDependencies)
{
    return rt(graph_link(graph, from, to, numDependencies, false));
}
#endif

/* ---- kernel nodes */

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaKernelNodeParams *pNodeParams)
{
    NEEDS(rt, pGraphNode && pNodeParams);
    struct task t;
    return rt(kernel_task_of(&t, pNodeParams) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    int error = graph_get_task(node, TASK_KERNEL, &t);
    if (!error)
        *pNodeParams = (struct cudaKernelNodeParams){
            .func = t.kernel.kernel, .gridDim = {t.kernel.grid[0], t.kernel.grid[1], t.kernel.grid[2]},
            .blockDim = {t.kernel.block[0], t.kernel.block[1], t.kernel.block[2]}, .sharedMemBytes = t.kernel.dyn_smem,
            .kernelParams = graph_node_args(node)};
    return rt(error);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    return rt(kernel_task_of(&t, pNodeParams) ?: graph_set_task(NULL, node, &t));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    return rt(kernel_task_of(&t, pNodeParams) ?: graph_set_task(hGraphExec, node, &t));
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                            cudaKernelNodeAttrValue *value_out)
{
    NEEDS(rt, value_out);
    return rt(graph_node_attribute(hNode, NULL, (int)attr, value_out));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                            const cudaKernelNodeAttrValue *value)
{
    NEEDS(rt, value);
    cudaLaunchAttribute a = {.id = attr, .val = *value};
    return rt(graph_node_attribute(hNode, &a, 0, NULL));
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    int error = 0;
    for (int id = 1; id <= cudaLaunchAttributePreferredSharedMemoryCarveout && !error; id++) {
        cudaLaunchAttribute a = {.id = (cudaLaunchAttributeID)id};
        error = graph_node_attribute(hSrc, NULL, id, &a.val) ?: graph_node_attribute(hDst, &a, 0, NULL);
    }
    return rt(error);
}

/* ---- copy nodes */

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaMemcpy3DParms *pCopyParams)
{
    NEEDS(rt, pGraphNode && pCopyParams);
    struct task t;
    return rt(copy_task_of(&t, pCopyParams) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(copy_1d_task(&t, dst, src, count, kind) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                           size_t numDependencies, const void *symbol, const void *src, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(symbol_task(&t, symbol, src, count, offset, kind, true) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                             size_t numDependencies, void *dst, const void *symbol, size_t count, size_t offset,
                                             enum cudaMemcpyKind kind)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(symbol_task(&t, symbol, dst, count, offset, kind, false) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    int error = graph_get_task(node, TASK_COPY, &t);
    if (!error)
        *pNodeParams = (struct cudaMemcpy3DParms){
            .srcPtr = {ptr(t.copy.src), t.copy.src_pitch, t.copy.width, t.copy.src_rows},
            .dstPtr = {ptr(t.copy.dst), t.copy.dst_pitch, t.copy.width, t.copy.dst_rows},
            .extent = {t.copy.width, t.copy.height, t.copy.depth}, .kind = t.copy.kind};
    return rt(error);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    return rt(copy_task_of(&t, pNodeParams) ?: graph_set_task(NULL, node, &t));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                           enum cudaMemcpyKind kind)
{
    struct task t;
    return rt(copy_1d_task(&t, dst, src, count, kind) ?: graph_set_task(NULL, node, &t));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    return rt(copy_task_of(&t, pNodeParams) ?: graph_set_task(hGraphExec, node, &t));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                               const void *src, size_t count, enum cudaMemcpyKind kind)
{
    struct task t;
    return rt(copy_1d_task(&t, dst, src, count, kind) ?: graph_set_task(hGraphExec, node, &t));
}

/* ---- fill nodes */

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaMemsetParams *pMemsetParams)
{
    NEEDS(rt, pGraphNode && pMemsetParams);
    struct task t;
    return rt(fill_task_of(&t, pMemsetParams) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    int error = graph_get_task(node, TASK_FILL, &t);
    if (!error)
        *pNodeParams = (struct cudaMemsetParams){ptr(t.fill.dst), t.fill.pitch, t.fill.value, t.fill.unit, t.fill.width, t.fill.height};
    return rt(error);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    return rt(fill_task_of(&t, pNodeParams) ?: graph_set_task(NULL, node, &t));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    return rt(fill_task_of(&t, pNodeParams) ?: graph_set_task(hGraphExec, node, &t));
}

/* ---- host functions, children, events, nothing */

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                 size_t numDependencies, const struct cudaHostNodeParams *pNodeParams)
{
    NEEDS(rt, pGraphNode && pNodeParams);
    struct task t;
    host_task_of(&t, pNodeParams);
    return rt(graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    int error = graph_get_task(node, TASK_HOST, &t);
    if (!error)
        *pNodeParams = (struct cudaHostNodeParams){t.host.fn, t.host.data};
    return rt(error);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    host_task_of(&t, pNodeParams);
    return rt(graph_set_task(NULL, node, &t));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *pNodeParams)
{
    NEEDS(rt, pNodeParams);
    struct task t;
    host_task_of(&t, pNodeParams);
    return rt(graph_set_task(hGraphExec, node, &t));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                       size_t numDependencies, cudaGraph_t childGraph)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(graph_child_task(&t, childGraph) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    NEEDS(rt, pGraph);
    struct task t;
    int error = graph_get_task(node, TASK_GRAPH, &t);
    if (!error)
        *pGraph = (cudaGraph_t)t.graph;
    return rt(error);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                  size_t numDependencies)
{
    NEEDS(rt, pGraphNode);
    struct task t = {.kind = TASK_EMPTY};
    return rt(graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies, cudaEvent_t event)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(event_task(&t, TASK_RECORD, event) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                      size_t numDependencies, cudaEvent_t event)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(event_task(&t, TASK_WAIT, event) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    NEEDS(rt, event_out);
    struct task t;
    int error = graph_get_task(node, TASK_RECORD, &t);
    if (!error)
        *event_out = (cudaEvent_t)t.event.event;
    return rt(error);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, struct cudaMemAllocNodeParams *nodeParams)
{
    NEEDS(rt, pGraphNode && nodeParams);
    struct task t;
    return rt(alloc_task(&t, nodeParams->bytesize, &nodeParams->dptr) ?:
              graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                    size_t numDependencies, void *dptr)
{
    NEEDS(rt, pGraphNode);
    struct task t;
    return rt(free_task(&t, dptr) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}

cudaError_t cudaDeviceGraphMemTrim(int device) { return rt(device_check(device)); }

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value)
{
    NEEDS(rt, value);
    (void)attr;
    *(uint64_t *)value = buffer_used();
    return rt(device_check(device));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value)
{
    NEEDS(rt, value);
    (void)attr, (void)value;
    return rt(device_check(device));
}

#if CUDART_MAJOR >= 13
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                             const cudaGraphEdgeData *dependencyData, size_t numDependencies, struct cudaGraphNodeParams *nodeParams)
{
    NEEDS(rt, pGraphNode && nodeParams);
    struct task t;
    (void)dependencyData;
    return rt(task_of(&t, nodeParams) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                             size_t numDependencies, struct cudaGraphNodeParams *nodeParams)
{
    NEEDS(rt, pGraphNode && nodeParams);
    struct task t;
    return rt(task_of(&t, nodeParams) ?: graph_add_node(graph, &t, pDependencies, numDependencies, pGraphNode));
}
#endif
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    NEEDS(rt, nodeParams);
    struct task t;
    return rt(task_of(&t, nodeParams) ?: graph_set_task(NULL, node, &t));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *nodeParams)
{
    NEEDS(rt, nodeParams);
    struct task t;
    return rt(task_of(&t, nodeParams) ?: graph_set_task(graphExec, node, &t));
}

/* ---- executable graphs */

#if CUDART_MAJOR >= 12
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    NEEDS(rt, pGraphExec);
    return rt(ready() ?: graph_exec_new(pGraphExec, graph, flags));
}
#endif
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    NEEDS(rt, pGraphExec);
    return rt(ready() ?: graph_exec_new(pGraphExec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    NEEDS(rt, pGraphExec && instantiateParams);
    int error = ready() ?: graph_exec_new(pGraphExec, graph, instantiateParams->flags);
    instantiateParams->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
    return rt(error);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    NEEDS(rt, flags);
    return rt(graph_exec_flags(graphExec, flags));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) { return rt(graph_delete(graphExec, true)); }

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled)
{
    return rt(graph_node_enable(hGraphExec, hNode, &isEnabled, NULL));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int *isEnabled)
{
    NEEDS(rt, isEnabled);
    return rt(graph_node_enable(hGraphExec, hNode, NULL, isEnabled));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    NEEDS(rt, resultInfo);
    cudaGraphNode_t culprit = NULL;
    int error = ready() ?: graph_exec_update(hGraphExec, hGraph, &culprit);
    if (resultInfo)
        *resultInfo = (cudaGraphExecUpdateResultInfo){
            .result = error ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess, .errorNode = culprit};
    return rt(error);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    (void)graphExec, (void)stream;
    return rt(ready());
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return rt(ready() ?: graph_launch(graphExec, stream));
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return cudaGraphUpload(graphExec, stream);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return cudaGraphLaunch(graphExec, own_stream(stream));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams *instantiateParams)
{
    return cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams);
}
