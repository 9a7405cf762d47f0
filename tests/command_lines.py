"""Command lines that a rung must refuse (exit status 2 and one line that says what is allowed) or answer."""
import os
import subprocess

from __main__ import Case
from rungs import RUNGS

# Refused by every rung; -n is the one size that all of them take that take any.
REFUSED = ['-n 0', '-n -5', '-n x', '-n 5x', '-n 1e3', '-n 3000000000', '-n 99999999999999999999', '-n', '--nosuch',
           '-z 3', 'leftover', '-n 8 leftover', '--seed', '--seed x', '--iters', '--iters 0', '--iters -1', '--iters x',
           '--json', '-n 8 --json /nonexistent/folder/x.json']
# Refused by those that multiply matrices.
REFUSED_GEMM = ['-m 0', '-m -5', '-m x', '-m 3000000000', '-k 0', '-k -1', '-k x', '-k', '-m',
                '-m 2000000000 -n 2000000000 -k 1', '-m 2000000000 -n 1 -k 2000000000']


def cases():
    result = []
    for rung in RUNGS:
        def case(name, words, **more):
            result.append(Case('command/%s/%s' % (rung.name, name), ['./%s/run' % rung.path] + words, needs=[rung.path],
                               limit=10, **more))
        for words in refused(rung):
            case(words.replace(' ', '_'), words.split(), exits=(2,), check=one_line)
        case('empty', ['-n', ''], exits=(2,), check=one_line)
        case('full_disk', rung.words((8, 8, 8)) + ['--json', '/dev/full'], exits=(2,), never=['PASS'],
             says=['FAIL .*/dev/full could not be written'])
        case('help', ['--help'], says=['-n'] * ('n' in rung.dims) + ['--seed', '--iters', '--check', '--bench', '--json'])
    return result + make_cases()


def refused(rung):
    """Sizes that are no multiple of what they must be: 12 and 9 for a multiple of 8."""
    odd = ['-%s %d' % (dim, size) for dim, step in rung.multiple.items() if step > 1
           for size in (step + step // 2, step + 1, step - 1)]
    return REFUSED + odd + (REFUSED_GEMM if 'm' in rung.dims else [])


def one_line(out, err):
    lines = (out + err).splitlines()
    return [] if len(lines) == 1 and lines[0].strip() else ['%d lines, not one' % len(lines)]


def make_cases():
    """What make itself answers."""
    make = ['make', '--no-print-directory']
    no_gpu = subprocess.run(['sh', '-c', 'command -v nvidia-smi'], stdout=subprocess.DEVNULL).returncode
    result = [Case('make/help', make, says=['make <rung>', 'DEVICE=auto'], env=CLEAN),
              Case('make/unknown_device', make + ['DEVICE=tpu', 'a1'], exits=(2,), says=['auto, gpu or emu'],
                   check=one_line, env=CLEAN)]
    if no_gpu:
        result.append(Case('make/gpu_without_gpu', make + ['DEVICE=gpu', 'a2'], exits=(2,), says=['no GPU'],
                           check=one_line, env=CLEAN))
    result += [
        Case('make/old_toolkit_is_passed_over', ['sh', '-c', OLD_TOOLKIT], says=[r'^/\S+ 1[2-9]\.'], never=['old_toolkit']),
        Case('make/spills_are_refused', ['scripts/strict_nvcc.sh', 'echo', "ptxas warning : Registers are spilled"],
             exits=(1,), says=['not accepted']),
        Case('make/serialised_wgmma_is_refused', ['scripts/strict_nvcc.sh', 'echo', 'ptxas info : (C7510) Potential …'],
             exits=(1,), says=['not accepted']),
        Case('make/failed_compilation_is_refused', ['scripts/strict_nvcc.sh', 'false'], exits=(1,)),
        Case('make/clean_compilation_passes', ['scripts/strict_nvcc.sh', 'echo', 'ptxas info : used 20 registers'])]
    if os.environ.get('CI'):        # needs a network, so not everywhere
        result.append(Case('make/no_toolkit', ['sh', '-c', NO_TOOLKIT], needs=['emu'], says=['^PASS'], limit=400, env=CLEAN))
    return result


# An nvcc of CUDA 11.8 that comes first on PATH.
OLD_TOOLKIT = """set -e
old=$PWD/build/tests/old_toolkit
mkdir -p $old/bin $old/lib64 && touch $old/lib64/libcudart.so
printf '#!/bin/sh\\necho "Cuda compilation tools, release 11.8, V11.8.89"\\n' >$old/bin/nvcc
chmod +x $old/bin/nvcc
PATH=$old/bin:$PATH CUDA_HOME=$old scripts/find_toolkit.sh"""

# A copy of the tree, with the emulator built but without a toolkit: make must fetch one, and the rung must run.
NO_TOOLKIT = """set -e
copy=build/tests/no_toolkit
rm -rf $copy && mkdir -p $copy/build
git ls-files -z | xargs -0 cp -p --parents -t $copy
cp -a build/emu $copy/build/emu
cd $copy && mkdir .toolkit
make TOOLKIT=fetch a1 && ./a1/run"""

# The make that runs the tests hands its flags down; these cases want none of them.
CLEAN = {'MAKEFLAGS': '', 'MFLAGS': '', 'MAKELEVEL': '0'}
