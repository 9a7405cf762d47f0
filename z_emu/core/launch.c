/* launch.c: what a launch asks of the chip, whether it can have it, and its life up to gpu_run. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { ERROR_INVALID_VALUE = 1, ERROR_INVALID_CONFIGURATION = 9, ERROR_OUT_OF_RESOURCES = 701,
       ERROR_COOPERATIVE_TOO_LARGE = 720, ERROR_CLUSTER_SIZE = 912 };

static uint32_t volume(const uint32_t d[3]) { return d[0] * d[1] * d[2]; }

static bool grid_ok(const uint32_t grid[3])
{
    return grid[0] && grid[1] && grid[2] && grid[0] <= INT32_MAX && grid[1] <= UINT16_MAX && grid[2] <= UINT16_MAX;
}

static bool block_ok(const uint32_t b[3])
{
    return b[0] && b[1] && b[2] && b[0] <= 1024 && b[1] <= 1024 && b[2] <= 64 && (uint64_t)b[0] * b[1] * b[2] <= 1024;
}

/* .reqntid fixes the block, .maxntid bounds the number of its threads. */
static bool bounds_ok(const struct func *f, const uint32_t block[3])
{
    for (int i = 0; f->reqntid[0] && i < 3; i++)
        if (block[i] != (f->reqntid[i] ? f->reqntid[i] : 1))
            return false;
    uint32_t most = 1;
    for (int i = 0; i < 3; i++)
        most *= f->maxntid[i] ? f->maxntid[i] : 1;
    return !f->maxntid[0] || volume(block) <= most;
}

static int check_cluster(const struct device *d, const struct func *f, const uint32_t grid[3],
                         const uint32_t cluster[3])
{
    uint32_t n = volume(cluster);
    if (n == 1 && !f->reqnctapercluster[0])
        return 0;
    if (d->cc < 90 || n == 0 || n > d->max_cluster)
        return ERROR_CLUSTER_SIZE;
    for (int i = 0; i < 3; i++) {
        uint32_t asked = f->reqnctapercluster[i] ? f->reqnctapercluster[i] : 1;
        if (f->reqnctapercluster[0] && cluster[i] != asked)
            return ERROR_INVALID_CONFIGURATION;
        if (grid[i] % cluster[i])
            return ERROR_INVALID_CONFIGURATION;
    }
    return 0;
}

int launch_check(const struct gpu *g, const struct func *f, const uint32_t grid[3], const uint32_t block[3],
                 const uint32_t cluster[3], uint32_t dyn_smem)
{
    const struct device *d = g->device;
    if (!grid_ok(grid) || !block_ok(block))
        return ERROR_INVALID_CONFIGURATION;
    if (!bounds_ok(f, block))
        return ERROR_OUT_OF_RESOURCES;
    if ((uint64_t)f->shared_bytes + dyn_smem > d->smem_optin)
        return ERROR_INVALID_VALUE;
    if (cta_regs(f, volume(block)) > d->regs_per_sm)
        return ERROR_OUT_OF_RESOURCES;
    return check_cluster(d, f, grid, cluster);
}

uint32_t occupancy(const struct gpu *g, const struct func *f, uint32_t threads, uint32_t dyn_smem)
{
    struct launch l = { .func = f, .block = { threads, 1, 1 }, .dyn_smem = dyn_smem };
    struct sm sm = { .gpu = (struct gpu *)g };
    uint32_t n = 0;
    if (!threads || threads > 1024)
        return 0;
    for (; sm_has_room(&sm, &l); n++) {
        sm.nctas++;
        sm.threads += cta_warps(&l) * WARP;
        sm.regs += cta_regs(f, threads);
        sm.smem += cta_smem(g, f, dyn_smem);
    }
    return n;
}

static bool copy_params(struct launch *l, const void *params)
{
    char what[300], name[256];
    if (!l->func->param_bytes)
        return true;
    snprintf(what, sizeof what, "kernel parameters of %s", plain_name(l->func->name, name, sizeof name));
    l->params = mem_alloc(l->gpu, l->func->param_bytes, what);
    if (!l->params || !mem_to_device(l->gpu, l->params->addr, params, l->func->param_bytes))
        return false;
    l->params->read_only = true;
    l->params->space = SP_PARAM;
    return true;
}

struct launch *launch_new(struct gpu *g, const struct func *f, const uint32_t grid[3], const uint32_t block[3],
                          const uint32_t cluster[3], uint32_t dyn_smem, const void *params)
{
    struct launch *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->gpu = g;
    l->func = f;
    l->dyn_smem = dyn_smem;
    memcpy(l->grid, grid, sizeof l->grid);
    memcpy(l->block, block, sizeof l->block);
    memcpy(l->cluster, cluster, sizeof l->cluster);
    l->explicit_cluster = f->explicit_cluster || volume(cluster) > 1;
    l->clusters = (uint64_t)grid[0] * grid[1] * grid[2] / volume(cluster);
    if (copy_params(l, params))
        return l;
    launch_free(l);
    return NULL;
}

void launch_free(struct launch *l)
{
    overlap_close(l);
    if (l->params)
        mem_free(l->gpu, l->params->addr);
    if (l->grid_workspace)
        mem_free(l->gpu, l->grid_workspace->addr);
    free(l);
}

/* Grid-wide synchronisation counts arrivals in a workspace of the driver's: the word at offset 4. */
static bool open_workspace(struct launch *l)
{
    l->grid_workspace = mem_alloc(l->gpu, 256, "the grid barrier");
    return l->grid_workspace && mem_fill(l->gpu, l->grid_workspace->addr, 0, 1, 256);
}

int launch_check_cooperative(const struct gpu *g, const struct func *f, const uint32_t grid[3], const uint32_t block[3],
                             uint32_t dyn_smem)
{
    uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2];
    return ctas > (uint64_t)g->device->sms * occupancy(g, f, volume(block), dyn_smem) ? ERROR_COOPERATIVE_TOO_LARGE : 0;
}

void gpu_start(struct gpu *g, struct launch *l)
{
    if (l->cooperative && !open_workspace(l))
        fault_launch(l, FAULT_OUT_OF_BOUNDS, "no memory is left for the grid barrier's workspace");
    pthread_mutex_lock(&g->lock);
    struct launch **end = &g->launches;
    while (*end)
        end = &(*end)->next;
    *end = l;
    l->id = ++g->next_launch_id;
    l->start_cycle = g->clock;
    prerequisites_begin(l);
    l->start_seconds = host_seconds();
    l->done = l->fault != FAULT_NONE;
    pthread_mutex_unlock(&g->lock);
}
