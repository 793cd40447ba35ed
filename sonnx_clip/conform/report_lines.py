"""What a report says, line by line: the verdicts as cases of a test, notes, and deviations.

Every rendering starts from these lines: text (report_text), JUnit (junit), pytest (pytest_items), the records
of runtimes (qualification/runtime_records) and the page of the evidence (evidence/runtimes).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.verdict_table import FAILING, VERDICT_TABLE, Outcome, worst_verdict
from sonnx_clip.conform.verdicts import (
    TAGS,
    failing_forms,
    forms_alike,
    forms_of,
    in_order,
    shared_deviation,
)
from sonnx_clip.contexts.context_report import FAILING_IN_CONTEXT
from sonnx_clip.language.values import decode
from sonnx_clip.runtimes.model_forms import described
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        FormReport,
        Refusal,
        Report,
        TypeReport,
    )
    from sonnx_clip.conform.verdict_table import Verdict
    from sonnx_clip.conform.verdicts import FormVerdict
    from sonnx_clip.contexts.context_report import ContextReport
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.spec import Spec

    Places: TypeAlias = Mapping[str, tuple[str, ...]]

FORMS = "forms of a model"
"""The unit of a share where only forms of a model deviate."""
_LONGEST = 400  # characters of a refusal that are shown


class Share(NamedTuple):
    """How many results deviate of those that were compared; or calls, or forms of a model."""

    deviating: int
    compared: int
    unit: str

    def plus(self, other: Share) -> Share:
        """The share in the results of both, which are of one unit."""
        return Share(self.deviating + other.deviating, self.compared + other.compared, self.unit)

    def __str__(self) -> str:
        """In words: ``3 of 1,024 results``."""
        return f"{self.deviating:,} of {self.compared:,} {self.unit}"


@dataclass(frozen=True)
class ReportLine:
    """One thing that a report says.

    Args:
        head: a verdict; of a deviation its kind; or another word for what happened.
        outcome: as test runners have it.
        places: the element types it is about, each with the classes (or ``C1``, ``C3``) if it is about these
            alone. A report that compared nothing has no element type, which is then empty.
        text: the reason, or the cause of a deviation; empty if there is none.
        form: the form of a model, in words; empty if it is about no single form.
        deviations: what shows it, each with a line of Python that repeats it.
        share: of a deviation, how many results deviate like it.
    """

    head: str
    outcome: Outcome
    places: Places
    text: str = ""
    form: str = ""
    deviations: tuple[Deviation, ...] = ()
    share: Share | None = None

    @property
    def etype(self) -> str:
        """The id of the first element type that it is about; cases and deviations have no other."""
        return next(iter(self.places))

    @property
    def id(self) -> str:
        """The first class that it is about; cases and deviations have no other."""
        return self.places[self.etype][0]

    @property
    def failing(self) -> bool:
        """Whether it is a failure."""
        return self.outcome == "failed"

    @property
    def sentence(self) -> str:
        """The line without its deviations: ``refused float32 low_nan; int8: where min > max``."""
        places = []
        for etype, ids in self.places.items():
            places.append(f"{etype} {', '.join(ids)}" if ids else etype)
        # Types with their classes are longer, and have commas of their own.
        separator = "; " if any(self.places.values()) else ", "
        return f"{self.head} {separator.join(places)}: {self.text}"

    @property
    def details(self) -> str:
        """The reason, and each deviation with the line of Python that repeats it."""
        parts = [self.text]
        for deviation in self.deviations:
            parts.append(f"{deviation.key}, layout {deviation.layout}: {deviation.shown}")
            parts.append(deviation.reason)
            if deviation.reproduce:
                parts.append("repeat it:")
                parts.append(command_line(deviation.reproduce))
        return "\n".join(filter(None, parts))

    @property
    def headline(self) -> str:
        """One line: the worst wrong value before the runtime's words on other calls."""
        shown = list(self.deviations)
        if self.failing:
            shown = [deviation for deviation in shown if deviation.kind != "acceptable"]
        # Words on other calls of the class explain less than a value that anyone can check.
        text = self.text
        if shown and (shown[0].got is not None or not text):
            text = shown[0].shown
        return " ".join(text.split())


# --- The cases of a test: a verdict each --------------------------------------------------------------------


