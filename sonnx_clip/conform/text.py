"""A report for people: class by type, then each kind of deviation once, then one line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sonnx_clip.conform.behaviour import behaviour
from sonnx_clip.oracle import load_oracle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from sonnx_clip.conform.report import ClassReport, Deviation, Report, TypeReport, Verdict

_SIGNS: dict[Verdict, tuple[str, str]] = {
    "conforms": ("=", "green"),
    "acceptable": ("~", "yellow"),
    "violates": ("X", "bold red"),
    "unsupported": ("-", "dim"),
    "crashed": ("!", "bold red"),
    "unreached": ("?", "bold red"),
}
_FORMS = {"C1": "C1 (shape of the result)", "C3": "C3 (its type)"}
_SHORT = {"uint": "u", "int": "i", "bfloat": "bf", "float": "f"}


def print_report(report: Report, console: Console) -> None:
    """Print a report; lines to be pasted are never wrapped."""
    console.print(f"[bold]{escape(report.runtime_version)}[/]: class by element type", soft_wrap=True)
    console.print(_table(report))
    legend = "  ".join(f"{sign} {verdict}" for verdict, (sign, _) in _SIGNS.items())
    console.print(f"[dim]{legend}[/]", soft_wrap=True, highlight=False)
    for line in _unusual(report):
        console.print(line, soft_wrap=True, highlight=False)
    console.print(summary(report), soft_wrap=True, highlight=False, markup=False)
    for line in behaviour(report):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def summary(report: Report) -> str:
    """The last line: what was judged, how, and with which verdicts."""
    verdicts = [found.verdict for found in report.types]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in _SIGNS if v in verdicts)
    nothing = "; nothing was compared" if report.compared == 0 else ""
    return (
        f"{report.runtime_version} ({report.policy} policy): {counts} of {len(verdicts)} types; "
        f"{report.compared:,} results compared in {report.seconds:g} s{nothing}"
    )


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("class", no_wrap=True)
    for found in report.types:
        table.add_column(short_type(found.type), justify="center", no_wrap=True)
    by_type = [{c.id: c for c in found.classes} for found in report.types]
    for id_ in (*load_oracle().CASE_OF_CLASS, "C1", "C3"):
        if any(id_ in classes for classes in by_type):
            table.add_row(_FORMS.get(id_, id_), *(_cell(classes.get(id_)) for classes in by_type))
    return table


def short_type(etype: str) -> str:
    """An element type as the head of a narrow column: ``f32``."""
    name = etype.rstrip("0123456789")
    return _SHORT[name] + etype.removeprefix(name)


def _cell(found: ClassReport | None) -> Text:
    if found is None:
        return Text("")
    sign, style = _SIGNS[found.verdict]
    return Text(sign, style=style)


def _unusual(report: Report) -> Iterator[str]:
    """What is not plain conformity: unsupported and crashed types, and the first deviations."""
    for words, names in _unsupported(report.types).items():
        yield f"[dim]unsupported[/] {', '.join(names)}: {escape(words)}"
    for found in report.types:
        if found.verdict == "crashed":
            yield f"[bold red]crashed[/] {found.type}: {escape(found.words or '')}"
            yield from _paste(found.reproduce)
        for layout, words in found.refused_layouts.items():
            yield f"[dim]refused[/] {found.type}, layout {layout}: {escape(words)}"
        unreached = [c.id for c in found.classes if c.verdict == "unreached"]
        if unreached:
            yield f"[bold red]unreached[/] {found.type}: no vector reached {', '.join(unreached)}"
    for kind in ("violates", "acceptable"):
        for (class_id, name), told in _deviations(report.types, kind).items():
            yield from _told(class_id, name, told)


def _unsupported(types: tuple[TypeReport, ...]) -> dict[str, list[str]]:
    """Words of the runtime -> the element types that they refuse."""
    found: dict[str, list[str]] = {}
    for one in types:
        if one.verdict == "unsupported":
            found.setdefault(one.words or "", []).append(one.type)
    return found


_Told = list[tuple["TypeReport", "ClassReport", "Deviation"]]


def _deviations(types: tuple[TypeReport, ...], kind: str) -> dict[tuple[str, str], _Told]:
    """The deviations of a kind, by class and by what they are: the same in several types is told once."""
    found: dict[tuple[str, str], _Told] = {}
    for one in types:
        for c in one.classes:
            for deviation in c.deviations:
                if deviation.kind == kind:
                    found.setdefault((c.id, deviation.latitude or "violates"), []).append((one, c, deviation))
    return found


def _told(class_id: str, name: str, told: _Told) -> Iterator[str]:
    style = "bold red" if name == "violates" else "yellow"
    _, _, first = told[0]
    counts = ", ".join(f"{one.type} {_number(c, name):,}/{c.compared + c.raised:,}" for one, c, _ in told)
    yield f"[{style}]{name}[/] [bold]{class_id}[/]: {counts}"
    yield f"    {told[0][0].type}, {first.layout}: {escape(first.shown)}"
    why = first.words or first.explanation
    if why:
        yield f"    {escape(why)}"
    yield from _paste(first.reproduce)


def _number(found: ClassReport, name: str) -> int:
    return found.violating + found.raised if name == "violates" else found.latitude[name]


def _paste(line: str | None) -> Iterator[str]:
    if line:
        yield f"    python -c {escape(shlex.quote(line))}"
