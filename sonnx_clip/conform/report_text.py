"""A report of the checker for people, which `sonnx-clip check` prints.

Deviations with one cause are one block, with a reproducer, a line of Python; `reproducers` has a line for
each class and element type, as a shell script.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.check_report import DEVIATION_KINDS
from sonnx_clip.conform.form_words import dependences, form_lines, refusals
from sonnx_clip.conform.matching import behaviour
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.language.values import decode
from sonnx_clip.root.terminal import counted
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        DeviationKind,
        Report,
        TypeReport,
        Verdict,
    )
    from sonnx_clip.spec import Spec

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
"""The sign of each verdict in a table, and how a terminal shows it."""
LEGEND: dict[Verdict, str] = {"depends": "depends on the form"}
"""Verdicts whose words are not their ids."""
_RAISES = "x"
_FORMS = {"C1": "C1 (shape of the result)", "C3": "C3 (its type)"}
_SHORT = {"uint": "u", "int": "i", "bfloat": "bf", "float": "f"}


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
    spec = spec or load_spec()
    whole = not console.is_terminal  # in a file a sentence is a line; on a terminal it wraps between words
    if len(report.types) == 1:
        console.print(f"[bold]{escape(report.runtime_version)}[/], {report.types[0].type}", soft_wrap=True)
        for line in _verdicts(report.types[0], console.width):
            console.print(line, highlight=False)
    else:
        console.print(f"[bold]{escape(report.runtime_version)}[/]: class by element type", soft_wrap=True)
        console.print(_table(report, spec))
        console.print(f"[dim]{_legend(report)}[/]", soft_wrap=True, highlight=False)
    console.print()
    pasted = repro is None
    for line in (*_unusual(report, pasted=pasted), *_deviations(report, spec, pasted=pasted)):
        console.print(line, soft_wrap=True, highlight=False)
    if repro is not None:
        console.print(f"reproducers: sh {repro}", soft_wrap=True, highlight=False, markup=False)
    for line in (*behaviour(report), *form_lines(report), *report.scope, summary(report)):
        console.print(line, soft_wrap=whole, highlight=False, markup=False)


def _verdicts(found: TypeReport, width: int) -> Iterator[str]:
    """The classes of one element type by verdict, the worst first."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in found.classes:
        names.setdefault(_sign(found, one), []).append(one.id)
    words = {sign: LEGEND.get(verdict, verdict) for verdict, (sign, _) in reversed(SIGNS.items())}
    words = {_RAISES: "raises", **words}
    for sign, style in sorted(names, key=lambda pair: [*words].index(pair[0])):
        text = f"  {words[sign]:20} {', '.join(names[sign, style])}"
        first, *more = textwrap.wrap(text, width, subsequent_indent=" " * 23, break_on_hyphens=False)
        yield f"[{style}]{first[:23]}[/]{escape(first[23:])}"
        yield from map(escape, more)


def reproducers(report: Report) -> str:
    """A shell script of all reproducers: for each class and element type the first deviation of each kind."""
    lines = [
        "# Repeats what `sonnx-clip check` reported. Each line prints type, shape and bits of the result,",
        "# and what is expected. Run it where the runtime is installed: sh FILE",
    ]
    for found in report.types:
        for c in found.classes:
            for d in c.deviations:
                lines.append(f"\n# {found.type}, {c.id}, {d.latitude or d.kind}: {' '.join(d.shown.split())}")
                lines.append(_repeated(d))
        for form in found.forms or ():
            for id_, d in form.deviations.items():
                shown = " ".join(d.shown.split())
                lines.append(
                    f"\n# {found.type}, {id_}, {d.latitude or d.kind}, model with {form.form}: {shown}"
                )
                lines.append(_repeated(d))
    return "\n".join([*lines, ""])


def _repeated(found: Deviation) -> str:
    return command_line(found.reproduce) if found.reproduce else f"# {found.words}"


