"""Derives the report on an element type from the results of its units.

The results are read in the order of the plan. So a report is the same whether its units were judged side by
side or one by one, in one run or in several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import (
    DEVIATION_KINDS,
    FAILING,
    VERDICTS,
    ClassReport,
    Count,
    TypeReport,
    added,
)
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.units import Counts
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.conform.check_report import Deviation, FormReport, Stop, Verdict
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.units import Raised, Unit, UnitResult
    from sonnx_clip.language.types import ElementType

TAGS = ("C1", "C3")
"""The constraints on the shape and on the type of a result, judged call by call."""

_OPTIONAL = frozenset(layout.id for layout in LAYOUTS if layout.optional)
_NEED_ALL_UNITS = ("conforms", "acceptable", "refused", "unsupported", "unreached")


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts: that of a type is the worst of its classes."""
    return min(verdicts, key=VERDICTS.index)


def in_order(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Deviations, the worst kind first: the first one is the headline of a class."""
    return tuple(sorted(deviations, key=lambda found: DEVIATION_KINDS.index(found.kind)))


def needed(units: Sequence[Unit], results: Mapping[str, UnitResult]) -> list[Unit]:
    """The units that a report needs, given the results so far: all up to the first that ends its type."""
    found: list[Unit] = []
    first = results.get(units[0].part)
    for unit in units:
        if first is None or follows(first, unit):
            found.append(unit)
            result = results.get(unit.part)
            if result is not None and result.ends:
                break
    return found


def follows(first: UnitResult, unit: Unit) -> bool:
    """Whether a unit is judged after this result of the first unit of its element type."""
    return unit.first or not (first.ends or first.few)


# --- The report on an element type --------------------------------------------------------------------------


def merged(
    etype: ElementType,
    units: Sequence[Unit],
    results: Mapping[str, UnitResult],
    of: CheckedOperator | None = None,
) -> TypeReport:
    """The report on an element type.

    Args:
        etype: the element type.
        units: its units, in their order.
        results: by part; the report counts the needed ones that are missing or partial.
        of: the operator; Clip by default.
    """
    of, wanted = of or clip_operator(), needed(units, results)
    used = [results[unit.part] for unit in wanted if unit.part in results]
    unfinished = None
    if missing := len(wanted) - sum(not found.partial for found in used):
        number = f"{missing} of {counted(len(wanted), 'unit')} not fully judged"
        unfinished = f"{number if used else 'nothing judged'} before the interrupt"
    tallies, stopped = [result.tally for result in used if result.tally is not None], _end(used)
    if not tallies:
        stopped = stopped or ("unfinished", unfinished or "")
    counts = sum(
        tallies, start=Counts(of={key: Count() for key in (*of.class_ids(etype.family), *TAGS)})
    )
    classes = class_reports(counts, of, stopped)
    served = any(c.compared for c in classes)
    forms = next((result.forms for result in used if result.forms is not None), None)
    if forms is not None:
        classes = _with_forms(classes, forms)
    if unfinished:
        classes = [
            c.model_copy(update={"verdict": "unfinished"}) if c.verdict in _NEED_ALL_UNITS else c
            for c in classes
        ]
    verdict = worst(found.verdict for found in classes)
    words = stopped[1] if stopped else crash_words(classes)
    if not words and verdict in ("unsupported", "crashed", "environment"):
        sources = classes if verdict == "unsupported" else forms or ()
        words = next((found.words for found in sources if found.verdict == verdict), None)
    refused = {form: found.words for form, found in counts.raised.items() if found.all}
    refusal = next((result.refusal for result in used if result.refusal is not None), None)
    first = used[0] if used else None
    return TypeReport(
        type=etype.id,
        verdict=verdict,
        compared=compared(counts, of, etype),
        words=words or unfinished,
        refused_layouts=refused if served and not of.dialect else {},
        remarks=tuple(dict.fromkeys(remark for result in used for remark in result.remarks)),
        calls=sum(found.calls for found in counts.raised.values()),
        unasked=first.unasked if first else (),
        longest=first.longest if first else None,
        few=first is not None and first.few,
        classes=tuple(classes),
        readings=first.readings if first else None,
        forms=forms,
        unfinished=unfinished,
        tried=counts.tried,
        refusal=refusal,
    )


def _end(results: Sequence[UnitResult]) -> Stop | None:
    """Why judging ended early, if it did."""
    stopped = results[-1].stopped if results else None
    if stopped and stopped[0] != "environment" and results[1:] and results[-1].tally is None:
        return "crashed", f"opened before, and then not again: {stopped[1]}"
    return stopped


def compared(counts: Counts, of: CheckedOperator, etype: ElementType) -> int:
    """How many results were compared."""
    return sum(counts.of[id_].compared for id_ in of.class_ids(etype.family) if id_ in counts.of)


def crash_words(classes: Iterable[ClassReport]) -> str | None:
    """The words of the first call in which the runtime died."""
    crashes = (found for one in classes for found in one.deviations if found.kind == "crashed")
    return next((found.words for found in crashes), None)


# --- From counts to verdicts --------------------------------------------------------------------------------


def class_reports(counts: Counts, of: CheckedOperator, stopped: Stop | None) -> list[ClassReport]:
    """The verdict of each class, and of C1 and C3, from the counts and from an early end."""
    refused = {form: found for form, found in counts.raised.items() if found.all}
    by_key = {key: Count() + count for key, count in counts.of.items()}
    for form, found in counts.raised.items():
        if form not in refused:
            by_key = added(by_key, found.of)
    if counts.only:  # what is served is the exception: the other calls are refused, and not wrong
        _count_as_refused(by_key, counts)
    _count_refusals(by_key, refused)
    served = any(count.compared for count in by_key.values())
    case_of, why = of.oracle.CASE_OF_CLASS, stopped[0] if stopped else None
    classes = []
    for id_, count in by_key.items():
        verdict = _verdict(count, stopped=why, served=served)
        shown = () if verdict == "unsupported" else in_order(count.deviations)
        fields = {**dict(count), "deviations": shown}
        classes.append(ClassReport(id=id_, case=case_of.get(id_), verdict=verdict, **fields))
    if why and not any(found.verdict in FAILING for found in classes):
        # It ended early, and no class is to blame: the results of the other calls are unknown.
        classes = [found.model_copy(update={"verdict": why}) for found in classes]
    return classes


def _verdict(count: Count, *, stopped: Verdict | None, served: bool) -> Verdict:
    """The verdict of one class, or of C1 or C3.

    Args:
        count: of it.
        stopped: why the run ended early, if it did: ``environment`` is then the verdict of all classes,
            ``crashed`` that of classes with nothing compared.
        served: whether anything was compared in the element type: if not, a refusal is ``unsupported``.
    """
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
    return "acceptable" if count.latitude else "conforms"


def _count_as_refused(by_key: Mapping[str, Count], counts: Counts) -> None:
    """Count calls that raised as refused, of a runtime that serves very few bounds."""
    for found in counts.raised.values():
        if not found.all:
            for key, count in found.of.items():
                by_key[key].raised -= count.raised
                by_key[key].refused += 0 if by_key[key].compared else count.raised
                by_key[key].words = by_key[key].words or found.words
                kept = (one for one in by_key[key].deviations if one.kind != "raises")
                by_key[key].deviations = tuple(kept)


def _count_refusals(counts: Mapping[str, Count], refused: Mapping[str, Raised]) -> None:
    """Count what forms refuse as a whole: for C1 and C3, and for classes that no other form reached."""
    classes = [count for key, count in counts.items() if key not in TAGS]

    def refuse(count: Count, number: int, words: str | None) -> None:
        count.refused += number
        count.words = count.words or words

    for form, found in refused.items():
        for tag in TAGS:
            if form not in _OPTIONAL or counts[tag].compared == 0:
                refuse(counts[tag], found.raised, found.words)
        for key, of_class in found.of.items():
            if key not in TAGS and counts[key].compared == 0:
                refuse(counts[key], of_class.raised, found.words)
    if refused and not any(count.compared or count.raised or count.died for count in classes):
        words = next(iter(refused.values())).words
        for count in classes:  # since all was refused, some classes had no call
            refuse(count, int(not count.refused), words)


# --- Verdicts in the forms of a model -----------------------------------------------------------------------


def by_form(
    ids: Iterable[str], forms: Iterable[FormReport]
) -> dict[str, list[tuple[FormReport, Verdict]]]:
    """By class, the forms of a model that the runtime serves, with the verdict in each.

    X of rank 0 has one entry, so mistakes in loops over several entries do not show there: a form of rank 0
    whose verdict is better than that of every form of another rank is left out. So is a form without a bound
    that cannot reach the class.
    """
    found: dict[str, list[tuple[FormReport, Verdict]]] = {}
    served = [form for form in forms if form.verdict != "refused"]
    for id_ in ids:
        every = [(form, form.verdict_of(id_)) for form in served]
        best = max(
            (VERDICTS.index(v) for form, v in every if form.form.rank), default=len(VERDICTS)
        )
        found[id_] = [
            (form, v) for form, v in every
            if (form.form.rank or VERDICTS.index(v) <= best)
            and (form.form.given == "both" or v != "unreached")
        ]  # fmt: skip
    return found


def forms_of(report: TypeReport) -> dict[str, list[tuple[FormReport, Verdict]]]:
    """The same, of all classes and forms of an element type."""
    return by_form([c.id for c in report.classes], report.forms or ())


def failing_forms(found: TypeReport, id_: str) -> list[FormReport]:
    """The forms of a model in which a class fails."""
    return [form for form in found.served_forms if form.verdict_of(id_) in FAILING]


def forms_alike(found: TypeReport, one: ClassReport) -> list[FormReport]:
    """The forms of a model in which a class has the verdict that it has in all."""
    return [form for form in found.served_forms if form.verdict_of(one.id) == one.verdict]


def shared_deviation(found: TypeReport, one: ClassReport) -> Deviation | None:
    """The deviation that all forms of a model share and that no other call shows, if there is one.

    `describe` keeps it in one of the forms.
    """
    if one.verdict == "depends":
        return None
    shown = [
        form.deviations[one.id] for form in forms_alike(found, one) if one.id in form.deviations
    ]
    return next((deviation for deviation in shown if deviation not in one.deviations), None)


def _with_forms(classes: Iterable[ClassReport], forms: Sequence[FormReport]) -> list[ClassReport]:
    """The classes; their verdicts include those in the forms of a model."""
    every = {c.id: c for c in classes}
    in_forms = {id_: [v for _, v in pairs] for id_, pairs in by_form(every, forms).items()}
    return [
        c.model_copy(update={
            "verdict": _combined(c, in_forms[c.id]),
            # A refusal before any call counts as one where other forms are served.
            "refused": max(c.refused, int(c.verdict == "unsupported" and bool(in_forms[c.id]))),
        })
        for c in every.values()
    ]  # fmt: skip


def _combined(own: ClassReport, in_forms: Sequence[Verdict]) -> Verdict:
    """The verdict of a class, from that of the other calls and those in each form that is served.

    A refusal of the other calls counts only if nothing was compared in the class: a runtime may take bounds
    as constants only, and the other calls are models with bounds as inputs.
    """
    if not in_forms or own.verdict == "environment":
        return own.verdict
    if "environment" in in_forms:
        return "environment"
    if len(set(in_forms)) > 1 and FAILING & set(in_forms):
        return "depends"
    is_refusal = own.verdict in ("refused", "unsupported")
    if is_refusal and not own.compared:
        return worst(in_forms)
    return worst([own.verdict, *in_forms])
