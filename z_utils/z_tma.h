/* z_tma.h: the copy engine (Tensor Memory Accelerator, TMA).
 *
 * One thread says "this box of that tensor, to there", and the engine does the rest: addresses, swizzle, edges.
 * The tensor is described once, on the host, by a tensor map of 128 bytes that the kernel takes as a parameter
 * `const __grid_constant__ CUtensorMap map`. Coordinates count elements, the one along a row (stride 1) first.
 * Where a box reaches over an edge, a load fills in zeros and a store leaves out.
 *
 *     loads  (global -> shared) report their bytes to an mbarrier: wait for it            (z_mbarrier.h)
 *     stores (shared -> global) belong to the thread's bulk group: commit, then wait      (section 4)
 *
 * The engine reads and writes through the asynchronous proxy. Ordinary stores into shared memory must be made
 * visible to it: fence_proxy_async_shared_cta in each thread that wrote, then a barrier, then the copy.
 *
 * In this file: 1 tensor maps (host)   2 loads   3 stores and reductions   4 bulk groups   5 plain bulk copies
 *               6 prefetches
 * PTX ISA: "Asynchronous copy", "Tensors". sm_90.
 */
#ifndef Z_TMA_H
#define Z_TMA_H

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "z_mbarrier.h"

/* ------------------------------------------------------------------ 1 tensor maps (host) */

/* Describes a row-major matrix in global memory, a row of which starts row_bytes after the one before, to be copied in
 * boxes of box_rows x box_cols. The swizzle says how a box lies in shared memory (z_layout.h); a row of the box may be at
 * most as wide as the swizzle. gmem and row_bytes are multiples of 16; box_rows and box_cols are at most 256. Anything
 * else gives cudaErrorInvalidValue. The driver's entry point is asked for through the runtime, so that nothing has to
 * be linked. Driver API: cuTensorMapEncodeTiled. */
static inline cudaError_t tensor_map_of_rows(CUtensorMap *map, CUtensorMapDataType type, const void *gmem, int rows,
                                             int cols, uint64_t row_bytes, int box_rows, int box_cols,
                                             CUtensorMapSwizzle swizzle)
{
    typedef decltype(&cuTensorMapEncodeTiled) encode_fn;
    static encode_fn encode;
    cudaDriverEntryPointQueryResult found;
    if (!encode) {
        cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                                             cudaEnableDefault, &found);
        if (error != cudaSuccess)
            return error;
    }
    const cuuint64_t dims[2] = { (cuuint64_t)cols, (cuuint64_t)rows };
    const cuuint64_t row_strides[1] = { row_bytes };
    const cuuint32_t box[2] = { (cuuint32_t)box_cols, (cuuint32_t)box_rows }, every[2] = { 1, 1 };
    const CUresult result = encode(map, type, 2, (void *)gmem, dims, row_strides, box, every,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/* The same for fp16 without gaps between the rows: cols is a multiple of 8, and a row of the box is at most 64 wide for
 * the swizzle of 128 bytes. */
static inline cudaError_t tensor_map_2d(CUtensorMap *map, const half *gmem, int rows, int cols, int box_rows,
                                        int box_cols, CUtensorMapSwizzle swizzle)
{
    return tensor_map_of_rows(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, gmem, rows, cols, (uint64_t)cols * sizeof(half),
                              box_rows, box_cols, swizzle);
}

/* ------------------------------------------------------------------ 2 loads */

/* Starts to load the box whose first element is column c0 of row c1, either of which may lie outside. One
 * thread. dst_mem is a multiple of 128 bytes, of 1024 for the 128-byte swizzle; c0 times the element's size is a
 * multiple of 16. mbar receives the bytes of the whole box. ISA: "cp.async.bulk.tensor". */
PTX_FN void cp_async_bulk_tensor_2d_shared_global(void *dst_mem, const CUtensorMap *tensor_map, int c0, int c1,
                                                  mbarrier *mbar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%2, %3}], [%4];"
                 :: "r"(shared_address(dst_mem)), "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(mbar))
                 : "memory");
}

/* The same into several CTAs of the cluster at once: bit i of cta_mask is the CTA of rank i. Data and bytes come
 * in each at the offset that dst_mem and mbar have here. One thread of one CTA; every CTA named must have
 * expected the bytes for itself, must be done with what was there, and must not exit before they have landed.
 * ISA: "cp.async.bulk.tensor", .multicast::cluster. */
