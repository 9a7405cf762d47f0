#!/usr/bin/env python3
"""Times rungs on the GPU here and appends what comes of it to results/<gpu>.csv, a line per rung, shape and regime.

    python3 results/bench.py a1_naive b2_wmma          (make bench: all of them)

Each rung is checked at ragged shapes, then timed at its own large shape hot and cool, then, if it is one of the ladder's
matrix products, over square sizes cool only. Nothing is timed that did not pass its check.
"""
import csv
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests'))
import rungs  # noqa: E402

RAGGED = [(1, 1, 1), (200, 136, 72), (1021, 67, 509), (520, 1032, 1000)]
SIZES = [512, 1024, 2048, 8192]
COLUMNS = ['date', 'rung', 'm', 'n', 'k', 'regime', 'rounds', 'median_ms', 'spread', 'rate', 'unit', 'baseline', 'baseline_ms',
           'baseline_spread', 'ratio', 'sm_mhz', 'watts', 'inputs', 'device', 'driver']


def run(rung, words):
    """Runs a rung and returns its report; stops everything if it does not pass."""
    with tempfile.NamedTemporaryFile(suffix='.json') as file:
        command = ['./%s/run' % rung] + words + ['--json', file.name]
        print(' '.join(command[:-2]), flush=True)
        if subprocess.run(command).returncode != 0:
            sys.exit('%s failed: nothing is recorded' % rung)
        return json.load(file)


def rows(report):
    date = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d')
    for r in report['regimes']:
        yield {**{c: report[c] for c in ('rung', 'm', 'n', 'k', 'unit', 'baseline', 'inputs', 'device', 'driver')},
               **{c: r[c] for c in ('regime', 'rounds', 'median_ms', 'spread', 'rate', 'baseline_ms', 'baseline_spread', 'ratio',
                                    'watts')},
               'date': date, 'sm_mhz': r['mhz']}


def bench(name):
    rung = next(r for r in rungs.RUNGS if r.path == name)
    for ragged in RAGGED:
        run(name, rung.words(ragged) + ['--check'])
    result = list(rows(run(name, ['--bench'])))
    if 'm' in rung.dims and '/' not in name:
        for size in SIZES:
            if size <= 4096 or rung.name != 'a1':           # a1 would take a second per launch
                result += rows(run(name, rung.words((size,) * 3)))
    return result


def main():
    results = [row for rung in sys.argv[1:] for row in bench(rung)]
    if not results:
        sys.exit('usage: bench.py RUNG...')
    gpu = re.sub(r'[^a-z0-9]+', '_', results[0]['device'].lower().replace('nvidia ', ''))
    path = os.path.join(HERE, gpu + '.csv')
    new = not os.path.exists(path)
    with open(path, 'a', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator='\n')
        if new:
            writer.writeheader()
        writer.writerows(results)
    print('%d lines added to %s' % (len(results), os.path.relpath(path)))


main()
