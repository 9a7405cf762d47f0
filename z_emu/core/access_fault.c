/* core/access_fault.c: what is said about an access that broke a rule: where it went, by how much it missed,
 * and what lies next to it. Runs once per fault, so it may look everything up again. */
#include "core/memory.h"

struct access_fault {
    struct warp *w;
    const struct instr *in;
    int lane;
    const char *place;          /* what comes before the address: "", "shared address ", … */
    uint64_t addr;
    uint32_t size, align;
    enum access how;
};

#define HEX(x) (unsigned long long)(x)

static const char *verb(enum access how)
{
    switch (how & A_ATOMIC) {
    case A_READ:  return "reads";
    case A_WRITE: return "writes";
    default:      return "updates";
    }
}

/* "reads 4 bytes at 0x200200010000" and then what the caller knows. */
__attribute__((format(printf, 3, 4)))
static void tell(const struct access_fault *f, enum fault_id id, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fault(f->w, f->in, f->lane, id, "%s %u bytes at %s0x%llx%s", verb(f->how), f->size, f->place, HEX(f->addr), text);
}

struct miss { char text[80]; };

/* "8 bytes past the end", "12 bytes before the start", …: how [addr, addr + size) misses [lo, lo + room). */
static struct miss miss(uint64_t addr, uint64_t size, uint64_t lo, uint64_t room)
{
    struct miss m;
    if (addr < lo)
        snprintf(m.text, sizeof m.text, "%llu bytes before the start", HEX(lo - addr));
    else if (addr - lo < room)
        snprintf(m.text, sizeof m.text, "the last %llu of them past the end", HEX(addr + size - lo - room));
    else if (addr - lo == room)
        snprintf(m.text, sizeof m.text, "just past the end");
    else
        snprintf(m.text, sizeof m.text, "%llu bytes past the end", HEX(addr - lo - room));
    return m;
}

static void misaligned(const struct access_fault *f)
{
    tell(f, FAULT_MISALIGNED, ", which is %llu more than a multiple of %u", HEX(f->addr % f->align), f->align);
}

/* ---------------------------------------------------------------- global */

static void nowhere(const struct access_fault *f, const struct memory *m)
{
    const struct alloc *near = alloc_near(m, f->addr);
    if (f->addr < 4096)
        tell(f, FAULT_NULL_POINTER, ": a null pointer");
    else if (near)
        tell(f, near->freed ? FAULT_USE_AFTER_FREE : FAULT_OUT_OF_BOUNDS, ", %s of %s of %zu bytes at 0x%llx%s",
             miss(f->addr, f->size, near->addr, near->size).text, near->what, near->size, HEX(near->addr),
             near->freed ? ", which has been freed" : "");
    else if (f->addr - m->base < m->bytes)
        tell(f, FAULT_OUT_OF_BOUNDS, ", where no allocation is near");
    else
        tell(f, FAULT_HOST_POINTER, ", which is no device address: perhaps a pointer to ordinary host memory, which "
             "kernels cannot use");
}

static void global_fault(const struct access_fault *f, const struct memory *m)
{
    const struct alloc *a = granule_at(m, f->addr);
    if (!a)
        a = host_at(m, f->addr);
    const uint64_t offset = a ? f->addr - a->addr : 0;
    if (!a || offset >= a->size || f->size > a->size - offset)
        nowhere(f, m);
    else if (a->freed)
        tell(f, FAULT_USE_AFTER_FREE, ", byte %llu of %s of %zu bytes, which has been freed", HEX(offset), a->what,
             a->size);
    else if (a->read_only && (f->how & A_WRITE))
        tell(f, FAULT_READ_ONLY, ", byte %llu of %s", HEX(offset), a->what);
    else
        misaligned(f);
}

/* ---------------------------------------------------------------- shared, local, param */

