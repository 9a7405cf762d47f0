/* image.c: code that a program hands over (a fatbin, or PTX text), from the handle to a module on the gpu.
 *
 * What start-up code registers is loaded when one of its kernels or variables is first used, so a program that
 * never does pays nothing. What the program loads itself (cuModuleLoadData) is loaded at once.
 */
#include "cuda_emu.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct image *image_new(const void *fatbin)
{
    struct image *im = calloc(1, sizeof *im), **end = &ctx.images;
    struct fat_entry e;
    const uint8_t *at = NULL;
    if (!im)
        return NULL;
    im->data = fatbin;
    snprintf(im->name, sizeof im->name, fatbin ? "the PTX of %s" : "PTX", program_invocation_short_name);
    if (fatbin && fat_next(fat_container(fatbin), &at, &e) && e.name_len)
        snprintf(im->name, sizeof im->name, "the PTX of %.*s", (int)e.name_len, e.name);
    while (*end)
        end = &(*end)->next;
    return *end = im;
}

bool image_known(const struct image *im)
{
    const struct image *i = ctx.images;
    while (i && i != im)
        i = i->next;
    return i && im;
}

static void image_unload(struct image *im)
{
    if (im->module) {
        gpu_unload(ctx.gpu, im->module);
        ptx_free(im->module);
    }
    im->module = NULL;
    im->error = 0;
    for (struct kernel *k = im->kernels; k; k = k->next)
        k->func = NULL;
}

static void image_free(struct image *im)
{
    struct image **at = &ctx.images;
    while (*at != im)
        at = &(*at)->next;
    *at = im->next;
    image_unload(im);
    for (struct kernel *k = im->kernels, *next; k; k = next) {
        next = k->next;
        free((char *)k->name);
        free(k);
    }
    free(im->text);
    free(im);
}

struct image *image_register(const void *fatbin)
{
    lock();
    struct image *im = image_new(fatbin);
    if (im)
        im->registered = true;
    unlock();
    return im;
}

/* At exit, or when a shared object is closed: what it still has queued runs first. */
void image_unregister(struct image *im)
{
    dispatch_stop();
    lock();
    if (image_known(im)) {
        pause_gpu_locked();
        registry_drop(im);
        image_free(im);
        resume_gpu_locked();
    }
    unlock();
}

struct kernel *image_add_kernel(struct image *im, const char *name)
{
    struct kernel *k = im->kernels;
    while (k && strcmp(k->name, name))
        k = k->next;
    if (k || !(k = calloc(1, sizeof *k)))
        return k;
    k->image = im;
    k->name = strdup(name);
    k->max_dynamic_smem = k->carveout = -1;
    k->func = im->module ? ptx_func(im->module, name) : NULL;
    k->next = im->kernels;
    return im->kernels = k;
}

/* ---------------------------------------------------------------- loading */

static char *linked_text(struct image *im, const void *const *linked, size_t *len, char *err, size_t errlen)
{
    char *text[256], *all = NULL;
    size_t n = 0, size;
    for (; linked[n] && n < 256; n++) {
        struct fat_entry e;
        const void *container = fat_container(linked[n]);
        if (!container || !fat_best(container, ctx.device, &e) || !(text[n] = fat_payload(&e, &size, err, errlen)))
            break;
    }
    if (!linked[n])
        all = ptx_link(text, n, len);
    else if (!*err)
        snprintf(err, errlen, "file %zu of the device code linked into %s has no PTX for %s", n + 1, im->name, ctx.device->name);
    while (n)
        free(text[--n]);
    return all;
}

