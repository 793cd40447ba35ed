"""Derives the report on an element type from the results of its units.

The results are read in the order of the plan. So a report is the same whether its units were judged side by
side or one by one, in one run or in several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.conform.check_report import DEVIATION_KINDS, ClassReport, Count, TypeReport, added
from sonnx_clip.conform.units import Counts
from sonnx_clip.conform.verdict_table import FAILING, VERDICT_TABLE, VERDICTS, worst_verdict
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.conform.check_report import Deviation, FormReport, Refusal, Stop
    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.conform.units import Raised, Unit, UnitResult
    from sonnx_clip.conform.verdict_table import Verdict
    from sonnx_clip.language.types import ElementType

TAGS = ("C1", "C3")
"""The constraints on the shape and on the type of a result, judged call by call."""

_OPTIONAL = frozenset(layout.id for layout in LAYOUTS if layout.optional)


def in_order(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Deviations, the worst kind first: the first one is the headline of a class."""

    def severity(deviation: Deviation) -> int:
        return DEVIATION_KINDS.index(deviation.kind)

    return tuple(sorted(deviations, key=severity))


def needed(units: Sequence[Unit], results: Mapping[str, UnitResult]) -> list[Unit]:
    """The units that a report needs, given the results so far: all up to the first that ends its type.

    Contexts are needed after that, too.
    """
    wanted: list[Unit] = []
    first = results.get(units[0].part)
    has_ended = False
    for unit in units:
        # A report on a type that ended early does not depend on which later units had been judged by then.
        if has_ended and unit.context is None:
            continue
        if first is not None and not follows(first, unit):
            continue
        wanted.append(unit)
        result = results.get(unit.part)
        if result is not None and result.ends:
            has_ended = True
    return wanted


def follows(first: UnitResult, unit: Unit) -> bool:
    """Whether a unit is judged after this result of the first unit of its element type."""
    if unit.first:
        return True
    if unit.context is not None:
        # A runtime that serves no Clip alone may serve it beside others; one that cannot run serves none.
        return first.stopped is None or first.stopped[0] == "unsupported"
    return not first.ends and not first.few


# --- The report on an element type --------------------------------------------------------------------------


def merged(
    etype: ElementType,
    units: Sequence[Unit],
    results: Mapping[str, UnitResult],
    operator: Operator,
) -> TypeReport:
    """The report on an element type.

    Args:
        etype: the element type.
        units: its units, in their order.
        results: by part; the report counts the needed ones that are missing or partial.
        operator: the operator.
    """
    wanted = needed(units, results)
    used = [results[unit.part] for unit in wanted if unit.part in results]
    unfinished = _unfinished(wanted, used)
    stopped = _end(used)
    tallies = [result.tally for result in used if result.tally is not None]
    contexts = [result.context for result in used if result.context is not None]
    remarks: list[str] = []
    refusal: Refusal | None = None
    for result in used:
        remarks += result.remarks
        refusal = refusal or result.refusal  # of the first that has one
    if not tallies:
        stopped = stopped or ("unfinished", unfinished or "")
    # A class that no call reached has a count, too.
    keys = (*operator.class_ids(etype.family), *TAGS)
    nothing_counted = Counts(of={key: Count() for key in keys})
    counts = sum(tallies, start=nothing_counted)

    # Before the forms change the verdicts: whether the calls outside of forms were served.
    classes = class_reports(counts, operator, stopped)
    served = any(c.compared for c in classes)
    forms = _forms_of_results(used)
    if forms is not None:
        classes = _with_forms(classes, forms)
    # Last, since the verdict with the forms decides whether missing units could change it.
    if unfinished:
        classes = [_unless_certain(c) for c in classes]

    verdict = worst_verdict(c.verdict for c in classes)
    words = stopped[1] if stopped else crash_words(classes)
    if not words and verdict in ("unsupported", "crashed", "environment"):
        # Each class has the words of a refusal; those on a crash or on the machine may be in a form alone.
        sources = classes if verdict == "unsupported" else forms or ()
        words = _words_on(verdict, sources)

    # The forms of a dialect are its layouts, and have reports of their own.
    refused: dict[str, str] = {}
    if served and not operator.dialect:
        refused = _refused_layouts(counts)
    first = used[0] if used else None
    return TypeReport(
        type=etype.id,
        verdict=verdict,
        compared=compared(counts, operator, etype),
        words=words or unfinished,
        refused_layouts=refused,
        remarks=tuple(dict.fromkeys(remarks)),
        calls=sum(raised.calls for raised in counts.raised.values()),
        unasked=first.unasked if first else (),
        longest=first.longest if first else None,
        few=first is not None and first.few,
        classes=tuple(classes),
        readings=first.readings if first else None,
        forms=forms,
        unfinished=unfinished,
        tried=counts.tried,
        refusal=refusal,
        contexts=tuple(contexts),
    )


