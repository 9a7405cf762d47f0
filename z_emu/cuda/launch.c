/* launch.c: from <<<…>>> or a launch configuration to a task. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SMEM = 48 << 10 };       /* shared memory per block without cudaFuncSetAttribute */

/* The parameter block, gathered from an array of pointers or, in the driver API, handed over whole. */
static int gather(const struct func *f, void **args, void **extra, uint8_t **out)
{
    uint8_t *block = calloc(1, MAX(f->param_bytes, 1));
    const void *whole = NULL;
    size_t size = 0;
    if (!block)
        return cudaErrorMemoryAllocation;
    for (; !args && extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            whole = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(size_t *)extra[1];
    }
    for (uint32_t i = 0; args && i < f->nparam; i++)
        if (args[i])
            memcpy(block + f->param[i].offset, args[i], f->param[i].size);
    if (whole)
        memcpy(block, whole, MIN(size, f->param_bytes));
    *out = block;
    return !args && !whole && f->nparam ? (free(block), cudaErrorInvalidValue) : 0;
}

static int cluster_size(const uint32_t c[3])
{
    return (int)(c[0] * c[1] * c[2]);
}

/* Why the device refuses, in one line for people. */
static int refuse(const struct kernel_task *t, int error)
{
    const struct func *f = t->kernel->func;
    uint32_t threads = t->block[0] * t->block[1] * t->block[2];
    uint32_t most = f->maxntid[0] ? f->maxntid[0] * MAX(f->maxntid[1], 1) * MAX(f->maxntid[2], 1) : 1024;
    char why[300], name[200];
    if (!threads || !t->grid[0] || !t->grid[1] || !t->grid[2])
        snprintf(why, sizeof why, "a grid or block dimension is 0");
    else if (threads > MIN(most, 1024))
        snprintf(why, sizeof why, "%u threads per block; the kernel allows %u", threads, MIN(most, 1024));
    else if (t->block[2] > 64 || t->grid[1] > 65535 || t->grid[2] > 65535)
        snprintf(why, sizeof why, "block.z may be 64 at most, grid.y and grid.z 65535");
    else if (f->regs * threads > ctx.device->regs_per_sm)
        snprintf(why, sizeof why, "%u threads of %u registers need more than the %u of an SM", threads, f->regs, ctx.device->regs_per_sm);
    else if (f->shared_bytes + t->dyn_smem > ctx.device->smem_optin)
        snprintf(why, sizeof why, "%u bytes of static and %u of dynamic shared memory; %s allows %u per block", f->shared_bytes,
                 t->dyn_smem, ctx.device->name, ctx.device->smem_optin);
    else if (cluster_size(t->cluster) > 8)
        snprintf(why, sizeof why, "a cluster of %d needs cudaFuncAttributeNonPortableClusterSizeAllowed, and %u is the most",
                 cluster_size(t->cluster), ctx.device->max_cluster);
    else if (t->grid[0] % t->cluster[0] || t->grid[1] % t->cluster[1] || t->grid[2] % t->cluster[2])
        snprintf(why, sizeof why, "the grid is not a multiple of its clusters of %u x %u x %u", t->cluster[0], t->cluster[1], t->cluster[2]);
    else
        snprintf(why, sizeof why, "%s", error_text(error) ? error_text(error) : "?");
    say("%s<<<(%u, %u, %u), (%u, %u, %u), %u>>> cannot be launched: %s", plain_name(f->name, name, sizeof name), t->grid[0], t->grid[1], t->grid[2],
        t->block[0], t->block[1], t->block[2], t->dyn_smem, why);
    return error;
}

static int check_cooperative(const struct kernel_task *t)
{
    uint32_t threads = t->block[0] * t->block[1] * t->block[2];
    uint64_t room = (uint64_t)occupancy(ctx.gpu, t->kernel->func, threads, t->dyn_smem) * ctx.device->sms;
    return (uint64_t)t->grid[0] * t->grid[1] * t->grid[2] > room ? cudaErrorCooperativeLaunchTooLarge : 0;
}

static int check(const struct kernel_task *t)
{
    const struct kernel *k = t->kernel;
    uint32_t allowed = k->max_dynamic_smem >= 0 ? (uint32_t)k->max_dynamic_smem
                                                : DEFAULT_SMEM - MIN(k->func->shared_bytes, DEFAULT_SMEM);
    char name[200];
    int error = launch_check(ctx.gpu, k->func, t->grid, t->block, t->cluster, t->dyn_smem);
    if (error)
        return refuse(t, error);
    if (t->dyn_smem > MAX(allowed, DEFAULT_SMEM - MIN(k->func->shared_bytes, DEFAULT_SMEM))) {
        say("%s wants %u bytes of dynamic shared memory and may have %u: ask for more with "
            "cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, %u)", plain_name(k->name, name, sizeof name), t->dyn_smem, allowed, t->dyn_smem);
        return cudaErrorInvalidValue;
    }
    if (cluster_size(t->cluster) > 8 && !k->nonportable_cluster)
        return refuse(t, cudaErrorInvalidClusterSize);
    return t->cooperative ? check_cooperative(t) : 0;
}

