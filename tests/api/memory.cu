/* Memory as a program sees it: allocation, copies in one to three dimensions, fills, pinned, registered and managed memory,
 * variables, and what the API says about a pointer. */
#include "api.h"
#include <vector>

__device__ int counter = 5;
__constant__ float table[4] = {1, 2, 3, 4};
__managed__ int shared_count = 7;
__device__ int grid_of[3][4];

__global__ void add_one(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}

__global__ void read_variables(int *out)
{
    out[0] = counter;
    out[1] = (int)table[2];
    out[2] = shared_count;
    shared_count = 8;
    counter = 9;
}

static void one_dimension(void)
{
    const int n = 1000;
    std::vector<int> a(n), b(n);
    int *d, *e;
    for (int i = 0; i < n; i++)
        a[i] = i;
    OK(cudaMalloc(&d, n * sizeof *d));
    OK(cudaMalloc(&e, n * sizeof *e));
    OK(cudaMemcpy(d, a.data(), n * sizeof *d, cudaMemcpyHostToDevice));
    add_one<<<(n + 127) / 128, 128>>>(d, n);
    OK(cudaGetLastError());
    OK(cudaMemcpy(e, d, n * sizeof *d, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(b.data(), e, n * sizeof *d, cudaMemcpyDefault));
    EXPECT(b[0] == 1 && b[999] == 1000);
    OK(cudaMemset(d, 0x7f, n * sizeof *d));
    OK(cudaMemcpy(b.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost));
    EXPECT(b[0] == 0x7f7f7f7f && b[999] == 0x7f7f7f7f);
    OK(cudaFree(d));
    OK(cudaFree(e));
    OK(cudaFree(nullptr));
    GIVES(cudaFree(d), cudaErrorInvalidValue);
    int *nothing = d;
    OK(cudaMalloc(&nothing, 0));
    GIVES(cudaMalloc(&nothing, (size_t)1 << 60), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
}

static void wrong_copies(void)
{
    int *d, h[4] = {0};
    OK(cudaMalloc(&d, 16));
    GIVES(cudaMemcpy(d, h, 32, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    GIVES(cudaMemcpy(h, h, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    GIVES(cudaMemcpy(d, h, 16, (cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
    GIVES(cudaMemset(d, 0, 17), cudaErrorInvalidValue);
    GIVES(cudaMemset(h, 0, 16), cudaErrorInvalidValue);
    OK(cudaFree(d));
    cudaGetLastError();
}

static void rows_and_planes(void)
{
    const int w = 37, h = 11, depth = 3;
    std::vector<unsigned char> a(w * h * depth), b(a.size(), 0);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = (unsigned char)(i * 7);
    unsigned char *d;
    size_t pitch;
    OK(cudaMallocPitch(&d, &pitch, w, h));
    EXPECT(pitch >= w && pitch % 256 == 0);
    OK(cudaMemcpy2D(d, pitch, a.data(), w, w, h, cudaMemcpyHostToDevice));
    OK(cudaMemset2D(d + 2 * pitch, pitch, 0xee, w, 1));
    OK(cudaMemcpy2D(b.data(), w, d, pitch, w, h, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(a.data(), b.data(), 2 * w) && b[2 * w] == 0xee && !memcmp(&a[3 * w], &b[3 * w], (h - 3) * w));
    GIVES(cudaMemcpy2D(b.data(), w - 1, d, pitch, w, h, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
    OK(cudaFree(d));

    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, make_cudaExtent(w, h, depth)));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(a.data(), w, w, h);
    p.dstPtr = box;
    p.extent = make_cudaExtent(w, h, depth);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    std::fill(b.begin(), b.end(), 0);
    cudaMemcpy3DParms q = {};
    q.srcPtr = box;
    q.srcPos = make_cudaPos(5, 2, 1);
    q.dstPtr = make_cudaPitchedPtr(b.data(), w, w, h);
    q.dstPos = make_cudaPos(5, 2, 1);
    q.extent = make_cudaExtent(8, 4, 2);
    q.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&q));
    EXPECT(b[1 * w * h + 2 * w + 5] == a[1 * w * h + 2 * w + 5] && b[2 * w * h + 5 * w + 12] == a[2 * w * h + 5 * w + 12]);
    EXPECT(b[1 * w * h + 2 * w + 4] == 0 && b[1 * w * h + 6 * w + 5] == 0);
    OK(cudaFree(box.ptr));
}

static void host_memory(void)
{
    int *pinned, *seen, *mapped;
    unsigned int flags;
    OK(cudaMallocHost(&pinned, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        pinned[i] = i;
    OK(cudaHostGetDevicePointer(&seen, pinned, 0));
    add_one<<<1, 64>>>(seen, 64);
    OK(cudaDeviceSynchronize());
    EXPECT(pinned[63] == 64);
    OK(cudaFreeHost(pinned));
    OK(cudaHostAlloc(&mapped, 256, cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaHostGetFlags(&flags, mapped));
    EXPECT(flags & cudaHostAllocMapped);
    OK(cudaFreeHost(mapped));

    std::vector<int> own(100, 3);
    OK(cudaHostRegister(own.data(), 400, cudaHostRegisterDefault));
    GIVES(cudaHostRegister(own.data(), 400, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
    add_one<<<1, 128>>>(own.data(), 100);
    OK(cudaDeviceSynchronize());
    EXPECT(own[99] == 4);
    OK(cudaHostUnregister(own.data()));
    GIVES(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
}

static void managed_memory(void)
{
    int *m;
    OK(cudaMallocManaged(&m, 100 * sizeof(int)));
    for (int i = 0; i < 100; i++)
        m[i] = i;
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemAdvise(m, 400, cudaMemAdviseSetPreferredLocation, device));
    OK(cudaMemPrefetchAsync(m, 400, device, 0, 0));
    add_one<<<1, 128>>>(m, 100);
    OK(cudaDeviceSynchronize());
    EXPECT(m[0] == 1 && m[99] == 100);
    OK(cudaFree(m));
}

static void variables(void)
{
    int *out, h[3], value = 6;
    size_t size;
    void *address;
    OK(cudaMalloc(&out, sizeof h));
    OK(cudaMemcpyToSymbol(counter, &value, sizeof value));
    read_variables<<<1, 1>>>(out);
    OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 6 && h[1] == 3 && h[2] == 7 && shared_count == 8);
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT(value == 9);
    float two[2] = {20, 30};
    OK(cudaMemcpyToSymbol(table, two, sizeof two, sizeof(float)));
    read_variables<<<1, 1>>>(out);
    OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[1] == 30);
    OK(cudaGetSymbolSize(&size, grid_of));
    EXPECT(size == 48);
    OK(cudaGetSymbolAddress(&address, grid_of));
    OK(cudaMemset(address, 1, size));
    GIVES(cudaMemcpyToSymbol(table, two, sizeof two, 12), cudaErrorInvalidValue);
    GIVES(cudaGetSymbolSize(&size, two), cudaErrorInvalidSymbol);
    OK(cudaFree(out));
    cudaGetLastError();
}

static void pointers(void)
{
    cudaPointerAttributes a;
    int *d, *m, *h, local;
    OK(cudaMalloc(&d, 64));
    OK(cudaMallocManaged(&m, 64));
    OK(cudaMallocHost(&h, 64));
    OK(cudaPointerGetAttributes(&a, d + 3));
    EXPECT(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == d + 3 && !a.hostPointer);
    OK(cudaPointerGetAttributes(&a, m));
    EXPECT(a.type == cudaMemoryTypeManaged && a.hostPointer == m);
    OK(cudaPointerGetAttributes(&a, h));
    EXPECT(a.type == cudaMemoryTypeHost && a.hostPointer == h);
    OK(cudaPointerGetAttributes(&a, &local));
    EXPECT(a.type == cudaMemoryTypeUnregistered);
    size_t before, after, total;
    int *big;
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&big, 1 << 20));
    OK(cudaMemGetInfo(&after, &total));
    EXPECT(before - after == 1 << 20 && total > before);
    OK(cudaFree(big));
    OK(cudaFree(d));
    OK(cudaFree(m));
    OK(cudaFreeHost(h));
}

static void in_stream_order(void)
{
    cudaStream_t s;
    int *p, h[32];
    cudaMemPool_t pool;
    unsigned long long keep = ~0ull;
    OK(cudaStreamCreate(&s));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMallocAsync(&p, sizeof h, s));
    OK(cudaMemsetAsync(p, 0, sizeof h, s));
    add_one<<<1, 32, 0, s>>>(p, 32);
    OK(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(h[31] == 1);
    OK(cudaStreamDestroy(s));
}

int main()
{
    one_dimension();
    wrong_copies();
    rows_and_planes();
    host_memory();
    managed_memory();
    variables();
    pointers();
    in_stream_order();
    return report();
}
