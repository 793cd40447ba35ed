"""The SONNX page of Clip, parsed: what it lists in each chapter, each with its line.

Nothing here knows what the page should say: `sonnx_checks` compares it with the specification.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.spec.texts import Section, fold, plain, sections

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LIST = re.compile(r"\bis in \{([^}]*)\}")
_ROW = re.compile(r"^\|\s*`\[(?P<tag>\w+)\]`[^|]*\|(?P<statement>[^|]*)\|(?P<origin>[^|]*)\|\s*$")
_TENSOR = re.compile(r"^### \$(?P<tensor>\w+)\$:\s*(?P<types>.*)$")
_TAGGED = re.compile(r"^\s*- `\[(?P<tag>\w+)\]`(?P<title>.*)$")
_STATEMENT = re.compile(r"^\s*- Statement: (?P<text>.*)$")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MATRIX = re.compile(r"^(?P<name>[A-Z]) = \\begin\{bmatrix\}(?P<entries>.*)\\end\{bmatrix\}$")
_SCALAR = re.compile(r"^(?P<name>[LM]) = (?P<number>\S+)$")
_BRANCH = re.compile(
    r"^(?P<result>[XLM](?:\[i\])?) & \\text\{(?:if \} (?P<condition>.*?)|otherwise\})\s*(?:\\\\|\\end.*)?\s*$"
)


@dataclass(frozen=True)
class RestrictionRow:
    """A row of a chapter's table of restrictions."""

    line: int
    tag: str
    statement: str
    origin: str


@dataclass(frozen=True)
class Tagged:
    """A constraint as it stands below a tensor; `statement` is empty where it refers to another place."""

    line: int
    tensor: str
    tag: str
    title: str
    statement: str


@dataclass(frozen=True)
class Sentence:
    """A line that says what must be and has no tag."""

    line: int
    text: str


@dataclass(frozen=True)
class Matrices:
    """A worked example: the texts of its numbers; `lines` by name."""

    number: str
    line: int
    X: tuple[str, ...]
    L: str
    M: str
    Y: tuple[str, ...]


@dataclass(frozen=True)
class FormulaBranch:
    """A branch of the formula with cases: its condition as (left, sign, right), None for `otherwise`."""

    line: int
    result: str
    condition: tuple[str, str, str] | None


@dataclass(frozen=True)
class Chapter:
    """A chapter of the page.

    `types` are lists of type names by line, as it gives them several times. `unread` are lines that have a
    tag or a matrix and are of no form that is known here. `lines` are all but the reviewers' remarks.
    """

    title: str
    line: int
    types: tuple[tuple[int, tuple[str, ...]], ...]
    rows: tuple[RestrictionRow, ...]
    tagged: tuple[Tagged, ...]
    sentences: tuple[Sentence, ...]
    examples: tuple[Matrices, ...]
    branches: tuple[FormulaBranch, ...]
    unread: tuple[Sentence, ...]
    lines: tuple[str, ...]


def chapters(path: Path) -> tuple[Chapter, ...]:
    """The chapters on operators, in their order: those whose headings are of the first level."""
    found = [s for s in sections(path) if s.lines[0].startswith("# ") and "(" in s.title]
    return tuple(_chapter(section) for section in found)


def _chapter(section: Section) -> Chapter:
    numbered = [
        (section.first + index, line)
        for index, line in enumerate(section.lines)
        if not line.startswith(">")  # a reviewer's remark is no part of the page
    ]
    rows, tagged = tuple(_rows(numbered)), tuple(_constraints(numbered))
    read = {row.line for row in rows} | {constraint.line for constraint in tagged}
    return Chapter(
        title=section.title,
        line=section.first,
        types=tuple(_types(numbered)),
        rows=rows,
        tagged=tagged,
        sentences=tuple(_sentences(numbered)),
        examples=tuple(_examples(numbered)),
        branches=tuple(_branches(numbered)),
        unread=tuple(
            Sentence(number, fold(line))
            for number, line in numbered
            if number not in read and _looks_tagged(line)
        ),
        lines=tuple(line for _, line in numbered),
    )


def _looks_tagged(line: str) -> bool:
    """Whether a line defines a tag, or has a matrix of numbers that no example takes."""
    matrix = r"\begin{bmatrix}" in line and _MATRIX.match(line.strip()) is None
    return matrix or re.match(r"^\W*\[[A-Z]+\d+\]", line) is not None


def _types(lines: list[tuple[int, str]]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in lines:
        listed = _LIST.search(line) or _TENSOR.match(line)
        if listed is not None:
            names = tuple(name.strip() for name in listed[listed.lastindex or 0].split(","))
            yield number, names


def _rows(lines: list[tuple[int, str]]) -> Iterator[RestrictionRow]:
    for number, line in lines:
        row = _ROW.match(line)
        if row is not None:
            yield RestrictionRow(
                number, row["tag"], plain(row["statement"]), plain(_LINK.sub(r"\1", row["origin"]))
            )


def _constraints(lines: list[tuple[int, str]]) -> Iterator[Tagged]:
    tensor = ""
    open_: tuple[int, str, str] | None = None
    for number, line in lines:
        if line.startswith("#") and not line.startswith("### Constraints"):
            heading = _TENSOR.match(line)
            tensor = heading["tensor"] if heading else ""
        tag, statement = _TAGGED.match(line), _STATEMENT.match(line)
        if tag is not None:
            open_ = number, tag["tag"], plain(tag["title"])
        elif statement is not None and open_ is not None:
            at, name, title = open_
            text = "" if "see constraint" in statement["text"] else plain(statement["text"])
            yield Tagged(at, tensor, name, title, text)
            open_ = None


def _sentences(lines: list[tuple[int, str]]) -> Iterator[Sentence]:
    for number, line in lines:
        tabled = line.startswith(("|", "#")) or _STATEMENT.match(line)
        if not tabled and re.search(r"\b(must|shall)\b", line):
            yield Sentence(number, fold(line))


def _examples(lines: list[tuple[int, str]]) -> Iterator[Matrices]:
    """The worked examples; the last matrix of a name counts: Y is first written as a formula."""
    found: dict[str, tuple[str, ...]] = {}
    at, number = 0, ""
    for line, text in (*lines, (0, "## end")):
        if text.startswith("#"):
            if found:
                x, y = found.get("A", ()), found.get("Y", ())
                (low,), (high,) = found.get("L", ("",)), found.get("M", ("",))
                yield Matrices(number, at, x, low, high, y)
            found = {}
            heading = re.match(r"### Example (\d+)$", text)
            at, number = (line, heading[1]) if heading else (0, "")
        elif number and (matrix := _MATRIX.match(text.strip())):
            found[matrix["name"]] = tuple(entry.strip() for entry in matrix["entries"].split("&"))
        elif number and (scalar := _SCALAR.match(text.strip())):
            found[scalar["name"]] = (scalar["number"],)


_SIGNS = {r"\lt": "<", r"\leq": "<=", r"\gt": ">", r"\geq": ">=", "<": "<", ">": ">", "=": "=="}


def _branches(lines: list[tuple[int, str]]) -> Iterator[FormulaBranch]:
    for number, line in lines:
        branch = _BRANCH.match(line.strip())
        if branch is None:
            continue
        condition = None
        if branch["condition"] is not None:
            parts = branch["condition"].removesuffix("}").replace("[i]", "").split()
            if len(parts) != 3 or parts[1] not in _SIGNS:
                continue
            condition = (parts[0], _SIGNS[parts[1]], parts[2])
        yield FormulaBranch(number, branch["result"].replace("[i]", ""), condition)
