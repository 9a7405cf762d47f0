/* Programmatic dependent launch: three kernels that run at once, each waiting for a sign from the one behind it; and the
 * same three with ordinary launches, which do not. Through a stream, a captured graph, and an event. */
#include "api.h"

struct signs { int given[4], seen[4]; };

/* Lets the next kernel start, then waits a while for its sign; gives one to the kernel in front. */
__global__ void link(volatile signs *s, int i)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    if (i)
        s->given[i - 1] = 1;
    long long until = clock64() + 2000000;
    while (i < 2 && !s->given[i] && clock64() < until)
        ;
    s->seen[i] = s->given[i];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i == 2)
        s->seen[3] = s->seen[0] + s->seen[1];           /* there at the latest now */
}

static signs *device_signs;

static void launch(int i, bool early, cudaStream_t stream, cudaEvent_t event = NULL)
{
    cudaLaunchAttribute a[2] = {};
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = early;
    a[1].id = cudaLaunchAttributeProgrammaticEvent;
    a[1].val.programmaticEvent.event = event;
    cudaLaunchConfig_t c = {};
    c.gridDim = 1, c.blockDim = 1, c.stream = stream, c.attrs = a, c.numAttrs = event ? 2 : 1;
    OK(cudaLaunchKernelEx(&c, link, (volatile signs *)device_signs, i));
}

/* How many of the first two had a sign from a kernel that ran beside them, as the third saw it. */
static int signs_seen(void)
{
    signs s;
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&s, device_signs, sizeof s, cudaMemcpyDeviceToHost));
    OK(cudaMemset(device_signs, 0, sizeof *device_signs));
    return s.seen[3];
}

static void chain(bool early, cudaStream_t stream)
{
    for (int i = 0; i < 3; i++)
        launch(i, early && i, stream);
}

int main()
{
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaMalloc(&device_signs, sizeof *device_signs));
    OK(cudaMemset(device_signs, 0, sizeof *device_signs));

    chain(true, first);
    EXPECT(signs_seen() == 2);
    chain(false, first);
    EXPECT(signs_seen() == 0);

    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    chain(true, first);
    OK(cudaStreamEndCapture(first, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, first));
    EXPECT(signs_seen() == 2);

    launch(0, false, first, event);             /* the second stream goes on when the first kernel lets it */
    OK(cudaStreamWaitEvent(second, event, 0));
    launch(1, false, second);
    launch(2, true, second);
    EXPECT(signs_seen() == 2);
    return report();
}
