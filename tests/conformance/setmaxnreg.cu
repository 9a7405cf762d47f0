/* setmaxnreg: warpgroups that give registers away and take them, once and again, beside work that needs them. */
#include "kernels.h"

#define INC(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")
#define DEC(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")
/* A warpgroup by itself. */
#define GROUP_SYNC() asm volatile("bar.sync %0, 128;" :: "r"(1 + threadIdx.x / 128) : "memory")

/* Keeps n values at once. */
template <int n> __device__ static uint64_t work(source in)
{
    uint32_t v[n];
    #pragma unroll
    for (int i = 0; i < n; i++)
        v[i] = in[(place() * 7 + i * 131) & (INPUTS - 1)];
    for (int round = 0; round < 3; round++) {
        #pragma unroll
        for (int i = 0; i < n; i++)
            v[i] = v[i] * 5 + v[(i + n / 2) % n];
    }
    uint64_t sum = 1;
    #pragma unroll
    for (int i = 0; i < n; i++)
        sum = stir(sum, v[i]);
    return sum;
}

/* One warpgroup of three gives, the others take. */
__global__ void __launch_bounds__(384, 1) specialised(source in, sink out)
{
    if (threadIdx.x < 128) {
        DEC(24);
        out[place()] = in[place()] + 1ull;
    } else {
        INC(240);
        out[place()] = work<120>(in);
    }
}

/* Two warpgroups hand registers to and fro. */
__global__ void __launch_bounds__(256, 1) to_and_fro(source in, sink out)
{
    uint64_t sum = 1;
    for (int turn = 0; turn < 3; turn++) {
        __syncthreads();
        if (threadIdx.x / 128 == turn % 2) {
            INC(240);
            sum += work<100>(in);
            GROUP_SYNC();
            DEC(128);
        } else {
            DEC(128);
            sum += in[(place() + turn) & (INPUTS - 1)];
            GROUP_SYNC();
            INC(160);
        }
        __syncthreads();
        if (threadIdx.x / 128 == turn % 2)
            INC(160);
        __syncthreads();
        DEC(152);
    }
    out[place()] = sum;
}

/* By steps, and to the count that it has. */
__global__ void __launch_bounds__(128, 2) steps(source in, sink out)
{
    uint64_t sum = in[place()] + 1ull;
    DEC(160);
    GROUP_SYNC();
    DEC(160);
    GROUP_SYNC();
    DEC(80);
    GROUP_SYNC();
    sum += work<20>(in);
    INC(96);
    GROUP_SYNC();
    INC(160);
    sum += work<60>(in);
    out[place()] = sum;
}

static const test tests[] = {
    { "specialised", specialised, 6, 384, { 0, 0, 0 } }, { "specialised in clusters", specialised, 6, 384, 2 },
    { "to and fro", to_and_fro, 6, 256, { 0, 0, 0 } }, { "steps", steps, 6, 128, { 0, 0, 0 } },
};

RUN_TESTS(tests)
