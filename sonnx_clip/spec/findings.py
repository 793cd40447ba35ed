"""Findings about the sources: a defect, an ambiguity or a gap, with quotations, a claim and witnesses of it.

A witness is of one of three kinds: numbers at which definitions answer differently, numbers at which a
statement of the page is false, or the lines of a page that have a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, Tag, model_validator

from sonnx_clip.language.types import (
    ElementType,
    Form,
    Id,
    Lines,
    Part,
    Source,
    Text,
    Word,
    chosen_by,
)
from sonnx_clip.spec.entries import Condition, Families, NamedEntry, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.spec.model import Spec

END = "⟨end⟩"
Forms: TypeAlias = tuple[Form, ...]
"""What runtimes are given: a node of the operator in an operator set, ``clip-13``; or as nodes of that set
the function `body` or the `equation` of Clip-13; none where no runtime can be."""
_AS_NODES = {"clip": ("body", "equation")}
"""By operator, what can be asked as nodes in its place."""
_NEWEST = 13  # all operators of spec/ have had their present form since then


class Side(Witness):
    """A reading or dialect that answers, perhaps with numbers of its own."""

    partial: ClassVar[bool] = True

    by: Text
    note: Text | None = None


class Contrast(Witness):
    """Numbers at which each further side answers differently from the first, in its value or its bits."""

    partial: ClassVar[bool] = True

    type: Word
    answers: Annotated[tuple[Side, ...], Field(min_length=1)]
    compared: Literal["values", "bits"] = "values"
    ask: Forms | None = None


class Refutation(Witness):
    """Numbers at which a constraint or property is false of the result of the cases."""

    type: Word
    refutes: Id
    ask: Forms | None = None


class Stands(Part):
    """A text in upper or lower case, and the lines of a page at which it begins; `END` ends a page."""

    page: Text
    text: Text
    stands_at: Lines


MeasuredWitness: TypeAlias = Contrast | Refutation
"""A witness for which runtimes are run."""


def asked_forms(spec: Spec, witness: MeasuredWitness) -> Forms:
    """The forms in which runtimes are asked: those of the witness, or a node of the newest operator set."""
    if witness.ask is None:
        return (f"{spec.signature.function}-{_NEWEST}",)
    return witness.ask  # empty where no runtime can be asked


def unknown_forms(spec: Spec, witness: MeasuredWitness) -> Iterator[str]:
    """The forms of a witness that the operator does not have."""
    function = spec.signature.function
    known = {function, *_AS_NODES.get(function, ())}
    for form in witness.ask or ():
        name, _, _ = form.rpartition("-")
        if name not in known:
            yield form


FindingWitness: TypeAlias = Annotated[
    Annotated[Contrast, Tag("Contrast")]
    | Annotated[Refutation, Tag("Refutation")]
    | Annotated[Stands, Tag("Stands")],
    chosen_by({"refutes": "Refutation", "stands_at": "Stands"}, "Contrast"),
]


class TextClaim(Part):
    """What a finding claims of the texts, in plain words; the lines of its witnesses show it.

    Nothing shows it here where a source is only cited.
    """

    says: Text


class Theorem(TextClaim):
    """What is proved of all operands, of all answers Y and Z, and of all FLOAT bounds F."""

    # id: what follows the id of the finding in that of the obligation, where it has several theorems
    id: Word | None = None
    families: Families | None = None  # the families whose element types it speaks of
    # types: the element types, where it speaks of some of a family alone
    types: Annotated[tuple[Word, ...] | None, Field(min_length=1)] = None
    tensors: bool = False  # whether X and Y are tensors, and L and M the only entries of theirs
    holds: Condition

    @model_validator(mode="after")
    def _is_on_types(self) -> Self:
        if (self.families is None) == (self.types is None):
            raise ValueError("its types are missing: give one of `families` and `types`")
        return self


Claim: TypeAlias = Annotated[
    Annotated[Theorem, Tag("Theorem")] | Annotated[TextClaim, Tag("TextClaim")],
    chosen_by({"holds": "Theorem"}, "TextClaim"),
]


class SourceFinding(NamedEntry):
    """What is wrong with a source, unclear in it, or not in it."""

    title: Text  # what it is in short
    # kind: words that cannot hold, words with several meanings, or words that are missing
    kind: Literal["defect", "ambiguity", "gap"]
    words: Annotated[tuple[Source, ...], Field(min_length=1)]  # what the sources say
    found: Text  # what is wrong with it
    # claim: the same formally; its obligations are derived from the parts that are proved
    claim: Annotated[tuple[Claim, ...], Field(min_length=1)]
    witnesses: tuple[FindingWitness, ...] = ()  # numbers and places that show it
    proposed: Text  # a wording that would mend it
    upstream: Text | None = None  # what the authors of the source did about it, where that is known

    @property
    def theorems(self) -> tuple[Theorem, ...]:
        """The parts of its claim that are proved."""
        return tuple(part for part in self.claim if isinstance(part, Theorem))

    def goal(self, part: Theorem) -> str:
        """What the goal of a theorem is called, in every element type."""
        name = f"finding_{self.word}"
        return f"{name}_{part.id}" if part.id else name


@dataclass(frozen=True)
class Allowed:
    """What a name of the claims of findings stands for: whether a reading or dialect allows an answer."""

    reading: str  # the id of the reading that decides
    parameters: tuple[str, ...]  # the variables that are given, in their order
    dialect: str | None = None  # its id; None for a reading


def allowed_answers(spec: Spec) -> Mapping[str, Allowed]:
    """All such names, ``onnx_13_returns``, with their meanings."""
    signature = spec.signature
    all_ids = signature.all_ids
    # The operands that a node may lack, by the word for it: each bound alone, and all of them.
    missing: dict[str, tuple[str, ...]] = {}
    for operand in reversed(signature.operands):
        if operand.role == "scalar":
            missing[operand.onnx] = (operand.id,)
    missing["bounds"] = signature.scalars

    allowed: dict[str, Allowed] = {}
    for reading in spec.readings:
        allowed[reading.predicate] = Allowed(reading.id, all_ids)
    for dialect in spec.dialects:
        allowed[f"{dialect.word}_returns"] = Allowed(dialect.reading, all_ids, dialect.id)
        if not dialect.missing:  # it refuses nodes without a bound
            continue
        # ``onnx_13_without_min`` and so on, of the bounds that are given alone.
        for name, omitted in missing.items():
            parameters = tuple(id_ for id_ in all_ids if id_ not in omitted)
            predicate = f"{dialect.word}_without_{name}"
            allowed[predicate] = Allowed(dialect.reading, parameters, dialect.id)
    return allowed


def types_of_claim(spec: Spec, part: Theorem) -> tuple[ElementType, ...]:
    """The element types of a theorem of a finding, in the order of the file."""
    families = part.families or ()
    type_ids = part.types or ()
    types: list[ElementType] = []
    for etype in spec.element_types:
        if etype.family in families or etype.id in type_ids:
            types.append(etype)
    return tuple(types)
