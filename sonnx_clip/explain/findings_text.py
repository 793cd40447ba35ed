"""Findings as text for a terminal, as JSON, and summarised for docs/findings.md."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import hanging, listed, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.finding_views import FindingView, Party, Reply, WitnessView
    from sonnx_clip.explain.measured_record import Measured

CHECKED = "on the texts, not proved"
_TERMINAL = 80


def chosen(findings: Sequence[FindingView], ids: Sequence[str]) -> Sequence[FindingView]:
    """The findings with these ids; all without ids; UserError for an unknown id."""
    known = {finding.id: finding for finding in findings}
    if unknown := next((id_ for id_ in ids if id_ not in known), None):
        like = ", ".join(nearest(unknown, known)) or "run `sonnx-clip findings` for a list"
        raise UserError(f"no finding `{unknown}`", todo=f"known: {like}")
    return [known[id_] for id_ in ids] or findings


def as_json(told: Sequence[FindingView], record: Measured) -> str:
    """The findings with the versions of the runtimes."""
    document = {
        "format": 1,
        "runtimes": record.runtimes,
        "findings": [finding.model_dump() for finding in told],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def as_text(told: Sequence[FindingView]) -> str:
    """The findings for a terminal."""
    return "\n\n".join("\n".join(_text_lines(finding)) for finding in told)


def _text_lines(finding: FindingView) -> Iterator[str]:
    yield hanging(f"{finding.kind} {finding.id}: {finding.title}", _TERMINAL)
    for words in finding.words:
        yield from _wrapped(f"{words.file}, {words.section}: “{words.quote}”")
    yield from _wrapped(finding.found)
    for part in finding.claim:
        yield from _wrapped(f"{CHECKED if part.formula is None else 'claim'}: {part.says}")
        if part.formula is not None:
            yield from _wrapped(f"  {part.formula}")
            yield from _wrapped(f"  proved by {', '.join(part.obligations)}")
    for witness in finding.witnesses:
        yield from _wrapped(f"{_where(witness)}: {witness.shows}")
        yield from (f"    {_party_in_words(party)}" for party in witness.parties)
        yield from (f"    {_reply_in_words(reply)}" for reply in witness.replies)
        if witness.silence:
            yield f"    {witness.silence}"
    yield from _wrapped(f"proposed: {finding.proposed}")


def _wrapped(text: str) -> list[str]:
    return hanging(f"  {text}", _TERMINAL, indent=2).split("\n")


def _where(witness: WitnessView) -> str:
    return f"{witness.type}, {witness.numbers}" if witness.type else witness.numbers


def _party_in_words(party: Party) -> str:
    notes = "; ".join(part for part in (party.note, party.bounds) if part)
    return f"{party.name}{f' ({notes})' if notes else ''}: {' or '.join(party.answers)}"


def _reply_in_words(reply: Reply) -> str:
    forms = f" ({', '.join(reply.forms)})" if reply.forms else ""
    return f"{reply.version}{forms}: {reply.shown}"


def summary(finding: FindingView) -> str:
    """One witness in a line, its numbers and who answers what: the first on which runtimes disagree."""
    answered = [witness for witness in finding.witnesses if witness.parties or witness.replies]
    if not answered:
        return ""
    witness = next((one for one in answered if one.runtimes_disagree), answered[0])
    by: dict[str, list[str]] = {}
    for party in witness.parties:
        by.setdefault(" or ".join(party.answers), []).append(party.name)
    for reply in witness.replies:
        answer = reply.shown if reply.bits else "no answer"
        names = by.setdefault(answer, [])
        names.extend([reply.runtime] if reply.runtime not in names else [])
    return f"{_where(witness)}: {'; '.join(f'{answer} by {listed(names)}' for answer, names in by.items())}"
