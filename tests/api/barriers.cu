/* cuda::barrier and cuda::pipeline, which are mbarriers and cp.async underneath. */
#include "api.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

enum { TILE = 128, TILES = 16, STAGES = 3 };

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void by_barrier(const int *from, int *to)
{
    __shared__ int tile[TILE];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto group = cg::this_thread_block();
    if (threadIdx.x == 0)
        init(&bar, TILE);
    group.sync();
    for (int i = 0; i < TILES; i++) {
        cuda::memcpy_async(group, tile, from + i * TILE, sizeof tile, bar);
        bar.arrive_and_wait();
        to[i * TILE + threadIdx.x] = tile[TILE - 1 - threadIdx.x] + 1;
        bar.arrive_and_wait();
    }
}

__global__ void by_pipeline(const int *from, int *to)
{
    __shared__ int tile[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto group = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(group, &state);
    for (int next = 0, i = 0; i < TILES; i++) {
        for (; next < TILES && next < i + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(group, tile[next % STAGES], from + next * TILE, sizeof tile[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        to[i * TILE + threadIdx.x] = tile[i % STAGES][TILE - 1 - threadIdx.x] + 1;
        pipe.consumer_release();
    }
}

/* The first half of the threads copies, the second half uses. */
__global__ void by_roles(const int *from, int *to)
{
    __shared__ int tile[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const bool producer = threadIdx.x < TILE;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state,
                                    producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const int t = threadIdx.x % TILE;
    for (int i = 0; i < TILES; i++) {
        if (producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[i % STAGES][t], from + i * TILE + t, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            to[i * TILE + t] = tile[i % STAGES][TILE - 1 - t] + 1;
            pipe.consumer_release();
        }
    }
}

static int wrong(const int *from, const int *to)
{
    int n = 0;
    for (int i = 0; i < TILES; i++)
        for (int t = 0; t < TILE; t++)
            n += to[i * TILE + t] != from[i * TILE + TILE - 1 - t] + 1;
    return n;
}

int main(void)
{
    int *from, *to;
    OK(cudaMallocManaged(&from, TILES * TILE * sizeof(int)));
    OK(cudaMallocManaged(&to, TILES * TILE * sizeof(int)));
    for (int i = 0; i < TILES * TILE; i++)
        from[i] = 3 * i;
    for (int way = 0; way < 3; way++) {
        OK(cudaMemset(to, 0, TILES * TILE * sizeof(int)));
        way == 0 ? by_barrier<<<1, TILE>>>(from, to) : way == 1 ? by_pipeline<<<1, TILE>>>(from, to) :
            by_roles<<<1, 2 * TILE>>>(from, to);
        OK(cudaGetLastError());
        OK(cudaDeviceSynchronize());
        EXPECT(wrong(from, to) == 0);
    }
    return report();
}