def cases(report: Report) -> Iterator[ReportLine]:
    """Every verdict of a report; one fails or is an error if and only if the report has failed."""
    # It has failed, though all classes may be skipped. What the machine lacks is an error in each class.
    if report.compared == 0 and not report.environment:
        yield _nothing_compared("", "element type")
    for of_type in report.types:
        is_unsupported = of_type.verdict == "unsupported"
        required = is_unsupported and of_type.type in report.required
        for klass in of_type.classes:
            yield _case_of_class(of_type, klass, required=required)
        if of_type.has_blind_forms:
            yield _nothing_compared(of_type.type, "form of a model")
        for form in of_type.forms or ():
            for klass in of_type.classes:
                yield _case_of_form(of_type.type, klass.id, form)
        for context in of_type.contexts:
            yield _case_of_context(of_type.type, context)


def _nothing_compared(etype: str, where: str) -> ReportLine:
    return ReportLine(
        head="nothing compared",
        outcome="error",
        places={etype: ("compared",)},
        text=f"nothing was compared in any {where}",
    )


def _outcome(verdict: Verdict, *, required: bool = False) -> Outcome:
    # What could not be judged stays an error: it says nothing on whether the type is supported.
    outcome = VERDICT_TABLE[verdict].outcome
    return "failed" if required and outcome != "error" else outcome


def _case_of_class(report: TypeReport, klass: ClassReport, *, required: bool) -> ReportLine:
    words = _reasons(report, klass)
    if required and klass.verdict not in ("unfinished", "unreached"):
        words.insert(0, "the type is required")
    deviations = klass.deviations
    if klass.verdict == "depends":
        # One of the forms is enough: each form has a case of its own.
        shown = _deviations_in_forms(report, klass.id)
        deviations = in_order([*deviations, *shown[:1]])
    shared = shared_deviation(report, klass)
    if shared is not None:
        deviations = in_order([*deviations, shared])
        alike = len(forms_alike(report, klass))
        in_forms = f"{klass.verdict} in {alike} of {len(report.served_forms)} forms of a model"
        # The words on these forms come before those on calls that were refused.
        words = [in_forms, shared.words, *words]
    distinct = dict.fromkeys(words)
    return ReportLine(
        head=klass.verdict,
        outcome=_outcome(klass.verdict, required=required),
        places={report.type: (klass.id,)},
        text="; ".join(filter(None, distinct)),
        deviations=deviations,
    )


def _deviations_in_forms(report: TypeReport, id_: str) -> list[Deviation]:
    """The deviations of a class in the forms of a model in which it fails."""
    failing = failing_forms(report, id_)
    return [form.deviations[id_] for form in failing if id_ in form.deviations]


def _reasons(report: TypeReport, klass: ClassReport) -> list[str | None]:
    """The words on the verdict of a class."""
    verdict = klass.verdict
    if verdict == "unfinished":
        return [report.unfinished]
    if verdict == "unreached":
        return ["no vector reached it"]
    words = [klass.words]
    is_refused = verdict in ("refused", "unsupported")
    if report.serves_forms_only and not is_refused:
        words = [f"all other calls were refused: {klass.words or report.words}"]
    refusal = report.refusal
    if klass.raised and refusal is not None and refusal.condition is not None:
        words.append(f"calls are refused where {refusal.condition}")
    # The type has the words where the run ended before the class was called.
    ended_early = verdict in ("crashed", "environment")
    if (is_refused or ended_early) and not klass.words:
        words.append(report.words)
    if verdict == "refused":
        for layout, text in report.refused_layouts.items():
            words.append(f"layout {layout}: {text}")
    if verdict == "depends":
        failing = failing_forms(report, klass.id)
        named = "; ".join(str(form.form) for form in failing)
        number = f"{len(failing)} of {len(report.served_forms)}"
        words.append(f"it fails in {number} forms of a model: {named}")
    return words


def _case_of_context(etype: str, context: ContextReport) -> ReportLine:
    outcome: Outcome = "passed"
    if context.verdict in FAILING_IN_CONTEXT:
        outcome = "failed"
    elif context.verdict == "refused":
        outcome = "skipped"
    # Graphs that are refused whatever the options are count in the verdict, and differ in nothing.
    refusals = [refusal for refusal in context.refusals if refusal.when != "always"]
    words = [f"{refusal.when}: {refusal.words}" for refusal in refusals]
    for wrong in context.deviations:
        words.append(f"{wrong.asked}, X = {wrong.x}: got {wrong.got}, expected {wrong.expected}")
        words += filter(None, (wrong.rewrite, wrong.legal_when))
        if wrong.reproduce:
            words += ["repeat it:", command_line(wrong.reproduce)]
    return ReportLine(
        head=context.verdict,
        outcome=outcome,
        places={etype: (f"context-{context.id}",)},
        text="\n".join(words),
    )


