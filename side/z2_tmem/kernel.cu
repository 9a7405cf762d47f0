/* z2_tmem: registers -> tensor memory -> registers, and nothing else. y = x.
 *
 * New here: tensor memory: alloc, store, load, dealloc; a value leaves it in another thread   (vector_copy)
 * From:     a0_vector_add     Next: d1_tcgen05     Chapter: docs/z2_tmem.md
 * Run:      make side/z2_tmem && ./side/z2_tmem/run
 */
#include "z_layout.h"
#include "z_ptx.h"
#include "z_tmem.h"

/* ------------------------------------------------------------------ shapes */

enum {
    LANES = 128,        /* of tensor memory, and threads of a CTA */
    COLUMNS = 32,       /* of tensor memory that a CTA uses; no fewer can be had */
    HALF = 16,          /* lanes that a load of shape 16x256b reads */
    CHUNK = LANES * COLUMNS
};

/* ------------------------------------------------------------------ load, store */

/* Element number of the cell of a CTA's first element: neighbouring lanes hold neighbours. */
static __device__ int element_of(int lane, int col) { return col * LANES + lane; }

/* Each thread fills its lane, column by column. The warp, all of it. */
static __device__ void put(uint32_t warp_tmem, const float *x_gmem, int first, int n)
{
    uint32_t r[COLUMNS];
    for (int col = 0; col < COLUMNS; col++) {
        const int i = first + element_of(threadIdx.x, col);
        r[col] = i < n ? __float_as_uint(x_gmem[i]) : 0;
    }
    tcgen05_st_32x32b_x32(warp_tmem, r);
    tcgen05_wait_st();                  /* only now is it there */
}

/* Half of the warp's lanes, in the shape that mma.sync has for its fragments: each thread gets what others have put. */
static __device__ void get_half(uint32_t warp_tmem, int half, float *y_gmem, int first, int n)
{
    uint32_t r[HALF];
    tcgen05_ld_16x256b_x4(r, warp_tmem + tmem_address(half * HALF, 0));
    tcgen05_wait_ld();                  /* only now do the registers hold it */
    for (int i = 0; i < HALF; i++) {
        const int lane = threadIdx.x / 32 * 32 + half * HALF + tmem_ld_lane(TMEM_16X256B, threadIdx.x % 32, i);
        const int at = first + element_of(lane, tmem_ld_col(TMEM_16X256B, threadIdx.x % 32, i));
        if (at < n)
            y_gmem[at] = __uint_as_float(r[i]);
    }
}

/* ------------------------------------------------------------------ kernel */

/* y[0..n) = x[0..n). */
extern "C" __global__ void __launch_bounds__(LANES)
vector_copy(const float *x_gmem, float *y_gmem, int n)
{
    __shared__ uint32_t tmem;
    const int warp = threadIdx.x / 32, first = blockIdx.x * CHUNK;

    if (warp == 0)
        tcgen05_alloc<1>(&tmem, COLUMNS);
    __syncthreads();                    /* all know where it is */
    const uint32_t warp_tmem = tmem + tmem_address(warp * 32, 0);   /* a warp reaches its own quarter of the lanes */

    put(warp_tmem, x_gmem, first, n);
    for (int half = 0; half < 2; half++)
        get_half(warp_tmem, half, y_gmem, first, n);

    __syncthreads();                    /* all have read */
    if (warp == 0)
        tcgen05_dealloc<1>(tmem, COLUMNS);
}

/* ------------------------------------------------------------------ launcher */

extern "C" cudaError_t launch_vector_copy(const float *x_gmem, float *y_gmem, int n, cudaStream_t stream)
{
    vector_copy<<<tiles_to_cover(n, CHUNK), LANES, 0, stream>>>(x_gmem, y_gmem, n);
    return cudaGetLastError();
}
