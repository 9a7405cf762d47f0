"""The rungs, and what their own sources say of them: which sizes they take, on which chips they run."""
import dataclasses
import glob
import os
import re

# The chips that can be emulated, by compute capability.
DEVICES = {'a100': 80, 'h200': 90, 'b200': 100, 'b300': 103, 'rtx5090': 120}


@dataclasses.dataclass
class Rung:
    path: str           # a1_naive, side/a0_reduce
    name: str           # what tests and make call it: a1, side/a0_reduce
    dims: str           # mnk, n, or nothing
    multiple: dict      # dimension -> what it must be a multiple of; 1 when any size will do
    target: str         # 80: from that chip on; 90a: on that chip alone

    def takes(self, shape):
        """The shape, each size rounded up to one that the rung takes. A vector has n alone."""
        sizes = [-(-size // self.multiple[dim]) * self.multiple[dim] for dim, size in zip(self.dims, shape)]
        return tuple(sizes)

    def words(self, shape):
        """-m 200 -n 136 -k 72"""
        return [word for dim, size in zip(self.dims, self.takes(shape)) for word in ('-' + dim, str(size))]

    def runs_on(self, device):
        chip, needed = DEVICES[device], int(self.target.rstrip('a'))
        return chip == needed if self.target.endswith('a') else chip >= needed


def read(path):
    """From `static const struct rung rung` in its main.c, and its target_ line in the Makefile."""
    name = path if '/' in path else path.split('_')[0]
    source = open(path + '/main.c').read()
    dims = re.search(r'\.dims = "(\w*)"', source).group(1)
    given = re.search(r'\.multiple_of = {(.*?)}', source)
    given = dict(re.findall(r'\.(\w) = (\d+)', given.group(1) if given else ''))
    target = re.search(r'^target_%s := (\w+)$' % re.escape(name), open('Makefile').read(), re.M)
    return Rung(path, name, dims, {d: int(given.get(d, 1)) for d in dims}, target.group(1) if target else '75')


RUNGS = [read(os.path.dirname(p)) for p in sorted(glob.glob('[a-d][0-9]_*/kernel.cu') + glob.glob('side/*/kernel.cu'))
         if os.path.exists(os.path.dirname(p) + '/main.c')]
