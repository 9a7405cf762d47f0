/* e0_pdl: two vector adds, the second of which needs the first, and begins before the first has ended.
 *
 * New here: programmatic dependent launch                 (vector_add, launch_vector_adds)
 * From:     a0_vector_add     Chapter: docs/e0_pdl.md
 * Run:      make side/e0_pdl && ./side/e0_pdl/run
 */
#include "z_layout.h"
#include "z_ptx.h"

/* ------------------------------------------------------------------ shapes */

enum {
    CHUNK = 4,          /* floats in a 16-byte access, the widest there is for one thread */
    THREADS = 256,      /* in a block */
    BLOCK = THREADS * CHUNK
};

/* ------------------------------------------------------------------ kernel */

/* x may be what the kernel before this one writes; y must have been there before that. */
extern "C" __global__ void __launch_bounds__(THREADS)
vector_add(const float *x_gmem, const float *y_gmem, float *z_gmem, int n)
{
    const int first = blockIdx.x * BLOCK + threadIdx.x * CHUNK;
    griddepcontrol_launch_dependents();     /* the next kernel may take the places that become free */

    /* Neighbouring threads take neighbouring chunks: a warp's 32 accesses are 512 bytes in a row, four full lines. */
    if (first + CHUNK <= n) {
        const float4 y = *(const float4 *)(y_gmem + first);
        griddepcontrol_wait();              /* the kernel before has ended: x is there */
        const float4 x = *(const float4 *)(x_gmem + first);
        *(float4 *)(z_gmem + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        return;
    }

    /* The last chunk may be cut short; chunks past it are empty. */
    griddepcontrol_wait();
    for (int i = first; i < n; i++)
        z_gmem[i] = x_gmem[i] + y_gmem[i];
}

/* ------------------------------------------------------------------ launcher */

/* sum = x + y, then z = sum + y. If `early`, the second kernel may begin when all CTAs of the first have said so. */
extern "C" cudaError_t launch_vector_adds(const float *x_gmem, const float *y_gmem, float *sum_gmem, float *z_gmem, int n,
                                          bool early, cudaStream_t stream)
{
    cudaLaunchAttribute may_begin_early = {};
    may_begin_early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    may_begin_early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = tiles_to_cover(n, BLOCK);
    config.blockDim = THREADS;
    config.stream = stream;
    cudaLaunchKernelEx(&config, vector_add, x_gmem, y_gmem, sum_gmem, n);

    config.attrs = &may_begin_early;
    config.numAttrs = early;
    cudaLaunchKernelEx(&config, vector_add, (const float *)sum_gmem, y_gmem, z_gmem, n);
    return cudaGetLastError();      /* of either launch */
}
