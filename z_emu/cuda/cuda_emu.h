/* cuda_emu.h: what the files of this folder offer each other. Sectioned by file, lowest first.
 *
 *   program -> runtime*.c, driver*.c      one short function per entry point, named and typed as NVIDIA's
 *           -> task.c stream.c graph.c …  what the entry points have in common; errors are plain ints
 *           -> core                       gpu, memory, launches
 *
 * One lock (context.c) guards everything here. One thread, the dispatcher (dispatch.c), takes tasks from the
 * streams and is the only one that runs the gpu or copies. Functions named *_locked are called with the lock held.
 */
#ifndef Z_CUDA_CUDA_EMU_H
#define Z_CUDA_CUDA_EMU_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* strdup, dladdr, clock_gettime, … */
#endif

#include "abi.h"
#include "emu.h"
#include <pthread.h>

struct kernel; struct image; struct stream; struct event; struct moment; struct graph; struct node;

/* ================================================================ fatbin.c, unpack.c, cubin.c: files in files */

enum fat_kind { FAT_PTX = 1, FAT_ELF = 2 };

struct fat_entry {              /* one member of a fatbin */
    enum fat_kind kind;
    uint32_t arch;              /* 90 */
    char suffix;                /* 'a', 'f' or 0 */
    const uint8_t *payload;
    size_t size, unpacked;      /* bytes as stored; unpacked 0: stored plainly */
    uint64_t flags;
    const char *name;           /* source file, not NUL-ended */
    uint32_t name_len;
};

bool fat_begins(const void *data, const uint8_t magic[4]);
/* The container behind whatever a program hands over: a wrapper, a container. NULL if it is neither. */
const void *fat_container(const void *data);
/* The members in order: start with *at == NULL; false at the end. */
bool fat_next(const void *container, const uint8_t **at, struct fat_entry *e);
/* Relocatable fatbins that a wrapper names (device code linked from several files), NULL-ended, or NULL. */
const void *const *fat_linked(const void *data);
/* Does code for (arch, suffix) run on the device? */
bool fat_runs_on(uint32_t arch, char suffix, const struct device *d);
/* The PTX that suits the device best; false when none does. */
bool fat_best(const void *container, const struct device *d, struct fat_entry *e);
/* "PTX for sm_90a, machine code for sm_90" for messages. */
const char *fat_describe(const void *container, char *buf, size_t len);
/* The unpacked payload, NUL-ended, to be freed; NULL and a message on failure. */
char *fat_payload(const struct fat_entry *e, size_t *size, char *err, size_t errlen);

/* LZ4 block -> exactly `size` bytes; false if the input is not such a block. */
bool lz4_unpack(const uint8_t *in, size_t inlen, uint8_t *out, size_t size);
/* The same for a zstd frame, by the system's libzstd; false and a message. */
bool zstd_unpack(const uint8_t *in, size_t inlen, uint8_t *out, size_t size, char *err, size_t errlen);

/* Calls `each` with every kernel of an ELF cubin and its registers per thread. */
void cubin_registers(const void *elf, size_t size, void (*each)(const char *kernel, uint32_t regs, void *arg), void *arg);

/* ================================================================ context.c: the one device and the lock */

enum { LIMITS = 16 };

struct context {
    pthread_mutex_t lock;
    pthread_cond_t changed;     /* a task was added, begun or done; somebody waits or pauses */
    struct gpu *gpu;            /* NULL until the first call that needs it */
    const struct device *device;
    int sticky;                 /* the error of a device fault: every later call returns it */
    int open_error;
    uint64_t generation;        /* counts cudaDeviceReset */
    /* dispatch.c */
    bool dispatcher_up, in_gpu, stop;
    uint32_t waiters, pausing, running;
    uint64_t sequence;          /* of the last task */
    uint64_t queued;            /* tasks not yet done */
    double idle_since;          /* host seconds when a task was last added */
    double bus_ns[2];           /* modelled time until which the bus is taken: to the device, from it */
    double host_ns;             /* modelled time at which the host last waited */
    struct stream *streams;
    struct stream *legacy;
    struct event *events;
    /* image.c */
    struct image *images;
    char complaint[2000];       /* why the last one was refused */
    /* settings that programs write and read back */
    size_t limit[LIMITS];
    unsigned int device_flags;
    int cache_config, smem_config;
};
extern struct context ctx;

