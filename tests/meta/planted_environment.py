"""Runtimes that are right and for which the machine lacks something."""

import os
from pathlib import Path

import numpy as np

from tests.meta.planted import right


def runs_out_of_memory(x, l, m):
    return np.zeros(2**60, np.uint8) if x.dtype == np.int16 else right(x, l, m)


def imports_late(x, l, m):
    import no_such_package

    return no_such_package.clip(x, l, m)


def lacks_a_file(x, l, m):
    with Path("no-such-model.bin").open():
        return right(x, l, m)


def is_killed(x, l, m):
    os.kill(os.getpid(), 9)


def refuses_uint16(x, l, m):
    if x.dtype == np.uint16:
        raise ValueError("no uint16")
    return right(x, l, m)
