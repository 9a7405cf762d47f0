/* Streams and events: what waits for what, host functions, times. */
#include "api.h"
#include <atomic>
#include <thread>
#include <vector>

__global__ void append(int *log, int *length, int what) { log[atomicAdd(length, 1)] = what; }

__global__ void spin(volatile int *flag, volatile int *seen)
{
    while (!*flag) {}
    *seen = 1;
}

__global__ void raise_flag(volatile int *flag) { *flag = 1; }

__global__ void work(float *x, int n)
{
    float v = x[threadIdx.x];
    for (int i = 0; i < n; i++)
        v = v * 1.0001f + 0.5f;
    x[threadIdx.x] = v;
}

struct log_of { int *log, *length; };

static log_of new_log(void)
{
    log_of l;
    OK(cudaMallocManaged(&l.log, 64 * sizeof(int)));
    OK(cudaMallocManaged(&l.length, sizeof(int)));
    *l.length = 0;
    return l;
}

static void one_stream_is_in_order(void)
{
    log_of l = new_log();
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    for (int i = 0; i < 10; i++)
        append<<<1, 1, 0, s>>>(l.log, l.length, i);
    OK(cudaStreamSynchronize(s));
    bool ordered = *l.length == 10;
    for (int i = 0; i < 10; i++)
        ordered = ordered && l.log[i] == i;
    EXPECT(ordered);
    OK(cudaStreamDestroy(s));
}

/* A kernel that waits for another stream's kernel ends only if both run at once. */
static void streams_run_side_by_side(void)
{
    int *flag, *seen;
    cudaStream_t a, b;
    OK(cudaMallocManaged(&flag, 4));
    OK(cudaMallocManaged(&seen, 4));
    *flag = *seen = 0;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    spin<<<1, 1, 0, a>>>(flag, seen);
    raise_flag<<<1, 1, 0, b>>>(flag);
    OK(cudaDeviceSynchronize());
    EXPECT(*seen == 1);
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

/* Work that begins although the host waits for nothing but a word in memory. */
static void kernels_begin_by_themselves(void)
{
    int *flag;
    OK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
    *flag = 0;
    raise_flag<<<1, 1>>>(flag);
    while (!*(volatile int *)flag)
        std::this_thread::yield();
    EXPECT(*flag == 1);
    OK(cudaDeviceSynchronize());
    OK(cudaFreeHost(flag));
}

static void legacy_stream_stands_between(void)
{
    log_of l = new_log();
    cudaStream_t a, b;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    append<<<1, 1, 0, a>>>(l.log, l.length, 1);
    append<<<1, 1>>>(l.log, l.length, 2);
    append<<<1, 1, 0, b>>>(l.log, l.length, 3);
    append<<<1, 1, 0, cudaStreamLegacy>>>(l.log, l.length, 4);
    OK(cudaDeviceSynchronize());
    EXPECT(l.log[0] == 1 && l.log[1] == 2 && l.log[2] == 3 && l.log[3] == 4);
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

static void events_order_streams(void)
{
    log_of l = new_log();
    cudaStream_t a, b;
    cudaEvent_t e;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    OK(cudaEventQuery(e));
    float *x;
    OK(cudaMalloc(&x, 128));
    OK(cudaMemset(x, 0, 128));
    OK(cudaDeviceSynchronize());
    work<<<1, 32, 0, a>>>(x, 10000);
    append<<<1, 1, 0, a>>>(l.log, l.length, 1);
    OK(cudaEventRecord(e, a));
    append<<<1, 1, 0, a>>>(l.log, l.length, 2);
    GIVES(cudaEventQuery(e), cudaErrorNotReady);
    OK(cudaStreamWaitEvent(b, e, 0));
    append<<<1, 1, 0, b>>>(l.log, l.length, 3);
    OK(cudaEventSynchronize(e));
    OK(cudaDeviceSynchronize());
    OK(cudaEventQuery(e));
    EXPECT(l.log[0] == 1 && *l.length == 3);
    OK(cudaPeekAtLastError());
    float ms;
    GIVES(cudaEventElapsedTime(&ms, e, e), cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(e));
    GIVES(cudaEventDestroy(e), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

static void times(void)
{
    cudaEvent_t start, stop;
    float *x, short_ms, long_ms, nothing;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaMalloc(&x, 128));
    OK(cudaMemset(x, 0, 128));
    OK(cudaEventRecord(start));
    work<<<1, 32>>>(x, 100);
    OK(cudaEventRecord(stop));
    GIVES(cudaEventElapsedTime(&short_ms, start, stop), cudaErrorNotReady);
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&short_ms, start, stop));
    OK(cudaEventRecord(start));
    work<<<1, 32>>>(x, 20000);
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&long_ms, start, stop));
    OK(cudaEventElapsedTime(&nothing, stop, stop));
    EXPECT(short_ms > 0 && long_ms > 5 * short_ms && nothing == 0);
    cudaGetLastError();
}