void lock(void);
void unlock(void);
/* 0 when the gpu is open (opening it if need be) and no fault has happened, else the error. */
int ready(void);
/* As ready, for the driver: needs cuInit and a context that is current to this thread (driver_device.c). */
int current(void);
int drv_context(void *out);                     /* the current context, as a CUcontext */
void make_current(void);                        /* the runtime uses the device's own context */
int ready_locked(void);
int ready_unlocked(void);                       /* as ready, without making a context current */
const struct device *ctx_device(void);          /* chosen, without opening the gpu; NULL: EMU_DEVICE is unknown */
int ctx_reset(void);                            /* cudaDeviceReset */
/* Remembers a runtime call's error for cudaGetLastError, and returns it. */
cudaError_t rt(int error);
int last_error(bool clear);
CUresult drv(int error);

/* At the head of an entry point: the pointers that it reads or writes through without asking. `as` is rt or drv. */
#define NEEDS(as, given)                          \
    do {                                          \
        if (!(given))                             \
            return as(cudaErrorInvalidValue);     \
    } while (0)
const char *error_name(int error, bool driver); /* NULL if unknown */
const char *error_text(int error);
int not_supported(const char *name);            /* says so, once per name */

/* Attribute `number` of cudaDeviceAttr and CUdevice_attribute, which share their numbers (device.c). */
int device_attribute(int *value, int number);
int device_properties(struct cudaDeviceProp *p);
int device_check(int ordinal);                  /* cudaErrorInvalidDevice unless 0 */
void device_uuid(char bytes[16]);

/* ================================================================ image.c: code that was handed over, kernels, variables */

struct kernel {
    struct image *image;
    const char *name;
    struct func *func;          /* once the image is loaded */
    struct kernel *next;
    int max_dynamic_smem;       /* what the program asked for; -1: nothing */
    int carveout, cluster_policy;
    uint32_t cluster[3];        /* required by attribute; 0: not */
    bool nonportable_cluster;
};

struct image {                  /* a fatbin or a PTX text: CUmodule, CUlibrary and the runtime's fatbin handle */
    struct image *next;
    const void *data;           /* as handed over; NULL for text */
    char *text;                 /* PTX, ours */
    size_t text_len;
    char name[200];
    struct module *module;      /* NULL until loaded */
    int error;                  /* why loading failed */
    bool registered;            /* by a program's start-up code: stays until it is unregistered */
    struct kernel *kernels;
};

struct image *image_register(const void *fatbin);       /* at start-up; loaded when first used */
void image_unregister(struct image *im);
bool image_known(const struct image *im);
int image_load_locked(struct image *im);        /* parses and binds, once; returns the same error ever after */
int image_open(const void *data, struct image **out, char *log, size_t loglen);     /* fatbin or PTX text, loaded at once */
int image_open_file(const char *path, struct image **out);
int image_close(struct image *im);
int image_kernel(struct image *im, const char *name, struct kernel **out);
int func_usable(const struct func *f);            /* 0; or says why it cannot run, and cudaErrorInvalidPtx */
int image_kernels(struct image *im, struct kernel **out, unsigned int max, unsigned int *count);
int image_global(struct image *im, const char *name, uint64_t *addr, size_t *size);
struct kernel *image_add_kernel(struct image *im, const char *name);
uint32_t images_best_target(char *suffix);      /* the newest PTX among all registered images; 0: none */
bool images_run_on(const struct device *d);
void images_unload(void);                       /* the device is reset */

/* One text of several, as the device linker would make it (link.c). */
char *ptx_link(char *const *text, size_t n, size_t *len);

