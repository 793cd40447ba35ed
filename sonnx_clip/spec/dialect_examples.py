"""Worked examples of a dialect: the node tests of Clip that ONNX's page prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import Id, NumberText, Part, Source, Word
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.dialects import DialectId
from sonnx_clip.spec.document import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.document import Way
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


def check_dialect_examples(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about examples whose results are not the dialect's."""
    for index, example in enumerate(spec.dialect_examples):
        way: Way = ("dialect_examples", index)
        wrong = next(_unknown(spec, way, example), None)
        if wrong is not None:
            yield wrong
            return
        try:
            yield from _results(spec, way, example)
        except UserError as error:
            yield Diagnostic((*way, "id"), f"`{example.id}`: {error.what}", error.todo)


def _unknown(spec: Spec, way: Way, example: DialectExample) -> Iterator[Diagnostic]:
    dialects, readings = [d.id for d in spec.dialects], [r.id for r in spec.readings]
    if example.dialect not in dialects:
        what = f"there is no dialect `{example.dialect}`"
        yield Diagnostic((*way, "dialect"), what, suggestion(example.dialect, dialects, "there are"))
    elif example.type not in (taken := spec.dialect(example.dialect).element_types):
        what = f"`{example.dialect}` does not take {example.type}"
        yield Diagnostic((*way, "type"), what, suggestion(example.type, taken, "it takes"))
    if isinstance(example.Y, ComputedBy) and example.Y.reading not in readings:
        what = f"there is no reading `{example.Y.reading}`"
        yield Diagnostic((*way, "Y", "reading"), what, suggestion(example.Y.reading, readings, "there are"))


def _results(spec: Spec, way: Way, example: DialectExample) -> Iterator[Diagnostic]:
    """What the words of the dialect allow is what the example expects: those bits, or that value."""
    from sonnx_clip.language.show import show
    from sonnx_clip.language.values import encode, equal, is_nan
    from sonnx_clip.spec.readings import SAMPLES, answers

    etype = spec.element_type(example.type)
    reading, bounds = spec.reading(spec.dialect(example.dialect).reading), bounds_of(spec, example)
    for position, (x, y) in enumerate(example.pairs):
        allowed = answers(spec, etype, reading, (encode(x, etype), *bounds))
        if allowed != (encode(y, etype),):
            told = " or ".join(show(value, etype) for value in allowed)
            yield Diagnostic((*way, "Y", position), f"for X = {x} {example.dialect} allows {told}")
    if isinstance(example.Y, ComputedBy):
        other = spec.reading(example.Y.reading)
        theirs = encode(example.Y.L, etype), encode(example.Y.M, etype)
        for text in SAMPLES[etype.family]:
            x_value = encode(text, etype)
            if is_nan(x_value, etype):
                continue
            pairs = (
                (one, another)
                for one in answers(spec, etype, reading, (x_value, *bounds))
                for another in answers(spec, etype, other, (x_value, *theirs))
            )
            if not all(equal(one, another, etype) for one, another in pairs):
                what = f"for X = {text} {example.dialect} and {other.id} give other values"
                yield Diagnostic((*way, "Y"), what, "see the bounds")
