/* Other people's kernels: the algorithms of Thrust and CUB, which are written for the chip with all its means. */
#include "api.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <vector>

static const int N = 20011;

static std::vector<int> noise(int n, int range)
{
    std::vector<int> v(n);
    unsigned s = 12345;
    for (int &x : v) {
        s = s * 1664525u + 1013904223u;
        x = (int)(s >> 8) % range - range / 2;
    }
    return v;
}

struct is_even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
struct square { __host__ __device__ long long operator()(int x) const { return (long long)x * x; } };

template <class A, class B> static bool same(const A &device, const B &host)
{
    thrust::host_vector<typename A::value_type> h = device;
    return h.size() == host.size() && std::equal(h.begin(), h.end(), host.begin());
}

static void thrust_algorithms(void)
{
    std::vector<int> h = noise(N, 1000);
    thrust::device_vector<int> d(h.begin(), h.end()), e(N);
    thrust::inclusive_scan(d.begin(), d.end(), e.begin());
    std::vector<int> sums(N);
    std::partial_sum(h.begin(), h.end(), sums.begin());
    EXPECT(same(e, sums));
    EXPECT(thrust::transform_reduce(d.begin(), d.end(), square(), 0LL, thrust::plus<long long>()) ==
           std::accumulate(h.begin(), h.end(), 0LL, [](long long t, int x) { return t + (long long)x * x; }));
    auto middle = thrust::stable_partition(d.begin(), d.end(), is_even());
    EXPECT(middle - d.begin() == std::count_if(h.begin(), h.end(), is_even()));
    std::stable_partition(h.begin(), h.end(), is_even());
    EXPECT(same(d, h));
    thrust::sort(d.begin(), d.end());
    std::sort(h.begin(), h.end());
    EXPECT(same(d, h));
    d.erase(thrust::unique(d.begin(), d.end()), d.end());
    h.erase(std::unique(h.begin(), h.end()), h.end());
    EXPECT(same(d, h));
    EXPECT(*thrust::max_element(d.begin(), d.end()) == h.back());
}

static void sort_by_key(void)
{
    std::vector<int> keys = noise(N, 500);
    std::vector<float> values(N);
    std::vector<std::pair<int, float>> pairs(N);
    for (int i = 0; i < N; i++)
        pairs[i] = {keys[i], values[i] = (float)i};
    thrust::device_vector<int> k(keys.begin(), keys.end());
    thrust::device_vector<float> v(values.begin(), values.end());
    thrust::stable_sort_by_key(k.begin(), k.end(), v.begin(), thrust::greater<int>());
    std::stable_sort(pairs.begin(), pairs.end(), [](auto &a, auto &b) { return a.first > b.first; });
    for (int i = 0; i < N; i++)
        keys[i] = pairs[i].first, values[i] = pairs[i].second;
    EXPECT(same(k, keys));
    EXPECT(same(v, values));
}

template <class F> static void with_storage(F f)
{
    void *storage = nullptr;
    size_t bytes = 0;
    OK(f(storage, bytes));
    OK(cudaMalloc(&storage, bytes));
    OK(f(storage, bytes));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(storage));
}

static void cub_algorithms(void)
{
    std::vector<int> h = noise(N, 64);
    thrust::device_vector<int> d(h.begin(), h.end()), out(N), counts(N), runs(1), histogram(64);
    int *in = thrust::raw_pointer_cast(d.data()), *to = thrust::raw_pointer_cast(out.data());
    with_storage([&](void *s, size_t &n) { return cub::DeviceReduce::Sum(s, n, in, to, N); });
    EXPECT(out[0] == std::accumulate(h.begin(), h.end(), 0));
    with_storage([&](void *s, size_t &n) { return cub::DeviceScan::ExclusiveSum(s, n, in, to, N); });
    std::vector<int> sums(N, 0);
    std::partial_sum(h.begin(), h.end() - 1, sums.begin() + 1);
    EXPECT(same(out, sums));
    with_storage([&](void *s, size_t &n) {
        return cub::DeviceHistogram::HistogramEven(s, n, in, thrust::raw_pointer_cast(histogram.data()), 65, -32, 32, N);
    });
    std::vector<int> bins(64, 0);
    for (int x : h)
        bins[x + 32]++;
    EXPECT(same(histogram, bins));
    with_storage([&](void *s, size_t &n) { return cub::DeviceRadixSort::SortKeys(s, n, in, to, N); });
    std::sort(h.begin(), h.end());
    EXPECT(same(out, h));
    with_storage([&](void *s, size_t &n) {
        return cub::DeviceRunLengthEncode::Encode(s, n, to, in, thrust::raw_pointer_cast(counts.data()),
                                                  thrust::raw_pointer_cast(runs.data()), N);
    });
    EXPECT(runs[0] == 64 && counts[0] == bins[0] && counts[63] == bins[63]);
}

__global__ void block_primitives(const int *in, int *out)
{
    typedef cub::BlockScan<int, 128> scan;
    typedef cub::BlockRadixSort<int, 128, 4> sort;
    __shared__ union { scan::TempStorage scan; sort::TempStorage sort; } s;
    int keys[4], sum;
    for (int i = 0; i < 4; i++)
        keys[i] = in[threadIdx.x * 4 + i];
    scan(s.scan).InclusiveSum(keys[0] + keys[1] + keys[2] + keys[3], sum);
    __syncthreads();
    sort(s.sort).Sort(keys);
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = keys[i];
    if (threadIdx.x == 127)
        out[512] = sum;
}

static void block_algorithms(void)
{
    std::vector<int> h = noise(512, 10000);
    thrust::device_vector<int> d(h.begin(), h.end()), out(513);
    block_primitives<<<1, 128>>>(thrust::raw_pointer_cast(d.data()), thrust::raw_pointer_cast(out.data()));
    OK(cudaDeviceSynchronize());
    h.push_back(std::accumulate(h.begin(), h.end(), 0));
    std::sort(h.begin(), h.end() - 1);
    EXPECT(same(out, h));
}

int main()
{
    thrust_algorithms();
    sort_by_key();
    cub_algorithms();
    block_algorithms();
    return report();
}