/* The shared variable of the running function that is nearest below `offset`; NULL: none. */
static const struct symbol *shared_variable(const struct warp *w, uint64_t offset)
{
    const uint32_t reserved = w->cta->memory->smem_reserved;
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

struct variable { char text[160]; };

/* " (byte 8 of tile)", " (4 bytes past the end of tile, which has 4096)". */
static struct variable variable_at(const struct warp *w, uint64_t offset)
{
    const struct symbol *s = shared_variable(w, offset);
    struct variable v = { "" };
    char name[100];
    if (!s || !s->size)
        return v;
    const uint64_t inside = offset - w->cta->memory->smem_reserved - s->addr;
    if (inside < s->size)
        snprintf(v.text, sizeof v.text, " (byte %llu of %s)", HEX(inside), plain_name(s->name, name, sizeof name));
    else
        snprintf(v.text, sizeof v.text, " (%llu bytes past the end of %s, which has %llu)", HEX(inside - s->size),
                 plain_name(s->name, name, sizeof name), HEX(s->size));
    return v;
}

/* f->addr is an address in the cluster's window. */
static void shared_fault(const struct access_fault *f, enum space space)
{
    const struct cta *c = f->w->cta;
    const struct cta *owner = f->addr < WINDOW ? shared_owner(c, space, (uint32_t)f->addr) : NULL;
    const uint32_t rank = (uint32_t)(f->addr >> 24) & 0xff, offset = f->addr & 0xffffff, lo = c->memory->smem_reserved;
    if (!owner && space == SP_SHARED_CTA && f->addr < WINDOW && rank < c->ncluster)
        tell(f, FAULT_OUT_OF_BOUNDS, ", which is in the CTA of rank %u of the cluster: that needs .shared::cluster",
             rank);
    else if (!owner)
        tell(f, FAULT_OUT_OF_BOUNDS, ", in a CTA of rank %u: this cluster has %u", rank, c->ncluster ? c->ncluster : 1);
    else if (owner->over)
        tell(f, FAULT_USE_AFTER_FREE, ": the CTA of rank %u has exited", rank);
    else if (offset < lo || f->size > owner->smem_bytes || offset - lo > owner->smem_bytes - f->size)
        tell(f, FAULT_OUT_OF_BOUNDS, ", %s of the CTA's %u bytes of shared memory%s",
             miss(offset, f->size, lo, owner->smem_bytes).text, owner->smem_bytes, variable_at(f->w, offset).text);
    else
        misaligned(f);
}

static void local_fault(const struct access_fault *f)
{
    const uint32_t bytes = f->w->cta->local_bytes;
    if ((f->how & A_ATOMIC) == A_ATOMIC)
        tell(f, FAULT_BAD_OPERAND, ": atomics are for global and shared memory, not for local memory");
    else if (f->size > bytes || f->addr > bytes - f->size)
        tell(f, FAULT_OUT_OF_BOUNDS, ", %s of the thread's %u bytes of local memory",
             miss(f->addr, f->size, 0, bytes).text, bytes);
    else
        misaligned(f);
}

static void param_fault(const struct access_fault *f)
{
    const struct alloc *a = f->w->cta->launch->params;
    const uint64_t room = a ? a->size : 0;
    if (f->how & A_WRITE)
        tell(f, FAULT_READ_ONLY, " of the kernel's parameters");
    else if (f->size > room || f->addr > room - f->size)
        tell(f, FAULT_OUT_OF_BOUNDS, ", %s of the kernel's %llu bytes of parameters",
             miss(f->addr, f->size, 0, room).text, HEX(room));
    else
        misaligned(f);
}

/* Generic addresses of a window become addresses of its space. */
static enum space resolve(const struct memory *m, enum space space, uint64_t *addr)
{
    const uint64_t behind = *addr - m->base;
    if (space != SP_GENERIC || behind >= 2 * WINDOW)
        return space;
    *addr = behind % WINDOW;
    return behind < WINDOW ? SP_SHARED_CLUSTER : SP_LOCAL;
}

void report_access(struct warp *w, const struct instr *in, int lane, enum space space, uint64_t addr, uint32_t size,
                   uint32_t align, enum access how)
{
    struct access_fault f = { w, in, lane, "", addr, size, align, how };
    space = resolve(w->cta->memory, space, &f.addr);
    switch (space) {
    case SP_SHARED_CTA:
    case SP_SHARED_CLUSTER: f.place = "shared address "; shared_fault(&f, space); break;
    case SP_LOCAL:          f.place = "local address "; local_fault(&f); break;
    case SP_PARAM:          f.place = "byte "; param_fault(&f); break;
    default:                global_fault(&f, w->cta->memory);
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
    struct access_fault f = { w, in, lane, "", addr, size, 1, A_READ };
    char which[80];
    which_bytes(which, sizeof which, written, size);
    space = resolve(w->cta->memory, space, &f.addr);
    if (space == SP_SHARED_CTA || space == SP_SHARED_CLUSTER) {
        f.place = "shared address ";
        tell(&f, FAULT_UNINITIALIZED, "%s: %s%s", variable_at(w, f.addr & 0xffffff).text, which,
             cp_async_under_way(w->cta, f.addr, size)
                 ? ", but a cp.async is on its way there: has its group been waited for?" : "");
    } else if (space == SP_LOCAL) {
        f.place = "local address ";
        tell(&f, FAULT_UNINITIALIZED, ": %s", which);
    } else {
        const struct alloc *a = granule_at(w->cta->memory, addr);
        const char *front = overlap_unwaited(w);
        tell(&f, FAULT_UNINITIALIZED, ", byte %llu of %s of %zu bytes: %s%s%s%s", HEX(a ? addr - a->addr : 0),
             a ? a->what : "memory", a ? a->size : 0, which, front ? ". Kernel " : "", front ? front : "",
             front ? ", on which it depends, may yet do so: griddepcontrol.wait waits for that" : "");
    }
}
