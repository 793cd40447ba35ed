"""What all parts of the model are made of: texts, ids, and the element types."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, StringConstraints, Tag


class Scalar(str):
    """The text of a YAML scalar that YAML itself would read as a number.

    The text is kept, so that no number goes through a double on its way into an element type.
    """

    __slots__ = ()


def _no_number(value: object) -> object:
    if not isinstance(value, Scalar):
        return value
    raise ValueError(f"a text is expected, `{value}` is a number: put it in quotes")


def _no_blank(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise ValueError("a text is expected, this one is empty: write it out")
    return value


def _plain_integer(value: object) -> object:
    return int(value) if isinstance(value, Scalar) and value.isdecimal() else value


_PLAIN = BeforeValidator(_no_number)
Text: TypeAlias = Annotated[str, StringConstraints(min_length=1), _PLAIN, BeforeValidator(_no_blank)]
WHOLE = BeforeValidator(_plain_integer)
"""Reads the text of a whole number; in an annotation it stands last, so that limits reach the schema."""
Integer: TypeAlias = Annotated[int, Field(strict=True), WHOLE]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Id: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$"), _PLAIN]
Word: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$"), _PLAIN]
Form: TypeAlias = Annotated[str, StringConstraints(pattern=r"^(clip|body|equation)-[1-9][0-9]*$")]
"""What runtimes are asked: a node Clip of an operator set, or its body or equation as nodes of it."""
FamilyId: TypeAlias = Literal["real", "int", "float"]
NumberText: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
"""A number as text: decimal, hex float, bit pattern, or a constant such as nan."""


class Part(BaseModel):
    """A part of the model: immutable, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


def _lines(value: object) -> object:
    """One line, or a list of them."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple(int(v) if isinstance(v, str) and v.isdecimal() else v for v in listed)


Lines: TypeAlias = Annotated[tuple[Annotated[int, Field(strict=True, ge=1)], ...], BeforeValidator(_lines)]


class Source(Part):
    """Where a statement comes from: verbatim words of a page in one of its sections."""

    page: Id
    section: Text
    quote: Text


class IntegerBits(Part):
    """Two's complement, or unsigned."""

    signed: Flag


class FloatBits(Part):
    """IEEE 754: bits of the exponent, and bits of the significand with the hidden one."""

    exponent: Annotated[int, Field(strict=True, ge=2, le=15), WHOLE]
    significand: Annotated[int, Field(strict=True, ge=3, le=113), WHOLE]


def _kind_of_bits(value: Any) -> str:
    signed = "signed" in value if isinstance(value, dict) else isinstance(value, IntegerBits)
    return "IntegerBits" if signed else "FloatBits"


Bits: TypeAlias = Annotated[
    Annotated[IntegerBits, Tag("IntegerBits")] | Annotated[FloatBits, Tag("FloatBits")],
    Discriminator(_kind_of_bits),
]


class Family(Part):
    """One of the three chapters of the page."""

    id: FamilyId
    chapter: Text
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
    width: Integer | None  # bits of a value; null for `real`
    bits: Bits | None
