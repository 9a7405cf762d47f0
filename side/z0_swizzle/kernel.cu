/* z0_swizzle: what the copy engine's swizzles do to a tile: boxes of numbers are loaded, shared memory is dumped.
 *
 * New here: tensor maps with each of the swizzles; a look at the bytes that land   (dump_boxes)
 * From:     a0_vector_add     Next: b5_tma     Chapter: docs/z0_swizzle.md
 * Run:      make side/z0_swizzle && ./side/z0_swizzle/run
 */
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tma.h"

/* ------------------------------------------------------------------ shapes */

enum {
    ROWS = 8,           /* of a box */
    WIDEST = 128,       /* bytes in a row of a box, at most */
    THREADS = 64
};

/* ------------------------------------------------------------------ kernel */

/* Box number blockIdx.x of the tensor, as it lies in shared memory, to its place in dump. */
extern "C" __global__ void __launch_bounds__(THREADS)
dump_boxes(const __grid_constant__ CUtensorMap map, float *dump_gmem, int row_bytes)
{
    alignas(1024) __shared__ float box[ROWS * WIDEST / sizeof(float)];
    __shared__ mbarrier full;
    const int numbers = ROWS * row_bytes / sizeof(float);

    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init_release_cluster();
        mbarrier_arrive_expect_tx(&full, ROWS * row_bytes);
        cp_async_bulk_tensor_2d_shared_global(box, &map, 0, blockIdx.x * ROWS, &full);
    }
    __syncthreads();                    /* from here on all may wait at the barrier */
    wait_parity(&full, 0);
    for (int i = threadIdx.x; i < numbers; i += THREADS)
        dump_gmem[(size_t)blockIdx.x * numbers + i] = box[i];
}

/* ------------------------------------------------------------------ launcher */

/* A tensor of rows of row_bytes, copied in boxes of ROWS of them. The swizzle goes with the width, but that none has a
 * width of its own. */
extern "C" cudaError_t launch_dump_boxes(const float *x_gmem, float *dump_gmem, int rows, int row_bytes, bool swizzled,
                                         cudaStream_t stream)
{
    const CUtensorMapSwizzle swizzle = !swizzled       ? CU_TENSOR_MAP_SWIZZLE_NONE
                                       : row_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                       : row_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                         : CU_TENSOR_MAP_SWIZZLE_128B;
    CUtensorMap map;
    const int numbers = row_bytes / sizeof(float);
    const cudaError_t error = tensor_map_of_rows(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, x_gmem, rows, numbers, row_bytes,
                                                 ROWS, numbers, swizzle);
    if (error)
        return error;
    dump_boxes<<<tiles_to_cover(rows, ROWS), THREADS, 0, stream>>>(map, dump_gmem, row_bytes);
    return cudaGetLastError();
}
