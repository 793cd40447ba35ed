"""The contexts and steps of spec/contexts.yaml, or of another file of that form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from sonnx_clip.language import tree
from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.types import Part
from sonnx_clip.language.values import encode
from sonnx_clip.rewrites.terms import ELEMENT, operators, read_term, type_of_clip
from sonnx_clip.root.dtypes import Array, from_bits, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.document import raise_first, read_document, unknown
from sonnx_clip.spec.structure import validate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.document import Document, Way

FILE: Final = "spec/contexts.yaml"
BOUNDS: Final = ("A", "B", "C", "D")
"""The names of the bounds in terms: those of Clip, and those of a second one."""
X: Final = tree.Name(ELEMENT, tree.Kind.ELEMENT)
"""The input, as a term."""
LOWER_BOUNDS: Final = ("A", "C")
# Channels are a multiple of eight: docs/contexts.md names what this leaves out.
SHAPE = (1, 16, 2, 4)
ENTRIES = prod(SHAPE)
"""The entries of X in every context."""

Numbers: TypeAlias = tuple[Annotated[int, Field(ge=-(2**63))], ...]
Shape: TypeAlias = tuple[Annotated[int, Field(ge=1)], ...]
Id: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
TypeId: TypeAlias = Literal[
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


def scalar_of(text: str, etype: str) -> Array:
    """The number that a text stands for, of shape (); UserError if it is none of the type."""
    pattern = encode(text, type_of_clip(etype))
    return from_bits(int(pattern), etype)


def clip_has_type(etype: str) -> bool:
    """Whether Clip has an element type."""
    return _has_type(operators()["clip"], etype)


def _has_type(spec: Spec, etype: str) -> bool:
    """Whether an operator of spec/ has an element type."""
    return any(known.id == etype for known in spec.element_types)


class Constant(Part):
    """A constant of a node: one value for all entries, or the values of a list.

    The element type is that of the step's input, if none is named.
    """

    values: Annotated[tuple[str, ...], Field(min_length=1)]
    shape: Shape = ()
    type: TypeId | None = None

    @property
    def declared_shape(self) -> Shape:
        """Its shape: a scalar for one value, a list for several, if none is given."""
        # An int64 has sizes or axes, which are a list, even of one.
        is_scalar = len(self.values) == 1 and self.type != "int64"
        if self.shape or is_scalar:
            return self.shape
        return (len(self.values),)  # a list

    def array(self, etype: str) -> Array:
        """Its value; `etype` is the element type of the step's input."""
        type_ = self.type or etype
        if type_ == "int64":
            # Sizes, axes and the like.
            values = np.array([int(text) for text in self.values], np.int64)
        else:
            numbers = [scalar_of(text, type_) for text in self.values]
            values = np.array(numbers, numpy_type(type_))
        if len(self.values) == 1:
            # One value stands for all entries, whatever the shape is.
            return np.full(self.declared_shape, values[0], values.dtype)
        return values.reshape(self.declared_shape)


class Backwards(Part):
    """A rearrangement: the entries along an axis in the opposite order."""

    backwards_along: Annotated[int, Field(ge=0)]


class Extension(Part):
    """A rearrangement: entries of one value are added, as by Pad or by Concat with a constant.

    `pads` has the numbers of Pad: how many before each axis, and then how many behind each.
    """

    pads: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=2)]
    value: str


class Arithmetic(Part):
    """One operation of IEEE 754 with a number, rounded to nearest."""

    times: str | None = None
    plus: str | None = None
    over: str | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Arithmetic:
        if len(self.given) != 1:
            raise ValueError("name one of times, plus and over")
        return self

    @property
    def given(self) -> dict[str, str]:
        """The operation and its number."""
        operations = {"times": self.times, "plus": self.plus, "over": self.over}
        return {name: text for name, text in operations.items() if text is not None}


