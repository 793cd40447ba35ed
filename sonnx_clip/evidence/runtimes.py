"""The checker's reports on each runtime, as shown on the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.report_lines import notes
from sonnx_clip.conform.report_text import report_closing_lines
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
        counts: Counter[Shown] = Counter()
        for by_class in self.verdicts.values():
            counts.update(by_class.values())
        return dict(counts.most_common())

    @property
    def forms(self) -> dict[str, dict[str, Shown]]:
        """The verdicts by form of a model and element type."""
        forms: dict[str, dict[str, Shown]] = {}
        for of_type in self.report.types if self.report else ():
            for form in of_type.forms or ():  # None: it opens no models
                forms.setdefault(str(form.form), {})[of_type.type] = form.verdict
        return forms

    @property
    def notes(self) -> Iterator[str]:
        """Notes on whole element types, each line once; then what was and was not compared."""
        if self.report is None:
            return
        yield from (
            *(note.sentence for note in notes(self.report)),
            *report_closing_lines(self.report),
            *self.report.scope,
        )

    @property
    def deviations(self) -> list[dict[str, Any]]:
        """The first deviation of a kind in each class, element type and form of a model."""
        if self.report is None:
            return []
        # The page shows the entry that deviates, not the call around it; `form` is below as text.
        not_shown = {"length", "entries", "entry", "following", "form"}
        rows = []
        for type_id, klass, form, deviation in self.report.deviations:
            fields = deviation.model_dump(exclude=not_shown)
            rows.append({"type": type_id, "klass": klass, "form": form, **fields})
        return rows


def not_judged(view: RuntimeView) -> Iterator[str]:
    """What is missing for a judgement of one of `OURS` in every class under the default policy."""
    if view.report is None:
        yield f"{view.name} was not run"
        return
    compared = {report.type for report in view.report.types if report.compared}
    for type_id, by_class in view.verdicts.items():
        if type_id in compared:
            unjudged = ("not run", "unsupported")
            missing = [klass for klass, verdict in by_class.items() if verdict in unjudged]
        else:
            # Whatever the verdicts are: not one answer was compared.
            missing = list(by_class)
        if missing:
            place = [type_id]
            if len(missing) < len(by_class):
                place += missing
            yield f"{view.name} was not judged in {', '.join(place)}"
    if view.report.policy != "default":
        yield f"{view.name} was judged under the {view.report.policy} policy only"


def runtimes_of(spec: Spec, reports: Mapping[str, Report | None]) -> tuple[RuntimeView, ...]:
    """One view for each known runtime and each report; ``not run`` without a report."""
    # Those that are known come first, in their order; then others that someone judged.
    names = dict.fromkeys([*RUNTIMES, *reports])
    return tuple(_runtime(spec, name, reports.get(name)) for name in names)


def dialects_of(spec: Spec, reports: Mapping[str, Report | None]) -> tuple[RuntimeView, ...]:
    """One view for each runtime and version of ONNX's Clip; `OF_MODELS` without a report are ``not run``."""
    judged = {name.partition(" against ")[0] for name in reports}
    names = list(reports)
    # One line stands for all versions against which a runtime was not judged.
    names += [f"{name} against onnx" for name in OF_MODELS if name not in judged]
    return tuple(_runtime(spec, name, reports.get(name)) for name in names)


def _runtime(spec: Spec, name: str, report: Report | None) -> RuntimeView:
    """The view of a runtime, in which every class is ``not run`` that the report does not have."""
    verdicts: dict[str, dict[str, Shown]] = {}
    for etype in spec.element_types:
        if etype.width is None:  # runtimes compute in machine types
            continue
        rows = [klass.id for klass in spec.classes_of(etype.family)]
        rows += RESULT_CONSTRAINTS
        verdicts[etype.id] = dict.fromkeys(rows, "not run")

    for of_type in report.types if report else ():
        by_class = verdicts[of_type.type]
        for klass in of_type.classes:
            if klass.id in by_class:
                by_class[klass.id] = klass.verdict
    return RuntimeView(name, report, verdicts)
