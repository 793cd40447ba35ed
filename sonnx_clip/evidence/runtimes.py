"""What the checker's reports say of each runtime, in the form of the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.form_words import told_of_forms
from sonnx_clip.conform.matching import behaviour
from sonnx_clip.evidence.entries import RESULT_CONSTRAINTS
from sonnx_clip.evidence.model import (
    DeviationEvidence,
    RuntimeEvidence,
)
from sonnx_clip.runtimes.runtime import RUNTIMES

COMPARED = ("onnxruntime", "onnx-reference")
"""The runtimes that `check --against onnx` compares by itself."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.conform.check_report import Deviation, Report
    from sonnx_clip.evidence.model import Shown
    from sonnx_clip.spec import Spec


def not_judged(spec: Spec, name: str, ours: Report | None) -> Iterator[str]:
    """What is missing for a judgement of one of `OURS` in every class under the default policy."""
    if ours is None:
        yield f"{name} was not run"
        return
    judged = {t.type: t for t in ours.types if t.compared and t.verdict != "unsupported"}
    for etype in spec.element_types:
        if etype.width is None:
            continue
        if etype.id not in judged:
            yield f"{name} was not judged in {etype.id}"
            continue
        there = {klass.id for klass in judged[etype.id].classes}
        if lacking := {*(c.id for c in spec.classes_of(etype.family)), *RESULT_CONSTRAINTS} - there:
            yield f"{name} was not judged in {etype.id}, {', '.join(sorted(lacking))}"
    if ours.policy != "default":
        yield f"{name} was judged under the {ours.policy} policy only"


def runtimes_of(spec: Spec, reports: Mapping[str, Report]) -> tuple[RuntimeEvidence, ...]:
    """One entry for each known runtime and each report; what was not checked is ``not run``."""
    return tuple(_runtime(spec, name, reports.get(name)) for name in dict.fromkeys([*RUNTIMES, *reports]))


def dialects_of(spec: Spec, reports: Mapping[str, Report]) -> tuple[RuntimeEvidence, ...]:
    """One entry for each runtime and version of ONNX's Clip; `COMPARED` without a report are ``not run``."""
    there = {report.runtime for report in reports.values()}
    missing = [f"{name} against onnx" for name in COMPARED if name not in there]
    return tuple(_runtime(spec, name, reports.get(name)) for name in [*reports, *missing])


def _runtime(spec: Spec, name: str, report: Report | None) -> RuntimeEvidence:
    verdicts: dict[str, dict[str, Shown]] = {
        etype.id: dict.fromkeys(
            [*(c.id for c in spec.classes_of(etype.family)), *RESULT_CONSTRAINTS], "not run"
        )
        for etype in spec.element_types
        if etype.width is not None
    }
    if report is None:
        return RuntimeEvidence(name=name, run=False, verdicts=verdicts)
    forms: dict[str, dict[str, Shown]] = {}
    for found in report.types:
        verdicts[found.type] |= {c.id: c.verdict for c in found.classes if c.id in verdicts[found.type]}
        for form in found.forms or ():
            forms.setdefault(str(form.form), {})[found.type] = form.verdict
    return RuntimeEvidence(
        name=name,
        run=True,
        version=report.runtime_version,
        policy=report.policy,
        environment=f"Python {report.python}, NumPy {report.numpy}, {report.machine}; {report.tool}",
        compared=report.compared,
        verdicts=verdicts,
        forms=forms,
        notes=tuple(_notes(report)),
        deviations=tuple(_deviations(report)),
    )


def _notes(report: Report) -> Iterator[str]:
    """What is said of element types as a whole, each line once; then what was and was not compared."""
    said: dict[str, list[str]] = {}
    for one in report.types:
        words = [f"{one.verdict}: {one.words}"] if one.words else []
        refused = [f"refused in the layout {layout}: {text}" for layout, text in one.refused_layouts.items()]
        for line in (*words, *refused, *one.remarks):
            said.setdefault(line, []).append(one.type)
    yield from (f"{', '.join(types)}: {line}" for line, types in said.items())
    yield from (*behaviour(report), *told_of_forms(report), *report.scope)


def _deviations(report: Report) -> Iterator[DeviationEvidence]:
    for found in report.types:
        for klass in found.classes:
            for deviation in klass.deviations:
                yield _deviation(found.type, klass.id, "", deviation)
        for form in found.forms or ():
            for id_, deviation in form.deviations.items():
                yield _deviation(found.type, id_, str(form.form), deviation)


def _deviation(type_id: str, klass: str, form: str, found: Deviation) -> DeviationEvidence:
    return DeviationEvidence(
        type=type_id, klass=klass, form=form, kind=found.kind, latitude=found.latitude, shown=found.shown,
        words=found.words, explanation=found.explanation, layout=found.layout, reproduce=found.reproduce,
    )  # fmt: skip
