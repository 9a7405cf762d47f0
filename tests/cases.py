"""What is tested: one function per kind of test, each returning a list of Case (see run.py)."""
import dataclasses
import glob
import os
import re
import subprocess

import abi
import command_lines
import fatbins
import mutate
import tidy
import wrong
from __main__ import Case
from rungs import DEVICES, RUNGS


def all_cases():
    return (unit_cases() + program_cases('api') + fault_cases() + emu_cases() + conformance_cases() + rung_cases()
            + wrong_cases() + mutant_cases() + abi.cases() + fatbins.cases() + command_lines.cases() + speed_cases() + sanitizer_cases()
            + tidy.cases())


def names(folder, extension):
    return sorted(os.path.basename(p)[:-len(extension)] for p in glob.glob('tests/%s/*%s' % (folder, extension)))


def directives(path):
    """Lines ` * key: value` in a test's head comment, as [(key, value)]."""
    return re.findall(r'^ \* (\w+): +(.*?) *$', open(path).read(), re.M)


def settings(path, *keys):
    """The `env: NAME=value` directives (and those of other keys), as a dictionary."""
    return dict(value.split('=', 1) for key, value in directives(path) if key in ('env',) + keys)


# ---------------------------------------------------------------- programs of our own

def unit_cases(sanitize=False):
    """tests/unit/*.c test one part of the emulator each; exit status 0 is a pass."""
    folder = 'build/asan_tests' if sanitize else 'build/tests'
    return [Case(('asan/' if sanitize else '') + 'unit/' + name, ['%s/unit/%s' % (folder, name)],
                 needs=['%s/unit/%s' % (folder, name)]) for name in names('unit', '.c')]


def program_cases(kind):
    """tests/api/*.cu check for themselves; exit status 0 is a pass. ` * env:` sets, ` * says:` expects."""
    result = []
    for name in names(kind, '.cu'):
        source, program = 'tests/%s/%s.cu' % (kind, name), 'build/tests/%s/%s' % (kind, name)
        says = [value for key, value in directives(source) if key == 'says']
        result.append(Case('%s/%s' % (kind, name), [program], needs=[program, 'emu'], env=settings(source), says=says))
    return result


def fault_cases():
    """tests/faults/*.cu each break one rule. In the head: ` * says:` regular expressions that the report must match,
    ` * exits:` the exit status, where a note is all that it says. Lines that the report must name end in `// here`. The twin,
    compiled with -DFIXED, must run clean and unreported."""
    result = []
    for name in names('faults', '.cu'):
        source, program = 'tests/faults/%s.cu' % name, 'build/tests/faults/%s' % name
        says = [value for key, value in directives(source) if key == 'says']
        exits = tuple(int(value) for key, value in directives(source) if key == 'exits') or (3,)
        for number, line in enumerate(open(source), 1):
            if line.rstrip().endswith('// here'):
                says.append(r'%s\.cu(:|, line |\()%d\b' % (name, number))
        result.append(Case('faults/' + name, [program], needs=[program, 'emu'], env=settings(source), exits=exits,
                           says=says + ['z_emu: ']))
        result.append(Case('faults/%s.fixed' % name, [program + '.fixed'], needs=[program + '.fixed', 'emu'],
                           env=settings(source, 'env_fixed'), never=['z_emu: ']))
    return result


def emu_cases():
    """z_emu/emu runs other people's programs, and says why when it cannot."""
    program, emu = 'build/tests/emu/histogram', 'z_emu/emu'
    shared, static = [program + '.shared', 'emu'], [program + '.static', 'emu']
    return [Case('emu/runs_a_program', [emu, shared[0], '54321'], needs=shared, says=['cudaSuccess, right']),
            Case('emu/is_an_h200', [emu, shared[0]], needs=shared, env={'EMU_STATS': '1', 'EMU_DEVICE': 'h200'},
                 says=['modelled cycles', 'right']),
            Case('emu/unknown_device', [emu, shared[0]], needs=shared, env={'EMU_DEVICE': 'gtx280'}, exits=(1,),
                 says=['gtx280', 'h200.*b300']),
            Case('emu/settings_must_be_numbers', [emu, shared[0]], needs=shared, env={'EMU_JOBS': 'two', 'EMU_SEED': '1e3'},
                 says=['EMU_JOBS=two: must be', 'EMU_SEED=1e3: must be', 'right']),
            Case('emu/needs_a_shared_runtime', [emu, static[0]], needs=static, exits=(2,), says=['-cudart shared']),
            Case('emu/no_such_program', [emu, './nosuch'], needs=['emu'], exits=(2,), says=['no such program']),
            Case('emu/help', [emu, '--help'], needs=['emu'], says=['EMU_DEVICE', 'usage'])]


# ---------------------------------------------------------------- conformance: what a chip printed, we print

def golden_path(name):
    return 'tests/golden/%s.txt' % name


