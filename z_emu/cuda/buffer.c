/* buffer.c: the memory that a program holds: cudaMalloc, pinned, registered and managed memory, in one sorted table. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

static struct { struct buffer *at; size_t n, room; uint64_t ids; size_t used; } table;

/* Index of the first buffer that begins behind addr. */
static size_t behind(uint64_t addr)
{
    size_t low = 0, high = table.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (table.at[mid].addr <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool buffer_find_locked(uint64_t addr, struct buffer *out)
{
    size_t i = behind(addr);
    if (!i || addr - table.at[i - 1].addr >= MAX(table.at[i - 1].size, 1))
        return false;
    *out = table.at[i - 1];
    return true;
}

bool buffer_find(uint64_t addr, struct buffer *out)
{
    lock();
    bool found = buffer_find_locked(addr, out);
    unlock();
    return found;
}

static void add(struct buffer b)
{
    if (table.n == table.room) {
        table.room = table.room ? 2 * table.room : 64;
        table.at = realloc(table.at, table.room * sizeof *table.at);
    }
    size_t i = behind(b.addr);
    memmove(table.at + i + 1, table.at + i, (table.n - i) * sizeof *table.at);
    b.id = ++table.ids;
    table.at[i] = b;
    table.n++;
    if (b.kind == BUF_DEVICE)
        table.used += b.size;
}

void buffer_forget_locked(uint64_t addr)
{
    size_t i = behind(addr);
    if (!i || table.at[i - 1].addr != addr)
        return;
    if (table.at[i - 1].kind == BUF_DEVICE)
        table.used -= table.at[i - 1].size;
    memmove(table.at + i - 1, table.at + i, (table.n - i) * sizeof *table.at);
    table.n--;
}

int buffer_new(enum buffer_kind kind, size_t size, unsigned int flags, const char *what, uint64_t *addr)
{
    *addr = 0;
    if (!size)
        return 0;
    lock();
    bool device = kind == BUF_DEVICE;
    struct alloc *a = NULL;
    if (device && capturing_globally() && !(flags & BUF_OF_GRAPH)) {
        unlock();
        return cudaErrorStreamCaptureUnsupported;
    }
    pause_gpu_locked();
    if (!device || size <= ctx.device->global_bytes - MIN(table.used, ctx.device->global_bytes))
        a = device ? mem_alloc(ctx.gpu, size, what) : mem_alloc_host(ctx.gpu, size, what);
    resume_gpu_locked();
    if (a) {
        *addr = a->addr;
        add((struct buffer){.addr = a->addr, .size = size, .kind = kind, .flags = flags});
    }
    unlock();
    return a ? 0 : cudaErrorMemoryAllocation;
}

/* Rows begin at multiples of 512 bytes, as on the chip. */
int buffer_pitch(size_t width, size_t height, uint64_t *addr, size_t *pitch)
{
    size_t row = (width + 511) / 512 * 512, size;
    if (__builtin_mul_overflow(row, height, &size))
        return cudaErrorMemoryAllocation;
    *pitch = row;
    return buffer_new(BUF_DEVICE, size, 0, "cudaMallocPitch", addr);
}

int buffer_register(void *host, size_t size, unsigned int flags)
{
    struct buffer b;
    if (!host || !size)
        return cudaErrorInvalidValue;
    lock();
    int error = buffer_find_locked(dev(host), &b) ? cudaErrorHostMemoryAlreadyRegistered : 0;
    if (!error) {
        pause_gpu_locked();
        error = mem_register(ctx.gpu, host, size) ? 0 : cudaErrorInvalidValue;
        resume_gpu_locked();
    }
    if (!error)
        add((struct buffer){.addr = dev(host), .size = size, .kind = BUF_REGISTERED, .flags = flags});
    unlock();
    return error;
}

void buffer_free_locked(uint64_t addr)
{
    struct buffer b;
    if (buffer_find_locked(addr, &b) && b.flags & BUF_OF_GRAPH)
        return;
    pause_gpu_locked();
    mem_free(ctx.gpu, addr);
    resume_gpu_locked();
    buffer_forget_locked(addr);
}

/* Waits for all work first: a kernel may still use the memory. */
int buffer_free(uint64_t addr, bool host)
{
    struct buffer b;
    if (!addr)
        return 0;
    lock();
    if (capturing_globally()) {
        unlock();
        return cudaErrorStreamCaptureUnsupported;
    }
    wait_locked(NULL, ctx.sequence);
    int error = ctx.sticky;
    if (!error && (!buffer_find_locked(addr, &b) || b.addr != addr || b.kind == BUF_REGISTERED || (b.kind == BUF_HOST) != host))
        error = cudaErrorInvalidValue;
    if (!error)
        buffer_free_locked(addr);
    unlock();
    return error;
}

int buffer_unregister(void *host)
{
    struct buffer b;
    lock();
    wait_locked(NULL, ctx.sequence);
    int error = !buffer_find_locked(dev(host), &b) || b.kind != BUF_REGISTERED ? cudaErrorHostMemoryNotRegistered : 0;
    if (!error)
        buffer_free_locked(b.addr);
    unlock();
    return error;
}

void buffer_drop_all(void)
{
    while (table.n) {
        table.at[table.n - 1].flags = 0;
        buffer_free_locked(table.at[table.n - 1].addr);
    }
}

size_t buffer_used(void)
{
    return table.used;
}

int buffer_info(size_t *free_bytes, size_t *total)
{
    lock();
    *total = ctx.device->global_bytes;
    *free_bytes = *total - MIN(table.used, *total);
    unlock();
    return 0;
}