def _case_of_form(type_id: str, id_: str, report: FormReport) -> ReportLine:
    verdict = report.verdict_of(id_)
    words = ""
    if verdict not in ("conforms", "acceptable"):
        words = report.words or ""
    deviations: tuple[Deviation, ...] = ()
    if id_ in report.deviations:
        deviations = (report.deviations[id_],)
    return ReportLine(
        head=verdict,
        outcome=_outcome(verdict),
        places={type_id: (id_,)},
        text=words,
        form=str(report.form),
        deviations=deviations,
    )


# --- Notes on whole element types, layouts and forms --------------------------------------------------------


def notes(report: Report) -> Iterator[ReportLine]:
    """Notes on whole element types, layouts and forms, each once with the types that share it."""
    lines: list[ReportLine] = []
    for of_type in report.types:
        is_required = of_type.type in report.required
        lines += _notes_on_type(of_type, required=is_required)
        if of_type.refusal is not None:
            lines.append(_note_on_refusal(of_type, of_type.refusal))
    yield from _merged(lines)
    yield from dependences(report)


def _merged(lines: Iterable[ReportLine]) -> list[ReportLine]:
    """The lines, those that say the same joined; the first of these has the deviations that show it."""
    merged: dict[tuple[str, str, Outcome], ReportLine] = {}
    for line in lines:
        key = (line.head, line.text, line.outcome)
        first = merged.get(key)
        if first is None:
            merged[key] = line
        else:
            merged[key] = replace(first, places=_united(first.places, line.places))
    return list(merged.values())


def _united(first: Places, second: Places) -> Places:
    """The places of both, each element type and each class once."""
    united = dict(first)
    for etype, ids in second.items():
        distinct = dict.fromkeys((*united.get(etype, ()), *ids))
        united[etype] = tuple(distinct)
    return united


def _notes_on_type(report: TypeReport, *, required: bool) -> Iterator[ReportLine]:
    """The notes on an element type, apart from that on its refusal."""

    def note(head: str, text: str, outcome: Outcome) -> ReportLine:
        return ReportLine(head=head, outcome=outcome, places={report.type: ()}, text=text)

    if report.verdict in ("unsupported", "crashed", "environment"):
        failing = report.verdict != "unsupported"
        yield note(report.verdict, report.words or "", "failed" if failing else "skipped")
    if required and report.verdict == "unsupported":
        yield note("required", "it is not supported", "failed")
    unreached = [c.id for c in report.classes if c.verdict == "unreached"]
    if unreached:
        yield note("unreached", f"no vector reached {', '.join(unreached)}", "failed")
    if report.unfinished is not None:
        yield note("unfinished", report.unfinished, "failed")
    for layout, words in report.refused_layouts.items():
        yield note("refused", f"layout {layout}: {words}", "skipped")
    for remark in report.remarks:
        yield note("noticed", remark, "passed")
    if report.served_forms:
        for text in _refused_forms(report):
            yield note("refused", text, "skipped")


def _refused_forms(report: TypeReport) -> Iterator[str]:
    """The forms of a model that are refused while others are served, in words."""
    forms = report.forms or ()
    tried = [form.form for form in forms]
    # Refusals that differ in numbers alone, such as shapes, are one.
    refused: dict[str, list[FormReport]] = {}
    for form in forms:
        if form.verdict == "refused":
            key = re.sub("[0-9]+", "", form.words or "")
            refused.setdefault(key, []).append(form)
    for alike in refused.values():
        named = described([form.form for form in alike], tried)
        yield f"models with {named}: {_shortened(alike[0].words or '')}"
    # Where all forms are served, the calls that were refused are models with bounds as inputs.
    if report.serves_forms_only and not refused:
        words_of_classes = (c.words for c in report.classes if c.words)
        words = next(words_of_classes, report.words or "")
        yield f"models with bounds as inputs: {words}"


def _shortened(words: str) -> str:
    """The words of a runtime in one line of limited length."""
    return printable(" ".join(words.split()), _LONGEST)


def _note_on_refusal(report: TypeReport, refusal: Refusal) -> ReportLine:
    """The note on calls that were refused."""
    where = "some calls, no condition is known"
    if refusal.condition is not None:
        where = f"where {refusal.condition}"
    failing = any(c.raised for c in report.classes)
    return ReportLine(
        head="refused" if refusal.is_refusal else "raises",
        outcome="failed" if failing else "skipped",
        places={report.type: ()},
        text=f"{where}: {_shortened(refusal.words)}",
        deviations=(refusal.example,),
    )


