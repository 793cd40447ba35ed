"""A report of the checker for people, which `sonnx-clip check` prints; evidence has its notes and last lines.

Deviations with one cause are one block with one reproducer, a line of Python; `reproducers` has all of them,
as a shell script.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.check_report import DEVIATION_KINDS, FAILING
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.verdicts import TAGS, forms_of, worst
from sonnx_clip.language.values import decode
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.model_forms import described
from sonnx_clip.runtimes.words import printable
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        DeviationKind,
        FormReport,
        ReadingMatch,
        Report,
        TypeReport,
        Verdict,
    )
    from sonnx_clip.spec import Spec

    Found = list[tuple[TypeReport, ClassReport, Deviation]]

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
WORDS = {sign: "depends on the form" if v == "depends" else v for v, (sign, _) in SIGNS.items()}
"""Signs in words."""
_RAISES = "x"
_TAGS = {"C1": "C1 (shape of the result)", "C3": "C3 (its type)"}
_SHORT = {"uint": "u", "int": "i", "bfloat": "bf", "float": "f"}
_LONGEST = 400  # characters of a refusal that are shown


def print_report(
    report: Report, console: Console, repro: str | None = None, spec: Spec | None = None
) -> None:
    """Print a report: verdicts, one block for each cause of deviations, what was compared; then the summary.

    Args:
        report: what is printed.
        console: where to; lines to be pasted are never wrapped.
        repro: the file that holds the reproducers, which are then not printed.
        spec: the specification of the operator; that of Clip by default.
    """
    spec, pasted = spec or load_spec(), repro is None

    def say(text: str, **options: bool) -> None:
        console.print(text, **{"soft_wrap": True, "highlight": False, **options})  # type: ignore[arg-type]

    head = f"[bold]{escape(report.runtime_version)}[/]"
    head += f" against {report.dialect}" if report.dialect else ""
    if len(report.types) == 1:
        say(f"{head}, {report.types[0].type}")
        for line in _verdicts(report.types[0], console.width):
            say(line, soft_wrap=False)
    else:
        say(f"{head}: class by element type")
        console.print(_table(report, spec))
        shown = {_sign(found, one)[0] for found in report.types for one in found.classes}
        words = {**WORDS, _RAISES: "violates by raising alone: no value is wrong"}
        say(f"[dim]{'  '.join(f'{sign} {text}' for sign, text in words.items() if sign in shown)}[/]")
    console.print()
    for line in (*_notes(report, pasted=pasted), *_deviations(report, spec, pasted=pasted)):
        say(line)
    if repro is not None:
        say(f"reproducers: sh {repro}", markup=False)
    for line in (*closing_lines(report), *report.scope, summary(report)):
        say(line, soft_wrap=not console.is_terminal, markup=False)  # a terminal wraps between words


def summary(report: Report) -> str:
    """The last line: what was judged, how, and with which verdicts."""
    verdicts = [found.verdict for found in report.types]
    counts = ", ".join(f"{verdicts.count(v)} {WORDS[SIGNS[v][0]]}" for v in SIGNS if v in verdicts)
    ends = "; nothing was compared" if report.compared == 0 else ""
    ends += "; unfinished: it was interrupted" if report.unfinished else ""
    if report.kept:
        when = " to ".join(sorted({min(report.kept.values()), max(report.kept.values())}))
        ends += f"; {len(report.kept)} of {len(report.types)} verdicts kept from {when}"
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
    for found in report.types:
        every = [(c.id, "", d) for c in found.classes for d in c.deviations]
        for form in found.forms or ():
            every += [(id_, f", model with {form.form}", d) for id_, d in form.deviations.items()]
        for id_, where, d in every:
            lines += [
                f"\n# {found.type}, {id_}, {d.latitude or d.kind}{where}: {' '.join(d.shown.split())}",
                command_line(d.reproduce) if d.reproduce else f"# {d.words}",
            ]
    return "\n".join([*lines, ""])


# --- Verdicts -----------------------------------------------------------------------------------------------


def _verdicts(found: TypeReport, width: int) -> Iterator[str]:
    """The classes of one element type by verdict, the worst first."""
    names = grouped((_sign(found, one), one.id) for one in found.classes)
    words = {_RAISES: "raises", **dict(reversed(WORDS.items()))}
    for sign, style in sorted(names, key=lambda pair: [*words].index(pair[0])):
        text = f"  {words[sign]:20} {', '.join(names[sign, style])}"
        first, *more = textwrap.wrap(text, width, subsequent_indent=" " * 23, break_on_hyphens=False)
        yield f"[{style}]{first[:23]}[/]{escape(first[23:])}"
        yield from map(escape, more)


def _table(report: Report, spec: Spec) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("class", no_wrap=True)
    for found in report.types:
        table.add_column(short_type(found.type), justify="center", no_wrap=True)
    by_type = [{c.id: c for c in found.classes} for found in report.types]
    for id_ in (*(c.id for c in spec.classes), *TAGS):
        if any(id_ in classes for classes in by_type):
            cells = zip(report.types, by_type, strict=True)
            signs = [Text(*_sign(found, classes.get(id_))) for found, classes in cells]
            table.add_row(_TAGS.get(id_, id_), *signs)
    return table


def short_type(etype: str) -> str:
    """An element type as the head of a narrow column: ``f32``."""
    name = etype.rstrip("0123456789")
    return _SHORT[name] + etype.removeprefix(name)


def _sign(found: TypeReport, one: ClassReport | None) -> tuple[str, str]:
    """The sign of a class, and its style; another one where no value was wrong and calls raised instead."""
    if one is None:
        return "", ""
    wrong = one.violating or "violates" in {form.classes.get(one.id) for form in found.served_forms}
    if one.verdict == "violates" and one.raised and not wrong:
        return _RAISES, SIGNS["violates"][1]
    return SIGNS[one.verdict]


# --- Notes on whole element types, layouts and forms --------------------------------------------------------


@dataclass(frozen=True)
class Note:
    """A line: what it is about, element types with classes, and words.

    `failing` if it is about a failure; `first` is a deviation, which `form` shows.
    """

    head: str
    places: dict[str, list[str]]
    text: str
    failing: bool = False
    first: Deviation | None = None
    form: str = ""

    def __str__(self) -> str:
        places = [f"{etype} {', '.join(ids)}" for etype, ids in self.places.items() if ids]
        return f"{self.head} {'; '.join(places) or ', '.join(self.places)}: {self.text}"


def notes(report: Report) -> Iterator[Note]:
    """What is said of whole element types, layouts and forms, each once with the types that share it."""
    lines: list[tuple[tuple[str, str, bool], str]] = []
    for one in report.types:
        words = [("unsupported", one.words or "", False)] if one.verdict == "unsupported" else []
        if one.verdict in ("crashed", "environment"):
            words.append((one.verdict, one.words or "", True))
        if one.type in report.required and one.verdict == "unsupported":
            words.append(("required", "it is not supported", True))
        if unreached := [c.id for c in one.classes if c.verdict == "unreached"]:
            words.append(("unreached", f"no vector reached {', '.join(unreached)}", True))
        if one.unfinished is not None:
            words.append(("unfinished", one.unfinished, True))
        words += [("refused", f"layout {id_}: {text}", False) for id_, text in one.refused_layouts.items()]
        words += [("noticed", remark, False) for remark in one.remarks]
        words += [("refused", f"models with {text}", False) for text in _refused_forms(one)]
        lines += [(key, one.type) for key in words]
    for (head, text, failing), types in grouped(lines).items():
        yield Note(head, {etype: [] for etype in types}, text, failing)
    yield from dependences(report)


def _notes(report: Report, *, pasted: bool) -> Iterator[str]:
    for note in notes(report):
        style = "bold red" if note.failing else "dim"
        yield f"[{style}]{note.head}[/]{escape(str(note).removeprefix(note.head))}"
        if note.first is not None:
            yield f"    {next(iter(note.places))}, model with {note.form}: {escape(note.first.shown)}"
            if note.first.words:
                yield f"    {escape(note.first.words)}"
            if note.first.reproduce and pasted:
                yield f"    {escape(command_line(note.first.reproduce))}"


def _refused_forms(found: TypeReport) -> Iterator[str]:
    """The words of each refusal of some forms of a model, whatever numbers are in them."""
    every = found.forms or ()
    refused = [form for form in every if form.verdict == "refused"] if found.served_forms else []
    for forms in grouped((re.sub("[0-9]+", "", form.words or ""), form) for form in refused).values():
        words = printable(" ".join((forms[0].words or "").split()), _LONGEST)
        yield f"{described([f.form for f in forms], [f.form for f in every])}: {words}"


def dependences(report: Report) -> list[Note]:
    """Where the verdict depends on the form of a model; those in which a form fails come first."""
    found: dict[str, Note] = {}
    for one in report.types:
        for id_, pairs in forms_of(one).items():
            verdicts = [verdict for _, verdict in pairs]
            if len(set(verdicts)) > 1:
                text = _by_verdict([form for form, _ in pairs], verdicts)
                first = next(form for form, verdict in pairs if verdict == worst(verdicts))
                shown = bool(FAILING & set(verdicts)), first.deviations.get(id_), str(first.form)
                note = found.setdefault(text, Note("depends on the form", {}, text, *shown))
                note.places.setdefault(one.type, []).append(id_)
    return sorted(found.values(), key=lambda note: not note.failing)


def _by_verdict(served: Sequence[FormReport], verdicts: Sequence[Verdict]) -> str:
    """``violates with bounds as initializers, else conforms``: the most frequent verdict comes last."""
    usual = Counter(verdicts).most_common(1)[0][0]
    every, parts = [found.form for found in served], []
    for verdict in dict.fromkeys(v for v in verdicts if v != usual):
        some = [form for form, v in zip(every, verdicts, strict=True) if v == verdict]
        parts.append(f"{verdict} with {described(some, every)}")
    return f"{', '.join(parts)}, else {usual}"


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """The values of each key, in order."""
    found: dict[_K, list[_V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


# --- Deviations, a block for each cause ---------------------------------------------------------------------


def _deviations(report: Report, spec: Spec, *, pasted: bool) -> Iterator[str]:
    """A block for each cause, the worst kind first; if `pasted`, with a reproducer of what violates."""
    every = [(one, c, d) for one in report.types for c in one.classes for d in c.deviations]
    every.sort(key=lambda found: DEVIATION_KINDS.index(found[2].kind))
    by_cause = grouped(((d.kind, _cause(one.type, c.id, d, spec)), (one, c, d)) for one, c, d in every)
    left = sum(bool(deviation.reproduce) for _, _, deviation in every)
    for (kind, cause), found in by_cause.items():
        yield from _block(kind, cause, found, spec)
        first = found[0][2]
        if pasted and first.reproduce and kind != "acceptable":
            left -= 1
            yield f"    {escape(command_line(first.reproduce))}"
    if pasted and left:
        yield f"[dim]{counted(left, 'more reproducer')}: --repro FILE writes them[/]"


def _cause(type_id: str, class_id: str, deviation: Deviation, spec: Spec) -> str:
    """What deviations have in common: the latitude, or the trait of the operands that makes them unusual."""
    if deviation.latitude is not None:
        return deviation.latitude
    klass = next((c for c in spec.classes if c.id == class_id), None)
    values = deviation.environment(spec.head)
    if values is None and deviation.words and deviation.kind != "crashed":
        return deviation.words
    if klass is None or values is None or deviation.kind == "crashed":
        return class_id
    etype = spec.element_type(type_id)
    nans = [name for name in spec.head.operands if decode(values[name], etype) == "nan"]
    if any(name not in spec.head.tensors for name in nans):
        return "a bound is NaN"
    return f"{nans[0]} is NaN" if nans else f"case {klass.case}"


def _block(kind: DeviationKind, cause: str, found: Found, spec: Spec) -> Iterator[str]:
    style = "yellow" if kind == "acceptable" else "bold red"
    etype, klass, first = found[0]
    of_results = [entry for entry in found if entry[1].id not in TAGS]
    unit, counts = "results" if of_results else "calls", dict[str, list[int]]()
    for one, c, deviation in of_results or found:
        numbers = {"violates": c.violating, "raises": c.raised, "crashed": c.died, **c.latitude}
        of_type = counts.setdefault(one.type, [0, 0])
        of_type[0] += numbers[deviation.latitude or kind]
        of_type[1] += c.compared + c.raised + c.died
    results = ", ".join(f"{name} {some:,} of {every:,} {unit}" for name, (some, every) in counts.items())
    classes = [*dict.fromkeys(c.id for _, c, _ in found)]
    within = "" if classes == [cause] else f" in {', '.join(classes)}"
    yield f"[{style}]{kind}[/], {escape(cause)}: {results}{within}"
    known = next((c for c in spec.classes if c.id == klass.id), None)
    if known is not None:
        yield f"    {escape(known.title)}: {escape(known.matters)}"
    why = None if first.words == cause else first.words or first.explanation
    yield f"    {etype.type}, {first.layout}: {escape(first.shown)}{f'; {escape(why)}' if why else ''}"


# --- The last lines: forms of a model, and readings ---------------------------------------------------------


def closing_lines(report: Report) -> list[str]:
    """Which readings allow the answers; how many forms of a model were compared, and whether they agree."""
    return [*behaviour(report), *form_lines(report)]


def form_lines(report: Report) -> Iterator[str]:
    """How many forms of a model were compared, and whether they agree."""
    judged = [one for one in report.types if one.served_forms]
    for one in report.types:
        if one.forms is not None and one.compared and not any(form.compared for form in one.forms):
            yield f"{one.type}: nothing was compared in any form of a model"
    if not judged:
        return
    numbers = {len(one.served_forms) for one in judged}
    number = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
    kinds = {one.type: list(forms_of(one).values()) for one in judged}
    differ = [t for t, every in kinds.items() if any(len({v for _, v in pairs}) > 1 for pairs in every)]
    agree = f"the verdicts differ in {', '.join(differ)}" if differ else "all agree"
    better = [
        one.type for one in judged
        if not report.dialect and any(len(pairs) < len(one.served_forms) for pairs in kinds[one.type])
    ]  # fmt: skip
    alone = f" (rank 0 is better in {', '.join(better)}: it has one entry)" if better else ""
    yield f"forms of a model: {number} compared in {counted(len(judged), 'type')}, {agree}{alone}"


def behaviour(report: Report) -> Iterator[str]:
    """One line if the same readings fit every type, otherwise a line for each group of types.

    Where a reading allows the answers and no others, readings that leave more open are left out.
    """
    found = {one.type: one.readings for one in report.types if one.readings is not None}
    every = list(found.values())
    common = [
        id_ for id_ in (every[0].allowed_by if every else ()) if all(id_ in m.allowed_by for m in every)
    ]
    shared = [id_ for id_ in common if all(id_ in m.exactly for m in every)] or common
    groups = grouped(
        ((tuple(shared) or m.exactly or m.allowed_by, m.explained_by, m.nearest, m.left_in), etype)
        for etype, m in found.items()
    )
    for (readings, explained_by, nearest, left_in), types in groups.items():
        matches = [found[etype] for etype in types]
        if readings:
            yield _allowed(report, readings, types, matches)
            continue
        number, left = f"{sum(m.answers for m in matches):,}", f"{sum(m.left for m in matches):,}"
        yield (
            f"{report.runtime_version}, {', '.join(types)}: no reading allows all {number} answers kept; the"
            f" nearest, {nearest}, does not allow {left} of them, in {', '.join(left_in)}"
            f"{f'; but all {number} follow from {explained_by}' if explained_by else ''}"
        )


def _allowed(
    report: Report, readings: Sequence[str], types: Sequence[str], matches: Sequence[ReadingMatch]
) -> str:
    several, number = len(readings) > 1, f"{sum(match.answers for match in matches):,}"
    named = f"readings {', '.join(readings[:-1])} and {readings[-1]}" if several else f"reading {readings[0]}"
    subject, s = f"{report.runtime_version}, {', '.join(types)}", "" if several else "s"
    if all(id_ in match.exactly for id_ in readings for match in matches):
        line = f"all {number} answers kept are those that the {named} require{s}, bit for bit"
    else:
        line = f"the {named} allow{s} all {number} answers kept, and leave{s} some answers open"
    failing = [(found, c) for found in report.types if found.type in types for c in found.classes]
    words = [c.words or found.words or c.verdict for found, c in failing if c.verdict in FAILING]
    if words and "cases" in readings:
        line += f"; what fails is not a value that was compared: {words[0]}"
    return f"{subject}: {line}"
