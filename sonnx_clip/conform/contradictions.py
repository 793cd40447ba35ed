"""Contradictions in a stored report: verdicts that its own counts rule out.

`verdicts` derives each verdict when a runtime is judged. A report on disk may have been edited since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.verdict_table import FAILING, worst_verdict
from sonnx_clip.conform.verdicts import forms_of
from sonnx_clip.root.terminal import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.check_report import ClassReport, FormReport, Report, TypeReport
    from sonnx_clip.conform.verdict_table import Verdict

_FAILING_KINDS = ("crashed", "violates")
"""Kinds of deviations that no class has which passes; a call that raises may be one that is refused."""


def contradictions(report: Report) -> Iterator[str]:
    """Each verdict that the counts rule out, with its element type and the counts, in words."""
    for type_report in report.types:
        for contradiction in _in_type(type_report):
            yield f"{type_report.type}, {contradiction}"


def _in_type(report: TypeReport) -> Iterator[str]:
    entries_by_class = forms_of(report)
    for klass in report.classes:
        in_forms = [entry.verdict for entry in entries_by_class[klass.id]]
        reason = _passes_wrongly(klass, in_forms) or _fails_wrongly(klass, in_forms)
        if reason:
            yield f"{klass.id}: the verdict is {klass.verdict}, but {reason}"
    for form in report.forms or ():
        expected = _verdict_of_form(form)
        if form.verdict not in ("refused", expected):
            where = f"{form.form}: the verdict is {form.verdict}"
            yield f"{where}, but the worst of its classes is {expected}"
    if report.classes:
        expected = worst_verdict(klass.verdict for klass in report.classes)
        if report.verdict != expected:
            yield f"the verdict is {report.verdict}, but the worst of its classes is {expected}"


def _passes_wrongly(klass: ClassReport, in_forms: Sequence[Verdict]) -> str | None:
    """Why a class cannot have its verdict, if that is better than the counts allow."""
    if klass.verdict in FAILING:
        return None
    counts = {"violating": klass.violating, "raised": klass.raised, "died": klass.died}
    failures = [f"{count} {name}" for name, count in counts.items() if count]
    if failures:
        return f"its counts are {listed(failures)}"
    for deviation_kind in _FAILING_KINDS:
        if any(deviation.kind == deviation_kind for deviation in klass.deviations):
            return f"it has a deviation of kind {deviation_kind}"
    for verdict in in_forms:
        if verdict in FAILING:
            return f"a form of a model is judged as {verdict}"
    if klass.verdict == "conforms" and klass.latitude:
        first = next(iter(klass.latitude))
        return f"only the latitude {first} accepts some results"
    # A runtime that takes bounds as constants only refuses all calls but those in forms of a model.
    if klass.verdict in ("conforms", "acceptable") and not (klass.compared or klass.refused):
        return "nothing was compared"
    return None


def _fails_wrongly(klass: ClassReport, in_forms: Sequence[Verdict]) -> str | None:
    """Why a class cannot have its verdict, if that is worse than the counts allow."""
    if klass.verdict != "violates" or klass.violating or klass.raised or "violates" in in_forms:
        return None
    return "nothing that violates is counted"


def _verdict_of_form(form: FormReport) -> Verdict:
    """The worst verdict in a form; one without a bound need not reach every class."""
    verdicts = list(form.classes.values())
    if form.form.given != "both":
        verdicts = [verdict for verdict in verdicts if verdict != "unreached"]
    # A report on a form lists only the classes that do not conform.
    return worst_verdict(["conforms", *verdicts])
