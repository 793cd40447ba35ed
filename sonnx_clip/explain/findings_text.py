"""Findings as text for a terminal, as JSON, and summarised for docs/findings.md."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from sonnx_clip.root.terminal import hanging, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.finding_views import AnswerRow, FindingView, WitnessView
    from sonnx_clip.explain.measured_record import Measured

CHECKED = "on the texts, not proved"
_TERMINAL = 80  # columns
_BITS = re.compile(r" \(0x[0-9a-f]+\)")


def as_json(findings: Sequence[FindingView], record: Measured) -> str:
    """The findings with the versions of the runtimes."""
    dumped = [finding.model_dump() for finding in findings]
    document = {"format": 1, "runtimes": record.runtimes, "findings": dumped}
    return json.dumps(document, indent=1, ensure_ascii=False)


def as_text(findings: Sequence[FindingView]) -> str:
    """The findings for a terminal."""
    paragraphs = []
    for finding in findings:
        lines = [hanging(line, _TERMINAL, indent=2) for line in _lines(finding)]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def _lines(finding: FindingView) -> Iterator[str]:
    yield f"{finding.kind} {finding.id}: {finding.title}"
    for source in finding.words:
        # Where a source is only cited, the words are ours.
        quote = source.quote if source.cited else f"“{source.quote}”"
        yield f"  {source.file}, {source.section}: {quote}"
    yield f"  {finding.found}"
    for part in finding.claim:
        if part.formula is None:
            yield f"  {CHECKED}: {part.says}"
        else:
            yield f"  claim: {part.says}"
            yield f"    {part.formula}"
            yield f"    obligations: {', '.join(part.obligations)}"
    for witness in finding.witnesses:
        yield from _witness_lines(witness)
    yield f"  proposed: {finding.proposed}"


def _witness_lines(witness: WitnessView) -> Iterator[str]:
    yield f"  {_where(witness)}: {witness.shows}"
    for row in witness.rows:
        name = row.version or row.by
        notes = f" ({row.notes})" if row.notes else ""
        answers = " or ".join(row.answers)
        yield f"    {name}{notes}: {answers}"
    if witness.silence:
        yield f"    {witness.silence}"


def _where(witness: WitnessView) -> str:
    return f"{witness.type}, {witness.numbers}" if witness.type else witness.numbers


def finding_summary(finding: FindingView) -> str:
    """One witness in a line, its numbers and answers, without bits: the first on which runtimes disagree."""
    answered = [witness for witness in finding.witnesses if witness.rows]
    if not answered:  # a finding about words alone
        return ""
    # Disagreeing runtimes show best why a finding matters; else any answer has to do.
    chosen = answered[0]
    for witness in answered:
        if witness.runtimes_disagree:
            chosen = witness
            break

    readings: list[AnswerRow] = []
    runtimes: list[AnswerRow] = []
    for row in chosen.rows:
        rows = readings if row.version is None else runtimes
        rows.append(row)
    parts = [_where(chosen)]
    if readings:
        parts.append(f"Readings: {_answers_of(readings)}")
    if runtimes:
        parts.append(f"Runtimes: {_answers_of(runtimes)}")
    summary = ". ".join(parts)
    return _BITS.sub("", summary)


def _answers_of(rows: Sequence[AnswerRow]) -> str:
    """Each answer, with all that give it."""
    names_by_answer: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        answer = " or ".join(row.answers)
        # The words of a rejection differ from runtime to runtime, and are too long for a line.
        if row.version is not None and not row.bits:
            answer = "no answer"

        notes = _notes_of(row, rows)
        name = f"{row.by} ({notes})" if notes else row.by
        # Answers that differ in their bits alone, as NaNs do, are one in decimals.
        names = names_by_answer[_BITS.sub("", answer)]
        # A runtime may give one answer in several forms of its model.
        if name not in names:
            names.append(name)
    parts = [f"{answer} by {listed(names)}" for answer, names in names_by_answer.items()]
    return "; ".join(parts)


def _notes_of(row: AnswerRow, rows: Sequence[AnswerRow]) -> str:
    """The notes on an answer: numbers of its own, or what tells it from another answer of the same."""
    # Bounds of its own are written ``min = 0``; a form of a model has no equals sign.
    if "=" in row.notes:
        return row.notes
    # A form of the model is mentioned only where another form of the same runtime answers otherwise.
    for other in rows:
        if row.by == other.by and row.answers != other.answers:
            first_note, _, _ = row.notes.partition("; ")
            return first_note
    return ""
