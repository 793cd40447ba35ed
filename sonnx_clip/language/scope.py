"""Names of a condition: the operator's variables, built-in functions, and the entries of the YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.language import tree
from sonnx_clip.language.tree import Expr, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Head:
    """The operator, as the language sees it."""

    function: str  # the name of its result in conditions: clip
    operands: tuple[str, ...]  # its variables, in order
    tensors: frozenset[
        str
    ]  # those that are tensors; the others are scalars, one element for all entries
    result: str  # the variable of its result

    @property
    def second(self) -> str:
        """The variable for other entries of the first tensor, where a property compares two inputs."""
        return next((f"{name}2" for name in self.operands if name in self.tensors), "")

    @property
    def all(self) -> tuple[str, ...]:
        """The operands and the result."""
        return (*self.operands, self.result)

    @property
    def scalars(self) -> tuple[str, ...]:
        """The operands that are scalars, in order."""
        return tuple(name for name in self.operands if name not in self.tensors)

    @property
    def arguments(self) -> str:
        """The operands in the theories: ``x l m``."""
        return " ".join(name.lower() for name in self.operands)

    @property
    def arguments_and_result(self) -> str:
        """The operands and the result in the theories: ``x l m y``."""
        return f"{self.arguments} {self.result.lower()}"


NO_HEAD = Head("", (), frozenset(), "")  # of conditions without an operator


@dataclass(frozen=True)
class Signature:
    """A built-in function: the kinds that each argument may have, and the kind of the result."""

    arguments: tuple[tuple[Kind, ...], ...]
    result: Kind = Kind.BOOL


_B, _D, _E, _F, _T = (
    (kind,) for kind in (Kind.BOOL, Kind.DECLARED, Kind.ELEMENT, Kind.FLOAT, Kind.TENSOR)
)
ELEMENT_FUNCTIONS = {
    "identical": Signature((_E, _E)),
    "is_nan": Signature((_E,)),
    "is_signalling": Signature((_E,)),
    "opposite": Signature((_E,), Kind.ELEMENT),
}
DECLARED_FUNCTIONS = {
    **dict.fromkeys(("is_set", "is_sparse", "has_explicit_shape", "is_scalar"), Signature((_D,))),
    "same_type": Signature((_D, _D)),
}
VALUE_FUNCTIONS = {
    "every": Signature((_B,)),
    "shape": Signature((_T,), Kind.SHAPE),
    "type": Signature(((*_E, *_T),), Kind.ELEMENT_TYPE),
    **ELEMENT_FUNCTIONS,
}
CONVERSION = {"becomes": Signature((_F, _E))}
BUILT_IN = frozenset({*DECLARED_FUNCTIONS, *VALUE_FUNCTIONS, *CONVERSION, "i"})


@dataclass(frozen=True)
class Usable:
    """A case, class or definition that a condition may use by its id."""

    parameters: int
    kind: Kind
    families: frozenset[str]


@dataclass(frozen=True)
class Scope:
    """The names that a condition may use."""

    name: str  # the owner of the condition, for messages: a property
    variables: Mapping[str, Kind]
    functions: Mapping[str, Signature]  # the built-in ones
    uses: Mapping[str, Usable] = field(default_factory=dict)  # the usable entries, by id
    families: frozenset[str] = frozenset()  # for which the condition is read
    head: Head = NO_HEAD  # the operator, whose operands an entry without parameters uses


def kind_of(expr: Expr) -> Kind:
    """The kind of an expression, from its root alone."""
    match expr:
        case tree.Compare() | tree.Not() | tree.Connective() | tree.Every():
            return Kind.BOOL
        case tree.Subscript():
            return Kind.ELEMENT
        case tree.Parentheses(inner=inner):
            return kind_of(inner)
        case _:
            return expr.kind


def calls_of(head: Head) -> dict[str, Signature]:
    """The function of the operator, for conditions that may call it."""
    return {head.function: Signature((_E,) * len(head.operands), Kind.ELEMENT)}


def element_scope(
    name: str,
    variables: tuple[str, ...],
    uses: Mapping[str, Usable],
    families: frozenset[str],
    head: Head = NO_HEAD,
    *,
    result: bool = False,
) -> Scope:
    """A scope on elements; `result` allows calls of the operator."""
    functions = {**ELEMENT_FUNCTIONS, **(calls_of(head) if result else {})}
    return Scope(name, dict.fromkeys(variables, Kind.ELEMENT), functions, uses, families, head)


def declared_scope(families: frozenset[str], head: Head) -> Scope:
    """The scope of restrictions: operands and result as a model declares them."""
    variables = dict.fromkeys(head.all, Kind.DECLARED)
    return Scope("a restriction", variables, DECLARED_FUNCTIONS, {}, families, head)


def tensor_scope(
    name: str, uses: Mapping[str, Usable], families: frozenset[str], head: Head
) -> Scope:
    """The scope of constraints: tensors, and scalars as elements."""
    variables = {name: Kind.ELEMENT if name in head.scalars else Kind.TENSOR for name in head.all}
    return Scope(name, variables, VALUE_FUNCTIONS, uses, families, head)
