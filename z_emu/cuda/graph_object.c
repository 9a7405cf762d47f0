/* graph_object.c: what programs hang on graphs: objects that are destroyed with the last graph that needs them, and a picture of
 * the graph for Graphviz. */
#include "cuda_emu.h"
#include <stdlib.h>

struct user_object { cudaHostFn_t destroy; void *data; unsigned int refs; };

static int object_release(struct user_object *o, unsigned int count)
{
    if (!o || count > o->refs)
        return cudaErrorInvalidValue;
    o->refs -= count;
    if (!o->refs) {
        o->destroy(o->data);
        free(o);
    }
    return 0;
}

/* ---- objects of a graph */

struct held { struct held *next; struct user_object *object; unsigned int count; };

void graph_drop_objects(struct graph *g)
{
    for (struct held *h = g->objects, *next; h; h = next) {
        next = h->next;
        object_release(h->object, h->count);
        free(h);
    }
    g->objects = NULL;
}

int graph_keep_objects(struct graph *to, const struct graph *from)
{
    for (struct held *h = from->objects; h; h = h->next) {
        struct held *copy = calloc(1, sizeof *copy);
        if (!copy)
            return cudaErrorMemoryAllocation;
        *copy = (struct held){to->objects, h->object, 1};
        to->objects = copy;
        h->object->refs++;
    }
    return 0;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *p, cudaHostFn_t destroy, unsigned int initialRefcount,
                                 unsigned int flags)
{
    struct user_object *o = destroy && initialRefcount ? calloc(1, sizeof *o) : NULL;
    (void)flags;
    if (o)
        *o = (struct user_object){destroy, p, initialRefcount};
    *object_out = (cudaUserObject_t)o;
    return rt(o ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    lock();
    ((struct user_object *)object)->refs += count;
    unlock();
    return rt(0);
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    lock();
    int error = object_release((struct user_object *)object, count);
    unlock();
    return rt(error);
}

/* flags 1: the graph takes over the caller's references. */
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags)
{
    lock();
    struct graph *g = graph_find(graph, false);
    struct held *h = g && object ? calloc(1, sizeof *h) : NULL;
    if (h) {
        *h = (struct held){g->objects, (struct user_object *)object, count};
        g->objects = h;
        h->object->refs += flags == 1 ? 0 : count;
    }
    unlock();
    return rt(h ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count)
{
    lock();
    struct graph *g = graph_find(graph, false);
    int error = cudaErrorInvalidValue;
    for (struct held *h = g ? g->objects : NULL; h && error; h = h->next)
        if (h->object == (struct user_object *)object && h->count >= count) {
            h->count -= count;
            error = object_release(h->object, count);
        }
    unlock();
    return rt(error);
}

/* ---- a picture */

static void write_label(FILE *f, const struct task *t)
{
    static const char *const plain[] = {
        [TASK_EMPTY] = "nothing", [TASK_COPY] = "copy", [TASK_FILL] = "fill", [TASK_HOST] = "host function",
        [TASK_RECORD] = "record event", [TASK_WAIT] = "wait for event", [TASK_FREE] = "free", [TASK_GRAPH] = "graph",
        [TASK_ALLOC] = "allocate", [TASK_FREED] = "free", [TASK_WRITE_VALUE] = "write value", [TASK_WAIT_VALUE] = "wait for value",
    };
    char name[200];
    if (t->kind == TASK_KERNEL)
        fprintf(f, "%s\\n%u x %u x %u blocks of %u x %u x %u", plain_name(t->kernel.kernel->name, name, sizeof name), t->kernel.grid[0], t->kernel.grid[1],
                t->kernel.grid[2], t->kernel.block[0], t->kernel.block[1], t->kernel.block[2]);
    else
        fputs(plain[t->kind], f);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    (void)flags;
    lock();
    struct graph *g = graph_find(graph, false);
    FILE *f = g ? fopen(path, "w") : NULL;
    if (f) {
        fputs("digraph graph_1 {\n    node [shape=box]\n", f);
        for (struct node *n = g->first; n; n = n->next) {
            fprintf(f, "    n%p [label=\"", (void *)n);
            write_label(f, &n->task);
            fputs("\"]\n", f);
            for (uint32_t i = 0; i < n->ndep; i++)
                fprintf(f, "    n%p -> n%p\n", (void *)n->dep[i], (void *)n);
        }
        fputs("}\n", f);
        fclose(f);
    }
    unlock();
    return rt(!g ? cudaErrorInvalidValue : !f ? cudaErrorOperatingSystem : 0);
}
