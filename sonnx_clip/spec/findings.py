"""Findings about the sources: a defect, an ambiguity or a gap, with quotations and numbers that show it.

A witness is of one of several kinds, distinguished by the key that only this kind has.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from sonnx_clip.language.types import Flag, Form, Id, Lines, NumberText, Part, Source, Text, Word
from sonnx_clip.spec.entries import Condition, Families

_NEWEST: tuple[Form, ...] = ("clip-13",)


class Side(Part):
    """Who answers: a reading, or a dialect; with bounds of its own where it has other ones."""

    by: Annotated[Text, Field(description="An id of `readings` or `dialects`.")]
    L: NumberText | None = None
    M: NumberText | None = None
    note: Text | None = None


class Contrast(Part):
    """Numbers for which each further side answers otherwise than the first; a bound left out is missing.

    `ask` names what runtimes are asked: a node `clip` of an operator set, or as nodes of it the function
    `body` or the `equation` of Clip-13, Min(max, Max(input, min)).
    """

    type: Word
    X: NumberText
    L: NumberText | None = None
    M: NumberText | None = None
    answers: Annotated[tuple[Side, ...], Field(min_length=2)]
    compared: Annotated[
        Literal["values", "bits"], Field(description="Whether zeros of both signs are different answers.")
    ] = "values"
    ask: tuple[Form, ...] = _NEWEST


class Refutation(Part):
    """Numbers for which a constraint or property is false of the result of the cases."""

    type: Word
    X: NumberText
    L: NumberText
    M: NumberText
    refutes: Annotated[Id, Field(description="An id of `constraints` or `properties`.")]
    ask: tuple[Form, ...] = _NEWEST


class Lack(Part):
    """A number of a worked example that its element type does not have."""

    type: Word
    lacks: NumberText
    example: Word


class NoNumber(Part):
    """A FLOAT bound that becomes no number of the element type."""

    type: Word
    dialect: Text
    bound: NumberText


class NotTaken(Part):
    """A type that a dialect takes, and that the words on a part of it do not name; numbers to ask with."""

    type: Word
    taken_by: Text
    not_named: Annotated[Source, Field(description="Words that must not stand there.")]
    X: NumberText
    L: NumberText
    M: NumberText
    ask: tuple[Form, ...] = _NEWEST


class SharedTag(Part):
    """A number of the page that stands for several constraints."""

    tag: Id
    stands_for: Annotated[tuple[Id, ...], Field(min_length=2)]


class ManyTags(Part):
    """A constraint that the page calls by several numbers."""

    constraint: Id
    numbered: Annotated[tuple[Id, ...], Field(min_length=2)]


class Stands(Part):
    """A text and every line of a page that has it, in upper or lower case; none where it stands nowhere."""

    page: Annotated[Text, Field(description="An id of `sources`.")]
    text: Text
    stands_at: Annotated[Lines, Field(description="Every line of the file that has the text.")]
    ends: Annotated[Flag, Field(description="Whether nothing follows in the sections of these lines.")] = (
        False
    )


class Overlap(Part):
    """Numbers that meet the conditions of two rows of the cases, whose results are not the same bits."""

    type: Word
    X: NumberText
    L: NumberText
    M: NumberText
    rows: Annotated[tuple[Word, Word], Field(description="Two ids of `cases`.")]
    ask: tuple[Form, ...] = _NEWEST


class SameStatement(Part):
    """A restriction and a constraint that hold for the same element types of X, L, M and Y."""

    restriction: Id
    same_as: Annotated[Id, Field(description="An id of `constraints`.")]


class Rounded(Part):
    """A bound that a FLOAT cannot be, and the number of the element type that it becomes."""

    type: Word
    dialect: Text
    written: NumberText
    becomes: NumberText


MeasuredWitness: TypeAlias = Contrast | Refutation | NotTaken | Overlap
"""The kinds of witnesses that runtimes can be asked."""

Computed: TypeAlias = Lack | NoNumber | SharedTag | ManyTags | Stands | SameStatement | Rounded
"""The kinds of witnesses that no runtime can be asked."""

_KINDS: dict[str, type[Part]] = {
    "answers": Contrast,
    "refutes": Refutation,
    "lacks": Lack,
    "bound": NoNumber,
    "not_named": NotTaken,
    "stands_for": SharedTag,
    "numbered": ManyTags,
    "stands_at": Stands,
    "rows": Overlap,
    "same_as": SameStatement,
    "written": Rounded,
}


def key_of(witness: Part) -> str:
    """The key that only witnesses of its kind have."""
    return next(key for key, kind in _KINDS.items() if isinstance(witness, kind))


def _kind(value: Any) -> str:
    """The kind of a witness; one without a key of its kind is taken for a contrast, which then lacks it."""
    if isinstance(value, Part):
        return type(value).__name__
    if not isinstance(value, dict):
        return "Contrast"
    return next((kind.__name__ for key, kind in _KINDS.items() if key in value), "Contrast")


Witness: TypeAlias = Annotated[
    Annotated[Contrast, Tag("Contrast")]
    | Annotated[Refutation, Tag("Refutation")]
    | Annotated[Lack, Tag("Lack")]
    | Annotated[NoNumber, Tag("NoNumber")]
    | Annotated[NotTaken, Tag("NotTaken")]
    | Annotated[SharedTag, Tag("SharedTag")]
    | Annotated[ManyTags, Tag("ManyTags")]
    | Annotated[Stands, Tag("Stands")]
    | Annotated[Overlap, Tag("Overlap")]
    | Annotated[SameStatement, Tag("SameStatement")]
    | Annotated[Rounded, Tag("Rounded")],
    Discriminator(_kind),
]


class Theorem(Part):
    """What a finding claims of all X, L, M, of all answers Y and Z, and of all FLOAT bounds F: it is proved.

    Args:
        says: the claim in plain words.
        id: what follows the id of the finding in that of the obligation, where it has several theorems.
        families: the families whose element types it speaks of.
        types: the element types, where it speaks of some of a family alone.
        tensors: whether X and Y are tensors, and L and M the only entries of theirs.
        holds: the claim.
    """

    says: Text
    id: Word | None = None
    families: Families | None = None
    types: Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    tensors: Flag = False
    holds: Condition


class Checked(Part):
    """What a finding claims of the texts, or of what the YAML reads from them: it is computed, not proved.

    Args:
        says: the claim in plain words.
        checked: the kind of the witnesses by which reading the file computes it.
    """

    says: Text
    checked: Literal["lacks", "not_named", "stands_for", "numbered", "stands_at", "same_as"]


def _sort_of_claim(value: Any) -> str:
    checked = "checked" in value if isinstance(value, dict) else isinstance(value, Checked)
    return "Checked" if checked else "Theorem"


Claim: TypeAlias = Annotated[
    Annotated[Theorem, Tag("Theorem")] | Annotated[Checked, Tag("Checked")], Discriminator(_sort_of_claim)
]


class SourceFinding(Part):
    """What is wrong with a source, unclear in it, or not in it.

    Args:
        id: its permanent id.
        title: what it is in short.
        kind: words that cannot hold, words with several meanings, or words that are missing.
        words: what the sources say.
        found: what is wrong with it.
        claim: the same formally: theorems with obligations of their own, or checks of the texts.
        witnesses: numbers that show it.
        proposed: a wording that would mend it.
        upstream: what the authors of the source did about it, where that is known.
    """

    id: Id
    title: Text
    kind: Literal["defect", "ambiguity", "gap"]
    words: Annotated[tuple[Source, ...], Field(min_length=1)]
    found: Text
    claim: Annotated[tuple[Claim, ...], Field(min_length=1)]
    witnesses: Annotated[tuple[Witness, ...], Field(min_length=1)]
    proposed: Text
    upstream: Text | None = None

    @property
    def word(self) -> str:
        """The id as one word: a part of the names of its goals."""
        return self.id.replace("-", "_")

    @property
    def theorems(self) -> tuple[Theorem, ...]:
        """The parts of its claim that are proved."""
        return tuple(part for part in self.claim if isinstance(part, Theorem))

    def goal(self, part: Theorem) -> str:
        """What the goal of a theorem is called, in every element type."""
        return f"finding_{self.word}{f'_{part.id}' if part.id else ''}"
