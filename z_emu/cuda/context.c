/* context.c: the one device, opened when first needed, and the lock over everything in this folder. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

struct context ctx = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .limit = {[cudaLimitStackSize] = 1024, [cudaLimitPrintfFifoSize] = 1 << 20, [cudaLimitMallocHeapSize] = 8 << 20,
              [cudaLimitDevRuntimeSyncDepth] = 2, [cudaLimitDevRuntimePendingLaunchCount] = 2048,
              [cudaLimitMaxL2FetchGranularity] = 64, [cudaLimitPersistingL2CacheSize] = 0},
    .device_flags = cudaDeviceMapHost,
};

void lock(void) { pthread_mutex_lock(&ctx.lock); }
void unlock(void) { pthread_mutex_unlock(&ctx.lock); }

/* EMU_DEVICE, else what the newest PTX in the program asks for, else (if other PTX in it does not run there) the
 * first chip on which all of it runs. */
static const struct device *choose_device(void)
{
    static const char *const usual[] = {"h200", "b200", "a100", "rtx5090"};
    const char *wish = getenv("EMU_DEVICE");
    if (wish && *wish) {
        const struct device *d = device_by_id(wish);
        if (!d)
            say("EMU_DEVICE=%s: no such device; known are a100, h200, b200, b300 and rtx5090", wish);
        return d;
    }
    char suffix = 0;
    uint32_t arch = images_best_target(&suffix);
    const struct device *d = arch ? device_for_target(arch, suffix) : NULL;
    if (d && images_run_on(d))
        return d;
    for (size_t i = 0; arch && i < sizeof usual / sizeof *usual; i++)
        if (device_by_id(usual[i]) && images_run_on(device_by_id(usual[i])))
            return device_by_id(usual[i]);
    return d ? d : device_by_id("h200");
}

static const struct device *device_locked(void)
{
    if (!ctx.device && !ctx.open_error) {
        ctx.device = choose_device();
        if (!ctx.device)
            ctx.open_error = cudaErrorNoDevice;
    }
    return ctx.device;
}

const struct device *ctx_device(void)
{
    lock();
    const struct device *d = device_locked();
    unlock();
    return d;
}

int ready_locked(void)
{
    if (ctx.sticky)
        return ctx.sticky;
    if (ctx.gpu)
        return 0;
    const struct device *d = device_locked();
    if (d && !ctx.open_error) {
        ctx.gpu = gpu_open(d);
        ctx.open_error = ctx.gpu ? 0 : cudaErrorInitializationError;
    }
    return ctx.open_error;
}

int ready_unlocked(void)
{
    if (in_host_function)
        return cudaErrorNotPermitted;
    lock();
    int error = ready_locked();
    unlock();
    return error;
}

int ready(void)
{
    make_current();
    return ready_unlocked();
}

/* Everything that a program made is gone afterwards, a sticky error too; code that it registered is loaded afresh
 * when it is next used. */
int ctx_reset(void)
{
    device_sync();
    lock();
    pause_gpu_locked();
    graphs_drop_all();
    stream_drop_all();
    event_drop_all();
    images_unload();
    buffer_drop_all();
    if (ctx.gpu)
        gpu_close(ctx.gpu);
    ctx.gpu = NULL;
    ctx.sticky = 0;
    ctx.generation++;
    resume_gpu_locked();
    unlock();
    return 0;
}

/* What is still queued when the program ends is finished, so that what its kernels print is seen. */
__attribute__((destructor)) static void at_exit(void)
{
    dispatch_stop();
}
