/* driver_graph.c: the driver API of graphs. */
#include "cuda_emu.h"
#include <string.h>

static int kernel_task_of(struct task *t, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct kernel *k;
    return current() ?: kernel_get(p->func ? (const void *)p->func : (const void *)p->kern, &k)
                     ?: launch_task(t, k, (dim3){p->gridDimX, p->gridDimY, p->gridDimZ}, (dim3){p->blockDimX, p->blockDimY, p->blockDimZ},
                                    p->sharedMemBytes, p->kernelParams, p->extra, NULL, 0);
}

static int fill_task_of(struct task *t, const CUDA_MEMSET_NODE_PARAMS *p)
{
    return current() ?: task_fill_box(t, p->dst, p->pitch, p->height, p->value, p->elementSize, p->width, p->height, 1) ?: task_fill_check(t);
}

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    NEEDS(drv, phGraph);
    (void)flags;
    return drv(current() ?: graph_make(phGraph));
}

CUresult cuGraphDestroy(CUgraph hGraph) { return drv(graph_delete(hGraph, false)); }

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    NEEDS(drv, phGraphClone);
    return drv(graph_copy(phGraphClone, originalGraph));
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    NEEDS(drv, numNodes);
    return drv(graph_nodes(hGraph, false, nodes, numNodes));
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    NEEDS(drv, numRootNodes);
    return drv(graph_nodes(hGraph, true, rootNodes, numRootNodes));
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) { return drv(graph_delete_node(hNode)); }

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    NEEDS(drv, type);
    int t = 0;
    int error = graph_node_type(hNode, &t);
    *type = (CUgraphNodeType)t;
    return drv(error);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    NEEDS(drv, phGraphNode && nodeParams);
    struct task t;
    return drv(kernel_task_of(&t, nodeParams) ?: graph_add_node(hGraph, &t, dependencies, numDependencies, phGraphNode));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    NEEDS(drv, nodeParams);
    struct task t;
    return drv(kernel_task_of(&t, nodeParams) ?: graph_set_task(hGraphExec, hNode, &t));
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    NEEDS(drv, nodeParams);
    struct task t;
    return drv(kernel_task_of(&t, nodeParams) ?: graph_set_task(NULL, hNode, &t));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    NEEDS(drv, phGraphNode && memsetParams);
    struct task t;
    (void)ctx;
    return drv(fill_task_of(&t, memsetParams) ?: graph_add_node(hGraph, &t, dependencies, numDependencies, phGraphNode));
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    NEEDS(drv, phGraphNode && nodeParams);
    struct task t = {.kind = TASK_HOST, .host = {.fn = nodeParams->fn, .data = nodeParams->userData}};
    return drv(graph_add_node(hGraph, &t, dependencies, numDependencies, phGraphNode));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                             size_t numDependencies)
{
    NEEDS(drv, phGraphNode);
    struct task t = {.kind = TASK_EMPTY};
    return drv(graph_add_node(hGraph, &t, dependencies, numDependencies, phGraphNode));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUgraph childGraph)
{
    NEEDS(drv, phGraphNode);
    struct task t;
    return drv(graph_child_task(&t, childGraph) ?: graph_add_node(hGraph, &t, dependencies, numDependencies, phGraphNode));
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    return drv(graph_link(hGraph, from, to, numDependencies, true));
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                      size_t numDependencies)
{
    (void)edgeData;
    return drv(graph_link(hGraph, from, to, numDependencies, false));
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData, size_t *numEdges)
{
    NEEDS(drv, numEdges);
    int error = graph_edges(hGraph, from, to, numEdges);
    if (edgeData && !error)
        memset(edgeData, 0, *numEdges * sizeof *edgeData);
    return drv(error);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    NEEDS(drv, numDependencies);
    int error = graph_neighbours(hNode, false, dependencies, numDependencies);
    if (edgeData && dependencies && !error)
        memset(edgeData, 0, *numDependencies * sizeof *edgeData);
    return drv(error);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
    NEEDS(drv, numDependentNodes);
    int error = graph_neighbours(hNode, true, dependentNodes, numDependentNodes);
    if (edgeData && dependentNodes && !error)
        memset(edgeData, 0, *numDependentNodes * sizeof *edgeData);
    return drv(error);
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    NEEDS(drv, phNode);
    return drv(graph_find_copy(phNode, hOriginalNode, hClonedGraph));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    return drv(graph_node_enable(hGraphExec, hNode, &isEnabled, NULL));
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
    NEEDS(drv, isEnabled);
    return drv(graph_node_enable(hGraphExec, hNode, NULL, isEnabled));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    NEEDS(drv, phGraphExec);
    return drv(current() ?: graph_exec_new(phGraphExec, hGraph, flags));
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    NEEDS(drv, phGraphExec && instantiateParams);
    int error = current() ?: graph_exec_new(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->result_out = error ? 1 : 0;
    return drv(error);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    NEEDS(drv, resultInfo);
    CUgraphNode culprit = NULL;
    int error = current() ?: graph_exec_update(hGraphExec, hGraph, &culprit);
    *resultInfo = (CUgraphExecUpdateResultInfo){.result = error ? 2 : 0, .errorNode = culprit};
    return drv(error);
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    (void)hGraphExec, (void)hStream;
    return drv(current());
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    return drv(current() ?: graph_launch(hGraphExec, hStream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return cuGraphLaunch(hGraphExec, own_stream(hStream));
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) { return drv(graph_delete(hGraphExec, true)); }
