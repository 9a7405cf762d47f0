/* sreg.c: special registers. mov from one of them fills a row; most are the same in all lanes. */
#include "core.h"

static void set_u32(struct warp *w, const struct instr *in, uint32_t mask, uint32_t value)
{
    uint32_t *d = ROW(w, &in->opnd[0], uint32_t);
    FOR_LANES(lane, mask)
        d[lane] = value;
}

static void set_value(struct warp *w, const struct instr *in, uint32_t mask, uint64_t value)
{
    const struct operand *d = &in->opnd[0];
    if (d->width == 0)
        PRED(w, d) = (PRED(w, d) & ~mask) | (value ? mask : 0);
    else if (d->width == 2)
        FOR_LANES(lane, mask)
            ROW(w, d, uint16_t)[lane] = (uint16_t)value;
    else if (d->width == 4)
        set_u32(w, in, mask, (uint32_t)value);
    else
        FOR_LANES(lane, mask)
            ROW(w, d, uint64_t)[lane] = value;
}

/* ---------------------------------------------------------------- what differs between lanes */

static uint32_t tid_component(const struct launch *l, uint32_t thread, enum sreg which)
{
    switch (which) {
    case SREG_TID_X:
        return thread % l->block[0];
    case SREG_TID_Y:
        return thread / l->block[0] % l->block[1];
    default:
        return thread / l->block[0] / l->block[1];
    }
}

static uint32_t lane_value(const struct warp *w, uint32_t lane, enum sreg which)
{
    uint32_t bit = 1u << lane;
    switch (which) {
    case SREG_LANEID:
        return lane;
    case SREG_LANEMASK_EQ:
        return bit;
    case SREG_LANEMASK_LT:
        return bit - 1;
    case SREG_LANEMASK_LE:
        return bit | (bit - 1);
    case SREG_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case SREG_LANEMASK_GE:
        return ~(bit - 1);
    default:
        return tid_component(w->cta->launch, w->id * WARP + lane, which);
    }
}

