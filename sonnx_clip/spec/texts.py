"""The texts that the specification quotes: their sections, the lines at which words stand, and that they are
those that were read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sonnx_clip.spec.model import Spec


_TAG = re.compile(r"<[^>]*>")
_DECORATION = re.compile(r"[*`$\\]")


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, subsections included.

    Args:
        title: the heading without decoration.
        first: the line of the heading, from 1.
        lines: its lines, the heading first.
    """

    title: str
    first: int
    lines: tuple[str, ...]

    def places(self, quote: str) -> Iterator[int]:
        """The lines at which a quotation begins; only white space may differ."""
        text, starts, numbers = self._words()
        wanted = fold(quote)
        at = text.find(wanted) if wanted else -1
        while at >= 0:
            yield numbers[bisect_right(starts, at) - 1]
            at = text.find(wanted, at + 1)

    def _words(self) -> tuple[str, list[int], list[int]]:
        return _words_of(self.first, self.lines)


@cache
def _words_of(first: int, lines: tuple[str, ...]) -> tuple[str, list[int], list[int]]:
    """The folded text, and for each word of it where it begins and the line that it is on."""
    words = [(word, first + index) for index, line in enumerate(lines) for word in line.split()]
    starts, offset = [], 0
    for word, _ in words:
        starts.append(offset)
        offset += len(word) + 1
    return " ".join(word for word, _ in words), starts, [line for _, line in words]


@cache
def sections(path: Path) -> tuple[Section, ...]:
    """The sections of a text, in their order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    headings = _HEADINGS.get(path.suffix, _plain)(lines)
    found = []
    for position, (start, level) in enumerate(headings):
        end = next((line for line, other in headings[position + 1 :] if other <= level), len(lines))
        found.append(Section(plain(lines[start]), start + 1, tuple(lines[start:end])))
    return tuple(found)


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
    padded = ["", *lines, ""]
    alone = [
        index
        for index, line in enumerate(lines)
        if 0 < len(line.strip()) <= 60
        and not padded[index].strip()
        and not padded[index + 2].strip()
        and not line.rstrip().endswith(".")
        and "=" not in line
    ]
    return [(index, 1 if re.search(r"- \d+$", lines[index].strip()) else 2) for index in alone]


_HEADINGS = {".md": _markdown, ".rst": _restructured}


@dataclass(frozen=True)
class SourceText:
    """A text with one space between words.

    Args:
        words: the text.
        starts: where each word begins.
        lines: the line of each word in the file, from 1.
    """

    words: str
    starts: list[int]
    lines: list[int]

    @classmethod
    def of(cls, path: Path) -> SourceText:
        """The text of a file."""
        return cls(*_words_of(1, tuple(path.read_text(encoding="utf-8").splitlines())))

    def line(self, at: int) -> int:
        """The line of what stands at a place."""
        return self.lines[max(0, bisect_right(self.starts, at) - 1)]

    def find(self, words: str, to: str | None, at: int) -> tuple[int, int]:
        """Where words begin and end, at a place or later, `to` being the last ones; -1 where they are not."""
        start = self.words.find(fold(words), at)
        end = start + len(fold(words))
        if to is not None and start >= 0:
            last = self.words.find(fold(to), end)
            return (start, last + len(fold(to))) if last >= 0 else (-1, -1)
        return start, end

    def spans(self, quote: str, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Where a quotation that begins on one of these lines begins and ends."""
        start, end = self.find(quote, None, 0)
        while start >= 0:
            if self.line(start) in lines:
                yield start, end
            start, end = self.find(quote, None, start + 1)


def fold(text: str) -> str:
    """A text with one space wherever it has white space."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """A text without marks of Markdown and HTML: headings, code, mathematics, anchors."""
    return fold(_DECORATION.sub("", _TAG.sub("", text)).lstrip("# "))


# --- spec/sources/SHA256SUMS: the texts are those that were read when the entries were written --------------
#
# A word that no quotation takes can change what a text means. `sha256sum --check` reads the same file.


FOLDER = "spec/sources"
SUMS = f"{FOLDER}/SHA256SUMS"


def require_sources(spec: Spec) -> None:
    """UserError for the first text that is not the one whose digest is kept, or whose digest is not kept."""
    sums = repo_file(SUMS)
    if not sums.is_file():
        raise UserError("it is missing", SUMS, f"restore it: git checkout {SUMS}")
    lines = [line.split() for line in sums.read_text(encoding="utf-8").splitlines() if line.strip()]
    kept = {f"{FOLDER}/{line[-1]}": line[0] for line in lines}
    for file in dict.fromkeys(page.file for page in spec.sources):
        if file not in kept:
            raise UserError(f"it has no digest in {SUMS}", file, _accept(file))
        if digest_of_file(repo_file(file)) != kept[file]:
            what = f"the text is not the one whose digest stands in {SUMS}"
            raise UserError(what, file, f"restore it, or read it again and {_accept(file)}")


def _accept(file: str) -> str:
    return f"write its digest there: sha256sum {file}"
