"""Dialects: versioned definitions of Clip. A row of the file says what is new; here each is made whole, with
what stands for its missing bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints

from sonnx_clip.language.convert import convert
from sonnx_clip.language.types import FamilyId, Flag, Id, Lines, NumberText, Part, Source, Text, Word
from sonnx_clip.language.values import encode
from sonnx_clip.spec.entries import Conditions, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.model import Spec


System: TypeAlias = Literal["sonnx", "onnx", "directml"]
GivenAs: TypeAlias = Literal["inputs", "attributes", "members"]
BoundType: TypeAlias = Literal["tensor", "float32"]
Aspect: TypeAlias = Literal[
    "element_types", "ranks", "bounds", "missing_bounds", "missing_bounds_of", "casts", "cast_of_no_number",
    "inverted_bounds", "nan", "scale_bias", "scale_bias_precision", "in_place", "inputs", "scalar_bounds",
    "attributes", "result", "errors", "function", "missing_max", "equivalence",
]  # fmt: skip
DialectId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*-[a-z0-9.]+$")]

ALWAYS: tuple[Aspect, ...] = (
    "element_types", "ranks", "bounds", "missing_bounds", "inverted_bounds", "nan", "in_place",
)  # fmt: skip
"""The aspects on which every dialect says something, or is said to be silent."""


class Saying(Part):
    """The words of a page on an aspect; in the section of the dialect if none is named."""

    section: Text | None = None
    at: Lines = ()
    quote: Text


def _words(value: object) -> object:
    return {"quote": value} if isinstance(value, str) else value


Said: TypeAlias = Annotated[Saying, BeforeValidator(_words, json_schema_input_type=Text | Saying)]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


class Ranks(Part):
    """How many dimensions X may have; any number from `least` on if `greatest` is left out."""

    least: Annotated[int, Field(strict=True, ge=0), BeforeValidator(_whole)]
    greatest: Annotated[int | None, BeforeValidator(_whole)] = None

    def __contains__(self, rank: int) -> bool:
        """Whether X may have so many dimensions."""
        return self.least <= rank and (self.greatest is None or rank <= self.greatest)

    def __str__(self) -> str:
        """As people say it."""
        if self.greatest is None:
            return "any" if self.least == 0 else f"{self.least} and more"
        return str(self.least) if self.least == self.greatest else f"{self.least} to {self.greatest}"


class Missing(Part):
    """What stands for a missing bound."""

    min: NumberText
    max: NumberText
    of: Annotated[
        Literal["element", "bound"], Field(description="The type whose number it is: X's or the bound's.")
    ]


class Printed(Part):
    """Default values as the page prints them, of the bound's type."""

    min: NumberText
    max: NumberText


class Equivalence(Part):
    """A reading that the page says the dialect is equivalent to, and exactly where the values are the same.

    A family that `where` leaves out has the same values everywhere.
    """

    to: Annotated[Id, Field(description="An id of `readings`.")]
    where: Annotated[Conditions, Field(default_factory=dict)]
    fails_at: Annotated[dict[FamilyId, Witness], Field(default_factory=dict)]


class DialectRow(Part):
    """A versioned definition of Clip as the file has it: what is left out is as in the row `after`."""

    id: DialectId
    title: Text
    system: System | None = None
    version: Annotated[Text, Field(description="As the system writes it; a number needs quotes.")]
    after: DialectId | None = None
    page: Id | None = None
    section: Text
    element_types: Annotated[tuple[Word, ...] | None, Field(min_length=1)] = None
    ranks: Ranks | None = None
    bounds: GivenAs | None = None
    bound_type: BoundType | None = None
    missing: Literal["refused"] | Missing | None = None
    reading: Annotated[Id | None, Field(description="What the words allow.")] = None
    answers: Annotated[Id | None, Field(description="Decides where they allow more than one.")] = None
    scale_bias: Flag | None = None
    in_place: Flag | None = None
    function: Annotated[
        Flag | None, Field(description="Whether the page says that the version has a function body.")
    ] = None
    changes: Annotated[
        dict[Word, NumberText],
        Field(
            default_factory=dict,
            description="For these types, X whose result without bounds is not that of the row before.",
        ),
    ]
    widens: Annotated[
        Conditions,
        Field(
            default_factory=dict,
            description="Exactly where, with bounds given, more is allowed than in the row before.",
        ),
    ]
    equivalence: Equivalence | None = None
    printed_default: Printed | None = None
    says: Annotated[dict[Aspect, Said], Field(default_factory=dict)]
    unsaid: Annotated[dict[Aspect, Text], Field(default_factory=dict)]


