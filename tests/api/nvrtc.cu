/* A program that compiles its kernels while it runs: NVRTC makes PTX, the driver API loads it. Nothing is tested where
 * the toolkit has no NVRTC. */
#include "api.h"
#include <cuda.h>
#include <dlfcn.h>
#include <string>

static const char source[] = R"(
template <typename T, int N> __global__ void saxpy(T a, const T *x, T *y)
{
    __shared__ T cache[N];
    int i = blockIdx.x * N + threadIdx.x;
    cache[threadIdx.x] = x[i];
    __syncthreads();
    y[i] += a * cache[N - 1 - threadIdx.x];
}
)";

typedef struct program_ *program;

int main()
{
    void *lib = dlopen("libnvrtc.so.13", RTLD_NOW);
    lib = lib ? lib : dlopen("libnvrtc.so", RTLD_NOW);
    if (!lib) {
        printf("there is no libnvrtc here\n0 passed, 0 failed\n");
        return 0;
    }
    auto create = (int (*)(program *, const char *, const char *, int, const char **, const char **))dlsym(lib, "nvrtcCreateProgram");
    auto add_name = (int (*)(program, const char *))dlsym(lib, "nvrtcAddNameExpression");
    auto compile = (int (*)(program, int, const char **))dlsym(lib, "nvrtcCompileProgram");
    auto size = (int (*)(program, size_t *))dlsym(lib, "nvrtcGetPTXSize");
    auto text = (int (*)(program, char *))dlsym(lib, "nvrtcGetPTX");
    auto lowered = (int (*)(program, const char *, const char **))dlsym(lib, "nvrtcGetLoweredName");
    const char *options[] = {"--gpu-architecture=compute_90", "--use_fast_math", "-lineinfo"}, *name;
    program p;
    size_t n;
    OK(create(&p, source, "saxpy.cu", 0, nullptr, nullptr));
    OK(add_name(p, "saxpy<float, 64>"));
    OK(compile(p, 3, options));
    OK(lowered(p, "saxpy<float, 64>", &name));
    OK(size(p, &n));
    std::string ptx(n, 0);
    OK(text(p, &ptx[0]));

    CUmodule m;
    CUfunction f;
    float a = 2, x[128], y[128];
    float *dx, *dy;
    for (int i = 0; i < 128; i++)
        x[i] = (float)i, y[i] = 1000.f;
    OK(cudaMalloc(&dx, sizeof x));      /* the runtime's context is the driver's, too */
    OK(cudaMalloc(&dy, sizeof y));
    OK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dy, y, sizeof y, cudaMemcpyHostToDevice));
    OK(cuModuleLoadDataEx(&m, ptx.c_str(), 0, nullptr, nullptr));
    OK(cuModuleGetFunction(&f, m, name));
    void *args[] = {&a, &dx, &dy};
    OK(cuLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
    OK(cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost));
    EXPECT(y[0] == 1000 + 2 * 63 && y[63] == 1000 && y[64] == 1000 + 2 * 127);
    return report();
}
