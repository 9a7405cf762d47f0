/* The driver API: a module from PTX text, its functions and variables, launches in both forms, the linker, entry points by
 * name, tensor maps. */
#include "api.h"
#include <cuda.h>
#include <string>

static const char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 base = 100;
.visible .entry scale(.param .u64 p, .param .u32 by, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [by];
    ld.param.u32 %r2, [n];
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r3, %ctaid.x, 32, %r3;
    setp.ge.u32 %p1, %r3, %r2;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd2, %rd1, %rd2;
    ld.global.u32 %r4, [%rd2];
    ld.global.u32 %r5, [base];
    mad.lo.u32 %r4, %r4, %r1, %r5;
    st.global.u32 [%rd2], %r4;
done:
    ret;
}
.visible .entry idle() { ret; }
)";

static const char part[] = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) triple(.param .b32 x);
.visible .entry call_it(.param .u64 p)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), triple, (a); ld.param.b32 %r2, [b]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
)";

static const char other_part[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) triple(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    mul.lo.u32 %r2, %r1, 3;
    st.param.b32 [r], %r2;
    ret;
}
)";

static void contexts(void)
{
    CUcontext c, d, now;
    CUdevice dev;
    char name[100];
    int count, major;
    GIVES(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    OK(cuDeviceGet(&dev, 0));
    GIVES(cuDeviceGet(&dev, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGet(&dev, 0));
    OK(cuDeviceGetName(name, sizeof name, dev));
    OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
    EXPECT(count == 1 && major >= 8 && strstr(name, "emulated"));
    CUdeviceptr p;
    GIVES(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxCreate(&c, nullptr, 0, dev));
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == c);
    OK(cuDevicePrimaryCtxRetain(&d, dev));
    OK(cuCtxPushCurrent(d));
    OK(cuCtxPopCurrent(&now));
    EXPECT(now == d);
    OK(cuCtxDestroy(c));
    OK(cuCtxSetCurrent(d));
}

static void modules(void)
{
    CUmodule m;
    CUfunction scale, idle, none;
    CUdeviceptr p, base;
    size_t size;
    int h[40], regs;
    OK(cuModuleLoadData(&m, ptx));
    OK(cuModuleGetFunction(&scale, m, "scale"));
    OK(cuModuleGetFunction(&idle, m, "idle"));
    GIVES(cuModuleGetFunction(&none, m, "absent"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleGetGlobal(&base, &size, m, "base"));
    EXPECT(size == 4);
    OK(cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, scale));
    EXPECT(regs > 0);
    OK(cuMemAlloc(&p, sizeof h));
    for (int i = 0; i < 40; i++)
        h[i] = i;
    OK(cuMemcpyHtoD(p, h, sizeof h));
    unsigned int by = 2, n = 40;
    void *args[] = {&p, &by, &n};
    OK(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
    OK(cuMemcpyDtoH(h, p, sizeof h));
    EXPECT(h[0] == 100 && h[39] == 178);

    unsigned int value = 7;
    OK(cuMemcpyHtoD(base, &value, 4));
    OK(cuMemsetD32(p, 3, 40));
    struct { CUdeviceptr p; unsigned int by, n; } block = {p, 5, 40};   /* the parameters in one piece */
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    OK(cuMemcpyDtoH(h, p, sizeof h));
    EXPECT(h[0] == 22 && h[39] == 22);

    CUlaunchConfig c = {};
    c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1;
    OK(cuLaunchKernelEx(&c, idle, nullptr, nullptr));
    GIVES(cuLaunchKernel(idle, 1, 1, 1, 4096, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuModuleUnload(m));
    GIVES(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
}

static void libraries(void)
{
    CUlibrary l;
    CUkernel k, kernels[2];
    CUfunction f;
    unsigned int count;
    const char *name;
    OK(cuLibraryLoadData(&l, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    OK(cuLibraryGetKernel(&k, l, "idle"));
    OK(cuKernelGetFunction(&f, k));
    OK(cuFuncGetName(&name, f));
    OK(cuLibraryGetKernelCount(&count, l));
    OK(cuLibraryEnumerateKernels(kernels, 2, l));
    EXPECT(count == 2 && !strcmp(name, "idle"));
    OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
    OK(cuCtxSynchronize());
    OK(cuLibraryUnload(l));
}

static void refused_text(void)
{
    CUmodule m;
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    std::string bad = ptx;
    bad.replace(bad.find("mad.lo"), 6, "mud.lo");
    GIVES(cuModuleLoadDataEx(&m, bad.c_str(), 2, options, values), CUDA_ERROR_INVALID_PTX);
    EXPECT(strstr(log, "mud.lo"));
    GIVES(cuModuleLoadData(&m, "x"), CUDA_ERROR_INVALID_PTX);
    std::string newer = ptx;
    newer.replace(newer.find("sm_80"), 5, "sm_120a");
    GIVES(cuModuleLoadData(&m, newer.c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

static void linked_text(void)
{
    CUlinkState s;
    CUmodule m;
    CUfunction f;
    void *image;
    size_t size;
    OK(cuLinkCreate(0, nullptr, nullptr, &s));
    OK(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)part, sizeof part, "part", 0, nullptr, nullptr));
    OK(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)other_part, sizeof other_part, "other", 0, nullptr, nullptr));
    OK(cuLinkComplete(s, &image, &size));
    OK(cuModuleLoadData(&m, image));
    OK(cuLinkDestroy(s));
    OK(cuModuleGetFunction(&f, m, "call_it"));
    CUdeviceptr p;
    int x = 14;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemcpyHtoD(p, &x, 4));
    void *args[] = {&p};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
    OK(cuMemcpyDtoH(&x, p, 4));
    EXPECT(x == 42);
    OK(cuMemFree(p));
}

static void streams_and_words(void)
{
    CUstream s;
    CUevent a, b;
    CUdeviceptr p;
    float ms;
    unsigned int x = 0;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuMemAlloc(&p, 4096));
    OK(cuEventRecord(a, s));
    OK(cuMemsetD8Async(p, 0, 4096, s));
    OK(cuStreamWriteValue32(s, p, 5, 0));
    OK(cuStreamWaitValue32(s, p, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(b, s));
    OK(cuMemcpyDtoHAsync(&x, p, 4, s));
    OK(cuStreamSynchronize(s));
    OK(cuEventElapsedTime(&ms, a, b));
    EXPECT(x == 5 && ms > 0);
    unsigned int type;
    CUdeviceptr start;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 100));
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 100));
    EXPECT(type == CU_MEMORYTYPE_DEVICE && start == p);
    CUDA_MEMCPY2D c = {};
    unsigned char rows[4 * 8] = {0};
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = p;
    c.srcPitch = 64;
    c.dstMemoryType = CU_MEMORYTYPE_HOST;
    c.dstHost = rows;
    c.dstPitch = 8;
    c.WidthInBytes = 8;
    c.Height = 4;
    OK(cuMemcpy2D(&c));
    EXPECT(rows[0] == 5 && rows[31] == 0);
    OK(cuMemFree(p));
    OK(cuStreamDestroy(s));
}

