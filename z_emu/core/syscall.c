/* syscall.c: what a kernel asks of the system: printf, assert, malloc and free. They appear in PTX as calls of
 * functions that nobody defines. */
#include "core.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct syscalls {
    pthread_mutex_t lock;
    char *text;                 /* printed by kernels, not yet written out */
    size_t len, room;
    size_t heap_limit, heap_used;
};

enum { FLUSH_AT = 1 << 20 };
static const char heap_name[] = "malloc in a kernel";

struct syscalls *syscalls_open(void)
{
    struct syscalls *s = calloc(1, sizeof *s);
    if (s) {
        pthread_mutex_init(&s->lock, NULL);
        s->heap_limit = 8 << 20;
    }
    return s;
}

void syscalls_close(struct syscalls *s)
{
    free(s->text);
    free(s);
}

static void flush(struct syscalls *s)
{
    fwrite(s->text, 1, s->len, stdout);
    fflush(stdout);
    s->len = 0;
}

void syscall_flush(struct gpu *g)
{
    struct syscalls *s = g->syscalls;
    pthread_mutex_lock(&s->lock);
    if (s->len)
        flush(s);
    pthread_mutex_unlock(&s->lock);
}

void gpu_set_limits(struct gpu *g, uint32_t stack_bytes, size_t heap_bytes)
{
    g->stack_limit = stack_bytes;
    g->syscalls->heap_limit = heap_bytes;
}

/* ---------------------------------------------------------------- text under construction */

struct text { char *s; size_t len, room; };

static void append(struct text *t, const char *s, size_t n)
{
    if (t->len + n + 1 > t->room) {
        t->room = (t->len + n + 1) * 2;
        if (!(t->s = realloc(t->s, t->room)))
            abort();
    }
    memcpy(t->s + t->len, s, n);
    t->len += n;
    t->s[t->len] = 0;
}

__attribute__((format(printf, 2, 3)))
static void append_formatted(struct text *t, const char *spec, ...)
{
    va_list args, again;
    va_start(args, spec);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, spec, args);     /* below 0: a width beyond all bounds, nothing is printed */
    char *s = n < 0 ? NULL : malloc((size_t)n + 1);
    if (s) {
        vsnprintf(s, (size_t)n + 1, spec, again);
        append(t, s, (size_t)n);
    }
    va_end(again);
    va_end(args);
    free(s);
}

