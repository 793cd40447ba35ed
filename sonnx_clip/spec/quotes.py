"""Checks that each quotation stands in the text it is said to come from, in its section and on its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic, unknown
from sonnx_clip.spec.model import entries_with
from sonnx_clip.spec.texts import fold, plain, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.language.types import Source
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec

_SHORTEST = 12  # characters of a quotation


def check_quotes(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about pages that are not there, sections they lack, and words they do not say there."""
    missing = set()
    for index, page in enumerate(spec.sources):
        if not repo_file(page.file).is_file():
            missing.add(page.id)
            yield Diagnostic(
                ("sources", index, "file"), f"there is no file {page.file}", "give its path in the repository"
            )
    pages = {page.id: repo_file(page.file) for page in spec.sources if page.id not in missing}
    for way, source in quoted(spec):
        if source.page in pages:
            yield from _check(way, source, pages[source.page])
        elif source.page not in missing:
            yield from unknown((*way, "page"), source.page, [page.id for page in spec.sources], "source")
    yield from _dialects(spec, pages)


def places(source: Source, path: Path) -> tuple[int, ...] | None:
    """The lines at which words begin in the sections of this title; None if the text has no such section."""
    wanted = plain(source.section)
    bodies = [section for section in sections(path) if section.title == wanted]
    if not bodies:
        return None
    return tuple(sorted({line for section in bodies for line in section.places(source.quote)}))


def says(source: Source, path: Path) -> bool | None:
    """Whether a section of a text has these words; None if it has no such section."""
    found = places(source, path)
    return None if found is None else bool(found)


def quoted(spec: Spec) -> Iterator[tuple[Way, Source]]:
    """Every quotation with a place of its own, but for those of dialects."""
    for section, index, entry in entries_with(spec, "source"):
        if entry.source is not None:
            yield (section, index, "source"), entry.source
        for position, source in enumerate(getattr(entry, "also", ())):
            yield (section, index, "also", position), source
    for index, finding in enumerate(spec.findings):
        for position, source in enumerate(finding.words):
            yield ("findings", index, "words", position), source


def _dialects(spec: Spec, pages: Mapping[str, Path]) -> Iterator[Diagnostic]:
    """The words of each dialect stand on its page; those that it inherits, in its own section too."""
    for index, dialect in enumerate(spec.dialects):
        for aspect, source in dialect.says.items():
            if source.page not in pages:
                continue
            own = not dialect.sayings[aspect].inherited
            way = ("dialects", index, "says", aspect) if own else ("dialects", index, "section")
            for found in _check(way, source, pages[source.page], placed=own):
                what = found.what if own else f"{found.what}: `{source.quote}`, inherited for {aspect}"
                yield Diagnostic(found.way if own else way, what, found.todo)


def _check(way: Way, source: Source, path: Path, *, placed: bool = True) -> Iterator[Diagnostic]:
    found = places(source, path)
    if found is None:
        titles = list(dict.fromkeys(section.title for section in sections(path)))
        what = f"{path.name} has no section `{source.section}`"
        yield Diagnostic((*way, "section"), what, suggestion(plain(source.section), titles, "it has"))
    elif len(fold(source.quote)) < _SHORTEST:
        yield Diagnostic(
            (*way, "quote"), "this quotation is too short to be found again", "quote a whole statement"
        )
    elif not found:
        what = f"the section `{source.section}` of {path.name} does not say this"
        yield Diagnostic((*way, "quote"), what, "quote it exactly; only white space may differ")
    elif placed and found != source.at:
        there = ", ".join(map(str, found))
        what = f"these words stand at {there} of {path.name}, not at {', '.join(map(str, source.at))}"
        if not source.at:
            what = f"these words stand at {there} of {path.name}, and this entry does not say so"
        todo = f"write `at: {there if len(found) == 1 else f'[{there}]'}` if it is these words that are meant"
        yield Diagnostic((*way, "at") if source.at else (*way, "quote"), what, todo)
