"""A source text split into what it says, in order: sentences, list items, rows, formulas, code, remarks.

Nothing here knows what a text should say. What is left out between two items has no letter and no digit.
`spec/coverage.yaml` has an answer for each item.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.spec.texts import plain, sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

WordsKind: TypeAlias = Literal[
    "heading", "sentence", "list item", "table row", "formula", "code", "remark", "anchor", "directive"
]

_MARKDOWN_RULE = re.compile(r"^[\s|:-]+$")
_UNDERLINE = re.compile(r"^(=+|-+|~+)$")
_BOLD = re.compile(r"^\*\*[^*]+\*\*$")
_ANCHOR = re.compile(r"^<a id=\"[^\"]*\"></a>$")
_BULLET = re.compile(r"^\s*[-*•] ")
_END = re.compile(r"(?<!\.)[.!?][\"'’)\]]*$")
_BEGIN = re.compile(r"^[\"'‘(\[`$*]*[A-Z]")
_TEST = re.compile(r"\bname='[^']*'\)$")
_VERSION = re.compile(r"- \d+$")


@dataclass(frozen=True)
class Item:
    """Something that a text says.

    Args:
        line: of the file, from 1, at which it begins.
        section: the headings above it, the outermost first.
        kind: what it is.
        text: its words with their marks, one space between them.
        start: the place of its first character in the text of the file with one space between words.
        end: the place after its last one.
    """

    line: int
    section: tuple[str, ...]
    kind: WordsKind
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class _Block:
    """Lines from `first` up to `last`, which is not in it, that belong together."""

    kind: WordsKind
    first: int
    last: int


@cache
def items(path: Path) -> tuple[Item, ...]:
    """What a text says, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    words = _Words(lines)
    levels = {section.first - 1: _level(path, section.lines[0]) for section in sections(path)}
    found: list[Item] = []
    above: list[tuple[int, str]] = []
    for block in _BLOCKS.get(path.suffix, _plain_blocks)(lines, frozenset(levels)):
        if block.kind == "heading":
            level = levels.get(block.first, 2)
            above = [(other, title) for other, title in above if other < level]
            above.append((level, plain(lines[block.first])))
        section = tuple(title for _, title in above)
        for first, last in words.parts(block):
            start, end = words.starts[first], words.starts[last - 1] + len(words.words[last - 1])
            text = " ".join(words.words[first:last])
            found.append(Item(words.lines[first] + 1, section, block.kind, text, start, end))
    return tuple(found)


