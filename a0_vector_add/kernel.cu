/* a0_vector_add: z = x + y, four elements per thread.
 *
 * New here: grid, block, thread; 16-byte accesses         (vector_add)
 * From:     nothing     Next: a1_naive     Chapter: docs/a0_vector_add.md
 * Run:      make a0 && ./a0/run
 */
#include "z_layout.h"

/* ------------------------------------------------------------------ shapes */

enum {
    CHUNK = 4,          /* floats in a 16-byte access, the widest there is for one thread */
    THREADS = 256,      /* in a block */
    BLOCK = THREADS * CHUNK
};

/* ------------------------------------------------------------------ kernel */

extern "C" __global__ void __launch_bounds__(THREADS)
vector_add(const float *x_gmem, const float *y_gmem, float *z_gmem, int n)
{
    const int first = blockIdx.x * BLOCK + threadIdx.x * CHUNK;

    /* Neighbouring threads take neighbouring chunks: a warp's 32 accesses are 512 bytes in a row, four full lines. */
    if (first + CHUNK <= n) {
        const float4 x = *(const float4 *)(x_gmem + first);
        const float4 y = *(const float4 *)(y_gmem + first);
        *(float4 *)(z_gmem + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        return;
    }

    /* The last chunk may be cut short; chunks past it are empty. */
    for (int i = first; i < n; i++)
        z_gmem[i] = x_gmem[i] + y_gmem[i];
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_vector_add(const float *x_gmem, const float *y_gmem, float *z_gmem, int n,
                                         cudaStream_t stream)
{
    vector_add<<<tiles_to_cover(n, BLOCK), THREADS, 0, stream>>>(x_gmem, y_gmem, z_gmem, n);
    return cudaGetLastError();
}
