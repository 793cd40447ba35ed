"""spec/coverage.yaml: the words of each source in order, each with an answer; joined, they are the source.

What is left out between two answers has no letter and no digit. What spec/clip.yaml quotes is answered by the
entry that quotes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import WHOLE, Id, Part, Text
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic, Document, raise_first, read_text, unknown
from sonnx_clip.spec.model import SECTIONS
from sonnx_clip.spec.quotes import places, quoted
from sonnx_clip.spec.structure import validate_as
from sonnx_clip.spec.texts import Section, SourceText, fold, sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sonnx_clip.language.types import Source
    from sonnx_clip.spec.model import Spec

PATH = "spec/coverage.yaml"
Name: TypeAlias = Text
"""An id of spec/clip.yaml; or one of a dialect, a stroke and an aspect; or that of an obligation."""
Sort: TypeAlias = Literal["encoded", "disputed", "encoded and disputed", "descriptive", "not encoded"]
_SHOWN = 90


class Reason(Part):
    """Why words of one sort state nothing that could be encoded."""

    reason: Text


class SentenceAnswer(Part):
    """What becomes of some words of a source.

    Args:
        words: all of them, with one space between; only the first ones if `to` is given.
        to: the last words, where those between are a table that nobody would write out again.
        encoded_by: what encodes them.
        disputed_by: the findings that dispute them.
        descriptive: why they state nothing that could be encoded: an id of `reasons`, or the reason itself.
        not_encoded: why they are not encoded although they state something.
        note: what a reader should know beside that.
    """

    words: Text
    to: Text | None = None
    encoded_by: tuple[Name, ...] = ()
    disputed_by: tuple[Id, ...] = ()
    descriptive: Text | None = None
    not_encoded: Text | None = None
    note: Text | None = None

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        formal = bool(self.encoded_by or self.disputed_by)
        if formal + (self.descriptive is not None) + (self.not_encoded is not None) != 1:
            raise ValueError(
                "an answer has encoded_by or disputed_by or both; or descriptive; or not_encoded"
            )
        return self

    @property
    def sort(self) -> Sort:
        """Which kind of answer it is."""
        if self.encoded_by:
            return "encoded and disputed" if self.disputed_by else "encoded"
        if self.disputed_by:
            return "disputed"
        return "descriptive" if self.descriptive is not None else "not encoded"


class CoverageFile(Part):
    """The whole file: `sources` by their ids in spec/clip.yaml."""

    format: Annotated[int, Field(strict=True, ge=1, le=1), WHOLE]
    reasons: dict[Id, Reason]
    sources: dict[Id, tuple[SentenceAnswer, ...]]


@dataclass(frozen=True)
class Item:
    """Words of a source.

    Args:
        line: of the file, from 1, at which they begin.
        section: the headings above them, the outermost first.
        text: the words with one space between them; an ellipsis for those that the answer does not write out.
        start: the place of the first character in the text of the file with one space between words.
        end: the place after the last one.
    """

    line: int
    section: tuple[str, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Covered:
    """Words of a source with their answer; `reason` is written out."""

    source: str
    item: Item
    answer: SentenceAnswer
    reason: str | None


@dataclass(frozen=True)
class Coverage:
    """All words of all sources, in their order."""

    covered: tuple[Covered, ...]

    def of(self, source: str) -> tuple[Covered, ...]:
        """The words of one source."""
        return tuple(one for one in self.covered if one.source == source)

    def of_sort(self, *sorts: Sort) -> tuple[Covered, ...]:
        """The words with an answer of one of these kinds."""
        return tuple(one for one in self.covered if one.answer.sort in sorts)

    def names(self) -> Iterator[tuple[str, tuple[Covered, ...]]]:
        """What answers anything, each once, with all that it answers."""
        found: dict[str, list[Covered]] = {}
        for one in self.covered:
            for name in (*one.answer.encoded_by, *one.answer.disputed_by):
                found.setdefault(name, []).append(one)
        yield from ((name, tuple(answered)) for name, answered in found.items())


def require_coverage(spec: Spec, obligations: Iterable[str]) -> Coverage:
    """The words of every source with their answers.

    Args:
        spec: the specification, whose sources are read.
        obligations: the ids of all there are, which an answer may name.

    Raises:
        UserError: words have no answer; an answer is to words that are gone, names what is not there, or is
            not that of the entries of spec/clip.yaml which quote these words.
    """
    name, text, _ = read_text(repo_file(PATH))
    document, file = _read(name, text)
    raise_first(document, _sources(spec, file))
    found = []
    for page in spec.sources:
        items = _items(document, page.id, file.sources[page.id], repo_file(page.file), page.file)
        for item, answer in zip(items, file.sources[page.id], strict=True):
            reason = file.reasons.get(answer.descriptive or "")
            found.append(Covered(page.id, item, answer, reason.reason if reason else answer.descriptive))
    coverage = Coverage(tuple(found))
    raise_first(document, _reasons(file))
    raise_first(document, _names(spec, file, set(obligations)))
    raise_first(document, _quotations(spec, coverage))
    return coverage


@lru_cache(maxsize=2)  # the tests that plant mistakes in the specification call it again and again
def _read(name: str, text: str) -> tuple[Document, CoverageFile]:
    document = Document(name, text)
    return document, validate_as(CoverageFile, document, document.data)


def _sources(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    known = [page.id for page in spec.sources]
    unknown = [source for source in file.sources if source not in known]
    for source in unknown:
        what = f"spec/clip.yaml has no source `{source}`"
        yield Diagnostic(("sources", source), what, suggestion(source, known, "it has"), of_key=True)
    for source in known if not unknown else ():  # one may only be misspelt
        if source not in file.sources:
            what = f"the source `{source}` of spec/clip.yaml has no answers"
            yield Diagnostic(("sources",), what, "answer each of its sentences", of_key=True)


def _items(
    document: Document, source: str, answers: Iterable[SentenceAnswer], path: Path, file: str
) -> Iterator[Item]:
    """The words of each answer at their place; UserError where the next words of the source are others."""
    text, headings = SourceText.of(path), [s for s in sections(path) if _is_title(s, path)]
    at = 0
    for index, answer in enumerate(answers):
        start, end = text.find(answer.words, answer.to, at)
        if start < 0 or _first_letter(text.words[at:start]) is not None:
            place = at + (_first_letter(text.words[at:]) or 0)
            line = document.position(("sources", source, index)).line
            here, answered = _short(text.words[place:]), _short(answer.words)
            what = f"`{here}` stands here, and {PATH}:{line} answers `{answered}`"
            todo = "answer the words in their order, all of them, or restore the text"
            raise UserError(what, f"{file}:{text.line(place)}", todo)
        line = text.line(start)
        begun = [s for s in headings if s.first <= line]
        above = tuple(s.title for s in begun if line < s.first + len(s.lines) or s is begun[-1])
        shown = fold(answer.words) + (f" … {fold(answer.to)}" if answer.to else "")
        yield Item(line, above, shown, start, end)
        at = end
    if (rest := _first_letter(text.words[at:])) is not None:
        what = f"these words have no answer in {PATH}: `{_short(text.words[at + rest :])}`"
        raise UserError(what, f"{file}:{text.line(at + rest)}", f"answer them below the others of {source}")


def _is_title(section: Section, path: Path) -> bool:
    """Whether a section is more than a list item that stands alone between blank lines of a plain text."""
    return path.suffix != ".txt" or not (section.lines[0].startswith(" ") or ":" in section.lines[0])


def _first_letter(text: str) -> int | None:
    """Where the first word with a letter or digit begins; None if nothing is said."""
    at = 0
    for word in text.split(" "):
        if any(map(str.isalnum, word)):
            return at
        at += len(word) + 1
    return None


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _reasons(file: CoverageFile) -> Iterator[Diagnostic]:
    """An answer names a reason that is there, or gives its own in words."""
    for source, answers in file.sources.items():
        for index, given in enumerate(answer.descriptive for answer in answers):
            if given is not None and given not in file.reasons and len(given.split()) < 3:
                todo = f"{suggestion(given, file.reasons, 'there are')}; or give the reason in words"
                yield Diagnostic(
                    ("sources", source, index, "descriptive"), f"there is no reason `{given}`", todo
                )


def _names(spec: Spec, file: CoverageFile, obligations: set[str]) -> Iterator[Diagnostic]:
    """What answers name is there."""
    known = {entry.id for s in SECTIONS if s.answers for entry in getattr(spec, s.name)}
    known |= {f"{dialect.id}/{aspect}" for dialect in spec.dialects for aspect in dialect.says}
    findings = [finding.id for finding in spec.findings]
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            way = ("sources", source, index)
            for position, name in enumerate(answer.encoded_by):
                if name not in known and name not in obligations:
                    yield Diagnostic(
                        (*way, "encoded_by", position), f"there is no `{name}`", _nearest(name, known)
                    )
            for position, name in enumerate(answer.disputed_by):
                yield from unknown((*way, "disputed_by", position), name, findings, "finding")


def _nearest(name: str, known: set[str]) -> str:
    near = get_close_matches(name, sorted(known), 1)
    if near:
        return f"did you mean `{near[0]}`?"
    return "name an entry of spec/clip.yaml, a dialect's aspect as `onnx-13/bounds`, or an obligation"


def _quotations(spec: Spec, coverage: Coverage) -> Iterator[Diagnostic]:
    """What spec/clip.yaml quotes is answered by what quotes it, or by a finding that quotes it too."""
    findings = {finding.id for finding in spec.findings}
    for page in spec.sources:
        path = repo_file(page.file)
        quotes = [(names, source) for names, source in _quoting(spec) if source.page == page.id]
        spans = [
            (names, span)
            for names, source in quotes
            for span in SourceText.of(path).spans(source.quote, places(source, path) or ())
        ]
        for index, one in enumerate(coverage.of(page.id)):
            quoting = [n for n, (start, end) in spans if one.item.start < end and start < one.item.end]
            given = {*one.answer.encoded_by, *one.answer.disputed_by}
            disputed = {name for names in quoting for name in names if name in findings} & given
            for names in quoting:
                if given.isdisjoint(names) and not (disputed and not findings.intersection(names)):
                    of_finding = names[0] in findings
                    what = (
                        f"`{names[0]}` of spec/clip.yaml quotes these words, and the answer does not name it"
                    )
                    todo = f"add `{names[0]}` to {'disputed_by' if of_finding else 'encoded_by'}"
                    todo += "" if of_finding else ", or to disputed_by a finding that quotes them"
                    yield Diagnostic(("sources", page.id, index), what, todo)


def _quoting(spec: Spec) -> Iterator[tuple[tuple[str, ...], Source]]:
    """Each quotation with what has it: one id, or those of several dialects that share an aspect's words."""
    for way, source in quoted(spec):
        yield (getattr(spec, str(way[0]))[int(way[1])].id,), source
    shared: dict[tuple[str, str, str, str], list[str]] = {}
    sources: dict[tuple[str, str, str, str], Source] = {}
    for dialect in spec.dialects:
        for aspect, source in dialect.says.items():
            key = (aspect, source.page, source.section, source.quote)
            shared.setdefault(key, []).append(f"{dialect.id}/{aspect}")
            sources[key] = source
    yield from ((tuple(names), sources[key]) for key, names in shared.items())
