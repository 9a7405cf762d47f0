/* A null pointer where a call writes its answer or reads its description is an error, not the end of the program. */
#include "api.h"
#include <cuda.h>

__global__ void one(int *p) { *p = 1; }

struct call { const char *text; int (*make)(void); };

#define CALL(expression) {#expression, []() -> int { return (int)(expression); }}
#define KERNEL ((const void *)one)

static cudaStream_t stream;
static cudaGraph_t graph;
static CUfunction function;

static const struct call runtime[] = {
    CALL(cudaGetDeviceCount(NULL)),
    CALL(cudaGetDevice(NULL)),
    CALL(cudaGetDeviceProperties(NULL, 0)),
    CALL(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0)),
    CALL(cudaDeviceGetLimit(NULL, cudaLimitStackSize)),
    CALL(cudaDeviceCanAccessPeer(NULL, 0, 0)),
    CALL(cudaDeviceGetPCIBusId(NULL, 10, 0)),
    CALL(cudaDeviceGetByPCIBusId(NULL, NULL)),
    CALL(cudaChooseDevice(NULL, NULL)),
    CALL(cudaSetValidDevices(NULL, 1)),
    CALL(cudaGetDeviceFlags(NULL)),
    CALL(cudaRuntimeGetVersion(NULL)),
    CALL(cudaDriverGetVersion(NULL)),
    CALL(cudaGetDriverEntryPointByVersion(NULL, NULL, 12000, 0, NULL)),
    CALL(cudaMalloc((void **)NULL, 4)),
    CALL(cudaMallocManaged((void **)NULL, 4)),
    CALL(cudaMallocHost((void **)NULL, 4)),
    CALL(cudaHostAlloc((void **)NULL, 4, 0)),
    CALL(cudaMallocPitch((void **)NULL, NULL, 4, 4)),
    CALL(cudaMalloc3D(NULL, make_cudaExtent(4, 4, 4))),
    CALL(cudaMallocAsync((void **)NULL, 4, 0)),
    CALL(cudaMemGetInfo(NULL, NULL)),
    CALL(cudaHostRegister(NULL, 4, 0)),
    CALL(cudaHostGetDevicePointer((void **)NULL, NULL, 0)),
    CALL(cudaPointerGetAttributes(NULL, NULL)),
    CALL(cudaPointerGetAttributes(NULL, KERNEL)),
    CALL(cudaMemPoolCreate(NULL, NULL)),
    CALL(cudaDeviceGetDefaultMemPool(NULL, 0)),
    CALL(cudaMemcpy(NULL, NULL, 4, cudaMemcpyDefault)),
    CALL(cudaMemcpy3D(NULL)),
    CALL(cudaMemcpy3DAsync(NULL, 0)),
    CALL(cudaMemcpy3DPeer(NULL)),
    CALL(cudaStreamCreate(NULL)),
    CALL(cudaStreamCreateWithFlags(NULL, 0)),
    CALL(cudaStreamGetPriority(stream, NULL)),
    CALL(cudaStreamGetFlags(stream, NULL)),
    CALL(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, NULL)),
    CALL(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, NULL)),
    CALL(cudaStreamIsCapturing(stream, NULL)),
    CALL(cudaStreamEndCapture(stream, NULL)),
    CALL(cudaStreamAddCallback(stream, NULL, NULL, 0)),
    CALL(cudaLaunchHostFunc(stream, NULL, NULL)),
    CALL(cudaEventCreate((cudaEvent_t *)NULL)),
    CALL(cudaEventElapsedTime(NULL, 0, 0)),
    CALL(cudaFuncGetAttributes((cudaFuncAttributes *)NULL, KERNEL)),
    CALL(cudaFuncGetName(NULL, KERNEL)),
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor((int *)NULL, KERNEL, 32, 0)),
    CALL(cudaOccupancyMaxActiveClusters((int *)NULL, KERNEL, NULL)),
    CALL(cudaOccupancyMaxPotentialClusterSize((int *)NULL, KERNEL, NULL)),
    CALL(cudaLaunchKernelExC(NULL, KERNEL, NULL)),
    CALL(cudaLaunchKernel(KERNEL, 1, 1, NULL, 0, 0)),
    CALL(cudaGetSymbolAddress((void **)NULL, (const void *)NULL)),
    CALL(cudaGetSymbolSize(NULL, (const void *)NULL)),
    CALL(cudaGraphCreate(NULL, 0)),
    CALL(cudaGraphGetNodes(graph, NULL, NULL)),
    CALL(cudaGraphInstantiate(NULL, graph, 0)),
    CALL(cudaGraphAddKernelNode(NULL, graph, NULL, 0, NULL)),
    CALL(cudaGraphAddMemcpyNode(NULL, graph, NULL, 0, NULL)),
    CALL(cudaGraphAddMemsetNode(NULL, graph, NULL, 0, NULL)),
    CALL(cudaGraphAddHostNode(NULL, graph, NULL, 0, NULL)),
    CALL(cudaGraphAddEmptyNode(NULL, graph, NULL, 0)),
};