/* The PTX to run; NULL and a message. */
static char *image_text(struct image *im, size_t *len, char *err, size_t errlen)
{
    char has[400];
    struct fat_entry e;
    const void *container = fat_container(im->data);
    const void *const *linked = fat_linked(im->data);
    if (linked && linked[0])
        return linked_text(im, linked, len, err, errlen);
    if (fat_best(container, ctx.device, &e))
        return fat_payload(&e, len, err, errlen);
    snprintf(err, errlen, "%s: no PTX for %s (sm_%u%s) in it, only %s. The emulator runs PTX: compile with "
             "-gencode arch=compute_%u,code=compute_%u, or choose another chip with EMU_DEVICE", im->name, ctx.device->name,
             ctx.device->cc, ctx.device->suffix ? "a" : "", fat_describe(container, has, sizeof has), ctx.device->cc, ctx.device->cc);
    return NULL;
}

static void set_registers(const char *kernel, uint32_t regs, void *module)
{
    struct func *f = ptx_func(module, kernel);
    if (f)
        f->regs = regs;
}

/* Register counts from the machine code for this chip, if it came along. */
static void read_registers(struct image *im)
{
    struct fat_entry e, best = {0};
    char err[200], *elf;
    size_t size;
    const void *container = im->data ? fat_container(im->data) : NULL;
    for (const uint8_t *at = NULL; container && fat_next(container, &at, &e);)
        if (e.kind == FAT_ELF && e.arch / 10 == ctx.device->cc / 10 && e.arch <= ctx.device->cc && e.arch >= best.arch)
            best = e;
    if (!best.arch || !(elf = fat_payload(&best, &size, err, sizeof err)))
        return;
    cubin_registers(elf, size, set_registers, im->module);
    free(elf);
}

static int load(struct image *im, char *err, size_t errlen)
{
    if (!im->text && !(im->text = image_text(im, &im->text_len, err, errlen)))
        return cudaErrorNoKernelImageForDevice;
    im->module = ptx_parse_usable(im->name, im->text, im->text_len, err, errlen, im->data != NULL);
    if (!im->module)
        return cudaErrorInvalidPtx;
    if (!fat_runs_on(im->module->target, im->module->target_suffix, ctx.device)) {
        snprintf(err, errlen, "%s is for sm_%u%.1s and the device is %s (sm_%u): set EMU_DEVICE to a chip that runs it", im->name,
                 im->module->target, &im->module->target_suffix, ctx.device->name, ctx.device->cc);
        return cudaErrorNoKernelImageForDevice;
    }
    read_registers(im);
    if (!gpu_load(ctx.gpu, im->module, err, errlen))
        return cudaErrorInvalidPtx;
    return 0;
}

int image_load_locked(struct image *im)
{
    int error = ready_locked();
    if (error || im->error || im->module)
        return error ? error : im->error;
    ctx.complaint[0] = 0;
    pause_gpu_locked();
    im->error = load(im, ctx.complaint, sizeof ctx.complaint);
    resume_gpu_locked();
    if (im->error) {
        say("%s", ctx.complaint);
        ptx_free(im->module);
        im->module = NULL;
        return im->error;
    }
    for (struct kernel *k = im->kernels; k; k = k->next)
        k->func = ptx_func(im->module, k->name);
    registry_bind_managed(im);
    return 0;
}

void images_unload(void)
{
    for (struct image *im = ctx.images, *next; im; im = next) {
        next = im->next;
        if (im->registered)
            image_unload(im);
        else
            image_free(im);
    }
}

/* ---------------------------------------------------------------- by the program's own calls */

static int open_locked(const void *data, struct image **out)
{
    static const uint8_t elf[4] = {0x7f, 'E', 'L', 'F'};
    if (fat_begins(data, elf)) {
        say("a module of machine code was handed over; the emulator runs PTX: load what nvcc -ptx or -fatbin makes");
        return cudaErrorNoKernelImageForDevice;
    }
    bool fat = fat_container(data) != NULL;
    struct image *im = image_new(fat ? data : NULL);
    if (im && !fat) {
        im->text = strdup(data);
        im->text_len = strlen(data);
    }
    int error = im ? image_load_locked(im) : cudaErrorMemoryAllocation;
    if (error && im)
        image_free(im);
    *out = error ? NULL : im;
    return error;
}

