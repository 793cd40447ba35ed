"""Splits Coq text into words and signs, after the rules of Coq's reference manual; for `sources`.

Comments are nested, and a string in a comment is a string: ``(* "*)" *)`` is one comment, and so is
``(* "(*" *)``; ``(*)`` opens a comment. In a string a quotation mark is written twice, and a backslash means
itself. None of this is so in WhyML, which has a lexer of its own (whyml/why3_lexer.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<comment>\(\*)
    |(?P<string>"(?:[^"]|"")*(?P<closed>"?))
    |(?P<word>[^\W\d][\w']*)
    |(?P<sign>\d[\w.]*(?<!\.)|\S)
    |\Z)""",
    re.VERBOSE,
)
_IN_COMMENT: Final = re.compile(r'(?P<open>\(\*)|(?P<close>\*\))|"(?:[^"]|"")*(?:"|\Z)')


class CoqToken(NamedTuple):
    """A word or a sign with its place; a string is the sign ``"``."""

    text: str
    start: int
    is_word: bool


@dataclass(frozen=True)
class CoqText:
    """A text as tokens.

    Args:
        text: all of it.
        tokens: in order, without space and comments.
        comments: the places of the outermost comments, as ``(start, end)``.
        open_at: where a comment or a string begins that does not end; None if there is none.
    """

    text: str
    tokens: tuple[CoqToken, ...]
    comments: tuple[tuple[int, int], ...]
    open_at: int | None

    def line(self, place: int) -> int:
        """The line of a place, counted from 1."""
        return self.text.count("\n", 0, place) + 1

    def word(self, at: int) -> str:
        """The word that is the token at this index; empty if that is none."""
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].is_word else ""

    def comment_before(self, place: int) -> str:
        """The documentation comment that ends directly before a place; empty where there is none."""
        begin, end = max((found for found in self.comments if found[1] <= place), default=(0, 0))
        said = self.text[begin:end]
        return said[3:-2] if said.startswith("(**") and not self.text[end:place].strip() else ""


@lru_cache(maxsize=128)  # a file is asked for its needs, its theorems and its words
def read_coq(text: str) -> CoqText:
    """Split a text."""
    found: list[CoqToken] = []
    comments: list[tuple[int, int]] = []
    at, open_at = 0, None
    while open_at is None and (match := _TOKEN.match(text, at)) and match.lastgroup:
        kind = match.lastgroup if match.lastgroup != "closed" else "string"
        start, at = match.span(kind)
        if kind == "comment":
            end = _end_of_comment(text, at)
            comments.append((start, end or len(text)))
            at, open_at = (end, None) if end else (at, start)
        elif kind == "string":
            found.append(CoqToken('"', start, is_word=False))
            open_at = None if match["closed"] else start
        else:
            found.append(CoqToken(match[kind], start, is_word=kind == "word"))
    return CoqText(text, tuple(found), tuple(comments), open_at)


def _end_of_comment(text: str, at: int) -> int:
    """Where the comment ends whose inside begins here; 0 if it does not end."""
    depth = 1
    while depth:
        mark = _IN_COMMENT.search(text, at)
        if mark is None:
            return 0
        at = mark.end()
        depth += 1 if mark["open"] else -1 if mark["close"] else 0
    return at