class Dialect(Part):
    """A versioned definition of Clip, whole.

    Args:
        id: its permanent id, ``onnx-6``.
        title: its name.
        system: who defines it.
        version: operator set, feature level, or chapter.
        after: the version before; None for the first.
        element_types: of X.
        ranks: of X.
        bounds: how they are given.
        bound_type: in which type they are given.
        missing: what stands for a missing bound; None if a missing one is refused.
        reading: what its words allow.
        answers: the reading that decides where they allow more than one answer.
        scale_bias: whether X may be scaled and shifted first.
        in_place: whether the result may take the place of X.
        function: whether its page says that it has a function body; None where a page does not speak of such.
        changes: types for which missing bounds give another result than before, each with an X.
        widens: exactly where, with bounds given, it allows an answer that the version before did not.
        equivalence: a reading to which its page says that it is equivalent.
        printed_default: default values as the page prints them.
        says: what the page says of an aspect.
        unsaid: where it is silent, and what the oracle does then.
        silent_since: of the unsaid aspects, the row that says so.
    """

    id: DialectId
    title: Text
    system: System
    version: Text
    after: DialectId | None
    element_types: tuple[Word, ...]
    ranks: Ranks
    bounds: GivenAs
    bound_type: BoundType
    missing: Missing | None
    reading: Id
    answers: Id
    scale_bias: bool
    in_place: bool
    function: bool | None
    changes: dict[Word, NumberText]
    widens: Conditions
    equivalence: Equivalence | None
    printed_default: Printed | None
    says: dict[str, Source]
    unsaid: dict[str, Text]

    @property
    def word(self) -> str:
        """The id as one word: a name in theories."""
        return self.id.replace("-", "_").replace(".", "_")

    def converts_to(self, type_id: str) -> bool:
        """Whether a bound becomes another number format before an X of this type is clipped."""
        return self.bound_type not in ("tensor", type_id)


_TAKEN_OVER = (
    "system", "page", "element_types", "ranks", "bounds", "bound_type", "missing", "reading", "answers",
    "scale_bias", "in_place", "function",
)  # fmt: skip


def whole(rows: tuple[DialectRow, ...]) -> tuple[Dialect, ...]:
    """Every dialect with all that it takes over; the rows must have been checked."""
    known = {row.id: row for row in rows}
    return tuple(_whole_dialect(row, known) for row in rows)


def line_of(row: DialectRow, known: Mapping[str, DialectRow]) -> Iterator[DialectRow]:
    """A row and those before it, the newest first; it ends at the first row that is met twice or unknown."""
    met: set[str] = set()
    at: DialectRow | None = row
    while at is not None and at.id not in met:
        met.add(at.id)
        yield at
        at = known.get(at.after) if at.after else None


def taken_over(row: DialectRow, key: str, known: Mapping[str, DialectRow]) -> object:
    """What holds of a key: what the row says, or the nearest before it; None if none does."""
    return next((value for at in line_of(row, known) if (value := getattr(at, key)) is not None), None)


def sayings(
    row: DialectRow, known: Mapping[str, DialectRow]
) -> tuple[dict[Aspect, Saying], dict[Aspect, str]]:
    """What is said of each aspect and what is not; a newer row takes an aspect from one to the other."""
    said: dict[Aspect, Saying] = {}
    unsaid: dict[Aspect, str] = {}
    for at in reversed([*line_of(row, known)]):
        for aspect in at.says:
            unsaid.pop(aspect, None)
        for aspect in at.unsaid:
            said.pop(aspect, None)
        said |= at.says
        unsaid |= at.unsaid
    if taken_over(row, "bound_type", known) == "tensor":
        unsaid.pop("casts", None)  # a bound of X's own type is not converted
    return said, unsaid


def _whole_dialect(row: DialectRow, known: Mapping[str, DialectRow]) -> Dialect:
    values = {key: taken_over(row, key, known) for key in _TAKEN_OVER}
    page = values.pop("page")
    said, unsaid = sayings(row, known)
    if values["missing"] == "refused":
        values["missing"] = None
    return Dialect.model_validate(
        {
            **values,
            "id": row.id,
            "title": row.title,
            "version": row.version,
            "after": row.after,
            "changes": row.changes,
            "widens": row.widens,
            "equivalence": row.equivalence,
            "printed_default": row.printed_default,
            "says": {
                aspect: {
                    "page": page,
                    "section": words.section or row.section,
                    "at": words.at,
                    "quote": words.quote,
                }
                for aspect, words in said.items()
            },
            "unsaid": unsaid,
        }
    )


# --- What stands for the missing bounds of a dialect, in each element type ----------------------------------


def bound_type(spec: Spec, dialect: Dialect, etype: ElementType) -> ElementType:
    """The type in which a dialect is given the bounds for an X of an element type."""
    return etype if dialect.bound_type == "tensor" else spec.element_type(dialect.bound_type)


def given_defaults(spec: Spec, dialect: Dialect, etype: ElementType) -> tuple[Value, Value] | None:
    """What stands for missing bounds before any conversion; None if they are refused."""
    if dialect.missing is None:
        return None
    of = etype if dialect.missing.of == "element" else bound_type(spec, dialect, etype)
    return encode(dialect.missing.min, of), encode(dialect.missing.max, of)


def defaults(spec: Spec, dialect: Dialect, etype: ElementType) -> tuple[Value, Value] | None:
    """What stands for missing bounds as numbers of the element type; None if they are refused."""
    given = given_defaults(spec, dialect, etype)
    if given is None or dialect.missing is None or dialect.missing.of == "element":
        return given
    of = bound_type(spec, dialect, etype)
    if of.id == etype.id:
        return given
    low, high = (convert(value, of, etype) for value in given)
    assert low is not None
    assert high is not None
    return low, high