def _forms_of_results(used: Sequence[UnitResult]) -> tuple[FormReport, ...] | None:
    """The reports on forms of a model, which the first unit has; None if no model was opened."""
    for result in used:
        if result.forms is not None:
            return result.forms
    return None


def _words_on(verdict: Verdict, sources: Iterable[ClassReport | FormReport]) -> str | None:
    """The words of the first class or form with a verdict."""
    for source in sources:
        if source.verdict == verdict:
            return source.words
    return None


def _refused_layouts(counts: Counts) -> dict[str, str]:
    """The layouts that are refused as a whole, each with the words of the runtime."""
    refused = {}
    for layout, raised in counts.raised.items():
        if raised.all:
            refused[layout] = raised.words
    return refused


def _unfinished(wanted: Sequence[Unit], used: Sequence[UnitResult]) -> str | None:
    """How many of the units that a report needs were not fully judged, in words; None if all were."""
    judged = sum(not result.partial for result in used)
    missing = len(wanted) - judged
    if missing == 0:
        return None
    if not used:
        return "nothing judged before the interrupt"
    units = counted(len(wanted), "unit")
    return f"{missing} of {units} not fully judged before the interrupt"


def _unless_certain(report: ClassReport) -> ClassReport:
    """The report on a class as unfinished, unless units that are missing could not change the verdict."""
    if not VERDICT_TABLE[report.verdict].may_change:
        return report
    return report.model_copy(update={"verdict": "unfinished"})


def _end(used: Sequence[UnitResult]) -> Stop | None:
    """Why judging one node ended early, if it did."""
    results = [result for result in used if result.context is None]
    if not results:
        return None
    last = results[-1]
    if last.stopped is None:
        return None
    verdict, words = last.stopped
    was_opened_before = len(results) > 1
    # What an earlier process served is a defect when it no longer is, whatever words it has now.
    if verdict != "environment" and was_opened_before and last.tally is None:
        return "crashed", f"opened before, and then not again: {words}"
    return last.stopped


def compared(counts: Counts, operator: Operator, etype: ElementType) -> int:
    """How many results were compared."""
    by_class = counts.of
    ids = operator.class_ids(etype.family)
    return sum(by_class[id_].compared for id_ in ids if id_ in by_class)


def crash_words(classes: Iterable[ClassReport]) -> str | None:
    """The words of the first call in which the runtime died."""
    for report in classes:
        for deviation in report.deviations:
            if deviation.kind == "crashed":
                return deviation.words
    return None


# --- From counts to verdicts --------------------------------------------------------------------------------