static int exec_per_lane(struct warp *w, const struct instr *in, uint32_t mask)
{
    const struct operand *d = &in->opnd[0];
    enum sreg which = (enum sreg)in->opnd[1].imm;
    FOR_LANES(lane, mask) {
        uint32_t value = lane_value(w, lane, which);
        if (d->width == 2)
            ROW(w, d, uint16_t)[lane] = (uint16_t)value;
        else if (d->width == 4)
            ROW(w, d, uint32_t)[lane] = value;
        else
            ROW(w, d, uint64_t)[lane] = value;
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- what is the same for the warp */

static uint64_t component(const uint32_t v[3], enum sreg which, enum sreg x) { return v[which - x]; }

static uint64_t cluster_value(const struct cta *c, enum sreg which)
{
    const struct launch *l = c->launch;
    uint32_t id[3], number[3], inside[3];
    for (int i = 0; i < 3; i++) {
        id[i] = c->id[i] / l->cluster[i];
        number[i] = l->grid[i] / l->cluster[i];
        inside[i] = c->id[i] % l->cluster[i];
    }
    if (which >= SREG_CLUSTERID_X && which <= SREG_CLUSTERID_Z)
        return component(id, which, SREG_CLUSTERID_X);
    if (which >= SREG_NCLUSTERID_X && which <= SREG_NCLUSTERID_Z)
        return component(number, which, SREG_NCLUSTERID_X);
    if (which >= SREG_CLUSTER_CTAID_X && which <= SREG_CLUSTER_CTAID_Z)
        return component(inside, which, SREG_CLUSTER_CTAID_X);
    if (which >= SREG_CLUSTER_NCTAID_X && which <= SREG_CLUSTER_NCTAID_Z)
        return component(l->cluster, which, SREG_CLUSTER_NCTAID_X);
    return which == SREG_CLUSTER_CTARANK    ? c->cluster_rank
           : which == SREG_CLUSTER_NCTARANK ? c->ncluster
                                            : l->explicit_cluster;
}

/* Environment registers 1 and 2 hold the address of the grid barrier's workspace: what a cooperative
 * launch's grid-wide synchronisation asks for. */
static uint64_t envreg(const struct launch *l, uint32_t n)
{
    uint64_t workspace = l->grid_workspace ? l->grid_workspace->addr : 0;
    return n == 1 ? workspace >> 32 : n == 2 ? (uint32_t)workspace : 0;
}

static uint64_t time_value(const struct warp *w, enum sreg which)
{
    uint64_t ns = w->now * 1000000 / gpu_device(w->cta->launch->gpu)->clock_khz;
    switch (which) {
    case SREG_CLOCK:
        return (uint32_t)w->now;
    case SREG_CLOCK_HI:
        return w->now >> 32;
    case SREG_CLOCK64:
        return w->now;
    case SREG_GLOBALTIMER_LO:
        return (uint32_t)ns;
    case SREG_GLOBALTIMER_HI:
        return ns >> 32;
    default:
        return ns;
    }
}

static uint64_t smem_value(const struct cta *c, enum sreg which)
{
    const struct device *d = gpu_device(c->launch->gpu);
    switch (which) {
    case SREG_RESERVED_SMEM_OFFSET_END:
    case SREG_RESERVED_SMEM_OFFSET_CAP:
        return d->smem_reserved;
    case SREG_TOTAL_SMEM_SIZE:                  /* the user's, in the unit of allocation; the system's share apart */
        return (c->smem_bytes + 127) / 128 * 128;
    case SREG_AGGR_SMEM_SIZE:
        return (c->smem_bytes + 127) / 128 * 128 + d->smem_reserved;
    case SREG_DYNAMIC_SMEM_SIZE:
        return c->launch->dyn_smem;
    default:                                    /* where the reserved memory begins, and its first places */
        return 0;
    }
}

static uint64_t warp_value(const struct warp *w, enum sreg which)
{
    const struct cta *c = w->cta;
    const struct launch *l = c->launch;
    if (which >= SREG_NTID_X && which <= SREG_NTID_Z)
        return component(l->block, which, SREG_NTID_X);
    if (which >= SREG_CTAID_X && which <= SREG_CTAID_Z)
        return component(c->id, which, SREG_CTAID_X);
    if (which >= SREG_NCTAID_X && which <= SREG_NCTAID_Z)
        return component(l->grid, which, SREG_NCTAID_X);
    if (which >= SREG_IS_EXPLICIT_CLUSTER && which <= SREG_CLUSTER_NCTARANK)
        return cluster_value(c, which);
    if (which >= SREG_CLOCK && which <= SREG_GLOBALTIMER_HI)
        return time_value(w, which);
    if (which >= SREG_RESERVED_SMEM_OFFSET_BEGIN && which <= SREG_DYNAMIC_SMEM_SIZE)
        return smem_value(c, which);
    if (which >= SREG_ENVREG0)
        return envreg(l, which - SREG_ENVREG0);
    switch (which) {
    case SREG_WARPID:
        return w->slot;
    case SREG_NWARPID:
        return gpu_device(l->gpu)->threads_per_sm / WARP;
    case SREG_SMID:
        return c->sm->id;
    case SREG_NSMID:
        return gpu_device(l->gpu)->sms;
    case SREG_GRIDID:
        return l->id;
    default:                                    /* performance counters, the graph: undefined or none */
        return 0;
    }
}

static int exec_per_warp(struct warp *w, const struct instr *in, uint32_t mask)
{
    set_value(w, in, mask, warp_value(w, (enum sreg)in->opnd[1].imm));
    return X_NEXT;
}

exec_fn *pick_sreg(struct instr *in)
{
    enum sreg which = (enum sreg)in->opnd[1].imm;
    bool per_lane = (which >= SREG_TID_X && which <= SREG_TID_Z) || which == SREG_LANEID ||
                    (which >= SREG_LANEMASK_EQ && which <= SREG_LANEMASK_GT);
    if (in->opnd[0].kind != O_REG)
        return NULL;
    return per_lane ? exec_per_lane : exec_per_warp;
}
