"""Findings as text for a terminal, as JSON, and summarised for docs/findings.md."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from sonnx_clip.root.terminal import hanging, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.finding_views import AnswerRow, FindingView, WitnessView
    from sonnx_clip.explain.measured_record import Measured

CHECKED = "on the texts, not proved"
_TERMINAL = 80


def as_json(findings: Sequence[FindingView], record: Measured) -> str:
    """The findings with the versions of the runtimes."""
    dumped = [finding.model_dump() for finding in findings]
    document = {"format": 1, "runtimes": record.runtimes, "findings": dumped}
    return json.dumps(document, indent=1, ensure_ascii=False)


def as_text(findings: Sequence[FindingView]) -> str:
    """The findings for a terminal."""
    return "\n\n".join(
        "\n".join(hanging(line, _TERMINAL, indent=2) for line in _lines(finding))
        for finding in findings
    )


def _lines(finding: FindingView) -> Iterator[str]:
    yield f"{finding.kind} {finding.id}: {finding.title}"
    for words in finding.words:
        yield f"  {words.file}, {words.section}: {words.quote if words.cited else f'“{words.quote}”'}"
    yield f"  {finding.found}"
    for part in finding.claim:
        yield f"  {CHECKED if part.formula is None else 'claim'}: {part.says}"
        if part.formula is not None:
            yield f"    {part.formula}"
            yield f"    obligations: {', '.join(part.obligations)}"
    for witness in finding.witnesses:
        yield f"  {_where(witness)}: {witness.shows}"
        for row in witness.rows:
            notes = f" ({row.notes})" if row.notes else ""
            yield f"    {row.version or row.by}{notes}: {' or '.join(row.answers)}"
        if witness.silence:
            yield f"    {witness.silence}"
    yield f"  proposed: {finding.proposed}"


def _where(witness: WitnessView) -> str:
    return f"{witness.type}, {witness.numbers}" if witness.type else witness.numbers


def summary(finding: FindingView) -> str:
    """One witness in a line, its numbers and answers, without bits: the first on which runtimes disagree."""
    answered = [witness for witness in finding.witnesses if witness.rows]
    if not answered:
        return ""
    disagreeing = [witness for witness in answered if witness.runtimes_disagree]
    witness = (disagreeing or answered)[0]
    readings = [row for row in witness.rows if row.version is None]
    runtimes = [row for row in witness.rows if row.version is not None]
    parts = [_where(witness)]
    for title, rows in (("Readings", readings), ("Runtimes", runtimes)):
        if rows:
            parts.append(f"{title}: {_answers_of(rows)}")
    return _BITS.sub("", ". ".join(parts))


def _answers_of(rows: Sequence[AnswerRow]) -> str:
    """Each answer, with all that give it."""
    given_by: dict[str, dict[str, None]] = {}
    for row in rows:
        answer = " or ".join(row.answers)
        if row.version is not None and not row.bits:
            answer = "no answer"
        name = row.by
        notes = _notes_of(row, rows)
        if notes:
            name += f" ({notes})"
        given_by.setdefault(_BITS.sub("", answer), {})[name] = None
    return "; ".join(f"{answer} by {listed(list(names))}" for answer, names in given_by.items())


def _notes_of(row: AnswerRow, rows: Sequence[AnswerRow]) -> str:
    """The notes on an answer: numbers of its own, or what tells it from another answer of the same."""
    if "=" in row.notes:
        return row.notes
    is_ambiguous = any(row.by == other.by and row.answers != other.answers for other in rows)
    return row.notes.partition("; ")[0] if is_ambiguous else ""


_BITS = re.compile(r" \(0x[0-9a-f]+\)")
