"""Do the CUDA types and signatures that the emulator declares for itself agree with a toolkit's headers?

abi.h has the layouts; the entry points have the signatures. Both are compiled once more against NVIDIA's headers: a
signature that differs does not compile, and two programs print every size, offset and value of abi.h, as it is there
and as it is in the headers.
"""
import glob
import os
import re
import shutil
import subprocess

from __main__ import Case

ABI = 'z_emu/cuda/abi.h'
WITHOUT_TYPES = ('missing.c', 'entry.c')        # name every function as int(void)


def cases():
    return [Case('abi/' + check.__name__, check) for check in (signatures_agree, layouts_agree, every_entry_point_is_there)]


def include_dir():
    """The headers of the toolkit that the Makefile found."""
    found = subprocess.run(['scripts/find_toolkit.sh'], capture_output=True, text=True).stdout.split()
    path = os.path.join(found[0], 'include') if found else ''
    return path if os.path.exists(path + '/cuda.h') and os.path.exists(path + '/cuda_runtime_api.h') else None


def compiler(headers):
    return ['gcc', '-std=c17', '-w', '-Iz_emu', '-Iz_emu/cuda'] + (
        ['-DZ_ABI_CHECK', '-isystem', headers] if headers else [major()])


def major():
    text = open(include_dir() + '/cuda_runtime_api.h').read()
    return '-DCUDART_MAJOR=%d' % (int(re.search(r'#define CUDART_VERSION +(\d+)', text).group(1)) // 1000)


def signatures_agree():
    headers = include_dir()
    if not headers:
        return ['no toolkit headers found']
    complaints = []
    for path in sorted(glob.glob('z_emu/cuda/*.c')):
        if os.path.basename(path) not in WITHOUT_TYPES:
            done = subprocess.run(compiler(headers) + ['-fsyntax-only', path], capture_output=True, text=True)
            complaints += re.findall('^.*error: .*$', done.stderr, re.M)[:3]
    return complaints


def declared():
    """What to print of abi.h: sizes and offsets of structs with their CUDA names, and values of enumerators."""
    text = subprocess.run(['gcc', '-E', '-P', '-x', 'c', major(), ABI], capture_output=True, text=True).stdout
    lines = []
    for tag, body in re.findall(r'struct (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}', text):
        name = 'struct ' + tag
        lines.append(('sizeof %s' % name, 'sizeof(%s)' % name))
        flat = re.sub(r'(?:struct|union) \{([^{}]*)\}(?: \w+)?;', '', body)
        for member in re.findall(r'(\w+)\s*(?:\[[^\]]*\])?\s*(?=[,;])', flat):
            lines.append(('%s.%s' % (tag, member), 'offsetof(%s, %s)' % (name, member)))
    for body in re.findall(r'enum(?: \w+)? \{([^{}]*)\}', text):
        for enumerator in re.findall(r'(\w+)\s*(?:=[^,]*)?(?:,|$)', body):
            lines.append((enumerator, '(long)%s' % enumerator))
    return lines


def values(headers, lines, folder):
    """What a program compiled with abi.h, or with the real headers, prints for each line."""
    source = os.path.join(folder, 'real.c' if headers else 'ours.c')
    with open(source, 'w') as file:
        file.write('#include "abi.h"\n#include <stdio.h>\nint main(void)\n{\n')
        for label, expression in lines:
            file.write('    printf("%%s %%ld\\n", "%s", (long)(%s));\n' % (label, expression))
        file.write('}\n')
    done = subprocess.run(compiler(headers) + ['-o', source[:-2], source], capture_output=True, text=True)
    if done.returncode:
        return None, re.findall('^.*error: .*$', done.stderr, re.M)
    printed = subprocess.run([source[:-2]], capture_output=True, text=True).stdout
    return dict(line.rsplit(' ', 1) for line in printed.splitlines()), []


def layouts_agree():
    headers, folder = include_dir(), 'build/tests/abi'
    if not headers:
        return ['no toolkit headers found']
    lines = declared()
    if len(lines) < 500:
        return ['only %d lines were found in %s' % (len(lines), ABI)]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    ours, complaints = values(None, lines, folder)
    real, more = values(headers, lines, folder)
    if complaints + more:
        return (complaints + more)[:10]
    return ['%s is %s here and %s in the headers' % (k, ours[k], real[k]) for k in ours if ours[k] != real[k]]


def every_entry_point_is_there():
    """names.def has every function that the headers declare, sorted as entry.c needs it."""
    headers = include_dir()
    if not headers:
        return ['no toolkit headers found']
    text = open('z_emu/cuda/names.def').read()
    complaints = []
    for kind in ('RUNTIME', 'DRIVER'):
        listed = re.findall(r'^%s\((\w+)\)' % kind, text.split('#if')[0] if kind == 'RUNTIME' else text, re.M)
        if listed != sorted(listed):
            complaints.append('the %s names are not sorted' % kind)
    listed = set(re.findall(r'^\w+\((\w+)\)', text, re.M))
    for header, prefix in (('cuda_runtime_api.h', 'cuda'), ('cuda.h', 'cu')):
        for mode in ([], ['-D__CUDA_API_VERSION_INTERNAL']):
            done = subprocess.run(['gcc', '-E', '-P', '-x', 'c', '-isystem', headers] + mode + ['-'], text=True,
                                  input='#include <%s>\n' % header, capture_output=True)
            declared_names = set(re.findall(r'\b(%s[A-Z]\w*) ?\([^*]' % prefix, done.stdout))
            complaints += ['%s is in %s only' % (name, header) for name in sorted(declared_names - listed)]
    return complaints