def places_of(path: Path, quote: str, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where a quotation that begins on one of these lines begins and ends: places as those of items."""
    words = _words_of(path)
    wanted = " ".join(quote.split())
    at = words.text.find(wanted)
    while at >= 0:
        if words.lines[bisect_right(words.starts, at) - 1] + 1 in lines:
            yield at, at + len(wanted)
        at = words.text.find(wanted, at + 1)


@cache
def _words_of(path: Path) -> _Words:
    return _Words(path.read_text(encoding="utf-8").splitlines())


class _Words:
    """The words of a text, each with its line and its place in the text with one space between them."""

    def __init__(self, lines: Sequence[str]) -> None:
        pairs = [(word, number) for number, line in enumerate(lines) for word in line.split()]
        self.words = [word for word, _ in pairs]
        self.lines = [number for _, number in pairs]
        self.text = " ".join(self.words)
        self.starts: list[int] = []
        offset = 0
        for word in self.words:
            self.starts.append(offset)
            offset += len(word) + 1

    def parts(self, block: _Block) -> Iterator[tuple[int, int]]:
        """The words of a block, from one up to another: one part, or a part for each sentence."""
        first = bisect_right(self.lines, block.first - 1)
        last = bisect_right(self.lines, block.last - 1)
        if block.kind in ("sentence", "list item"):
            for index in range(first, last - 1):
                if _END.search(self.words[index]) and _BEGIN.match(self.words[index + 1]):
                    yield first, index + 1
                    first = index + 1
        if any(character.isalnum() for word in self.words[first:last] for character in word):
            yield first, last


def _level(path: Path, heading: str) -> int:
    if path.suffix == ".md":
        return len(heading) - len(heading.lstrip("#"))
    if path.suffix == ".rst":
        return 2 if _BOLD.match(heading) else 1
    return 1 if _VERSION.search(heading.strip()) else 2


def _until(lines: Sequence[str], first: int, ends: Callable[[str], bool]) -> int:
    """The first line from `first` on that ends a block, or the number of lines."""
    return next((index for index in range(first, len(lines)) if ends(lines[index])), len(lines))


def _markdown_blocks(lines: Sequence[str], headings: frozenset[int]) -> Iterator[_Block]:
    index = 0
    while index < len(lines):
        line, after = lines[index].strip(), index + 1
        kind: WordsKind | None = "sentence"
        if not line or (line.startswith("|") and _MARKDOWN_RULE.match(line)):
            kind = None
        elif index in headings:
            kind = "heading"
        elif line.startswith(">"):
            kind, after = "remark", _until(lines, index, lambda other: not other.startswith(">"))
        elif line.startswith(("```", "$$")) and line in ("```math", "```", "$$"):
            kind, after = (
                "formula",
                _until(lines, index + 1, lambda other: other.strip() in ("```", "$$")) + 1,
            )
        elif line.startswith("|"):
            kind = "table row"
        elif _ANCHOR.match(line):
            kind = "anchor"
        else:
            kind = "list item" if _BULLET.match(lines[index]) else "sentence"
            after = _until(lines, index + 1, _begins_markdown)
        if kind is not None:
            yield _Block(kind, index, after)
        index = after


def _begins_markdown(line: str) -> bool:
    """Whether a line is no continuation of the paragraph or list item before it."""
    begins = line.startswith(("#", ">", "|", "```", "$$", "<a id=")) or _BULLET.match(line)
    return not line.strip() or bool(begins)


def _restructured_blocks(lines: Sequence[str], headings: frozenset[int]) -> Iterator[_Block]:
    index = 0
    while index < len(lines):
        line, after = lines[index].rstrip(), index + 1
        if index in headings:
            yield _Block("heading", index, after)
        elif line.startswith(".. "):
            after = _until(lines, index + 1, lambda other: not other.startswith(" "))
            yield _Block("directive", index, after)
        elif line == "::":
            after = _until(lines, index + 1, lambda other: bool(other.strip()) and not other.startswith(" "))
            yield from _tests(lines, index + 1, after)
        elif line.startswith("* "):
            after = _until(lines, index + 1, lambda other: not other.startswith("  "))
            colon = _until(lines, index, lambda other: other.rstrip().endswith(":")) + 1
            if colon < after:
                yield _Block("list item", index, colon)
            yield _Block("list item", colon if colon < after else index, after)
        elif line and not _UNDERLINE.match(line):
            after = _until(lines, index + 1, lambda other: not other.strip())
            yield _Block("sentence", index, after)
        index = after


def _tests(lines: Sequence[str], first: int, last: int) -> Iterator[_Block]:
    """A block of code of several tests: each ends with its name."""
    for index in range(first, last):
        if _TEST.search(lines[index].rstrip()):
            yield _Block("code", first, index + 1)
            first = index + 1
    if any(line.strip() for line in lines[first:last]):
        yield _Block("code", first, last)


def _plain_blocks(lines: Sequence[str], headings: frozenset[int]) -> Iterator[_Block]:
    """Of a text without marks, blank lines part the blocks."""
    index = 0
    while index < len(lines):
        if not lines[index].strip():
            index += 1
            continue
        after = _until(lines, index, lambda other: not other.strip())
        first, last = lines[index], lines[after - 1].strip()
        if index in headings and not first.startswith(" ") and ":" not in first:
            yield _Block("heading", index, after)
        elif _BULLET.match(first):
            yield _Block("list item", index, after)
        elif last in ("}", "};"):
            yield from (_Block("code", at, at + 1) for at in range(index, after))
        elif after - index > 1 and not last.endswith("."):
            yield from (_Block("table row", at, at + 1) for at in range(index, after))
        else:
            formula = after - index == 1 and "=" in last and not last.endswith(".")
            yield _Block("formula" if formula else "sentence", index, after)
        index = after


_BLOCKS = {".md": _markdown_blocks, ".rst": _restructured_blocks}
