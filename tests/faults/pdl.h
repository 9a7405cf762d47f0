/* pdl.h: what the programs of tests/faults with programmatic dependent launches share. */
#ifndef PDL_H
#define PDL_H

#include "fault.h"

__device__ static inline void launch_dependents(void) { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ static inline void wait_for_primary(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/* Launches a kernel that may begin before the one in front of it has ended. */
template <class... Parameters, class... Arguments>
static void launch_dependent(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = threads, config.attrs = &early, config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) != cudaSuccess)
        exit(4);
}

#endif
