/* graph_build.c: what the runtime's and the driver's calls on graphs have in common. Each takes the lock. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

/* Adds a node for the task, which it owns from then on. */
int graph_add_node(cudaGraph_t graph, struct task *t, const cudaGraphNode_t *deps, size_t ndep, cudaGraphNode_t *out)
{
    lock();
    struct graph *g = graph_find(graph, false);
    int error = g ? 0 : cudaErrorInvalidValue;
    for (size_t i = 0; i < ndep && !error; i++) {
        struct node *d = node_find(deps[i]);
        error = d && d->graph == g ? 0 : cudaErrorInvalidValue;
    }
    struct node *n = error ? NULL : graph_add(g, t, (struct node *const *)deps, ndep);
    if (!error && !n)
        error = cudaErrorMemoryAllocation;
    if (error)
        task_free(t);
    else
        *out = (cudaGraphNode_t)n;
    unlock();
    return error;
}

/* The node itself, or its copy in an executable graph. */
static struct node *node_in(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct graph *g = exec ? graph_find(exec, true) : NULL;
    return !exec ? node_find(node) : g ? graph_copy_of(g, (const struct node *)node) : NULL;
}

/* Gives a node a new task of the same kind. */
int graph_set_task(cudaGraphExec_t exec, cudaGraphNode_t node, struct task *t)
{
    lock();
    struct node *n = node_in(exec, node);
    bool same = n && (n->task.kind == t->kind || t->kind == TASK_EMPTY || n->task.kind == TASK_EMPTY);
    if (same) {
        if (n->task.kind == TASK_KERNEL && t->kind == TASK_KERNEL)
            t->kernel.cooperative |= n->task.kernel.cooperative;
        task_free(&n->task);
        n->task = *t;
    } else {
        task_free(t);
    }
    unlock();
    return same ? 0 : cudaErrorInvalidValue;
}

/* A look at a node's task (its pointers stay the node's). */
int graph_get_task(cudaGraphNode_t node, enum task_kind kind, struct task *out)
{
    lock();
    struct node *n = node_find(node);
    int error = n && n->task.kind == kind ? 0 : cudaErrorInvalidValue;
    if (!error)
        *out = n->task;
    unlock();
    return error;
}

void **graph_node_args(cudaGraphNode_t node)
{
    lock();
    struct node *n = node_find(node);
    struct kernel_task *k = n && n->task.kind == TASK_KERNEL ? &n->task.kernel : NULL;
    if (k && !k->args)
        k->args = calloc(k->kernel->func->nparam + 1, sizeof *k->args);
    for (uint32_t i = 0; k && k->args && i < k->kernel->func->nparam; i++)
        k->args[i] = k->params + k->kernel->func->param[i].offset;
    unlock();
    return k ? k->args : NULL;
}

int graph_node_attribute(cudaGraphNode_t node, const cudaLaunchAttribute *set, int id, cudaLaunchAttributeValue *get)
{
    lock();
    struct node *n = node_find(node);
    int error = !n || n->task.kind != TASK_KERNEL ? cudaErrorInvalidValue
              : set ? task_set_attribute(&n->task, set) : task_get_attribute(&n->task, id, get);
    unlock();
    return error;
}

int graph_node_enable(cudaGraphExec_t exec, cudaGraphNode_t node, const unsigned int *set, unsigned int *get)
{
    lock();
    struct node *n = node_in(exec, node);
    if (n && set)
        n->disabled = !*set;
    if (n && get)
        *get = !n->disabled;
    unlock();
    return n && exec ? 0 : cudaErrorInvalidValue;
}

int graph_node_type(cudaGraphNode_t node, int *type)
{
    static const int types[] = {
        [TASK_EMPTY] = cudaGraphNodeTypeEmpty, [TASK_KERNEL] = cudaGraphNodeTypeKernel, [TASK_COPY] = cudaGraphNodeTypeMemcpy,
        [TASK_FILL] = cudaGraphNodeTypeMemset, [TASK_HOST] = cudaGraphNodeTypeHost, [TASK_RECORD] = cudaGraphNodeTypeEventRecord,
        [TASK_WAIT] = cudaGraphNodeTypeWaitEvent, [TASK_FREE] = cudaGraphNodeTypeMemFree, [TASK_GRAPH] = cudaGraphNodeTypeGraph,
        [TASK_ALLOC] = cudaGraphNodeTypeMemAlloc, [TASK_FREED] = cudaGraphNodeTypeMemFree,
        [TASK_WRITE_VALUE] = cudaGraphNodeTypeEmpty, [TASK_WAIT_VALUE] = cudaGraphNodeTypeEmpty,
    };
    lock();
    struct node *n = node_find(node);
    if (n)
        *type = types[n->task.kind];
    unlock();
    return n ? 0 : cudaErrorInvalidValue;
}

/* ---- lists: with no array only the count is asked for */

int graph_nodes(cudaGraph_t graph, bool roots, cudaGraphNode_t *out, size_t *count)
{
    lock();
    struct graph *g = graph_find(graph, false);
    size_t room = out ? *count : 0, n = 0;
    for (struct node *m = g ? g->first : NULL; m; m = m->next)
        if ((!roots || !m->ndep) && n++ < room)
            out[n - 1] = (cudaGraphNode_t)m;
    *count = out ? MIN(n, room) : n;
    unlock();
    return g ? 0 : cudaErrorInvalidValue;
}

int graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    lock();
    struct graph *g = graph_find(graph, false);
    size_t room = from && to ? *count : 0, n = 0;
    for (struct node *m = g ? g->first : NULL; m; m = m->next)
        for (uint32_t i = 0; i < m->ndep; i++)
            if (n++ < room) {
                from[n - 1] = (cudaGraphNode_t)m->dep[i];
                to[n - 1] = (cudaGraphNode_t)m;
            }
    *count = from && to ? MIN(n, room) : n;
    unlock();
    return g ? 0 : cudaErrorInvalidValue;
}

int graph_neighbours(cudaGraphNode_t node, bool after, cudaGraphNode_t *out, size_t *count)
{
    lock();
    struct node *n = node_find(node);
    size_t room = out ? *count : 0, k = 0;
    for (uint32_t i = 0; n && !after && i < n->ndep; i++)
        if (k++ < room)
            out[k - 1] = (cudaGraphNode_t)n->dep[i];
    for (struct node *m = n && after ? n->graph->first : NULL; m; m = m->next)
        if (node_follows(m, n) && k++ < room)
            out[k - 1] = (cudaGraphNode_t)m;
    *count = out ? MIN(k, room) : k;
    unlock();
    return n ? 0 : cudaErrorInvalidValue;
}

int graph_link(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n, bool add)
{
    lock();
    struct graph *g = graph_find(graph, false);
    int error = g ? 0 : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !error; i++) {
        struct node *a = node_find(from[i]), *b = node_find(to[i]);
        if (!a || !b || a->graph != g || b->graph != g || a == b || node_follows(b, a) == add)
            error = cudaErrorInvalidValue;
        else if (add)
            node_link(b, a);
        else
            node_unlink(b, a);
    }
    unlock();
    return error;
}

/* ---- whole graphs */

int graph_make(cudaGraph_t *out)
{
    lock();
    *out = (cudaGraph_t)graph_new();
    unlock();
    return *out ? 0 : cudaErrorMemoryAllocation;
}

int graph_delete(const void *graph, bool exec)
{
    lock();
    struct graph *g = graph_find(graph, exec);
    if (g)
        graph_free(g);
    unlock();
    return g ? 0 : cudaErrorInvalidValue;
}

int graph_delete_node(cudaGraphNode_t node)
{
    lock();
    struct node *n = node_find(node);
    if (n)
        node_free(n);
    unlock();
    return n ? 0 : cudaErrorInvalidValue;
}

int graph_copy(cudaGraph_t *out, cudaGraph_t graph)
{
    lock();
    struct graph *g = graph_find(graph, false), *copy = NULL;
    int error = g ? graph_clone(g, &copy) : cudaErrorInvalidValue;
    *out = (cudaGraph_t)copy;
    unlock();
    return error;
}

/* A child graph as a task: a copy, so that later changes to the original do not matter. */
int graph_child_task(struct task *t, cudaGraph_t child)
{
    cudaGraph_t copy = NULL;
    int error = graph_copy(&copy, child);
    *t = (struct task){.kind = TASK_GRAPH, .graph = (struct graph *)copy};
    return error;
}

int graph_find_copy(cudaGraphNode_t *out, cudaGraphNode_t origin, cudaGraph_t clone)
{
    lock();
    struct graph *g = graph_find(clone, false);
    struct node *n = g ? graph_copy_of(g, (const struct node *)origin) : NULL;
    *out = (cudaGraphNode_t)n;
    unlock();
    return n ? 0 : cudaErrorInvalidValue;
}

int graph_exec_new(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    lock();
    struct graph *g = graph_find(graph, false), *exec = NULL;
    int error = g ? graph_instantiate(g, &exec) : cudaErrorInvalidValue;
    if (!error)
        exec->flags = flags;
    *out = (cudaGraphExec_t)exec;
    unlock();
    return error;
}

int graph_exec_flags(cudaGraphExec_t exec, unsigned long long *flags)
{
    lock();
    struct graph *g = graph_find(exec, true);
    if (g)
        *flags = g->flags;
    unlock();
    return g ? 0 : cudaErrorInvalidValue;
}

int graph_exec_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *culprit)
{
    struct node *n = NULL;
    lock();
    struct graph *e = graph_find(exec, true), *g = graph_find(graph, false);
    int error = e && g ? graph_update(e, g, &n) : cudaErrorInvalidValue;
    *culprit = (cudaGraphNode_t)n;
    unlock();
    return error;
}

int graph_launch(cudaGraphExec_t exec, CUstream stream)
{
    lock();
    struct graph *g = graph_find(exec, true);
    struct stream *s = stream_find(stream);
    struct task t = {.kind = TASK_GRAPH};
    int error = !g || !s ? cudaErrorInvalidResourceHandle : 0;
    if (!error && s->capture) {                 /* inside a capture: a child */
        error = graph_clone(g, &t.graph);
        if (!error)
            error = capture_task_locked(s, &t);
    } else if (!error) {
        error = graph_launch_locked(g, s);
    }
    unlock();
    return error;
}
