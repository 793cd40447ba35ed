"""The entries of the YAML of an operator, one class for each section but dialects and findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StringConstraints,
    Tag,
    model_validator,
)

from sonnx_clip.language.printing import unparse
from sonnx_clip.language.tree import Number, subtrees
from sonnx_clip.language.types import FamilyId, Form, Id, NumberText, Part, Source, Text, Word

if TYPE_CHECKING:
    from sonnx_clip.language.tree import Expr


def _condition(value: object) -> object:
    """Its text; `ConditionParser` puts the tree in its place."""
    if isinstance(value, str) and value:
        return value
    raise ValueError("a condition is expected, as text: X < 0")


def _element(value: object) -> object:
    """Its text; `ConditionParser` puts the tree in its place."""
    if isinstance(value, str) and value:
        return value
    raise ValueError("an element is expected, as text: X, 0, opposite(X)")


if TYPE_CHECKING:
    Condition: TypeAlias = Expr
    Element: TypeAlias = Expr
else:  # pydantic would build a schema of every class of trees, for 40 ms of each command
    Condition = Annotated[Any, PlainValidator(_condition)]
    Element = Annotated[Any, PlainValidator(_element)]


def _no_repetition(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(value)) != len(value):
        raise ValueError("an item is there twice")
    return value


OperatorName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*$")]
Symbol: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9]*$")]
Families: TypeAlias = Annotated[
    tuple[FamilyId, ...], Field(min_length=1), AfterValidator(_no_repetition)
]
Numbers: TypeAlias = Annotated[tuple[NumberText, ...], Field(min_length=1)]
Reasons: TypeAlias = Annotated[dict[FamilyId, Text], Field(default_factory=dict)]
"""The families that an entry leaves out, and why."""
Conditions: TypeAlias = Annotated[dict[FamilyId, Condition], Field(default_factory=dict)]


class NamedEntry(Part):
    """An entry whose id is a part of names in theories and programs."""

    id: Id

    @property
    def word(self) -> str:
        """The id as one word."""
        return self.id.replace("-", "_").replace(".", "_")


class OperandEntry(Part):
    """An operand: a tensor, entry by entry, or a scalar, one element for all entries."""

    id: Symbol
    onnx: Id
    role: Literal["tensor", "scalar"]


class ResultEntry(Part):
    """The result: a tensor with the entries of the operands."""

    id: Symbol
    onnx: Id


class Citation(Part):
    """A version of a file in a public repository."""

    repository: Text
    path: Text
    commit: Text  # or a tag

    def __str__(self) -> str:
        """As people cite it."""
        return f"{self.repository}, {self.path} at {self.commit[:10]}"


class Page(Part):
    """A text that the specification quotes, or one that it only cites."""

    id: Id
    title: Text
    file: str = ""  # its path in this repository, where its text is kept
    cites: Citation | None = None  # where it is published, where its text is not kept

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.file == "") == (self.cites is None):
            raise ValueError("give one of `file` and `cites`")
        return self

    @property
    def place(self) -> str:
        """Where it can be read."""
        return self.file or str(self.cites)


class OperandValues(Part):
    """Values of the operands, each by its name, which `check_operands` compares with the head of the file.

    A `partial` one may leave operands out; one that `has_second` may have X2, say, another entry of the first
    tensor X; `further` names other variables that it must have.
    """

    model_config = ConfigDict(extra="allow")
    partial: ClassVar[bool] = False
    of_scalars: ClassVar[bool] = False  # of the scalars alone
    has_second: ClassVar[bool] = False
    further: ClassVar[tuple[str, ...]] = ()

    # The names of operands differ from file to file: mypy is told that there may be any.
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


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


Dimension: TypeAlias = (
    Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
)


@dataclass(frozen=True)
class DeclaredTensor:
    """A tensor as a model declares it; an input that is not set is None instead."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    type: Word  # id of the element type
    # dims: numbers, and names where symbolic; None if no shape is declared
    dims: tuple[Dimension, ...] | None
    sparse: bool = False


class Change(Part):
    """What is declared otherwise than in the example; what is left out stays."""

    # Which of these the file gives is in `model_fields_set`: None is a value, too, of `dims`.
    type: Word | None = None
    dims: tuple[Dimension, ...] | None = None
    sparse: bool | None = None


def _kind_of_change(value: object) -> str:
    # By its form alone, so that a mistake in a change is not reported of the word as well.
    return "absent" if isinstance(value, str) else "Change"


Broken: TypeAlias = Annotated[
    Annotated[Literal["absent"], Tag("absent")] | Annotated[Change, Tag("Change")],
    Discriminator(_kind_of_change),
]


