"""The entries of spec/clip.yaml, one class for each section."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StringConstraints,
    Tag,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticKnownError

from sonnx_clip.language.types import FamilyId, Flag, Form, Id, NumberText, Part, Scalar, Source, Text, Word

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.language.tree import Expr


def _condition(value: object) -> object:
    """Its text; `ConditionParser` puts the tree in its place."""
    if isinstance(value, str) and value:
        return value
    raise ValueError("a condition is expected, as text (docs/language.md)")


if TYPE_CHECKING:
    Condition: TypeAlias = Expr
else:  # pydantic would build a schema of every class of trees, for 40 ms of each command
    Condition = Annotated[Any, PlainValidator(_condition)]


def _no_repetition(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(value)) != len(value):
        raise ValueError("an item is there twice")
    return value


@dataclass(frozen=True)
class FileContext:
    """What validation needs to know of the file.

    Args:
        path: the file.
        digest: the SHA-256 of its content.
        operands: the ids of the operands; None if the file has no such list.
    """

    path: Path | None = None
    digest: str = ""
    operands: tuple[str, ...] | None = None


def _operands(info: ValidationInfo) -> tuple[str, ...] | None:
    return info.context.operands if isinstance(info.context, FileContext) else None


def _result_of_case(value: object, info: ValidationInfo) -> object:
    """One of the operands, or a number."""
    operands = _operands(info)
    if operands is None or value in operands or is_number(value):
        return value
    expected = " or ".join(filter(None, (", ".join(map(repr, operands[:-1])), repr(operands[-1]))))
    raise PydanticKnownError("literal_error", {"expected": expected})


NUMBER = r"^-?(\d|inf$|nan$)"
"""How the text of a number begins, which is no operand."""


def is_number(value: object) -> bool:
    """Whether what a case gives is a number, and no operand."""
    return isinstance(value, str) and re.match(NUMBER, value) is not None


CaseResult: TypeAlias = Annotated[
    str,
    StringConstraints(min_length=1),
    BeforeValidator(_result_of_case),
    Field(description="The operand that is the result, or a number."),
]
OperatorName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*$")]
Symbol: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9]*$")]
Families: TypeAlias = Annotated[tuple[FamilyId, ...], Field(min_length=1), AfterValidator(_no_repetition)]
Numbers: TypeAlias = Annotated[tuple[NumberText, ...], Field(min_length=1)]
Reasons: TypeAlias = dict[FamilyId, Text]  # the families of which an entry says nothing, and why
Conditions: TypeAlias = dict[FamilyId, Condition]


class Operand(Part):
    """What the operator takes: a tensor, entry by entry, or a scalar, one element for all entries."""

    id: Symbol
    onnx: Annotated[Id, Field(description="The name of the input in ONNX.")]
    role: Literal["tensor", "scalar"]


class OperatorResult(Part):
    """What the operator gives: a tensor, whose entries are those of the operands."""

    id: Symbol
    onnx: Annotated[Id, Field(description="The name of the output in ONNX.")]


class Page(Part):
    """A text that the specification quotes."""

    id: Id
    title: Text
    file: Annotated[Text, Field(description="Path in the repository.")]


class OperandValues(Part):
    """Values of the operands, each by its name; a `partial` one may leave some out."""

    model_config = ConfigDict(extra="allow")
    partial: ClassVar[bool] = False
    has_second: ClassVar[bool] = False
    further: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def keys(cls, operands: tuple[str, ...]) -> dict[str, bool]:
        """What it may have, in order: the operands, other numbers, its fields; true for what it must have."""
        second = {f"{operands[0]}2": False} if cls.has_second and operands else {}
        fields = {name: field.is_required() for name, field in cls.model_fields.items()}
        return dict.fromkeys(operands, not cls.partial) | second | dict.fromkeys(cls.further, True) | fields

    @model_validator(mode="before")
    @classmethod
    def _has_the_operands(cls, value: Any, info: ValidationInfo) -> Any:
        """The numbers in the order of the operands; an error for each that lacks or is too many."""
        operands = _operands(info)
        if operands is None or not isinstance(value, Mapping):
            return value
        keys = cls.keys(operands)
        missing = [
            InitErrorDetails(type="missing", loc=(name,), input=value)
            for name, needed in keys.items()
            if needed and name not in value
        ]
        unknown = [
            InitErrorDetails(type="extra_forbidden", loc=(name,), input=value[name])
            for name in value
            if name not in keys
        ]
        if missing or unknown:
            raise ValidationError.from_exception_data(cls.__name__, [*missing, *unknown])
        return {name: value[name] for name in keys if name in value}


class Witness(OperandValues):
    """A number for each operand."""

    __pydantic_extra__: dict[str, NumberText] = Field(init=False)

    def texts(self) -> dict[str, str]:
        """The number of each variable that has one, as text."""
        return dict(self.__pydantic_extra__ or {})


class PropertyWitness(Witness):
    """Numbers for the operands, and for X2, say, where a property compares two entries of the tensor X."""

    has_second: ClassVar[bool] = True


class AnsweredWitness(Witness):
    """Numbers for the operands, and the answer A of a runtime."""

    further: ClassVar[tuple[str, ...]] = ("A",)


def _dimension(value: object) -> object:
    return int(value) if isinstance(value, Scalar) and value.isdecimal() else value


Dimension: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, strict=True)] | Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")],
    BeforeValidator(_dimension),
]


class Declaration(Part):
    """A tensor as a model declares it: a dimension is a number, or a name when it is symbolic."""

    type: Word
    dims: tuple[Dimension, ...] | None
    sparse: Flag = False


class Change(Part):
    """What is declared otherwise than in the example; what is left out stays."""

    type: Word | None = None
    dims: tuple[Dimension, ...] | None = None
    sparse: Flag | None = None


def _kind_of_change(value: object) -> str:
    return "absent" if isinstance(value, str) else "Change"


Broken: TypeAlias = Annotated[
    Annotated[Literal["absent"], Tag("absent")] | Annotated[Change, Tag("Change")],
    Discriminator(_kind_of_change),
]


class Interpretation(Part):
    """What the words of a source are taken to mean where it does not say."""

    ours: Text
    alternative: Annotated[Text, Field(description="What else the words could mean.")]


class InterpretedReading(Interpretation):
    """What a reading takes the silence of its words on NaN to mean, and what shows that it may."""

    ran: Annotated[
        Form | None,
        Field(description="The form of the runs of the findings whose answers it allows; none has been run."),
    ] = None


class Restriction(Part):
    """What a model must meet, said of the tensors as it declares them."""

    id: Id
    statement: Text
    origin: Text
    families: Families
    not_for: Annotated[Reasons, Field(default_factory=dict)]
    role: Literal["precondition"]
    holds: Condition
    interpretation: Interpretation | None = None
    broken_alone_by: Annotated[
        dict[Symbol, Broken],
        Field(min_length=1, description="A change of `declared_example` that breaks this restriction alone."),
    ]
    source: Source
    also: Annotated[
        tuple[Source, ...], Field(description="The same in other words, elsewhere on the page.")
    ] = ()

    @property
    def title(self) -> str:
        """What it says."""
        return self.statement


class Constraint(Part):
    """What holds of the values of the tensors."""

    id: Id
    title: Text
    statement: Text
    families: Families
    role: Literal["precondition", "postcondition", "precondition and postcondition"]
    aliases: Annotated[
        dict[Symbol, Id], Field(description="The number that the page gives it below each tensor.")
    ]
    not_for: Annotated[Reasons, Field(default_factory=dict)]
    holds: Condition
    refuted_for: Annotated[
        dict[FamilyId, Witness], Field(default_factory=dict, description="The only entries of the tensors.")
    ]
    repaired: Annotated[Conditions, Field(default_factory=dict)]
    false_for: Annotated[Word | None, Field(description="An id of `wrong_clips` that it excludes.")] = None
    broken_by: Annotated[
        dict[Symbol, Broken],
        Field(default_factory=dict, description="A change of `declared_example` that it excludes."),
    ]
    source: Source

    @property
    def holds_for(self) -> tuple[FamilyId, ...]:
        """The families for which it holds as it stands."""
        return tuple(family for family in self.families if family not in self.refuted_for)


class Case(Part):
    """A branch of the normative definition."""

    id: Word
    title: Text
    when: Condition
    result: CaseResult
    inhabited_by: Witness
    source: Source


class Definition(Part):
    """A name for an expression. With `families`, it is false for the others."""

    id: Word
    title: Text
    families: Families | None = None
    parameters: tuple[Word, ...] = ()
    is_: Annotated[Condition, Field(alias="is")]


class ValueClass(Part):
    """A cell for coverage: the part `when` of a case, in some families."""

    id: Word
    title: Annotated[Text, Field(description="What lies in it, in words.")]
    matters: Annotated[Text, Field(description="What is returned there, and who returns something else.")]
    case: Annotated[Word, Field(description="An id of `cases`.")]
    families: Families
    when: Annotated[Condition, Field(description="What the class says beyond its case.")]
    inhabited_by: Witness


class Property(Part):
    """What follows from the cases: a claim on operands and result, and perhaps on X2, say, beside X."""

    id: Word
    title: Text
    shows: Annotated[tuple[Id, ...], Field(description="The constraints that it shows.")] = ()
    claim: Condition
    holds_for: Families
    refuted_for: Annotated[dict[FamilyId, PropertyWitness], Field(default_factory=dict)]
    not_for: Annotated[Reasons, Field(default_factory=dict)]
    repaired: Annotated[Conditions, Field(default_factory=dict)]
    false_for: Annotated[Word, Field(description="An id of `wrong_clips` that it excludes.")]
    ours: Annotated[Flag, Field(description="No source states it.")] = False
    in_coq: Annotated[
        Text | None, Field(description="The theorem of coq/ that shows what the provers do not: File.name.")
    ] = None
    source: Source

    @property
    def families(self) -> tuple[FamilyId, ...]:
        """The families of which it speaks, whether it holds or is refuted."""
        return (*self.holds_for, *self.refuted_for)


class WrongClip(Part):
    """A function that is not Clip, or a definition that is not that of the page; some claim excludes it."""

    id: Word
    title: Text
    of: Annotated[
        Word | None, Field(description="The definition in whose place it stands; Clip if none.")
    ] = None
    is_: Annotated[Condition, Field(alias="is")]


class Latitude(Part):
    """Where an answer A other than Y is acceptable."""

    id: Id
    reason: Text
    when: Condition
    accepts: Condition
    always: Annotated[Flag, Field(description="Whether the strict policy keeps it.")] = False
    given_by: Annotated[
        tuple[Id, ...], Field(min_length=1, description="The ids of `readings` that give what it accepts.")
    ]
    inhabited_by: AnsweredWitness

    @property
    def word(self) -> str:
        """The id as one word: a name in theories."""
        return self.id.replace("-", "_")


class Reading(Part):
    """Another meaning that the prose or a library can be given: which Y it allows for X, L and M.

    A family that a region leaves out agrees with the cases everywhere.
    """

    id: Id
    title: Text
    returns: Annotated[Condition, Field(description="Whether the reading allows the answer Y.")]
    agrees: Annotated[
        Conditions, Field(default_factory=dict, description="Exactly where the values agree with the cases.")
    ]
    differs_at: Annotated[dict[FamilyId, Witness], Field(default_factory=dict)]
    agrees_bitwise: Annotated[
        Conditions, Field(default_factory=dict, description="Exactly where it agrees bit for bit.")
    ]
    differs_bitwise_at: Annotated[dict[FamilyId, Witness], Field(default_factory=dict)]
    interpretation: InterpretedReading | None = None
    source: Source | None = None
    reference: Annotated[Text | None, Field(description="Where it is defined, if it cannot be quoted.")] = (
        None
    )

    @property
    def word(self) -> str:
        """The id as one word: a name in theories and programs."""
        return self.id.replace("-", "_")

    @property
    def predicate(self) -> str:
        """What theories call it: whether it allows an answer."""
        return f"{self.word}_returns"

    def regions(self, *, bitwise: bool) -> Conditions:
        """Exactly where it agrees with the cases, bit for bit or in the value."""
        return self.agrees_bitwise if bitwise else self.agrees


Entries: TypeAlias = Annotated[
    Annotated[Numbers, Tag("Numbers")] | Annotated[NumberText, Tag("number")],
    Discriminator(lambda value: "Numbers" if isinstance(value, list | tuple) else "number"),
]


class Example(OperandValues):
    """A worked example of the page: the entries of each tensor, the number of each scalar, and the result."""

    __pydantic_extra__: dict[str, Entries] = Field(init=False)
    further: ClassVar[tuple[str, ...]] = ("Y",)

    id: Word
    family: FamilyId
    not_representable_in: Annotated[
        tuple[Word, ...], Field(description="The types of the family that lack one of the numbers.")
    ] = ()
    source: Source

    @property
    def values(self) -> dict[str, tuple[str, ...] | str]:
        """What is given for each operand, and the result."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def given(self) -> tuple[tuple[str, ...], ...]:
        """The operands, entry by entry."""
        *operands, result = self.values.values()
        return tuple(
            tuple(of if isinstance(of, str) else of[index] for of in operands) for index in range(len(result))
        )

    @property
    def numbers(self) -> tuple[str, ...]:
        """All numbers of it."""
        parts = ((of,) if isinstance(of, str) else of for of in self.values.values())
        return tuple(number for part in parts for number in part)

    @property
    def title(self) -> str:
        """What it is called among statements."""
        return f"the worked example {self.id}"

    @property
    def families(self) -> tuple[FamilyId, ...]:
        """The family of which it speaks."""
        return (self.family,)
