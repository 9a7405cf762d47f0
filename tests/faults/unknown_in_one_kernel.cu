/* A kernel that reads a texture cannot run; the other one of the module does.
 *
 * says: usable ran
 * says: sample.* cannot run: .*textures and surfaces are not emulated: 'tex\.
 * says: sample_too.* cannot run: .*textures and surfaces are not emulated: 'tex\.
 * says: cudaErrorInvalidPtx
 */
#include "fault.h"

__global__ void usable(int *to)
{
    *to = 7;
}

__global__ void sample(float *to, cudaTextureObject_t texture)
{
#ifndef FIXED
    *to = tex2D<float>(texture, 0.5f, 0.5f);    // here
#else
    *to = (float)texture;
#endif
}

__global__ void sample_too(float *to, cudaTextureObject_t texture)
{
#ifndef FIXED
    *to = 1 + tex2D<float>(texture, 0.5f, 0.5f);
#else
    *to = (float)texture;
#endif
}

int main(void)
{
    int *to = device_zeros<int>(1), h = 0;
    usable<<<1, 1>>>(to);
    cudaMemcpy(&h, to, sizeof h, cudaMemcpyDeviceToHost);
    if (h == 7)
        printf("usable ran\n");
    sample_too<<<1, 1>>>(device_array<float>(1), 0);
    sample<<<1, 1>>>(device_array<float>(1), 0);
    return outcome();
}
