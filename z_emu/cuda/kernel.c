/* kernel.c: what a kernel says of itself, what a program asks of it, and how many of its blocks fit. */
#include "cuda_emu.h"
#include <string.h>

static uint32_t max_threads(const struct func *f)
{
    uint32_t most = 1024;
    if (f->maxntid[0])
        most = MIN(most, f->maxntid[0] * MAX(f->maxntid[1], 1) * MAX(f->maxntid[2], 1));
    if (f->regs)
        most = MIN(most, ctx.device->regs_per_sm / f->regs / 32 * 32);
    return most;
}

static size_t const_bytes(const struct module *m)
{
    size_t n = 0;
    for (uint32_t i = 0; i < m->nvar; i++)
        n += m->var[i]->space == SP_CONST ? m->var[i]->size : 0;
    return n;
}

static int max_dynamic(const struct kernel *k)
{
    return k->max_dynamic_smem >= 0 ? k->max_dynamic_smem : (48 << 10) - (int)MIN(k->func->shared_bytes, 48u << 10);
}

static int cluster_dim(const struct kernel *k, int axis)
{
    return (int)(k->func->reqnctapercluster[axis] ? k->func->reqnctapercluster[axis] : k->cluster[axis]);
}

int kernel_attributes(struct kernel *k, struct cudaFuncAttributes *a)
{
    const struct func *f = k->func;
    *a = (struct cudaFuncAttributes){
        .sharedSizeBytes = f->shared_bytes, .constSizeBytes = const_bytes(f->module), .localSizeBytes = f->local_bytes,
        .maxThreadsPerBlock = (int)max_threads(f), .numRegs = (int)f->regs, .ptxVersion = (int)f->module->target,
        .binaryVersion = (int)ctx.device->cc, .maxDynamicSharedSizeBytes = max_dynamic(k), .preferredShmemCarveout = k->carveout,
        .clusterDimMustBeSet = f->explicit_cluster && !f->reqnctapercluster[0],
        .requiredClusterWidth = cluster_dim(k, 0), .requiredClusterHeight = cluster_dim(k, 1),
        .requiredClusterDepth = cluster_dim(k, 2), .clusterSchedulingPolicyPreference = k->cluster_policy,
        .nonPortableClusterSizeAllowed = k->nonportable_cluster,
    };
    return 0;
}

