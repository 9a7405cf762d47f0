/* Graphs: captured, built by hand, nested, updated, launched many times, with branches that run side by side. */
#include "api.h"
#include <unistd.h>
#include <vector>

__global__ void add(int *p, int what) { atomicAdd(p, what); }
__global__ void twice(int *p) { *p *= 2; }
__global__ void copy_to(int *to, const int *from) { *to = *from; }

__global__ void meet(volatile int *mine, volatile int *other, int *met)
{
    *mine = 1;
    while (!*other) {}
    atomicAdd(met, 1);
}

static int *cell(int value)
{
    int *p = nullptr;
    OK(cudaMallocManaged(&p, sizeof *p));
    *p = value;
    return p;
}

static void captured(void)
{
    int *p = cell(0), h = -1;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(s, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    OK(cudaMemsetAsync(p, 0, 4, s));
    add<<<1, 3, 0, s>>>(p, 1);
    twice<<<1, 1, 0, s>>>(p);
    OK(cudaMemcpyAsync(&h, p, 4, cudaMemcpyDefault, s));
    OK(cudaStreamEndCapture(s, &g));
    EXPECT(*p == 0 && h == -1);
    size_t n = 0;
    OK(cudaGraphGetNodes(g, nullptr, &n));
    EXPECT(n == 4);
    OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &n));
    EXPECT(n == 3);
    OK(cudaGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(*p == 6 && h == 6);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamDestroy(s));
}

static void captured_branches(void)
{
    int *a = cell(0), *b = cell(0), *met = cell(0);
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    meet<<<1, 1, 0, s>>>(a, b, met);
    meet<<<1, 1, 0, t>>>(b, a, met);
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    twice<<<1, 1, 0, s>>>(met);
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(*met == 4);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));

    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));        /* never joined */
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    twice<<<1, 1, 0, t>>>(met);
    GIVES(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureUnjoined);
    cudaGetLastError();
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

static void refused_in_capture(void)
{
    cudaStream_t s;
    cudaGraph_t g;
    int *p = cell(0);
    OK(cudaStreamCreate(&s));
    GIVES(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    GIVES(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    add<<<1, 1>>>(p, 1);
    GIVES(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    cudaStreamEndCapture(s, &g);
    cudaGetLastError();
    OK(cudaStreamDestroy(s));
}

static int host_calls;
static void CUDART_CB count_host(void *data) { host_calls += *(int *)data; }

static cudaKernelNodeParams kernel_node(void *f, void **args)
{
    cudaKernelNodeParams p = {};
    p.func = f;
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = args;
    return p;
}

static void built_by_hand(void)
{
    int *p = cell(1), *q = cell(0), five = 5, seven = 7, one = 1;
    cudaGraph_t g, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, plus, dbl, copy, host, found;
    void *add_args[] = {&p, &five}, *twice_args[] = {&p}, *other_args[] = {&p, &seven};
    cudaKernelNodeParams add_node = kernel_node((void *)add, add_args), twice_node = kernel_node((void *)twice, twice_args);
    cudaMemsetParams fill_params = {};
    cudaHostNodeParams host_params = {count_host, &one};
    fill_params.dst = p;
    fill_params.value = 1;
    fill_params.elementSize = 4;
    fill_params.width = fill_params.height = 1;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &fill_params));
    OK(cudaGraphAddKernelNode(&plus, g, &fill, 1, &add_node));
    OK(cudaGraphAddKernelNode(&dbl, g, nullptr, 0, &twice_node));
    OK(cudaGraphAddDependencies(g, &plus, &dbl, nullptr, 1));
    OK(cudaGraphAddMemcpyNode1D(&copy, g, &dbl, 1, q, p, 4, cudaMemcpyDefault));
    OK(cudaGraphAddHostNode(&host, g, &copy, 1, &host_params));
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*q == 12 && host_calls == 1);

    add_node.kernelParams = other_args;
    OK(cudaGraphExecKernelNodeSetParams(exec, plus, &add_node));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*q == 16 && host_calls == 2);

    OK(cudaGraphNodeSetEnabled(exec, dbl, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*q == 8 && host_calls == 3);
    OK(cudaGraphNodeSetEnabled(exec, dbl, 1));

    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, g, &info));            /* back to adding five */
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*q == 12 && info.result == cudaGraphExecUpdateSuccess);

    OK(cudaGraphClone(&clone, g));
    OK(cudaGraphNodeFindInClone(&found, host, clone));
    OK(cudaGraphDestroyNode(found));
    size_t n;
    OK(cudaGraphGetNodes(clone, nullptr, &n));
    EXPECT(n == 4);
    GIVES(cudaGraphExecUpdate(exec, clone, &info), cudaErrorGraphExecUpdateFailure);
    cudaGetLastError();

    cudaGraphNodeType type;
    cudaKernelNodeParams back;
    OK(cudaGraphNodeGetType(copy, &type));
    EXPECT(type == cudaGraphNodeTypeMemcpy);
    OK(cudaGraphKernelNodeGetParams(plus, &back));
    EXPECT(back.gridDim.x == 1 && *(int *)back.kernelParams[1] == 5);
    OK(cudaGraphAddDependencies(g, &host, &fill, nullptr, 1));          /* a circle */
    cudaGraphExec_t none;
    GIVES(cudaGraphInstantiate(&none, g, 0), cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(g));
}

