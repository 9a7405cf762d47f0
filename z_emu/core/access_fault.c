/* core/access_fault.c: what is said about an access that broke a rule: where it went, by how much it missed,
 * and what lies next to it. Runs once per fault, so it may look everything up again. */
#include "core/memory.h"

struct access_fault {
    struct warp *w;
    const struct instr *in;
    int lane;
    uint64_t addr;
    uint32_t size, align;
    enum access how;
};

static const char *verb(enum access how)
{
    switch (how & A_ATOMIC) {
    case A_READ:  return "reads";
    case A_WRITE: return "writes";
    default:      return "updates";
    }
}

#define HEX(x) (unsigned long long)(x)

/* "8 bytes past the end of", "12 bytes before the start of", "…of which the last 4 are past the end of":
 * how [addr, addr + size) misses [lo, lo + room). */
static const char *miss(char *buf, size_t n, uint64_t addr, uint64_t size, uint64_t lo, uint64_t room)
{
    if (addr < lo)
        snprintf(buf, n, "%llu bytes before the start", HEX(lo - addr));
    else if (addr - lo < room)
        snprintf(buf, n, "the last %llu of them past the end", HEX(addr + size - lo - room));
    else if (addr - lo == room)
        snprintf(buf, n, "just past the end");
    else
        snprintf(buf, n, "%llu bytes past the end", HEX(addr - lo - room));
    return buf;
}

static void misaligned(const struct access_fault *f)
{
    fault(f->w, f->in, f->lane, FAULT_MISALIGNED, "%s %u bytes at 0x%llx, which is %llu more than a multiple of %u",
          verb(f->how), f->size, HEX(f->addr), HEX(f->addr % f->align), f->align);
}

/* ---------------------------------------------------------------- global */

static void nowhere(const struct access_fault *f, const struct memory *m)
{
    struct alloc *near = alloc_near(m, f->addr);
    char buf[80];
    if (f->addr < 4096)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at 0x%llx: a null pointer", verb(f->how), f->size,
              HEX(f->addr));
    else if (near && near->freed)
        fault(f->w, f->in, f->lane, FAULT_USE_AFTER_FREE, "%s %u bytes at 0x%llx, %s of %s of %zu bytes at 0x%llx, which has been freed",
              verb(f->how), f->size, HEX(f->addr), miss(buf, sizeof buf, f->addr, f->size, near->addr, near->size),
              near->what, near->size, HEX(near->addr));
    else if (near)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at 0x%llx, %s of %s of %zu bytes at 0x%llx",
              verb(f->how), f->size, HEX(f->addr), miss(buf, sizeof buf, f->addr, f->size, near->addr, near->size),
              near->what, near->size, HEX(near->addr));
    else
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at 0x%llx, %s", verb(f->how), f->size, HEX(f->addr),
              f->addr - m->base < m->bytes ? "where no allocation is near"
              : "which is no device address: perhaps a pointer to ordinary host memory, which kernels cannot use");
}

static void global_fault(const struct access_fault *f, const struct memory *m)
{
    struct alloc *a = granule_at(m, f->addr);
    if (!a)
        a = host_at(m, f->addr);
    if (!a || f->addr - a->addr >= a->size || f->size > a->size - (f->addr - a->addr))
        nowhere(f, m);
    else if (a->freed)
        fault(f->w, f->in, f->lane, FAULT_USE_AFTER_FREE, "%s %u bytes at 0x%llx, byte %llu of %s of %zu bytes, which has been freed",
              verb(f->how), f->size, HEX(f->addr), HEX(f->addr - a->addr), a->what, a->size);
    else if (a->read_only && (f->how & A_WRITE))
        fault(f->w, f->in, f->lane, FAULT_READ_ONLY, "%s %u bytes at 0x%llx, byte %llu of %s", verb(f->how), f->size,
              HEX(f->addr), HEX(f->addr - a->addr), a->what);
    else
        misaligned(f);
}

/* ---------------------------------------------------------------- shared, local, param */

/* The shared variable of the running function that is nearest below `offset` (or at all), for the message. */
static const struct symbol *shared_variable(const struct warp *w, uint32_t reserved, uint64_t offset)
{
    const struct func *func = w->cur && w->cur->frame ? w->cur->frame->func : NULL;
    const struct symbol *best = NULL;
    for (uint32_t i = 0; func && i < func->nconstant; i++) {
        const struct symbol *s = func->constant[i].sym;
        if (s && s->kind == SYM_VAR && s->space == SP_SHARED_CTA && !s->is_extern && s->addr + reserved <= offset &&
            (!best || s->addr > best->addr))
            best = s;
    }
    return best;
}

static const char *near_variable(char *buf, size_t n, const struct warp *w, uint64_t offset)
{
    uint32_t reserved = w->cta->memory->smem_reserved;
    const struct symbol *s = shared_variable(w, reserved, offset);
    buf[0] = 0;
    if (s && offset - reserved - s->addr < s->size)
        snprintf(buf, n, " (byte %llu of %s)", HEX(offset - reserved - s->addr), s->name);
    else if (s && s->size)
        snprintf(buf, n, " (%llu bytes past the end of %s, which has %llu)", HEX(offset - reserved - s->addr - s->size),
                 s->name, HEX(s->size));
    return buf;
}

