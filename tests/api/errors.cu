/* Errors: a fault on the device stays until the device is reset, and then everything works again; names and texts. */
#include "api.h"
#include <cassert>
#include <unistd.h>
#include <sys/wait.h>

__global__ void stray(int *p) { p[1 << 20] = 1; }
__global__ void claim(int n) { assert(n == 4); }
__global__ void trap(void) { __trap(); }
__global__ void set(int *p) { *p = 1; }
__device__ int variable = 3;

static void sticky(void (*launch)(void), cudaError_t want)
{
    int *p, h = 0;
    OK(cudaMalloc(&p, 4));
    launch();
    OK(cudaGetLastError());
    GIVES(cudaDeviceSynchronize(), want);
    GIVES(cudaGetLastError(), want);
    GIVES(cudaGetLastError(), want);
    GIVES(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost), want);
    set<<<1, 1>>>(p);
    GIVES(cudaGetLastError(), want);
    GIVES(cudaMalloc(&p, 4), want);
    OK(cudaDeviceReset());
    cudaGetLastError();
    OK(cudaGetLastError());
    OK(cudaMalloc(&p, 4));
    set<<<1, 1>>>(p);
    OK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 1);
    OK(cudaMemcpyFromSymbol(&h, variable, 4));
    EXPECT(h == 3);
}

static int *outside(void)
{
    int *p;
    OK(cudaMalloc(&p, 4));
    return p;
}

static void names(void)
{
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
    EXPECT(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
    GIVES(cudaSetDevice(3), cudaErrorInvalidDevice);
    GIVES(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    GIVES(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaGetLastError());
    cudaArray_t a;
    cudaChannelFormatDesc d = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    GIVES(cudaMallocArray(&a, &d, 16, 16), cudaErrorNotSupported);      /* says so */
}

static void properties(void)
{
    cudaDeviceProp p;
    int v, count;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDeviceProperties(&p, 0));
    EXPECT(count == 1 && p.major == 9 && p.minor == 0 && p.multiProcessorCount == 132 && p.warpSize == 32);
    EXPECT(p.sharedMemPerBlockOptin == 227 * 1024 && p.regsPerMultiprocessor == 65536 && p.totalGlobalMem > 100ull << 30);
    EXPECT(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 2147483647 && p.clusterLaunch);
    EXPECT(p.maxTexture2D[1] == 65536 && p.maxTexture3D[2] == 16384 && strlen(p.name) > 0);
    for (int a = 1; a < cudaDevAttrMax; a++)
        if (cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0) != cudaSuccess)
            printf("no attribute %d\n", a), failed_++;
    OK(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(v == 227 * 1024);
    size_t limit;
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit == 8192);
}

/* What a program that does not wait still prints, and how it ends. */
static void at_exit(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int *p;
        if (cudaMalloc(&p, 4))
            _exit(1);
        set<<<1, 1>>>(p);
        exit(5);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main()
{
    at_exit();
    names();
    properties();
    sticky([] { stray<<<1, 1>>>(outside()); }, cudaErrorIllegalAddress);
    sticky([] { claim<<<1, 1>>>(5); }, cudaErrorAssert);
    sticky([] { trap<<<1, 1>>>(); }, cudaErrorLaunchFailure);
    return report();
}
