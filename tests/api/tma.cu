/* Tensor copies: boxes that reach over the tensor's edges on every side, with the 128-byte swizzle, and stored again. */
#include "api.h"
#include <cuda.h>
#include <vector>

enum { WIDTH = 100, HEIGHT = 37, BOX = 32, ROWS = 16 };

__global__ void through(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int x, int y, float *seen)
{
    __shared__ alignas(1024) float tile[ROWS * BOX];
    __shared__ alignas(8) unsigned long long bar;
    const unsigned t = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"((unsigned)sizeof tile) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(t), "l"(&from), "r"(x), "r"(y), "r"(b) : "memory");
    asm volatile("{ .reg .pred q; again: mbarrier.try_wait.parity.shared::cta.b64 q, [%0], 0; @!q bra again; }" :: "r"(b) : "memory");
    for (int i = 0; i < ROWS * BOX; i++)
        seen[i] = tile[i];
    if (x < 0 || y < 0)
        return;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&to), "r"(x), "r"(y), "r"(t) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

int main(void)
{
    std::vector<float> host(WIDTH * HEIGHT), back(WIDTH * HEIGHT), seen(ROWS * BOX);
    float *from, *to, *s;
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CUtensorMap a, b;
    const cuuint64_t dims[] = {WIDTH, HEIGHT}, strides[] = {WIDTH * sizeof(float)};
    const cuuint32_t box[] = {BOX, ROWS}, one[] = {1, 1};
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        host[i] = (float)(i + 1);
    OK(cudaMalloc(&from, host.size() * 4));
    OK(cudaMalloc(&to, host.size() * 4));
    OK(cudaMalloc(&s, seen.size() * 4));
    OK(cudaMemcpy(from, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    auto encode = (decltype(&cuTensorMapEncodeTiled))entry;
    for (int k = 0; k < 2; k++)
        GIVES(encode(k ? &b : &a, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, k ? to : from, dims, strides, box, one,
                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), CUDA_SUCCESS);
    const int at[][2] = {{0, 0}, {32, 16}, {96, 32}, {-4, -3}, {200, 0}};
    for (auto &p : at) {
        OK(cudaMemset(to, 0, host.size() * 4));
        through<<<1, 1>>>(a, b, p[0], p[1], s);
        OK(cudaDeviceSynchronize());
        OK(cudaMemcpy(seen.data(), s, seen.size() * 4, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(back.data(), to, back.size() * 4, cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < BOX; c++) {
                int x = p[0] + c, y = p[1] + r, chunk = (c / 4) ^ (r % 8);
                float want = x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT ? host[y * WIDTH + x] : 0;
                wrong += seen[r * BOX + chunk * 4 + c % 4] != want;
            }
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                bool in = p[0] >= 0 && x >= p[0] && x < p[0] + BOX && y >= p[1] && y < p[1] + ROWS;
                wrong += back[y * WIDTH + x] != (in ? host[y * WIDTH + x] : 0);
            }
        EXPECT(wrong == 0);
    }
    return report();
}