def class_reports(counts: Counts, operator: Operator, stopped: Stop | None) -> list[ClassReport]:
    """The verdict of each class, and of C1 and C3, from the counts and from an early end."""
    refused: dict[str, Raised] = {}
    by_key: dict[str, Count] = {}
    for key, count in counts.of.items():
        by_key[key] = Count() + count  # a copy, which is changed
    # A call that raised is a failure where its layout is served, and a refusal where it never is.
    # Which of both is known only now, when the counts of all units have been added.
    for layout, raised in counts.raised.items():
        if raised.all:
            refused[layout] = raised
        else:
            by_key = added(by_key, raised.of)
    if counts.only:  # what is served is the exception: the other calls are refused, and not wrong
        _count_as_refused(by_key, counts)
    _count_refusals(by_key, refused)

    served = any(count.compared for count in by_key.values())
    case_of = operator.oracle.CASE_OF_CLASS
    end = stopped[0] if stopped else None
    classes = []
    for id_, count in by_key.items():
        verdict = _verdict(count, stopped=end, served=served)
        fields = dict(count)
        fields["deviations"] = in_order(count.deviations)
        # What raises in an unsupported type is no deviation: nothing of the type is promised.
        if verdict == "unsupported":
            fields["deviations"] = ()
        case = case_of.get(id_)  # C1 and C3 have none
        report = ClassReport(id=id_, case=case, verdict=verdict, **fields)
        classes.append(report)
    if end and not any(report.verdict in FAILING for report in classes):
        # It ended early, and no class is to blame: the results of the other calls are unknown.
        classes = [report.model_copy(update={"verdict": end}) for report in classes]
    return classes


def _verdict(count: Count, *, stopped: Verdict | None, served: bool) -> Verdict:
    """The verdict of one class, or of C1 or C3.

    Args:
        count: of it.
        stopped: why the run ended early, if it did: ``environment`` is then the verdict of all classes,
            ``crashed`` that of classes with nothing compared.
        served: whether anything was compared in the element type: if not, a refusal is ``unsupported``.
    """
    # The order decides: what the machine lacks says nothing of the runtime, and a crash hides other calls.
    if stopped == "environment":
        return stopped
    if count.died:
        return "crashed"
    if count.violating or count.raised:
        return "violates"
    if count.compared == 0 and stopped is not None:
        return stopped
    if count.refused:
        return "refused" if served else "unsupported"
    if count.compared == 0:
        return "unreached"
    if count.latitude:
        return "acceptable"
    return "conforms"


def _count_as_refused(by_key: Mapping[str, Count], counts: Counts) -> None:
    """Count calls that raised as refused, of a runtime that serves very few bounds."""
    for raised in counts.raised.values():
        if raised.all:
            continue
        for key, count in raised.of.items():
            total = by_key[key]
            total.raised -= count.raised
            if not total.compared:
                total.refused += count.raised
            total.words = total.words or raised.words
            # A refused call is no deviation, and the report has it as a refusal already.
            kept = [deviation for deviation in total.deviations if deviation.kind != "raises"]
            total.deviations = tuple(kept)


def _count_refusals(counts: Mapping[str, Count], refused: Mapping[str, Raised]) -> None:
    """Count what forms refuse as a whole: for C1 and C3, and for classes that no other form reached."""
    classes = {key: count for key, count in counts.items() if key not in TAGS}
    for form, raised in refused.items():
        for tag in TAGS:
            count = counts[tag]
            # A runtime may reject an optional layout without a worse verdict.
            if form not in _OPTIONAL or count.compared == 0:
                _refuse(count, raised.raised, raised.words)
        for id_, refused_calls in raised.of.items():
            # Of a class that another form reached, the results decide.
            if id_ in classes and classes[id_].compared == 0:
                _refuse(classes[id_], refused_calls.raised, raised.words)
    if not refused:
        return
    if any(_has_answers(count) for count in classes.values()):
        return
    # Since all was refused, calls were given up early, and some classes had none. A refusal of one
    # call counts for these, so that they are no less refused than the others.
    first = next(iter(refused.values()))
    for count in classes.values():
        number = 0 if count.refused else 1
        _refuse(count, number, first.words)


def _has_answers(count: Count) -> bool:
    """Whether calls reached a class, and were not refused."""
    return bool(count.compared or count.raised or count.died)


def _refuse(count: Count, number: int, words: str | None) -> None:
    count.refused += number
    count.words = count.words or words


# --- Verdicts in the forms of a model -----------------------------------------------------------------------


class FormVerdict(NamedTuple):
    """The verdict of a class in a form of a model."""

    report: FormReport
    verdict: Verdict


