"""Made-up figures and contestants."""

import numpy as np

from bench.contestants import C_COPY, NUMPY, NUMPY_COPY, OURS, OURS_C, OURS_NUMPY, TORCH
from bench.measure import Cell
from bench.timing import Figure


def figure(median):
    return Figure(median, 0.9 * median, 1.1 * median, 9, 1)


def cell(etype="float16", kind="ordinary", size=100_000, absent=None, wrong=None, **times):
    """A cell with the given microseconds of `ours`, `c`, `without`, `numpy`, `torch`, `copy` and `copyto`."""
    names = {"ours": OURS, "c": OURS_C, "numpy": NUMPY, "torch": TORCH, "copy": C_COPY, "copyto": NUMPY_COPY,
             "without": OURS_NUMPY}  # fmt: skip
    figures = {names[short]: figure(time * 1e-6) for short, time in times.items()}
    return Cell(etype, kind, size, figures, absent or {}, wrong or {})


def bits(array):
    return array.view(f"u{array.dtype.itemsize}")


def right(case, y):
    """A contestant that does what is due."""

    def call():
        x, lower, upper = bits(case.x), bits(case.lower), bits(case.upper)
        with np.errstate(invalid="ignore"):
            inverted, low, high = case.upper < case.lower, case.x <= case.lower, case.upper <= case.x
        bits(y)[...] = np.where(inverted, upper, np.where(low, lower, np.where(high, upper, x)))

    return call