struct host_symbol {            /* host stub or host shadow variable -> device name (registry.c) */
    const void *host;
    struct image *image;
    struct kernel *kernel;      /* of a stub */
    const char *variable;       /* of a shadow */
    size_t size;
    bool managed;
};
void registry_add(const struct host_symbol *s);
void registry_drop(const struct image *im);
void registry_bind_managed(struct image *im);   /* after loading: the shadows of managed variables point to them */
/* By host stub or by kernel handle; kernel_get loads it too. */
struct kernel *kernel_find(const void *func);
int kernel_get(const void *func, struct kernel **out);
int symbol_get(const void *shadow, uint64_t *addr, size_t *size);

/* ---- kernel.c: what a kernel says of itself and what a program asks of it */
int kernel_attributes(struct kernel *k, struct cudaFuncAttributes *a);
int kernel_attribute(struct kernel *k, int attribute, int *value);
int kernel_set_attribute(struct kernel *k, int attribute, int value);
int kernel_param(struct kernel *k, size_t index, size_t *offset, size_t *size);

/* ================================================================ buffer.c: memory that the program holds */

enum buffer_kind { BUF_DEVICE, BUF_HOST, BUF_REGISTERED, BUF_MANAGED };
enum { BUF_OF_GRAPH = 1u << 31 };       /* flag: a graph's allocation node makes it anew at each launch, so a free leaves it */
struct buffer { uint64_t addr; size_t size; enum buffer_kind kind; unsigned int flags; uint64_t id; };

int buffer_new(enum buffer_kind kind, size_t size, unsigned int flags, const char *what, uint64_t *addr);
int buffer_pitch(size_t width, size_t height, uint64_t *addr, size_t *pitch);
int buffer_register(void *host, size_t size, unsigned int flags);
int buffer_free(uint64_t addr, bool host);      /* waits for the device first, as cudaFree does */
int buffer_unregister(void *host);
bool buffer_find(uint64_t addr, struct buffer *out);
bool buffer_find_locked(uint64_t addr, struct buffer *out);
void buffer_forget_locked(uint64_t addr);
void buffer_free_locked(uint64_t addr);         /* waits for nothing: the dispatcher's, in stream order */
void buffer_drop_all(void);
size_t buffer_used(void);
int buffer_info(size_t *free, size_t *total);

/* ================================================================ task.c: what a stream is asked to do */

enum task_kind { TASK_EMPTY, TASK_KERNEL, TASK_COPY, TASK_FILL, TASK_HOST, TASK_RECORD, TASK_WAIT, TASK_FREE, TASK_GRAPH,
                 TASK_ALLOC, TASK_FREED, TASK_WRITE_VALUE, TASK_WAIT_VALUE };

struct kernel_task {
    struct kernel *kernel;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dyn_smem;
    bool explicit_cluster, cooperative;
    bool programmatic;          /* may start before the kernel in front of it ends */
    int priority;
    uint8_t *params;            /* parameter block, ours */
    void **args;                /* pointers into it, made when a program asks a graph node for them */
};
struct copy_task {              /* a box of bytes; 1D is one row */
    uint64_t dst, src;
    size_t dst_pitch, src_pitch, dst_rows, src_rows;    /* bytes from row to row, rows from plane to plane */
    size_t width, height, depth;
    enum cudaMemcpyKind kind;
    uint8_t *staged;            /* snapshot of pageable source bytes, densely packed; ours */
};
struct fill_task {
    uint64_t dst;
    size_t pitch, rows;         /* bytes from row to row, rows from plane to plane */
    size_t width, height, depth;    /* width in elements */
    uint32_t value, unit;
};
struct host_task {
    cudaHostFn_t fn;
    cudaStreamCallback_t callback;  /* the older form, which wants the stream and its status */
    cudaStream_t stream;
    void *data;
};
struct value_task { uint64_t addr, value; uint32_t bytes, condition; };

