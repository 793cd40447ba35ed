"""Where each path goes in the source, and what no path passes: for `sonnx_clip.trace.tracing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.root.errors import UserError
from sonnx_clip.trace.explore import follow
from sonnx_clip.trace.symbolic_run import Branch, Fork, Language, SymbolicRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.trace.explore import Path, Traced
    from sonnx_clip.trace.instrument import Instrumented, Point

Places: TypeAlias = tuple[int, ...]
"""The numbers of the points that a run passes, in order."""

_REPORT = "the recording is wrong: report it"


def places_of(traced: Traced, copies: Instrumented) -> tuple[Places, ...]:
    """The points that each path passes: the copies, run on symbols, have to do what the functions did.

    Raises:
        UserError: a copy computes or decides otherwise, decides unseen, or two paths cannot be distinguished.
    """
    language = Language(traced.etype)
    found = tuple(_places(traced, path, copies, language) for path in traced.paths)
    first: dict[Places, int] = {}
    for number, places in enumerate(found, 1):
        if (other := first.setdefault(places, number)) != number:
            what = f"{traced.etype.id}: ways {other} and {number} pass the same places"
            raise UserError(what, _file(copies), _REPORT)
    return found


def _places(traced: Traced, path: Path, copies: Instrumented, language: Language) -> Places:
    taken = tuple(step.taken for step in path.steps if isinstance(step, Branch))
    run = SymbolicRun(language, Fork(taken, path.samples.first()), again=True)
    with copies.watch() as record:
        kernel, result = follow(copies.subject, run, in_place=traced.in_place)
    of = f"{traced.etype.id}: the recorded copy of {path.kernel}"
    if (kernel, result, tuple(run.steps)) != (path.kernel, path.result, path.steps):
        raise UserError(f"{of} does something else than the kernel", _file(copies), _REPORT)
    if list(record.decided.values()) != run.taken:
        raise UserError(f"{of} goes a way that is not recorded", _file(copies), _REPORT)
    return tuple(record.places)


def _file(copies: Instrumented) -> str:
    return str(copies.subject.files[0])


def unreached(points: Sequence[Point], paths: Iterable[Places]) -> list[str]:
    """A line for each function, statement and outcome of a condition that no path passes."""
    passed = {number for places in paths for number in places}
    order = sorted(range(len(points)), key=lambda n: (_FIRST.get(points[n].kind, 2), points[n].file, n))
    return [line for number in order if number not in passed for line in _missed(points, number, passed)]


_FIRST = {"function": 0, "statement": 1}
"""What is said first: that a line is not reached explains a branch that is not taken."""


def _missed(points: Sequence[Point], number: int, passed: set[int]) -> Iterator[str]:
    point = points[number]
    place = f"{point.file}:{point.line}"
    called = {points[n].function for n in passed if points[n].file == point.file}
    match point.kind:
        case "function":
            yield f"{place}: {point.function} is never called"
        case _ if point.function not in called:
            return  # said of the function
        case "statement":
            yield f"{place}: no input reaches this line"
        case "true" if number + 1 not in passed:
            yield f"{place}: no input reaches this condition"
        case "false" if number - 1 not in passed:
            return  # said of the other outcome
        case _:
            yield f"{place}: no input takes the other way of this branch"