def summary(report: Report) -> str:
    """The last line: what was judged, how, and with which verdicts."""
    verdicts = [found.verdict for found in report.types]
    counts = ", ".join(f"{verdicts.count(v)} {LEGEND.get(v, v)}" for v in SIGNS if v in verdicts)
    nothing = "; nothing was compared" if report.compared == 0 else ""
    nothing += "; unfinished: it was interrupted" if report.unfinished else ""
    how = f"{report.policy} policy" + ("" if report.level == "quick" else f", {report.level}")
    seconds = "" if len(report.kept) == len(verdicts) else f" in {report.seconds:g} s"
    return (
        f"{report.runtime_version} ({how}): {counts} of {counted(len(verdicts), 'type')}; "
        f"{report.compared:,} results compared{seconds}{nothing}{_kept(report)}"
    )


def _kept(report: Report) -> str:
    if not report.kept:
        return ""
    first, last = min(report.kept.values()), max(report.kept.values())
    when = first if first == last else f"{first} to {last}"
    return f"; {len(report.kept)} of {len(report.types)} verdicts kept from {when} (--again repeats them)"


def _table(report: Report, spec: Spec) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("class", no_wrap=True)
    for found in report.types:
        table.add_column(short_type(found.type), justify="center", no_wrap=True)
    by_type = [{c.id: c for c in found.classes} for found in report.types]
    for id_ in (*(c.id for c in spec.classes), "C1", "C3"):
        if any(id_ in classes for classes in by_type):
            cells = zip(report.types, by_type, strict=True)
            table.add_row(
                _FORMS.get(id_, id_), *(Text(*_sign(found, classes.get(id_))) for found, classes in cells)
            )
    return table


def _sign(found: TypeReport, one: ClassReport | None) -> tuple[str, str]:
    """The sign of a class, and its style; another one where no value was wrong and calls raised instead."""
    if one is None:
        return "", ""
    if one.verdict == "violates" and one.raised and not one.violating:
        in_forms = {form.classes.get(one.id) for form in found.served_forms}
        if "violates" not in in_forms:
            return _RAISES, SIGNS["violates"][1]
    return SIGNS[one.verdict]


def _legend(report: Report) -> str:
    """The signs that occur in the table, in words."""
    shown = {_sign(found, one)[0] for found in report.types for one in found.classes}
    words = {sign: LEGEND.get(verdict, verdict) for verdict, (sign, _) in SIGNS.items()}
    words[_RAISES] = "violates by raising alone: no value is wrong"
    return "  ".join(f"{sign} {text}" for sign, text in words.items() if sign in shown)


def short_type(etype: str) -> str:
    """An element type as the head of a narrow column: ``f32``."""
    name = etype.rstrip("0123456789")
    return _SHORT[name] + etype.removeprefix(name)


def _unusual(report: Report, *, pasted: bool) -> Iterator[str]:
    """What is not plain conformity: unsupported and crashed types, and the first deviations."""
    yield from _whole_types(report)
    for etype, words in report.unfinished.items():
        yield f"[bold red]unfinished[/] {etype}: {escape(words)}"
    shared = [("refused", _shared(report.types, _refused)), ("noticed", _shared(report.types, _noticed))]
    shared.append(("refused", {f", models {line}": names for line, names in refusals(report).items()}))
    for word, lines in shared:
        for line, names in lines.items():
            yield f"[dim]{word}[/] {', '.join(names)}{escape(line)}"
    yield from _depending(report, pasted=pasted)


def _whole_types(report: Report) -> Iterator[str]:
    """What is said of whole element types."""
    for message, names in _unsupported(report.types).items():
        yield f"[dim]unsupported[/] {', '.join(names)}: {escape(message)}"
    for found in report.types:
        if found.verdict == "crashed":
            yield f"[bold red]crashed[/] {found.type}: {escape(found.words or '')}"
            if found.reproduce:
                yield f"    {escape(command_line(found.reproduce))}"
        if found.verdict == "environment":
            yield f"[bold red]environment[/] {found.type}: {escape(found.words or '')}"
        if found.type in report.required and found.verdict == "unsupported":
            yield f"[bold red]required[/] {found.type}: it is not supported"
        unreached = [c.id for c in found.classes if c.verdict == "unreached"]
        if unreached:
            yield f"[bold red]unreached[/] {found.type}: no vector reached {', '.join(unreached)}"


