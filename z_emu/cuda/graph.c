/* graph.c: graphs of tasks. A graph is a list of nodes that know what they follow; an executable graph is a copy of
 * it, with child graphs laid open and sorted so that every node stands behind those it follows.
 *
 * A launch spreads the nodes over lanes (streams of the graph's own) so that branches run side by side: a node goes on in
 * the lane of one that it follows, and waits for moments in the other lanes.
 */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

static struct graph *graphs;

struct graph *graph_new(void)
{
    struct graph *g = calloc(1, sizeof *g);
    if (g) {
        g->next = graphs;
        graphs = g;
    }
    return g;
}

struct graph *graph_find(const void *handle, bool exec)
{
    struct graph *g = graphs;
    while (g && (g != handle || g->exec != exec))
        g = g->next;
    return g;
}

struct node *node_find(const void *handle)
{
    for (struct graph *g = graphs; g; g = g->next)
        for (struct node *n = g->first; n; n = n->next)
            if (n == handle)
                return n;
    return NULL;
}

bool node_follows(const struct node *n, const struct node *dep)
{
    for (uint32_t i = 0; i < n->ndep; i++)
        if (n->dep[i] == dep)
            return true;
    return false;
}

void node_link(struct node *n, struct node *dep)
{
    if (node_follows(n, dep))
        return;
    n->dep = realloc(n->dep, (n->ndep + 1) * sizeof *n->dep);
    n->dep[n->ndep++] = dep;
}

void node_unlink(struct node *n, const struct node *dep)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->ndep; i++)
        if (n->dep[i] != dep)
            n->dep[kept++] = n->dep[i];
    n->ndep = kept;
}

struct node *graph_add(struct graph *g, const struct task *t, struct node *const *dep, size_t ndep)
{
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->graph = g;
    n->task = *t;
    for (size_t i = 0; i < ndep; i++)
        node_link(n, dep[i]);
    if (g->last)
        g->last->next = n;
    else
        g->first = n;
    g->last = n;
    g->nnode++;
    return n;
}

void node_free(struct node *n)
{
    struct graph *g = n->graph;
    struct node *before = NULL;
    for (struct node *m = g->first; m; m = m->next) {
        node_unlink(m, n);
        if (m->next == n)
            before = m;
    }
    *(before ? &before->next : &g->first) = n->next;
    if (g->last == n)
        g->last = before;
    g->nnode--;
    task_free(&n->task);
    free(n->dep);
    free(n);
}

void graph_free(struct graph *g)
{
    struct graph **at = &graphs;
    while (*at && *at != g)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = g->next;
    graph_drop_objects(g);
    for (struct node *n = g->first, *next; n; n = next) {
        next = n->next;
        task_free(&n->task);
        free(n->dep);
        free(n);
    }
    for (uint32_t i = 0; i < g->nlane; i++) {
        wait_locked(g->lane[i], g->lane[i]->last_queued);
        stream_delete_locked(g->lane[i]);
    }
    free(g->lane);
    free(g);
}

void graphs_drop_all(void)
{
    while (graphs)
        graph_free(graphs);
}

/* ---------------------------------------------------------------- copies */

/* Copies g's nodes behind those of `to`; the twins of g's nodes are the copies. */
static int copy_nodes(struct graph *to, const struct graph *g)
{
    for (struct node *n = g->first; n; n = n->next) {
        struct task t;
        task_clone(&t, &n->task);
        n->twin = graph_add(to, &t, NULL, 0);
        if (!n->twin)
            return cudaErrorMemoryAllocation;
        n->twin->origin = n;
        n->twin->disabled = n->disabled;
    }
    for (struct node *n = g->first; n; n = n->next)
        for (uint32_t i = 0; i < n->ndep; i++)
            node_link(n->twin, n->dep[i]->twin);
    return 0;
}

int graph_clone(const struct graph *g, struct graph **out)
{
    *out = graph_new();
    int error = *out ? copy_nodes(*out, g) ?: graph_keep_objects(*out, g) : cudaErrorMemoryAllocation;
    if (*out)
        (*out)->flags = g->flags;
    return error;
}

struct node *graph_copy_of(const struct graph *g, const struct node *origin)
{
    struct node *n = g->first;
    while (n && n->origin != origin)
        n = n->next;
    return n;
}

/* Lays a child open: its first nodes follow what the child's node follows, and the node, now empty, follows them all. */
static int open_child(struct graph *g, struct node *n)
{
    struct graph *child = n->task.graph;
    struct node *last = g->last;
    int error = copy_nodes(g, child);
    if (error)
        return error;
    uint32_t before = n->ndep;
    for (struct node *m = last->next; m; m = m->next)
        if (!m->ndep)
            for (uint32_t i = 0; i < before; i++)
                node_link(m, n->dep[i]);
    for (struct node *m = last->next; m; m = m->next)
        node_link(n, m);
    graph_free(child);
    n->task = (struct task){.kind = TASK_EMPTY};
    return 0;
}

