"""Reports of `sonnx-clip check` as one HTML page: runtime by element type, by class, by form of a model.

Each cell leads to its deviations, each with the line that repeats it. The page needs nothing else, and its
filters alone need a script.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.conform.check_report import FAILING
from sonnx_clip.conform.form_words import told_of_forms
from sonnx_clip.conform.matching import behaviour
from sonnx_clip.conform.report_text import LEGEND, SIGNS, short_type, summary
from sonnx_clip.evidence.page import environment
from sonnx_clip.evidence.runtime_verdicts import FORMS
from sonnx_clip.evidence.verdict_records import read_report
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.conform.check_report import Deviation, Report, Verdict
    from sonnx_clip.spec import Spec

_LONGEST = 300  # characters of what a runtime said of a type as a whole

Row: TypeAlias = "tuple[str, str, list[VerdictCell | None]]"
"""What it is of, in an id and in words, and a cell for each element type; None where it has none."""


@dataclass(frozen=True)
class VerdictCell:
    """A verdict, and where its deviations are: an anchor, empty if there are none."""

    verdict: Verdict
    to: str = ""


@dataclass(frozen=True)
class PlacedDeviation:
    """A deviation with its place.

    Args:
        anchor: its own, where it is the first of its class and type; else empty.
        type: of elements.
        klass: the id of a class, C1 or C3.
        form: of a model, where it is one of a form alone; else empty.
        deviation: itself.
    """

    anchor: str
    type: str
    klass: str
    form: str
    deviation: Deviation


@dataclass(frozen=True)
class RuntimeSection:
    """What the page says of one runtime.

    Args:
        anchor: of the section.
        report: of the checker.
        types: the verdict on each element type.
        classes: a row for each class, C1 and C3.
        forms: a row for each form of a model in which it was judged.
        lines: what the report says beside verdicts.
        found: the deviations.
    """

    anchor: str
    report: Report
    types: dict[str, VerdictCell]
    classes: list[Row]
    forms: list[Row]
    lines: tuple[str, ...]
    found: list[PlacedDeviation]

    @property
    def failing(self) -> bool:
        """Whether a verdict is a failure."""
        return any(cell.verdict in FAILING for cell in self.types.values())


def read_reports_in(paths: Sequence[Path], spec: Spec) -> list[Report]:
    """The reports in files, in that order.

    Raises:
        UserError: a file is missing, damaged or stale, or states what its counts do not bear out; or no
            file is named; or two speak of the same runtime and version.
    """
    if not paths:
        what = "there is no report"
        raise UserError(what, todo="name the files that `sonnx-clip check --json -o FILE` has written")
    found: dict[tuple[str, str, str], Path] = {}
    reports = []
    for path in paths:
        report = read_report(path, spec, "run `sonnx-clip check --json -o FILE` again, or leave the file out")
        key = (report.runtime, report.runtime_version, report.policy)
        if key in found:
            what = f"{found[key]} speaks of {report.runtime_version} under the same policy"
            raise UserError(what, str(path), "leave one of them out")
        found[key] = path
        reports.append(report)
    return reports


def render_verdicts(reports: Sequence[Report], spec: Spec) -> str:
    """The page as text."""
    known = [etype.id for etype in spec.element_types if etype.width is not None]
    asked = {found.type for report in reports for found in report.types}
    types = [etype for etype in known if etype in asked]
    sections = [_section(f"r{number}", report, types, spec) for number, report in enumerate(reports, 1)]
    shown = {cell.verdict for section in sections for cell in section.types.values()}
    shown |= {c.verdict for report in reports for found in report.types for c in found.classes}
    shown |= {form.verdict for report in reports for found in report.types for form in found.forms or ()}
    return (
        environment()
        .get_template("verdicts.html.j2")
        .render(
            sections=sections,
            types=types,
            short=short_type,
            signs={verdict: sign for verdict, (sign, _) in SIGNS.items()},
            legend=[(sign, v, LEGEND.get(v, v)) for v, (sign, _) in SIGNS.items() if v in shown],
            filters=_filters(sections),
            summary=summary,
            spec=spec,
        )
    )


def _section(anchor: str, report: Report, types: Sequence[str], spec: Spec) -> RuntimeSection:
    found = list(_deviations(anchor, report))
    first = {(one.type, one.klass): one.anchor for one in found if one.anchor}
    by_type = {one.type: {c.id: c.verdict for c in one.classes} for one in report.types}
    titles = {klass.id: klass.title for klass in spec.classes}
    titles |= {id_: spec.constraint(id_).title for id_ in FORMS}
    rows: list[Row] = []
    for id_, title in titles.items():
        cells = _cells(id_, types, by_type, first)
        if any(cells):
            rows.append((id_, title, cells))
    return RuntimeSection(
        anchor=anchor,
        report=report,
        types={one.type: VerdictCell(one.verdict, f"{anchor}-classes") for one in report.types},
        classes=rows,
        forms=_forms(report, types, found),
        lines=tuple(_lines(report)),
        found=found,
    )


def _forms(report: Report, types: Sequence[str], found: Sequence[PlacedDeviation]) -> list[Row]:
    by_type = {one.type: {str(form.form): form.verdict for form in one.forms or ()} for one in report.types}
    first: dict[tuple[str, str], str] = {}
    for one in found:
        first.setdefault((one.type, one.form), one.anchor)
    every = dict.fromkeys(form for of_type in by_type.values() for form in of_type)
    return [(form, "", _cells(form, types, by_type, first)) for form in every]


def _cells(
    id_: str,
    types: Sequence[str],
    by_type: Mapping[str, Mapping[str, Verdict]],
    first: Mapping[tuple[str, str], str],
) -> list[VerdictCell | None]:
    """The cells of a row, by the verdicts in each element type and where their first deviations are."""
    return [
        VerdictCell(found[id_], first.get((etype, id_), ""))
        if id_ in (found := by_type.get(etype, {}))
        else None
        for etype in types
    ]


def _lines(report: Report) -> Iterator[str]:
    """What is said of types as a whole, each line once with the types that it is of."""
    said: dict[str, list[str]] = {}
    for one in report.types:
        words = [f"{one.verdict}: {one.words}"] if one.words else []
        refused = [f"refused in the layout {layout}: {text}" for layout, text in one.refused_layouts.items()]
        for line in (*words, *refused, *one.remarks):
            said.setdefault(printable(line, _LONGEST), []).append(one.type)
    yield from (f"{', '.join(types)}: {line}" for line, types in said.items())
    yield from behaviour(report)
    yield from told_of_forms(report)
    yield from report.scope


def _deviations(anchor: str, report: Report) -> Iterator[PlacedDeviation]:
    """All of them; the first of a class and element type has an anchor, and so has the first of a form."""
    taken: set[str] = set()

    def named(*parts: str) -> str:
        name = "-".join((anchor, *parts))
        if name in taken:
            return ""
        taken.add(name)
        return name

    for one in report.types:
        for klass in one.classes:
            for deviation in klass.deviations:
                yield PlacedDeviation(named(one.type, klass.id), one.type, klass.id, "", deviation)
        for number, form in enumerate(one.forms or ()):
            for id_, deviation in form.deviations.items():
                own = named(one.type, id_) or named(one.type, id_, str(number))
                yield PlacedDeviation(own, one.type, id_, str(form.form), deviation)


def _filters(sections: Sequence[RuntimeSection]) -> dict[str, list[tuple[str, str]]]:
    """What can be chosen: by the name of a filter, its values with their words, in the order of the page."""
    found = [(section, one) for section in sections for one in section.found]
    kinds = dict.fromkeys(one.deviation.latitude or one.deviation.kind for _, one in found)
    return {
        "runtime": [(section.anchor, section.report.runtime_version) for section in sections],
        "type": [(name, name) for name in dict.fromkeys(one.type for _, one in found)],
        "class": [(name, name) for name in dict.fromkeys(one.klass for _, one in found)],
        "kind": [(name, name) for name in kinds],
        "form": [
            (name, name or "as called by default") for name in dict.fromkeys(one.form for _, one in found)
        ],
    }
