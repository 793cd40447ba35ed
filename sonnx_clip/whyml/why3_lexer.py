"""Splits WhyML text into tokens as Why3 does; what this project does not write is refused by name."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

TokenKind: TypeAlias = Literal["word", "number", "operator", "bracket", "attribute", "other"]

# An alternative for each rule of Why3's lexer.mll, behind any space; the longest one first. A qualified name,
# ``Module.name``, is one word here.
_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<word>'?[A-Za-z_](?:'*[A-Za-z0-9_])*'*(?:\.'?[A-Za-z_](?:'*[A-Za-z0-9_])*'*)*)
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
# All but the breaks of lines, which keep their places where a comment is blanked out.
_VISIBLE: Final = re.compile(r"[^\n]")
_IN_COMMENT: Final = re.compile(r"\(\*\)|\(\*|\*\)")
_REFUSED: Final = {
    "star": "an operator as a name",
    "place": "a location attribute",
    "open": "an attribute that does not end",
    "string": "a string",
    "quoted": "a quote behind a bracket",
    "other": "a character that no theory here uses",
}
_PLAIN: Final = ("word", "operator", "bracket", "number")  # nothing more is to be said of them
_token: Final = tuple.__new__  # a million times: half of what `Token(...)` takes
# What an attribute of this project says: what a goal shows, of which kind it is, how C is printed.
_ATTRIBUTES: Final = ("name:", "shows:", "kind:", "extraction:c_static_inline")
_SHOWN: Final = 60  # characters of what is refused


class Why3Token(NamedTuple):
    """A token with its place: ``text[start:end]`` of the file."""

    kind: TokenKind
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class LexerRefusal:
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
    tokens: tuple[Why3Token, ...]
    comments: tuple[tuple[int, int], ...]
    refusals: tuple[LexerRefusal, ...]

    def between(self, start: int, end: int) -> str:
        """A part of the text without its comments, on one line."""
        parts = []
        at = start
        for begin, close in self.comments[bisect_right(self.comments, (start, 0)) :]:
            if begin >= end:
                break
            parts.append(self.text[at:begin])
            at = close
        parts.append(self.text[at:end])
        return " ".join(" ".join(parts).split())

    def comment_before(self, place: int) -> str:
        """The documentation comment that ends directly before a place; empty where there is none."""
        # The comments are in order: the last one that begins before the place is the nearest.
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
    def plain(self) -> str:
        """The text with its comments blanked out, line breaks kept, so that places stay the same."""
        parts: list[str] = []
        at = 0
        for begin, close in self.comments:
            parts.append(self.text[at:begin])
            comment = self.text[begin:close]
            parts.append(_VISIBLE.sub(" ", comment))
            at = close
        parts.append(self.text[at:])
        return "".join(parts)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]


def without_header(text: str) -> str:
    """The text with its header empty: that only names its specification, and nothing else changes."""
    # With it away, theories of two specifications that differ in nothing else share the caches here.
    header, end, body = text.partition("*)")
    if not end or not text.startswith("(* Generated by"):
        return text
    if "(*" in f"{header[2:]}*":  # a comment within the header; ``(*)`` ends none
        return text
    return "\n" * header.count("\n") + body


# A theory is asked for several times in a row, and its tokens take much memory.
@lru_cache(maxsize=128)
def why3_tokens(text: str) -> Tokens:
    """Split a text; what is not understood is among the refusals."""
    read: list[Why3Token] = []
    comments: list[tuple[int, int]] = []
    refusals: list[LexerRefusal] = []
    at = 0
    while at < len(text):
        # The last alternative fits every character: one match follows the other, up to a comment.
        for match in _TOKEN.finditer(text, at):
            kind = match.lastgroup
            start, at = match.span(kind or 0)
            if kind in _PLAIN:
                read.append(_token(Why3Token, (kind, text[start:at], start, at)))
                continue
            if kind is None or kind == "end":
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
            token_kind: TokenKind = "attribute" if kind == "attribute" else "other"
            read.append(Why3Token(token_kind, text[start:at], start, at))
    refusals += _more(text, read)
    refusals.sort(key=attrgetter("line"))
    return Tokens(text, tuple(read), tuple(comments), tuple(refusals))


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


def _more(text: str, read: list[Why3Token]) -> list[LexerRefusal]:
    """What single tokens do not show: operators in parentheses, which are names."""
    refusals = []
    for at, first in enumerate(read[:-2]):
        if first.text != "(":
            continue
        second = read[at + 1]
        third = read[at + 2]
        is_operator = second.kind == "operator" and third.text in (")", "_")
        if is_operator or second.text == "[":
            written = text[first.start : third.end]
            refusals.append(_refusal(text, first.start, "an operator as a name", written))
    return refusals


def known_attribute(text: str) -> bool:
    """Whether an attribute is one of this project."""
    return text[2:-1].strip().startswith(_ATTRIBUTES)


def _refusal(text: str, at: int, what: str, written: str) -> LexerRefusal:
    return LexerRefusal(text.count("\n", 0, at) + 1, what, " ".join(written.split())[:_SHOWN])
