"""A report of the checker as cases that pass, fail or are skipped, for the formats of other tools.

A case is a class of an element type; where forms of a model were judged, it is also that class in one form.
`junit.py` and `check_sarif.py` print them, `pytest_items.py` makes tests of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.conform.check_report import FAILING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        FormReport,
        Report,
        TypeReport,
        Verdict,
    )

Outcome: TypeAlias = Literal["passed", "failed", "skipped", "error"]
"""``error`` is what says nothing about the runtime: the machine lacks something, or nothing was compared."""

_SKIPPED = ("refused", "unsupported")


@dataclass(frozen=True)
class JudgedCase:
    """One verdict.

    Args:
        etype: the id of an element type; empty for the report as a whole.
        id: of a class, or ``C1``, ``C3``, or ``compared`` for a report that compared nothing.
        form: the form of a model, in words; empty for the verdict on the class.
        outcome: what becomes of it.
        verdict: the checker's.
        words: why, where there is a reason; the runtime's own words where it has some.
        deviations: what was found, each with a line of Python that repeats it.
    """

    etype: str
    id: str
    form: str
    outcome: Outcome
    verdict: Verdict | Literal["nothing compared"]
    words: str = ""
    deviations: tuple[Deviation, ...] = ()


def cases(report: Report) -> Iterator[JudgedCase]:
    """Every case of a report, at least one.

    One of them has failed or is an error if and only if the report has failed.
    """
    if report.compared == 0 and not report.environment:
        yield _blind("", "nothing was compared in any element type")
    for found in report.types:
        required = found.type in report.required
        for one in found.classes:
            yield _of_class(found, one, required=required)
        if found.compared and found.forms is not None and not any(form.compared for form in found.forms):
            yield _blind(found.type, "nothing was compared in any form of a model")
        for form in found.forms or ():
            for one in found.classes:
                yield _of_form(found, one.id, form)


def told(case: JudgedCase) -> str:
    """Why, and what was found, each deviation with the line of Python that repeats it."""
    parts = [case.words, *map(_deviation, case.deviations)]
    return "\n".join(part for part in parts if part)


def _deviation(found: Deviation) -> str:
    why = found.words or found.explanation
    head = f"{found.latitude or found.kind}, layout {found.layout}: {found.shown}"
    return "\n".join([head, *([why] if why else ()), "repeat it with Python:", found.reproduce])


def _blind(etype: str, words: str) -> JudgedCase:
    return JudgedCase(etype, "compared", "", "error", "nothing compared", words)


def _outcome(verdict: Verdict, *, required: bool = False) -> Outcome:
    if verdict in ("environment", "unfinished"):
        return "error"
    if verdict in FAILING or (required and verdict == "unsupported"):
        return "failed"
    return "skipped" if verdict in _SKIPPED else "passed"


def _of_class(found: TypeReport, one: ClassReport, *, required: bool) -> JudgedCase:
    words = [one.words or ""]
    if one.verdict in (*_SKIPPED, "crashed", "environment"):
        words = [one.words or found.words or ""]
    if one.verdict == "refused":
        words += [f"layout {layout}: {text}" for layout, text in found.refused_layouts.items()]
    if one.verdict == "unfinished":
        words = [found.unfinished or ""]
    if one.verdict == "unreached":
        words = ["no vector reached it"]
    if one.verdict == "unsupported" and required:
        words.insert(0, "the type is required")
    outcome = _outcome(one.verdict, required=required and found.verdict == "unsupported")
    deviations: Sequence[Deviation] = one.deviations
    if one.verdict == "depends":
        wrong = [form for form in found.served_forms if form.classes.get(one.id, "conforms") in FAILING]
        told_forms = "; ".join(str(form.form) for form in wrong)
        words.append(f"it fails in {len(wrong)} of {len(found.served_forms)} forms of a model: {told_forms}")
        shown = [form.deviations[one.id] for form in wrong if one.id in form.deviations]
        deviations = [*deviations, *shown[:1]]
    told = "; ".join(text for text in dict.fromkeys(words) if text)
    return JudgedCase(found.type, one.id, "", outcome, one.verdict, told, tuple(deviations))


def _of_form(found: TypeReport, id_: str, form: FormReport) -> JudgedCase:
    whole = form.verdict in ("refused", "environment")
    verdict: Verdict = form.verdict if whole else form.classes.get(id_, "conforms")
    first = form.deviations.get(id_)
    words = form.words or "" if verdict not in ("conforms", "acceptable") else ""
    given = () if first is None else (first,)
    return JudgedCase(found.type, id_, str(form.form), _outcome(verdict), verdict, words, given)
