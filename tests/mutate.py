#!/usr/bin/env python3
"""Takes the synchronisation of a rung apart, one statement at a time: is each missed?

    tests/mutate.py c2_pipeline                 every mutant of its kernel.cu under the seeds 1 to 20
    tests/mutate.py c2_pipeline --seeds 3       fewer
    tests/mutate.py --list c2_pipeline          only says which there are

A mutant leaves out one call of a wrapper of z_utils that waits, arrives, expects, commits or fences, or one barrier. Such a
kernel has an error, whatever it computes: in at least 19 of 20 schedules the emulator must report a fault or a hang, or note
what lacks, or the rung's check must reject the result. Mutants that are no error are listed below with the reason; one that
is listed and caught is as wrong as one that is neither.

All mutants are in one program: each of the statements stands behind `if (mutant != number)`, and the launcher takes the
number from the environment. So nvcc runs once.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

RUNGS = ['c2_pipeline', 'c3_cluster', 'c4_persistent', 'd2_warpspec', 'd3_2cta']       # that `make test` and `make mutants` look at
SHAPE = {'d': '-m 300 -n 520 -k 776'.split()}
RAGGED = '-m 200 -n 264 -k 776'.split()         # not one tile, not a multiple of one, stages are used several times
CAUGHT = 19 / 20
LIMIT = 60                                      # seconds for one run

IN_ONE_CTA = 'it makes the barriers known to other CTAs; here they are used in this one alone, and __syncthreads() follows'

# rung: {(statement, which of those that read alike): reason}
HARMLESS = {
    'c2_pipeline': {('fence_mbarrier_init_release_cluster();', 1): IN_ONE_CTA},
    'd2_warpspec': {('fence_mbarrier_init_release_cluster();', 1): IN_ONE_CTA},
}


# ---------------------------------------------------------------- the statements

def wrappers():
    """Names of the functions of z_utils that synchronise."""
    text = ''.join(open(path).read() for path in sorted(glob.glob('z_utils/*.h')))
    names = set(re.findall(r'^PTX_FN \w+ (\w+)\(', text, re.M))
    return {n for n in names if re.search(r'wait|arrive|expect_tx|fence|commit|^bar_|cluster_sync|barrier_cluster', n)}


def closing(text, at):
    """Index behind the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if depth == 0:
            return i + 1
    return len(text)


def without_comments(text):
    """The same length, comments blank."""
    return re.sub(r'/\*.*?\*/|//[^\n]*', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)


def statements(source):
    """[(begin, end, text, function)]: the statements of kernel.cu that are one call of a wrapper or barrier."""
    text, result = without_comments(source), []
    names = '|'.join(sorted(wrappers() | {'__syncthreads'}, key=len, reverse=True))
    for match in re.finditer(r'\b(%s)(<[^;()]*>)?\s*\(' % names, text):
        end = closing(text, match.end() - 1)
        before = text[:match.start()].rstrip()
        if text[end:end + 1] == ';' and before[-1:] in ';{})' or before.endswith('else'):
            result.append((match.start(), end + 1, re.sub(r'\s+', ' ', source[match.start():end + 1]), match.group(1)))
    return result


def variants(statement, function):
    """What may stand in place of a statement: (what is missing, code)."""
    if 'arrive_expect_tx' not in function:
        return [('', '')]
    arguments = statement[statement.index('(') + 1:-2]
    barrier = re.split(r',', arguments)[0]
    return [('', ''), ('only the expect_tx of ', 'mbarrier_arrive(%s);' % barrier),
            ('only the arrive of ', 'mbarrier_expect_tx(%s);' % arguments)]


class Mutant:
    def __init__(self, line, key, missing, code):
        self.line, self.key, self.missing, self.code = line, key, missing, code

    def name(self):
        return 'line %d: %s' % (self.line, self.key[0])


def mutants_of(source):
    """All mutants, and the source that holds them all."""
    found, seen, pieces, at = [], {}, [], 0
    for begin, end, statement, function in statements(source):
        seen[statement] = seen.get(statement, 0) + 1
        first = len(found)
        for missing, code in variants(statement, function):
            found.append(Mutant(source.count('\n', 0, begin) + 1, (missing + statement, seen[statement]), missing, code))
        cases = ['if (z_mutant < %d || z_mutant >= %d) %s' % (first, len(found), source[begin:end])]
        cases += ['else if (z_mutant == %d) { %s }' % (i, found[i].code) for i in range(first, len(found)) if found[i].code]
        pieces += [source[at:begin], '{ ', ' '.join(cases), ' }']
        at = end
    text = ''.join(pieces) + source[at:]
    number = '    const char *number = getenv("MUTANT");\n    const int which = number ? atoi(number) : -1;\n' \
             '    cudaMemcpyToSymbol(z_mutant, &which, sizeof which);\n'
    text, launchers = re.subn(r'(extern "C" cudaError_t launch_\w+\([^)]*\)\s*\{\n)', r'\1' + number, text)
    if launchers != 1:
        raise SystemExit('kernel.cu has %d launchers, not 1' % launchers)
    return found, '#include <stdlib.h>\nstatic __device__ int z_mutant = -1;\n' + text


