"""Checks that each quotation stands in the text it is said to come from, in the section it names."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.paths import repo_file
from sonnx_clip.spec.finding import Finding
from sonnx_clip.spec.names import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.spec.model import Spec
    from sonnx_clip.spec.types import Source

_TAG = re.compile(r"<[^>]*>")
_DECORATION = re.compile(r"[*`$\\]")
_SHORTEST = 12  # characters of a quotation
_SECTIONS = ("families", "restrictions", "constraints", "cases", "properties", "readings", "examples")


def check_quotes(spec: Spec) -> Iterator[Finding]:
    """Findings about pages that are not there, sections they lack, and words they do not say."""
    missing = set()
    for index, page in enumerate(spec.sources):
        if not repo_file(page.file).is_file():
            missing.add(page.id)
            yield Finding(
                ("sources", index, "file"), f"there is no file {page.file}", "give its path in the repository"
            )
    pages = {page.id: repo_file(page.file) for page in spec.sources if page.id not in missing}
    for section in _SECTIONS:
        for index, entry in enumerate(getattr(spec, section)):
            source: Source | None = entry.source
            if source is None:
                continue
            way = (section, index, "source")
            if source.page in pages:
                yield from _check(way, source, pages[source.page])
            elif source.page not in missing:
                known = [page.id for page in spec.sources]
                what = f"there is no source `{source.page}`"
                yield Finding((*way, "page"), what, suggestion(source.page, known, "there are"))
    yield from _dialects(spec, pages)
    yield from _findings(spec, pages)


def says(source: Source, path: Path) -> bool | None:
    """Whether a section of a text has these words; None if it has no such section."""
    bodies = [body for title, body in _sections(path) if title == _title(source.section)]
    return any(_fold(source.quote) in body for body in bodies) if bodies else None


def _findings(spec: Spec, pages: Mapping[str, Path]) -> Iterator[Finding]:
    """The words of each finding stand where it says."""
    for index, entry in enumerate(spec.findings):
        for position, source in enumerate(entry.words):
            way = ("findings", index, "words", position)
            if source.page in pages:
                yield from _check(way, source, pages[source.page])
            elif source.page not in [page.id for page in spec.sources]:
                known = [page.id for page in spec.sources]
                what = f"there is no source `{source.page}`"
                yield Finding((*way, "page"), what, suggestion(source.page, known, "there are"))


def _dialects(spec: Spec, pages: Mapping[str, Path]) -> Iterator[Finding]:
    """The words of each dialect stand on its page; those that it takes over, in its own section too."""
    for index, (row, dialect) in enumerate(zip(spec.dialects, spec.whole_dialects, strict=True)):
        for aspect, source in dialect.says.items():
            if source.page not in pages:
                continue
            own = aspect in row.says
            way = ("dialects", index, "says", aspect) if own else ("dialects", index, "section")
            for found in _check(way, source, pages[source.page]):
                what = found.what if own else f"{found.what}: `{source.quote}`, taken over for {aspect}"
                yield Finding(found.way if own else way, what, found.todo)


def _check(way: tuple[str | int, ...], source: Source, path: Path) -> Iterator[Finding]:
    sections = _sections(path)
    wanted = _title(source.section)
    bodies = [body for title, body in sections if title == wanted]
    if not bodies:
        titles = list(dict.fromkeys(title for title, _ in sections))
        what = f"{path.name} has no section `{source.section}`"
        yield Finding((*way, "section"), what, suggestion(wanted, titles, "it has"))
    elif len(_fold(source.quote)) < _SHORTEST:
        yield Finding(
            (*way, "quote"), "this quotation is too short to be found again", "quote a whole statement"
        )
    elif not any(_fold(source.quote) in body for body in bodies):
        what = f"the section `{source.section}` of {path.name} does not say this"
        yield Finding((*way, "quote"), what, "quote it exactly; only white space may differ")


@cache
def _sections(path: Path) -> list[tuple[str, str]]:
    """The title of each section and its folded text, the heading and subsections included."""
    lines = path.read_text(encoding="utf-8").splitlines()
    headings = _markdown(lines) if path.suffix == ".md" else _plain(lines)
    found = []
    for position, (start, level) in enumerate(headings):
        end = next((line for line, other in headings[position + 1 :] if other <= level), len(lines))
        found.append((_title(lines[start]), _fold("\n".join(lines[start:end]))))
    return found


def _markdown(lines: list[str]) -> list[tuple[int, int]]:
    """Line and level of each heading."""
    marks = ((index, len(line) - len(line.lstrip("#"))) for index, line in enumerate(lines))
    return [(index, level) for index, level in marks if level]


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


def _fold(text: str) -> str:
    return " ".join(text.split())


def _title(line: str) -> str:
    return _fold(_DECORATION.sub("", _TAG.sub("", line)).lstrip("# "))