Witnesses: TypeAlias = Annotated[dict[FamilyId, Witness], Field(default_factory=dict)]


class Interpretation(Part):
    """What the words of a source are taken to mean where they are silent, and what else they could mean."""

    ours: Text
    alternative: Text
    # Of a reading, on NaN: of the runs of findings whose answers show that it may.
    ran: Form | None = None


class Restriction(Part):
    """What a model must meet, stated about the tensors as it declares them."""

    id: Id
    statement: Text
    origin: Text
    families: Families
    not_for: Reasons
    role: Literal["precondition"]
    holds: Condition
    interpretation: Interpretation | None = None
    # It breaks no other restriction.
    broken_alone_by: Annotated[dict[Symbol, Broken], Field(min_length=1)]
    source: Source
    also: tuple[Source, ...] = ()  # the same in other words, elsewhere on the page

    @property
    def title(self) -> str:
        """The statement."""
        return self.statement


class Constraint(Part):
    """What holds of the values of the tensors."""

    id: Id
    title: Text
    statement: Text
    families: Families
    role: Literal["precondition", "postcondition", "precondition and postcondition"]
    aliases: dict[Symbol, Id]  # the number that the page gives it below each tensor
    not_for: Reasons
    holds: Condition
    refuted_for: Witnesses  # the only entries of the tensors
    repaired: Conditions
    source: Source

    @property
    def holds_for(self) -> tuple[FamilyId, ...]:
        """The families for which it holds as written."""
        return tuple(family for family in self.families if family not in self.refuted_for)


OUTSIDE_DOMAIN = "outside-domain"
"""The name of the deviations that are accepted since the operator is not defined for the operands."""


class Domain(Part):
    """For which operands of a family the operator is defined. Elsewhere any result conforms."""

    holds: Condition
    reason: Text
    source: Source


class Case(Part):
    """A branch of the normative definition."""

    id: Word
    title: Text
    when: Condition
    result: Element  # an operand, a number, or the opposite of one
    not_for: Reasons  # families in which no operands fall into it
    inhabited_by: Witness
    source: Source

    @property
    def result_text(self) -> str:
        """The result as the file has it."""
        return unparse(self.result)

    @property
    def result_has_number(self) -> bool:
        """Whether the result is a number, or the opposite of one."""
        return any(isinstance(node, Number) for node in subtrees(self.result))


class OfFamilies(Part):
    """An entry for some families, or for all of the operator."""

    families: Families | None = None

    def is_for(self, family: str) -> bool:
        """Whether it is for a family."""
        return self.families is None or family in self.families


class Definition(OfFamilies):
    """A name for an expression. With `families`, it is false for the others."""

    id: Word
    title: Text
    parameters: tuple[Word, ...] = ()
    is_: Annotated[Condition, Field(alias="is")]


class ValueClass(Part):
    """A cell for coverage: the part `when` of a case, in some families; `matters` describes its mistakes."""

    id: Word
    title: Text
    matters: Text
    case: Word
    families: Families
    when: Condition
    inhabited_by: Witness


class Property(Part):
    """What follows from the cases: a claim on operands and result, and perhaps on X2, say, beside X."""

    id: Word
    title: Text
    shows: tuple[Id, ...] = ()  # constraints
    claim: Condition
    holds_for: Families
    refuted_for: Annotated[dict[FamilyId, PropertyWitness], Field(default_factory=dict)]
    not_for: Reasons
    repaired: Conditions
    false_for: Word  # the id of a wrong operator that it excludes
    ours: bool = False  # whether no source states it
    in_coq: Text | None = None  # File.name of the theorem that shows what the provers do not
    source: Source

    @property
    def families(self) -> tuple[FamilyId, ...]:
        """The families that it covers, whether it holds or is refuted."""
        return (*self.holds_for, *self.refuted_for)


class WrongOperator(Part):
    """A function that is not the operator, or stands in the place `of` a definition. A claim excludes it."""

    id: Word
    title: Text
    of: Word | None = None
    is_: Annotated[Condition, Field(alias="is")]


Conversion: TypeAlias = Literal[
    "float16", "bfloat16", "float32", "float64", "without subnormals", "low 8 bits", "low 16 bits",
    "low 32 bits", "signed integers", "unsigned integers",
]  # fmt: skip
"""What operands become before they are clipped or compared."""
Limitation: TypeAlias = Literal[
    "finite", "range of int8", "range of uint8", "range of int16", "range of uint16", "range of int32",
    "range of uint32", "range of float16", "range of float32",
]  # fmt: skip
"""What bounds become."""


