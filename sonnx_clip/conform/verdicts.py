"""Derives the verdict of a class from its counts: for the tally, and for the evidence, which counts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import FAILING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.conform.check_report import FormReport, TypeReport, Verdict
    from sonnx_clip.conform.counts import Count

_WORST_FIRST: tuple[Verdict, ...] = (
    "environment",
    "crashed",
    "unreached",
    "violates",
    "depends",
    "unfinished",
    "refused",
    "unsupported",
    "acceptable",
    "conforms",
)


def verdict_of(count: Count, *, stopped: Verdict | None, served: bool) -> Verdict:
    """The verdict of one class, or of C1 or C3.

    Args:
        count: what is known of it.
        stopped: why the run in this element type ended early: ``environment``, which is then the verdict of
            all, or ``crashed``, which is that of what was not compared; None if it did not.
        served: whether anything was compared in the element type. Where all was refused the type is
            unsupported; where something was served, a refused rank or form is `refused`.
    """
    if stopped == "environment":
        return stopped
    if count.died:
        return "crashed"
    if count.violating or count.raised:
        return "violates"
    if count.compared == 0:
        if stopped is not None:
            return stopped
        if count.refused:
            return "refused" if served else "unsupported"
        return "unreached"
    if count.refused:
        return "refused"
    return "acceptable" if count.latitude else "conforms"


def by_form(report: TypeReport) -> dict[str, list[tuple[FormReport, Verdict]]]:
    """By class, the forms of a model that the runtime serves, with the verdict in each.

    X of rank 0 has one entry, and what is wrong in loops over several entries is right there: so a form of
    rank 0 whose verdict is better than that of every form of another rank is left out.
    """
    served = report.served_forms
    found: dict[str, list[tuple[FormReport, Verdict]]] = {}
    for klass in report.classes:
        every = [(form, form.classes.get(klass.id, "conforms")) for form in served]
        others = [verdict for form, verdict in every if form.rank]
        best = max(map(_WORST_FIRST.index, others), default=len(_WORST_FIRST))
        found[klass.id] = [(form, v) for form, v in every if form.rank or _WORST_FIRST.index(v) <= best]
    return found


def with_forms(verdict: Verdict, in_forms: Sequence[Verdict]) -> Verdict:
    """The verdict of a class that was judged in several forms of a model, too.

    Args:
        verdict: what follows from the other calls.
        in_forms: the verdict in each form that is served; the calls are the same in all of them.
    """
    if not in_forms or verdict == "environment":
        return verdict
    if "environment" in in_forms:
        return "environment"
    if len(set(in_forms)) > 1 and FAILING & set(in_forms):
        return "depends"
    return worst(["refused" if verdict == "unsupported" else verdict, *in_forms])


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a type: the worst of its classes."""
    return min(verdicts, key=_WORST_FIRST.index)
