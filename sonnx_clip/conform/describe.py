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
from sonnx_clip.root.dtypes import bit_pattern, hex_bits
from sonnx_clip.runtimes.calls import OVERWRITTEN, entry_indices
from sonnx_clip.spec.operators import DEFAULT_OPERATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.conform.check_report import Count, DeviationKind, FormReport
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.conform.units import Unit, UnitResult
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.bit_pattern import BitPattern
    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.calls import Request
    from sonnx_clip.runtimes.model_forms import ModelForm

_UNEXPLAINED = {"explanation": None, "allowed_by": ()}
_WINDOW = 64  # entries that are recorded of a longer call, around the one that deviates


def of_equal_length(request: Request, row: int) -> tuple[Request, int]:
    """The calls that have as many entries as one, and its place among them."""
    if request.lengths is None:
        return request, row
    length = request.lengths[row]
    alike = np.flatnonzero(request.lengths == length)
    place = np.searchsorted(alike, row)
    return request.calls(alike), int(place)


def recorded(
    request: Request,
    row: int,
    column: int,
    due: int,
    etype: ElementType,
    operator: Operator,
    *,
    kind: DeviationKind,
    got: int | None = None,
    words: str | None = None,
    latitude: str | None = None,
) -> Deviation:
    """The record of a deviation: its bits, and the call in which it was found."""
    places = window = np.zeros(0, int)
    if request.length:
        places = entry_indices(request, row)
        window = _window(request.length, column)

    def bits(values: Iterable[int]) -> tuple[BitPattern, ...]:
        return tuple(bit_pattern(int(value), etype.id) for value in values)

    operands = []
    entries = []
    for pool in request.pools:
        # A call without entries has no X; zero takes its place in the record.
        value = pool[places[column]] if request.length else 0
        operands.append(int(value))
        recorded_values = pool[places[window]]
        entries_of_tensor = bits(recorded_values.tolist())
        entries.append(_without_repetition(entries_of_tensor))
    operands += [int(scalar[row]) for scalar in request.scalars]
    following: tuple[BitPattern, ...] = ()
    # To repeat it needs the scalars of the next call, too: that one has changed the result.
    if words == OVERWRITTEN:
        next_row = (row + 1) % request.count
        following = bits(scalar[next_row] for scalar in request.scalars)
    shown = _operands_shown(operands, etype, operator, request.form)
    got_bits = None
    if got is not None:
        got_bits = bit_pattern(got, etype.id)
        shown = f"{shown}: {_difference_shown(got, due, etype)}"
    operand_bits = dict(zip(operator.signature.shown, bits(operands), strict=True))
    return Deviation(
        kind=kind,
        operands=operand_bits,
        expected=bit_pattern(due, etype.id),
        got=got_bits,
        shown=shown,
        words=words,
        latitude=latitude,
        layout=request.layout,
        length=request.length,
        entries=tuple(entries),
        entry=column,
        following=following,
        form=request.form,
    )


def _window(length: int, column: int) -> Array:
    """The entries of a call that are recorded: all of a short one, else some around the one that deviates."""
    if length <= _WINDOW:
        return np.arange(length)
    # The record repeats its entries, so each has the place in it that it has in the call, up to `_WINDOW`.
    half = _WINDOW // 2
    distance = np.arange(_WINDOW) - column
    wrapped = (distance + half) % _WINDOW - half
    near = column + wrapped
    return np.clip(near, 0, length - 1)


def _without_repetition(entries: tuple[BitPattern, ...]) -> tuple[BitPattern, ...]:
    """The entries of a tensor; one of them if all are equal."""
    if len(set(entries)) == 1:
        return entries[:1]
    return entries


def _difference_shown(got: int, due: int, etype: ElementType) -> str:
    answer = show(got, etype)
    expected = show(due, etype)
    if answer == expected:  # two NaNs, which differ in their bits
        answer = f"{answer} ({hex_bits(got, etype.id)})"
        expected = f"{expected} ({hex_bits(due, etype.id)})"
    return f"got {answer}, expected {expected}"


def _operands_shown(
    values: Sequence[int],
    etype: ElementType,
    operator: Operator,
    form: ModelForm | None,
) -> str:
    """The operands of an entry in decimals, without bounds that the model lacks: ``X=-1 max=5, no min``."""
    missing = form.missing_bounds if form is not None else []
    shown = []
    absent = []
    signature = operator.signature
    for operand, name, value in zip(signature.parameters, signature.shown, values, strict=True):
        if operand in missing:
            absent.append(f"no {name}")
        else:
            shown.append(f"{name}={show(value, etype)}")
    text = " ".join(shown)
    if absent:
        text += f", {' and '.join(absent)}"
    return text


