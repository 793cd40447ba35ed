"""The same functions run by NumPy itself: on a witness of a path, and on the numbers of a counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.trace.subject import dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.trace.explore import Path, Traced
    from sonnx_clip.trace.instrument import Instrumented, Places
    from sonnx_clip.trace.subject import Subject

Array: TypeAlias = np.ndarray[Any, Any]

_TRIED = 200  # samples of a path: NumPy decides ties of zeros as it likes, so not each of them takes it


@dataclass(frozen=True)
class KernelCall:
    """One call of planner and kernel: bit patterns of the entries and of the bounds."""

    etype: ElementType
    in_place: bool
    x: tuple[int, ...]
    lower: int
    upper: int


def run(what: Subject, call: KernelCall) -> tuple[int, ...]:
    """The bit patterns that NumPy writes."""
    dtype = dtype_of(call.etype)
    x, (lower, upper) = _array(call.x, dtype), _array((call.lower, call.upper), dtype)
    out = x if call.in_place else np.empty_like(x)
    with np.errstate(all="ignore"):
        kernel, low, high = what.planner(call.etype)(lower, upper)
        kernel(x, low, high, out)
    return tuple(out.view(f"u{dtype.itemsize}").tolist())


def strays(what: Subject, traced: Traced, places: Sequence[Places], copies: Instrumented) -> list[str]:
    """A line for each path that NumPy does not take, or takes otherwise in the recorded copies.

    Then the run on symbols is not what NumPy does.

    Args:
        what: the functions.
        traced: the paths of one element type.
        places: the points that each of these paths passes.
        copies: of the functions.
    """
    found = (
        _stray(what, traced, path, passed, copies) for path, passed in zip(traced.paths, places, strict=True)
    )
    return [
        f"{traced.etype.id}: {said} {number} through {path.kernel}"
        for number, (path, said) in enumerate(zip(traced.paths, found, strict=True), 1)
        if said
    ]


def _stray(what: Subject, traced: Traced, path: Path, passed: Places, copies: Instrumented) -> str:
    for call in _calls(traced, path):
        with copies.watch() as record:
            written = run(copies.subject, call)
        if tuple(record.places) == passed:
            same = written == run(what, call)
            return "" if same else "the recorded copy writes something else than the kernel on way"
    return "no run of NumPy takes way"


def _calls(traced: Traced, path: Path) -> Iterator[KernelCall]:
    s = path.samples
    for i in range(min(_TRIED, len(s.index))):
        x = (int(s.x[0, i]), int(s.x[1, i]))
        yield KernelCall(traced.etype, traced.in_place, x, int(s.lower[i]), int(s.upper[i]))


def _array(patterns: Sequence[int], dtype: np.dtype[Any]) -> Array:
    return np.array(patterns, f"u{dtype.itemsize}").view(dtype)
