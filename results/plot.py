#!/usr/bin/env python3
"""Draws what results/*.csv hold: <gpu>_ladder.svg, each rung beside cuBLAS; <gpu>_sizes.svg, rates over sizes. Same CSV, same files.

    python3 results/plot.py        (make plots)

Needs matplotlib; where it is missing, the script makes a virtual environment with it in build/plot and runs itself there.
"""
import csv
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(HERE, '..', 'build', 'plot')

try:
    import matplotlib
except ImportError:
    python = os.path.join(VENV, 'bin', 'python3')
    if not os.path.exists(python):
        print('no matplotlib here: fetching it into build/plot', flush=True)
        subprocess.run([sys.executable, '-m', 'venv', VENV], check=True)
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', 'matplotlib'], check=True)
    os.execv(python, [python] + sys.argv)

matplotlib.use('svg')
import matplotlib.pyplot as plt  # noqa: E402

INK, GREY, HOT, COOL = '#222222', '#9a9a9a', '#c8553d', '#3d6fa5'
COLORS = ['#8a8a8a', '#3d6fa5', '#c8553d', '#4f8a5b', '#8d6ab8', '#b98a2f', '#2f8f9d', '#a14d7a']

plt.rcParams.update({
    'svg.hashsalt': 'ladder', 'svg.fonttype': 'none', 'font.family': ['DejaVu Sans', 'sans-serif'], 'font.size': 10, 'text.color': INK, 'axes.labelcolor': INK,
    'xtick.color': INK, 'ytick.color': INK, 'axes.edgecolor': GREY, 'axes.spines.top': False, 'axes.spines.right': False,
})


def latest(path):
    """{(rung, m, n, k, regime): row}; a later line replaces an earlier one."""
    table = {}
    for row in csv.DictReader(open(path)):
        if row['rung'].startswith('side/'):
            continue                    # beside the ladder, not on it
        for name in ('median_ms', 'rate', 'ratio', 'baseline_ms'):
            row[name] = float(row[name])
        for name in ('m', 'n', 'k'):
            row[name] = int(row[name])
        table[row['rung'], row['m'], row['n'], row['k'], row['regime']] = row
    return table


def short(rung):
    return rung.split('_')[0]


def save(figure, path):
    figure.savefig(path, metadata={'Date': None}, bbox_inches='tight')
    plt.close(figure)
    print('drew ' + os.path.relpath(path))


def draw_ladder(table, path):
    """The ratio to cuBLAS at 4096^3, a pair of bars for each rung."""
    shape = (4096,) * 3
    rungs = sorted({key[0] for key in table if key[1:4] == shape})
    figure, axes = plt.subplots(figsize=(7, 0.9 + 0.75 * len(rungs)))
    for at, rung in enumerate(reversed(rungs)):
        for offset, regime, color in ((0.2, 'hot', HOT), (-0.2, 'cool', COOL)):
            row = table[(rung,) + shape + (regime,)]
            axes.barh(at + offset, row['ratio'], 0.36, color=color, label=regime if at == 0 else None)
            axes.text(row['ratio'] * 1.08, at + offset, '%.3g   %.3g TFLOPS' % (row['ratio'], row['rate']), va='center',
                      fontsize=8.5, bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 1})
    axes.set_yticks(range(len(rungs)), [rung.replace('_', '  ', 1) for rung in reversed(rungs)])
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.set_xscale('log')
    axes.set_xlim(1e-3, 8)
    axes.set_xticks([0.001, 0.01, 0.1, 1], ['0.001', '0.01', '0.1', '1 = cuBLAS'])
    axes.tick_params(axis='y', length=0)
    row = next(iter(table.values()))
    axes.set_title('Rate as a share of cuBLAS, M = N = K = 4096, on one %s' % row['device'], loc='left', fontsize=11)
    axes.legend(frameon=False, loc='upper right', bbox_to_anchor=(1, 0.98))
    save(figure, path)


def draw_sizes(table, path):
    """Rates over square sizes, cool; cuBLAS is the fastest it was beside any rung."""
    cool = [row for key, row in table.items() if key[4] == 'cool' and row['m'] == row['n'] == row['k']]
    rungs = sorted({row['rung'] for row in cool})
    sizes = sorted({row['m'] for row in cool})
    figure, axes = plt.subplots(figsize=(7, 4.4))
    best = [max(2e-9 * s ** 3 / row['baseline_ms'] for row in cool if row['m'] == s) for s in sizes]
    lines = [('cuBLAS', sizes, best, INK, '--')]
    for rung, color in zip(rungs, COLORS):
        points = sorted((row['m'], row['rate']) for row in cool if row['rung'] == rung)
        lines.append((short(rung), [p[0] for p in points], [p[1] for p in points], color, '-'))
    for name, x, y, color, style in lines:
        axes.plot(x, y, style, color=color, marker='o', markersize=4, linewidth=1.6)
        axes.text(x[-1] * 1.08, y[-1], name, color=color, va='center')
    axes.set_xscale('log', base=2)
    axes.set_yscale('log')
    axes.set_xlim(sizes[0] * 0.85, sizes[-1] * 1.6)
    axes.set_xticks(sizes, [str(s) for s in sizes])
    axes.set_yticks([1, 10, 100, 1000], ['1', '10', '100', '1000'])
    axes.minorticks_off()
    axes.grid(axis='y', color='#e4e4e4', linewidth=0.7)
    axes.set_xlabel('M = N = K')
    axes.set_title('TFLOPS over size, cool, on one %s' % cool[0]['device'], loc='left', fontsize=11)
    save(figure, path)


for source in sorted(glob.glob(os.path.join(HERE, '*.csv'))):
    gpu = os.path.basename(source)[:-4]
    if gpu == 'ptxas':
        continue                        # no times in it
    measured = latest(source)
    draw_ladder(measured, os.path.join(HERE, gpu + '_ladder.svg'))
    draw_sizes(measured, os.path.join(HERE, gpu + '_sizes.svg'))