def conformance_cases():
    """tests/conformance/*.cu print results; tests/golden/ holds what a real chip printed (`make golden`)."""
    result = []
    for name in names('conformance', '.cu'):
        program = 'build/tests/conformance/' + name
        result.append(Case('conformance/' + name, [program], needs=[program, 'emu'], check=equals_golden(name),
                           env={'EMU_DEVICE': 'h200', **settings('tests/conformance/%s.cu' % name)}, limit=120))
    return result


def equals_golden(name):
    def check(out, err):
        if not os.path.exists(golden_path(name)):
            return ['there is no ' + golden_path(name)]
        golden = open(golden_path(name)).read().split('\n')[1:]     # the first line says where it was recorded
        for number, (want, got) in enumerate(zip(golden, out.split('\n')), 1):
            if want != got:
                return ['line %d: the chip printed %r, not %r' % (number, want, got)]
        return [] if len(golden) == len(out.split('\n')) else ['the chip printed %d lines, not %d' % (
            len(golden), len(out.split('\n')))]
    return check


def record_golden(build):
    """Runs every conformance program on the GPU here and keeps what it prints, under the device and the date."""
    query = ['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader', '--id=0']
    device, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip().split(', ')
    date = subprocess.run(['date', '-u', '+%Y-%m-%d'], capture_output=True, text=True).stdout.strip()
    failed = build(['build/golden/' + name for name in names('conformance', '.cu')])
    os.makedirs('tests/golden', exist_ok=True)
    bad = 0
    for name in names('conformance', '.cu'):
        program = 'build/golden/' + name
        done = None if program in failed else subprocess.run(['timeout', '60', program], capture_output=True, text=True)
        if done is None or done.returncode:
            bad += 1
            print('%s: %s' % (name, (done.stdout + done.stderr)[-300:] if done else 'did not build'))
            continue
        with open(golden_path(name), 'w') as file:
            file.write('# %s, driver %s, CUDA %s, %s\n%s' % (device, driver, os.environ['CUDA_VERSION'], date, done.stdout))
    print('%d recorded, %d failed' % (len(names('conformance', '.cu')) - bad, bad))
    return 1 if bad else 0


# ---------------------------------------------------------------- rungs

# The first of each list is the smallest; sizes are rounded up to what the rung takes.
SHAPES = {
    'n': [(1,), (3,), (1000,), (4096,), (1000003,)],
    'mnk': [(1, 1, 1), (200, 136, 72), (1021, 67, 509), (17, 19, 23), (328, 264, 200), (129, 264, 4104), (1, 8, 8),
            (129, 257, 65), (64, 64, 64), (1, 300, 7), (300, 1, 40), (33, 47, 1000), (8, 8, 1), (255, 129, 31),
            (512, 384, 256), (65, 4096, 128), (4097, 33, 64), (1000, 900, 800)],
}
INPUTS = [1, 2, 12345]              # --seed
SCHEDULES = range(1, 21)            # EMU_SEED; no chip has seen the rungs for Blackwell, so they get more
SCHEDULES_BLACKWELL = range(1, 51)


def rung_case(name, rung, words, env=None, **more):
    return Case('rungs/%s/%s' % (rung.name, name), ['./%s/run' % rung.path] + words, needs=[rung.path], env=env or {},
                says=[r'\APASS\b|\nPASS\b'], never=['z_emu: '], **more)


def rung_cases():
    result = []
    for rung in RUNGS:
        shapes = list(dict.fromkeys(map(rung.takes, SHAPES[rung.dims]))) if rung.dims else [()] * 5
        result.append(rung_case('default', rung, []))
        result.append(rung_case('one_thread', rung, rung.words(shapes[1]), env={'EMU_JOBS': '1'}))
        result += [rung_case('x'.join(map(str, shape)), rung, rung.words(shape)) for shape in shapes if shape]
        result += [rung_case('inputs%d' % seed, rung, rung.words(shapes[3]) + ['--seed', str(seed)]) for seed in INPUTS]
        result += schedule_cases(rung, shapes)
        result += device_cases(rung, rung.words(shapes[1]))
        result.append(Case('rungs/%s/same_seed_same_run' % rung.name, same_run(rung, rung.words(shapes[4])),
                           needs=[rung.path]))
    return result


def schedule_cases(rung, shapes):
    """All schedules at a shape with a few tiles, three at two others."""
    every = SCHEDULES_BLACKWELL if int(rung.target.rstrip('a')) >= 100 else SCHEDULES
    seeds_of = {shapes[1]: every[:3], shapes[2]: every[:3], shapes[4]: every}      # without sizes these are one
    return [rung_case('_'.join(['schedule%d' % seed] + ['x'.join(map(str, shape))] * bool(shape)), rung, rung.words(shape),
                      env={'EMU_SEED': str(seed)})
            for shape, seeds in seeds_of.items() for seed in seeds]


# A rung with tensor maps learns of it when it makes them.
NO_CODE = 'the program holds no code for this GPU|tensor maps need a device of compute capability'