# ---------------------------------------------------------------- runs

def build(rung, text):
    path = 'build/tests/wrong/%s/all_mutants' % rung
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path + '.cu') or open(path + '.cu').read() != text:
        with open(path + '.cu', 'w') as file:
            file.write(text)
    done = subprocess.run(['make', '-s', rung, path + '.run'], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit('%s does not build with its mutants:\n%s' % (rung, (done.stdout + done.stderr)[-2000:]))
    return path + '.run'


def run(program, rung, number, seed):
    """'' when it passed, else what was said."""
    words = SHAPE.get(rung[0], RAGGED)
    env = {**os.environ, 'MUTANT': str(number), 'EMU_SEED': str(seed), 'EMU_JOBS': '1'}
    try:
        done = subprocess.run([program] + words, env=env, capture_output=True, text=True, errors='replace', timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return 'no end'
    said = re.search(r'^z_emu: (\w+)', done.stdout + done.stderr, re.M)
    if done.returncode == 0 and re.search(r'^PASS', done.stdout, re.M) and not said:
        return ''
    return said.group(1) if said else 'wrong result' if done.returncode == 1 else 'exit status %d' % done.returncode


def judge(rung, mutant, answers):
    """A complaint, or ''."""
    # a CUDA error that the emulator says nothing about is no diagnosis: another library was found in its place, say
    caught = sum(bool(a) and not a.startswith('exit status') for a in answers)
    harmless = HARMLESS.get(rung, {}).get(mutant.key)
    if harmless and caught:
        return '%s is listed as harmless, but %s' % (mutant.name(), ', '.join(sorted(set(answers) - {''})))
    if not harmless and caught < CAUGHT * len(answers):
        return '%s can be left out unnoticed in %d of %d schedules' % (mutant.name(), len(answers) - caught, len(answers))
    return ''


def test(rung, seeds, say=lambda line: None):
    """Complaints about the rung's mutants under the seeds 1 to `seeds`."""
    found, text = mutants_of(open(rung + '/kernel.cu').read())
    program = build(rung, text)
    stale = set(HARMLESS.get(rung, {})) - {m.key for m in found}
    complaints = ['%s is listed as harmless, and is not there' % key[0] for key in stale]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {(i, seed): pool.submit(run, program, rung, i, seed) for i in range(-1, len(found)) for seed in range(1, seeds + 1)}
        answers = [[runs[i, seed].result() for seed in range(1, seeds + 1)] for i in range(-1, len(found))]
    if any(answers[0]):
        complaints.append('without a mutation: %s' % ', '.join(a for a in answers[0] if a))
    for mutant, answer in zip(found, answers[1:]):
        complaint = judge(rung, mutant, answer)
        complaints += [complaint] if complaint else []
        say('%3d/%d  %-70s %s' % (sum(map(bool, answer)), seeds, mutant.name()[:70], ' '.join(sorted(set(answer) - {''}))))
    if len(found) < 5:
        complaints.append('only %d mutants were found in %s' % (len(found), rung))
    return complaints


def judge_can_fail():
    """Each way in which the verdict can be wrong is noticed; and the statements are found."""
    key = ('fence_mbarrier_init_release_cluster();', 1)
    listed, other = Mutant(1, key, '', ''), Mutant(1, ('wait_parity(x, 0);', 1), '', '')
    rows = [(listed, [''] * 20, False), (listed, ['RACE'] + [''] * 19, True), (other, ['RACE'] * 20, False),
            (other, ['RACE'] * 19 + [''], False), (other, ['exit status 3'] * 20, True), (other, ['RACE'] * 18 + ['', ''], True)]
    complaints = ['%s with %r: judged wrongly' % (m.name(), a) for m, a, bad in rows if bool(judge('c2_pipeline', m, a)) != bad]
    source = 'if (x)\n    wait_parity(b, 0);   // wait_parity(b, 1);\nif (mbarrier_try_wait_parity(b, 0)) { __syncthreads(); }'
    found = [text for _, _, text, _ in statements(source)]
    return complaints + ([] if found == ['wait_parity(b, 0);', '__syncthreads();'] else ['found %r' % found])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('rungs', nargs='*', default=RUNGS)
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--list', action='store_true')
    options = parser.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    failed = 0
    for rung in options.rungs:
        if options.list:
            print('\n'.join(m.name() for m in mutants_of(open(rung + '/kernel.cu').read())[0]))
            continue
        print(rung)
        complaints = test(rung, options.seeds, lambda line: print(line, flush=True))
        print('\n'.join('FAIL: ' + c for c in complaints) or 'none can be left out unnoticed')
        failed += bool(complaints)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