static void nested(void)
{
    int *p = cell(1), two = 2;
    void *add_args[] = {&p, &two}, *twice_args[] = {&p};
    cudaKernelNodeParams add_node = kernel_node((void *)add, add_args), twice_node = kernel_node((void *)twice, twice_args);
    cudaGraph_t child, g;
    cudaGraphNode_t a, b, c, d;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddKernelNode(&a, child, nullptr, 0, &add_node));
    OK(cudaGraphAddKernelNode(&b, child, &a, 1, &twice_node));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddChildGraphNode(&c, g, nullptr, 0, child));           /* (1 + 2) * 2 */
    OK(cudaGraphAddChildGraphNode(&d, g, &c, 1, child));                /* (6 + 2) * 2 */
    OK(cudaGraphAddKernelNode(&a, g, &d, 1, &add_node));
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*p == 18);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphDestroy(child));
}

static void with_memory_and_events(void)
{
    int *out = cell(0), *tmp;
    cudaStream_t s;
    cudaEvent_t e;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&e));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaMallocAsync(&tmp, 4, s));
    OK(cudaMemsetAsync(tmp, 0, 4, s));
    add<<<1, 1, 0, s>>>(tmp, 3);
    copy_to<<<1, 1, 0, s>>>(out, tmp);
    OK(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    OK(cudaFreeAsync(tmp, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphInstantiateWithFlags(&exec, g, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventQuery(e));
    EXPECT(*out == 3);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamDestroy(s));
}

static int destroyed;
static void CUDART_CB destroy(void *data) { destroyed += *(int *)data; }

static void user_objects_and_pictures(void)
{
    static int one = 1;
    int *p = cell(0), two = 2;
    void *args[] = {&p, &two};
    cudaKernelNodeParams params = kernel_node((void *)add, args);
    cudaUserObject_t object;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaGraphNode_t n;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddKernelNode(&n, g, nullptr, 0, &params));
    OK(cudaUserObjectCreate(&object, &one, destroy, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphInstantiate(&exec, g, 0));
    char path[60], text[200] = "";
    snprintf(path, sizeof path, "build/tests/api/graphs.%d.dot", (int)getpid());
    OK(cudaGraphDebugDotPrint(g, path, 0));
    OK(cudaGraphDestroy(g));
    EXPECT(destroyed == 0);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(exec));
    EXPECT(destroyed == 1 && *p == 2);
    FILE *f = fopen(path, "r");
    EXPECT(f && fread(text, 1, sizeof text - 1, f) > 0 && strstr(text, "digraph") && strstr(text, "add"));
    if (f)
        fclose(f);
    unlink(path);
}

int main()
{
    captured();
    captured_branches();
    refused_in_capture();
    built_by_hand();
    nested();
    with_memory_and_events();
    user_objects_and_pictures();
    return report();
}
