"""The forms of a model in words: for `sonnx-clip check`, and for the page of evidence."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sonnx_clip.conform.check_report import FAILING
from sonnx_clip.conform.verdicts import by_form, worst
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.model_forms import described
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.conform.check_report import Deviation, FormReport, Report, Verdict

_K = TypeVar("_K")
_V = TypeVar("_V")
_LONGEST = 400  # characters of a refusal that are shown


@dataclass(frozen=True)
class Depends:
    """Classes in which the verdict depends on the form, in the same way.

    Args:
        text: the verdicts, each with the forms that have it.
        failing: whether one of them is a failure.
        places: element types with their classes.
        first: a deviation, where there is one.
        form: the form that shows it.
    """

    text: str
    failing: bool
    places: dict[str, list[str]]
    first: Deviation | None
    form: str

    @property
    def where(self) -> str:
        """The places in words."""
        return "; ".join(f"{etype} {', '.join(ids)}" for etype, ids in self.places.items())


def dependences(report: Report) -> list[Depends]:
    """All of them; those in which a form fails come first."""
    found: dict[str, Depends] = {}
    for one in report.types:
        for id_, pairs in by_form(one).items():
            verdicts = [verdict for _, verdict in pairs]
            if len(set(verdicts)) > 1:
                text = _verdicts([form for form, _ in pairs], verdicts)
                shown = next(form for form, verdict in pairs if verdict == worst(verdicts))
                failing = bool(FAILING & set(verdicts))
                new = Depends(text, failing, {}, shown.deviations.get(id_), str(shown.form))
                found.setdefault(text, new).places.setdefault(one.type, []).append(id_)
    return sorted(found.values(), key=lambda one: not one.failing)


def _verdicts(served: Sequence[FormReport], verdicts: Sequence[Verdict]) -> str:
    """``violates with bounds as initializers, else conforms``: the most frequent verdict comes last."""
    usual = Counter(verdicts).most_common(1)[0][0]
    every, parts = [found.form for found in served], []
    for verdict in dict.fromkeys(v for v in verdicts if v != usual):
        some = [form for form, v in zip(every, verdicts, strict=True) if v == verdict]
        parts.append(f"{verdict} with {described(some, every)}")
    return f"{', '.join(parts)}, else {usual}"


def refusals(report: Report) -> dict[str, list[str]]:
    """The words of each refusal of some forms, whatever numbers are in them, with the element types."""
    lines: list[tuple[str, str]] = []
    for one in report.types:
        refused = [form for form in one.forms or () if form.verdict == "refused"]
        by_words = grouped((re.sub("[0-9]+", "", form.words or ""), form) for form in refused)
        for forms in by_words.values() if one.served_forms else ():
            some = described([f.form for f in forms], [f.form for f in one.forms or ()])
            words = printable(" ".join((forms[0].words or "").split()), _LONGEST)
            lines.append((f"with {some}: {words}", one.type))
    return grouped(lines)


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """The values of each key, in order."""
    found: dict[_K, list[_V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def form_lines(report: Report) -> Iterator[str]:
    """How many forms were compared, and whether they agree."""
    judged = [one for one in report.types if one.forms is not None and one.served_forms]
    for one in report.types:
        if one.forms is not None and one.compared and not any(form.compared for form in one.forms):
            yield f"{one.type}: nothing was compared in any form of a model"
    if not judged:
        return
    numbers = {len(one.served_forms) for one in judged}
    number = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
    differ = list(dict.fromkeys(etype for found in dependences(report) for etype in found.places))
    agree = f"the verdicts differ in {', '.join(differ)}" if differ else "all agree"
    better = [
        one.type
        for one in judged
        if not report.dialect and any(len(p) < len(one.served_forms) for p in by_form(one).values())
    ]
    alone = f" (rank 0 is better in {', '.join(better)}: it has one entry)" if better else ""
    yield f"forms of a model: {number} compared in {counted(len(judged), 'type')}, {agree}{alone}"


def told_of_forms(report: Report) -> Iterator[str]:
    """All lines on forms, without deviations."""
    for one in dependences(report):
        yield f"depends on the form, {one.where}: {one.text}"
    for words, types in refusals(report).items():
        yield f"refused in {', '.join(types)}, models {words}"
    yield from form_lines(report)