int kernel_attribute(struct kernel *k, int attribute, int *value)
{
    struct cudaFuncAttributes a;
    int error = kernel_attributes(k, &a);
    const int table[] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = a.maxThreadsPerBlock,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)a.sharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = (int)a.constSizeBytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)a.localSizeBytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = a.numRegs,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = a.ptxVersion,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = a.binaryVersion,
        [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = a.cacheModeCA,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = a.maxDynamicSharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = a.preferredShmemCarveout,
        [CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] = a.clusterDimMustBeSet,
        [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = a.requiredClusterWidth,
        [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = a.requiredClusterHeight,
        [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = a.requiredClusterDepth,
        [CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = a.nonPortableClusterSizeAllowed,
        [CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] = a.clusterSchedulingPolicyPreference,
    };
    if ((unsigned)attribute >= sizeof table / sizeof *table)
        return cudaErrorInvalidValue;
    *value = table[attribute];
    return error;
}

static int set_dynamic(struct kernel *k, int value)
{
    char name[200];
    int most = (int)ctx.device->smem_optin - (int)k->func->shared_bytes;
    if (value < 0 || value > most) {
        say("%s: %d bytes of dynamic shared memory asked for; beside its %u static ones %s has %d", plain_name(k->name, name, sizeof name), value,
            k->func->shared_bytes, ctx.device->name, most);
        return cudaErrorInvalidValue;
    }
    k->max_dynamic_smem = value;
    return 0;
}

int kernel_set_attribute(struct kernel *k, int attribute, int value)
{
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: return set_dynamic(k, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        k->carveout = value;
        return 0;
    case cudaFuncAttributeClusterDimMustBeSet: return 0;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        if (value < 0)
            return cudaErrorInvalidValue;
        k->cluster[attribute - cudaFuncAttributeRequiredClusterWidth] = (uint32_t)value;
        return 0;
    case cudaFuncAttributeNonPortableClusterSizeAllowed: k->nonportable_cluster = value; return 0;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: k->cluster_policy = value; return 0;
    default: return cudaErrorInvalidValue;
    }
}

int kernel_param(struct kernel *k, size_t index, size_t *offset, size_t *size)
{
    if (index >= k->func->nparam)
        return cudaErrorInvalidValue;
    *offset = k->func->param[index].offset;
    if (size)
        *size = k->func->param[index].size;
    return 0;
}

/* ---------------------------------------------------------------- occupancy */

int occupancy_blocks(struct kernel *k, int block, size_t dyn_smem, int *blocks)
{
    if (block <= 0)
        return cudaErrorInvalidValue;
    *blocks = (uint32_t)block > max_threads(k->func) || dyn_smem > ctx.device->smem_per_sm
                  ? 0 : (int)occupancy(ctx.gpu, k->func, (uint32_t)block, (uint32_t)dyn_smem);
    return 0;
}

/* The block size that keeps most threads resident; the larger one when two do. */
int occupancy_block_size(struct kernel *k, CUoccupancyB2DSize smem_of, size_t dyn_smem, int limit, int *grid, int *block)
{
    int most = (int)max_threads(k->func), best = 0, blocks;
    if (limit > 0)
        most = MIN(most, limit);
    *block = *grid = 0;
    for (int b = (most + 31) / 32 * 32; b > 0; b -= 32) {
        int threads = MIN(b, most);
        int error = occupancy_blocks(k, threads, smem_of ? smem_of(threads) : dyn_smem, &blocks);
        if (error)
            return error;
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks * (int)ctx.device->sms;
        }
    }
    return 0;
}

int occupancy_dynamic(struct kernel *k, int blocks, int block, size_t *dyn_smem)
{
    const struct device *d = ctx.device;
    int fit;
    if (blocks <= 0)
        return cudaErrorInvalidValue;
    int error = occupancy_blocks(k, block, 0, &fit);
    if (error || fit < blocks)
        return error ? error : cudaErrorInvalidValue;
    size_t share = d->smem_per_sm / (unsigned)blocks / 1024 * 1024, taken = d->smem_reserved + k->func->shared_bytes;
    *dyn_smem = MIN(share > taken ? share - taken : 0, d->smem_optin - k->func->shared_bytes);
    return 0;
}

static uint32_t config_cluster(const struct kernel *k, const cudaLaunchConfig_t *c)
{
    uint32_t n = 1;
    for (int i = 0; i < 3; i++)
        n *= (uint32_t)MAX(cluster_dim(k, i), 1);
    for (unsigned int i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            n = c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y * c->attrs[i].val.clusterDim.z;
    return MAX(n, 1);
}

int occupancy_clusters(struct kernel *k, const cudaLaunchConfig_t *c, int *clusters)
{
    int blocks;
    uint32_t n = config_cluster(k, c);
    int error = occupancy_blocks(k, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z), c->dynamicSmemBytes, &blocks);
    if (error || n > ctx.device->max_cluster || (n > 8 && !k->nonportable_cluster))
        return error ? error : cudaErrorInvalidClusterSize;
    *clusters = blocks * (int)ctx.device->sms / (int)n;
    return 0;
}

int occupancy_cluster_size(struct kernel *k, const cudaLaunchConfig_t *c, int *size)
{
    int blocks = 0;
    int error = occupancy_blocks(k, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z), c->dynamicSmemBytes, &blocks);
    *size = blocks ? (int)(k->nonportable_cluster ? ctx.device->max_cluster : MIN(ctx.device->max_cluster, 8)) : 0;
    return error;
}
