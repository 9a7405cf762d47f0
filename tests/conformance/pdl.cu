/* Programmatic dependent launch: chains of kernels that may start before those in front of them have ended, through
 * stream order, events and graphs; what griddepcontrol.wait lets them see. Whether they do overlap is up to the chip. */
#include "conformance.h"

typedef unsigned long long word;

enum { BLOCKS = 24, THREADS = 128, N = BLOCKS * THREADS };

/* ---------------------------------------------------------------- kernels */

__device__ static void launch_dependents(void) { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ static void wait_for_primary(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__device__ static void take_a_while(uint32_t cycles)
{
    long long until = clock64() + cycles;
    while (clock64() < until)
        ;
}

/* to = from * 3 + k, after all that came before. `early`: lets the next one start at once; else when it is done. */
__global__ void step(const word *from, word *to, word k, int early)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x, other = (i * 37 + 11) % N;
    if (early)
        launch_dependents();
    word before = k * k;                    /* what needs nobody else's results */
    wait_for_primary();
    take_a_while(200 * (blockIdx.x % 5));
    to[i] = from[other] * 3 + k + before;
    if (!early)
        launch_dependents();
}

/* One thread of each block lets the next kernel start, some blocks end without. */
__global__ void uneven(const word *from, word *to, word k)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    wait_for_primary();
    if (threadIdx.x == 77 && blockIdx.x % 3)
        launch_dependents();
    if (threadIdx.x < 3)
        launch_dependents();
    take_a_while(3000 * (blockIdx.x % 2));
    to[i] = from[N - 1 - i] + k;
}

/* Without any griddepcontrol. */
__global__ void plain(const word *from, word *to, word k)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    to[i] = from[i ^ 1] * 5 + k;
}

/* ---------------------------------------------------------------- launches */

static cudaStream_t stream;

template <class... Parameters, class... Arguments>
static void launch(bool programmatic, cudaStream_t in, int blocks, int threads, void (*kernel)(Parameters...), Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = threads, config.stream = in;
    config.attrs = &attribute, config.numAttrs = programmatic;
    CHECKED(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

static word *buffer[3];

static void fill(void)
{
    std::vector<word> numbers;
    for (int i = 0; i < N; i++)
        numbers.push_back(random_bits(i));
    CHECKED(cudaMemcpy(buffer[0], numbers.data(), N * sizeof(word), cudaMemcpyHostToDevice));
    CHECKED(cudaMemset(buffer[1], 0, N * sizeof(word)));
    CHECKED(cudaMemset(buffer[2], 0, N * sizeof(word)));
}

static void show(const char *name, const word *from)
{
    values results(N);
    CHECKED(cudaStreamSynchronize(stream));
    CHECKED(cudaMemcpy(results.data(), from, N * sizeof(word), cudaMemcpyDeviceToHost));
    print_results(name, results.data(), N);
}

/* ---------------------------------------------------------------- tests */

/* Three buffers in turn: no kernel writes what the one before it reads. */
static void chain(int length, int early)
{
    for (int i = 0; i < length; i++)
        launch(i > 0, stream, BLOCKS, THREADS, step, buffer[i % 3], buffer[(i + 1) % 3], (word)i, early);
}

static void chains(void)
{
    for (int early = 0; early < 2; early++)
        for (int length = 1; length < 10; length += 4) {
            char name[50];
            snprintf(name, sizeof name, "chain of %d, %s", length, early ? "early" : "late");
            fill();
            chain(length, early);
            show(name, buffer[length % 3]);
        }
}

static void mixed(void)
{
    fill();
    launch(false, stream, BLOCKS, THREADS, uneven, buffer[0], buffer[1], (word)5);
    launch(true, stream, BLOCKS, THREADS, step, buffer[1], buffer[2], (word)6, 1);
    launch(false, stream, BLOCKS, THREADS, plain, buffer[2], buffer[0], (word)7);       /* after all of the one before */
    launch(true, stream, BLOCKS, THREADS, uneven, buffer[0], buffer[1], (word)8);       /* after one that says nothing */
    launch(true, stream, BLOCKS, THREADS, step, buffer[1], buffer[2], (word)9, 0);
    CHECKED(cudaMemcpyAsync(buffer[0], buffer[2], N * sizeof(word), cudaMemcpyDeviceToDevice, stream));
    launch(true, stream, BLOCKS, THREADS, step, buffer[0], buffer[1], (word)10, 1);     /* behind a copy */
    show("mixed", buffer[1]);
}

static void graph(void)
{
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    fill();
    CHECKED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    chain(7, 1);
    CHECKED(cudaStreamEndCapture(stream, &captured));
    CHECKED(cudaGraphInstantiate(&exec, captured, 0));
    for (int i = 0; i < 2; i++)
        CHECKED(cudaGraphLaunch(exec, stream));
    show("graph", buffer[1]);
    CHECKED(cudaGraphExecDestroy(exec));
    CHECKED(cudaGraphDestroy(captured));
}

/* Another stream goes on when an event says that all blocks have let their dependents start. */
static void event(void)
{
    cudaStream_t second;
    cudaEvent_t triggered;
    CHECKED(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECKED(cudaEventCreateWithFlags(&triggered, cudaEventDisableTiming));
    fill();
    CHECKED(cudaDeviceSynchronize());
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = triggered;
    cudaLaunchConfig_t config = {};
    config.gridDim = BLOCKS, config.blockDim = THREADS, config.stream = stream, config.attrs = &attribute, config.numAttrs = 1;
    CHECKED(cudaLaunchKernelEx(&config, step, (const word *)buffer[0], buffer[1], (word)3, 1));
    CHECKED(cudaStreamWaitEvent(second, triggered, 0));
    launch(false, second, BLOCKS, THREADS, step, buffer[1], buffer[2], (word)4, 0);
    CHECKED(cudaStreamSynchronize(second));
    show("event", buffer[2]);
    CHECKED(cudaStreamDestroy(second));
    CHECKED(cudaEventDestroy(triggered));
}

int main(void)
{
    CHECKED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (word *&b : buffer)
        CHECKED(cudaMalloc(&b, N * sizeof(word)));
    chains();
    mixed();
    graph();
    event();
    return 0;
}
