"""Makes the report on an element type of what its units have found: for `campaign`.

It reads the results of units in the order of the plan and nothing else. So a report is the same whenever the
units were judged, side by side or one by one, in one run of the command or in several.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import (
    DEVIATION_KINDS,
    FAILING,
    ClassReport,
    FormReport,
    TypeReport,
    Verdict,
)
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.counts import Count, Counts, Raised, added
from sonnx_clip.conform.matching import Observed
from sonnx_clip.conform.verdicts import by_form, verdict_of, with_forms, worst
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sonnx_clip.conform.check_report import Deviation
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.units import Unit, UnitResult
    from sonnx_clip.language.types import ElementType

_OPTIONAL = frozenset(layout.id for layout in LAYOUTS if layout.optional)
_TAGS = ("C1", "C3")
_STOPS = ("crashed", "environment")
# What only all calls together can say.
_AT_THE_END: frozenset[Verdict] = frozenset({"conforms", "acceptable", "refused", "unsupported", "unreached"})


def merged(
    etype: ElementType,
    units: Sequence[Unit],
    results: Mapping[str, UnitResult],
    of: CheckedOperator | None = None,
    begun: Mapping[str, UnitResult] = MappingProxyType({}),
) -> TypeReport:
    """The report on an element type.

    Args:
        etype: the element type.
        units: all that were planned for it, in their order.
        results: what came of them, by the part; where one is missing that is needed, the report says so.
        of: the operator; Clip by default.
        begun: what had come of others when the run was interrupted, likewise.
    """
    of = of or clip_operator()
    used: list[tuple[Unit, UnitResult]] = []
    missing = 0
    for unit in needed(units, results):
        if unit.part in results:
            used.append((unit, results[unit.part]))
        else:
            missing += 1
            if unit.part in begun:
                used.append((unit, begun[unit.part]))
    if not used:
        words = "nothing was judged before it was interrupted"
        return without_comparison(etype, "unfinished", words, of)
    report = _of_results(etype, [result for _, result in used], of)
    return _unfinished(report, missing, len(needed(units, results))) if missing else report


def needed(units: Sequence[Unit], results: Mapping[str, UnitResult]) -> list[Unit]:
    """The units whose results a report is made of, as far as is known: all up to the first that ends."""
    found: list[Unit] = []
    first = results.get(units[0].part)
    for unit in units:
        if first is not None and not follows(first, unit):
            continue
        found.append(unit)
        result = results.get(unit.part)
        if result is not None and result.ends:
            break
    return found


def follows(first: UnitResult, unit: Unit) -> bool:
    """Whether a unit is judged after this result of the first one of its element type."""
    if unit.first:
        return True
    if first.ends or (unit.chunk is not None and not first.models):
        return False
    return unit.chunk is not None or (first.unopened is None and not first.few)


def _of_results(etype: ElementType, results: Sequence[UnitResult], of: CheckedOperator) -> TypeReport:
    first, last = results[0], results[-1]
    stopped = last.stopped
    tallies = [result.tally for result in results if result.tally is not None]
    for result in results[1:]:
        if result.unopened is not None and first.unopened is None:
            stopped = stopped or ("crashed", f"opened before, and then not again: {result.unopened[1]}")
    if tallies:
        report = type_report(etype, *_added(etype, tallies, of), stopped, of)
        report = report.model_copy(
            update={"unasked": first.unasked, "longest": first.longest, "few": first.few}
        )
    else:
        verdict, words = first.unopened or stopped or ("crashed", "")
        report = without_comparison(etype, verdict, words, of)
    forms: dict[object, FormReport] = {}
    for result in results:
        for form in result.forms or ():
            forms.setdefault(form.form, form)
    if any(result.forms is not None for result in results):
        report = with_forms_judged(report, tuple(forms.values()))
    remarks = dict.fromkeys(remark for result in results for remark in result.remarks)
    left = max(result.left for result in results)
    if left:
        remarks[f"it leaves processes behind: {left}, ended now"] = None
    return report.model_copy(update={"remarks": tuple(remarks)})


def _added(etype: ElementType, tallies: Sequence[Counts], of: CheckedOperator) -> tuple[Counts, Observed]:
    total, observed = tallies[0], Observed(etype, of)
    observed.unpack(total.answers)
    for other in tallies[1:]:
        total = total + other
        observed.unpack(other.answers)
    return total, observed


def _unfinished(report: TypeReport, missing: int, every: int) -> TypeReport:
    """A report on some of the units: nothing in it says what only all of them can say."""
    classes = tuple(
        c.model_copy(update={"verdict": "unfinished"}) if c.verdict in _AT_THE_END else c
        for c in report.classes
    )
    words = f"{missing} of {counted(every, 'unit')} not judged whole before it was interrupted"
    return report.model_copy(update={
        "classes": classes,
        "verdict": worst(c.verdict for c in classes),
        "words": report.words or words,
        "unfinished": words,
    })  # fmt: skip


def without_comparison(etype: ElementType, verdict: Verdict, words: str, of: CheckedOperator) -> TypeReport:
    """The report on an element type in which no call was made, and why."""
    case_of = of.oracle.CASE_OF_CLASS
    classes = [
        ClassReport(id=id_, case=case_of.get(id_), verdict=verdict, compared=0, words=words)
        for id_ in (*of.class_ids(etype.family), *_TAGS)
    ]
    unfinished = words if verdict == "unfinished" else None
    return TypeReport(
        type=etype.id,
        verdict=verdict,
        compared=0,
        words=words,
        classes=tuple(classes),
        unfinished=unfinished,
    )


def type_report(
    etype: ElementType,
    state: Counts,
    observed: Observed | None,
    stopped: tuple[Verdict, str] | None = None,
    of: CheckedOperator | None = None,
) -> TypeReport:
    """The verdicts that follow from counts.

    Args:
        etype: the element type.
        state: what was counted.
        observed: the answers that are compared with the readings; None to compare none.
        stopped: ``crashed`` or ``environment`` if it ended early, and why, in words.
        of: the operator; Clip by default.
    """
    of = of or clip_operator()
    refused = {form: found for form, found in state.raised.items() if found.all}
    counts = {key: Count() + count for key, count in state.of.items()}
    for form, found in state.raised.items():
        if form not in refused:
            counts = added(counts, found.of)
    _refuse(counts, refused)
    served = any(count.compared for count in counts.values())
    ids = of.class_ids(etype.family)
    case_of = of.oracle.CASE_OF_CLASS
    why = stopped[0] if stopped else None
    classes = tuple(
        _class_report(id_, case_of.get(id_), count, verdict_of(count, stopped=why, served=served))
        for id_, count in counts.items()
    )
    if stopped and not any(found.verdict in FAILING for found in classes):
        # It ended early, and no class is to blame: nobody knows what the other calls would have given.
        classes = tuple(found.model_copy(update={"verdict": stopped[0]}) for found in classes)
    verdict = worst(found.verdict for found in classes)
    said = stopped[1] if stopped else None
    line: str | None = None
    crashes = [d for one in counts.values() for kind, d in one.deviations.items() if kind == "crashed"]
    if crashes:
        said, line = said or crashes[0].words, crashes[0].reproduce or None
    elif verdict == "unsupported":
        said = next(found.words for found in classes if found.verdict == "unsupported")
    return TypeReport(
        type=etype.id,
        verdict=verdict,
        compared=sum(state.of[id_].compared for id_ in ids),
        words=said,
        reproduce=line,
        refused_layouts={form: found.words for form, found in refused.items()} if served else {},
        calls=sum(found.calls for found in state.raised.values()),
        classes=classes,
        readings=None if observed is None else observed.match(ids),
    )


def _refuse(counts: Mapping[str, Count], refused: Mapping[str, Raised]) -> None:
    """Count what forms refuse as a whole: for C1 and C3, and for classes that no other form reached."""
    classes = [count for key, count in counts.items() if key not in _TAGS]
    for form, found in refused.items():
        for tag in _TAGS:
            count = counts[tag]
            if form not in _OPTIONAL or count.compared == 0:
                count.refused += found.raised
                count.words = count.words or found.words
        for key, of_class in found.of.items():
            count = counts[key]
            if key not in _TAGS and count.compared == 0:
                count.refused += of_class.raised
                count.words = count.words or found.words
    served = any(count.compared or count.raised or count.died for count in classes)
    if refused and not served:  # of some classes nothing was asked, since all was refused
        words = next(iter(refused.values())).words
        for count in classes:
            count.refused, count.words = max(1, count.refused), count.words or words


def _class_report(id_: str, case: str | None, count: Count, verdict: Verdict) -> ClassReport:
    return ClassReport(
        id=id_,
        case=case,
        verdict=verdict,
        compared=count.compared,
        acceptable=sum(count.latitude.values()),
        violating=count.violating,
        raised=count.raised,
        refused=count.refused,
        died=count.died,
        latitude=count.latitude,
        words=count.words,
        deviations=() if verdict == "unsupported" else in_order(count.deviations.values()),
    )


def in_order(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Deviations, the worst kind first: the first one is the headline of a class."""
    return tuple(sorted(deviations, key=lambda found: DEVIATION_KINDS.index(found.kind)))


