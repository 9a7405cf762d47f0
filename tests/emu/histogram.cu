/* A program as anybody may have written it: C++, the toolkit's default options (so its PTX is packed), no thought of an
 * emulator. z_emu/emu must run it. */
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class T, int BINS> __global__ void histogram(const T *values, size_t count, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[values[i] % BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], mine[i]);
}

int main(int argc, char **argv)
{
    constexpr int bins = 100;
    std::vector<unsigned short> values(argc > 1 ? std::atoi(argv[1]) : 10000);
    std::vector<unsigned> want(bins), got(bins);
    for (size_t i = 0; i < values.size(); i++)
        want[(values[i] = (unsigned short)(i * i * 2654435761u >> 7)) % bins]++;

    unsigned short *values_gmem;
    unsigned *bins_gmem;
    cudaMalloc(&values_gmem, values.size() * sizeof values[0]);
    cudaMalloc(&bins_gmem, bins * sizeof got[0]);
    cudaMemcpy(values_gmem, values.data(), values.size() * sizeof values[0], cudaMemcpyHostToDevice);
    cudaMemset(bins_gmem, 0, bins * sizeof got[0]);
    histogram<unsigned short, bins><<<8, 128>>>(values_gmem, values.size(), bins_gmem);
    cudaError_t error = cudaMemcpy(got.data(), bins_gmem, bins * sizeof got[0], cudaMemcpyDeviceToHost);
    std::printf("%s, %s\n", cudaGetErrorName(error), got == want ? "right" : "wrong");
    return error != cudaSuccess || got != want;
}
