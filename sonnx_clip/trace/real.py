"""The same functions run by NumPy itself: on a witness of a path, and on the numbers of a counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.trace.reached import Reached
from sonnx_clip.trace.subject import dtype_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.spec.types import ElementType
    from sonnx_clip.trace.explore import Path, Traced
    from sonnx_clip.trace.subject import Subject

Array: TypeAlias = np.ndarray[Any, Any]

_TRIED = 200  # samples of a path: NumPy decides ties of zeros as it likes, so not each of them takes it


@dataclass(frozen=True)
class Call:
    """One call of planner and kernel: bit patterns of the entries and of the bounds."""

    etype: ElementType
    in_place: bool
    x: tuple[int, ...]
    lower: int
    upper: int


def run(what: Subject, call: Call) -> tuple[int, ...]:
    """The bit patterns that NumPy writes."""
    return _run(what, call, Reached())[0]


def strays(what: Subject, traced: Traced) -> list[str]:
    """A line for each path that NumPy does not take: then the run on symbols is not what NumPy does."""
    return [
        f"{traced.etype.id}: no run of NumPy takes way {number} through {path.kernel}"
        for number, path in enumerate(traced.paths, 1)
        if not any(_run(what, call, Reached())[1] == path.places for call in _calls(traced, path))
    ]


def _calls(traced: Traced, path: Path) -> list[Call]:
    s = path.samples
    return [
        Call(
            traced.etype, traced.in_place, (int(s.x[0, i]), int(s.x[1, i])), int(s.lower[i]), int(s.upper[i])
        )
        for i in range(min(_TRIED, len(s.index)))
    ]


def _run(what: Subject, call: Call, reached: Reached) -> tuple[tuple[int, ...], tuple[tuple[str, int], ...]]:
    dtype = dtype_of(call.etype)
    x, (lower, upper) = _array(call.x, dtype), _array((call.lower, call.upper), dtype)
    out = x if call.in_place else np.empty_like(x)
    with np.errstate(all="ignore"), reached.watch(what.codes) as places:
        kernel, low, high = what.planner(call.etype)(lower, upper)
        kernel(x, low, high, out)
    return tuple(out.view(f"u{dtype.itemsize}").tolist()), tuple(places)


def _array(patterns: Sequence[int], dtype: np.dtype[Any]) -> Array:
    return np.array(patterns, f"u{dtype.itemsize}").view(dtype)
