/* device.c: the one device's properties. */
#include "cuda_emu.h"
#include <string.h>

int device_check(int ordinal)
{
    return ordinal == 0 ? 0 : cudaErrorInvalidDevice;
}

int device_attribute(int *value, int number)
{
    const struct device *d = ctx_device();
    if (!d)
        return cudaErrorNoDevice;
    switch (number) {
#define ATTR(number, name, expression) case number: *value = expression; return 0;
#include "attributes.def"
#undef ATTR
    default: return cudaErrorInvalidValue;
    }
}

/* Made from the device's name, so that it stays the same from run to run. */
void device_uuid(char bytes[16])
{
    const struct device *d = ctx_device();
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < 16; i++) {
        h = (h ^ (uint8_t)(d ? d->id[(size_t)i % strlen(d->id)] : 0)) * 1099511628211u;
        bytes[i] = (char)(h >> 32);
    }
}

static int attr(int number)
{
    int value = 0;
    device_attribute(&value, number);
    return value;
}

static void texture_limits(struct cudaDeviceProp *p)
{
    static const struct { size_t offset; uint8_t attribute[3]; } rows[] = {
#define AT(field) offsetof(struct cudaDeviceProp, field)
        {AT(maxTexture1D), {21}}, {AT(maxTexture1DMipmap), {77}}, {AT(maxTexture2D), {22, 23}},
        {AT(maxTexture2DMipmap), {73, 74}}, {AT(maxTexture2DLinear), {70, 71, 72}}, {AT(maxTexture2DGather), {45, 46}},
        {AT(maxTexture3D), {24, 25, 26}}, {AT(maxTexture3DAlt), {47, 48, 49}}, {AT(maxTextureCubemap), {52}},
        {AT(maxTexture1DLayered), {42, 43}}, {AT(maxTexture2DLayered), {27, 28, 29}},
        {AT(maxTextureCubemapLayered), {53, 54}}, {AT(maxSurface1D), {55}}, {AT(maxSurface2D), {56, 57}},
        {AT(maxSurface3D), {58, 59, 60}}, {AT(maxSurface1DLayered), {61, 62}}, {AT(maxSurface2DLayered), {63, 64, 65}},
        {AT(maxSurfaceCubemap), {66}}, {AT(maxSurfaceCubemapLayered), {67, 68}},
#undef AT
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 3 && rows[i].attribute[k]; k++) {
            int value = attr(rows[i].attribute[k]);
            memcpy((char *)p + rows[i].offset + k * sizeof value, &value, sizeof value);
        }
}

int device_properties(struct cudaDeviceProp *p)
{
    const struct device *d = ctx_device();
    if (!d)
        return cudaErrorNoDevice;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", d->name);
    device_uuid(p->uuid.bytes);
    texture_limits(p);
    p->totalGlobalMem = d->global_bytes;
    p->sharedMemPerBlock = (size_t)attr(8);
    p->regsPerBlock = p->regsPerMultiprocessor = (int)d->regs_per_sm;
    p->warpSize = WARP;
    p->memPitch = (size_t)attr(11);
    p->maxThreadsPerBlock = attr(1);
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = attr(2 + i);
        p->maxGridSize[i] = attr(5 + i);
    }
    p->totalConstMem = (size_t)attr(9);
    p->major = attr(75);
    p->minor = attr(76);
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = (int)d->sms;
    p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = p->unifiedAddressing = 1;
    p->asyncEngineCount = attr(40);
    p->memoryBusWidth = (int)d->bus_bits;
    p->l2CacheSize = (int)d->l2_bytes;
    p->persistingL2CacheMaxSize = attr(108);
    p->maxThreadsPerMultiProcessor = (int)d->threads_per_sm;
    p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = d->smem_per_sm;
    p->managedMemory = p->concurrentManagedAccess = p->computePreemptionSupported = 1;
    p->canUseHostPointerForRegisteredMem = p->cooperativeLaunch = p->hostRegisterSupported = p->memoryPoolsSupported = 1;
    p->sharedMemPerBlockOptin = d->smem_optin;
    p->maxBlocksPerMultiProcessor = (int)d->ctas_per_sm;
    p->accessPolicyMaxWindowSize = attr(109);
    p->reservedSharedMemPerBlock = d->smem_reserved;
    p->clusterLaunch = attr(120);
#if CUDART_MAJOR < 13
    p->clockRate = attr(13);
    p->memoryClockRate = attr(36);
    p->deviceOverlap = 1;
    p->maxTexture1DLinear = attr(69);
    p->singleToDoublePrecisionPerfRatio = attr(87);
#else
    p->deviceNumaId = -1;
#endif
    return 0;
}
