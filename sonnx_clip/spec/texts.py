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
        words: list[str] = []
        self._lines: list[int] = []  # of each word
        for number, line in enumerate(lines, 1):
            of_line = line.split()
            words += of_line
            self._lines += [number] * len(of_line)
        self.words = " ".join(words)
        self._starts = [0, *accumulate(len(word) + 1 for word in words)]

        headings = _HEADINGS.get(suffix, _plain)(lines)
        sections = []
        for index, (start, level) in enumerate(headings):
            following = (line for line, other in headings[index + 1 :] if other <= level)
            end = next(following, len(lines))
            sections.append(Section(plain(lines[start]), start + 1, tuple(lines[start:end])))
        self.sections = tuple(sections)

    def line(self, at: int) -> int:
        """The line of a place."""
        word = bisect_right(self._starts, at) - 1
        return self._lines[max(0, word)]

    def find(self, words: str, to: str | None, at: int) -> tuple[int, int]:
        """Where words begin and end, at a place or later, `to` being the last ones; -1 where they are not."""
        first, last = fold(words), fold(to or "")
        start = self.words.find(first, at)
        if start < 0:
            return -1, -1
        end = self.words.find(last, start + len(first))
        return (start, end + len(last)) if end >= 0 else (-1, -1)

    def spans(self, title: str, quote: str) -> list[tuple[int, int]] | None:
        """Where a quotation begins and ends in sections of a title; None if there is no such section."""
        wanted = plain(title)
        sections = [section for section in self.sections if section.title == wanted]
        if not sections:
            return None
        spans = []
        start, end = self.find(quote, None, 0)
        while start >= 0:
            first, last = self.line(start), self.line(end - 1)
            if any(first in section and last in section for section in sections):
                spans.append((start, end))
            start, end = self.find(quote, None, start + 1)
        return spans


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
    headings = []
    padded = ["", *(line.strip() for line in lines), ""]
    for index, (above, line, below) in enumerate(zip(padded, padded[1:], padded[2:], strict=False)):
        stands_alone = not above and not below
        is_short = 0 < len(line) <= 60
        is_title = not line.endswith(".") and "=" not in line
        if stands_alone and is_short and is_title:
            ends_in_number = re.search(r"- \d+$", line) is not None
            headings.append((index, 1 if ends_in_number else 2))
    return headings


_HEADINGS = {".md": _markdown, ".rst": _restructured}


def fold(text: str) -> str:
    """A text with one space wherever it has white space."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """A text without marks of Markdown and HTML: headings, code, mathematics, anchors."""
    return fold(_DECORATION.sub("", _TAG.sub("", text)).lstrip("# "))