def by_form(ids: Iterable[str], forms: Iterable[FormReport]) -> dict[str, list[FormVerdict]]:
    """By class, the forms of a model that the runtime serves, with the verdict in each.

    X of rank 0 has one entry, so mistakes in loops over several entries do not show there: a form of rank 0
    whose verdict is better than that of every form of another rank is left out. So is a form without a bound
    that cannot reach the class.
    """
    served = [form for form in forms if form.verdict != "refused"]
    by_class: dict[str, list[FormVerdict]] = {}
    for id_ in ids:
        verdicts = [FormVerdict(form, form.verdict_of(id_)) for form in served]
        best = _best_of_several_entries(verdicts)
        counted_verdicts = [verdict for verdict in verdicts if _is_counted(verdict, best)]
        by_class[id_] = counted_verdicts
    return by_class


def _best_of_several_entries(verdicts: Iterable[FormVerdict]) -> int:
    """The index of the best verdict in a form whose X may have several entries."""
    # `VERDICTS` has the worst first, so the best one has the highest index.
    best = -1
    for report, verdict in verdicts:
        if report.form.rank:
            best = max(best, VERDICTS.index(verdict))
    # Without such a form, those of rank 0 count: no index is above this one.
    if best < 0:
        return len(VERDICTS)
    return best


def _is_counted(entry: FormVerdict, best: int) -> bool:
    """Whether the verdict in a form counts for a class."""
    form = entry.report.form
    if form.rank == 0 and VERDICTS.index(entry.verdict) > best:
        return False
    return form.given == "both" or entry.verdict != "unreached"


def forms_of(report: TypeReport) -> dict[str, list[FormVerdict]]:
    """`by_form` of all classes and forms of an element type."""
    ids = [c.id for c in report.classes]
    return by_form(ids, report.forms or ())


def failing_forms(report: TypeReport, id_: str) -> list[FormReport]:
    """The forms of a model in which a class fails."""
    return [form for form in report.served_forms if form.verdict_of(id_) in FAILING]


def forms_alike(report: TypeReport, klass: ClassReport) -> list[FormReport]:
    """The forms of a model in which a class has the verdict that it has in all."""
    return [form for form in report.served_forms if form.verdict_of(klass.id) == klass.verdict]


def shared_deviation(report: TypeReport, klass: ClassReport) -> Deviation | None:
    """The deviation that all forms of a model share and that no other call shows, if there is one.

    `describe` keeps it in one of the forms.
    """
    if klass.verdict == "depends":
        return None
    for form in forms_alike(report, klass):
        deviation = form.deviations.get(klass.id)
        if deviation is not None and deviation not in klass.deviations:
            return deviation
    return None


def _with_forms(classes: Iterable[ClassReport], forms: Sequence[FormReport]) -> list[ClassReport]:
    """The classes; their verdicts include those in the forms of a model."""
    by_id = {report.id: report for report in classes}
    reports = []
    for id_, form_verdicts in by_form(by_id, forms).items():
        report = by_id[id_]
        verdicts = [verdict for _, verdict in form_verdicts]
        combined = _combined(report, verdicts)
        update: dict[str, object] = {"verdict": combined}
        if report.verdict == "unsupported" and verdicts and report.refused < 1:
            # A refusal before any call counts as one where other forms are served.
            update["refused"] = 1
        reports.append(report.model_copy(update=update))
    return reports


def _combined(own: ClassReport, in_forms: Sequence[Verdict]) -> Verdict:
    """The verdict of a class, from that of the other calls and those in each form that is served.

    A refusal of the other calls counts only if nothing was compared in the class: a runtime may take bounds
    as constants only, and the other calls are models with bounds as inputs.
    """
    if not in_forms or own.verdict == "environment":
        return own.verdict
    if "environment" in in_forms:
        return "environment"
    different = set(in_forms)
    # Forms that differ in harmless ways, as conforms and acceptable, are no reason to name a form.
    if len(different) > 1 and FAILING & different:
        return "depends"
    is_refusal = own.verdict in ("refused", "unsupported")
    if is_refusal and not own.compared:
        return worst_verdict(in_forms)
    return worst_verdict([own.verdict, *in_forms])
