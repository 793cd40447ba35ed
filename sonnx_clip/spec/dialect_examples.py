"""Worked examples of a dialect: the node tests of Clip that ONNX's page prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from sonnx_clip.language.types import Id, NumberText, Part, Source, Word
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.dialects import DialectId

if TYPE_CHECKING:
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.model import Spec

Numbers: TypeAlias = Annotated[tuple[NumberText, ...], Field(min_length=1)]


class ComputedBy(Part):
    """The reading that gives the expected result, and the bounds that it is given."""

    reading: Id
    L: NumberText
    M: NumberText


class DialectExample(Part):
    """A worked example of a dialect; a bound that is left out is missing.

    Args:
        id: its permanent id.
        dialect: whose example it is.
        type: the element type.
        X: the entries; or `finite`: they are drawn at random, so that it speaks of all that are finite.
        L: the lower bound.
        M: the upper one.
        Y: the entries of the result, or what computes them.
        source: the words of the page.
    """

    id: Word
    dialect: DialectId
    type: Word
    X: Literal["finite"] | Numbers
    L: NumberText | None = None
    M: NumberText | None = None
    Y: ComputedBy | Numbers
    source: Source

    @model_validator(mode="after")
    def _fits(self) -> Self:
        drawn = self.X == "finite"
        if drawn != isinstance(self.Y, ComputedBy):
            raise ValueError(
                "entries that are drawn need a Y that is computed, and entries that are listed one"
            )
        if not drawn and len(self.X) != len(self.Y):  # type: ignore[arg-type]
            raise ValueError(f"X has {len(self.X)} entries, and Y another number")
        return self

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The entries of X and of Y, if they are listed."""
        return () if isinstance(self.Y, ComputedBy) else tuple(zip(self.X, self.Y, strict=True))


def bounds_of(spec: Spec, example: DialectExample) -> tuple[Value, Value]:
    """The bounds of an example as its dialect has them, a missing one too; UserError if it refuses that."""
    from sonnx_clip.language.values import encode
    from sonnx_clip.spec.dialects import defaults

    etype = spec.element_type(example.type)
    missing = defaults(spec, spec.dialect(example.dialect), etype)
    found = []
    for index, text in enumerate((example.L, example.M)):
        if text is None and missing is None:
            raise UserError(f"{example.dialect} refuses a missing bound")
        found.append(encode(text, etype) if text is not None else (missing or ())[index])
    return found[0], found[1]