class ContextStep(Part):
    """A node, or two that choose a result, and what they mean; see spec/contexts.yaml."""

    id: Id
    term: str = ""
    node: str = ""
    nodes: tuple[str, ...] = ()
    constants: dict[str, Constant] = Field(default_factory=dict)
    shape: Shape | None = None
    first_shape: Shape | None = None
    moves: (
        Literal["same"] | tuple[Annotated[int, Field(ge=0)], ...] | Backwards | Extension | None
    ) = None
    computes: Arithmetic | None = None
    open: tuple[Literal["zero", "rounding"], ...] = ()
    chooses: str = ""
    converts: TypeId | None = None
    quantises: TypeId | None = None
    dequantises: TypeId | None = None

    @model_validator(mode="after")
    def _has_a_meaning(self) -> ContextStep:
        meanings = {
            "term": self.term,
            "moves": self.moves,
            "computes": self.computes,
            "chooses": self.chooses,
            "converts": self.converts,
            "quantises": self.quantises,
            "dequantises": self.dequantises,
        }
        stated = [name for name, meaning in meanings.items() if meaning not in (None, "")]
        if len(stated) != 1:
            raise ValueError(f"a step has one of {', '.join(meanings)}")
        # A term is its own node; other steps say what their node is.
        nodes = [text for text in (self.term, self.node, self.nodes) if text]
        if len(nodes) != 1:
            raise ValueError("a step has a node, or nodes, or the term that it is")
        # Only a choice, as that of Clip-13's function body, is of several nodes.
        if bool(self.nodes) != bool(self.chooses):
            raise ValueError("a step has nodes if it chooses")
        return self

    @property
    def to_type(self) -> str | None:
        """The element type of its result; None for that of its input."""
        return self.converts or self.quantises or self.dequantises

    @property
    def op_types(self) -> tuple[str, ...]:
        """The operators of its nodes in ONNX."""
        if self.term:
            return (operators()[self.call.function].operator,)
        if self.node:
            # A single node is written without its result: `Add (x, c)`.
            return tuple(re.findall(r"^\w+", self.node))
        # Several nodes name their results: `y = Where (c, low, x)`.
        names: list[str] = []
        for line in self.nodes:
            names += re.findall(r"= *(\w+)", line)[:1]  # a later one is an attribute
        return tuple(names)

    @property
    def op_type(self) -> str:
        """Its operator in ONNX; its operators in order if it has several nodes."""
        return " → ".join(self.op_types)

    @property
    def bounds(self) -> tuple[str, ...]:
        """The names of the bounds that it reads."""
        if not self.term and not self.chooses:
            return ()
        meaning = self.call if self.term else self.choice
        names: dict[str, None] = {}  # in the order in which they are read
        for part in tree.subtrees(meaning):
            if isinstance(part, tree.Name) and part.id in BOUNDS:
                names[part.id] = None
        return tuple(names)

    @cached_property
    def choice(self) -> tree.Expr:
        """What it chooses, as a term of X and the bounds."""
        # At the first use, since the operators of spec/ are read for it.
        return read_term(self.chooses, f"{FILE} ({self.id}.chooses)")

    @cached_property
    def call(self) -> tree.Call:
        """Its term: an operator, applied to X and to constants."""
        where = f"{FILE} ({self.id}.term)"
        term = read_term(self.term, where)
        if not isinstance(term, tree.Call) or not _is_one_node(term):
            what = f"`{self.term}` is no operator applied to X and constants"
            raise UserError(what, where, "write one node in each step")
        return term


def _is_one_node(call: tree.Call) -> bool:
    """Whether an operator of spec/ is applied to X and constants alone."""
    if call.function not in operators():
        return False
    return all(isinstance(part, (tree.Name, tree.Number)) for part in call.arguments)


class ContextEntry(Part):
    """A context as the file has it."""

    id: Id
    title: str
    steps: Annotated[tuple[str, ...], Field(min_length=1)]
    types: tuple[TypeId, ...] = ()
    bounds: str = "usual"
    inside: Literal["", "If", "Else", "Loop", "Scan"] = ""
    fork: bool = False
    two_zeros: Literal["", "plus", "minus"] = ""

    @property
    def turns(self) -> int:
        """How often its steps are run: the body of a Loop twice, so that the second turn reads the first."""
        return 2 if self.inside == "Loop" else 1


class Tensor(NamedTuple):
    """The element type and the shape of a value of a graph."""

    etype: str
    shape: Shape


class Stage(NamedTuple):
    """A step in a context: what it reads, and what it gives."""

    step: ContextStep
    given: Tensor
    result: Tensor

    @property
    def is_defined(self) -> bool:
        """Whether the operator of spec/ that it is, if it is one, has the element type."""
        if self.step.chooses:
            spec = operators()["clip"]
        elif self.step.term:
            spec = operators()[self.step.call.function]
        else:
            return True
        return _has_type(spec, self.given.etype)


Pair: TypeAlias = Annotated[tuple[str, str], Field(min_length=2, max_length=2)]


