"""What the names in a condition mean: variables, built-in functions, and the entries of the YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sonnx_clip.language.tree import Expr, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

E, B = Kind.ELEMENT, Kind.BOOL
_D, _T = Kind.DECLARED, Kind.TENSOR


@dataclass(frozen=True)
class Head:
    """What the operator is called, takes and gives: all that the language knows of it.

    Args:
        function: what the result of its cases is called in conditions: ``clip``.
        operands: the variables that it takes, in their order.
        tensors: those that are tensors; the others are scalars, one element for all entries.
        result: the variable that it gives.
    """

    function: str
    operands: tuple[str, ...]
    tensors: frozenset[str]
    result: str

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
        """The operands that are scalars, in their order."""
        return tuple(name for name in self.operands if name not in self.tensors)

    @property
    def arguments(self) -> str:
        """The operands as the theories call them: ``x l m``."""
        return " ".join(name.lower() for name in self.operands)

    @property
    def arguments_and_result(self) -> str:
        """The operands and the result as the theories call them: ``x l m y``."""
        return f"{self.arguments} {self.result.lower()}"

    @property
    def variables(self) -> frozenset[str]:
        """Every name that it brings with it."""
        return frozenset((*self.operands, self.second, self.result))


NO_HEAD = Head("", (), frozenset(), "")
"""Of conditions that speak of no operator."""


@dataclass(frozen=True)
class Signature:
    """A built-in function: for each argument the kinds it may have, and the kind of the result."""

    arguments: tuple[frozenset[Kind], ...]
    result: Kind


def _signature(result: Kind, *arguments: Kind | frozenset[Kind]) -> Signature:
    return Signature(tuple(a if isinstance(a, frozenset) else frozenset({a}) for a in arguments), result)


ELEMENT_FUNCTIONS = {
    "identical": _signature(B, E, E),
    "is_nan": _signature(B, E),
    "is_signalling": _signature(B, E),
}
DECLARED_FUNCTIONS = {
    "is_set": _signature(B, _D),
    "is_sparse": _signature(B, _D),
    "has_explicit_shape": _signature(B, _D),
    "is_scalar": _signature(B, _D),
    "same_type": _signature(B, _D, _D),
}
VALUE_FUNCTIONS = {
    "shape": _signature(Kind.SHAPE, _T),
    "type": _signature(Kind.ELEMENT_TYPE, frozenset({_T, E})),
    **ELEMENT_FUNCTIONS,
}
CONVERSION = {"becomes": _signature(B, Kind.FLOAT, E)}
BUILT_IN = frozenset({*ELEMENT_FUNCTIONS, *DECLARED_FUNCTIONS, *VALUE_FUNCTIONS, *CONVERSION, "every", "i"})


@dataclass(frozen=True)
class Usable:
    """A case, class or definition that a condition may use by its id."""

    parameters: int
    kind: Kind
    families: frozenset[str]


@dataclass(frozen=True)
class Scope:
    """The names that a condition may use.

    Args:
        name: what the scope is for, as it reads in a message.
        variables: each with its kind.
        functions: the built-ins.
        uses: the usable entries, by id.
        families: the families for which the condition is read.
        tensors: whether ``every(…)`` and ``X[i]`` are allowed.
        head: the operator, of whose operands an entry without parameters speaks.
        gives_result: whether its function may stand in the condition.
    """

    name: str
    variables: Mapping[str, Kind]
    functions: Mapping[str, Signature]
    uses: Mapping[str, Usable] = field(default_factory=dict)
    families: frozenset[str] = frozenset()
    tensors: bool = False
    head: Head = NO_HEAD
    gives_result: bool = False

    def names(self) -> list[str]:
        """Every name that may stand in a condition, for suggestions."""
        every = ["every"] if self.tensors else []
        result = [self.head.function] if self.gives_result else []
        return [*self.variables, *self.functions, *result, *self.uses, *every]


def kind_of(expr: Expr) -> Kind:
    """The kind of an expression, from its root alone."""
    from sonnx_clip.language import tree

    match expr:
        case tree.Name() | tree.Call() | tree.Use() | tree.If() | tree.Number() | tree.Constant():
            return expr.kind
        case tree.Value() | tree.Let():
            return expr.kind
        case tree.Parentheses(inner=inner):
            return kind_of(inner)
        case tree.Subscript():
            return Kind.ELEMENT
        case _:
            return Kind.BOOL


def elements(*names: str) -> dict[str, Kind]:
    """Variables of kind element."""
    return dict.fromkeys(names, Kind.ELEMENT)


def element_scope(
    name: str,
    variables: tuple[str, ...],
    uses: Mapping[str, Usable],
    families: frozenset[str],
    head: Head = NO_HEAD,
    *,
    result: bool = False,
) -> Scope:
    """A scope on elements; `result` says whether the function of the head may be called."""
    return Scope(
        name, elements(*variables), ELEMENT_FUNCTIONS, uses, families, head=head, gives_result=result
    )


def declared_scope(families: frozenset[str], head: Head) -> Scope:
    """The scope of restrictions: operands and result as a model declares them."""
    variables = dict.fromkeys(head.all, _D)
    return Scope("a restriction", variables, DECLARED_FUNCTIONS, {}, families, head=head)


def values_scope(uses: Mapping[str, Usable], families: frozenset[str], head: Head) -> Scope:
    """The scope of constraints: tensors, of scalars their elements, and definitions with parameters."""
    usable = {id_: use for id_, use in uses.items() if use.parameters}
    variables = {name: _T if name in head.tensors else E for name in head.operands} | {head.result: _T}
    return Scope("a constraint", variables, VALUE_FUNCTIONS, usable, families, tensors=True, head=head)


def claim_scope(uses: Mapping[str, Usable], families: frozenset[str], head: Head) -> Scope:
    """The scope of a finding's claim on elements: the operands, two answers Y and Z, and a FLOAT F."""
    variables = {**elements(*head.all, "Z"), "F": Kind.FLOAT}
    functions = {**ELEMENT_FUNCTIONS, **CONVERSION}
    return Scope("the claim of a finding", variables, functions, uses, families, head=head, gives_result=True)


def tensor_claim_scope(
    uses: Mapping[str, Usable], constraints: Mapping[str, Usable], families: frozenset[str], head: Head
) -> Scope:
    """The scope of a finding's claim on tensors: that of constraints, and the constraints by their ids."""
    scope = values_scope(uses, families, head)
    return replace(scope, name="the claim of a finding", uses={**scope.uses, **constraints})
