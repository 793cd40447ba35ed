"""WhyML text as tokens, each with its line and the comment before it, which says what a declaration means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sonnx_clip.errors import UserError

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>\(\*(?!\)))
    |(?P<attribute>\[(?:@|\#)[^\]]*\])
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<number>0x[0-9a-fA-F]+(?![\w'])|\d+\.\d*(?:[eE][+-]?\d+)?|\d+(?![\w']))
    |(?P<word>[A-Za-z_][\w']*(?:\.[A-Za-z_][\w']*)*)
    |(?P<sign><->|->|<-|<=\.|>=\.|/\\|\\/|<>|<=|>=|&&|\|\||<\.|>\.|\+\.|-\.|\*\.|[-+*/<>=()\[\]{}|:;,.])""",
    re.VERBOSE | re.DOTALL,
)
_EDGE = re.compile(r"\(\*(?!\))|\*\)")


@dataclass(frozen=True)
class Token:
    """A word, sign, number, string or attribute.

    Args:
        kind: ``word``, ``sign``, ``number``, ``string`` or ``attribute``.
        text: as it stands in the file.
        line: counted from 1.
        comment: the comment that ends right before it, whitespace reduced; empty if there is none.
    """

    kind: str
    text: str
    line: int
    comment: str = ""


def tokens(text: str, where: str) -> list[Token]:
    """The tokens of a text; UserError at what belongs to no token."""
    found: list[Token] = []
    at, line, comment = 0, 1, ""
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise UserError(f"`{text[at]}` is in no word or sign that is known here", f"{where}:{line}")
        kind = str(match.lastgroup)
        end = match.end()
        if kind == "comment":
            end = _end_of_comment(text, at, f"{where}:{line}")
            if text.startswith("(**", at):
                comment = " ".join(text[at + 3 : end - 2].split())
        elif kind != "space":
            found.append(Token(kind, match[0], line, comment))
            comment = ""
        line += text.count("\n", at, end)
        at = end
    return found


def _end_of_comment(text: str, at: int, where: str) -> int:
    depth = 0
    while edge := _EDGE.search(text, at):
        depth += 1 if edge[0] == "(*" else -1
        at = edge.end()
        if not depth:
            return at
    raise UserError("a comment does not end", where)