class ContextsFile(Part):
    """The file."""

    format: Annotated[int, Field(ge=1, le=1)]
    steps: tuple[ContextStep, ...] = ()
    contexts: Annotated[tuple[ContextEntry, ...], Field(min_length=1)]
    bounds: dict[str, tuple[Pair, ...]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """A context with its steps.

    Args:
        entry: as the file has it.
        steps: in order; those of a Loop twice, once for each turn.
        pairs: the bounds of its Clip.
        few: those for few calls.
        few_forms: those for few calls whose bounds are attributes, inputs, or in Constant nodes.
        second: the bounds of the second Clip; empty if it has none.
    """

    entry: ContextEntry
    steps: tuple[ContextStep, ...]
    pairs: tuple[Pair, ...]
    few: tuple[Pair, ...]
    few_forms: tuple[Pair, ...]
    second: tuple[Pair, ...]

    @property
    def id(self) -> str:
        """Its id."""
        return self.entry.id

    @property
    def title(self) -> str:
        """What it is, in words."""
        return self.entry.title

    @property
    def chain(self) -> str:
        """Its operators in order: ``Relu → Clip``."""
        return " → ".join(step.op_type for step in self.steps)

    @property
    def may_lack_bounds(self) -> bool:
        """Whether a bound may be absent: Clip alone reads them, and no other operator."""
        readers = {step.op_type for step in self.steps if step.bounds}
        return readers <= {"Clip"}

    @property
    def first_shape(self) -> Shape:
        """The shape of X."""
        for step in self.steps:
            if step.first_shape is not None:
                return step.first_shape
        return SHAPE

    def stages(self, etype: str) -> tuple[Stage, ...]:
        """Its steps with what they read and give, for X of an element type."""
        stages: list[Stage] = []
        given = Tensor(etype, self.first_shape)
        for step in self.steps:
            # A step keeps the type and the shape of its input unless it says otherwise.
            result = Tensor(step.to_type or given.etype, step.shape or given.shape)
            stages.append(Stage(step, given, result))
            given = result
        return tuple(stages)

    def clip_type(self, etype: str) -> str:
        """The element type of the bounds: that of X, unless a step in front of the Clip converts."""
        for stage in self.stages(etype):
            if stage.step.term or stage.step.chooses:
                return stage.given.etype
        return etype

    def has_type(self, etype: ElementType) -> bool:
        """Whether it is asked with a first input of an element type."""
        is_listed = etype.id in self.entry.types
        if self.entry.types and not is_listed:
            return False
        if etype.id == "bfloat16" or etype.numpy is None:
            return False
        if etype.family != "float" and any(step.computes for step in self.steps):
            return is_listed  # few runtimes have integer arithmetic
        return all(stage.is_defined for stage in self.stages(etype.id))


def _read(file: Path) -> tuple[Document, ContextsFile]:
    document, _ = read_document(file)
    return document, validate(ContextsFile, document)


@cache
def _standard() -> tuple[Document, ContextsFile]:
    return _read(repo_file(FILE))


def standard_contexts() -> tuple[Context, ...]:
    """The contexts of spec/contexts.yaml."""
    return _contexts(*_standard())


def contexts_of_file(file: Path) -> tuple[Context, ...]:
    """The contexts of another file, which may use the steps and bounds of spec/contexts.yaml.

    UserError if it is not of that form.
    """
    return _contexts(*_read(file))


def chosen_contexts(names: Sequence[str]) -> tuple[Context, ...]:
    """The contexts with these ids, those of a file that is named, or all if `names` is empty.

    UserError for an unknown name, and for a wrong file.
    """
    if not names:
        return standard_contexts()
    known = {context.id: context for context in standard_contexts()}
    chosen: dict[str, Context] = {}
    for name in names:
        if name.endswith((".yaml", ".yml")):
            from pathlib import Path

            for context in contexts_of_file(Path(name)):
                chosen[context.id] = context
        elif name in known:
            chosen[name] = known[name]
        else:
            todo = suggestion(name, known, "there are", "name a YAML file")
            raise UserError(f"there is no context `{name}`", "--contexts", todo)
    return tuple(chosen.values())


def _contexts(document: Document, content: ContextsFile) -> tuple[Context, ...]:
    """The contexts of a file; UserError at the first thing that it names and that is not there."""
    _, standard = _standard()
    steps = _steps(document, content)
    # A file of one's own has few contexts: it may use the bounds of the other, or replace them.
    bounds = {**standard.bounds, **content.bounds}
    contexts: dict[str, Context] = {}
    for index, entry in enumerate(content.contexts):
        way: Way = ("contexts", index)
        if entry.id in contexts:
            raise _twice(document, (*way, "id"), f"the context `{entry.id}`")
        for position, name in enumerate(entry.steps):
            step_way: Way = (*way, "steps", position)
            raise_first(document, unknown(step_way, name, steps, "step"))
        bounds_way: Way = (*way, "bounds")
        raise_first(document, unknown(bounds_way, entry.bounds, bounds, "list of bounds"))
        one_turn = tuple(steps[name] for name in entry.steps)
        chain = one_turn * entry.turns
        # A list of its own is short, and is asked whole, even in few calls.
        pairs = few = few_forms = bounds[entry.bounds]
        if entry.bounds == "usual":
            few = bounds["few"]
            few_forms = bounds["few-forms"]
        has_second = any("C" in step.term for step in chain)
        second = bounds["second"] if has_second else ()
        contexts[entry.id] = Context(entry, chain, pairs, few, few_forms, second)
    return tuple(contexts.values())


def _steps(document: Document, content: ContextsFile) -> dict[str, ContextStep]:
    """The steps that the contexts of a file may have, by id: those of spec/contexts.yaml, and its own."""
    _, standard = _standard()
    steps: dict[str, ContextStep] = {}
    # The steps of spec/contexts.yaml itself are those of `content`, which are added below.
    if content is not standard:
        steps = {step.id: step for step in standard.steps}
    for index, step in enumerate(content.steps):
        if step.id in steps:
            raise _twice(document, ("steps", index, "id"), f"the step `{step.id}`")
        try:
            # Reads its term or its choice, now that the place of a mistake in the file is known.
            _ = step.bounds
        except UserError as error:
            key = "term" if step.term else "chooses"
            raise document.error(("steps", index, key), error.what, error.todo) from None
        steps[step.id] = step
    return steps


def _twice(document: Document, way: Way, which: str) -> UserError:
    return document.error(way, f"{which} is there twice", "rename one of them")