static const struct call driver[] = {
    CALL(cuDriverGetVersion(NULL)),
    CALL(cuDeviceGetCount(NULL)),
    CALL(cuDeviceGet(NULL, 0)),
    CALL(cuDeviceGetName(NULL, 10, 0)),
    CALL(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)),
    CALL(cuDeviceTotalMem(NULL, 0)),
    CALL(cuGetErrorName(CUDA_SUCCESS, NULL)),
    CALL(cuGetErrorString(CUDA_SUCCESS, NULL)),
    CALL(cuDevicePrimaryCtxRetain(NULL, 0)),
    CALL(cuCtxGetCurrent(NULL)),
    CALL(cuCtxGetDevice(NULL)),
    CALL(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE)),
    CALL(cuMemAlloc(NULL, 4)),
    CALL(cuMemAllocHost(NULL, 4)),
    CALL(cuMemAllocManaged(NULL, 4, CU_MEM_ATTACH_GLOBAL)),
    CALL(cuMemAllocPitch(NULL, NULL, 4, 4, 4)),
    CALL(cuMemAllocAsync(NULL, 4, 0)),
    CALL(cuMemGetInfo(NULL, NULL)),
    CALL(cuMemHostGetDevicePointer(NULL, NULL, 0)),
    CALL(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, 0)),
    CALL(cuMemcpy2D(NULL)),
    CALL(cuMemcpy3D(NULL)),
    CALL(cuStreamCreate(NULL, 0)),
    CALL(cuStreamGetFlags(stream, NULL)),
    CALL(cuStreamIsCapturing(stream, NULL)),
    CALL(cuStreamEndCapture(stream, NULL)),
    CALL(cuEventCreate(NULL, 0)),
    CALL(cuEventElapsedTime(NULL, 0, 0)),
    CALL(cuModuleLoadData(NULL, "")),
    CALL(cuModuleLoad(NULL, NULL)),
    CALL(cuModuleGetFunction(NULL, 0, "one")),
    CALL(cuLinkCreate(0, NULL, NULL, NULL)),
    CALL(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, function)),
    CALL(cuFuncGetName(NULL, function)),
    CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, function, 32, 0)),
    CALL(cuOccupancyMaxPotentialBlockSize(NULL, NULL, function, NULL, 0, 0)),
    CALL(cuLaunchKernelEx(NULL, function, NULL, NULL)),
    CALL(cuGraphCreate(NULL, 0)),
    CALL(cuGraphInstantiate(NULL, graph, 0)),
    CALL(cuGraphAddKernelNode(NULL, graph, NULL, 0, NULL)),
    CALL(cuGraphAddHostNode(NULL, graph, NULL, 0, NULL)),
    CALL(cuTensorMapEncodeTiled(NULL, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, NULL, NULL, NULL, NULL, NULL, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)),
};

int main(void)
{
    OK(cuInit(0));
    OK(cudaStreamCreate(&stream));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGetFuncBySymbol(&function, KERNEL));
    for (const struct call &c : runtime) {
        expect_error_(c.make(), cudaErrorInvalidValue, c.text, __LINE__);
        GIVES(cudaGetLastError(), cudaErrorInvalidValue);
    }
    for (const struct call &c : driver)
        expect_error_(c.make(), CUDA_ERROR_INVALID_VALUE, c.text, __LINE__);
    int *p, h = 0;              /* and everything still works */
    OK(cudaMalloc(&p, sizeof *p));
    one<<<1, 1>>>(p);
    OK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h == 1);
    return report();
}