static void entry_points(void)
{
    void *f = nullptr, *g = nullptr;
    CUdriverProcAddressQueryResult found;
    OK(cuGetProcAddress("cuMemAlloc", &f, 13000, 0, &found));
    EXPECT(f == (void *)cuMemAlloc_v2);
    EXPECT(cuGetProcAddress("cuNoSuchThing", &g, 13000, 0, &found) == CUDA_ERROR_NOT_FOUND && !g);
    cudaDriverEntryPointQueryResult status;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &status));
    EXPECT(f == (void *)cuTensorMapEncodeTiled && status == cudaDriverEntryPointSuccess);
    CUresult missing = cuTexRefCreate(nullptr);
    GIVES(missing, CUDA_ERROR_NOT_SUPPORTED);
}

static CUresult encode(CUtensorMap *m, CUdeviceptr p, cuuint32_t box0, cuuint64_t stride, CUtensorMapSwizzle swizzle)
{
    cuuint64_t dims[] = {1000, 300}, strides[] = {stride};
    cuuint32_t box[] = {box0, 64}, ones[] = {1, 1};
    return cuTensorMapEncodeTiled(m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)p, dims, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void tensor_maps(void)
{
    CUtensorMap m;
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 1 << 20));
    OK(encode(&m, p, 64, 2000, CU_TENSOR_MAP_SWIZZLE_128B));
    GIVES(encode(&m, p, 128, 2000, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_ERROR_INVALID_VALUE);     /* 256 bytes wide */
    GIVES(encode(&m, p, 64, 2008, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_ERROR_INVALID_VALUE);      /* stride */
    GIVES(encode(&m, p, 257, 2000, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_ERROR_INVALID_VALUE);
    GIVES(encode(&m, p + 8, 64, 2000, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_ERROR_INVALID_VALUE);  /* address */
    GIVES(encode(&m, p, 4, 2000, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_ERROR_INVALID_VALUE);       /* 8 bytes wide */
    OK(encode(&m, p, 256, 2000, CU_TENSOR_MAP_SWIZZLE_NONE));
    OK(cuMemFree(p));
}

int main()
{
    contexts();
    modules();
    libraries();
    refused_text();
    linked_text();
    streams_and_words();
    entry_points();
    tensor_maps();
    return report();
}
