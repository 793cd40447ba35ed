"""Describes deviations: the shortest call that shows each in a new process, as a line of Python, and why.

`recorded` makes the record of a deviation, with its call. `describe` adds the line and the explanation.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.check_report import DEVIATION_KINDS, Deviation
from sonnx_clip.conform.shortest_call import shortest
from sonnx_clip.conform.units import Counts
from sonnx_clip.conform.verdicts import by_form
from sonnx_clip.language.show import show
from sonnx_clip.root.dtypes import hex_bits
from sonnx_clip.runtimes.calls import OVERWRITTEN, entry_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sonnx_clip.conform.check_report import Count, DeviationKind, FormReport
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.units import Unit, UnitResult
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.calls import Request
    from sonnx_clip.runtimes.model_forms import ModelForm

_UNEXPLAINED = {"explanation": None, "allowed_by": ()}
_WINDOW = 64  # entries that are recorded of a longer call, around the one that deviates


def of_equal_length(request: Request, row: int) -> tuple[Request, int]:
    """The calls that have as many entries as one, and its place among them."""
    if request.lengths is None:
        return request, row
    alike = np.flatnonzero(request.lengths == request.lengths[row])
    return request.calls(alike), int(np.searchsorted(alike, row))


def recorded(
    request: Request, row: int, column: int, due: int, etype: ElementType, of: CheckedOperator, *,
    kind: DeviationKind, got: int | None = None, words: str | None = None, latitude: str | None = None,
) -> Deviation:  # fmt: skip
    """The record of a deviation: its bits, and the call in which it was found."""
    places = near = np.zeros(0, int)
    if request.length:
        places, near = entry_indices(request, row), np.arange(min(request.length, _WINDOW))
        if request.length > _WINDOW:  # each place of the window has an entry that recurs there
            near = column + (near - column + _WINDOW // 2) % _WINDOW - _WINDOW // 2
            near = np.clip(near, 0, request.length - 1)
    given = [int(pool[places[column]]) if request.length else 0 for pool in request.pools]
    given += [int(scalar[row]) for scalar in request.scalars]

    def bits(values: Iterable[int]) -> tuple[str, ...]:
        return tuple(hex_bits(int(value), etype.id) for value in values)

    entries = (bits(pool[places[near]].tolist()) for pool in request.pools)
    next_ = (row + 1) % request.count
    following = bits(scalar[next_] for scalar in request.scalars) if words == OVERWRITTEN else ()
    expected, names = show(due, etype), of.node.called
    shown = _operands_shown(given, etype, of, request.form)
    if got is not None:
        answer = show(got, etype)
        if answer == expected:  # two NaNs, which differ in their bits
            answer, expected = (f"{expected} ({text})" for text in bits((got, due)))
        shown = f"{shown}: got {answer}, expected {expected}"
    return Deviation(
        kind=kind,
        operands=dict(zip(names, bits(given), strict=True)),
        expected=hex_bits(due, etype.id),
        got=None if got is None else hex_bits(got, etype.id),
        shown=shown,
        words=words,
        latitude=latitude,
        layout=request.layout,
        length=request.length,
        entries=tuple(some[:1] if len({*some}) == 1 else some for some in entries),
        entry=column,
        following=following,
        form=request.form,
    )


def _operands_shown(
    given: Sequence[int], etype: ElementType, of: CheckedOperator, form: ModelForm | None
) -> str:
    """The operands of an entry in decimals, without bounds that the model lacks: ``X=-1 max=5, no min``."""
    missing = form.missing_bounds if form is not None else []
    shown, absent = [], []
    for operand, name, value in zip(of.node.operands, of.node.called, given, strict=True):
        if operand in missing:
            absent.append(f"no {name}")
        else:
            shown.append(f"{name}={show(value, etype)}")
    return f"{' '.join(shown)}, {' and '.join(absent)}" if absent else " ".join(shown)


def describe(
    result: UnitResult, unit: Unit, first: UnitResult | None, stopped: Callable[[], bool]
) -> UnitResult:
    """The result of a unit, each deviation with its explanation and with the shortest line that shows it.

    If no line does, the words name the command that repeats the whole sequence of calls. A deviation that all
    forms of a model share is kept in one of them, and in none if other calls show one that is as bad.

    Args:
        result: what this run has judged.
        unit: the unit.
        first: the first unit of its element type: deviations of a kind that it has are not reported again.
        stopped: whether the command was interrupted; then no further lines are run.
    """
    tally = result.tally or Counts()
    known = first.tally.of if first is not None and first.tally is not None else {}
    raised = [one.of for one in tally.raised.values() if not one.all]
    counts = [(key, count) for every in (tally.of, *raised) for key, count in every.items()]
    forms = _without_shared(result.forms or (), counts)
    every = [d for form in forms for d in form.deviations.values()]
    for key, count in counts:
        seen = {one.key for one in known[key].deviations} if key in known else ()
        every += [d for d in count.deviations if d.key not in seen]
    refusal = result.refusal if unit.first else None
    every += [refusal.example] if refusal is not None else []
    lines = shortest(every, unit.options, unit.etype, stopped) if every else []
    described = {
        id(one): _described(one, line, unit) for one, line in zip(every, lines, strict=True)
    }
    for _, count in counts:
        count.deviations = tuple(described.get(id(d), d) for d in count.deviations)
    if refusal is not None:
        shown_refusal = refusal.model_copy(update={"example": described[id(refusal.example)]})
        result = result.model_copy(update={"refusal": shown_refusal})
    if result.forms is None:
        return result
    found = [{id_: described[id(d)] for id_, d in form.deviations.items()} for form in forms]
    shown = (
        form.model_copy(update={"deviations": one}) for form, one in zip(forms, found, strict=True)
    )
    return result.model_copy(update={"forms": tuple(shown)})


def _described(one: Deviation, line: Deviation | str, unit: Unit) -> Deviation:
    """A deviation with its reproducer from `shortest`."""
    if not isinstance(line, str):
        # A reading explains no result that depends on other entries.
        is_explained = not line.alone_is_right or all(len(entries) == 1 for entries in line.entries)
        return line if is_explained or not line.allowed_by else line.model_copy(update=_UNEXPLAINED)
    words = f"no single call reproduces it in a new process ({line}); repeat the check: {_command(unit)}"
    words = f"{one.words}; {words}" if one.words else words
    return one.model_copy(update={"words": words})


def _without_shared(
    forms: Sequence[FormReport], counts: Iterable[tuple[str, Count]]
) -> list[FormReport]:
    """The forms, with each deviation that all of them share in the first form alone.

    It is left out where a call outside of the forms shows one that is as bad.
    """
    own_kinds: dict[str, set[DeviationKind]] = {}
    for id_, count in counts:
        kinds = own_kinds.setdefault(id_, set())
        kinds.update(one.kind for one in count.deviations)
    kept = [dict(form.deviations) for form in forms]
    deviating = {id_ for form in forms for id_ in form.deviations}
    for id_, served in by_form(deviating, forms).items():
        verdicts = {verdict for _, verdict in served}
        if len(verdicts) > 1:
            continue
        having = [deviations for deviations in kept if id_ in deviations]
        is_shown = _is_as_bad(own_kinds.get(id_, set()), having[0][id_].kind)
        for deviations in having if is_shown else having[1:]:
            del deviations[id_]
    pairs = zip(forms, kept, strict=True)
    return [form.model_copy(update={"deviations": deviations}) for form, deviations in pairs]


def _is_as_bad(kinds: Iterable[DeviationKind], kind: DeviationKind) -> bool:
    """Whether one of some kinds is that kind or a worse one."""
    return any(DEVIATION_KINDS.index(own) <= DEVIATION_KINDS.index(kind) for own in kinds)


def _command(unit: Unit) -> str:
    """The command that repeats all calls of an element type."""
    options = unit.options
    more = "" if unit.first or options.level == "quick" else f" --level {options.level}"
    more += f" --against {options.of.dialect}" if options.of.dialect else ""
    more += "" if options.of.is_clip else f" --spec {shlex.quote(str(options.of.spec.path))}"
    return f"sonnx-clip check --runtime {shlex.quote(options.runtime)} --dtype {unit.etype}{more} --again"
