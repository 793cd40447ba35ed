"""What the names in a condition mean: variables, built-in functions, and the entries of the YAML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sonnx_clip.language import tree
from sonnx_clip.language.tree import Expr, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    result: Kind = Kind.BOOL


_DECLARED, _E, _F = (frozenset({kind}) for kind in (Kind.DECLARED, Kind.ELEMENT, Kind.FLOAT))
ELEMENT_FUNCTIONS = {
    "identical": Signature((_E, _E)),
    "is_nan": Signature((_E,)),
    "is_signalling": Signature((_E,)),
}
DECLARED_FUNCTIONS = {
    **dict.fromkeys(("is_set", "is_sparse", "has_explicit_shape", "is_scalar"), Signature((_DECLARED,))),
    "same_type": Signature((_DECLARED, _DECLARED)),
}
VALUE_FUNCTIONS = {
    "shape": Signature((frozenset({Kind.TENSOR}),), Kind.SHAPE),
    "type": Signature((frozenset({Kind.TENSOR, Kind.ELEMENT}),), Kind.ELEMENT_TYPE),
    **ELEMENT_FUNCTIONS,
}
CONVERSION = {"becomes": Signature((_F, _E))}
BUILT_IN = frozenset({*DECLARED_FUNCTIONS, *VALUE_FUNCTIONS, *CONVERSION, "every", "i"})


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
    match expr:
        case tree.Compare() | tree.Not() | tree.Connective() | tree.Every():
            return Kind.BOOL
        case tree.Subscript():
            return Kind.ELEMENT
        case tree.Parentheses(inner=inner):
            return kind_of(inner)
        case _:
            return expr.kind


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
    kinds = elements(*variables)
    return Scope(name, kinds, ELEMENT_FUNCTIONS, uses, families, head=head, gives_result=result)


def declared_scope(families: frozenset[str], head: Head) -> Scope:
    """The scope of restrictions: operands and result as a model declares them."""
    variables = dict.fromkeys(head.all, Kind.DECLARED)
    return Scope("a restriction", variables, DECLARED_FUNCTIONS, {}, families, head=head)


def tensor_scope(name: str, uses: Mapping[str, Usable], families: frozenset[str], head: Head) -> Scope:
    """The scope of constraints: tensors, and scalars as elements."""
    variables = {name: Kind.ELEMENT if name in head.scalars else Kind.TENSOR for name in head.all}
    return Scope(name, variables, VALUE_FUNCTIONS, uses, families, tensors=True, head=head)