static std::atomic<int> called;

static void CUDART_CB count_call(void *data)
{
    called += *(int *)data;
    int n;
    if (cudaGetDeviceCount(&n) == cudaSuccess && cudaMalloc((void **)&data, 4) != cudaErrorNotPermitted)
        called = -1000;
}

static void CUDART_CB callback(cudaStream_t s, cudaError_t status, void *data)
{
    if (status == cudaSuccess && s)
        called += *(int *)data;
}

static void host_functions(void)
{
    static int one = 1, ten = 10;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaLaunchHostFunc(s, count_call, &one));
    OK(cudaStreamAddCallback(s, callback, &ten, 0));
    OK(cudaStreamSynchronize(s));
    EXPECT(called == 11);
    OK(cudaStreamDestroy(s));
}

static void about_streams(void)
{
    cudaStream_t s;
    int least, greatest, priority;
    unsigned int flags;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least == 0 && greatest < 0);
    OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(s, &priority));
    OK(cudaStreamGetFlags(s, &flags));
    EXPECT(priority == greatest && flags == cudaStreamNonBlocking);
    OK(cudaStreamQuery(s));
    OK(cudaStreamDestroy(s));
    GIVES(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
    GIVES(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

/* An asynchronous copy from pageable memory takes the bytes before it returns; from pinned memory it does not. */
static void pageable_copies(void)
{
    int *d, out, value = 1;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc(&d, 4));
    OK(cudaMemcpyAsync(d, &value, 4, cudaMemcpyHostToDevice, s));
    value = 2;
    OK(cudaMemcpyAsync(&out, d, 4, cudaMemcpyDeviceToHost, s));
    EXPECT(out == 1);
    OK(cudaFree(d));
    OK(cudaStreamDestroy(s));
}

static void many_host_threads(void)
{
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; t++)
        threads.emplace_back([&right, t] {
            log_of l;
            cudaStream_t s;
            if (cudaMallocManaged(&l.log, 256) || cudaMallocManaged(&l.length, 4) || cudaStreamCreate(&s))
                return;
            *l.length = 0;
            for (int i = 0; i < 20; i++) {
                append<<<1, 1, 0, i % 2 ? s : cudaStreamPerThread>>>(l.log, l.length, t);
                if (i % 5 == 0)
                    cudaStreamSynchronize(s);
            }
            cudaStreamSynchronize(s);
            cudaStreamSynchronize(cudaStreamPerThread);
            bool ok = *l.length == 20;
            for (int i = 0; i < 20; i++)
                ok = ok && l.log[i] == t;
            right += ok;
            cudaStreamDestroy(s);
            cudaFree(l.log);
        });
    for (auto &t : threads)
        t.join();
    EXPECT(right == 6);
}

int main()
{
    one_stream_is_in_order();
    streams_run_side_by_side();
    kernels_begin_by_themselves();
    legacy_stream_stands_between();
    events_order_streams();
    times();
    host_functions();
    about_streams();
    pageable_copies();
    many_host_threads();
    return report();
}