def _depending(report: Report, *, pasted: bool) -> Iterator[str]:
    """Where the verdict depends on the form of the model, each with a deviation and its line."""
    for one in dependences(report):
        style = "bold red" if one.failing else "yellow"
        places = "; ".join(f"{etype} {', '.join(ids)}" for etype, ids in one.places.items())
        yield f"[{style}]depends on the form[/] [bold]{escape(places)}[/]: {escape(one.text)}"
        if one.first is not None:
            yield f"    {next(iter(one.places))}, model with {one.form}: {escape(one.first.shown)}"
            if one.first.words:
                yield f"    {escape(one.first.words)}"
            if pasted and one.first.reproduce:
                yield f"    {escape(command_line(one.first.reproduce))}"


def _refused(found: TypeReport) -> list[str]:
    return [f", layout {layout}: {message}" for layout, message in found.refused_layouts.items()]


def _noticed(found: TypeReport) -> list[str]:
    return [f": {remark}" for remark in found.remarks]


def _shared(types: tuple[TypeReport, ...], lines: Callable[[TypeReport], list[str]]) -> dict[str, list[str]]:
    """Lines, each with the element types that have it."""
    found: dict[str, list[str]] = {}
    for one in types:
        for line in lines(one):
            found.setdefault(line, []).append(one.type)
    return found


def _unsupported(types: tuple[TypeReport, ...]) -> dict[str, list[str]]:
    """The runtime's message -> the element types that it refuses with it."""
    found: dict[str, list[str]] = {}
    for one in types:
        if one.verdict == "unsupported":
            found.setdefault(one.words or "", []).append(one.type)
    return found


# --- Deviations, a block for each cause ---------------------------------------------------------------------


_Found = list[tuple["TypeReport", "ClassReport", "Deviation"]]


def _deviations(report: Report, spec: Spec, *, pasted: bool) -> Iterator[str]:
    """A block for each cause, the worst kind first; if `pasted`, with a reproducer of what violates."""
    left = 0
    for (kind, cause), found in _by_cause(report, spec).items():
        yield from _block(kind, cause, found, spec)
        left += sum(bool(deviation.reproduce) for _, _, deviation in found)
        first = found[0][2]
        if pasted and first.reproduce and kind != "acceptable":
            left -= 1
            yield f"    {escape(command_line(first.reproduce))}"
    if pasted and left:
        yield f"[dim]{counted(left, 'more reproducer')}: --repro FILE writes them[/]"


def _by_cause(report: Report, spec: Spec) -> dict[tuple[DeviationKind, str], _Found]:
    """The deviations by kind and cause, over all classes and element types."""
    found: dict[tuple[DeviationKind, str], _Found] = {}
    for kind in DEVIATION_KINDS:
        for one in report.types:
            for klass in one.classes:
                for deviation in klass.deviations:
                    if deviation.kind == kind:
                        cause = _cause(one.type, klass.id, deviation, spec)
                        found.setdefault((kind, cause), []).append((one, klass, deviation))
    return found


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
    if nans:
        return f"{nans[0]} is NaN"
    return f"case {klass.case}"


def _block(kind: DeviationKind, cause: str, found: _Found, spec: Spec) -> Iterator[str]:
    style = "yellow" if kind == "acceptable" else "bold red"
    etype, klass, first = found[0]
    counts: dict[str, list[int]] = {}
    of_results = [entry for entry in found if entry[1].id not in _FORMS]
    unit = "results" if of_results else "calls"
    for one, c, deviation in of_results or found:
        of_type = counts.setdefault(one.type, [0, 0])
        of_type[0] += _number(c, deviation.latitude or kind)
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


def _number(found: ClassReport, name: str) -> int:
    known = {"violates": found.violating, "raises": found.raised, "crashed": found.died}
    return known[name] if name in known else found.latitude[name]
