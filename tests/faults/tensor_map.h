/* tensor_map.h: a matrix of fp16 in global memory and its tensor map, for the faults of the copy engine. */
#ifndef TENSOR_MAP_H
#define TENSOR_MAP_H

#include <cuda.h>

#include "fault.h"

enum { ROWS = 64, COLS = 128, TILE_ROWS = 8, TILE_COLS = 64 };

struct matrix_map {
    unsigned box_cols = TILE_COLS, box_rows = TILE_ROWS, row_bytes = COLS * 2;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;

    /* Exit status 3, and the error's name, when the driver refuses. */
    CUtensorMap encode(void *gmem) const
    {
        void *function = NULL;
        cudaDriverEntryPointQueryResult found;
        CUtensorMap m;
        if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) != cudaSuccess)
            exit(4);
        const cuuint64_t dims[2] = { COLS, ROWS }, strides[1] = { row_bytes };
        const cuuint32_t box[2] = { box_cols, box_rows }, every[2] = { 1, 1 };
        CUresult error = ((decltype(&cuTensorMapEncodeTiled))function)(
            &m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, gmem, dims, strides, box, every,
            CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (error == CUDA_SUCCESS)
            return m;
        printf("the map was refused: %d\n", error);
        exit(3);
    }
};

static inline void *matrix(void) { return device_zeros<unsigned short>(ROWS * COLS); }

__device__ static inline unsigned smem(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ static inline void expect(unsigned bar, unsigned bytes)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory");
}

__device__ static inline void wait(unsigned bar)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" :: "r"(bar) : "memory");
}

#endif
