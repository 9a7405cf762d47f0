/* core/fence.c: membar and fence.
 *
 * The threads of a CTA, and of a cluster, run on one host thread in program order, so what they see of each other
 * needs no fence. Other clusters may run on other host threads, and the host program on yet another: there a fence
 * is a fence of the host, and the strongest is right for all kinds.
 * What asynchronous units read and write they read and write at a cycle of their own, fence or no fence; that one is
 * missing is found by the race detector, which is told of each. */
#include "core/memory.h"

static int fence_host(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    race_fence(w, false);
    return X_NEXT;
}

static int fence_cluster(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    race_fence(w, false);
    return X_NEXT;
}

static int fence_async(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)in, (void)mask;
    race_fence(w, true);
    return X_NEXT;
}

static int fence_nothing(struct warp *w, const struct instr *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
    return X_NEXT;
}

static exec_fn *by_scope(const struct instr *in)
{
    return in->scope == M_cta || in->scope == M_cluster ? fence_cluster : fence_host;
}

/* Between the generic and the async proxy, if it covers shared memory: others change nothing here. */
static exec_fn *by_proxy(const struct instr *in)
{
    return has_mod(in, M_async) && in->space != SP_GLOBAL ? fence_async : fence_nothing;
}

exec_fn *pick_MEMBAR(struct instr *in) { return by_scope(in); }

/* sync_restrict comes with one kind of fence each, at cluster scope. */
exec_fn *pick_FENCE(struct instr *in)
{
    bool cta = has_mod(in, M_sync_restrict_shared_cta), cluster = has_mod(in, M_sync_restrict_shared_cluster);
    if ((cta && in->sem != M_release) || (cluster && in->sem != M_acquire))
        return NULL;
    if ((cta || cluster) && in->scope != M_cluster)
        return NULL;
    return by_scope(in);
}

exec_fn *pick_FENCE_MBARRIER_INIT(struct instr *in) { (void)in; return fence_cluster; }
exec_fn *pick_MEMBAR_PROXY(struct instr *in) { return by_proxy(in); }
exec_fn *pick_FENCE_PROXY(struct instr *in) { return by_proxy(in); }

exec_fn *pick_FENCE_PROXY_TENSORMAP(struct instr *in)
{
    bool has_range = in->opnd[0].kind == O_MEM && in->opnd[1].flags & O_CONST && in->opnd[1].imm == 128;
    return has_range == (in->sem == M_acquire) ? by_scope(in) : NULL;
}

exec_fn *pick_FENCE_PROXY_ASYNC(struct instr *in)
{
    bool release = has_mod(in, M_sync_restrict_shared_cta);
    return release == (in->sem == M_release) ? fence_async : NULL;
}
