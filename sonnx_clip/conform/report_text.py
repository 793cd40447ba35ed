"""The report of the checker as text: `sonnx-clip check` prints it, and the evidence has its notes.

Deviations with one cause are one block with one reproducer, a line of Python; `reproducers` has all of them,
as a shell script.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.check_report import DEVIATION_KINDS, FAILING, Verdict
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.simplicity import complexity
from sonnx_clip.conform.verdicts import (
    TAGS,
    failing_forms,
    forms_alike,
    forms_of,
    shared_deviation,
    worst,
)
from sonnx_clip.language.values import decode
from sonnx_clip.root.dtypes import bits_type
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.model_forms import described
from sonnx_clip.runtimes.words import printable
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        ReadingMatch,
        Refusal,
        Report,
        TypeReport,
    )
    from sonnx_clip.spec import Spec

    Deviating = tuple[TypeReport, ClassReport, Deviation]
    Found = list[Deviating]

_K = TypeVar("_K")
_V = TypeVar("_V")
SIGNS: dict[Verdict, tuple[str, str]] = {
    "conforms": ("=", "green"),
    "acceptable": ("~", "yellow"),
    "violates": ("X", "bold red"),
    "depends": ("f", "bold red"),
    "refused": ("r", "yellow"),
    "unsupported": ("-", "dim"),
    "crashed": ("!", "bold red"),
    "unreached": ("?", "bold red"),
    "environment": ("e", "bold red"),
    "unfinished": ("u", "bold red"),
}
"""The sign of each verdict in a table, and its style on a terminal."""
_TAGS = {"C1": "C1 (shape of the result)", "C3": "C3 (its type)"}
_SHORT = {"uint": "u", "int": "i", "bfloat": "bf", "float": "f"}
_LONGEST = 400  # characters of a refusal that are shown


def print_report(
    report: Report, console: Console, repro: str | None = None, spec: Spec | None = None
) -> None:
    """Print a report: verdicts, one block for each cause of deviations, what was compared; then the summary.

    Args:
        report: the report.
        console: where it is printed; lines to be pasted are never wrapped.
        repro: the file that holds the reproducers, which are then not printed.
        spec: the specification of the operator; that of Clip by default.
    """
    spec, pasted = spec or load_spec(), repro is None

    def show(text: str, *, wrap: bool = False, markup: bool = True) -> None:
        console.print(text, soft_wrap=not wrap, highlight=False, markup=markup)

    head = f"[bold]{escape(report.runtime_version)}[/]"
    head += f" against {report.dialect}" if report.dialect else ""
    if len(report.types) == 1:
        show(f"{head}, {report.types[0].type}")
        console.print(_verdicts(report.types[0]))
    else:
        show(f"{head}: class by element type")
        console.print(_table(report, spec))
        show(f"[dim]{_legend(report)}[/]")
    console.print()
    for line in (*_notes(report, pasted=pasted), *_deviations(report, spec, pasted=pasted)):
        show(line)
    if repro is not None:
        show(f"reproducers: sh {repro}", markup=False)
    for line in (*closing_lines(report), *report.scope, summary(report)):
        show(line, wrap=console.is_terminal, markup=False)


def summary(report: Report) -> str:
    """The last line: the runtime, the options, the number of types with each verdict."""
    verdicts = [found.verdict for found in report.types]
    counts = ", ".join(f"{verdicts.count(v)} {words_of(v)}" for v in SIGNS if v in verdicts)
    ends = "; nothing was compared" if report.compared == 0 else ""
    ends += "; unfinished: it was interrupted" if report.unfinished else ""
    if report.kept:
        when = " to ".join(sorted({min(report.kept.values()), max(report.kept.values())}))
        ends += f"; {len(report.kept)} of {len(report.types)} verdicts stored on {when}"
        ends += " (--again repeats them)"
    how = f"against {report.dialect}, " if report.dialect else ""
    how += f"{report.policy} policy" + ("" if report.level == "quick" else f", {report.level}")
    seconds = "" if len(report.kept) == len(verdicts) else f" in {report.seconds:g} s"
    return (
        f"{report.runtime_version} ({how}): {counts} of {counted(len(verdicts), 'type')}; "
        f"{report.compared:,} results compared{seconds}{ends}"
    )


def reproducers(report: Report) -> str:
    """A shell script of all reproducers: for each class and element type the first deviation of each kind."""
    lines = [
        "# Repeats what `sonnx-clip check` reported. Each line prints type, shape and bits of the result,",
        "# and what is expected. Run it where the runtime is installed: sh FILE",
    ]
    for etype, id_, form, found in report.deviations:
        where = f", model with {form}" if form else ""
        lines += [
            f"\n# {etype}, {id_}, {found.key}{where}: {' '.join(found.shown.split())}",
            command_line(found.reproduce) if found.reproduce else f"# {found.words}",
        ]
    return "\n".join([*lines, ""])


# --- Verdicts -----------------------------------------------------------------------------------------------


def words_of(label: Verdict) -> str:
    """A verdict in words."""
    return "depends on the form" if label == "depends" else label


def _verdicts(found: TypeReport) -> Table:
    """The classes of one element type by verdict, the worst first."""
    ids = grouped((one.verdict, one.id) for one in found.classes)
    table = Table(box=None, show_header=False, padding=0)
    table.add_column(no_wrap=True)
    for label, (_, style) in reversed(SIGNS.items()):
        if label in ids:
            table.add_row(Text(f"  {words_of(label):20} ", style), Text(", ".join(ids[label])))
    return table


def _table(report: Report, spec: Spec) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("class", no_wrap=True)
    for found in report.types:
        table.add_column(short_type(found.type), justify="center", no_wrap=True)
    by_type = [{c.id: Text(*SIGNS[c.verdict]) for c in found.classes} for found in report.types]
    for id_ in (*(c.id for c in spec.classes), *TAGS):
        if any(id_ in signs for signs in by_type):
            table.add_row(_TAGS.get(id_, id_), *(signs.get(id_, "") for signs in by_type))
    return table


def _legend(report: Report) -> str:
    """The signs that a table shows, in words."""
    shown = {one.verdict for found in report.types for one in found.classes}
    return "  ".join(
        f"{sign} {words_of(verdict)}" for verdict, (sign, _) in SIGNS.items() if verdict in shown
    )


def short_type(etype: str) -> str:
    """An element type as the head of a narrow column: ``f32``."""
    name = etype.rstrip("0123456789")
    return _SHORT[name] + etype.removeprefix(name)


# --- Notes on whole element types, layouts and forms --------------------------------------------------------


@dataclass
class Note:
    """A line on some element types, or on some classes of each.

    Args:
        head: a verdict, or another word for what happened.
        text: the rest of the line.
        failing: whether it is a failure.
        places: the element types, each with classes if the note is on these alone.
        first: a deviation that shows it, in the form of a model `form` if that is not empty.
    """

    head: str
    text: str
    failing: bool
    places: dict[str, list[str]] = field(default_factory=dict)
    first: Deviation | None = None
    form: str = ""

    def __str__(self) -> str:
        places = [f"{etype} {', '.join(ids)}" for etype, ids in self.places.items() if ids]
        return f"{self.head} {'; '.join(places) or ', '.join(self.places)}: {self.text}"


def notes(report: Report) -> Iterator[Note]:
    """Notes on whole element types, layouts and forms, each once with the types that share it."""
    found: dict[tuple[str, str, bool], Note] = {}
    for one in report.types:
        for key in _type_notes(one, required=one.type in report.required):
            found.setdefault(key, Note(*key)).places[one.type] = []
        if one.refusal is not None:
            key = _note_on_refusal(one, one.refusal)
            note = found.setdefault(key, Note(*key, first=one.refusal.example))
            note.places[one.type] = []
    yield from found.values()
    yield from dependences(report)


def _type_notes(one: TypeReport, *, required: bool) -> Iterator[tuple[str, str, bool]]:
    """The head and the text of each note on an element type, and whether it is a failure."""
    if one.verdict in ("unsupported", "crashed", "environment"):
        yield one.verdict, one.words or "", one.verdict != "unsupported"
    if required and one.verdict == "unsupported":
        yield "required", "it is not supported", True
    if unreached := [c.id for c in one.classes if c.verdict == "unreached"]:
        yield "unreached", f"no vector reached {', '.join(unreached)}", True
    if one.unfinished is not None:
        yield "unfinished", one.unfinished, True
    yield from (
        ("refused", f"layout {id_}: {words}", False) for id_, words in one.refused_layouts.items()
    )
    yield from (("noticed", remark, False) for remark in one.remarks)
    if one.served_forms:
        # Refusals that differ in numbers alone, such as shapes, are one.
        refused = [form for form in one.forms or () if form.verdict == "refused"]
        for forms in grouped(
            (re.sub("[0-9]+", "", form.words or ""), form) for form in refused
        ).values():
            words = printable(" ".join((forms[0].words or "").split()), _LONGEST)
            named = described([f.form for f in forms], [f.form for f in one.forms or ()])
            yield "refused", f"models with {named}: {words}", False
        if one.serves_forms_only and not refused:
            words = next((found.words for found in one.classes if found.words), one.words or "")
            yield "refused", f"models with bounds as inputs: {words}", False


def _note_on_refusal(one: TypeReport, refusal: Refusal) -> tuple[str, str, bool]:
    """The head, the text, and whether it is a failure, of the note on calls that were refused."""
    head = "refused" if refusal.is_refusal else "raises"
    where = (
        "some calls, no condition is known"
        if refusal.condition is None
        else f"where {refusal.condition}"
    )
    words = printable(" ".join(refusal.words.split()), _LONGEST)
    return head, f"{where}: {words}", any(found.raised for found in one.classes)


def dependences(report: Report) -> list[Note]:
    """Classes whose verdict depends on the form of a model; failing classes first."""
    found: dict[str, Note] = {}
    for one in report.types:
        for id_, pairs in forms_of(one).items():
            verdicts = [verdict for _, verdict in pairs]
            if len(set(verdicts)) > 1:
                first = next(form for form, verdict in pairs if verdict == worst(verdicts))
                # ``violates with bounds as initializers, else conforms``: the most frequent comes last
                usual, every = (
                    Counter(verdicts).most_common(1)[0][0],
                    [form.form for form, _ in pairs],
                )
                others = grouped(
                    (verdict, form.form) for form, verdict in pairs if verdict != usual
                )
                parts = [
                    f"{verdict} with {described(forms, every)}" for verdict, forms in others.items()
                ]
                text, failing = f"{', '.join(parts)}, else {usual}", bool(FAILING & set(verdicts))
                note = Note(
                    "depends on the form",
                    text,
                    failing,
                    {},
                    first.deviations.get(id_),
                    str(first.form),
                )
                found.setdefault(text, note).places.setdefault(one.type, []).append(id_)
    return sorted(found.values(), key=lambda note: not note.failing)


def _notes(report: Report, *, pasted: bool) -> Iterator[str]:
    for note in notes(report):
        style = "bold red" if note.failing else "dim"
        yield f"[{style}]{note.head}[/]{escape(str(note).removeprefix(note.head))}"
        if note.first is not None:
            call = f"model with {note.form}" if note.form else note.first.layout
            yield f"    {next(iter(note.places))}, {call}: {escape(note.first.shown)}"
            if note.first.reason and note.first.reason not in note.text:
                yield f"    {escape(note.first.reason)}"
            if note.first.reproduce and pasted:
                yield f"    {escape(command_line(note.first.reproduce))}"


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """The values of each key, in order."""
    found: dict[_K, list[_V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


# --- Deviations, a block for each cause ---------------------------------------------------------------------


def _deviations(report: Report, spec: Spec, *, pasted: bool) -> Iterator[str]:
    """A block for each cause, the worst kind first; if `pasted`, with a reproducer of what violates."""
    every: Found = []
    for one in report.types:
        for c in one.classes:
            # What was refused has a note with the condition.
            has_note = one.refusal is not None
            every += [(one, c, d) for d in c.deviations if not (has_note and d.kind == "raises")]
            shared = shared_deviation(one, c)
            every += [(one, c, shared)] if shared is not None else []
    every.sort(key=lambda found: DEVIATION_KINDS.index(found[2].kind))
    by_cause = grouped(
        ((d.kind, _cause(one, c, d, spec), d in c.deviations), (one, c, d)) for one, c, d in every
    )
    left = sum(bool(deviation.reproduce) for _, _, deviation in every)
    for (_, cause, _), found in by_cause.items():
        example = min(found, key=_complexity)
        yield from _block(cause, found, example, spec)
        first = example[2]
        if pasted and first.reproduce and first.kind != "acceptable":
            left -= 1
            yield f"    {escape(command_line(first.reproduce))}"
    if pasted and left:
        yield f"[dim]{counted(left, 'more reproducer')}: --repro FILE writes them[/]"


def _complexity(deviating: Deviating) -> float:
    """How complex the operands of a deviation are: a block shows the simplest."""
    one, _, deviation = deviating
    bits = np.array([int(text, 16) for text in deviation.operands.values()], bits_type(one.type))
    return float(complexity(bits, one.type).sum())


def _cause(found: TypeReport, one: ClassReport, deviation: Deviation, spec: Spec) -> str:
    """The cause of a deviation: the latitude, the words, or the trait of the operands that is unusual.

    A reading is a cause that people know by the operands for which it differs.
    """
    if deviation.latitude is not None:
        return deviation.latitude
    if deviation.explanation is not None and not deviation.allowed_by:
        return deviation.explanation
    values = deviation.environment(spec.head)
    if values is None and deviation.words and deviation.kind != "crashed":
        return deviation.words
    if one.case is None or values is None:
        return one.id
    etype = spec.element_type(found.type)
    nans = [name for name in spec.head.operands if decode(values[name], etype) == "nan"]
    if any(name not in spec.head.tensors for name in nans):
        return "a bound is NaN"
    return f"{nans[0]} is NaN" if nans else f"case {one.case}"


def _block(cause: str, found: Found, example: Deviating, spec: Spec) -> Iterator[str]:
    etype, klass, first = example
    style = "yellow" if first.kind == "acceptable" else "bold red"
    in_forms = first not in klass.deviations
    numbers = _forms_that_deviate(found) if in_forms else _results_that_deviate(found)
    classes = [*dict.fromkeys(c.id for _, c, _ in found)]
    within = "" if classes == [cause] else f" in {', '.join(classes)}"
    yield f"[{style}]{first.kind}[/], {escape(cause)}: {numbers}{within}"
    known = next((c for c in spec.classes if c.id == klass.id), None)
    if first.latitude is not None:
        # The latitude of a dialect is its text, which has no reason here.
        yield from (
            f"    {escape(one.reason)}" for one in spec.latitude if one.id == first.latitude
        )
    elif known is not None:
        name = f"{known.id}: " if classes[1:] else ""
        yield f"    {name}{escape(known.title)}: {escape(known.matters)}"
    why = first.reason
    if not why and first.kind == "violates":
        why = "no known cause"
    why = "" if why == cause else why
    call = f"model with {first.form}" if in_forms else first.layout
    yield f"    {etype.type}, {call}: {escape(first.shown)}{f'; {escape(why)}' if why else ''}"


def _results_that_deviate(found: Found) -> str:
    """How many results, or calls for C1 and C3, deviate, by element type."""
    of_results = [entry for entry in found if entry[1].id not in TAGS]
    unit = "results" if of_results else "calls"
    deviating, compared = Counter[str](), Counter[str]()
    for one, c, deviation in of_results or found:
        numbers = {"violates": c.violating, "raises": c.raised, "crashed": c.died, **c.latitude}
        deviating[one.type] += numbers[deviation.key]
        compared[one.type] += c.compared + c.raised + c.died
    shares = (
        f"{etype} {number:,} of {compared[etype]:,} {unit}" for etype, number in deviating.items()
    )
    return ", ".join(shares)


def _forms_that_deviate(found: Found) -> str:
    """How many forms of a model deviate, by element type, where no other call does."""
    numbers = {}
    for one, c, _ in found:
        deviating = len(forms_alike(one, c))
        numbers[one.type] = f"{one.type} {deviating} of {len(one.served_forms)} forms of a model"
    return ", ".join(numbers.values())


# --- The last lines: readings, and forms of a model ---------------------------------------------------------


def closing_lines(report: Report) -> list[str]:
    """Which readings allow the answers; how many forms of a model were compared, and whether they agree."""
    return [*behaviour(report), *form_lines(report)]


def form_lines(report: Report) -> Iterator[str]:
    """How many forms of a model were compared, and whether they agree."""
    for one in report.types:
        if one.has_blind_forms:
            yield f"{one.type}: nothing was compared in any form of a model"
    judged = {
        one.type: (len(one.served_forms), forms_of(one)) for one in report.types if one.served_forms
    }
    if not judged:
        return
    numbers = [served for served, _ in judged.values()]
    number = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
    differ, better = [], []
    for etype, (served, by_class) in judged.items():
        differ += [etype] * any(len({v for _, v in pairs}) > 1 for pairs in by_class.values())
        better += [etype] * any(len(pairs) < served for pairs in by_class.values())
    agree = f"the verdicts differ in {', '.join(differ)}" if differ else "all agree"
    alone = f" (rank 0 passes more in {', '.join(better)}: it has one entry)"
    alone = alone if better and not report.dialect else ""
    types = counted(len(judged), "type")
    yield f"forms of a model: {number} compared in {types}{_only_forms(report)}, {agree}{alone}"


def _only_forms(report: Report) -> str:
    """The forms that were compared where all other calls were refused, in words; empty if none were."""
    constant = [one for one in report.types if one.serves_forms_only]
    if not constant:
        return ""
    served = [form.form for form in constant[0].served_forms]
    every = [form.form for form in constant[0].forms or ()]
    others = (
        "" if len(constant) == len(report.types) else f"{', '.join(one.type for one in constant)} "
    )
    return f" ({others}only {described(served, every)})"


def behaviour(report: Report) -> Iterator[str]:
    """The readings that fit the answers: a line for each group of element types."""
    found = {one.type: one.readings for one in report.types if one.readings is not None}
    for (readings, explained_by, nearest, left_in), types in reading_groups(found).items():
        matches = [found[etype] for etype in types]
        subject = f"{report.runtime_version}, {', '.join(types)}"
        number, left = f"{sum(m.answers for m in matches):,}", f"{sum(m.left for m in matches):,}"
        if readings:
            yield f"{subject}: {_allowed(readings, matches, number)}{_other_failure(report, readings, types)}"
            continue
        yield (
            f"{subject}: no reading allows all {number} answers kept; the"
            f" nearest, {nearest}, does not allow {left} of them, in {', '.join(left_in)}"
            f"{f'; but all {number} follow from {explained_by}' if explained_by else ''}"
        )


def reading_groups(
    found: Mapping[str, ReadingMatch],
) -> dict[tuple[tuple[str, ...], str | None, str | None, tuple[str, ...]], list[str]]:
    """Element types with equal readings: those that allow all answers, or else what comes nearest.

    Readings that fit every type are named for every type. Where a reading allows the answers and no others,
    readings that leave more open are left out.

    Returns:
        The types by readings, explanation, nearest reading, and classes that this does not allow.
    """
    every = list(found.values())
    common = [
        id_
        for id_ in (every[0].allowed_by if every else ())
        if all(id_ in m.allowed_by for m in every)
    ]
    shared = [id_ for id_ in common if all(id_ in m.exactly for m in every)] or common
    return grouped(
        ((tuple(shared) or m.exactly or m.allowed_by, m.explained_by, m.nearest, m.left_in), etype)
        for etype, m in found.items()
    )


def _allowed(readings: Sequence[str], matches: Sequence[ReadingMatch], number: str) -> str:
    several, s = len(readings) > 1, "" if len(readings) > 1 else "s"
    named = (
        f"readings {', '.join(readings[:-1])} and {readings[-1]}"
        if several
        else f"reading {readings[0]}"
    )
    if all(id_ in match.exactly for id_ in readings for match in matches):
        return f"all {number} answers kept are those that the {named} require{s}, bit for bit"
    return f"the {named} allow{s} all {number} answers kept, and leave{s} some answers open"


def _other_failure(report: Report, readings: Sequence[str], types: Sequence[str]) -> str:
    """What fails although the reading of this specification allows every answer.

    Answers in forms of a model are not among those that are compared with readings.
    """
    if "cases" not in readings:
        return ""
    every = (d for etype, _, _, d in report.deviations if etype in types)
    if any(d.kind == "violates" and d.got is not None for d in every):
        return ""
    for found in report.types:
        for c in found.classes if found.type in types else ():
            if c.verdict in FAILING:
                of_forms = (form.words for form in failing_forms(found, c.id))
                words = c.words or next(filter(None, of_forms), None) or found.words or c.verdict
                return f"; the failure is not in a compared value: {words}"
    return ""
