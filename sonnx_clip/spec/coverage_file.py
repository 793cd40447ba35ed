"""spec/coverage.yaml: an answer for each sentence, row, formula and example of each source, in order.

`require_coverage` reads it and compares it with the sources, and with what spec/clip.yaml quotes from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from sonnx_clip.language.types import WHOLE, Id, Part, Text
from sonnx_clip.spec.sentences import Item, WordsKind

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "spec/coverage.yaml"
Name: TypeAlias = Text
"""An id of spec/clip.yaml; or one of a dialect, a stroke and an aspect; or that of an obligation."""
Sort: TypeAlias = Literal["encoded", "disputed", "encoded and disputed", "descriptive", "not encoded"]


class Reason(Part):
    """Why words of one sort state nothing that could be encoded.

    Args:
        reason: the reason, in a sentence.
        kinds: the kinds of words for which it may be given; all if none is named.
    """

    reason: Text
    kinds: tuple[WordsKind, ...] = ()


class SentenceAnswer(Part):
    """What becomes of some words of a source.

    Args:
        words: all of them, with one space between.
        encoded_by: what encodes them.
        disputed_by: the findings that dispute them.
        descriptive: why they state nothing that could be encoded: an id of `reasons`, or the reason itself.
        not_encoded: why they are not encoded although they state something.
        note: what a reader should know beside that.
    """

    words: Text
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
