"""What can be checked without running: links and citations in the documents, and what the sources must not say."""
import glob
import os
import re
import subprocess
import sys

from __main__ import Case, judge, run_command


def cases():
    return [Case('tidy/' + check.__name__, check) for check in (
        relative_links_resolve, citations_match, every_rung_has_its_chapter, rungs_do_not_know_the_emulator,
        nothing_is_left_to_do, rungs_have_two_files, ptxas_table_is_current,
        the_runner_can_fail)]


def documents():
    return sorted(glob.glob('*.md') + glob.glob('docs/**/*.md', recursive=True) + glob.glob('z_*/**/*.md', recursive=True))


def tracked():
    listing = subprocess.run(['git', 'ls-files'], capture_output=True, text=True)
    return [path for path in listing.stdout.splitlines() if os.path.isfile(path)]


def relative_links_resolve():
    """[text](path) and ![picture](path) in a document lead to a file beside it."""
    complaints = []
    for document in documents():
        for link in re.findall(r'\]\(([^)\s]+)\)', open(document).read()):
            path = link.split('#')[0]
            if path and '://' not in link and not os.path.exists(os.path.join(os.path.dirname(document), path)):
                complaints.append('%s: %s leads nowhere' % (document, link))
    return complaints


def citations_match():
    """`file.c:/pattern/` in a document: the file, named from the top, has a line that matches."""
    complaints = []
    for document in documents():
        for path, pattern in re.findall(r'`([\w./-]+):/([^`]+)/`', open(document).read()):
            if not os.path.exists(path):
                complaints.append('%s cites %s, which is not there' % (document, path))
            elif not re.search(pattern, open(path).read(), re.M):
                complaints.append('%s cites %s:/%s/, which no line matches' % (document, path, pattern))
    return complaints


def every_rung_has_its_chapter():
    complaints = []
    for kernel in sorted(glob.glob('[a-d][0-9]_*/kernel.cu') + glob.glob('side/*/kernel.cu')):
        rung = os.path.dirname(kernel)
        chapter = 'docs/%s.md' % os.path.basename(rung)
        if not os.path.exists(chapter):
            complaints.append('%s has no %s' % (rung, chapter))
        if chapter not in open(kernel).read():
            complaints.append('the head of %s does not name %s' % (kernel, chapter))
    return complaints


def rungs_do_not_know_the_emulator():
    """The very same program runs on a GPU: no kernel.cu or main.c has a word for the emulator's sake."""
    complaints = []
    for path in sorted(glob.glob('[a-d][0-9]_*/*.c*') + glob.glob('side/*/*.c*')):
        for number, line in enumerate(open(path), 1):
            if re.search(r'emulat|\bz_emu\b|\bEMU_|_emu_', line, re.I):
                complaints.append('%s:%d: %s' % (path, number, line.strip()))
    return complaints


def rungs_have_two_files():
    complaints = []
    for path in tracked():
        if re.match(r'([a-d][0-9]_\w+|side/\w+)/', path) and os.path.basename(path) not in ('main.c', 'kernel.cu'):
            complaints.append(path + ': a rung is main.c and kernel.cu, nothing else')
    return complaints


def ptxas_table_is_current():
    """results/ptxas.csv is of these kernels, none of which spills; `make ptxas` makes it anew."""
    sys.path.insert(0, 'results')
    import ptxas
    return ptxas.complaints()


def nothing_is_left_to_do():
    """No marks of unfinished work, and no assertion of nothing for a diagnosis."""
    word = re.compile('TO' 'DO|FIX' r'ME|\bXX' r'X\b|assert\(' r'0\)')
    complaints = []
    for path in tracked():
        if re.search(r'\.(c|h|cu|def|md|py|sh|mk)$|Makefile$', path):
            for number, line in enumerate(open(path, errors='replace'), 1):
                if word.search(line):
                    complaints.append('%s:%d: %s' % (path, number, line.strip()))
    return complaints


def the_runner_can_fail():
    """Each way in which a test can go wrong is noticed."""
    good = Case('', [], says=['right'], never=['wrong'])
    complaints = ['a good run is refused'] if judge(good, 0, 'right', '') else []
    for what, status, out in (('exit status', 1, 'right'), ('missing text', 0, 'other'), ('bad text', 0, 'right wrong')):
        if not judge(good, status, out, ''):
            complaints.append('%s goes unnoticed' % what)
    if 'still running' not in run_command(Case('', ['sleep', '9'], limit=0.1))[0][0]:
        complaints.append('a test without an end goes unnoticed')
    return complaints
