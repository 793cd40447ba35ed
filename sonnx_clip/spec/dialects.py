"""The entries of `dialects`, versioned definitions of Clip, and of `dialect_examples`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from sonnx_clip.language.convert import convert
from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import ElementType, Id, NumberText, Part, Source, Text, Word
from sonnx_clip.language.values import Value, encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.document import Diagnostic, Way, unknown
from sonnx_clip.spec.entries import (
    Conditions,
    ExampleValues,
    NamedEntry,
    Numbers,
    Witness,
    Witnesses,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.spec.model import Spec


if TYPE_CHECKING:
    Aspect: TypeAlias = str
else:  # one of these words, which is a text to all who read it
    Aspect = Literal[
        "element_types", "ranks", "bounds", "missing_bounds", "missing_bounds_of", "casts",
        "cast_of_no_number", "inverted_bounds", "nan", "scale_bias", "scale_bias_precision", "in_place",
        "inputs", "scalar_bounds", "attributes", "result", "errors", "function", "missing_max",
        "equivalence",
    ]  # fmt: skip
DialectId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*-[a-z0-9.-]+$")]

ALWAYS: tuple[Aspect, ...] = (
    "element_types", "ranks", "bounds", "missing_bounds", "inverted_bounds", "nan", "in_place",
)  # fmt: skip
"""The aspects that every dialect states, or marks as unsaid."""


class Saying(Part):
    """What a page states on an aspect, as `Source`; in the section of the dialect if none is named."""

    section: Text | None = None
    quote: Text | None = None
    fact: Text | None = None


class Ranks(Part):
    """How many dimensions X may have; any number from `least` on if `greatest` is left out."""

    least: Annotated[int, Field(ge=0)]
    greatest: int | None = None

    def __str__(self) -> str:
        """As English text."""
        if self.greatest is None:
            return "any" if self.least == 0 else f"{self.least} and more"
        if self.least == self.greatest:
            return str(self.least)
        return f"{self.least} to {self.greatest}"


class Printed(Part):
    """Default values as the page prints them, of the bound's type."""

    min: NumberText
    max: NumberText


class Missing(Printed):
    """The default of a missing bound, a number of X's type or of the bound's."""

    of: Literal["element", "bound"]


class Equivalence(Part):
    """A reading to which the page declares the dialect equivalent, and exactly where the values are the same.

    A family that `where` leaves out has the same values everywhere.
    """

    to: Id
    where: Conditions
    fails_at: Witnesses


class Dialect(NamedEntry):
    """A versioned definition of Clip."""

    id: DialectId  # its permanent id, ``onnx-6``
    title: Text
    system: Literal["sonnx", "onnx", "directml"]  # who defines it
    version: Text  # operator set, feature level, or chapter, as the system writes it
    after: DialectId | None = None  # the version before; None for the first
    # node_of: whose nodes it gives a meaning, where it is not the dialect itself
    node_of: DialectId | None = None
    page: Id  # the text that defines it
    section: Text  # where that text does
    element_types: Annotated[tuple[Word, ...], Field(min_length=1)]  # of X
    ranks: Ranks  # of X
    bounds: Literal["inputs", "attributes", "members"]  # how they are given
    bound_type: Literal["tensor", "float32"]  # in which type they are given
    # missing: the values of missing bounds; None if a missing one is refused
    missing: Annotated[
        Missing | None, BeforeValidator(lambda value: None if value == "refused" else value)
    ]
    reading: Id  # the meaning that its words allow
    answers: Id  # the reading that decides where they allow more than one answer
    scale_bias: bool  # whether X may be scaled and shifted first
    in_place: bool  # whether the result may overwrite X
    # function: whether its page says that it has a function body; None where a page has no such line
    function: bool | None = None
    # changes: types for which missing bounds give another result than before, each with an X
    changes: Annotated[dict[Word, NumberText], Field(default_factory=dict)]
    # widens: exactly where, with bounds given, it allows an answer that the version before did not
    widens: Conditions
    equivalence: Equivalence | None = None  # a reading to which its page says that it is equivalent
    printed_default: Printed | None = None  # default values as the page prints them
    # sayings: the words of the page on an aspect; `says` in the file
    sayings: Annotated[dict[Aspect, Saying], Field(default_factory=dict, alias="says")]
    # unsaid: the aspects that the page leaves open, and what the oracle does then
    unsaid: Annotated[dict[Aspect, Text], Field(default_factory=dict)]

    @cached_property
    def says(self) -> dict[Aspect, Source]:
        """The words of the page on each aspect, as quotations."""
        sources: dict[Aspect, Source] = {}
        for aspect, saying in self.sayings.items():
            # Not validated again, since the parts are.
            sources[aspect] = Source.model_construct(
                page=self.page,
                section=saying.section or self.section,
                quote=saying.quote,
                fact=saying.fact,
            )
        return sources

    def converts_to(self, type_id: str) -> bool:
        """Whether a bound becomes another number format before an X of this type is clipped."""
        return self.bound_type not in ("tensor", type_id)


