"""The texts that the specification quotes: their words, the lines of these, and their sections."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TAG = re.compile(r"<[^>]*>")
_DECORATION = re.compile(r"[*`$\\]")


@dataclass(frozen=True)
class Section:
    """A heading and the text below it, subsections included."""

    title: str  # the heading without decoration
    first: int  # the line of the heading, from 1
    lines: tuple[str, ...]  # the heading first

    def __contains__(self, line: int) -> bool:
        """Whether a line of the file is in it."""
        return self.first <= line < self.first + len(self.lines)


class SourceText:
    """A text with one space between words, and its sections; the suffix of its file tells their marks."""

    def __init__(self, suffix: str, text: str) -> None:
        lines = text.splitlines()
        words = [(word, number) for number, line in enumerate(lines, 1) for word in line.split()]
        self.words = " ".join(word for word, _ in words)
        self._lines = [number for _, number in words]
        self._starts = [0, *accumulate(len(word) + 1 for word, _ in words)]
        headings = _HEADINGS.get(suffix, _plain)(lines)
        ends = [
            next((line for line, other in headings[index + 1 :] if other <= level), len(lines))
            for index, (_, level) in enumerate(headings)
        ]
        self.sections = tuple(
            Section(plain(lines[start]), start + 1, tuple(lines[start:end]))
            for (start, _), end in zip(headings, ends, strict=True)
        )

    def line(self, at: int) -> int:
        """The line of a place."""
        return self._lines[max(0, bisect_right(self._starts, at) - 1)]

    def find(self, words: str, to: str | None, at: int) -> tuple[int, int]:
        """Where words begin and end, at a place or later, `to` being the last ones; -1 where they are not."""
        words, last = fold(words), fold(to or "")
        start = self.words.find(words, at)
        end = self.words.find(last, start + len(words)) if start >= 0 else -1
        return (start, end + len(last)) if end >= 0 else (-1, -1)

    def spans(self, title: str, quote: str) -> list[tuple[int, int]] | None:
        """Where a quotation begins and ends in sections of a title; None if there is no such section."""
        bodies = [section for section in self.sections if section.title == plain(title)]
        found, (start, end) = [], self.find(quote, None, 0)
        while start >= 0:
            if any(self.line(start) in body and self.line(end - 1) in body for body in bodies):
                found.append((start, end))
            start, end = self.find(quote, None, start + 1)
        return found if bodies else None


def source_text(path: Path) -> SourceText:
    """The text of a file; each content is read once."""
    return _source_text(path.suffix, path.read_text(encoding="utf-8"))


_source_text = lru_cache(maxsize=64)(SourceText)


def _markdown(lines: list[str]) -> list[tuple[int, int]]:
    """Line and level of each heading."""
    marks = ((index, len(line) - len(line.lstrip("#"))) for index, line in enumerate(lines))
    return [(index, level) for index, level in marks if level]


def _restructured(lines: list[str]) -> list[tuple[int, int]]:
    """In reStructuredText a title has a line below it, as long; bold words alone are one level lower."""
    found = []
    for index, line in enumerate(lines):
        below = lines[index + 1].rstrip() if index + 1 < len(lines) else ""
        if line.strip() and below and set(below) <= set("=-~") and len(below) >= len(line.rstrip()):
            found.append((index, 1))
        elif re.fullmatch(r"\*\*[^*]+\*\*", line):
            found.append((index, 2))
    return found


def _plain(lines: list[str]) -> list[tuple[int, int]]:
    """In a text without marks, a title is a short line alone between blank lines; no sentence, no formula.

    One that ends in a number, as `Clip - 13`, lasts to the next such; any other only to the next title.
    """
    padded = ["", *(line.strip() for line in lines), ""]
    return [
        (index, 1 if re.search(r"- \d+$", line) else 2)
        for index, (above, line, below) in enumerate(
            zip(padded, padded[1:], padded[2:], strict=False)
        )
        if 0 < len(line) <= 60
        and not above
        and not below
        and not line.endswith(".")
        and "=" not in line
    ]


_HEADINGS = {".md": _markdown, ".rst": _restructured}


def fold(text: str) -> str:
    """A text with one space wherever it has white space."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """A text without marks of Markdown and HTML: headings, code, mathematics, anchors."""
    return fold(_DECORATION.sub("", _TAG.sub("", text)).lstrip("# "))
