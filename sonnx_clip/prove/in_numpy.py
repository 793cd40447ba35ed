"""A counterexample to a NumPy kernel, run by NumPy itself: the numbers of a prover must fail there too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.backends.numpy_kernels import THEORIES
from sonnx_clip.language import show, show_bits
from sonnx_clip.language.special import special_patterns
from sonnx_clip.spec import evaluator
from sonnx_clip.trace import subject as traced_functions
from sonnx_clip.trace.subject import dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.trace.subject import Subject

_MANY = 33  # entries: more than fit into one vector register, and one left over


def in_numpy(spec: Spec, etype: ElementType, obligation: Obligation, numbers: Mapping[str, int]) -> list[str]:
    """What NumPy writes where a prover refutes that a kernel is Clip; empty for other obligations.

    The other entries of the array are what the prover chose for the rest of a reduction, then special values.
    """
    if obligation.theory not in THEORIES or not {"x", "l", "m"} <= set(numbers):
        return []
    ask, what = evaluator(spec, etype), traced_functions.subject()
    l, m = numbers["l"], numbers["m"]
    for entries in _arrays(etype, numbers):
        written = _run(what, etype, entries, (l, m), in_place=obligation.theory == THEORIES[True])
        for x, y in zip(entries, written, strict=True):
            due = int(ask.result(x, l, m))
            if y != due:
                beside = sorted(set(entries) - {x})
                others = f" beside {', '.join(show_bits(e, etype) for e in beside)}" if beside else ""
                made = f"{show(x, etype)} ({show_bits(x, etype)}){others} becomes {show_bits(y, etype)}"
                return [f"and so in NumPy: {made}, expected {show_bits(due, etype)}"]
    return ["NumPy itself computes Clip there: it does not make the choices that the prover made"]


def _run(
    what: Subject, etype: ElementType, entries: tuple[int, ...], bounds: tuple[int, int], *, in_place: bool
) -> tuple[int, ...]:
    """The bit patterns that planner and kernel write, run by NumPy."""
    dtype = dtype_of(etype)
    x, (lower, upper) = (np.array(p, f"u{dtype.itemsize}").view(dtype) for p in (entries, bounds))
    out = x if in_place else np.empty_like(x)
    with np.errstate(all="ignore"):
        kernel, low, high = what.planner(etype)(lower, upper)
        kernel(x, low, high, out)
    return tuple(out.view(f"u{dtype.itemsize}").tolist())


def _arrays(etype: ElementType, numbers: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    rest = tuple(value for name, value in numbers.items() if name.startswith("rest"))
    x = numbers["x"]
    yield (x,)
    yield (x, *rest)
    yield (x,) * _MANY
    for other in (*rest, *special_patterns(etype)):
        yield (x, other)
        yield (*(x,) * _MANY, other)