def dependences(report: Report) -> list[ReportLine]:
    """Classes whose verdict depends on the form of a model; failing classes first."""
    lines = []
    for of_type in report.types:
        for id_, entries in forms_of(of_type).items():
            if has_several_verdicts(entries):
                lines.append(_dependence(of_type.type, id_, entries))
    return sorted(_merged(lines), key=lambda line: not line.failing)


def has_several_verdicts(entries: Iterable[FormVerdict]) -> bool:
    """Whether the forms of a model differ in their verdict on a class."""
    verdicts = {entry.verdict for entry in entries}
    return len(verdicts) > 1


def _dependence(etype: str, id_: str, entries: Sequence[FormVerdict]) -> ReportLine:
    """The note on a class, from the forms with the verdict in each: ``violates with …, else conforms``."""
    verdicts = [entry.verdict for entry in entries]
    worst = worst_verdict(verdicts)
    first = next(entry.report for entry in entries if entry.verdict == worst)
    ((usual, _),) = Counter(verdicts).most_common(1)
    # The usual verdict has the most forms, which would be the longest to describe: it comes last, as "else".
    judged = [entry.report.form for entry in entries]
    unusual: dict[Verdict, list[ModelForm]] = {}
    for report, verdict in entries:
        if verdict != usual:
            unusual.setdefault(verdict, []).append(report.form)
    parts = []
    for verdict, forms in unusual.items():
        parts.append(f"{verdict} with {described(forms, judged)}")
    shown_by = first.deviations.get(id_)
    return ReportLine(
        head="depends on the form",
        outcome="passed" if FAILING.isdisjoint(verdicts) else "failed",
        places={etype: (id_,)},
        text=f"{', '.join(parts)}, else {usual}",
        form=str(first.form),
        deviations=() if shown_by is None else (shown_by,),
    )


# --- Deviations, each with its cause ------------------------------------------------------------------------


def deviating(report: Report, spec: Spec) -> Iterator[ReportLine]:
    """All deviations of a report with their causes, apart from those that have a note."""
    for of_type in report.types:
        # What was refused has a note with the condition.
        has_note = of_type.refusal is not None
        for klass in of_type.classes:
            for deviation in klass.deviations:
                if not (has_note and deviation.kind == "raises"):
                    share = _share_of_results(klass, deviation)
                    yield _deviating(of_type, klass, deviation, spec, share)
            shared = shared_deviation(of_type, klass)
            if shared is not None:
                alike = len(forms_alike(of_type, klass))
                share = Share(alike, len(of_type.served_forms), FORMS)
                yield _deviating(of_type, klass, shared, spec, share)


def _deviating(
    of_type: TypeReport, klass: ClassReport, deviation: Deviation, spec: Spec, share: Share
) -> ReportLine:
    is_accepted = deviation.kind == "acceptable"
    return ReportLine(
        head=deviation.kind,
        outcome="passed" if is_accepted else "failed",
        places={of_type.type: (klass.id,)},
        text=_cause(of_type, klass, deviation, spec),
        form="" if deviation.form is None else str(deviation.form),
        deviations=(deviation,),
        share=share,
    )


def _share_of_results(klass: ClassReport, deviation: Deviation) -> Share:
    """How many results of a class, or calls for C1 and C3, deviate in the way of a deviation."""
    numbers = {
        "violates": klass.violating,
        "raises": klass.raised,
        "crashed": klass.died,
        **klass.latitude,
    }
    compared = klass.compared + klass.raised + klass.died
    unit = "calls" if klass.id in TAGS else "results"
    return Share(numbers[deviation.key], compared, unit)


def _cause(of_type: TypeReport, klass: ClassReport, deviation: Deviation, spec: Spec) -> str:
    """The cause of a deviation: the latitude, the words, or the trait of the operands that is unusual.

    A reading is a cause that people know by the operands for which it differs.
    """
    # From what is known for certain to what the operands suggest.
    if deviation.latitude is not None:
        return deviation.latitude
    if deviation.explanation is not None and not deviation.allowed_by:
        return deviation.explanation
    values = deviation.environment(spec.signature)
    # The words on a crash name its layout: they would make a block of each.
    if values is None and deviation.words and deviation.kind != "crashed":
        return deviation.words
    if klass.case is None or values is None:
        return klass.id

    etype = spec.element_type(of_type.type)
    nans = [name for name in spec.signature.ids if decode(values[name], etype) == "nan"]
    # One cause for all classes in which a bound is NaN, whichever bound it is.
    if not set(nans).issubset(spec.signature.tensors):
        return "a bound is NaN"
    return f"{nans[0]} is NaN" if nans else f"case {klass.case}"