struct task {
    enum task_kind kind;
    union {
        struct kernel_task kernel;
        struct copy_task copy;
        struct fill_task fill;
        struct host_task host;
        struct {                                                        /* RECORD and WAIT */
            struct event *event;
            struct moment *moment;
            bool programmatic;  /* RECORD: it is over when the kernels in front of it have let their dependents start */
        } event;
        uint64_t addr;                                                  /* FREE, ALLOC */
        struct graph *graph;                                            /* GRAPH: a child */
        struct value_task value;
    };
};

int task_copy(struct task *t, uint64_t dst, uint64_t src, size_t n, int kind);
int task_copy_box(struct task *t, const struct cudaMemcpy3DParms *p);
int task_fill(struct task *t, uint64_t dst, uint32_t value, uint32_t unit, size_t n);
int task_fill_box(struct task *t, uint64_t dst, size_t pitch, size_t rows, uint32_t value, uint32_t unit, size_t width,
                  size_t height, size_t depth);
int task_copy_check(const struct task *t);      /* both sides exist, as far as we can tell */
int task_fill_check(const struct task *t);
bool task_copy_pageable(const struct task *t, bool *to_host);
void task_stage(struct copy_task *c);           /* takes the source bytes now */
void task_clone(struct task *to, const struct task *from);
void task_free(struct task *t);
int task_run_copy(const struct copy_task *c);   /* by the dispatcher */
int task_run_fill(const struct fill_task *f);
int task_bus(const struct task *t);             /* a copy's direction over the bus, -1: none */
double task_ns(const struct task *t);           /* modelled duration of copies and fills */

/* ================================================================ event.c */

struct moment {                 /* a point in a stream's work, which events and waits refer to */
    uint32_t refs;
    bool done;
    double ns;                  /* modelled time */
    struct launch *launch;      /* programmatic: the kernel, while it runs on; it is a prerequisite of what waits */
};
struct moment *moment_new(void);
struct moment *moment_hold(struct moment *m);
void moment_drop(struct moment *m);

struct event {
    struct event *next;
    unsigned int flags;
    struct moment *moment;      /* of the last record; NULL: never recorded */
    struct capture *capture;    /* recorded in a capture… */
    struct node **after;        /* …after these nodes */
    uint32_t nafter;
};
struct event *event_find(CUevent e);            /* NULL: no such event; lock held */
int event_new(CUevent *out, unsigned int flags);
int event_free(CUevent e);
int event_record(CUevent e, CUstream s, unsigned int flags);
int event_record_programmatic(CUevent e, CUstream s);  /* over when the kernel in front lets its dependents start */
int event_query(CUevent e);
int event_sync(CUevent e);
int event_elapsed(float *ms, CUevent a, CUevent b);
void event_drop_all(void);

/* ================================================================ stream.c */

struct command {                /* a task in a queue */
    struct command *next;
    struct stream *stream;
    uint64_t sequence;
    struct task task;
    bool begun;
    bool finished;              /* it ended before one in front of it did */
    bool passable;              /* a dependent kernel may start ahead of it: a graph's own record */
    double not_before, start_ns, end_ns;
    struct launch *launch;
};
struct stream {
    struct stream *next;
    bool legacy, blocking, dying;
    bool internal;              /* a graph's lane */
    int priority;
    unsigned int flags;
    uint64_t id;
    struct command *head, *tail;
    uint64_t last_queued, last_done;    /* sequence numbers */
    double ns;                  /* modelled time at which its work ends */
    struct launch *prerequisite[MAX_PREREQUISITES];     /* kernels of other streams that an event let it overtake */
    uint32_t nprerequisites;
    struct overlap *overlap;    /* of the last kernel, which let its dependents start and ended before they did */
    cudaLaunchAttributeValue attribute[20];
    struct capture *capture;    /* NULL: not capturing */
    struct node **after;        /* the nodes that the next captured node follows */
    uint32_t nafter;
};
struct stream *stream_find(CUstream s);         /* by handle, default streams too; NULL: no such; lock held */
int stream_new(CUstream *out, unsigned int flags, int priority);
struct stream *stream_new_locked(unsigned int flags, int priority);
int stream_free(CUstream s);
int stream_sync(CUstream s);
int stream_query(CUstream s);
int stream_wait_event(CUstream s, CUevent e);
int stream_info(CUstream s, unsigned int *flags, int *priority, unsigned long long *id);
int stream_attribute(CUstream s, int id, cudaLaunchAttributeValue *get, const cudaLaunchAttributeValue *set);
int device_sync(void);
void stream_delete_locked(struct stream *s);
void stream_drop_all(void);
/* The per-thread stream when the handle names a default stream. */
CUstream own_stream(CUstream s);

