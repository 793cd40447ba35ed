"""Types of the fields of the model: text, id, number as text, element type, quotation."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)


def _no_blank(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise ValueError("a text is expected, this one is empty: write it out")
    return value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1), BeforeValidator(_no_blank)]
Id: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
Word: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Form: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z]+-[1-9][0-9]*$")]
"""What runtimes run: a node Clip of an operator set, or its body or equation as nodes of it."""
FamilyId: TypeAlias = Literal["real", "int", "uint", "float"]
NumberText: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
"""A number as text: decimal, hex float, bit pattern, or a constant such as nan."""


class Part(BaseModel):
    """A part of the model: immutable, and closed to unknown keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        # Validators are built at the first use: most commands read none of the rarer parts.
        defer_build=True,
    )


def chosen_by(kinds: dict[str, str], otherwise: str) -> Discriminator:
    """Choose a member of a union by a key that it alone has, else another; errors are about that one."""

    def kind(value: Any) -> str:
        # A model that is made in Python and not read has its members as they are.
        if isinstance(value, Part):
            return type(value).__name__
        keys = value if isinstance(value, dict) else ()
        return next((kinds[key] for key in kinds if key in keys), otherwise)

    return Discriminator(kind)


Lines: TypeAlias = Annotated[
    tuple[Annotated[int, Field(ge=1)], ...],
    BeforeValidator(lambda value: value if isinstance(value, (list, tuple)) else [value]),
]
"""One line, or a list of them."""


class Source(Part):
    """The source of a statement: a quotation from a section of a page, or a fact in our words."""

    page: Id
    section: Text
    quote: Text | None = None  # of a page whose text is in the repository
    fact: Text | None = None  # what a page that is only cited states, in our words

    @property
    def words(self) -> str:
        """The quotation or the fact."""
        return self.quote or self.fact or ""


class IntegerBits(Part):
    """Two's complement, or unsigned."""

    signed: bool


class FloatBits(Part):
    """IEEE 754: bits of the exponent, and bits of the significand with the hidden one."""

    exponent: Annotated[int, Field(ge=2, le=15)]
    significand: Annotated[int, Field(ge=3, le=113)]


Bits: TypeAlias = Annotated[
    Annotated[IntegerBits, Tag("IntegerBits")] | Annotated[FloatBits, Tag("FloatBits")],
    chosen_by({"signed": "IntegerBits"}, "FloatBits"),
]


class Family(Part):
    """A chapter of the page. Where it lists no types, it is about all that the family has."""

    id: FamilyId
    chapter: Text
    types: tuple[Word, ...] = ()
    source: Source


class ElementType(Part):
    """An element type, with the name it has in each place; null where it has none."""

    id: Word
    family: FamilyId
    sonnx: Id
    onnx: Id | None
    directml: Id | None
    numpy: Id | None
    c: Id | None
    why3: Id
    width: int | None  # bits of a value; null for `real`
    bits: Bits | None

    @model_validator(mode="after")
    def _bits_fit(self) -> Self:
        match self.family, self.bits, self.width:
            # The family int of the page has the unsigned types too.
            case ("real", None, None) | ("int", IntegerBits(), 8 | 16 | 32 | 64):
                return self
            case "uint", IntegerBits(signed=False), 8 | 16 | 32 | 64:
                return self
            case "float", FloatBits(exponent=exponent, significand=significand), width:
                if width == exponent + significand:  # the hidden bit counts, in place of the sign
                    return self
        raise ValueError(
            f"`{self.id}` does not have the parameters of its family: real has none; int has "
            "{signed: true or false} and 8, 16, 32 or 64, uint {signed: false} and the same; "
            "float {exponent: …, significand: …} and their sum"
        )