/* The cluster that the kernel itself asks for (__cluster_dims__), or one CTA. */
static void own_cluster(struct kernel_task *t)
{
    const struct kernel *k = t->kernel;
    for (int i = 0; i < 3; i++)
        t->cluster[i] = MAX(k->func->reqnctapercluster[i] ? k->func->reqnctapercluster[i] : k->cluster[i], 1);
    t->explicit_cluster = k->func->reqnctapercluster[0] || k->cluster[0];
}

enum { NVLINK_SCHEDULING = 16 };        /* cudaLaunchAttributeNvlinkUtilCentricScheduling, since CUDA 13 */

static int unknown_attribute(int id, int error)
{
    say("launch attribute %d is not known to the emulator, or asks for what it does not have", id);
    return error;
}

int task_set_attribute(struct task *t, const cudaLaunchAttribute *a)
{
    struct kernel_task *k = &t->kernel;
    switch ((int)a->id) {
    case cudaLaunchAttributeClusterDimension:
        k->cluster[0] = MAX(a->val.clusterDim.x, 1);
        k->cluster[1] = MAX(a->val.clusterDim.y, 1);
        k->cluster[2] = MAX(a->val.clusterDim.z, 1);
        k->explicit_cluster = true;
        return 0;
    case cudaLaunchAttributeCooperative: k->cooperative = a->val.cooperative; return 0;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        k->programmatic = a->val.programmaticStreamSerializationAllowed;
        return 0;
    case cudaLaunchAttributePriority: k->priority = a->val.priority; return 0;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return a->val.cooperative ? unknown_attribute(a->id, cudaErrorNotSupported) : 0;        /* its first word is the wish */
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:              /* see launch */
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:                 /* hints for caches and schedulers that are not modelled */
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:          /* a wish: the least cluster is always allowed */
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case NVLINK_SCHEDULING: return 0;
    default: return unknown_attribute(a->id, cudaErrorInvalidValue);
    }
}

int task_get_attribute(const struct task *t, int id, cudaLaunchAttributeValue *v)
{
    const struct kernel_task *k = &t->kernel;
    memset(v, 0, sizeof *v);
    switch (id) {
    case cudaLaunchAttributeClusterDimension:
        v->clusterDim.x = k->cluster[0];
        v->clusterDim.y = k->cluster[1];
        v->clusterDim.z = k->cluster[2];
        return 0;
    case cudaLaunchAttributeCooperative: v->cooperative = k->cooperative; return 0;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        v->programmaticStreamSerializationAllowed = k->programmatic;
        return 0;
    case cudaLaunchAttributePriority: v->priority = k->priority; return 0;
    default: return 0;
    }
}

int launch_task(struct task *t, struct kernel *k, dim3 grid, dim3 block, size_t dyn_smem, void **args, void **extra,
                const cudaLaunchAttribute *attrs, unsigned int nattrs)
{
    *t = (struct task){.kind = TASK_KERNEL};
    t->kernel = (struct kernel_task){.kernel = k, .grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z},
                                     .dyn_smem = (uint32_t)MIN(dyn_smem, UINT32_MAX)};
    own_cluster(&t->kernel);
    int error = 0;
    for (unsigned int i = 0; i < nattrs && !error; i++)
        error = task_set_attribute(t, &attrs[i]);
    if (!error)
        error = check(&t->kernel);
    return error ? error : gather(k->func, args, extra, &t->kernel.params);
}

int launch(struct kernel *k, dim3 grid, dim3 block, size_t dyn_smem, CUstream s, void **args, void **extra,
           const cudaLaunchAttribute *attrs, unsigned int nattrs)
{
    struct task t;
    int error = launch_task(&t, k, grid, block, dyn_smem, args, extra, attrs, nattrs);
    if (!error)
        error = submit(s, &t, false);
    for (unsigned int i = 0; i < nattrs && !error; i++) {
        if (attrs[i].id == cudaLaunchAttributeLaunchCompletionEvent)
            error = event_record(attrs[i].val.launchCompletionEvent.event, s, 0);
        if (attrs[i].id == cudaLaunchAttributeProgrammaticEvent)
            error = event_record_programmatic(attrs[i].val.programmaticEvent.event, s);
    }
    return error;
}
