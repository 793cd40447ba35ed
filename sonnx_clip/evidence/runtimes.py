"""The checker's reports on each runtime, as shown on the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.report_text import notes, report_closing_lines
from sonnx_clip.evidence.entry_evidence import RESULT_CONSTRAINTS
from sonnx_clip.runtimes.runtime import OF_MODELS, RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.evidence.evidence_model import Shown
    from sonnx_clip.spec import Spec


@dataclass(frozen=True)
class RuntimeView:
    """A runtime with its verdicts by element type and class (or C1, C3); no report: it was not run."""

    name: str
    report: Report | None
    verdicts: dict[str, dict[str, Shown]]

    @property
    def counts(self) -> dict[Shown, int]:
        """How many pairs of an element type and a class have each verdict, the most frequent first."""
        verdicts: Counter[Shown] = Counter()
        for by_class in self.verdicts.values():
            verdicts.update(by_class.values())
        return dict(verdicts.most_common())

    @property
    def forms(self) -> dict[str, dict[str, Shown]]:
        """The verdicts by form of a model and element type."""
        forms: dict[str, dict[str, Shown]] = {}
        for of_type in self.report.types if self.report else ():
            for form in of_type.forms or ():
                forms.setdefault(str(form.form), {})[of_type.type] = form.verdict
        return forms

    @property
    def notes(self) -> Iterator[str]:
        """Notes on whole element types, each line once; then what was and was not compared."""
        if self.report is None:
            return
        yield from (
            *map(str, notes(self.report)),
            *report_closing_lines(self.report),
            *self.report.scope,
        )

    @property
    def deviations(self) -> list[dict[str, Any]]:
        """The first deviation of a kind in each class, element type and form of a model."""
        call = {"length", "entries", "entry", "following", "form"}
        return [
            {"type": etype, "klass": klass, "form": form, **found.model_dump(exclude=call)}
            for etype, klass, form, found in (self.report.deviations if self.report else ())
        ]


def not_judged(view: RuntimeView) -> Iterator[str]:
    """What is missing for a judgement of one of `OURS` in every class under the default policy."""
    if view.report is None:
        yield f"{view.name} was not run"
        return
    compared = {report.type for report in view.report.types if report.compared}
    for type_id, of_type in view.verdicts.items():
        unjudged = {"not run", "unsupported"} if type_id in compared else {*of_type.values()}
        missing = [klass for klass, verdict in of_type.items() if verdict in unjudged]
        if missing:
            where = [type_id] if len(missing) == len(of_type) else [type_id, *missing]
            yield f"{view.name} was not judged in {', '.join(where)}"
    if view.report.policy != "default":
        yield f"{view.name} was judged under the {view.report.policy} policy only"


def runtimes_of(spec: Spec, reports: Mapping[str, Report | None]) -> tuple[RuntimeView, ...]:
    """One view for each known runtime and each report; ``not run`` without a report."""
    names = dict.fromkeys([*RUNTIMES, *reports])
    return tuple(_runtime(spec, name, reports.get(name)) for name in names)


def dialects_of(spec: Spec, reports: Mapping[str, Report | None]) -> tuple[RuntimeView, ...]:
    """One view for each runtime and version of ONNX's Clip; `OF_MODELS` without a report are ``not run``."""
    judged = {name.partition(" against ")[0] for name in reports}
    names = list(reports)
    names += [f"{name} against onnx" for name in OF_MODELS if name not in judged]
    return tuple(_runtime(spec, name, reports.get(name)) for name in names)


def _runtime(spec: Spec, name: str, report: Report | None) -> RuntimeView:
    verdicts: dict[str, dict[str, Shown]] = {}
    for etype in spec.element_types:
        if etype.width is not None:
            ids = [klass.id for klass in spec.classes_of(etype.family)]
            verdicts[etype.id] = dict.fromkeys([*ids, *RESULT_CONSTRAINTS], "not run")
    for of_type in report.types if report else ():
        by_class = verdicts[of_type.type]
        for klass in of_type.classes:
            if klass.id in by_class:
                by_class[klass.id] = klass.verdict
    return RuntimeView(name, report, verdicts)
