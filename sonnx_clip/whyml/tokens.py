"""The tokens of `why3_lexer` as the parsers here read them: qualified names whole, with line and comment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.whyml import why3_lexer

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class WhymlToken:
    """A word, sign, number or attribute.

    Args:
        kind: ``word``, ``sign``, ``number`` or ``attribute``.
        text: as it stands in the file.
        line: counted from 1.
        comment: the documentation comment that ends right before it, on one line; empty if there is none.
    """

    kind: str
    text: str
    line: int
    comment: str = ""


def tokens(text: str, where: str) -> list[WhymlToken]:
    """The tokens of a text; UserError at the first that no theory here has."""
    read = why3_lexer.tokens(text)
    if read.refusals:
        refusal = read.refusals[0]
        raise UserError(f"{refusal.what}: {refusal.text}", f"{where}:{refusal.line}")
    found: list[WhymlToken] = []
    every, at = read.tokens, 0
    while at < len(every):
        first = every[at]
        while first.kind == "word" and _is_qualified(every[at : at + 3]):
            at += 2
        kind = "sign" if first.kind in ("operator", "bracket") else first.kind
        line, comment = read.line(first.start), read.comment_before(first.start)
        found.append(WhymlToken(kind, text[first.start : every[at].end], line, comment))
        at += 1
    return found


def _is_qualified(three: Sequence[why3_lexer.Why3Token]) -> bool:
    """Whether a word, a dot and a word stand right behind each other: ``Module.name``."""
    if len(three) < 3 or three[1].text != "." or three[2].kind != "word":
        return False
    return three[0].end == three[1].start and three[1].end == three[2].start