/* Each node behind those it follows; cudaErrorInvalidValue when they go in a circle. */
static int sort(struct graph *g)
{
    struct node *sorted = NULL, **end = &sorted, *last = NULL;
    for (struct node *n = g->first; n; n = n->next)
        n->mark = 0;
    for (bool moved = true; moved && g->first;) {
        moved = false;
        for (struct node **at = &g->first; *at;) {
            struct node *n = *at;
            uint32_t open = 0;
            for (uint32_t i = 0; i < n->ndep; i++)
                open += !n->dep[i]->mark;
            if (open) {
                at = &n->next;
                continue;
            }
            *at = n->next;
            n->next = NULL;
            n->mark = 1;
            *end = last = n;
            end = &n->next;
            moved = true;
        }
    }
    bool circle = g->first != NULL;
    *end = g->first;
    g->first = sorted;
    while (last && last->next)
        last = last->next;
    g->last = last;
    return circle ? cudaErrorInvalidValue : 0;
}

int graph_instantiate(const struct graph *g, struct graph **exec)
{
    int error = graph_clone(g, exec);
    for (struct node *n = error ? NULL : (*exec)->first; n && !error; n = n->next)
        if (n->task.kind == TASK_GRAPH)
            error = open_child(*exec, n);
    if (!error)
        error = sort(*exec);
    if (*exec)
        (*exec)->exec = true;
    if (error && *exec) {
        graph_free(*exec);
        *exec = NULL;
    }
    return error;
}

static uint32_t position(const struct graph *g, const struct node *n)
{
    uint32_t i = 0;
    for (const struct node *m = g->first; m && m != n; m = m->next)
        i++;
    return i;
}

static bool same_place(const struct node *a, const struct node *b)
{
    if (a->task.kind != b->task.kind || a->ndep != b->ndep)
        return false;
    for (uint32_t i = 0; i < a->ndep; i++)
        if (position(a->graph, a->dep[i]) != position(b->graph, b->dep[i]))
            return false;
    return true;
}

/* Takes over the tasks of a graph of the same shape. */
int graph_update(struct graph *exec, const struct graph *g, struct node **culprit)
{
    struct graph *fresh;
    int error = graph_instantiate(g, &fresh);
    *culprit = NULL;
    if (error)
        return error;
    struct node *a = exec->first, *b = fresh->first;
    while (a && b && same_place(a, b)) {
        a = a->next;
        b = b->next;
    }
    if (a || b) {
        *culprit = b ? (struct node *)b->origin : NULL;
        graph_free(fresh);
        return cudaErrorGraphExecUpdateFailure;
    }
    for (a = exec->first, b = fresh->first; a; a = a->next, b = b->next) {
        struct task t = a->task;
        a->task = b->task;
        b->task = t;
        a->origin = b->origin;
    }
    graph_free(fresh);
    return 0;
}

/* ---------------------------------------------------------------- launching */

static struct stream *new_lane(struct graph *g, uint32_t *used, struct moment *start)
{
    if (*used == g->nlane) {
        g->lane = realloc(g->lane, (g->nlane + 1) * sizeof *g->lane);
        g->lane[g->nlane] = stream_new_locked(cudaStreamNonBlocking, 0);
        g->lane[g->nlane++]->internal = true;
    }
    struct stream *lane = g->lane[(*used)++];
    enqueue_locked(lane, &(struct task){.kind = TASK_WAIT, .event = {.moment = moment_hold(start)}});
    return lane;
}

/* The lane to go on in: of a node that this one follows and that nothing follows there yet; root nodes open lanes, but
 * the first one takes the stream itself. */
static struct stream *choose_lane(struct graph *g, struct node *n, struct stream *s, uint32_t *used, struct moment *start)
{
    for (uint32_t i = 0; i < n->ndep; i++)
        if (n->dep[i]->mark) {
            n->dep[i]->mark = 0;
            return n->dep[i]->lane;
        }
    return n == g->first ? s : new_lane(g, used, start);
}

static struct moment *record(struct stream *s)
{
    struct moment *m = moment_new();
    struct command *c = enqueue_locked(s, &(struct task){.kind = TASK_RECORD, .event = {.moment = moment_hold(m)}});
    c->passable = true;
    return m;
}

/* A programmatic dependent overtakes what stands directly in front of it; else its dependence is an ordinary one. */
static bool depends_on_kernel_in_lane(const struct node *n)
{
    return n->ndep == 1 && n->dep[0]->task.kind == TASK_KERNEL && !n->dep[0]->disabled && n->dep[0]->lane == n->lane;
}

int graph_launch_locked(struct graph *g, struct stream *s)
{
    uint32_t used = 0;
    struct moment *start = record(s);
    for (struct node *n = g->first; n; n = n->next) {
        struct task t = {.kind = TASK_EMPTY};
        n->lane = choose_lane(g, n, s, &used, start);
        for (uint32_t i = 0; i < n->ndep; i++)
            if (n->dep[i]->lane != n->lane)
                enqueue_locked(n->lane, &(struct task){.kind = TASK_WAIT, .event = {.moment = moment_hold(n->dep[i]->moment)}});
        if (!n->disabled)
            task_clone(&t, &n->task);
        if (t.kind == TASK_KERNEL && !depends_on_kernel_in_lane(n))
            t.kernel.programmatic = false;
        enqueue_locked(n->lane, &t);
        n->moment = record(n->lane);
        n->mark = 1;            /* the end of its lane */
    }
    for (struct node *n = g->first; n; n = n->next)
        if (n->mark && n->lane != s)
            enqueue_locked(s, &(struct task){.kind = TASK_WAIT, .event = {.moment = moment_hold(n->moment)}});
    for (struct node *n = g->first; n; n = n->next)
        moment_drop(n->moment);
    moment_drop(start);
    return 0;
}
