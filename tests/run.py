#!/usr/bin/env python3
"""The test runner. `make test` runs all tests, `make test T=faults/` those whose name has that in it.

A test is a command and what must come of it (Case, below); tests/cases.py lists them all. The runner has make build
what the chosen tests need, runs them on all cores, those that measure time alone at the end, and prints one line each,
more when one fails. The last line is always `N passed, N failed`; the exit status is 0 only when none failed.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import re
import signal
import subprocess
import sys
import threading
import time


@dataclasses.dataclass
class Case:
    name: str
    run: list                           # the command; or a function that returns a list of complaints
    needs: list = ()                    # make targets; those in build/asan* are made with SANITIZE=1
    env: dict = dataclasses.field(default_factory=dict)
    exits: tuple = (0,)                 # accepted exit statuses
    says: list = ()                     # regular expressions that stdout + stderr must match
    never: list = ()                    # ... and must not
    check: object = None                # function(stdout, stderr) -> list of complaints
    limit: float = 60                   # seconds
    alone: bool = False                 # runs while nothing else does


def main():
    options = parse_arguments()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    sys.path.insert(0, 'tests')
    import cases

    if options.golden:
        return cases.record_golden(build)
    chosen = [c for c in cases.all_cases() if not options.words or any(w in c.name for w in options.words)]
    if options.list:
        print('\n'.join(c.name for c in chosen))
        return 0
    if not chosen:
        print('no test has %s in its name' % ' or '.join(options.words))

    build_all(chosen)
    crowd = [c for c in chosen if not c.alone]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(run_case, crowd))
    results += [run_case(c) for c in chosen if c.alone]
    failed = results.count(False)
    print('%d passed, %d failed' % (len(results) - failed, failed))
    return 0 if results and not failed else 1


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--list', action='store_true', help='print the names and stop')
    parser.add_argument('--golden', action='store_true', help='record tests/golden/ on the GPU here')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('words', nargs='*', help='run the tests whose name has one of these in it')
    return parser.parse_args()


# ---------------------------------------------------------------- building

not_built = set()


def build_all(chosen):
    targets = {t for c in chosen for t in c.needs}
    sanitized = {t for t in targets if t.startswith('build/asan')}
    not_built.update(build(sorted(targets - sanitized)), build(sorted(sanitized), sanitize=True))


def build(targets, sanitize=False):
    """Has make build all it can of the targets; returns those that failed."""
    if not targets:
        return set()
    log = 'build/tests/%s.log' % ('sanitize' if sanitize else 'build')
    os.makedirs('build/tests', exist_ok=True)
    print('building %d targets%s (log: %s)' % (len(targets), ' with sanitizers' if sanitize else '', log), flush=True)
    command = ['make', '--no-print-directory', '-k', '-j%d' % os.cpu_count(), 'DEVICE=emu']
    environment = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    with open(log, 'w') as output:
        status = subprocess.run(command + ['SANITIZE=1'] * sanitize + targets, stdout=output, stderr=output,
                                env=environment).returncode
    text = open(log, errors='replace').read()
    for line in re.findall('^.*(?:error: |not accepted|undefined reference|[*][*][*] ).*$', text, re.M | re.I)[:20]:
        print('       | ' + line[:200])
    failures = r"\*\*\* \[\S+: (\S+)\] Error|Target '(\S+)' not remade|No rule to make target '([^ ',]+)'"
    failed = {name for names in re.findall(failures, text) for name in names if name}
    if status and not failed & set(targets):
        return targets      # make itself is at fault: a syntax error, say
    return failed


# ---------------------------------------------------------------- running

print_lock = threading.Lock()


def run_case(case):
    start = time.monotonic()
    missing = [t for t in case.needs if t in not_built]
    if missing:
        complaints, output = ['did not build: %s (see the log)' % missing[0]], None
    elif callable(case.run):
        complaints, output = case.run(), None
    else:
        complaints, output = run_command(case)
    report(case, time.monotonic() - start, complaints, output)
    return not complaints


def run_command(case):
    process = subprocess.Popen(case.run, env={**os.environ, **case.env}, stdin=subprocess.DEVNULL, text=True,
                               errors='replace', stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=case.limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return ['still running after %g s' % case.limit], out + err
    return judge(case, process.returncode, out, err), out + err


def judge(case, status, out, err):
    complaints = []
    if status not in case.exits:
        complaints.append('exit status %d, not %s' % (status, ' or '.join(map(str, case.exits))))
    complaints += ['does not say /%s/' % p for p in case.says if not re.search(p, out + err, re.M)]
    complaints += ['says /%s/' % p for p in case.never if re.search(p, out + err, re.M)]
    if case.check:
        complaints += case.check(out, err)
    return complaints


def report(case, seconds, complaints, output):
    with print_lock:
        print('%s %6.2f s  %s' % ('FAIL' if complaints else 'ok  ', seconds, case.name), flush=True)
        for complaint in complaints:
            print('       ' + complaint)
        if complaints and output is not None:
            print('       run: ' + ' '.join(['%s=%s' % pair for pair in case.env.items()] + list(map(str, case.run))))
            for line in output.splitlines()[-15:]:
                print('       | ' + line[:200])


if __name__ == '__main__':
    sys.exit(main())