static void print(struct gpu *g, const struct text *t)
{
    struct syscalls *s = g->syscalls;
    pthread_mutex_lock(&s->lock);
    if (s->len + t->len > s->room) {
        s->room = (s->len + t->len) * 2;
        if (!(s->text = realloc(s->text, s->room)))
            abort();
    }
    memcpy(s->text + s->len, t->s, t->len);
    s->len += t->len;
    if (s->len > FLUSH_AT)
        flush(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---------------------------------------------------------------- reading the kernel's memory */

struct caller { struct warp *w; const struct instr *in; int lane; };

static bool read_bytes(const struct caller *c, enum space space, uint64_t addr, void *to, uint32_t size, uint32_t align)
{
    const uint8_t *at = mem_at(c->w, c->in, c->lane, space, addr, size, align, A_READ);
    if (at)
        memcpy(to, at, size);
    return at != NULL;
}

static bool argument(const struct caller *c, const struct slots *slots, uint32_t i, void *to, uint32_t size)
{
    return read_bytes(c, SP_LOCAL, slots->base + slots->arg[i], to, size, size);
}

static bool result(const struct caller *c, const struct slots *slots, uint64_t value, uint32_t size)
{
    uint8_t *at = mem_at(c->w, c->in, c->lane, SP_LOCAL, slots->base + slots->ret, size, size, A_WRITE);
    if (at)
        memcpy(at, &value, size);
    return at != NULL;
}

static bool read_string(const struct caller *c, uint64_t addr, struct text *t)
{
    char ch;
    append(t, "", 0);
    while (read_bytes(c, SP_GENERIC, addr++, &ch, 1, 1) ) {
        if (!ch)
            return true;
        append(t, &ch, 1);
    }
    return false;
}

/* ---------------------------------------------------------------- printf
 * The arguments lie one behind the other, each aligned to its size: int 4 bytes, long, pointer and double 8. */

struct arguments { uint64_t at; uint32_t n; };

static bool next_argument(const struct caller *c, struct arguments *a, void *to, uint32_t size)
{
    a->at = (a->at + size - 1) / size * size;
    bool ok = read_bytes(c, SP_GENERIC, a->at, to, size, size);
    a->at += size;
    a->n++;
    return ok;
}

/* Copies a conversion's flags, width and precision, with the numbers that stand for *. */
static bool copy_spec(const struct caller *c, struct arguments *a, const char **at, char *spec, size_t room)
{
    size_t n = 0;
    spec[n++] = '%';
    for (; strchr("-+ #0123456789.*'", **at) && **at && n + 16 < room; (*at)++) {
        int value;
        if (**at != '*') {
            spec[n++] = **at;
            continue;
        }
        if (!next_argument(c, a, &value, 4))
            return false;
        n += (size_t)snprintf(spec + n, room - n, "%d", value);
    }
    spec[n] = 0;
    return true;
}

static uint32_t integer_bytes(const char **at)
{
    uint32_t bytes = 4;
    for (; **at && strchr("hlLqjzt", **at); (*at)++) {
        if (**at != 'h')
            bytes = 8;
    }
    return bytes;
}

static bool format_integer(const struct caller *c, struct arguments *a, char *spec, char conv, uint32_t bytes,
                           struct text *out)
{
    int64_t value = 0;
    bool is_signed = conv == 'd' || conv == 'i' || conv == 'c';
    if (!next_argument(c, a, &value, bytes))
        return false;
    if (bytes == 4)
        value = is_signed ? (int64_t)(int32_t)value : (int64_t)(uint32_t)value;
    sprintf(spec + strlen(spec), conv == 'c' ? "%c" : "ll%c", conv);
    if (conv == 'c')
        append_formatted(out, spec, (int)value);
    else
        append_formatted(out, spec, (long long)value);
    return true;
}

static bool format_double(const struct caller *c, struct arguments *a, char *spec, char conv, struct text *out)
{
    double value;
    if (!next_argument(c, a, &value, 8))
        return false;
    sprintf(spec + strlen(spec), "%c", conv);
    append_formatted(out, spec, value);
    return true;
}

static bool format_pointer(const struct caller *c, struct arguments *a, char *spec, char conv, struct text *out)
{
    uint64_t value;
    struct text s = { 0 };
    if (!next_argument(c, a, &value, 8))
        return false;
    if (conv == 's' && value && !read_string(c, value, &s)) {
        free(s.s);
        return false;
    }
    sprintf(spec + strlen(spec), "%s", conv == 's' ? "s" : "p");
    if (conv == 's')
        append_formatted(out, spec, value ? s.s : "(null)");
    else
        append_formatted(out, spec, (void *)value);
    free(s.s);
    return true;
}

static bool format_one(const struct caller *c, struct arguments *a, const char **at, struct text *out)
{
    char spec[64];
    const char *start = *at;
    (*at)++;
    if (!copy_spec(c, a, at, spec, sizeof spec))
        return false;
    uint32_t bytes = integer_bytes(at);
    char conv = **at;
    if (conv)
        (*at)++;
    if (conv && strchr("diouxXc", conv))
        return format_integer(c, a, spec, conv, bytes, out);
    if (conv && strchr("fFeEgGaA", conv))
        return format_double(c, a, spec, conv, out);
    if (conv == 's' || conv == 'p')
        return format_pointer(c, a, spec, conv, out);
    if (conv == '%')
        append(out, "%", 1);
    else
        append(out, start, (size_t)(*at - start)); /* unknown: as it stands */
    return true;
}

static bool print_lane(const struct caller *c, const struct slots *slots)
{
    uint64_t format = 0, buffer = 0;
    struct text f = { 0 }, out = { 0 };
    bool ok = argument(c, slots, 0, &format, 8) && argument(c, slots, 1, &buffer, 8);
    if (ok && !format)
        return result(c, slots, UINT64_MAX, 4);
    ok = ok && read_string(c, format, &f);
    struct arguments a = { buffer, 0 };
    append(&out, "", 0);
    for (const char *at = f.s; ok && *at;) {
        size_t plain = strcspn(at, "%");
        append(&out, at, plain);
        at += plain;
        if (*at)
            ok = format_one(c, &a, &at, &out);
    }
    if (ok)
        print(c->w->cta->launch->gpu, &out);
    free(f.s);
    free(out.s);
    return ok && result(c, slots, a.n, 4);
}

static int sys_vprintf(struct warp *w, const struct instr *in, uint32_t mask, const struct slots *slots)
{
    FOR_LANES(lane, mask)
        if (!print_lane(&(struct caller){ w, in, (int)lane }, slots))
            return X_FAULT;
    return X_NEXT;
}

/* ---------------------------------------------------------------- assert */

static bool assert_text(const struct caller *c, const struct slots *slots, struct text t[3], uint32_t *line)
{
    uint64_t message, file, function;
    return argument(c, slots, 0, &message, 8) && argument(c, slots, 1, &file, 8) && argument(c, slots, 2, line, 4) &&
           argument(c, slots, 3, &function, 8) && read_string(c, message, &t[0]) && read_string(c, file, &t[1]) &&
           read_string(c, function, &t[2]);
}

static int sys_assertfail(struct warp *w, const struct instr *in, uint32_t mask, const struct slots *slots)
{
    struct text t[3] = { 0 };
    const struct cta *c = w->cta;
    const uint32_t *b = c->launch->block;
    uint32_t line = 0;
    bool ok = true;
    FOR_LANES(lane, mask) {
        uint32_t thread = w->id * WARP + lane;
        t[0].len = t[1].len = t[2].len = 0;
        if (ok && (ok = assert_text(&(struct caller){ w, in, (int)lane }, slots, t, &line)))
            fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", t[1].s, line,
                    t[2].s, c->id[0], c->id[1], c->id[2], thread % b[0], thread / b[0] % b[1], thread / b[0] / b[1],
                    t[0].s);
    }
    if (ok)
        fault(w, in, __builtin_ctz(mask), FAULT_ASSERT, "assertion `%s` at %s:%u", t[0].s, t[1].s, line);
    for (int i = 0; i < 3; i++)
        free(t[i].s);
    return X_FAULT;
}

/* ---------------------------------------------------------------- malloc, free */

static uint64_t heap_alloc(struct gpu *g, uint64_t size)
{
    struct syscalls *s = g->syscalls;
    pthread_mutex_lock(&s->lock);
    bool fits = size && size <= s->heap_limit - s->heap_used;
    s->heap_used += fits ? size : 0;
    pthread_mutex_unlock(&s->lock);
    struct alloc *a = fits ? mem_alloc(g, size, heap_name) : NULL;
    return a ? a->addr : 0;
}

static int sys_malloc(struct warp *w, const struct instr *in, uint32_t mask, const struct slots *slots)
{
    FOR_LANES(lane, mask) {
        struct caller c = { w, in, (int)lane };
        uint64_t size;
        if (!argument(&c, slots, 0, &size, 8) || !result(&c, slots, heap_alloc(w->cta->launch->gpu, size), 8))
            return X_FAULT;
    }
    return X_NEXT;
}

static int sys_free(struct warp *w, const struct instr *in, uint32_t mask, const struct slots *slots)
{
    struct gpu *g = w->cta->launch->gpu;
    FOR_LANES(lane, mask) {
        uint64_t addr;
        if (!argument(&(struct caller){ w, in, (int)lane }, slots, 0, &addr, 8))
            return X_FAULT;
        struct alloc *a = addr ? mem_find(g, addr) : NULL;
        if (addr && (!a || a->addr != addr || a->freed || strcmp(a->what, heap_name)))
            return fault(w, in, (int)lane, FAULT_BAD_OPERAND, "free: no malloc of a kernel returned 0x%llx",
                         (unsigned long long)addr);
        if (!a)
            continue;
        pthread_mutex_lock(&g->syscalls->lock);
        g->syscalls->heap_used -= a->size;
        pthread_mutex_unlock(&g->syscalls->lock);
        mem_free(g, addr);
    }
    return X_NEXT;
}

/* ---------------------------------------------------------------- by name */

static const struct { const char *name; syscall_fn *fn; } calls[] = {
    { "vprintf", sys_vprintf }, { "__assertfail", sys_assertfail }, { "malloc", sys_malloc }, { "free", sys_free },
};

syscall_fn *syscall_find(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, name))
            return calls[i].fn;
    return NULL;
}

bool syscall_known(const char *name) { return syscall_find(name) != NULL; }