class ComputedBy(Witness):
    """The reading that defines the expected result, with its operands beside X."""

    partial: ClassVar[bool] = True

    reading: Id


class DialectExample(ExampleValues):
    """A worked example of a dialect; a bound that is left out is missing, and X may be `finite`."""

    partial: ClassVar[bool] = True

    dialect: DialectId
    type: Word
    # Y: the entries of the result; or what computes them, where X is `finite`: drawn at random
    Y: ComputedBy | Numbers

    @model_validator(mode="after")
    def _fits(self) -> Self:
        # X by its form: before `order_operands` a bound may be the first, and a bound is one number.
        of_x = (
            value for value in self.values.values() if value == "finite" or isinstance(value, tuple)
        )
        x = next(of_x, ())
        is_drawn = x == "finite"
        if is_drawn != isinstance(self.Y, ComputedBy):
            raise ValueError(
                "entries that are drawn need a Y that is computed, and entries that are listed one"
            )
        if isinstance(self.Y, tuple) and len(x) != len(self.Y):
            raise ValueError(f"X has {len(x)} entries, and Y another number")
        return self

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The entries of X and of Y, if they are listed."""
        if isinstance(self.Y, ComputedBy):
            return ()
        # `order_operands` has put the numbers in the order of the operands: X is the first.
        x = next(iter(self.values.values()))
        return tuple(zip(x, self.Y, strict=True))


def check_dialects(spec: Spec) -> Iterator[Diagnostic]:
    """Rows that refer to missing entries, or leave something out."""
    readings: list[str] = [reading.id for reading in spec.readings]
    earlier: dict[str, tuple[str, ...]] = {}  # the element types of the rows so far, by id
    for index, dialect in enumerate(spec.dialects):
        way = ("dialects", index)
        before = dialect.after
        if before is not None and before not in earlier:
            message = f"no earlier row is called `{before}`"
            todo = suggestion(before, earlier, "before it stand")
            yield Diagnostic((*way, "after"), message, todo)
            return  # what follows would compare it with the row before
        equivalence = dialect.equivalence
        if equivalence is not None:
            way_to_reading = (*way, "equivalence", "to")
            yield from unknown(way_to_reading, equivalence.to, readings, "reading")
        yield from _check_aspects(way, dialect)
        yield from _check_numbers(spec, way, dialect)
        # A change is from the row before, which has to take the type as well.
        types_before = earlier.get(before or "", ())
        in_both = set(types_before).intersection(dialect.element_types)
        for id_ in dialect.changes.keys() - in_both:
            message = f"`{dialect.id}` and the row before do not both take {id_}"
            yield Diagnostic((*way, "changes", id_), message, of_key=True)
        earlier[dialect.id] = dialect.element_types


def _required_aspects(dialect: Dialect) -> Iterator[Aspect]:
    """The aspects that a dialect states, or marks as unsaid."""
    yield from ALWAYS
    if dialect.bound_type != "tensor":
        yield "casts"
    if dialect.scale_bias:
        yield "scale_bias"
        yield "scale_bias_precision"


def _check_aspects(way: Way, dialect: Dialect) -> Iterator[Diagnostic]:
    """Every aspect has words of the page or is listed as unsaid; what the row allows has words."""
    way_to_id = (*way, "id")  # of what the row lacks
    for aspect in dialect.sayings.keys() & dialect.unsaid.keys():
        message = f"`{aspect}` is under `says` and under `unsaid`"
        yield Diagnostic((*way, "unsaid", aspect), message, "it is one or the other", of_key=True)
    for aspect in _required_aspects(dialect):
        if aspect in dialect.sayings or aspect in dialect.unsaid:
            continue
        message = f"`{dialect.id}` has no entry for `{aspect}`"
        todo = "quote the page under `says`, or state under `unsaid` what the oracle does"
        yield Diagnostic(way_to_id, message, todo)

    # A row must not permit what its page does not state.
    permissions = {"equivalence": dialect.equivalence is not None, "in_place": dialect.in_place}
    for aspect, is_set in permissions.items():
        if is_set and aspect not in dialect.sayings:
            message = f"`{aspect}` is set without a quotation"
            yield Diagnostic(way_to_id, message, "quote the page")
    printed = dialect.printed_default
    if printed:
        quotes = [saying.quote or "" for saying in dialect.sayings.values()]
        all_quotes = " ".join(quotes)
        if printed.min not in all_quotes or printed.max not in all_quotes:
            message = "no quotation of this row has these numbers"
            yield Diagnostic((*way, "printed_default"), message, "quote them")


def _check_numbers(spec: Spec, way: Way, dialect: Dialect) -> Iterator[Diagnostic]:
    """The system has a name for each element type, and each type has the default values."""
    types = {etype.id: etype for etype in spec.element_types}
    known: list[ElementType] = []
    for position, id_ in enumerate(dialect.element_types):
        etype = types.get(id_)
        if etype is None:
            continue  # `check_references` reports it
        known.append(etype)
        if getattr(etype, dialect.system) is None:
            message = f"{dialect.system} has no name for {id_}"
            todo = f"add it to the element type: {dialect.system}: …"
            yield Diagnostic((*way, "element_types", position), message, todo)
    try:
        for etype in known:
            defaults(spec, dialect, etype)
            for _, number in dialect.printed_default or ():
                encode(number, bound_type(spec, dialect, etype))
    except UserError as error:
        message = f"{dialect.id}: {error.what}"
        yield Diagnostic((*way, "id"), message, error.todo)


# --- What stands for the missing bounds of a dialect, in each element type ----------------------------------


def bound_type(spec: Spec, dialect: Dialect, etype: ElementType) -> ElementType:
    """The type in which a dialect is given the bounds for an X of an element type."""
    return etype if dialect.bound_type == "tensor" else spec.element_type(dialect.bound_type)


def given_defaults(
    spec: Spec,
    dialect: Dialect,
    etype: ElementType,
) -> tuple[Value, Value] | None:
    """The defaults of missing bounds before any conversion; None if they are refused."""
    if dialect.missing is None:
        return None
    # A default of X's type needs no conversion: `lowest`, say, is the least number of each type.
    is_element = dialect.missing.of == "element"
    type_of_default = etype if is_element else bound_type(spec, dialect, etype)
    low = encode(dialect.missing.min, type_of_default)
    high = encode(dialect.missing.max, type_of_default)
    return low, high


def defaults(
    spec: Spec,
    dialect: Dialect,
    etype: ElementType,
) -> tuple[Value, Value] | None:
    """The defaults of missing bounds as numbers of the element type; None if they are refused.

    UserError if one becomes no number of it, as an infinity becomes no integer.
    """
    unconverted = given_defaults(spec, dialect, etype)
    if unconverted is None or dialect.missing is None:
        return None
    type_of_bound = bound_type(spec, dialect, etype)
    if dialect.missing.of == "element" or type_of_bound.id == etype.id:
        return unconverted
    low = convert(unconverted[0], type_of_bound, etype)
    high = convert(unconverted[1], type_of_bound, etype)
    if low is None or high is None:
        text = dialect.missing.min if low is None else dialect.missing.max
        raise UserError(
            f"the default bound {text} becomes no number of {etype.id}",
            todo="give a number that every element type of the dialect has",
        )
    return low, high


def effective_bounds(
    spec: Spec,
    dialect: Dialect,
    etype: ElementType,
    texts: Sequence[str | None],
) -> tuple[Value | None, ...]:
    """Bounds as numbers of the element type: converted, or what stands for a missing one.

    None is a bound that becomes no number. UserError if the dialect refuses the type or a missing bound.
    """
    if etype.id not in dialect.element_types:
        known = ", ".join(dialect.element_types)
        raise UserError(f"`{dialect.id}` does not take {etype.id}", todo=f"it takes {known}")
    type_of_bound = bound_type(spec, dialect, etype)
    missing = defaults(spec, dialect, etype)
    bounds: list[Value | None] = []
    for place, text in enumerate(texts):
        if text is not None:
            number = encode(text, type_of_bound)
            is_converted = type_of_bound.id != etype.id
            bounds.append(convert(number, type_of_bound, etype) if is_converted else number)
        elif missing is not None:
            bounds.append(missing[place])
        else:
            raise UserError(f"`{dialect.id}` refuses a missing bound", todo="give all bounds")
    return tuple(bounds)


def bounds_of(spec: Spec, example: DialectExample) -> tuple[Value, Value]:
    """The bounds of an example as its dialect has them, a missing one too; UserError if one is no number."""
    texts: list[str | None] = []
    for name in spec.signature.ids[1:]:
        value = example.values.get(name)
        texts.append(None if value is None else str(value))
    dialect = spec.dialect(example.dialect)
    etype = spec.element_type(example.type)
    low, high = effective_bounds(spec, dialect, etype, texts)
    if low is None or high is None:
        raise UserError(
            f"a bound becomes no number of {etype.id}",
            todo="give a bound that the element type has",
        )
    return low, high
