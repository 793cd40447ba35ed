"""The texts that the specification quotes: their words, the lines of these, and their sections."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TAG = re.compile(r"<[^>]*>")
_DECORATION = re.compile(r"[*`$\\]")
_LONGEST_TITLE = 60  # characters


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
            words_of_line = line.split()
            words += words_of_line
            self._lines += [number] * len(words_of_line)
        # Sources break lines where quotations do not, so both are compared with single spaces.
        self.words = " ".join(words)
        lengths = [len(word) + 1 for word in words]  # with the space behind it
        self._starts = [0, *accumulate(lengths)]  # of each word, and the end
        self.sections = tuple(_sections(lines, suffix))

    def line(self, at: int) -> int:
        """The line of a place."""
        # The place is in the last word that begins at it or before.
        word = bisect_right(self._starts, at) - 1
        return self._lines[max(0, word)]

    def find(self, words: str, to: str | None, at: int) -> tuple[int, int]:
        """Where words begin and end, at a place or later, `to` being the last ones; -1 where they are not."""
        first = fold(words)
        last = fold(to or "")
        start = self.words.find(first, at)
        if start < 0:
            return -1, -1
        # Without `to` the last words are empty, and found right behind the first ones.
        start_of_last = self.words.find(last, start + len(first))
        if start_of_last < 0:
            return -1, -1
        return start, start_of_last + len(last)

    def spans(self, title: str, quote: str) -> list[tuple[int, int]] | None:
        """Where a quotation begins and ends in sections of a title; None if there is no such section."""
        plain_title = plain(title)
        # Several versions of an operator on one page have sections of the same titles.
        sections = [section for section in self.sections if section.title == plain_title]
        if not sections:
            return None
        spans = []
        start, end = self.find(quote, None, 0)
        while start >= 0:
            first_line = self.line(start)
            last_line = self.line(end - 1)
            for section in sections:
                if first_line in section and last_line in section:
                    spans.append((start, end))
                    break
            # The next one may begin within this one.
            start, end = self.find(quote, None, start + 1)
        return spans


def source_text(path: Path) -> SourceText:
    """The text of a file; each content is read once."""
    return _source_text(path.suffix, path.read_text(encoding="utf-8"))


_source_text = lru_cache(maxsize=64)(SourceText)


class _Heading(NamedTuple):
    """A heading of a text."""

    place: int  # of its line, from 0
    level: int  # 1 for the uppermost


def _markdown(lines: list[str]) -> Iterator[_Heading]:
    for index, line in enumerate(lines):
        level = len(line) - len(line.lstrip("#"))
        if level:
            yield _Heading(index, level)


def _restructured(lines: list[str]) -> Iterator[_Heading]:
    """In reStructuredText a title has a line below it, as long; bold words alone are one level lower."""
    lines_below = [*lines[1:], ""]
    for index, (line, below) in enumerate(zip(lines, lines_below, strict=True)):
        title = line.rstrip()
        underline = below.rstrip()
        is_as_long = len(underline) >= len(title) > 0
        if is_as_long and set(underline) <= set("=-~"):
            yield _Heading(index, 1)
        elif re.fullmatch(r"\*\*[^*]+\*\*", line):
            yield _Heading(index, 2)


def _plain(lines: list[str]) -> Iterator[_Heading]:
    """In a text without marks, a title is a short line alone between blank lines; no sentence, no formula.

    One that ends in a number, as `Clip - 13`, lasts to the next such; any other only to the next title.
    """
    # With a blank line before the first one and behind the last one.
    padded = ["", *(line.strip() for line in lines), ""]
    for index in range(len(lines)):
        above, line, below = padded[index : index + 3]
        stands_alone = above == below == ""
        if stands_alone and _is_title(line):
            ends_in_number = re.search(r"- \d+$", line) is not None
            yield _Heading(index, 1 if ends_in_number else 2)


def _is_title(line: str) -> bool:
    """Whether a line of a text without marks is short, and no sentence and no formula."""
    is_short = 0 < len(line) <= _LONGEST_TITLE
    return is_short and not line.endswith(".") and "=" not in line


_HEADINGS = {".md": _markdown, ".rst": _restructured}


def _sections(lines: list[str], suffix: str) -> Iterator[Section]:
    """The sections of a text, each with its subsections."""
    find_headings = _HEADINGS.get(suffix, _plain)
    headings = list(find_headings(lines))
    for position, heading in enumerate(headings):
        # A section ends at the next heading that is not below its own.
        end = len(lines)
        for other in headings[position + 1 :]:
            if other.level <= heading.level:
                end = other.place
                break
        start = heading.place
        yield Section(
            title=plain(lines[start]),
            first=start + 1,
            lines=tuple(lines[start:end]),
        )


def fold(text: str) -> str:
    """A text with one space wherever it has white space."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """A text without marks of Markdown and HTML: headings, code, mathematics, anchors."""
    without_tags = _TAG.sub("", text)
    return fold(_DECORATION.sub("", without_tags).lstrip("# "))
