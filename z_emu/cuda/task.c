/* task.c: what a stream can be asked to do, as data: a kernel, a copy, a fill, a host function, an event. A task is
 * made by an entry point, then queued by a stream or kept by a graph. */
#include "cuda_emu.h"
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- making copies and fills */

int task_copy(struct task *t, uint64_t dst, uint64_t src, size_t n, int kind)
{
    *t = (struct task){.kind = n ? TASK_COPY : TASK_EMPTY};
    t->copy = (struct copy_task){.dst = dst, .src = src, .dst_pitch = n, .src_pitch = n, .dst_rows = 1, .src_rows = 1,
                                 .width = n, .height = 1, .depth = 1, .kind = kind};
    return (unsigned)kind > cudaMemcpyDefault ? cudaErrorInvalidMemcpyDirection : 0;
}

static uint64_t box_start(struct cudaPitchedPtr p, struct cudaPos pos)
{
    return dev(p.ptr) + (pos.z * p.ysize + pos.y) * p.pitch + pos.x;
}

int task_copy_box(struct task *t, const struct cudaMemcpy3DParms *p)
{
    struct cudaExtent e = p->extent;
    if (p->srcArray || p->dstArray)
        return not_supported("cudaMemcpy3D from or to an array");
    if ((unsigned)p->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (e.height * e.depth > 1 && (p->srcPtr.pitch < e.width || p->dstPtr.pitch < e.width))
        return cudaErrorInvalidPitchValue;
    *t = (struct task){.kind = e.width && e.height && e.depth ? TASK_COPY : TASK_EMPTY};
    t->copy = (struct copy_task){
        .dst = box_start(p->dstPtr, p->dstPos), .src = box_start(p->srcPtr, p->srcPos),
        .dst_pitch = p->dstPtr.pitch, .src_pitch = p->srcPtr.pitch, .dst_rows = p->dstPtr.ysize, .src_rows = p->srcPtr.ysize,
        .width = e.width, .height = e.height, .depth = e.depth, .kind = p->kind,
    };
    return 0;
}

int task_fill(struct task *t, uint64_t dst, uint32_t value, uint32_t unit, size_t n)
{
    return task_fill_box(t, dst, n * unit, 1, value, unit, n, 1, 1);
}

int task_fill_box(struct task *t, uint64_t dst, size_t pitch, size_t rows, uint32_t value, uint32_t unit, size_t width,
                  size_t height, size_t depth)
{
    if ((unit != 1 && unit != 2 && unit != 4) || dst % unit || (height > 1 && pitch < width * unit))
        return cudaErrorInvalidValue;
    *t = (struct task){.kind = width && height && depth ? TASK_FILL : TASK_EMPTY};
    t->fill = (struct fill_task){.dst = dst, .pitch = pitch, .rows = rows, .width = width, .height = height, .depth = depth,
                                 .value = value, .unit = unit};
    return 0;
}

/* ---------------------------------------------------------------- where do the bytes live? */

/* From the first byte to behind the last one of a box. */
static size_t box_span(size_t pitch, size_t rows, size_t width, size_t height, size_t depth)
{
    return ((depth - 1) * rows + height - 1) * pitch + width;
}

/* 0 and whether the gpu knows the memory; an error when only part of the range is there. */
static int side(uint64_t addr, size_t span, bool *known, bool *host)
{
    struct alloc *a = mem_find(ctx.gpu, addr);
    *known = a != NULL;
    *host = !a || a->visible_to_host;
    return !addr || (a && span > a->addr + a->size - addr) ? cudaErrorInvalidValue : 0;
}

int task_copy_check(const struct task *t)
{
    const struct copy_task *c = &t->copy;
    bool known, host, device = false;
    int error = 0;
    if (t->kind != TASK_COPY)
        return 0;
    lock();
    if (!c->staged) {
        error = side(c->src, box_span(c->src_pitch, c->src_rows, c->width, c->height, c->depth), &known, &host);
        device = c->kind == cudaMemcpyDeviceToHost || c->kind == cudaMemcpyDeviceToDevice;
        if (!error && ((device && !known) || (!device && c->kind != cudaMemcpyDefault && !host)))
            error = cudaErrorInvalidValue;
    }
    if (!error) {
        error = side(c->dst, box_span(c->dst_pitch, c->dst_rows, c->width, c->height, c->depth), &known, &host);
        device = c->kind == cudaMemcpyHostToDevice || c->kind == cudaMemcpyDeviceToDevice;
        if (!error && ((device && !known) || (!device && c->kind != cudaMemcpyDefault && !host)))
            error = cudaErrorInvalidValue;
    }
    unlock();
    return error;
}

int task_fill_check(const struct task *t)
{
    const struct fill_task *f = &t->fill;
    bool known, host;
    if (t->kind != TASK_FILL)
        return 0;
    lock();
    int error = side(f->dst, box_span(f->pitch, f->rows, f->width * f->unit, f->height, f->depth), &known, &host);
    unlock();
    return error ? error : known ? 0 : cudaErrorInvalidValue;
}

/* Ordinary memory that the gpu does not know: an asynchronous copy from it takes the bytes at once, one to it waits. */
bool task_copy_pageable(const struct task *t, bool *to_host)
{
    lock();
    bool from = !t->copy.staged && !mem_find(ctx.gpu, t->copy.src);
    *to_host = !mem_find(ctx.gpu, t->copy.dst);
    unlock();
    return from;
}

void task_stage(struct copy_task *c)
{
    c->staged = malloc(c->width * c->height * c->depth);
    for (size_t z = 0; z < c->depth && c->staged; z++)
        for (size_t y = 0; y < c->height; y++)
            memcpy(c->staged + (z * c->height + y) * c->width, ptr(c->src + (z * c->src_rows + y) * c->src_pitch), c->width);
}

/* ---------------------------------------------------------------- doing them */

static int copy_row(uint64_t dst, uint64_t src, size_t n)
{
    bool from = mem_find(ctx.gpu, src), to = mem_find(ctx.gpu, dst);
    if (from && to)
        return mem_copy(ctx.gpu, dst, src, n) ? 0 : cudaErrorInvalidValue;
    if (from)
        return mem_to_host(ctx.gpu, ptr(dst), src, n) ? 0 : cudaErrorInvalidValue;
    if (to)
        return mem_to_device(ctx.gpu, dst, ptr(src), n) ? 0 : cudaErrorInvalidValue;
    memmove(ptr(dst), ptr(src), n);
    return 0;
}

int task_run_copy(const struct copy_task *c)
{
    int error = 0;
    if (c->height * c->depth > 1 && c->dst_pitch == c->width && c->src_pitch == c->width && c->depth == 1)
        return copy_row(c->dst, c->staged ? dev(c->staged) : c->src, c->width * c->height);
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height && !error; y++) {
            uint64_t src = c->staged ? dev(c->staged) + (z * c->height + y) * c->width
                                     : c->src + (z * c->src_rows + y) * c->src_pitch;
            error = copy_row(c->dst + (z * c->dst_rows + y) * c->dst_pitch, src, c->width);
        }
    return error;
}

