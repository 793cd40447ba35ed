"""spec/clip.coverage.yaml: the words of each source in order, each with an answer.

Joined, they are the source.

What is left out between two answers has no letter and no digit. What spec/clip.yaml quotes is answered by the
entry that quotes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Self, TypeAlias

from pydantic import Field, model_validator

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import Id, Part, Source, Text
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import Diagnostic, Document, Way, raise_first, read_document, unknown
from sonnx_clip.spec.model import SECTIONS, Spec
from sonnx_clip.spec.quotes import all_quotations
from sonnx_clip.spec.structure import validate
from sonnx_clip.spec.texts import Section, fold, source_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from sonnx_clip.spec.entries import Page

PATH = "spec/clip.coverage.yaml"
Name: TypeAlias = Text
"""An id of spec/clip.yaml; or one of a dialect, a stroke and an aspect; or that of an obligation."""
Sort: TypeAlias = Literal[
    "encoded", "disputed", "encoded and disputed", "descriptive", "not encoded"
]
_SHOWN = 90  # characters of a text in a message


class SentenceAnswer(Part):
    """What becomes of some words of a source."""

    words: Text  # all of them, with one space between; only the first ones if `to` is given
    # to: the last words, where those between are a table that nobody would write out again
    to: Text | None = None
    encoded_by: tuple[Name, ...] = ()  # what encodes them
    disputed_by: tuple[Id, ...] = ()  # the findings that dispute them
    # descriptive: why they state nothing that could be encoded: an id of `reasons`, or the reason itself
    descriptive: Text | None = None
    not_encoded: Text | None = None  # why they are not encoded although they state something
    note: Text | None = None  # what a reader should know beside that

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        is_formal = bool(self.encoded_by or self.disputed_by)
        sorts = [is_formal, self.descriptive is not None, self.not_encoded is not None]
        if sorts.count(True) != 1:
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

    format: Annotated[int, Field(ge=1, le=1)]
    reasons: dict[Id, Text]
    sources: dict[Id, tuple[SentenceAnswer, ...]]


@dataclass(frozen=True)
class Covered:
    """Words of a source with their answer."""

    source: str  # the id of the source
    line: int  # of the file, from 1, at which they begin
    section: tuple[str, ...]  # the headings above them, the outermost first
    text: str  # with one space between words; an ellipsis for those that the answer does not write out
    # start: the place of the first character in the text of the file with one space between words
    start: int
    end: int  # the place after the last one
    answer: SentenceAnswer  # what becomes of them
    reason: str | None  # why they state nothing, written out


def require_coverage(spec: Spec, obligations: Iterable[str]) -> tuple[Covered, ...]:
    """All words of all sources, in their order, with their answers.

    An answer may name one of these obligations.

    Raises:
        UserError: words have no answer; an answer is to words that are gone, names what is not there, or is
            not that of the entries of spec/clip.yaml which quote these words.
    """
    document, _ = read_document(repo_file(PATH))
    file = validate(CoverageFile, document)
    raise_first(document, _check_sources(spec, file))
    covered: list[Covered] = []
    for page in spec.texts:
        covered += _covered(document, file, page)
    # Names first: where one is misspelt, the entry that is meant would be reported as not named.
    raise_first(document, _check_names(spec, file, set(obligations)))
    raise_first(document, _check_quotations(spec, covered))
    return tuple(covered)


def _check_sources(spec: Spec, file: CoverageFile) -> Iterator[Diagnostic]:
    known = [page.id for page in spec.texts]
    for source in file.sources.keys() - set(known):
        message = f"spec/clip.yaml has no source `{source}`"
        todo = suggestion(source, known, "it has")
        yield Diagnostic(("sources", source), message, todo, of_key=True)
    # All share one place, so that the first that is missing stands for them.
    if len(file.sources) < len(known):
        source = next(source for source in known if source not in file.sources)
        message = f"the source `{source}` of spec/clip.yaml has no answers"
        yield Diagnostic(("sources",), message, "answer each of its sentences", of_key=True)


def _covered(document: Document, file: CoverageFile, page: Page) -> Iterator[Covered]:
    """The words of each answer at their place; UserError where the next words of the source are others."""
    path = repo_file(page.file)
    text = source_text(path)
    # For people, to find the words: quotations use all sections.
    headings = [section for section in text.sections if _is_title(section, path.suffix)]

    def error(place: int, message: str, todo: str) -> UserError:
        """The error about the words at a place of the source."""
        return UserError(message, f"{page.file}:{text.line(place)}", todo)

    covered_to = 0  # the words of the source before here are answered
    for index, answer in enumerate(file.sources[page.id]):
        start, end = text.find(answer.words, answer.to, covered_to)
        # What lies between two answers may be marks and rules of tables, but no word.
        skips_words = _first_word(text.words[covered_to:start]) is not None
        if start < 0 or skips_words:
            place = covered_to + (_first_word(text.words[covered_to:]) or 0)
            line_of_answer = document.position(("sources", page.id, index)).line
            next_words = _short(text.words[place:])
            answered = f"{PATH}:{line_of_answer} answers `{_short(answer.words)}`"
            message = f"the source has `{next_words}` here, and {answered}"
            todo = "answer the words in their order, all of them, or restore the text"
            raise error(place, message, todo)
        line = text.line(start)
        shown = fold(answer.words)
        if answer.to:
            shown += f" … {fold(answer.to)}"
        yield Covered(
            source=page.id,
            line=line,
            section=_titles_above(headings, line),
            text=shown,
            start=start,
            end=end,
            answer=answer,
            # An id of a reason of the file, or the reason itself.
            reason=file.reasons.get(answer.descriptive or "", answer.descriptive),
        )
        covered_to = end

    unanswered = _first_word(text.words[covered_to:])
    if unanswered is not None:
        place = covered_to + unanswered
        next_words = _short(text.words[place:])
        message = f"these words have no answer in {PATH}: `{next_words}`"
        raise error(place, message, f"answer them below the others of {page.id}")


def _titles_above(headings: Sequence[Section], line: int) -> tuple[str, ...]:
    """The titles of the sections that a line is in; the last one that begins before it is always one."""
    begun = [section for section in headings if section.first <= line]
    titles = []
    for section in begun:
        if line in section or section is begun[-1]:
            titles.append(section.title)
    return tuple(titles)


def _is_title(section: Section, suffix: str) -> bool:
    """Whether a section is more than a list item that stands alone between blank lines of a plain text."""
    heading = section.lines[0]
    is_item = heading.startswith(" ") or ":" in heading
    return suffix != ".txt" or not is_item


def _first_word(text: str) -> int | None:
    """Start of the first word with a letter or digit, or None."""
    word = re.search(r"\S*[^\W_]", text)
    return word.start() if word else None


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _check_names(
    spec: Spec,
    file: CoverageFile,
    obligations: set[str],
) -> Iterator[Diagnostic]:
    """Check that names in answers exist; a reason is one of the file, or written out."""
    known = _names_for_answers(spec)
    findings = [finding.id for finding in spec.findings]
    for source, answers in file.sources.items():
        for index, answer in enumerate(answers):
            way: Way = ("sources", source, index)
            yield from _check_reason((*way, "descriptive"), file, answer.descriptive)
            for position, name in enumerate(answer.encoded_by):
                # Obligations are thousands: a name that is misspelt is compared with the others.
                if name not in known and name not in obligations:
                    yield _no_entry((*way, "encoded_by", position), name, known)
            for position, name in enumerate(answer.disputed_by):
                yield from unknown((*way, "disputed_by", position), name, findings, "finding")


def _names_for_answers(spec: Spec) -> set[str]:
    """The ids that `encoded_by` may have, obligations aside."""
    names: set[str] = set()
    for section in SECTIONS:
        if section.answers:
            names.update(entry.id for entry in getattr(spec, section.name))
    for dialect in spec.dialects:
        for aspect in dialect.says:
            names.add(f"{dialect.id}/{aspect}")
    return names


def _check_reason(
    way: Way,
    file: CoverageFile,
    reason: str | None,
) -> Iterator[Diagnostic]:
    """A reason is one of the file; what has three words or more is written out."""
    is_written_out = reason is not None and len(reason.split()) >= 3
    if reason is None or reason in file.reasons or is_written_out:
        return
    near = suggestion(reason, file.reasons, "there are")
    todo = f"{near}; or give the reason in words"
    yield Diagnostic(way, f"there is no reason `{reason}`", todo)


def _no_entry(way: Way, name: str, known: Iterable[str]) -> Diagnostic:
    """The finding that a name in an answer is of nothing that there is."""
    todo = "name an entry of spec/clip.yaml, an aspect as `onnx-13/bounds`, or an obligation"
    # Sorted, since the best match of a set would depend on its order.
    for similar in get_close_matches(name, sorted(known), 1):
        todo = f"did you mean `{similar}`?"
    return Diagnostic(way, f"there is no `{name}`", todo)


def _check_quotations(spec: Spec, covered: Iterable[Covered]) -> Iterator[Diagnostic]:
    """What spec/clip.yaml quotes is answered by what quotes it, or by a finding that quotes it too."""
    findings = {finding.id for finding in spec.findings}
    # A sentence may be quoted by several entries, and a quotation may run through several answers.
    quotations = list(_quotations(spec))
    for page in spec.texts:
        spans = list(_spans_in(page, quotations))
        answered = [words for words in covered if words.source == page.id]
        for index, words in enumerate(answered):
            quoting = [span.quotation for span in spans if span.overlaps(words)]
            for name in _unnamed(words.answer, quoting, findings):
                key = "disputed_by" if name in findings else "encoded_by"
                yield Diagnostic(
                    ("sources", page.id, index),
                    f"`{name}` of spec/clip.yaml quotes these words, and the answer does not name it",
                    f"add `{name}` to {key}, or to disputed_by a finding that quotes them",
                )


class _Quotation(NamedTuple):
    """A quotation, and the names of what has it: dialects that share the words of an aspect are several."""

    names: list[str]
    source: Source


def _unnamed(
    answer: SentenceAnswer,
    quoting: Sequence[_Quotation],
    findings: AbstractSet[str],
) -> Iterator[str]:
    """What quotes the words of an answer without being named by it, the first name of each.

    A finding that quotes the same words answers for whatever else quotes them.
    """
    named = {*answer.encoded_by, *answer.disputed_by}
    named_findings = named & findings
    # By a finding that quotes these very words, and not merely by one that the answer names.
    is_disputed = any(not named_findings.isdisjoint(names) for names, _ in quoting)
    for names, _ in quoting:
        is_finding = names[0] in findings
        is_answered = is_disputed and not is_finding
        if named.isdisjoint(names) and not is_answered:
            yield names[0]


class _QuotedSpan(NamedTuple):
    """A quotation at one place of a source."""

    quotation: _Quotation
    start: int
    end: int

    def overlaps(self, covered: Covered) -> bool:
        """Whether it shares a character with the words of an answer."""
        return covered.start < self.end and self.start < covered.end


def _spans_in(page: Page, quotations: Iterable[_Quotation]) -> Iterator[_QuotedSpan]:
    """The places of all quotations from a page; one may be there several times."""
    text = source_text(repo_file(page.file))
    for quotation in quotations:
        source = quotation.source
        if source.page != page.id:
            continue
        for start, end in text.spans(source.section, source.words) or ():
            yield _QuotedSpan(quotation, start, end)


def _quotations(spec: Spec) -> Iterator[_Quotation]:
    """Every quotation, each once."""
    by_key: dict[object, _Quotation] = {}
    for way, source in all_quotations(spec):
        section, index, *within = way
        name = getattr(spec, str(section))[int(index)].id
        key: object = way
        if section == "dialects":
            # Versions often keep a sentence, and an answer then has to name only one of them.
            aspect = within[1]
            name = f"{name}/{aspect}"
            key = (aspect, source.page, source.section, source.words)
        if key not in by_key:
            by_key[key] = _Quotation([], source)
        by_key[key].names.append(name)
    yield from by_key.values()