/* ================================================================ dispatch.c */

/* Hands a task (which it then owns) to a stream, or to the graph that the stream is being captured into.
 * wait: returns when it is done. */
int submit(CUstream s, struct task *t, bool wait);
struct command *enqueue_locked(struct stream *s, const struct task *t);
void wait_locked(const struct stream *s, uint64_t sequence);    /* s NULL: for every stream */
bool moment_wait_locked(const struct moment *m);
/* Between these the gpu stands still and its tables may change. */
void pause_gpu_locked(void);
void resume_gpu_locked(void);
void dispatch_stop(void);       /* at exit: finishes what is queued, or gives up after a while and ends the program */
extern _Thread_local bool in_host_function;

/* ================================================================ graph.c, capture.c */

struct node {
    struct node *next;
    struct graph *graph;
    struct task task;
    struct node **dep;
    uint32_t ndep;
    bool disabled;
    const struct node *origin;  /* in a clone: the node that it was made from */
    struct node *twin;          /* scratch: its copy while a clone is made */
    uint32_t mark;              /* scratch of walks */
    struct moment *moment;      /* scratch of a launch: its end */
    struct stream *lane;
};
struct graph {                  /* a cudaGraph_t; or a cudaGraphExec_t: a sorted copy that can be launched */
    struct graph *next;
    struct node *first, *last;
    uint32_t nnode;
    bool exec;
    unsigned long long flags;
    struct stream **lane;       /* streams for an exec's branches, made as needed */
    uint32_t nlane;
    struct held *objects;       /* user objects that live as long as it does (graph_object.c) */
};
struct graph *graph_new(void);
struct graph *graph_find(const void *handle, bool exec);        /* NULL: no such handle; lock held, as for all of these */
struct node *node_find(const void *handle);
struct node *graph_add(struct graph *g, const struct task *t, struct node *const *dep, size_t ndep);    /* owns the task */
int graph_clone(const struct graph *g, struct graph **out);
int graph_instantiate(const struct graph *g, struct graph **exec);
void graph_free(struct graph *g);
int graph_launch_locked(struct graph *exec, struct stream *s);
void node_free(struct node *n);
bool node_follows(const struct node *n, const struct node *dep);
void node_link(struct node *n, struct node *dep);
void node_unlink(struct node *n, const struct node *dep);
struct node *graph_copy_of(const struct graph *g, const struct node *origin);
int graph_update(struct graph *exec, const struct graph *g, struct node **culprit);
void graphs_drop_all(void);
void graph_drop_objects(struct graph *g);
int graph_keep_objects(struct graph *to, const struct graph *from);