int task_run_fill(const struct fill_task *f)
{
    bool ok = true;
    for (size_t z = 0; z < f->depth; z++)
        for (size_t y = 0; y < f->height && ok; y++)
            ok = mem_fill(ctx.gpu, f->dst + (z * f->rows + y) * f->pitch, f->value, f->unit, f->width);
    return ok ? 0 : cudaErrorInvalidValue;
}

/* Which way a copy crosses the bus to the host: 0 to the device, 1 from it, -1 not at all. */
int task_bus(const struct task *t)
{
    if (t->kind != TASK_COPY)
        return -1;
    struct alloc *from = t->copy.staged ? NULL : mem_find(ctx.gpu, t->copy.src), *to = mem_find(ctx.gpu, t->copy.dst);
    bool from_device = from && !from->visible_to_host, to_device = to && !to->visible_to_host;
    return from_device == to_device ? -1 : from_device;
}

/* Modelled nanoseconds: device memory at its own bandwidth, the host behind a bus of 50 GB/s. */
double task_ns(const struct task *t)
{
    const struct device *d = ctx.device;
    double dram = d->dram_bytes_per_kcycle / 1000.0 * d->clock_khz / 1e6;
    if (t->kind == TASK_FILL)
        return 1500 + (double)t->fill.width * t->fill.unit * t->fill.height * t->fill.depth / dram;
    if (t->kind != TASK_COPY)
        return 0;
    double bytes = (double)t->copy.width * t->copy.height * t->copy.depth;
    return 1500 + (task_bus(t) < 0 ? 2 * bytes / dram : bytes / 50);
}

/* ---------------------------------------------------------------- owning them */

static void *copy_of(const void *p, size_t n)
{
    void *q = p ? malloc(MAX(n, 1)) : NULL;
    return q ? memcpy(q, p, n) : NULL;
}

void task_clone(struct task *to, const struct task *from)
{
    *to = *from;
    if (from->kind == TASK_KERNEL) {
        to->kernel.params = copy_of(from->kernel.params, from->kernel.kernel->func->param_bytes);
        to->kernel.args = NULL;
    }
    if (from->kind == TASK_COPY)
        to->copy.staged = copy_of(from->copy.staged, from->copy.width * from->copy.height * from->copy.depth);
    if (from->kind == TASK_RECORD || from->kind == TASK_WAIT)
        to->event.moment = from->event.moment ? moment_hold(from->event.moment) : NULL;
    if (from->kind == TASK_GRAPH && graph_clone(from->graph, &to->graph))
        to->kind = TASK_EMPTY;
}

void task_free(struct task *t)
{
    if (t->kind == TASK_KERNEL) {
        free(t->kernel.params);
        free(t->kernel.args);
    }
    if (t->kind == TASK_COPY)
        free(t->copy.staged);
    if ((t->kind == TASK_RECORD || t->kind == TASK_WAIT) && t->event.moment)
        moment_drop(t->event.moment);
    if (t->kind == TASK_GRAPH)
        graph_free(t->graph);
    t->kind = TASK_EMPTY;
}
