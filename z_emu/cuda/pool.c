/* pool.c: stream-ordered allocation. An allocation is made at once and a free takes its turn in the stream; a pool
 * keeps only the settings that a program gives it and the count of what it handed out. */
#include "cuda_emu.h"
#include <stdlib.h>

struct pool { uint64_t setting[9]; };

static struct pool first;
static struct pool *chosen = &first;

int pool_new(CUmemoryPool *out)
{
    struct pool *p = calloc(1, sizeof *p);
    *out = (CUmemoryPool)p;
    if (!p)
        return cudaErrorMemoryAllocation;
    for (int i = cudaMemPoolReuseFollowEventDependencies; i <= cudaMemPoolReuseAllowInternalDependencies; i++)
        p->setting[i] = 1;
    return 0;
}

int pool_delete(CUmemoryPool p)
{
    if (!p || (struct pool *)p == &first)
        return cudaErrorInvalidValue;
    if (chosen == (struct pool *)p)
        chosen = &first;
    free(p);
    return 0;
}

int pool_default(CUmemoryPool *out)
{
    *out = (CUmemoryPool)&first;
    return 0;
}

/* set NULL: only asks. */
int pool_current(CUmemoryPool *out, CUmemoryPool set)
{
    if (set)
        chosen = (struct pool *)set;
    if (out)
        *out = (CUmemoryPool)chosen;
    return 0;
}

/* The reuse settings are ints in the program, the sizes 64 bits wide. */
int pool_attribute(CUmemoryPool handle, int attribute, void *value, bool set)
{
    struct pool *p = (struct pool *)handle;
    bool narrow = attribute <= cudaMemPoolReuseAllowInternalDependencies;
    if (!p || attribute < 1 || attribute > cudaMemPoolAttrUsedMemHigh)
        return cudaErrorInvalidValue;
    if (set)
        p->setting[attribute] = narrow ? (uint64_t)*(int *)value : *(uint64_t *)value;
    else if (narrow)
        *(int *)value = (int)p->setting[attribute];
    else
        *(uint64_t *)value = attribute == cudaMemPoolAttrReleaseThreshold ? p->setting[attribute] : buffer_used();
    return 0;
}

int pool_alloc(uint64_t *addr, size_t size, CUmemoryPool pool, CUstream s)
{
    (void)pool;
    lock();
    struct stream *stream = stream_find(s);
    bool capturing = stream && stream->capture;
    unlock();
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    int error = buffer_new(BUF_DEVICE, size, capturing ? BUF_OF_GRAPH : 0, "cudaMallocAsync", addr);
    struct task t = {.kind = TASK_ALLOC, .addr = *addr};
    return error || !capturing ? error : submit(s, &t, false);
}

int pool_free(uint64_t addr, CUstream s)
{
    struct buffer b;
    struct task t = {.kind = TASK_FREE, .addr = addr};
    if (!addr)
        return 0;
    if (!buffer_find(addr, &b) || b.addr != addr)
        return cudaErrorInvalidValue;
    return submit(s, &t, false);
}
