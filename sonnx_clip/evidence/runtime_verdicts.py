"""The verdicts on each runtime that the project knows, and on every other that was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import FAILING, Verdict
from sonnx_clip.conform.form_words import told_of_forms
from sonnx_clip.conform.matching import behaviour
from sonnx_clip.conform.verdicts import worst
from sonnx_clip.evidence.evidence_model import DeviationEvidence, RuntimeEvidence, Shown
from sonnx_clip.runtimes.runtime import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.spec import Spec

FORMS = ("C1", "C3")
"""The constraints on a result that the checker judges call by call."""


def not_judged(spec: Spec, name: str, ours: Report | None) -> tuple[str, ...]:
    """What is missing for a judgement of one of `OURS` in every machine type under the default policy."""
    if ours is None:
        return (f"{name} was not run",)
    found = []
    judged = {t.type for t in ours.types if t.compared and t.verdict != "unsupported"}
    missing = [t.id for t in spec.element_types if t.width is not None and t.id not in judged]
    if missing:
        found.append(f"{name} was not judged in {', '.join(missing)}")
    if ours.policy != "default":
        found.append(f"{name} was judged under the {ours.policy} policy only")
    return tuple(found)


def runtimes_of(spec: Spec, reports: Mapping[str, Report]) -> tuple[RuntimeEvidence, ...]:
    """One entry for each known runtime and each report; what was not checked is ``not run``."""
    return tuple(_runtime(spec, name, reports.get(name)) for name in dict.fromkeys([*RUNTIMES, *reports]))


def _runtime(spec: Spec, name: str, report: Report | None) -> RuntimeEvidence:
    verdicts: dict[str, dict[str, Shown]] = {
        etype.id: dict.fromkeys([c.id for c in spec.classes_of(etype.family)] + list(FORMS), "not run")
        for etype in spec.element_types
        if etype.width is not None
    }
    if report is None:
        return RuntimeEvidence(name=name, run=False, verdicts=verdicts)
    for found in report.types:
        verdicts[found.type] |= {c.id: c.verdict for c in found.classes}
    return RuntimeEvidence(
        name=name,
        run=True,
        version=report.runtime_version,
        policy=report.policy,
        environment=f"Python {report.python}, NumPy {report.numpy}, {report.machine}; {report.tool}",
        compared=report.compared,
        verdicts=verdicts,
        words={found.type: found.words for found in report.types if found.words},
        behaviour=(*behaviour(report), *told_of_forms(report)),
        deviations=tuple(_deviations(report)),
    )


def _deviations(report: Report) -> Iterable[DeviationEvidence]:
    for found in report.types:
        for klass in found.classes:
            for deviation in klass.deviations:
                yield DeviationEvidence(
                    type=found.type,
                    klass=klass.id,
                    kind=deviation.kind,
                    shown=deviation.shown,
                    words=deviation.words,
                    latitude=deviation.latitude,
                    explanation=deviation.explanation,
                    reproduce=deviation.reproduce,
                )
        for form in found.forms or ():
            for id_, deviation in form.deviations.items():
                yield DeviationEvidence(
                    type=found.type,
                    klass=id_,
                    kind=deviation.kind,
                    shown=f"{deviation.shown} (model with {form.form})",
                    words=deviation.words,
                    latitude=deviation.latitude,
                    explanation=deviation.explanation,
                    reproduce=deviation.reproduce,
                )


def worst_shown(verdicts: Iterable[Shown]) -> Shown:
    """The worst of verdicts; a missing one makes the whole ``not run``, unless another is a failure."""
    every = list(verdicts)
    decided: list[Verdict] = [v for v in every if v != "not run" and v != "undecided"]  # noqa: PLR1714
    found = worst(decided) if decided else None
    if found in FAILING:
        return found
    # Of a property, undecided is worse than what conforms; and what was not run says nothing of the whole.
    return next((v for v in ("not run", "undecided") if v in every), found or "not run")


def verdicts_for(
    runtimes: Sequence[RuntimeEvidence], types: Iterable[str], classes: Sequence[str]
) -> dict[str, dict[str, Shown]]:
    """By runtime and element type, the worst verdict of some classes; types that have none are left out."""
    chosen = list(types)
    found: dict[str, dict[str, Shown]] = {}
    for runtime in runtimes:
        found[runtime.name] = {
            type_id: worst_shown(of_type[c] for c in classes if c in of_type)
            for type_id in chosen
            if (of_type := runtime.verdicts.get(type_id)) and any(c in of_type for c in classes)
        }
    return found
