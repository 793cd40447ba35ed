"""The cells of the trace: what a runtime does in the classes of an entry, and where its source stands."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.conform.verdict_table import FAILING, VERDICT_TABLE, worst_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.conform.verdict_table import Verdict
    from sonnx_clip.evidence.evidence_model import Entry, Shown
    from sonnx_clip.evidence.runtimes import RuntimeView
    from sonnx_clip.spec.coverage import Covered

VERDICT_SIGNS: dict[str, str] = {verdict: row.page_sign for verdict, row in VERDICT_TABLE.items()}
VERDICT_SIGNS["not run"] = ""  # no sign, so that it cannot be taken for a verdict
PARTIAL_SIGN = "◐"
"""Stands where a runtime fails in some element types and passes in others."""


class RuntimeCell(NamedTuple):
    """The style, the sign and the explanation of a cell."""

    style: str
    sign: str
    title: str


def runtime_cell(runtime: RuntimeView, entry: Entry) -> RuntimeCell | None:
    """What a runtime does in all element types of an entry; None where it says nothing about the entry."""
    if entry.section == "properties":
        return _property_cell(runtime, entry)
    by_type: dict[str, Shown] = {}
    for type_id in entry.vectors:
        verdict = worst_in_classes(runtime, entry.classes, (type_id,))
        if verdict:
            by_type[type_id] = verdict
    # A type that the runtime lacks makes no difference, unless it lacks them all.
    served = [type_id for type_id, verdict in by_type.items() if verdict != "unsupported"]
    overall = worst_in_classes(runtime, entry.classes, served or entry.vectors)
    if overall is None:
        return None
    # Nor does one that was not judged: the runtime may fail in all others.
    judged = {by_type[type_id] for type_id in served} - {"not run"}
    fails_everywhere = judged <= FAILING
    title = _types_by_verdict(by_type)
    if overall in FAILING and not fails_everywhere:
        return RuntimeCell("v-some", PARTIAL_SIGN, title)
    return RuntimeCell(f"v-{overall.replace(' ', '-')}", VERDICT_SIGNS[overall], title)


def _property_cell(runtime: RuntimeView, entry: Entry) -> RuntimeCell | None:
    """Whether a recorded answer violates a property, in every element type or in some."""
    prefix = f"{runtime.name}, "
    violated = []  # element types
    for place in entry.violated_by:
        if place.startswith(prefix):
            violated.append(place.removeprefix(prefix))
    if not violated:
        # No recorded answer violates it, which does not show that none would: no sign, not a good one.
        return None
    title = f"violated in {', '.join(violated)}"
    if set(violated) >= set(entry.vectors):
        return RuntimeCell("v-violates", VERDICT_SIGNS["violates"], title)
    return RuntimeCell("v-some", PARTIAL_SIGN, title)


def worst_in_classes(
    runtime: RuntimeView, classes: Iterable[str], types: Iterable[str]
) -> Shown | None:
    """The worst verdict of a runtime in some classes and types; None where it has none of them.

    What was not run makes the whole ``not run``, unless something fails.
    """
    class_ids = list(classes)
    verdicts: set[Verdict] = set()
    incomplete = False
    for type_id in types:
        by_class = runtime.verdicts.get(type_id, {})
        for class_id in class_ids:
            verdict = by_class.get(class_id)
            if verdict == "not run":
                incomplete = True
            elif verdict is not None:
                verdicts.add(verdict)
    # A failure stays one, whatever else was judged; a good verdict needs all of them.
    worst_judged = worst_verdict(verdicts) if verdicts else None
    return "not run" if incomplete and worst_judged not in FAILING else worst_judged


def _types_by_verdict(by_type: Mapping[str, Shown]) -> str:
    """``violates in bfloat16; conforms in float16, float32``."""
    types: defaultdict[Shown, list[str]] = defaultdict(list)
    for type_id, verdict in by_type.items():
        types[verdict].append(type_id)
    parts = [f"{verdict} in {', '.join(ids)}" for verdict, ids in types.items()]
    return "; ".join(parts)


@dataclass(frozen=True)
class SentenceAnchors:
    """The anchors of the sentences of the sources: the lines at which they begin, by source, in order."""

    begins: Mapping[str, list[int]]

    @classmethod
    def of(cls, coverage: Iterable[Covered]) -> SentenceAnchors:
        """The anchors of every sentence that has an answer."""
        begins: defaultdict[str, set[int]] = defaultdict(set)
        for sentence in coverage:
            begins[sentence.source].add(sentence.line)
        return cls({source: sorted(lines) for source, lines in begins.items()})

    def anchor(self, source: str, line: int) -> str | None:
        """The anchor of the sentence in which a line lies; None before the first one."""
        begins = self.begins.get(source, [])
        # Behind the last sentence that begins at the line or before it.
        position = bisect_right(begins, line)
        return f"source-{source}-{begins[position - 1]}" if position else None