int image_open(const void *data, struct image **out, char *log, size_t loglen)
{
    if (!data)
        return cudaErrorInvalidValue;
    lock();
    int error = open_locked(data, out);
    if (error && log && loglen)
        snprintf(log, loglen, "%s", ctx.complaint);
    unlock();
    return error;
}

/* The file's bytes must outlive the image when they are a fatbin, so they are kept as long as the program runs. */
int image_open_file(const char *path, struct image **out)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    size_t size = 0, got;
    if (!f)
        return cudaErrorFileNotFound;
    do {
        data = realloc(data, size + (1 << 16) + 1);
        got = fread(data + size, 1, 1 << 16, f);
        size += got;
    } while (got);
    fclose(f);
    data[size] = 0;
    int error = image_open(data, out, NULL, 0);
    if (error || !(*out)->data)
        free(data);
    return error;
}

int image_close(struct image *im)
{
    lock();
    int error = image_known(im) ? 0 : cudaErrorInvalidResourceHandle;
    if (!error) {
        wait_locked(NULL, ctx.sequence);
        pause_gpu_locked();
        image_free(im);
        resume_gpu_locked();
    }
    unlock();
    return error;
}

/* A kernel with an instruction that is not known: the others of its module run. */
int func_usable(const struct func *f)
{
    char name[200];
    if (f->refused)
        say("%s cannot run: %s", plain_name(f->name, name, sizeof name), f->refused);
    return f->refused ? cudaErrorInvalidPtx : 0;
}

int image_kernel(struct image *im, const char *name, struct kernel **out)
{
    lock();
    int error = !image_known(im) ? cudaErrorInvalidResourceHandle : image_load_locked(im);
    if (!error) {
        struct func *f = name ? ptx_func(im->module, name) : NULL;
        error = f && f->is_kernel ? func_usable(f) : cudaErrorSymbolNotFound;
        *out = error ? NULL : image_add_kernel(im, name);
    }
    unlock();
    return error;
}

int image_kernels(struct image *im, struct kernel **out, unsigned int max, unsigned int *count)
{
    lock();
    int error = !image_known(im) ? cudaErrorInvalidResourceHandle : image_load_locked(im);
    *count = 0;
    for (uint32_t i = 0; !error && i < im->module->nfunc; i++)
        if (im->module->func[i]->is_kernel && (*count)++ < max)
            out[*count - 1] = image_add_kernel(im, im->module->func[i]->name);
    unlock();
    return error;
}

int image_global(struct image *im, const char *name, uint64_t *addr, size_t *size)
{
    lock();
    int error = !image_known(im) ? cudaErrorInvalidResourceHandle : image_load_locked(im);
    struct symbol *s = !error && name ? ptx_var(im->module, name) : NULL;
    if (!error && (!s || (s->space != SP_GLOBAL && s->space != SP_CONST)))
        error = cudaErrorSymbolNotFound;
    if (!error && addr)
        *addr = s->addr;
    if (!error && size)
        *size = s->size;
    unlock();
    return error;
}

/* ---------------------------------------------------------------- which chip does the program want? */

uint32_t images_best_target(char *suffix)
{
    uint32_t best = 0;
    struct fat_entry e;
    for (struct image *im = ctx.images; im; im = im->next)
        for (const uint8_t *at = NULL; im->data && fat_next(fat_container(im->data), &at, &e);)
            if (e.kind == FAT_PTX && e.arch >= best) {
                *suffix = e.arch > best || e.suffix ? e.suffix : *suffix;
                best = e.arch;
            }
    return best;
}

bool images_run_on(const struct device *d)
{
    struct fat_entry e;
    for (struct image *im = ctx.images; im; im = im->next)
        if (im->data && !fat_linked(im->data) && !fat_best(fat_container(im->data), d, &e))
            return false;
    return true;
}