class Mechanism(NamedEntry, OfFamilies):
    """A cause of deviations: what a runtime may compute in the place of the operator."""

    title: Text
    is_: Annotated[Condition | None, Field(alias="is")] = None  # the answer
    returns: Condition | None = None  # whether the answer may be Y
    computes: Conversion | None = None  # operands are converted, and the result back
    # Operands are converted to be compared; one of them is the answer.
    compares: Conversion | None = None
    bounds: Limitation | None = None  # the scalars are converted
    absent: dict[Symbol, NumberText] | None = None  # what absent scalars are read as

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        kinds = ("is_", "returns", "computes", "compares", "bounds", "absent")
        given = [kind for kind in kinds if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(
                "give one of `is`, `returns`, `computes`, `compares`, `bounds` and `absent`"
            )
        return self


class BoundsCondition(OfFamilies):
    """A condition on the scalars by which refused calls and deviations are described."""

    is_: Annotated[Condition, Field(alias="is")]


class Latitude(NamedEntry):
    """Where an answer A other than Y is acceptable; `always` under the strict policy too."""

    reason: Text
    when: Condition
    accepts: Condition
    always: bool = False
    # The readings that give what it accepts.
    given_by: Annotated[tuple[Id, ...], Field(min_length=1)]
    inhabited_by: AnsweredWitness


ABSENT = "absent"
"""A side of bounds in use that a model does not have."""


class BoundsInUse(OperandValues):
    """Scalars that models have, and why: each a number, a constant, or `ABSENT`."""

    __pydantic_extra__: dict[str, NumberText] = Field(init=False)
    of_scalars: ClassVar[bool] = True

    reason: Text

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each scalar, in the order of the operands."""
        return tuple((self.__pydantic_extra__ or {}).values())


class Reading(NamedEntry):
    """Another meaning that the prose or a library can be given: which Y it allows for the operands."""

    title: Text
    returns: Condition  # whether it allows the answer Y
    # agrees: exactly where the values agree with the cases; everywhere in a family that is left out
    agrees: Conditions
    differs_at: Witnesses  # numbers for which they do not
    agrees_bitwise: Conditions  # exactly where it agrees bit for bit
    differs_bitwise_at: Witnesses  # numbers for which it does not
    interpretation: Interpretation | None = None  # of the silence of its words
    source: Source | None = None
    reference: Text | None = None  # where it is defined, if it cannot be quoted

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.source is None) == (self.reference is None):
            raise ValueError("give one of `source` and `reference`")
        for key in ("agrees", "agrees_bitwise"):
            differs = f"differs{key.removeprefix('agrees')}_at"
            in_one_of_them = getattr(self, key).keys() ^ getattr(self, differs).keys()
            # The first in the alphabet, so that the message is the same each time.
            for family in sorted(in_one_of_them):
                raise ValueError(
                    f"`{key}` and `{differs}` do not both have {family}; give both or neither"
                )
        return self

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


class ExampleValues(OperandValues):
    """Entries of the tensors, and numbers of the scalars."""

    __pydantic_extra__: dict[str, Entries] = Field(init=False)

    id: Word
    source: Source

    @property
    def values(self) -> dict[str, tuple[str, ...] | str]:
        """What is given for each operand, and the result where it is given in the same form."""
        return dict(self.__pydantic_extra__ or {})


class Example(ExampleValues):
    """A worked example of the page: the entries of each tensor, the number of each scalar, and the result."""

    further: ClassVar[tuple[str, ...]] = ("Y",)

    family: FamilyId
    # not_representable_in: the types of the family that lack one of the numbers
    not_representable_in: tuple[Word, ...] = ()

    @property
    def given(self) -> tuple[tuple[str, ...], ...]:
        """The operands, entry by entry."""
        # In the order of the head, the result last (`order_operands`).
        *operands, result = self.values.values()
        columns: list[tuple[str, ...]] = []
        for operand in operands:
            if isinstance(operand, str):
                # A scalar is the same for every entry.
                columns.append((operand,) * len(result))
            else:
                columns.append(operand)
        return tuple(zip(*columns, strict=True))

    @property
    def numbers(self) -> tuple[str, ...]:
        """All numbers of it."""
        numbers: list[str] = []
        for value in self.values.values():
            if isinstance(value, str):  # a scalar
                numbers.append(value)
            else:
                numbers += value
        return tuple(numbers)

    @property
    def title(self) -> str:
        """What it is called among statements."""
        return f"the worked example {self.id}"

    @property
    def families(self) -> tuple[FamilyId, ...]:
        """Its family."""
        return (self.family,)