/* ---- graph_build.c: the same by handle, taking the lock */
int graph_add_node(cudaGraph_t graph, struct task *t, const cudaGraphNode_t *deps, size_t ndep, cudaGraphNode_t *out);
int graph_set_task(cudaGraphExec_t exec, cudaGraphNode_t node, struct task *t);
int graph_get_task(cudaGraphNode_t node, enum task_kind kind, struct task *out);
int graph_node_attribute(cudaGraphNode_t node, const cudaLaunchAttribute *set, int id, cudaLaunchAttributeValue *get);
int graph_node_enable(cudaGraphExec_t exec, cudaGraphNode_t node, const unsigned int *set, unsigned int *get);
int graph_node_type(cudaGraphNode_t node, int *type);
int graph_nodes(cudaGraph_t graph, bool roots, cudaGraphNode_t *out, size_t *count);
int graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count);
int graph_neighbours(cudaGraphNode_t node, bool after, cudaGraphNode_t *out, size_t *count);
int graph_link(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n, bool add);
int graph_make(cudaGraph_t *out);
int graph_delete(const void *graph, bool exec);
int graph_delete_node(cudaGraphNode_t node);
int graph_copy(cudaGraph_t *out, cudaGraph_t graph);
int graph_child_task(struct task *t, cudaGraph_t child);
int graph_find_copy(cudaGraphNode_t *out, cudaGraphNode_t origin, cudaGraph_t clone);
int graph_exec_new(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags);
int graph_exec_flags(cudaGraphExec_t exec, unsigned long long *flags);
int graph_exec_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *culprit);
int graph_launch(cudaGraphExec_t exec, CUstream stream);
void **graph_node_args(cudaGraphNode_t node);   /* a kernel node's argument pointers */

struct capture {
    struct capture *next;
    struct graph *graph;
    struct stream *origin;
    bool invalid;
    int mode;
    uint64_t id;
    pthread_t thread;
};
int capture_begin(CUstream s, struct graph *into, struct node *const *dep, size_t ndep, int mode);
int capture_end(CUstream s, struct graph **out);
int capture_report(CUstream s, int *status, unsigned long long *id, CUgraph *graph, const CUgraphNode **dep, size_t *ndep);
int capture_update(CUstream s, struct node *const *dep, size_t ndep, bool replace);
int capture_task_locked(struct stream *s, struct task *t);      /* submit's other half */
int capture_record_locked(struct stream *s, struct event *e);
int capture_wait_locked(struct stream *s, struct event *e);
bool capturing_globally(void);  /* is there a capture during which this thread must not wait or allocate? */

/* ================================================================ launch.c, occupancy.c */

int launch(struct kernel *k, dim3 grid, dim3 block, size_t dyn_smem, CUstream s, void **args, void **extra,
           const cudaLaunchAttribute *attrs, unsigned int nattrs);
int launch_task(struct task *t, struct kernel *k, dim3 grid, dim3 block, size_t dyn_smem, void **args, void **extra,
                const cudaLaunchAttribute *attrs, unsigned int nattrs);
int task_set_attribute(struct task *t, const cudaLaunchAttribute *a);
int task_get_attribute(const struct task *t, int id, cudaLaunchAttributeValue *v);

int occupancy_blocks(struct kernel *k, int block, size_t dyn_smem, int *blocks);
int occupancy_block_size(struct kernel *k, CUoccupancyB2DSize smem_of, size_t dyn_smem, int limit, int *grid, int *block);
int occupancy_dynamic(struct kernel *k, int blocks, int block, size_t *dyn_smem);
int occupancy_clusters(struct kernel *k, const cudaLaunchConfig_t *config, int *clusters);
int occupancy_cluster_size(struct kernel *k, const cudaLaunchConfig_t *config, int *size);

/* ================================================================ pool.c: stream-ordered allocation */

int pool_alloc(uint64_t *addr, size_t size, CUmemoryPool pool, CUstream s);
int pool_free(uint64_t addr, CUstream s);
int pool_new(CUmemoryPool *out);
int pool_delete(CUmemoryPool p);
int pool_default(CUmemoryPool *out);
int pool_current(CUmemoryPool *out, CUmemoryPool set);
int pool_attribute(CUmemoryPool p, int attribute, void *value, bool set);

/* ================================================================ entry.c: entry points by name */

void *entry_point(const char *name, int version, bool per_thread);

/* ================================================================ compression of repetition in the entry points */

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static inline uint64_t dev(const void *p) { return (uint64_t)(uintptr_t)p; }
static inline void *ptr(uint64_t addr) { return (void *)(uintptr_t)addr; }

#endif