def with_forms_judged(report: TypeReport, forms: tuple[FormReport, ...]) -> TypeReport:
    """A report in which the verdicts of classes take those of the forms into account."""
    found = by_form(report.model_copy(update={"forms": forms}))
    in_forms = {id_: [verdict for _, verdict in pairs] for id_, pairs in found.items()}
    classes = tuple(
        c.model_copy(update={
            "verdict": with_forms(c.verdict, in_forms[c.id]),
            # What the runtime refused before any call counts as one refusal where other forms are served.
            "refused": max(c.refused, int(c.verdict == "unsupported" and bool(in_forms[c.id]))),
        })
        for c in report.classes
    )  # fmt: skip
    verdict = worst(c.verdict for c in classes)
    words = report.words
    if verdict in _STOPS:
        words = words or next((form.words for form in forms if form.verdict == verdict), None)
    # What all forms do alike is told once, by the class, unless only models do it.
    alone = {c.id for c in classes if not c.deviations}
    differ = alone | {id_ for id_, verdicts in in_forms.items() if len(set(verdicts)) > 1}
    told = tuple(
        form.model_copy(update={"deviations": {k: v for k, v in form.deviations.items() if k in differ}})
        for form in forms
    )
    return report.model_copy(update={"classes": classes, "verdict": verdict, "words": words, "forms": told})