def describe(
    result: UnitResult,
    unit: Unit,
    first: UnitResult | None,
    stopped: Callable[[], bool],
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
    counts = _counts_by_class(result.tally or Counts())
    forms = _without_shared(result.forms or (), counts)
    refusal = result.refusal if unit.first else None
    undescribed: list[Deviation] = []
    for form in forms:
        undescribed += form.deviations.values()
    undescribed += _unreported(counts, first)
    if refusal is not None:
        undescribed.append(refusal.example)

    # All at once: the imports of the runtime, which may take seconds, are made once for all lines.
    lines: list[Deviation | str] = []
    if undescribed:
        lines = shortest(undescribed, unit.options, unit.etype, stopped)
    # By identity: equal deviations of two classes or forms may have different lines.
    described: dict[int, Deviation] = {}
    for deviation, line in zip(undescribed, lines, strict=True):
        described[id(deviation)] = _described(deviation, line, unit)

    for _, count in counts:
        deviations = []
        for deviation in count.deviations:
            # One that the first unit reports already stays as it was recorded.
            deviations.append(described.get(id(deviation), deviation))
        count.deviations = tuple(deviations)
    update: dict[str, object] = {}
    if refusal is not None:
        example = described[id(refusal.example)]
        update["refusal"] = refusal.model_copy(update={"example": example})
    if result.forms is not None:
        described_forms = [_form_described(form, described) for form in forms]
        update["forms"] = tuple(described_forms)
    if not update:
        return result
    return result.model_copy(update=update)


def _counts_by_class(tally: Counts) -> list[tuple[str, Count]]:
    """The counts of each class: of the calls that were compared, and of layouts served at least once."""
    counts = list(tally.of.items())
    for raised in tally.raised.values():
        # What raises in a layout that is never served is a refusal, and no deviation.
        if not raised.all:
            counts += raised.of.items()
    return counts


def _unreported(
    counts: Iterable[tuple[str, Count]], first: UnitResult | None
) -> Iterator[Deviation]:
    """The deviations of a kind that the first unit does not have in the class."""
    known: Mapping[str, Count] = {}
    if first is not None and first.tally is not None:
        known = first.tally.of
    for id_, count in counts:
        # By key alone: a class is shown with one deviation of each kind, whatever its operands.
        reported: set[str] = set()
        if id_ in known:
            reported.update(deviation.key for deviation in known[id_].deviations)
        for deviation in count.deviations:
            if deviation.key not in reported:
                yield deviation


def _form_described(form: FormReport, described: Mapping[int, Deviation]) -> FormReport:
    deviations = {}
    for id_, deviation in form.deviations.items():
        deviations[id_] = described[id(deviation)]
    return form.model_copy(update={"deviations": deviations})


def _described(deviation: Deviation, line: Deviation | str, unit: Unit) -> Deviation:
    """A deviation with its reproducer from `shortest`."""
    if isinstance(line, str):
        words = f"no single call reproduces it in a new process ({line})"
        words += f"; repeat the check: {_command(unit)}"
        if deviation.words:
            words = f"{deviation.words}; {words}"
        return deviation.model_copy(update={"words": words})
    # A reading explains no result that depends on other entries.
    has_other_entries = any(len(entries) != 1 for entries in line.entries)
    if line.allowed_by and line.alone_is_right and has_other_entries:
        return line.model_copy(update=_UNEXPLAINED)
    return line


def _without_shared(
    forms: Sequence[FormReport], counts: Iterable[tuple[str, Count]]
) -> list[FormReport]:
    """The forms, with each deviation that all of them share in the first form alone.

    It is left out where a call outside of the forms shows one that is as bad.
    """
    own_kinds = _kinds_by_class(counts)
    # Copies, from which deviations are removed: reports are not changed.
    kept: list[dict[str, Deviation]] = []
    deviating: set[str] = set()
    for form in forms:
        kept.append(dict(form.deviations))
        deviating.update(form.deviations)
    for id_, served in by_form(deviating, forms).items():
        # Forms that differ are told apart in the report, so each keeps its own deviation.
        verdicts = {verdict for _, verdict in served}
        if len(verdicts) > 1:
            continue
        having = [deviations for deviations in kept if id_ in deviations]
        kind = having[0][id_].kind
        is_shown = _is_as_bad(own_kinds.get(id_, set()), kind)
        superfluous = having if is_shown else having[1:]
        for deviations in superfluous:
            del deviations[id_]
    reports = []
    for form, deviations in zip(forms, kept, strict=True):
        reports.append(form.model_copy(update={"deviations": deviations}))
    return reports


def _kinds_by_class(counts: Iterable[tuple[str, Count]]) -> dict[str, set[DeviationKind]]:
    """The kinds of the deviations of each class, in calls outside of forms."""
    kinds_of: dict[str, set[DeviationKind]] = {}
    for id_, count in counts:
        kinds = kinds_of.setdefault(id_, set())
        kinds.update(deviation.kind for deviation in count.deviations)
    return kinds_of


def _is_as_bad(kinds: Iterable[DeviationKind], kind: DeviationKind) -> bool:
    """Whether one of the kinds is that kind or a worse one."""
    badness = DEVIATION_KINDS.index(kind)
    return any(DEVIATION_KINDS.index(own) <= badness for own in kinds)


def _command(unit: Unit) -> str:
    """The command that repeats all calls of an element type."""
    options = unit.options
    operator = options.of
    runtime = shlex.quote(options.runtime)
    command = f"sonnx-clip check --runtime {runtime} --dtype {unit.etype}"
    if not unit.first and options.level != "quick":
        command += f" --level {options.level}"
    if operator.dialect:
        command += f" --against {operator.dialect}"
    if operator.name != DEFAULT_OPERATOR:
        command += f" --operator {shlex.quote(operator.name)}"
    # A cache would answer with the verdict that is to be repeated.
    return f"{command} --again"
