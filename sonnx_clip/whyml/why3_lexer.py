"""Splits WhyML text into tokens after Why3's own lexer, and refuses by name what this project does not write.

Strings, location attributes, operators as names and characters beyond ASCII outside of comments are legal for
Why3. They can hide an axiom, and none is needed here. So each becomes a refusal, and the text behind it is
still read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

TokenKind: TypeAlias = Literal["word", "number", "operator", "bracket", "attribute", "other"]

# An alternative for each rule of Why3's lexer.mll, behind any space; the longest one first.
_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<word>'?[A-Za-z_](?:'*[A-Za-z0-9_])*'*)
    |(?P<number>(?:0[xX][0-9A-Fa-f_]+(?:\.[0-9A-Fa-f]*)?(?:[pP][+-]?[0-9]+)?|0[oO][0-7_]+|0[bB][01_]+
        |[0-9][0-9_]*(?:\.(?!\.)[0-9]*)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_']))
    |(?P<star>\(\*\))
    |(?P<comment>\(\*)
    |(?P<place>\[\#[^\]\n]*\]?)
    |(?P<attribute>\[@[ \t\r]*[^ \n\]]+(?:[ ]+[^ \n\]]+)*[ \t\r]*\])
    |(?P<open>\[@)
    |(?P<string>"(?:[^"\\]|\\.)*"?)
    |(?P<quoted>\]'+|\)(?:'+[A-Za-z]|_[A-Za-z])[A-Za-z0-9_']*)
    |(?P<bracket>[()\[\]{},;])
    |(?P<operator>[=<>~+\-*/\\%!$&?@^.:|\#]+'*)
    |(?P<end>\Z)
    |(?P<other>.))""",
    re.VERBOSE | re.DOTALL,
)
_IN_COMMENT: Final = re.compile(r"\(\*\)|\(\*|\*\)")
_REFUSED: Final = {
    "star": "an operator as a name",
    "place": "a location attribute",
    "open": "an attribute that does not end",
    "string": "a string",
    "quoted": "a quote behind a bracket",
    "other": "a character that stands in no theory here",
}
# What an attribute of this project says: what a goal shows, of which kind it is, how C is printed.
_ATTRIBUTES: Final = ("shows:", "kind:", "extraction:c_static_inline")
_SHOWN: Final = 60  # characters of what is refused


class Token(NamedTuple):
    """A token with its place: ``text[start:end]`` of the file."""

    kind: TokenKind
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Refusal:
    """Something that Why3 accepts and this reader does not.

    Args:
        line: where, counted from 1.
        what: what it is.
        text: how it is written.
    """

    line: int
    what: str
    text: str


@dataclass(frozen=True)
class Tokens:
    """A text as tokens.

    Args:
        text: all of it.
        tokens: in order, without space and comments.
        comments: the places of the outermost comments, as ``(start, end)``.
        refusals: what is not understood.
    """

    text: str
    tokens: tuple[Token, ...]
    comments: tuple[tuple[int, int], ...]
    refusals: tuple[Refusal, ...]

    def between(self, start: int, end: int) -> str:
        """A part of the text without its comments, on one line."""
        parts, at = [], start
        for begin, close in self.comments:
            if begin >= start and close <= end:
                parts.append(self.text[at:begin])
                at = close
        parts.append(self.text[at:end])
        return " ".join(" ".join(parts).split())

    def comment_before(self, place: int) -> str:
        """The documentation comment that ends directly before a place; empty where there is none."""
        after = bisect_right(self.comments, (place, 0))
        begin, close = self.comments[after - 1] if after else (0, 0)
        said = self.text[begin:close]
        if not said.startswith("(**") or self.text[close:place].strip():
            return ""
        return " ".join(said[3:-2].split())

    def line(self, place: int) -> int:
        """The line of a place, counted from 1."""
        return bisect_right(self._line_ends, place - 1) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]


@lru_cache(maxsize=512)
def tokens(text: str) -> Tokens:
    """Split a text; what is not understood is among the refusals."""
    found: list[Token] = []
    comments: list[tuple[int, int]] = []
    refusals: list[Refusal] = []
    at = 0
    while at < len(text):
        # The last alternative fits every character: one match follows the other, up to a comment.
        for match in _TOKEN.finditer(text, at):
            kind = str(match.lastgroup)
            start, at = match.span(match.lastindex or 0)
            if kind == "end":
                break
            if kind == "comment":
                at = _end_of_comment(text, at)
                comments.append((start, abs(at)))
                if at < 0:
                    refusals.append(_refusal(text, start, "a comment that does not end", "(*"))
                    at = len(text)
                break
            if kind in _REFUSED:
                refusals.append(_refusal(text, start, _REFUSED[kind], text[start:at]))
                kind = "other"
            found.append(Token(kind, text[start:at], start, at))  # type: ignore[arg-type]
    refusals += _more(text, found)
    return Tokens(text, tuple(found), tuple(comments), tuple(sorted(refusals, key=lambda r: r.line)))


def _end_of_comment(text: str, at: int) -> int:
    """Where the comment ends whose inside begins here; the end of the text, negative, if it does not end.

    As for Why3, a quotation mark means nothing in a comment, and ``(*)`` opens none.
    """
    depth = 1
    while depth:
        mark = _IN_COMMENT.search(text, at)
        if mark is None:
            return -len(text)
        at = mark.end()
        depth += {"(*": 1, "*)": -1}.get(mark[0], 0)
    return at


def _more(text: str, found: list[Token]) -> list[Refusal]:
    """What single tokens do not show: operators in parentheses, which are names."""
    refusals = []
    for at, first in enumerate(found[:-2]):
        if first.text != "(":
            continue
        second, third = found[at + 1], found[at + 2]
        named = second.kind == "operator" and third.text in (")", "_")
        if named or second.text == "[":
            what = text[first.start : third.end]
            refusals.append(_refusal(text, first.start, "an operator as a name", what))
    return refusals


def known_attribute(text: str) -> bool:
    """Whether an attribute is one of this project."""
    return text[2:-1].strip().startswith(_ATTRIBUTES)


def _refusal(text: str, at: int, what: str, written: str) -> Refusal:
    return Refusal(text.count("\n", 0, at) + 1, what, " ".join(written.split())[:_SHOWN])
