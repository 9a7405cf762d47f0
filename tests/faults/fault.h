/* fault.h: what the programs of tests/faults share.
 *
 * Each has a kernel that breaks one rule, and tells how the launch ended as any CUDA program would: exit status 3
 * and the error's name, or 0. Its head says what the report must contain (tests/cases.py, fault_cases); the line that
 * the report must name ends in a comment, here. Compiled with -DFIXED it is the same kernel without the mistake.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdio.h>
#include <stdlib.h>

static inline int outcome(void)
{
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        return 0;
    printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    return 3;
}

/* n elements of device memory that nothing has written. */
template <class T> static T *device_array(size_t n)
{
    T *array = NULL;
    if (cudaMalloc(&array, n * sizeof(T)) != cudaSuccess)
        exit(4);
    return array;
}

/* The same, all bytes 0. */
template <class T> static T *device_zeros(size_t n)
{
    T *array = device_array<T>(n);
    if (cudaMemset(array, 0, n * sizeof(T)) != cudaSuccess)
        exit(4);
    return array;
}

#endif