def device_cases(rung, words):
    """On every chip that can run it; on the others one line says that the program has no code for them."""
    result = []
    for device in DEVICES:
        case = rung_case('on_' + device, rung, words, env={'EMU_DEVICE': device})
        if not rung.runs_on(device):
            case.exits, case.says, case.never = (3,), [NO_CODE], ['PASS']
        result.append(case)
    return result


def same_run(rung, words):
    """With one host thread a seed gives the same run to the modelled cycle; some other seed gives another."""
    def cycles(seed):
        done = subprocess.run(['./%s/run' % rung.path] + words, capture_output=True, text=True, timeout=60,
                              env={**os.environ, 'EMU_JOBS': '1', 'EMU_SEED': seed, 'EMU_STATS': '1'})
        return re.findall(r'(\d+) modelled cycles', done.stdout + done.stderr)

    def check():
        first, again = cycles('7'), cycles('7')
        complaints = [] if first and first == again else ['seed 7 took %s and then %s cycles' % (first, again)]
        others = [cycles(seed) for seed in '89']
        return complaints if any(first != o for o in others) else complaints + ['seeds 7, 8, 9 took the same %s cycles' % first]
    return check


def wrong_cases():
    """Each rung with one mistake made in its kernel must be rejected: by the check (1) or by a fault (3)."""
    result = [Case('wrong/each_rung_is_put_to_the_test', wrong.too_few)]
    for rung in RUNGS:
        program, texts = 'build/tests/wrong/%s/all_mistakes' % rung.path, []
        for name, text, words, env in wrong.mutants(rung):
            if text is None:
                result.append(Case('wrong/%s/%s' % (rung.name, name), lambda: ['the line to break is no longer there']))
                continue
            result.append(Case('wrong/%s/%s' % (rung.name, name), [program + '.run'] + words, needs=[program + '.run', 'emu'],
                               env={'MISTAKE': str(len(texts)), **env}, exits=(1, 3), says=['^FAIL'],
                               never=['^PASS', 'InvalidPtx|NoKernelImage|unknown error']))
            texts.append(text)
        if texts:
            write_if_changed(program + '.cu', wrong.in_one_file(texts))
    return result


def mutant_cases():
    """No wait, arrival, expectation or fence can be left out of these rungs unnoticed; `make mutants` tries more schedules."""
    return [Case('mutants/' + rung.split('_')[0], lambda rung=rung: mutate.test(rung, seeds=3), needs=['emu', rung])
            for rung in mutate.RUNGS] + [Case('mutants/the_judge_can_fail', mutate.judge_can_fail)]


def write_if_changed(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path) or open(path).read() != text:
        with open(path, 'w') as file:
            file.write(text)


# ---------------------------------------------------------------- speed and sanitizers

def speed_cases():
    """What the README promises for two cores."""
    limits = {'a1': (512, 5), 'b2': (2048, 30), 'c4': (4096, 60), 'd3': (4096, 60)}
    return [rung_case('check%d_in_%ds' % limits[rung.name], rung, rung.words((limits[rung.name][0],) * 3) + ['--check'],
                      limit=limits[rung.name][1], alone=True) for rung in RUNGS if rung.name in limits] + [
        Case('rungs/a1/rate', a_billion_per_second, needs=['a1_naive'], alone=True)]


def a_billion_per_second():
    """Thread-instructions in a1's inner loop; the best of a few runs, for other programs take their share of the cores."""
    rates = []
    for _ in range(8):
        done = subprocess.run(['./a1_naive/run', '-m', '512', '-n', '512', '-k', '512'], capture_output=True, text=True,
                              env={**os.environ, 'EMU_STATS': '1'}, timeout=60)
        rates += [float(r) for r in re.findall(r'thread-instructions, .* s, ([0-9.e+]+) per second', done.stderr)]
        if rates and max(rates) >= 1e9:
            return []
    return ['%s thread-instructions per second, not 1e9' % rates]


def sanitizer_cases():
    """Unit tests, faults and small rungs once more, on an emulator built with ASan and UBSan."""
    runtime = subprocess.run(['gcc', '-print-file-name=libasan.so'], capture_output=True, text=True).stdout.strip()
    library = 'build/asan/libcudart.so.' + os.environ.get('CUDA_MAJOR', '13')
    env = {'LD_PRELOAD': '%s %s/%s' % (runtime, os.getcwd(), library), 'ASAN_OPTIONS': 'detect_leaks=0'}
    small = [c for c in rung_cases() if re.search('/(default|one_thread|1|1x.x.|1000)$', c.name)]
    return unit_cases(sanitize=True) + [
        dataclasses.replace(c, name='asan/' + c.name, needs=list(c.needs) + [library], env={**c.env, **env}, limit=120,
                            never=list(c.never) + ['Sanitizer', 'runtime error:'])
        for c in fault_cases() + program_cases('api') + small]
