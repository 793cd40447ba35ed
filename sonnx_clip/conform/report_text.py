"""A report of the checker for people, which `sonnx-clip check` prints.

Deviations with one cause are one block with one reproducer, a line of Python; `reproducers` has all of them,
as a shell script.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.check_report import DEVIATION_KINDS
from sonnx_clip.conform.form_words import dependences, form_lines, grouped, refusals
from sonnx_clip.conform.matching import behaviour
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.language.values import decode
from sonnx_clip.root.terminal import counted
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    Found = list[tuple[TypeReport, ClassReport, Deviation]]

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

    def say(text: str, **options: bool) -> None:
        console.print(text, **{"soft_wrap": True, "highlight": False, **options})  # type: ignore[arg-type]

    against = f" against {report.dialect}" if report.dialect else ""
    if len(report.types) == 1:
        say(f"[bold]{escape(report.runtime_version)}[/]{against}, {report.types[0].type}")
        for line in _verdicts(report.types[0], console.width):
            say(line, soft_wrap=False)
    else:
        say(f"[bold]{escape(report.runtime_version)}[/]{against}: class by element type")
        console.print(_table(report, spec))
        shown = {_sign(found, one)[0] for found in report.types for one in found.classes}
        words = {**_words(), _RAISES: "violates by raising alone: no value is wrong"}
        say(f"[dim]{'  '.join(f'{sign} {text}' for sign, text in words.items() if sign in shown)}[/]")
    console.print()
    pasted = repro is None
    for line in (*_unusual(report, pasted=pasted), *_deviations(report, spec, pasted=pasted)):
        say(line)
    if repro is not None:
        say(f"reproducers: sh {repro}", markup=False)
    for line in (*behaviour(report), *form_lines(report), *report.scope, summary(report)):
        say(line, soft_wrap=not console.is_terminal, markup=False)  # a terminal wraps between words


def summary(report: Report) -> str:
    """The last line: what was judged, how, and with which verdicts."""
    verdicts = [found.verdict for found in report.types]
    counts = ", ".join(f"{verdicts.count(v)} {LEGEND.get(v, v)}" for v in SIGNS if v in verdicts)
    ends = "; nothing was compared" if report.compared == 0 else ""
    ends += "; unfinished: it was interrupted" if report.unfinished else ""
    if report.kept:
        when = " to ".join(sorted({min(report.kept.values()), max(report.kept.values())}))
        ends += f"; {len(report.kept)} of {len(report.types)} verdicts kept from {when}"
        ends += " (--again repeats them)"
    how = f"{report.policy} policy" + ("" if report.level == "quick" else f", {report.level}")
    how = f"against {report.dialect}, {how}" if report.dialect else how
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


def short_type(etype: str) -> str:
    """An element type as the head of a narrow column: ``f32``."""
    name = etype.rstrip("0123456789")
    return _SHORT[name] + etype.removeprefix(name)


# --- Verdicts -----------------------------------------------------------------------------------------------


def _words() -> dict[str, str]:
    """Signs in words."""
    return {sign: LEGEND.get(verdict, verdict) for verdict, (sign, _) in SIGNS.items()}


def _verdicts(found: TypeReport, width: int) -> Iterator[str]:
    """The classes of one element type by verdict, the worst first."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in found.classes:
        names.setdefault(_sign(found, one), []).append(one.id)
    words = {_RAISES: "raises", **dict(reversed(_words().items()))}
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
    for id_ in (*(c.id for c in spec.classes), "C1", "C3"):
        if any(id_ in classes for classes in by_type):
            cells = zip(report.types, by_type, strict=True)
            signs = [Text(*_sign(found, classes.get(id_))) for found, classes in cells]
            table.add_row(_FORMS.get(id_, id_), *signs)
    return table


def _sign(found: TypeReport, one: ClassReport | None) -> tuple[str, str]:
    """The sign of a class, and its style; another one where no value was wrong and calls raised instead."""
    if one is None:
        return "", ""
    wrong = one.violating or "violates" in {form.classes.get(one.id) for form in found.served_forms}
    if one.verdict == "violates" and one.raised and not wrong:
        return _RAISES, SIGNS["violates"][1]
    return SIGNS[one.verdict]


def _unusual(report: Report, *, pasted: bool) -> Iterator[str]:
    """What is said of whole element types, layouts and forms."""
    unsupported = ((one.words or "", one.type) for one in report.types if one.verdict == "unsupported")
    for words, types in grouped(unsupported).items():
        yield f"[dim]unsupported[/] {', '.join(types)}: {escape(words)}"
    for found in report.types:
        if found.verdict in ("crashed", "environment"):
            yield f"[bold red]{found.verdict}[/] {found.type}: {escape(found.words or '')}"
            if found.reproduce:
                yield f"    {escape(command_line(found.reproduce))}"
        if found.type in report.required and found.verdict == "unsupported":
            yield f"[bold red]required[/] {found.type}: it is not supported"
        unreached = [c.id for c in found.classes if c.verdict == "unreached"]
        if unreached:
            yield f"[bold red]unreached[/] {found.type}: no vector reached {', '.join(unreached)}"
    for etype, words in report.unfinished.items():
        yield f"[bold red]unfinished[/] {etype}: {escape(words)}"
    yield from _shared(report)
    yield from _depending(report, pasted=pasted)


def _depending(report: Report, *, pasted: bool) -> Iterator[str]:
    """Where the verdict depends on the form of the model."""
    for one in dependences(report):
        style, first = "bold red" if one.failing else "yellow", one.first
        yield f"[{style}]depends on the form[/] [bold]{escape(one.where)}[/]: {escape(one.text)}"
        if first is not None:
            yield f"    {next(iter(one.places))}, model with {one.form}: {escape(first.shown)}"
            if first.words:
                yield f"    {escape(first.words)}"
            if pasted and first.reproduce:
                yield f"    {escape(command_line(first.reproduce))}"


def _shared(report: Report) -> Iterator[str]:
    """Refusals and remarks, each with the element types that share it."""
    lines = [
        *((f"refused, layout {layout}: {words}", one.type)
          for one in report.types for layout, words in one.refused_layouts.items()),
        *((f"noticed: {remark}", one.type) for one in report.types for remark in one.remarks),
        *((f"refused, models {words}", etype) for words, types in refusals(report).items()
          for etype in types),
    ]  # fmt: skip
    for line, types in grouped(lines).items():
        yield f"[dim]{line[:7]}[/] {', '.join(types)}{escape(line[7:])}"


# --- Deviations, a block for each cause ---------------------------------------------------------------------


def _deviations(report: Report, spec: Spec, *, pasted: bool) -> Iterator[str]:
    """A block for each cause, the worst kind first; if `pasted`, with a reproducer of what violates."""
    by_cause: dict[tuple[DeviationKind, str], Found] = {}
    every = [(one, c, d) for one in report.types for c in one.classes for d in c.deviations]
    for one, klass, deviation in sorted(every, key=lambda found: DEVIATION_KINDS.index(found[2].kind)):
        cause = _cause(one.type, klass.id, deviation, spec)
        by_cause.setdefault((deviation.kind, cause), []).append((one, klass, deviation))
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
    of_results = [entry for entry in found if entry[1].id not in _FORMS]
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
