/* entry.c: entry points of the driver by name, for cuGetProcAddress and cudaGetDriverEntryPoint.
 *
 * Names are asked for without the suffix of their version. Functions whose parameters changed are chosen by the CUDA
 * version that the program was written for; of all others the newest is right.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *entry_point(const char *name, int version, bool per_thread);

#define RUNTIME(name)
#define DRIVER(name) int name(void);
#include "names.def"
#undef DRIVER

static const struct entry { const char *name; int (*function)(void); } entries[] = {
#define DRIVER(name) {#name, name},
#include "names.def"
};

static const struct { const char *name; int since; const char *suffix; } changed[] = {  /* newest first */
    {"cuCtxCreate", 12050, "_v4"}, {"cuCtxCreate", 11040, "_v3"}, {"cuCtxCreate", 0, "_v2"},
    {"cuMemPrefetchAsync", 12020, "_v2"}, {"cuMemPrefetchAsync", 0, ""},
    {"cuMemAdvise", 12020, "_v2"}, {"cuMemAdvise", 0, ""},
    {"cuStreamGetCaptureInfo", 12030, "_v3"}, {"cuStreamGetCaptureInfo", 0, "_v2"},
    {"cuStreamUpdateCaptureDependencies", 12030, "_v2"}, {"cuStreamUpdateCaptureDependencies", 0, ""},
    {"cuGraphAddDependencies", 12030, "_v2"}, {"cuGraphAddDependencies", 0, ""},
    {"cuGraphRemoveDependencies", 12030, "_v2"}, {"cuGraphRemoveDependencies", 0, ""},
    {"cuGraphGetEdges", 12030, "_v2"}, {"cuGraphGetEdges", 0, ""},
    {"cuGraphNodeGetDependencies", 12030, "_v2"}, {"cuGraphNodeGetDependencies", 0, ""},
    {"cuGraphNodeGetDependentNodes", 12030, "_v2"}, {"cuGraphNodeGetDependentNodes", 0, ""},
    {"cuGraphAddNode", 12030, "_v2"}, {"cuGraphAddNode", 0, ""},
    {"cuGraphInstantiate", 11040, "WithFlags"},
    {"cuMemcpyBatchAsync", 13000, "_v2"}, {"cuMemcpyBatchAsync", 0, ""},
    {"cuMemcpy3DBatchAsync", 13000, "_v2"}, {"cuMemcpy3DBatchAsync", 0, ""},
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* names.def is sorted as strcmp sorts. */
static void *find(const char *name, const char *suffix, const char *thread_suffix)
{
    char full[128];
    struct entry key = {.name = full};
    snprintf(full, sizeof full, "%s%s%s", name, suffix, thread_suffix);
    const struct entry *e = bsearch(&key, entries, sizeof entries / sizeof *entries, sizeof *entries, by_name);
    return e ? *(void *const *)&e->function : NULL;
}

static void *find_version(const char *name, int version, const char *thread_suffix)
{
    static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        if (!strcmp(name, changed[i].name) && version >= changed[i].since)
            return find(name, changed[i].suffix, thread_suffix);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        void *f = find(name, suffixes[i], thread_suffix);
        if (f)
            return f;
    }
    return NULL;
}

void *entry_point(const char *name, int version, bool per_thread)
{
    void *f = NULL;
    if (per_thread)
        f = find_version(name, version, "_ptsz");
    if (per_thread && !f)
        f = find_version(name, version, "_ptds");
    return f ? f : find_version(name, version, "");
}
