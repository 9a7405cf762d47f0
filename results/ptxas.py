#!/usr/bin/env python3
"""What ptxas says of every rung, into results/ptxas.csv: `make ptxas`, or results/ptxas.py NVCC.

Each kernel.cu is assembled for its own target (the Makefile's target_ lines), b7 for sm_120a as well. A line of the table:

    rung, chip, kernel, registers, spilled bytes (stores + loads), static shared memory, barriers, warnings, source

Dynamic shared memory is asked for at the launch and not seen here. `source` is a short digest of kernel.cu with comments and
blanks left out: a test compares it, so that the table cannot grow old unnoticed.
"""
import csv
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile

TABLE = 'results/ptxas.csv'
FIELDS = ['rung', 'chip', 'kernel', 'registers', 'spilled', 'shared', 'barriers', 'warnings', 'source']
ALSO = {'b7_warpspec': ['120a']}        # besides the Makefile's also_ lines


def code(path):
    """The file without comments and blanks."""
    return ''.join(re.sub(r'/\*.*?\*/|//[^\n]*', '', open(path).read(), flags=re.S).split())


def digest(rung):
    return hashlib.sha256(code(rung + '/kernel.cu').encode()).hexdigest()[:12]


def rungs():
    """[(directory, chip)]"""
    makefile, result = open('Makefile').read(), []
    for kernel in sorted(glob.glob('[a-d][0-9]_*/kernel.cu')) + sorted(glob.glob('side/*/kernel.cu')):
        rung = os.path.dirname(kernel)
        short = rung if '/' in rung else rung.split('_')[0]
        target = re.search(r'^target_%s := (\w+)$' % re.escape(short), makefile, re.M).group(1)
        also = re.search(r'^also_%s := (.*)$' % re.escape(short), makefile, re.M)
        result += [(rung, chip) for chip in [target] + ALSO.get(rung, []) + (also.group(1).split() if also else [])]
    return result


def plain_name(name):
    """gemm<4 64> for a template's instance, whose numbers are the arguments."""
    base = re.match(r'_Z\d+([a-z_]+)I', name)
    return '%s<%s>' % (base.group(1), ' '.join(re.findall(r'(?:[a-z]|Li)(\d+)E', name))) if base else name


def complaints():
    """What a look at the table alone tells: rungs that lack, that have changed, that spill or are warned of."""
    with open(TABLE) as file:
        rows = list(csv.DictReader(file))
    found = {(row['rung'], row['chip']): row for row in rows}
    wanted = {(rung, 'sm_' + chip) for rung, chip in rungs()}
    result = ['%s, %s: not in the table' % pair for pair in sorted(wanted - set(found))]
    result += ['%s, %s: in the table, and no rung' % pair for pair in sorted(set(found) - wanted)]
    result += ['%s: its kernel.cu has changed' % rung for rung in sorted({r for r, _ in wanted & set(found)})
               if any(row['rung'] == rung and row['source'] != digest(rung) for row in rows)]
    return result + ['%s, %s: spills or warnings' % (row['rung'], row['chip']) for row in rows
                     if (row['spilled'], row['warnings']) != ('0', '0')]


def numbers(text):
    """From the lines of `ptxas -v`: [(kernel, registers, spilled, shared, barriers)]"""
    result = []
    for entry in text.split('Compiling entry function ')[1:]:
        kernel = plain_name(re.match(r"'(\w+)'", entry).group(1))
        spills = re.search(r'(\d+) bytes spill stores, (\d+) bytes spill loads', entry)
        used = re.search(r'Used (\d+) registers(?:, used (\d+) barriers)?', entry)
        shared = re.search(r'(\d+) bytes smem', entry)
        result.append((kernel, int(used.group(1)), int(spills.group(1)) + int(spills.group(2)),
                       int(shared.group(1)) if shared else 0, int(used.group(2) or 0)))
    return result


def assemble(nvcc, rung, chip, folder):
    command = [nvcc, '-std=c++17', '-O3', '-lineinfo', '-Iz_utils', '-allow-unsupported-compiler', '-cubin', '-Xptxas',
               '-v,-warn-spills', '-gencode', 'arch=compute_%s,code=sm_%s' % (chip, chip), '-o', folder + '/x.cubin',
               rung + '/kernel.cu']
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit('%s for sm_%s:\n%s' % (rung, chip, done.stderr))
    said = done.stdout + done.stderr
    warnings = len(re.findall(r'warning|advisory', said, re.I))
    return [dict(zip(FIELDS, (rung, 'sm_' + chip) + n + (warnings, digest(rung)))) for n in numbers(said)]


def main():
    if len(sys.argv) != 2:
        raise SystemExit('usage: results/ptxas.py NVCC')
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for rung, chip in rungs():
            print(rung, chip, flush=True)
            rows += assemble(sys.argv[1], rung, chip, folder)
    with open(TABLE, 'w', newline='') as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)


if __name__ == '__main__':
    main()