static void shared_fault(const struct access_fault *f, enum space space, uint64_t addr)
{
    const struct cta *c = f->w->cta, *owner = addr < WINDOW ? shared_owner(c, space, (uint32_t)addr) : NULL;
    uint32_t rank = (uint32_t)(addr >> 24) & 0xff, lo = c->memory->smem_reserved, offset = addr & 0xffffff;
    char buf[80], var[160];
    if (!owner && space == SP_SHARED_CTA && addr < WINDOW && rank < c->ncluster)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at shared address 0x%llx, which is in the CTA of rank %u of the "
              "cluster: that needs .shared::cluster", verb(f->how), f->size, HEX(addr), rank);
    else if (!owner)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at shared address 0x%llx, in a CTA of rank %u: this cluster has %u",
              verb(f->how), f->size, HEX(addr), rank, c->ncluster ? c->ncluster : 1);
    else if (owner->over)
        fault(f->w, f->in, f->lane, FAULT_USE_AFTER_FREE, "%s %u bytes at shared address 0x%llx: the CTA of rank %u has exited",
              verb(f->how), f->size, HEX(addr), rank);
    else if (offset < lo || f->size > owner->smem_bytes || offset - lo > owner->smem_bytes - f->size)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at shared address 0x%llx, %s of the CTA's %u bytes of shared memory%s",
              verb(f->how), f->size, HEX(addr), miss(buf, sizeof buf, offset, f->size, lo, owner->smem_bytes),
              owner->smem_bytes, near_variable(var, sizeof var, f->w, offset));
    else
        misaligned(f);
}

static void local_fault(const struct access_fault *f, uint64_t addr)
{
    uint32_t bytes = f->w->cta->local_bytes;
    char buf[80];
    if ((f->how & A_ATOMIC) == A_ATOMIC)
        fault(f->w, f->in, f->lane, FAULT_BAD_OPERAND, "updates %u bytes at local address 0x%llx: atomics are for global and shared "
              "memory, not for local memory", f->size, HEX(addr));
    else if (f->size > bytes || addr > bytes - f->size)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "%s %u bytes at local address 0x%llx, %s of the thread's %u bytes of local memory",
              verb(f->how), f->size, HEX(addr), miss(buf, sizeof buf, addr, f->size, 0, bytes), bytes);
    else
        misaligned(f);
}

static void param_fault(const struct access_fault *f)
{
    const struct alloc *a = f->w->cta->launch->params;
    uint64_t room = a ? a->size : 0;
    char buf[80];
    if (f->how & A_WRITE)
        fault(f->w, f->in, f->lane, FAULT_READ_ONLY, "writes %u bytes at byte %llu of the kernel's parameters", f->size, HEX(f->addr));
    else if (f->size > room || f->addr > room - f->size)
        fault(f->w, f->in, f->lane, FAULT_OUT_OF_BOUNDS, "reads %u bytes at byte %lld, %s of the kernel's %llu bytes of parameters",
              f->size, (long long)f->addr, miss(buf, sizeof buf, f->addr, f->size, 0, room), HEX(room));
    else
        misaligned(f);
}

void report_access(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                   uint32_t align, enum access how)
{
    const struct memory *m = w->cta->memory;
    const struct access_fault f = { w, in, lane, addr, size, align, how };
    uint64_t behind = addr - m->base;
    switch (space) {
    case SP_SHARED_CTA:
    case SP_SHARED_CLUSTER: shared_fault(&f, space, addr); break;
    case SP_LOCAL:          local_fault(&f, addr); break;
    case SP_PARAM:          param_fault(&f); break;
    default:
        if (space == SP_GENERIC && behind < WINDOW)
            shared_fault(&f, SP_SHARED_CLUSTER, behind);
        else if (space == SP_GENERIC && behind < 2 * WINDOW)
            local_fault(&f, behind - WINDOW);
        else
            global_fault(&f, m);
    }
}

/* ---------------------------------------------------------------- unwritten */

static const char *which_bytes(char *buf, size_t n, const uint8_t *written, uint32_t size)
{
    uint32_t first = size, count = 0;
    for (uint32_t i = size; i-- > 0;)
        if (!written[i])
            first = i, count++;
    if (count == size)
        snprintf(buf, n, "nothing has written them");
    else
        snprintf(buf, n, "nothing has written %u of them, from byte %u on", count, first);
    return buf;
}

void report_unwritten(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                      const uint8_t *written)
{
    const struct memory *m = w->cta->memory;
    uint64_t behind = addr - m->base;
    bool window = space == SP_GENERIC && behind < 2 * WINDOW;
    char which[80], var[160];
    which_bytes(which, sizeof which, written, size);
    if (window)
        space = behind < WINDOW ? SP_SHARED_CLUSTER : SP_LOCAL, addr = behind % WINDOW;
    if (space == SP_SHARED_CTA || space == SP_SHARED_CLUSTER) {
        near_variable(var, sizeof var, w, addr & 0xffffff);
        fault(w, in, lane, FAULT_UNINITIALIZED, "reads %u bytes at shared address 0x%llx%s: %s%s", size, HEX(addr), var, which,
              cp_async_under_way(w->cta, addr, size) ? ", but a cp.async is on its way there: has its group been waited for?" : "");
    } else if (space == SP_LOCAL)
        fault(w, in, lane, FAULT_UNINITIALIZED, "reads %u bytes at local address 0x%llx: %s", size, HEX(addr), which);
    else {
        const struct alloc *a = granule_at(m, addr);
        fault(w, in, lane, FAULT_UNINITIALIZED, "reads %u bytes at 0x%llx, byte %llu of %s of %zu bytes: %s", size, HEX(addr),
              HEX(a ? addr - a->addr : 0), a ? a->what : "memory", a ? a->size : 0, which);
    }
}
