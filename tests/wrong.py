"""Mistakes that people make in such kernels, each made here by changing one place of a right one.

A mutant that passes the rung's check means that the check is blind to that mistake.
"""
import os

# rung, name, text of kernel.cu that stands there once, what takes its place, shape that shows it
MISTAKES = []


def mutants():
    """[(rung, name, text of the wrong kernel.cu or None when the place has changed, arguments)]"""
    result = []
    for rung, name, old, new, words in MISTAKES:
        source = open(os.path.join(rung, 'kernel.cu')).read()
        text = source.replace(old, new) if source.count(old) == 1 else None
        result.append((rung, name, text, words.split()))
    return result