PTX_FN void cp_async_bulk_tensor_2d_shared_global_multicast(void *dst_mem, const CUtensorMap *tensor_map, int c0,
                                                            int c1, mbarrier *mbar, uint16_t cta_mask)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(shared_address(dst_mem)), "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(mbar)),
                    "h"(cta_mask)
                 : "memory");
}

/* The same for a pair of CTAs that multiply together (tcgen05, cta_group 2): the bytes go to mbar in this CTA or in
 * its peer; mbar from mapa_shared_cluster. One thread. ISA: "cp.async.bulk.tensor", .cta_group. sm_100a. */
PTX_FN void cp_async_bulk_tensor_2d_shared_global_cta_group_2(void *dst_mem, const CUtensorMap *tensor_map, int c0,
                                                              int c1, uint32_t mbar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], "
                 "[%1, {%2, %3}], [%4];"
                 :: "r"(shared_address(dst_mem)), "l"(tensor_map), "r"(c0), "r"(c1), "r"(mbar) : "memory");
}

/* ------------------------------------------------------------------ 3 stores and reductions */

/* Starts to store a box; what lies beyond the high edges is left out, and negative coordinates are an error. One
 * thread, after what was written to src_mem was fenced (see above). The bytes at src_mem must stay until
 * cp_async_bulk_wait_group_read says that they were read. ISA: "cp.async.bulk.tensor". */
PTX_FN void cp_async_bulk_tensor_2d_global_shared(const CUtensorMap *tensor_map, int c0, int c1, const void *src_mem)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(src_mem)) : "memory");
}

/* The same, but each element is added to what is in global memory, atomically per element and in no order. ISA:
 * "cp.reduce.async.bulk.tensor". */
PTX_FN void cp_reduce_async_bulk_tensor_2d_global_shared_add(const CUtensorMap *tensor_map, int c0, int c1,
                                                             const void *src_mem)
{
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(tensor_map), "r"(c0), "r"(c1), "r"(shared_address(src_mem)) : "memory");
}

/* ------------------------------------------------------------------ 4 bulk groups */

/* Closes the group of this thread's stores since the last commit. ISA: "cp.async.bulk.commit_group". */
PTX_FN void cp_async_bulk_commit_group(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until at most n of this thread's groups, the newest, are still under way; what the others wrote is in
 * global memory. The thread that committed. ISA: "cp.async.bulk.wait_group". */
template <int n>
PTX_FN void cp_async_bulk_wait_group(void)
{
    asm volatile("cp.async.bulk.wait_group %0;" :: "n"(n) : "memory");
}

/* Waits only until they have read their source, which may then be written again. */
template <int n>
PTX_FN void cp_async_bulk_wait_group_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory");
}

/* ------------------------------------------------------------------ 5 plain bulk copies */

/* Starts to copy size bytes that lie together. One thread. Addresses and size are multiples of 16. mbar receives
 * the bytes. ISA: "cp.async.bulk". */
PTX_FN void cp_async_bulk_shared_global(void *dst_mem, const void *src_mem, uint32_t size, mbarrier *mbar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(shared_address(dst_mem)), "l"(src_mem), "r"(size), "r"(shared_address(mbar)) : "memory");
}

/* The other way, into the thread's bulk group. */
PTX_FN void cp_async_bulk_global_shared(void *dst_mem, const void *src_mem, uint32_t size)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(dst_mem), "r"(shared_address(src_mem)), "r"(size) : "memory");
}

/* From here into another CTA of the cluster: dst_mem and mbar are addresses from mapa_shared_cluster, both in
 * that CTA. ISA: "cp.async.bulk", shared::cta to shared::cluster. */
PTX_FN void cp_async_bulk_shared_cluster_shared_cta(uint32_t dst_mem, const void *src_mem, uint32_t size,
                                                    uint32_t mbar)
{
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(dst_mem), "r"(shared_address(src_mem)), "r"(size), "r"(mbar) : "memory");
}

/* ------------------------------------------------------------------ 6 prefetches */

/* Fetches the map itself, so that the first copy need not wait for it. One thread; only a hint. ISA: "prefetch",
 * .tensormap. */
PTX_FN void prefetch_tensormap(const CUtensorMap *tensor_map)
{
    asm volatile("prefetch.tensormap [%0];" :: "l"(tensor_map) : "memory");
}

/* Brings a box into the L2 cache. One thread; only a hint. ISA: "cp.async.bulk.prefetch.tensor". */
PTX_FN void cp_async_bulk_prefetch_tensor_2d_L2_global(const CUtensorMap *tensor_map, int c0, int c1)
{
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
                 :: "l"(tensor_map), "r"(c0), "r"(c1) : "memory");
}

#endif
