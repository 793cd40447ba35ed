"""A counterexample to a NumPy kernel, run by NumPy itself: the numbers of a prover must fail there too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.numpy_kernels import THEORIES
from sonnx_clip.language import show, show_bits
from sonnx_clip.language.special import special_patterns
from sonnx_clip.spec import evaluator
from sonnx_clip.trace import subject as traced_functions
from sonnx_clip.trace.real import KernelCall, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec

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
        call = KernelCall(etype, obligation.theory == THEORIES[True], entries, l, m)
        for x, y in zip(entries, run(what, call), strict=True):
            due = int(ask.result(x, l, m))
            if y != due:
                beside = sorted(set(entries) - {x})
                others = f" beside {', '.join(show_bits(e, etype) for e in beside)}" if beside else ""
                made = f"{show(x, etype)} ({show_bits(x, etype)}){others} becomes {show_bits(y, etype)}"
                return [f"and so in NumPy: {made}, expected {show_bits(due, etype)}"]
    return ["NumPy itself computes Clip there: it does not make the choices that the prover made"]


def _arrays(etype: ElementType, numbers: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    rest = tuple(value for name, value in numbers.items() if name.startswith("rest"))
    x = numbers["x"]
    yield (x,)
    yield (x, *rest)
    yield (x,) * _MANY
    for other in (*rest, *special_patterns(etype)):
        yield (x, other)
        yield (*(x,) * _MANY, other)
