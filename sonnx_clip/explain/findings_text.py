"""The findings for a terminal, as JSON, and as docs/findings.md."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.findings_told import ClaimTold, FindingTold, Party, Reply, WitnessTold
    from sonnx_clip.explain.measured_record import Measured
    from sonnx_clip.spec import Spec

CHECKED = "checked in the texts, not proved"
_WIDTH = 100  # of quotations in the page
_TERMINAL = 80
_WHAT = """\
Statements of the texts in spec/sources that are false or can be read in several ways, and what they leave
unsaid. Each says formally what it claims (docs/language.md): of all X, L and M, of all answers Y and Z, of
all FLOAT bounds F. An obligation for each element type shows it; `sonnx-clip prove --only ID` proves that. A
claim about the texts is checked when spec/clip.yaml is read, and not proved. The answers of the specification
are computed: they are those of the readings and dialects of spec/clip.yaml. A number is followed by its bits.
"""
_HOW = """\
`sonnx-clip findings --measure` ran these runtimes on the same numbers, on {machine}: {versions}.
`clip-13` is a node Clip of operator set 13, `body-13` the function body as nodes Less and Where,
`equation-13` Min(max, Max(input, min)) as nodes Max and Min. Their
answers are in spec/measured/runtimes.json. DirectML was not run.
"""


def as_json(told: Sequence[FindingTold], record: Measured) -> str:
    """The findings with the versions of the runtimes."""
    document = {
        "format": 1,
        "runtimes": record.runtimes,
        "findings": [finding.model_dump() for finding in told],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def as_text(told: Sequence[FindingTold]) -> str:
    """The findings for a terminal."""
    return "\n\n".join("\n".join(_text_lines(finding)) for finding in told)


def _text_lines(finding: FindingTold) -> Iterator[str]:
    yield hanging(f"{finding.kind} {finding.id}: {finding.title}", _TERMINAL)
    for words in finding.words:
        yield from _wrapped(f"{words.file}, {words.section}: “{words.quote}”")
    yield from _wrapped(finding.found)
    for part in finding.claim:
        yield from _wrapped(f"{CHECKED if part.formula is None else 'claim'}: {part.says}")
        if part.formula is not None:
            yield from _wrapped(f"  {part.formula}")
            yield from _wrapped(f"  shown by {', '.join(part.obligations)}")
    for witness in finding.witnesses:
        yield from _wrapped(f"{_where(witness)}: {witness.shows}")
        yield from (f"    {_party_in_words(party)}" for party in witness.parties)
        yield from (f"    {_reply_in_words(reply)}" for reply in witness.replies)
        if witness.silence:
            yield f"    {witness.silence}"
    yield from _wrapped(f"proposed: {finding.proposed}")


def _wrapped(text: str) -> list[str]:
    return hanging(f"  {text}", _TERMINAL, indent=2).split("\n")


def _where(witness: WitnessTold) -> str:
    return f"{witness.type}, {witness.numbers}" if witness.type else witness.numbers


def _party_in_words(party: Party) -> str:
    notes = "; ".join(part for part in (party.note, party.bounds) if part)
    return f"{party.name}{f' ({notes})' if notes else ''}: {' or '.join(party.answers)}"


def _reply_in_words(reply: Reply) -> str:
    forms = f" ({', '.join(reply.forms)})" if reply.forms else ""
    return f"{reply.version}{forms}: {reply.shown}"


def markdown(spec: Spec, told: Sequence[FindingTold], record: Measured) -> str:
    """The text of docs/findings.md."""
    head = "\n".join(header_lines(spec))
    versions = ", ".join(record.runtimes.values())
    parts = [
        f"<!--\n{head}\n-->\n",
        "# Findings about the sources\n",
        _WHAT,
        _HOW.format(machine=record.machine, versions=versions),
        "".join(f"- [{without_tags(finding.title)}](#{finding.id}) ({finding.kind})\n" for finding in told),
    ]
    parts += ["\n".join(_section(finding)) for finding in told]
    return "\n".join(parts)


def _section(finding: FindingTold) -> Iterator[str]:
    yield f'<a id="{finding.id}"></a>\n\n## {without_tags(finding.title)}\n'
    yield f"{finding.kind.capitalize()}, `{finding.id}`.\n"
    for words in finding.words:
        yield f"{words.title}, section “{_plain(words.section)}” ([{words.file}](../{words.file})):\n"
        quote = textwrap.fill(words.quote, _WIDTH, break_long_words=False, break_on_hyphens=False)
        yield f"```text\n{quote}\n```\n"
    yield f"{without_tags(finding.found)}\n"
    for part in finding.claim:
        yield from _claim(part)
    for witness in finding.witnesses:
        silence = f" {without_tags(witness.silence)}" if witness.silence else ""
        yield f"**{_plain(_where(witness))}**: {_plain(witness.shows)}.{silence}\n"
        rows = [("specification", *_party_cells(party)) for party in witness.parties]
        rows += [("runtime", *_reply_cells(reply)) for reply in witness.replies]
        if rows:
            lines = [("", "who", "how", "answer"), ("---",) * 4, *rows]
            yield "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    yield f"Proposed: {without_tags(finding.proposed)}\n"


def _claim(part: ClaimTold) -> Iterator[str]:
    if part.formula is None:
        yield f"**{CHECKED.capitalize()}**: {_plain(part.says)}.\n"
        return
    yield f"**Claim** ({', '.join(part.types)}): {_plain(part.says)}.\n"
    formula = textwrap.fill(part.formula, _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield f"```text\n{formula}\n```\n"
    yield f"Shown by {_codes(part.obligations)}.\n"


def _codes(ids: Sequence[str]) -> str:
    return ", ".join(f"`{id_}`" for id_ in ids)


def _party_cells(party: Party) -> tuple[str, str, str]:
    how = "; ".join(part for part in (party.note, party.bounds) if part)
    return party.name, _plain(how), _plain(" or ".join(party.answers))


def _reply_cells(reply: Reply) -> tuple[str, str, str]:
    return reply.version, ", ".join(f"`{form}`" for form in reply.forms), _plain(reply.shown)


def without_tags(text: str) -> str:
    """Prose as Markdown in which nothing is HTML."""
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", text)


def _plain(text: str) -> str:
    """As Markdown that shows the text as it is, in a cell too."""
    for mark in ("\\", "|", "*", "<", "[", "]"):
        text = text.replace(mark, f"\\{mark}")
    return text
