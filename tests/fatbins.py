"""The forms in which nvcc puts PTX into a program: compressions, several chips, several files, other launch paths."""
import os
import re
import subprocess

from __main__ import Case

FOLDER = 'build/tests/fatbins'

PROGRAM = r'''
#include <cstdio>
#ifdef SECOND_FILE
extern __device__ int from_other_file(int);
#else
static __device__ int from_other_file(int x) { return x + 40; }
#endif
__global__ void chip(int *out)
{
#ifdef __CUDA_ARCH__
    out[0] = __CUDA_ARCH__ / 10;
    out[1] = from_other_file(2);
#endif
}
int main()
{
    int *d, h[2] = {0};
    cudaMalloc(&d, sizeof h);
    chip<<<1, 1>>>(d);
    cudaError_t error = cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault);
    printf("PTX for sm_%d, %d, %s\n", h[0], h[1], cudaGetErrorString(error));
    return error != cudaSuccess || h[1] != 42;
}
'''
OTHER_FILE = '__device__ int from_other_file(int x) { return x + 40; }\n'


def cases():
    ptx90 = ['-gencode', 'arch=compute_90,code=[sm_90,compute_90]']
    several = [word for a in ('75', '80', '90', '90a', '100', '100a', '120')
               for word in ('-gencode', 'arch=compute_%s,code=compute_%s' % (a, a))]
    return [
        case('default', [], says='sm_75, 42, no error'),
        case('no_compression', ptx90 + ['--compress-mode=none'], says='sm_90, 42, no error'),
        case('for_size', ptx90 + ['--compress-mode=size'], says='sm_90, 42, no error'),
        case('for_speed', ptx90 + ['--compress-mode=speed'], says='sm_90, 42, no error'),
        case('balanced', ptx90 + ['--compress-mode=balance'], says='sm_90, 42, no error'),
        case('several_chips', several, runs=[({'EMU_DEVICE': 'a100'}, 'sm_80, 42'), ({'EMU_DEVICE': 'h200'}, 'sm_90, 42'),
                                             ({'EMU_DEVICE': 'b200'}, 'sm_100, 42'), ({'EMU_DEVICE': 'rtx5090'}, 'sm_120, 42'),
                                             ({'EMU_DEVICE': 'gtx480'}, 'EMU_DEVICE=gtx480: no such device', 1)]),
        case('family', ['-gencode', 'arch=compute_100f,code=compute_100f'], says='sm_100, 42, no error'),
        case('chip_of_the_program', ['-gencode', 'arch=compute_120,code=compute_120'], says='sm_120, 42, no error'),
        case('other_chip', ['-gencode', 'arch=compute_100a,code=compute_100a'], env={'EMU_DEVICE': 'h200'}, exits=1,
             says='no PTX for .*only PTX for sm_100a'),
        case('machine_code_only', ['-gencode', 'arch=compute_90,code=sm_90'], exits=1,
             says='no PTX for .*only machine code for sm_90.*-gencode arch=compute_90,code=compute_90'),
        case('two_files', ptx90 + ['-rdc=true', '-DSECOND_FILE'], other=True, says='sm_90, 42, no error'),
        case('two_files_debug', ptx90 + ['-rdc=true', '-DSECOND_FILE', '-G'], other=True, says='sm_90, 42, no error'),
        case('stream_per_thread', ptx90 + ['-default-stream', 'per-thread'], says='sm_90, 42, no error'),
        case('static_runtime', ptx90 + ['-cudart', 'static'], exits=2, says='nvcc -cudart shared'),
    ]


def case(name, flags, says=None, env=None, exits=0, other=False, runs=None):
    """Compiles the program when the test runs, then runs it under z_emu/emu once for each (environment, output, exit)."""
    def run():
        os.makedirs(FOLDER, exist_ok=True)
        sources = [write(name + '.cu', PROGRAM)] + [write(name + '_other.cu', OTHER_FILE)] * other
        program = os.path.join(FOLDER, name)
        toolkit = subprocess.run(['scripts/find_toolkit.sh'], capture_output=True, text=True).stdout.split()[0]
        runtime = [] if '-cudart' in flags else ['-cudart', 'shared']
        compiled = subprocess.run([toolkit + '/bin/nvcc', '-std=c++17', '-allow-unsupported-compiler', '-o', program] + runtime
                                  + flags + sources, capture_output=True, text=True)
        if compiled.returncode:
            return ['did not compile: ' + compiled.stderr[-300:]]
        return [c for r in runs or [(env or {}, says, exits)] for c in complaints(program, *r)]
    return Case('fatbins/' + name, run, needs=['emu'])


def complaints(program, env, says, exits=0):
    ran = subprocess.run(['z_emu/emu', program], capture_output=True, text=True, env={**os.environ, **env}, timeout=60)
    output = ran.stdout + ran.stderr
    good = re.search(says, output) and ran.returncode == exits
    return [] if good else ['%s, exit %d: %s' % (env, ran.returncode, output[-400:])]


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, 'w') as file:
        file.write(text)
    return path
